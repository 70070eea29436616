"""What goes wrong in a module around its attention: the maps it is made of, what it gives back."""

from collections.abc import Callable

import torch
from torch import nn

from grader.attention.kernels import attention
from grader.attention.modules import attention_module
from grader.exercise import Exercise


def scaled_by_the_input_size(make: Callable, d_in: int, d_out: int) -> nn.Module:
    """The module that `make` gives, with scores divided by the root of d_in in place of d_out."""
    module = make(d_in, d_out)
    projected = module.roles

    def shorter_queries(x):
        q, k, v = projected(x)
        return q * (d_out / d_in) ** 0.5, k, v

    module.roles = shorter_queries
    return module


def add_module_mistakes(exercise: Exercise, roles: tuple[str, str, str]) -> None:
    """Give an exercise the mistakes that only a module with three linear maps can make."""
    right = attention_module(attention, roles)

    @exercise.wrong("x W + b")
    def with_bias(d_in, d_out):
        """Your linear maps have a bias, which the task leaves out: a matrix product is all they
        should do. Which argument of nn.Linear turns it off?

        Seen in neetcode-gh/leetcode#5219, karpathy/minGPT#93, dptech-corp/deepmd-pytorch#83.
        """
        return attention_module(attention, roles, bias=True)(d_in, d_out)

    @exercise.wrong("no parameters at all")
    def no_parameters(d_in, d_out):
        """Your module has no parameters, so an optimizer would train nothing. That happens when
        the maps are made in forward, or kept in a list where nn.Module does not see them. Where
        does a module look for its parts?

        Seen in pytorch/pytorch#72580, pytorch/pytorch#666, LianpoWang/SLIIF#13.
        """

        class KeptInAList(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.maps = [nn.Linear(d_in, d_out, bias=False) for _ in roles]

            def forward(self, x):
                return attention(*(each(x) for each in self.maps))[0]

        return KeptInAList()

    @exercise.wrong("one W for q, k and v")
    def one_map_for_all_roles(d_in, d_out):
        """One and the same linear map stands under all three names. Then a token looks for what it
        is, and hands over the same once more. How many maps do three roles need?"""
        module = right(d_in, d_out)
        for name in roles:
            setattr(module, name, getattr(module, roles[0]))
        return module

    @exercise.wrong("W_q and W_k are one")
    def one_map_for_queries_and_keys(d_in, d_out):
        """One and the same linear map makes the queries and the keys, so the scores are symmetric.
        Can a token then look at another one that does not look back?"""
        module = right(d_in, d_out)
        setattr(module, roles[1], getattr(module, roles[0]))
        return module

    @exercise.wrong("linear maps with the sizes exchanged")
    def sizes_exchanged(d_in, d_out):
        """Your linear maps have their two sizes in each other's place, so they lead from the
        outputs to the inputs. Which size does nn.Linear take first?"""
        return right(d_out, d_in)

    @exercise.wrong("matrices in place of linear maps")
    def matrices_in_place_of_maps(d_in, d_out):
        """Your parameters are matrices, where the task asks for linear maps. Weights that were
        saved from the one do not fit the other. What is a parameter of nn.Linear called, and which
        shape does it have?"""

        class OfMatrices(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                for name in roles:
                    setattr(self, name, nn.Parameter(torch.randn(d_in, d_out)))

            def forward(self, x):
                return attention(*(x @ getattr(self, name) for name in roles))[0]

        return OfMatrices()

    @exercise.wrong("(context, weights)")
    def weights_returned_too(d_in, d_out):
        """forward gave back the weights as well. A module that stands in a row of others should
        pass on the context alone. Which of the two is it?"""
        return attention_module(attention, roles, output=slice(None))(d_in, d_out)

    @exercise.on_top("q, k and v = x times the stored weight, not transposed", "score")
    def weights_not_transposed(make, d_in, d_out):
        """You multiplied by the weights as they are stored, (d_out, d_in). It only runs when the
        two sizes are equal, and then the numbers are silently others. What does nn.Linear do with
        its weight before it multiplies?

        Seen in rasbt/LLMs-from-scratch#857, AaltoML/SUQ#2, the PyTorch forum, "Understanding
        nn.MultiheadAttention".
        """
        module = make(d_in, d_out)
        module.roles = lambda x: tuple(x @ getattr(module, name).weight for name in roles)
        return module

    @exercise.on_top("v = x", "mix")
    def values_not_projected(make, d_in, d_out):
        """You mixed x itself: the map for the values is never used, and the result has as many
        features as x. What does a token hand over once it is picked?

        Seen in hmdolatabadi/denoising_diffusion#1.
        """
        module = make(d_in, d_out)
        projected = module.roles
        module.roles = lambda x: (*projected(x)[:2], x)
        return module
