"""
Write the recorded outputs under `recorded/`: what `nvidia-smi`, `fi_info`, `dmesg` and `chronyc` print on each family.

Formats, names, link rates and error texts are those that real nodes print (NVIDIA and AWS documentation, public logs);
UUIDs are made up. Run `python tests/images/write_recordings.py` after a change, and review the diff.
"""

import json
import shutil
from pathlib import Path

HERE = Path(__file__).parent / "recorded"

BUS = {
    8: ("53", "64", "75", "86", "97", "A8", "B9", "CA"),
    4: ("53", "64", "75", "86"),
    2: ("35", "36"),
    1: ("1E",),
}

# case: (instance type, model, name, GPUs, MiB, links, rate in GB/s, EFA devices, instance-store disks, driver)
FAMILIES = {
    "p3-16xlarge": ("p3.16xlarge", "V100-16", "Tesla V100-SXM2-16GB", 8, 16384, 6, "25.781", 0, 0, "580.159.03"),
    "p3dn-24xlarge": ("p3dn.24xlarge", "V100-32", "Tesla V100-SXM2-32GB", 8, 32768, 6, "25.781", 1, 2, "580.159.03"),
    "p4d-24xlarge": ("p4d.24xlarge", "A100-40", "NVIDIA A100-SXM4-40GB", 8, 40960, 12, "25", 4, 8, "580.159.03"),
    "p4de-24xlarge": ("p4de.24xlarge", "A100-80", "NVIDIA A100-SXM4-80GB", 8, 81920, 12, "25", 4, 8, "580.159.03"),
    "p5-4xlarge": ("p5.4xlarge", "H100", "NVIDIA H100 80GB HBM3", 1, 81559, 0, "", 0, 1, "580.159.03"),
    "p5-48xlarge": ("p5.48xlarge", "H100", "NVIDIA H100 80GB HBM3", 8, 81559, 18, "26.562", 32, 8, "580.159.03"),
    "p5en-48xlarge": ("p5en.48xlarge", "H200", "NVIDIA H200", 8, 143771, 18, "26.562", 16, 8, "580.159.03"),
    "p6-b200-48xlarge": ("p6-b200.48xlarge", "B200", "NVIDIA B200", 8, 183359, 18, "53.125", 8, 8, "580.159.03"),
    "p6-b300-48xlarge": ("p6-b300.48xlarge", "B300", "NVIDIA B300 SXM6 AC", 8, 275040, 18, "53.125", 16, 8, "580.159.03"),
    "p6e-gb200-36xlarge": ("p6e-gb200.36xlarge", "GB200", "NVIDIA GB200", 4, 189471, 18, "53.125", 4, 3, "580.159.03"),
    "p6e-gb300-36xlarge": ("p6e-gb300.36xlarge", "GB300", "NVIDIA GB300", 4, 284208, 18, "53.125", 4, None, "580.159.03"),
    "g4dn-12xlarge": ("g4dn.12xlarge", "T4", "Tesla T4", 4, 15360, 0, "", 1, 1, "580.159.03"),
    "g5g-xlarge": ("g5g.xlarge", "T4G", "NVIDIA T4G", 1, 15360, 0, "", 0, 0, "580.159.03"),
    "g5-xlarge": ("g5.xlarge", "A10G", "NVIDIA A10G", 1, 23028, 0, "", 0, 1, "580.126.09"),
    "g6-48xlarge": ("g6.48xlarge", "L4", "NVIDIA L4", 8, 23034, 0, "", 1, 8, "580.159.03"),
    "g6f-2xlarge": ("g6f.2xlarge", "L4", "NVIDIA L4-6Q", 1, 6144, 0, "", 0, 1, "580.126.09"),
    "g6e-48xlarge": ("g6e.48xlarge", "L40S", "NVIDIA L40S", 8, 46068, 0, "", 4, 4, "580.159.03"),
    "g7-48xlarge": (
        "g7.48xlarge", "RTX-PRO-4500-SE", "NVIDIA RTX PRO 4500 Blackwell Server Edition", 8, 32623, 0, "", 2, 2,
        "595.91.07",
    ),
    "g7e-48xlarge": (
        "g7e.48xlarge", "RTX-PRO-6000-SE", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 8, 97887, 0, "", 4, 4,
        "580.159.03",
    ),
}  # fmt: skip

FABRIC = ("H100", "H200", "B200", "B300", "GB200", "GB300")


def healthy(case: str) -> dict[str, str]:
    """Return the files of a healthy node."""
    instance_type, model, name, gpus, mib, links, rate, efa, disks, driver = FAMILIES[case]
    buses = BUS[gpus]
    uuids = [f"GPU-{index:08x}-7d1c-4c1e-9a52-{int(buses[index], 16):012x}" for index in range(gpus)]
    pending = "No" if model in ("V100-16", "V100-32", "T4", "T4G") else "[N/A]"
    fabric = model in FABRIC and instance_type != "p5.4xlarge"
    files = {
        "expected.json": json.dumps(
            {
                "cuda": True,
                "driver": driver,
                "efa_interfaces": efa,
                "gpu_model": model,
                "gpus": gpus,
                "instance_type": instance_type,
                "late_seconds": 0,
                "local_nvme": disks,
                "lustre": False,
            },
            indent=1,
        )
        + "\n",
        "query.csv": "".join(
            f"{index}, {name}, {uuids[index]}, 00000000:{bus(buses[index], gpus)}, {driver}, {mib}, Enabled, 0, "
            f"{pending}, Not Active, Not Active, 16, 16\n"
            for index in range(gpus)
        ),
        "remapped.csv": ""
        if pending == "No"
        else "".join(f"00000000:{bus(buses[index], gpus)}, 0, 0\n" for index in range(gpus)),
        "fabric.csv": "".join(
            f"{index}, {'Completed, Success' if fabric else '[N/A], [N/A]'}\n" for index in range(gpus)
        ),
        "nvlink.txt": "".join(
            f"GPU {index}: {name} (UUID: {uuids[index]})\n"
            + "".join(f"\t Link {link}: {rate} GB/s\n" for link in range(links))
            for index in range(gpus)
        )
        if links
        else "",
        "cuda.json": json.dumps({"gpus": gpus}) + "\n",
        "dmesg.txt": (
            "[    2.114201] pci 0000:00:1f.0: [1d0f:8061] type 00 class 0x010802\n"
            f"[   12.482733] NVRM: loading NVIDIA UNIX Open Kernel Module for {'aarch64' if 'e-gb' in instance_type else 'x86_64'}"
            f"  {driver}  Release Build\n"
            "[   13.201942] nvidia-nvlink: Nvlink Core is being initialized, major device number 239\n"
        ),
        "chronyc.csv": (
            "A9FEA97B,169.254.169.123,4,1796130000.112233445,0.000001871,0.000000642,0.000003991,-4.713,-0.000,0.012,"
            "0.000183415,0.000245112,16.1,Normal\n"
        ),
        "efa.txt": "".join(f"rdmap{79 + index}s0 ACTIVE\n" for index in range(efa)),
        "disks.txt": "Amazon Elastic Block Store\n" + "Amazon EC2 NVMe Instance Storage\n" * (disks or 0),
    }
    if instance_type.startswith("g6f."):
        # A part of a GPU: the guest sees no ECC, no PCIe link and no memory repair, and its driver has a licence. The
        # image names the driver of whole GPUs.
        files["query.csv"] = (
            files["query.csv"].replace("Enabled, 0,", "[N/A], [N/A],").replace("16, 16", "[N/A], [N/A]")
        )
        files["remapped.csv"] = ""
        files["expected.json"] = files["expected.json"].replace(driver, "580.159.03")
        files["q.txt"] = (
            "==============NVSMI LOG==============\n\n"
            f"Driver Version                            : {driver}\n"
            "Attached GPUs                             : 1\n"
            f"GPU 00000000:{bus(buses[0], gpus)}\n"
            f"    Product Name                          : {name}\n"
            "    Product Brand                         : NVIDIA RTX Virtual Workstation\n"
            "    vGPU Software Licensed Product\n"
            "        Product Name                      : NVIDIA RTX Virtual Workstation\n"
            "        License Status                    : Licensed (Expiry: N/A)\n"
        )
    if efa:
        files["fi_info.txt"] = "".join(
            "provider: efa\n"
            f"    fabric: efa\n    domain: rdmap{79 + index}s0-rdm\n    version: 206.0\n    type: FI_EP_RDM\n"
            "    protocol: FI_PROTO_EFA\n"
            for index in range(efa)
        )
    return files


def bus(text: str, gpus: int) -> str:
    return f"00:{text}.0" if gpus == 1 else f"{text}:00.0"


def broken() -> dict[str, tuple[str, str, dict[str, str]]]:
    """Return case -> (healthy base, expected reason, files that differ; an empty name of a command: it is missing)."""
    h200, b200, gb200 = healthy("p5en-48xlarge"), healthy("p6-b200-48xlarge"), healthy("p6e-gb200-36xlarge")
    a100, v100, g5 = healthy("p4d-24xlarge"), healthy("p3-16xlarge"), healthy("g5-xlarge")
    part, l4 = healthy("g6f-2xlarge"), healthy("g6-48xlarge")

    def line(text: str, number: int, old: str, new: str) -> str:
        lines = text.splitlines(keepends=True)
        assert old in lines[number], (old, lines[number])
        lines[number] = lines[number].replace(old, new)
        return "".join(lines)

    seven = "".join(h200["query.csv"].splitlines(keepends=True)[:7])
    no_driver = (
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA"
        " driver is installed and running.\n\n"
    )
    return {
        "gpu-missing": (
            "p5en-48xlarge",
            "GpuMissing",
            {"query.csv": seven, "remapped.csv": "".join(h200["remapped.csv"].splitlines(keepends=True)[:7])},
        ),
        "gpu-lost": (
            "p5en-48xlarge",
            "GpuMissing",
            {
                "query.csv": seven
                + "Unable to determine the device handle for GPU7: 0000:CA:00.0: GPU is lost.  Reboot the system to"
                " recover this GPU\n",
                "query.rc": "15\n",
                "dmesg.txt": h200["dmesg.txt"]
                + "[ 4412.930112] NVRM: GPU at PCI:0000:ca:00: GPU-00000007-7d1c-4c1e-9a52-0000000000ca\n"
                "[ 4412.930119] NVRM: Xid (PCI:0000:ca:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the"
                " bus.\n",
            },
        ),
        "no-devices": ("g5-xlarge", "DriverNotRunning", {"query.csv": "No devices were found\n", "query.rc": "6\n"}),
        "no-gpu-lines": ("g5-xlarge", "DriverNotRunning", {"query.csv": "\n"}),
        "driver-not-loaded": ("p5en-48xlarge", "DriverNotRunning", {"query.csv": no_driver, "query.rc": "9\n"}),
        "driver-library-mismatch": (
            "p5en-48xlarge",
            "DriverNotRunning",
            {
                "query.csv": "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.173\n",
                "query.rc": "18\n",
            },
        ),
        "nvidia-smi-missing": ("p5en-48xlarge", "DriverNotRunning", {"missing.txt": "nvidia-smi\n"}),
        "driver-not-the-image's": (
            "p5en-48xlarge",
            "DriverVersionWrong",
            {"query.csv": h200["query.csv"].replace("580.159.03", "580.126.09")},
        ),
        "unknown-gpu": (
            "g5-xlarge",
            "GpuUnknown",
            {"query.csv": g5["query.csv"].replace("NVIDIA A10G", "NVIDIA R200")},
        ),
        "other-gpu-than-planned": (
            "p5en-48xlarge",
            "GpuModelWrong",
            {"query.csv": h200["query.csv"].replace("NVIDIA H200", "NVIDIA H100 80GB HBM3")},
        ),
        "ecc-uncorrected": (
            "p4d-24xlarge",
            "EccUncorrected",
            {"query.csv": line(a100["query.csv"], 3, "Enabled, 0,", "Enabled, 2,")},
        ),
        "ecc-off": (
            "p3-16xlarge",
            "EccDisabled",
            {"query.csv": line(v100["query.csv"], 5, "Enabled, 0, No", "Disabled, [N/A], [N/A]")},
        ),
        "pages-wait": (
            "p3-16xlarge",
            "PageRetirementPending",
            {"query.csv": line(v100["query.csv"], 1, "Enabled, 0, No", "Enabled, 0, Yes")},
        ),
        "rows-wait": (
            "p4d-24xlarge",
            "RowRemapPending",
            {"remapped.csv": line(a100["remapped.csv"], 6, ", 0, 0", ", 1, 0")},
        ),
        "rows-failed": (
            "p6-b200-48xlarge",
            "RowRemapFailed",
            {"remapped.csv": line(b200["remapped.csv"], 2, ", 0, 0", ", 0, 1")},
        ),
        "nvlink-inactive": (
            "p5en-48xlarge",
            "NvlinkDown",
            {"nvlink.txt": line(h200["nvlink.txt"], 25, "26.562 GB/s", "<inactive>")},
        ),
        "nvlink-one-short": (
            "p4d-24xlarge",
            "NvlinkMissing",
            {"nvlink.txt": a100["nvlink.txt"].replace("\t Link 11: 25 GB/s\n", "", 1)},
        ),
        "nvlink-no-answer": (
            "p6e-gb200-36xlarge",
            "NvlinkUnknown",
            {
                "nvlink.txt": "NVML: Unable to retrieve NVLink information as all links are inActive\n",
                "nvlink.rc": "255\n",
            },
        ),
        "fabric-in-progress": (
            "p6-b200-48xlarge",
            "FabricNotReady",
            {
                "fabric.csv": b200["fabric.csv"].replace("Completed, Success", "In Progress, N/A"),
                "cuda.json": json.dumps({"error": "cuInit: system not yet initialized", "code": 802}) + "\n",
                "cuda.rc": "1\n",
            },
        ),
        "cuda-802-alone": (
            "p6-b200-48xlarge",
            "CudaNotReady",
            {
                "cuda.json": json.dumps({"error": "cuInit: system not yet initialized", "code": 802}) + "\n",
                "cuda.rc": "1\n",
            },
        ),
        "cuda-crashes": (
            "g5-xlarge",
            "CudaUnknown",
            {"cuda.json": "Segmentation fault (core dumped)\n", "cuda.rc": "139\n"},
        ),
        "cuda-sees-fewer": ("p5en-48xlarge", "CudaCountWrong", {"cuda.json": '{"gpus": 7}\n'}),
        "imex-missing": (
            "p6e-gb200-36xlarge",
            "FabricNotReady",
            {"fabric.csv": gb200["fabric.csv"].replace("Completed, Success", "Not Started, N/A")},
        ),
        "efa-missing": (
            "p5en-48xlarge",
            "EfaMissing",
            {"efa.txt": "".join(h200["efa.txt"].splitlines(keepends=True)[:12])},
        ),
        "efa-none": ("p5en-48xlarge", "EfaMissing", {"efa.txt": ""}),
        "efa-port-down": ("p5en-48xlarge", "EfaPortDown", {"efa.txt": line(h200["efa.txt"], 4, "ACTIVE", "DOWN")}),
        "efa-provider-missing": (
            "p5en-48xlarge",
            "EfaProviderMissing",
            {"fi_info.txt": "fi_getinfo: -61 (No data available)\n", "fi_info.rc": "61\n"},
        ),
        "local-nvme-missing": (
            "p5en-48xlarge",
            "LocalNvmeMissing",
            {"disks.txt": "Amazon Elastic Block Store\n" + "Amazon EC2 NVMe Instance Storage\n" * 6},
        ),
        "lustre-missing": (
            "p5en-48xlarge",
            "LustreClientMissing",
            {"expected.json": h200["expected.json"].replace('"lustre": false', '"lustre": true')},
        ),
        "clock-off": (
            "g5-xlarge",
            "ClockOff",
            {"chronyc.csv": g5["chronyc.csv"].replace("0.000001871", "2.413000000")},
        ),
        "clock-not-synchronized": (
            "g5-xlarge",
            "ClockNotSynchronized",
            {"chronyc.csv": "7F7F0101,,0,0.000000000,0.000000000,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n"},
        ),
        "gpu-too-hot": (
            "g5-xlarge",
            "GpuSlowdown",
            {"query.csv": g5["query.csv"].replace("Not Active, Not Active", "Active, Active")},
        ),
        "pcie-narrow": ("p4d-24xlarge", "PcieLinkNarrow", {"query.csv": line(a100["query.csv"], 0, "16, 16", "8, 16")}),
        "xid-gsp": (
            "p5en-48xlarge",
            "FatalXid",
            {
                "dmesg.txt": h200["dmesg.txt"]
                + "[ 8121.556012] NVRM: Xid (PCI:0000:75:00): 119, pid=40122, name=python3, Timeout after 45s of waiting"
                " for RPC response from GPU2 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20802a02 0x4).\n"
            },
        ),
        "dcgm-fails": (
            "g5-xlarge",
            "DcgmFailed",
            {
                "expected.json": g5["expected.json"].replace('"cuda": true,', '"cuda": true,\n "dcgm_level": 2,'),
                "dcgmi.json": json.dumps(
                    {
                        "DCGM Diagnostic": {
                            "test_categories": [
                                {
                                    "category": "Deployment",
                                    "tests": [{"name": "software", "results": [{"status": "Pass"}]}],
                                },
                                {
                                    "category": "Integration",
                                    "tests": [
                                        {
                                            "name": "pcie",
                                            "results": [
                                                {
                                                    "entity_group": "GPU",
                                                    "gpu_id": "0",
                                                    "status": "Fail",
                                                    "warnings": [{"warning": "PCIe bandwidth 5.10 GB/s is below 6"}],
                                                }
                                            ],
                                        }
                                    ],
                                },
                            ]
                        }
                    },
                    indent=1,
                )
                + "\n",
                "dcgmi.rc": "226\n",
            },
        ),
        "dcgm-missing": (
            "g5-xlarge",
            "DcgmMissing",
            {"expected.json": g5["expected.json"].replace('"cuda": true,', '"cuda": true,\n "dcgm_level": 2,')},
        ),
        "part-without-licence": (
            "g6f-2xlarge",
            "GpuUnlicensed",
            {"q.txt": part["q.txt"].replace("Licensed (Expiry: N/A)", "Unlicensed (Restricted)")},
        ),
        "part-says-nothing-of-a-licence": ("g6f-2xlarge", "GpuUnlicensed", {"q.txt": ""}),
        "part-of-another-size": (
            "g6f-2xlarge",
            "GpuModelWrong",
            {"query.csv": part["query.csv"].replace("L4-6Q", "L4-3Q")},
        ),
        "part-on-another-driver-branch": (
            "g6f-2xlarge",
            "DriverVersionWrong",
            {"query.csv": part["query.csv"].replace("580.126.09", "570.172.08")},
        ),
        "part-in-place-of-a-whole-gpu": (
            "g6-48xlarge",
            "GpuUnknown",
            {"query.csv": line(l4["query.csv"], 3, "NVIDIA L4,", "NVIDIA L4-12Q,")},
        ),
        "nothing-expected": (
            "g5-xlarge",
            "ExpectationMissing",
            {"expected.json": g5["expected.json"].replace('"gpus": 1', '"gpus": 0')},
        ),
    }


def main() -> None:
    """Write all cases anew."""
    shutil.rmtree(HERE, ignore_errors=True)
    for case in FAMILIES:
        write(HERE / "healthy" / case, healthy(case))
    for case, (base, reason, files) in broken().items():
        write(HERE / "broken" / case, files)
        (HERE / "broken" / case / "case.json").write_text(json.dumps({"base": base, "reason": reason}) + "\n")


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
