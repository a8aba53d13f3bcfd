"""Ask the core: plan, findings of form and every rule, before a component registers anything."""

from dataclasses import replace
from typing import Any

import pulumi

from gpukit.finding import Finding, Severity
from gpukit.plan import Plan
from gpukit_components.refusal import require_plan
from gpukit_components.stack_name import stack_name


def decide(
    mapping: dict[str, Any],
    *,
    region: str | None,
    preset: str | None = None,
    file: str | None = None,
    own_section: str = "",
) -> Plan:
    """
    Return the plan of a mapping as in a stack file; raise PlanRefused with every error at once.

    `own_section` is the key path that a component used alone fills from its arguments. It is cut off the findings'
    paths, so that they name the arguments; warnings about the rest are dropped: the rest is only there for planning.
    """
    from datetime import date

    from gpukit.judge import judge
    from gpukit.planning import plan_from_mapping

    today = date.today()
    result = plan_from_mapping(mapping, preset=preset, region=region, file=file, today=today)
    findings = list(judge(result, today=today, deploying=True).findings)
    if own_section:
        findings = [
            _renamed(finding, own_section)
            for finding in findings
            if finding.severity is Severity.ERROR or finding.path.startswith(own_section)
        ]
    plan = require_plan(result.plan, findings)
    require_user_data(plan)
    return plan


def require_user_data(plan: Plan) -> None:
    """Raise InputPropertyError where an instance could not be started: a hook too long, a setting of no form."""
    from gpukit.images.manifest import ImageError
    from gpukit.images.render import render_node_user_data, render_workstation_user_data

    log_group = f"/gpukit/{stack_name(plan)}/boot"
    for pool in plan.all_pools:
        image = plan.image(pool.image)
        try:
            if plan.workstation is not None:
                render_workstation_user_data(plan, pool, image, volume_id="vol-0", log_group=log_group)
            elif plan.kubernetes is not None:
                for group in pool.node_groups:
                    render_node_user_data(
                        pool=pool,
                        group=group,
                        image=image,
                        cluster_name=stack_name(plan),
                        # as long as real ones are
                        endpoint="https://" + "x" * 60,
                        certificate_authority="x" * 1500,
                        service_cidr="172.20.0.0/16",
                        region=plan.region,
                        log_group=log_group,
                        lustre=plan.network.lustre,
                    )
        except ImageError as error:
            raise pulumi.InputPropertyError(
                f"pools.{pool.name}", f"{error}; why: {error.why}; fix: {error.fix}"
            ) from error


def region_of(region: str | None) -> str:
    """Return the region that a component is told, else the provider's; raise InputPropertyError without either."""
    import os

    found = region or pulumi.Config("aws").get("region")
    # components hosted as a package get no provider config; the AWS provider itself reads these two as well
    found = found or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not found:
        raise pulumi.InputPropertyError(
            "region",
            "zones, types and prices differ by region: set `region`, or `pulumi config set aws:region us-east-1`",
        )
    return found


def _renamed(finding: Finding, own_section: str) -> Finding:
    inside = finding.path.removeprefix(own_section).lstrip(".")
    return replace(finding, path=inside) if inside else finding
