"""docs/deploy.md and its files say the same, and can be read by what reads them."""

import configparser
import json
import re
import sys
from pathlib import Path, PurePosixPath

import yaml

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "docs/deploy"
GUIDE = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
# the parts of zero-to-jupyterhub's chart, and of its `singleuser` what is used here
CHART = {"hub", "proxy", "singleuser"}
SERVERS = {
    "cmd", "cpu", "defaultUrl", "extraEnv", "image", "memory", "networkPolicy", "profileList",
    "storage",
}  # fmt: skip


def test_the_guide_says_what_each_file_is_for():
    for path in DEPLOY.iterdir():
        assert f"docs/deploy/{path.name}" in GUIDE


def test_the_service_starts_the_hub_with_the_file_that_the_guide_puts_there():
    service = configparser.ConfigParser()
    service.read(DEPLOY / "jupyterhub.service")
    program, option, config = map(PurePosixPath, service["Service"]["ExecStart"].split())
    assert str(option) == "--config"
    assert f"cp docs/deploy/{config.name} {config.parent}/" in GUIDE
    assert f"python3 -m venv {program.parents[1]}" in GUIDE


def test_what_is_taken_out_of_jupyterlab_is_there_without_it():
    off = json.loads((DEPLOY / "jupyter/labconfig/page_config.json").read_text())
    scripts = [*Path(sys.prefix).glob("share/jupyter/lab*/**/static/*.js")]
    text = "".join(path.read_text(encoding="utf-8") for path in scripts)
    for name in off["disabledExtensions"]:
        assert f'"{name}"' in text, name


def test_the_proxy_is_the_one_that_the_tests_run():
    version = r"configurable-http-proxy@[\d.]+"
    assert re.findall(version, GUIDE) == re.findall(version, (ROOT / "Makefile").read_text())


def test_the_values_for_kubernetes_can_be_read_and_name_parts_of_the_chart():
    values = yaml.safe_load((DEPLOY / "values.yaml").read_text(encoding="utf-8"))
    assert values.keys() == CHART
    assert values["singleuser"].keys() == SERVERS
    mounted = {mount["name"] for mount in values["singleuser"]["storage"]["extraVolumeMounts"]}
    assert mounted == {volume["name"] for volume in values["singleuser"]["storage"]["extraVolumes"]}


def test_the_guide_says_that_the_part_on_kubernetes_was_not_run():
    kubernetes = GUIDE.partition("## Kubernetes")[2].strip()
    assert kubernetes.startswith("**None of this section has been run.**")
