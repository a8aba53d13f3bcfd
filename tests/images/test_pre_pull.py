"""Images that a node pulls before a job asks for them: spelling, pins, quoting, and what the script does."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gpukit.images.manifest import FloatingPin, ImageError
from gpukit.images.pre_pull import list_pre_pulled, whole_reference
from gpukit.images.render import USER_DATA_LIMIT_BYTES, render_before_join, render_node_user_data
from gpukit.images.templating import render_template

DIGEST = "sha256:" + "a" * 64
ECR = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/train:1.2"
NGC = "nvcr.io/nvidia/pytorch:25.08-py3"


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        pytest.param(NGC, NGC, id="already whole"),
        pytest.param("busybox:1.37", "docker.io/library/busybox:1.37", id="no registry, no owner"),
        pytest.param("vllm/vllm-openai:v0.11.0", "docker.io/vllm/vllm-openai:v0.11.0", id="no registry"),
        pytest.param("localhost/a:1", "localhost/a:1", id="localhost"),
        pytest.param("registry:5000/a:1", "registry:5000/a:1", id="registry by port"),
        pytest.param(f"{NGC}@{DIGEST}", f"nvcr.io/nvidia/pytorch@{DIGEST}", id="tag and digest"),
        pytest.param(f"registry:5000/a@{DIGEST}", f"registry:5000/a@{DIGEST}", id="port and digest"),
        pytest.param(f"busybox@{DIGEST}", f"docker.io/library/busybox@{DIGEST}", id="short and digest"),
    ],
)
def test_an_image_is_pulled_by_the_name_that_the_kubelet_asks_for(written: str, whole: str) -> None:
    assert whole_reference(written) == whole


@pytest.mark.parametrize(
    "image", ["nvcr.io/nvidia/pytorch", "a:latest", "a:stable-1", "registry:5000/a", "a@sha256:12"]
)
def test_an_image_that_can_move_is_refused_with_its_place(image: str) -> None:
    with pytest.raises(FloatingPin, match=r"pools\.train\.pre_pull\[1\]"):
        list_pre_pulled((NGC, image), "pools.train.pre_pull")


@pytest.mark.parametrize("image", ["a:1; reboot", "$(id):1", "a:1\nEND", "-f:1", "", "'a':1"])
def test_what_is_no_image_is_refused(image: str) -> None:
    with pytest.raises(ImageError, match="is no container image"):
        list_pre_pulled((image,), "pools.train.pre_pull")


def test_an_image_named_twice_is_pulled_once() -> None:
    assert list_pre_pulled((NGC, ECR, NGC), "pools.train.pre_pull") == [NGC, ECR]


@pytest.mark.parametrize("preset", ["multi-node", "thousand-card", "thousand-card-liquid"])
def test_user_data_of_every_pool_fits_with_images_to_pull(presets, preset) -> None:
    plan = presets[preset]
    for pool in plan.all_pools:
        text = render_node_user_data(
            pool=replace(pool, pre_pull=(NGC, ECR, f"busybox@{DIGEST}")),
            group=pool.node_groups[0],
            image=plan.image(pool.image),
            region=plan.region,
            log_group="/gpukit/log",
            lustre=True,
        )
        assert len(text.encode()) <= USER_DATA_LIMIT_BYTES


def test_user_data_with_images_to_pull_is_a_golden(presets, compare_golden) -> None:
    plan = presets["multi-node"]
    pool = next(pool for pool in plan.helper_pools)
    text = render_node_user_data(
        pool=replace(pool, pre_pull=(NGC, ECR)), group=pool.node_groups[0], image=plan.image(pool.image)
    )

    compare_golden("multi-node.system.pre-pull.user-data.txt", text)


def test_a_pool_without_images_to_pull_has_no_unit(presets) -> None:
    plan = presets["thousand-card"]
    pool = plan.pools[0]

    assert "pre-pull" not in render_before_join(pool=pool, group=pool.node_groups[0], image=plan.image(pool.image))


def test_the_node_does_not_wait_for_the_pull(presets) -> None:
    plan = presets["thousand-card"]
    pool = replace(plan.pools[0], pre_pull=(NGC,))
    script = render_before_join(pool=pool, group=pool.node_groups[0], image=plan.image(pool.image))

    assert "systemctl enable --no-block --now gpukit-pre-pull.service" in script
    assert "After=nodeadm-run.service containerd.service" in script
    assert script.index("step pre-pull-install") < script.index("step node-check\n")


class Puller:
    """The script with a registry that has some images, and a note of each call."""

    def __init__(self, tmp_path: Path, images: list[str]) -> None:
        tools = tmp_path / "bin"
        tools.mkdir()
        self.calls = tmp_path / "calls"
        for name, body in {
            "ctr": f'echo "ctr $*" >>"{self.calls}"; case "$*" in *missing*) exit 1;; esac',
            "aws": f'echo "aws $*" >>"{self.calls}"; echo secret',
        }.items():
            (tools / name).write_text(f"#!/bin/bash\n{body}\n")
            (tools / name).chmod(0o755)
        self.script = tmp_path / "pre-pull.sh"
        self.script.write_text(render_template("pre_pull.sh.j2", images=images))
        environment = {**os.environ, "PATH": f"{tools}:/usr/bin:/bin"}
        self.done = subprocess.run(
            ["bash", self.script], check=False, capture_output=True, text=True, env=environment, timeout=30
        )


def test_only_a_registry_of_ecr_gets_a_password(tmp_path: Path) -> None:
    puller = Puller(tmp_path, [NGC, ECR])

    assert puller.done.returncode == 0
    assert puller.calls.read_text().splitlines() == [
        f"ctr --namespace k8s.io images pull {NGC}",
        "aws ecr get-login-password --region eu-west-1",
        f"ctr --namespace k8s.io images pull --user AWS:secret {ECR}",
    ]
    assert "secret" not in puller.done.stdout + puller.done.stderr


def test_a_missing_image_fails_the_unit_but_not_the_other_pulls(tmp_path: Path) -> None:
    puller = Puller(tmp_path, ["nvcr.io/missing:1", NGC])

    assert puller.done.returncode == 1
    assert puller.done.stdout.splitlines() == ["gpukit-pre-pull: FAILED nvcr.io/missing:1", f"gpukit-pre-pull: {NGC}"]


def test_the_script_is_clean_shell(tmp_path: Path, check_shell) -> None:
    script = tmp_path / "pre-pull.sh"
    script.write_text(render_template("pre_pull.sh.j2", images=[NGC, ECR]))

    check_shell(script)
