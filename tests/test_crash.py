"""An error about sizes is told in the terms of the task: whose axis it is, and what would fit."""

import pytest
import torch
from torch import nn

from grader import grade


class Untransposed(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))

    def forward(self, x):
        return self.W_q(x) @ self.W_k(x) @ x.new_ones(len(x), 2).cos() @ self.W_v(x)


class NotBegun(nn.Module):
    def __init__(self, d_in, d_out):
        self.W_q = nn.Linear(d_in, d_out, bias=False)


class Misspelt(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))

    def foward(self, x):
        return x


def asserts(attention, x, permutation):
    assert torch.allclose(attention(x[permutation]), attention(x)[permutation], atol=1e-5)
    return True


def too_large(batch, n_heads, T, bytes_per_number):
    raise RuntimeError("not enough memory: you tried to allocate 137438953472 bytes.")


CASES = {
    "a transposed factor would fit": (
        "attention_scores",
        lambda q, k: torch.mm(q, k) if q.dim() == 2 and len(q) != len(k) else q @ k.mT * 2,
        "With B transposed it would be 5×6 times 6×7, and give 5×7.",
    ),
    "a size is found among the arguments": (
        "attention_scores",
        lambda q, k: torch.mm(q, k) if q.dim() == 2 and len(q) != len(k) else q @ k.mT * 2,
        "7 is the length of axis -2 of k.",
    ),
    "lengths that cannot meet": (
        "mix",
        lambda weights, x: (weights * x) ** 2,
        "an axis of length 7 was to meet one of length 3",
    ),
    "an axis that is not there": (
        "average",
        lambda x: x.mean(2, keepdim=True) * 3,
        "There is no axis 2: this tensor has 2 axes.",
    ),
    "a shape that is not filled": (
        "average",
        lambda x: x.reshape(2, -1),
        "There are 15 numbers, which do not fill that shape.",
    ),
    "two dtypes": (
        "mix",
        lambda weights, x: weights @ x.double(),
        "Two tensors of different dtypes met.",
    ),
    "a module's own products": ("SelfAttention", Untransposed, "In a product A B"),
    "a module not begun": ("SelfAttention", NotBegun, "Which line has to come first in __init__?"),
    "a method misspelt": ("SelfAttention", Misspelt, "How is yours spelt"),
    "a function for a class": ("SelfAttention", lambda d_in, d_out: None, "A class is asked for."),
    "a name without a value": ("mix", lambda weights, x: wieghts @ x, "how is it spelt there?"),  # noqa: F821
    "a root of a number": (
        "scale_scores",
        lambda scores, d_k: scores / torch.sqrt(d_k),
        "takes tensors, and this is a plain number",
    ),
    "numbers turned round": (
        "causal_mask",
        lambda T: ~torch.ones(T, T).tril(),
        "Which dtype do torch.ones and tril give",
    ),
    "a truth taken for a number": (
        "mix",
        lambda weights, x: torch.tensor(True) - (x > 0),
        "Which function makes a number of a truth value?",
    ),
    "more than there is": ("score_bytes", too_large, "It asked for 137.4 GB at once."),
    "a function given too much": (
        "is_equivariant",
        lambda attention, x, permutation: attention(x, permutation),
        "takes 1, and you called it with 2",
    ),
    "an assert for an answer": ("is_equivariant", asserts, "where the two differ?"),
}


def mix_of_one(weights):
    return weights


def mix_of_three(weights, x, scores):
    return weights @ x


@pytest.mark.parametrize(("exercise", "answer", "words"), CASES.values(), ids=CASES)
def test_the_error_is_put_into_words(exercise, answer, words):
    message = grade(exercise, answer).message
    assert words in message
    assert message.splitlines()[-1].startswith("Think about: ")


@pytest.mark.parametrize("answer", [mix_of_one, mix_of_three])
def test_another_number_of_arguments_is_told_how_it_is_called(answer):
    message = grade("mix", answer).message
    assert "What it means: It is called as mix(weights, x)." in message
    assert "that line" not in message


def test_a_call_inside_the_answer_is_not_taken_for_the_call_of_it():
    def answer(weights, x):
        return mix_of_one(weights, x)

    assert "It is called as" not in grade("mix", answer).message


def test_another_error_is_quoted_and_asked_about():
    message = grade("average", lambda x: x.no_such_method()).message
    assert "AttributeError" in message
    assert "What it means" not in message
    assert message.endswith("with which shape?")
