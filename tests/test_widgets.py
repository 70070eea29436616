"""What explorers show is what torch computes, said in words and tables as well as in a picture."""

import io
import json
import tomllib
from importlib import import_module
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from nbclient import NotebookClient
from PIL import Image
from torch import nn
from torch.nn import functional as F

from grader import widgets
from grader.figures.canvas import ON_PAGE
from grader.runtime.saving import before_saving, still
from grader.runtime.view import course
from grader.widgets.asking import Asked, plain_attention
from grader.widgets.heads import head_weights, random_matrices
from grader.widgets.order import MASKS, SHARP, masked_attention, positions, see
from grader.widgets.page import table
from grader.widgets.panels import round_up
from grader.widgets.scale import KEYS, QUERIES, measure
from grader.widgets.tokens import look, vectors

ROOT = Path(__file__).parent.parent
TOKENS = ["Your", "journey", "starts", "with", "one", "step"]
X = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)
WIDE = torch.randn(6, 12, generator=torch.Generator().manual_seed(0))
CALLS = {
    "which_token": (X, TOKENS),
    "scale_slider": (),
    "order_and_masks": (X, TOKENS),
    "heads": (WIDE, TOKENS),
}
each_explorer = pytest.mark.parametrize("name", widgets.__all__)


def explorer(name, *arguments, **named):
    """The explorer itself, which a lesson only sees displayed."""
    return getattr(widgets, name).__wrapped__(*(arguments or CALLS[name]), **named)


def other_value(control, value):
    """Another value that the control can take."""
    if control["kind"] == "text":
        return "step journey step"
    if control["kind"] == "switch":
        return not value
    if control["kind"] == "order":
        return value[::-1]
    return next(given for given, _ in reversed(control["options"]) if given != value)


# The numbers


def test_a_token_sees_what_torch_computes_for_its_moved_vector():
    move = torch.tensor([0.5, 0.0, -1.0])
    seen = look(X, 1, move, Asked())
    moved = X.clone()
    moved[1] += move
    expected = F.scaled_dot_product_attention(moved, moved, moved, scale=1.0)
    assert torch.allclose(seen.context, expected[1], atol=1e-6)
    assert torch.allclose(seen.scores, torch.stack([moved[1].dot(row) for row in moved]))
    assert torch.allclose(seen.weights, F.softmax(seen.scores, dim=0))


def test_the_scores_can_be_left_out():
    shown = explorer("which_token", X, TOKENS, scores=False)
    assert "score" not in shown.alt + shown.tables
    assert shown.values == explorer("which_token").values


def test_known_words_keep_their_vectors_and_unknown_ones_always_get_the_same():
    known = {word.casefold(): row for word, row in zip(TOKENS, X, strict=True)}
    words, first, made_up = vectors("Journey river step", known)
    assert made_up == ["river"]
    assert words == ["Journey", "river", "step"]
    assert torch.equal(first[[0, 2]], X[[1, 5]])
    assert torch.equal(vectors("river", known)[1][0], first[1])
    assert not torch.equal(vectors("stream", known)[1][0], first[1])


@pytest.mark.parametrize(("d_k", "divisor"), [(1, 1.0), (16, 4.0), (64, 1.0), (1024, 32.0)])
def test_gradients_and_jacobian_are_those_of_autograd(d_k, divisor):
    seen = measure(d_k, divisor, temperature=2.0, seed=3)
    generator = torch.Generator().manual_seed(3)
    draw = {"generator": generator, "dtype": torch.float64}
    q, k, v = (torch.randn(*shape, **draw) for shape in ((QUERIES, 1024), (KEYS, 1024), (KEYS,)))
    q, k = q[:, :d_k], k[:, :d_k].clone().requires_grad_()
    scores = q @ k.T / divisor / 2.0
    weights = F.softmax(scores[0], dim=-1)
    (weights @ v).backward()
    jacobian = torch.autograd.functional.jacobian(lambda s: F.softmax(s, dim=-1), scores[0])
    assert torch.allclose(seen.scores, scores.flatten())
    assert torch.allclose(seen.weights, weights)
    assert torch.allclose(seen.gradients, k.grad.norm(dim=-1))
    assert seen.norm == pytest.approx(jacobian.norm().item())
    entropy = torch.distributions.Categorical(probs=weights).entropy().item()
    assert seen.entropy == pytest.approx(entropy)


@pytest.mark.parametrize("causal", [False, True])
def test_the_masked_attention_is_torchs(causal):
    scale = SHARP / X.shape[-1] ** 0.5
    expected = F.scaled_dot_product_attention(X, X, X, is_causal=causal, scale=scale)
    found, _ = masked_attention(X, "before" if causal else "none")
    assert torch.allclose(found, expected, atol=1e-6)


def test_wrong_masks_are_wrong_in_the_way_they_say():
    sums = {mask: masked_attention(X, mask)[1].sum(dim=-1) for mask in MASKS}
    for mask in ("none", "before", "zeros"):
        assert torch.allclose(sums[mask], torch.ones(6))
    assert (sums["after"][:-1] < 1).all()
    assert masked_attention(X, "zeros")[1].triu(1).count_nonzero() == 15
    assert masked_attention(X, "after")[1].triu(1).count_nonzero() == 0
    assert torch.allclose(masked_attention(X, "queries")[1].sum(dim=-2), torch.ones(6))


@pytest.mark.parametrize("changed", range(6))
def test_only_the_mask_before_the_softmax_hides_a_change_from_the_past(changed):
    for mask in MASKS:
        reached = see(X, changed, mask).moved > 1e-5
        assert reached[changed:].all()
        if changed and mask != "none":
            assert reached[:changed].any() == (mask != "before")


def test_no_change_reaches_no_output():
    assert not see(X, -1, "none").moved.any()


def test_every_place_has_a_vector_of_its_own():
    for width in (1, 3, 8):
        table_of_places = positions(8, width)
        assert len(torch.unique(table_of_places, dim=0)) == 8


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 12])
def test_the_heads_are_those_of_torchs_own_layer(n_heads):
    W_q, W_k = random_matrices(12, seed=1)
    layer = nn.MultiheadAttention(12, n_heads, bias=False, batch_first=True)
    layer.in_proj_weight.data[:24] = torch.cat([W_q.T, W_k.T])
    _, expected = layer(WIDE, WIDE, WIDE, average_attn_weights=False)
    assert torch.allclose(head_weights(WIDE, W_q, W_k, n_heads), expected, atol=1e-5)


def test_given_matrices_are_used():
    shown = explorer("heads", WIDE, TOKENS, 2, W_q=torch.eye(12), W_k=torch.eye(12))
    most = head_weights(WIDE, torch.eye(12), torch.eye(12), 2)[0].argmax(dim=-1)
    assert f"head 0: Your at {TOKENS[most[0]]}" in shown.alt
    assert "seed" not in shown.values


@pytest.mark.parametrize(("value", "end"), [(0.2, 0.2), (0.21, 0.5), (3.2, 5), (7, 10), (60, 100)])
def test_an_axis_ends_at_a_round_number(value, end):
    assert round_up(value) == pytest.approx(end)


# The learner's own function


def own_of_x(x):
    weights = torch.eye(len(x))
    return weights @ x, weights


def own_of_qkv(q, k, v):
    return own_of_x(v)


@pytest.mark.parametrize("own", [own_of_x, own_of_qkv, lambda x, scale=2: own_of_x(x)])
def test_ones_own_function_is_used_whether_it_takes_x_or_q_k_v(own):
    shown = explorer("which_token", X, TOKENS, own)
    assert "journey looks most at journey, with weight 1.00" in shown.status
    assert "picture uses" not in shown.status


def test_whoever_looks_at_all_tokens_alike_is_not_said_to_look_most_at_one():
    def even(x):
        weights = torch.full((len(x), len(x)), 1 / len(x))
        return weights @ x, weights

    shown = explorer("which_token", X, TOKENS, even)
    assert shown.status.startswith("journey looks at all tokens alike, with weight 0.17.")


def not_done(x):
    raise NotImplementedError


def raises(x):
    return x @ x


def changes_its_input(x):
    x.zero_()
    return own_of_x(x)


def prints(x):
    print("hello")
    return own_of_x(x)


BAD = {
    not_done: "Do the exercise `not_done` first",
    raises: "`raises` did not work",
    lambda x: None: "a NoneType came",
    lambda x: (x, x): r"should have shape (6, 6), but (6, 3) came",
    lambda x: (x * torch.nan, x @ x.T): "nan or inf came",
    lambda x: ([1], x @ x.T): "a list came",
    lambda a, b: a: "a function of x or of q, k, v",
    3: "a function of x or of q, k, v",
}


@pytest.mark.parametrize("own", BAD, ids=range(len(BAD)))
def test_a_function_that_does_not_work_is_said_so_and_the_picture_is_there(own, capsys):
    shown = explorer("which_token", X, TOKENS, own)
    assert BAD[own] in shown.status
    assert "the picture uses softmax(x @ x.T) @ x" in shown.status
    shown.values = {**shown.values, "query": 2}
    assert shown.status.startswith("starts looks most at")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("own", [changes_its_input, prints])
def test_what_else_a_function_does_stays_inside(own, capsys):
    x = X.clone()
    Asked(own)(x)
    assert torch.equal(x, X)
    assert capsys.readouterr() == ("", "")


def test_a_slow_function_is_asked_once_and_not_again(monkeypatch):
    calls, clock = [], iter([0.0, 9.0])
    monkeypatch.setattr("grader.widgets.asking.time.perf_counter", lambda: next(clock))
    asked = Asked(lambda x: (calls.append(1), own_of_x(x))[1])
    _, weights, note = asked(X)
    assert torch.equal(weights, torch.eye(6))
    assert "9.0 seconds" in note
    _, weights, note = asked(X)
    assert torch.equal(weights, plain_attention(X)[1])
    assert "9.0 seconds" in note
    assert len(calls) == 1


# The two forms


@pytest.fixture(scope="module")
def outputs():
    """What a kernel makes of each explorer, without a front end."""
    lines = [
        f"import torch\nfrom grader.widgets import *\ntokens = {TOKENS}\n"
        f"x, wide = torch.tensor({X.tolist()}), torch.tensor({WIDE.tolist()})",
        "which_token(x, tokens)",
        "scale_slider()",
        "order_and_masks(x, tokens)",
        "heads(wide, tokens)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line) for line in lines])
    done = NotebookClient(book, timeout=120, kernel_name="python3").execute()
    found = {name: done.cells[1 + place].outputs for place, name in enumerate(CALLS)}
    return {name: output for name, (output,) in found.items()}  # one output each


@each_explorer
def test_one_output_holds_the_live_form_a_picture_its_words_and_tables(outputs, name):
    data = outputs[name].data
    assert "application/vnd.jupyter.widget-view+json" in data
    page = BeautifulSoup(data["text/html"], "html.parser")
    assert page.img["alt"] == data["text/plain"]
    assert outputs[name].metadata["image/png"]["alt"] == data["text/plain"]
    assert len(data["text/plain"]) > 60
    assert "".join(data["image/png"].split()) in page.img["src"]
    tables = page.select("table")
    assert tables
    for each in tables:
        assert each.caption.text
        assert all(th["scope"] == "col" for th in each.select("thead th"))
        assert all(row.th["scope"] == "row" for row in each.select("tbody tr"))
        assert each.select("tbody td")


@each_explorer
def test_a_stored_explorer_is_small(outputs, name):
    assert len(json.dumps(outputs[name].data)) < 150_000


@each_explorer
def test_the_still_form_is_all_that_is_saved(outputs, name):
    data = dict(outputs[name].data)
    model = {"type": "notebook", "content": {"cells": [{"outputs": [{"data": data}]}]}}
    before_saving(model=model, path="lesson.ipynb", contents_manager=None)
    assert set(data) == {"text/plain", "text/html", "image/png"}


def test_a_jupyter_of_the_course_saves_notebooks_so():
    name = "grader/runtime/config/attention-course.json"
    modules = json.loads((ROOT / name).read_text())["ServerApp"]["jpserver_extensions"]
    assert "grader.runtime.saving" in modules
    for module in modules:
        assert import_module(module)._jupyter_server_extension_points() == [{"module": module}]
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    where = targets["targets"]["wheel"]["shared-data"][name]
    assert where.startswith("etc/jupyter/jupyter_server_config.d/")


def test_an_output_that_has_only_a_widget_is_left_alone():
    lonely = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "Slider"}
    still({"cells": [{"outputs": [{"data": lonely}]}, {"source": "text"}]})
    assert len(lonely) == 2


@each_explorer
def test_every_control_changes_the_picture_or_the_words(name):
    shown = explorer(name)
    for control in shown.controls:
        before = shown.png, shown.alt, shown.tables
        value = shown.values[control["name"]]
        shown.values = {**shown.values, control["name"]: other_value(control, value)}
        assert (shown.png, shown.alt, shown.tables) != before, control["name"]


@each_explorer
def test_moved_there_and_back_everything_is_as_before(name):
    shown = explorer(name)
    first, values = (shown.png, shown.alt, shown.status, shown.tables), shown.values
    control = shown.controls[-1]
    moved = other_value(control, values[control["name"]])
    shown.values = {**values, control["name"]: moved}
    shown.values = values
    assert (shown.png, shown.alt, shown.status, shown.tables) == first


@each_explorer
def test_what_is_moved_is_drawn_as_a_fresh_picture_would_be(name):
    """What is drawn on top of the ground leaves nothing of the picture before."""
    shown = explorer(name)
    control = shown.controls[0]
    value = other_value(control, shown.values[control["name"]])
    shown.values = {**shown.values, control["name"]: value}
    quick, whole = (
        np.asarray(Image.open(io.BytesIO(png)).convert("L"), dtype=float)
        for png in (shown.png, shown.stage.fine(ON_PAGE))
    )
    assert (np.abs(quick - whole) > 60).mean() < 0.002


@each_explorer
def test_the_ground_is_white(name):
    picture = Image.open(io.BytesIO(explorer(name).png))
    assert picture.mode == "RGB"
    assert picture.getpixel((0, 0)) == (255, 255, 255)


@each_explorer
def test_an_explorer_returns_nothing_and_prints_its_words_outside_a_notebook(name, capsys):
    assert getattr(widgets, name)(*CALLS[name]) is None
    said = capsys.readouterr()
    assert said.out == explorer(name).alt + "\n"
    assert said.err == ""


def test_an_empty_sentence_is_answered_and_the_picture_stays():
    shown = explorer("which_token")
    before = shown.png
    shown.values = {**shown.values, "sentence": "  "}
    assert shown.status == "Write at least one word."
    assert shown.png == before


def test_a_shorter_sentence_has_fewer_words_to_ask_for():
    shown = explorer("which_token")
    shown.values = {**shown.values, "query": 5, "sentence": "one step"}
    query = next(control for control in shown.controls if control["name"] == "query")
    assert query["options"] == [[0, "one"], [1, "step"]]
    assert shown.status.startswith("step looks")


def test_words_are_escaped_in_tables():
    assert "<b>" not in table("a <b>", ["<b>"], [("<b>", "<b>")])


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("which_token", (X, TOKENS[:5]), "tokens has 5 entries, but x has 6."),
        ("which_token", ([1, 2], TOKENS), "x should have 2 axes, but its shape is (2,)."),
        ("which_token", (torch.rand(9, 3), list("abcdefghi")), "its shape is (9, 3)."),
        ("order_and_masks", (X * torch.nan, TOKENS), "18 of 18 are nan or inf."),
        ("order_and_masks", (torch.rand(9, 3), list("abcdefghi")), "it has 9."),
        ("heads", (WIDE, TOKENS, 5), "n_heads should be one of 1, 2, 3, 4, 6, 12"),
        ("heads", (WIDE, TOKENS, 2, torch.eye(12)), "only one of them came."),
        ("heads", (WIDE, TOKENS, 2, torch.eye(3), torch.eye(12)), "its shape is (3, 3)."),
    ],
)
def test_a_mistake_in_the_call_is_one_line(name, arguments, said, capsys):
    getattr(widgets, name)(*arguments)
    line, error = capsys.readouterr()
    assert line.startswith(f"{name}: ")
    assert said in line
    assert line.count("\n") == 1
    assert error == ""


def test_in_the_cage_every_explorer_is_there_and_shows_nothing(capsys):
    names = {}
    exec((Path(course()) / "grader" / "widgets.py").read_text(), names)
    for name in widgets.__all__:
        assert names[name](*CALLS[name]) is None
    assert capsys.readouterr() == ("", "")


def test_heads_with_a_mask_give_nothing_to_later_tokens_and_share_out_the_rest():
    x, (W_q, W_k) = torch.randn(5, 6), torch.randn(2, 6, 6)
    open_, causal = (head_weights(x, W_q, W_k, 3, each) for each in (False, True))
    shares = open_.tril() / open_.tril().sum(dim=-1, keepdim=True)
    torch.testing.assert_close(causal, shares)
