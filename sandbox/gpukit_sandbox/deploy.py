"""
Bring a stack up in the sandbox, show what would change, take it down: behind `make up`, `make preview`, `make down`.

    python -m gpukit_sandbox.deploy up dev

The engine is the real one. It reads a copy of the stack file in the sandbox's own directory, so that the sandbox's
encryption salt never reaches the file that is under version control. Exit codes are gpukit's: 1 the plan has errors,
2 unreadable input, 3 a tool or a part is missing; else the engine's own.
"""

import argparse
import json
import os
import re
import sys
import time
from datetime import date
from pathlib import Path
from typing import Final

import yaml

from gpukit.plan import Plan
from gpukit_sandbox.bought import put_into_cloud
from gpukit_sandbox.engine import Engine, EngineFailed
from gpukit_sandbox.errors import SandboxError, UnknownName
from gpukit_sandbox.sandbox import Sandbox
from gpukit_sandbox.state import DEFAULT_NAME
from gpukit_sandbox.summary import render_summary

PROJECT_FILE: Final = "Pulumi.yaml"
_SECRETS: Final = re.compile(r"^(encryptionsalt|encryptedkey|secretsprovider):.*\n?", re.MULTILINE)
_QUIET: Final = ("--suppress-progress", "--suppress-permalink=true")


class InputRefused(SandboxError):
    """The stack file cannot be read, or its plan has errors; the findings are told already. Exit code 1 or 2."""

    def __init__(self, stack: str, *, exit_code: int) -> None:
        """Keep gpukit's exit code for the kind of finding."""
        super().__init__(f"{stack} is not brought up: nothing was changed", fix="correct the stack file; see above")
        self.exit_code = exit_code


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; problems are told in three lines, never as a traceback."""
    parser = argparse.ArgumentParser(prog="python -m gpukit_sandbox.deploy", description=__doc__)
    parser.add_argument("command", choices=("up", "preview", "down"))
    parser.add_argument("stack", help="name of a stack of the project here, such as dev")
    parser.add_argument("--sandbox", default=os.environ.get("GPUKIT_SANDBOX") or DEFAULT_NAME, help="which sandbox")
    parser.add_argument("--project", type=Path, default=None, help="folder of Pulumi.yaml; the nearest one by default")
    options = parser.parse_args(arguments)
    try:
        deployment = Deployment.of(options.stack, project=options.project, box=Sandbox(options.sandbox))
        {"up": deployment.up, "preview": deployment.preview, "down": deployment.down}[options.command]()
    except EngineFailed as problem:
        # The engine has told the rest.
        _say(f"{problem.problem}; `make {options.command} STACK={options.stack}` goes on from here")
        return problem.status if problem.status > 0 else 1
    except SandboxError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.exit_code
    except KeyboardInterrupt:
        _say(f"interrupted; `make {options.command} STACK={options.stack}` goes on from here")
        return 130
    return 0


class Deployment:
    """One stack of one project in one sandbox."""

    def __init__(self, stack: str, *, folder: Path, stack_file: Path, box: Sandbox) -> None:
        """Bind the names; nothing is started."""
        self.stack = stack
        self.folder = folder
        self.stack_file = stack_file
        self.box = box
        settings = yaml.safe_load((folder / PROJECT_FILE).read_text(encoding="utf-8"))
        self.project_name = str(settings["name"])
        self.engine = Engine(
            sandbox=box,
            project=folder,
            stack=stack,
            output=sys.stdout,
            environment={"PULUMI_SUPPRESS_NEO_LINK": "true"},
            progress=_say,
        )

    @classmethod
    def of(cls, stack: str, *, project: Path | None, box: Sandbox) -> "Deployment":
        """Find the project and the stack's file. Raises UnknownName where one is missing."""
        from gpukit.cli.inputs import find_project

        found = find_project(project)
        if found is None:
            raise UnknownName(
                f"there is no {PROJECT_FILE} here or above",
                why="the project says where the stack files and the program are",
                fix="go to the project's folder, or make one with `gpukit new`",
            )
        stack_file = found.stack_folder / f"Pulumi.{stack}.yaml"
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", stack) or not stack_file.is_file():
            names = found.stacks()
            raise UnknownName(
                f"there is no stack {stack[:100]!r}",
                why=f"a stack is a file Pulumi.<stack>.yaml in {found.stack_folder}",
                fix=f"use one of {', '.join(names)}" if names else "make one with `gpukit new`",
            )
        return cls(stack, folder=found.folder, stack_file=stack_file, box=box)

    def up(self) -> None:
        """Plan, start the sandbox, put into it what was bought, run the engine, tell what stands."""
        plan = self._plan()
        started = time.monotonic()
        config = self._prepare(plan)
        _say(f"pulumi up of {self.stack} in the sandbox {self.box.name!r}")
        self._run("up", config)
        outputs = self._own_engine().outputs()
        resources, seconds = self._count_resources(self.stack), time.monotonic() - started
        print(render_summary(plan, outputs, stack=self.stack, resources=resources, seconds=seconds))

    def preview(self) -> None:
        """Show what `up` would change; nothing is created but the sandbox itself."""
        config = self._prepare(self._plan())
        self.engine.run("preview", *_QUIET, "--stack", self.stack, "--config-file", str(config))

    def down(self) -> None:
        """Lift the protection where there is some, destroy, and end the sandbox once no stack stands in it."""
        if self._count_resources(self.stack) == 0:
            _say(f"{self.stack} does not stand in the sandbox {self.box.name!r}: nothing to take down")
        else:
            plan = self._plan()
            config = self._prepare(plan)
            if plan.protect:
                _say("data is protected: lifting that first, as on a real account (`protect: false`, then `up`)")
                self._lift_protection(config)
            self._run("destroy", config)
        if self.box.status()["running"] and not any(map(self._count_resources, self._known_stacks())):
            self.box.down()
            _say(f"no stack stands any more: the sandbox {self.box.name!r} is off")

    # Steps

    def _run(self, operation: str, config: Path) -> None:
        stack = ("--stack", self.stack, "--config-file", str(config))
        self.engine.run(operation, "--yes", "--skip-preview", *_QUIET, *stack)

    def _lift_protection(self, config: Path) -> None:
        self._write_config(protect=False)
        try:
            self._run("up", config)
        except EngineFailed:
            # A stack that stands half must still go; what AWS itself protects will say so.
            _say("the stack cannot be brought up whole: lifting the engine's own protection only")
            self._own_engine().run("state", "unprotect", "--all", "--yes", "--stack", self.stack, quiet=True)

    def _plan(self) -> Plan:
        """Return the plan; tell all findings and raise InputRefused where one is an error."""
        from gpukit.cli.output import exit_code, print_findings
        from gpukit.judge import judge
        from gpukit.planning import plan_from_file

        today = date.today()
        result = plan_from_file(self.stack_file, today=today)
        findings = judge(result, today=today, deploying=True).findings
        code = exit_code(findings, unreadable=result.unreadable)
        if code or result.plan is None:
            print_findings(findings)
            raise InputRefused(self.stack, exit_code=code or 2)
        return result.plan

    def _prepare(self, plan: Plan) -> Path:
        """Start the sandbox, put into it what was bought, and return the engine's copy of the stack file."""
        endpoint = self.box.up(_say)["endpoint"]
        for line in put_into_cloud(plan, endpoint):
            _say(line)
        self._release_stale_lock()
        return self._write_config()

    def _own_engine(self) -> Engine:
        """Return the engine on a project of the same name that holds nothing but the sandbox's copies."""
        folder = self.box.directory.root / "project" / self.project_name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / PROJECT_FILE).write_text(f"name: {self.project_name}\nruntime: python\n", encoding="utf-8")
        return Engine(sandbox=self.box, project=folder, stack=self.stack, progress=_say)

    def _write_config(self, *, protect: bool | None = None) -> Path:
        """Copy the stack file behind the sandbox's own salt, with another `protect` if one is given."""
        engine = self._own_engine()
        target = engine.project / f"Pulumi.{self.stack}.yaml"
        if not _read_salt(target) or not self._state_file(self.stack).is_file():
            engine.select()
        text = _SECRETS.sub("", self.stack_file.read_text(encoding="utf-8"))
        if protect is not None:
            document = yaml.safe_load(text)
            config = document["config"]
            config["gpukit:cluster"] = {**(config.get("gpukit:cluster") or {}), "protect": protect}
            text = yaml.safe_dump(document, sort_keys=False)
        target.write_text(_read_salt(target) + text, encoding="utf-8")
        return target

    # The engine's own state

    def _state_file(self, stack: str) -> Path:
        return self.box.directory.stacks / ".pulumi" / "stacks" / self.project_name / f"{stack}.json"

    def _known_stacks(self) -> list[str]:
        return sorted(file.stem for file in self._state_file(self.stack).parent.glob("*.json"))

    def _count_resources(self, stack: str) -> int:
        """Return how many resources stand, without the stack itself, components and providers."""
        try:
            state = json.loads(self._state_file(stack).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return 0
        resources = ((state.get("checkpoint") or {}).get("latest") or {}).get("resources") or []
        return sum(bool(item.get("custom")) and not item["type"].startswith("pulumi:") for item in resources)

    def _release_stale_lock(self) -> None:
        """Take away the lock of an engine that was killed; one that still runs keeps it."""
        locks = self.box.directory.stacks / ".pulumi" / "locks" / "organization" / self.project_name / self.stack
        for lock in sorted(locks.glob("*.json")):
            try:
                os.kill(int(json.loads(lock.read_text(encoding="utf-8"))["pid"]), 0)
            except ProcessLookupError:
                _say("the engine of the last run was killed: taking away its lock")
                lock.unlink(missing_ok=True)
            except (OSError, ValueError, KeyError):
                continue


def _read_salt(file: Path) -> str:
    if not file.is_file():
        return ""
    return "".join(match.group(0) for match in _SECRETS.finditer(file.read_text(encoding="utf-8")))


def _say(line: str) -> None:
    print(line if line.startswith(" ") else f"==> {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
