"""Hostile files: each names in its first line the exact codes that come out; none ends in a traceback or takes long."""

import json
import re
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli import app

FILES = sorted(Path(__file__).parent.glob("*.yaml"))
MAX_SECONDS = 2.0


def _expected(file: Path) -> set[str]:
    first = file.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# codes:"), f"{file.name} names no codes in its first line"
    return set(re.findall(r"GK\d{4}", first))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_a_hostile_file_gives_out_exactly_the_codes_in_its_first_line(file: Path) -> None:
    began = time.process_time()
    done = CliRunner().invoke(app, ["check", str(file), "--json", "--today", "2026-12-01"])
    seconds = time.process_time() - began
    findings = json.loads(done.stdout)["findings"]

    assert {finding["code"] for finding in findings} == _expected(file)
    assert done.exit_code in (0, 1, 2)
    assert (done.exit_code == 0) == (not [f for f in findings if f["severity"] == "error"])
    assert seconds < MAX_SECONDS


@pytest.mark.parametrize("form", ["text", "sarif", "github"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_every_renderer_survives_every_hostile_file(file: Path, form: str) -> None:
    done = CliRunner().invoke(app, ["check", str(file), "--format", form, "--today", "2026-12-01"])

    assert done.exit_code in (0, 1, 2)
    assert "Traceback" not in done.output
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout or form == "sarif"


def test_a_file_of_10_mb_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    file.write_text("pools:\n" + "  a: {instance_type: g6e.xlarge}\n" * 300_000, encoding="utf-8")
    began = time.process_time()
    done = CliRunner().invoke(app, ["check", str(file), "--json"])

    assert {finding["code"] for finding in json.loads(done.stdout)["findings"]} == {"GK1001"}
    assert (done.exit_code, time.process_time() - began < MAX_SECONDS) == (2, True)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff\xfe\x00\x01pools", id="no-utf-8"),
        pytest.param(b"\x00" * 64, id="zeros"),
        pytest.param(b"pools: \x07\x1b[2J", id="control-characters"),
        pytest.param(b"\xef\xbb\xbfregion: us-east-1\n", id="byte-order-mark"),
    ],
)
def test_bytes_that_are_no_stack_file_are_refused_in_words(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_bytes(content)
    done = CliRunner().invoke(app, ["check", str(file)])

    assert done.exit_code == 2
    assert "fix:" in done.output


def test_a_folder_in_place_of_a_file_is_refused_in_words(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["check", str(tmp_path)])

    assert done.exit_code == 2
    assert "Traceback" not in done.output
