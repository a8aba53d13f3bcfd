"""
The allow list: a file of the repository that lets one exact thing through a gate, for a reason, until a day.

    allow:
      - gate: replace                      # the gate's word; a limit as in cost>500 or none for any limit
        resource: "*NodeGroup train-a"     # glob over "<type> <name>" or the URN; needed for replace, delete, danger
        stack: prod                        # glob; without it every stack
        reason: new AMI needs a new launch template; agreed in the review of 3 March
        expires: 2026-12-31                # last day on which it holds
        approver: "@platform-team"         # an owner of this file by CODEOWNERS
"""

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

ALLOW_LIST_PATH: Final = ".gpukit/allow.yaml"
CODEOWNERS_PATHS: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where code hosts look for owners. Source: GitHub and GitLab docs on code owners, 2026-08."""

_KEYS: Final = frozenset({"gate", "resource", "stack", "reason", "expires", "approver"})
_NEEDS_RESOURCE: Final = frozenset({"replace", "delete", "danger"})
_MAX_DAYS: Final = 366
"""An exception that outlives a year is a rule; it belongs into the gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowEntry:
    """One exception."""

    gate: str
    resource: str
    stack: str
    reason: str
    expires: datetime.date
    approver: str

    def covers(self, gate: str, kind: str, *, name: str, type_token: str, urn: str) -> bool:
        """Tell whether the entry lifts a refusal of that gate on that resource."""
        if self.gate not in (gate, kind):
            return False
        if not self.resource:
            return not urn
        return fnmatchcase(f"{type_token} {name}".strip(), self.resource) or (
            bool(urn) and fnmatchcase(urn, self.resource)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowList:
    """Entries that hold, and in whole sentences why others do not."""

    entries: tuple[AllowEntry, ...] = ()
    notes: tuple[str, ...] = ()


def parse_allow_list(text: str, *, where: str = ALLOW_LIST_PATH) -> AllowList:
    """Return the entries of the file; a broken one is left out and named, because leaving it out refuses more."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return AllowList(notes=(f"{where} is not YAML and allows nothing: {str(error).splitlines()[0]}",))
    if document is None:
        return AllowList()
    items = document.get("allow") if isinstance(document, dict) else None
    if not isinstance(items, list):
        return AllowList(notes=(f"{where} has no list `allow` and allows nothing",))
    entries: list[AllowEntry] = []
    notes: list[str] = []
    for index, item in enumerate(items):
        entry, problem = _parse_entry(item)
        if entry is not None:
            entries.append(entry)
        else:
            notes.append(f"{where}: allow[{index}] is left out: {problem}")
    return AllowList(entries=tuple(entries), notes=tuple(notes))


def valid_entries(
    allowed: AllowList, *, stack: str, today: datetime.date, owners: Iterable[str], where: str = ALLOW_LIST_PATH
) -> AllowList:
    """Return the entries that hold for a stack on a day, given the owners of the list; the rest becomes notes."""
    owners = tuple(owners)
    entries: list[AllowEntry] = []
    notes = list(allowed.notes)
    for entry in allowed.entries:
        label = f"{where}: `{entry.gate}` for `{entry.resource or 'the whole change'}`"
        if not fnmatchcase(stack, entry.stack):
            continue
        if entry.expires < today:
            notes.append(f"{label} expired on {entry.expires}")
        elif (entry.expires - today).days > _MAX_DAYS:
            notes.append(f"{label} is left out: it expires in more than a year ({entry.expires})")
        elif not owners:
            notes.append(f"{label} is left out: CODEOWNERS of the base revision names no owner of {where}")
        elif entry.approver.lower() not in (owner.lower() for owner in owners):
            notes.append(f"{label} is left out: {entry.approver} is no owner of {where} ({', '.join(owners)})")
        else:
            entries.append(entry)
    return AllowList(entries=tuple(entries), notes=tuple(notes))


def owners_of(codeowners: str, path: str = ALLOW_LIST_PATH) -> tuple[str, ...]:
    """Return who owns a path by a CODEOWNERS file: the last line that matches wins; sections' defaults count too."""
    owners: tuple[str, ...] = ()
    section_owners: tuple[str, ...] = ()
    for line in codeowners.splitlines():
        line = re.sub(r"(?<!\\)#.*$", "", line).strip()
        section = re.match(r"^\^?\[[^\]]+\](?:\[\d+\])?\s*(.*)$", line)
        if section:
            section_owners = tuple(section.group(1).split())
            continue
        if not line:
            continue
        pattern, *names = re.split(r"(?<!\\)\s+", line)
        if _pattern_matches(pattern.replace("\\ ", " "), path):
            owners = tuple(names) or section_owners
    return owners


def _parse_entry(item: Any) -> tuple[AllowEntry | None, str]:
    if not isinstance(item, dict):
        return None, "it is no mapping"
    unknown = sorted(str(key) for key in item.keys() - _KEYS)
    if unknown:
        return None, f"unknown key `{unknown[0]}`; valid are {', '.join(sorted(_KEYS))}"
    for key in ("gate", "reason", "approver"):
        if not isinstance(item.get(key), str) or not item[key].strip():
            return None, f"`{key}` is missing"
    expires = item.get("expires")
    if isinstance(expires, str):
        try:
            expires = datetime.date.fromisoformat(expires)
        except ValueError:
            return None, f"`expires: {expires}` is no date like 2026-12-31"
    if isinstance(expires, datetime.datetime) or not isinstance(expires, datetime.date):
        return None, "`expires` is missing"
    gate = item["gate"].replace(" ", "")
    resource = str(item.get("resource", "") or "")
    if gate in _NEEDS_RESOURCE and not resource.strip("*? "):
        return None, f"`resource` must name what `{gate}` may touch; `*` alone would switch the gate off"
    return (
        AllowEntry(
            gate=gate,
            resource=resource,
            stack=str(item.get("stack", "*")),
            reason=item["reason"].strip(),
            expires=expires,
            approver=item["approver"].strip(),
        ),
        "",
    )


def _pattern_matches(pattern: str, path: str) -> bool:
    """Match like .gitignore: a leading or middle slash anchors, `*` stays in a folder, `**` does not."""
    anchored = pattern.startswith("/") or "/" in pattern.rstrip("/")[1:]
    body = pattern.strip("/")
    if not body:
        return False
    expression = ""
    index = 0
    while index < len(body):
        if body.startswith("**/", index):
            expression, index = expression + "(?:.*/)?", index + 3
        elif body.startswith("**", index):
            expression, index = expression + ".*", index + 2
        elif body[index] == "*":
            expression, index = expression + "[^/]*", index + 1
        elif body[index] == "?":
            expression, index = expression + "[^/]", index + 1
        else:
            expression, index = expression + re.escape(body[index]), index + 1
    # A pattern owns a folder's whole content, except `folder/*`, which stops at the first level.
    tail = "" if body.endswith("/*") else "(?:/.*)?"
    return re.fullmatch(("" if anchored else "(?:.*/)?") + expression + tail, path) is not None
