"""The property names and types of the AWS resources, as the Pulumi AWS SDK declares them (generated: scripts/make_aws_types.py)."""

import difflib
import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """One resource type: property name -> type word for what goes in and what comes out."""

    token: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    required: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """An input that the type does not have or that has the wrong form."""

    path: str
    reason: str


def resource_type(token: str) -> ResourceType | None:
    """Return the declaration of a type token, or None for a type that the double does not know."""
    found = _table()["resources"].get(token)
    if found is None:
        return None
    return ResourceType(
        token=token, inputs=found["inputs"], outputs=found["outputs"], required=tuple(found["required"])
    )


def known_tokens() -> tuple[str, ...]:
    """Return every resource type token in the table."""
    return tuple(sorted(_table()["resources"]))


def function_outputs(token: str) -> dict[str, str]:
    """Return property -> type word of what an invoke returns; KeyError for one that is not in the table."""
    outputs: dict[str, str] = _table()["functions"][token]["outputs"]
    return outputs


def function_inputs(token: str) -> tuple[str, ...]:
    """Return the arguments that an invoke accepts; KeyError for one that is not in the table."""
    return tuple(_table()["functions"][token]["inputs"])


def nested_type(word: str) -> dict[str, str] | None:
    """Return the properties of `#module.Name`, or None when the word names no nested type."""
    if not word.startswith("#"):
        return None
    properties: dict[str, str] | None = _table()["types"].get(word[1:])
    return properties


def sdk_version() -> str:
    """Return the version of the SDK that the table was read off."""
    return str(_table()["pulumi_aws"])


def misfits(properties: dict[str, Any], declared: dict[str, str], prefix: str = "") -> Iterator[Misfit]:
    """Yield each input, nested ones too, that is not declared."""
    for name, value in properties.items():
        path = f"{prefix}.{name}" if prefix else name
        word = declared.get(name)
        if word is None:
            yield Misfit(path=path, reason=_unknown(name, declared))
        else:
            yield from _nested_misfits(value, word, path)


def _nested_misfits(value: Any, word: str, path: str) -> Iterator[Misfit]:
    if word.startswith("[") and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _nested_misfits(item, word[1:-1], f"{path}[{index}]")
    elif word.startswith("#") and isinstance(value, dict):
        declared = nested_type(word)
        if declared is not None:
            yield from misfits(value, declared, path)


def _unknown(name: str, declared: dict[str, str]) -> str:
    near = difflib.get_close_matches(name, declared, n=1)
    hint = f", did you mean {near[0]!r}?" if near else f"; it has {', '.join(sorted(declared))}"
    return f"an unexpected argument {name!r} was provided{hint}"


@functools.cache
def _table() -> dict[str, Any]:
    path = Path(__file__).with_name("aws_types.json")
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table
