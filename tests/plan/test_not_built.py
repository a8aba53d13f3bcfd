"""What is read and not built is told, never accepted and ignored."""

from datetime import date

import pytest

from gpukit.planning import plan_from_preset


@pytest.mark.parametrize(
    ("preset", "change", "section"),
    [
        pytest.param(
            "multi-node", "storage.more={kind: ebs, mount_path: /more}", "storage.more", id="volume-on-cluster"
        ),
        pytest.param("multi-node", "storage.more={kind: local-nvme, mount_path: /m}", "storage.more", id="local-store"),
        pytest.param("multi-node", "storage.datasets.cache=read", "storage.datasets.cache", id="cache"),
        pytest.param("multi-node", "lifecycle.idle_pool_minutes=30", "lifecycle.idle_pool_minutes", id="idle-pool"),
        pytest.param("multi-node", "workload.tokens=1e12", "workload.tokens", id="tokens"),
        pytest.param(
            "multi-node", "pools.train.updates.drain_minutes=60", "pools.train.updates.drain_minutes", id="drain"
        ),
        pytest.param(
            "single-node", "storage.data.existing=vol-0123456789abcdef0", "storage.data.existing", id="own-volume"
        ),
        pytest.param("single-node", "storage.more={kind: ebs, mount_path: /more}", "storage.more", id="second-volume"),
    ],
)
def test_a_setting_that_nothing_builds_is_told(preset: str, change: str, section: str) -> None:
    plan = plan_from_preset(preset, sets=(change,), today=date(2026, 12, 1)).plan

    assert plan is not None
    assert section in [item.section for item in plan.not_built]


@pytest.mark.parametrize("preset", ["single-node", "multi-node", "thousand-card", "thousand-card-liquid"])
def test_the_presets_ask_for_nothing_that_is_not_built(preset: str) -> None:
    plan = plan_from_preset(preset, today=date(2026, 12, 1)).plan

    assert plan is not None
    assert plan.not_built == ()


def test_a_volume_that_exists_makes_no_new_one() -> None:
    sets = ("storage.data.existing=vol-0123456789abcdef0",)
    plan = plan_from_preset("single-node", sets=sets, today=date(2026, 12, 1)).plan

    assert plan is not None
    assert plan.workstation is not None
    assert plan.workstation.data_volume_gib == 0
