"""Ask everything about a plan, and print the answers."""

import json
from typing import Any

from gpukit.plan import Plan
from gpukit.preflight.account import Account, NoCredentials, Refused
from gpukit.preflight.capacity import ask_offerings, ask_reservations
from gpukit.preflight.launch import ask_images, ask_launches
from gpukit.preflight.network import ask_file_systems, ask_network
from gpukit.preflight.probe import PreflightReport, ProbeResult, Verdict
from gpukit.preflight.quotas import ask_quotas

SCHEMA_VERSION = 1
_NO_ACCESS = frozenset(
    {
        "AuthFailure",
        "ConnectTimeoutError",
        "EndpointConnectionError",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "UnrecognizedClientException",
    }
)
"""Answers after which no further question makes sense: nobody is signed in, or AWS is out of reach."""


def run_preflight(plan: Plan, account: Account) -> PreflightReport:
    """
    Return what the account says to a plan: quotas, offerings, reservations, images, network, file systems, launches.

    Reads only; the one launch is a dry run. Raises NoCredentials where AWS cannot be asked at all.
    """
    limits: dict[str, float] = {}
    images: dict[str, str] = {}
    try:
        identity: str | None = str(account.ask("sts", "GetCallerIdentity")["Account"])
    except Refused as refused:
        if refused.code in _NO_ACCESS:
            raise NoCredentials(f"{refused.code}: {refused.message[:200]}") from refused
        identity = None
    results: list[ProbeResult] = [
        *ask_quotas(account, plan, limits),
        *ask_offerings(account, plan),
        *ask_reservations(account, plan, limits),
        *ask_network(account, plan),
        *ask_file_systems(account, plan),
        *ask_images(account, plan, images),
        *ask_launches(account, plan, images),
    ]
    return PreflightReport(
        account=identity, region=account.region, results=tuple(results), limits=dict(sorted(limits.items()))
    )


def render_report(report: PreflightReport) -> str:
    """Return the answers as text, those that failed first, then the unknown ones."""
    from gpukit.checks.plain import plain

    order = {Verdict.FAIL: 0, Verdict.UNKNOWN: 1, Verdict.PASS: 2}
    lines = [f"account {report.account or 'unknown'}, region {report.region}"]
    for result in sorted(report.results, key=lambda item: order[item.verdict]):
        lines.append(f"{result.verdict:<7} {plain(result.path)}: {plain(result.question)}: {plain(result.answer)}")
        if result.fix:
            lines.append(f"        fix: {plain(result.fix)}")
    counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in Verdict)
    return "\n".join([*lines, counts]) + "\n"


def render_report_json(report: PreflightReport) -> str:
    """Return the report as JSON; its `limits` can be fed to `gpukit check --limits`."""
    value: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "account": report.account,
        "region": report.region,
        "results": [
            {
                "probe": item.probe,
                "path": item.path,
                "question": item.question,
                "verdict": str(item.verdict),
                "answer": item.answer,
                "fix": item.fix,
                "action": item.action,
            }
            for item in report.results
        ],
        "limits": dict(report.limits),
        "counts": {str(verdict): report.count(verdict) for verdict in Verdict},
    }
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
