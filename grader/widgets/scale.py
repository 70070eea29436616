"""What the scale does to the scores, the weights and the gradient of random queries and keys."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from grader.figures.numbers import say
from grader.widgets.page import Explorer, View, choice, one_line, slider, table
from grader.widgets.panels import Bars, Spread
from grader.widgets.stage import Stage

KEYS, QUERIES, LARGEST = 16, 64, 1024
SIZES = [(2**n, str(2**n)) for n in range(11)]
DIVISORS = {
    "√d_k": lambda d_k: d_k**0.5,
    "1, no scale": lambda d_k: 1.0,
    "d_k": lambda d_k: float(d_k),
    "√T, with T = 16 keys": lambda d_k: KEYS**0.5,
    "1/√d_k": lambda d_k: d_k**-0.5,
}
TEMPERATURES = [(2.0**n, say(2.0**n)) for n in range(-3, 6)]
SEEDS = [(seed, str(seed)) for seed in range(20)]


@dataclass(frozen=True)
class Measured:
    """All scores (64 · 16,), and of the first query: weights (16,), gradients at keys (16,)."""

    scores: torch.Tensor
    weights: torch.Tensor
    gradients: torch.Tensor
    entropy: float
    norm: float


@one_line
def scale_slider() -> Explorer:
    """Show scores, weights and gradients for any d_k, scale and temperature.

    Example: `scale_slider()`
    """
    controls = [
        slider("d_k", "d_k", SIZES, 64),
        choice("divisor", "Scores divided by", [(name, name) for name in DIVISORS], "1, no scale"),
        slider("temperature", "Temperature", TEMPERATURES, 1.0),
        slider("seed", "Seed", SEEDS, 0),
    ]
    return Explorer("What does the scale do?", controls, _view)


def measure(d_k: int, divisor: float, temperature: float, seed: int) -> Measured:
    """Random queries and keys of size d_k, their scores divided by both numbers.

    The gradient is that of the sum of the context, for random values of one feature.
    """
    q, k, v = _drawn(seed)
    q, k = q[:, :d_k], k[:, :d_k]
    scale = 1 / (divisor * temperature)
    scores = q @ k.T * scale
    weights = torch.softmax(scores[0], dim=-1)
    jacobian = torch.diag(weights) - torch.outer(weights, weights)
    gradients = (jacobian @ v).abs() * scale * q[0].norm()
    entropy = torch.special.entr(weights).sum().item()
    return Measured(scores.flatten(), weights, gradients, entropy, jacobian.norm().item())


@lru_cache(4)
def _drawn(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(QUERIES, LARGEST, generator=generator, dtype=torch.float64)
    k = torch.randn(KEYS, LARGEST, generator=generator, dtype=torch.float64)
    return q, k, torch.randn(KEYS, generator=generator, dtype=torch.float64)


def _view(d_k: int, divisor: str, temperature: float, seed: int) -> View:
    seen = measure(d_k, DIVISORS[divisor](d_k), temperature, seed)
    order = seen.weights.argsort(descending=True)
    weights, gradients = seen.weights[order].numpy(), seen.gradients[order].numpy()
    places = [f"{n + 1}" for n in range(KEYS)]
    shown = [place if n % 3 == 0 else "" for n, place in enumerate(places)]
    stage = _stage()
    spread, row, passed = stage.panels
    spread.set(seen.scores.numpy())
    row.set(shown, weights)
    passed.set(shown, gradients)
    variance = seen.scores.var().item()
    numbers = {
        "variance of the scores": say(variance),
        "largest weight": f"{weights[0]:.3f}",
        "entropy": f"{seen.entropy:.3f}, at most {math.log(KEYS):.3f}",
        "norm of the softmax Jacobian": f"{seen.norm:.2g}",
        "largest gradient at a key": f"{gradients.max():.2g}",
        "median gradient at a key": f"{np.median(gradients):.2g}",
    }
    at = f"d_k = {d_k}, divided by {divisor}, temperature {say(temperature)}, seed {seed}"
    key = "; ".join(f"{name} {value}" for name, value in numbers.items())
    alt = (
        f"Histogram of scores, bars of {KEYS} weights and of the gradient at each key, keys sorted "
    )
    alt += f"by weight. {at}: {key}."
    keys = [
        (place, f"{w:.3f}", f"{g:.2g}")
        for place, w, g in zip(places, weights, gradients, strict=True)
    ]
    tables = table(at, ["measured", "value"], numbers.items())
    tables += table("Keys by weight", ["key", "weight", "gradient at the key"], keys)
    return View(stage, alt, f"{at}: {key}.", tables)


@lru_cache(1)
def _stage() -> Stage:
    return Stage(
        8.8,
        2.6,
        lambda figure: [
            Spread(figure, (0.6, 0.55, 2.3, 1.6), "Scores, share of all"),
            Bars(
                figure, (3.5, 0.55, 2.3, 1.6), "Weights, largest first", KEYS, end=1, turned=False
            ),
            Bars(figure, (6.4, 0.55, 2.3, 1.6), "Gradient at these keys", KEYS, turned=False),
        ],
    )
