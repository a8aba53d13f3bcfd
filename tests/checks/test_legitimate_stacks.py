"""Rules never refuse what is legitimate: each stack here is something that people run on purpose."""

from collections.abc import Callable

import pytest

from gpukit.finding import Severity
from gpukit.judge import Judgement
from gpukit.spec.presets import preset_names

RESERVED = "{id: cr-0123456789abcdef0, nodes: %d, availability_zone: us-east-1a}"

STACKS = [
    pytest.param(
        """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 64
    capacity:
      mode: capacity-block
      reservations: [{nodes: 64, availability_zone: us-east-1a, starts: 2027-01-10, ends: 2027-01-24}]
""",
        id="a-capacity-block-pool-that-waits-at-zero-until-its-block-opens",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 0
    capacity: {mode: capacity-block}
""",
        id="a-capacity-block-pool-declared-at-zero-before-the-block-is-bought",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 2
    capacity:
      mode: reserved
      reservations: [{id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a, ends: 2026-11-15}]
""",
        id="an-expired-reservation-kept-so-that-nothing-is-replaced",
    ),
    pytest.param(
        f"""
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 12
    capacity: {{mode: reserved, reservations: [{RESERVED % 16}]}}
  tune:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity: {{mode: reserved, reservations: [{RESERVED % 16}]}}
""",
        id="one-reservation-under-two-pools-whose-sum-fits",
    ),
    pytest.param(
        f"""
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 8
    capacity: {{mode: reserved, reservations: [{RESERVED % 8}]}}
  tune:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity: {{mode: reserved, reservations: [{RESERVED % 4}]}}
""",
        id="shares-of-one-reservation-whose-size-is-not-stated",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  serve: {instance_type: g6e.48xlarge, nodes: 6, efa: false, zones: [us-east-1a, us-east-1b, us-east-1c]}
""",
        id="gpu-pools-over-several-zones-without-efa",
    ),
    pytest.param(
        "region: us-east-1\npools:\n  train: {instance_type: p5en.48xlarge, nodes: 4, zones: [us-east-1a]}\n",
        id="no-shared-storage-at-all",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  train: {instance_type: p5en.48xlarge, nodes: 4, zones: [us-east-1a]}
storage:
  scratch: {kind: lustre, existing: fs-0123456789abcdef0, availability_zone: us-east-1a}
""",
        id="an-existing-lustre-file-system-by-id",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  train: {instance_type: p5en.48xlarge, nodes: {min: 16, max: 16}, zones: [us-east-1a]}
""",
        id="a-whole-fleet-kept-warm",
    ),
    pytest.param(
        f"""
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 10
    capacity:
      - {{mode: reserved, reservations: [{RESERVED % 8}]}}
      - {{mode: on-demand, nodes: 2}}
""",
        id="a-fall-back-to-on-demand-that-is-stated",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 72
    capacity:
      - mode: capacity-block
        reservations: [{id: cr-0123456789abcdef0, nodes: 64, availability_zone: us-east-1a}]
      - mode: reserved
        reservations:
          - {id: cr-0123456789abcdef1, nodes: 4, availability_zone: us-east-1a}
          - {id: cr-0123456789abcdef2, nodes: 4, availability_zone: us-east-1a}
""",
        id="a-block-then-two-small-reservations",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity:
      mode: reserved
      reservation_group_arn: arn:aws:resource-groups:us-east-1:111122223333:group/gpu
""",
        id="a-resource-group-of-reservations",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  serve: {instance_types: [g6e.xlarge, g6.xlarge], nodes: {min: 0, max: 20}, capacity: {mode: spot}}
""",
        id="a-spot-pool-of-several-types-from-zero",
    ),
    pytest.param(
        """
region: us-east-1
network:
  existing:
    vpc_id: vpc-0123456789abcdef0
    subnets: {us-east-1a: subnet-0123456789abcdef0, us-east-1b: subnet-0123456789abcdef1}
pools:
  train: {instance_type: p5en.48xlarge, nodes: 4, zones: [us-east-1a]}
""",
        id="an-existing-network",
    ),
    pytest.param(
        """
region: us-east-1
pools:
  train: {instance_type: p5en.48xlarge, nodes: 2, zones: [use1-az2]}
  serve: {instance_type: g6e.xlarge, cooling_zone: hall, image: a}
cooling_zones:
  hall: {method: hybrid}
images:
  a: {framework: pytorch}
""",
        id="a-zone-by-its-id-and-an-image-of-one-pool-alone",
    ),
    pytest.param(
        """
region: us-east-1
protect: false
environment: dev
lifecycle: {end_date: 2027-03-01}
pools:
  train: {instance_type: g6e.xlarge}
""",
        id="an-unprotected-development-stack",
    ),
    pytest.param(
        "preset: single-node\nbudget: {hourly_usd: 100, monthly_usd: 60000}\npools:\n  workstation: {instance_type: p5.48xlarge}\n",
        id="a-workstation-of-8-gpus",
    ),
]


@pytest.mark.parametrize("text", STACKS)
def test_a_legitimate_stack_is_not_refused(text: str, judge_text: Callable[..., Judgement]) -> None:
    errors = [f"{f.code} {f.path}: {f.problem}" for f in judge_text(text).findings if f.severity is Severity.ERROR]

    assert errors == []


@pytest.mark.parametrize("preset", preset_names())
def test_a_shipped_preset_has_no_error(preset: str, judge_text: Callable[..., Judgement]) -> None:
    errors = [
        f"{f.code} {f.path}: {f.problem}"
        for f in judge_text(f"preset: {preset}\n").findings
        if f.severity is Severity.ERROR
    ]

    assert errors == []


def test_an_expired_reservation_is_a_warning_with_its_date_even_when_deploying(
    judge_text: Callable[..., Judgement],
) -> None:
    """Public report: aws-parallelcluster#6870."""
    text = """
region: us-east-1
tags: {changed: elsewhere}
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 2
    capacity:
      mode: reserved
      reservations: [{id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a, ends: 2026-11-15}]
"""
    judged = judge_text(text, deploying=True)

    assert [f.problem for f in judged.findings if f.code == "GK2006"] == [
        "cr-0123456789abcdef0 of pool `train` ended on 2026-11-15"
    ]
    assert [f for f in judged.findings if f.severity is Severity.ERROR] == []


def test_a_preset_left_behind_by_an_override_is_not_called_unused(codes_of: Callable[[str], set[str]]) -> None:
    text = """
preset: thousand-card
images:
  own: {framework: pytorch}
pools:
  train: {image: own, cooling_zone: null}
"""

    assert "GK1013" not in codes_of(text)


def test_an_existing_cluster_is_asked_for_nothing_that_is_bought(judge_text: Callable[..., Judgement]) -> None:
    """Nothing is bought there: no quota, no offering, no budget, no AWS zone."""
    text = """
kind: existing-cluster
kubernetes: {context: hall}
cooling_zones:
  hall-a: {method: liquid, racks: 4, envelope_kw: 400}
pools:
  train: {instance_type: p5.48xlarge, nodes: 8, cooling_zone: hall-a}
"""
    judged = judge_text(text)

    assert {finding.code for finding in judged.findings} == {"GK1015"}
