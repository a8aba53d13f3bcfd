"""Shipped templates are valid `pulumi new` templates and become projects that plan and check."""

import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from gpukit.cli import app as gpukit
from gpukit.cli.new import app
from gpukit.projects.sources import shipped_folder, shipped_names

TEMPLATES = ("gpu-existing-cluster", "gpu-multi-node", "gpu-single-node", "gpu-thousand-card")


def new(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_these_templates_are_shipped() -> None:
    assert shipped_names() == TEMPLATES


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_what_pulumi_new_expects(name: str) -> None:
    folder = shipped_folder() / name
    project = yaml.safe_load((folder / "Pulumi.yaml").read_text())

    assert project["name"] == "${PROJECT}"
    assert project["description"] == "${DESCRIPTION}"
    assert project["template"]["description"]
    assert project["runtime"]["name"] == "python"
    assert "deploy()" in (folder / "__main__.py").read_text()
    pins = [line for line in (folder / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert all("==" in line for line in pins)
    config = yaml.safe_load((folder / "Pulumi.dev.yaml").read_text())["config"]
    assert config.get("gpukit:preset") or config["gpukit:cluster"]["kind"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_project_keeps_no_mark_of_the_template(name: str, tmp_path: Path) -> None:
    result = new(str(tmp_path / "demo"), "--template", name, "--description", 'It is: "mine" ${x}')

    assert result.exit_code == 0, result.output
    project = yaml.safe_load((tmp_path / "demo" / "Pulumi.yaml").read_text())
    assert project == {
        "name": "demo",
        "description": 'It is: "mine" ${x}',
        "runtime": {"name": "python", "options": {"virtualenv": ".venv"}},
    }
    for file in (tmp_path / "demo").rglob("*"):
        if file.is_file() and ".gpukit" not in file.parts:
            assert "${PROJECT}" not in file.read_text()


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_project_has_a_plan_without_mistakes(name: str, tmp_path: Path, monkeypatch) -> None:
    new(str(tmp_path / "demo"), "--template", name)
    monkeypatch.chdir(tmp_path / "demo")
    result = CliRunner().invoke(gpukit, ["check", "--stack", "dev", "--json"])

    errors = [finding for finding in json.loads(result.stdout)["findings"] if finding["severity"] == "error"]
    assert errors == []
    assert result.exit_code == 0


def examples_in(text: str) -> list[list[int]]:
    """Return the commented examples of a stack file, each as the numbers of its lines: a key and what is below it."""
    found: list[list[int]] = []
    for number, line in enumerate(text.splitlines()):
        commented = re.fullmatch(r" +# ( *)[a-z_-]+:.*", line)
        if commented is None:
            continue
        if commented[1]:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def uncommented(text: str, lines: list[int]) -> str:
    return "\n".join(
        line.replace("# ", "", 1) if number in lines else line for number, line in enumerate(text.splitlines())
    )


EXAMPLES = [
    pytest.param(name, lines, id=f"{name}-{lines[0] + 1}")
    for name in TEMPLATES
    for text in [(shipped_folder() / name / "Pulumi.dev.yaml").read_text()]
    for lines in [*examples_in(text), [number for example in examples_in(text) for number in example]]
    if lines
]


@pytest.mark.parametrize(("name", "lines"), EXAMPLES)
def test_a_commented_example_and_all_of_them_together_hold_no_mistake(
    name: str, lines: list[int], tmp_path: Path, monkeypatch
) -> None:
    new(str(tmp_path / "demo"), "--template", name)
    monkeypatch.chdir(tmp_path / "demo")
    stack = Path("Pulumi.dev.yaml")
    before = yaml.safe_load(stack.read_text())
    stack.write_text(uncommented(stack.read_text(), lines))
    result = CliRunner().invoke(gpukit, ["check", "--stack", "dev", "--json"])

    assert yaml.safe_load(stack.read_text()) != before
    errors = [finding for finding in json.loads(result.stdout)["findings"] if finding["severity"] == "error"]
    assert errors == []
    assert result.exit_code == 0


def test_the_editor_schema_of_the_first_line_is_there(tmp_path: Path) -> None:
    new(str(tmp_path / "demo"))
    first = (tmp_path / "demo" / "Pulumi.dev.yaml").read_text().splitlines()[0]
    schema = re.fullmatch(r"# yaml-language-server: \$schema=(.+)", first)

    assert schema is not None
    assert json.loads((tmp_path / "demo" / schema[1]).read_text())["$defs"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--template", "gpu-multinode"], "did you mean `gpu-multi-node`", id="mistyped-template"),
        pytest.param(["--ci", "jenkins"], "there are github, gitlab", id="unknown-ci"),
        pytest.param(["--from", "ext::sh -c id"], "is neither a folder nor an address", id="command-as-address"),
        pytest.param(["--answer", "x"], "write NAME=VALUE", id="answer-without-value"),
        pytest.param(["--answer", "x=1"], "answers no question", id="answer-to-nothing"),
        pytest.param(["--description", "a\nb: c"], "line break", id="description-with-line-break"),
    ],
)
def test_bad_usage_is_said_and_writes_nothing(arguments: list[str], says: str, tmp_path: Path) -> None:
    result = new(str(tmp_path / "demo"), *arguments)

    assert result.exit_code == 2
    assert says in result.stderr
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("name", ["..", ".hidden", "a b", "x" * 200, "a;b"])
def test_a_bad_project_name_is_refused(name: str, tmp_path: Path) -> None:
    assert new(str(tmp_path / name)).exit_code == 2


def test_a_folder_with_content_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "mine.txt").write_text("mine")
    result = new(str(tmp_path / "demo"))

    assert result.exit_code == 2
    assert [file.name for file in (tmp_path / "demo").iterdir()] == ["mine.txt"]
