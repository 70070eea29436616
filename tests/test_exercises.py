"""The grader's own proof: every declared answer, right or wrong, is judged as declared."""

import math

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from grader import exercises, grade
from grader.attention.heads import Parts, attend, heads_module
from grader.attention.leak_boxes import BOXES
from grader.attention.leak_tests import a_cut_shows
from grader.attention.leaks import KINDS, TRAININGS, VOCABULARY, sentences, trained
from grader.exercise import STEPS
from grader.exercises import UnknownExercise, find
from grader.probes import Draw
from grader.tiny import Tiny

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
    "05-order-and-cost": {
        "is_equivariant": 3, "add_positions": 1, "score_bytes": 1, "attention_flops": 1,
        "cross_attention": 3, "chunked_attention": 6,
    },
    "06-causal-mask": {"causal_mask": 1, "causal_attention": 4, "leaks_future": 4},
    "07-multi-head": {
        "split_heads": 2, "merge_heads": 2, "count_parameters": 1, "MultiHeadAttention": 5,
    },
    "08-tiny-gpt": {"next_token_loss": 2, "prefix_loss": 3, "name_the_bug": 3},
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


@pytest.mark.parametrize("lesson", CONTRACT)
def test_what_was_released_keeps_its_lesson_and_its_points(lesson):
    """New exercises may join: gradebooks and learners' files know the others by name and points."""
    declared = {e.name: e.points for e in exercises() if e.lesson == lesson}
    assert declared.items() >= CONTRACT[lesson].items()


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
def test_a_right_answer_gets_full_points_and_no_name(name, answer):
    verdict = grade(name, answer, seed=11)  # the kill matrix has the seeds 0 and 1
    assert verdict.passed, verdict.message
    assert verdict.points == EXERCISES[name].points
    assert verdict.misconception is None
    assert verdict.possible == ()


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


# --- heads ---------------------------------------------------------------------------------------


def twelve():
    """x = 0 ... 11 as three tokens of four features."""
    return torch.arange(12.0).reshape(3, 4)


def test_twelve_numbers_cut_into_two_heads_by_hand():
    right = [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]
    assert find("split_heads").right(twelve(), 2).tolist() == right
    assert find("merge_heads").right(torch.tensor(right)).tolist() == twelve().tolist()


def mistake(name, id):
    return next(m for m in find(name).known_wrong if m.id == id)


def test_two_wrong_views_undo_each_other_so_a_round_trip_shows_nothing():
    cut = mistake("split_heads", "view_without_transpose")
    join = mistake("merge_heads", "reshape_without_transpose")
    x = normal(2, 5, 12)
    assert torch.equal(join(cut(x, 3)), x)
    assert cut(twelve(), 2)[0].tolist() == [[0, 1], [2, 3], [4, 5]]


def with_weights(module, weights):
    module.load_state_dict(weights)
    return module.double()


@pytest.mark.parametrize("causal", [True, False])
def test_heads_are_torchs_own(causal):
    x, (q, k, v, o) = normal(2, 5, 12), normal(4, 12, 12)
    named = {"W_q.weight": q, "W_k.weight": k, "W_v.weight": v, "W_o.weight": o}
    ours = with_weights(find("MultiHeadAttention").right(12, 3, causal), named)
    torchs = nn.MultiheadAttention(12, 3, bias=False, batch_first=True)
    stacked = {"in_proj_weight": torch.cat([q, k, v]), "out_proj.weight": o}
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1) if causal else None
    want, _ = with_weights(torchs, stacked)(x, x, x, attn_mask=hidden)
    torch.testing.assert_close(ours(x), want)


def test_the_module_that_mistakes_are_made_of_is_right_as_long_as_none_is_made():
    assert grade("MultiHeadAttention", heads_module()).passed


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 12])
def test_parameters_are_those_that_torch_counts(n_heads):
    ours = find("MultiHeadAttention").right(12, n_heads)
    for module in (ours, nn.MultiheadAttention(12, n_heads, bias=False)):
        count = sum(parameter.numel() for parameter in module.parameters())
        assert find("count_parameters").right(12, n_heads) == count


def changed(**replaced):
    """The module of heads with some of its parts replaced."""
    return heads_module(Parts(**replaced))


def not_scaled(q, k, v, is_causal):
    return attend(q * k.shape[-1] ** 0.5, k, v, is_causal)


def part(id):
    return mistake("MultiHeadAttention", id).kernel.parts.replaced


@pytest.mark.parametrize(
    ("replaced", "names"),
    [
        (part("view_split") | {"attend": not_scaled}, {"view_split", "not_scaled"}),
        (part("view_merge") | part("no_output_map"), {"view_merge", "no_output_map"}),
        (part("flag_ignored") | {"attend": not_scaled}, {"flag_ignored", "not_scaled"}),
    ],
)
def test_two_mistakes_in_a_module_of_heads_are_both_named(replaced, names):
    (pair,) = grade("MultiHeadAttention", changed(**replaced)).possible
    assert set(pair.split(" + ")) == names


def test_features_that_never_meet_other_tokens_earn_nothing_for_keeping_laws():
    class WithoutAttention(find("MultiHeadAttention").right):
        def forward(self, x):
            return self.W_o(self.W_v(x) * torch.sigmoid(self.W_q(x) * self.W_k(x)))

    verdict = grade("MultiHeadAttention", WithoutAttention)
    assert verdict.points == 0
    assert "every row hears the tokens before it" in verdict.because


def test_a_module_for_batches_alone_is_asked_about_an_input_without_one():
    class ForBatches(find("MultiHeadAttention").right):
        def forward(self, x):
            batch, T, d_model = x.shape
            return super().forward(x)

    message = grade("MultiHeadAttention", ForBatches).message
    assert message.endswith("How many axes has the input when there is no batch?")


@pytest.mark.parametrize("always", [True, False])
def test_dropout_does_not_pass_and_is_told_by_two_calls_that_differ(always):
    class WithDropout(find("MultiHeadAttention").right):
        def forward(self, x):
            return nn.functional.dropout(super().forward(x), 0.1, always or self.training)

    verdict = grade("MultiHeadAttention", WithDropout)
    assert not verdict.passed
    assert "did not give the same" in verdict.message


def test_a_view_after_a_transpose_is_told_what_went_wrong():
    def viewed(x):
        *lead, n_heads, T, size = x.shape
        return x.transpose(-3, -2).view(*lead, T, n_heads * size)

    verdict = grade("merge_heads", viewed)
    assert verdict.points == 0
    assert "order of the axes" in verdict.message


def test_the_loss_of_next_tokens_worked_by_hand():
    third = torch.tensor([2.0, 1.0, 1.0]).log()  # of three words, with shares 1/2, 1/4 and 1/4
    logits, tokens = torch.stack([third, third, third]), torch.tensor([2, 0, 1])
    by_hand = (torch.tensor(2.0).log() + torch.tensor(4.0).log()) / 2
    torch.testing.assert_close(find("next_token_loss").right(logits, tokens), by_hand)


def test_for_a_model_that_does_not_leak_both_losses_are_one():
    model = Tiny.holding(trained("correct", 0), KINDS["correct"])
    tokens = sentences(5, 9, torch.Generator().manual_seed(1))
    ordinary = find("next_token_loss").right(model(tokens), tokens)
    torch.testing.assert_close(find("prefix_loss").right(model, tokens), ordinary)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("training", range(TRAININGS))
def test_the_models_to_be_named_are_trained_and_their_loss_fell(kind, training):
    loss, ids = find("next_token_loss").right, sentences(99, 12, torch.Generator().manual_seed(1))
    model = Tiny.holding(trained(kind, training), KINDS[kind])
    assert loss(model(ids), ids) < math.log(VOCABULARY) - 0.4


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_leaks_is_worse_on_prefixes(kind):
    ids = sentences(99, 12, torch.Generator().manual_seed(1))
    model = Tiny.holding(trained(kind, 0), KINDS[kind])
    gap = find("prefix_loss").right(model, ids) - find("next_token_loss").right(model(ids), ids)
    assert abs(gap) < 1e-5 if kind == "correct" else gap > 0.02


def test_training_leaves_the_random_streams_alone():
    before = torch.get_rng_state()
    trained.__wrapped__("no mask", 0)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_weights_is_the_one_it_is_called(kind):
    q, k = normal(2, 5, 6), normal(2, 5, 6)
    weights, later = KINDS[kind](q, k), torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert bool((weights[:, later] == 0).all()) == (kind not in ("no mask", "scores times mask"))
    rows, columns = (torch.allclose(weights.sum(i), torch.ones(1).double()) for i in (-1, -2))
    assert rows == (kind in ("correct", "no mask", "scores times mask"))
    assert columns == (kind == "softmax over queries")


def test_causal_attention_is_torchs_own():
    q, k, v = (normal(2, 6, size) + shift for size, shift in ((4, 0), (4, 1), (3, 0)))
    context, weights = find("causal_attention").right(q, k, v)
    own = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(context, own)
    assert not weights.triu(1).any()


def test_a_causal_attention_of_two_tokens_worked_by_hand():
    q, k, v = torch.tensor([[5.0], [1.0]]), torch.tensor([[0.0], [2.0]]), torch.tensor([[4.0], [8]])
    context, weights = find("causal_attention").right(q, k, v)
    first = 1 / (1 + torch.e**2)  # token 0 sees itself alone, token 1 has the scores 0 and 2
    assert weights[0].tolist() == [1, 0]
    assert weights[1].tolist() == pytest.approx([first, 1 - first])
    assert context.flatten().tolist() == pytest.approx([4, 4 * first + 8 * (1 - first)])


def test_with_equal_scores_causal_attention_is_the_running_average():
    x = normal(5, 3)
    context, _ = find("causal_attention").right(torch.zeros(5, 2).double(), normal(5, 2), x)
    torch.testing.assert_close(context, find("running_average").right(x))


RIGHT_BOXES = {
    "attention with a causal mask", "the mean of the tokens so far", "each token by itself",
    "a recurrent network", "the sum of the tokens so far, divided by T",
    "masked after the softmax, divided again", "masked, two tokens", "no mask, one token",
    "large numbers, masked after the softmax, divided again",
}  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_a_box_leaks_exactly_if_a_derivative_says_so(seed):
    for box in BOXES:
        layer, x = (
            arg if isinstance(arg, torch.Tensor) else arg.make()
            for arg in box.probe(Draw(seed)).args
        )
        slopes = torch.autograd.functional.jacobian(layer, x.double()).abs().amax(dim=(1, 3))
        assert (slopes.triu(1).max() > 1e-4) == (box.what not in RIGHT_BOXES), box.what
        assert slopes.triu(1).max() < 1e-12 or box.what not in RIGHT_BOXES


CHANGES = {
    "others": torch.randn_like,
    "far away": lambda later: 1e4 * torch.randn_like(later),
    "somewhat moved": lambda later: later + 0.1 * torch.randn_like(later),
    "counted up": lambda later: later + torch.arange(later.numel()).reshape(later.shape),
}
COMPARISONS = {
    "allclose as it is": {},
    "a little wider": {"rtol": 1e-4, "atol": 1e-5},
    "relative alone": {"rtol": 1e-4, "atol": 0},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("allowed", COMPARISONS.values(), ids=COMPARISONS)
def test_whichever_way_a_test_for_leaks_disturbs_and_compares_it_is_right(change, allowed):
    def test(attention, x):
        return a_cut_shows(
            attention, x, change, differ=lambda *pair: not torch.allclose(*pair, **allowed)
        )

    verdict = grade("leaks_future", test, seed=5)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("seed", range(5))
def test_a_box_is_equivariant_if_it_holds_for_every_order_of_its_tokens(seed):
    """For rows that do not know their places; those that do are caught by the order given."""
    for probe in find("is_equivariant").probes(seed):
        function, x, permutation = (a.make() if hasattr(a, "make") else a for a in probe.args)
        moved = (function(x[permutation]) - function(x)[permutation]).abs().max()
        assert moved < 1e-6 or moved > 2e-3  # no answer hangs on the tolerance
        assert find("is_equivariant").right(function, x, permutation) == bool(moved < 1e-6)
        if probe.shows == "accepts functions that treat every token alike":
            orders = (torch.randperm(len(x)) for _ in range(20))
            assert all(torch.allclose(function(x[p]), function(x)[p], atol=1e-5) for p in orders)


@pytest.mark.parametrize("tolerance", [{}, {"atol": 1e-6}, {"atol": 1e-4}, {"rtol": 1e-4}])
def test_equivariance_may_be_tested_with_any_sensible_tolerance(tolerance):
    def answer(attention, x, permutation):
        return torch.allclose(attention(x[permutation]), attention(x)[permutation], **tolerance)

    for seed in range(8):
        assert grade("is_equivariant", answer, seed=seed).passed


def test_the_score_bytes_are_those_of_the_tensor():
    for dtype in (torch.float16, torch.float32, torch.float64):
        q = torch.zeros(2, 3, 7, 5, dtype=dtype)
        scores = q @ q.mT
        measured = scores.numel() * scores.element_size()
        assert find("score_bytes").right(2, 3, 7, scores.element_size()) == measured


def test_the_operations_of_attention_are_those_that_torch_counts():
    q, k, v = normal(9, 4), normal(9, 4), normal(9, 6)
    with FlopCounterMode(display=False) as counter:
        find("scaled_dot_product_attention").right(q, k, v)
    assert find("attention_flops").right(9, 4, 6) == counter.get_total_flops()


def test_cross_attention_is_torchs_own_of_what_the_matrices_make():
    x, source = normal(2, 5, 4), normal(2, 7, 3) + 1
    W_q, W_k, W_v = normal(4, 6), normal(3, 6) - 1, normal(3, 2)
    context, _ = find("cross_attention").right(x, source, W_q, W_k, W_v)
    own = nn.functional.scaled_dot_product_attention(x @ W_q, source @ W_k, source @ W_v)
    torch.testing.assert_close(context, own)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 11])
@pytest.mark.parametrize("size", [1, 300])
def test_attention_in_blocks_is_torchs_own(block, size):
    q, k, v = size * normal(2, 5, 6), normal(2, 7, 6), normal(2, 7, 3)
    context = find("chunked_attention").right(q, k, v, block)
    torch.testing.assert_close(context, nn.functional.scaled_dot_product_attention(q, k, v))


def test_attention_in_blocks_of_two_scores_worked_by_hand():
    """Scores 2 and 1, then 5: the first block shrinks by exp(2 - 5)."""
    q, k = torch.tensor([[1.0]]), torch.tensor([[2.0], [1.0], [5.0]])
    total = torch.e**-3 * (1 + torch.e**-1) + 1
    context = find("chunked_attention").right(q, k, torch.tensor([[0.0], [0.0], [1.0]]), 2)
    assert context.item() == pytest.approx(1 / total)
