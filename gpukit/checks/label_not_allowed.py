"""GK1026: a node label or taint is not one that Kubernetes takes."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_KUBELET_MAY_SET = ("node.kubernetes.io", "kubelet.kubernetes.io")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each label and taint that Kubernetes refuses."""
    for name, pool in context.spec.pools.items():
        for key, value in pool.labels.items():
            path = f"pools.{name}.labels.{key[:80]}"
            wrong = _wrong_key(key) or _wrong_value(value) or _reserved(key)
            if wrong:
                yield tell(
                    "GK1026",
                    Severity.ERROR,
                    path,
                    problem=f"the label `{key[:80]}={value[:80]}` {wrong[0]}",
                    fix=wrong[1],
                )
        seen: set[tuple[str, str]] = set()
        for index, taint in enumerate(pool.taints or []):
            path = f"pools.{name}.taints[{index}]"
            wrong = _wrong_key(taint.key) or _wrong_value(taint.value)
            if wrong:
                yield tell(
                    "GK1026",
                    Severity.ERROR,
                    path,
                    problem=f"the taint `{taint.key[:80]}={taint.value[:80]}` {wrong[0]}",
                    fix=wrong[1],
                )
            elif (taint.key, taint.effect.value) in seen:
                yield tell(
                    "GK1026",
                    Severity.ERROR,
                    path,
                    problem=f"the taint `{taint.key}` with {taint.effect.value} stands twice",
                    fix="keep one of them",
                )
            seen.add((taint.key, taint.effect.value))


def _wrong_key(key: str) -> tuple[str, str] | None:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _PREFIX.fullmatch(prefix)):
        return (
            f"has the prefix `{prefix[:60]}`, which is no DNS name",
            "write the prefix in small letters, such as example.com",
        )
    if not _NAME.fullmatch(name):
        return "has a key that is not 1 to 63 letters, digits, `-`, `_` or `.`", "shorten or respell the key"
    return None


def _wrong_value(value: str) -> tuple[str, str] | None:
    if value and not _NAME.fullmatch(value):
        return "has a value that is not at most 63 letters, digits, `-`, `_` or `.`", "shorten or respell the value"
    return None


def _reserved(key: str) -> tuple[str, str] | None:
    prefix = key.rpartition("/")[0]
    reserved = prefix in ("kubernetes.io", "k8s.io") or prefix.endswith((".kubernetes.io", ".k8s.io"))
    if reserved and not prefix.endswith(_KUBELET_MAY_SET):
        return "uses a prefix that a node may not give to itself", "use a prefix of your own"
    return None


RULE = Rule(
    code="GK1026",
    title="a node label or taint is not one that Kubernetes takes",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=("the kubelet refuses to register a node with such a label, so the node runs, costs money and never joins"),
    source=(
        'Kubernetes documentation, "Labels and Selectors": syntax and character set ; Kubernetes '
        'documentation, "Taints and Tolerations"'
    ),
)
