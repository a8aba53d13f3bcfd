"""nodeadm's configuration: only what EKS does not add by itself."""

from dataclasses import replace

import plans
from gpukit_components.node_config import render_node_user_data

from gpukit.plan import BootHookPlan, ImagePlan, PoolPlan

GROUP = plans.node_group()
POOL = plans.pool((GROUP,))


def _render(pool: PoolPlan = POOL, image: ImagePlan = plans.EKS_IMAGE) -> str:
    return render_node_user_data(GROUP, pool, image, "ml", "https://cluster.example", "Y2E=", "172.20.0.0/16")


def test_released_image_without_tuning_needs_no_user_data() -> None:
    assert _render() == ""


def test_cluster_is_named_only_where_eks_does_not_name_it() -> None:
    tuned = replace(POOL, node_settings={"kubelet.maxPods": "64"})

    assert "apiServerEndpoint" not in _render(tuned)
    assert "https://cluster.example" in _render(tuned, plans.AMI_IMAGE)


def test_kubelet_settings_keep_their_types() -> None:
    text = _render(replace(POOL, node_settings={"kubelet.maxPods": "64", "kubelet.cpuManagerPolicy": "static"}))

    assert '"maxPods": 64' in text
    assert '"cpuManagerPolicy": "static"' in text


def test_hooks_before_joining_run_as_scripts_and_later_ones_do_not() -> None:
    hooks = (
        BootHookPlan(name="a", when="before-join", content="echo before", sha256=""),
        BootHookPlan(name="b", when="after-join", content="echo after", sha256=""),
    )

    text = _render(replace(POOL, boot=hooks))

    assert "echo before" in text
    assert "echo after" not in text
