"""The two charts of a class report, as HTML images in the look of the course's figures."""

from grader.classroom.report.answers import KINDS, KNOWN, OTHER, RIGHT, STOPPED, UNTRIED
from grader.classroom.report.numbers import Item, Spread
from grader.figures.canvas import COLOURS, GREY, LETTER, draw, finish, image, tick_labels

WIDTH = 5.6  # inches
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
        tall, wide = 0.42 * len(items) + 0.1, WIDTH - LETTER * max(len(i.name) for i in items)
        axes = drawing.add_axes((0, 0, max(wide, 3.0), tall))
        before = [0] * len(items)
        for kind in KINDS:
            counts = [item.kinds[kind] for item in items]
            edge = GREY if kind == UNTRIED else "white"
            label = kind if any(counts) else None
            drawn = axes.barh(
                range(len(items)), counts, 0.7, before, label=label, edgecolor=edge, **LOOK[kind]
            )
            axes.bar_label(
                drawn, [count or "" for count in counts], label_type="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
            )  # fmt: skip
            before = [a + b for a, b in zip(before, counts, strict=True)]
        for text in axes.texts:  # no white box where nothing is written
            text.set_visible(bool(text.get_text()))
        axes.set_yticks(range(len(items)), [item.name for item in items])
        axes.invert_yaxis()
        axes.set_xlim(0, max(*before, 1))
        axes.grid(visible=False)
        axes.xaxis.set_visible(False)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(length=0)
        finish(axes, "", "", "", wide=wide)

    return _drawn(f"Answers to each exercise. {said}.", paint)


def _drawn(alt: str, paint) -> str:
    made = []
    draw(alt, paint, lambda png, alt: made.append(image(png, alt)))
    return made[0]
