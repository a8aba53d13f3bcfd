"""KMS keys: the waiting time before deletion, states, aliases."""

import re
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

PENDING_DAYS: Final = (7, 30)
_KMS_DOC: Final = "KMS API reference, ScheduleKeyDeletion; KMS Developer Guide, key states of KMS keys"

_NEEDS_ENABLED: Final = (
    "Encrypt",
    "Decrypt",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "ReEncrypt",
    "Sign",
    "Verify",
    "CreateGrant",
)
_REFUSED_WHILE_PENDING: Final = (
    "EnableKey",
    "DisableKey",
    "ScheduleKeyDeletion",
    "EnableKeyRotation",
    "DisableKeyRotation",
    "TagResource",
    "UntagResource",
    "CreateAlias",
    "UpdateAlias",
    "UpdateKeyDescription",
)


def find_key(call: ApiCall, identifier: str) -> Any:
    """Return the key that an id, ARN or alias names; None without one."""
    keys = get_backend("kms")[ACCOUNT_ID][call.region]
    name = identifier.rsplit(":", 1)[-1]
    if name.startswith("alias/"):
        for key_id, key in keys.keys.items():
            if name in keys.get_all_aliases().get(key_id, ()):
                return key
        return None
    return keys.keys.get(name.removeprefix("key/"))


@rule("kms", "ScheduleKeyDeletion", source=_KMS_DOC)
def waiting_time_is_seven_to_thirty_days(call: ApiCall) -> None:
    """7 to 30 days: the service is stricter than its model."""
    days = call.params.get("PendingWindowInDays")
    if days is not None and not PENDING_DAYS[0] <= int(days) <= PENDING_DAYS[1]:
        raise AwsError(
            "ValidationException",
            f"PendingWindowInDays must be between {PENDING_DAYS[0]} and {PENDING_DAYS[1]}; it is {days}.",
        )


@rule("kms", *_REFUSED_WHILE_PENDING, source=_KMS_DOC)
def key_is_not_pending_deletion(call: ApiCall) -> None:
    """A key that waits for its deletion can be looked at and called back, and nothing else."""
    key = find_key(call, call.params.get("KeyId") or call.params.get("TargetKeyId") or "")
    if key is not None and key.key_state == "PendingDeletion":
        raise AwsError("KMSInvalidStateException", f"{key.arn} is pending deletion.")


@rule("kms", *_NEEDS_ENABLED, source=_KMS_DOC)
def key_is_enabled(call: ApiCall) -> None:
    """A disabled key does no work (DisabledException); one that waits for deletion neither."""
    key = find_key(call, call.params.get("KeyId") or "")
    if key is None:
        return
    if key.key_state == "PendingDeletion":
        raise AwsError("KMSInvalidStateException", f"{key.arn} is pending deletion.")
    if key.key_state == "Disabled":
        raise AwsError("DisabledException", f"{key.arn} is disabled.")


@rule("kms", "CancelKeyDeletion", source=_KMS_DOC)
def key_is_pending_deletion(call: ApiCall) -> None:
    """Only a scheduled deletion can be called back."""
    key = find_key(call, call.params.get("KeyId") or "")
    if key is not None and key.key_state != "PendingDeletion":
        raise AwsError("KMSInvalidStateException", f"{key.arn} is not pending deletion.")


@rule("kms", "CreateAlias", "UpdateAlias", source="KMS API reference, CreateAlias")
def alias_is_well_formed(call: ApiCall) -> None:
    """alias/name, not alias/aws/..., letters, digits, / _ -."""
    name = call.params.get("AliasName") or ""
    if name.startswith("alias/aws/"):
        raise AwsError("NotAuthorizedException", "Aliases that begin with alias/aws/ are reserved.")
    if not re.fullmatch(r"alias/[a-zA-Z0-9/_-]+", name):
        raise AwsError(
            "InvalidAliasNameException" if name.startswith("alias/") else "ValidationException",
            f"Alias name {name} is invalid: it looks like alias/name.",
        )


@rule("kms", "EnableKeyRotation", source="KMS API reference, EnableKeyRotation: RotationPeriodInDays")
def rotation_period_is_valid(call: ApiCall) -> None:
    """90 to 2,560 days, symmetric keys only."""
    days = call.params.get("RotationPeriodInDays")
    if days is not None and not 90 <= int(days) <= 2_560:
        raise AwsError("ValidationException", f"RotationPeriodInDays must be between 90 and 2560; it is {days}.")
    key = find_key(call, call.params.get("KeyId") or "")
    if key is not None and getattr(key, "key_spec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        raise AwsError("UnsupportedOperationException", "Only symmetric keys rotate.")
