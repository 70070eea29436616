"""The course opens elsewhere too, and every way to it is written the same everywhere."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from urllib.parse import urlsplit

import pytest
from lab import ROOT, RUN_ALL_AND_SAVE, keep_picture, serving

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME = urlsplit(PROJECT["urls"]["Repository"]).path.strip("/")  # OWNER/REPO
LESSONS = sorted((ROOT / "notebooks").glob("*/*.ipynb"))
DOORS = (ROOT / "docs/doors.md").read_text(encoding="utf-8")
# What only instructors use, or nobody needs who has a kernel already.
BEYOND_LEARNERS = """babel cryptography dask distributed jupyter_server jupyterlab nbclient
nbconvert nbformat nbgrader nbval psutil rich rxnmapper sqlalchemy""".split()


def written():
    """Every text of the checkout that git would keep, with its path."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if name.endswith((".cff", ".html", ".ipynb", ".md", ".py", ".toml", ".yml")):
            path = ROOT / name
            if path.exists():
                yield name, path.read_text(encoding="utf-8")


def imports(path):
    """The cells of a lesson that import, up to the one that imports the grader."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    last = next(i for i, source in enumerate(sources) if "from grader import check" in source)
    return "\n".join(sources[: last + 1])


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=300
    )


def test_every_link_to_the_project_goes_to_its_home():
    owner, name = HOME.split("/")
    found = 0
    for path, text in written():
        elsewhere = re.findall(rf"github\.com/([\w.-]+/{PROJECT['name']})\b", text)
        elsewhere += re.findall(r"mybinder\.org/v2/gh/([\w.-]+/[\w.-]+)", text)
        elsewhere += re.findall(r"colab\.research\.google\.com/github/([\w.-]+/[\w.-]+)", text)
        assert set(elsewhere) <= {HOME}, path
        pages = re.findall(rf"//([\w-]+)\.github\.io/{PROJECT['name']}", text)
        assert set(pages) <= {owner}, path
        found += len(elsewhere)
    assert found > 2 * len(LESSONS)
    assert PROJECT["urls"]["Documentation"] == f"https://{owner}.github.io/{name}/"
    assert all(HOME in url or url.endswith(f"{name}/") for url in PROJECT["urls"].values())


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.parent.name)
def test_every_lesson_has_its_links(path):
    file = path.relative_to(ROOT).as_posix()
    assert f"(https://mybinder.org/v2/gh/{HOME}/main?urlpath=lab/tree/{file})" in DOORS
    assert f"(https://colab.research.google.com/github/{HOME}/blob/main/{file})" in DOORS
    for place in (file, file.replace("notebooks", "solutions")):
        assert f"(../{place})" in DOORS
        assert (ROOT / place).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="repo2docker does not run on Windows")
def test_binder_takes_the_environment_and_then_installs_the_course():
    command = [shutil.which("jupyter-repo2docker", path=f"{sys.exec_prefix}/bin")]
    made = subprocess.run([*command, "--no-build", "--debug", ROOT], capture_output=True, text=True)
    steps = made.stdout + made.stderr
    assert made.returncode == 0, steps[-2000:]
    in_order = ["src/environment.yml", '--file "environment.yml"', "COPY --chown=0:0 src/ "]
    places = [steps.index(step) for step in [*in_order, "RUN ./postBuild"]]
    assert places == sorted(places)
    # what the Makefile installs beside the packages of environment.yml, but for the tests
    (line,) = re.findall(r"-m (pip install .* -e \. .*)", (ROOT / "Makefile").read_text())
    wanted = set(line.split()) - {"axe-playwright-python"}
    (installed,) = re.findall(r"-m (pip install .*)", (ROOT / "postBuild").read_text())
    assert set(installed.split()) == wanted


def test_where_the_course_is_not_installed_the_error_shows_what_to_run():
    (line,) = re.findall(r"^    (%pip install .*)$", DOORS, re.MULTILINE)
    assert line.split()[-1] == f"git+{PROJECT['urls']['Repository']}"
    for path in LESSONS:
        assert f"# {line}\nfrom grader import check\n" in imports(path), path
    printed = run(
        "import sys; sys.modules['grader'] = None\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.instance().run_cell(sys.argv[1])",
        imports(LESSONS[0]),
    ).stdout
    words = re.sub(r"\x1b\[[\d;]*m", "", printed)  # the traceback has colours
    assert "ModuleNotFoundError" in words
    assert line in words


def test_a_learner_needs_nothing_that_only_instructors_use():
    printed = run(
        "import sys; sys.modules |= dict.fromkeys(sys.argv[1].split())\n"
        "for cell in sys.argv[2:]: exec(cell)\n"
        "predict('x', 'Which?', ['a', 'b'])\n"
        "heatmap(torch.eye(2), title='I')\n"
        "print(check('average', lambda x: x.mean(-2, keepdim=True).expand_as(x) * 1))",
        " ".join(BEYOND_LEARNERS),
        *map(imports, LESSONS),
        "from grader.figures import heatmap",
    )
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.splitlines()[-1] == "1.0"


def test_jupyter_notebook_does_what_jupyterlab_does(tmp_path, browser):
    shutil.copy(LESSONS[0], tmp_path)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    command = [sys.executable, "-m", "notebook", "--JupyterNotebookApp.expose_app_in_browser=True"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        command.append("--allow-root")
    with serving(tmp_path, lambda flags: [*command, *flags]) as address:
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{address}/notebooks/{LESSONS[0].name}?token=t")
        page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.sessionContext")
        page.evaluate(RUN_ALL_AND_SAVE)
        page.get_by_text("The line raise NotImplementedError is still there").first.wait_for()
        page.get_by_role("button", name="Keep this answer").first.wait_for()
        keep_picture(page, "jupyter-notebook")
        page.get_by_role("button", name="Validate").click()
        page.locator(".jp-Dialog").get_by_text('check("average", average)').wait_for()
        page.close()
