"""The two charts of a class report, as HTML images in the look of the course's figures."""

from grader.classroom.report.answers import KINDS, KNOWN, OTHER, RIGHT, STOPPED, UNTRIED
from grader.classroom.report.numbers import Item, Spread
from grader.figures.canvas import COLOURS, GREY, WIDTH, draw, finish, image, tick_labels

ROW = 0.62  # inches
BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
LOOK = {
    RIGHT: {"facecolor": COLOURS[0]},
    KNOWN: {"facecolor": COLOURS[1], "hatch": "///"},
    OTHER: {"facecolor": COLOURS[2], "hatch": "..."},
    STOPPED: {"facecolor": COLOURS[3], "hatch": "xxx"},
    UNTRIED: {"facecolor": "white"},
}


def scores(found: Spread) -> str:
    """How many learners have how many points: a bar for each bin, the last for full points."""
    names, counts = zip(*found.bins, strict=True)
    said = ", ".join(f"{count} with {name}" for name, count in found.bins if count)

    def paint(drawing) -> None:
        axes = drawing.add_axes((0, 0, WIDTH, 2.2))
        drawn = axes.bar(range(len(counts)), counts, 0.8, color=COLOURS[0])
        drawn[-1].set(facecolor=COLOURS[1], hatch="///", edgecolor="white")
        axes.bar_label(drawn, [count or "" for count in counts], padding=2)
        axes.set_xlim(-0.6, len(counts) - 0.4)
        axes.margins(y=0.15)
        axes.grid(visible=False)
        axes.yaxis.set_visible(False)
        axes.spines["left"].set_visible(False)
        tick_labels(axes.xaxis, list(names), WIDTH, 0, True)
        finish(axes, "", f"points; the last bar is full points, {names[-1]}", "")

    return _drawn(f"Learners by points: {said}.", paint)


def answers(items: list[Item]) -> str:
    """What the answers to each exercise were: one row each, parts of it for each kind."""
    said = "; ".join(
        f"{item.name}: " + ", ".join(f"{n} {kind}" for kind, n in item.kinds.items() if n)
        for item in items
    )

    def paint(drawing) -> None:
        axes = drawing.add_axes((0, 0, WIDTH, ROW * len(items)))
        rows, before = range(len(items)), [0] * len(items)
        for kind in KINDS:
            counts = [item.kinds[kind] for item in items]
            if not any(counts):
                continue
            edge = GREY if kind == UNTRIED else "white"
            drawn = axes.barh(rows, counts, 0.5, before, label=kind, edgecolor=edge, **LOOK[kind])
            for text in axes.bar_label(drawn, counts, label_type="center"):
                text.set(bbox=BOX, visible=text.get_text() != "0")
            before = [a + b for a, b in zip(before, counts, strict=True)]
        for row, item in enumerate(items):  # above its bar: a name may be long
            axes.text(0, row - 0.32, item.name, ha="left", va="bottom")
        axes.set_ylim(len(items) - 0.6, -0.75)
        axes.set_xlim(0, max(*before, 1))
        axes.set_axis_off()
        finish(axes, "", "", "")

    return _drawn(f"Answers to each exercise. {said}.", paint)


def _drawn(alt: str, paint) -> str:
    made = []
    draw(alt, paint, lambda png, alt: made.append(image(png, alt)))
    return made[0]
