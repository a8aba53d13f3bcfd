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
from typing import Any, Final

import yaml

from gpukit.counted import counted
from gpukit.plan import Plan
from gpukit_sandbox.bought import put_into_cloud
from gpukit_sandbox.engine import Engine, EngineFailed
from gpukit_sandbox.errors import SandboxError, UnknownName
from gpukit_sandbox.sandbox import Sandbox
from gpukit_sandbox.state import DEFAULT_NAME, counted_by_engine, made_in_cloud, read_json, stack_resources, write_json
from gpukit_sandbox.summary import gpukit_command, render_summary, tell_path

PROJECT_FILE: Final = "Pulumi.yaml"
_SECRETS: Final = re.compile(r"^(encryptionsalt|encryptedkey|secretsprovider):.*\n?", re.MULTILINE)
_QUIET: Final = ("--suppress-progress", "--suppress-permalink=true")


class InputRefused(SandboxError):
    """The stack file cannot be read, or its plan has errors; the findings are told already. Exit code 1 or 2."""

    def __init__(self, stack: str, *, exit_code: int, refused: str = "is not brought up") -> None:
        """Keep gpukit's exit code for the kind of finding."""
        super().__init__(f"{stack} {refused}: nothing was changed", fix="correct the stack file; see above")
        self.exit_code = exit_code


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; problems are told in three lines, never as a traceback."""
    parser = argparse.ArgumentParser(prog="python -m gpukit_sandbox.deploy", description=__doc__)
    parser.add_argument("command", choices=("up", "preview", "down"))
    parser.add_argument("stack", help="name of a stack of the project here, such as dev")
    parser.add_argument("--sandbox", default=os.environ.get("GPUKIT_SANDBOX") or DEFAULT_NAME, help="which sandbox")
    parser.add_argument("--project", type=Path, default=None, help="folder of Pulumi.yaml; the nearest one by default")
    options = parser.parse_args(arguments)
    deployment = None
    try:
        deployment = Deployment.of(
            options.stack,
            project=options.project,
            box=Sandbox(options.sandbox),
            file_may_be_gone=options.command == "down",
        )
        {"up": deployment.up, "preview": deployment.preview, "down": deployment.down}[options.command]()
    except EngineFailed as problem:
        # The engine has told the rest.
        left = deployment.count_resources() if deployment is not None else 0
        _say(f"{problem.problem}; {_how_to_go_on(options.command, options.stack, left)}")
        return problem.status if problem.status > 0 else 1
    except SandboxError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.exit_code
    except KeyboardInterrupt:
        left = deployment.count_resources() if deployment is not None else 0
        _say(f"interrupted; {_how_to_go_on(options.command, options.stack, left)}")
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
    def of(cls, stack: str, *, project: Path | None, box: Sandbox, file_may_be_gone: bool = False) -> "Deployment":
        """Find the project and the stack's file. Raises UnknownName where one is missing, unless what stands is enough."""
        from gpukit.cli.inputs import find_project

        found = find_project(project)
        if found is None:
            raise UnknownName(
                f"there is no {PROJECT_FILE} here or above",
                why="the project says where the stack files and the program are",
                fix="go to the project's folder, or make one with `gpukit new`",
            )
        stack_file = found.stack_folder / f"Pulumi.{stack}.yaml"
        named = re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", stack)
        deployment = cls(stack, folder=found.folder, stack_file=stack_file, box=box) if named else None
        if deployment is not None and file_may_be_gone and deployment.count_resources():
            return deployment
        if deployment is None or not stack_file.is_file():
            names = found.stacks()
            raise UnknownName(
                f"there is no stack {stack[:100]!r}",
                why=f"a stack is a file Pulumi.<stack>.yaml in {found.stack_folder}",
                fix=f"use one of {', '.join(names)}" if names else "make one with `gpukit new`",
            )
        return deployment

    def up(self) -> None:
        """Plan, start the sandbox, put into it what was bought, run the engine, tell what stands."""
        plan = self._plan(refused="is not brought up")
        started = time.monotonic()
        config = self._prepare(plan)
        _say(f"pulumi up of {self.stack} in the sandbox {self.box.name!r}")
        self._run("up", config)
        self._keep_what_stands(config)
        outputs = self._own_engine().outputs()
        standing, seconds = stack_resources(self._state_file(self.stack)), time.monotonic() - started
        print(
            render_summary(
                plan,
                outputs,
                stack=self.stack,
                stack_file=self.stack_file,
                resources=len(made_in_cloud(standing)),
                all_resources=len(counted_by_engine(standing)),
                seconds=seconds,
            )
        )

    def preview(self) -> None:
        """Show what `up` would change; nothing is created but the sandbox itself."""
        config = self._prepare(self._plan(refused="is not previewed"))
        self.engine.run("preview", *_QUIET, "--stack", self.stack, "--config-file", str(config))
        base = (
            " --base HEAD" if any((folder / ".git").exists() for folder in (self.folder, *self.folder.parents)) else ""
        )
        _say(f"in GPUs, dollars, kilowatts and dangers: {gpukit_command()} preview --stack {self.stack}{base}")

    def down(self) -> None:
        """
        Lift the protection where there is some, destroy, and end the sandbox once no stack stands in it.

        What stands decides, never the stack file of today: a file with mistakes, over its budget or gone keeps nothing up.
        """
        last = ""
        if self.count_resources() == 0:
            _say(f"{self.stack} does not stand in the sandbox {self.box.name!r}: nothing to take down")
        else:
            self.box.up(_say)
            self._release_stale_lock()
            text = self._text_of_what_stands()
            if self._is_protected():
                self._lift_protection(text)
            self._run("destroy", self._write_config(text or ""))
            self._file_of_what_stands().unlink(missing_ok=True)
            last = f"{self.stack} is down: nothing of it is left"
        if self.box.status()["running"] and not any(map(self._count_resources, self._known_stacks())):
            self.box.down()
            _say(f"no stack stands any more: the sandbox {self.box.name!r} is off")
        if last:
            _say(last)

    # Steps

    def _run(self, operation: str, config: Path, *more: str) -> None:
        stack = ("--stack", self.stack, "--config-file", str(config))
        self.engine.run(operation, "--yes", "--skip-preview", *_QUIET, *more, *stack)

    def _lift_protection(self, text: str | None) -> None:
        if text is None:
            _say("the stack was never brought up whole, and its file has errors: lifting the protection in the state")
        else:
            _say("data is protected: lifting that first, as on a real account (`protect: false`, then `up`)")
            try:
                self._run("up", self._write_config(text, protect=False), "--suppress-outputs")
                return
            except EngineFailed:
                # A stack that stands half must still go.
                _say("the stack cannot be brought up whole: lifting the protection in the state")
        self._unprotect_state()

    def _file_of_what_stands(self) -> Path:
        return self.box.directory.root / "standing" / self.project_name / f"Pulumi.{self.stack}.yaml"

    def _keep_what_stands(self, config: Path) -> None:
        """Keep the stack file that went up whole: `down` needs one without mistakes, whatever becomes of the user's."""
        file = self._file_of_what_stands()
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(_SECRETS.sub("", config.read_text(encoding="utf-8")), encoding="utf-8")

    def _text_of_what_stands(self) -> str | None:
        """Return the stack file that went up last; where none did, the user's if it has no error; else None."""
        file = self._file_of_what_stands()
        if file.is_file():
            if not self.stack_file.is_file() or _bare(self.stack_file) != _bare(file):
                _say(f"taking down what the last `make up` brought up, not what {tell_path(self.stack_file)} says now")
            return _bare(file)
        result, findings = self._judge() if self.stack_file.is_file() else (None, ())
        if result is None or result.plan is None or self._exit_code(result, findings):
            return None
        return _bare(self.stack_file)

    def _is_protected(self) -> bool:
        """Tell whether the engine would refuse to delete something, or leave it in the cloud."""
        resources = stack_resources(self._state_file(self.stack))
        return any(item.get("protect") or item.get("retainOnDelete") for item in resources)

    def _unprotect_state(self) -> None:
        """
        Take the engine's own marks off what stands; what AWS itself protects will say so.

        `pulumi state unprotect` leaves the mark to keep a resource on deletion: a file system that stays would hold its subnet.
        """
        engine = self._own_engine()
        file = engine.project / f"{self.stack}.state.json"
        engine.run("stack", "export", "--stack", self.stack, "--file", str(file), quiet=True)
        exported = read_json(file)
        for item in exported["deployment"].get("resources") or []:
            item.pop("protect", None)
            item.pop("retainOnDelete", None)
        write_json(file, exported)
        engine.run("stack", "import", "--stack", self.stack, "--file", str(file), quiet=True)
        file.unlink()

    def _judge(self) -> tuple[Any, tuple[Any, ...]]:
        from gpukit.judge import judge
        from gpukit.planning import plan_from_file

        today = date.today()
        result = plan_from_file(self.stack_file, today=today)
        return result, tuple(judge(result, today=today, deploying=True).findings)

    def _exit_code(self, result: Any, findings: tuple[Any, ...]) -> int:
        from gpukit.cli.output import exit_code

        return exit_code(findings, unreadable=result.unreadable)

    def _plan(self, *, refused: str) -> Plan:
        """Return the plan; tell all findings and raise InputRefused where one is an error."""
        from gpukit.cli.output import print_findings

        result, findings = self._judge()
        code = self._exit_code(result, findings)
        if code or result.plan is None:
            print_findings(findings)
            raise InputRefused(self.stack, exit_code=code or 2, refused=refused)
        plan: Plan = result.plan
        return plan

    def _prepare(self, plan: Plan) -> Path:
        """Start the sandbox, put into it what was bought, and return the engine's copy of the stack file."""
        endpoint = self.box.up(_say)["endpoint"]
        for line in put_into_cloud(plan, endpoint):
            _say(line)
        self._release_stale_lock()
        return self._write_config(_bare(self.stack_file))

    def _own_engine(self) -> Engine:
        """Return the engine on a project of the same name that holds nothing but the sandbox's copies."""
        folder = self.box.directory.root / "project" / self.project_name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / PROJECT_FILE).write_text(f"name: {self.project_name}\nruntime: python\n", encoding="utf-8")
        return Engine(sandbox=self.box, project=folder, stack=self.stack, progress=_say)

    def _write_config(self, text: str, *, protect: bool | None = None) -> Path:
        """Write the text of a stack file behind the sandbox's own salt, with another `protect` if one is given."""
        engine = self._own_engine()
        target = engine.project / f"Pulumi.{self.stack}.yaml"
        if not _read_salt(target) or not self._state_file(self.stack).is_file():
            engine.select()
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

    def count_resources(self) -> int:
        """Return how many resources of this stack stand, without the stack itself, components and providers."""
        return self._count_resources(self.stack)

    def _count_resources(self, stack: str) -> int:
        return len(made_in_cloud(stack_resources(self._state_file(stack))))

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


def _bare(file: Path) -> str:
    """Return a stack file's text without salt and keys."""
    return _SECRETS.sub("", file.read_text(encoding="utf-8"))


def _how_to_go_on(command: str, stack: str, left: int) -> str:
    if command == "preview":
        return "nothing was changed: correct what it says above, then look again"
    if command == "down":
        return f"{counted(left, 'resource')} of {stack} still stand: `make down STACK={stack}` goes on from here"
    return f"`make up STACK={stack}` goes on from here"


def _say(line: str) -> None:
    print(line if line.startswith(" ") else f"==> {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
