#!/usr/bin/env python3
"""Compare a GPU node with what it should be, and say so as one verdict.

Runs anywhere with Python 3.9 and nothing else:

    node_check.py check --config expected.json [--out verdict.json]   exit 0 healthy, 1 not, 2 bad usage
    node_check.py explain --verdict verdict.json                      the verdict in words
    node_check.py cuda                                                one CUDA call per GPU, used by `check`

What was not seen is never taken for good: an unknown GPU fails, no GPU fails, a check without an answer fails.
Commands are found on PATH, files under --root, so that recordings can stand in for a machine.
"""

# mypy: ignore-errors
# (a script for the Python of the node, 3.9 and later, without the packages of this project)

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import time

# Model: (names as nvidia-smi prints them, NVLinks per GPU, ECC on as delivered, fabric manager or IMEX registers it)
GPUS = {
    "V100-16": (("Tesla V100-SXM2-16GB",), 6, True, False),
    "V100-32": (("Tesla V100-SXM2-32GB", "Tesla V100-SXM3-32GB"), 6, True, False),
    "T4": (("Tesla T4",), 0, True, False),
    "T4G": (("NVIDIA T4G",), 0, True, False),
    "A10G": (("NVIDIA A10G",), 0, True, False),
    "L4": (("NVIDIA L4",), 0, True, False),
    "L40S": (("NVIDIA L40S",), 0, True, False),
    "A100-40": (("NVIDIA A100-SXM4-40GB",), 12, True, False),
    "A100-80": (("NVIDIA A100-SXM4-80GB",), 12, True, False),
    "H100": (("NVIDIA H100 80GB HBM3",), 18, True, True),
    "H200": (("NVIDIA H200",), 18, True, True),
    "B200": (("NVIDIA B200",), 18, True, True),
    "B300": (("NVIDIA B300 SXM6 AC", "NVIDIA B300"), 18, True, True),
    "GB200": (("NVIDIA GB200",), 18, True, True),
    "GB300": (("NVIDIA GB300",), 18, True, True),
    "RTX-PRO-6000-SE": (("NVIDIA RTX PRO 6000 Blackwell Server Edition",), 0, True, False),
    "RTX-PRO-4500-SE": (("NVIDIA RTX PRO 4500 Blackwell Server Edition",), 0, True, False),
}

# One GPU of a type that has no peers: links are absent and no fabric manager registers it.
SINGLE = ("p5.4xlarge", "p3.2xlarge")

# Types with a part of a GPU: its name in the guest. ECC and memory repair are the host's matter there, and the guest
# driver needs a licence, without which CUDA gets slow and then stops after a day.
PARTS = {
    "g6f.large": "NVIDIA L4-3Q",
    "g6f.xlarge": "NVIDIA L4-3Q",
    "g6f.2xlarge": "NVIDIA L4-6Q",
    "g6f.4xlarge": "NVIDIA L4-12Q",
    "gr6f.4xlarge": "NVIDIA L4-12Q",
}

# Types with a part of the links: the others lead to GPUs of somebody else, and show as inactive.
PARTLY_LINKED = {"p3.8xlarge": 4}

FIELDS = (
    "index,name,uuid,pci.bus_id,driver_version,memory.total,ecc.mode.current,ecc.errors.uncorrected.volatile.total,"
    "retired_pages.pending,clocks_event_reasons.hw_slowdown,clocks_event_reasons.hw_thermal_slowdown,"
    "pcie.link.width.current,pcie.link.width.max"
)

# Before Ampere, broken memory retires pages; from Ampere on it remaps rows.
RETIRES_PAGES = ("V100-16", "V100-32", "T4", "T4G")

# Errors in the kernel log after which a GPU must not be trusted with a job. Source: NVIDIA XID catalogue.
FATAL_XIDS = {
    48: "double-bit ECC error",
    64: "row remapper failed to record",
    74: "NVLink error",
    79: "GPU has fallen off the bus",
    95: "uncontained ECC error",
    119: "GSP timeout",
    120: "GSP error",
    140: "unrecovered ECC error",
    143: "GPU initialisation failure",
}

CLOCK_OFFSET_SECONDS = 0.5


class Check:
    """One answer: pass, fail, or unknown, which counts as a failure."""

    def __init__(self, name, status, reason="", message=""):
        self.name, self.status, self.reason, self.message = name, status, reason, message

    def as_dict(self):
        return {"name": self.name, "status": self.status, "reason": self.reason, "message": self.message}


def passed(name, message):
    return Check(name, "pass", "", message)


def failed(name, reason, message):
    return Check(name, "fail", reason, message)


def unknown(name, reason, message):
    return Check(name, "unknown", reason, message)


class Machine:
    """The machine as commands and files see it."""

    def __init__(self, root="/", sleep=time.sleep, now=time.monotonic):
        self.root, self.sleep, self.now = root, sleep, now

    def run(self, *command, timeout=60):
        """Return (exit code, output); 127 where the command is missing, 124 where it hangs."""
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False
            )
        except FileNotFoundError:
            return 127, ""
        except subprocess.TimeoutExpired:
            return 124, ""
        except OSError as error:
            return 126, str(error)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def path(self, *parts):
        return os.path.join(self.root, *(part.lstrip("/") for part in parts))

    def read(self, *parts):
        try:
            with open(self.path(*parts), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def names(self, *parts):
        try:
            return sorted(os.listdir(self.path(*parts)))
        except OSError:
            return None

    def link_name(self, *parts):
        try:
            return os.path.basename(os.readlink(self.path(*parts)))
        except OSError:
            return ""

    def wait_for(self, look, good, seconds):
        """Look again every five seconds until the answer is good or the time is up; return the last answer."""
        until = self.now() + seconds
        found = look()
        while not good(found) and self.now() < until:
            self.sleep(5)
            found = look()
        return found


def query_gpus(machine):
    """Return (rows, error): one dict per GPU as nvidia-smi lists it."""
    code, text = machine.run("nvidia-smi", "--query-gpu=" + FIELDS, "--format=csv,noheader,nounits")
    if code == 127:
        return [], "nvidia-smi is missing"
    if code == 124:
        return [], "nvidia-smi hangs"
    rows = []
    for line in text.splitlines():
        values = [value.strip() for value in line.split(", ")]
        if len(values) == len(FIELDS.split(",")) and values[0].isdigit():
            rows.append(dict(zip(FIELDS.split(","), values)))  # noqa: B905 (Python 3.9 has no strict)
    if code != 0 or not rows:
        first = next((line.strip() for line in text.splitlines() if line.strip()), "no output")
        return rows, first[:300]
    return rows, ""


def model_of(name):
    """Return the catalogue's model of a name, or "" for an unknown GPU."""
    for model, (names, _, _, _) in GPUS.items():
        if name in names:
            return model
    return ""


def check_gpus(machine, expected):
    """GPU count, model, driver, ECC, remapped rows, clocks, PCIe width and fabric state."""
    want = int(expected.get("gpus") or 0)
    rows, error = machine.wait_for(
        lambda: query_gpus(machine), lambda found: len(found[0]) >= want > 0, float(expected.get("late_seconds") or 0)
    )
    if not rows:
        reason = "DriverNotRunning" if error else "GpuMissing"
        return [failed("gpu-count", reason, "no GPU answers: " + (error or "nvidia-smi lists none"))], rows
    checks = []
    if want < 1:
        checks.append(failed("gpu-count", "ExpectationMissing", "the expected GPU count is not set"))
    elif len(rows) != want:
        reason = "GpuMissing" if len(rows) < want else "GpuCountWrong"
        checks.append(failed("gpu-count", reason, f"{len(rows)} of {want} GPUs answer; {error}"))
    else:
        checks.append(passed("gpu-count", f"{want} GPUs"))
    if error:
        checks.append(failed("gpu-count", "GpuLost", error))
    checks.append(check_models(rows, expected))
    checks.append(check_driver(rows, expected))
    if expected.get("instance_type") in PARTS:
        checks.append(check_license(machine, rows, expected))
    else:
        checks.append(check_ecc(rows))
        checks.append(check_repairs(machine, rows, expected))
    checks.append(check_slowdown(rows))
    checks.append(check_pcie(rows))
    return checks, rows


def check_models(rows, expected):
    names = sorted({row["name"] for row in rows})
    models = sorted({model_of(name) for name in names})
    want = expected.get("gpu_model") or ""
    part = PARTS.get(expected.get("instance_type"))
    if part is not None:
        if names != [part]:
            return failed("gpu-model", "GpuModelWrong", "found {}, expected {}".format(", ".join(names), part))
        return passed("gpu-model", part)
    if "" in models:
        return failed("gpu-model", "GpuUnknown", "unknown GPU: " + ", ".join(n for n in names if not model_of(n)))
    if want not in GPUS:
        return failed("gpu-model", "ExpectationUnknown", f"the expected model `{want}` is not in the table")
    if models != [want]:
        return failed("gpu-model", "GpuModelWrong", "found {}, expected {}".format(", ".join(models), want))
    return passed("gpu-model", want)


def check_driver(rows, expected):
    want = expected.get("driver") or ""
    versions = sorted({row["driver_version"] for row in rows})
    if not want:
        return passed("driver", "{}, none is pinned".format(", ".join(versions)))
    if expected.get("instance_type") in PARTS:
        # The guest driver of a part has its own builds within the branch of the image's driver.
        versions, want = sorted({version.split(".")[0] for version in versions}), want.split(".")[0]
    if versions != [want]:
        return failed("driver", "DriverVersionWrong", "driver {}, the image has {}".format(", ".join(versions), want))
    return passed("driver", want)


def check_license(machine, rows, expected):
    """Whether the guest driver of every part of a GPU has its licence; the daemon fetches it after boot."""

    def look():
        code, text = machine.run("nvidia-smi", "-q")
        return re.findall(r"License Status\s*:\s*(\w+)", text) if code == 0 else []

    def good(states):
        return len(states) == len(rows) and set(states) == {"Licensed"}

    states = machine.wait_for(look, good, float(expected.get("late_seconds") or 0))
    if good(states):
        return passed("license", "licensed")
    return failed(
        "license", "GpuUnlicensed", "{} of {} GPUs have a licence".format(states.count("Licensed"), len(rows))
    )


def check_ecc(rows):
    off, broken = [], []
    for row in rows:
        if row["ecc.mode.current"] != "Enabled":
            off.append(row["index"])
            continue
        count = row["ecc.errors.uncorrected.volatile.total"]
        if not count.isdigit():
            return unknown("ecc", "EccUnknown", "GPU {} does not say its ECC errors ({})".format(row["index"], count))
        if int(count) > 0:
            broken.append("{} ({})".format(row["index"], count))
    if broken:
        return failed("ecc", "EccUncorrected", "uncorrected errors on GPU " + ", ".join(broken))
    if off:
        return failed("ecc", "EccDisabled", "ECC is not on for GPU " + ", ".join(off))
    return passed("ecc", "on, no uncorrected error")


def check_repairs(machine, rows, expected):
    """Memory repairs that wait for a reset, or that there was no room for."""
    waiting = [row["index"] for row in rows if row["retired_pages.pending"] == "Yes"]
    if waiting:
        return failed("memory-repair", "PageRetirementPending", "pages wait for a reset on GPU " + ", ".join(waiting))
    if expected.get("gpu_model") in RETIRES_PAGES:
        return passed("memory-repair", "no page waits")
    fields = "gpu_bus_id,remapped_rows.pending,remapped_rows.failure"
    code, text = machine.run("nvidia-smi", "--query-remapped-rows=" + fields, "--format=csv,noheader")
    lines = [[value.strip() for value in line.split(",")] for line in text.splitlines() if line.strip()]
    if code != 0 or len(lines) != len(rows) or any(len(line) != 3 for line in lines):
        return unknown("memory-repair", "RowRemapUnknown", f"nvidia-smi answers {code}: {text.strip()[:200]}")
    for place, reason, word in ((2, "RowRemapFailed", "failed"), (1, "RowRemapPending", "waits for a reset")):
        bad = [line[0] for line in lines if line[place].lower() not in ("0", "no")]
        if bad:
            return failed("memory-repair", reason, f"row remapping {word} on {', '.join(bad)}")
    return passed("memory-repair", "no row waits")


def check_slowdown(rows):
    bad = [
        row["index"]
        for row in rows
        if row["clocks_event_reasons.hw_slowdown"] == "Active"
        or row["clocks_event_reasons.hw_thermal_slowdown"] == "Active"
    ]
    if bad:
        return failed("gpu-clock", "GpuSlowdown", "the hardware holds the clock down on GPU " + ", ".join(bad))
    return passed("gpu-clock", "no hardware slowdown")


def check_pcie(rows):
    bad = []
    for row in rows:
        current, maximum = row["pcie.link.width.current"], row["pcie.link.width.max"]
        if current.isdigit() and maximum.isdigit() and int(current) < int(maximum):
            bad.append("{} (x{} of x{})".format(row["index"], current, maximum))
    if bad:
        return failed("pcie", "PcieLinkNarrow", "PCIe link narrow on GPU " + ", ".join(bad))
    return passed("pcie", "full width")


def check_fabric(machine, rows, expected):
    """Whether the fabric manager (NVSwitch) or IMEX has registered every GPU; without it CUDA answers 802."""
    model, alone = expected.get("gpu_model"), expected.get("instance_type") in SINGLE
    if model not in GPUS or not GPUS[model][3] or alone:
        return passed("fabric", "no NVSwitch fabric to join")
    query = ("nvidia-smi", "--query-gpu=index,fabric.state,fabric.status", "--format=csv,noheader")

    def look():
        code, text = machine.run(*query)
        lines = [[value.strip() for value in line.split(",")] for line in text.splitlines() if line.strip()]
        return (lines, "") if code == 0 and len(lines) == len(rows) else ([], text.strip()[:200] or f"exit {code}")

    def good(found):
        return bool(found[0]) and all(line[1:] == ["Completed", "Success"] for line in found[0])

    lines, error = machine.wait_for(look, good, float(expected.get("late_seconds") or 0))
    if not lines:
        return unknown("fabric", "FabricUnknown", error)
    bad = [line for line in lines if line[1:] != ["Completed", "Success"]]
    if bad:
        return failed("fabric", "FabricNotReady", f"GPU {bad[0][0]}: {', '.join(bad[0][1:])}")
    return passed("fabric", "every GPU registered")


def check_nvlink(machine, rows, expected):
    """NVLinks per GPU and their state."""
    model = expected.get("gpu_model")
    if model not in GPUS:
        return unknown("nvlink", "ExpectationUnknown", f"unknown model `{model}`")
    kind = expected.get("instance_type")
    want = 0 if kind in SINGLE else PARTLY_LINKED.get(kind, GPUS[model][1])
    if want == 0:
        return passed("nvlink", "this type has none")
    code, text = machine.run("nvidia-smi", "nvlink", "--status")
    if code != 0:
        return unknown("nvlink", "NvlinkUnknown", f"nvidia-smi nvlink answers {code}: {text.strip()[:200]}")
    links, down, gpu = {}, [], None
    for line in text.splitlines():
        head = re.match(r"GPU (\d+):", line)
        if head:
            gpu = head.group(1)
            links[gpu] = 0
            continue
        link = re.match(r"\s*Link (\d+): (.+)", line)
        if link and gpu is not None:
            rate = re.match(r"([\d.]+) GB/s", link.group(2))
            if rate and float(rate.group(1)) > 0:
                links[gpu] += 1
            elif kind not in PARTLY_LINKED:
                down.append(f"GPU {gpu} link {link.group(1)}: {link.group(2).strip()}")
    if down:
        return failed("nvlink", "NvlinkDown", "; ".join(down[:4]))
    short = [f"GPU {name}: {count} of {want}" for name, count in sorted(links.items()) if count < want]
    if short or len(links) < len(rows):
        return failed("nvlink", "NvlinkMissing", "; ".join(short[:4]) or f"{len(links)} GPUs have links")
    return passed("nvlink", f"{want} links on each GPU")


def check_cuda(machine, expected):
    """One CUDA call per GPU, in a process of its own: a driver that hangs must not hang the node."""
    if not expected.get("cuda", True):
        return passed("cuda", "not asked for")
    command = os.environ.get("GPUKIT_CUDA_COMMAND", "").split() or [sys.executable, os.path.abspath(__file__), "cuda"]
    code, text = machine.run(*command, timeout=180)
    if code == 124:
        return failed("cuda", "CudaHangs", "no answer in 180 seconds")
    try:
        answer = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return unknown("cuda", "CudaUnknown", "no answer: " + text.strip()[:200])
    if answer.get("error"):
        reason = "CudaNotReady" if answer.get("code") in (802, 803) else "CudaError"
        return failed("cuda", reason, "{} (CUDA error {})".format(answer["error"], answer.get("code")))
    if answer.get("gpus") != int(expected.get("gpus") or 0):
        return failed(
            "cuda", "CudaCountWrong", "CUDA sees {} GPUs, expected {}".format(answer.get("gpus"), expected["gpus"])
        )
    return passed("cuda", "{} GPUs allocate memory".format(answer["gpus"]))


def call_cuda():
    """Open each GPU and allocate one mebibyte; return what happened as a dict."""
    try:
        library = ctypes.CDLL(os.environ.get("GPUKIT_LIBCUDA", "libcuda.so.1"))
    except OSError as error:
        return {"error": str(error), "code": None}

    def call(name, *arguments):
        code = getattr(library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            library.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(code, "{}: {}".format(name, (text.value or b"unknown").decode()))

    try:
        call("cuInit", 0)
        count = ctypes.c_int()
        call("cuDeviceGetCount", ctypes.byref(count))
        for index in range(count.value):
            device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
            call("cuDeviceGet", ctypes.byref(device), index)
            call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            call("cuCtxSetCurrent", context)
            call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(1 << 20))
            call("cuMemsetD8_v2", memory, ctypes.c_ubyte(1), ctypes.c_size_t(1 << 20))
            call("cuCtxSynchronize")
            call("cuMemFree_v2", memory)
            call("cuDevicePrimaryCtxRelease_v2", device)
    except RuntimeError as error:
        return {"error": error.args[1], "code": error.args[0]}
    return {"gpus": count.value}


def efa_devices(machine):
    """Return the RDMA devices that the EFA driver runs, with their port states."""
    found = []
    for name in machine.names("sys/class/infiniband") or []:
        if machine.link_name("sys/class/infiniband", name, "device/driver") != "efa":
            continue
        state = (machine.read("sys/class/infiniband", name, "ports/1/state") or "").strip()
        found.append((name, state.rpartition(": ")[2]))
    return found


def check_efa(machine, expected):
    """EFA devices against the node group's interfaces; they may come minutes after boot."""
    want = int(expected.get("efa_interfaces") or 0)
    if want == 0:
        return passed("efa", "none expected")
    devices = machine.wait_for(
        lambda: efa_devices(machine), lambda found: len(found) >= want, float(expected.get("late_seconds") or 0)
    )
    if len(devices) != want:
        return failed("efa", "EfaMissing", f"{len(devices)} of {want} EFA devices")
    down = [name for name, state in devices if state != "ACTIVE"]
    if down:
        return failed("efa", "EfaPortDown", "ports not active: " + ", ".join(down))
    code, text = machine.run("fi_info", "-p", "efa", "-t", "FI_EP_RDM")
    if code == 127:
        return passed("efa", f"{want} devices; libfabric is not on the host, the proof job asks it")
    domains = {line.split(":", 1)[1].strip() for line in text.splitlines() if line.strip().startswith("domain:")}
    if code != 0 or len(domains) != want:
        return failed("efa", "EfaProviderMissing", f"libfabric lists {len(domains)} of {want} EFA domains")
    return passed("efa", f"{want} devices, each with a libfabric domain")


def check_local_nvme(machine, expected):
    """Instance-store disks against the catalogue."""
    want = expected.get("local_nvme")
    if want is None:
        return passed("local-nvme", "not checked")
    disks = []
    for name in machine.names("sys/block") or []:
        model = machine.read("sys/block", name, "device/model") or ""
        if model.strip() == "Amazon EC2 NVMe Instance Storage":
            disks.append(name)
    if len(disks) != int(want):
        return failed("local-nvme", "LocalNvmeMissing", f"{len(disks)} of {int(want)} instance-store disks")
    return passed("local-nvme", f"{len(disks)} disks")


def check_lustre(machine, expected):
    if not expected.get("lustre"):
        return passed("lustre", "not needed")
    modules = machine.read("proc/modules") or ""
    if not re.search(r"^lustre ", modules, re.M):
        return failed("lustre", "LustreClientMissing", "the lustre module is not loaded")
    return passed("lustre", "client loaded")


def check_time(machine):
    """The system clock: certificates, logs and rendezvous need it."""
    code, text = machine.run("chronyc", "-c", "tracking")
    if code == 127:
        code, text = machine.run("timedatectl", "show", "-p", "NTPSynchronized", "--value")
        if code == 0 and text.strip() == "yes":
            return passed("time", "synchronised")
        return failed("time", "ClockNotSynchronized", "the clock is not synchronised: " + (text.strip() or "no answer"))
    parts = text.strip().split(",")
    if code != 0 or len(parts) < 14:
        return unknown("time", "ClockUnknown", f"chronyc answers {code}: {text.strip()[:120]}")
    try:
        offset = abs(float(parts[4]))
    except ValueError:
        return unknown("time", "ClockUnknown", "chronyc answers: " + text.strip()[:120])
    if parts[13] != "Normal":
        return failed("time", "ClockNotSynchronized", "leap status " + parts[13])
    if offset > CLOCK_OFFSET_SECONDS:
        return failed("time", "ClockOff", f"{offset:.3f} seconds off")
    return passed("time", f"{offset:.6f} seconds off")


def check_kernel_log(machine):
    """Fatal GPU errors since boot."""
    code, text = machine.run("dmesg")
    if code != 0:
        return passed("kernel-log", "not readable here")
    found = []
    for line in text.splitlines():
        match = re.search(r"NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)", line)
        if match and int(match.group(2)) in FATAL_XIDS:
            found.append(f"{match.group(1)}: Xid {match.group(2)}, {FATAL_XIDS[int(match.group(2))]}")
    if found:
        return failed("kernel-log", "FatalXid", "; ".join(sorted(set(found))[:4]))
    return passed("kernel-log", "no fatal GPU error")


def check_dcgm(machine, expected):
    """DCGM's own diagnosis, where the expectation asks for a level."""
    level = int(expected.get("dcgm_level") or 0)
    if level == 0:
        return passed("dcgm", "not asked for")
    code, text = machine.run("dcgmi", "diag", "-r", str(level), "-j", timeout=1800)
    if code == 127:
        return unknown("dcgm", "DcgmMissing", "dcgmi is missing")
    try:
        root = json.loads(text[text.index("{") :])
    except ValueError:
        return unknown("dcgm", "DcgmUnknown", f"dcgmi answers {code}: {text.strip()[:200]}")
    ran, bad = 0, []
    for category in root.get("DCGM Diagnostic", root.get("DCGM GPU Diagnostic", {})).get("test_categories", []):
        for test in category.get("tests", []):
            for result in test.get("results", []):
                ran += 1
                if result.get("status", "").lower() == "fail":
                    bad.append(
                        "{} on GPU {}".format(test.get("name"), result.get("gpu_id", result.get("gpu_ids", "?")))
                    )
    if bad:
        return failed("dcgm", "DcgmFailed", "; ".join(bad[:4]))
    if not ran:
        return unknown("dcgm", "DcgmUnknown", "no test ran")
    return passed("dcgm", f"level {level}, {ran} results")


def judge(machine, expected):
    """Return the verdict of all checks as a dict."""
    checks, rows = check_gpus(machine, expected)
    if rows:
        checks.append(check_fabric(machine, rows, expected))
        checks.append(check_nvlink(machine, rows, expected))
        checks.append(check_cuda(machine, expected))
    checks.append(check_kernel_log(machine))
    checks.append(check_efa(machine, expected))
    checks.append(check_local_nvme(machine, expected))
    checks.append(check_lustre(machine, expected))
    checks.append(check_time(machine))
    if rows:
        checks.append(check_dcgm(machine, expected))
    bad = [check for check in checks if check.status != "pass"]
    healthy = bool(rows) and not bad
    return {
        "healthy": healthy,
        "reason": "NodeHealthy" if healthy else bad[0].reason if bad else "GpuMissing",
        "message": "" if healthy else "; ".join(check.message for check in bad)[:1000],
        "gpus": len(rows),
        "gpu_model": model_of(rows[0]["name"]) if rows else "",
        "checks": [check.as_dict() for check in checks],
    }


def write_verdict(verdict, path):
    text = json.dumps(verdict, indent=1, sort_keys=True) + "\n"
    if not path:
        sys.stdout.write(text)
        return
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check")
    check.add_argument("--config", required=True)
    check.add_argument("--out", default="")
    check.add_argument("--root", default="/")
    explain = commands.add_parser("explain")
    explain.add_argument("--verdict", required=True)
    commands.add_parser("cuda")
    chosen = parser.parse_args(arguments)
    if chosen.command == "cuda":
        answer = call_cuda()
        print(json.dumps(answer))
        return 1 if answer.get("error") else 0
    try:
        with open(chosen.config if chosen.command == "check" else chosen.verdict) as file:
            loaded = json.load(file)
    except (OSError, ValueError) as error:
        print(f"node_check: {error}", file=sys.stderr)
        return 2
    if chosen.command == "check":
        verdict = judge(Machine(root=chosen.root), loaded)
        write_verdict(verdict, chosen.out)
        return 0 if verdict["healthy"] else 1
    print("gpukit node check: %s" % ("healthy" if loaded["healthy"] else "NOT HEALTHY, " + loaded["reason"]))
    for item in loaded["checks"]:
        print(f"  {item['status']:<7} {item['name']:<14} {item['message']}")
    return 0 if loaded["healthy"] else 1


if __name__ == "__main__":
    sys.exit(main())
