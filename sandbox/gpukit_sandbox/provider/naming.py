"""Names for resources that state none: `name-` and seven hexadecimal digits, as the real provider makes them."""

import hashlib
import secrets
from typing import Any, Final

from gpukit_sandbox.provider.resource import Resource
from gpukit_sandbox.provider.values import Properties

SUFFIX_DIGITS: Final = 7


def fill_name(resource: Resource, request: Any, old: Properties, new: Properties) -> None:
    """Put a name into `new` where the type has one and none is stated, keeping the one that stands; notes it in `__defaults`."""
    name = resource.autoname
    if not name or name not in resource.type.inputs or name in new:
        return
    made_before = name in (old.get("__defaults") or []) and name in old
    prefix = new.get(f"{name}Prefix")
    if prefix:
        value = (
            old[name]
            if made_before and str(old[name]).startswith(str(prefix))
            else f"{prefix}{_digits(request.randomSeed, 26)}"
        )
    elif made_before:
        value = old[name]
    else:
        value = _propose(resource, request)
    new[name] = value
    new.setdefault("__defaults", []).append(name)


def _propose(resource: Resource, request: Any) -> str:
    options = request.autonaming if request.HasField("autonaming") else None
    if options is not None and options.mode == options.DISABLE:
        raise ValueError(f"automatic naming is disabled but no {resource.autoname!r} is stated")
    if options is not None and options.proposed_name:
        return str(options.proposed_name)
    base = str(request.name) or str(request.urn).rsplit("::", 1)[-1]
    suffix = f"-{_digits(request.randomSeed, SUFFIX_DIGITS)}"
    return resource.shape_name(base[: resource.autoname_max - len(suffix)] + suffix)


def _digits(seed: bytes, count: int) -> str:
    if not seed:
        return secrets.token_hex(count)[:count]
    return hashlib.sha256(seed).hexdigest()[:count]
