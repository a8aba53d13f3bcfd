"""Managed node groups: what EKS refuses, and real instances from the launch template through reservations, quotas and capacity."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpukit_sandbox.cloud import autoscaling, hardware
from gpukit_sandbox.cloud.ec2_launches import backend_of
from gpukit_sandbox.cloud.ec2_templates import find_template, find_version
from gpukit_sandbox.cloud.ec2_volumes import VOLUME_TYPES
from gpukit_sandbox.cloud.eks_clusters import (
    bad,
    begin,
    check_role,
    check_tags,
    find_cluster,
    minor,
    require_active,
    settle,
    subnets_of,
    update_id,
)
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.images import KUBERNETES_VERSIONS, eks_image
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import World, arn

KIND: Final = "eks-nodegroups"
UPDATES: Final = "_eks-updates"
MAX_TYPES: Final = 20
MAX_TAINTS: Final = 50
MAX_UNAVAILABLE: Final = 100
MAX_VERSION_SKEW: Final = 3
LAST_MINOR_WITH_AL2: Final = 32
_NAME: Final = re.compile(r"[0-9A-Za-z][A-Za-z0-9\-_]{0,62}")
_RESERVED_LABELS: Final = ("kubernetes.io/", "k8s.io/", "eks.amazonaws.com/")
_LABEL_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_LABEL_PREFIX: Final = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_NODEGROUP_DOC: Final = (
    "EKS API reference, CreateNodegroup; EKS User Guide, launch templates, managed node groups; botocore eks model"
)


def key_of(cluster: str, name: str) -> str:
    """Return the key of something that belongs to a cluster."""
    return f"{cluster}\x00{name}"


def nodegroups_of(world: World, region: str, cluster: str) -> list[dict[str, Any]]:
    """Return the node groups of a cluster."""
    return [each for each in world.table(region, KIND).values() if each["clusterName"] == cluster]


def find_nodegroup(call: ApiCall) -> dict[str, Any]:
    """Return the node group that a request names. Raises ResourceNotFoundException."""
    cluster, name = call.params["clusterName"], call.params["nodegroupName"]
    find_cluster(call.world, call.region, cluster)
    found: dict[str, Any] | None = call.world.table(call.region, KIND).get(key_of(cluster, name))
    if found is None:
        raise AwsError(
            "ResourceNotFoundException",
            f"No node group found for name: {name}.",
            fields={"clusterName": cluster, "nodegroupName": name},
        )
    settle(call.world, found)
    return found


@rule("eks", "CreateNodegroup", source=_NODEGROUP_DOC)
def nodegroup_is_new(call: ApiCall) -> None:
    """An ACTIVE cluster, a free name, fewer than 30 groups."""
    params = call.params
    cluster = find_cluster(call.world, call.region, params["clusterName"])
    require_active(cluster)
    name = params.get("nodegroupName", "")
    if not _NAME.fullmatch(name):
        raise bad(
            f"nodegroupName '{name}' is invalid: letters, digits, - and _, at most 63, beginning with a letter or digit."
        )
    if key_of(cluster["name"], name) in call.world.table(call.region, KIND):
        raise AwsError(
            "ResourceInUseException",
            f"NodeGroup already exists with name {name} and cluster name {cluster['name']}",
            fields={"clusterName": cluster["name"], "nodegroupName": name},
        )
    if len(nodegroups_of(call.world, call.region, cluster["name"])) >= quota(
        call.world, call.region, "eks", "node-groups"
    ):
        raise AwsError(
            "ResourceLimitExceededException", "The maximum number of node groups of this cluster has been reached."
        )


@rule("eks", "CreateNodegroup", source=_NODEGROUP_DOC)
def nodegroup_settings_are_valid(call: ApiCall) -> None:
    """Sizes, labels, taints, update and repair settings, tags."""
    params = call.params
    check_scaling(call, params.get("scalingConfig"))
    check_labels(params.get("labels"))
    check_taints(params.get("taints"))
    check_update_config(params.get("updateConfig"))
    check_repair_config(params.get("nodeRepairConfig"))
    check_tags(params.get("tags"))


@rule(
    "eks",
    "CreateNodegroup",
    source="EKS API reference, CreateNodegroup: diskSize is in GiB; EC2 API reference, CreateVolume: sizes of gp3",
)
def nodegroup_disk_is_a_volume(call: ApiCall) -> None:
    """A root disk of a size that its volume type has: the reference itself gives no range."""
    low, high = VOLUME_TYPES["gp3"].size_gib
    size = call.params.get("diskSize")
    if size is not None and not low <= int(size) <= high:
        raise bad(f"diskSize {size} is invalid: it must be between {low} and {high} GiB.")


@rule("eks", "CreateNodegroup", source=_NODEGROUP_DOC)
def nodegroup_template_and_request_do_not_overlap(call: ApiCall) -> None:
    """What a launch template may not hold for EKS, and what may stand in one of the two places only."""
    params = call.params
    spec = params.get("launchTemplate")
    data: Mapping[str, Any] = {}
    if spec:
        data = template_data(call, spec)
        _check_template_data(data)
        for name in ("diskSize", "remoteAccess"):
            if params.get(name) is not None:
                raise bad(f"{name} cannot be specified with a launch template: it belongs in the template.")
        if data.get("InstanceType") and params.get("instanceTypes"):
            raise bad("Cannot specify instance types in launch template and API request")
        if data.get("ImageId"):
            for name in ("version", "releaseVersion"):
                if params.get(name):
                    raise bad(f"You cannot specify the field {name} when using a launch template with an image ID.")
            if params.get("amiType") not in (None, "CUSTOM"):
                raise bad(
                    "You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your launch template."
                )
    if params.get("amiType") == "CUSTOM" and not data.get("ImageId"):
        raise bad("The AMI type CUSTOM needs a launch template with an image ID.")
    _check_capacity(call, params.get("capacityType") or "ON_DEMAND", data)


@rule("eks", "CreateNodegroup", source=_NODEGROUP_DOC)
def nodegroup_version_fits(call: ApiCall) -> None:
    """Nodes are never ahead of the control plane and at most three minors behind."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    check_version(cluster, call.params.get("version"), call.params.get("amiType"))


@rule("eks", "CreateNodegroup", source=_NODEGROUP_DOC)
def nodegroup_types_fit(call: ApiCall) -> None:
    """At most twenty types that exist, of one architecture, that of the image. The maker of the GPU is not looked at."""
    types = call.params.get("instanceTypes") or []
    if len(types) > MAX_TYPES:
        raise bad(f"A node group takes at most {MAX_TYPES} instance types.")
    if len(set(types)) != len(types):
        raise bad("instanceTypes has a type twice.")
    for each in types:
        if hardware.describe_type(each) is None:
            raise bad(f"The following supplied instance types do not exist: [{each}]")
    if types and not set.intersection(*(set(hardware.architectures(each)) for each in types)):
        raise bad("Instance types of different processor architectures cannot be in one node group.")
    spec = call.params.get("launchTemplate")
    data = template_data(call, spec) if spec else {}
    checked = types or ([data["InstanceType"]] if data.get("InstanceType") else [])
    ami_type = call.params.get("amiType")
    if ami_type and ami_type != "CUSTOM":
        wanted = "arm64" if "ARM" in ami_type else "x86_64"
        for each in checked:
            if wanted not in hardware.architectures(each):
                raise bad(f"[{each}] is not a valid instance type for requested amiType {ami_type}")


@rule("eks", "CreateNodegroup", source=_NODEGROUP_DOC)
def nodegroup_role_and_subnets_exist(call: ApiCall) -> None:
    """A role that EC2 may assume; subnets of the cluster's VPC."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    role = call.params.get("nodeRole", "")
    if ":instance-profile/" in role:
        raise bad("The node role is an instance profile: a role is needed.")
    if "/aws-service-role/" in role:
        raise bad("A service-linked role cannot be a node role.")
    check_role(role, "ec2.amazonaws.com")
    identifiers = call.params.get("subnets") or []
    if not identifiers:
        raise bad("Subnets cannot be empty.")
    if len(set(identifiers)) != len(identifiers):
        raise bad("subnets has a subnet twice.")
    for each in subnets_of(backend_of(call.region), identifiers):
        if each.vpc_id != cluster["resourcesVpcConfig"]["vpcId"]:
            raise bad(f"Subnet {each.id} is not in the VPC of the cluster.")


@action("eks", "CreateNodegroup")
def create_nodegroup(call: ApiCall) -> dict[str, Any]:
    """Make a node group and launch its instances; a failed launch makes it CREATE_FAILED with a health issue."""
    params, region = call.params, call.region
    cluster = find_cluster(call.world, region, params["clusterName"])
    name, spec = params["nodegroupName"], params.get("launchTemplate")
    data = template_data(call, spec) if spec else {}
    types = list(params.get("instanceTypes") or ([] if data.get("InstanceType") else ["t3.medium"]))
    ami_type = params.get("amiType") or (
        "CUSTOM" if data.get("ImageId") else _default_ami_type(types or [data["InstanceType"]])
    )
    version = params.get("version") or cluster["version"]
    image, release = (
        ("", "") if ami_type == "CUSTOM" else eks_image(region, version, ami_type, params.get("releaseVersion"))
    )
    scaling = {"minSize": 1, "maxSize": 2, "desiredSize": 2} | {
        key: int(value) for key, value in (params.get("scalingConfig") or {}).items()
    }
    identifier = update_id()
    group_name = f"eks-{name}-{identifier}"
    record: dict[str, Any] = {
        "nodegroupName": name,
        "nodegroupArn": arn("eks", region, f"nodegroup/{cluster['name']}/{name}/{identifier}"),
        "clusterName": cluster["name"],
        "version": version if ami_type != "CUSTOM" else None,
        "releaseVersion": release if ami_type != "CUSTOM" else data["ImageId"],
        "createdAt": call.world.now(),
        "modifiedAt": call.world.now(),
        "capacityType": params.get("capacityType") or "ON_DEMAND",
        "scalingConfig": scaling,
        "instanceTypes": list(params.get("instanceTypes") or ([] if spec else types)) or None,
        "subnets": list(params["subnets"]),
        "remoteAccess": params.get("remoteAccess"),
        "amiType": ami_type,
        "nodeRole": params["nodeRole"],
        "labels": dict(params.get("labels") or {}),
        "taints": list(params.get("taints") or []),
        "resources": {"autoScalingGroups": [{"name": group_name}]},
        "diskSize": None if spec else int(params.get("diskSize") or 20),
        "health": {"issues": []},
        "updateConfig": dict(params.get("updateConfig") or {"maxUnavailable": 1}),
        "nodeRepairConfig": params.get("nodeRepairConfig"),
        "launchTemplate": _shown_template(call, spec) if spec else None,
        "tags": dict(params.get("tags") or {}),
        "_group": group_name,
        "_image": image,
        "_own_template": None,
    }
    record["updateConfig"].setdefault("updateStrategy", "DEFAULT")
    group = _make_group(call, cluster, record, types)
    problem = autoscaling.scale(call, group)
    call.world.table(region, KIND)[key_of(cluster["name"], name)] = record
    if problem is not None:
        record["health"]["issues"].append(_issue(problem, group_name))
        # What did launch before the failure stays, as on AWS, until the group is deleted.
    begin(call, record, "CREATING", "CREATE_FAILED" if problem else "ACTIVE")
    return {"nodegroup": shown(record)}


@action("eks", "DescribeNodegroup")
def describe_nodegroup(call: ApiCall) -> dict[str, Any]:
    """Return a node group."""
    return {"nodegroup": shown(find_nodegroup(call))}


@action("eks", "ListNodegroups")
def list_nodegroups(call: ApiCall) -> dict[str, Any]:
    """Return the names of a cluster's node groups."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    return {
        "nodegroups": sorted(each["nodegroupName"] for each in nodegroups_of(call.world, call.region, cluster["name"]))
    }


@action("eks", "DeleteNodegroup")
def delete_nodegroup(call: ApiCall) -> dict[str, Any]:
    """Delete a node group and end its instances."""
    record = find_nodegroup(call)
    if record["status"] in ("CREATING", "UPDATING"):
        raise AwsError("ResourceInUseException", f"Nodegroup is in status {record['status']}.")
    autoscaling.delete_group(call, record["_group"])
    if record["_own_template"]:
        call.world.table(call.region, "launch-templates").pop(record["_own_template"], None)
    del call.world.table(call.region, KIND)[key_of(record["clusterName"], record["nodegroupName"])]
    return {"nodegroup": {**shown(record), "status": "DELETING"}}


@action("eks", "UpdateNodegroupConfig")
def update_nodegroup_config(call: ApiCall) -> dict[str, Any]:
    """Change sizes, labels, taints, update and repair settings; new sizes launch or end instances."""
    record, params = find_nodegroup(call), call.params
    _require_quiet(record)
    changes: list[tuple[str, Any]] = []
    if params.get("scalingConfig"):
        scaling = {**record["scalingConfig"], **{key: int(value) for key, value in params["scalingConfig"].items()}}
        check_scaling(call, scaling)
        record["scalingConfig"] = scaling
        changes += [
            ("MinSize", scaling["minSize"]),
            ("MaxSize", scaling["maxSize"]),
            ("DesiredSize", scaling["desiredSize"]),
        ]
    labels = params.get("labels") or {}
    check_labels(labels.get("addOrUpdateLabels"))
    if labels:
        for each in labels.get("removeLabels") or []:
            record["labels"].pop(each, None)
        record["labels"].update(labels.get("addOrUpdateLabels") or {})
        changes.append(("LabelsToAdd", labels.get("addOrUpdateLabels")))
    taints = params.get("taints") or {}
    check_taints(taints.get("addOrUpdateTaints"))
    if taints:
        gone = {
            (each.get("key"), each.get("effect"))
            for each in [*(taints.get("removeTaints") or []), *(taints.get("addOrUpdateTaints") or [])]
        }
        record["taints"] = [
            each for each in record["taints"] if (each.get("key"), each.get("effect")) not in gone
        ] + list(taints.get("addOrUpdateTaints") or [])
        changes.append(("TaintsToAdd", taints.get("addOrUpdateTaints")))
    check_update_config(params.get("updateConfig"))
    if params.get("updateConfig"):
        record["updateConfig"] = {
            "updateStrategy": record["updateConfig"].get("updateStrategy", "DEFAULT"),
            **params["updateConfig"],
        }
        changes += [("MaxUnavailable", record["updateConfig"].get("maxUnavailable"))]
    check_repair_config(params.get("nodeRepairConfig"))
    if params.get("nodeRepairConfig"):
        record["nodeRepairConfig"] = params["nodeRepairConfig"]
        changes += [("NodeRepairEnabled", record["nodeRepairConfig"].get("enabled"))]
    if not changes:
        raise bad("No changes needed for the node group.")
    problem = None
    if params.get("scalingConfig"):
        group = call.world.table(call.region, autoscaling.KIND)[record["_group"]]
        scaling = record["scalingConfig"]
        group |= {
            "MinSize": scaling["minSize"],
            "MaxSize": scaling["maxSize"],
            "DesiredCapacity": scaling["desiredSize"],
        }
        problem = autoscaling.scale(call, group)
        record["health"] = {"issues": [_issue(problem, record["_group"])] if problem else []}
    record["modifiedAt"] = call.world.now()
    return {
        "update": note_update(
            call, record["clusterName"], "ConfigUpdate", changes, nodegroup=record["nodegroupName"], problem=problem
        )
    }


@action("eks", "UpdateNodegroupVersion")
def update_nodegroup_version(call: ApiCall) -> dict[str, Any]:
    """
    Replace the nodes of a group by those of another version of its template or of Kubernetes.

    With the strategy DEFAULT a new instance comes before an old one goes, so that a full reservation fails the update; MINIMAL ends old ones first.
    """
    record, params = find_nodegroup(call), call.params
    cluster = find_cluster(call.world, call.region, record["clusterName"])
    _require_quiet(record)
    group = call.world.table(call.region, autoscaling.KIND)[record["_group"]]
    before = {key: group[key] for key in ("_spec", "_extra", "LaunchTemplate")}
    changes: list[tuple[str, Any]] = []
    spec = params.get("launchTemplate")
    if spec:
        if not record["launchTemplate"]:
            raise bad("The node group was created without a launch template, and one cannot be added.")
        template = _find_template(call, spec)
        if template["LaunchTemplateId"] != record["launchTemplate"]["id"]:
            raise bad(
                "You must specify the launch template that the node group was created with: an update may change its version only."
            )
        data = template_data(call, spec)
        _check_template_data(data)
        if bool(data.get("ImageId")) != (record["amiType"] == "CUSTOM"):
            raise bad("An update cannot change between a custom image and an EKS image.")
        if data.get("InstanceType") and record["instanceTypes"]:
            raise bad("Cannot specify instance types in launch template and API request")
        _check_capacity(call, record["capacityType"], data)
        shown_template = _shown_template(call, spec)
        changes.append(("LaunchTemplateVersion", shown_template["version"]))
        group["_spec"] = {"LaunchTemplateId": template["LaunchTemplateId"], "Version": shown_template["version"]}
        new_template: dict[str, Any] | None = shown_template
    else:
        new_template = None
    if (params.get("version") or params.get("releaseVersion")) and record["amiType"] == "CUSTOM":
        raise bad("You cannot specify the field version or releaseVersion when using custom AMIs.")
    version = params.get("version") or (
        record["version"] if params.get("releaseVersion") or spec else cluster["version"]
    )
    if record["amiType"] != "CUSTOM":
        check_version(cluster, version, record["amiType"])
        if minor(version) < minor(record["version"]):
            raise bad(f"Nodegroup Kubernetes version {record['version']} cannot go down to {version}.")
        image, release = eks_image(
            call.region,
            version,
            record["amiType"],
            params.get("releaseVersion")
            or (record["releaseVersion"] if version == record["version"] and spec else None),
        )
        changes += [("Version", version), ("ReleaseVersion", release)]
        group["_extra"] = {**group["_extra"], "ImageId": image}
    problem = _roll(call, record, group)
    if problem is not None:
        group |= before
    else:
        if new_template:
            record["launchTemplate"] = new_template
            if record["amiType"] == "CUSTOM":
                record["releaseVersion"] = template_data(call, spec or {})["ImageId"]
        if record["amiType"] != "CUSTOM":
            record["version"], record["releaseVersion"], record["_image"] = version, release, image
    record["modifiedAt"] = call.world.now()
    return {
        "update": note_update(
            call, record["clusterName"], "VersionUpdate", changes, nodegroup=record["nodegroupName"], problem=problem
        )
    }


def _roll(call: ApiCall, record: Mapping[str, Any], group: dict[str, Any]) -> AwsError | None:
    old = autoscaling.members_of(call.region, group)
    if not old:
        return None
    wanted = group["DesiredCapacity"]
    if record["updateConfig"].get("updateStrategy") == "MINIMAL":
        autoscaling.end_instances(call.region, [each.id for each in old])
        return autoscaling.scale(call, group)
    # One instance more than the group holds has to fit before the first old one goes.
    group["DesiredCapacity"] = wanted + 1
    problem = autoscaling.scale(call, group)
    group["DesiredCapacity"] = wanted
    if problem is not None:
        return problem
    autoscaling.end_instances(call.region, [each.id for each in old])
    return autoscaling.scale(call, group)


def note_update(
    call: ApiCall,
    cluster: str,
    kind: str,
    changes: Sequence[tuple[str, Any]],
    *,
    nodegroup: str = "",
    addon: str = "",
    problem: AwsError | None = None,
) -> dict[str, Any]:
    """Record an update that has been made, for DescribeUpdate and ListUpdates; returns it as EKS answers the request."""
    update: dict[str, Any] = {
        "id": update_id(),
        "status": "Failed" if problem else "Successful",
        "type": kind,
        "params": [
            {"type": name, "value": value if isinstance(value, str) else str(value)}
            for name, value in changes
            if value is not None
        ],
        "createdAt": call.world.now(),
        "errors": [
            {
                "errorCode": "NodeCreationFailure",
                "errorMessage": f"{problem.code} - {problem.message}",
                "resourceIds": [],
            }
        ]
        if problem
        else [],
    }
    stored = {**update, "_nodegroup": nodegroup, "_addon": addon}
    begin(call, stored, "InProgress", update["status"])
    call.world.table(call.region, UPDATES)[key_of(cluster, update["id"])] = stored
    return {**update, "status": "InProgress"}


@action("eks", "DescribeUpdate")
def describe_update(call: ApiCall) -> dict[str, Any]:
    """Return an update."""
    update = call.world.table(call.region, UPDATES).get(key_of(call.params["name"], call.params["updateId"]))
    if update is None:
        raise AwsError("ResourceNotFoundException", f"No update found for ID: {call.params['updateId']}")
    settle(call.world, update)
    return {"update": shown(update)}


@action("eks", "ListUpdates")
def list_updates(call: ApiCall) -> dict[str, Any]:
    """Return the ids of the updates of a cluster, node group or add-on."""
    nodegroup, addon = call.params.get("nodegroupName") or "", call.params.get("addonName") or ""
    return {
        "updateIds": [
            each["id"]
            for key, each in call.world.table(call.region, UPDATES).items()
            if key.split("\x00", 1)[0] == call.params["name"]
            and each["_nodegroup"] == nodegroup
            and each["_addon"] == addon
        ]
    }


def shown(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as EKS describes it."""
    return {key: value for key, value in record.items() if not key.startswith("_") and value is not None}


def template_data(call: ApiCall, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of the version that a node group names. Raises InvalidParameterException."""
    template = _find_template(call, spec)
    try:
        found: Mapping[str, Any] = find_version(template, spec.get("version"))["LaunchTemplateData"]
    except AwsError as problem:
        raise bad(f"Launch template version {spec.get('version')} does not exist.") from problem
    return found


def check_scaling(call: ApiCall, scaling: Mapping[str, Any] | None) -> None:
    """Refuse sizes out of order or above the quota."""
    if not scaling:
        return
    low, high, desired = (scaling.get(key) for key in ("minSize", "maxSize", "desiredSize"))
    for name, value in (("minSize", low), ("desiredSize", desired)):
        if value is not None and int(value) < 0:
            raise bad(f"{name} can't be negative.")
    if high is not None and int(high) < 1:
        raise bad("maxSize must be at least 1.")
    if low is not None and high is not None and int(low) > int(high):
        raise bad(f"Minimum capacity {low} can't be greater than maximum size {high}")
    if low is not None and desired is not None and int(low) > int(desired):
        raise bad(f"Minimum capacity {low} can't be greater than desired size {desired}")
    if high is not None and desired is not None and int(desired) > int(high):
        raise bad(f"Desired capacity {desired} can't be greater than maximum size {high}")
    limit = quota(call.world, call.region, "eks", "nodes")
    if high is not None and int(high) > limit:
        raise bad(f"maxSize {high} is above the limit of {limit:.0f} nodes of a node group.")


def check_labels(labels: Mapping[str, str] | None) -> None:
    """Refuse labels that Kubernetes or EKS refuses."""
    for key, value in (labels or {}).items():
        if key.startswith(_RESERVED_LABELS):
            raise bad(f"Label cannot contain reserved prefixes {list(_RESERVED_LABELS)}: {key}")
        prefix, _, name = key.rpartition("/")
        if not _LABEL_NAME.fullmatch(name) or (prefix and not _LABEL_PREFIX.fullmatch(prefix)):
            raise bad(f"Label key {key} is invalid.")
        if value and not _LABEL_NAME.fullmatch(value):
            raise bad(f"Label value {value} is invalid.")


def check_taints(taints: Sequence[Mapping[str, str]] | None) -> None:
    """Refuse taints that Kubernetes or EKS refuses."""
    if taints and len(taints) > MAX_TAINTS:
        raise bad(f"A node group takes at most {MAX_TAINTS} taints.")
    seen: set[tuple[Any, Any]] = set()
    for each in taints or ():
        place = (each.get("key"), each.get("effect"))
        if place in seen:
            raise bad(f"The taint {place[0]} with effect {place[1]} is given twice.")
        seen.add(place)
        prefix, _, name = str(each.get("key") or "").rpartition("/")
        if not _LABEL_NAME.fullmatch(name) or (prefix and not _LABEL_PREFIX.fullmatch(prefix)):
            raise bad(f"Taint key {each.get('key')} is invalid.")
        if each.get("value") and not _LABEL_NAME.fullmatch(str(each["value"])):
            raise bad(f"Taint value {each['value']} is invalid.")


def check_update_config(update: Mapping[str, Any] | None) -> None:
    """Refuse both forms of the share that may be unavailable, and numbers out of range."""
    if not update:
        return
    number, share = update.get("maxUnavailable"), update.get("maxUnavailablePercentage")
    if number is not None and share is not None:
        raise bad("maxUnavailable and maxUnavailablePercentage cannot both be specified.")
    if number is not None and not 1 <= int(number) <= MAX_UNAVAILABLE:
        raise bad(f"maxUnavailable must be between 1 and {MAX_UNAVAILABLE}.")
    if share is not None and not 1 <= int(share) <= 100:
        raise bad("maxUnavailablePercentage must be between 1 and 100.")


def check_repair_config(repair: Mapping[str, Any] | None) -> None:
    """Refuse both forms of a threshold."""
    for number, share in (
        ("maxUnhealthyNodeThresholdCount", "maxUnhealthyNodeThresholdPercentage"),
        ("maxParallelNodesRepairedCount", "maxParallelNodesRepairedPercentage"),
    ):
        if repair and repair.get(number) is not None and repair.get(share) is not None:
            raise bad(f"{number} and {share} cannot both be specified.")


def check_version(cluster: Mapping[str, Any], version: str | None, ami_type: str | None) -> None:
    """Refuse nodes ahead of the control plane, more than three minors behind, and Amazon Linux 2 above 1.32."""
    if version is not None:
        ahead = minor(version) - minor(cluster["version"])
        if ahead > 0:
            raise bad(
                f"Nodegroup Kubernetes version {version} cannot be greater than the cluster Kubernetes version {cluster['version']}."
            )
        if ahead < -MAX_VERSION_SKEW:
            raise bad(
                f"Nodegroup Kubernetes version {version} is more than {MAX_VERSION_SKEW} minor versions behind the cluster's {cluster['version']}."
            )
        if version not in KUBERNETES_VERSIONS:
            raise bad(f"unsupported Kubernetes version {version}")
    if ami_type and ami_type.startswith("AL2_") and minor(version or cluster["version"]) > LAST_MINOR_WITH_AL2:
        raise bad(f"AMI Type {ami_type} is only supported for kubernetes versions 1.{LAST_MINOR_WITH_AL2} or earlier")


def _check_template_data(data: Mapping[str, Any]) -> None:
    if any(each.get("SubnetId") for each in data.get("NetworkInterfaces") or []):
        raise bad("Launch template should not specify subnets: they are given in the request of the node group.")
    if any(each.get("NetworkInterfaceId") for each in data.get("NetworkInterfaces") or []):
        raise bad("Launch template should not specify a network interface ID.")
    if data.get("IamInstanceProfile"):
        raise bad(
            "Launch template should not specify an instance profile. The noderole in your request will be used to construct an instance profile."
        )
    if (data.get("InstanceMarketOptions") or {}).get("MarketType") == "spot":
        raise bad("Launch template should not specify Spot: use the capacity type of the node group.")
    if data.get("InstanceInitiatedShutdownBehavior"):
        raise bad("Launch template should not specify shutdown behavior.")
    if (data.get("HibernationOptions") or {}).get("Configured"):
        raise bad("Launch template should not specify hibernation.")
    if data.get("InstanceRequirements"):
        raise bad("Launch template should not specify instance requirements.")
    if (data.get("Placement") or {}).get("Tenancy") == "host":
        raise bad("Launch template should not specify dedicated hosts.")


def _check_capacity(call: ApiCall, capacity: str, data: Mapping[str, Any]) -> None:
    market = (data.get("InstanceMarketOptions") or {}).get("MarketType")
    target = (data.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
    if capacity == "CAPACITY_BLOCK":
        missing = [
            name
            for name, value in (
                ("InstanceMarketOptions.MarketType capacity-block", market == "capacity-block"),
                (
                    "the Capacity Block's reservation ID",
                    target.get("CapacityReservationId") or target.get("CapacityReservationResourceGroupArn"),
                ),
                ("InstanceType", data.get("InstanceType")),
            )
            if not value
        ]
        if missing:
            raise bad(f"The capacity type CAPACITY_BLOCK needs a launch template with {', '.join(missing)}.")
        identifier = target.get("CapacityReservationId")
        if identifier and identifier not in call.world.table(call.region, "capacity-reservations"):
            raise bad(f"The capacity reservation {identifier} does not exist.")
    elif market == "capacity-block":
        raise bad("A launch template with the market type capacity-block needs the capacity type CAPACITY_BLOCK.")


def _find_template(call: ApiCall, spec: Mapping[str, Any]) -> dict[str, Any]:
    if spec.get("id") and spec.get("name"):
        raise bad("Launch template id and name cannot both be specified.")
    try:
        return find_template(call.world, call.region, spec)
    except AwsError as problem:
        raise bad(f"Launch template details can't be found: {problem.message}") from problem


def _shown_template(call: ApiCall, spec: Mapping[str, Any]) -> dict[str, Any]:
    template = _find_template(call, spec)
    return {
        "id": template["LaunchTemplateId"],
        "name": template["LaunchTemplateName"],
        "version": str(find_version(template, spec.get("version"))["VersionNumber"]),
    }


def _require_quiet(record: Mapping[str, Any]) -> None:
    if record["status"] in ("CREATING", "UPDATING", "DELETING"):
        raise AwsError("ResourceInUseException", f"Nodegroup cannot be updated as it is currently {record['status']}")


def _default_ami_type(types: Sequence[str]) -> str:
    known = hardware.describe_type(types[0]) or {}
    architecture = "ARM_64" if "arm64" in hardware.architectures(types[0]) else "x86_64"
    makers = {each.get("Manufacturer") for each in (known.get("GpuInfo") or {}).get("Gpus", [])}
    if "NVIDIA" in makers or types[0].startswith("p6e-"):
        return f"AL2023_{architecture}_NVIDIA"
    return f"AL2023_{architecture}_STANDARD"


def _make_group(
    call: ApiCall, cluster: Mapping[str, Any], record: dict[str, Any], types: Sequence[str]
) -> dict[str, Any]:
    spec = record["launchTemplate"]
    name, cluster_name = record["nodegroupName"], cluster["name"]
    tags = {
        "eks:cluster-name": cluster_name,
        "eks:nodegroup-name": name,
        f"kubernetes.io/cluster/{cluster_name}": "owned",
        "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{cluster_name}": "owned",
    }
    extra: dict[str, Any] = {"DefaultGroups": [cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]]}
    if record["_image"]:
        extra["ImageId"] = record["_image"]
    if record["capacityType"] == "SPOT":
        extra["InstanceMarketOptions"] = {"MarketType": "spot"}
    if record["diskSize"]:
        extra["BlockDeviceMappings"] = [
            {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": record["diskSize"], "VolumeType": "gp3"}}
        ]
    if spec:
        group_spec: dict[str, Any] = {"LaunchTemplateId": spec["id"], "Version": spec["version"]}
    else:
        record["_own_template"] = _own_template(call, record)
        group_spec = {"LaunchTemplateId": record["_own_template"], "Version": "1"}
    scaling = record["scalingConfig"]
    return autoscaling.make_group(
        call,
        name=record["_group"],
        spec=group_spec,
        overrides=types,
        subnets=record["subnets"],
        sizes=(scaling["minSize"], scaling["maxSize"], scaling["desiredSize"]),
        tags=[
            {
                "Key": key,
                "Value": value,
                "PropagateAtLaunch": True,
                "ResourceId": record["_group"],
                "ResourceType": "auto-scaling-group",
            }
            for key, value in tags.items()
        ],
        extra=extra,
    )


def _own_template(call: ApiCall, record: Mapping[str, Any]) -> str:
    """Make the launch template that EKS keeps for a node group without one, and return its id."""
    from gpukit_sandbox.cloud.ec2_templates import KIND as TEMPLATES
    from gpukit_sandbox.cloud.state import ACCOUNT_ID, new_id

    identifier = new_id("lt")
    data = {"MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}}
    call.world.table(call.region, TEMPLATES)[identifier] = {
        "LaunchTemplateId": identifier,
        "LaunchTemplateName": record["_group"],
        "CreateTime": call.world.now(),
        "CreatedBy": f"arn:aws:sts::{ACCOUNT_ID}:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS",
        "DefaultVersionNumber": 1,
        "LatestVersionNumber": 1,
        "Tags": [
            {"Key": "eks:cluster-name", "Value": record["clusterName"]},
            {"Key": "eks:nodegroup-name", "Value": record["nodegroupName"]},
        ],
        "_versions": {
            1: {
                "VersionNumber": 1,
                "VersionDescription": None,
                "CreateTime": call.world.now(),
                "CreatedBy": "EKS",
                "LaunchTemplateData": data,
            }
        },
    }
    return identifier


_ISSUE_CODES: Final = {
    "InsufficientFreeAddressesInSubnet": "InsufficientFreeAddresses",
    "VcpuLimitExceeded": "InstanceLimitExceeded",
    "MaxSpotInstanceCountExceeded": "InstanceLimitExceeded",
    "InvalidAMIID.NotFound": "AmiIdNotFound",
    "InvalidSubnetID.NotFound": "Ec2SubnetNotFound",
    "InvalidGroup.NotFound": "Ec2SecurityGroupNotFound",
    "InvalidLaunchTemplateId.NotFound": "Ec2LaunchTemplateNotFound",
}
"""Source: EKS API reference, Issue: AsgInstanceLaunchFailures is the rest."""


def _issue(problem: AwsError, group_name: str) -> dict[str, Any]:
    code = _ISSUE_CODES.get(problem.code, "AsgInstanceLaunchFailures")
    return {
        "code": code,
        "message": f"Could not launch On-Demand Instances. {problem.code} - {problem.message} Launching EC2 instance failed.",
        "resourceIds": [group_name],
    }
