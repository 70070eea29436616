"""name_the_bug"""

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from grader.attention.bugs import add_kind_mistakes
from grader.attention.leaks import KINDS, TRAININGS, sentences, trained
from grader.compare import describe
from grader.exercise import Exercise, WrongForm
from grader.probes import VALUES, Draw, Models, Probe
from grader.tiny import Tiny

NAMES = (
    "agate", "amber", "basalt", "beryl", "flint", "gneiss", "jasper", "jet", "marble", "mica",
    "onyx", "opal", "pearl", "quartz", "ruby", "slate", "topaz", "zircon",
)  # fmt: skip
AFTER = "recognises a mask after the softmax"
TIMES = "recognises scores times the mask"
QUERIES = "recognises a softmax over the queries"

exercise = Exercise(
    "name_the_bug",
    "08-tiny-gpt",
    place=3,
    points=3,
    signature="name_the_bug(models, tokens) -> dict[str, str]",
    hints=(
        "Print the (T, T) weights of a right model. What holds above the diagonal, and what do its "
        "rows add up to?",
        "Two kinds leave something above the diagonal, three leave nothing there. What tells the "
        "two apart, and what the three?",
        "Step mask: a score that was multiplied by 0 is 0 for every later token alike. Step "
        "normalise: look what the rows add up to, and what the columns.",
        "weights.triu(1).any()? If so, are the entries of a row above the diagonal all equal: "
        "scores times mask, otherwise no mask. If not: rows add up to 1, correct; columns add up "
        "to 1, softmax over queries; neither, mask after softmax.",
    ),
)


@exercise.probe
def _(draw: Draw):
    def shuffled(count: int) -> list[int]:
        return torch.randperm(count, generator=draw.generator).tolist()

    lengths = [5 + T for T in shuffled(8)]

    def call(shows: str, B: int, *kinds: str) -> Probe:
        kinds = [kinds[i] for i in shuffled(len(kinds))]
        names = [NAMES[i] for i in shuffled(len(NAMES))]
        start = draw.seed()  # two models of one kind come from two trainings
        held = {
            name: (trained(kind, (start + i) % TRAININGS), KINDS[kind])
            for i, (name, kind) in enumerate(zip(names, kinds, strict=False))
        }
        label = ", ".join(f"{name} ({kind})" for name, kind in zip(names, kinds, strict=False))
        tokens = sentences(B, lengths.pop(), draw.generator)
        return Probe(f"the models {label}", (Models(held), tokens), shows)

    right, unmasked, after, times, queries = KINDS
    yield call(VALUES, 3, right, unmasked, right)
    yield call(VALUES, 2, unmasked, right, unmasked)
    yield call(AFTER, 4, after, right)
    yield call(AFTER, 1, after, unmasked)
    yield call(TIMES, 2, times, unmasked)
    yield call(TIMES, 3, times, right)
    yield call(QUERIES, 1, queries, right)
    yield call(QUERIES, 5, queries, unmasked)


@exercise.compare_by
def what_was_said(probe: Probe, value: object) -> str:
    """The answer in words."""
    names = sorted(probe.args[0].held)
    if not isinstance(value, dict):
        raise WrongForm(f"{describe(value)} came back where a dict is expected")
    if any(name.startswith(f"{Tiny.__name__}(") for name in value):
        raise WrongForm("the keys of your dict are the models themselves and not their names")
    if sorted(value) != names:
        raise WrongForm(f"the names in your dict are {sorted(value)}, and the models are {names}")
    for name, kind in value.items():
        said = repr(kind) if isinstance(kind, str) else describe(kind)
        if said not in map(repr, KINDS):
            raise WrongForm(f"for {name} you said {said}, which is none of the five kinds")
    return "you said " + ", ".join(f"{value[name]!r} for {name}" for name in names)


class LeftOfMatmul(TorchFunctionMode):
    """Keeps the left operand of `@` where it is a square table of every token with every token."""

    def __init__(self, T: int) -> None:
        super().__init__()
        self.T, self.found = T, None

    def __torch_function__(self, function, types, args=(), kwargs=None):
        multiplies = function.__name__ in ("__matmul__", "matmul", "bmm")
        if multiplies and args[0].shape[-2:] == (self.T, self.T):
            self.found = args[0].detach()
        return function(*args, **(kwargs or {}))


def weights_inside(model: nn.Module, tokens: Tensor) -> Tensor:
    with LeftOfMatmul(tokens.shape[1]) as seen, torch.no_grad():
        model(tokens)
    return seen.found


def kind_of(weights: Tensor) -> str:
    """The kind that weights (B, T, T) of at least four tokens are of."""
    T = weights.shape[-1]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    if (weights[..., later].abs() > 1e-6).any():
        highest = weights.masked_fill(~later, -torch.inf).amax(dim=-1)[..., :-1]
        lowest = weights.masked_fill(~later, torch.inf).amin(dim=-1)[..., :-1]
        return "no mask" if (highest - lowest > 1e-4).any() else "scores times mask"
    if ((weights.sum(dim=-1) - 1).abs() < 1e-3).all():
        return "correct"
    columns = ((weights.sum(dim=-2) - 1).abs() < 1e-3).all()
    return "softmax over queries" if columns else "mask after softmax"


@exercise.reference
def reads_the_weights(models: dict[str, nn.Module], tokens: Tensor) -> dict[str, str]:
    return {name: kind_of(weights_inside(model, tokens)) for name, model in models.items()}


def weights_by_one_hot_values(model: nn.Module, tokens: Tensor) -> list[list[list[float]]]:
    """With one-hot values the context is the weights."""
    seen: list[Tensor] = []
    T, size = tokens.shape[1], model.W_v.out_features
    model.W_v.register_forward_hook(lambda _, x, v: torch.eye(T, size).expand_as(v))
    model.W_o.register_forward_pre_hook(lambda _, args: seen.append(args[0][..., :T]))
    model(tokens)
    return seen[0].tolist()


@exercise.twin
def one_entry_at_a_time(models: dict[str, nn.Module], tokens: Tensor) -> dict[str, str]:
    said = {}
    for name, model in models.items():
        table = weights_by_one_hot_values(model, tokens)[0]
        columns = [sum(row[j] for row in table) for j in range(len(table))]
        later = [row[i + 1 :] for i, row in enumerate(table)]
        if any(w != 0 for row in later for w in row):
            uneven = max(max(row) - min(row) for row in later if row) > 1e-4
            said[name] = "no mask" if uneven else "scores times mask"
        elif all(abs(sum(row) - 1) < 1e-3 for row in table):
            said[name] = "correct"
        else:
            over_queries = all(abs(total - 1) < 1e-3 for total in columns)
            said[name] = "softmax over queries" if over_queries else "mask after softmax"
    return said


@exercise.variant
def listens_to_the_part_that_makes_them(models, tokens):
    seen = {}

    def listening(name: str, weights_of: Callable) -> Callable:
        def heard(q, k):
            seen[name] = weights_of(q, k)
            return seen[name]

        return heard

    for name, model in models.items():
        model.weights_of = listening(name, model.weights_of)
        model(tokens)
    return {name: kind_of(weights.detach()) for name, weights in seen.items()}


@exercise.variant
def asks_with_made_up_queries(models, tokens):
    q, k = Draw(5)(3, 7, 16), Draw(6)(3, 7, 16)
    return {name: kind_of(model.weights_of(q, k).detach()) for name, model in models.items()}


@exercise.variant
def from_behaviour_alone(models, tokens):
    """Changes later tokens and watches earlier logits: as trained, then with every score 0."""

    def exchanged(i, j):
        order = torch.arange(tokens.shape[1])
        order[[i, j]] = order[[j, i]]
        return tokens[:, order]

    def moves(model, others, place):
        with torch.no_grad():
            before = model(tokens)[:, place]
            return any((model(o)[:, place] - before).abs().max() > 1e-4 for o in others)

    T, said = tokens.shape[1], {}
    later = torch.cat([tokens[:, :1], (tokens[:, 1:] + 1) % 12], dim=1)
    pairs = [exchanged(i, i + 1) for i in range(1, T - 1)]
    first_pairs = [exchanged(i, i + 1) for i in range(T - 2)]
    for name, model in models.items():
        leaks, order_counts = moves(model, [later], 0), moves(model, pairs, 0)
        model = deepcopy(model)
        model.W_q.weight.data.zero_()
        if not leaks:
            said[name] = "correct"
        elif moves(model, [later], 0):  # the values of later tokens come through
            said[name] = "no mask" if order_counts else "scores times mask"
        else:
            uneven = moves(model, first_pairs, -1)
            said[name] = "softmax over queries" if uneven else "mask after softmax"
    return said


add_kind_mistakes(exercise, weights_inside)
