"""Find the numbers people decide by, in a plan's JSON or among the outputs of a stack; what is not there is unknown."""

import json
import math
from dataclasses import replace
from typing import Any, Final

from gpukit.report.change import Change, Numbers, UnreadablePreview

_TOTALS_KEYS: Final = ("totals", "gpukit:totals", "gpukit_totals", "gpukitTotals")


def numbers_from_totals(totals: Any) -> Numbers:
    """Return the numbers of a `totals` mapping, in snake or camel case; values that are no numbers are unknown."""
    if isinstance(totals, str):
        try:
            totals = json.loads(totals)
        except ValueError:
            return Numbers()
    if not isinstance(totals, dict):
        return Numbers()
    gpus, nodes, unpriced = (_number(totals, key) for key in ("gpus", "nodes", "unpriced"))
    return Numbers(
        gpus=None if gpus is None else round(gpus),
        nodes=None if nodes is None else round(nodes),
        hourly_usd=_number(totals, "hourly_usd"),
        monthly_usd=_number(totals, "monthly_usd"),
        it_kw=_number(totals, "it_kw"),
        kgco2e_per_month=_number(totals, "kgco2e_per_month"),
        unpriced=None if unpriced is None else round(unpriced),
    )


def numbers_from_outputs(outputs: dict[str, Any]) -> Numbers:
    """Return the numbers that gpukit's stacks export under `totals`; all unknown where a stack exports none."""
    for key in _TOTALS_KEYS:
        if key in outputs:
            return numbers_from_totals(outputs[key])
    return Numbers()


def parse_plan_numbers(text: str, *, where: str) -> Numbers:
    """Return the numbers of a plan's JSON (`gpukit plan --json`); raises UnreadablePreview for people."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UnreadablePreview(f"{where} is not JSON ({error}); write it with: gpukit plan --json") from error
    if isinstance(document, dict) and isinstance(document.get("plan"), dict):
        document = document["plan"]
    if not isinstance(document, dict) or not isinstance(document.get("totals"), dict):
        raise UnreadablePreview(f"{where} has no `totals`; write it with: gpukit plan --json")
    return numbers_from_totals(document["totals"])


def with_numbers(change: Change, *, before: Numbers | None = None, after: Numbers | None = None) -> Change:
    """Return the change with numbers known better than by its source."""
    return replace(change, before=before or change.before, after=after or change.after)


def with_carried_numbers(change: Change) -> Change:
    """Return the change with `after` = `before` where nothing is touched: then nothing can have moved."""
    unknown = Numbers()
    if change.is_empty and change.complete and change.after == unknown and change.before != unknown:
        return replace(change, after=change.before)
    return change


def _number(totals: dict[str, Any], key: str) -> float | None:
    head, *rest = key.split("_")
    value = totals.get(key, totals.get(head + "".join(part.capitalize() for part in rest)))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)
