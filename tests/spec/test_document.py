"""Stack files are read with positions, within limits, and never by executing anything."""

import pytest

from gpukit.spec.document import MAX_BYTES, parse_document, show_path


def _only(text: str) -> str:
    document = parse_document(text, file="stack.yaml")
    assert document.value is None
    assert [finding.code for finding in document.findings] == ["GK1001"]
    return document.findings[0].problem


def test_positions_point_at_keys_and_list_items() -> None:
    document = parse_document("a:\n  b: [1, x]\n", file="stack.yaml")

    assert document.value == {"a": {"b": [1, "x"]}}
    assert (document.positions[("a", "b")].line, document.positions[("a", "b")].column) == (2, 3)
    assert (document.positions[("a", "b", 1)].line, document.positions[("a", "b", 1)].column) == (2, 10)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("yes", "yes", id="yes-is-text"),
        pytest.param("on", "on", id="on-is-text"),
        pytest.param("true", True, id="true"),
        pytest.param("~", None, id="null"),
        pytest.param("0x10", "0x10", id="hex-is-text"),
        pytest.param("1_000", "1_000", id="underscores-are-text"),
        pytest.param("12:30:45", "12:30:45", id="no-base-60"),
        pytest.param("2026-12-10", "2026-12-10", id="dates-stay-text"),
        pytest.param("70e9", 70e9, id="exponent"),
        pytest.param("'8'", "8", id="quoted-number-is-text"),
    ],
)
def test_plain_values_mean_what_they_look_like(written: str, value: object) -> None:
    document = parse_document(f"key: {written}\n", file="stack.yaml")

    assert document.value == {"key": value}


def test_a_version_keeps_its_last_zero() -> None:
    document = parse_document("version: 1.30\n", file="stack.yaml")

    assert document.value["version"].text == "1.30"


def test_a_duplicate_key_is_reported_with_both_lines() -> None:
    document = parse_document("nodes: 1\nnodes: 2\n", file="stack.yaml")

    assert document.value == {"nodes": 1}
    finding = document.findings[0]
    assert (finding.code, finding.path, finding.position and finding.position.line) == ("GK1005", "nodes", 2)
    assert "line 1" in finding.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("a: !!python/object/apply:os.system [true]", "tag", id="python-tag"),
        pytest.param("a: !custom x", "tag", id="custom-tag"),
        pytest.param("[" * 100_000, "nesting", id="deep-nesting"),
        pytest.param("a: &a [*a]", "refers to itself", id="recursive-alias"),
        pytest.param("a: *nobody", "refers to itself or to nothing|undefined", id="unknown-alias"),
        pytest.param("<<: {a: 1}", "merge keys", id="merge-key"),
        pytest.param("? [a]\n: b", "a key must be text", id="list-as-key"),
        pytest.param("a: 1\n---\nb: 2", "more than one YAML document", id="two-documents"),
        pytest.param("a: [1", "not readable as YAML", id="open-bracket"),
        pytest.param("a: \x00", "not readable as YAML", id="control-character"),
    ],
)
def test_what_is_no_stack_file_is_refused_in_words(text: str, problem: str) -> None:
    import re

    assert re.search(problem, _only(text))


def test_a_billion_laughs_document_is_refused_without_being_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

    assert "more than 50,000 values" in _only("\n".join(lines))


def test_a_file_above_the_size_limit_is_refused() -> None:
    assert "larger than 1024 KiB" in _only("a: " + "x" * MAX_BYTES)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        pytest.param(("pools", "train", "nodes"), "pools.train.nodes", id="plain"),
        pytest.param(("capacity", 0, "mode"), "capacity[0].mode", id="index"),
        pytest.param(("tags", "a.b c"), "tags['a.b c']", id="odd-key"),
    ],
)
def test_key_paths_are_shown_as_people_write_them(path: tuple[str | int, ...], shown: str) -> None:
    assert show_path(path) == shown
