"""
Hypothesis writes stack files: whatever comes in, words come out.

Some hundreds of cases in each run; `GPUKIT_FUZZ_CASES=10000` (or the profile `fuzz` of `make fuzz`) for the long one. A
case passes when nothing is raised, no case takes over 2 seconds of processor time, every finding is complete, the exit
code is one of the table, and the process does not grow.
"""

import copy
import json
import os
import resource
import time
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpukit.checks.index import known_codes
from gpukit.checks.render_github import render_github
from gpukit.checks.render_json import render_json
from gpukit.checks.render_sarif import render_sarif
from gpukit.checks.render_text import render_text
from gpukit.cli.output import exit_code
from gpukit.judge import judge
from gpukit.planning import plan_from_input
from gpukit.spec.document import parse_document
from gpukit.spec.presets import load_preset, preset_names
from gpukit.spec.schema import stack_file_schema
from gpukit.stackfile import StackInput, read_mapping, read_text

TODAY = date(2026, 12, 1)
MAX_SECONDS = 2.0
MAX_GROWTH_MIB = 400
CASES = int(os.environ.get("GPUKIT_FUZZ_CASES", "0"))
CODES = set(known_codes())


def _fuzz(share: float) -> Any:
    """Return settings: a share of the cases that the environment asks for, else what the profile says."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    if CASES:
        return settings(max_examples=max(1, int(CASES * share)), suppress_health_check=quiet, deadline=None)
    return settings(suppress_health_check=quiet)


def _survives(given_input: StackInput) -> int:
    """Judge an input, print what was found in every form, and return the exit code."""
    began = time.process_time()
    result = plan_from_input(given_input, today=TODAY)
    judged = judge(result, today=TODAY, deploying=True)
    for text in (
        render_text(judged.findings, judged.suppressed),
        render_json(judged.findings, judged.suppressed),
        render_sarif(judged.findings, judged.suppressed, file="stack.yaml"),
        render_github(judged.findings),
    ):
        text.encode("utf-8", "surrogatepass")
    assert time.process_time() - began < MAX_SECONDS
    for finding in judged.findings:
        assert finding.code in CODES
        assert finding.problem
        assert finding.why
        assert finding.fix
        assert len(finding.problem) < 2000
    code = exit_code(judged.findings, unreadable=result.unreadable)
    assert code in (0, 1, 2)
    return code


def _words() -> list[str]:
    """Return every key and every closed choice of the stack file."""
    words: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            words.update(node.get("properties", {}))
            words.update(item for item in node.get("enum", []) if isinstance(item, str))
            for item in node.values():
                walk(item)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    walk(stack_file_schema())
    return sorted(words)


WORDS = _words()
NAMES = ["train", "system", "serve", "scratch", "home", "pytorch", "hall-a", "us-east-1a", "use1-az4", "p5en.48xlarge",
         "g6e.xlarge", "u-p6e-gb200x72", "m7i.xlarge", "us-east-1", "10.0.0.0/16", "0.0.0.0/0", "fs-0123456789abcdef0",
         "cr-0123456789abcdef0", "2026-12-24", "1.36", "latest", "GK2030"]  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(10**30), max_value=10**30),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(NAMES),
    st.sampled_from(WORDS),
    st.text(max_size=30),
    st.sampled_from(
        ["\x00", "\x1b[31m", "\u202e", "%0A::error::", "<script>", "../../etc/passwd", "a" * 5000, "🦆", "\ud800"]
    ),
)
KEYS = st.one_of(st.sampled_from(WORDS), st.sampled_from(NAMES), st.text(max_size=12))
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)
SECTIONS = [
    "pools",
    "storage",
    "network",
    "images",
    "cooling_zones",
    "budget",
    "phases",
    "queues",
    "suppress",
    "access",
]


@_fuzz(0.3)
@given(st.dictionaries(st.one_of(st.sampled_from(SECTIONS), KEYS), TREES, max_size=6))
def test_any_mapping_is_answered_in_words(mapping: dict[str, Any]) -> None:
    _survives(read_mapping(mapping, preset=None, region="us-east-1"))


def _paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [prefix] if prefix else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += _paths(item, (*prefix, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _paths(item, (*prefix, index))
    return found


PRESETS = {name: document.value for name in preset_names() if (document := load_preset(name)) is not None}


@st.composite
def mutated_presets(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a shipped preset with some of its values replaced, removed or moved."""
    value: dict[str, Any] = copy.deepcopy(PRESETS[draw(st.sampled_from(sorted(PRESETS)))])
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        path = draw(st.sampled_from(_paths(value)))
        parent: Any = value
        for part in path[:-1]:
            parent = parent[part]
        action = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
        if action == "replace":
            parent[path[-1]] = draw(TREES)
        elif action == "remove":
            del parent[path[-1]]
        elif isinstance(parent, dict):
            parent[draw(KEYS)] = parent.pop(path[-1])
        if not _paths(value):
            break
    return value


@_fuzz(0.4)
@given(mutated_presets())
def test_a_damaged_preset_is_answered_in_words(mapping: dict[str, Any]) -> None:
    _survives(read_mapping(mapping, preset=None, region="us-east-1"))


TEXTS = [
    json.dumps(value, ensure_ascii=False)
    if index % 2
    else "\n".join(f"{key}: {json.dumps(item)}" for key, item in value.items())
    for index, value in enumerate(PRESETS.values())
]
SNIPPETS = st.sampled_from(
    ["&a ", "*a", "!!python/none ", "<<: *a\n", "? ", "- ", ": ", "{", "}", "[", "]", "\t", "\x00", "%YAML 9.9\n", "---\n", "...",
     "|\n", ">-\n", "'", '"', "\\", "#", "\ufeff", "é", "1e999", "0x10", "0o7", "1_000", "12:30:45", "2026-13-41", "~", "\n\n"]
)  # fmt: skip


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """Draw the text of a preset with pieces put in, cut out or doubled."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(min_value=1, max_value=6))):
        at = draw(st.integers(min_value=0, max_value=len(text)))
        length = draw(st.integers(min_value=0, max_value=40))
        piece = draw(st.one_of(SNIPPETS, st.text(max_size=8)))
        text = draw(
            st.sampled_from(
                [text[:at] + piece + text[at:], text[:at] + text[at + length :], text[: at + length] + text[at:]]
            )
        )
    return text


@_fuzz(0.2)
@given(damaged_texts())
def test_a_damaged_text_is_answered_in_words(text: str) -> None:
    _survives(read_text(text, file="stack.yaml"))


@_fuzz(0.1)
@given(st.one_of(st.text(max_size=400), st.binary(max_size=400).map(lambda data: data.decode("latin-1"))))
def test_any_text_at_all_is_answered_in_words(text: str) -> None:
    _survives(read_text(text, file="stack.yaml"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="lists-without-end"),
        pytest.param("{a: " * 50_000, id="mappings-without-end"),
        pytest.param("- " * 50_000, id="dashes-without-end"),
        pytest.param("a: &x [" + "*x, " * 10_000 + "]", id="an-anchor-inside-itself"),
        pytest.param("\n".join(f"k{n}: &a{n} [*a{n - 1}, *a{n - 1}]" if n else "k0: &a0 [x, x]" for n in range(60)), id="billion-laughs"),
        pytest.param("pools:\n" + "".join(f"  p{n}: {{instance_type: g6e.xlarge}}\n" for n in range(2_000)), id="two-thousand-pools"),
        pytest.param("tags:\n" + "".join(f"  t{n}: v\n" for n in range(20_000)) + "pools: {a: {instance_type: g6e.xlarge}}\n", id="twenty-thousand-tags"),
        pytest.param("x" * 1_000_000, id="one-word-of-a-megabyte"),
        pytest.param("pools: {train: {instance_type: '" + "p" * 60_000 + "'}}", id="a-name-of-60000-letters"),
        pytest.param("a: " + "9" * 100_000, id="a-number-of-100000-digits"),
    ],
)  # fmt: skip
def test_size_alone_costs_no_more_than_two_seconds(text: str) -> None:
    _survives(read_text(text, file="stack.yaml"))


def test_the_process_does_not_grow_over_many_cases() -> None:
    mapping = {
        "pools": {f"p{n}": {"instance_type": "g6e.xlarge", "nodes": n, "labels": {"x": "y" * 500}} for n in range(50)}
    }
    _survives(read_mapping(mapping, preset=None, region="us-east-1"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):
        _survives(read_mapping(mapping, preset=None, region="us-east-1"))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024

    assert grown < MAX_GROWTH_MIB / 4
    assert parse_document("a: 1", file="x").value == {"a": 1}
