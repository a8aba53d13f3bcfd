"""`CoolingZone`: where heat can go, told to AWS as tags, a parameter and node labels (AWS has no cooling API)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import CoolingZonePlan, to_jsonable


class CoolingZoneArgs(TypedDict):
    """What a cooling zone is."""

    method: str
    """`air`, `liquid`, `hybrid` or `immersion`."""
    racks: NotRequired[int]
    """Racks in it."""
    envelope_kw: NotRequired[float]
    """Power in kW that it can cool."""
    availability_zone: NotRequired[str]
    """Availability zone that it stands for."""
    instance_type: NotRequired[str]
    """GPU instance type that stands in it."""
    nodes: NotRequired[int]
    """How many of them; one when left out."""
    stack_name: NotRequired[str]
    """Name that the parameter is filed under; the component's own name when left out."""
    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags on everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingZoneBuild:
    """A decided zone, its marks on nodes, and where its facts are filed."""

    zone: CoolingZonePlan
    stack_name: str
    tags: Mapping[str, str]
    labels: Mapping[str, str]


class CoolingZone(pulumi.ComponentResource):
    """A cooling zone: its facts as a parameter that tools can read, its labels and tags, and its power."""

    parameter_name: pulumi.Output[str]
    """Name of the SSM parameter that holds the zone's facts as JSON."""
    labels: pulumi.Output[dict[str, str]]
    """Labels of every node in the zone."""
    zone_tags: pulumi.Output[dict[str, str]]
    """Tags of everything in the zone."""
    it_kw: pulumi.Output[float] | None
    """Electrical power of its nodes in kW; none where it is not known."""
    envelope_kw: pulumi.Output[float] | None
    """Power in kW that it can cool; none where it is not stated."""
    kw_per_rack: pulumi.Output[float] | None
    """Power of one rack in kW; none where it is not known."""
    used_pct: pulumi.Output[float] | None
    """Share of the envelope in per cent; none where it is not known."""

    def __init__(
        self,
        name: str,
        args: CoolingZoneArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: CoolingZoneBuild | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_cooling_zone

            planned = plan_cooling_zone(name, args)
        super().__init__("gpukit:index:CoolingZone", name, None, opts)
        import json

        import pulumi_aws as aws

        zone = planned.zone
        tags = {**planned.tags, "gpukit:cooling-zone": zone.name, "gpukit:cooling-method": zone.method}
        parameter = aws.ssm.Parameter(
            f"{name}-facts",
            name=f"/gpukit/{planned.stack_name}/cooling-zones/{zone.name}",
            type="String",
            description=f"Cooling zone {zone.name}: method, racks, envelope and load",
            # not `value`: that one is a secret to the engine, and nobody could read its change in a preview
            insecure_value=json.dumps(to_jsonable(zone), sort_keys=True),
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.parameter_name = parameter.name
        self.labels = pulumi.Output.from_input(dict(planned.labels))
        self.zone_tags = pulumi.Output.from_input(tags)
        self.it_kw = _known(zone.it_kw)
        self.envelope_kw = _known(zone.envelope_kw)
        self.kw_per_rack = _known(zone.kw_per_rack)
        self.used_pct = _known(zone.used_pct)
        self.register_outputs(
            {
                "parameterName": self.parameter_name,
                "labels": self.labels,
                "zoneTags": self.zone_tags,
                "itKw": self.it_kw,
                "envelopeKw": self.envelope_kw,
                "kwPerRack": self.kw_per_rack,
                "usedPct": self.used_pct,
            }
        )

    @classmethod
    def from_plan(cls, name: str, planned: CoolingZoneBuild, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Build what a plan has decided."""
        return cls(name, cast(CoolingZoneArgs, {}), opts, planned=planned)


def _known(value: float | None) -> pulumi.Output[float] | None:
    return pulumi.Output.from_input(value) if value is not None else None
