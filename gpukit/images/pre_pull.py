"""Container images that a node pulls before a job asks for them, as containerd and the kubelet spell them."""

import re
from typing import Final

from gpukit.images.choose import require_exact_container
from gpukit.images.manifest import ImageError

_REFERENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,510}", re.ASCII)


def list_pre_pulled(images: tuple[str, ...], path: str) -> list[str]:
    """
    Return whole references, each once; `path` is the key path of the list.

    Raises FloatingPin for an image that can be another tomorrow, ImageError for what is no image.
    """
    found: dict[str, None] = {}
    for number, image in enumerate(images):
        place = f"{path}[{number}]"
        if not _REFERENCE.fullmatch(image):
            raise ImageError(
                f"{place}: `{image[:120]}` is no container image",
                why="the node would ask a registry for it and fail at every start",
                fix="write it like `registry.example.com/train:1.2`",
            )
        require_exact_container(image, place)
        found[whole_reference(image)] = None
    return list(found)


def whole_reference(image: str) -> str:
    """
    Return a reference with its registry, and without the tag where a digest says more.

    The kubelet looks an image up by that spelling; under another one, what was pulled is pulled again.
    """
    name, at, digest = image.partition("@")
    host, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in host and ":" not in host and host != "localhost":
        name = f"docker.io/{name}"
    if at:
        folder, slash, last = name.rpartition("/")
        name = folder + slash + last.partition(":")[0]
    return name + at + digest
