"""The CI files are valid by the published schemas, hold no secret, and give forks nothing."""

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from gpukit.cli.new import app
from gpukit.projects.ci import CiKind, render_ci

GITHUB = render_ci(CiKind.GITHUB, stacks=("prod", "dev"))[".github/workflows/gpukit.yml"].decode()
GITLAB = render_ci(CiKind.GITLAB, stacks=("prod", "dev"))[".gitlab-ci.yml"].decode()


def load(text: str) -> dict:
    """YAML 1.1 reads the key `on` as true."""
    document = yaml.safe_load(text)
    return {("on" if key is True else key): value for key, value in document.items()}


def flat(value):
    """GitLab flattens nested lists of scripts that YAML anchors make."""
    if isinstance(value, dict):
        return {key: flat(item) for key, item in value.items()}
    if isinstance(value, list):
        return [inner for item in value for inner in (flat(item) if isinstance(item, list) else [flat(item)])]
    return value


@pytest.mark.parametrize(
    ("text", "schema"), [(GITHUB, "github-workflows"), (GITLAB, "gitlab-ci")], ids=["github", "gitlab"]
)
def test_the_file_is_valid_by_its_published_schema(text: str, schema: str) -> None:
    pytest.importorskip("check_jsonschema")
    published = json.loads(files("check_jsonschema").joinpath(f"builtin_schemas/vendor/{schema}.json").read_text())

    jsonschema.Draft7Validator(published).validate(flat(load(text)))


def test_every_action_is_pinned_by_its_full_commit() -> None:
    uses = re.findall(r"uses: (\S+)", GITHUB)

    assert uses
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", one) for one in uses)
    assert len(re.findall(r"uses: \S+ # v\d+\.\d+\.\d+", GITHUB)) == len(uses)


def test_no_secret_is_stored_and_no_event_text_reaches_a_shell() -> None:
    assert "secrets." not in GITHUB
    for job in load(GITHUB)["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")


def test_nobody_gets_more_rights_than_the_job_needs() -> None:
    jobs = load(GITHUB)["jobs"]

    assert load(GITHUB)["permissions"] == {"contents": "read"}
    assert "permissions" not in jobs["offline"]
    assert {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})} == set(jobs) - {"offline"}
    assert {name for name, job in jobs.items() if "pull-requests" in job.get("permissions", {})} == {"preview"}


def test_a_fork_gets_the_offline_preview_only() -> None:
    jobs = load(GITHUB)["jobs"]
    same = "github.event.pull_request.head.repo.full_name == github.repository"
    on_pull_request = {name: job["if"] for name, job in jobs.items() if "pull_request" in job["if"]}

    assert {name for name, condition in on_pull_request.items() if same not in condition} == {"offline"}
    assert "pull_request_target" not in GITHUB
    offline = load(GITLAB)["offline"]
    assert "id_tokens" not in offline
    assert "CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID" in load(GITLAB)["preview"]["rules"][0]["if"]


def test_deployment_waits_for_the_environment_and_is_never_cancelled() -> None:
    deploy = load(GITHUB)["jobs"]["deploy"]

    assert deploy["environment"] == "${{ matrix.stack }}"
    assert deploy["concurrency"]["cancel-in-progress"] is False
    assert load(GITLAB)["deploy"]["interruptible"] is False
    assert load(GITLAB)["deploy"]["rules"][0]["when"] == "manual"


@pytest.mark.parametrize("text", [GITHUB, GITLAB], ids=["github", "gitlab"])
def test_the_stacks_of_the_project_are_in_the_matrix(text: str) -> None:
    assert "[dev, prod]" in text
    assert "[[" not in text


def test_gpukit_new_writes_the_file_where_the_code_host_looks(tmp_path: Path) -> None:
    for kind, path in (("github", ".github/workflows/gpukit.yml"), ("gitlab", ".gitlab-ci.yml")):
        CliRunner().invoke(app, [str(tmp_path / kind), "--ci", kind])
        assert (tmp_path / kind / path).is_file()


def commands_in(text: str) -> set[tuple[str, str]]:
    """Return (command, option) for every gpukit call in a file."""
    joined = text.replace("\\\n", " ")
    found = set()
    for line in re.findall(r"gpukit ((?:report post|report|preview|check)[^\n|]*)", joined):
        name = "report post" if line.startswith("report post") else line.split()[0]
        found |= {(name, option) for option in re.findall(r"(--[a-z-]+)", line)}
    return found


@pytest.mark.parametrize("text", [GITHUB, GITLAB], ids=["github", "gitlab"])
def test_every_option_that_the_file_uses_exists(text: str) -> None:
    from gpukit.cli import app as gpukit

    for name, option in sorted(commands_in(text)):
        help_text = CliRunner().invoke(gpukit, [*name.split(), "--help"], terminal_width=200).output
        assert option in help_text, f"gpukit {name} has no {option}"
