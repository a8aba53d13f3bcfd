"""Find and read the presets: one YAML file each, in `stacks/presets/` or a team's own folder."""

from pathlib import Path

from gpukit.spec.document import Document, parse_document

_SHIPPED = Path(__file__).parent.parent / "_shipped" / "presets"
_IN_REPOSITORY = Path(__file__).parent.parent.parent / "stacks" / "presets"


def preset_folders(own: Path | None = None) -> tuple[Path, ...]:
    """Return the folders that are searched for presets: a team's own first, then the shipped ones."""
    shipped = _SHIPPED if _SHIPPED.is_dir() else _IN_REPOSITORY
    return (own, shipped) if own is not None else (shipped,)


def preset_names(own: Path | None = None) -> tuple[str, ...]:
    """Return the names of all presets, sorted."""
    return tuple(sorted({file.stem for folder in preset_folders(own) for file in folder.glob("*.yaml")}))


def load_preset(name: str, own: Path | None = None) -> Document | None:
    """Return the preset's document, or None where no folder has it."""
    if name not in preset_names(own):
        return None
    for folder in preset_folders(own):
        file = folder / f"{name}.yaml"
        if file.is_file():
            return parse_document(file.read_text(encoding="utf-8"), file=f"presets/{name}.yaml")
    return None
