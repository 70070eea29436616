"""What holds for every animal, whatever it is. A test file inherits these and names its animals."""

import inspect
import re
from functools import cache
from html import escape

import pytest

from grader.classroom.outcome import GRADED, NOT_GRADABLE
from grader.exercises import exercises
from zoo.animal import Animal
from zoo.course import Course


class Laws:
    """One class of animals in one course; `animals` and `graded_before` are names in the zoo."""

    animals: list[Animal] = ()
    graded_before: list[Animal] = ()

    @pytest.fixture(scope="class")
    @classmethod
    def course(cls, request, tmp_path_factory) -> Course:
        folder, kind = tmp_path_factory.mktemp("zoo"), request.cls
        return Course(folder, kind.animals, pictures=False).grade(kind.graded_before)

    def pytest_generate_tests(self, metafunc):
        if "animal" in metafunc.fixturenames:
            animals = metafunc.cls.animals
            metafunc.parametrize("animal", animals, ids=[animal.name for animal in animals])

    def test_the_batch_completes_and_its_status_says_whether_all_are_graded(self, course):
        for command, status in course.commands.items():
            lesson = command.split()[1]
            here = [animal for animal in course.animals if animal.lesson == lesson]
            some = any(animal.scores is None for animal in here) and "--jobs" in command
            assert status == int(some), command

    def test_no_process_is_left_behind(self, course):
        assert course.left_running == []

    def test_no_file_is_left_behind(self, course):
        assert course.left_behind == []

    def test_what_was_handed_in_is_as_it_was(self, course):
        assert course.contents() == course.handed_in

    def test_some_had_full_points_yesterday(self, course):
        for scores in course.before.values():
            assert sum(scores.values()) == 7
        assert len(course.before) == len(self.graded_before)

    def test_scores_are_what_the_code_deserves(self, course, animal):
        scores = course.scores(animal)
        wanted = animal.scores or dict.fromkeys(scores)
        assert scores == wanted, course.told(animal)

    def test_it_is_told_why(self, course, animal):
        assert animal.says in course.told(animal)

    def test_it_ends_in_one_state_everywhere(self, course, animal):
        state = GRADED if animal.scores is not None else NOT_GRADABLE
        outcome, row = course.outcome(animal), course.row(animal)
        assert (outcome.state, row["state"]) == (state, state), outcome.reason
        assert not outcome.ours, outcome.reason
        scores, awaited = course.entry(animal)
        assert awaited == (state == NOT_GRADABLE)
        if state == GRADED:
            assert float(row["score"]) == sum(scores.values()) == outcome.points
        else:
            assert (row["score"], row["reason"]) == ("", outcome.reason)
            assert len(outcome.reason.split()) >= 5

    def test_it_was_caged(self, course, animal):
        outcome = course.outcome(animal)
        assert outcome.cage.startswith("run in a cage")
        assert not any(verdict.cage for verdict in outcome.verdicts)

    def test_feedback_says_the_state_and_the_score(self, course, animal):
        page = course.feedback(animal)
        shown = re.search(r"\(Score: ([\d.]+) / ([\d.]+)\)", page)
        assert ("(not graded)" in page) == (animal.scores is None) == (shown is None)
        if animal.scores is None:
            assert escape(course.outcome(animal).reason) in page
        else:
            assert float(shown[1]) == sum(course.scores(animal).values())

    def test_feedback_runs_nothing(self, course, animal):
        page = course.feedback(animal)
        assert "Content-Security-Policy" in page
        assert "default-src 'none'" in page
        tags = set(re.findall(r"<\s*(\w+)", page.lower()))
        assert not tags & {"script", "iframe", "object", "embed", "link", "form", "base"}
        sources = re.findall(r"<img\b[^>]*?\bsrc=[\"']?([^,>]*)", page)
        assert set(sources) <= {"data:image/png;base64"}
        inside = re.findall(r"<[^>]*>", page.lower())
        assert not [tag for tag in inside if re.search(r"\son\w+\s*=|javascript:|https?:", tag)]
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", page)

    def test_feedback_gives_no_solution_away(self, course, animal):
        page = course.feedback(animal)
        known = "".join(path.read_text(errors="replace") for path in _files(course, animal))
        told = [line for line in _secret_lines(animal.lesson) if line in page and line not in known]
        assert told == []

    def test_feedback_holds_no_hidden_input(self, course, animal):
        """Hostile animals put HIDDEN-INPUT before numbers that they were given."""
        page = re.sub(r"<[^>]*>", "", course.feedback(animal))
        for text in (page, course.told(animal)):
            assert not re.search(r"HIDDEN-INPUT\W{0,9}\d[^\n]{0,40}", text)


def _files(course: Course, animal: Animal) -> list:
    """What the learner knew: the released lesson, and what was handed in."""
    released = course.folder / "notebooks" / animal.lesson
    found = [*released.glob("*.ipynb"), *course.submission(animal).glob("**/*")]
    return [path for path in found if path.is_file() and not path.is_symlink()]


@cache
def _secret_lines(lesson: str) -> set[str]:
    """Lines of the reference kernels that are long enough not to be there by chance."""
    sources = [
        inspect.getsource(kernel)
        for exercise in exercises()
        if exercise.lesson == lesson
        for kernel in (exercise.right, *exercise.variants)
        if inspect.isfunction(kernel)
    ]
    lines = {line.strip() for source in sources for line in source.split("\n")}
    return {line for line in lines if len(line) > 20 and not line.startswith(("def ", "@", '"""'))}
