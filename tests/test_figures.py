"""What every figure owes its reader: the same words as the picture, and nothing left behind."""

import base64
import io
import itertools
import re
import warnings
from inspect import getmembers, isfunction

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from colours import EYES, contrast, hue, lightness
from matplotlib import colormaps
from matplotlib.figure import Figure
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from PIL import Image

from grader import figures, grade
from grader.figures.canvas import COLOURS, GREY
from grader.report import as_html
from grader.verdict import Verdict

WORDS = ["the", "cat", "sat"]
CALLS = {  # what a lesson would write; the notebook below runs these very lines
    "heatmap": "heatmap([[1, 0, 0], [0.3, 0.7, 0]], ['a', 'b<c'], title='Weights & \"words\"')",
    "heatmaps": "heatmaps({'one': [[0.5, 0.5]], 'two': [[-1, 2]]}, title='Two heads')",
    "bars": "bars({'scores': [2, 1], 'weights': [0.73, 0.27]}, ['the', 'cat'], 'Softmax')",
    "histogram": "histogram({'narrow': [1, 2, 3], 'wide': [[10, 20], [30, 50]]}, 'Spread')",
    "curves": "curves([1, 4, 16], {'a': [1, 2, 3], 'b': [3, 2, 1]}, 'Growth', logx=True)",
    "vectors": "vectors({'q': (2, 1), 'k': (1, 2), 'nothing': (0, 0)}, 'Angles')",
}
LOOKS = [
    "bars({n: [1, 2] for n in 'abcdefghijkl'})",
    "curves([1, 2], {n: [1, 2] for n in 'abcdefghijkl'})",
    "histogram({n: [1, 2] for n in 'abcdefghijkl'})",
]
GROUNDS = {"light": "#ffffff", "dark": "#111111"}  # --jp-layout-color0 in JupyterLab's own themes
each_eye = pytest.mark.parametrize("eye", EYES)
each_figure = pytest.mark.parametrize("name", [n for n, _ in getmembers(figures, isfunction)])


def run(call):
    return eval(f"figures.{call}")


@pytest.fixture
def drawn(monkeypatch):
    """The figures as they are when they are saved."""
    seen, save = [], Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *a, **k: (seen.append(self), save(self, *a, **k))[1]
    )
    return seen


@pytest.fixture(scope="module")
def notebook():
    lines = ["from grader import figures", *(f"figures.{call}" for call in CALLS.values())]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line) for line in lines])
    return NotebookClient(book, timeout=120, kernel_name="python3").execute()


@pytest.fixture
def output(notebook, name):
    (found,) = notebook.cells[1 + list(CALLS).index(name)].outputs  # one figure, no other output
    return found


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@each_figure
def test_the_alt_text_is_in_the_metadata_and_is_the_plain_text(output):
    assert len(output.data["text/plain"]) > 40
    assert output.metadata["image/png"]["alt"] == output.data["text/plain"]


def test_nbconvert_writes_the_alt_texts_into_the_page(notebook):
    page = BeautifulSoup(HTMLExporter().from_notebook_node(notebook)[0], "html.parser")
    plain = [output.data["text/plain"] for cell in notebook.cells for output in cell.outputs]
    assert [image["alt"] for image in page.find_all("img")] == plain
    assert len(plain) == len(CALLS)


@each_figure
def test_the_picture_in_the_page_is_the_png_of_the_output_and_is_small(output):
    assert "".join(output.data["image/png"].split()) in output.data["text/html"]
    assert len(output.data["text/html"]) < 70_000


@each_figure
def test_a_figure_returns_nothing_and_says_the_same_twice(name, capsys):
    assert run(CALLS[name]) is None
    first = capsys.readouterr()
    run(CALLS[name])
    assert capsys.readouterr() == first
    assert first.err == ""


@each_figure
def test_matplotlib_is_left_as_it_was_found(name):
    before = dict(matplotlib.rcParams)
    run(CALLS[name])
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == []


@each_figure
def test_a_learners_own_style_does_not_reach_the_figures(name, monkeypatch):
    pictures = []
    monkeypatch.setattr(figures.canvas, "show", lambda png, alt: pictures.append(png))
    run(CALLS[name])
    with plt.style.context("dark_background"), plt.rc_context({"font.size": 30}):
        run(CALLS[name])
    assert pictures[0] == pictures[1]


@each_figure
def test_the_ground_is_white_and_solid(name, monkeypatch, tmp_path):
    file = tmp_path / "figure.png"
    monkeypatch.setattr(figures.canvas, "show", lambda png, alt: file.write_bytes(png))
    run(CALLS[name])
    picture = Image.open(file)
    assert "transparency" not in picture.info
    assert picture.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


@each_figure
def test_every_letter_has_at_least_11_points(name, drawn):
    run(CALLS[name])
    found = drawn[0].findobj(matplotlib.text.Text)
    assert min(text.get_fontsize() for text in found if text.get_text()) >= 11


@each_figure
def test_an_alt_text_of_ones_own_replaces_ours(name, capsys):
    run(CALLS[name][:-1] + ", alt='What I see.')")
    assert capsys.readouterr().out == "What I see.\n"


@pytest.mark.parametrize(
    ("shape", "numbers"), [((8, 8), 64), ((1, 5), 5), ((9, 8), 0), ((8, 9), 0)]
)
def test_numbers_stand_in_the_cells_up_to_8_by_8(shape, numbers, drawn):
    figures.heatmap(torch.rand(shape))
    assert len(texts(drawn[0])) == numbers


def test_a_cell_shows_the_number_of_its_own_place(drawn):
    figures.heatmap([[0.1, 0.2], [0.3, 0.45]])
    places = {text.get_text(): text.get_position() for text in drawn[0].axes[0].texts}
    assert places == {
        "0.10": (0.5, 0.5),
        "0.20": (1.5, 0.5),
        "0.30": (0.5, 1.5),
        "0.45": (1.5, 1.5),
    }


@pytest.mark.parametrize(("count", "numbers"), [(12, 24), (13, 0)])
def test_bars_carry_their_values_up_to_24(count, numbers, drawn):
    figures.bars({"a": torch.rand(count), "b": torch.rand(count)})
    assert len(texts(drawn[0])) == numbers


def test_zero_is_the_middle_colour_only_when_something_is_negative(drawn):
    figures.heatmap([[-1.0, 4.0]])
    figures.heatmap([[1.0, 4.0]])
    limits = [figure.axes[0].collections[0].get_clim() for figure in drawn]
    assert limits == [(-4, 4), (0, 4)]


def test_heatmaps_share_one_scale(drawn):
    figures.heatmaps({"small": [[0.1]], "large": [[0.9]]})
    assert [axes.collections[0].get_clim() for axes in drawn[0].axes] == [(0, 0.9), (0, 0.9)]


def looks(axes):
    """(colour, what else sets a series apart) for each one."""
    bars = [(bar[0].get_facecolor(), bar[0].get_hatch()) for bar in axes.containers]
    lines = [(line.get_color(), line._dash_pattern, line.get_marker()) for line in axes.lines]
    return [(look[0], str(look[1:])) for look in bars or lines]


@pytest.mark.parametrize("call", LOOKS)
def test_five_series_differ_without_any_colour(call, drawn):
    run(call)
    assert len({other for _, other in looks(drawn[0].axes[0])[:5]}) == 5


@pytest.mark.parametrize("call", LOOKS)
def test_twelve_series_look_different(call, drawn):
    run(call)
    assert len(set(looks(drawn[0].axes[0]))) == 12


@each_eye
def test_the_colours_of_series_differ_in_lightness_for_every_eye(eye):
    values = [lightness(colour, eye) for colour in COLOURS]
    assert min(abs(a - b) for a, b in itertools.combinations(values, 2)) >= 10


@pytest.mark.parametrize("colour", [*COLOURS, GREY])
def test_what_is_drawn_stands_out_from_the_white_ground(colour):
    assert contrast(colour, "white") >= 3


@each_eye
def test_a_larger_number_is_a_lighter_cell_for_every_eye(eye):
    values = [lightness(colour, eye) for colour in colormaps["viridis"](np.linspace(0, 1, 64))]
    assert values == sorted(values)


@each_eye
def test_the_further_from_zero_the_darker_and_the_sign_is_seen_by_every_eye(eye):
    colours = colormaps["RdBu_r"](np.linspace(0, 1, 65))
    values = [lightness(colour, eye) for colour in colours]
    assert values[:33:4] == sorted(values[:33:4])
    assert values[32::4] == sorted(values[32::4], reverse=True)
    for below, above in zip(colours[:16], colours[:-17:-1], strict=True):
        assert np.linalg.norm(hue(below, eye) - hue(above, eye)) > 20


@pytest.mark.parametrize("low", [0, -1])
def test_numbers_in_cells_can_be_read_on_every_colour(low, drawn):
    figures.heatmap(torch.linspace(low, 1, 64).reshape(8, 8))
    (mesh,) = drawn[0].axes[0].collections
    grounds, numbers = mesh.get_facecolors(), drawn[0].axes[0].texts
    assert len(grounds) == len(numbers) == 64
    for ground, number in zip(grounds, numbers, strict=True):
        assert contrast(ground, number.get_color()) >= 4.5


@each_figure
def test_every_letter_outside_a_cell_has_a_contrast_of_4_5(name, drawn):
    run(CALLS[name])
    inside = {text for axes in drawn[0].axes if axes.collections for text in axes.texts}
    for text in set(drawn[0].findobj(matplotlib.text.Text)) - inside:
        assert contrast(text.get_color(), "white") >= 4.5


def test_a_large_matrix_has_an_edge_that_stands_out_from_the_page(drawn):
    figures.heatmap(torch.eye(20))
    for spine in drawn[0].axes[0].spines.values():
        assert spine.get_visible()
        assert contrast(spine.get_edgecolor(), "white") >= 3


def test_fewer_colours_in_the_file_leave_each_cell_its_own(monkeypatch, drawn):
    pictures = []
    monkeypatch.setattr(figures.canvas, "show", lambda png, alt: pictures.append(png))
    figures.heatmap(torch.linspace(-1, 1, 144).reshape(12, 12))
    picture = np.array(Image.open(io.BytesIO(pictures[0])).convert("RGB")) / 255
    kept = {tuple(colour) for row in picture for colour in row}
    for cell in drawn[0].axes[0].collections[0].get_facecolors():
        assert min(np.abs(np.array(colour) - cell[:3]).max() for colour in kept) < 0.02


@each_figure
def test_a_picture_is_sharp_at_200_percent(output):
    """It has two dots for every one that the page gives it, and never leaves the page."""
    (image,) = BeautifulSoup(output.data["text/html"], "html.parser").find_all("img")
    picture = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
    assert int(image["width"]) == output.metadata["image/png"]["width"] == picture.width // 2
    assert "max-width:100%" in image["style"]
    assert 200 < int(image["width"]) < 900


def test_the_legend_gives_the_variance_torch_gives(drawn):
    samples = torch.tensor([1.0, 2.0, 4.0, 9.0])
    figures.histogram({"scores": samples})
    label = drawn[0].axes[0].get_legend().get_texts()[0].get_text()
    assert label == f"scores (variance {samples.var().item():.3g})"


def test_nan_and_infinite_cells_are_written_and_counted(drawn, capsys):
    figures.heatmap([[float("nan"), 1.0], [-torch.inf, 2.0]])
    assert texts(drawn[0]) == ["nan", "1", "\N{MINUS SIGN}inf", "2"]
    said = capsys.readouterr().out
    assert "nan in 1 of 4 cells; -inf in 1 of 4 cells" in said
    assert "from 1 to 2, the largest in row 1, column 1" in said
    figures.heatmap(torch.full((9, 9), torch.nan))
    assert "nan in 81 of 81 cells" in capsys.readouterr().out


def test_the_words_name_the_largest_cell_and_the_first_of_equals(capsys):
    figures.heatmap([[0.1, 0.2, 0.1], [0.12345, 0.7, 0.1]], ["x", "y"], WORDS)
    assert "from 0.1 to 0.7, the largest in row 1 (y), column 1 (cat)." in capsys.readouterr().out
    figures.heatmap(torch.eye(3))
    assert "row 0, column 0, the first of 3" in capsys.readouterr().out


def test_rounding_noise_does_not_move_the_words(capsys):
    figures.heatmap([[1 / 3, 1 / 3 + 1e-9], [1e-12, 0.2]])
    figures.heatmap([[1 / 3 + 1e-9, 1 / 3], [-0.0, 0.2]])
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def test_a_dollar_or_an_underscore_in_a_word_is_only_a_letter(drawn):
    figures.bars({"d_k $x$": [1, 2]}, labels=["$5 or $6", "$\\frac"], title="$\\nothing$")
    assert drawn[0].axes[0].get_xticklabels()[0].get_text() == "$5 or $6"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_tensors_arrays_and_lists_are_read_alike(dtype, capsys):
    for matrix in (
        torch.eye(2, dtype=dtype),
        np.eye(2),
        [[1, 0], [0, 1]],
        list(torch.eye(2)),
        torch.eye(2) > 0,
    ):
        figures.heatmap(matrix)
    assert len(set(capsys.readouterr().out.splitlines())) == 1


def test_a_learners_tensor_is_not_changed():
    matrix = torch.randn(3, 3, requires_grad=True)
    before = matrix.detach().clone()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures.heatmap(matrix, WORDS, WORDS)
        figures.heatmaps({"a": matrix, "b": matrix.softmax(-1)})
        figures.bars({"a": matrix[0]})
        figures.histogram({"a": matrix})
        figures.curves(matrix[0], {"a": matrix[1]})
        figures.vectors({"a": matrix[0, :2], "b": (matrix[1, 0], matrix[1, 1])})
    assert torch.equal(matrix, before)
    assert matrix.requires_grad
    assert matrix.grad is None


@pytest.mark.parametrize(
    ("call", "came", "expected"),
    [
        ("heatmap([[1, 2]], rows=['a', 'b'])", "2 entries", "has 1"),
        ("heatmap([[1, 2]], columns=['a'])", "1 entry", "has 2"),
        ("heatmap([1, 2])", r"shape is \(2,\)", "2 axes"),
        ("heatmap([])", r"shape is \(0,\)", "2 axes"),
        ("heatmap(torch.zeros(0, 3))", r"shape is \(0, 3\)", "at least one number"),
        ("heatmap([[1, 2], [3]])", "differ", "rows of one length"),
        ("heatmap([['a', 'b']])", "list of something else", "real numbers"),
        ("heatmap(None)", "NoneType", "real numbers"),
        ("heatmaps([[1, 2]])", "a list came", "dict"),
        ("heatmaps({})", "an empty one came", "dict"),
        ("bars({'a': [1, 2], 'b': [1]})", "'b' has 1", "has 2"),
        ("bars({'a': [[1, 2]]})", r"shape is \(1, 2\)", "1 axis"),
        ("bars({'a': [1, 2]}, labels=['x'])", "labels has 1", "has 2"),
        ("bars({'a': [1, float('nan')]})", "1 of 2", "finite"),
        ("histogram({'a': [1]})", "1 sample", "at least 2"),
        ("histogram({'a': [1, float('nan')]})", "1 of 2", "finite"),
        ("curves([1, 2, 3], {'a': [1, 2]})", "'a' has 2", "x has 3"),
        ("curves([0, 1], {'a': [1, 2]}, logx=True)", "x goes down to 0", "above 0"),
        ("curves([1, 2], {'a': [1, -2]}, logy=True)", "'a' goes down to -2", "above 0"),
        ("curves([1, 2], {'a': [1, float('inf')]})", "1 of 2", "finite"),
        ("vectors({'a': (1, 2, 3)})", "'a' has 3", "has 2"),
        ("vectors({'a': (1, float('nan'))})", "1 of 2", "finite"),
    ],
)
def test_bad_input_is_one_sentence_with_what_came_and_what_is_expected(call, came, expected):
    with pytest.raises(ValueError, match=came) as error:
        run(call)
    message = str(error.value)
    assert expected in message
    assert message.startswith(call.split("(")[0])
    assert message.endswith(".")
    assert "\n" not in message


def test_a_report_sets_no_colour_of_letters_or_ground():
    """They are the theme's, so it can be read in a dark one."""
    page = BeautifulSoup(as_html(grade("mix", lambda weights, x: x), 4), "html.parser")
    styles = [tag["style"] for tag in page.find_all(style=True)]
    assert styles
    assert not [s for s in styles if re.search(r"(^|;|\s)(color|background)", s)]
    assert not page.find_all(["font", "style"])


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize(
    "verdict",
    [
        Verdict("mix", 2.0, 2.0),
        Verdict("mix", 0.0, 2.0, message="Not done yet."),
        Verdict("mix", 0.0, 2.0, message="What we see: x"),
    ],
)
def test_the_edge_of_a_report_stands_out_in_both_themes(verdict, ground):
    (edge,) = re.findall(r"solid (#\w+)", as_html(verdict))
    assert contrast(edge, ground) >= 3
