"""Pictures with sliders: ask for one in a cell, move something, and see what follows.

Each is shown twice in one output: live where a front end shows widgets, and otherwise as a picture
with its words and tables.
"""

from grader.widgets.heads import heads
from grader.widgets.order import order_and_masks
from grader.widgets.scale import scale_slider
from grader.widgets.tokens import which_token

__all__ = ["heads", "order_and_masks", "scale_slider", "which_token"]
