"""What goes wrong with the parameters of a module with heads: which it has, and of which shape."""

import torch
from torch import nn

from grader.attention.heads import ROLES, Parts, attend, heads_module, square_maps
from grader.exercise import Exercise


def add_parameter_mistakes(exercise: Exercise) -> None:
    """Give an exercise the mistakes that are known by the names and shapes of parameters."""

    def wrong(formula: str, **parts):
        """A module with other maps; the function beneath makes them."""

        def register(maps):
            made = heads_module(Parts(maps=maps, **parts))
            made.__name__, made.__doc__ = maps.__name__, maps.__doc__
            return exercise.wrong(formula)(made)

        return register

    @exercise.wrong("x W + b")
    class with_bias(heads_module(Parts(maps=_with_bias(*ROLES, "W_o")))):
        """Your linear maps have a bias, which the task leaves out. Which argument of nn.Linear
        turns it off?

        Seen in neetcode-gh/leetcode#5219, karpathy/minGPT#93, dptech-corp/deepmd-pytorch#83.
        """

        def forward(self, x):
            return super().forward(x) + self.W_o.bias

    @exercise.wrong("a bias in W_o")
    class with_output_bias(heads_module(Parts(maps=_with_bias("W_o")))):
        """Your output map has a bias, as in many libraries; the task leaves it out. Which argument
        of nn.Linear turns it off?"""

        def forward(self, x):
            return super().forward(x) + self.W_o.bias

    @exercise.wrong("no parameters at all")
    class no_parameters(nn.Module):
        """Your module has no parameters, so an optimizer would train nothing. That happens when
        the maps are made in forward, or kept in a list where nn.Module does not see them. Where
        does a module look for its parts?

        Seen in pytorch/pytorch#72580, pytorch/pytorch#666, LianpoWang/SLIIF#13.
        """

        def __init__(self, d_model, n_heads, causal=True):
            super().__init__()
            self.kept = [heads_module()(d_model, n_heads, causal)]

        def forward(self, x):
            return self.kept[0](x)

    @exercise.wrong("no parameters but those of W_o")
    class heads_in_a_list(nn.Module):
        """Only W_o is known to your module. The heads lie in a Python list, where nn.Module does
        not see them, so they would never be trained. Which kind of list does it look into?

        Seen in pytorch/pytorch#72580, pytorch/pytorch#1053, LianpoWang/SLIIF#13.
        """

        def __init__(self, d_model, n_heads, causal=True):
            super().__init__()
            self.heads = [_Head(d_model, d_model // n_heads, causal) for _ in range(n_heads)]
            self.W_o = nn.Linear(d_model, d_model, bias=False)

        def forward(self, x):
            return self.W_o(torch.cat([head(x) for head in self.heads], dim=-1))

    @exercise.wrong("n_heads modules with maps of their own, and W_o")
    class a_module_for_each_head(nn.Module):
        """Your heads are modules with maps of their own. That computes the same, but saved weights
        of the four maps that the task names do not fit. How can one W_q make the queries of all
        heads at once?"""

        def __init__(self, d_model, n_heads, causal=True):
            super().__init__()
            self.heads = nn.ModuleList(
                _Head(d_model, d_model // n_heads, causal) for _ in range(n_heads)
            )
            self.W_o = nn.Linear(d_model, d_model, bias=False)

        def forward(self, x):
            return self.W_o(torch.cat([head(x) for head in self.heads], dim=-1))

    @exercise.wrong("the heads side by side, without a W_o")
    class without_an_output_map(heads_module(Parts(finish=lambda merged, W_o: merged))):
        """Your module has no W_o, so what one head found never meets what another found. What
        comes after the heads stand side by side?

        Seen in ethen8181/machine-learning#13, Kyubyong/transformer#17, jwallbridge/translob#4.
        """

        def __init__(self, d_model, n_heads, causal=True):
            super().__init__(d_model, n_heads, causal)
            object.__setattr__(self, "W_o", self._modules.pop("W_o"))

    @wrong("one W for q, k and v", project=lambda module, x: (module.W_q(x),) * 3)
    def one_map_for_all_roles(d_model, n_heads):
        """One and the same linear map stands under the names of all three roles. How many maps do
        three roles need?"""
        maps = square_maps(d_model, n_heads)
        return maps | dict.fromkeys(ROLES, maps["W_q"])

    @wrong("W_q and W_k are one")
    def one_map_for_queries_and_keys(d_model, n_heads):
        """One and the same linear map makes the queries and the keys, so the scores are symmetric.
        Can a token then look at another one that does not look back?"""
        maps = square_maps(d_model, n_heads)
        return maps | {"W_k": maps["W_q"]}

    @wrong("maps from d_model to head_size", project=_repeated_for_every_head)
    def maps_of_one_head(d_model, n_heads):
        """Your maps make the features of one head, so all heads would be the same. Together the
        heads have d_model features. How many columns must W_q make?"""
        size = d_model // n_heads
        return square_maps(d_model, n_heads) | _linear(d_model, size, *ROLES)

    @wrong("maps from d_model to n_heads · d_model")
    def maps_of_full_size_for_every_head(d_model, n_heads):
        """Your maps make d_model features for every head. The heads share these features out among
        themselves. How large is one head then?"""
        all_heads = d_model * n_heads
        return _linear(d_model, all_heads, *ROLES) | _linear(all_heads, d_model, "W_o")

    @wrong("maps from head_size to head_size", project=_slice_by_slice)
    def maps_of_one_slice(d_model, n_heads):
        """You cut x first, and one small map makes the queries of every head from its slice alone.
        Then a head never sees the other features of a token. What should be cut, x or what the
        maps make of it?

        Seen in MarcoMeter/episodic-transformer-memory-ppo#22,
        aladdinpersson/Machine-Learning-Collection#3, Khaliladib11/Transformer-from-scratch#3.
        """
        size = d_model // n_heads
        return square_maps(d_model, n_heads) | _linear(size, size, *ROLES)


def _linear(d_in: int, d_out: int, *names: str, bias: bool = False) -> dict[str, nn.Linear]:
    return {name: nn.Linear(d_in, d_out, bias=bias) for name in names}


def _with_bias(*names: str):
    return lambda d_model, n_heads: (
        square_maps(d_model, n_heads) | _linear(d_model, d_model, *names, bias=True)
    )


def _repeated_for_every_head(module, x):
    return tuple(torch.cat([getattr(module, name)(x)] * module.n_heads, dim=-1) for name in ROLES)


def _slice_by_slice(module, x):
    slices = x.unflatten(-1, (module.n_heads, -1))
    return tuple(getattr(module, name)(slices).flatten(-2) for name in ROLES)


class _Head(nn.Module):
    """A head by itself, with maps of its own."""

    def __init__(self, d_model: int, size: int, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        for name, each in _linear(d_model, size, *ROLES).items():
            setattr(self, name, each)

    def forward(self, x):
        return attend(*(getattr(self, name)(x) for name in ROLES), self.causal)
