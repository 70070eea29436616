"""The grader's own proof: every declared answer, right or wrong, is judged as declared."""

import pytest
import torch
from torch import nn

from grader import exercises, grade
from grader.exercise import STEPS
from grader.exercises import UnknownExercise, find

EXERCISES = {exercise.name: exercise for exercise in exercises()}
CONTRACT = {
    "01-averaging": {"average": 1, "uniform_weights": 1, "mix": 2, "running_average": 3},
    "02-dot-product-weights": {
        "query_scores": 1, "softmax": 3, "break_the_sum": 1, "dot_product_attention": 4,
    },
    "03-query-key-value": {
        "project": 1, "attention_scores": 1, "scaled_dot_product_attention": 5,
        "SelfAttention": 4, "linear_to_matrix": 1, "look_left": 3,
    },
    "04-square-root-scaling": {
        "dot_product_variance": 2, "scale_scores": 1, "softmax_jacobian": 3, "which_scale": 3,
        "Head": 3,
    },
}  # fmt: skip

each_exercise = pytest.mark.parametrize("name", EXERCISES)
each_right = pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param(e.name, answer, id=f"{e.name}-{answer.__name__}")
        for e in exercises()
        for answer in (e.right, e.slow, *e.variants)
    ],
)
each_wrong = pytest.mark.parametrize(
    ("name", "mistake"),
    [
        pytest.param(e.name, mistake, id=f"{e.name}-{mistake.id}")
        for e in exercises()
        for mistake in e.known_wrong
    ],
)


def test_the_exercises_and_their_points_are_those_of_the_contract():
    declared = {}
    for exercise in exercises():
        declared.setdefault(exercise.lesson, {})[exercise.name] = exercise.points
    assert declared == CONTRACT


@each_exercise
def test_an_exercise_ships_with_everything_a_learner_needs(name):
    exercise = EXERCISES[name]
    assert exercise.signature.startswith(f"{name}(")
    assert len(exercise.hints) >= 3
    assert len(exercise.variants) >= 3
    assert len(exercise.known_wrong) >= 3


@each_exercise
def test_mistakes_have_different_ids_a_step_and_a_question(name):
    mistakes = EXERCISES[name].known_wrong
    assert len({m.id for m in mistakes}) == len(mistakes)
    for mistake in mistakes:
        assert mistake.step in (*STEPS, "")
        assert mistake.question.count("?") == 1
        assert mistake.formula


@each_right
@pytest.mark.parametrize("seed", [0, 11])
def test_a_right_answer_gets_full_points_and_no_name(name, answer, seed):
    verdict = grade(name, answer, seed=seed)
    assert verdict.passed, verdict.message
    assert verdict.points == EXERCISES[name].points
    assert verdict.misconception is None
    assert verdict.possible == ()


@each_wrong
@pytest.mark.parametrize("seed", [0, 11])
def test_a_known_mistake_loses_points_and_gets_its_own_name(name, mistake, seed):
    verdict = grade(name, mistake, seed=seed)
    assert not verdict.passed
    assert 0 <= verdict.points < EXERCISES[name].points
    assert verdict.misconception == mistake.id, verdict.message
    assert verdict.message.startswith(f"What you computed: {mistake.formula}\n{mistake.what}")
    assert verdict.message.endswith(f"Think about: {mistake.question}")


def not_done(*arguments):
    raise NotImplementedError


SILLY = {
    "an empty stub": not_done,
    "its first argument": lambda *arguments: arguments[0] if arguments else None,
    "nothing": lambda *arguments: None,
    "a constant": lambda *arguments: torch.ones(3, 3),
    "not a number": lambda *arguments: float("nan"),
    "a pair of nans": lambda *arguments: (torch.full((5, 3), torch.nan),) * 2,
    "an empty module": lambda *arguments: nn.Module(),
    "a word": lambda *arguments: "right",
}


#: the known mistakes that are just that
SILLY_TOO = {"unchanged", "not_scaled", "map_itself", "no_parameters", "a_list", "a_matrix"}


@each_exercise
@pytest.mark.parametrize("answer", SILLY.values(), ids=SILLY)
def test_a_silly_answer_earns_nothing_and_is_told_so(name, answer):
    verdict = grade(name, answer)
    assert verdict.points == 0
    assert verdict.message
    assert set(verdict.possible) <= SILLY_TOO


def test_an_unknown_exercise_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownExercise, match="Did you mean 'softmax'"):
        grade("sofmax", torch.exp)


@each_exercise
def test_probes_follow_from_the_seed_and_from_nothing_else(name):
    def tensors(seed):
        probes = EXERCISES[name].probes(seed)
        return [a for p in probes for a in p.args if isinstance(a, torch.Tensor)]

    torch.manual_seed(5)
    first = tensors(3)
    torch.manual_seed(6)
    again, other = tensors(3), tensors(4)
    assert all(map(torch.equal, first, again))
    assert not first or not all(map(torch.equal, first, other))


# --- the references against an oracle outside --------------------------------------------------


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(9))


def test_attention_is_torchs_own():
    q, k, v = normal(2, 5, 6), normal(2, 7, 6) + 1, normal(2, 7, 3)
    context, weights = find("scaled_dot_product_attention").right(q, k, v)
    torch.testing.assert_close(context, nn.functional.scaled_dot_product_attention(q, k, v))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5, dtype=torch.float64))


def test_the_example_of_the_note_comes_out_as_printed_there():
    scores = torch.tensor([4.0, 16.0, 12.0])
    softmax, scale = find("softmax").right, find("scale_scores").right
    assert [round(w, 3) for w in softmax(scores).tolist()] == [0.0, 0.982, 0.018]
    assert [round(w, 3) for w in softmax(scale(scores, 3)).tolist()] == [0.001, 0.909, 0.09]


def test_a_two_token_attention_worked_by_hand():
    x = torch.tensor([[1.0, 1.0], [1.0, 0.0]])
    context, _ = find("dot_product_attention").right(x)
    e = torch.e
    second_weight = e / (e + e)  # both scores of token 1 are 1
    assert context[1].tolist() == pytest.approx([1.0, second_weight])
    assert context[0].tolist() == pytest.approx([1.0, e**2 / (e**2 + e)])


def test_the_softmax_is_torchs_own():
    scores = 30 * normal(4, 6)
    torch.testing.assert_close(find("softmax").right(scores), torch.softmax(scores, -1))


def test_the_jacobian_is_autograds():
    scores = normal(5)
    by_autograd = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
    torch.testing.assert_close(
        find("softmax_jacobian").right(torch.softmax(scores, -1)), by_autograd
    )


def test_the_running_average_of_three_numbers():
    x = torch.tensor([[6.0], [2.0], [1.0]])
    assert find("running_average").right(x).flatten().tolist() == [6.0, 4.0, 3.0]


def test_the_matrix_of_a_linear_map_does_what_the_map_does():
    linear, x = nn.Linear(3, 5, bias=False), torch.randn(4, 3)
    torch.testing.assert_close(x @ find("linear_to_matrix").right(linear), linear(x))
