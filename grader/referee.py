"""A small trained transformer from outside, run with whatever attention is handed in.

RXNMapper's model reads chemical reactions written as SMILES and was trained to fill in tokens that
were masked: Schwaller et al., Science Advances 7, eabe4166, 2021. It is an ALBERT (Lan et al.,
arXiv 1909.11942), twelve layers that share one set of weights. Nothing of the package is run: two
of its files are read.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, layer_norm, linear

Attend = Callable[[Tensor, Mapping[str, Callable]], Tensor]

LAYERS, HEADS = 12, 8
FOLDER = "models/transformers/albert_heads_8_uspto_all_1310k"
TOKEN = re.compile(r"\[[^\]]+\]|Br|Cl|>>|%\d\d|.")  # one atom, one bond, one ring, ...
LAYER = "albert.encoder.albert_layer_groups.0.albert_layers.0"


class Referee:
    """The model's weights, and all of its arithmetic but the attention.

    That is `attend(x, maps)`, with x (B, T, 256) and `maps` of "query", "key", "value" and
    "dense", each a function of (B, T, 256) that adds its bias.
    Example: `load().share_filled_in(reaction, attend)` -> 1.0, if the attention is right
    """

    def __init__(self, state: dict[str, Tensor], words: list[str]) -> None:
        self.state = state
        self.numbers = {word: i for i, word in enumerate(words)}
        self.maps = {
            name: partial(self._linear, f"{LAYER}.attention.{name}")
            for name in ("query", "key", "value", "dense")
        }

    def ids(self, reaction: str) -> Tensor:
        """The tokens of a reaction, between [CLS] and [SEP], as one row."""
        tokens = ["[CLS]", *TOKEN.findall(reaction), "[SEP]"]
        unknown = self.numbers["[UNK]"]
        return torch.tensor([[self.numbers.get(token, unknown) for token in tokens]])

    def embedded(self, ids: Tensor) -> Tensor:
        """What goes into the first layer, (B, T, 256)."""
        part = "albert.embeddings"
        x = self.state[f"{part}.word_embeddings.weight"][ids]
        x = x + self.state[f"{part}.position_embeddings.weight"][: ids.shape[-1]]
        x = x + self.state[f"{part}.token_type_embeddings.weight"][0]
        x = self._norm(f"{part}.LayerNorm", x)
        return self._linear("albert.encoder.embedding_hidden_mapping_in", x)

    def logits(self, ids: Tensor, attend: Attend) -> Tensor:
        """For every place (B, T) what the whole model thinks stands there, (B, T, 591)."""
        x = self.embedded(ids)
        for _ in range(LAYERS):
            x = self._norm(f"{LAYER}.attention.LayerNorm", x + attend(x, self.maps))
            inner = gelu(self._linear(f"{LAYER}.ffn", x))
            inner = self._linear(f"{LAYER}.ffn_output", inner)
            x = self._norm(f"{LAYER}.full_layer_layer_norm", x + inner)
        x = self._norm("predictions.LayerNorm", gelu(self._linear("predictions.dense", x)))
        return self._linear("predictions.decoder", x)

    @torch.no_grad()
    def share_filled_in(self, reaction: str, attend: Attend) -> float:
        """Hide one token at a time and count how often the model's first guess is right."""
        ids = self.ids(reaction)[0]
        places = torch.arange(1, len(ids) - 1)
        hidden = ids.repeat(len(places), 1)
        hidden[torch.arange(len(places)), places] = self.numbers["[MASK]"]
        guesses = self.logits(hidden, attend)[torch.arange(len(places)), places].argmax(dim=-1)
        return (guesses == ids[places]).float().mean().item()

    def torchs_own(self) -> nn.MultiheadAttention:
        """Torch's layer with the same weights."""
        layer = nn.MultiheadAttention(256, HEADS, batch_first=True)
        get = {part: self._both(f"{LAYER}.attention.{part}") for part in self.maps}
        for i, kind in enumerate(("weight", "bias")):
            getattr(layer, f"in_proj_{kind}").data = torch.cat(
                [get[part][i] for part in ("query", "key", "value")]
            )
            getattr(layer.out_proj, kind).data = get["dense"][i]
        return layer.eval()

    def _both(self, name: str) -> tuple[Tensor, Tensor]:
        return self.state[f"{name}.weight"], self.state[f"{name}.bias"]

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return linear(x, *self._both(name))

    def _norm(self, name: str, x: Tensor) -> Tensor:
        return layer_norm(x, x.shape[-1:], *self._both(name), eps=1e-12)


def load() -> Referee | None:
    """The referee, or None and one line about it where its package is not installed."""
    found = find_spec("rxnmapper")
    if found is None or not found.origin:
        print("The package rxnmapper is not installed, so there is no referee here.")
        return None
    folder = Path(found.origin).parent / FOLDER
    state = torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
    return Referee(state, (folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
