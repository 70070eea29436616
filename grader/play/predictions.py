"""Say before a cell is run what will come out, and how sure you are; then see.

What was sure and wrong is asked once more in a later lesson. Nothing of it counts for points.
"""

from typing import Any

from grader.live import marked_up, show
from grader.names import did_you_mean
from grader.play.question import SURE, Question, Silly
from grader.progress.file import Record, change, read
from grader.progress.standing import event, here

REVEALED = "Revealed already."
NO_PREDICTION = "You made no prediction."
_asked: dict[str, Question] = {}  # in this kernel
_recalled: set[str] = set()  # in this kernel: one chance each


def predict(
    name: str, question: str, choices: list[str], *, answer: str | None = None, sure: int = 0
) -> None:
    """Ask for a prediction, with buttons or with `answer` and `sure`; changeable until revealed.

    Example: `predict("sum", "What is 1 + 1?", ["1", "2"], answer="b", sure=3)` keeps the answer
    """
    try:
        asked = Question.of(name, question, choices, here())
        kept = _keep(asked, answer, sure) if answer is not None or sure else said(asked)
    except Silly as error:
        print(error)
        return
    _asked[name] = asked
    from grader.play.choosing import prediction  # ipywidgets is slow to import

    if kept.startswith(REVEALED):
        show(*asked.forms("Predict.", kept, ""))
        return
    text, html = asked.forms("Predict.", kept, _how(f'answer="{asked.letters[0]}", sure=2'))
    show(text, html, lambda: prediction(asked, kept, lambda a, s: _keep(asked, a, s)))


def reveal(name: str, right: str, because: dict[str, str] | None = None) -> None:
    """Show what was predicted beside what is right, and why a tempting choice is not.

    Example: `reveal("sum", right="2", because={"1": "Both ones count."})`
    """
    try:
        asked = _known(name)
        right, because = asked.revealed(right, because or {})
    except Silly as error:
        print(error)
        return
    entry = change(lambda record: _revealed(record, asked, right, because))
    mine = entry["answer"] if entry else None
    first = f"You said {asked.say(mine)}, {SURE[entry['sure']]}." if entry else NO_PREDICTION
    lines = [first, f"It is {asked.say(right)}."]
    refuted = sorted(because.items(), key=lambda item: item[0] != mine)
    lines += [f"Why not {asked.say(choice)}? {why}" for choice, why in refuted]
    html = "".join(f"<div>{marked_up(line)}</div>" for line in lines)
    show("\n".join(lines), html)


def remember(**answers: str) -> None:
    """Ask once more what was sure and wrong in earlier lessons; what is right now is dropped.

    Example: `remember(sum="b")` answers the question `sum` without buttons
    """
    stored, lesson = read()["again"], here()
    old = [
        Question.from_plain(name, entry)
        for name, entry in stored.items()
        if not lesson or entry["lesson"] < lesson
    ]
    for name in answers.keys() - {question.name for question in old} - _recalled:
        print(f"There is nothing to remember called {name!r}.{did_you_mean(name, stored)}")
    if not old:
        print("Nothing to remember: no prediction of an earlier lesson was both sure and wrong.")
    for asked in old:
        _remember(asked, stored[asked.name], answers.get(asked.name))


def _remember(asked: Question, entry: dict[str, Any], answer: str | None) -> None:
    from grader.play.choosing import recollection

    def judge(chosen: str) -> str:
        return _recall(asked, entry, chosen)

    try:
        result = judge(answer) if answer is not None else ""
    except Silly as error:
        print(error)
        return
    number = asked.lesson.partition("-")[0].lstrip("0")  # a folder: 04-square-...
    heading = f"From lesson {number}." if asked.lesson else "Once more."
    how = f'Without buttons: remember({asked.name}="{asked.letters[0]}")'
    text, html = asked.forms(heading, result, "" if result else how)
    show(text, html, None if result else lambda: recollection(asked, heading, judge))


def said(asked: Question) -> str:
    """What is kept of an answer: `said(question)` -> "Kept: b) 16, sure." """
    entry = read()["predictions"].get(asked.name)
    if not entry or entry["answer"] not in asked.choices:
        return ""
    kept = f"{asked.say(entry['answer'])}, {SURE[entry['sure']]}."
    return f"{REVEALED} You said {kept}" if entry["revealed"] else f"Kept: {kept}"


def _how(words: str) -> str:
    levels = ", ".join(f"{level} {word}" for level, word in SURE.items())
    return f"Without buttons: add `{words}` to this call and run the cell again. sure is {levels}."


def _known(name: str) -> Question:
    if name in _asked:
        return _asked[name]
    hint = did_you_mean(name, _asked)
    raise Silly(f"There is no prediction called {name!r} above, or its cell has not run.{hint}")


def _keep(asked: Question, answer: str | None, sure: int) -> str:
    """Store an answer, unless it has been revealed; what is kept now. Raises Silly."""
    chosen = asked.pick(answer)
    if type(sure) is not int or sure not in SURE:
        levels = ", ".join(f"{level} ({word})" for level, word in SURE.items())
        raise Silly(f"{asked.name}: sure is one of {levels}.")

    def edit(record: Record) -> None:
        if asked.lesson:
            event(record, asked.lesson)
        entry = record["predictions"].setdefault(asked.name, {"revealed": False})
        if not entry["revealed"]:
            entry |= {"lesson": asked.lesson, "answer": chosen, "sure": sure}

    change(edit)
    return said(asked)


def _revealed(record: Record, asked: Question, right: str, because: dict) -> dict | None:
    """Mark as revealed; sure and wrong is to be asked again."""
    entry = record["predictions"].get(asked.name)
    if asked.lesson:
        event(record, asked.lesson)
    if not entry or entry["answer"] not in asked.choices:
        return None
    if not entry["revealed"] and entry["answer"] != right and entry["sure"] == max(SURE):
        record["again"][asked.name] = asked.to_plain() | {"right": right, "because": because}
    entry["revealed"] = True
    return dict(entry)


def _recall(asked: Question, entry: dict[str, Any], answer: str) -> str:
    """Judge an answer to an old question; only the first of a kernel counts. Raises Silly."""
    chosen, right = asked.pick(answer), entry["right"]
    if asked.name in _recalled:
        return "It is asked once in a lesson."
    _recalled.add(asked.name)
    if chosen == right:
        change(lambda record: record["again"].pop(asked.name, None))
        return f"You say {asked.say(chosen)}: right now. It will not be asked again."
    why = entry["because"].get(chosen, "")
    wrong = f"You say {asked.say(chosen)}. It is {asked.say(right)}. {why}".strip()
    return f"{wrong} It comes back in the next lesson."
