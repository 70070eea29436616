"""What stands on a stage: bars, a spread, coloured cells; each is built once and set anew."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps

from grader.figures.canvas import COLOURS, HATCHES, pick
from grader.figures.numbers import cell, say
from grader.widgets.letters import Word

NUMBERS_UP_TO = 8  # bars, or cells in a row; beyond that their numbers would touch


class Panel:
    """Axes at `place` (left, bottom, wide, tall, in inches), with `moving`, all that changes."""

    def __init__(self, figure, place: Sequence[float], title: str) -> None:
        left, bottom, wide, tall = place
        across, up = figure.get_size_inches()
        self.axes = figure.add_axes((left / across, bottom / up, wide / across, tall / up))
        self.axes.set_title(title, fontsize=11)
        self.axes.tick_params(length=0, labelbottom=False, labelleft=False)
        self.moving = []

    def below(self, places: Sequence[float], turned: bool) -> "Words":
        """Words below the axes."""
        where, align = self.axes.get_xaxis_transform(), "right" if turned else "center"
        return self._words([Word(self.axes, x, 0, where, align, turned) for x in places], "below")

    def beside(self, places: Sequence[float]) -> "Words":
        """Words at the left of the axes."""
        where = self.axes.get_yaxis_transform()
        made = [Word(self.axes, 0, y, where, "right") for y in places]
        return self._words(made, "middle")

    def _words(self, made: list, side: str) -> "Words":
        self.moving += made
        return Words(made, side)


class Words:
    """Words in a row."""

    def __init__(self, words: list, side: str) -> None:
        self._words, self._side = words, side

    def say(self, texts: Sequence[str]) -> None:
        """One text for each."""
        for word, text in zip(self._words, texts, strict=True):
            word.say(text, side=self._side)


class Bars(Panel):
    """Groups of `count` bars; with `signed`, the axis goes half as far below zero as above.

    The axis ends at `end`, or where it holds everything.
    """

    def __init__(
        self, figure, place, title, count, series=("",), signed=False, end=None, turned=True
    ) -> None:
        super().__init__(figure, place, title)
        self._end, thick, at = end, 0.8 / len(series), np.arange(count)
        marks = [-0.5, 0, 0.5, 1] if signed else [0, 0.5, 1]
        self.axes.set(xlim=(-0.6, count - 0.4), ylim=(marks[0], 1), yticks=marks)
        self.axes.grid(axis="x", visible=False)
        self._bars = []
        for i, name in enumerate(series):
            colour, hatch = pick(COLOURS, i), pick(HATCHES, i)
            drawn = self.axes.bar(
                at + (i + 0.5) * thick - 0.4, [0] * count, thick,
                label=name, color=colour, hatch=hatch, edgecolor="white",
            )  # fmt: skip
            self._bars.append(drawn)
            self.moving += drawn
        self.moving.append(self.axes.axhline(0, color="black", linewidth=1))
        if len(series) > 1:
            self.axes.legend(loc="lower left", bbox_to_anchor=(0, 0.98), ncols=2, borderpad=0)
            self.axes.set_title(title, fontsize=11, pad=24)
        self._numbers = [
            [Word(self.axes, bar.get_x() + thick / 2, 0) for bar in drawn]
            for drawn in self._bars
            if count <= NUMBERS_UP_TO and len(series) == 1
        ]
        self.moving += [number for numbers in self._numbers for number in numbers]
        self._below, self._beside = self.below(at, turned), self.beside(marks)
        self._marks = marks

    def set(self, words: Sequence[str], *heights) -> None:
        """One vector for each series."""
        every = np.concatenate(heights)
        end = self._end or round_up(max(every.max(), -2 * every.min()))
        for place, each in enumerate(heights):
            for bar, height in zip(self._bars[place], each, strict=True):
                bar.set_height(height / end)
            for number, height in zip(
                self._numbers[place] if self._numbers else (), each, strict=False
            ):
                side = "above" if height >= 0 else "below"
                number.say(cell(height, every), height / end, side)
        self._below.say(words)
        self._beside.say([say(mark * end) for mark in self._marks])


class Spread(Panel):
    """A histogram around zero."""

    BINS = 41

    def __init__(self, figure, place, title) -> None:
        super().__init__(figure, place, title)
        self.axes.set(xlim=(-1, 1), ylim=(0, 1), xticks=[-1, -0.5, 0, 0.5, 1], yticks=[0, 0.5, 1])
        self._edges = np.linspace(-1, 1, self.BINS + 1)
        (self._line,) = self.axes.plot(np.repeat(self._edges, 2), np.zeros(2 * len(self._edges)))
        self._line.set_color(COLOURS[0])
        self.moving.append(self._line)
        self._below = self.below([-1, -0.5, 0, 0.5, 1], turned=False)
        self._beside = self.beside([0, 0.5, 1])

    def set(self, samples) -> None:
        """Samples of shape (n,)."""
        end = round_up(np.abs(samples).max())
        share = np.histogram(samples / end, self._edges)[0] / len(samples)
        top = round_up(share.max())
        self._line.set_ydata([0, *np.repeat(share / top, 2), 0])
        self._below.say([say(mark * end) for mark in (-1, -0.5, 0, 0.5, 1)])
        self._beside.say([say(mark * top) for mark in (0, 0.5, 1)])


class Cells(Panel):
    """Weights as coloured cells, from 0, dark, to 1, light."""

    def __init__(self, figure, place, title, rows, columns) -> None:
        super().__init__(figure, place, title)
        self._picture = self.axes.imshow(np.zeros((rows, columns)), aspect="auto", vmin=0, vmax=1)
        self._colours = colormaps["viridis"]
        self.axes.set(xticks=np.arange(1, columns) - 0.5, yticks=np.arange(1, rows) - 0.5)
        self.axes.spines[:].set_visible(False)
        self.axes.grid(False)
        self.moving.append(self._picture)
        self._numbers = [
            Word(self.axes, column, row)
            for row in range(rows)
            for column in range(columns)
            if max(rows, columns) <= NUMBERS_UP_TO
        ]
        self.moving += self._numbers
        self._below = self.below(range(columns), turned=columns > 1)
        self._beside = self.beside(range(rows))

    def set(self, rows: Sequence[str], columns: Sequence[str], matrix, said=None) -> None:
        """A (rows, columns) matrix; `said` is written in its cells in place of the numbers."""
        matrix = np.asarray(matrix)
        self._picture.set_data(matrix)
        said = [cell(value, matrix) for value in matrix.flat] if said is None else said
        for number, value, word in zip(self._numbers, matrix.flat, said, strict=False):
            number.say(word, colour="black" if value > 0.55 else "white")
        self._beside.say(rows)
        self._below.say(columns)


class Blocks(Panel):
    """Up to `most` matrices of weights (T, T), four to a line, on one grid of cells."""

    ACROSS = 4

    def __init__(self, figure, place, T, most) -> None:
        super().__init__(figure, place, "")
        self._T, across, down = T, min(most, self.ACROSS), -(-most // self.ACROSS)
        self._step = T + 1  # one empty line between two
        self._cells = np.full((down * self._step, across * self._step), np.nan)
        self._picture = self.axes.imshow(self._cells, aspect="auto", vmin=0, vmax=1)
        self.axes.axis("off")
        self.moving.append(self._picture)
        self._places = [
            (x, y + 1)
            for y in range(0, down * self._step, self._step)
            for x in range(0, across * self._step, self._step)
        ][:most]
        self._names = [Word(self.axes, x - 0.5, y - 1, align="left") for x, y in self._places]
        self.moving += self._names
        self._beside = [self.beside(range(y, y + T)) for x, y in self._places if x == 0]
        self._below = [
            self._words(
                [Word(self.axes, x + i, y + T - 0.4, None, "right", True) for i in range(T)],
                "below",
            )
            for x, y in self._places
        ]

    def set(self, words: Sequence[str], matrices) -> None:
        """Matrices of shape (n, T, T), n at most `most`; words stand below the last in a column."""
        self._cells.fill(np.nan)
        count, nothing = len(matrices), [""] * self._T
        for number, (x, y) in enumerate(self._places):
            self._names[number].say(f"head {number}" if number < count else "")
            lowest = number < count <= number + self.ACROSS
            self._below[number].say(words if lowest else nothing)
            if number < count:
                self._cells[y : y + self._T, x : x + self._T] = matrices[number]
        for line, beside in enumerate(self._beside):
            beside.say(words if line * self.ACROSS < count else nothing)
        self._picture.set_data(self._cells)


def round_up(value: float) -> float:
    """The end of an axis that holds the value: `round_up(3.2)` -> 5.0."""
    power = 10.0 ** np.floor(np.log10(max(value, 1e-3)))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= value * 0.999))
