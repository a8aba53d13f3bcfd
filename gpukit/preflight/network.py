"""Ask for an existing VPC, its subnets and existing file systems: whether nodes fit and find their way."""

from collections.abc import Iterator
from typing import Any

from gpukit.plan import Plan, SubnetPlan
from gpukit.preflight.account import Account, Refused
from gpukit.preflight.answers import unknown_because
from gpukit.preflight.probe import ProbeResult, Verdict

ACTIONS = (
    "ec2:DescribeVpcs",
    "ec2:DescribeVpcAttribute",
    "ec2:DescribeSubnets",
    "ec2:DescribeRouteTables",
    "fsx:DescribeFileSystems",
)


def ask_network(account: Account, plan: Plan) -> Iterator[ProbeResult]:
    """Yield answers about the existing VPC and its subnets; nothing where gpukit makes the network."""
    vpc_id = plan.network.existing_vpc_id
    if vpc_id is None:
        return
    yield from _ask_vpc(account, vpc_id)
    for subnet in plan.network.subnets:
        if subnet.existing_id is not None:
            yield from _ask_subnet(account, plan, subnet, subnet.existing_id, vpc_id)


def _ask_vpc(account: Account, vpc_id: str) -> Iterator[ProbeResult]:
    path = "network.existing.vpc_id"
    question = f"is {vpc_id} there, with DNS"
    try:
        account.ask("ec2", "DescribeVpcs", VpcIds=[vpc_id])
        for attribute, key in (("enableDnsSupport", "EnableDnsSupport"), ("enableDnsHostnames", "EnableDnsHostnames")):
            answer = account.ask("ec2", "DescribeVpcAttribute", VpcId=vpc_id, Attribute=attribute)
            if not answer.get(key, {}).get("Value"):
                yield _result(
                    "vpc",
                    path,
                    question,
                    Verdict.FAIL,
                    f"{attribute} is off",
                    f"switch {attribute} on: EKS needs it",
                    ACTIONS[1],
                )
                return
    except Refused as refused:
        if "NotFound" in refused.code:
            yield _result(
                "vpc",
                path,
                question,
                Verdict.FAIL,
                "there is no such VPC in this account and region",
                "check the id and the region",
                ACTIONS[0],
            )
        else:
            yield unknown_because(refused, probe="vpc", path=path, question=question)
        return
    yield _result("vpc", path, question, Verdict.PASS, "yes", "", ACTIONS[0])


def _ask_subnet(account: Account, plan: Plan, subnet: SubnetPlan, subnet_id: str, vpc_id: str) -> Iterator[ProbeResult]:
    path = f"network.existing.subnets.{subnet.availability_zone}"
    question = f"do {subnet.needed_addresses} addresses fit into {subnet_id}"
    try:
        found = account.ask("ec2", "DescribeSubnets", SubnetIds=[subnet_id])["Subnets"][0]
    except Refused as refused:
        if "NotFound" in refused.code:
            yield _result("subnet", path, question, Verdict.FAIL, "there is no such subnet", "check the id", ACTIONS[2])
        else:
            yield unknown_because(refused, probe="subnet", path=path, question=question)
        return
    free = int(found["AvailableIpAddressCount"])
    wrong = []
    if found["VpcId"] != vpc_id:
        wrong.append((f"it belongs to {found['VpcId']}, not to {vpc_id}", "name a subnet of that VPC"))
    if found["AvailabilityZone"] != subnet.availability_zone:
        wrong.append(
            (
                f"it stands in {found['AvailabilityZone']}, not in {subnet.availability_zone}",
                "name it under its own zone",
            )
        )
    if free < subnet.needed_addresses:
        wrong.append(
            (f"{free} are free, and {subnet.needed_addresses} are needed", "use a larger subnet, or fewer nodes")
        )
    for answer, fix in wrong:
        yield _result("subnet", path, question, Verdict.FAIL, answer, fix, ACTIONS[2])
    if not wrong:
        yield _result("subnet", path, question, Verdict.PASS, f"{free} are free", "", ACTIONS[2])
    used = any(subnet.name in group.subnets for pool in plan.all_pools for group in pool.node_groups)
    if used:
        yield _ask_way_out(account, found, path)


def _ask_way_out(account: Account, found: dict[str, Any], path: str) -> ProbeResult:
    subnet_id = found["SubnetId"]
    question = f"is {subnet_id} private, with a way out"
    try:
        table = _route_table(account, subnet_id, found["VpcId"])
    except Refused as refused:
        return unknown_because(refused, probe="routes", path=path, question=question)
    default = next((route for route in table if route.get("DestinationCidrBlock") == "0.0.0.0/0"), None)
    if default is None:
        return _result(
            "routes",
            path,
            question,
            Verdict.UNKNOWN,
            "no default route; endpoints may do",
            "check the endpoints of the VPC",
            ACTIONS[3],
        )
    if str(default.get("GatewayId", "")).startswith("igw-"):
        return _result(
            "routes", path, question, Verdict.FAIL, "it is public: several interfaces get no public address",
            "name a private subnet with a NAT gateway", ACTIONS[3],
        )  # fmt: skip
    if default.get("State") == "blackhole":
        return _result(
            "routes", path, question, Verdict.FAIL, "its default route leads nowhere", "repair the route", ACTIONS[3]
        )
    return _result("routes", path, question, Verdict.PASS, "yes", "", ACTIONS[3])


def _route_table(account: Account, subnet_id: str, vpc_id: str) -> list[dict[str, Any]]:
    """Return the routes of a subnet's own table, or of the VPC's main table where it has none."""
    for filters in (
        [{"Name": "association.subnet-id", "Values": [subnet_id]}],
        [{"Name": "vpc-id", "Values": [vpc_id]}, {"Name": "association.main", "Values": ["true"]}],
    ):
        tables = list(account.ask_all("ec2", "DescribeRouteTables", "RouteTables", Filters=filters))
        if tables:
            return list(tables[0].get("Routes", []))
    return []


def ask_file_systems(account: Account, plan: Plan) -> Iterator[ProbeResult]:
    """Yield one answer for each existing Lustre file system: there, available, in a zone of the GPUs."""
    zones = {zone for pool in plan.pools for group in pool.node_groups for zone in group.availability_zones}
    for store in plan.storage:
        if store.kind != "lustre" or store.existing_id is None:
            continue
        path = f"storage.{store.name}.existing"
        question = f"is {store.existing_id} ready in {', '.join(sorted(zones))}"
        try:
            found = account.ask("fsx", "DescribeFileSystems", FileSystemIds=[store.existing_id])["FileSystems"][0]
            subnets = account.ask("ec2", "DescribeSubnets", SubnetIds=found["SubnetIds"])["Subnets"]
        except Refused as refused:
            if "NotFound" in refused.code:
                yield _result(
                    "file-system",
                    path,
                    question,
                    Verdict.FAIL,
                    "there is no such file system",
                    "check the id",
                    ACTIONS[4],
                )
            else:
                yield unknown_because(refused, probe="file-system", path=path, question=question)
            continue
        state, zone = str(found.get("Lifecycle", "")), str(subnets[0]["AvailabilityZone"])
        if state != "AVAILABLE":
            yield _result(
                "file-system",
                path,
                question,
                Verdict.FAIL,
                f"its state is {state}",
                "wait, or name another",
                ACTIONS[4],
            )
        elif zone not in zones:
            yield _result(
                "file-system",
                path,
                question,
                Verdict.FAIL,
                f"it stands in {zone}",
                "place the GPUs there, or name another",
                ACTIONS[4],
            )
        else:
            yield _result("file-system", path, question, Verdict.PASS, f"available in {zone}", "", ACTIONS[4])


def _result(probe: str, path: str, question: str, verdict: Verdict, answer: str, fix: str, action: str) -> ProbeResult:
    return ProbeResult(
        probe=probe, path=path, question=question, verdict=verdict, answer=answer, fix=fix, action=action
    )
