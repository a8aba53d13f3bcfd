"""EKS: clusters, node groups, add-ons, access entries, pod identities."""

from collections.abc import Iterable
from typing import Any, ClassVar

from gpukit_sandbox.provider.convert import from_api, to_api
from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.sdk_types import nested_type
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties, same_value
from gpukit_sandbox.provider.world import Calls, Refused

_MISSING = ("ResourceNotFoundException",)


def _eks_tags(arn: str) -> Tagging:
    return Tagging(
        create_member="tags",
        form="map",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"resourceArn": arn},
        tags_member="tags",
        keys_member="tagKeys",
        # TagResource belongs to EKS itself: the description holds the tags, and `change` reads them by a list call.
        read_call="list_tags_for_resource",
        read_path="tags",
    )


class Cluster(Resource):
    """A control plane; its name is its id."""

    token = "aws:eks/cluster:Cluster"
    service, autoname_max = "eks", 100
    create_call = "create_cluster"
    read_call, read_args, item = "describe_cluster", {"name": "{id}"}, "cluster"
    gone = _MISSING
    delete_call, delete_args = "delete_cluster", {"name": "{id}"}
    renames: ClassVar = {"vpcConfig": "resourcesVpcConfig"}
    handles = frozenset({"enabledClusterLogTypes", "defaultAddonsToRemoves", "forceUpdateVersion"})
    not_sent = frozenset({"enabledClusterLogTypes"})
    tagging = _eks_tags("{arn}")
    status, ready, failed = "status", ("ACTIVE",), ("FAILED",)
    waits_for_deletion = True
    defaults: ClassVar = {"bootstrapSelfManagedAddons": True}
    not_imported = frozenset(
        {"computeConfig", "storageConfig", "outpostConfig", "controlPlaneScalingConfig", "zonalShiftConfig"}
    )

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Encryption is a list of one; log types are a nested switch."""
        params = super().create_params(calls, inputs)
        if inputs.get("enabledClusterLogTypes"):
            params["logging"] = {"clusterLogging": [{"types": list(inputs["enabledClusterLogTypes"]), "enabled": True}]}
        return params

    @applies("version", on_create=False)
    def upgrade(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Upgrade the control plane."""
        force = {"force": True} if new.get("forceUpdateVersion") else {}
        calls.call("eks", "update_cluster_version", name=resource_id, version=new["version"], **force)
        self.wait_ready(calls, resource_id, new)

    @applies("vpcConfig", on_create=False)
    def network(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change endpoints, or subnets and security groups: AWS takes the two kinds in separate updates."""
        before, after = old.get("vpcConfig") or {}, new["vpcConfig"]
        shape = calls.shape("eks", "update_cluster_config").members["resourcesVpcConfig"]
        for names in (
            ("endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs"),
            ("subnetIds", "securityGroupIds"),
        ):
            if any(not same_value(before.get(n), after.get(n)) for n in names):
                change = to_api({n: after[n] for n in names if after.get(n) is not None}, shape)
                calls.call("eks", "update_cluster_config", name=resource_id, resourcesVpcConfig=change)
                self.wait_ready(calls, resource_id, new)

    @applies("enabledClusterLogTypes", on_create=False)
    def logs(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch log types on and off."""
        before, after = set(old.get("enabledClusterLogTypes") or []), set(new.get("enabledClusterLogTypes") or [])
        change = [{"types": sorted(after), "enabled": True}] if after else []
        if before - after:
            change.append({"types": sorted(before - after), "enabled": False})
        calls.call("eks", "update_cluster_config", name=resource_id, logging={"clusterLogging": change})
        self.wait_ready(calls, resource_id, new)

    @applies("accessConfig", "upgradePolicy", "deletionProtection", "zonalShiftConfig", on_create=False)
    def settings(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change the other settings, one update each."""
        shape = calls.shape("eks", "update_cluster_config")
        for name in ("accessConfig", "upgradePolicy", "deletionProtection", "zonalShiftConfig"):
            if new.get(name) is not None and not same_value(old.get(name), new.get(name)):
                value = {"authenticationMode": new[name]["authenticationMode"]} if name == "accessConfig" else new[name]
                calls.call("eks", "update_cluster_config", name=resource_id, **to_api({name: value}, shape))
                self.wait_ready(calls, resource_id, new)

    def in_place_for(self, old: Properties, new: Properties) -> set[str]:
        """Encryption can be added, never changed or taken off."""
        return {"encryptionConfig"} if not old.get("encryptionConfig") else set()

    @applies("encryptionConfig", on_create=False)
    def encrypt(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Encrypt secrets of a cluster that did not: AWS knows no way back."""
        shape = calls.shape("eks", "associate_encryption_config")
        calls.call(
            "eks",
            "associate_encryption_config",
            **to_api({"encryptionConfig": new["encryptionConfig"]}, shape),
            clusterName=resource_id,
        )
        self.wait_ready(calls, resource_id, new)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add log types, identity and the parts that AWS leaves out when they are at rest."""
        logging = (item.get("logging") or {}).get("clusterLogging") or []
        on = sorted({kind for row in logging if row.get("enabled") for kind in row.get("types", [])})
        issuer = ((item.get("identity") or {}).get("oidc") or {}).get("issuer")
        encryption = item.get("encryptionConfig") or []
        found: Properties = {
            "enabledClusterLogTypes": on,
            "identities": [{"oidcs": [{"issuer": issuer}]}] if issuer else [],
            "encryptionConfig": from_api(encryption[0], nested_type("#eks.ClusterEncryptionConfig") or {})
            if encryption
            else None,
            "name": item["name"],
        }
        access = dict(state.get("accessConfig") or {})
        stated = item.get("accessConfig") or {}
        if stated.get("authenticationMode"):
            access["authenticationMode"] = stated["authenticationMode"]
        found["accessConfig"] = access or None
        return found


class NodeGroup(Resource):
    """A managed node group; its id is `cluster:name`."""

    token = "aws:eks/nodeGroup:NodeGroup"
    service, autoname, autoname_max = "eks", "nodeGroupName", 63
    create_call = "create_nodegroup"
    gone = _MISSING
    renames: ClassVar = {
        "nodeRoleArn": "nodeRole",
        "subnetIds": "subnets",
        "nodeGroupName": "nodegroupName",
        "arn": "nodegroupArn",
    }
    handles = frozenset({"forceUpdateVersion", "nodeGroupNamePrefix"})
    tagging = _eks_tags("{arn}")
    status, ready, failed = "status", ("ACTIVE",), ("CREATE_FAILED", "DEGRADED", "DELETE_FAILED")
    stillborn = ("CREATE_FAILED",)
    waits_for_deletion = True
    not_imported = frozenset({"nodeGroupNamePrefix", "forceUpdateVersion", "warmPoolConfig"})

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return cluster and name."""
        return f"{inputs['clusterName']}:{inputs['nodeGroupName']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Cluster and name make it."""
        return f"{inputs['clusterName']}:{inputs['nodeGroupName']}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it by cluster and name."""
        cluster, _, name = resource_id.partition(":")
        return _described(calls, "describe_nodegroup", "nodegroup", clusterName=cluster, nodegroupName=name)

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse what AWS refuses beside a launch template, before any call, as the real provider does for the disk."""
        if inputs.get("launchTemplate") and inputs.get("remoteAccess"):
            yield "remoteAccess", "conflicts with launchTemplate: AWS takes remote access from the template"

    @applies("version", "releaseVersion", "launchTemplate", on_create=False)
    def upgrade(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Roll the nodes to another version or template version."""
        cluster, _, name = resource_id.partition(":")
        change: dict[str, Any] = {}
        for prop, member in (("version", "version"), ("releaseVersion", "releaseVersion")):
            if new.get(prop) and not same_value(new.get(prop), old.get(prop)):
                change[member] = new[prop]
        if new.get("launchTemplate") and not same_value(new.get("launchTemplate"), old.get("launchTemplate")):
            template = {k: str(v) for k, v in new["launchTemplate"].items() if v is not None}
            # AWS takes the template by id or by name, never by both.
            change["launchTemplate"] = {k: v for k, v in template.items() if k != "name" or "id" not in template}
        if change:
            force = {"force": True} if new.get("forceUpdateVersion") else {}
            calls.call("eks", "update_nodegroup_version", clusterName=cluster, nodegroupName=name, **change, **force)
            self.wait_ready(calls, resource_id, new)

    @applies("labels", "taints", "scalingConfig", "updateConfig", "nodeRepairConfig", on_create=False)
    def configure(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change scaling, labels, taints and update behaviour."""
        cluster, _, name = resource_id.partition(":")
        shape = calls.shape("eks", "update_nodegroup_config")
        change: dict[str, Any] = {}
        for prop in ("scalingConfig", "updateConfig", "nodeRepairConfig"):
            if new.get(prop) is not None and not same_value(new.get(prop), old.get(prop)):
                change |= to_api({prop: new[prop]}, shape)
        before, after = old.get("labels") or {}, new.get("labels") or {}
        if not same_value(before, after):
            fresh, dropped = {k: v for k, v in after.items() if before.get(k) != v}, sorted(set(before) - set(after))
            change["labels"] = {
                **({"addOrUpdateLabels": fresh} if fresh else {}),
                **({"removeLabels": dropped} if dropped else {}),
            }
        if not same_value(old.get("taints"), new.get("taints")):
            change["taints"] = _taint_change(old.get("taints") or [], new.get("taints") or [])
        if change:
            calls.call("eks", "update_nodegroup_config", clusterName=cluster, nodegroupName=name, **change)
            self.wait_ready(calls, resource_id, new)

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """A template is named by id or by name, never by both."""
        params = super().create_params(calls, inputs)
        template = params.get("launchTemplate")
        if template and "id" in template:
            template.pop("name", None)
        return params

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add taints in the SDK's words and the groups behind it."""
        resources = item.get("resources") or {}
        groups = [{"name": g["name"]} for g in resources.get("autoScalingGroups") or []]
        template = item.get("launchTemplate")
        stated = state.get("launchTemplate") or {}
        found: Properties = {
            "clusterName": item["clusterName"],
            "nodeGroupName": item["nodegroupName"],
            "resources": [
                {
                    "autoscalingGroups": groups,
                    "remoteAccessSecurityGroupId": resources.get("remoteAccessSecurityGroup") or "",
                }
            ],
            "launchTemplate": {**stated, **{k: str(v) for k, v in template.items()}} if template else None,
        }
        if item.get("updateConfig") is None and "updateConfig" not in state:
            found["updateConfig"] = None
        return found

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it."""
        cluster, _, name = resource_id.partition(":")
        calls.call("eks", "delete_nodegroup", clusterName=cluster, nodegroupName=name)

    def import_state(self, calls: Calls, resource_id: str) -> Properties:
        """Read both names off the id."""
        cluster, _, name = resource_id.partition(":")
        return {"clusterName": cluster, "nodeGroupName": name}


def _taint_change(before: list[Properties], after: list[Properties]) -> dict[str, list[dict[str, str]]]:
    def written(taints: list[Properties]) -> list[dict[str, str]]:
        return [{k: t[k] for k in ("key", "value", "effect") if t.get(k) is not None} for t in taints]

    fresh = [t for t in written(after) if t not in written(before)]
    kept = {(t["key"], t["effect"]) for t in written(after)}
    dropped = [t for t in written(before) if (t["key"], t["effect"]) not in kept]
    return {**({"addOrUpdateTaints": fresh} if fresh else {}), **({"removeTaints": dropped} if dropped else {})}


class Addon(Resource):
    """An add-on; its id is `cluster:name`."""

    token = "aws:eks/addon:Addon"
    service, autoname = "eks", ""
    create_call = "create_addon"
    gone = _MISSING
    renames: ClassVar = {"resolveConflictsOnCreate": "resolveConflicts", "arn": "addonArn"}
    handles = frozenset({"resolveConflictsOnUpdate", "preserve"})
    tagging = _eks_tags("{arn}")
    status, ready, failed = "status", ("ACTIVE", "DEGRADED"), ("CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED")
    waits_for_deletion = True

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return cluster and name."""
        return f"{inputs['clusterName']}:{inputs['addonName']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Cluster and name make it."""
        return f"{inputs['clusterName']}:{inputs['addonName']}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it by cluster and name."""
        cluster, _, name = resource_id.partition(":")
        return _described(calls, "describe_addon", "addon", clusterName=cluster, addonName=name)

    @applies("addonVersion", "configurationValues", "serviceAccountRoleArn", "podIdentityAssociations", on_create=False)
    def change(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change version or configuration."""
        cluster, _, name = resource_id.partition(":")
        names = ("addonVersion", "configurationValues", "serviceAccountRoleArn", "podIdentityAssociations")
        stated = {n: new[n] for n in names if new.get(n) is not None and not same_value(new.get(n), old.get(n))}
        params = to_api(stated, calls.shape("eks", "update_addon"))
        if new.get("resolveConflictsOnUpdate"):
            params["resolveConflicts"] = new["resolveConflictsOnUpdate"]
        calls.call("eks", "update_addon", clusterName=cluster, addonName=name, **params)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read what each pod identity says: AWS tells an add-on's by ARN alone."""
        found = []
        for arn in item.get("podIdentityAssociations") or []:
            _, cluster, association = str(arn).rsplit("/", 2)
            told = _described(
                calls,
                "describe_pod_identity_association",
                "association",
                clusterName=cluster,
                associationId=association,
            )
            if told is not None:
                found.append({"roleArn": told["roleArn"], "serviceAccount": told["serviceAccount"]})
        return {"podIdentityAssociations": found or None}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it; `preserve` leaves what runs in the cluster."""
        cluster, _, name = resource_id.partition(":")
        keep = {"preserve": True} if state.get("preserve") else {}
        calls.call("eks", "delete_addon", clusterName=cluster, addonName=name, **keep)

    def import_state(self, calls: Calls, resource_id: str) -> Properties:
        """Read both names off the id."""
        cluster, _, name = resource_id.partition(":")
        return {"clusterName": cluster, "addonName": name}


class AccessEntry(Resource):
    """Who may enter a cluster; its id is `cluster:principal`."""

    token = "aws:eks/accessEntry:AccessEntry"
    service, autoname = "eks", ""
    create_call = "create_access_entry"
    gone = _MISSING
    renames: ClassVar = {"userName": "username"}
    tagging = _eks_tags("{accessEntryArn}")
    defaults: ClassVar = {"type": "STANDARD"}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return cluster and principal."""
        return f"{inputs['clusterName']}:{inputs['principalArn']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Cluster and principal make it."""
        return f"{inputs['clusterName']}:{inputs['principalArn']}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it by cluster and principal."""
        cluster, _, principal = resource_id.partition(":")
        return _described(calls, "describe_access_entry", "accessEntry", clusterName=cluster, principalArn=principal)

    @applies("kubernetesGroups", "userName", on_create=False)
    def change(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change groups or user name."""
        cluster, _, principal = resource_id.partition(":")
        user = {"username": new["userName"]} if new.get("userName") else {}
        groups = list(new.get("kubernetesGroups") or [])
        calls.call(
            "eks", "update_access_entry", clusterName=cluster, principalArn=principal, kubernetesGroups=groups, **user
        )

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it."""
        cluster, _, principal = resource_id.partition(":")
        calls.call("eks", "delete_access_entry", clusterName=cluster, principalArn=principal)

    def import_state(self, calls: Calls, resource_id: str) -> Properties:
        """Read both off the id."""
        cluster, _, principal = resource_id.partition(":")
        return {"clusterName": cluster, "principalArn": principal}


class AccessPolicyAssociation(Resource):
    """What an access entry may do; its id is `cluster#principal#policy`."""

    token = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
    service, autoname = "eks", ""
    create_call = "associate_access_policy"
    gone = _MISSING

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return cluster, principal and policy."""
        return f"{inputs['clusterName']}#{inputs['principalArn']}#{inputs['policyArn']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """The three make it."""
        return self.make_id({}, inputs)

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it among the entry's policies."""
        cluster, principal, policy = resource_id.split("#")
        try:
            answer = calls.call("eks", "list_associated_access_policies", clusterName=cluster, principalArn=principal)
        except Refused as refusal:
            if refusal.code in _MISSING:
                return None
            raise
        for found in answer.get("associatedAccessPolicies", []):
            if found["policyArn"] == policy:
                return {**found, "clusterName": cluster, "principalArn": principal}
        return None

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Take the policy off."""
        cluster, principal, policy = resource_id.split("#")
        calls.call("eks", "disassociate_access_policy", clusterName=cluster, principalArn=principal, policyArn=policy)

    def import_state(self, calls: Calls, resource_id: str) -> Properties:
        """Read the three off the id."""
        cluster, principal, policy = resource_id.split("#")
        return {"clusterName": cluster, "principalArn": principal, "policyArn": policy}


class PodIdentityAssociation(Resource):
    """Which role a service account gets."""

    token = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
    service, autoname = "eks", ""
    create_call, id_from = "create_pod_identity_association", "association.associationId"
    gone = _MISSING
    tagging = _eks_tags("{associationArn}")

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it by cluster and id."""
        cluster = str(state.get("clusterName", ""))
        return _described(
            calls, "describe_pod_identity_association", "association", clusterName=cluster, associationId=resource_id
        )

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """A service account has one association at most."""
        names = {
            "clusterName": inputs["clusterName"],
            "namespace": inputs["namespace"],
            "serviceAccount": inputs["serviceAccount"],
        }
        found = calls.call("eks", "list_pod_identity_associations", **names).get("associations", [])
        return str(found[0]["associationId"]) if len(found) == 1 else None

    @applies("roleArn", "disableSessionTags", "targetRoleArn", on_create=False)
    def change(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Give another role."""
        params = to_api({n: new[n] for n in ("roleArn", "disableSessionTags", "targetRoleArn") if new.get(n) is not None},
                        calls.shape("eks", "update_pod_identity_association"))  # fmt: skip
        calls.call(
            "eks",
            "update_pod_identity_association",
            clusterName=new["clusterName"],
            associationId=resource_id,
            **params,
        )

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it."""
        calls.call(
            "eks", "delete_pod_identity_association", clusterName=state["clusterName"], associationId=resource_id
        )


def _described(calls: Calls, operation: str, member: str, **arguments: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = calls.call("eks", operation, **arguments)[member]
    except Refused as refusal:
        if refusal.code in _MISSING:
            return None
        raise
    return found
