"""
Render what starts a workstation: cloud-init that mounts the data volume, writes the environment, checks the GPU, stops
an idle machine and serves Jupyter on loopback. Nothing listens on an outside address: people come through SSM.
"""

import json
import re
from typing import Any, Final

from gpukit.images.expectations import expect_node
from gpukit.images.hooks import list_hooks
from gpukit.images.manifest import ImageError
from gpukit.images.templating import read_file, render_template
from gpukit.plan import ImagePlan, Plan, PoolPlan

_LIMIT_BYTES: Final = 16 * 1024

_UPGRADE_UNITS: Final = ("apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service")
"""Upgrades by themselves broke drivers and Lustre clients of running nodes (aws-parallelcluster#2095)."""

_SAFE_PATH: Final = re.compile(r"/[A-Za-z0-9._/-]+")


def render_workstation_user_data(
    plan: Plan,
    pool: PoolPlan,
    image: ImagePlan,
    *,
    volume_id: str = "",
    log_group: str = "",
    local_nvme: int | None = None,
) -> str:
    """
    Return the cloud-init document of a workstation.

    Plain text under 16 KiB, as EC2 takes it. `volume_id` names the data volume where it is known; without it the one
    EBS disk beside the root disk is taken. The instance must be made with shutdown behaviour `stop`, so that the
    idle stop does not terminate it. ValueError where the plan has no workstation.
    """
    from gpukit.images.render import UserDataTooLarge, render_profile, squeeze_script

    workstation = plan.workstation
    if workstation is None:
        raise ValueError(f"plan `{plan.name}` has no workstation")
    if not _SAFE_PATH.fullmatch(workstation.data_mount_path):
        raise ImageError(
            f"workstation.data_mount_path `{workstation.data_mount_path}`",
            why="it is written into fstab and unit files",
            fix="use an absolute path of letters, digits, dots, dashes and underscores",
        )
    if volume_id and not re.fullmatch(r"vol-[0-9a-f]+", volume_id):
        raise ValueError(f"`{volume_id}` is not a volume id")
    user = "ubuntu" if image.components.get("operating_system", "ubuntu").startswith("ubuntu") else "ec2-user"
    python = image.components.get("python", "")
    python = python if python.startswith("/") else "/usr/bin/python3"
    gate = pool.gpus_per_node > 0
    group = pool.node_groups[0] if pool.node_groups else None
    expected = expect_node(pool=pool, group=group, image=image, local_nvme=local_nvme)
    setup = render_template(
        "workstation_setup.sh.j2",
        taints_on_failure=False,
        log_group=log_group,
        region=plan.region,
        data_volume=workstation.data_volume_gib > 0,
        volume_id=volume_id,
        data_path=workstation.data_mount_path,
        user=user,
        gate=gate,
        node_check_packed=read_file("node_check.packed").strip(),
        idle_stop_packed=read_file("idle_stop.packed").strip(),
        hooks=list_hooks(pool.boot),
        idle=workstation.idle_stop_minutes > 0,
        jupyter=workstation.jupyter,
    )
    files = [
        _file("/etc/profile.d/gpukit.sh", render_profile(image.environment)),
        _file("/etc/gpukit/environment", _environment_file(image.environment)),
    ]
    if gate:
        files.append(_file("/opt/gpukit/node-check.json", json.dumps(expected, sort_keys=True) + "\n"))
    if workstation.idle_stop_minutes > 0:
        minutes = workstation.idle_stop_minutes
        files.append(
            _file("/etc/systemd/system/gpukit-idle.service", render_template("idle.service.j2", minutes=minutes))
        )
        files.append(_file("/etc/systemd/system/gpukit-idle.timer", render_template("idle.timer.j2")))
    if workstation.jupyter:
        directory = workstation.data_mount_path if workstation.data_volume_gib > 0 else f"/home/{user}"
        unit = render_template("jupyter.service.j2", user=user, python=python, directory=directory)
        files.append(_file("/etc/systemd/system/gpukit-jupyter.service", unit))
    text = _cloud_config(files, setup)
    if len(text.encode()) > _LIMIT_BYTES:
        text = _cloud_config(files, squeeze_script(setup))
    if len(text.encode()) > _LIMIT_BYTES:
        raise UserDataTooLarge(
            f"pools.{pool.name}.boot: the user data has {len(text.encode())} bytes",
            why=f"EC2 takes {_LIMIT_BYTES} bytes",
            fix="put long hooks into the image or a bucket",
        )
    return text


def _cloud_config(files: list[dict[str, Any]], setup: str) -> str:
    document = {
        # A driver or kernel replaced behind a running job is worse than one a pull request brings.
        "package_update": False,
        "package_upgrade": False,
        "disable_root": True,
        "bootcmd": [["mkdir", "-p", "/opt/gpukit", "/etc/gpukit"]],
        "write_files": [*files, _file("/opt/gpukit/setup.sh", setup, mode="0755")],
        "runcmd": [["systemctl", "disable", "--now", *_UPGRADE_UNITS], ["bash", "/opt/gpukit/setup.sh"]],
    }
    return render_template("workstation.cloud-config.j2", document=document)


def _file(path: str, content: str, *, mode: str = "0644") -> dict[str, Any]:
    return {"path": path, "owner": "root:root", "permissions": mode, "content": content}


def _environment_file(environment: dict[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in sorted(environment.items()))
