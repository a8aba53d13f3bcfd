"""Security groups and their rules."""

from collections.abc import Iterable
from typing import Any, ClassVar

from gpukit_sandbox.provider.ec2_network import Ec2Resource
from gpukit_sandbox.provider.resource import applies
from gpukit_sandbox.provider.tagging import ec2_tags
from gpukit_sandbox.provider.values import Properties, has_unknown
from gpukit_sandbox.provider.world import Calls

_DIRECTIONS = {"ingress": "IpPermissions", "egress": "IpPermissionsEgress"}


class SecurityGroup(Ec2Resource):
    """A security group with the rules that are stated inside it; none stated: AWS's own egress rule is taken off, as the real provider does."""

    token = "aws:ec2/securityGroup:SecurityGroup"
    autoname, autoname_max = "name", 255
    create_call, id_from = "create_security_group", "GroupId"
    read_call, read_args, item = "describe_security_groups", {"GroupIds": ["{id}"]}, "SecurityGroups[0]"
    gone = ("InvalidGroup.NotFound", "InvalidGroupId.NotFound")
    delete_call, delete_args = "delete_security_group", {"GroupId": "{id}"}
    renames: ClassVar = {"name": "GroupName"}
    handles = frozenset({"revokeRulesOnDelete", "namePrefix"})
    tagging = ec2_tags("security-group")
    arn = "arn:aws:ec2:{region}:{account}:security-group/{id}"
    defaults: ClassVar = {"description": "Managed by Pulumi", "revokeRulesOnDelete": False}
    drifts_from_nothing = ()
    not_imported = frozenset({"namePrefix"})

    def settle(self, calls: Calls, resource_id: str, inputs: Properties, *, old: Properties | None = None) -> None:
        """Take AWS's own allow-all egress rule off a new group, then carry the stated rules."""
        if old is None:
            self._set_rules(calls, resource_id, "egress", inputs)
        super().settle(calls, resource_id, inputs, old=old)

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """Find what an unanswered create call left by the group's name, which is its own in a VPC."""
        filters = [{"Name": "group-name", "Values": [inputs["name"]]}]
        filters += [{"Name": "vpc-id", "Values": [inputs["vpcId"]]}] if inputs.get("vpcId") else []
        found = calls.call("ec2", "describe_security_groups", Filters=filters)["SecurityGroups"]
        return str(found[0]["GroupId"]) if len(found) == 1 else None

    @applies("ingress")
    def ingress(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Make the inbound rules those that are stated."""
        self._set_rules(calls, resource_id, "ingress", new)

    @applies("egress")
    def egress(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Make the outbound rules those that are stated."""
        self._set_rules(calls, resource_id, "egress", new)

    def _set_rules(self, calls: Calls, group: str, direction: str, new: Properties) -> None:
        item = self.find(calls, group, new) or {}
        standing = {_text(p): p for p in _split(item.get(_DIRECTIONS[direction]) or [])}
        wanted = {_text(p): p for rule in new.get(direction) or [] for p in _split([_permission(rule, group)])}
        revoke = [p for key, p in standing.items() if key not in wanted]
        grant = [p for key, p in wanted.items() if key not in standing]
        if revoke:
            calls.call("ec2", f"revoke_security_group_{direction}", GroupId=group, IpPermissions=revoke)
        if grant:
            calls.call("ec2", f"authorize_security_group_{direction}", GroupId=group, IpPermissions=grant)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read both directions back in the form in which they were stated."""
        found: Properties = {"name": item.get("GroupName")}
        for direction, member in _DIRECTIONS.items():
            found[direction] = _rules(item.get(member) or [], resource_id, state.get(direction) or [])
        return found


class DefaultSecurityGroup(SecurityGroup):
    """The group that came with the VPC: taken over, emptied but for the stated rules, never deleted."""

    token = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
    autoname = ""
    create_call = ""
    handles = frozenset({"revokeRulesOnDelete", "vpcId"})
    defaults: ClassVar = {"revokeRulesOnDelete": False}

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Find the VPC's default group."""
        filters = [{"Name": "vpc-id", "Values": [inputs["vpcId"]]}, {"Name": "group-name", "Values": ["default"]}]
        return str(calls.call("ec2", "describe_security_groups", Filters=filters)["SecurityGroups"][0]["GroupId"])

    def settle(self, calls: Calls, resource_id: str, inputs: Properties, *, old: Properties | None = None) -> None:
        """Take the rules that are not stated off and write the tags."""
        self._set_rules(calls, resource_id, "ingress", inputs)
        self._set_rules(calls, resource_id, "egress", inputs)
        self.tagging.change(calls, "ec2", resource_id, {}, self.all_tags(calls, inputs))

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Leave it: it goes with its VPC."""


class _Rule(Ec2Resource):
    direction: ClassVar = ""
    id_from = "SecurityGroupRules[0].SecurityGroupRuleId"
    read_call, item = "describe_security_group_rules", "SecurityGroupRules[0]"
    read_args: ClassVar = {"SecurityGroupRuleIds": ["{id}"]}
    gone = ("InvalidSecurityGroupRuleId.NotFound", "InvalidSecurityGroupRuleID.NotFound")
    handles = frozenset(
        {
            "cidrIpv4",
            "cidrIpv6",
            "description",
            "fromPort",
            "ipProtocol",
            "prefixListId",
            "referencedSecurityGroupId",
            "securityGroupId",
            "toPort",
        }
    )
    tagging = ec2_tags("security-group-rule")
    arn = "arn:aws:ec2:{region}:{account}:security-group-rule/{id}"
    renames: ClassVar = {"securityGroupId": "GroupId"}

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse none or several peers, and ports where the protocol has none."""
        peers = [n for n in ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId") if inputs.get(n)]
        if len(peers) != 1:
            yield (
                "cidrIpv4",
                f"exactly one of cidrIpv4, cidrIpv6, prefixListId, referencedSecurityGroupId must be stated, not {peers or 'none'}",
            )
        if str(inputs.get("ipProtocol")) == "-1" and not has_unknown(inputs):
            for name in ("fromPort", "toPort"):
                if inputs.get(name) not in (None, -1):
                    yield name, "must not be stated when ipProtocol is -1"

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Write the one permission."""
        params: dict[str, Any] = {"GroupId": inputs["securityGroupId"], "IpPermissions": [self._permission(inputs)]}
        return {**params, **self.tagging.on_create({}, self.all_tags(calls, inputs), self.has_tags)}

    def _permission(self, inputs: Properties) -> dict[str, Any]:
        words = {"description": inputs["description"]} if inputs.get("description") else {}
        permission: dict[str, Any] = {"IpProtocol": str(inputs["ipProtocol"])}
        for name, member in (("fromPort", "FromPort"), ("toPort", "ToPort")):
            if inputs.get(name) is not None:
                permission[member] = int(inputs[name])
        words = {"Description": words["description"]} if words else {}
        for name, member, key in (
            ("cidrIpv4", "IpRanges", "CidrIp"),
            ("cidrIpv6", "Ipv6Ranges", "CidrIpv6"),
            ("prefixListId", "PrefixListIds", "PrefixListId"),
            ("referencedSecurityGroupId", "UserIdGroupPairs", "GroupId"),
        ):
            if inputs.get(name):
                permission[member] = [{key: inputs[name], **words}]
        return permission

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the referenced group; -1 for ports is AWS's word for none."""
        found: Properties = {"securityGroupRuleId": resource_id, "securityGroupId": item.get("GroupId")}
        found["referencedSecurityGroupId"] = (item.get("ReferencedGroupInfo") or {}).get("GroupId")
        for name in ("fromPort", "toPort"):
            if state.get(name) == -1 and str(item.get("IpProtocol")) == "-1":
                found[name] = None
        return found

    @applies(
        "cidrIpv4",
        "cidrIpv6",
        "description",
        "fromPort",
        "ipProtocol",
        "prefixListId",
        "referencedSecurityGroupId",
        "toPort",
        on_create=False,
    )
    def change(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Rewrite the rule under its id."""
        rule: dict[str, Any] = {
            "IpProtocol": str(new["ipProtocol"]),
            "FromPort": int(new.get("fromPort", -1)),
            "ToPort": int(new.get("toPort", -1)),
        }
        for name, member in (
            ("cidrIpv4", "CidrIpv4"),
            ("cidrIpv6", "CidrIpv6"),
            ("prefixListId", "PrefixListId"),
            ("description", "Description"),
        ):
            if new.get(name):
                rule[member] = new[name]
        if new.get("referencedSecurityGroupId"):
            rule["ReferencedGroupId"] = new["referencedSecurityGroupId"]
        calls.call(
            "ec2",
            "modify_security_group_rules",
            GroupId=new["securityGroupId"],
            SecurityGroupRules=[{"SecurityGroupRuleId": resource_id, "SecurityGroupRule": rule}],
        )

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Take the rule off."""
        calls.call(
            "ec2",
            f"revoke_security_group_{self.direction}",
            GroupId=state["securityGroupId"],
            SecurityGroupRuleIds=[resource_id],
        )


class SecurityGroupIngressRule(_Rule):
    """One inbound rule."""

    token = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    direction = "ingress"
    create_call = "authorize_security_group_ingress"


class SecurityGroupEgressRule(_Rule):
    """One outbound rule."""

    token = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
    direction = "egress"
    create_call = "authorize_security_group_egress"


def _permission(rule: Properties, group: str) -> dict[str, Any]:
    """Return a stated rule as AWS's permission. All protocols carry no ports."""
    protocol = str(rule["protocol"])
    protocol = "-1" if protocol == "all" else protocol
    words = {"Description": rule["description"]} if rule.get("description") else {}
    permission: dict[str, Any] = {"IpProtocol": protocol}
    if protocol != "-1":
        permission |= {"FromPort": int(rule["fromPort"]), "ToPort": int(rule["toPort"])}
    groups = [*(rule.get("securityGroups") or []), *([group] if rule.get("self") else [])]
    permission["IpRanges"] = [{"CidrIp": c, **words} for c in rule.get("cidrBlocks") or []]
    permission["Ipv6Ranges"] = [{"CidrIpv6": c, **words} for c in rule.get("ipv6CidrBlocks") or []]
    permission["PrefixListIds"] = [{"PrefixListId": p, **words} for p in rule.get("prefixListIds") or []]
    permission["UserIdGroupPairs"] = [{"GroupId": g, **words} for g in groups]
    return permission


_PEERS = {
    "IpRanges": "CidrIp",
    "Ipv6Ranges": "CidrIpv6",
    "PrefixListIds": "PrefixListId",
    "UserIdGroupPairs": "GroupId",
}


def _split(permissions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return permissions with one peer each, so that they can be compared whatever way they were bundled."""
    single = []
    for permission in permissions:
        head = {k: permission[k] for k in ("IpProtocol", "FromPort", "ToPort") if permission.get(k) is not None}
        if str(head["IpProtocol"]) == "-1":
            head = {"IpProtocol": "-1"}
        for member, key in _PEERS.items():
            for peer in permission.get(member) or []:
                kept = {key: peer[key], **({"Description": peer["Description"]} if peer.get("Description") else {})}
                single.append({**head, member: [kept]})
    return single


def _text(permission: dict[str, Any]) -> str:
    return repr(sorted(permission.items(), key=lambda kv: kv[0]))


def _rules(permissions: list[dict[str, Any]], group: str, stated: list[Properties]) -> list[Properties]:
    """Return rules as they were stated where they stand unchanged, and the rest one peer each."""
    left = {_text(p): p for p in _split(permissions)}
    rules: list[Properties] = []
    for rule in stated:
        parts = [_text(p) for p in _split([_permission(rule, group)])]
        if parts and all(part in left for part in parts):
            rules.append(rule)
            for part in parts:
                left.pop(part, None)
    for permission in left.values():
        protocol = str(permission["IpProtocol"])
        rule = {"protocol": protocol, "fromPort": permission.get("FromPort", 0), "toPort": permission.get("ToPort", 0)}
        for member, name in (
            ("IpRanges", "cidrBlocks"),
            ("Ipv6Ranges", "ipv6CidrBlocks"),
            ("PrefixListIds", "prefixListIds"),
        ):
            if member in permission:
                rule[name] = [peer[_PEERS[member]] for peer in permission[member]]
        for pair in permission.get("UserIdGroupPairs", []):
            rule |= {"self": True} if pair["GroupId"] == group else {"securityGroups": [pair["GroupId"]]}
        rules.append(rule)
    return rules
