"""`gpukit check`: exit codes, formats, and paths as a pipeline needs them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli import app

BAD = "region: us-east-1\npools:\n  train: {instance_type: p5en.48xlarge, nodes: 2, zones: [us-east-1b]}\n"
GOOD = """
region: us-east-1
limits: {L-417A185B: 1152, L-1216C47A: 256}
budget: {monthly_usd: 900000, notify: [team@example.com]}
pools:
  system: {role: system, instance_type: m7i.xlarge}
  train: {instance_type: p5en.48xlarge, nodes: 2, zones: [us-east-1a]}
"""


def _run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["check", *arguments, "--today", "2026-12-01"])
    return done.exit_code, done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Pulumi project in a subfolder of a checkout, with the current folder in it."""
    folder = tmp_path / "infra"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: research\nruntime: python\n", encoding="utf-8")
    stack = "config:\n  aws:region: us-east-1\n  gpukit:cluster:\n" + "".join(
        f"    {line}\n" for line in BAD.splitlines()[1:]
    )
    (folder / "Pulumi.dev.yaml").write_text(stack, encoding="utf-8")
    monkeypatch.chdir(folder)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(GOOD, 0, id="nothing-wrong"),
        pytest.param(BAD, 1, id="an-error"),
        pytest.param("pools: [", 2, id="unreadable"),
    ],
)
def test_the_exit_code_is_that_of_the_table(text: str, code: int, tmp_path: Path) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text(text, encoding="utf-8")

    assert _run(str(file))[0] == code


def test_a_stack_without_findings_says_so(tmp_path: Path) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text(GOOD, encoding="utf-8")

    assert _run(str(file)) == (0, "no findings\n")


def test_a_stack_is_shown_by_its_path_from_here(project: Path) -> None:
    text = _run("--stack", "dev")[1]

    assert "at:   Pulumi.dev.yaml:5:" in text


def test_annotations_and_sarif_name_files_from_the_checkout(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project))
    log = json.loads(_run("--stack", "dev", "--format", "sarif")[1])
    files = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in log["runs"][0]["results"]
    }

    assert files == {"infra/Pulumi.dev.yaml"}
    assert "file=infra/Pulumi.dev.yaml,line=5" in _run("--stack", "dev", "--format", "github")[1]


def test_json_and_the_json_format_are_the_same(project: Path) -> None:
    assert _run("--stack", "dev", "--json") == _run("--stack", "dev", "--format", "json")


@pytest.mark.parametrize(
    "content", ["no json", "[1]", '{"limits": {"L-417A185B": "many"}}', '{"limits": {"L-417A185B": true}}']
)
def test_limits_that_are_none_are_refused_in_words(content: str, project: Path) -> None:
    file = project / "limits.json"
    file.write_text(content, encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--stack", "dev", "--limits", str(file)])

    assert done.exit_code == 2
    assert "gpukit preflight --json" in done.stderr


def test_limits_from_a_file_decide_what_was_unknown(project: Path) -> None:
    file = project / "limits.json"
    file.write_text(json.dumps({"limits": {"L-417A185B": 200}}), encoding="utf-8")
    before = {item["code"] for item in json.loads(_run("--stack", "dev", "--json")[1])["findings"]}
    after = {
        item["code"] for item in json.loads(_run("--stack", "dev", "--json", "--limits", str(file))[1])["findings"]
    }

    assert ("GK2042" in before, "GK2040" in before) == (True, False)
    assert ("GK2042" in after, "GK2040" in after) == (False, True)
