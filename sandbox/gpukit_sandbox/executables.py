"""
Write the executables that the engine looks for on PATH: the language host and the AWS provider double.

They are generated because a shebang names one interpreter and one place, which only the user's machine knows.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

LANGUAGE_HOST: Final = "pulumi-language-python"
AWS_PROVIDER: Final = "pulumi-resource-aws"
EKS_TOKEN: Final = "gpukit-eks-token"

_MODULES: Final = {
    LANGUAGE_HOST: "gpukit_sandbox.language_host",
    AWS_PROVIDER: "gpukit_sandbox.provider.server",
    EKS_TOKEN: "gpukit_sandbox.kube.token",
}


def write_executables(folder: Path) -> tuple[Path, ...]:
    """
    Write the executables into a folder and return their paths.

    The language host is left out when the official one is on PATH.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, module in _MODULES.items():
        path = folder / name
        if name == LANGUAGE_HOST and official_language_host(folder) is not None:
            path.unlink(missing_ok=True)
            continue
        text = _script(module)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            scratch = folder / f".{name}-{os.getpid()}"
            scratch.write_text(text, encoding="utf-8")
            scratch.chmod(0o755)
            os.replace(scratch, path)
        written.append(path)
    return tuple(written)


def official_language_host(own_folder: Path) -> str | None:
    """Return the official language host's path, or None; our own folders do not count."""
    folders = [f for f in os.environ.get("PATH", "").split(os.pathsep) if f and not _is_ours(Path(f), own_folder)]
    return shutil.which(LANGUAGE_HOST, path=os.pathsep.join(folders)) if folders else None


def _is_ours(folder: Path, own_folder: Path) -> bool:
    candidate = folder / LANGUAGE_HOST
    if folder.resolve() == own_folder.resolve():
        return True
    try:
        return candidate.is_file() and b"gpukit_sandbox.language_host" in candidate.read_bytes()[:2048]
    except OSError:
        return False


def _script(module: str) -> str:
    source_root = Path(__file__).resolve().parent.parent
    return (
        f"#!/bin/sh\n"
        f"''':'\n"
        f'exec \'{sys.executable}\' "$0" "$@"\n'
        f"'''\n"
        f'"""Start {module}; written by `gpukit sandbox up`, changes are lost."""\n'
        f"import sys\n"
        f"sys.path.insert(0, {str(source_root)!r})\n"
        f"from {module} import main\n"
        f"sys.exit(main())\n"
    )
