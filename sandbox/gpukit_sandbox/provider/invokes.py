"""Look-ups that programs make: zones, images, parameters, networks, policy documents."""

import json
import re
from collections.abc import Callable
from typing import Any

from gpukit_sandbox.provider import sdk_types
from gpukit_sandbox.provider.convert import from_api, tags_from_api
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls, Refused, World

Lookup = Callable[[Calls, Properties], Properties]


def invoke(world: World, token: str, arguments: Properties) -> Properties:
    """Return the answer of an invoke in the SDK's names. Raises Refused when nothing or too much matches."""
    name = token.rsplit(":", 1)[-1]
    lookup = _LOOKUPS.get(name)
    if lookup is None:
        raise Refused(f"the sandbox's AWS double does not model the function {token}", "NotModelled")
    accepted = sdk_types.function_inputs(_full(token))
    for argument in sorted(set(arguments) - set(accepted) - {"id"}):
        raise Refused(
            f"{token}: an unexpected argument {argument!r} was provided; it takes {', '.join(accepted)}", "Unknown"
        )
    calls = world.at(arguments.get("region"))
    answer = lookup(calls, {k: v for k, v in arguments.items() if v is not None})
    declared = sdk_types.function_outputs(_full(token))
    echoed = {k: v for k, v in arguments.items() if k in declared and v is not None}
    answer = {**echoed, **answer}
    if "region" in declared:
        answer.setdefault("region", calls.region)
    return {k: v for k, v in answer.items() if k in declared and v is not None}


def _full(token: str) -> str:
    name = token.rsplit(":", 1)[-1]
    module = token.split(":")[1].split("/")[0]
    return f"aws:{module}/{name}:{name}"


def _zones(calls: Calls, arguments: Properties) -> Properties:
    filters = _filters(arguments)
    if arguments.get("state"):
        filters.append({"Name": "state", "Values": [arguments["state"]]})
    zones = calls.call(
        "ec2",
        "describe_availability_zones",
        Filters=filters,
        AllAvailabilityZones=bool(arguments.get("allAvailabilityZones")),
    )
    left_names, left_ids = arguments.get("excludeNames") or [], arguments.get("excludeZoneIds") or []
    kept = [z for z in zones["AvailabilityZones"] if z["ZoneName"] not in left_names and z["ZoneId"] not in left_ids]
    kept.sort(key=lambda z: str(z["ZoneName"]))
    return {
        "id": calls.region,
        "names": [z["ZoneName"] for z in kept],
        "zoneIds": [z["ZoneId"] for z in kept],
        "groupNames": sorted({str(z.get("GroupName") or z.get("RegionName")) for z in kept}),
    }


def _identity(calls: Calls, arguments: Properties) -> Properties:
    answer = calls.call("sts", "get_caller_identity")
    return {"id": answer["Account"], "accountId": answer["Account"], "arn": answer["Arn"], "userId": answer["UserId"]}


def _region(calls: Calls, arguments: Properties) -> Properties:
    region = str(arguments.get("name") or arguments.get("region") or calls.region)
    return {
        "id": region,
        "name": region,
        "region": region,
        "endpoint": f"ec2.{region}.amazonaws.com",
        "description": region,
    }


def _partition(calls: Calls, arguments: Properties) -> Properties:
    from botocore.session import Session

    name = Session().get_partition_for_region(calls.region)
    suffix = {"aws-cn": "amazonaws.com.cn"}.get(name, "amazonaws.com")
    return {
        "id": name,
        "partition": name,
        "dnsSuffix": suffix,
        "reverseDnsPrefix": ".".join(reversed(suffix.split("."))),
    }


def _ami(calls: Calls, arguments: Properties) -> Properties:
    words: dict[str, Any] = {"Filters": _filters(arguments)}
    if arguments.get("owners"):
        words["Owners"] = arguments["owners"]
    if arguments.get("executableUsers"):
        words["ExecutableUsers"] = arguments["executableUsers"]
    images = calls.call("ec2", "describe_images", **words)["Images"]
    if arguments.get("nameRegex"):
        images = [i for i in images if re.search(arguments["nameRegex"], i.get("Name", ""))]
    if not images:
        raise Refused("your query returned no results: change the search criteria and try again", "NoResults")
    if len(images) > 1 and not arguments.get("mostRecent"):
        raise Refused("your query returned more than one result: narrow it, or set mostRecent", "TooManyResults")
    image = max(images, key=lambda i: str(i.get("CreationDate", "")))
    found = from_api(image, sdk_types.function_outputs("aws:ec2/getAmi:getAmi"))
    found |= {"id": image["ImageId"], "tags": tags_from_api(image.get("Tags") or [])}
    found["arn"] = f"arn:aws:ec2:{calls.region}::image/{image['ImageId']}"
    found.pop("filters", None)
    return found


def _parameter(calls: Calls, arguments: Properties) -> Properties:
    answer = calls.call(
        "ssm", "get_parameter", Name=arguments["name"], WithDecryption=arguments.get("withDecryption", True)
    )["Parameter"]
    secret = answer["Type"] == "SecureString"
    return {
        "id": answer["Name"],
        "name": answer["Name"],
        "arn": answer.get("ARN"),
        "type": answer["Type"],
        "value": answer["Value"],
        "insecureValue": None if secret else answer["Value"],
        "version": int(answer.get("Version", 1)),
        "withDecryption": bool(arguments.get("withDecryption", True)),
    }


def _vpc(calls: Calls, arguments: Properties) -> Properties:
    words = {"id": "vpc-id", "cidrBlock": "cidr", "dhcpOptionsId": "dhcp-options-id", "state": "state"}
    filters = _filters(arguments) + [
        {"Name": f, "Values": [arguments[a]]} for a, f in words.items() if arguments.get(a)
    ]
    if arguments.get("default") is not None:
        filters.append({"Name": "is-default", "Values": [str(bool(arguments["default"])).lower()]})
    vpc = _only_one(calls.call("ec2", "describe_vpcs", Filters=filters)["Vpcs"], "VPC")
    found = from_api(vpc, sdk_types.function_outputs("aws:ec2/getVpc:getVpc"))
    found |= {
        "id": vpc["VpcId"],
        "arn": f"arn:aws:ec2:{calls.region}:{calls.account}:vpc/{vpc['VpcId']}",
        "default": bool(vpc.get("IsDefault")),
        "tags": tags_from_api(vpc.get("Tags") or []),
        "cidrBlockAssociations": [
            {
                "associationId": a["AssociationId"],
                "cidrBlock": a["CidrBlock"],
                "state": a.get("CidrBlockState", {}).get("State"),
            }
            for a in vpc.get("CidrBlockAssociationSet", [])
        ],
    }
    for name in ("enableDnsSupport", "enableDnsHostnames"):
        answer = calls.call("ec2", "describe_vpc_attribute", VpcId=vpc["VpcId"], Attribute=name)
        found[name] = bool(answer[name[0].upper() + name[1:]]["Value"])
    tables = calls.call(
        "ec2",
        "describe_route_tables",
        Filters=[{"Name": "vpc-id", "Values": [vpc["VpcId"]]}, {"Name": "association.main", "Values": ["true"]}],
    )["RouteTables"]
    found["mainRouteTableId"] = tables[0]["RouteTableId"] if tables else None
    found.pop("filters", None)
    return found


_SUBNET_FILTERS = {
    "id": "subnet-id",
    "vpcId": "vpc-id",
    "cidrBlock": "cidrBlock",
    "availabilityZone": "availabilityZone",
    "availabilityZoneId": "availabilityZoneId",
    "state": "state",
}


def _subnet(calls: Calls, arguments: Properties) -> Properties:
    filters = _filters(arguments) + [
        {"Name": f, "Values": [arguments[a]]} for a, f in _SUBNET_FILTERS.items() if arguments.get(a)
    ]
    subnet = _only_one(calls.call("ec2", "describe_subnets", Filters=filters)["Subnets"], "subnet")
    found = from_api(
        subnet,
        sdk_types.function_outputs("aws:ec2/getSubnet:getSubnet"),
        {"availableIpAddressCount": "AvailableIpAddressCount"},
    )
    found |= {"id": subnet["SubnetId"], "tags": tags_from_api(subnet.get("Tags") or [])}
    found["arn"] = subnet.get("SubnetArn") or f"arn:aws:ec2:{calls.region}:{calls.account}:subnet/{subnet['SubnetId']}"
    found.pop("filters", None)
    return found


def _subnets(calls: Calls, arguments: Properties) -> Properties:
    subnets = calls.call("ec2", "describe_subnets", Filters=_filters(arguments))["Subnets"]
    return {"id": calls.region, "ids": sorted(str(s["SubnetId"]) for s in subnets), "tags": arguments.get("tags") or {}}


def _security_group(calls: Calls, arguments: Properties) -> Properties:
    words = {"id": "group-id", "name": "group-name", "vpcId": "vpc-id"}
    filters = _filters(arguments) + [
        {"Name": f, "Values": [arguments[a]]} for a, f in words.items() if arguments.get(a)
    ]
    group = _only_one(
        calls.call("ec2", "describe_security_groups", Filters=filters)["SecurityGroups"], "security group"
    )
    return {
        "id": group["GroupId"],
        "arn": f"arn:aws:ec2:{calls.region}:{calls.account}:security-group/{group['GroupId']}",
        "name": group["GroupName"],
        "description": group.get("Description"),
        "vpcId": group.get("VpcId"),
        "tags": tags_from_api(group.get("Tags") or []),
    }


def _cluster(calls: Calls, arguments: Properties) -> Properties:
    cluster = calls.call("eks", "describe_cluster", name=arguments["name"])["cluster"]
    return {
        **from_api(cluster, sdk_types.function_outputs("aws:eks/getCluster:getCluster"), EKS_CLUSTER_NAMES),
        "id": cluster["name"],
    }


EKS_CLUSTER_NAMES = {
    "certificateAuthorities": "certificateAuthority",
    "identities": "identity",
    "oidcs": "oidc",
    "vpcConfig": "resourcesVpcConfig",
    "enabledClusterLogTypes": "__none",
}


def _policy_document(calls: Calls, arguments: Properties) -> Properties:
    """Write a policy as the real provider does: its key order, single values unwrapped, later documents overriding by Sid."""
    merged: dict[str, Any] = {}
    if arguments.get("policyId"):
        merged["Id"] = arguments["policyId"]
    own = [_statement(s) for s in arguments.get("statements") or []]
    sources = [
        *([arguments["sourceJson"]] if arguments.get("sourceJson") else []),
        *(arguments.get("sourcePolicyDocuments") or []),
    ]
    overrides = [
        *([arguments["overrideJson"]] if arguments.get("overrideJson") else []),
        *(arguments.get("overridePolicyDocuments") or []),
    ]
    statements: list[dict[str, Any]] = []
    for text in sources:
        statements += _list(json.loads(text).get("Statement") or [])
    statements = _override(statements, own)
    for text in overrides:
        statements = _override(statements, _list(json.loads(text).get("Statement") or []))
    document = {"Version": arguments.get("version") or "2012-10-17", **merged, "Statement": statements}
    pretty = json.dumps(document, indent=2)
    minified = json.dumps(document, separators=(",", ":"))
    return {
        "id": str(abs(hash(minified)) % 10**10),
        "json": pretty,
        "minifiedJson": minified,
        "version": document["Version"],
    }


def _override(base: list[dict[str, Any]], later: list[dict[str, Any]]) -> list[dict[str, Any]]:
    result = list(base)
    for statement in later:
        place = next(
            (i for i, s in enumerate(result) if statement.get("Sid") and s.get("Sid") == statement["Sid"]), None
        )
        if place is None:
            result.append(statement)
        else:
            result[place] = statement
    return result


def _statement(stated: Properties) -> dict[str, Any]:
    statement: dict[str, Any] = {}
    if stated.get("sid"):
        statement["Sid"] = stated["sid"]
    statement["Effect"] = stated.get("effect") or "Allow"
    for name, word in (
        ("actions", "Action"),
        ("notActions", "NotAction"),
        ("resources", "Resource"),
        ("notResources", "NotResource"),
    ):
        if stated.get(name):
            statement[word] = _single(sorted(stated[name], reverse=True))
    for name, word in (("principals", "Principal"), ("notPrincipals", "NotPrincipal")):
        if stated.get(name):
            statement[word] = _principals(stated[name])
    conditions: dict[str, dict[str, Any]] = {}
    for condition in stated.get("conditions") or []:
        conditions.setdefault(condition["test"], {})[condition["variable"]] = _single(list(condition["values"]))
    if conditions:
        statement["Condition"] = {test: dict(sorted(values.items())) for test, values in sorted(conditions.items())}
    return statement


def _principals(stated: list[Properties]) -> Any:
    grouped: dict[str, list[str]] = {}
    for principal in stated:
        grouped.setdefault(principal["type"], []).extend(principal["identifiers"])
    if grouped == {"*": ["*"]}:
        return "*"
    return {kind: _single(sorted(names, reverse=True)) for kind, names in sorted(grouped.items())}


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _filters(arguments: Properties) -> list[dict[str, Any]]:
    filters = [{"Name": f["name"], "Values": [str(v) for v in f["values"]]} for f in arguments.get("filters") or []]
    return filters + [{"Name": f"tag:{k}", "Values": [v]} for k, v in sorted((arguments.get("tags") or {}).items())]


def _only_one(found: list[dict[str, Any]], what: str) -> dict[str, Any]:
    if not found:
        raise Refused(f"no matching {what} found", "NoResults")
    if len(found) > 1:
        raise Refused(
            f"multiple {what}s matched: use additional constraints to reduce matches to one", "TooManyResults"
        )
    return found[0]


_LOOKUPS: dict[str, Lookup] = {
    "getAvailabilityZones": _zones,
    "getCallerIdentity": _identity,
    "getRegion": _region,
    "getPartition": _partition,
    "getAmi": _ami,
    "getParameter": _parameter,
    "getVpc": _vpc,
    "getSubnet": _subnet,
    "getSubnets": _subnets,
    "getSecurityGroup": _security_group,
    "getCluster": _cluster,
    "getPolicyDocument": _policy_document,
}
