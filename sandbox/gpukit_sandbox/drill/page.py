"""The drill as one static page: what happened, and who ran where. No script, no network, nothing to install."""

import html
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from gpukit_sandbox.drill.record import Picture, Record

_COLOURS: Final = ("#2f6fb2", "#c46a1b", "#3b8a4e", "#8a4fa3", "#b0413e", "#4c8f8f")
_IDLE, _LOST = "#d9dde2", "#222222"
_STYLE: Final = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8884;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.bad{color:#b0413e;font-weight:600}
figure{margin:1.5rem 0}
figcaption{font-weight:600;margin-bottom:.4rem}
.zone{border:1px solid #8888;border-radius:6px;padding:.5rem .7rem;margin:.4rem 0}
.racks{display:flex;flex-wrap:wrap;gap:.5rem}
.rack{border:1px solid #8886;border-radius:4px;padding:.25rem .35rem}
.rack small{display:block;max-width:9rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.hosts{display:grid;grid-template-columns:repeat(6,12px);gap:3px}
.hosts i{width:12px;height:12px;border-radius:2px;display:block}
.key span{display:inline-block;margin-right:1.2rem}
.key i{display:inline-block;width:12px;height:12px;border-radius:2px;margin-right:.4rem;vertical-align:-1px}
"""


def render_page(record: Record) -> str:
    """Return the page."""
    verdict = "every promise held" if record.ok else f"broken: {record.broken}"
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>gpukit drill {_text(record.preset)}</title><style>{_STYLE}</style>",
        f"<h1>Drill of {_text(record.preset)}: {record.gpus:,} GPUs on {record.nodes} nodes</h1>",
        f"<p class={'good' if record.ok else 'bad'}>{_text(verdict)}</p>",
        *([f"<p>Where: {_text(record.where)}</p>"] if record.where else []),
        *([f"<p>Why: {_text(record.why)}</p>"] if record.why and not record.ok else []),
        _numbers(record),
        _steps(record),
        _utilization(record),
        *map(_picture, record.pictures),
        "</html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _numbers(record: Record) -> str:
    words = {
        "seconds_to_running": "seconds from nothing to the job over all GPUs",
        "peak_memory_mib": "MiB of memory at most",
    }
    items = [f"<li>{value:,.0f} {_text(words.get(name, name))}" for name, value in record.numbers.items()]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _steps(record: Record) -> str:
    rows = "".join(
        f"<tr{'' if step.ok else ' class=bad'}><td>{_text(step.name)}<td class=n>{step.seconds:.1f}<td class=n>{step.since_start:.1f}<td>{_text(step.result)}"
        for step in record.steps
    )
    return f"<table><tr><th>step<th class=n>seconds<th class=n>at<th>result{rows}</table>"


def _utilization(record: Record) -> str:
    if not record.utilization:
        return ""
    names = list(record.utilization[0])
    head = "".join(f"<th>{_text(name.replace('_', ' '))}" for name in names)
    rows = "".join("<tr>" + "".join(f"<td>{_text(str(row[name]))}" for name in names) for row in record.utilization)
    return f"<h2>A day of jobs, twice</h2><table><tr>{head}</tr>{rows}</table>"


def _picture(picture: Picture) -> str:
    jobs = sorted({host.job for host in picture.hosts if host.job})
    colours = {job: _COLOURS[number % len(_COLOURS)] for number, job in enumerate(jobs)}
    key = [(colours[job], f"{job} ({sum(host.job == job for host in picture.hosts)})") for job in jobs]
    idle = sum(not host.job and host.ready for host in picture.hosts)
    lost = sum(not host.ready for host in picture.hosts)
    key += [(_IDLE, f"idle ({idle})")] if idle else []
    key += [(_LOST, f"failed ({lost})")] if lost else []
    legend = "".join(f"<span><i style='background:{colour}'></i>{_text(name)}</span>" for colour, name in key)
    zones = []
    for zone, hosts in groupby(picture.hosts, key=lambda host: host.zone):
        racks = []
        for rack, members in groupby(hosts, key=lambda host: host.rack):
            cells = "".join(
                f"<i style='background:{colours.get(host.job, _IDLE) if host.ready else _LOST}' title='{_text(host.name)}: {_text(host.job or 'idle')}'></i>"
                for host in members
            )
            racks.append(
                f"<div class=rack><small title='{_text(rack)}'>{_text(rack or '-')}</small><div class=hosts>{cells}</div></div>"
            )
        zones.append(f"<div class=zone>{_text(zone or 'no cooling zone')}<div class=racks>{''.join(racks)}</div></div>")
    return f"<figure><figcaption>{_text(picture.title)}</figcaption><p class=key>{legend}</p>{''.join(zones)}</figure>"


def render_table(record: Record, width: Sequence[int] = (34, 8, 8)) -> str:
    """Return the steps as text."""
    lines = [f"{'step':<{width[0]}} {'seconds':>{width[1]}} {'at':>{width[2]}}  result"]
    for step in record.steps:
        mark = "" if step.ok else "BROKEN: "
        lines.append(
            f"{step.name:<{width[0]}} {step.seconds:>{width[1]}.1f} {step.since_start:>{width[2]}.1f}  {mark}{step.result}"
        )
    return "\n".join(lines)


def _text(text: str) -> str:
    return html.escape(text, quote=True)
