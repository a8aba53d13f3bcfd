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
_KEY_USAGES: Final = {
    "RSA_2048": ("ENCRYPT_DECRYPT", "SIGN_VERIFY"),
    "RSA_3072": ("ENCRYPT_DECRYPT", "SIGN_VERIFY"),
    "RSA_4096": ("ENCRYPT_DECRYPT", "SIGN_VERIFY"),
    "ECC_NIST_P256": ("SIGN_VERIFY", "KEY_AGREEMENT"),
    "ECC_NIST_P384": ("SIGN_VERIFY", "KEY_AGREEMENT"),
    "ECC_NIST_P521": ("SIGN_VERIFY", "KEY_AGREEMENT"),
    "ECC_NIST_EDWARDS25519": ("SIGN_VERIFY",),
    "ECC_SECG_P256K1": ("SIGN_VERIFY",),
    "HMAC_224": ("GENERATE_VERIFY_MAC",),
    "HMAC_256": ("GENERATE_VERIFY_MAC",),
    "HMAC_384": ("GENERATE_VERIFY_MAC",),
    "HMAC_512": ("GENERATE_VERIFY_MAC",),
    "ML_DSA_44": ("SIGN_VERIFY",),
    "ML_DSA_65": ("SIGN_VERIFY",),
    "ML_DSA_87": ("SIGN_VERIFY",),
    "ML_KEM_512": ("ENCAPSULATE_DECAPSULATE",),
    "ML_KEM_768": ("ENCAPSULATE_DECAPSULATE",),
    "ML_KEM_1024": ("ENCAPSULATE_DECAPSULATE",),
    "SM2": ("ENCRYPT_DECRYPT", "SIGN_VERIFY", "KEY_AGREEMENT"),
    "SYMMETRIC_DEFAULT": ("ENCRYPT_DECRYPT",),
}
"""What each key spec is for. Source: KMS API reference, CreateKey: KeyUsage."""


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


@rule("kms", "CreateKey", source="KMS API reference, CreateKey: KeyUsage and KeySpec; botocore kms model")
def key_usage_fits_its_spec(call: ApiCall) -> None:
    """A usage that the key spec has, and named for all but symmetric encryption keys."""
    spec = call.params.get("KeySpec") or call.params.get("CustomerMasterKeySpec") or "SYMMETRIC_DEFAULT"
    usage = call.params.get("KeyUsage")
    if usage is None and spec != "SYMMETRIC_DEFAULT":
        raise AwsError("ValidationException", f"You must specify a KeyUsage value for a key of KeySpec {spec}.")
    if usage is not None and usage not in _KEY_USAGES[spec]:
        raise AwsError("ValidationException", f"KeyUsage {usage} is not compatible with KeySpec {spec}.")


@rule("kms", "CreateKey", source="KMS API reference, CreateKey: Origin, CustomKeyStoreId, XksKeyId; botocore kms model")
def key_origin_has_its_store(call: ApiCall) -> None:
    """A key store for the origins that are kept in one; an external key's id for that of an external store alone."""
    origin = call.params.get("Origin") or "AWS_KMS"
    if origin in ("AWS_CLOUDHSM", "EXTERNAL_KEY_STORE") and not call.params.get("CustomKeyStoreId"):
        raise AwsError("ValidationException", f"Origin {origin} needs a CustomKeyStoreId.")
    if (origin == "EXTERNAL_KEY_STORE") != bool(call.params.get("XksKeyId")):
        raise AwsError("ValidationException", f"XksKeyId goes with Origin EXTERNAL_KEY_STORE; the origin is {origin}.")


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
