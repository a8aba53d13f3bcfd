"""What `gpukit catalog images` and `gpukit images` print: known pins as rows, and a stack file with another pin."""

from collections.abc import Mapping
from typing import Any

from gpukit.images.manifest import ImageManifest, UnknownCombination, load_manifest


def list_images(manifest: ImageManifest | None = None) -> tuple[dict[str, Any], ...]:
    """
    Return one row for each known AMI and framework container, AMIs first, in the manifest's order.

    Keys: kind, id, for, architecture, pin, contents (a dict by name), source, as_of, doubts.
    """
    known = manifest or load_manifest()
    rows: list[dict[str, Any]] = []
    for ami in known.amis:
        contents = {
            "operating_system": ami.operating_system,
            "kernel": ami.kernel,
            "driver": ami.driver,
            "cuda": ami.cuda,
            "efa_driver": ami.efa_driver,
            "efa_installer": ami.efa_installer,
            "ofi_nccl": ami.ofi_nccl,
            "containerd": ami.containerd,
        }
        if ami.framework:
            contents[ami.framework] = ami.framework_version
        rows.append(
            {
                "kind": "ami",
                "id": ami.id,
                "for": f"EKS {ami.kubernetes} {ami.ami_type}" if ami.role == "eks" else "one EC2 instance",
                "architecture": ami.cpu_architecture,
                "pin": ami.release_version or ami.ami_name,
                "contents": _known(contents),
                "source": ami.source,
                "as_of": ami.as_of,
                "doubts": ami.doubts,
            }
        )
    for row in known.frameworks:
        rows.append(
            {
                "kind": "container",
                "id": row.id,
                "for": f"{row.framework} {row.framework_version}",
                "architecture": row.cpu_architecture,
                "pin": row.container,
                "contents": _known(
                    {
                        "python": row.python,
                        "cuda": row.cuda,
                        "cudnn": row.cudnn,
                        "nccl": row.nccl,
                        "ofi_nccl": row.ofi_nccl,
                        "operating_system": row.operating_system,
                    }
                ),
                "source": row.source,
                "as_of": row.as_of,
                "doubts": row.doubts,
            }
        )
    return tuple(rows)


def bump_image(text: str, image: str, pin: str) -> str:
    """
    Return a stack file's text with another pin for one image; everything else stays byte for byte.

    The kind of pin is read off the value: `ami-...` is `ami_id`, `1.36.2-20260728` is `release_version`, anything with
    a slash or an at sign is `container`, a plain version is the framework's `version`. Raises UnknownCombination where
    the file has no such image, FloatingPin where the pin can move.
    """
    import re

    key = _pin_key(pin, image)
    lines = text.splitlines(keepends=True)
    start, indent = _find_image(lines, image)
    end = _block_end(lines, start, indent)
    child = next((_indent(line) for line in lines[start + 1 : end] if line.strip()), indent + 2)
    value = pin if re.fullmatch(r"[A-Za-z0-9._/@:+-]+", pin) and not re.fullmatch(r"\d+(\.\d+)?", pin) else f'"{pin}"'
    for number in range(start + 1, end):
        match = re.match(rf"( {{{child}}}{key}:\s*)([^#\n]*?)(\s*(?:#.*)?)(\r?\n?)$", lines[number])
        if match:
            lines[number] = f"{match.group(1).rstrip()} {value}{match.group(3)}{match.group(4)}"
            return "".join(lines)
    newline = "\r\n" if lines[start].endswith("\r\n") else "\n"
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += newline
    lines.insert(end, f"{' ' * child}{key}: {value}{newline}")
    return "".join(lines)


def _pin_key(pin: str, image: str) -> str:
    import re

    from gpukit.images.choose import require_exact_container

    if re.fullmatch(r"ami-[0-9a-f]{8,17}", pin):
        return "ami_id"
    if re.fullmatch(r"\d+\.\d+\.\d+-20\d{6}", pin):
        return "release_version"
    if re.fullmatch(r"\d+(\.\d+)*", pin):
        return "version"
    require_exact_container(pin, f"images.{image}.container")
    return "container"


def _find_image(lines: list[str], image: str) -> tuple[int, int]:
    """Return the line of `image:` under `images:` and its indent."""
    import re

    names: list[str] = []
    for number, line in enumerate(lines):
        head = re.match(r"( *)images:\s*(#.*)?$", line.rstrip("\r\n"))
        if not head:
            continue
        outer = len(head.group(1))
        end = _block_end(lines, number, outer)
        inner = next((_indent(item) for item in lines[number + 1 : end] if item.strip()), None)
        for place in range(number + 1, end):
            found = re.match(r'( *)"?([A-Za-z0-9_.-]+)"?:\s*(#.*)?$', lines[place].rstrip("\r\n"))
            if found and len(found.group(1)) == inner:
                if found.group(2) == image:
                    return place, len(found.group(1))
                names.append(found.group(2))
    from gpukit.nearest import nearest

    raise UnknownCombination(
        f"images.{image}: the file has no such image",
        why=f"it has {', '.join(names) or 'no section `images`, or one in braces on one line'}",
        fix="name one of them, or write the section line by line",
        nearest=nearest(image, names),
    )


def _block_end(lines: list[str], start: int, indent: int) -> int:
    """Return the line after the last one that belongs to the block at `start`."""
    last = start
    for number in range(start + 1, len(lines)):
        if not lines[number].strip() or lines[number].lstrip().startswith("#"):
            continue
        if _indent(lines[number]) <= indent:
            break
        last = number
    return last + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _known(contents: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in sorted(contents.items()) if value}
