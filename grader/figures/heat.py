"""Matrices as coloured cells."""

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Normalize

from grader.figures.canvas import GREY, LETTER, draw, finish, image, tick_labels
from grader.figures.numbers import alt_text, array, cell, largest, names, say, series

NUMBERS_UP_TO = 8  # rows and columns; beyond that a colour bar is easier to read
LINE = 7.3  # inches of panels side by side before the next ones go below


def heatmap(matrix, rows=None, columns=None, title="", xlabel="", ylabel="", alt="") -> None:
    """Show a (rows, columns) matrix as coloured cells, up to 8×8 with the number in each.

    `heatmap([[1, 0], [0.3, 0.7]], rows=["the", "cat"], columns=["the", "cat"], ylabel="query")`
    """
    panels = {"": array(matrix, "heatmap: the matrix", 2, finite=False)}
    _draw("heatmap", panels, rows, columns, title, xlabel, ylabel, alt)


def heatmaps(matrices, rows=None, columns=None, title="", alt="") -> None:
    """Show several (rows, columns) matrices side by side on one colour scale.

    `heatmaps({"uniform": [[0.5, 0.5]], "sharp": [[0.9, 0.1]]}, columns=["the", "cat"])`
    """
    _draw("heatmaps", _panels(matrices), rows, columns, title, "", "", alt)


def heatmaps_as_html(matrices, title="", words=str) -> str:
    """The same as an HTML element, for a place inside other HTML, its alt text as `words` has it.

    `heatmaps_as_html({"yours": [[1, 0]]}, words=str.upper)`
    """
    made = []

    def give(png, alt):
        made.append(image(png, words(alt)))

    _draw("heatmaps", _panels(matrices), None, None, title, "", "", "", give)
    return made[0]


def _panels(matrices) -> dict:
    return {
        name: array(matrix, f"heatmaps: {name!r}", 2, finite=False)
        for name, matrix in series(matrices, "heatmaps").items()
    }


def _draw(caller, panels, rows, columns, title, xlabel, ylabel, alt, give=None) -> None:
    first, second = "the first axis of the matrix", "the second axis of the matrix"
    words = {
        name: (
            names(rows, len(m), f"{caller}: rows", first),
            names(columns, m.shape[1], f"{caller}: columns", second),
        )
        for name, m in panels.items()
    }
    said = [_in_words(name, m, *words[name], xlabel, ylabel) for name, m in panels.items()]
    every = np.concatenate([m[np.isfinite(m)] for m in panels.values()])
    low, high = every.min(initial=0), every.max(initial=0)
    colours = colormaps["RdBu_r" if low < 0 else "viridis"]
    scale = Normalize(-max(-low, high) if low < 0 else 0, max(-low, high) or 1)
    widest = max(len(cell(value, every)) for m in panels.values() for value in m.flat)
    one_height = len({len(m) for m in panels.values()}) == 1
    left = 0.2 + LETTER * max(len(word) for down, _ in words.values() for word in down)

    def paint(drawing):
        x = y = depth = 0.0
        shown = []
        for name, m in panels.items():
            few = max(m.shape) <= NUMBERS_UP_TO
            wide, tall = _inches(m.shape, few, widest, 4.5 if len(panels) == 1 else 3.2)
            if x and x + wide > LINE:
                x, y, depth = 0.0, y - depth, 0.0
            axes = drawing.add_axes((x, y - tall, wide, tall))
            _cells(axes, m, colours, scale, few, every)
            below = tick_labels(axes.xaxis, words[name][1], wide, 0.5, columns is not None)
            tick_labels(axes.yaxis, words[name][0], tall, 0.5, rows is not None)
            if one_height and x:
                axes.tick_params(labelleft=False)
            finish(axes, name or title, xlabel, ylabel, wide)
            depth = max(depth, tall + below + 0.5)
            x += wide + (0.25 if one_height else left + 0.1)
            shown.append((axes, few))
        if not all(few for _, few in shown):
            right, first = max(axes.get_position().x1 for axes, _ in shown), shown[0][0]
            place = first.get_position()
            bar = drawing.add_axes((right + 0.2, place.y0, 0.16, place.height))
            drawing.colorbar(first.collections[0], cax=bar).outline.set_visible(False)
        if title and "" not in panels:
            drawing.text(0, 0.42, title, fontsize=12.5, weight="bold")

    draw(alt or alt_text(title, *said), paint, give)


def _inches(shape, few, widest, most):
    if few:
        each = max(LETTER * widest + 0.18, min(0.75, 2.2 / shape[1]))
        return shape[1] * each, shape[0] * max(0.4, min(0.6, 0.8 / shape[0]))
    return tuple(min(most, max(1.5, 0.32 * count)) for count in reversed(shape))


def _cells(axes, m, colours, scale, few, every) -> None:
    finite = np.isfinite(m)
    axes.pcolormesh(
        np.ma.array(m, mask=~finite),
        cmap=colours,
        norm=scale,
        edgecolors="white" if few else "none",
        linewidth=1.5 if few else 0,
    )
    if not finite.all():  # no colour stands for them: the hatched ground shows through
        axes.patch.set(facecolor="#eeeeee", edgecolor=GREY, hatch="///")
    axes.invert_yaxis()
    axes.grid(False)
    axes.spines[:].set(visible=not few, color=GREY)  # the palest cells are as light as the page
    axes.tick_params(length=0)
    if not few:
        return
    for (row, column), value in np.ndenumerate(m):
        light = [((c + 0.055) / 1.055) ** 2.4 for c in colours(scale(value))[:3]]
        dark = finite[row, column] and np.dot(light, (0.2126, 0.7152, 0.0722)) < 0.18
        axes.text(
            column + 0.5,
            row + 0.5,
            cell(value, every),
            ha="center",
            va="center",
            color="white" if dark else "black",
            bbox=None
            if finite[row, column]
            else {"facecolor": "#eeeeee", "edgecolor": "none", "pad": 1},
        )


def _in_words(name, m, rows, columns, xlabel, ylabel) -> str:
    down = f"{len(rows)} rows" if len(rows) != 1 else "1 row"
    across = f"{len(columns)} columns" if len(columns) != 1 else "1 column"
    down += f" ({ylabel})" if ylabel else ""
    across += f" ({xlabel})" if xlabel else ""
    size = f"{down} by {across}"
    said = [f"{name or 'Heatmap'}: {size}"]
    finite = m[np.isfinite(m)]
    if finite.size:
        (row, column), times = largest(m)
        low, high = say(finite.min(), finite), say(finite.max(), finite)
        if low == high:
            said += [f"all {high}"]
        else:
            said += [f"values from {low} to {high}"]
            said += [f"the largest in row {_at(row, rows)}, column {_at(column, columns)}"]
            said += [f"the first of {times}"] if times > 1 else []
    odd = (("nan", np.isnan(m)), ("inf", m == np.inf), ("-inf", m == -np.inf))
    cells = [f"{label} in {which.sum()} of {m.size} cells" for label, which in odd if which.any()]
    return "; ".join([", ".join(said), *cells])


def _at(place: int, words: list[str]) -> str:
    return f"{place}" if words[place] == f"{place}" else f"{place} ({words[place]})"
