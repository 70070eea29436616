"""The record of one judgement: what was earned, what was found, and the words for it."""

import json
from dataclasses import asdict, dataclass

NOT_DONE = "Not done yet."
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Comparison:
    """At most 8×8 numbers of one wrong output, yours beside the right ones.

    Example: `Comparison("5×3", "weights", ((0.5, 0.5),), ((0.9, 0.1),))`
    """

    probe: str
    part: str
    yours: Rows
    right: Rows


@dataclass(frozen=True)
class Verdict:
    """Everything the reports need, and nothing that has to be computed again.

    `misconception` is the id of the one known mistake the answer equals, `possible` all that fit;
    `properties` pairs what was looked at with whether it holds, and `because` says how the points
    follow; `message` is plain text whose first line stands on its own.
    Example: `Verdict("mix", 2.0, 2.0).passed` -> True
    """

    exercise: str
    points: float
    max_points: float
    misconception: str | None = None
    possible: tuple[str, ...] = ()
    properties: tuple[tuple[str, bool], ...] = ()
    message: str = ""
    because: str = ""
    step: str = ""
    comparison: Comparison | None = None
    hints: tuple[str, ...] = ()
    cage: str = ""

    @property
    def passed(self) -> bool:
        return self.points == self.max_points

    @property
    def untouched(self) -> bool:
        """Nothing but the empty stub was there to judge."""
        return self.message.startswith(NOT_DONE)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Verdict":
        """Read back what `to_json` wrote."""
        fields = json.loads(text)
        for name in ("possible", "hints"):
            fields[name] = tuple(fields[name])
        fields["properties"] = tuple((label, held) for label, held in fields["properties"])
        if shown := fields["comparison"]:
            rows = {side: tuple(map(tuple, shown[side])) for side in ("yours", "right")}
            fields["comparison"] = Comparison(**{**shown, **rows})
        return cls(**fields)
