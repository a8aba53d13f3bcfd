"""A Pulumi schema of what the double knows, from the same table that checks inputs: enough for `pulumi import` and editors."""

import json
from typing import Any

from gpukit_sandbox.provider import sdk_types

_PLAIN = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


def schema_text() -> str:
    """Return the schema as JSON."""
    types: dict[str, Any] = {}
    resources = {token: _resource(token, types) for token in sdk_types.known_tokens()}
    return json.dumps(
        {"name": "aws", "version": sdk_types.sdk_version(), "resources": resources, "types": types, "provider": {}}
    )


def _resource(token: str, types: dict[str, Any]) -> dict[str, Any]:
    declared = sdk_types.resource_type(token)
    assert declared is not None
    return {
        "properties": {name: _property(word, types) for name, word in declared.outputs.items()},
        "inputProperties": {name: _property(word, types) for name, word in declared.inputs.items()},
        "requiredInputs": list(declared.required),
    }


def _property(word: str, types: dict[str, Any]) -> dict[str, Any]:
    if word.startswith("["):
        return {"type": "array", "items": _property(word[1:-1], types)}
    if word.startswith("{"):
        return {"type": "object", "additionalProperties": _property(word[1:-1], types)}
    if word.startswith("#"):
        return _nested(word, types)
    return {"type": _PLAIN[word]} if word in _PLAIN else {"$ref": "pulumi.json#/Any"}


def _nested(word: str, types: dict[str, Any]) -> dict[str, Any]:
    module, name = word[1:].split(".")
    token = f"aws:{module}/{name}:{name}"
    if token not in types:
        types[token] = {}
        declared = sdk_types.nested_type(word) or {}
        types[token] = {"type": "object", "properties": {n: _property(w, types) for n, w in declared.items()}}
    return {"$ref": f"#/types/{token}"}
