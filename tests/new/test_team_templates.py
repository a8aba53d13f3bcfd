"""A platform team's template: questions, limits that only tighten, and updates that lose nothing."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from gpukit.cli.new import app
from gpukit.projects.limits import OrgLimits, check_plan_limits, loosened, tighten

MANIFEST = """
name: research
version: "1"
description: Clusters for research
questions:
  - {name: team, question: "Which team pays?", pattern: "[a-z][a-z0-9-]*"}
  - {name: nodes, type: integer, default: 2, minimum: 1, maximum: 8}
  - {name: kind, type: choice, choices: [p5.48xlarge, g6e.12xlarge], default: p5.48xlarge}
  - {name: public, type: boolean, default: false}
limits:
  instance_types: [p5.48xlarge, g6e.12xlarge]
  max_gpus: 64
  required_tags: [cost-center]
"""
STACK = """config:
  aws:region: us-east-1
  gpukit:preset: multi-node
  gpukit:cluster:
    team: [[ team | yaml ]]
    pools:
      train: {nodes: [[ nodes ]], instance_type: [[ kind ]]}
"""
WORKFLOW = """on: push
[% if public %]
# public
[% endif %]
run: echo ${{ github.ref }} {{ helm }}
"""


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments], cwd=folder, check=True,
                   capture_output=True)  # fmt: skip


@pytest.fixture
def template(tmp_path: Path) -> Path:
    folder = tmp_path / "template"
    (folder / "docs").mkdir(parents=True)
    (folder / "gpukit-template.yaml").write_text(MANIFEST)
    (folder / "Pulumi.dev.yaml.j2").write_text(STACK)
    (folder / "workflow.yml.j2").write_text(WORKFLOW)
    (folder / "docs" / "[[ team ]].md").write_text("of the team [[ not rendered ]]\n")
    (folder / "run.sh").write_text("#!/bin/sh\necho one\necho two\necho three\n")
    (folder / "run.sh").chmod(0o755)
    return folder


def new(*arguments: str | Path, code: int = 0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def make(tmp_path: Path, template: Path | str, *arguments: str, team: str = "vision") -> Path:
    new(tmp_path / "demo", "--from", template, "--answer", f"team={team}", *arguments)
    return tmp_path / "demo"


def test_answers_fill_files_and_names_and_leave_other_marks_alone(tmp_path: Path, template: Path) -> None:
    demo = make(tmp_path, template, "--answer", "nodes=4")

    config = yaml.safe_load((demo / "Pulumi.dev.yaml").read_text())["config"]
    assert config["gpukit:cluster"] == {
        "team": "vision",
        "pools": {"train": {"nodes": 4, "instance_type": "p5.48xlarge"}},
    }
    assert (demo / "workflow.yml").read_text() == "on: push\nrun: echo ${{ github.ref }} {{ helm }}\n"
    assert (demo / "docs" / "vision.md").read_text() == "of the team [[ not rendered ]]\n"
    assert (demo / "run.sh").stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        pytest.param({}, "`team` has no answer: Which team pays?", id="missing"),
        pytest.param({"team": "Vision!"}, "`Vision!` does not match", id="pattern"),
        pytest.param({"team": "a\nb: c"}, "line break", id="yaml-injection"),
        pytest.param({"team": "a", "nodes": 9}, "9 is over the largest allowed, 8", id="too-large"),
        pytest.param({"team": "a", "nodes": "many"}, "`many` is no whole number", id="no-number"),
        pytest.param({"team": "a", "nodes": True}, "`True` is no whole number", id="boolean-as-number"),
        pytest.param({"team": "a", "kind": "p5.48xlarg"}, "did you mean `p5.48xlarge`", id="choice"),
        pytest.param({"team": "a", "public": "maybe"}, "neither yes nor no", id="boolean"),
        pytest.param({"team": "a", "node": 3}, "`node` answers no question; did you mean `nodes`", id="unknown"),
    ],
)
def test_answers_that_do_not_fit_are_told(answers, says: str, tmp_path: Path, template: Path) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(yaml.safe_dump(answers))
    result = new(tmp_path / "demo", "--from", template, "--answers", file, code=2)

    assert says in result.stderr
    assert not (tmp_path / "demo").exists()


def test_all_wrong_answers_are_told_together(tmp_path: Path, template: Path) -> None:
    result = new(tmp_path / "demo", "--from", template, "--answer", "nodes=99", "--answer", "public=x", code=2)

    assert result.stderr.count("\n  `") == 3


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        pytest.param("a.txt.j2", "[[ nobody_knows ]]", "a.txt.j2: 'nobody_knows' is undefined", id="unknown-name"),
        pytest.param("a.txt.j2", "one\n[% if %]", "a.txt.j2:2", id="syntax-with-line"),
        pytest.param("a.txt.j2", "[[ ''.__class__.__mro__ ]]", "a.txt.j2: access to attribute", id="escape-attempt"),
        pytest.param(
            "gpukit-template.yaml", MANIFEST + "limit: {}\n", "limit: Extra inputs are not permitted", id="key"
        ),
        pytest.param("gpukit-template.yaml", "name: x\n", "version: Field required", id="no-version"),
    ],
)
def test_a_broken_template_is_told_and_writes_nothing(
    file: str, text: str, says: str, tmp_path: Path, template: Path
) -> None:
    (template / file).write_text(text)
    result = new(tmp_path / "demo", "--from", template, "--answer", "team=a", code=2)

    assert says in result.stderr
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("answer", ["../../out", "/etc/x", "..", ".git/hooks/pre-commit", "a:b"])
def test_an_answer_cannot_lead_a_file_out_of_the_project(answer: str, tmp_path: Path, template: Path) -> None:
    (template / "[[ place ]]").write_text("x")
    (template / "gpukit-template.yaml").write_text(MANIFEST.replace("questions:", "questions:\n  - {name: place}"))
    result = new(tmp_path / "demo", "--from", template, "--answer", "team=a", "--answer", f"place={answer}", code=2)

    assert "is not inside the project" in result.stderr
    assert not (tmp_path / "demo").exists()


def test_a_link_in_a_template_is_refused(tmp_path: Path, template: Path) -> None:
    (template / "secrets").symlink_to("/etc/passwd")
    result = new(tmp_path / "demo", "--from", template, "--answer", "team=a", code=2)

    assert "secrets is a link" in result.stderr


def test_limits_are_written_into_the_project(tmp_path: Path, template: Path) -> None:
    demo = make(tmp_path, template)

    assert yaml.safe_load((demo / ".gpukit" / "limits.yaml").read_text()) == {
        "instance_types": ["g6e.12xlarge", "p5.48xlarge"], "max_gpus": 64, "required_tags": ["cost-center"],
    }  # fmt: skip


def test_a_template_over_another_tightens_and_never_loosens(tmp_path: Path, template: Path) -> None:
    organisation = tmp_path / "organisation"
    organisation.mkdir()
    (organisation / "gpukit-template.yaml").write_text(
        "name: org\nversion: '1'\nlimits: {max_gpus: 32, regions: [us-east-1], instance_types: [p5.48xlarge]}\n"
        "questions: [{name: cost_center, pattern: '[0-9]+'}]\n"
    )
    (template / "gpukit-template.yaml").write_text(MANIFEST + "extends: ../organisation\n")
    result = new(tmp_path / "demo", "--from", template, "--answer", "team=a", "--answer", "cost_center=4711")

    limits = yaml.safe_load((tmp_path / "demo" / ".gpukit" / "limits.yaml").read_text())
    assert limits["max_gpus"] == 32
    assert limits["instance_types"] == ["p5.48xlarge"]
    assert limits["regions"] == ["us-east-1"]
    assert "max_gpus: 64 is over the 32 allowed above, which stays" in result.stderr


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (OrgLimits(), OrgLimits(), OrgLimits()),
        (OrgLimits(max_gpus=8), OrgLimits(), OrgLimits(max_gpus=8)),
        (OrgLimits(max_gpus=8), OrgLimits(max_gpus=64), OrgLimits(max_gpus=8)),
        (OrgLimits(regions=frozenset({"a", "b"})), OrgLimits(regions=frozenset({"b", "c"})), OrgLimits(regions=frozenset({"b"}))),
        (OrgLimits(required_tags=frozenset({"a"})), OrgLimits(required_tags=frozenset({"b"})), OrgLimits(required_tags=frozenset({"a", "b"}))),
        (OrgLimits(max_hourly_usd=0.0), OrgLimits(max_hourly_usd=9.0), OrgLimits(max_hourly_usd=0.0)),
    ],
)  # fmt: skip
def test_the_tightest_of_two_limits_holds(first: OrgLimits, second: OrgLimits, result: OrgLimits) -> None:
    assert tighten(first, second) == result
    assert tighten(second, first) == result
    assert loosened(result, result) == ()


def test_a_plan_over_its_limits_is_told_with_both_values() -> None:
    from gpukit.planning import plan_from_preset

    plan = plan_from_preset("multi-node").plan
    assert plan is not None
    limits = OrgLimits(
        max_gpus=8, max_hourly_usd=100, regions=frozenset({"eu-west-1"}), instance_types=frozenset({"g5.xlarge"}),
        required_tags=frozenset({"cost-center"}), mandatory_checks=frozenset({"GK2041"}),
    )  # fmt: skip
    says = check_plan_limits(plan, limits, suppressed=["GK2041"])

    assert says[0] == "64 GPUs, over the 8 allowed"
    assert says[2:] == (
        "region us-east-1; allowed are eu-west-1",
        "instance type p5.48xlarge; allowed are g5.xlarge",
        "the tag `cost-center` is missing",
        "the check GK2041 is suppressed and may not be",
    )


# Updates


def bump(template: Path, **files: str) -> None:
    (template / "gpukit-template.yaml").write_text(MANIFEST.replace('version: "1"', 'version: "2"'))
    for name, text in files.items():
        (template / name.replace("_", ".")).write_text(text)


def test_an_update_without_changes_says_so(tmp_path: Path, template: Path) -> None:
    demo = make(tmp_path, template)

    assert "nothing to update" in new(demo, "--update").stdout


def test_an_update_takes_new_text_and_keeps_the_projects_own(tmp_path: Path, template: Path) -> None:
    demo = make(tmp_path, template)
    (demo / "run.sh").write_text("#!/bin/sh\necho mine\necho one\necho two\necho three\n")
    (demo / "own.py").write_text("mine\n")
    bump(template, run_sh="#!/bin/sh\necho one\necho two\necho three\necho four\n", new_txt="new\n")
    result = new(demo, "--update")

    assert (demo / "run.sh").read_text() == "#!/bin/sh\necho mine\necho one\necho two\necho three\necho four\n"
    assert (demo / "new.txt").read_text() == "new\n"
    assert (demo / "own.py").read_text() == "mine\n"
    assert "1 -> 2" in result.stdout
    assert "nothing to update" in new(demo, "--update").stdout


def test_a_conflict_is_marked_and_nothing_is_lost(tmp_path: Path, template: Path) -> None:
    demo = make(tmp_path, template)
    (demo / "run.sh").write_text("#!/bin/sh\necho mine\n")
    bump(template, run_sh="#!/bin/sh\necho theirs\n")
    result = new(demo, "--update", "--json", code=1)

    text = (demo / "run.sh").read_text()
    assert "<<<<<<< your project\necho mine\n" in text
    assert "echo theirs\n>>>>>>> the template now" in text
    assert json.loads(result.stdout)["files"][0]["outcome"] == "conflict"


def test_a_file_removed_here_and_changed_there_is_put_beside(tmp_path: Path, template: Path) -> None:
    demo = make(tmp_path, template)
    (demo / "run.sh").unlink()
    bump(template, run_sh="#!/bin/sh\necho new\n")
    new(demo, "--update", code=1)

    assert not (demo / "run.sh").exists()
    assert (demo / "run.sh.from-template").read_text() == "#!/bin/sh\necho new\n"


@pytest.mark.parametrize(("changed", "stays"), [(False, False), (True, True)])
def test_a_file_that_the_template_drops_goes_unless_it_was_changed(
    changed: bool, stays: bool, tmp_path: Path, template: Path
) -> None:
    demo = make(tmp_path, template)
    if changed:
        (demo / "run.sh").write_text("mine\n")
    (template / "run.sh").unlink()
    new(demo, "--update")

    assert (demo / "run.sh").exists() is stays


def test_a_git_template_is_followed_by_revision(tmp_path: Path, template: Path) -> None:
    git(template, "init", "-q", "-b", "main")
    git(template, "add", ".")
    git(template, "commit", "-qm", "one")
    git(template, "tag", "v1")
    demo = make(tmp_path, template.as_uri(), "--ref", "v1")
    bump(template, run_sh="#!/bin/sh\necho two\n")
    git(template, "commit", "-qam", "two")
    git(template, "tag", "v2")

    assert "nothing to update" in new(demo, "--update").stdout
    assert "updated" in new(demo, "--update", "--ref", "v2").stdout
    assert yaml.safe_load((demo / ".gpukit" / "template.yaml").read_text())["ref"] == "v2"


def test_an_answer_that_looks_like_a_secret_is_not_written_down(tmp_path: Path, template: Path) -> None:
    (template / "gpukit-template.yaml").write_text(
        MANIFEST.replace("questions:", "questions:\n  - {name: db_password, default: x}")
    )
    result = new(tmp_path / "demo", "--from", template, "--answer", "team=a", code=2)

    assert "looks like a secret" in result.stderr
    assert not (tmp_path / "demo").exists()


def test_a_folder_that_is_no_project_cannot_be_updated(tmp_path: Path) -> None:
    assert "was not made by `gpukit new`" in new(tmp_path, "--update", code=2).stderr
