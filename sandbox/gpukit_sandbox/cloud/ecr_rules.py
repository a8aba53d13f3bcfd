"""ECR: encryption, tag rules, lifecycle policies."""

import json
from collections.abc import Mapping
from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall

_POLICY_DOC: Final = "ECR User Guide, lifecycle policy parameters"
MAX_LIFECYCLE_CHARACTERS: Final = 30_720
_COUNT_TYPES: Final = ("imageCountMoreThan", "sinceImagePushed", "sinceImagePulled", "sinceImageTransitioned")
MAX_EXCLUSIONS: Final = 5


def _bad(message: str) -> AwsError:
    return AwsError("InvalidParameterException", message)


@rule("ecr", "CreateRepository", source="ECR API reference, EncryptionConfiguration")
def repository_key_goes_with_kms(call: ApiCall) -> None:
    """A key of its own needs KMS encryption."""
    encryption = call.params.get("encryptionConfiguration") or {}
    if encryption.get("kmsKey") and encryption.get("encryptionType", "AES256") not in ("KMS", "KMS_DSSE"):
        raise _bad(
            "Invalid parameter at 'encryptionConfiguration': a KMS key may not be given with the encryption type AES256."
        )


@rule("ecr", "CreateRepository", "PutImageTagMutability", source="ECR API reference, ImageTagMutabilityExclusionFilter")
def tag_exclusions_go_with_their_setting(call: ApiCall) -> None:
    """Exclusion filters belong to the settings _WITH_EXCLUSION, and these need one to five."""
    setting, filters = (
        str(call.params.get("imageTagMutability") or ""),
        call.params.get("imageTagMutabilityExclusionFilters"),
    )
    if filters and not setting.endswith("_WITH_EXCLUSION"):
        raise _bad(
            "imageTagMutabilityExclusionFilters need the setting IMMUTABLE_WITH_EXCLUSION or MUTABLE_WITH_EXCLUSION."
        )
    if setting.endswith("_WITH_EXCLUSION") and not filters:
        raise _bad(f"The setting {setting} needs imageTagMutabilityExclusionFilters.")
    if len(filters or []) > MAX_EXCLUSIONS:
        raise _bad(f"At most {MAX_EXCLUSIONS} exclusion filters can be given.")
    for each in filters or []:
        if str(each.get("filter", "")).count("*") > 2:
            raise _bad("A filter takes at most two wildcards.")


@rule("ecr", "PutLifecyclePolicy", "StartLifecyclePolicyPreview", source=_POLICY_DOC)
def lifecycle_policy_is_valid(call: ApiCall) -> None:
    """Rules with priorities of their own, a selection that fits together, one rule at most for `any`, which comes last."""
    text = call.params.get("lifecyclePolicyText")
    if text is None:
        return
    if len(text) > MAX_LIFECYCLE_CHARACTERS:
        raise _bad("Invalid parameter at 'LifecyclePolicyText': too long.")
    try:
        rules = json.loads(text)["rules"]
    except (json.JSONDecodeError, KeyError, TypeError) as problem:
        raise _bad(
            "Invalid parameter at 'LifecyclePolicyText' failed to satisfy constraint: 'Lifecycle policy validation failure: invalid JSON'"
        ) from problem
    if not isinstance(rules, list) or not 1 <= len(rules) <= 50:
        raise _fails("1 to 50 rules are needed")
    priorities = [each.get("rulePriority") for each in rules]
    if len(set(priorities)) != len(priorities):
        raise _fails("duplicate rulePriority")
    for each in rules:
        _check_rule(each)
    untagged_any: dict[str, list[int]] = {}
    for each in rules:
        untagged_any.setdefault(each["selection"]["tagStatus"], []).append(each["rulePriority"])
    if len(untagged_any.get("any", [])) > 1 or len(untagged_any.get("untagged", [])) > 1:
        raise _fails("only one rule may have the tag status any, and only one untagged")
    if untagged_any.get("any") and max(priorities) != untagged_any["any"][0]:
        raise _fails("the rule with the tag status any must have the highest rulePriority")


def _check_rule(each: Mapping[str, Any]) -> None:
    priority, selection, action = each.get("rulePriority"), each.get("selection"), each.get("action")
    if not isinstance(priority, int) or priority < 1:
        raise _fails("rulePriority must be a positive integer")
    if (
        not isinstance(selection, dict)
        or not isinstance(action, dict)
        or action.get("type") not in ("expire", "transition")
    ):
        raise _fails("selection and an action of type expire are needed")
    status, count_type, number = selection.get("tagStatus"), selection.get("countType"), selection.get("countNumber")
    if status not in ("tagged", "untagged", "any"):
        raise _fails("tagStatus is tagged, untagged or any")
    prefixes, patterns = selection.get("tagPrefixList"), selection.get("tagPatternList")
    if status == "tagged" and bool(prefixes) == bool(patterns):
        raise _fails("tagStatus tagged needs tagPrefixList or tagPatternList")
    if status != "tagged" and (prefixes or patterns):
        raise _fails("tagPrefixList and tagPatternList are for tagStatus tagged")
    if count_type not in _COUNT_TYPES:
        raise _fails("countType is imageCountMoreThan or sinceImagePushed")
    if not isinstance(number, int) or number < 1:
        raise _fails("countNumber must be a positive integer")
    if (count_type != "imageCountMoreThan") != (selection.get("countUnit") is not None):
        raise _fails("countUnit goes with sinceImagePushed, and with it only")
    if selection.get("countUnit") not in (None, "days"):
        raise _fails("countUnit is days")


def _fails(what: str) -> AwsError:
    return _bad(
        f"Invalid parameter at 'LifecyclePolicyText' failed to satisfy constraint: 'Lifecycle policy validation failure: {what}'"
    )
