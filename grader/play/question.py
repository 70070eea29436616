"""A question with lettered choices, in words that need no buttons."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from grader.errors import UserError
from grader.live import marked_up

SURE = {1: "a guess", 2: "fairly sure", 3: "sure"}
MOST = 8


class Silly(UserError, ValueError):
    """What cannot be asked, answered or revealed; the message says why."""


@dataclass(frozen=True)
class Question:
    """Example: `Question("sum", "What is 1 + 1?", ("1", "2"), "01-averaging").pick("b")` -> "2" """

    name: str
    question: str
    choices: tuple[str, ...]
    lesson: str

    @classmethod
    def of(cls, name: str, question: str, choices: Iterable[str], lesson: str) -> "Question":
        """Raises Silly where it cannot be asked."""
        if not isinstance(name, str) or not name.isidentifier():
            raise Silly(f"A prediction has a name such as 'sum', not {name!r}.")
        if isinstance(choices, str) or not isinstance(choices, Iterable):
            raise Silly(f"{name}: the choices are a list of texts.")
        listed = tuple(map(str, choices))
        if not 2 <= len(listed) <= MOST or len(set(listed)) < len(listed):
            raise Silly(f"{name}: there must be 2 to {MOST} choices, each another.")
        return cls(name, str(question), listed, lesson)

    @classmethod
    def from_plain(cls, name: str, entry: dict[str, Any]) -> "Question":
        """What `to_plain` made."""
        return cls(name, entry["question"], tuple(entry["choices"]), entry["lesson"])

    def to_plain(self) -> dict[str, Any]:
        choices = list(self.choices)
        return {"lesson": self.lesson, "question": self.question, "choices": choices}

    @property
    def letters(self) -> str:
        return ascii_lowercase[: len(self.choices)]

    def say(self, choice: str) -> str:
        """`.say("2")` -> "b) 2" """
        return f"{self.letters[self.choices.index(choice)]}) {choice}"

    def pick(self, answer: Any) -> str:
        """The choice with that letter or text; raises Silly."""
        text = str(answer).strip()
        if text in self.choices:
            return text
        if len(text) == 1 and text.lower() in self.letters:
            return self.choices[self.letters.index(text.lower())]
        among = ", ".join(map(self.say, self.choices))
        raise Silly(f"{self.name}: {answer!r} is not among the choices {among}.")

    def revealed(self, right: Any, because: Any) -> tuple[str, dict[str, str]]:
        """The right choice, and why others are not, by their texts; raises Silly."""
        chosen = self.pick(right)
        if not isinstance(because, dict):
            raise Silly(f"{self.name}: because holds a sentence for each choice it refutes.")
        reasons = {self.pick(choice): str(why) for choice, why in because.items()}
        if chosen in reasons:
            raise Silly(f"{self.name}: {chosen!r} is right, and cannot be refuted as well.")
        return chosen, reasons

    def forms(self, heading: str, state: str, how: str) -> tuple[str, str]:
        """As text and as HTML: heading, question, choices, what is known of it, how to answer."""
        below = [line for line in (state, how) if line]
        listed = [f"  {self.say(choice)}" for choice in self.choices]
        text = "\n".join([f"{heading} {self.question}", *listed, *below])
        items = "".join(f"<li>{marked_up(choice)}</li>" for choice in self.choices)
        rest = "".join(f"<div>{marked_up(line)}</div>" for line in below)
        asked = f"<div><strong>{heading}</strong> {marked_up(self.question)}</div>"
        return text, f"{asked}<ol type='a' style='margin:.3em 0'>{items}</ol>{rest}"
