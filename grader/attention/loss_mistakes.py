"""What goes wrong in the loss of next tokens, in its pairs and in its average."""

from collections.abc import Callable

from torch import Tensor

from grader.attention.loss_surprises import add_surprise_mistakes
from grader.attention.losses import loss, next_ones
from grader.exercise import Exercise

PARTS = ("pair", "surprise", "average")


def add_loss_mistakes(exercise: Exercise) -> None:
    """Give an exercise with `(logits, tokens)` what goes wrong in the three parts."""

    def slip(part: str, formula: str) -> Callable:
        def register(function: Callable) -> Callable:
            def made(parts: dict[str, Callable]) -> Callable:
                def kernel(logits: Tensor, tokens: Tensor) -> Tensor:
                    return loss(logits, tokens, **parts)

                kernel.parts = parts
                kernel.__name__, kernel.__doc__ = function.__name__, function.__doc__
                return kernel

            def onto(other: Callable) -> Callable | None:
                first = getattr(other, "parts", {})
                earlier = len(first) == 1 and PARTS.index(*first) < PARTS.index(part)
                return made({**first, part: function}) if earlier else None

            exercise.wrong(formula, onto=onto)(made({part: function}))
            return function

        return register

    @slip("pair", "each token is predicted by its own position, all T of them")
    def not_shifted(logits, tokens):
        """You compare position i with token i, which it has just read. To repeat what is in
        front of it a model needs no context at all. Which token are the logits at i about?"""
        return logits, tokens

    @slip("pair", "position i is held against token i, for all but the last")
    def both_cut_at_the_end(logits, tokens):
        """You cut the last one off logits and tokens alike, so position i still meets its own
        token i. Which of the two has to lose its first instead?"""
        return logits[..., :-1, :], tokens[..., :-1]

    @slip("pair", "position i is held against token i, for all but the first")
    def both_cut_at_the_start(logits, tokens):
        """You cut the first one off logits and tokens alike, so position i still meets its own
        token i. Which of the two has to lose its last instead?"""
        return logits[..., 1:, :], tokens[..., 1:]

    @slip("pair", "position i is held against token i − 1")
    def shifted_backwards(logits, tokens):
        """You shifted the other way: position i is asked for the token before it. Does a
        language model write forwards or backwards?"""
        return logits[..., 1:, :], tokens[..., :-1]

    @slip("pair", "position i is held against token i + 2")
    def shifted_twice(logits, tokens):
        """The shift is made twice: position i is asked for the token after the next. That happens
        when the targets come shifted already. How far ahead do the logits at i look?"""
        return logits[..., :-2, :], tokens[..., 2:]

    @slip("pair", "the last position is held against the first token as well")
    def rolled(logits, tokens):
        """You rolled the tokens by one, so the last position is asked for the first token of the
        text. Which target does the last position have?"""
        return logits, tokens.roll(-1, dims=-1)

    @slip("pair", "the last target alone")
    def last_target_alone(logits, tokens):
        """You look at the last target alone. The positions before it made predictions, too. How
        many predictions does a text of T tokens let you check?"""
        return logits[..., -2:-1, :], tokens[..., -1:]

    @slip("pair", "the last target is left out")
    def last_target_left_out(logits, tokens):
        """The last token is never a target: one too many is cut off. Who predicts the last
        token?"""
        return logits[..., :-2, :], tokens[..., 1:-1]

    @slip("pair", "the first target is left out")
    def first_target_left_out(logits, tokens):
        """Token 1 is never a target, and position 0 never asked: one too many is cut off at the
        start. What does position 0 predict?"""
        return logits[..., 1:-1, :], tokens[..., 2:]

    @slip("pair", "the first item of the batch alone")
    def first_item_alone(logits, tokens):
        """Of a batch you look at the first item alone. Which axes has the mean to run over?"""
        while tokens.dim() > 1:
            logits, tokens = logits[0], tokens[0]
        return next_ones(logits, tokens)

    add_surprise_mistakes(slip)

    @slip("average", "the sum of all surprises")
    def sum_of_all(surprises, tokens):
        """You added the surprises up. A longer text would then always look worse. By what is a
        sum divided to become a mean?"""
        return surprises.sum()

    @slip("average", "divided by T and not by T − 1")
    def divided_by_T(surprises, tokens):
        """You divided by the number of tokens. Of T tokens T − 1 are predicted. How many terms has
        your sum?"""
        return surprises.sum() / tokens.numel()

    @slip("average", "summed over the positions, averaged over the batch")
    def summed_over_positions(surprises, tokens):
        """You added up the positions of each text and took the mean over the batch. Then twice
        the text costs twice as much. Over what does the mean run, texts or predictions?"""
        return surprises.sum(dim=-1).mean()

    @slip("average", "averaged over the positions, summed over the batch")
    def summed_over_the_batch(surprises, tokens):
        """You took the mean of each text and added up the batch. Then a larger batch makes the
        loss larger, and with it every step of training. Over which axes has the mean to run?"""
        return surprises.mean(dim=-1).sum()

    @slip("average", "the loss of each position")
    def one_for_each(surprises, tokens):
        """You gave back a loss for every prediction. Training needs one number to go down. What
        makes one number of many?"""
        return surprises

    @slip("average", "exp of the loss")
    def perplexity(surprises, tokens):
        """You took the exponential of the loss. That is the perplexity, and worth knowing, but
        not the loss. What undoes your last step?"""
        return surprises.mean().exp()

    @slip("average", "minus the log of the mean probability")
    def log_of_the_mean(surprises, tokens):
        """You averaged the probabilities and took one logarithm at the end. Then one hopeless
        guess hides among good ones. Which comes first, the logarithm or the mean?"""
        return -(-surprises).exp().mean().log()

    @slip("average", "the right number, with no gradient")
    def gradient_cut(surprises, tokens):
        """The number is right but no gradient gets through: .item(), float() or detach() cuts it
        off, and a model could not learn from it. What does backward() need?

        Seen in bboylyg/NAD#8.
        """
        return surprises.mean().detach()
