"""From a key on a slider to the changed picture: in the kernel, and as seen in the browser.

    python -m benchmarks.sliders

In the kernel: a value arrives, the numbers are computed and the picture is drawn. In the browser,
a Chromium that shows JupyterLab: from the key to the moment when the picture has loaded. The
fastest of the runs says what a machine can do that is not busy with anything else.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import torch

from grader.widgets.heads import heads
from grader.widgets.order import order_and_masks
from grader.widgets.scale import scale_slider
from grader.widgets.tokens import which_token

TIMES = 40
TOKENS = ["Your", "journey", "starts", "with", "one", "step"]
X = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]
CALLS = {
    "which_token(x, tokens)": lambda: which_token.__wrapped__(X, TOKENS),
    "scale_slider()": lambda: scale_slider.__wrapped__(),
    "order_and_masks(x, tokens)": lambda: order_and_masks.__wrapped__(X, TOKENS),
    "heads(wide, tokens)": lambda: heads.__wrapped__(torch.randn(6, 8), TOKENS),
}
# From the key to the loaded picture, on the clock of the page.
WATCH = """number => {
    const root = document.querySelectorAll(".explorer")[number];
    const picture = root.querySelector("img");
    window.taken = null;
    root.addEventListener("keydown", () => {
        const start = performance.now();
        picture.addEventListener("load", () => {
            window.taken = performance.now() - start;
        }, { once: true });
    }, { once: true, capture: true });
}"""


def main() -> None:
    """Prints the milliseconds of every explorer."""
    torch.set_num_threads(1)
    for call, make in CALLS.items():
        report("kernel", call, in_the_kernel(make()))
    for call, taken in in_the_browser():
        report("browser", call, taken)


def report(where: str, call: str, seconds: list[float]) -> None:
    """One line."""
    best, middle, most = (1000 * f(seconds) for f in (min, statistics.median, max))
    times = f"median {middle:4.0f} ms, fastest {best:4.0f}, slowest {most:4.0f}"
    print(f"{where:8}{call:28} {times}", flush=True)


def in_the_kernel(explorer) -> list[float]:
    """Seconds for each value of the last control that has several, in turn."""
    control = [each for each in explorer.controls if each["kind"] in ("slider", "choice")][-1]
    values, taken = [value for value, _ in control["options"]], []
    for run in range(1, TIMES):  # the first of the values may be the one that it stands at
        moved = {**explorer.values, control["name"]: values[run % len(values)]}
        start = time.perf_counter()
        explorer.values = moved
        taken.append(time.perf_counter() - start)
    return taken


def in_the_browser():
    """(call, seconds) for each explorer that has a slider."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from lab import CHROMIUM, FLAGS, RUN_ALL_AND_SAVE, lab
    from playwright.sync_api import sync_playwright

    first = "import torch\nfrom grader.widgets import *\ntorch.set_num_threads(1)\n"
    first += f"x, wide, tokens = torch.tensor({X}), torch.randn(6, 8), {TOKENS}"
    lines = [first, *CALLS]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line) for line in lines])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        nbformat.write(book, Path(name) / "sliders.ipynb")
        with lab(Path(name)) as address:
            page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{address}/doc/tree/sliders.ipynb?token=t")
            page.wait_for_selector(".jp-Notebook .jp-Cell")
            page.evaluate(RUN_ALL_AND_SAVE)
            page.wait_for_function("document.querySelectorAll('.explorer img').length == 4")
            for number, call in enumerate(CALLS):
                sliders = page.locator(".explorer").nth(number).locator("input[type=range]")
                if sliders.count():
                    yield call, moved(page, number, sliders.first)


def moved(page, number: int, slider) -> list[float]:
    """Seconds from the arrow key to the picture, for steps to the left and to the right."""
    taken = []
    slider.focus()
    for run in range(TIMES):
        page.evaluate(WATCH, number)
        page.keyboard.press("ArrowRight" if run % 4 < 2 else "ArrowLeft")
        taken.append(page.wait_for_function("window.taken").json_value() / 1000)
    return taken


if __name__ == "__main__":
    main()
