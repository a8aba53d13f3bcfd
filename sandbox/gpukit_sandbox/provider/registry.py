"""From a type token to the class that knows it; a service's module is imported when its first resource comes."""

import functools
import importlib
from typing import Final

from gpukit_sandbox.provider.resource import Resource

_MODULES: Final[dict[str, tuple[str, ...]]] = {
    "ec2": ("ec2_network", "ec2_security", "ec2_compute", "ec2_capacity"),
    "vpc": ("ec2_security",),
    "ebs": ("ec2_compute",),
    "iam": ("iam",),
    "kms": ("kms",),
    "eks": ("eks",),
    "fsx": ("fsx",),
    "efs": ("efs",),
    "s3": ("s3",),
    "cloudwatch": ("watch",),
    "budgets": ("watch",),
    "scheduler": ("watch",),
    "sns": ("sns",),
    "ssm": ("ssm",),
    "ecr": ("ecr",),
    "imagebuilder": ("imagebuilder",),
}


def resource_for(token: str) -> Resource | None:
    """Return the resource type of a token, or None when the double has none."""
    module = token.removeprefix("aws:").split("/")[0]
    return _of_module(module).get(token)


def modelled_tokens() -> tuple[str, ...]:
    """Return every token that the double has a class for."""
    return tuple(sorted(token for module in _MODULES for token in _of_module(module)))


@functools.cache
def _of_module(module: str) -> dict[str, Resource]:
    found: dict[str, Resource] = {}
    for name in _MODULES.get(module, ()):
        loaded = importlib.import_module(f"gpukit_sandbox.provider.{name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and issubclass(value, Resource) and value.__module__ == loaded.__name__:
                token = vars(value).get("token", "")
                if token:
                    found[token] = value()
    return found
