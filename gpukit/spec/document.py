"""
Read a YAML or JSON text into plain values, with the line and column of every key.

YAML here is the small, safe part of YAML that stack files need: mappings, lists, text, whole numbers, decimals,
true/false and null, with anchors and aliases under a budget. Tags, duplicate keys and endless documents are refused.
The parser works on libyaml's events without recursion, so deep nesting cannot exhaust the stack, and every limit is
checked while reading.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from gpukit.finding import Finding, Position, Severity

MAX_BYTES: Final = 1_048_576
"""A stack file of more than 1 MiB is a mistake: the largest shipped preset has under 10 KiB."""
MAX_DEPTH: Final = 32
"""Deepest section of the stack file has 8 levels."""
MAX_VALUES: Final = 50_000
"""Values after aliases are expanded; stops "billion laughs" documents."""

KeyPath = tuple[str | int, ...]

_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,40})")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,5})?")
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", "+.inf"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf"), float("-inf")),
}


class WrittenFloat(float):
    """A decimal that remembers how it was written: a version `1.30` is not 1.3."""

    text: str

    def __new__(cls, text: str) -> "WrittenFloat":
        """Return the number with its text."""
        number = super().__new__(cls, text)
        number.text = text
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed text: its value, and where each key path stands."""

    file: str
    value: Any
    positions: dict[KeyPath, Position] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def position(self, path: KeyPath) -> Position | None:
        """Return the place of the path, or of its nearest parent that stands in the file."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.positions:
                return self.positions[path[:end]]
        return None


def parse_document(text: str, *, file: str) -> Document:
    """Return the document; problems of form are findings GK1001 (unreadable) and GK1005 (duplicate key)."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return _unreadable(
            file, None, f"the file is larger than {MAX_BYTES // 1024} KiB", "split it, or remove what is no stack"
        )
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Composer(file).compose(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Position(file=file, line=mark.line + 1, column=mark.column + 1) if mark else None
        return _unreadable(
            file, place, f"not readable as YAML: {error.problem or error.context}", "correct the text at this place"
        )
    except yaml.YAMLError as error:
        return _unreadable(file, None, f"not readable as YAML: {_first_line(error)}", "save it as plain UTF-8 text")
    except _Refused as refused:
        return _unreadable(file, refused.place, refused.problem, refused.fix)
    except (UnicodeError, ValueError) as error:
        return _unreadable(file, None, f"not readable as text: {_first_line(error)}", "save it as plain UTF-8 text")


def show_path(path: KeyPath) -> str:
    """Return a key path as people write it: `pools.train.capacity[0].mode`."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        elif re.fullmatch(r"[\w:/-]+", part):
            shown += f".{part}" if shown else part
        else:
            shown += f"[{part[:80]!r}]"
    return shown


class _Refused(Exception):
    def __init__(self, place: Position | None, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.place, self.problem, self.fix = place, problem, fix


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not been read."""

    value: dict[str, Any] | list[Any]
    path: KeyPath
    anchor: str | None
    key: str | None = None
    waiting: bool = False
    """A key was read and its value is next."""
    dropped: bool = False
    """The key is a duplicate: its value is read and left out."""


class _Composer:
    def __init__(self, file: str) -> None:
        self.file = file
        self.positions: dict[KeyPath, Position] = {}
        self.findings: list[Finding] = []
        self.anchors: dict[str, Any] = {}
        self.weights: dict[str, int] = {}
        self.count = 0
        self.root: Any = None

    def compose(self, events: Any) -> Document:
        import yaml

        stack: list[_Open] = []
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Refused(
                        self._place(event), "the file holds more than one YAML document", "keep one document a file"
                    )
            elif isinstance(event, yaml.ScalarEvent):
                self._refuse_tag(event)
                self._scalar(stack, event)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._refuse_tag(event)
                self._start(stack, event, {} if isinstance(event, yaml.MappingStartEvent) else [])
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                done = stack.pop()
                if done.anchor:
                    self._anchor(done.anchor, done.value)
                self._close(stack)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(stack, event)
        return Document(file=self.file, value=self.root, positions=self.positions, findings=tuple(self.findings))

    def _place(self, event: Any) -> Position:
        return Position(file=self.file, line=event.start_mark.line + 1, column=event.start_mark.column + 1)

    def _spend(self, event: Any, weight: int = 1) -> None:
        self.count += weight
        if self.count > MAX_VALUES:
            raise _Refused(
                self._place(event), f"the file holds more than {MAX_VALUES:,} values", "remove repeated aliases"
            )

    def _refuse_tag(self, event: Any) -> None:
        if event.tag and not event.tag.startswith("tag:yaml.org,2002:str"):
            raise _Refused(
                self._place(event),
                f"the YAML tag `{event.tag[:60]}` is not allowed",
                "write the plain value without a tag",
            )

    def _scalar(self, stack: list[_Open], event: Any) -> None:
        self._spend(event)
        top = stack[-1] if stack else None
        if isinstance(top, _Open) and isinstance(top.value, dict) and not top.waiting:
            self._key(top, event)
            return
        value = event.value if event.style or event.tag else _plain(event.value)
        if event.anchor:
            self._anchor(event.anchor, value)
        self._put(stack, value, event)
        self._close(stack)

    def _key(self, top: _Open, event: Any) -> None:
        key = event.value
        if not event.style and key == "<<":
            raise _Refused(
                self._place(event), "YAML merge keys (`<<`) are not allowed", "write the keys out, or use a preset"
            )
        assert isinstance(top.value, dict)
        top.key, top.waiting, top.dropped = key, True, key in top.value
        path = (*top.path, key)
        if top.dropped:
            first = self.positions.get(path)
            self.findings.append(
                Finding(
                    code="GK1005",
                    severity=Severity.ERROR,
                    path=show_path(path),
                    problem=f"the key `{key[:80]}` stands twice"
                    + (f"; the first is in line {first.line}" if first else ""),
                    why="YAML would keep one of the two silently",
                    fix="keep one of them",
                    position=self._place(event),
                )
            )
        else:
            self.positions[path] = self._place(event)

    def _start(self, stack: list[_Open], event: Any, value: dict[str, Any] | list[Any]) -> None:
        self._spend(event)
        top = stack[-1] if stack else None
        if top is not None and isinstance(top.value, dict) and not top.waiting:
            raise _Refused(
                self._place(event), "a key must be text, not a mapping or a list", "write a plain word before the colon"
            )
        if len(stack) >= MAX_DEPTH:
            raise _Refused(
                self._place(event),
                f"the file nests deeper than {MAX_DEPTH} levels",
                "flatten it: no section needs that",
            )
        path = self._put(stack, value, event)
        stack.append(_Open(value=value, path=path, anchor=event.anchor))

    def _put(self, stack: list[_Open], value: Any, event: Any) -> KeyPath:
        if not stack:
            self.root = value
            self.positions.setdefault((), self._place(event))
            return ()
        top = stack[-1]
        if isinstance(top.value, list):
            path: KeyPath = (*top.path, len(top.value))
            top.value.append(value)
            self.positions[path] = self._place(event)
            return path
        assert top.key is not None
        if not top.dropped:
            top.value[top.key] = value
        return (*top.path, top.key)

    def _close(self, stack: list[_Open]) -> None:
        if stack:
            stack[-1].waiting = False

    def _anchor(self, name: str, value: Any) -> None:
        self.anchors[name] = value
        self.weights[name] = _weigh(value, MAX_VALUES)

    def _alias(self, stack: list[_Open], event: Any) -> None:
        if event.anchor not in self.anchors:
            raise _Refused(
                self._place(event),
                f"the alias `*{event.anchor[:60]}` refers to itself or to nothing",
                "write the value out",
            )
        top = stack[-1] if stack else None
        if top is not None and isinstance(top.value, dict) and not top.waiting:
            raise _Refused(self._place(event), "a key must be text, not an alias", "write the key out")
        self._spend(event, self.weights[event.anchor])
        self._put(stack, self.anchors[event.anchor], event)
        self._close(stack)


def _weigh(value: Any, limit: int) -> int:
    total, waiting = 0, [value]
    while waiting and total <= limit:
        item = waiting.pop()
        total += 1
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return total


def _plain(text: str) -> Any:
    """Resolve an unquoted scalar; anything that is no clear number or word stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and len(text) < 64:
        return WrittenFloat(text)
    return text


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _unreadable(file: str, place: Position | None, problem: str, fix: str) -> Document:
    finding = Finding(
        code="GK1001",
        severity=Severity.ERROR,
        path="",
        problem=problem,
        why="nothing can be planned from a text that cannot be read",
        fix=fix,
        position=place or Position(file=file, line=1, column=1),
    )
    return Document(file=file, value=None, findings=(finding,))
