"""One look for every figure, and one way onto the page: a PNG together with its alt text."""

import base64
import io
import math
import textwrap
import warnings
from collections.abc import Callable
from html import escape

from IPython import get_ipython
from IPython.display import display
from matplotlib import style
from matplotlib.figure import Figure
from PIL import Image

# Each stands out from white by 3:1 or more and from the others in lightness, also to eyes that lack
# one kind of cone. Five styles and four colours: twenty series before two look alike.
COLOURS = ("#0062A3", "#D97500", "#5B0A45", "#000000")
HATCHES = ("", "///", "...", "xxx", "---")
MARKERS = ("o", "s", "^", "D", "v")
LINES = ("-", "--", ":", "-.", (0, (8, 2, 1, 2, 1, 2)))
GREY = "#767676"  # 4.5:1 against white
STYLE = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "legend.handleheight": 1.2,
    "legend.columnspacing": 1.2,
    "hatch.linewidth": 1.2,
    "lines.linewidth": 2,
    "lines.markersize": 7,
    "text.parse_math": False,
}
LETTER = 0.092  # inches: the mean width of a letter of 11 points, rounded up
DRAWN = True  # while a class is graded nobody looks, and figures are only described
WIDTH, HEIGHT = 5.6, 3.2  # inches of the axes; labels come on top, the picture is cut around them
ON_PAGE, DRAWN_AT = 110, 220  # dots per inch: twice as many as are shown, so it can be zoomed


def pick(choices: tuple, number: int):
    """The choices in turn, from the start again when they run out."""
    return choices[number % len(choices)]


def show(png: bytes, alt: str) -> None:
    """Display a picture in a notebook, print its alt text elsewhere."""
    # JupyterLab and nbconvert's lab template write no alt for image/png, whatever the metadata say;
    # both prefer text/html. image/png stays for LaTeX and for front ends that show no HTML.
    if get_ipython() is None:
        print(alt)
        return
    display(
        {"text/plain": alt, "text/html": image(png, alt), "image/png": _encoded(png)},
        raw=True,
        metadata={"image/png": {"alt": alt, "width": wide(png)}},
    )


def image(png: bytes, alt: str) -> str:
    """The picture as an HTML element, half as wide as it has pixels."""
    source = f"data:image/png;base64,{_encoded(png)}"
    return f'<img alt="{escape(alt)}" width="{wide(png)}" style="max-width:100%" src="{source}">'


def wide(png: bytes) -> int:
    """How many of the page's pixels a picture takes: its own over those that are shown."""
    return Image.open(io.BytesIO(png)).width * ON_PAGE // DRAWN_AT


def _encoded(png: bytes) -> str:
    return base64.b64encode(png).decode()


def draw(alt: str, paint: Callable[[Figure], None], give: Callable | None = None) -> None:
    """Show what `paint` puts on a figure of one square inch, so that places are inches.

    With `give` the picture goes to `give(png, alt)` instead.
    """
    alt = " ".join(alt.split())
    if not DRAWN:
        display({"text/plain": alt}, raw=True)
        return
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font lacks is no news for a learner
        drawing = Figure(figsize=(1, 1))
        paint(drawing)
        raw = io.BytesIO()
        drawing.savefig(
            raw,
            format="png",
            dpi=DRAWN_AT,
            bbox_inches="tight",
            pad_inches=0.12,
            facecolor="white",
        )
    (give or show)(small(raw.getvalue()), alt)


def small(png: bytes) -> bytes:
    """The same picture with 256 colours, about half the size."""
    smaller = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    picture.save(smaller, format="png", optimize=True)
    return smaller.getvalue()


def finish(axes, title: str, xlabel: str, ylabel: str, wide: float = WIDTH) -> None:
    """Write the title, below it the legend if there is one, and the names of the axes."""
    _, labels = axes.get_legend_handles_labels()
    lines = 0
    if any(labels):
        each = LETTER * max(map(len, labels)) + 0.73
        columns = max(1, min(len(labels), int(wide / each)))
        lines = math.ceil(len(labels) / columns)
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.3, borderpad=0, ncols=columns
        )
    wrapped = textwrap.fill(title, max(48, int(wide / LETTER)))
    axes.set_title(wrapped, pad=8 + 20 * lines)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)


def tick_labels(axis, words: list[str], inches: float, offset: float, named: bool) -> float:
    """Write words at 0, 1, ... + offset, turned or fewer where they would touch; their height."""
    longest, room, turn, need = LETTER * max(map(len, words)), inches / len(words), 0, 0.2
    if axis.axis_name == "x":
        if longest + 0.1 < room:
            need = 0
        elif named:
            turn = 45 if room > 0.3 else 90
        else:
            need = longest + 0.15
    step = next((s for s in (1, 2, 5, 10, 20, 50, 100) if s * room >= need), len(words))
    axis.set_ticks([place + offset for place in range(0, len(words), step)], words[::step])
    for label in axis.get_ticklabels() if turn else ():
        label.set(
            rotation=turn, ha="right", rotation_mode="anchor", va="center" if turn == 90 else "top"
        )
    return 0.15 + longest * math.sin(math.radians(turn)) if turn else 0.25
