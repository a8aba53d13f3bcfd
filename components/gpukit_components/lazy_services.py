"""
Load of a service package of `pulumi_aws` only the classes that a program names.

`pulumi_aws.ec2` imports all its 150 resource classes, and a program uses ten. The recorder, which runs for a moment and
calls no cloud, installs this finder before the program: `pulumi_aws.ec2.LaunchTemplate` then comes from
`pulumi_aws/ec2/launch_template.py` alone. Whatever no file is named after, a star import or `dir()`, loads the whole
package as it is. Run by path from `recorder.py`: it imports the standard library alone.
"""

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

PACKAGE: Final = "pulumi_aws"
_SUFFIXES: Final = ("", "args", "argsdict", "output")
"""What a class or function may add to the name of its file: `LaunchTemplateArgs`, `get_ami_output`."""


def install() -> None:
    """Put the finder before Python's own; a service package that is loaded already stays as it is."""
    sys.meta_path.insert(0, _ServiceFinder())


class _ServiceFinder(importlib.abc.MetaPathFinder):
    """Finds `pulumi_aws.<service>` and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the package's own spec with a loader that waits, or None for Python's own finders to answer."""
        if path is None or fullname.count(".") != 1 or not fullname.startswith(f"{PACKAGE}."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None or not spec.submodule_search_locations:
            return None
        spec.loader = _ServiceLoader(spec.loader, next(iter(spec.submodule_search_locations)))
        return spec


class _ServiceLoader(importlib.abc.Loader):
    def __init__(self, whole: importlib.abc.Loader, folder: str) -> None:
        self._whole = whole
        self._folder = folder

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Return None: an ordinary module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Give the module a way to find a name when it is asked for; run nothing of the package yet."""
        files = {
            file.removesuffix(".py").replace("_", ""): file.removesuffix(".py")
            for file in os.listdir(self._folder)
            if file.endswith(".py") and not file.startswith("_")
        }

        def load_whole() -> None:
            if "__getattr__" in vars(module):
                del module.__getattr__, module.__dir__
                self._whole.exec_module(module)

        def find(name: str) -> Any:
            for source in _sources(name, files):
                part = importlib.import_module(f"{module.__name__}.{source}")
                if name == source == "outputs":
                    return part
                # as the package's own star imports do it: a function hides the file of its name
                vars(module).update((public, getattr(part, public)) for public in getattr(part, "__all__", ()))
                if name in vars(module):
                    return vars(module)[name]
            load_whole()
            return getattr(module, name)

        def names() -> list[str]:
            load_whole()
            return sorted(vars(module))

        vars(module).update(__getattr__=find, __dir__=names)


def _sources(name: str, files: dict[str, str]) -> list[str]:
    """Return the submodules that may hold a name, the likeliest first."""
    plain = name.lower().replace("_", "")
    own = [files[plain.removesuffix(s)] for s in _SUFFIXES if plain.endswith(s) and plain.removesuffix(s) in files]
    return [*own, "_inputs"] if name.endswith(("Args", "ArgsDict")) else own
