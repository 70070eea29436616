"""One output with two forms: buttons where a front end can show them, plain words elsewhere."""

from collections.abc import Callable
from html import escape

from IPython import get_ipython
from IPython.display import display

VIEW = "application/vnd.jupyter.widget-view+json"


def show(text: str, html: str, widget: Callable[[], object] | None = None) -> None:
    """Display one bundle: text, HTML, and the view of a widget where a kernel can run it.

    Example: `show("1 or 2?", "<p>1 or 2?</p>", lambda: ipywidgets.Button())`
    """
    shell = get_ipython()
    if shell is None:
        print(text)
        return
    content = {"text/plain": text, "text/html": html}
    if widget and hasattr(shell, "kernel"):
        view = {"version_major": 2, "version_minor": 0, "model_id": widget().model_id}
        content[VIEW] = view
    display(content, raw=True)


def announced(html: str) -> str:
    """HTML that a screen reader reads out when it is put on the page."""
    return f"<div role='alert'>{html}</div>" if html else ""


def marked_up(text: str) -> str:
    """`marked_up("is `x` > 1?")` -> "is <code>x</code> &gt; 1?" """
    parts = escape(text, quote=False).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
