"""
Record what the real engine says of typical changes: `tests/golden/report/digests/`.

    .venv/bin/python scripts/record_digests.py [CASE ...]

Brings each base up in a sandbox of its own and previews the change. What differs from machine to machine (paths in
source positions, times, durations) and what no reader uses (dependencies) is left out; nothing else is touched.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from gpukit_sandbox.bought import put_into_cloud
from gpukit_sandbox.sandbox import Sandbox

from gpukit.plan import Plan, to_jsonable

TARGET: Final = Path(__file__).parent.parent / "tests" / "golden" / "report" / "digests"
SANDBOX: Final = f"digests-{os.getpid()}"
COMPRESSED_OVER_CHARS: Final = 60_000
LEFT_OUT: Final = frozenset(
    {"sourcePosition", "stackTrace", "created", "modified", "dependencies", "propertyDependencies", "customTimeouts"}
)
GPUKIT_PROGRAM: Final = "from gpukit_components import deploy\n\ndeploy()\n"

BLOCKS: Final = [{"id": f"cr-0123456789abcdef{n}", "nodes": 64, "availability_zone": "us-east-1a"} for n in range(2)]


def thousand(blocks: int = 2, **more: Any) -> dict[str, Any]:
    """Return the config of a thousand-card stack on so many Capacity Blocks; `more` goes over it."""
    train: dict[str, Any] = {
        "nodes": 64 * blocks,
        "capacity": {"mode": "capacity-block", "reservations": BLOCKS[:blocks]},
    }
    return {
        "aws:region": "us-east-1",
        "gpukit:preset": "thousand-card",
        "gpukit:cluster": {"pools": {"train": train}, "team": "vision", **more},
    }


def with_pool(pool: str | None, name: str = "train", blocks: int = 2) -> dict[str, Any]:
    """Return a thousand-card config whose GPU pool is renamed, or accompanied by another."""
    config = thousand(blocks)
    pools = config["gpukit:cluster"]["pools"]
    settings = pools["train"]
    if name != "train":
        pools.update(
            {
                "train": None,
                name: {
                    "instance_type": "p5en.48xlarge", "cooling_zone": "hall-a", "image": "pytorch",
                    "local_nvme": {"role": "cache", "path": "/local"}, "root_volume": {"gib": 200}, **settings,
                },
            }
        )  # fmt: skip
    if pool is not None:
        pools[pool] = {"instance_type": "g6e.12xlarge", "nodes": 2, "image": "pytorch", "root_volume": {"gib": 200}}
    return config


SINGLE: Final = {"aws:region": "us-east-1", "gpukit:preset": "single-node", "gpukit:cluster": {"team": "vision"}}

HOSTILE_PROGRAM: Final = """
import pulumi

NAMES = [
    "<script>alert(1)</script>", "a|b|c", "`rm -rf`", "@everyone", "--> <!-- gpukit:stack:dev:end -->",
    "\\u202egnp.exe",
    "::error::pwned", "</details>", "![x](https://evil.example/x.png)", "x" * 600, "\\U0001F525", "new\\nline",
]
for index, name in enumerate(NAMES):
    # AWS refuses such tags; a preview shows them before AWS is asked.
    tags = {"Name": name, "owner": name} if pulumi.Config().get_bool("changed") else {"Name": "plain"}
    pulumi.CustomResource("aws:ssm/parameter:Parameter", name, {
        "name": f"/hostile/{index}", "type": "String",
        "value": name if not pulumi.Config().get_bool("changed") else name + "!", "tags": tags,
    })
pulumi.export("hostile", NAMES[0])
"""

CANARY_PROGRAM: Final = """
import base64, json
import pulumi

config = pulumi.Config()
canary = config.require("canary")
secret = config.require_secret("secret")
script = base64.b64encode(f"#!/bin/bash\\nexport HF_TOKEN={canary}\\npython train.py --epochs 3\\n".encode()).decode()
things = {
    "plain": {"name": "/canary/plain", "type": "SecureString", "value": canary},
    "marked": {"name": "/canary/marked", "type": "String", "value": secret},
    "json": {"name": "/canary/json", "type": "String", "value": json.dumps({"db": {"password": canary}, "size": 8})},
    "text": {"name": "/canary/text", "type": "String", "value": f"run --password {canary!r} --size 8"},
    "script": {"name": "/canary/script", "type": "String", "value": script},
}
for name, properties in things.items():
    version = config.get("version") or "1"
    pulumi.CustomResource("aws:ssm/parameter:Parameter", name, {
        **properties, "description": f"version {version}", "tags": {"Name": name, "api_key": canary},
    })
pulumi.log.warn(f"connecting with token={canary}")
pulumi.export("password", canary)
pulumi.export("secret", secret)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A base that stands (None: nothing does) and a change of its config that is previewed."""

    name: str
    base: dict[str, Any] | None
    change: dict[str, Any]
    program: str = GPUKIT_PROGRAM
    forms: tuple[str, ...] = ("steps",)
    """plain | steps (--show-replacement-steps) | sames (and --show-sames) | events"""
    secrets: tuple[str, ...] = ()


REGION: Final = {"aws:region": "us-east-1"}
CANARY: Final = "Zq8vN3xK7pLw2RtYcAnArY"
CASES: Final = (
    Case(name="create-thousand-card", base=None, change=thousand()),
    Case(name="grow-64-to-128", base=thousand(1), change=thousand(2), forms=("plain", "steps", "sames", "events")),
    Case(name="no-change", base=thousand(), change=thousand()),
    Case(name="change-image", base=thousand(),
         change=thousand(images={"pytorch": {"release_version": "1.36.2-20260714"}})),
    Case(name="change-lustre-tier", base=thousand(),
         change=thousand(storage={"scratch": {"throughput_tier": 250, "gib": 38400}})),
    Case(name="rename-pool", base=with_pool(None), change=with_pool(None, "learn")),
    Case(name="delete-pool", base=with_pool("evaluate", blocks=1), change=with_pool(None, blocks=1)),
    Case(name="tag-only", base=SINGLE,
         change={**SINGLE, "gpukit:cluster": {"team": "vision", "tags": {"cost-center": "4711"}}}),
    Case(name="replace-network", base=thousand(), change=thousand(network={"cidr": "10.64.0.0/16"}),
         forms=("plain", "steps", "events")),
    Case(name="hostile-names", base=REGION, change={**REGION, "demo:changed": "true"}, program=HOSTILE_PROGRAM),
    Case(name="canary", base={**REGION, "demo:canary": CANARY, "demo:secret": CANARY + "2"}, secrets=("demo:secret",),
         change={**REGION, "demo:canary": CANARY, "demo:secret": CANARY + "2", "demo:version": "2"},
         program=CANARY_PROGRAM, forms=("steps", "sames", "events")),
)  # fmt: skip


def main(wanted: list[str]) -> int:
    """Record the wanted cases, or all, and return the exit code."""
    status = 0
    for case in CASES:
        if wanted and case.name not in wanted:
            continue
        # A sandbox for each case: what one leaves behind must not meet the next.
        box = Sandbox(f"{SANDBOX}-{CASES.index(case)}")
        try:
            box.up()
            with tempfile.TemporaryDirectory(prefix="digests-") as folder:
                record(case, box, Path(folder))
        except RuntimeError as problem:
            say(f"{case.name}: {problem}")
            status = 1
        finally:
            box.down(purge=True)
    return status


def record(case: Case, box: Sandbox, folder: Path) -> None:
    """Bring the base of a case up and preview its change in every form; the sandbox goes with all of it afterwards."""
    (folder / "Pulumi.yaml").write_text("name: demo\nruntime: python\n", encoding="utf-8")
    (folder / "__main__.py").write_text(case.program, encoding="utf-8")
    say(f"{case.name}: preparing")
    pulumi(box, folder, "stack", "init", "dev")
    if case.base is not None:
        write_config(case, folder, case.base, box)
        pulumi(box, folder, "up", "--yes", "--skip-preview", "--suppress-progress")
    write_config(case, folder, case.change, box)
    if case.program == GPUKIT_PROGRAM:
        write_totals(case, folder / "Pulumi.dev.yaml")
    for form in case.forms:
        write(case, form, preview(box, folder, form).replace(str(folder), "."))


def write_config(case: Case, folder: Path, config: dict[str, Any], box: Sandbox) -> None:
    """Write the stack file; secret values go through the engine. The cloud gets the reservations that are named."""
    file = folder / "Pulumi.dev.yaml"
    salt = yaml.safe_load(file.read_text(encoding="utf-8")).get("encryptionsalt") if file.exists() else None
    plain = {key: value for key, value in config.items() if key not in case.secrets}
    document = {**({"encryptionsalt": salt} if salt else {}), "config": plain}
    file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    for key in case.secrets:
        pulumi(box, folder, "config", "set", "--secret", key, str(config[key]))
    if case.program == GPUKIT_PROGRAM:
        put_into_cloud(plan_of(file), box.status()["endpoint"])


def write_totals(case: Case, file: Path) -> None:
    """Write what the plan of the change adds up to: the digest does not carry new outputs."""
    TARGET.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"totals": to_jsonable(plan_of(file).totals)}, indent=1, sort_keys=True)
    (TARGET / f"{case.name}.plan.json").write_text(text + "\n", encoding="utf-8")


def plan_of(file: Path) -> Plan:
    """Return the plan of a stack file; RuntimeError with the findings where there is none."""
    from datetime import date

    from gpukit.planning import plan_from_file

    result = plan_from_file(file, today=date.today())
    if result.plan is None:
        raise RuntimeError("; ".join(f"{f.code} {f.path}: {f.problem}" for f in result.findings))
    return result.plan


def preview(box: Sandbox, folder: Path, form: str) -> str:
    """Return what the engine writes for a preview in one form, made the same for every machine."""
    flags = {
        "plain": [], "steps": ["--show-replacement-steps"], "sames": ["--show-replacement-steps", "--show-sames"],
        "events": [],
    }[form]  # fmt: skip
    environment = {
        **box.environment(),
        **({"PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true"} if form == "events" else {}),
    }
    done = subprocess.run(
        ["pulumi", "preview", "--json", "--stack", "dev", "--non-interactive", "--color", "never", *flags],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if "{" not in done.stdout:
        raise RuntimeError(f"preview ended with {done.returncode}: {done.stderr[-2000:]}")
    if form == "events":
        lines = (line for line in done.stdout.splitlines() if line.startswith("{"))
        return "".join(compact(clean(json.loads(line))) + "\n" for line in lines)
    document = clean(json.loads(done.stdout[done.stdout.index("{") :]))
    document.pop("duration", None)
    steps = ",\n".join(compact(step) for step in document.pop("steps", []))
    rest = compact(document)[1:]
    return '{"steps": [\n' + steps + "\n]" + (", " if rest != "}" else "") + rest + "\n"


def clean(value: Any) -> Any:
    """Return the value without what differs from machine to machine."""
    if isinstance(value, dict):
        kept = {key: clean(item) for key, item in value.items() if key not in LEFT_OUT}
        if "timestamp" in kept and "sequence" in kept:
            kept["timestamp"] = 0
        if "durationSeconds" in kept:
            kept["durationSeconds"] = 0
        return kept
    if isinstance(value, list):
        notices = (item for item in value if not (isinstance(item, dict) and is_notice(item.get("message"))))
        return [clean(item) for item in notices]
    return value


def is_notice(message: Any) -> bool:
    """Tell whether a diagnostic only says where a plugin of the sandbox lies."""
    return isinstance(message, str) and "from $PATH at " in message


def compact(value: Any) -> str:
    """Return JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write(case: Case, form: str, text: str) -> None:
    """Write one digest; large ones are compressed, the same bytes for the same text."""
    suffix = "jsonl" if form == "events" else "json"
    name = case.name if form == case.forms[0] else f"{case.name}.{form}"
    text = "\n".join(line for line in text.splitlines() if "from $PATH at " not in line) + "\n"
    TARGET.mkdir(parents=True, exist_ok=True)
    for old in (f"{name}.{suffix}", f"{name}.{suffix}.gz"):
        (TARGET / old).unlink(missing_ok=True)
    if len(text) > COMPRESSED_OVER_CHARS:
        (TARGET / f"{name}.{suffix}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        (TARGET / f"{name}.{suffix}").write_text(text, encoding="utf-8")
    say(f"{case.name}: {form} recorded, {len(text):,} characters")


def pulumi(box: Sandbox, folder: Path, *arguments: str) -> None:
    """Run an engine command; RuntimeError with its last words where it fails."""
    done = subprocess.run(
        ["pulumi", *arguments, "--non-interactive", "--color", "never"], cwd=folder, env=box.environment(),
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"pulumi {arguments[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-3000:]}")


def say(line: str) -> None:
    """Tell a person what happens."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
