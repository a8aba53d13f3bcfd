"""Choose the control plane: version, add-ons by pinned version, who may reach it."""

from typing import TYPE_CHECKING

from gpukit.catalog.kubernetes import load_eks_addons, load_eks_versions
from gpukit.plan import AccessPlan, AddonPlan, Decision, KubernetesPlan

if TYPE_CHECKING:
    from gpukit.spec.model import ClusterSpec

_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def default_kubernetes_version() -> str:
    """Return the version that the catalogue marks as default."""
    return next(row.version for row in load_eks_versions() if row.default)


def plan_kubernetes(spec: "ClusterSpec", *, needs: frozenset[str]) -> tuple[KubernetesPlan, list[Decision]]:
    """
    Return the control plane.

    `needs` names what the plan has (gpu, efa, lustre, efs, s3); the catalogue says what each add-on is required for.
    A version that the user states wins over the catalogue's pin.
    """
    version = spec.kubernetes.version or default_kubernetes_version()
    pins = {
        row.addon: row
        for row in load_eks_addons()
        if row.kubernetes_version == version
        and ((row.default and row.required_for == "all") or row.required_for in needs)
    }
    names = sorted({*pins, *spec.kubernetes.addons})
    addons = tuple(
        AddonPlan(name=name, version=spec.kubernetes.addons.get(name) or pins[name].addon_version) for name in names
    )
    decisions = [
        Decision(
            subject="kubernetes.version",
            choice=version,
            because="the stack file says so"
            if spec.kubernetes.version
            else "the newest version whose AMI and add-ons are pinned",
            source=next((row.source for row in load_eks_versions() if row.version == version), ""),
        )
    ]
    for addon in addons:
        pin = pins.get(addon.name)
        stated = addon.name in spec.kubernetes.addons
        decisions.append(
            Decision(
                subject=f"kubernetes.addons.{addon.name}",
                choice=addon.version,
                because="the stack file says so"
                if stated
                else f"needed for {pin.required_for if pin else 'the cluster'}",
                source="" if stated or pin is None else pin.source,
            )
        )
    access = [AccessPlan(principal_arn=arn, policy="admin") for arn in spec.access.administrators]
    access += [AccessPlan(principal_arn=arn, policy="view") for arn in spec.access.viewers]
    access += [
        AccessPlan(
            principal_arn=team.principal_arn, policy=str(team.policy), namespaces=tuple(team.namespaces or [name])
        )
        for name, team in sorted(spec.access.teams.items())
    ]
    cidrs = tuple(spec.access.public_endpoint_cidrs)
    decisions.append(
        Decision(
            subject="access.public_endpoint_cidrs",
            choice=", ".join(cidrs) or "private endpoint only",
            because="the API server answers inside the VPC only, unless the stack file names who may come in",
        )
    )
    return (
        KubernetesPlan(
            version=version,
            private_endpoint=True,
            public_endpoint_cidrs=cidrs,
            addons=addons,
            operators=tuple(
                AddonPlan(name=name, version=pin) for name, pin in sorted(spec.kubernetes.operators.items())
            ),
            access=tuple(access),
            log_types=_LOG_TYPES,
            log_retention_days=spec.kubernetes.log_days,
        ),
        decisions,
    )
