"""is_equivariant"""

import torch
from torch import Tensor
from torch.testing import assert_close

from grader.attention.order_probes import order_probes
from grader.attention.order_tests import add_wrong_comparisons, alike
from grader.compare import describe, truth
from grader.exercise import Exercise, WrongForm
from grader.probes import Probe

exercise = Exercise(
    "is_equivariant",
    "05-order-and-cost",
    place=1,
    points=3,
    signature="is_equivariant(attention, x, permutation) -> bool",
    hints=(
        "Shuffle first and attend then, or attend first and shuffle then. What do you compare?",
        "Equivariant does not mean that the result stays as it was. What should move when the "
        "tokens move?",
        "Compare attention(x[permutation]) with attention(x)[permutation], every number of it, up "
        "to a rounding of about 1e-5.",
        "torch.allclose(attention(x[permutation]), attention(x)[permutation], atol=1e-5)",
    ),
)


exercise.probe(order_probes)


@exercise.compare_by
def what_was_said(probe: Probe, value: object) -> str:
    """The answer in words."""
    said = truth(value)
    if said is None:
        raise WrongForm(f"{describe(value)} came back where True or False is expected")
    return f"you said {said}"


@exercise.reference
def shuffled_before_or_after(attention, x: Tensor, permutation: Tensor) -> bool:
    return alike(attention(x[permutation]), attention(x)[permutation])


@exercise.twin
def number_by_number(attention, x: Tensor, permutation: Tensor) -> bool:
    shuffled, straight = attention(x[permutation]).tolist(), attention(x).tolist()
    places = list(enumerate(permutation.tolist()))
    return all(
        abs(a - b) <= 1e-5 for i, j in places for a, b in zip(shuffled[i], straight[j], strict=True)
    )


@exercise.variant
def shuffled_back(attention, x, permutation):
    back = torch.argsort(permutation)
    return torch.allclose(attention(x[permutation])[back], attention(x), rtol=1e-4, atol=1e-4)


@exercise.variant
def largest_difference(attention, x, permutation):
    difference = attention(x[permutation]) - attention(x)[permutation]
    return difference.abs().max() < 1e-5


@exercise.variant
def with_a_permutation_matrix(attention, x, permutation):
    P = torch.eye(len(x), dtype=x.dtype)[permutation]
    return torch.isclose(attention(P @ x), P @ attention(x), atol=1e-6).all()


@exercise.variant
def as_torch_tests_itself(attention, x, permutation):
    try:
        assert_close(attention(x.index_select(0, permutation)), attention(x)[permutation])
    except AssertionError:
        return False
    return True


@exercise.wrong("f(x[p]) = f(x)")
def invariance(attention, x, permutation):
    """You asked whether the result stays as it was. That is invariance: attention would have to
    give every token the same. When the tokens move, what should their rows do?"""
    return alike(attention(x[permutation]), attention(x))


@exercise.wrong("f(x[p]) = f(x)[argsort(p)]")
def shuffled_with_the_inverse(attention, x, permutation):
    """You moved the rows of the result by the inverse permutation. For a permutation that is its
    own inverse, such as a swap, nobody notices. Where does row i of x[p] come from?"""
    return alike(attention(x[permutation]), attention(x)[torch.argsort(permutation)])


@exercise.wrong("f(x) = f(x)[p]")
def input_not_shuffled(attention, x, permutation):
    """You shuffled the result alone, so you asked whether its rows are all the same. Which two
    orders of doing things should be compared?"""
    return alike(attention(x), attention(x)[permutation])


@exercise.wrong("f(x[p]) = x[p]")
def compared_with_the_tokens(attention, x, permutation):
    """You compared the result with the tokens, so you asked whether the function does nothing at
    all. What does it give for the tokens in their first order?"""
    return alike(attention(x[permutation]), x[permutation])


@exercise.wrong("f(x[:, p]) = f(x)[:, p]")
def features_shuffled(attention, x, permutation):
    """You shuffled the features and not the tokens. Which axis of x runs over the tokens?"""
    return alike(attention(x[:, permutation]), attention(x)[:, permutation])


@exercise.wrong("f(x[p]) = f(x)[p], to the last bit or nearly")
def to_the_last_bit(attention, x, permutation):
    """You asked for equal numbers to the last bit, or nearly. In another order sums are rounded
    differently, so equal formulas give slightly different numbers. Which difference does rounding
    explain?

    Seen in aladdinpersson/Machine-Learning-Collection#165.
    """
    return torch.equal(attention(x[permutation]), attention(x)[permutation])


@exercise.wrong("f(x[p]) = f(x)[p], up to much more than rounding")
def tolerance_too_wide(attention, x, permutation):
    """You let differences pass that rounding does not explain. Float32 keeps about seven digits.
    How large may a difference be between two numbers near 1?"""
    return alike(attention(x[permutation]), attention(x)[permutation], 0.1)


@exercise.wrong("f(x[p]) ≤ f(x)[p]")
def sign_kept(attention, x, permutation):
    """You looked at the largest difference without dropping its sign, so a result that is too small
    everywhere passes. What makes a difference of -1 as bad as one of 1?"""
    return bool((attention(x[permutation]) - attention(x)[permutation]).max() < 1e-5)


add_wrong_comparisons(exercise)


@exercise.wrong("f(x[p]) = f(x)[p], p turned round")
def always_turned_round(attention, x, permutation):
    """You turned the tokens round, whatever permutation was given. A function that turns its rows
    round goes unnoticed then. Where does the argument come in?"""
    return alike(attention(x.flip(0)), attention(x).flip(0))


@exercise.wrong("f(x[p]) = f(x)[p], p shifted by one")
def always_shifted(attention, x, permutation):
    """You shifted the tokens by one, whatever permutation was given. A function that shifts its
    rows goes unnoticed then. Where does the argument come in?"""
    return alike(attention(x.roll(1, 0)), attention(x).roll(1, 0))


@exercise.wrong("f(x[p]) = f(x)[p], another p")
def a_permutation_of_its_own(attention, x, permutation):
    """You used a permutation of your own in place of the one given. Whether a function can be told
    from an equivariant one depends on it. Where does the argument come in?"""
    own = torch.arange(len(x))
    own[:3] = own[:3].roll(1)
    own = own.flip(0).roll(1)
    return alike(attention(x[own]), attention(x)[own])


@exercise.wrong("f(x[p]) = f(x)[p], for further p as well")
def further_permutations(attention, x, permutation):
    """You tried further permutations besides the one given, and said True only where all of them
    agree. A function may keep to the one and not to the others. Which one does the task ask
    about?"""
    given = alike(attention(x[permutation]), attention(x)[permutation])
    return given and a_permutation_of_its_own(attention, x, permutation)


@exercise.wrong("f(x[argsort(p)]) = f(x)[argsort(p)]")
def inverse_permutation(attention, x, permutation):
    """You shuffled the tokens and the result by the inverse permutation, as y[p] = x does. For
    these tokens a function may keep to the one and not to the other. Where does row i of x[p] come
    from?"""
    back = torch.argsort(permutation)
    return alike(attention(x[back]), attention(x)[back])


@exercise.wrong("f(y[p]) = f(y)[p], another y")
def tokens_of_its_own(attention, x, permutation):
    """You tried other tokens than those given. For some tokens a function may keep their order and
    for others not. Where does the argument x come in?"""
    y = torch.cos(torch.arange(x.numel(), dtype=x.dtype)).reshape(x.shape)
    return alike(attention(y[permutation]), attention(y)[permutation])


@exercise.wrong("f(x[p]) ≠ f(x)[p]")
def turned_round(attention, x, permutation):
    """You said True where the two results differ and False where they agree. What is True to
    mean?"""
    return not alike(attention(x[permutation]), attention(x)[permutation])


@exercise.wrong("always True")
def always_true(attention, x, permutation):
    """You said True to every function. That happens when only shapes are compared, or a tensor is
    taken for a truth. What does a function with positions do differently?"""
    return True


@exercise.wrong("always False")
def always_false(attention, x, permutation):
    """You said False to every function. What does plain attention do when its tokens are
    shuffled?"""
    return False


@exercise.wrong("f(x[p]) = f(x)[p], and x shuffled for good")
def shuffled_in_place(attention, x, permutation):
    """What you said is right, but your function changed its own argument on the way: whoever called
    it finds x in another order than before. Which line writes into a tensor instead of making a new
    one?"""
    straight = attention(x)[permutation]
    x.copy_(x[permutation])
    return alike(attention(x), straight)
