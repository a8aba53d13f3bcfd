"""`gpukit report`: usage, exit codes, several stacks, and the numbers from files beside the preview."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli.report import app
from tests.report.digests import GPU_GROUP, NODE_GROUP, TOTALS, digest, step

DELETED = step("delete", NODE_GROUP, "train-a", old=GPU_GROUP)


def run(*arguments: object, input: str | None = None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)


@pytest.fixture
def preview(tmp_path: Path) -> Path:
    file = tmp_path / "preview.json"
    file.write_text(digest(DELETED, totals=TOTALS))
    return file


def test_without_gates_a_danger_is_shown_and_passes(preview: Path) -> None:
    result = run("--from", preview)

    assert result.exit_code == 0
    assert result.stdout.startswith("**Danger** on `prod`: 1 thing needs a decision")
    assert result.stderr == ""


def test_a_gate_gives_exit_code_four_and_the_reason_on_both_streams(preview: Path) -> None:
    result = run("--from", preview, "--fail-on", "delete")

    assert result.exit_code == 4
    assert "gate delete:" in result.stdout.splitlines()[0]
    assert result.stderr.startswith("refused on prod: gate delete:")


def test_a_preview_comes_from_stdin(preview: Path) -> None:
    assert run("--from", "-", "--json", input=preview.read_text()).exit_code == 0


def test_plans_beside_the_preview_give_the_numbers(preview: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"totals": {**TOTALS, "gpus": 8, "nodes": 1}}))
    result = run("--from", preview, "--plan-after", plan, "--json")

    numbers = json.loads(result.stdout)["numbers"]
    assert (numbers["before"]["gpus"], numbers["after"]["gpus"]) == (512, 8)


def test_findings_of_another_job_are_shown(preview: Path, tmp_path: Path) -> None:
    file = tmp_path / "findings.json"
    file.write_text(
        json.dumps({"findings": [{"code": "GK2041", "severity": "error", "path": "a", "problem": "p", "fix": "f"}]})
    )

    assert "| GK2041 | error | `a` | p; fix: f |" in run("--from", preview, "--findings", file).stdout
    assert run("--from", preview, "--findings", file, "--fail-on", "finding:error").exit_code == 4


def test_several_stacks_make_one_comment_with_the_worst_verdict_first(preview: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(digest(totals=TOTALS))
    result = run("--from", preview, "--from", other, "--stack", "prod", "--stack", "dev")

    assert result.stdout.startswith("**Danger**, 2 stacks: `prod` danger, `dev` no changes\n")
    assert result.stdout.count("<!-- gpukit:stack:") == 4


def test_the_report_is_written_to_a_file(preview: Path, tmp_path: Path) -> None:
    result = run("--from", preview, "--output", tmp_path / "comment.md")

    assert result.stdout == ""
    assert (tmp_path / "comment.md").read_text().startswith("**Danger**")


def test_the_stack_file_brings_budget_findings_and_numbers(tmp_path: Path) -> None:
    preview = tmp_path / "preview.json"
    preview.write_text(digest(op="create"))
    stack = tmp_path / "Pulumi.prod.yaml"
    stack.write_text(
        "config:\n  aws:region: us-east-1\n  gpukit:preset: multi-node\n  gpukit:cluster:\n    budget: {hourly_usd: 5}\n"
    )
    result = run("--from", preview, "--stack-file", stack)

    assert result.exit_code == 4
    assert "over the limit 5 of budget.hourly" in result.stdout.splitlines()[0]
    assert "GPUs 0 → 64" in result.stdout


def test_a_stack_file_that_is_not_there_is_named_with_the_one_that_may_be_meant(preview: Path, tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text("config: {}\n")
    result = run("--from", preview, "--stack-file", tmp_path / "Pulumi.prod.yaml")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{tmp_path}/Pulumi.prod.yaml: there is no such file" in result.stderr
    assert f"did you mean {tmp_path}/stacks/Pulumi.prod.yaml" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--from", "nowhere.json"], "nowhere.json cannot be read", id="no-file"),
        pytest.param(["--fail-on", "x"], "--from is missing", id="no-source"),
        pytest.param(["--from", "P", "--fail-on", "cost"], "is no gate", id="bad-gate"),
        pytest.param(["--from", "P", "--format", "pdf"], "there are markdown, json, text, summary", id="format"),
        pytest.param(["--from", "P", "--stack", "a", "--stack", "b"], "give one for each, or none", id="stacks"),
        pytest.param(["--from", "P", "--today", "soon"], "no day like", id="day"),
        pytest.param(["--from", "P", "--plan-after", "P"], "has no `totals`", id="no-plan"),
    ],
)
def test_bad_usage_is_exit_code_two_in_words(arguments: list[str], says: str, preview: Path) -> None:
    result = run(*(str(preview) if argument == "P" else argument for argument in arguments))

    assert result.exit_code == 2
    assert says in result.stderr


def test_posting_without_a_token_says_what_is_needed(preview: Path, monkeypatch) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITHUB_REPOSITORY", "CI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)

    assert "neither --github nor --gitlab" in run("post", preview, "--stack", "prod").stderr
    result = run("post", preview, "--stack", "prod", "--github", "o/r", "--number", "1")
    assert result.exit_code == 2
    assert "GITHUB_TOKEN" in result.stderr


def test_a_code_host_that_does_not_answer_is_exit_code_three(preview: Path, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    result = run(
        "post",
        preview,
        "--stack",
        "prod",
        "--github",
        "o/r",
        "--number",
        "1",
        "--api",
        "http://127.0.0.1:9",
        "--login",
        "me",
    )

    assert result.exit_code == 3
    assert "did not answer" in result.stderr


def test_a_report_of_several_stacks_is_posted_section_by_section(preview: Path, tmp_path: Path, monkeypatch) -> None:
    from gpukit.report.comment import sections_in
    from tests.report.test_post import TOKEN, FakeHost

    other, comment = tmp_path / "other.json", tmp_path / "comment.md"
    other.write_text(digest(totals=TOTALS))
    run("--from", preview, "--from", other, "--stack", "prod", "--stack", "dev", "--output", comment)
    fake = FakeHost()
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GITHUB_REPOSITORY", "org/repo")
    monkeypatch.setenv("GITHUB_REF", "refs/pull/3/merge")
    monkeypatch.setenv("GITHUB_API_URL", fake.url)
    result = run("post", comment)
    fake.close()

    assert result.exit_code == 0, result.output
    assert len(fake.comments) == 1
    assert set(sections_in(fake.comments[0]["body"])) == {"dev", "prod"}
