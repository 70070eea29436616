"""The static site. `make site` lays lessons, solved lessons and docs out in one folder for it."""

import re
import tomllib
from functools import partial
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

root = Path(__file__).parents[2]
home = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]

project = "Self-attention"
copyright = "the attention-course authors. Text and figures: CC BY 4.0. Code: BSD-3-Clause."
language = "en"
extensions = ["myst_nb"]
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["course.css"]

# Notebooks are shown with the outputs that are stored in them: nothing is run, and no page asks
# another site for anything.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = project
html_show_search_summary = False  # it would read pages, which a browser forbids without a server
html_sourcelink_suffix = ""  # a notebook's source is what a reader downloads
html_context = {
    "repository": home["Repository"].removeprefix("https://github.com/"),
    "default_mode": "auto",  # light or dark, as the reader's machine is
}
html_theme_options = {
    "github_url": home["Repository"],
    "navbar_align": "left",
    "article_header_end": ["doors"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_end": [],
}


def mathml(writer, node, **display):
    """`$x^2$` -> MathML, which browsers set by themselves: no script, and nothing to load."""
    formula = node.astext().replace(r"\dots", r"\ldots")  # docutils knows the second alone
    writer.body.append(tex2mathml(formula, **display))
    raise SkipNode


def for_readers(app, pagename, templatename, context, doctree):
    """`href='a.ipynb'` in a stored output -> `href='a.html'`; links in text are Sphinx's affair.

    The marks where nbgrader cuts solutions out are left to the notebook that can be downloaded.
    """
    if "body" in context:
        body = re.sub(r"(href='[^':]*)\.ipynb'", r"\1.html'", context["body"])
        context["body"] = re.sub(r" *<span[^>]*>### (BEGIN|END) SOLUTION</span>\n", "", body)


def setup(app):
    block = partial(mathml, as_block=True)
    app.add_html_math_renderer("mathml", (mathml, None), (block, None))
    app.connect("html-page-context", for_readers)
