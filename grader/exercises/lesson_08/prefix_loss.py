"""prefix_loss"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from grader.attention.losses import loss
from grader.attention.prefixes import add_prefix_mistakes, each_length
from grader.compare import near
from grader.exercise import Exercise
from grader.laws import on_two
from grader.probes import EDGES, SQUARE, VALUES, BlackBox, Draw, Probe

SURE = 40.0  # a logit that leaves nothing to the others
LEAKS = "right for models that see later tokens"
LENGTHS = "right for models that behave otherwise on longer inputs"


def peeking(kernel: Callable, strength: float) -> Callable:
    """The model, which also reads the next token where there is one."""

    def peeks(ids: Tensor) -> Tensor:
        logits = kernel(ids).clone()
        logits[:, :-1] += strength * one_hot(ids[:, 1:], logits.shape[-1])
        return logits

    return peeks


def peeking_box(probe: Probe) -> tuple:
    box, tokens = probe.args
    return BlackBox(peeking(box.kernel, 3.0)), tokens


def a_model_that_knows(probe: Probe) -> tuple:
    """A text that counts upwards, and a model that knows it does."""
    _, tokens = probe.args
    V = int(tokens.max()) + 2
    counting = torch.arange(tokens.shape[1]) + torch.arange(len(tokens)).unsqueeze(-1)
    return BlackBox(lambda ids: SURE * one_hot((_ids(ids) + 1) % V, V).float()), counting % V


PEEKING = on_two(
    "a model gains nothing by peeking at the next token",
    "At which moment does your model get to see the token that it is asked for?",
    VALUES,
    "peeking",
    peeking_box,
    near,
)
exercise = Exercise(
    "prefix_loss",
    "08-tiny-gpt",
    place=2,
    points=3,
    signature="prefix_loss(model, tokens) -> scalar",
    laws=(
        replace(PEEKING, decisive=True),
        on_two(
            "a model that knows every next token has a loss of 0",
            "Which position of the logits is about the token that follows the prefix?",
            VALUES,
            "by heart",
            a_model_that_knows,
            lambda _, known: abs(float(known)) < 1e-3,
        ),
    ),
    hints=(
        "Take T = 3 and write down every prefix and the token that comes after it. How many pairs "
        "are there?",
        "What must the model not be given, if it is to say honestly what comes after the first n "
        "tokens?",
        "For each n from 1 to T − 1: run the model on tokens[:, :n] alone, and hold its last "
        "position against tokens[:, n]. Then take the mean.",
        "F.cross_entropy(model(tokens[:, :n])[:, -1], tokens[:, n]), averaged over "
        "n in range(1, T)",
    ),
)


def _ids(ids: Tensor) -> Tensor:
    """Whole numbers (B, T) with at least one token, or ValueError."""
    if ids.is_floating_point():
        raise ValueError(f"the model takes ids, which are whole numbers, and got {ids.dtype}")
    if ids.dim() != 2 or not ids.shape[1]:
        raise ValueError(f"the model takes ids of shape (B, T), and got {tuple(ids.shape)}")
    return ids


def box(draw: Draw, V: int, kind: str = "causal") -> Callable:
    """A made-up model of one of five kinds, ids (B, T) -> logits (B, T, V)."""
    size = 5
    words, out, ends = draw(V, size), 2 * draw(size, V) / size**0.5, draw(40, size)

    def model(ids: Tensor) -> Tensor:
        x = words[_ids(ids)]
        T = x.shape[1]
        ages = torch.arange(T).unsqueeze(-1) - torch.arange(T)
        weights = torch.where(ages >= 0, 0.6 ** ages.abs(), 0.8 if kind == "two ways" else 0.0)
        context = weights @ x + ends[T - 1] * (kind == "length")
        context = context + 0.8 * x[:, :1] * (kind == "remembers")
        return context @ out

    return peeking(model, 4.0) if kind == "peeks" else model


@exercise.probe
def _(draw: Draw):
    def call(label: str, shows: str, B: int, T: int, V: int, kind: str = "causal") -> Probe:
        tokens = torch.randint(V, (B, T), generator=draw.generator)
        return Probe(f"{label}, tokens {B}×{T}", (BlackBox(box(draw, V, kind)), tokens), shows)

    yield call("a causal model", VALUES, 3, 6, 9)
    yield call("a causal model that never forgets the first token", VALUES, 2, 35, 4, "remembers")
    yield call("a model that peeks one token ahead", LEAKS, 2, 7, 5, "peeks")
    yield call("a model that looks both ways", LEAKS, 4, 5, 8, "two ways")
    yield call("a model whose logits depend on how long its input is", LENGTHS, 3, 8, 6, "length")
    yield call("a causal model, as many words as tokens", SQUARE, 5, 5, 5)
    yield call("a causal model, a batch of one", EDGES, 1, 4, 7)
    yield call("a causal model, two tokens", EDGES, 3, 2, 6)


@exercise.reference
def mean_over_prefixes(model: Callable, tokens: Tensor) -> Tensor:
    return each_length(model, tokens).mean()


@exercise.twin
def one_text_at_a_time(model: Callable, tokens: Tensor) -> float:
    total = count = 0
    for text in tokens.split(1):
        for n in range(1, text.shape[1]):
            row = model(text[:, :n])[0, -1].double()
            total += torch.log(torch.exp(row).sum()).item() - row[text[0, n]].item()
            count += 1
    return total / count


@exercise.variant
def mean_of_means(model, tokens):
    T = tokens.shape[1]
    total = 0.0
    for n in range(1, T):
        total = total + cross_entropy(model(tokens[:, :n])[:, -1], tokens[:, n])
    return total / (T - 1)


@exercise.variant
def last_logits_first(model, tokens):
    last = [model(tokens[:, :n])[:, -1] for n in range(1, tokens.shape[1])]
    logits = torch.stack(last, dim=1)
    return cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


@exercise.variant
def from_the_longest_down(model, tokens):
    found = []
    for n in reversed(range(1, tokens.shape[1])):
        prefix, target = tokens[:, :n], tokens[:, n]
        with torch.no_grad():
            found.append(cross_entropy(model(prefix)[:, -1, :], target).item())
    return sum(found) / len(found)


@exercise.variant
def through_the_loss_of_next_tokens(model, tokens):
    T = tokens.shape[1]
    logits = torch.cat([model(tokens[:, :n])[:, -1:] for n in range(1, T)], dim=1)
    return loss(torch.cat([logits, logits[:, :1]], dim=1), tokens)


add_prefix_mistakes(exercise)
