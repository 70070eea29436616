"""The page that a learner gets back: their answers, what was found in them, and nothing that runs.

It is made from the record of the verdicts, not from the notebook that was run: what the code of a
submission displayed is not on it.
"""

from html import escape
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from grader.checks import exercise_of
from grader.classroom.display import plain_text
from grader.classroom.outcome import RECORDS, Outcome, load, place
from grader.report import as_html
from grader.translate import language, say

#: no script, no frame, nothing from elsewhere
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff }
[tabindex] { background: #f5f5f5; padding: 0 .6rem; overflow-x: auto }
pre { margin: 0; padding: .6rem 0 }
table { border-collapse: collapse } td, th { padding: 0 .5rem; text-align: right }
.comment { border-left: 4px solid #3b5b92; padding-left: .8rem }
"""
CODE = HtmlFormatter(style="bw")


class FeedbackPage(Exporter):
    """Set as the exporter of `nbgrader generate_feedback`."""

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any = None, **kwargs: Any
    ) -> tuple[str, Any]:
        notebook, resources = super().from_notebook_node(nb, resources, **kwargs)
        names = resources["nbgrader"]
        which = names["assignment"], names["student"], names["notebook"]
        outcome = load(place(Path(self.parent.coursedir.root) / RECORDS, *which))
        outcome = outcome or Outcome(*which, reason="There is no record of this submission.")
        score = f"(Score: {names['score']} / {names['max_score']})"
        return page(notebook, outcome, score), resources


def page(notebook: NotebookNode, outcome: Outcome, score: str) -> str:
    """One self-contained HTML page; whatever a learner wrote is escaped."""
    title = escape(f"{outcome.notebook}: {say('feedback')}")
    shown = say("(not graded)") if outcome.reason else score
    parts = [f"<h1>{escape(outcome.notebook)} <small>{escape(shown)}</small></h1>"]
    if outcome.reason:
        parts.append(f"<p>{escape(say(outcome.reason))}</p>")
        parts.append(f"<p>{escape(say('This costs nothing: it is not a score of zero.'))}</p>")
    if outcome.remarks:
        remarks = (plain_text(say(remark), 500) for remark in outcome.remarks)
        told = "".join(f"<li>{escape(remark)}</li>" for remark in remarks)
        parts.append(f"<h2>{escape(say('What to know about this run'))}</h2><ul>{told}</ul>")
    for cell in [] if outcome.reason else notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution"):
            parts.append(_answer(cell, mark))
        elif mark.get("grade") and (verdict := outcome.verdict(exercise_of(mark["grade_id"]))):
            parts.append(as_html(verdict, len(verdict.hints)))
    parts.append(f"<p>{escape(outcome.cage[:1].upper() + outcome.cage[1:])}.</p>")
    return (
        f'<!DOCTYPE html>\n<html lang="{language()}"><head>'
        f'<meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def _answer(cell: NotebookNode, mark: dict) -> str:
    source = plain_text(cell.source)
    if cell.cell_type == "code":
        shown = highlight(source, PythonLexer(), CODE)
    else:
        shown = f"<pre>{escape(source)}</pre>"
    comment = mark.get("comment") or ""
    said = f"<p class='comment'>{escape(comment)}</p>" if comment else ""
    return f"<h2>{escape(mark['grade_id'])}</h2><div tabindex='0'>{shown}</div>{said}"
