"""Find a Pulumi project and read a stack's config as the program will see it, secrets replaced by a mark."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

PROJECT_FILE: Final = "Pulumi.yaml"
SECRET_MARK: Final = "[secret]"


class ProjectError(Exception):
    """No project, no stack file, or one that cannot be read; for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A Pulumi project on disk. `program` is the folder or file that runs."""

    root: Path
    name: str
    program: Path
    config_folder: Path
    virtualenv: Path | None

    def stack_file(self, stack: str) -> Path:
        """Return where the stack's config lies."""
        return self.config_folder / f"Pulumi.{stack.rsplit('/', 1)[-1]}.yaml"

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks that have a file."""
        names = (
            path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in self.config_folder.glob("Pulumi.*.yaml")
        )
        return tuple(sorted(name for name in names if name))


@dataclass(frozen=True, slots=True, kw_only=True)
class StackConfig:
    """Config values by full key, objects as JSON text, and which of them are secret."""

    values: dict[str, str] = field(default_factory=dict)
    secret_keys: tuple[str, ...] = ()


def find_project(start: Path) -> Project:
    """Return the project of a folder, looking upwards as the engine does; raises ProjectError for people."""
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / PROJECT_FILE).is_file():
            return load_project(folder)
    raise ProjectError(f"there is no {PROJECT_FILE} in {start} or above; go into a project, or name a FILE or --preset")


def load_project(root: Path) -> Project:
    """Return the project of a folder that holds Pulumi.yaml."""
    document = _load_yaml(root / PROJECT_FILE)
    runtime = document.get("runtime")
    name = runtime.get("name") if isinstance(runtime, dict) else runtime
    if name != "python":
        raise ProjectError(
            f"{root / PROJECT_FILE}: the runtime is `{name}`; the offline preview records Python programs"
        )
    options = runtime.get("options") if isinstance(runtime, dict) else None
    virtualenv = options.get("virtualenv") if isinstance(options, dict) else None
    return Project(
        root=root,
        name=str(document.get("name", root.name)),
        program=root / str(document.get("main") or "."),
        config_folder=root / str(document.get("stackConfigDir") or document.get("config_dir") or "."),
        virtualenv=root / str(virtualenv) if virtualenv else None,
    )


def load_stack_config(file: Path, project: str) -> StackConfig:
    """Return the config of a stack file; raises ProjectError for people."""
    if not file.is_file():
        raise ProjectError(f"there is no stack file {file}")
    return parse_stack_config(_load_yaml(file), project, where=str(file))


def parse_stack_config(document: dict[str, Any], project: str, *, where: str) -> StackConfig:
    """Return the config of a parsed stack file: keys without a namespace belong to the project."""
    config = document.get("config") or {}
    if not isinstance(config, dict):
        raise ProjectError(f"{where}: `config` is no mapping")
    values: dict[str, str] = {}
    secrets: list[str] = []
    for key, value in config.items():
        full = str(key) if ":" in str(key) else f"{project}:{key}"
        shown, secret = _without_secrets(value)
        values[full] = shown if isinstance(shown, str) else json.dumps(shown)
        if secret:
            secrets.append(full)
    return StackConfig(values=values, secret_keys=tuple(secrets))


def _without_secrets(value: Any) -> tuple[Any, bool]:
    if isinstance(value, dict):
        if set(value) == {"secure"}:
            return SECRET_MARK, True
        parts = {str(key): _without_secrets(item) for key, item in value.items()}
        return {key: item for key, (item, _) in parts.items()}, any(secret for _, secret in parts.values())
    if isinstance(value, list):
        items = [_without_secrets(item) for item in value]
        return [item for item, _ in items], any(secret for _, secret in items)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value, False
    return str(value), False  # YAML dates: the engine hands them to the program as text, too


def _load_yaml(file: Path) -> dict[str, Any]:
    import yaml

    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProjectError(f"{file} cannot be read: {error.strerror or error}") from error
    except yaml.YAMLError as error:
        raise ProjectError(f"{file} is not YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(document, dict):
        raise ProjectError(f"{file} is no mapping")
    return document
