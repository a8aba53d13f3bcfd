"""S3: bucket names, the constraint of the Region, lifecycle rules, what keeps a bucket."""

import ipaddress
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from moto.backends import get_backend
from moto.core.utils import get_service_model

from gpukit.catalog import load_catalog
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.policy_rules import statements
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

_BUCKET_DOC: Final = "S3 User Guide, bucket naming rules; S3 API reference, CreateBucket"
_LIFECYCLE_DOC: Final = "S3 User Guide, lifecycle configuration elements and transition constraints"
MIN_DAYS_BEFORE_IA: Final = 30
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIXES: Final = ("xn--", "sthree-", "amzn-s3-demo-")
_SUFFIXES: Final = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")
_WATERFALL: Final = ("STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE")


@cache
def _regions() -> frozenset[str]:
    return frozenset(get_service_model("s3").shape_for("BucketLocationConstraint").enum) | {
        each.name for each in load_catalog().regions()
    }


def find_bucket(name: str) -> Any:
    """Return a bucket of any account here; None without one."""
    return get_backend("s3")[ACCOUNT_ID]["aws"].buckets.get(name)


@rule("s3", "CreateBucket", source=_BUCKET_DOC)
def bucket_name_is_valid(call: ApiCall) -> None:
    """3 to 63 lower-case letters, digits, dots and hyphens; no address; none of S3's own prefixes and suffixes."""
    name = call.params.get("Bucket", "")
    bad = not _NAME.fullmatch(name) or ".." in name or name.startswith(_PREFIXES[:2]) or name.endswith(_SUFFIXES)
    try:
        ipaddress.IPv4Address(name)
        bad = True
    except ValueError:
        pass
    if bad:
        raise AwsError("InvalidBucketName", "The specified bucket is not valid.", fields={"BucketName": name})


@rule("s3", "CreateBucket", source=_BUCKET_DOC)
def bucket_constraint_is_the_region(call: ApiCall) -> None:
    """Outside us-east-1 the constraint is needed and names the Region; us-east-1 itself is never named."""
    constraint = (call.params.get("CreateBucketConfiguration") or {}).get("LocationConstraint")
    if constraint == "us-east-1":
        raise AwsError(
            "InvalidLocationConstraint",
            "The specified location-constraint is not valid",
            fields={"LocationConstraint": constraint},
        )
    if constraint is not None and constraint not in _regions():
        raise AwsError(
            "InvalidLocationConstraint",
            "The specified location-constraint is not valid",
            fields={"LocationConstraint": constraint},
        )
    if call.region == "us-east-1":
        return
    if constraint is None:
        raise AwsError(
            "IllegalLocationConstraintException",
            "The unspecified location constraint is incompatible for the region specific endpoint this request was sent to.",
        )
    if constraint != call.region and not (constraint == "EU" and call.region == "eu-west-1"):
        raise AwsError(
            "IllegalLocationConstraintException",
            f"The {constraint} location constraint is incompatible for the region specific endpoint this request was sent to.",
        )


@rule("s3", "DeleteBucket", source="S3 API reference, DeleteBucket; error code BucketNotEmpty")
def bucket_is_empty(call: ApiCall) -> None:
    """Objects, versions and delete markers keep a bucket."""
    bucket = find_bucket(call.params.get("Bucket", ""))
    if bucket is not None and any(True for _ in bucket.keys.values()):
        raise AwsError(
            "BucketNotEmpty", "The bucket you tried to delete is not empty", fields={"BucketName": bucket.name}
        )


@rule("s3", "PutBucketLifecycleConfiguration", source=_LIFECYCLE_DOC)
def lifecycle_is_valid(call: ApiCall) -> None:
    """Up to 1,000 rules with ids of their own; days in order; thirty days before the infrequent-access classes."""
    rules = (call.params.get("LifecycleConfiguration") or {}).get("Rules") or []
    if not rules or len(rules) > 1_000:
        raise AwsError(
            "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema"
        )
    identifiers = [each["ID"] for each in rules if each.get("ID")]
    if len(set(identifiers)) != len(identifiers):
        raise AwsError("InvalidArgument", "Rule ID must be unique. Found same ID for more than one rule")
    for each in rules:
        _check_lifecycle_rule(each)


def _check_lifecycle_rule(each: Mapping[str, Any]) -> None:
    if len(each.get("ID") or "") > 255:
        raise AwsError("InvalidArgument", "ID length should not exceed allowed limit of 255")
    actions = (
        "Expiration",
        "Transitions",
        "NoncurrentVersionTransitions",
        "NoncurrentVersionExpiration",
        "AbortIncompleteMultipartUpload",
        "Transition",
    )
    if not any(each.get(name) for name in actions):
        raise AwsError("InvalidRequest", "At least one action needs to be specified in a rule")
    if each.get("Filter") is None and each.get("Prefix") is None:
        raise AwsError(
            "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema"
        )
    if each.get("Filter") is not None and each.get("Prefix") is not None:
        raise AwsError("MalformedXML", "Prefix and Filter cannot both be given.")
    last_days, last_place = -1, -1
    transitions = each.get("Transitions") or []
    if len({one.get("StorageClass") for one in transitions}) != len(transitions):
        raise AwsError("InvalidRequest", "'StorageClass' must be different for 'Transition' actions in same 'Rule'")
    for one in sorted(transitions, key=lambda item: int(item.get("Days") or 0)):
        storage, days = one.get("StorageClass"), one.get("Days")
        if days is None and one.get("Date") is None:
            raise AwsError("MalformedXML", "A transition needs Days or Date.")
        if days is not None and one.get("Date") is not None:
            raise AwsError("MalformedXML", "A transition takes Days or Date, not both.")
        if days is None:
            continue
        if int(days) < 0:
            raise AwsError("InvalidArgument", "'Days' for Transition action must be nonnegative")
        if storage in ("STANDARD_IA", "ONEZONE_IA") and int(days) < MIN_DAYS_BEFORE_IA:
            raise AwsError(
                "InvalidArgument",
                f"'Days' in Transition action must be greater than or equal to {MIN_DAYS_BEFORE_IA} for storageClass '{storage}'",
            )
        place = _WATERFALL.index(storage) if storage in _WATERFALL else 0
        if place < last_place:
            raise AwsError("InvalidArgument", f"'Days' for the transition to {storage} is after a colder storage class")
        if (
            last_place >= 0
            and _WATERFALL[last_place] in ("STANDARD_IA", "ONEZONE_IA")
            and storage in ("GLACIER", "GLACIER_IR", "DEEP_ARCHIVE")
            and int(days) < last_days + MIN_DAYS_BEFORE_IA
        ):
            raise AwsError(
                "InvalidArgument",
                f"'Days' in the 'Transition' action for StorageClass '{storage}' must be {MIN_DAYS_BEFORE_IA} days more than the one for '{_WATERFALL[last_place]}'",
            )
        last_days, last_place = int(days), place
    expiration = each.get("Expiration") or {}
    if sum(1 for name in ("Days", "Date", "ExpiredObjectDeleteMarker") if expiration.get(name) is not None) > 1:
        raise AwsError(
            "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema"
        )
    if expiration.get("Days") is not None:
        if int(expiration["Days"]) <= 0:
            raise AwsError("InvalidArgument", "'Days' for Expiration action must be a positive integer")
        if int(expiration["Days"]) <= last_days:
            raise AwsError(
                "InvalidArgument",
                "'Days' in the Expiration action must be greater than 'Days' in the Transition action",
            )
    for one in each.get("NoncurrentVersionTransitions") or []:
        if (
            one.get("StorageClass") in ("STANDARD_IA", "ONEZONE_IA")
            and int(one.get("NoncurrentDays") or 0) < MIN_DAYS_BEFORE_IA
        ):
            raise AwsError(
                "InvalidArgument",
                f"'NoncurrentDays' in NoncurrentVersionTransition action must be greater than or equal to {MIN_DAYS_BEFORE_IA} for storageClass '{one['StorageClass']}'",
            )
    abort = (each.get("AbortIncompleteMultipartUpload") or {}).get("DaysAfterInitiation")
    if abort is not None and int(abort) <= 0:
        raise AwsError("InvalidArgument", "'DaysAfterInitiation' must be a positive integer")
    if abort is not None and (each.get("Filter") or {}).get("Tag"):
        raise AwsError("InvalidRequest", "AbortIncompleteMultipartUpload cannot be specified with Tags.")


@rule("s3", "PutBucketPolicy", source="S3 API reference, PutBucketPolicy; error code MalformedPolicy")
def bucket_policy_is_well_formed(call: ApiCall) -> None:
    """JSON with statements that have an effect, a principal, actions, and resources of this bucket."""
    name = call.params.get("Bucket", "")
    found = list(statements(call.params.get("Policy") or "", code="MalformedPolicy"))
    if not found:
        raise AwsError("MalformedPolicy", "Missing required field Statement")
    for each in found:
        if each.get("Effect") not in ("Allow", "Deny"):
            raise AwsError("MalformedPolicy", "Missing required field Effect")
        for pair in (("Principal", "NotPrincipal"), ("Action", "NotAction"), ("Resource", "NotResource")):
            if not any(one in each for one in pair):
                raise AwsError("MalformedPolicy", f"Missing required field {pair[0]}")
        resources = each.get("Resource", [])
        for one in [resources] if isinstance(resources, str) else resources:
            if one != "*" and not re.match(rf"arn:aws[a-z-]*:s3:::({re.escape(name)}(/|$)|\*)", str(one)):
                raise AwsError("MalformedPolicy", "Policy has invalid resource")


@rule("s3", "PutBucketVersioning", source="S3 API reference, PutBucketVersioning; error code InvalidBucketState")
def versioning_is_kept_under_object_lock(call: ApiCall) -> None:
    """A bucket with object lock keeps its versions."""
    bucket = find_bucket(call.params.get("Bucket", ""))
    status = (call.params.get("VersioningConfiguration") or {}).get("Status")
    if bucket is not None and status == "Suspended" and getattr(bucket, "object_lock_enabled", False):
        raise AwsError(
            "InvalidBucketState",
            "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.",
            status=409,
        )


@rule("s3", "PutBucketEncryption", source="S3 API reference, PutBucketEncryption")
def encryption_names_a_key_with_kms_only(call: ApiCall) -> None:
    """A KMS key goes with aws:kms, not with AES256."""
    for each in (call.params.get("ServerSideEncryptionConfiguration") or {}).get("Rules") or []:
        default = each.get("ApplyServerSideEncryptionByDefault") or {}
        if default.get("KMSMasterKeyID") and default.get("SSEAlgorithm") == "AES256":
            raise AwsError(
                "InvalidArgument",
                "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse",
            )
