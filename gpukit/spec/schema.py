"""The JSON Schema of the stack file, with the help texts of `model.py`."""

import ast
import functools
import inspect
from typing import Any

from gpukit.spec.document import KeyPath


@functools.cache
def _texts() -> dict[str, dict[str, str]]:
    """Return class name -> field name -> help text, read off the model's source once."""
    from gpukit.spec import model

    texts: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(model)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        found: dict[str, str] = {"": (ast.get_docstring(node) or "").splitlines()[0] if ast.get_docstring(node) else ""}
        for item, after in zip(node.body, node.body[1:], strict=False):
            if (
                isinstance(item, ast.AnnAssign)
                and isinstance(item.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                found[item.target.id] = str(after.value.value)
        texts[node.name] = found
    return texts


def field_help(path: KeyPath) -> str:
    """Return the help text of the key at a path, or "" where the path is a user's own name."""
    from gpukit.spec.parse import type_at

    owner = type_at(path[:-1]) if path else None
    return _texts().get(getattr(owner, "__name__", ""), {}).get(str(path[-1]), "") if path else ""


def stack_file_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a cluster file: the `cluster` mapping with `preset` beside it."""
    from pydantic import TypeAdapter

    from gpukit.spec.model import ClusterSpec
    from gpukit.spec.presets import preset_names

    schema: dict[str, Any] = TypeAdapter(ClusterSpec).json_schema()
    for name, definition in schema.get("$defs", {}).items():
        _describe(definition, _texts().get(name, {}))
    _describe(schema, _texts()["ClusterSpec"])
    _widen(schema)
    schema["properties"]["preset"] = {
        "type": "string",
        "description": "The preset that this file changes.",
        "examples": list(preset_names()),
    }
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "gpukit stack"
    return schema


def _describe(definition: dict[str, Any], texts: dict[str, str]) -> None:
    if texts.get(""):
        definition["description"] = texts[""]
    for name, field in definition.get("properties", {}).items():
        if texts.get(name):
            field["description"] = texts[name]


def _widen(schema: dict[str, Any]) -> None:
    """Add the short forms that the parser accepts: `nodes: 8`, one capacity source, null to remove a preset's entry."""
    pool = schema["$defs"]["PoolSpec"]["properties"]
    pool["nodes"] = {
        "description": pool["nodes"].get("description", ""),
        "anyOf": [{"type": "integer", "minimum": 0, "maximum": 1_000_000}, {"$ref": "#/$defs/NodeCountSpec"}],
    }
    pool["capacity"] = {
        "description": pool["capacity"].get("description", ""),
        "anyOf": [
            {"$ref": "#/$defs/CapacitySpec"},
            {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/CapacitySpec"}},
        ],
    }
    # a key of a preset may be changed alone, so nothing is required inside maps of names
    for section in ("pools", "storage", "images", "cooling_zones", "phases"):
        entry = schema["properties"][section].get("additionalProperties")
        if isinstance(entry, dict):
            schema["properties"][section]["additionalProperties"] = {"anyOf": [entry, {"type": "null"}]}
