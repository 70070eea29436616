"""Vectors as bars, spreads, lines and arrows."""

import math

import numpy as np
from matplotlib import ticker

from grader.figures.canvas import (
    COLOURS,
    GREY,
    HATCHES,
    HEIGHT,
    LETTER,
    LINES,
    MARKERS,
    WIDTH,
    draw,
    finish,
    pick,
    tick_labels,
)
from grader.figures.numbers import alt_text, array, cell, extremes, names, same_length, say, series

VALUES_UP_TO = 24  # bars; beyond that their numbers would touch


def bars(vectors, labels=None, title="", ylabel="", alt="") -> None:
    """Show one or more (n,) vectors as groups of bars, up to 24 bars with their values.

    `bars({"scores": [2, 1, 0], "weights": [0.67, 0.24, 0.09]}, labels=["the", "cat", "sat"])`
    """
    data = {name: array(y, f"bars: {name!r}", 1) for name, y in series(vectors, "bars").items()}
    count = len(next(iter(data.values())))
    for name, y in data.items():
        same_length(len(y), count, f"bars: {name!r}", "the first vector")
    words = names(labels, count, "bars: labels", "each vector")
    few = count * len(data) <= VALUES_UP_TO
    said = [
        f"{name}: "
        + (
            ", ".join(f"{at} {say(v, y)}" for at, v in zip(words, y, strict=True))
            if few
            else extremes(y, words)
        )
        for name, y in data.items()
    ]
    kind = f"Bars{ylabel and f' of {ylabel}'}, {count} for each name"

    def paint(drawing):
        axes, thick = drawing.add_axes((0, 0, WIDTH, HEIGHT)), 0.8 / len(data)
        for i, (name, y) in enumerate(data.items()):
            at = np.arange(count) + (i + 0.5) * thick - 0.4
            drawn = axes.bar(
                at,
                y,
                thick,
                label=name,
                color=pick(COLOURS, i),
                hatch=pick(HATCHES, i),
                edgecolor="white",
            )
            if few:
                written = [cell(v, y) for v in y]
                narrow = thick * WIDTH / (count + 0.2) < LETTER * max(map(len, written))
                axes.bar_label(drawn, written, padding=3, rotation=90 if narrow else 0)
        axes.axhline(0, color="black", linewidth=1)
        axes.margins(y=0.18 if few else 0.05)
        axes.set_xlim(-0.6, count - 0.4)
        axes.grid(axis="x", visible=False)
        tick_labels(axes.xaxis, words, WIDTH, 0, labels is not None)
        finish(axes, title, "", ylabel)

    draw(alt or alt_text(title, kind, *said), paint)


def histogram(samples, title="", xlabel="", alt="") -> None:
    """Show how samples of any shape spread, with the variance of each as torch's `var` gives it.

    `histogram({"narrow": torch.randn(500), "wide": 8 * torch.randn(500)}, xlabel="score")`
    """
    data = {
        name: array(x, f"histogram: {name!r}").ravel()
        for name, x in series(samples, "histogram").items()
    }
    for name, x in data.items():
        if len(x) < 2:
            raise ValueError(f"histogram: {name!r} has 1 sample, but a variance needs at least 2.")
    said = [
        f"{name}: {len(x)} samples from {say(x.min(), x)} to {say(x.max(), x)}, "
        f"mean {say(x.mean(), x)}, variance {say(x.var(ddof=1))}"
        for name, x in data.items()
    ]

    def paint(drawing):
        axes, every = drawing.add_axes((0, 0, WIDTH, HEIGHT)), np.concatenate(list(data.values()))
        edges = np.histogram_bin_edges(every, min(40, max(8, math.isqrt(len(every)))))
        for i, (name, x) in enumerate(data.items()):
            share = np.repeat(np.histogram(x, edges)[0] / len(x), 2)
            axes.plot(
                np.repeat(edges, 2),
                [0, *share, 0],
                linestyle=pick(LINES, i),
                color=pick(COLOURS, i),
                label=f"{name} (variance {say(x.var(ddof=1))})",
            )
        axes.set_ylim(bottom=0)
        finish(axes, title, xlabel, "share of the samples")

    draw(alt or alt_text(title, f"Histogram{xlabel and f' of {xlabel}'}", *said), paint)


def curves(x, ys, title="", xlabel="", ylabel="", logx=False, logy=False, alt="") -> None:
    """Show one or more (n,) vectors over the (n,) vector x as lines, on log axes if asked.

    `curves([1, 4, 16], {"scaled": [1, 1, 1], "unscaled": [1, 4, 16]}, xlabel="d_k", logx=True)`
    """
    x = array(x, "curves: x", 1)
    data = {name: array(y, f"curves: {name!r}", 1) for name, y in series(ys, "curves").items()}
    for name, y in data.items():
        same_length(len(y), len(x), f"curves: {name!r}", "x")
    for name, values, log in [("x", x, logx), *((repr(name), y, logy) for name, y in data.items())]:
        if log and values.min() <= 0:
            raise ValueError(
                f"curves: {name} goes down to {say(values.min())}, "
                "but a log axis needs numbers above 0."
            )
    said = [
        f"{name}: {say(y[0], y)} at the start, {say(y[-1], y)} at the end, "
        + extremes(y, [say(at, x) for at in x])
        for name, y in data.items()
    ]
    kind = (
        f"Lines{ylabel and f' of {ylabel}'}{' (log)' * logy} over {xlabel or 'x'} "
        f"from {say(x.min(), x)} to {say(x.max(), x)}{' (log)' * logx}"
    )

    def paint(drawing):
        axes = drawing.add_axes((0, 0, WIDTH, HEIGHT))
        for i, (name, y) in enumerate(data.items()):
            axes.plot(
                x,
                y,
                linestyle=pick(LINES, i),
                marker=pick(MARKERS, i),
                label=name,
                color=pick(COLOURS, i),
                markevery=max(1, len(x) // 12),
            )
        if logx:
            axes.set_xscale("log")
            _plain_numbers(axes.xaxis, x, own_ticks=len(x) <= 8)
        if logy:
            axes.set_yscale("log")
            _plain_numbers(axes.yaxis, np.concatenate(list(data.values())), own_ticks=False)
        finish(axes, title, xlabel, ylabel)

    draw(alt or alt_text(title, kind, *said), paint)


def _plain_numbers(axis, values, own_ticks: bool) -> None:
    """Write 100 on a log axis and not a power of ten."""
    between = (1, 2, 5) if values.max() < 100 * values.min() else (1,)
    axis.set_major_locator(
        ticker.FixedLocator(values) if own_ticks else ticker.LogLocator(subs=between)
    )
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: say(value)))
    axis.set_minor_locator(ticker.NullLocator())


def vectors(arrows, title="", alt="") -> None:
    """Show (2,) vectors as arrows from the origin, each with its name at the tip.

    `vectors({"query": (2, 1), "key": (1, 2)}, title="The angle is what the score sees")`
    """
    data = {
        name: array(v, f"vectors: {name!r}", 1) for name, v in series(arrows, "vectors").items()
    }
    for name, v in data.items():
        same_length(len(v), 2, f"vectors: {name!r}", "a point (x, y)")
    said = [
        f"{name}: ({say(v[0], v)}, {say(v[1], v)}), length {say(math.hypot(*v))}"
        for name, v in data.items()
    ]

    def paint(drawing):
        side, points = 4.2, np.array([(0, 0), *data.values()])
        axes = drawing.add_axes((0, 0, side, side))
        middle, span = (points.max(0) + points.min(0)) / 2, 1.4 * (np.ptp(points, 0).max() or 1)
        axes.set(
            xlim=middle[0] + span * np.array((-0.5, 0.5)),
            ylim=middle[1] + span * np.array((-0.5, 0.5)),
        )
        axes.axhline(0, color=GREY, linewidth=1)
        axes.axvline(0, color=GREY, linewidth=1)
        tips = {name: v / span * side for name, v in data.items()}  # in inches from the origin
        taken = [(*(tip * part), 0, 0) for tip in tips.values() for part in np.linspace(0, 1, 30)]
        for i, (name, tip) in enumerate(tips.items()):
            axes.annotate(
                "",
                data[name],
                (0, 0),
                arrowprops={
                    "arrowstyle": "-|>,head_width=0.3,head_length=0.6",
                    "color": pick(COLOURS, i),
                    "linewidth": 2,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            if not tip.any():
                axes.plot(0, 0, "o", color=pick(COLOURS, i))
            taken.append(_free_place(tip, LETTER * len(name), taken))
            axes.text(
                *(np.array(taken[-1][:2]) / side * span),
                name,
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )
        finish(axes, title, "", "", wide=side)

    draw(alt or alt_text(title, "Arrows from the origin", *said), paint)


def _free_place(tip, width, taken):
    """The (x, y, width, height) by a tip that covers least of what is taken, straight on first."""
    straight, height, places = math.atan2(tip[1], tip[0]), 0.19, []
    for far in (0.09, 0.28):
        for turn in (0, 40, -40, 80, -80, 120, -120):
            angle = straight + math.radians(turn)
            x = tip[0] + math.cos(angle) * (far + width / 2)
            y = tip[1] + math.sin(angle) * (far + height / 2)
            covered = sum(
                abs(x - a) < (width + w) / 2 + 0.03 and abs(y - b) < (height + h) / 2 + 0.02
                for a, b, w, h in taken
            )
            places.append((covered, len(places), (x, y, width, height)))
    return min(places)[2]
