"""GK1038: an add-on that the catalogue does not know."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where an add-on is nearly a known one, and an unknown where it is like none."""
    stated = context.spec.kubernetes.addons
    if not stated:
        return
    from gpukit.catalog.kubernetes import load_eks_addons
    from gpukit.nearest import nearest

    known = {row.addon for row in load_eks_addons()}
    for name in stated:
        if name in known:
            continue
        near = nearest(name, known)
        yield tell(
            "GK1038",
            Severity.WARNING if near else Severity.UNKNOWN,
            f"kubernetes.addons.{name[:80]}",
            problem=f"the catalogue knows no EKS add-on `{name[:80]}`",
            fix=f"did you mean `{near[0]}`?"
            if near
            else "compare it with `aws eks describe-addon-versions`; the add-ons known are " + ", ".join(sorted(known)),
        )


RULE = Rule(
    code="GK1038",
    title="an add-on that the catalogue does not know",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="EKS refuses an add-on that it does not offer, when the control plane has been made and billed",
    source="eks_addons.csv ; EKS API Reference, CreateAddon",
)
