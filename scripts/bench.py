"""
Measure gpukit's commands as whole processes, start of Python included, against their stated budgets: `make bench`.

Time is the wall clock of the process, memory its largest resident set. Not a test: where other work keeps the machine
busy, the processor time tells whether the command itself is within its budget. Exit code 1 where one is over.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PLAN_SECONDS: Final = 0.35
"""About 0.3 s for the whole process on two cores, the same for 8 and for 100,000 GPUs."""
PLAN_MIB: Final = 150.0
CHECK_SECONDS: Final = 0.6
HELP_SECONDS: Final = 0.25

SMALL: Final = """\
kind: cluster
name: small
region: us-east-1
pools:
  train: {instance_type: p5.48xlarge, nodes: 1, capacity: {mode: on-demand}}
  system: {role: system, instance_type: m7i.xlarge, nodes: 2}
"""
HUGE: Final = SMALL.replace("name: small", "name: huge").replace("nodes: 1,", "nodes: 12500,")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One command with what it may take."""

    name: str
    arguments: tuple[str, ...]
    seconds: float
    mib: float = PLAN_MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process took."""

    seconds: float
    cpu_seconds: float
    mib: float
    failure: str
    """What went wrong, or empty. Findings (exit code 1) are no failure as long as the answer was printed."""


def main() -> int:
    """Print the table; return 1 where a command is over its budget even at its best."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each command (5)")
    parser.add_argument("--only", default="", help="only commands whose name has this text")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpukit-bench-") as scratch:
        cases = [case for case in list_cases(Path(scratch)) if options.only in case.name]
        python = sys.version.split()[0]
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {python}, {options.runs} runs")
        columns = f"{'min s':>7} {'median s':>9} {'cpu s':>6} {'budget s':>9} {'MiB':>6} {'budget':>7}"
        print(f"{'command':<34} {columns}  verdict")
        over = [not report(case, [run(case) for _ in range(max(1, options.runs))]) for case in cases]
    return int(any(over))


def list_cases(folder: Path) -> list[Case]:
    """Return what is measured: every preset, 8 and 100,000 GPUs, the checks, and a command that plans nothing."""
    from gpukit.spec.presets import preset_names

    small, huge = folder / "small.yaml", folder / "huge.yaml"
    small.write_text(SMALL, encoding="utf-8")
    huge.write_text(HUGE, encoding="utf-8")
    return [
        Case(name="--help", arguments=("--help",), seconds=HELP_SECONDS),
        *(
            Case(name=f"plan --preset {preset}", arguments=("plan", "--preset", preset), seconds=PLAN_SECONDS)
            for preset in preset_names()
        ),
        Case(name="plan --json, 8 GPUs", arguments=("plan", str(small), "--json"), seconds=PLAN_SECONDS),
        Case(name="plan --json, 100,000 GPUs", arguments=("plan", str(huge), "--json"), seconds=PLAN_SECONDS),
        Case(
            name="check --preset thousand-card", arguments=("check", "--preset", "thousand-card"), seconds=CHECK_SECONDS
        ),
    ]


def run(case: Case) -> Run:
    """Run the command once and measure it."""
    command = [sys.executable, "-m", "gpukit", *case.arguments]
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=subprocess.DEVNULL)
        # wait4 tells the memory of this one child; getrusage would tell the largest of all children so far.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        length = said.seek(0, os.SEEK_END)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    failure = f"exit code {code}" if code not in (0, 1) else "" if length else f"exit code {code}, no answer"
    kib = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    cpu = usage.ru_utime + usage.ru_stime
    return Run(seconds=seconds, cpu_seconds=cpu, mib=kib / 1024, failure=failure)


def report(case: Case, runs: list[Run]) -> bool:
    """Print the line of a command and tell whether it is within its budget."""
    best, median = min(run.seconds for run in runs), statistics.median(run.seconds for run in runs)
    cpu = min(run.cpu_seconds for run in runs)
    mib = max(run.mib for run in runs)
    failure = next((run.failure for run in runs if run.failure), "")
    busy = best > case.seconds >= cpu and os.getloadavg()[0] > (os.cpu_count() or 1)
    fine = mib <= case.mib and not failure and (best <= case.seconds or busy)
    verdict = failure or ("over" if not fine else "machine busy" if busy else "fine")
    times = f"{best:>7.3f} {median:>9.3f} {cpu:>6.2f} {case.seconds:>9.2f}"
    print(f"{case.name:<34} {times} {mib:>6.0f} {case.mib:>7.0f}  {verdict}", flush=True)
    return fine


if __name__ == "__main__":
    sys.exit(main())
