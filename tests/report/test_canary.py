"""A secret in config, tags, scripts, messages and outputs of a real preview is in no form of the report."""

import json

import pytest

from gpukit.report.pipeline import ReportFormat, complete_change, judge_change, parse_preview, render_report
from tests.report.test_goldens import DIGESTS, read

CANARY = "Zq8vN3xK7pLw2RtYcAnArY"
INPUTS = ("canary.json", "canary.sames.json", "canary.events.jsonl")


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("form", list(ReportFormat))
def test_the_canary_is_in_no_report(name: str, form: ReportFormat) -> None:
    text = read(name)
    assert CANARY in text, "the recording must hold the canary, or this test proves nothing"

    report = judge_change(complete_change(parse_preview(text)))
    rendered = render_report(report, form)

    assert report.change.steps
    assert CANARY not in rendered
    assert "version 2" in rendered or form in (ReportFormat.MARKDOWN, ReportFormat.SUMMARY)


def test_the_canary_is_not_even_in_the_model() -> None:
    for name in INPUTS:
        assert CANARY not in repr(parse_preview(read(name)))


def test_the_recording_holds_the_canary_in_many_shapes() -> None:
    text = (DIGESTS / "canary.sames.json").read_text()
    values = [
        step["newState"]["inputs"]["value"]
        for step in json.loads(text)["steps"]
        if "value" in step.get("newState", {}).get("inputs", {})
    ]

    assert len(values) == 5
