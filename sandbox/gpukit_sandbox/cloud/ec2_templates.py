"""
Launch templates: stored almost as given, as EC2 does; most combinations are judged at launch only.

Created here, and not by moto, which keeps a template's own tags among those of its instances.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.ec2_placement import matches, tags_of
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, World, new_id

KIND: Final = "launch-templates"
MAX_USER_DATA_BYTES: Final = 16_384
"""Before base64. Source: botocore ec2 model, UserData; EC2 User Guide, "Run commands at launch"."""
MAX_VERSIONS: Final = 10_000
_NAME: Final = re.compile(r"[a-zA-Z0-9().\-/_]{3,128}")
_TEMPLATE_DOC: Final = "EC2 API reference, CreateLaunchTemplate; EC2 User Guide, launch templates"


def find_template(world: World, region: str, reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template that a request names by id or name. Raises AwsError with EC2's codes for both, neither, and unknown ones."""
    identifier = reference.get("LaunchTemplateId") or reference.get("id")
    name = reference.get("LaunchTemplateName") or reference.get("name")
    if identifier and name:
        raise AwsError(
            "InvalidParameterCombination", "Only one of launch template ID and launch template name may be specified."
        )
    if not identifier and not name:
        raise AwsError("MissingParameter", "Either a launch template ID or a launch template name must be specified.")
    table = world.table(region, KIND)
    if identifier:
        if not re.fullmatch(r"lt-[0-9a-f]+", identifier):
            raise AwsError("InvalidLaunchTemplateId.Malformed", f"The launch template ID '{identifier}' is malformed.")
        if identifier not in table:
            raise AwsError(
                "InvalidLaunchTemplateId.NotFound",
                f"The specified launch template, with template ID {identifier}, does not exist.",
            )
        found: dict[str, Any] = table[identifier]
        return found
    for template in table.values():
        if template["LaunchTemplateName"] == name:
            return template
    raise AwsError(
        "InvalidLaunchTemplateName.NotFoundException",
        f"The specified launch template, with template name {name}, does not exist.",
    )


def find_version(template: Mapping[str, Any], wanted: str | int | None) -> dict[str, Any]:
    """Return a version of a template: a number, `$Latest`, `$Default`. Raises InvalidLaunchTemplateId.VersionNotFound."""
    versions: dict[int, dict[str, Any]] = template["_versions"]
    text = str(wanted or "$Default")
    if text == "$Latest":
        return versions[template["LatestVersionNumber"]]
    if text == "$Default":
        return versions[template["DefaultVersionNumber"]]
    if not text.isdigit():
        raise AwsError("InvalidLaunchTemplateId.VersionNotFound", f"Could not find launch template version {text}.")
    if int(text) not in versions:
        raise AwsError(
            "InvalidLaunchTemplateId.VersionNotFound",
            f"Could not find the specified version {text} for the launch template with ID {template['LaunchTemplateId']}.",
        )
    return versions[int(text)]


def resolve_template(world: World, region: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a RunInstances request with its launch template merged in; what the request itself says wins."""
    reference = params.get("LaunchTemplate")
    if not reference:
        return dict(params)
    template = find_template(world, region, reference)
    version = find_version(template, reference.get("Version"))
    data = version["LaunchTemplateData"]
    merged = {key: value for key, value in data.items() if value is not None}
    for key, value in params.items():
        if key == "TagSpecifications":
            merged[key] = [*(merged.get(key) or []), *value]
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = {**merged[key], **value}
        elif value not in (None, [], {}):
            merged[key] = value
    if params.get("NetworkInterfaces") is None and merged.get("NetworkInterfaces"):
        # A subnet of the request goes into the template's interfaces; that is how one template serves several subnets.
        subnet = params.get("SubnetId")
        if subnet:
            merged["NetworkInterfaces"] = [
                {**each, "SubnetId": each.get("SubnetId") or subnet} for each in merged["NetworkInterfaces"]
            ]
            merged.pop("SubnetId", None)
    merged["_template"] = {"id": template["LaunchTemplateId"], "version": str(version["VersionNumber"])}
    return merged


@rule("ec2", "CreateLaunchTemplate", source=_TEMPLATE_DOC)
def template_name_is_free(call: ApiCall) -> None:
    """3 to 128 letters, digits and ().-/_ ; unique in a Region."""
    name = call.params.get("LaunchTemplateName") or ""
    if not _NAME.fullmatch(name):
        raise AwsError(
            "InvalidLaunchTemplateName.MalformedException",
            "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the following characters: - ( ) . / _.",
        )
    table = call.world.table(call.region, KIND)
    if any(template["LaunchTemplateName"] == name for template in table.values()):
        raise AwsError("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
    if len(table) >= quota(call.world, call.region, "ec2", "launch-templates"):
        raise AwsError(
            "LaunchTemplateLimitExceeded",
            "You have reached the limit on the number of launch templates in this Region.",
        )


@rule("ec2", "CreateLaunchTemplate", "CreateLaunchTemplateVersion", source=_TEMPLATE_DOC)
def template_data_is_well_formed(call: ApiCall) -> None:
    """Not empty; user data is base64 of at most 16 KB; a type and an image id that could exist; at most 50 tags. Combinations wait for the launch."""
    data = call.params.get("LaunchTemplateData")
    if not data and not call.params.get("SourceVersion"):
        raise AwsError("MissingParameter", "The request must contain the parameter LaunchTemplateData")
    check_user_data((data or {}).get("UserData"), code="InvalidUserData.Malformed")
    instance_type = (data or {}).get("InstanceType")
    if instance_type and hardware.describe_type(instance_type) is None:
        raise AwsError("InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType.")
    image = (data or {}).get("ImageId")
    if image and not re.fullmatch(r"ami-[0-9a-f]{8}([0-9a-f]{9})?|resolve:ssm:.+", image):
        raise AwsError("InvalidAMIID.Malformed", f'The image ID "{image}" is malformed')
    if (data or {}).get("InstanceRequirements") and instance_type:
        raise AwsError("InvalidParameterCombination", "InstanceType and InstanceRequirements cannot both be specified.")
    for specification in (data or {}).get("TagSpecifications") or []:
        check_tags(specification.get("Tags") or [])
    for specification in call.params.get("TagSpecifications") or []:
        if specification.get("ResourceType") != "launch-template":
            raise AwsError(
                "InvalidParameterValue",
                f"'{specification.get('ResourceType')}' is not a valid taggable resource type for this operation.",
            )


def check_user_data(text: str | None, *, code: str) -> None:
    """Refuse user data that is no base64 or more than 16 KB once decoded. Raises AwsError with `code`."""
    if not text:
        return
    try:
        raw = base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError) as problem:
        raise AwsError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from problem
    if len(raw) > MAX_USER_DATA_BYTES:
        raise AwsError(code, f"User data is limited to {MAX_USER_DATA_BYTES} bytes; this is {len(raw)}.")


def check_tags(tags: list[Mapping[str, str]]) -> None:
    """Refuse tags that EC2 refuses: AWS's own prefix, more than 50, the same key twice, keys over 128, values over 256 characters."""
    keys = [str(tag.get("Key", "")) for tag in tags]
    for key in keys:
        if key.lower().startswith("aws:"):
            raise AwsError(
                "InvalidParameterValue", f"Tag keys starting with 'aws:' are reserved for internal use: {key}"
            )
        if not 1 <= len(key) <= 128:
            raise AwsError("InvalidParameterValue", "Tag keys must have 1 to 128 characters.")
    if len(set(keys)) != len(keys):
        raise AwsError("InvalidParameterValue", "Duplicate tag key specified.")
    if any(len(str(tag.get("Value", ""))) > 256 for tag in tags):
        raise AwsError("InvalidParameterValue", "Tag values must have at most 256 characters.")
    if len(keys) > 50:
        raise AwsError("TagLimitExceeded", "More than 50 tags specified for a single resource.")


@action("ec2", "CreateLaunchTemplate")
def create_launch_template(call: ApiCall) -> dict[str, Any]:
    """Make a template with its first version."""
    identifier = new_id("lt")
    template: dict[str, Any] = {
        "LaunchTemplateId": identifier,
        "LaunchTemplateName": call.params["LaunchTemplateName"],
        "CreateTime": call.world.now(),
        "CreatedBy": f"arn:aws:iam::{ACCOUNT_ID}:user/sandbox",
        "DefaultVersionNumber": 1,
        "LatestVersionNumber": 0,
        "Tags": tags_of(call.params, "launch-template"),
        "_versions": {},
    }
    _add_version(call, template)
    call.world.table(call.region, KIND)[identifier] = template
    return {"LaunchTemplate": _shown(template)}


@action("ec2", "CreateLaunchTemplateVersion")
def create_launch_template_version(call: ApiCall) -> dict[str, Any]:
    """Add a version; with SourceVersion it starts from that one."""
    template = find_template(call.world, call.region, call.params)
    if len(template["_versions"]) >= MAX_VERSIONS:
        raise AwsError("VersionLimitExceeded", "You have reached the limit of versions of this launch template.")
    return {"LaunchTemplateVersion": _add_version(call, template)}


@action("ec2", "DescribeLaunchTemplates")
def describe_launch_templates(call: ApiCall) -> dict[str, Any]:
    """Return templates by id, name and filter."""
    params = call.params
    templates = [
        find_template(call.world, call.region, {"LaunchTemplateId": each})
        for each in params.get("LaunchTemplateIds") or []
    ]
    templates += [
        find_template(call.world, call.region, {"LaunchTemplateName": each})
        for each in params.get("LaunchTemplateNames") or []
    ]
    if not templates and not params.get("LaunchTemplateIds") and not params.get("LaunchTemplateNames"):
        templates = list(call.world.table(call.region, KIND).values())
    fields = {"launch-template-name": "LaunchTemplateName", "create-time": "CreateTime"}
    return {"LaunchTemplates": [_shown(each) for each in templates if matches(each, params.get("Filters"), fields)]}


@action("ec2", "DescribeLaunchTemplateVersions")
def describe_launch_template_versions(call: ApiCall) -> dict[str, Any]:
    """Return versions of one template, newest first; with `$Latest` or `$Default` alone, those of every template."""
    params = call.params
    wanted = params.get("Versions")
    if not params.get("LaunchTemplateId") and not params.get("LaunchTemplateName"):
        if not wanted:
            raise AwsError(
                "MissingParameter", "Either a launch template ID or a launch template name must be specified."
            )
        return {
            "LaunchTemplateVersions": [
                _shown_version(each, find_version(each, name))
                for each in call.world.table(call.region, KIND).values()
                for name in wanted
            ]
        }
    template = find_template(call.world, call.region, params)
    if wanted:
        versions = [find_version(template, each) for each in wanted]
    else:
        low, high = int(params.get("MinVersion") or 1), int(params.get("MaxVersion") or template["LatestVersionNumber"])
        versions = [
            each for number, each in sorted(template["_versions"].items(), reverse=True) if low <= number <= high
        ]
    return {"LaunchTemplateVersions": [_shown_version(template, each) for each in versions]}


@action("ec2", "ModifyLaunchTemplate")
def modify_launch_template(call: ApiCall) -> dict[str, Any]:
    """Set the default version."""
    template = find_template(call.world, call.region, call.params)
    wanted = call.params.get("DefaultVersion") or call.params.get("SetDefaultVersion")
    if not wanted:
        raise AwsError("MissingParameter", "The request must contain the parameter DefaultVersion")
    template["DefaultVersionNumber"] = find_version(template, wanted)["VersionNumber"]
    return {"LaunchTemplate": _shown(template)}


@action("ec2", "DeleteLaunchTemplate")
def delete_launch_template(call: ApiCall) -> dict[str, Any]:
    """Delete a template with all its versions; what it launched stays."""
    template = find_template(call.world, call.region, call.params)
    del call.world.table(call.region, KIND)[template["LaunchTemplateId"]]
    return {"LaunchTemplate": _shown(template)}


@action("ec2", "DeleteLaunchTemplateVersions")
def delete_launch_template_versions(call: ApiCall) -> dict[str, Any]:
    """Delete versions, but never the default one."""
    template = find_template(call.world, call.region, call.params)
    done, failed = [], []
    for wanted in call.params.get("Versions") or []:
        key = {
            "LaunchTemplateId": template["LaunchTemplateId"],
            "LaunchTemplateName": template["LaunchTemplateName"],
            "VersionNumber": int(wanted),
        }
        if int(wanted) == template["DefaultVersionNumber"]:
            failed.append(
                {
                    **key,
                    "ResponseError": {"Code": "unexpectedError", "Message": "The default version cannot be deleted."},
                }
            )
        elif int(wanted) not in template["_versions"]:
            failed.append(
                {**key, "ResponseError": {"Code": "launchTemplateVersionDoesNotExist", "Message": "No such version."}}
            )
        else:
            del template["_versions"][int(wanted)]
            done.append(key)
    return {"SuccessfullyDeletedLaunchTemplateVersions": done, "UnsuccessfullyDeletedLaunchTemplateVersions": failed}


def _add_version(call: ApiCall, template: dict[str, Any]) -> dict[str, Any]:
    data = dict(call.params.get("LaunchTemplateData") or {})
    if call.params.get("SourceVersion"):
        data = {**find_version(template, call.params["SourceVersion"])["LaunchTemplateData"], **data}
    number = template["LatestVersionNumber"] + 1
    version = {
        "VersionNumber": number,
        "VersionDescription": call.params.get("VersionDescription"),
        "CreateTime": call.world.now(),
        "CreatedBy": f"arn:aws:iam::{ACCOUNT_ID}:user/sandbox",
        "LaunchTemplateData": data,
    }
    template["_versions"][number] = version
    template["LatestVersionNumber"] = number
    return _shown_version(template, version)


def _shown(template: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in template.items() if not key.startswith("_")}


def _shown_version(template: Mapping[str, Any], version: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: value for key, value in version.items() if value is not None}
    shown |= {
        "LaunchTemplateId": template["LaunchTemplateId"],
        "LaunchTemplateName": template["LaunchTemplateName"],
        "DefaultVersion": version["VersionNumber"] == template["DefaultVersionNumber"],
    }
    return shown
