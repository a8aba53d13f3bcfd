"""GK2003: a reservation is for another platform or tenancy."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each reservation whose stated platform is not Linux or whose tenancy is not default."""
    for path, _, _, _, reservation in context.reservations():
        platform, tenancy = reservation.platform, reservation.tenancy
        if platform is not None and platform.lower() not in ("linux/unix", "linux"):
            yield tell(
                "GK2003",
                Severity.ERROR,
                f"{path}.platform",
                problem=f"the reservation is for `{platform[:60]}`, and nodes run `Linux/UNIX`",
                fix="name a reservation whose platform is Linux/UNIX",
            )
        if tenancy is not None and tenancy.lower() != "default":
            yield tell(
                "GK2003",
                Severity.ERROR,
                f"{path}.tenancy",
                problem=f"the reservation has the tenancy `{tenancy[:60]}`, and nodes run with `default`",
                fix="name a reservation with default tenancy",
            )


RULE = Rule(
    code="GK2003",
    title="a reservation is for another platform or tenancy",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "a reservation takes only instances of its own platform and tenancy; nodes here run Linux with default tenancy"
    ),
    source=(
        'EC2 User Guide, "Capacity Reservations": platform and tenancy must match ; public rule '
        "ParallelCluster CapacityReservationValidator"
    ),
)
