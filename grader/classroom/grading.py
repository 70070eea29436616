"""Grades one notebook: its code runs in a cage, the verdicts are made here."""

import copy
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from grader.checks import CHECK
from grader.classroom.byhand import named_operations
from grader.classroom.display import harmless, harmless_text, note, plain_text
from grader.classroom.needed import needed
from grader.classroom.restore import OWN
from grader.classroom.seeds import Seeds, at_random
from grader.classroom.source import defines_only
from grader.exercise import Exercise
from grader.exercises import find
from grader.judge import drawn, expected, judge
from grader.names import did_you_mean
from grader.record import Observation
from grader.report import as_html, as_text
from grader.results import error_in_definition, error_of
from grader.runtime.cage import Cage
from grader.runtime.kernel import CagedKernel
from grader.verdict import Verdict

MOST_KERNELS = 8  # a cell that takes its kernel down is left out of the next run
NOT_REACHED = "The run ended before its check."
_CHECK = '__import__("grader").check'
_DECIMALS = re.compile(r"(?i)0x[0-9a-f.]+(p[-+]?\d+)?|\d*\.\d+(e[-+]?\d+)?|\d{5,}")
_NO_NAME = "NameError"
_ERRORS = ("error", "second_error", "gradient_error")
_DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


@dataclass
class Graded:
    """A notebook after its run: the verdicts by exercise, and what happened on the way."""

    notebook: NotebookNode
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def grade_notebook(
    notebook: NotebookNode, cage: Cage, files: Path | None = None, seeds: Seeds = at_random
) -> Graded:
    """Run a restored notebook and judge what its checks hand over; raises NoKernel, OSError.

    Each exercise is judged where its check stands, and if it is not right there, once more at the
    end, as the answer may have been written below: the better of the two counts. `files` is a
    folder with what was handed in beside the notebook.
    """
    done = Graded(copy.deepcopy(notebook))
    run = _Run(done, cage, files, seeds)
    end, left_out = time.monotonic() + cage.limits.wall, set()
    for _ in range(MOST_KERNELS):
        stopped_at = run.once(left_out)
        if time.monotonic() > end:
            break
        if stopped_at is not None:
            left_out.add(stopped_at)
        elif not run.lacks_a_name():
            break
    for cell in done.notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = harmless(cell.outputs)
        elif is_learners(cell):
            cell.source = harmless_text(cell.source)
    for index, exercise in run.checks.items():
        verdict = done.verdicts.setdefault(exercise.name, _nothing(exercise, NOT_REACHED))
        warning = "" if cage.official else str(cage)
        verdict = replace(verdict, message=plain_text(verdict.message), cage=warning)
        done.verdicts[exercise.name] = verdict
        done.notebook.cells[index].outputs = report(verdict)
    return done


def report(verdict: Verdict) -> list[NotebookNode]:
    """The outputs of a check cell, made here: nothing of the kernel's is in them.

    The page for the learner has the pictures; see feedback.py.
    """
    hints = len(verdict.hints)
    content = {
        "text/plain": as_text(verdict, hints),
        "text/html": as_html(verdict, hints, picture=False),
    }
    shown = new_output("display_data", content, metadata={"verdict": verdict.to_json()})
    points = {"text/plain": repr(float(verdict.points))}
    return [shown, new_output("execute_result", points, execution_count=None)]


def is_learners(cell: NotebookNode) -> bool:
    """Whether a cell of a restored notebook was written by the learner, not by the lesson."""
    return cell.id.startswith(OWN) or bool(cell.metadata.get("nbgrader", {}).get("solution"))


class _Run:
    """The cells of one notebook, in as many kernels as it takes."""

    def __init__(self, done: Graded, cage: Cage, files: Path | None, seeds: Seeds) -> None:
        self.done, self.cage, self.files, self.seeds = done, cage, files, seeds
        self.cells = done.notebook.cells
        self.checks = dict(_checks(done.notebook))
        self.run = self._to_run()

    def once(self, left_out: set[int]) -> int | None:
        """Run the notebook in a fresh kernel; the number of the cell that took it down, or None."""
        with CagedKernel(self.cage, self.files) as kernel:
            for index, cell in enumerate(self.cells):
                if cell.cell_type != "code" or index in left_out:
                    continue
                if index in self.checks:
                    self._judge(kernel, index, "")
                else:
                    cell.outputs = []
                    if index in self.run:
                        kernel.run(cell)
                    if _out_of_memory(cell):  # what it filled would be missing for the rest
                        kernel.ended = "there was not enough memory"
                if kernel.ended:
                    self._tell_of_the_end(kernel.ended, index)
                    return index
            for index in set(self.checks) - left_out:
                if not kernel.ended and self._may_be_another(index):
                    where = "The answer that counts is the one at the end of the notebook."
                    self._judge(kernel, index, where)
        return None

    def _to_run(self) -> set[int]:
        """The cells that answers are made of; what a lesson only shows, nobody looks at here."""
        code = {i: cell for i, cell in enumerate(self.cells) if cell.cell_type == "code"}
        written = {i for i, cell in code.items() if is_learners(cell)}
        given = {i: cell.source for i, cell in code.items() if i not in {*written, *self.checks}}
        return written | needed(given, [code[i].source for i in written])

    def lacks_a_name(self) -> bool:
        """Whether cells were passed over and an answer may miss one; then all are run from now."""
        everything = set(range(len(self.cells)))
        missing = any(_NO_NAME in verdict.message for verdict in self.done.verdicts.values())
        lacks, self.run = missing and self.run != everything, everything if missing else self.run
        return lacks

    def _may_be_another(self, check: int) -> bool:
        """Whether the answer at the end of the notebook may be another than where its check was."""
        if _NO_NAME in self.done.verdicts[self.checks[check].name].message:
            return True  # what it needs may be further down
        below = [cell for cell in self.cells[check + 1 :] if is_learners(cell)]
        code = [cell for cell in below if cell.cell_type == "code"]
        return not all(defines_only(cell.source, _own_name(cell)) for cell in code)

    def _tell_of_the_end(self, why: str, index: int) -> None:
        name = self.checks[index].name if index in self.checks else ""
        which = f"the check of {name}" if name else f"cell {self.cells[index].get('id', index)}"
        self.done.remarks.append(f"In {which}, {why}; the rest was run without it.")
        self.cells[index].outputs.append(note(f"Stopped: {why}."))

    def _judge(self, kernel: CagedKernel, index: int, remark: str) -> None:
        """Let the kernel run one check, and keep the verdict if it is the best so far."""
        exercise = self.checks[index]
        best = self.done.verdicts.get(exercise.name)
        if best and best.passed:
            return
        seed = self.seeds(exercise.name)
        expected(exercise, seed)
        # Not the check of the notebook: a submission may have given that name to something else.
        cell = new_code_cell(CHECK.sub(f'{_CHECK}("{exercise.name}"', self.cells[index].source))
        kernel.desk.open(exercise.name, drawn(exercise, seed))
        kernel.run(cell, self.cage.limits.check)
        observation = kernel.desk.close()
        if observation:
            verdict = judge(exercise, self._completed(exercise, observation), seed)
        else:
            why = kernel.ended or self._why_nothing(exercise, cell)
            garbled = f"what its check handed over could not be read: {kernel.desk.trouble}"
            why = why or (garbled if kernel.desk.trouble else "its check handed nothing over")
            verdict = _nothing(exercise, why)
        if best is None or verdict.points > best.points:
            self.done.verdicts[exercise.name] = verdict
            if best is not None and remark:
                self.done.remarks.append(f"{exercise.name}: {remark}")

    def _completed(self, exercise: Exercise, observation: Observation) -> Observation:
        """The observation with what the text of the answer says too, and without the inputs.

        An exception may quote the inputs, which are no learner's to see: such numbers are left out.
        """
        called = named_operations(self.done.notebook, exercise.name, exercise.forbidden)
        return replace(
            observation,
            calls=tuple(
                replace(
                    call,
                    operations=(*call.operations, *sorted(called)),
                    **{name: _DECIMALS.sub("…", getattr(call, name)) for name in _ERRORS},
                )
                for call in observation.calls
            ),
        )

    def _why_nothing(self, exercise: Exercise, cell: NotebookNode) -> str:
        """What kept a check from handing anything over."""
        error = error_of(cell)
        if not error.startswith("NameError") or f"'{exercise.name}'" not in error:
            return error
        if broken := error_in_definition(exercise.name, self.done.notebook):
            return broken
        code = (cell.source for cell in self.cells if cell.cell_type == "code")
        names = {name for source in code for name in _DEFINED.findall(source)}
        return f"Nothing is called {exercise.name}.{did_you_mean(exercise.name, names)}"


def _own_name(cell: NotebookNode) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def _out_of_memory(cell: NotebookNode) -> bool:
    return "MemoryError" in error_of(cell) or "can't allocate memory" in error_of(cell)


def _checks(notebook: NotebookNode) -> list[tuple[int, Exercise]]:
    found = []
    for index, cell in enumerate(notebook.cells):
        named = CHECK.search(cell.source) if cell.cell_type == "code" else None
        if named and cell.metadata.get("nbgrader", {}).get("grade"):
            found.append((index, find(named[1])))
    return found


def _nothing(exercise: Exercise, why: str) -> Verdict:
    why = why[:1].upper() + why[1:] + ("" if why.endswith((".", "?")) else ".")
    return Verdict(exercise.name, 0.0, exercise.points, message=f"There is no result. {why}")
