"""The user's boot hooks, in their order, with names that are safe as file names."""

import re
from typing import Final

from gpukit.images.manifest import ImageError
from gpukit.plan import BootHookPlan

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def list_hooks(boot: tuple[BootHookPlan, ...], when: str | None = None) -> list[dict[str, str]]:
    """Return name and content of the hooks of one moment (all where `when` is None); ImageError for an odd name."""
    chosen = []
    for hook in boot:
        if when is not None and hook.when != when:
            continue
        if not _NAME.fullmatch(hook.name):
            raise ImageError(
                f"boot hook `{hook.name}`",
                why="the name becomes a file name on the node",
                fix="use letters, digits, dots, dashes and underscores",
            )
        chosen.append({"name": hook.name, "content": hook.content.rstrip("\n") + "\n"})
    return chosen
