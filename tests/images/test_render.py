"""User data of nodes: parts, size, order, quoting, and the files it writes."""

import email
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from gpukit.images.manifest import ImageError
from gpukit.images.render import (
    USER_DATA_LIMIT_BYTES,
    UserDataTooLarge,
    encode_user_data,
    render_node_config,
    render_node_user_data,
)
from gpukit.plan import BootHookPlan, Plan, PoolPlan, TaintPlan, render_plan_json, to_jsonable

CLUSTER = {
    "cluster_name": "thousand",
    "endpoint": "https://ABCDEF0123456789.gr7.us-east-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTg==",
    "service_cidr": "10.100.0.0/16",
}

NODE_CONFIG = json.loads((Path(__file__).parent / "nodeadm.schema.json").read_text())

EKS_PRESETS = ("multi-node", "thousand-card", "thousand-card-liquid")


def pools(plan: Plan) -> list[PoolPlan]:
    return list(plan.all_pools)


def user_data(plan: Plan, pool: PoolPlan, **changes) -> str:
    wish = {
        "pool": pool,
        "group": pool.node_groups[0],
        "image": plan.image(pool.image),
        "region": plan.region,
        "log_group": f"/gpukit/{plan.name}/boot",
        "lustre": plan.network.lustre,
    }
    return render_node_user_data(**{**wish, **changes})


def parts(text: str) -> dict[str, str]:
    message = email.message_from_string(text)
    assert message.get_content_type() == "multipart/mixed"
    return {part.get_content_type(): part.get_payload() for part in message.walk() if not part.is_multipart()}


def hook(name: str, content: str, when: str = "before-join") -> BootHookPlan:
    return BootHookPlan(name=name, when=when, content=content, sha256="")


@pytest.fixture
def gpu_pool(presets) -> tuple[Plan, PoolPlan]:
    plan = presets["thousand-card"]
    return plan, plan.pools[0]


@pytest.mark.parametrize("preset", EKS_PRESETS)
def test_user_data_of_every_pool_is_a_golden(presets, compare_golden, preset) -> None:
    plan = presets[preset]
    for pool in pools(plan):
        compare_golden(f"{preset}.{pool.name}.user-data.txt", user_data(plan, pool))


@pytest.mark.parametrize("preset", ["single-node", *EKS_PRESETS])
def test_every_image_of_a_preset_with_its_reasons_is_a_golden(presets, compare_golden, preset) -> None:
    plan = presets[preset]
    told = {
        "images": to_jsonable(plan.images),
        "decisions": to_jsonable([item for item in plan.decisions if item.subject.startswith("images.")]),
    }

    compare_golden(f"{preset}.images.json", json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("preset", EKS_PRESETS)
def test_user_data_of_every_pool_fits(presets, preset) -> None:
    plan = presets[preset]
    for pool in pools(plan):
        assert len(user_data(plan, pool).encode()) <= USER_DATA_LIMIT_BYTES


def test_two_runs_are_byte_equal(gpu_pool) -> None:
    assert user_data(*gpu_pool) == user_data(*gpu_pool)


def test_two_processes_are_byte_equal(gpu_pool) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import datetime\n"
        "from gpukit.planning import plan_from_preset\n"
        "from gpukit.images.render import render_node_user_data\n"
        "plan = plan_from_preset('thousand-card', today=datetime.date(2026, 12, 1)).plan; pool = plan.pools[0]\n"
        "sys.stdout.write(render_node_user_data(pool=pool, group=pool.node_groups[0], image=plan.image(pool.image)))\n"
    )
    root = str(Path(__file__).parents[2])
    runs = [
        subprocess.run(
            [sys.executable, "-c", program, root], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    ]

    assert runs[0] == runs[1]
    assert runs[0]


def test_the_script_comes_before_the_node_configuration(gpu_pool) -> None:
    assert list(parts(user_data(*gpu_pool))) == ["text/x-shellscript", "application/node.eks.aws"]


@pytest.mark.parametrize("preset", EKS_PRESETS)
def test_node_configuration_fits_nodeadms_schema(presets, preset) -> None:
    plan = presets[preset]
    for pool in pools(plan):
        document = yaml.safe_load(parts(user_data(plan, pool))["application/node.eks.aws"])
        jsonschema.validate(document, NODE_CONFIG)


def test_a_released_image_leaves_the_cluster_to_eks(gpu_pool) -> None:
    document = yaml.safe_load(parts(user_data(*gpu_pool, **CLUSTER))["application/node.eks.aws"])

    assert "cluster" not in document["spec"]


def test_a_custom_image_names_its_cluster(gpu_pool) -> None:
    plan, pool = gpu_pool
    image = replace(plan.image(pool.image), source="ami-id", ami_id="ami-0123456789abcdef0", release_version=None)
    document = yaml.safe_load(render_node_config(pool=pool, image=image, **CLUSTER))

    jsonschema.validate(document, NODE_CONFIG)
    assert document["spec"]["cluster"] == {
        "name": "thousand",
        "apiServerEndpoint": CLUSTER["endpoint"],
        "certificateAuthority": CLUSTER["certificate_authority"],
        "cidr": "10.100.0.0/16",
    }


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        pytest.param("none", None, id="none"),
        pytest.param("containers", {"strategy": "RAID0", "mountPath": "/local"}, id="containers"),
        pytest.param(
            "scratch",
            {"strategy": "RAID0", "mountPath": "/local", "disabledMounts": ["Containerd", "PodLogs"]},
            id="scratch",
        ),
    ],
)
def test_local_disks_are_joined_by_nodeadm(gpu_pool, role, expected) -> None:
    plan, pool = gpu_pool
    document = yaml.safe_load(
        render_node_config(
            pool=replace(pool, local_nvme_role=role, local_nvme_path="/local"), image=plan.image(pool.image)
        )
    )

    assert document["spec"].get("instance", {}).get("localStorage") == expected


def test_kubelet_settings_take_kubelets_own_words(gpu_pool) -> None:
    plan, pool = gpu_pool
    settings = {"kubelet.cpu_manager_policy": "static", "kubelet.max_pods": "64", "kubelet.topologyManagerScope": "pod"}
    document = yaml.safe_load(
        render_node_config(pool=replace(pool, node_settings=settings), image=plan.image(pool.image))
    )

    assert document["spec"]["kubelet"]["config"] == {
        "cpuManagerPolicy": "static",
        "maxPods": 64,
        "topologyManagerScope": "pod",
    }


def script_of(plan: Plan, pool: PoolPlan, **changes) -> str:
    return parts(user_data(plan, pool, **changes))["text/x-shellscript"]


@pytest.mark.parametrize("preset", EKS_PRESETS)
def test_shell_is_clean(presets, check_shell, preset, tmp_path) -> None:
    plan = presets[preset]
    hooks = (hook("fetch", "echo fetch"), hook("late", "echo late", "after-join"))
    for pool in pools(plan):
        settings = {"limits.memlock": "64Gi", "limits.shared_memory_gib": "128", "sysctl.vm.swappiness": "1"}
        for number, changed in enumerate((pool, replace(pool, boot=hooks, node_settings=settings))):
            script = tmp_path / f"{pool.name}-{number}.sh"
            script.write_text(script_of(plan, changed))
            check_shell(script)


def test_hooks_run_in_their_order_and_around_the_join(gpu_pool) -> None:
    plan, pool = gpu_pool
    boot = (hook("b-second", "echo 2\n"), hook("late", "echo 3", "after-join"), hook("a-third", "echo 4"))
    script = script_of(plan, replace(pool, boot=boot))

    assert (
        script.index("before-01-b-second.sh") < script.index("before-02-a-third.sh") < script.index("step node-check\n")
    )
    assert "ExecStart=/bin/bash /opt/gpukit/after-01-late.sh" in script
    assert "bash /opt/gpukit/after-01-late.sh\n[Install]" not in script


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("cat <<'END'\nEND\necho done", id="its own here-document"),
        pytest.param("echo \"$(date)\" `id` ${HOME} 'quoted'", id="expansions"),
        pytest.param("echo '[[ pool.name ]] [% raw %]'", id="template marks"),
        pytest.param("--gpukit-0123\nContent-Type: text/plain\n\necho", id="a MIME boundary"),
        pytest.param("printf 'Grüße 漢字\\n'", id="not ASCII"),
    ],
)
def test_a_hostile_hook_arrives_as_it_was_written(gpu_pool, tmp_path, content) -> None:
    plan, pool = gpu_pool
    script = script_of(plan, replace(pool, boot=(hook("odd", content),)))
    start = script.index("cat >/opt/gpukit/before-01-odd.sh")
    block = script[start : script.index("bash /opt/gpukit/before-01-odd.sh", start + 1)]
    (tmp_path / "run.sh").write_text(block.replace("/opt/gpukit", str(tmp_path)))

    subprocess.run(["bash", tmp_path / "run.sh"], check=True)

    assert (tmp_path / "before-01-odd.sh").read_text() == content + "\n"


@pytest.mark.parametrize("name", ["../../etc/passwd", "a b", "x;reboot", "", "-rf"])
def test_a_hook_name_that_is_no_file_name_is_refused(gpu_pool, name) -> None:
    plan, pool = gpu_pool

    with pytest.raises(ImageError, match="boot hook"):
        user_data(plan, replace(pool, boot=(hook(name, "true"),)))


def test_a_long_hook_is_packed_and_unpacks_to_itself(gpu_pool, check_shell, tmp_path) -> None:
    plan, pool = gpu_pool
    long = "\n".join(f"echo 'line {number} of a hook that repeats itself'" for number in range(400))
    text = user_data(plan, replace(pool, boot=(hook("long", long),)))
    loader = parts(text)["text/x-shellscript"]
    (tmp_path / "loader.sh").write_text(
        loader.replace("/opt/gpukit", str(tmp_path / "opt")).replace("exec bash", "exec true")
    )

    subprocess.run(["bash", tmp_path / "loader.sh"], check=True)

    assert len(text.encode()) <= USER_DATA_LIMIT_BYTES
    assert long in (tmp_path / "opt/boot.sh").read_text()
    check_shell(tmp_path / "loader.sh")


def test_user_data_that_cannot_fit_is_refused_with_its_largest_hooks(gpu_pool) -> None:
    import random

    plan, pool = gpu_pool
    noise = random.Random(1)
    long = "".join(noise.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(30_000))

    with pytest.raises(UserDataTooLarge) as caught:
        user_data(plan, replace(pool, boot=(hook("short", "true"), hook("long", f"echo {long}"))))

    assert caught.value.problem.startswith("pools.train.boot: the user data has ")
    assert "`long` 30005 bytes, `short` 4 bytes" in caught.value.why


def test_a_failed_check_taints_the_node_beside_the_taints_of_its_group(gpu_pool, tmp_path) -> None:
    plan, pool = gpu_pool
    group = replace(pool.node_groups[0], taints=(TaintPlan(key="nvidia.com/gpu", value="true", effect="NoSchedule"),))
    script = script_of(plan, pool, group=group)
    function = script[script.index("taint_node() {") : script.index("\n}\n") + 3].replace("/etc/eks", str(tmp_path))
    (tmp_path / "run.sh").write_text(function + "taint_node NvlinkDown\n")

    subprocess.run(["bash", tmp_path / "run.sh"], check=True)

    document = yaml.safe_load((tmp_path / "nodeadm.d/90-gpukit-gate.yaml").read_text())
    jsonschema.validate(document, NODE_CONFIG)
    assert document["spec"]["kubelet"]["flags"] == [
        "--register-with-taints=nvidia.com/gpu=true:NoSchedule,gpukit.dev/node-check=NvlinkDown:NoSchedule"
    ]


def test_a_node_without_gpu_has_no_gate(presets) -> None:
    plan = presets["multi-node"]
    script = script_of(plan, plan.helper_pools[0])

    assert "node_check" not in script
    assert "neigh" not in script


def test_grace_blackwell_gets_the_module_option_without_which_nccl_falls_to_tcp(presets) -> None:
    liquid, air = presets["thousand-card-liquid"], presets["thousand-card"]

    assert "NVreg_GrdmaPciTopoCheckOverride=1" in script_of(liquid, liquid.pools[0])
    assert "NVreg_GrdmaPciTopoCheckOverride" not in script_of(air, air.pools[0])


def test_the_check_on_the_node_expects_what_the_plan_says(gpu_pool) -> None:
    plan, pool = gpu_pool
    script = script_of(plan, pool)
    expected = json.loads(next(line for line in script.splitlines() if line.startswith('{"cuda"')))

    assert expected == {
        "cuda": True,
        "driver": "580.159.03",
        "efa_interfaces": 16,
        "gpu_model": "H200",
        "gpus": 8,
        "instance_type": "p5en.48xlarge",
        "late_seconds": 120,
        "local_nvme": 8,
        "lustre": plan.network.lustre,
    }


def test_base64_is_of_the_text_itself() -> None:
    assert encode_user_data("#!/bin/bash\n") == "IyEvYmluL2Jhc2gK"


def test_the_boot_log_says_what_failed(gpu_pool, tmp_path) -> None:
    """awsome-distributed-ai#188: a failed bootstrap with an empty log."""
    plan, pool = gpu_pool
    script = script_of(plan, replace(pool, boot=(hook("broken", "exit 3"),)), lustre=False, gate=False, log_group="")
    start, end = script.index("export PATH="), script.index("step kernel-settings")
    tail = script[script.index("step hook-broken") :]
    small = "set -euo pipefail\ntaint_node() { echo taint $1; }\n" + script[start:end] + tail
    for folder in ("/opt/gpukit", "/run/gpukit", "/var/log/gpukit"):
        small = small.replace(folder, str(tmp_path) + folder)
    (tmp_path / "run.sh").write_text(small)

    done = subprocess.run(["bash", tmp_path / "run.sh"], check=False, capture_output=True, text=True)

    log = (tmp_path / "var/log/gpukit/boot.log").read_text()
    verdict = json.loads((tmp_path / "run/gpukit/boot.json").read_text())
    assert done.returncode == 3
    assert "gpukit-boot: FAILED in step 'hook-broken' with 3" in log
    assert "taint boot-failed" in log
    assert verdict == {"healthy": False, "reason": "BootStepFailed", "message": "hook-broken"}


def test_no_plan_text_leaks_into_user_data_but_what_is_needed(gpu_pool) -> None:
    plan, pool = gpu_pool

    assert len(user_data(plan, pool)) < len(render_plan_json(plan))


FAKES = {
    "sysctl": "true",
    "systemctl": 'echo "$*" >>"$TRACE"',
    "rpm": 'case "$*" in *system-release*) echo 2023.12.20260727;; *) [ -e "$TRACE.lustre" ];; esac',
    "dnf": 'echo "dnf $*" >>"$TRACE"; : >"$TRACE.lustre"',
    "modprobe": "true",
    "mount": 'echo "mount $*" >>"$TRACE"',
}


class Boot:
    """The whole script of a node, run on a machine of recordings: its paths moved, its tools replaced."""

    def __init__(self, tape, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = tmp_path / "node"
        for folder in (
            "etc/sysctl.d",
            "etc/security/limits.d",
            "etc/profile.d",
            "etc/modprobe.d",
            "etc/systemd/system",
        ):
            (self.root / folder).mkdir(parents=True)
        (self.root / "proc/sys/vm").mkdir(parents=True)
        (self.root / "proc/sys/vm/nr_hugepages").write_text("0\n")
        (tape.root / "proc/modules").write_text("lustre 1 0 - Live 0x0\nefa 1 0 - Live 0x0\n")
        for name, body in FAKES.items():
            (tape.bin / name).write_text(f"#!/bin/bash\n{body}\n")
            (tape.bin / name).chmod(0o755)
        moved = script.replace("export PATH=", f"export PATH={tape.bin}:")
        for folder in ("/opt/gpukit", "/run/gpukit", "/var/log/gpukit", "/proc/sys/vm"):
            moved = moved.replace(folder, f"{self.root}{folder}")
        moved = moved.replace(" /etc/", f" {self.root}/etc/").replace(">/etc/", f">{self.root}/etc/")
        moved = moved.replace("/dev/console", str(self.root / "console"))
        moved = moved.replace("node_check.py check", f"node_check.py check --root {tape.root}")
        # Without waiting for devices that a recording will never get.
        moved = moved.replace('"late_seconds": 120', '"late_seconds": 0')
        (tmp_path / "boot.sh").write_text(moved)
        self.trace = tmp_path / "trace"
        monkeypatch.setenv("TRACE", str(self.trace))
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        self.done = subprocess.run(["bash", tmp_path / "boot.sh"], check=False, capture_output=True, text=True)

    def read(self, path: str) -> str:
        return (self.root / path).read_text()


@pytest.fixture
def boot(presets, recording, tmp_path, monkeypatch):
    def run(kind: str, case: str, **changes) -> Boot:
        plan = presets["thousand-card"]
        pool = replace(plan.pools[0], **changes)
        script = script_of(plan, pool, log_group="", lustre=True)
        return Boot(recording(kind, case), script, tmp_path, monkeypatch)

    return run


def test_the_whole_boot_of_a_healthy_node_ends_without_a_taint(boot) -> None:
    node = boot("healthy", "p5en-48xlarge", boot=(hook("mine", "echo hello from mine"),))

    assert node.done.returncode == 0, node.done.stdout + node.done.stderr
    assert json.loads(node.read("run/gpukit/boot.json"))["healthy"] is True
    assert json.loads(node.read("run/gpukit/node-check.json"))["reason"] == "NodeHealthy"
    assert not (node.root / "etc/eks/nodeadm.d").exists()
    assert "hello from mine" in node.read("var/log/gpukit/boot.log")
    assert "gpukit-boot| gpukit-boot: done" in node.read("console")
    assert node.read("proc/sys/vm/nr_hugepages") == "5128\n"
    assert "export NCCL_NET_PLUGIN=ofi" in node.read("etc/profile.d/gpukit.sh")
    assert "dnf install -y --releasever=2023.12.20260727 lustre-client" in node.trace.read_text()
    assert "enable --no-block --now gpukit-node-check.timer" in node.trace.read_text()


@pytest.mark.parametrize(
    ("case", "reason"),
    [("efa-missing", "EfaMissing"), ("nvlink-inactive", "NvlinkDown"), ("driver-not-loaded", "DriverNotRunning")],
)
def test_the_whole_boot_of_a_broken_node_ends_with_its_taint(boot, case, reason) -> None:
    node = boot("broken", case)

    assert node.done.returncode == 0, "a node that fails its check still joins, to be seen"
    document = yaml.safe_load(node.read("etc/eks/nodeadm.d/90-gpukit-gate.yaml"))
    jsonschema.validate(document, NODE_CONFIG)
    assert f"gpukit.dev/node-check={reason}:NoSchedule" in document["spec"]["kubelet"]["flags"][0]
    assert f"node check failed: {reason}" in node.read("console")


def test_a_hook_that_fails_ends_the_boot_with_a_taint_and_its_name(boot) -> None:
    node = boot("healthy", "p5en-48xlarge", boot=(hook("broken", "echo about to fail; false"),))

    assert node.done.returncode != 0
    assert json.loads(node.read("run/gpukit/boot.json"))["message"] == "hook-broken"
    assert "gpukit.dev/node-check=boot-failed:NoSchedule" in node.read("etc/eks/nodeadm.d/90-gpukit-gate.yaml")
    assert "about to fail" in node.read("console")
