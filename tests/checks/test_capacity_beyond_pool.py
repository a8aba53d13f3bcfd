"""GK2047: a pool's capacity sources give more nodes than it may grow to."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity
from gpukit.judge import Judgement


def _pool(name: str, nodes: int | str, *sources: str) -> str:
    return f"  {name}: {{instance_type: p5en.48xlarge, nodes: {nodes}, capacity: [{', '.join(sources)}]}}\n"


def _reserved(nodes: int, *, number: int = 1, mode: str = "reserved", dates: str = "") -> str:
    held = f"{{id: cr-0123456789abcdef{number}, nodes: {nodes}, availability_zone: us-east-1a{dates}}}"
    return f"{{mode: {mode}, reservations: [{held}]}}"


def test_capacity_beyond_pool_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2047")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.nodes"
    assert finding.problem == (
        "its reservations and blocks hold 8 nodes, and the pool has 6 at most: 2 are paid for and not used"
    )
    assert finding.fix == "raise `nodes` by 2, or buy 2 fewer"


@pytest.mark.parametrize(
    ("pools", "idle"),
    [
        pytest.param([_pool("a", 8, _reserved(8))], [], id="all-used"),
        pytest.param([_pool("a", 8, _reserved(9))], ["1 are paid"], id="one-too-many"),
        pytest.param([_pool("a", "{min: 2, max: 8}", _reserved(8))], [], id="a-pool-that-may-grow-to-it"),
        pytest.param(
            [_pool("a", 8, _reserved(6), "{mode: on-demand, nodes: 6}")], [], id="on-demand-costs-nothing-unused"
        ),
        pytest.param(
            [_pool("a", 8, "{mode: on-demand, nodes: 4}", _reserved(6))], ["2 are paid"], id="on-demand-goes-first"
        ),
        pytest.param(
            [_pool("a", 8, _reserved(8), _reserved(4, number=2))], ["4 are paid"], id="a-second-one-that-nobody-uses"
        ),
        pytest.param([_pool("a", 6, _reserved(8)), _pool("b", 2, _reserved(8))], [], id="others-use-the-rest"),
        pytest.param(
            [_pool("a", 5, _reserved(8)), _pool("b", 2, _reserved(8))], ["1 are paid"], id="others-leave-one-told-once"
        ),
        pytest.param([_pool("a", 4, _reserved(4)), _pool("b", 4, _reserved(4))], [], id="each-states-its-share"),
        pytest.param(
            [_pool("a", 2, _reserved(8, dates=", ends: 2026-11-01"))], [], id="one-that-has-ended-is-paid-no-more"
        ),
        pytest.param(
            [_pool("a", 0, _reserved(8, mode="capacity-block", dates=", starts: 2026-12-20, ends: 2026-12-27"))],
            [],
            id="a-block-that-has-not-opened",
        ),
    ],
)
def test_only_nodes_that_nobody_uses_are_told(
    pools: list[str], idle: list[str], judge_text: Callable[[str], Judgement]
) -> None:
    found = [
        finding.problem
        for finding in judge_text("region: us-east-1\npools:\n" + "".join(pools)).findings
        if finding.code == "GK2047"
    ]

    assert [part for problem in found for part in idle if part in problem] == idle
    assert len(found) == len(idle)
