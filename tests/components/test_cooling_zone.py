"""A cooling zone is a parameter, tags and labels; unknown power stays unknown."""

import json
from collections.abc import Callable
from dataclasses import replace

import plans
from gpukit_components.cooling_zone import CoolingZone, CoolingZoneBuild
from recorder import Recorder

BUILD = CoolingZoneBuild(
    zone=plans.COOLING_ZONE, stack_name="ml-test", tags=plans.TAGS, labels={"gpukit/cooling-zone": "hall-a"}
)


def test_facts_of_the_zone_can_be_read_as_json_from_its_parameter(recorded: Callable[..., Recorder]) -> None:
    parameter = recorded(lambda: CoolingZone.from_plan("hall-a", BUILD)).one("Parameter").inputs

    assert parameter["name"] == "/gpukit/ml-test/cooling-zones/hall-a"
    facts = json.loads(parameter["insecureValue"])
    assert (facts["method"], facts["racks"], facts["envelope_kw"], facts["it_kw"]) == ("liquid", 14, 2000, 81.6)
    assert parameter["tags"]["gpukit:cooling-method"] == "liquid"


def test_unknown_power_is_no_output_instead_of_zero(recorded: Callable[..., Recorder]) -> None:
    zone = replace(plans.COOLING_ZONE, it_kw=None, kw_per_rack=None, used_pct=None)
    seen: list[CoolingZone] = []
    recorded(lambda: seen.append(CoolingZone.from_plan("hall-a", replace(BUILD, zone=zone))))

    assert seen[0].it_kw is seen[0].kw_per_rack is seen[0].used_pct is None
    assert seen[0].envelope_kw is not None
