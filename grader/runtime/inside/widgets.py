"""Where a class is graded nobody plays: explorers show nothing."""

from typing import Any


def nothing(*_: Any, **__: Any) -> None:
    return None


heads = order_and_masks = scale_slider = which_token = nothing
