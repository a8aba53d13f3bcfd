"""Roles, policies, instance profiles and identity providers."""

import contextlib
import json
from collections.abc import Iterable
from typing import Any, ClassVar

from gpukit_sandbox.provider.resource import STATED, Resource, applies
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties, has_unknown
from gpukit_sandbox.provider.world import Calls, Refused

MISSING = ("NoSuchEntity", "NoSuchEntityException")


def _iam_tags(noun: str, target: dict[str, Any]) -> Tagging:
    return Tagging(
        create_member="Tags",
        tag_call=f"tag_{noun}",
        untag_call=f"untag_{noun}",
        target=target,
        read_call=f"list_{noun}_tags",
        read_path="Tags",
    )


class _Named(Resource):
    service = "iam"
    gone = MISSING
    handles = frozenset({"namePrefix"})
    not_imported = frozenset({"namePrefix"})

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse policies that are no JSON objects, as the real provider does."""
        for name in ("policy", "assumeRolePolicy"):
            text = inputs.get(name)
            if isinstance(text, str) and not has_unknown(text):
                try:
                    fine = isinstance(json.loads(text), dict)
                except ValueError:
                    fine = False
                if not fine:
                    yield name, f"{name!r} contains an invalid JSON policy"

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])


class Role(_Named):
    """A role; its name is its id."""

    token = "aws:iam/role:Role"
    autoname_max = 64
    create_call = "create_role"
    read_call, read_args, item = "get_role", {"RoleName": "{id}"}, "Role"
    renames: ClassVar = {"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument", "uniqueId": "RoleId"}
    handles = frozenset({"namePrefix", "forceDetachPolicies", "inlinePolicies", "managedPolicyArns"})
    tagging = _iam_tags("role", {"RoleName": "{id}"})
    defaults: ClassVar = {"forceDetachPolicies": False, "maxSessionDuration": 3600, "path": "/"}
    not_imported = frozenset({"namePrefix", "inlinePolicies", "managedPolicyArns"})

    @applies("assumeRolePolicy", on_create=False)
    def trust(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change who may assume it."""
        calls.call("iam", "update_assume_role_policy", RoleName=resource_id, PolicyDocument=new["assumeRolePolicy"])

    @applies("description", "maxSessionDuration", on_create=False)
    def words(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change description and session length."""
        calls.call(
            "iam",
            "update_role",
            RoleName=resource_id,
            Description=new.get("description", ""),
            MaxSessionDuration=int(new.get("maxSessionDuration", 3600)),
        )

    @applies("permissionsBoundary", on_create=False)
    def boundary(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Set or take off the boundary."""
        if new.get("permissionsBoundary"):
            calls.call(
                "iam",
                "put_role_permissions_boundary",
                RoleName=resource_id,
                PermissionsBoundary=new["permissionsBoundary"],
            )
        else:
            calls.call("iam", "delete_role_permissions_boundary", RoleName=resource_id)

    @applies("managedPolicyArns")
    def managed(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Make the attached policies those that are stated."""
        wanted, standing = set(new.get("managedPolicyArns") or []), set(self._attached(calls, resource_id))
        for arn in sorted(standing - wanted):
            calls.call("iam", "detach_role_policy", RoleName=resource_id, PolicyArn=arn)
        for arn in sorted(wanted - standing):
            calls.call("iam", "attach_role_policy", RoleName=resource_id, PolicyArn=arn)

    @applies("inlinePolicies")
    def inline(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Make the inline policies those that are stated."""
        wanted = {p["name"]: p["policy"] for p in new.get("inlinePolicies") or [] if p.get("name")}
        for name in calls.call("iam", "list_role_policies", RoleName=resource_id)["PolicyNames"]:
            if name not in wanted:
                calls.call("iam", "delete_role_policy", RoleName=resource_id, PolicyName=name)
        for name, text in sorted(wanted.items()):
            calls.call("iam", "put_role_policy", RoleName=resource_id, PolicyName=name, PolicyDocument=text)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add boundary and, where stated, the policies."""
        found: Properties = {
            "name": item["RoleName"],
            "permissionsBoundary": (item.get("PermissionsBoundary") or {}).get("PermissionsBoundaryArn"),
        }
        if state.get("managedPolicyArns") is not None:
            found["managedPolicyArns"] = self._attached(calls, resource_id)
        if state.get("inlinePolicies"):
            names = calls.call("iam", "list_role_policies", RoleName=resource_id)["PolicyNames"]
            texts = [
                calls.call("iam", "get_role_policy", RoleName=resource_id, PolicyName=n)["PolicyDocument"]
                for n in names
            ]
            found["inlinePolicies"] = [{"name": n, "policy": _text(t)} for n, t in zip(names, texts, strict=True)]
        return found

    def _attached(self, calls: Calls, role: str) -> list[str]:
        return [
            p["PolicyArn"] for p in calls.call("iam", "list_attached_role_policies", RoleName=role)["AttachedPolicies"]
        ]

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Leave the profiles, take off what this resource or `forceDetachPolicies` answers for, delete."""
        for profile in calls.call("iam", "list_instance_profiles_for_role", RoleName=resource_id)["InstanceProfiles"]:
            calls.call(
                "iam",
                "remove_role_from_instance_profile",
                RoleName=resource_id,
                InstanceProfileName=profile["InstanceProfileName"],
            )
        force = bool(state.get("forceDetachPolicies"))
        if force or state.get("managedPolicyArns"):
            for arn in self._attached(calls, resource_id):
                calls.call("iam", "detach_role_policy", RoleName=resource_id, PolicyArn=arn)
        if force or state.get("inlinePolicies"):
            for name in calls.call("iam", "list_role_policies", RoleName=resource_id)["PolicyNames"]:
                calls.call("iam", "delete_role_policy", RoleName=resource_id, PolicyName=name)
        calls.call("iam", "delete_role", RoleName=resource_id)


class RolePolicy(_Named):
    """An inline policy of a role; its id is `role:name`."""

    token = "aws:iam/rolePolicy:RolePolicy"
    autoname_max = 128
    create_call = "put_role_policy"
    renames: ClassVar = {"name": "PolicyName", "role": "RoleName", "policy": "PolicyDocument"}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return role and name."""
        return f"{inputs['role']}:{inputs['name']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Role and name make it."""
        return f"{inputs['role']}:{inputs['name']}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it by role and name."""
        role, _, name = resource_id.partition(":")
        try:
            return calls.call("iam", "get_role_policy", RoleName=role, PolicyName=name)
        except Refused as refusal:
            if refusal.code in MISSING:
                return None
            raise

    @applies("policy", on_create=False)
    def rewrite(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Replace the text."""
        calls.call("iam", "put_role_policy", RoleName=new["role"], PolicyName=new["name"], PolicyDocument=new["policy"])

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it."""
        role, _, name = resource_id.partition(":")
        calls.call("iam", "delete_role_policy", RoleName=role, PolicyName=name)


class RolePolicyAttachment(Resource):
    """What binds a managed policy to a role."""

    token = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    service, autoname = "iam", ""
    create_call = "attach_role_policy"
    renames: ClassVar = {"role": "RoleName"}
    gone = MISSING

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return role and policy."""
        return f"{inputs['role']}/{inputs['policyArn']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Role and policy make it."""
        return f"{inputs['role']}/{inputs['policyArn']}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it among the role's attachments."""
        role, _, arn = resource_id.partition("/")
        try:
            attached = calls.call("iam", "list_attached_role_policies", RoleName=role)["AttachedPolicies"]
        except Refused as refusal:
            if refusal.code in MISSING:
                return None
            raise
        return {"RoleName": role, "PolicyArn": arn} if any(p["PolicyArn"] == arn for p in attached) else None

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Detach."""
        role, _, arn = resource_id.partition("/")
        calls.call("iam", "detach_role_policy", RoleName=role, PolicyArn=arn)


class Policy(_Named):
    """A managed policy; a new text becomes its default version."""

    token = "aws:iam/policy:Policy"
    autoname_max = 128
    create_call, id_from = "create_policy", "Policy.Arn"
    read_call, read_args, item = "get_policy", {"PolicyArn": "{id}"}, "Policy"
    renames: ClassVar = {"name": "PolicyName", "policy": "PolicyDocument"}
    handles = frozenset({"namePrefix", "delayAfterPolicyCreationInMs"})
    tagging = _iam_tags("policy", {"PolicyArn": "{id}"})
    defaults: ClassVar = {"path": "/"}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the ARN."""
        return str(answer["Policy"]["Arn"])

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Account, path and name make the ARN."""
        return f"arn:aws:iam::{calls.account}:policy{inputs.get('path', '/')}{inputs['name']}"

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the text of the default version."""
        version = calls.call("iam", "get_policy_version", PolicyArn=resource_id, VersionId=item["DefaultVersionId"])
        return {"policy": _text(version["PolicyVersion"]["Document"]), "name": item["PolicyName"]}

    @applies("policy", on_create=False)
    def rewrite(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Make a new default version, dropping the oldest of five."""
        versions = calls.call("iam", "list_policy_versions", PolicyArn=resource_id)["Versions"]
        if len(versions) >= 5:
            oldest = min((v for v in versions if not v["IsDefaultVersion"]), key=lambda v: v["CreateDate"])
            calls.call("iam", "delete_policy_version", PolicyArn=resource_id, VersionId=oldest["VersionId"])
        calls.call(
            "iam", "create_policy_version", PolicyArn=resource_id, PolicyDocument=new["policy"], SetAsDefault=True
        )

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete the versions, then the policy."""
        for version in calls.call("iam", "list_policy_versions", PolicyArn=resource_id)["Versions"]:
            if not version["IsDefaultVersion"]:
                calls.call("iam", "delete_policy_version", PolicyArn=resource_id, VersionId=version["VersionId"])
        calls.call("iam", "delete_policy", PolicyArn=resource_id)


class InstanceProfile(_Named):
    """What gives a role to an instance."""

    token = "aws:iam/instanceProfile:InstanceProfile"
    autoname_max = 128
    create_call = "create_instance_profile"
    read_call, read_args, item = "get_instance_profile", {"InstanceProfileName": "{id}"}, "InstanceProfile"
    renames: ClassVar = {"name": "InstanceProfileName", "uniqueId": "InstanceProfileId"}
    tagging = _iam_tags("instance_profile", {"InstanceProfileName": "{id}"})
    defaults: ClassVar = {"path": "/"}
    vanishing = frozenset({"role"})

    @applies("role")
    def role(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Make the profile's role the stated one."""
        item = self.find(calls, resource_id, {}) or {}
        for role in item.get("Roles", []):
            if role["RoleName"] != new.get("role"):
                calls.call(
                    "iam",
                    "remove_role_from_instance_profile",
                    InstanceProfileName=resource_id,
                    RoleName=role["RoleName"],
                )
        if new.get("role") and not any(r["RoleName"] == new["role"] for r in item.get("Roles", [])):
            calls.call("iam", "add_role_to_instance_profile", InstanceProfileName=resource_id, RoleName=new["role"])

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the role."""
        roles = item.get("Roles") or []
        return {"role": roles[0]["RoleName"] if roles else None, "name": item["InstanceProfileName"]}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Take the role off, delete."""
        item = self.find(calls, resource_id, state) or {}
        for role in item.get("Roles", []):
            with contextlib.suppress(Refused):
                calls.call(
                    "iam",
                    "remove_role_from_instance_profile",
                    InstanceProfileName=resource_id,
                    RoleName=role["RoleName"],
                )
        calls.call("iam", "delete_instance_profile", InstanceProfileName=resource_id)


class OpenIdConnectProvider(Resource):
    """An OIDC identity provider."""

    token = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
    service, autoname = "iam", ""
    create_call, id_from = "create_open_id_connect_provider", "OpenIDConnectProviderArn"
    read_call, read_args = "get_open_id_connect_provider", {"OpenIDConnectProviderArn": "{id}"}
    gone = MISSING
    delete_call, delete_args = "delete_open_id_connect_provider", {"OpenIDConnectProviderArn": "{id}"}
    renames: ClassVar = {"clientIdLists": "ClientIDList", "thumbprintLists": "ThumbprintList"}
    tagging = _iam_tags("open_id_connect_provider", {"OpenIDConnectProviderArn": "{id}"})

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Account and URL make the ARN."""
        return f"arn:aws:iam::{calls.account}:oidc-provider/{inputs['url'].removeprefix('https://')}"

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Keep the URL as stated: AWS drops its scheme."""
        stated = str(state.get(STATED, {}).get("url", ""))
        actual = str(item.get("Url", ""))
        same = stated.removeprefix("https://") == actual.removeprefix("https://")
        return {"arn": resource_id, "url": stated if same and stated else actual}

    @applies("thumbprintLists", on_create=False)
    def thumbprints(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Replace the thumbprints."""
        prints = list(new.get("thumbprintLists") or [])
        calls.call(
            "iam",
            "update_open_id_connect_provider_thumbprint",
            OpenIDConnectProviderArn=resource_id,
            ThumbprintList=prints,
        )

    @applies("clientIdLists", on_create=False)
    def clients(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Add and remove audiences."""
        before, after = set(old.get("clientIdLists") or []), set(new.get("clientIdLists") or [])
        for client in sorted(after - before):
            calls.call(
                "iam",
                "add_client_id_to_open_id_connect_provider",
                OpenIDConnectProviderArn=resource_id,
                ClientID=client,
            )
        for client in sorted(before - after):
            calls.call(
                "iam",
                "remove_client_id_from_open_id_connect_provider",
                OpenIDConnectProviderArn=resource_id,
                ClientID=client,
            )


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document, separators=(",", ":"))
