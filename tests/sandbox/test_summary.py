"""What `make up` says at its end: honest about prices, with paths and commands that work from here."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from gpukit_sandbox.summary import gpukit_command, render_summary, tell_path

from gpukit.counted import counted
from gpukit.plan import Plan
from gpukit.planning import plan_from_preset


@pytest.fixture(scope="module")
def plan() -> Plan:
    found = plan_from_preset("single-node").plan
    assert found is not None
    return found


def summary(plan: Plan, **more: object) -> str:
    known: dict[str, object] = {
        "stack": "dev",
        "stack_file": Path("Pulumi.dev.yaml").resolve(),
        "resources": 37,
        "all_resources": 42,
        "seconds": 4.2,
    }
    return render_summary(plan, {"connect": "aws ssm start-session"}, **(known | more))  # type: ignore[arg-type]


def priced(plan: Plan, unpriced: int) -> Plan:
    return replace(plan, totals=replace(plan.totals, hourly_usd=0.09, monthly_usd=66.0, unpriced=unpriced))


@pytest.mark.parametrize(
    ("unpriced", "words"),
    [
        pytest.param(0, "list price   $0.09 an hour, $66 a month on a real account\n", id="whole"),
        pytest.param(1, "at least $0.09 an hour, $66 a month on a real account: 1 cost line without a known price is not in it", id="one"),
        pytest.param(2, "2 cost lines without a known price are not in it", id="two"),
    ],
)  # fmt: skip
def test_a_price_says_what_it_leaves_out(plan: Plan, unpriced: int, words: str) -> None:
    assert words in summary(priced(plan, unpriced))


def test_both_counts_are_told(plan: Plan) -> None:
    assert "dev stands in the sandbox: 37 cloud resources (42 with components and providers) in 4 s" in summary(plan)


def test_commands_of_machines_are_for_a_real_account(plan: Plan) -> None:
    said = summary(plan).splitlines()

    place = said.index("  connect      aws ssm start-session")
    assert said[place - 1] == "On a real account (the sandbox boots no machine):"


@pytest.mark.parametrize("file", ["Pulumi.dev.yaml", "stacks/Pulumi.dev.yaml"])
def test_the_file_to_edit_is_the_one_that_was_read(
    plan: Plan, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert f"edit {file} and look again" in summary(plan, stack_file=tmp_path / file)


def test_a_file_elsewhere_is_named_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")

    assert tell_path(tmp_path / "Pulumi.dev.yaml") == str(tmp_path / "Pulumi.dev.yaml")


def test_gpukit_is_called_by_name_where_path_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpukit").write_text("#!/bin/sh\n")
    (tmp_path / "gpukit").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert gpukit_command() == "gpukit"


def test_gpukit_off_path_is_called_beside_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))

    assert gpukit_command() == ".venv/bin/python -m gpukit"
    (folder / "gpukit").touch()
    assert gpukit_command() == ".venv/bin/gpukit"


@pytest.mark.parametrize(("number", "told"), [(0, "0 faults"), (1, "1 fault"), (1200, "1,200 faults")])
def test_one_is_not_many(number: int, told: str) -> None:
    assert counted(number, "fault") == told
