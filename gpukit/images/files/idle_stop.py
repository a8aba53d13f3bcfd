"""Stop this machine after so many minutes without GPU work and without a session. Standard library only."""

# mypy: ignore-errors
# (a script for the Python of the node, 3.9 and later, without the packages of this project)

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

BUSY_GPU_PCT = 3
"""A GPU at or under this is idle: a desktop or a monitor alone makes 1-2 per cent."""


def run(*command):
    """Return a command's output, or "" where it is missing, fails or hangs for 20 seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def gpu_is_busy():
    """Tell whether any GPU works. Where the GPUs do not answer, the load decides: a job also needs a processor."""
    shares = []
    for line in run("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits").splitlines():
        try:
            shares.append(float(line))
        except ValueError:
            continue
    if shares:
        return max(shares) > BUSY_GPU_PCT
    return os.getloadavg()[1] > 0.5


def sessions():
    """Return what keeps the machine in use: SSM sessions, logins, and Jupyter kernels that compute."""
    found = []
    if run("pgrep", "-f", "ssm-session-worker").strip():
        found.append("ssm-session")
    if run("who").strip():
        found.append("login")
    found += ["jupyter-kernel"] if busy_kernel() else []
    return found


def busy_kernel():
    """Tell whether a notebook kernel uses more than a tenth of a core."""
    for line in run("ps", "-eo", "pcpu=,args=").splitlines():
        share, _, command = line.strip().partition(" ")
        if "ipykernel" in command and float(share or 0) > 10:
            return True
    return False


def decide(now, last_active, minutes, busy, in_use):
    """Return (stop?, new last activity). The clock starts at the first look, never before."""
    if busy or in_use or last_active is None or last_active > now:
        return False, now
    return now - last_active >= minutes * 60, last_active


def main(arguments=None):
    """Look once; stop the machine when its time is up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=int, required=True)
    parser.add_argument("--state", default="/run/gpukit/idle.json")
    parser.add_argument("--stop-command", default="shutdown -h now")
    chosen = parser.parse_args(arguments)
    state = Path(chosen.state)
    state.parent.mkdir(parents=True, exist_ok=True)
    try:
        last = json.loads(state.read_text())["last_active"]
    except (OSError, ValueError, KeyError):
        last = None
    busy, in_use = gpu_is_busy(), sessions()
    stop, last = decide(time.time(), last, chosen.minutes, busy, in_use)
    state.write_text(json.dumps({"last_active": last, "gpu_busy": busy, "sessions": in_use}))
    if Path("/run/gpukit/stay-awake").exists() or os.environ.get("GPUKIT_STAY_AWAKE"):
        return 0
    if stop:
        print(f"gpukit: idle for {chosen.minutes} minutes, stopping", flush=True)
        return subprocess.call(chosen.stop_command.split())
    return 0


if __name__ == "__main__":
    sys.exit(main())
