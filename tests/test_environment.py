"""The files that set the course up say the same, and the README says what they do."""

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from traitlets.config.loader import PyFileConfigLoader

ROOT = Path(__file__).resolve().parents[1]
# conda-forge's name, where it has another one than pip
CONDA_NAMES = {
    "torch": "pytorch-cpu",
    "playwright": "playwright-python",
    "jupyter-client": "jupyter_client",
    "jupyter-core": "jupyter_core",
    "dask": "dask-core",  # without arrays and data frames
}
PIP_ALONE = {"axe-playwright-python"}  # with conda, the Makefile asks pip for it


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def project():
    return tomllib.loads(text("pyproject.toml"))["project"]


def needed():
    """Every direct dependency with its range, for use and for the tests."""
    lines = [*project()["dependencies"], *chain(*project()["optional-dependencies"].values())]
    found = {canonicalize_name(r.name): r.specifier for r in map(Requirement, lines)}
    return {name: versions for name, versions in found.items() if name != project()["name"]}


def pinned():
    lines = [line for line in text("constraints.txt").splitlines() if not line.startswith("#")]
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, lines)}


def conda_packages():
    lines = yaml.safe_load(text("environment.yml"))["dependencies"]
    parts = [line.partition(" ") for line in lines]
    return {name: SpecifierSet(versions) for name, _, versions in parts}


def targets():
    return re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE)


def test_conda_and_pip_are_asked_for_the_same_packages_in_the_same_ranges():
    from_conda = {name: r for name, r in needed().items() if name not in PIP_ALONE}
    wanted = {CONDA_NAMES.get(name, name): versions for name, versions in from_conda.items()}
    wanted["python"] = SpecifierSet(project()["requires-python"])
    wanted["pip"] = SpecifierSet()  # installs the course itself into the conda environment
    assert conda_packages() == wanted


@pytest.mark.parametrize("name", PIP_ALONE)
def test_what_conda_lacks_the_makefile_takes_from_pip(name):
    assert name in needed()
    (line,) = [line for line in text("Makefile").splitlines() if "-e . " in line]
    assert f" {name} " in line
    assert "--no-deps" in line
    assert "-c constraints.txt" in line


def test_conda_takes_everything_from_conda_forge():
    assert yaml.safe_load(text("environment.yml"))["channels"] == ["conda-forge", "nodefaults"]


def test_every_constraint_is_one_version_that_every_machine_can_get():
    # not "+cpu" and the like: such builds are not everywhere
    for name, versions in pinned().items():
        assert re.fullmatch(r"==[\w.]+", str(versions)), name


def test_every_constraint_can_be_had_by_the_first_python_that_the_course_takes():
    # Debian 12 has 3.11.2; pip offers it nothing that asks for a later one
    (oldest,) = project()["requires-python"].split(">=")[1:]
    installed = {canonicalize_name(d.name): d for d in importlib.metadata.distributions()}
    for name, versions in pinned().items():
        if name in installed and versions.contains(installed[name].version):
            asked = installed[name].metadata.get("Requires-Python")
            assert SpecifierSet(asked or "").contains(f"{oldest}.0"), (name, asked)


@pytest.mark.parametrize("name", needed())
def test_every_direct_dependency_is_pinned_inside_its_range(name):
    (pin,) = pinned()[name]
    assert needed()[name].contains(pin.version)


def test_what_the_code_imports_is_asked_for_by_name_not_brought_along_by_chance():
    packages = importlib.metadata.packages_distributions()
    asked = {*needed(), project()["name"]}
    paths = chain(*((ROOT / part).rglob("*.py") for part in ("grader", "tests", "tools")))
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module]
            for name in names:
                bring = {canonicalize_name(one) for one in packages.get(name.partition(".")[0], ())}
                assert not bring or bring & asked, (path, name)


def test_the_trained_model_of_lesson_8_comes_with_either_way_to_set_up():
    lines = [
        line
        for line in text("Makefile").splitlines()
        if " rxnmapper " in line and "install" in line
    ]
    assert len(lines) == 2
    assert all("--no-deps" in line and "-c constraints.txt" in line for line in lines)
    assert "rxnmapper" in pinned()


def test_ruff_has_one_version_everywhere():
    (repo,) = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert str(needed()["ruff"]) == str(pinned()["ruff"]) == "==" + repo["rev"].removeprefix("v")
    # CI brings no ruff of its own, it runs `make lint`
    assert "make lint" in text(".ci/run")
    assert "ruff" not in text(".ci/run") + text(".github/workflows/test.yml")


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_make_help_lists_every_target():
    command = ["make", "--no-print-directory", "help"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"^make ([a-z-]+) +\S", printed.stdout, re.MULTILINE) == targets()


def test_every_make_command_of_the_readme_exists():
    commands = re.findall(
        r"(?:`|^    )make ([a-z -]+?)(?=`| *#|$)", text("README.md"), re.MULTILINE
    )
    assert commands
    assert {target for command in commands for target in command.split()} <= set(targets())


@pytest.mark.skipif(sys.platform == "win32", reason="it has no login shells")
@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/zsh", "", None])
def test_terminals_of_make_lab_are_no_login_shells_which_would_set_their_own_path(
    monkeypatch, shell
):
    monkeypatch.delenv("SHELL", raising=False)
    if shell is not None:
        monkeypatch.setenv("SHELL", shell)
    loader = PyFileConfigLoader("jupyter_server_config.py", path=str(ROOT / "tools/lab"))
    settings = loader.load_config().ServerApp.terminado_settings
    assert settings == {"shell_command": [shell or "sh"]}


def test_the_readme_starts_with_two_commands():
    start = text("README.md").split("## ")[1]
    assert re.findall(r"^    (make \w+)", start, re.MULTILINE) == ["make lab", "make test"]


def test_the_readme_has_a_line_for_every_folder():
    ignored = {line.strip("/") for line in text(".gitignore").splitlines()}
    folders = {
        path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")
    }
    assert set(re.findall(r"^- `(\w+)/`", text("README.md"), re.MULTILINE)) == folders - ignored


def test_the_readme_can_be_read_in_three_or_four_minutes():
    assert len(text("README.md").split()) <= 800
