"""The loss of a model that sees nothing but the prefix, and what goes wrong in it."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from grader.attention.losses import chosen, loss
from grader.exercise import Exercise


def surprises(logits: Tensor, targets: Tensor) -> Tensor:
    return -chosen(log_softmax(logits, dim=-1), targets)


def each_length(model: Callable, tokens: Tensor) -> Tensor:
    """The surprises (T − 1, B) at what follows each prefix."""
    lengths = range(1, tokens.shape[1])
    return torch.stack([surprises(model(tokens[:, :n])[:, -1], tokens[:, n]) for n in lengths])


def _padded_with(token: int, model: Callable, tokens: Tensor) -> Tensor:
    found = []
    for n in range(1, tokens.shape[1]):
        padded = tokens.clone()
        padded[:, n:] = token
        found.append(surprises(model(padded)[:, n - 1], tokens[:, n]))
    return torch.stack(found).mean()


def add_prefix_mistakes(exercise: Exercise) -> None:
    """Give an exercise with `(model, tokens)` what goes wrong with prefixes."""

    @exercise.wrong("the ordinary loss: one run over the whole text")
    def one_run(model, tokens):
        """You ran the model once over the whole text: that is the ordinary loss. A model that peeks
        finds the answer in its input. What may it be given when it is asked for token n?

        Seen in tensorflow/text#894.
        """
        return loss(model(tokens), tokens)

    @exercise.wrong("one run over all tokens but the last")
    def one_run_without_the_last(model, tokens):
        """You ran the model once, over all tokens but the last. The last target is then not in its
        input, and all the others still are. What may it be given when it is asked for token n?"""
        return surprises(model(tokens[:, :-1]), tokens[:, 1:]).mean()

    @exercise.wrong("the prefix ends with the target")
    def target_in_the_prefix(model, tokens):
        """The prefix reaches one token too far: the model is given the very token that it is asked
        for. Which tokens are in tokens[:, :n]?"""
        T = tokens.shape[1]
        found = [surprises(model(tokens[:, : n + 1])[:, n - 1], tokens[:, n]) for n in range(1, T)]
        return torch.stack(found).mean()

    @exercise.wrong("asked for the last token of the prefix")
    def last_of_the_prefix(model, tokens):
        """You hold the last position of each prefix against the token that stands there, which the
        model has just read. Which token comes after a prefix of length n?"""
        T = tokens.shape[1]
        found = [surprises(model(tokens[:, :n])[:, -1], tokens[:, n - 1]) for n in range(1, T)]
        return torch.stack(found).mean()

    @exercise.wrong("asked for the last token of the prefix, up to the whole text")
    def last_of_the_prefix_to_the_end(model, tokens):
        """You hold the last position of every prefix from 2 to T against the token that stands
        there, which the model has just read. Which token comes after a prefix of length n?"""
        T = tokens.shape[1]
        found = [surprises(model(tokens[:, : n + 1])[:, -1], tokens[:, n]) for n in range(1, T)]
        return torch.stack(found).mean()

    @exercise.wrong("the prefix of length 1 is left out")
    def from_length_2(model, tokens):
        """You begin with prefixes of two tokens, so token 1 is never asked for. What is the
        shortest prefix that has something after it?"""
        return each_length(model, tokens)[1:].mean()

    @exercise.wrong("the longest prefix is left out")
    def longest_left_out(model, tokens):
        """The last token is never asked for: the longest prefix is missing. Which is the last
        number that range(1, T - 1) gives?"""
        return each_length(model, tokens)[:-1].mean()

    @exercise.wrong("the longest prefix alone")
    def longest_alone(model, tokens):
        """You took the longest prefix alone. It asks for the last token and for none of the others.
        How many prefixes has a text of T tokens?"""
        return each_length(model, tokens)[-1].mean()

    @exercise.wrong("the shortest prefix alone")
    def shortest_alone(model, tokens):
        """You took the prefix of one token alone; a return inside the loop does that. It asks for
        token 1 and for none after it. How many prefixes has a text of T tokens?"""
        return each_length(model, tokens)[0].mean()

    @exercise.wrong("the first position of each prefix")
    def first_position(model, tokens):
        """You read the logits at the first position of each prefix. They are about token 1,
        whatever the prefix. Which position has read all of the prefix?"""
        T = tokens.shape[1]
        found = [surprises(model(tokens[:, :n])[:, 0], tokens[:, n]) for n in range(1, T)]
        return torch.stack(found).mean()

    @exercise.wrong("the mean of the ordinary losses of all prefixes")
    def all_positions(model, tokens):
        """For each prefix you count every position. All but the last of them have their target in
        front of them in the input. Which position cannot peek?"""
        T = tokens.shape[1]
        found = [surprises(model(tokens[:, :n]), tokens[:, 1 : n + 1]).mean() for n in range(1, T)]
        return torch.stack(found).mean()

    @exercise.wrong("the ordinary losses of all prefixes, target included")
    def ordinary_loss_of_each(model, tokens):
        """You take the ordinary loss of each beginning of the text. In it every target is part of
        the input. What does the model see when it is asked for the last one?"""
        T = tokens.shape[1]
        found = [loss(model(tokens[:, : n + 1]), tokens[:, : n + 1]) for n in range(1, T)]
        return torch.stack(found).mean()

    @exercise.wrong("the rest of the text replaced by token 0")
    def padded(model, tokens):
        """You keep the length and put token 0 in place of what comes later. Those are tokens too: a
        model without a mask reads them. What is left if you cut the text off instead?"""
        return _padded_with(0, model, tokens)

    @exercise.wrong("the rest of the text replaced by token 1")
    def padded_with_1(model, tokens):
        """You keep the length and put token 1 in place of what comes later. Those are tokens too: a
        model without a mask reads them. What is left if you cut the text off instead?"""
        return _padded_with(1, model, tokens)

    @exercise.wrong("the last token of each prefix alone")
    def last_token_alone(model, tokens):
        """The model is given a single token each time, and not all that came before. What is the
        prefix of length n?"""
        T = tokens.shape[1]
        found = [surprises(model(tokens[:, n - 1 : n])[:, -1], tokens[:, n]) for n in range(1, T)]
        return torch.stack(found).mean()

    @exercise.wrong("summed over the lengths")
    def sum_over_lengths(model, tokens):
        """You added up the lengths, so a longer text looks worse. By how many has the sum to be
        divided?"""
        return each_length(model, tokens).mean(dim=1).sum()

    @exercise.wrong("divided by T and not by T − 1")
    def divided_by_T(model, tokens):
        """You divided by T. A text of T tokens has T − 1 prefixes with something after them. How
        many terms has your sum?"""
        return each_length(model, tokens).sum() / tokens.numel()

    @exercise.wrong("summed over lengths and batch")
    def sum_of_all(model, tokens):
        """You added up everything: all lengths, and all texts of the batch. What makes a mean of a
        sum?"""
        return each_length(model, tokens).sum()

    @exercise.wrong("weighted by the length")
    def weighted_by_length(model, tokens):
        """A prefix of length n counts n times. Each asks one question. How much should one question
        weigh?"""
        found = each_length(model, tokens).mean(dim=1)
        lengths = torch.arange(1, len(found) + 1)
        return (lengths * found).sum() / lengths.sum()

    @exercise.wrong("the first text of the batch alone")
    def first_text_alone(model, tokens):
        """You look at the first text of the batch alone. Which axes has the mean to run over?"""
        return each_length(model, tokens[:1]).mean()

    @exercise.wrong("minus the loss")
    def sign_left_out(model, tokens):
        """Your loss is negative: the minus in front of log p is missing, or there twice. Should a
        likely token cost little or much?"""
        return -each_length(model, tokens).mean()

    @exercise.wrong("cross-entropy of a softmax of the softmax")
    def softmax_twice(model, tokens):
        """The softmax is taken twice: cross_entropy takes one itself and was given probabilities.
        What does F.cross_entropy expect?"""
        return each_length(lambda ids: torch.softmax(model(ids), dim=-1), tokens).mean()

    @exercise.wrong("exp of the loss")
    def perplexity(model, tokens):
        """You took the exponential of the loss. That is the perplexity. What undoes your last
        step?"""
        return each_length(model, tokens).mean().exp()

    @exercise.wrong("the prefix loss minus the ordinary loss")
    def gap_to_one_run(model, tokens):
        """You gave back how much worse the prefixes are than one run. That gap gives leaks away,
        and it is the next step. Which of the two numbers is asked for here?"""
        return each_length(model, tokens).mean() - loss(model(tokens), tokens)

    @exercise.wrong("the ordinary loss minus the prefix loss")
    def minus_the_gap(model, tokens):
        """You gave back the ordinary loss minus that of the prefixes: the gap that gives leaks
        away, with its sign turned. It is the next step. Which of the two numbers is asked for
        here?"""
        return loss(model(tokens), tokens) - each_length(model, tokens).mean()

    @exercise.wrong("0, whatever the model says")
    def nothing(model, tokens):
        """You gave back 0, as if every model knew every next token for sure. Which line should
        make the number, and from what?"""
        return 0.0

    @exercise.wrong("later tokens overwritten in the text itself")
    def text_overwritten(model, tokens):
        """You wrote zeros over the later tokens, in the text that you were given. From then on they
        are gone, as targets too. What can be done with a part of a tensor without changing the
        rest?"""
        found = []
        for n in range(1, tokens.shape[1]):
            target = tokens[:, n].clone()
            tokens[:, n:] = 0
            found.append(surprises(model(tokens)[:, n - 1], target))
        return torch.stack(found).mean()
