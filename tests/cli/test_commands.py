"""The command line: exit codes, streams, help, and no traceback ever."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpukit.cli import COMMANDS


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpukit", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=60)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = run(name, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" in done.stdout


def test_help_lists_every_command() -> None:
    out = run("--help").stdout

    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param(["plan"], 2, "nothing was named", id="nothing-named"),
        pytest.param(["plann"], 2, "did you mean `plan`", id="unknown-command"),
        pytest.param(["plan", "--bad"], 2, "No such option", id="unknown-option"),
        pytest.param(["plan", "--preset", "thousand-cart"], 2, "did you mean `thousand-card`", id="unknown-preset"),
        pytest.param(["plan", "nothing.yaml"], 2, "cannot read `nothing.yaml`", id="missing-file"),
        pytest.param(["plan", "--preset", "single-node", "--set", "x"], 2, "KEY.KEY=VALUE", id="bad-set"),
        pytest.param(["plan", "--preset", "single-node", "--today", "soon"], 2, "is not a day", id="bad-day"),
        pytest.param(
            ["explain", "nonsense", "--preset", "single-node"], 2, "nothing was decided", id="unknown-subject"
        ),
        pytest.param(["explain", "GK0000"], 2, "no check has the code", id="unknown-code"),
        pytest.param(["catalog", "show", "p5en.48xlarg"], 2, "p5en.48xlarge", id="unknown-type"),
        pytest.param(["catalog", "list", "--gpu", "H300"], 2, "no instance type matches", id="unknown-gpu"),
    ],
)
def test_a_wrong_call_says_what_to_do_and_leaves_with_2(arguments: list[str], code: int, says: str) -> None:
    done = run(*arguments)

    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "mistake of its own" not in done.stderr
    assert done.stdout == ""


def test_plan_json_has_the_documented_keys() -> None:
    done = run("plan", "--preset", "thousand-card", "--json")
    plan = json.loads(done.stdout)

    assert done.returncode == 0
    totals = {"gpus", "nodes", "node_groups", "efa_interfaces", "hourly_usd", "monthly_usd", "it_kw", "facility_kw"}
    assert totals | {"dense_bf16_pflops"} <= set(plan["totals"])
    group = plan["pools"][0]["node_groups"][0]
    keys = {
        "name",
        "instance_type",
        "instances",
        "availability_zone",
        "capacity",
        "placement_group",
        "subnet",
        "labels",
    }
    assert keys | {"network_interfaces", "taints", "tags", "image", "root_gib"} <= set(group)
    assert {"mode", "reservation_id"} <= set(group["capacity"])
    assert {"id", "used", "limit", "pct", "verdict"} <= set(plan["limits"][0])
    assert {"storage", "cooling_zones", "decisions"} <= set(plan)


def test_a_file_with_ten_mistakes_reports_ten_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(
        "\n".join(
            [
                "preset: multi-node",  # 1
                "environmnt: dev",  # 2 unknown key
                "protect: maybe",  # 3 not true or false
                "pools:",  # 4
                "  train:",  # 5
                "    instance_type: p5.48xlarg",  # 6 unknown type
                "    nodes: -1",  # 7 below zero
                "    capacity: {mode: reserve}",  # 8 unknown mode
                "    cooling_zone: hall-z",  # 9 unknown zone
                "    image: pytorsh",  # 10 unknown image
                "    root_volume: {gib: big}",  # 11 no number
                "storage:",  # 12
                "  more: {kind: luster}",  # 13 unknown kind
                "budget: {hourly_usd: -5}",  # 14 below zero
                "",
            ]
        )
    )
    done = run("plan", str(file))

    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for line in (2, 3, 6, 7, 8, 9, 10, 11, 13, 14):
        assert f"cluster.yaml:{line}:" in done.stderr, line


def test_a_stack_is_found_from_inside_the_project(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: mine\nruntime: python\nstackConfigDir: conf\n")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "Pulumi.staging.yaml").write_text("config:\n  gpukit:preset: single-node\n")
    (tmp_path / "deep").mkdir()

    assert run("plan", "--stack", "staging", cwd=tmp_path / "deep").returncode == 0
    wrong = run("plan", "--stack", "stagin", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "did you mean `staging`" in wrong.stderr


def test_output_without_a_terminal_has_no_colour_codes() -> None:
    assert "\x1b[" not in run("plan", "--preset", "single-node").stdout


def test_a_closed_pipe_is_no_failure() -> None:
    command = f"{sys.executable} -m gpukit catalog list | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0
    assert done.stderr == ""


def test_cost_names_source_and_date_of_every_price() -> None:
    lines = json.loads(run("cost", "--preset", "thousand-card", "--json").stdout)["lines"]

    assert all(line["source"] and line["as_of"] for line in lines if line["unit_usd_per_hour"] is not None)


def test_explain_gives_the_source_of_a_decision() -> None:
    out = run("explain", "totals.dense_bf16_pflops", "--preset", "thousand-card").stdout

    assert "1,024 x H200 at 989.5 dense BF16 TFLOPS" in out
    assert "source" in out


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            "{gpukit} plan --preset thousand-card | head -c 10 >/dev/null; exit ${{PIPESTATUS[0]}}", id="reader-left"
        ),
        pytest.param(
            "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {gpukit} plan --preset single-node >/dev/null", id="ascii"
        ),
        pytest.param("{gpukit} plan --preset single-node >&- 2>/dev/null", id="no-output"),
    ],
)
def test_an_odd_terminal_is_no_mistake_of_the_program(command: str) -> None:
    text = command.format(gpukit=f"{sys.executable} -m gpukit")
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0, done.stderr
    assert "mistake of its own" not in done.stderr


def test_a_full_disk_is_told_in_words() -> None:
    command = f"{sys.executable} -m gpukit plan --preset single-node > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 2
    assert "No space left on device" in done.stderr


def test_an_empty_network_is_a_finding() -> None:
    empty = "network.existing={vpc_id: vpc-0123456789abcdef0, subnets: {}}"
    done = run("plan", "--preset", "multi-node", "--set", empty)

    assert done.returncode == 2
    assert "GK1003" in done.stderr
