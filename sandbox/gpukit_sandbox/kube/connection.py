"""What the AWS double has to know of the control plane: one small file in its own directory, there while the control plane runs."""

from pathlib import Path
from typing import Any, Final

from gpukit_sandbox.state import read_json, write_json

FILE: Final = "control_plane.json"


def write_connection(cloud_directory: Path, *, endpoint: str, certificate_authority: str, version: str) -> None:
    """Tell the double where the control plane is; `certificate_authority` is base64 of PEM, as EKS gives it."""
    write_json(
        cloud_directory / FILE,
        {"endpoint": endpoint, "certificate_authority": certificate_authority, "version": version},
    )


def read_connection(cloud_directory: Path) -> dict[str, Any]:
    """Return endpoint, certificate_authority and version of the control plane that runs; empty when none does."""
    return read_json(cloud_directory / FILE)


def forget_connection(cloud_directory: Path) -> None:
    """Tell the double that no control plane runs."""
    (cloud_directory / FILE).unlink(missing_ok=True)
