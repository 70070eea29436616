"""next_token_loss"""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax, nll_loss, one_hot

from grader.attention.loss_mistakes import add_loss_mistakes
from grader.attention.losses import chosen, loss
from grader.exercise import Exercise
from grader.laws import Law, on_two
from grader.probes import (
    BATCHES,
    EDGES,
    EXTREMES,
    FLOAT64,
    LAYOUT,
    SQUARE,
    VALUES,
    Draw,
    Probe,
    strided,
)


def surer(probe: Probe) -> tuple:
    """The logit of every right next token is higher by 1."""
    logits, tokens = probe.args
    right = one_hot(tokens[..., 1:], logits.shape[-1]).to(logits.dtype)
    return torch.cat([logits[..., :-1, :] + right, logits[..., -1:, :]], dim=-2), tokens


def raised(probe: Probe) -> tuple:
    """All logits of one position are higher by one number; each position has its own."""
    logits, tokens = probe.args
    return logits + torch.arange(logits.shape[-2], dtype=logits.dtype).unsqueeze(-1) / 2, tokens


def other_ends(probe: Probe) -> tuple:
    """Another first token, and other logits at the last position."""
    logits, tokens = (arg.clone() for arg in probe.args)
    logits[..., -1, :] = logits[..., -1, :].flip(-1) + logits[..., 0, :]
    tokens[..., 0] = (tokens[..., 0] + 1) % logits.shape[-1]
    return logits, tokens


def equal(first: Tensor, second: Tensor) -> bool:
    return bool(torch.isclose(torch.as_tensor(first), torch.as_tensor(second), 1e-4, 1e-5).all())


LAWS: tuple[Law, ...] = (
    on_two(
        "a likelier next token lowers the loss",
        "Should the loss rise or fall when the right token becomes likelier?",
        VALUES,
        "the right tokens made likelier",
        surer,
        lambda first, second: bool(second < first),
    ),
    on_two(
        "only differences between logits count",
        "Which function turns logits into probabilities, and along which axis?",
        VALUES,
        "each position's logits raised",
        raised,
        equal,
    ),
    on_two(
        "the first token is no target, and the last position predicts none",
        "Who predicts the first token, and whom does the last position predict?",
        VALUES,
        "other ends",
        other_ends,
        equal,
    ),
)
exercise = Exercise(
    "next_token_loss",
    "08-tiny-gpt",
    place=1,
    points=2,
    signature="next_token_loss(logits, tokens) -> scalar",
    laws=LAWS,
    hints=(
        "Take T = 3 and write down who predicts whom. How many predictions can be checked?",
        "The logits at position i are about token i + 1. Which position has no token to predict, "
        "and which token has nobody who predicts it?",
        "Cut the last position off the logits and the first token off the tokens, then they fit. "
        "After that: log-softmax over the vocabulary, pick the target's entry, mean, minus.",
        "F.cross_entropy(logits[..., :-1, :].flatten(0, -2), tokens[..., 1:].flatten())",
    ),
)


@exercise.probe
def _(draw: Draw):
    def call(label: str, shows: str, lead: tuple, T: int, V: int, size: float = 1.5) -> Probe:
        ids = torch.randint(V, (*lead, T), generator=draw.generator)
        ids[..., 1] = 0  # for whoever takes token 0 for padding
        shape = "×".join(map(str, (*lead, T, V)))
        return Probe(label.format(shape), (size * draw(*lead, T, V), ids), shows)

    first = call("logits {}", VALUES, (), 5, 7)
    # No token comes twice, so what the laws say of a wrong shift does not depend on luck.
    ids = torch.randperm(7, generator=draw.generator)
    yield replace(first, args=(first.args[0], (ids - ids[1])[:5] % 7))
    yield call("other logits {}", VALUES, (), 21, 4)
    yield call("logits {}, float64", FLOAT64, (), 5, 7).exact
    yield call("logits {}", BATCHES, (3,), 6, 8)
    yield call("logits {}", BATCHES, (2, 4), 5, 3)
    yield call("logits {}", BATCHES, (1,), 4, 9)
    for label, lead in (("logits {}", ()), ("logits {}", (3, 2))):
        plain = call(f"{label}, not contiguous", LAYOUT, lead, 6, 5)
        args = tuple(strided(arg) for arg in plain.args)
        yield Probe(plain.label, args, LAYOUT)
    yield call("logits {}", SQUARE, (), 5, 5)
    for lead, T in (((2,), 6), ((3,), 5)):  # one number may equal another's by chance, two hardly
        yield call("logits {}, as many targets as words", SQUARE, lead, T, T - 1)
    yield call("logits {}, a single target", EDGES, (), 2, 6)
    finite = {"gradients": "finite", "rtol": 1e-3}
    large = call("large logits {}", EXTREMES, (2,), 4, 6, size=150.0)
    logits, ids = large.args
    ids[..., 1] = logits[..., 0, :].argmin(dim=-1)  # of which next to nothing is left
    yield replace(large, **finite)
    far = call("logits {} near 1000", EXTREMES, (2,), 4, 6)
    yield replace(far, args=(far.args[0] + 1000, far.args[1]), **finite)


exercise.reference(loss)
add_loss_mistakes(exercise)


@exercise.twin
def one_target_at_a_time(logits: Tensor, tokens: Tensor) -> Tensor:
    T, V = logits.shape[-2:]
    surprises = []
    for item, ids in zip(logits.reshape(-1, T, V), tokens.reshape(-1, T), strict=True):
        for t in range(T - 1):
            top = item[t].max()
            total = sum(torch.exp(item[t, word] - top) for word in range(V))
            surprises.append(torch.log(total) + top - item[t, ids[t + 1]])
    return sum(surprises) / len(surprises)


@exercise.variant
def flattened(logits, tokens):
    V = logits.shape[-1]
    return cross_entropy(logits[..., :-1, :].reshape(-1, V), tokens[..., 1:].reshape(-1))


@exercise.variant
def classes_second(logits, tokens):
    return cross_entropy(logits[..., :-1, :].movedim(-1, 1), tokens[..., 1:])


@exercise.variant
def from_logsumexp(logits, tokens):
    logits, targets = logits[..., :-1, :], tokens[..., 1:]
    return (torch.logsumexp(logits, dim=-1) - chosen(logits, targets)).mean()


@exercise.variant
def negative_log_likelihood(logits, tokens):
    logp = log_softmax(logits, dim=-1)[..., :-1, :]
    return nll_loss(logp.flatten(0, -2), tokens[..., 1:].flatten())


@exercise.variant
def summed_with_one_hot(logits, tokens):
    targets = one_hot(tokens, logits.shape[-1])[..., 1:, :].to(logits.dtype)
    total = -(targets * log_softmax(logits[..., :-1, :], dim=-1)).sum()
    return total / tokens[..., 1:].numel()


@exercise.wrong("token 0 is left out")
def token_0_ignored(logits, tokens):
    """You leave token 0 out, as is done with padding. Here it is a token like any other. What does
    ignore_index do?"""
    logits, targets = logits[..., :-1, :].flatten(0, -2), tokens[..., 1:].flatten()
    return cross_entropy(logits, targets, ignore_index=0)


@exercise.wrong("axis 1 taken for the vocabulary")
def axis_1_as_classes(logits, tokens):
    """F.cross_entropy takes axis 1 for the vocabulary. With a batch, axis 1 of your logits are the
    positions, and it goes unnoticed when both are equally long. What flattens batch and positions
    into one axis?"""
    return cross_entropy(logits[..., :-1, :], tokens[..., 1:])


@exercise.wrong("averaged over the vocabulary as well")
def divided_by_the_vocabulary(logits, tokens):
    """You multiplied with a one-hot target and took the mean over everything, the zeros of the
    vocabulary among it. How many of the numbers are surprises?"""
    return loss(logits, tokens) / logits.shape[-1]


@exercise.wrong("computed in float32")
def turned_into_float32(logits, tokens):
    """You turned the logits into float32, so half of the digits of float64 are gone. Which dtype
    should come out when float64 comes in?"""
    return loss(logits.float(), tokens)
