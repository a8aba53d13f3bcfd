"""
Service quotas: AWS's defaults with their codes, what the sandbox's account was granted, and what a request raised.

A new account may run no P or G instance at all; the sandbox's account has had its quotas raised so that the presets come up. Everything else stands at
AWS's default. `RequestServiceQuotaIncrease` is granted at once; `POST /_gpukit/quotas` sets any value, lower ones too.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox.cloud.admin import route
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.faults import Faults
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, DEFAULT_REGION, World, new_id

KIND: Final = "_quotas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One row of data/quotas.csv."""

    service: str
    code: str
    name: str
    key: str
    default: float
    granted: float
    adjustable: bool
    source: str


@cache
def quotas() -> dict[str, Quota]:
    """Return every quota by code."""
    with (Path(__file__).parent / "data" / "quotas.csv").open(encoding="utf-8", newline="") as source:
        return {
            row["code"]: Quota(
                service=row["service"],
                code=row["code"],
                name=row["name"],
                key=row["key"],
                default=float(row["default"]),
                granted=float(row["sandbox"]),
                adjustable=row["adjustable"] == "yes",
                source=row["source"],
            )
            for row in csv.DictReader(source)
        }


def quota(world: World, region: str, service: str, key: str) -> float:
    """Return the value that applies in a region, by our own short name of the quota."""
    for each in quotas().values():
        if (each.service, each.key) == (service, key):
            return quota_by_code(world, region, each.code)
    raise KeyError(f"no quota {service}/{key}")


def quota_by_code(world: World, region: str, code: str) -> float:
    """Return the value that applies in a region, by AWS's code."""
    return float(world.table(region, KIND).get(code, {}).get("value", quotas()[code].granted))


@action("service-quotas", "GetServiceQuota")
def get_service_quota(call: ApiCall) -> dict[str, Any]:
    """Return the value that applies. Raises NoSuchResourceException."""
    return {"Quota": _describe(call, _find(call))}


@action("service-quotas", "GetAWSDefaultServiceQuota")
def get_default_service_quota(call: ApiCall) -> dict[str, Any]:
    """Return AWS's default. Raises NoSuchResourceException."""
    return {"Quota": _describe(call, _find(call), default=True)}


@action("service-quotas", "ListServiceQuotas")
def list_service_quotas(call: ApiCall) -> dict[str, Any]:
    """Return every quota of a service that the sandbox knows."""
    return {"Quotas": [_describe(call, each) for each in _of_service(call)]}


@action("service-quotas", "ListAWSDefaultServiceQuotas")
def list_default_service_quotas(call: ApiCall) -> dict[str, Any]:
    """Return AWS's defaults of a service."""
    return {"Quotas": [_describe(call, each, default=True) for each in _of_service(call)]}


@action("service-quotas", "ListServices")
def list_services(_call: ApiCall) -> dict[str, Any]:
    """Return the services that have quotas here."""
    return {
        "Services": [
            {"ServiceCode": name, "ServiceName": name} for name in sorted({each.service for each in quotas().values()})
        ]
    }


@action("service-quotas", "RequestServiceQuotaIncrease")
def request_service_quota_increase(call: ApiCall) -> dict[str, Any]:
    """Grant a higher value at once. Raises InvalidResourceStateException for a fixed quota, IllegalArgumentException for a lower value."""
    found, desired = _find(call), float(call.params["DesiredValue"])
    if not found.adjustable:
        raise AwsError("InvalidResourceStateException", f"The quota {found.code} is not adjustable.")
    if desired <= quota_by_code(call.world, call.region, found.code):
        raise AwsError("IllegalArgumentException", "The desired value must be greater than the current quota value.")
    call.world.table(call.region, KIND)[found.code] = {"value": desired}
    return {
        "RequestedQuota": {
            "Id": new_id("", 32).lstrip("-"),
            "ServiceCode": found.service,
            "ServiceName": found.service,
            "QuotaCode": found.code,
            "QuotaName": found.name,
            "DesiredValue": desired,
            "Status": "APPROVED",
            "Created": call.world.now(),
            "QuotaArn": f"arn:aws:servicequotas:{call.region}:{ACCOUNT_ID}:{found.service}/{found.code}",
        }
    }


@action("service-quotas", "ListRequestedServiceQuotaChangeHistory", "ListRequestedServiceQuotaChangeHistoryByQuota")
def list_requests(_call: ApiCall) -> dict[str, Any]:
    """Return no open request: the sandbox grants each at once."""
    return {"RequestedQuotas": []}


@route("GET", "/quotas")
def _read(_request: dict[str, Any], world: World, _faults: Faults) -> Any:
    return {
        region: {code: row["value"] for code, row in world.table(region, KIND).items()}
        for region in world.regions_with(KIND)
    } | {"granted": {code: each.granted for code, each in quotas().items()}}


@route("POST", "/quotas")
def _write(request: dict[str, Any], world: World, _faults: Faults) -> Any:
    """Set `code` to `value` in `region` (us-east-1 when left out)."""
    code, region = str(request["code"]), str(request.get("region", DEFAULT_REGION))
    if code not in quotas():
        raise ValueError(f"no quota {code}")
    world.table(region, KIND)[code] = {"value": float(request["value"])}
    return {"code": code, "region": region, "value": float(request["value"])}


def _find(call: ApiCall) -> Quota:
    found = quotas().get(call.params.get("QuotaCode", ""))
    if found is None or found.service != call.params.get("ServiceCode"):
        raise AwsError(
            "NoSuchResourceException", "The request failed because the specified service quota does not exist."
        )
    return found


def _of_service(call: ApiCall) -> list[Quota]:
    found = [each for each in quotas().values() if each.service == call.params.get("ServiceCode")]
    if not found:
        raise AwsError(
            "NoSuchResourceException",
            f"The request failed because the service {call.params.get('ServiceCode')} does not exist.",
        )
    return found


def _describe(call: ApiCall, each: Quota, *, default: bool = False) -> dict[str, Any]:
    return {
        "ServiceCode": each.service,
        "ServiceName": each.service,
        "QuotaArn": f"arn:aws:servicequotas:{call.region}:{ACCOUNT_ID}:{each.service}/{each.code}",
        "QuotaCode": each.code,
        "QuotaName": each.name,
        "Value": each.default if default else quota_by_code(call.world, call.region, each.code),
        "Unit": "None",
        "Adjustable": each.adjustable,
        "GlobalQuota": each.service in ("iam", "s3"),
    }
