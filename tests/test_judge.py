"""The judge: what is wrong is said once, exactly, and nothing else is blamed."""

import pytest
import torch
from torch import nn

from grader import grade
from grader.exercises import find
from grader.judge import judge
from grader.observe import observe
from grader.record import Observation
from grader.wire import pack, unpack


def softmax(scores):
    exps = torch.exp(scores - scores.amax(-1, keepdim=True))
    return exps / exps.sum(-1, keepdim=True)


def properties(verdict):
    return dict(verdict.properties)


def failed(verdict):
    return [label for label, held in verdict.properties if not held]


def test_the_judge_needs_only_the_record():
    exercise = find("softmax")
    sent = pack(observe(softmax, exercise.probes(5)).to_plain())
    assert judge(exercise, Observation.from_plain(unpack(sent)), seed=5).passed


def test_answers_to_other_inputs_do_not_pass():
    exercise = find("softmax")
    seen = observe(softmax, exercise.probes(5))
    assert not judge(exercise, seen, seed=6).passed


def test_an_empty_stub_is_not_done_yet_and_not_an_error():
    class Stub(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()

        def forward(self, x):
            raise NotImplementedError

    verdict = grade("SelfAttention", Stub)
    assert verdict.points == 0.0
    assert verdict.message.startswith("Not done yet.")


def test_a_crash_quotes_the_line_and_says_where_the_answer_is_right():
    def only_without_a_batch(q, k, v):
        weights = torch.softmax(torch.mm(q, k.t()) / k.shape[1] ** 0.5, dim=1)
        return weights @ v, weights

    verdict = grade("scaled_dot_product_attention", only_without_a_batch)
    assert verdict.misconception is None
    assert "torch.mm(q, k.t())" in verdict.message
    assert "a batch of 2" in verdict.message
    assert "gives the right answer" in verdict.message
    assert 0 < verdict.points < 5


def test_an_unknown_wrong_answer_is_given_no_name():
    verdict = grade("softmax", lambda scores: softmax(scores * 1.01))
    assert verdict.possible == ()
    assert "away from the right ones" in verdict.message


def test_two_mistakes_at_once_are_both_named_and_neither_alone():
    verdict = grade(
        "scaled_dot_product_attention",
        lambda q, k, v: (torch.softmax(q @ k.mT, dim=-2) @ v, torch.softmax(q @ k.mT, dim=-2)),
    )
    assert verdict.misconception == "not_scaled + over_the_queries"
    assert verdict.possible == (verdict.misconception,)
    assert verdict.message.startswith("Two mistakes at once.")
    for line in ("First mistake: at the step scale;", "Second mistake: at the step normalise;"):
        assert line in verdict.message


def test_mistakes_that_cannot_be_told_apart_are_all_named():
    exercise = find("mix")
    mistake = exercise.known_wrong[0]
    exercise.wrong("the same again", "mix")(lambda_twin := _twin_of(mistake))
    try:
        verdict = grade("mix", mistake, seed=987)  # the mistakes of other seeds are remembered
    finally:
        exercise._wrong.pop()
    assert verdict.misconception is None
    assert verdict.possible == (mistake.id, lambda_twin.__name__)
    assert verdict.message.count("What you may have computed") == 2


def _twin_of(mistake):
    def twin(*arguments):
        """Is it the same?"""
        return mistake(*arguments)

    return twin


class SpyOnSecond:
    """Right the first time, wrong for inputs it has seen."""

    def __init__(self):
        self.seen = set()

    def __call__(self, scores):
        key = (tuple(scores.shape), scores.dtype, scores.flatten()[0].item())
        wrong = key in self.seen
        self.seen.add(key)
        return softmax(scores) * (0.5 if wrong else 1)


FAULTS = {
    "leaves its inputs unchanged": lambda s: softmax(s.add_(1)),
    "the expected dtype": lambda s: softmax(s).double(),
    "full precision in float64": lambda s: softmax(s.float()).to(s.dtype),
    "right values at large scores": lambda s: torch.exp(s) / torch.exp(s).sum(-1, keepdim=True),
    "the gradient reaches every input": lambda s: softmax(s.detach()) + 0 * s,
    "any leading batch dimensions": lambda s: softmax(s) * (2 if s.dim() == 4 else 1),
    "right values when all sizes are equal": lambda s: (
        softmax(s.mT).mT if s.dim() == 2 and s.shape[-1] == s.shape[-2] else softmax(s)
    ),
}


@pytest.mark.parametrize(("label", "answer"), FAULTS.items(), ids=FAULTS)
def test_a_fault_beside_right_values_fails_its_own_property_alone(label, answer):
    verdict = grade("softmax", answer)
    assert failed(verdict) == [label]
    assert 0 < verdict.points < 3
    assert verdict.message


def test_a_memory_of_earlier_calls_is_noticed():
    assert "the same answer on every call" in failed(grade("softmax", SpyOnSecond()))


def test_a_library_softmax_earns_nothing_where_writing_it_is_the_point():
    verdict = grade("softmax", lambda s: torch.nn.functional.softmax(s, dim=-1))
    assert failed(verdict) == ["written by hand"]
    assert verdict.points == 0


def test_a_name_that_is_not_among_the_choices_is_quoted():
    message = grade("which_scale", lambda attention: "1/sqrt(d_k) ").message
    assert "'1/sqrt(d_k) ' is none of the six names" in message


def test_each_property_that_fails_costs_a_quarter_of_the_points():
    verdict = grade("softmax", FAULTS["the expected dtype"])
    assert len(failed(verdict)) == 1
    assert verdict.points == 3 * 3 / 4
    assert type(verdict.points) is float


def test_a_known_mistake_is_named_beside_a_crash_elsewhere():
    def unscaled_without_a_batch(q, k, v):
        weights = torch.softmax(torch.mm(q, k.t()), dim=-1)
        return weights @ v, weights

    verdict = grade("scaled_dot_product_attention", unscaled_without_a_batch)
    assert verdict.misconception == "not_scaled"
    assert "Besides: on a batch of 2" in verdict.message


def test_a_known_mistake_is_named_though_it_overflows():
    verdict = grade("softmax", lambda s: torch.exp(s) / torch.exp(s).sum())
    assert verdict.misconception == "over_everything"


def test_a_table_in_float32_costs_float64_and_no_more():
    def answer(x):
        triangle = torch.ones(x.shape[-2], x.shape[-2]).tril()
        return triangle / triangle.sum(-1, keepdim=True) @ x

    verdict = grade("running_average", answer)
    assert "right values in float64" in failed(verdict)
    assert properties(verdict)["right values"]
    assert "dtype=x.dtype" in verdict.message


class FixedScale(nn.Module):
    def __init__(self, embedding_size, head_size):
        super().__init__()
        self.query, self.key, self.value = (
            nn.Linear(embedding_size, head_size, bias=False) for _ in range(3)
        )

    def forward(self, x):
        scores = self.query(x) @ self.key(x).mT / 3.3
        return torch.softmax(scores, dim=-1) @ self.value(x)


@pytest.mark.parametrize("seed", range(5))
def test_a_wrong_module_that_repeats_itself_is_not_said_to_vary(seed):
    verdict = grade("Head", FixedScale, seed=seed)
    assert properties(verdict)["the same answer on every call"]
    assert "Two calls" not in verdict.message


T = 6


@pytest.mark.parametrize("normalise", [torch.exp, lambda s: torch.exp(s) / torch.exp(s).sum()])
def test_the_number_that_shows_a_mistake_is_from_plain_inputs(normalise):
    message = grade("softmax", normalise).message
    (sentence,) = [line for line in message.splitlines() if line.startswith("How we know")]
    assert "NaN" not in sentence
    assert "Besides: on scores" in message


def test_a_factor_near_1_is_not_called_one():
    assert "Every number" not in grade("average", lambda x: average(x) * 1.0005).message


def test_float32_inside_a_jacobian_is_noticed():
    def answer(w):
        u = w.float()
        return (torch.diag_embed(u) - u[..., :, None] * u[..., None, :]).to(w.dtype)

    assert failed(grade("softmax_jacobian", answer)) == ["full precision in float64"]


class BiasedAndWrong(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_in, d_out) for _ in range(3))

    def forward(self, x):
        return torch.zeros_like(self.W_v(x))


def test_a_module_known_by_its_parameters_is_told_nothing_about_its_numbers():
    verdict = grade("SelfAttention", BiasedAndWrong)
    assert verdict.misconception == "with_bias"
    assert "How we know" not in verdict.message


def test_an_attribute_of_that_name_is_not_taken_for_a_number_of_the_notebook():
    verdict = grade("average", lambda x: x.T.T)
    assert "notebook" not in verdict.message


def test_numbers_read_from_the_notebook_are_pointed_at():
    verdict = grade("average", lambda x: x.sum(-2, keepdim=True).expand_as(x) / T)
    assert "reads `T` from the notebook" in verdict.message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x: average(x) * 3, "Every number is 3 times the right one."),
        (
            lambda x: torch.cat([average(x)[..., :1, :], x[..., 1:, :]], -2),
            "The first row alone is right.",
        ),
    ],
)
def test_the_part_that_is_right_is_named(answer, words):
    assert words in grade("average", answer).message


def average(x):
    return x.mean(-2, keepdim=True).expand_as(x)


def test_the_output_that_is_right_is_named():
    verdict = grade(
        "scaled_dot_product_attention",
        lambda q, k, v: (
            nn.functional.scaled_dot_product_attention(q, k, v),
            torch.softmax(q @ k.mT, -1) * 2,
        ),
    )
    assert "Right by itself: context." in verdict.message


def test_wrong_plain_values_earn_nothing_however_tidy_the_rest_is():
    verdict = grade("softmax", lambda s: torch.zeros_like(s) + s * 0)
    assert verdict.points == 0
    assert properties(verdict)["the expected dtype"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda i, o: nn.Linear(i, o, bias=True), ("W_q is missing", "bias is not expected")),
        (lambda i, o: nn.Linear(o, i, bias=False), ("is not expected",)),
    ],
)
def test_wrong_parameters_are_listed_by_name(make, words):
    class Answer(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            self.W_k = make(d_in, d_out)

        def forward(self, x):
            return x

    message = grade("SelfAttention", Answer).message
    assert "W_q.weight is missing" in message
    for word in words[1:]:
        assert word in message


def test_a_missing_gradient_is_reported_by_argument():
    def values_detached(q, k, v):
        weights = torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
        return weights @ v.detach(), weights

    verdict = grade("scaled_dot_product_attention", values_detached)
    assert failed(verdict) == ["the gradient reaches every input"]
    assert "No gradient reaches argument 3 from output 1." in verdict.message
    assert verdict.misconception is None


def test_weights_cut_off_from_their_inputs_are_told_apart_from_a_cut_context():
    def answer(q, k, v):
        weights = torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights.detach()

    verdict = grade("scaled_dot_product_attention", answer)
    assert verdict.misconception is None
    assert "argument 1 from output 2" in verdict.message
    assert "output 1" not in verdict.message


def test_a_row_that_is_not_broken_is_told_what_its_weights_are():
    verdict = grade("break_the_sum", lambda: 3.0)
    assert "1-D tensor is expected" in verdict.message


def test_a_look_to_the_left_may_be_tiny_but_must_be_strict():
    eye = torch.eye

    def small(T):
        return 1e-3 * eye(T).roll(-1, 1), eye(T)

    def tied(T):
        return eye(T).roll(-1, 1) + eye(T), eye(T)

    assert grade("look_left", small).passed
    assert not grade("look_left", tied).passed


@pytest.mark.parametrize("seed", [1, 13, 19, 76, 116, 153, 179, 192])
def test_a_tie_stays_a_tie_when_rounding_breaks_it(seed):
    def tied_but_for_rounding(T):
        turn = torch.linalg.qr(torch.randn(T, T, generator=torch.Generator().manual_seed(seed)))[0]
        return torch.eye(T, dtype=turn.dtype).roll(-1) @ turn, turn

    assert not grade("look_left", tied_but_for_rounding).passed


def test_the_same_seed_gives_the_same_verdict():
    wrong = find("scaled_dot_product_attention").known_wrong[3]
    first = grade("scaled_dot_product_attention", wrong, seed=4)
    assert first == grade("scaled_dot_product_attention", wrong, seed=4)


def looks_three_back(T):
    return 9 * torch.eye(T).roll(3, dims=0), torch.eye(T)


def test_a_wrong_word_of_the_right_form_is_not_asked_for_its_form():
    asked = grade("which_scale", lambda attention: "1/d_k").message.splitlines()[-1]
    assert asked.startswith("Think about: What sets this case apart")
    asked = grade("look_left", looks_three_back).message.splitlines()[-1]
    assert asked.startswith("Think about: What sets this case apart")
    asked = grade("which_scale", lambda attention: 3).message.splitlines()[-1]
    assert asked == "Think about: What should come back, and in which form?"


def row_0_only(attention, x):
    before = attention(x)[0]
    cuts = (torch.cat([x[:1], torch.randn_like(x[1:])]) for _ in range(3))
    return any(not torch.allclose(attention(y)[0], before, atol=1e-5) for y in cuts)


def test_a_guess_at_how_a_test_works_comes_with_a_box_that_it_judges_wrongly():
    verdict = grade("leaks_future", row_0_only)
    assert verdict.misconception == "only_row_0"
    first, *_ = verdict.message.splitlines()
    assert first == "What your code may do: only row 0 of the result is compared"
    assert "How we know: On a box (masked, but row " in verdict.message
    assert "you found no leak. All your answers are those of such code." in verdict.message


def test_what_a_test_does_to_its_argument_is_no_guess():
    def shuffles_x(attention, x, permutation):
        straight = attention(x)[permutation]
        x[:] = x[permutation]
        return torch.allclose(attention(x), straight, atol=1e-5)

    verdict = grade("is_equivariant", shuffles_x)
    assert verdict.message.startswith("What you computed: f(x[p]) = f(x)[p], and x shuffled")
    assert "such code" not in verdict.message


def row_0_forgotten(x):
    out = torch.zeros_like(x)
    for i in range(1, x.shape[-2]):
        out[..., i, :] = x[..., : i + 1, :].mean(-2)
    return out


def everything_detached(x):
    return torch.full_like(x, float(x.mean()))


def keys_for_values(q, k, v):
    weights = torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
    return weights @ v.detach(), 2 * weights


def test_a_row_that_is_right_by_chance_needs_no_right_gradient():
    properties = dict(grade("running_average", row_0_forgotten).properties)
    assert properties["the gradient reaches every input"]


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("average", everything_detached, "No gradient reaches argument 1 from output 1."),
        (
            "scaled_dot_product_attention",
            keys_for_values,
            "No gradient reaches argument 3 from output 1.",
        ),
    ],
)
def test_where_no_gradient_arrives_none_is_said_to(name, answer, told):
    message = grade(name, answer).message
    assert told in message or "gradient" not in message
    assert "A gradient arrives" not in message


def test_a_step_in_place_is_asked_for_and_no_detach():
    def in_place(scores):
        exps = torch.exp(scores - scores.amax(-1, keepdim=True))
        exps /= exps.sum(-1, keepdim=True)
        return exps

    message = grade("softmax", in_place).message
    assert "A tensor that the gradient needs was written into" in message
    assert message.endswith("Look for +=, -=, *=, /= and a trailing _.")


@pytest.mark.parametrize(
    ("name", "answer", "question"),
    [
        ("mix", lambda weights, x: (weights @ x,), "Is there a comma after what you return"),
        ("mix", lambda weights, x: (weights @ x, weights), "Which one of them is asked for?"),
        ("mix", lambda weights, x: list(weights @ x), "Which function of torch makes one tensor"),
        ("score_bytes", lambda *sizes: sizes, "Which one of them is asked for?"),
        ("is_equivariant", lambda *given: print(end=""), "Is the return line missing"),
        ("look_left", lambda T: None, "Is the return line missing"),
    ],
)
def test_a_wrong_form_is_asked_about_as_what_it_is(name, answer, question):
    assert f"Think about: {question}" in grade(name, answer).message


def test_a_known_mistake_says_too_what_is_read_from_the_notebook():
    notebook = {"i": 1}
    exec("def query_scores(x, j):\n    return x @ x[i]", notebook)
    verdict = grade("query_scores", notebook["query_scores"])
    assert verdict.misconception == "always_the_second"
    assert "your code reads `i` from the notebook" in verdict.message


def test_a_row_of_numbers_has_no_columns():
    def returned_too_soon(x, i):
        scores = torch.zeros(len(x), dtype=x.dtype)
        scores[0] = x[0] @ x[i]
        return scores

    message = grade("query_scores", returned_too_soon).message
    assert "Only these numbers are right: 0." in message
    assert "column" not in message
