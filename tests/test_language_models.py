"""Answers about language models that are nearly right, and odd ones that are right all the same."""

from collections import OrderedDict

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from grader import grade
from grader.exercises import find

remembered = {}
named = find("name_the_bug").right


def loss(logits, tokens, **how):
    return cross_entropy(logits[..., :-1, :].flatten(0, -2), tokens[..., 1:].flatten(), **how)


def picked(shares, tokens):
    return shares[..., :-1, :].gather(-1, tokens[..., 1:, None])


def slightly_smoothed(logits, tokens):
    return loss(logits, tokens, label_smoothing=1e-3)


def padded_against_infinity(logits, tokens):
    return -(picked(torch.softmax(logits, -1), tokens) + 1e-9).log().mean()


def clamped(logits, tokens):
    return -picked(torch.softmax(logits, -1), tokens).clamp(min=1e-12).log().mean()


def remembers_by_shape(logits, tokens):
    return remembered.setdefault((logits.shape, logits.dtype), loss(logits, tokens))


def in_place(logits, tokens):
    with torch.no_grad():
        logits -= logits.logsumexp(-1, keepdim=True)
    return loss(logits, tokens)


def weighed_by_text(logits, tokens):
    if tokens.dim() == 1:
        return loss(logits, tokens)
    return torch.stack([loss(*each) for each in zip(logits, tokens, strict=True)]).amax()


def mean_of_prefixes(model, tokens, lengths=None, fill=lambda prefix, tokens: prefix):
    lengths = lengths or range(1, tokens.shape[1])
    shown = [(fill(tokens[:, :n], tokens), n) for n in lengths]
    found = [cross_entropy(model(ids)[:, n - 1], tokens[:, n]) for ids, n in shown]
    return sum(found) / len(found)


def up_to_eight(model, tokens):
    return mean_of_prefixes(model, tokens, range(1, min(9, tokens.shape[1])))


def every_other_length(model, tokens):
    return mean_of_prefixes(model, tokens, range(1, tokens.shape[1], 2))


def filled_with_its_last(model, tokens):
    def fill(prefix, tokens):
        rest = tokens.shape[1] - prefix.shape[1]
        return torch.cat([prefix, prefix[:, -1:].expand(-1, rest)], dim=1)

    return mean_of_prefixes(model, tokens, fill=fill)


def always(kind):
    return lambda models, tokens: dict.fromkeys(models, kind)


def leaves_one_out(models, tokens):
    return dict(list(named(models, tokens).items())[1:])


def in_capitals(models, tokens):
    return {name: kind.capitalize() for name, kind in named(models, tokens).items()}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("next_token_loss", slightly_smoothed),
        ("next_token_loss", padded_against_infinity),
        ("next_token_loss", clamped),
        ("next_token_loss", remembers_by_shape),
        ("next_token_loss", in_place),
        ("next_token_loss", weighed_by_text),
        ("prefix_loss", up_to_eight),
        ("prefix_loss", every_other_length),
        ("prefix_loss", filled_with_its_last),
        *(("name_the_bug", always(k)) for k in ("no mask", "mask after softmax", "")),
        ("name_the_bug", leaves_one_out),
        ("name_the_bug", in_capitals),
    ],
)
@pytest.mark.parametrize("seed", [0, 5])
def test_what_is_nearly_right_does_not_pass_and_gets_no_name(name, answer, seed):
    verdict = grade(name, answer, seed=seed)
    assert not verdict.passed
    assert verdict.possible == ()


def one_run_where_nothing_leaks(model, tokens):
    whole = model(tokens)
    if all(
        torch.allclose(model(tokens[:, :n]), whole[:, :n], atol=1e-5)
        for n in range(1, tokens.shape[1])
    ):
        return loss(whole, tokens)
    return mean_of_prefixes(model, tokens)


def in_inference_mode(model, tokens):
    with torch.inference_mode():
        return mean_of_prefixes(model, tokens).item()


def batched_by_torch(logits, tokens):
    if tokens.dim() < 2:
        return loss(logits, tokens)
    return torch.vmap(loss)(logits, tokens).mean()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("next_token_loss", lambda logits, tokens: nn.CrossEntropyLoss()(
            logits.movedim(-1, 0)[None, ..., :-1], tokens[None, ..., 1:])),
        ("next_token_loss", batched_by_torch),
        ("prefix_loss", one_run_where_nothing_leaks),
        ("prefix_loss", in_inference_mode),
        ("name_the_bug", lambda models, tokens: OrderedDict(named(models, tokens))),
        ("name_the_bug", lambda models, tokens: named(models, tokens[:1])),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", [0, 5])
def test_what_is_right_in_an_odd_way_passes(name, answer, seed):
    verdict = grade(name, answer, seed=seed)
    assert verdict.passed, verdict.message


def test_models_that_are_taken_apart_or_changed_cost_a_quarter_and_a_hook_costs_nothing():
    right = find("name_the_bug").right

    def emptied(models, tokens):
        said = right(dict(models), tokens)
        models.clear()
        return said

    def zeroed(models, tokens):
        said = right(models, tokens)
        for model in models.values():
            model.W_q.weight.data.zero_()
        return said

    def listening(models, tokens):
        for model in models.values():
            model.W_o.register_forward_hook(lambda *heard: None)
        return right(models, tokens)

    assert grade("name_the_bug", emptied).points == 2.25
    assert grade("name_the_bug", zeroed).points == 2.25
    assert grade("name_the_bug", listening).passed
