"""What a sweep found, for people and for programs."""

import json

from gpukit.checks.plain import plain
from gpukit.leaks.sweep import Sweep


def render_sweep(sweep: Sweep) -> str:
    """Return what is left, what bills first, and what could not be looked at."""
    lines: list[str] = []
    for item in sweep.leftovers:
        told = ", ".join(part for part in (item.name, item.note) if part)
        bills = "bills" if item.costs else "free "
        lines.append(f"{bills}  {item.kind}: {plain(item.id)}" + (f" ({plain(told)})" if told else ""))
    for action, why in sweep.not_asked:
        lines.append(f"unknown  {action}: {plain(why)}")
    left, billing = len(sweep.leftovers), len(sweep.billing)
    verdict = (
        f"{left} left of `{plain(sweep.stack)}` in {sweep.region}, {billing} of them bill"
        if left
        else f"nothing is left of `{plain(sweep.stack)}` in {sweep.region}"
    )
    if sweep.not_asked:
        verdict += f"; {len(sweep.not_asked)} could not be looked at"
    return "\n".join([*lines, verdict]) + "\n"


def render_sweep_json(sweep: Sweep) -> str:
    """Return the same as JSON."""
    value = {
        "schema_version": 1,
        "stack": sweep.stack,
        "region": sweep.region,
        "leftovers": [
            {"kind": item.kind, "id": item.id, "costs": item.costs, "name": item.name, "note": item.note}
            for item in sweep.leftovers
        ],
        "not_asked": [{"action": action, "why": why} for action, why in sweep.not_asked],
    }
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
