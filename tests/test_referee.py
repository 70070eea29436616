"""The trained model from outside: its arithmetic is right, since it can only then fill in."""

from importlib.util import find_spec

import pytest
import torch

from grader import referee
from grader.exercises import find

split, merge = find("split_heads").right, find("merge_heads").right
attention = find("scaled_dot_product_attention").right
installed = pytest.mark.skipif(not find_spec("rxnmapper"), reason="rxnmapper is not installed")
ASPIRIN = "CC(=O)OC(C)=O.O=C(O)c1ccccc1O>>CC(=O)Oc1ccccc1C(=O)O"


@pytest.fixture(scope="module")
def model():
    return referee.load()


def attend(x, maps, cut=split, scale=1.0):
    q, k, v = (cut(maps[name](x), referee.HEADS) for name in ("query", "key", "value"))
    return maps["dense"](merge(attention(q * scale, k, v)[0]))


def cut_without_transpose(x, heads):
    return x.reshape(*x.shape[:-2], heads, x.shape[-2], -1)


@installed
def test_one_layer_of_attention_is_torchs_own(model):
    x = model.embedded(model.ids(ASPIRIN))
    wanted, _ = model.torchs_own()(x, x, x)
    torch.testing.assert_close(attend(x, model.maps), wanted)


@installed
def test_a_reaction_is_cut_into_atoms_bonds_and_rings(model):
    words = {number: word for word, number in model.numbers.items()}
    ids = model.ids("[Na+].ClC>>C%10Br")[0].tolist()
    assert [words[i] for i in ids] == [
        "[CLS]", "[Na+]", ".", "Cl", "C", ">>", "C", "%10", "Br", "[SEP]",
    ]  # fmt: skip


@installed
def test_with_right_attention_what_was_hidden_is_filled_in(model):
    assert model.share_filled_in(ASPIRIN, attend) > 0.9


@installed
@pytest.mark.parametrize("wrong", [{"cut": cut_without_transpose}, {"scale": 32**0.5}])
def test_with_one_mistake_it_is_not(model, wrong):
    def spoiled(x, maps):
        return attend(x, maps, **wrong)

    assert model.share_filled_in(ASPIRIN, spoiled) < 0.6


def test_where_the_package_is_missing_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr(referee, "find_spec", lambda name: None)
    assert referee.load() is None
    assert capsys.readouterr().out.count("\n") == 1
