"""Keys and aliases."""

from typing import Any, ClassVar

from gpukit_sandbox.provider.resource import STATED, Resource, applies
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls


class Key(Resource):
    """A KMS key. Deleting schedules its deletion, which counts as gone."""

    token = "aws:kms/key:Key"
    service, autoname = "kms", ""
    create_call, id_from = "create_key", "KeyMetadata.KeyId"
    read_call, read_args, item = "describe_key", {"KeyId": "{id}"}, "KeyMetadata"
    gone = ("NotFoundException", "status:PendingDeletion", "KMSInvalidStateException")
    status, ready = "KeyState", ("Enabled", "Disabled")
    renames: ClassVar = {
        "customerMasterKeySpec": "KeySpec",
        "policy": "Policy",
        "bypassPolicyLockoutSafetyCheck": "BypassPolicyLockoutSafetyCheck",
    }
    handles = frozenset({"deletionWindowInDays"})
    tagging = Tagging(
        create_member="Tags",
        form="TagKey",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"KeyId": "{id}"},
        read_call="list_resource_tags",
        read_path="Tags",
    )
    defaults: ClassVar = {
        "isEnabled": True,
        "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
        "keyUsage": "ENCRYPT_DECRYPT",
        "bypassPolicyLockoutSafetyCheck": False,
    }

    @applies("enableKeyRotation", "rotationPeriodInDays")
    def rotation(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the yearly rotation."""
        if new.get("enableKeyRotation"):
            period = (
                {"RotationPeriodInDays": int(new["rotationPeriodInDays"])} if new.get("rotationPeriodInDays") else {}
            )
            calls.call("kms", "enable_key_rotation", KeyId=resource_id, **period)
        elif old.get("enableKeyRotation"):
            calls.call("kms", "disable_key_rotation", KeyId=resource_id)

    @applies("description", on_create=False)
    def words(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change the description."""
        calls.call("kms", "update_key_description", KeyId=resource_id, Description=new.get("description", ""))

    @applies("policy", on_create=False)
    def policy(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Replace the key policy."""
        if new.get("policy"):
            calls.call("kms", "put_key_policy", KeyId=resource_id, PolicyName="default", Policy=new["policy"])

    @applies("isEnabled")
    def enabled(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the key; on by default, so only said when it differs."""
        if new.get("isEnabled", True) != old.get("isEnabled", True):
            calls.call("kms", "enable_key" if new.get("isEnabled", True) else "disable_key", KeyId=resource_id)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add rotation and policy."""
        rotation = calls.call("kms", "get_key_rotation_status", KeyId=resource_id)
        policy = calls.call("kms", "get_key_policy", KeyId=resource_id, PolicyName="default").get("Policy")
        enabled = bool(rotation.get("KeyRotationEnabled"))
        return {
            "isEnabled": bool(item.get("Enabled")),
            "enableKeyRotation": enabled,
            "rotationPeriodInDays": rotation.get("RotationPeriodInDays") if enabled else None,
            "policy": policy,
        }

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Schedule the deletion."""
        calls.call(
            "kms",
            "schedule_key_deletion",
            KeyId=resource_id,
            PendingWindowInDays=int(state.get("deletionWindowInDays") or 30),
        )


class Alias(Resource):
    """A name for a key; its name is its id."""

    token = "aws:kms/alias:Alias"
    service, autoname_max = "kms", 250
    create_call = "create_alias"
    renames: ClassVar = {"name": "AliasName"}
    handles = frozenset({"namePrefix"})
    gone = ("NotFoundException",)
    delete_call, delete_args = "delete_alias", {"AliasName": "{id}"}
    not_imported = frozenset({"namePrefix"})

    def shape_name(self, name: str) -> str:
        """Aliases begin with `alias/`."""
        return f"alias/{name}"

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it among all aliases."""
        marker: dict[str, str] = {}
        while True:
            answer = calls.call("kms", "list_aliases", **marker)
            for alias in answer.get("Aliases", []):
                if alias["AliasName"] == resource_id and alias.get("TargetKeyId"):
                    return dict(alias)
            if not answer.get("Truncated"):
                return None
            marker = {"Marker": answer["NextMarker"]}

    @applies("targetKeyId", on_create=False)
    def retarget(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Point it at another key."""
        calls.call("kms", "update_alias", AliasName=resource_id, TargetKeyId=new["targetKeyId"])

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the key's ARN; a stated ARN stays an ARN."""
        key = item["TargetKeyId"]
        arn = f"arn:aws:kms:{calls.region}:{calls.account}:key/{key}"
        stated = state.get(STATED, {}).get("targetKeyId")
        return {
            "targetKeyArn": arn,
            "targetKeyId": stated if stated in (key, arn) else key,
            "name": resource_id,
            "arn": item.get("AliasArn"),
        }
