"""Drawing fast enough for a slider: the ground is drawn once, what moves is drawn on top of it.

A whole figure takes matplotlib some 70 ms, mostly for axes and letters. So axes have fixed places
here, and the numbers beside them are among what moves.
"""

import io
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from grader.figures.canvas import DRAWN_AT, ON_PAGE, STYLE, small


class Stage:
    """A figure in inches on which `build` puts panels. Set them anew, then ask for the picture.

    Example: `stage = Stage(3, 2, lambda figure: [Bars(figure, (0.5, 0.5, 2, 1), "Weights", 6)])`
    """

    def __init__(self, wide: float, tall: float, build: Callable[[Figure], Sequence]) -> None:
        with _look():
            self._figure = Figure(figsize=(wide, tall), dpi=ON_PAGE, facecolor="white")
            self._canvas = FigureCanvasAgg(self._figure)
            self.panels = build(self._figure)
            self._moving = [artist for panel in self.panels for artist in panel.moving]
            for artist in self._moving:
                artist.set_animated(True)  # not part of the ground
            self._canvas.draw()
            self._ground = self._canvas.copy_from_bbox(self._figure.bbox)

    def png(self) -> bytes:
        """The picture as it is now, little compressed because that is quick."""
        with _look():
            self._canvas.restore_region(self._ground)
            for artist in self._moving:
                self._figure.draw_artist(artist)
        size, pixels = self._canvas.get_width_height(), self._canvas.buffer_rgba()
        raw = io.BytesIO()
        picture = Image.frombuffer("RGBA", size, pixels, "raw", "RGBA", 0, 1).convert("RGB")
        picture.save(raw, "png", compress_level=1)
        return raw.getvalue()

    def fine(self, dots: int = DRAWN_AT) -> bytes:
        """The same picture drawn as a whole, as sharp and small as the course's figures."""
        raw = io.BytesIO()
        with _look():
            self._figure.savefig(raw, format="png", dpi=dots)
        return small(raw.getvalue())


@contextmanager
def _look():
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font lacks is no news for a learner
        yield
