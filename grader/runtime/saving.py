"""A Jupyter server that saves notebooks without the views of widgets.

A view says no more than a number in a kernel that is gone when the notebook is opened again, and
JupyterLab shows "Error displaying widget" in its place. Where an output has another form too, that
one is kept. The page that is open stays as it is.
"""

from grader.live import VIEW


def still(notebook: dict) -> None:
    """Take the view of a widget out of every output that can be shown without it.

    Example: an output of {VIEW: ..., "text/html": ...} keeps its "text/html".
    """
    for cell in notebook.get("cells", ()):
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if VIEW in data and "text/html" in data:
                del data[VIEW]


def before_saving(model: dict, **_) -> None:
    """What the server calls with what it is about to save."""
    if model.get("type") == "notebook" and model.get("content"):
        still(model["content"])


def still_outputs(notebook, resources: dict):
    """The same for nbconvert."""
    still(notebook)
    return notebook, resources


def _jupyter_server_extension_points() -> list[dict]:
    return [{"module": "grader.runtime.saving"}]


def _load_jupyter_server_extension(server) -> None:
    server.contents_manager.register_pre_save_hook(before_saving)
