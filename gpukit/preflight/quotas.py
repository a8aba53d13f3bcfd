"""Ask Service Quotas for the account's own limits, and hold the plan against them."""

from collections.abc import Iterator

from gpukit.decide.limits import service_of_limit
from gpukit.plan import LimitLine, Plan
from gpukit.preflight.account import Account, Refused
from gpukit.preflight.answers import unknown_because
from gpukit.preflight.probe import ProbeResult, Verdict

ACTIONS = ("servicequotas:ListServiceQuotas", "servicequotas:ListAWSDefaultServiceQuotas")
"""Actions as IAM spells them."""


def ask_quotas(account: Account, plan: Plan, limits: dict[str, float]) -> Iterator[ProbeResult]:
    """Yield one answer for each limit with a quota code; every value that was read is added to `limits`."""
    lines = [line for line in plan.limits if line.quota_code and line.verdict != "not-counted"]
    by_service: dict[str, list[LimitLine]] = {}
    for line in lines:
        by_service.setdefault(service_of_limit(line.id), []).append(line)
    for service in sorted(by_service):
        try:
            values = _read(account, service)
        except Refused as refused:
            for line in by_service[service]:
                yield unknown_because(refused, probe="quota", path=_path(line), question=_question(line))
            continue
        for line in by_service[service]:
            value = values.get(str(line.quota_code))
            if value is not None:
                limits[str(line.quota_code)] = value
            yield _judge(line, value, service)


def _read(account: Account, service: str) -> dict[str, float]:
    """Return quota code -> value: AWS's defaults, and the account's own values over them."""
    values: dict[str, float] = {}
    refusals: list[Refused] = []
    for operation in ("ListAWSDefaultServiceQuotas", "ListServiceQuotas"):
        try:
            for quota in account.ask_all("service-quotas", operation, "Quotas", ServiceCode=service, MaxResults=100):
                if quota.get("Value") is not None:
                    values[quota["QuotaCode"]] = float(quota["Value"])
        except Refused as refused:
            # the account's own values are what counts: without them a default proves nothing
            if operation == "ListServiceQuotas":
                raise
            refusals.append(refused)
    if not values and refusals:
        raise refusals[0]
    return values


def _judge(line: LimitLine, value: float | None, service: str) -> ProbeResult:
    verdict, answer, fix = Verdict.PASS, "", ""
    if value is None:
        verdict = Verdict.UNKNOWN
        answer = f"Service Quotas lists no {line.quota_code} for {service}"
        fix = "look it up in the console"
    elif line.used is None:
        verdict, answer, fix = (
            Verdict.UNKNOWN,
            f"the limit is {value:,.6g}; what the plan needs is not known",
            "size it",
        )
    elif line.used > value:
        verdict = Verdict.FAIL
        answer = f"{line.used:,.6g} {line.unit} are needed, and the account has {value:,.6g}"
        fix = line.how_to_raise
    else:
        answer = f"{line.used:,.6g} of {value:,.6g} {line.unit}"
    return ProbeResult(
        probe="quota",
        path=_path(line),
        question=_question(line),
        verdict=verdict,
        answer=answer,
        fix=fix,
        action="servicequotas:ListServiceQuotas",
    )


def _path(line: LimitLine) -> str:
    return f"limits.{line.quota_code}"


def _question(line: LimitLine) -> str:
    return f"{line.what} ({line.quota_code})"
