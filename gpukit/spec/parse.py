"""
Turn a mapping into a ClusterSpec, or into every mistake in it.

A mistake does not hide the next one: a value that cannot be read is reported and left out, and the rest is read again,
so that the checks can still look at everything else.
"""

import dataclasses
import types
import typing
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gpukit.finding import Finding, Severity
from gpukit.spec.document import KeyPath, show_path

if typing.TYPE_CHECKING:
    from gpukit.spec.model import ClusterSpec

_MAX_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSpec:
    """What a mapping says: the spec as far as it can be read, the mistakes, and the paths left out because of them."""

    spec: "ClusterSpec | None"
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()


def parse_spec(mapping: Any) -> ParsedSpec:
    """Return the spec and the findings GK1002 (unknown key), GK1003 (wrong value), GK1004 (missing key)."""
    from pydantic import ValidationError

    adapter = _adapter()
    if not isinstance(mapping, dict):
        return ParsedSpec(spec=None, findings=(_not_a_mapping(mapping),))
    findings: list[Finding] = []
    left_out: list[str] = []
    removed: set[KeyPath] = set()
    for _ in range(8):
        try:
            return ParsedSpec(spec=adapter.validate_python(mapping), findings=tuple(findings), left_out=tuple(left_out))
        except ValidationError as error:
            # a mistake is known by its place and kind; the input itself may be huge
            details = error.errors(include_url=False)
            bad: set[KeyPath] = set()
            for detail in details:
                path = _written_path(mapping, detail["loc"])
                # a key that was left out because its value is wrong is not reported as missing, too
                # and two complaints about one written value (`nodes: -1` as min and as max) are one mistake
                if path not in bad and (detail["type"] != "missing" or path not in removed):
                    findings.append(_finding(detail, path))
                bad.add(path[:-1] if detail["type"] == "missing" else path)
            removed |= bad
            left_out.extend(show_path(path) for path in sorted(bad, key=str))
            mapping = _without(mapping, bad)
    return ParsedSpec(spec=None, findings=tuple(findings), left_out=tuple(left_out))


def shown_value(value: Any) -> str:
    """Return a value as short text in the user's own spelling."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, dict):
        return f"a mapping of {len(value)} keys"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    text = str(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


_ADAPTER: Any = None


def _adapter() -> Any:
    global _ADAPTER
    if _ADAPTER is None:
        from pydantic import TypeAdapter

        from gpukit.spec.model import ClusterSpec

        _ADAPTER = TypeAdapter(ClusterSpec)
    return _ADAPTER


def _not_a_mapping(value: Any) -> Finding:
    return Finding(
        code="GK1003",
        severity=Severity.ERROR,
        path="",
        problem="the file is empty"
        if value is None
        else f"the file holds {shown_value(value)} instead of a mapping of sections",
        why="a stack is a mapping such as `pools:`, `storage:`, `budget:`",
        fix="start from a preset: write `preset: single-node`, then the keys to change",
    )


def _written_path(mapping: Any, loc: tuple[int | str, ...]) -> KeyPath:
    """Return where an error stands in what the user wrote (a single capacity source is no list there)."""
    path: list[str | int] = []
    here: Any = mapping
    for index, part in enumerate(loc):
        if isinstance(part, int) and not isinstance(here, list):
            continue
        if part == "[key]":
            continue
        if not isinstance(here, (dict, list)):
            # the short form of a section (`nodes: 8`): what would be inside it was never written
            break
        container: Any = here
        known = part in container if isinstance(here, dict) else isinstance(part, int) and part < len(container)
        if not known and index < len(loc) - 1:
            continue
        path.append(part)
        here = container[part] if known else None
    return tuple(path)


def _without(mapping: Any, bad: set[KeyPath]) -> Any:
    if isinstance(mapping, dict):
        kept: dict[str, Any] = {}
        for key, value in mapping.items():
            if (key,) not in bad:
                kept[key] = _without(value, {path[1:] for path in bad if path[:1] == (key,)})
        return kept
    if isinstance(mapping, list):
        return [
            _without(value, {path[1:] for path in bad if path[:1] == (index,)})
            for index, value in enumerate(mapping)
            if (index,) not in bad
        ]
    return mapping


def _finding(detail: Any, path: KeyPath) -> Finding:
    kind, given = detail["type"], shown_value(detail["input"])
    shown = show_path(path)
    if kind in ("unexpected_keyword_argument", "extra_forbidden"):
        return _unknown_key(shown, path)
    if kind == "missing":
        return Finding(
            code="GK1004",
            severity=Severity.ERROR,
            path=shown,
            problem=f"the key `{path[-1]}` is missing",
            why=_help(path) or "it has no default",
            fix=f"add `{path[-1]}:` under `{show_path(path[:-1]) or 'the top'}`",
        )
    expected = _expected(detail)
    return Finding(
        code="GK1003",
        severity=Severity.ERROR,
        path=shown,
        problem=f"`{given}` is not {expected}",
        why=_help(path) or "the value has another form than this key takes",
        fix=_nearest_choice(detail, given) or f"write {expected}",
    )


def _expected(detail: Any) -> str:
    kind, context = detail["type"], detail.get("ctx") or {}
    simple = {
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "int_parsing": "a whole number",
        "int_parsing_size": "a whole number of sensible size",
        "float_type": "a number",
        "float_parsing": "a number",
        "finite_number": "a finite number",
        "string_type": "text",
        "bool_type": "true or false",
        "bool_parsing": "true or false",
        "list_type": "a list",
        "dict_type": "a mapping",
        "dataclass_type": "a mapping",
        "dataclass_exact_type": "a mapping",
    }
    if kind == "int_type" and "min" in detail["msg"]:
        return str(detail["msg"])
    if kind in simple:
        return simple[kind]
    if kind == "enum":
        return "one of " + str(context.get("expected", "")).replace("'", "`")
    if kind.startswith("date"):
        return "a day such as 2026-12-31"
    if kind == "greater_than_equal":
        return f"a number of at least {context['ge']:g}"
    if kind == "greater_than":
        return f"a number above {context['gt']:g}"
    if kind == "less_than_equal":
        return f"a number of at most {context['le']:,}"
    if kind == "string_pattern_mismatch":
        return (
            "one of " + _choices(context["pattern"])
            if "|" in context["pattern"]
            else f"of the form `{context['pattern']}`"
        )
    if kind == "string_too_long":
        return f"text of at most {context['max_length']} characters"
    if kind in ("string_too_short", "too_short"):
        return "long enough; it is empty"
    return str(detail["msg"]).removeprefix("Input should be ")


def _choices(pattern: str) -> str:
    words = [word.replace("\\", "") for word in pattern.strip("^$()").split("|")]
    return ", ".join(f"`{word}`" for word in words)


def _nearest_choice(detail: Any, given: str) -> str | None:
    context = detail.get("ctx") or {}
    words: list[str] = []
    if detail["type"] == "enum":
        words = [word.strip(" '") for word in str(context.get("expected", "")).replace(" or ", ", ").split(",")]
    elif detail["type"] == "string_pattern_mismatch" and "|" in context.get("pattern", ""):
        words = context["pattern"].strip("^$()").split("|")
    from gpukit.nearest import nearest

    near = nearest(given, words)
    return f"did you mean `{near[0]}`?" if near else None


def _unknown_key(shown: str, path: KeyPath) -> Finding:
    from gpukit.nearest import nearest

    valid = _keys_at(path[:-1])
    near = nearest(str(path[-1]), valid)
    where = f"`{show_path(path[:-1])}`" if len(path) > 1 else "the top level"
    return Finding(
        code="GK1002",
        severity=Severity.ERROR,
        path=shown,
        problem=f"the key `{str(path[-1])[:_MAX_SHOWN]}` is not known here",
        why=f"{where} knows: {', '.join(valid)}" if valid else f"{where} takes no further keys",
        fix=f"did you mean `{near[0]}`?" if near else "remove it, or see `gpukit schema`",
    )


def _strip(annotation: Any) -> Any:
    """Return the type inside Annotated and Optional."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (typing.Union, types.UnionType):
            annotation = next(a for a in typing.get_args(annotation) if a is not type(None))
        else:
            return annotation


def type_at(path: KeyPath) -> Any:
    """Return the type that the stack file has at a key path, or None where there is none."""
    from gpukit.spec.model import ClusterSpec

    here: Any = ClusterSpec
    for part in path:
        here = _strip(here)
        if typing.get_origin(here) is list and not isinstance(part, int):
            here = _strip(typing.get_args(here)[0])
        if dataclasses.is_dataclass(here):
            here = typing.get_type_hints(here, include_extras=True).get(str(part))
        elif typing.get_origin(here) is dict:
            here = typing.get_args(here)[1]
        elif typing.get_origin(here) is list:
            here = typing.get_args(here)[0]
        else:
            return None
    here = _strip(here)
    return (
        _strip(typing.get_args(here)[0])
        if typing.get_origin(here) is list and path and dataclasses.is_dataclass(_strip(typing.get_args(here)[0]))
        else here
    )


def _keys_at(path: KeyPath) -> list[str]:
    here = type_at(path)
    return [item.name for item in dataclasses.fields(here)] if dataclasses.is_dataclass(here) else []


def _help(path: KeyPath) -> str:
    from gpukit.spec.schema import field_help

    text = field_help(path)
    return f"`{path[-1]}` means: {text[0].lower()}{text[1:].rstrip('.')}" if text else ""


def choices_of(enum: type[Enum]) -> list[str]:
    """Return the user's words of a closed choice."""
    return [str(item.value) for item in enum]
