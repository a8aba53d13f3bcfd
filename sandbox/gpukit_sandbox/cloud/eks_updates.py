"""Changes to a standing EKS cluster: configuration, version, encryption, tags."""

from collections.abc import Mapping
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud.eks_clusters import (
    AUTHENTICATION_ORDER,
    bad,
    check_endpoint_access,
    check_security_groups,
    check_tags,
    find_cluster,
    make_log_group,
    merge_logging,
    minor,
    require_active,
    subnets_of,
)
from gpukit_sandbox.cloud.eks_nodegroups import MAX_VERSION_SKEW, nodegroups_of, note_update
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.images import KUBERNETES_VERSIONS
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

_SECTIONS: Final = (
    "resourcesVpcConfig",
    "logging",
    "accessConfig",
    "upgradePolicy",
    "zonalShiftConfig",
    "computeConfig",
    "remoteNetworkConfig",
    "deletionProtection",
    "controlPlaneScalingConfig",
)


@action("eks", "UpdateClusterConfig")
def update_cluster_config(call: ApiCall) -> dict[str, Any]:
    """
    Change one part of a cluster. Source of the refusals: EKS API reference, UpdateClusterConfig; EKS User Guide, cluster access.

    The authentication mode only ever moves toward API; logging and network cannot change together; nothing to change is an error.
    """
    cluster, params = find_cluster(call.world, call.region, call.params["name"]), call.params
    require_active(cluster)
    given = [each for each in _SECTIONS if params.get(each) is not None]
    if not given and not params.get("kubernetesNetworkConfig") and not params.get("storageConfig"):
        raise bad("No changes needed for the cluster: give one part of its configuration.")
    plain = [
        each
        for each in given
        if each in ("resourcesVpcConfig", "logging", "accessConfig", "upgradePolicy", "zonalShiftConfig")
    ]
    if len(plain) > 1:
        raise bad(f"Only one type of update can be allowed: {', '.join(plain)} were given.")
    kind, changes = "ConfigUpdate", []
    if params.get("accessConfig"):
        kind, changes = "AccessConfigUpdate", _change_access(cluster, params["accessConfig"])
    if params.get("resourcesVpcConfig"):
        kind, changes = _change_network(call, cluster, params["resourcesVpcConfig"])
    if params.get("logging"):
        wanted = merge_logging(cluster["logging"], params["logging"])
        if wanted == cluster["logging"]:
            raise bad("No changes needed for the logging config provided")
        cluster["logging"] = wanted
        make_log_group(call, cluster)
        kind, changes = "LoggingUpdate", [("ClusterLogging", wanted)]
    for name, update_kind in (
        ("upgradePolicy", "UpgradePolicyUpdate"),
        ("zonalShiftConfig", "ZonalShiftConfigUpdate"),
        ("deletionProtection", "DeletionProtectionUpdate"),
        ("computeConfig", "AutoModeUpdate"),
        ("remoteNetworkConfig", "RemoteNetworkConfigUpdate"),
        ("controlPlaneScalingConfig", "ControlPlaneScalingConfigUpdate"),
    ):
        if params.get(name) is not None:
            cluster[name] = params[name]
            kind, changes = update_kind, [*changes, (name, params[name])]
    return {"update": note_update(call, cluster["name"], kind, changes)}


@action("eks", "UpdateClusterVersion")
def update_cluster_version(call: ApiCall) -> dict[str, Any]:
    """Raise a cluster by one minor version. Never down, never two at once, never away from nodes more than three minors behind."""
    cluster = find_cluster(call.world, call.region, call.params["name"])
    require_active(cluster)
    wanted, now = call.params["version"], cluster["version"]
    step = minor(wanted) - minor(now)
    if step == 0:
        raise bad(f"Cluster is already at the desired configuration with version: {wanted}")
    if wanted not in KUBERNETES_VERSIONS:
        raise bad(f"unsupported Kubernetes version {wanted}")
    if step != 1:
        raise bad(f"Unsupported Kubernetes minor version update from {now} to {wanted}")
    for each in nodegroups_of(call.world, call.region, cluster["name"]):
        if each.get("version") and minor(wanted) - minor(each["version"]) > MAX_VERSION_SKEW:
            raise bad(
                f"Nodegroups {each['nodegroupName']} must be updated to match cluster version {now} before updating cluster version"
            )
    cluster["version"] = wanted
    return {"update": note_update(call, cluster["name"], "VersionUpdate", [("Version", wanted)])}


@action("eks", "AssociateEncryptionConfig")
def associate_encryption_config(call: ApiCall) -> dict[str, Any]:
    """Turn on encryption of secrets, once and for good."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    if cluster["encryptionConfig"]:
        raise bad("Encryption is already enabled on the cluster.")
    if [each.get("resources") for each in call.params["encryptionConfig"]] != [["secrets"]]:
        raise bad("The only supported value of resources is secrets.")
    cluster["encryptionConfig"] = call.params["encryptionConfig"]
    return {"update": note_update(call, cluster["name"], "AssociateEncryptionConfig", [])}


@action("eks", "ListFargateProfiles")
def list_fargate_profiles(call: ApiCall) -> dict[str, Any]:
    """Return none: the sandbox makes no Fargate profile."""
    find_cluster(call.world, call.region, call.params["clusterName"])
    return {"fargateProfileNames": []}


@action("eks", "ListIdentityProviderConfigs")
def list_identity_provider_configs(call: ApiCall) -> dict[str, Any]:
    """Return none: the sandbox associates no identity provider."""
    find_cluster(call.world, call.region, call.params["clusterName"])
    return {"identityProviderConfigs": []}


@action("eks", "TagResource")
def tag_resource(call: ApiCall) -> dict[str, Any]:
    """Set tags of a cluster or of something in it."""
    record = _find_by_arn(call)
    check_tags({**record["tags"], **(call.params.get("tags") or {})})
    record["tags"].update(call.params.get("tags") or {})
    return {}


@action("eks", "UntagResource")
def untag_resource(call: ApiCall) -> dict[str, Any]:
    """Remove tags."""
    record = _find_by_arn(call)
    for each in call.params.get("tagKeys") or []:
        record["tags"].pop(each, None)
    return {}


@action("eks", "ListTagsForResource")
def list_tags_for_resource(call: ApiCall) -> dict[str, Any]:
    """Return tags."""
    return {"tags": _find_by_arn(call)["tags"]}


def _find_by_arn(call: ApiCall) -> dict[str, Any]:
    wanted = call.params["resourceArn"]
    for kind, field in (
        ("eks-clusters", "arn"),
        ("eks-nodegroups", "nodegroupArn"),
        ("eks-addons", "addonArn"),
        ("eks-access-entries", "accessEntryArn"),
        ("eks-pod-identities", "associationArn"),
    ):
        for record in call.world.table(call.region, kind).values():
            if record[field] == wanted:
                found: dict[str, Any] = record
                return found
    raise AwsError("NotFoundException", f"The resource {wanted} was not found.")


def _change_access(cluster: dict[str, Any], wanted: Mapping[str, Any]) -> list[tuple[str, Any]]:
    mode, now = wanted.get("authenticationMode"), cluster["accessConfig"]["authenticationMode"]
    if not mode:
        raise bad("accessConfig needs authenticationMode.")
    if mode == now:
        raise bad(f"The cluster's authentication mode is {mode} already.")
    if AUTHENTICATION_ORDER.index(mode) < AUTHENTICATION_ORDER.index(now):
        raise bad(f"Unsupported authentication mode update from {now} to {mode}")
    if now == "CONFIG_MAP" and mode == "API":
        raise bad("Unsupported authentication mode update from CONFIG_MAP to API: go by API_AND_CONFIG_MAP.")
    cluster["accessConfig"]["authenticationMode"] = mode
    return [("AuthenticationMode", mode)]


def _change_network(
    call: ApiCall, cluster: dict[str, Any], wanted: Mapping[str, Any]
) -> tuple[str, list[tuple[str, Any]]]:
    current = cluster["resourcesVpcConfig"]
    placing = {"subnetIds", "securityGroupIds"} & set(wanted)
    access = {"endpointPublicAccess", "endpointPrivateAccess", "publicAccessCidrs"} & set(wanted)
    if placing and access:
        raise bad("Only one type of update can be allowed: subnets or security groups, or endpoint access.")
    merged = {**current, **{key: value for key, value in wanted.items() if value is not None}}
    check_endpoint_access(
        merged["endpointPublicAccess"], merged["endpointPrivateAccess"], wanted.get("publicAccessCidrs")
    )
    backend = get_backend("ec2")[ACCOUNT_ID][call.region]
    if wanted.get("subnetIds"):
        zones = {each.availability_zone for each in subnets_of(backend, current["subnetIds"])}
        new = subnets_of(backend, wanted["subnetIds"])
        if {each.availability_zone for each in new} != zones:
            raise bad(f"Provided subnets belong to the AZs that do not match the cluster's: {sorted(zones)}")
        if any(each.vpc_id != current["vpcId"] for each in new):
            raise bad("Provided subnets belong to a different VPC than the cluster's.")
    check_security_groups(call, backend, wanted.get("securityGroupIds") or [], current["vpcId"])
    if merged == current:
        raise bad("Cluster is already at the desired configuration")
    changes = [(key[0].upper() + key[1:], value) for key, value in wanted.items()]
    if merged["endpointPublicAccess"] and not merged["publicAccessCidrs"]:
        merged["publicAccessCidrs"] = ["0.0.0.0/0"]
    cluster["resourcesVpcConfig"] = merged
    return ("VpcConfigUpdate" if placing else "EndpointAccessUpdate"), changes
