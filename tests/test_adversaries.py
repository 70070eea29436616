"""Answers made to slip through, one for each kind of gap, and odd ones that are right all the same.

None of the wrong ones may pass or be given the name of another mistake; none of the right ones may
lose a point.
"""

import functools

import pytest
import torch
from torch import nn

from grader import check, grade

buffers, by_shape, layers = {}, {}, {}
triangle = torch.ones(8, 8).tril()


def softmax(scores):
    exps = torch.exp(scores - scores.amax(-1, keepdim=True))
    return exps / exps.sum(-1, keepdim=True)


def naive(scores):
    exps = torch.exp(scores)
    return exps / exps.sum(-1, keepdim=True)


def average(x):
    return x.mean(-2, keepdim=True).expand_as(x)


def attend(q, k, v, normalise=softmax):
    weights = normalise(q @ k.mT / k.shape[-1] ** 0.5)
    return weights @ v, weights


def only_up_to_8_tokens(x):
    weights = triangle[: x.shape[-2], : x.shape[-2]].to(x.dtype)
    return weights / weights.sum(1, keepdim=True) @ x


def into_one_buffer(x):
    key = (x.shape, x.dtype)
    buffer = buffers.setdefault(key, torch.empty(x.shape, dtype=x.dtype)).detach_()
    return buffer.copy_(average(x))


def remembered_by_shape(x):
    return by_shape.setdefault((x.shape, x.dtype, x.requires_grad), average(x))


def makes_its_input_double(x):
    result = average(x).clone()
    x.data = x.data.double()
    return result


def library_where_it_overflows(scores):
    weights = naive(scores)
    return torch.softmax(scores, -1) if weights.isnan().any() else weights


def gradient_of_nan(scores):
    weights = naive(scores)
    return torch.where(weights.isnan(), softmax(scores), weights)


def clamped(scores):
    return naive((scores - scores.amax(-1, True)).clamp(min=-12))


def shifted_by(shift):
    return lambda q, k, v: attend(q, k, v, lambda s: naive(s - shift(s)))


def jacobian_by_division(w):
    eye = torch.eye(w.shape[-1], dtype=w.dtype)
    return w[..., :, None] * w[..., None, :] * (eye / w[..., None, :] - 1)


def every_pair(d_k, n, generator):
    q, k = torch.randn(2, n, d_k, generator=generator)
    return (q @ k.T).var()


def reseeded(d_k, n, generator):
    torch.manual_seed(generator.initial_seed())
    q, k = torch.randn(2, n, d_k)
    return (q * k).sum(-1).var()


def biased_layer(linear):
    linear.bias = nn.Parameter(torch.zeros(linear.out_features, dtype=linear.weight.dtype))
    return linear.weight.T


class Attention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))

    def forward(self, x):
        return attend(self.W_q(x), self.W_k(x), self.W_v(x))[0]


class LayersShared(Attention):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_v = layers.setdefault((d_in, d_out), self.W_v)


class FusedOnce(Attention):
    def forward(self, x):
        if not hasattr(self, "fused"):
            self.fused = self.W_q.weight.T @ self.W_k.weight / self.W_q.out_features**0.5
        return softmax(x @ self.fused @ x.mT) @ self.W_v(x)


class DoubledInEval(Attention):
    def forward(self, x):
        return super().forward(x) * (1 if self.training else 2)


class Tied(Attention):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_k = self.W_q


class Overflowing(Attention):
    def forward(self, x):
        return attend(self.W_q(x), self.W_k(x), self.W_v(x), naive)[0]


class Frozen(Attention):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_v.weight.requires_grad_(False)


def another_result_in_training(x):
    return average(x) + (1 if x.requires_grad else 0)


WRONG = {
    "another result while gradients are tracked": ("average", another_result_in_training),
    "a table of fixed size": ("running_average", only_up_to_8_tokens),
    "a query axis squeezed away": ("mix", lambda w, x: (w @ x).squeeze(-2)),
    "a feature axis squeezed away": ("mix", lambda w, x: (w @ x).squeeze(-1)),
    "zeros taken for gaps": ("softmax", lambda s: softmax(s.masked_fill(s == 0, -torch.inf))),
    "zeros not counted": ("average", lambda x: x.sum(-2, True) / (x != 0).sum(-2, True) + 0 * x),
    "large values clamped": ("mix", lambda w, x: w @ x.clamp(-8, 8)),
    "a library for the hard cases": ("softmax", library_where_it_overflows),
    "a gradient of nan": ("softmax", gradient_of_nan),
    "small weights clamped": ("softmax", clamped),
    "small scores in float32": ("softmax", lambda s: naive(s - 100)),
    "one buffer for all calls": ("average", into_one_buffer),
    "results remembered by shape": ("average", remembered_by_shape),
    "another row each time": ("break_the_sum", lambda: torch.cat([torch.rand(2), -torch.rand(1)])),
    "the input made double": ("average", makes_its_input_double),
    "the input made to need a gradient": ("average", lambda x: average(x.requires_grad_())),
    "zero weights divided by": ("softmax_jacobian", jacobian_by_division),
    "every pair of n": ("dot_product_variance", every_pair),
    "the global stream reseeded": ("dot_product_variance", reseeded),
    "the expected value itself": ("dot_product_variance", lambda d_k, n, g: float(d_k)),
    "a bias added to the input": ("linear_to_matrix", biased_layer),
    "the input frozen": ("linear_to_matrix", lambda layer: layer.requires_grad_(False).weight.T),
    "layers shared by instances": ("SelfAttention", LayersShared),
    "weights fused at the first call": ("SelfAttention", FusedOnce),
    "other numbers in eval mode": ("SelfAttention", DoubledInEval),
    "a layer that cannot be trained": ("SelfAttention", Frozen),
    "only the weights in float32": (
        "dot_product_attention",
        lambda x: (attend(x * x.shape[-1] ** 0.5, x, x)[0], softmax(x @ x.mT).float()),
    ),
    "the keys scaled in place": (
        "scaled_dot_product_attention",
        lambda q, k, v: (softmax(q @ k.div_(k.shape[-1] ** 0.5).mT) @ v, softmax(q @ k.mT)),
    ),
    "a gradient cut in half": (
        "softmax_jacobian",
        lambda w: torch.diag_embed(w) - w[..., :, None].detach() * w[..., None, :],
    ),
}


@pytest.mark.parametrize(("exercise", "answer"), WRONG.values(), ids=WRONG)
def test_it_does_not_pass_and_gets_no_name(exercise, answer):
    verdict = grade(exercise, answer)
    assert not verdict.passed
    assert verdict.possible == ()
    assert verdict.message


@pytest.mark.parametrize("shift", [lambda s: s.mean(-1, True), lambda s: s[..., :1]])
def test_another_shift_than_the_maximum_still_overflows(shift):
    verdict = grade("scaled_dot_product_attention", shifted_by(shift))
    assert verdict.misconception in ("exp_overflows", None)
    assert verdict.points < 5


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        ("SelfAttention", Tied, "One and the same linear map makes the queries and the keys"),
        ("SelfAttention", Frozen, "No gradient reaches W_v.weight"),
        ("SelfAttention", FusedOnce, "follows its weights"),
        ("average", remembered_by_shape, "the right answer for 5×3"),
        ("average", into_one_buffer, "changed by a later one"),
        ("average", WRONG["the input made to need a gradient"][1], "It changes argument 1"),
        ("softmax", lambda s: naive(s - 100), "float64 it gives the right answer"),
        ("softmax", lambda s: softmax(s.view(-1, s.shape[-1])).view(s.shape), "memory"),
        ("project", lambda x, *matrices: (x @ W for W in matrices), "round brackets"),
    ],
)
def test_the_message_blames_what_is_wrong(exercise, answer, words):
    assert words in grade(exercise, answer).message


class MaskOfTheFirstCall(nn.Module):
    """Right for every sequence that is as long as the first one."""

    def __init__(self, d_model, n_heads, causal=True):
        super().__init__()
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.n_heads, self.causal, self.hidden = n_heads, causal, None

    def forward(self, x):
        maps = self.W_q, self.W_k, self.W_v
        q, k, v = (W(x).unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for W in maps)
        if self.hidden is None:
            T = x.shape[-2]
            self.hidden = torch.ones(T, T, dtype=torch.bool).triu(1) & self.causal
        scores = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(self.hidden, -torch.inf)
        return self.W_o((softmax(scores) @ v).transpose(-3, -2).flatten(-2))


def test_a_module_that_fits_its_first_sequence_alone_does_not_pass():
    verdict = grade("MultiHeadAttention", MaskOfTheFirstCall)
    assert [label for label, held in verdict.properties if not held] == [
        "one module takes sequences of several lengths"
    ]
    assert "after an x" in verdict.message


class MisspeltForward(Attention):
    forward = nn.Module.forward


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("SelfAttention", MisspeltForward),
        ("query_scores", lambda x, i: (x > 0) @ (x > 0)[i]),
    ],
)
def test_what_torch_has_not_implemented_is_not_an_empty_stub(exercise, answer):
    assert "NotImplementedError" in grade(exercise, answer).message


class NoWords(Exception):
    def __str__(self):
        raise SystemExit


def without_words(x):
    raise NoWords


def unprintable(x):
    raise ValueError("\ud800")


STRANGE = {
    "nested": lambda x: torch.nested.nested_tensor(list(x)),
    "quantized": lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.quint8),
    "bits": lambda x: torch.empty(x.shape, dtype=torch.bits8),
    "eight bits": lambda x: x.to(torch.float8_e4m3fn),
    "no words": without_words,
    "unprintable words": unprintable,
}


@pytest.mark.parametrize("answer", STRANGE.values(), ids=STRANGE)
def test_strange_results_are_wrong_and_no_more(answer):
    assert check("softmax", answer) == 0.0


@pytest.mark.parametrize("name", [["softmax"], None, 3])
def test_a_strange_name_is_answered_in_words(name, capsys):
    assert check(name, softmax) == 0.0
    assert "There is no exercise" in capsys.readouterr().out


def test_a_default_device_set_by_an_answer_is_gone_afterwards():
    def answer(x):
        torch.set_default_device("meta")
        return average(x)

    grade("average", answer)
    assert torch.get_default_device().type == "cpu"
    assert grade("average", average).passed


class ScaleInABuffer(Attention):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.register_buffer("scale", torch.tensor(d_out**-0.5))

    def forward(self, x):
        weights = softmax(self.W_q(x) @ self.W_k(x).mT * self.scale)
        return weights @ self.W_v(x)


class Lazy(Attention):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_q = nn.LazyLinear(d_out, bias=False)


def jacobian_by_autograd(w):
    one = torch.func.jacrev(lambda s: torch.softmax(s, -1))
    for _ in w.shape[:-1]:
        one = torch.vmap(one)
    return one(w.log())


@functools.cache
def weights_for(T):
    return torch.ones(T, T, dtype=torch.float64).tril() / torch.arange(1, T + 1).unsqueeze(-1)


class Callable:
    def __call__(self, weights, x):
        return weights @ x


RIGHT = {
    "a float32 constant in a buffer": ("SelfAttention", ScaleInABuffer),
    "a lazy layer": ("SelfAttention", Lazy),
    "a Jacobian by autograd": ("softmax_jacobian", jacobian_by_autograd),
    "a table remembered by size": (
        "running_average",
        lambda x: weights_for(x.shape[-2]).to(x.dtype) @ x,
    ),
    "an object that can be called": ("mix", Callable()),
    "a partial function": ("mix", functools.partial(torch.matmul)),
    "a tiny constant in the divisor": (
        "softmax",
        lambda s: (
            torch.exp(s - s.amax(-1, True))
            / (torch.exp(s - s.amax(-1, True)).sum(-1, True) + 1e-12)
        ),
    ),
    "a very low fill": (
        "running_average",
        lambda x: (
            torch.softmax(torch.full((x.shape[-2],) * 2, -1e9, dtype=x.dtype).triu(1), dim=-1) @ x
        ),
    ),
}


@pytest.mark.parametrize(("exercise", "answer"), RIGHT.values(), ids=RIGHT)
def test_it_is_right_however_odd(exercise, answer):
    verdict = grade(exercise, answer)
    assert verdict.passed, verdict.message
    assert verdict.possible == ()
