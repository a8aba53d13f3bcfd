"""The policy pack: the same rules over resources, in the same words, pointing at the resource."""

from collections.abc import Callable
from typing import Any

import pytest
from gpukit_policies import CODES, make_policies
from pulumi_policy import EnforcementLevel, PolicyPack
from resources_as_stack import plain, read_resources

from gpukit.checks.index import load_rule
from gpukit.finding import Severity
from gpukit.stackfile import read_mapping
from tests.policy.conftest import PACK, Resource

Violations = Callable[..., list[tuple[str, str | None]]]


def _template(**props: Any) -> Resource:
    return Resource("aws:ec2/launchTemplate:LaunchTemplate", "train", {"name": "train", **props})


def _group(template: Resource, **props: Any) -> Resource:
    base = {
        "launchTemplate": {"name": template.props["name"]},
        "scalingConfig": {"minSize": 2, "maxSize": 2, "desiredSize": 2},
        "capacityType": "ON_DEMAND",
    }
    return Resource("aws:eks/nodeGroup:NodeGroup", "train", base | props)


BLOCK = {"instanceMarketOptions": {"marketType": "capacity-block"}}
TARGET = {
    "capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}
}
GOOD = _template(
    instanceType="p5en.48xlarge",
    networkInterfaces=[
        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
        {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"},
    ],
    **BLOCK,
    **TARGET,
)
EVERYTHING_RIGHT = (
    GOOD,
    _group(GOOD, capacityType="CAPACITY_BLOCK"),
    Resource("aws:ec2/vpc:Vpc", "network", {"cidrBlock": "10.0.0.0/16", "tags": {"team": "vision"}}),
    Resource(
        "aws:eks/cluster:Cluster",
        "cluster",
        {"vpcConfig": {"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]}},
    ),
    Resource("aws:cloudwatch/logGroup:LogGroup", "logs", {"retentionInDays": 30}),
    Resource(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "scratch",
        {"storageCapacity": 2400, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 250},
    ),
    Resource("aws:ebs/volume:Volume", "data", {"size": 500, "type": "gp3"}),
)


@pytest.mark.parametrize("code", CODES)
def test_a_stack_without_mistakes_violates_nothing(code: str, violations: Violations) -> None:
    assert violations(code, *EVERYTHING_RIGHT) == []


@pytest.mark.parametrize("code", CODES)
def test_a_stack_without_any_resource_of_ours_violates_nothing(code: str, violations: Violations) -> None:
    assert violations(code, Resource("random:index/randomPet:RandomPet", "pet", {"length": 2})) == []


WRONG_CARD = _template(
    instanceType="p6-b300.48xlarge",
    networkInterfaces=[{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "efa"}],
)
BLOCK_IN_GROUP = _template(instanceType="p5en.48xlarge", placement={"groupName": "fast"}, **BLOCK, **TARGET)
TOO_MANY = _template(instanceType="p5.48xlarge")


@pytest.mark.parametrize(
    ("code", "resources", "says", "about"),
    [
        pytest.param("GK3008", (WRONG_CARD, _group(WRONG_CARD)), "card 0 takes no EFA", "train", id="interface-layout"),
        pytest.param(
            "GK2011",
            (BLOCK_IN_GROUP, _group(BLOCK_IN_GROUP, capacityType="CAPACITY_BLOCK")),
            "`fast` is named for a pool in a Capacity Block",
            "train",
            id="placement-group-with-block",
        ),
        pytest.param(
            "GK2010",
            (GOOD, _group(GOOD, capacityType="CAPACITY_BLOCK", scalingConfig={"minSize": 1, "maxSize": 8})),
            "min 1 and max 8 differ in a Capacity Block pool",
            "train",
            id="block-that-scales",
        ),
        pytest.param(
            "GK2030",
            (GOOD, _group(GOOD, capacityType="CAPACITY_BLOCK", scalingConfig={"minSize": 65, "maxSize": 65})),
            "a block holds at most 64",
            "train",
            id="block-too-large",
        ),
        pytest.param(
            "GK2040",
            (TOO_MANY, _group(TOO_MANY, scalingConfig={"minSize": 160, "maxSize": 160})),
            "of 5,000 ENIs (L-DF5E4CA3)",
            "train",
            id="too-many-interfaces",
        ),
        pytest.param(
            "GK3003",
            (Resource("aws:eks/cluster:Cluster", "open", {"vpcConfig": {}}),),
            "0.0.0.0/0 lets 4,294,967,296 addresses reach the Kubernetes API",
            "open",
            id="endpoint-open-by-default",
        ),
        pytest.param(
            "GK3004",
            (
                Resource(
                    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
                    "ssh",
                    {"ipProtocol": "tcp", "fromPort": 22, "toPort": 22, "cidrIpv4": "0.0.0.0/0"},
                ),
            ),
            "tcp 22 (SSH) is open to 0.0.0.0/0",
            "ssh",
            id="ssh-open",
        ),
        pytest.param(
            "GK3004",
            (
                Resource(
                    "aws:ec2/securityGroup:SecurityGroup",
                    "wide",
                    {"ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}]},
                ),
            ),
            "is open to 0.0.0.0/0",
            "wide",
            id="every-port-open",
        ),
        pytest.param(
            "GK3014",
            (Resource("aws:cloudwatch/logGroup:LogGroup", "logs", {"retentionInDays": 45}),),
            "45 days are no retention",
            "logs",
            id="retention",
        ),
        pytest.param(
            "GK4001",
            (
                Resource(
                    "aws:fsx/lustreFileSystem:LustreFileSystem",
                    "scratch",
                    {
                        "storageCapacity": 4800.0,
                        "deploymentType": "PERSISTENT_2",
                        "perUnitStorageThroughput": 125.0,
                        "efaEnabled": True,
                    },
                ),
            ),
            "4,800 GiB are no capacity of PERSISTENT_2 at 125 MB/s per TiB with EFA",
            "scratch",
            id="lustre-with-efa-too-small",
        ),
        pytest.param(
            "GK4009",
            (Resource("aws:ebs/volume:Volume", "data", {"size": 100, "type": "gp3", "throughput": 1000}),),
            "1,000 MiB/s with 3,000 operations per second",
            "data",
            id="volume-throughput",
        ),
        pytest.param(
            "GK1024",
            (Resource("aws:ec2/vpc:Vpc", "network", {"tags": {"aws:team": "vision"}}),),
            "begins with `aws:`",
            "network",
            id="reserved-tag",
        ),
    ],
)
def test_a_mistake_is_reported_in_the_rules_words_at_its_resource(
    code: str, resources: tuple[Resource, ...], says: str, about: str, violations: Violations
) -> None:
    found = violations(code, *resources)

    assert len(found) == 1
    text, urn = found[0]
    assert says in text
    assert f"docs/codes/{code}.md" in text
    assert urn is not None
    assert urn.endswith(f"::{about}")


def test_a_policy_is_mandatory_exactly_where_gpukit_calls_it_an_error() -> None:
    levels = {policy.name[:6].upper(): policy.enforcement_level for policy in make_policies()}

    assert {code for code, level in levels.items() if level is EnforcementLevel.MANDATORY} == {
        code for code in CODES if load_rule(code).severity is Severity.ERROR
    }


def test_values_that_are_not_known_yet_are_left_out() -> None:
    class Unknown(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise RuntimeError("value is not known")

    assert plain({"a": Unknown(x=1), "b": [1, {"c": 2.0}]}) == {"a": {"x": None}, "b": [1, {"c": 2.0}]}


def test_a_node_group_of_an_unknown_type_is_no_pool() -> None:
    template = _template(instanceType="x9.metal")

    assert "pools" not in read_resources([template, _group(template)]).mapping


def test_the_mapping_read_from_resources_is_a_stack_file() -> None:
    from gpukit.spec.parse import parse_spec

    given = read_mapping(read_resources(EVERYTHING_RIGHT).mapping, preset=None, region="us-east-1")

    assert parse_spec(given.mapping).findings == ()


def test_the_pack_names_itself_and_holds_these_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Any] = {}
    monkeypatch.setattr(PolicyPack, "__init__", lambda self, **given: made.update(given))
    exec(compile((PACK / "__main__.py").read_text(encoding="utf-8"), "policy/__main__.py", "exec"), {})

    assert made["name"] == "gpukit"
    assert len(made["policies"]) == len(CODES)
