"""The JSON Schema says what the parser says."""

import jsonschema
import pytest

from gpukit.spec.document import parse_document
from gpukit.spec.presets import load_preset, preset_names
from gpukit.spec.schema import field_help, stack_file_schema


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(stack_file_schema())


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_is_valid_by_the_schema(preset: str) -> None:
    document = load_preset(preset)

    assert document is not None
    jsonschema.Draft202012Validator(stack_file_schema()).validate(document.value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("pools: {train: {nodez: 8}}", id="unknown-key"),
        pytest.param("pools: {train: {nodes: many}}", id="no-number"),
        pytest.param("pools: {train: {root_volume: {gib: 3}}}", id="too-small"),
        pytest.param("cooling_zones: {hall: {method: water}}", id="no-such-method"),
    ],
)
def test_the_schema_refuses_what_the_parser_refuses(text: str) -> None:
    value = parse_document(text, file="stack.yaml").value

    assert list(jsonschema.Draft202012Validator(stack_file_schema()).iter_errors(value))


def test_every_key_has_a_help_text() -> None:
    schema = stack_file_schema()
    without = [name for name, field in schema["properties"].items() if not field.get("description")]
    for definition, content in schema["$defs"].items():
        without += [
            f"{definition}.{name}"
            for name, field in content.get("properties", {}).items()
            if not field.get("description")
        ]

    assert without == []


def test_help_is_found_by_key_path() -> None:
    assert field_help(("pools", "train", "efa")).startswith("EFA on or off")
    assert field_help(("pools", "train")) == ""


def test_the_schema_in_docs_is_the_one_that_is_printed() -> None:
    import json
    from pathlib import Path

    file = Path(__file__).parent.parent.parent / "docs" / "stack.schema.json"

    assert json.loads(file.read_text(encoding="utf-8")) == stack_file_schema(), "run `make golden`"
