"""Nothing that gpukit writes for a node, an image or a job may mean another thing tomorrow."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "gpukit" / "images"
GOLDEN = ROOT / "tests" / "golden" / "images"

WRITTEN = sorted(
    path
    for path in [
        *IMAGES.glob("templates/*"),
        *IMAGES.glob("jobs/*"),
        *IMAGES.glob("files/*.py"),
        *GOLDEN.iterdir(),
        *(ROOT / "gpukit" / "catalog" / "data").glob("*_pins.csv"),
        ROOT / "gpukit" / "catalog" / "data" / "framework_versions.csv",
    ]
    if path.is_file()
)

INSTALLS = re.compile(r"\b(?:apt-get|apt|dnf|yum|apk)\b[^\n|;&]*\binstall\b[^\n]*|\bpip3?\s+install\b[^\n]*")

PINNED = (
    r"==",  # a version on the line
    r"--requirement",  # a file of exact versions
    r"--releasever=",  # a repository that never changes
)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_no_latest(path) -> None:
    text = path.read_text()
    # EC2's metadata service calls its only version so.
    text = text.replace("http://169.254.169.254/latest/", "")

    assert not re.findall(r"(?i)[:@/\"' ]latest\b", text)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_every_install_is_pinned(path) -> None:
    found = INSTALLS.findall(path.read_text().replace("\\\n", " "))

    assert not [line for line in found if not any(re.search(mark, line) for mark in PINNED)]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_nothing_is_piped_from_the_network_into_a_shell(path) -> None:
    assert not re.findall(r"(?:curl|wget)[^\n]*\|\s*(?:sudo\s+)?(?:ba)?sh\b", path.read_text())


def test_the_install_rule_can_fail() -> None:
    for line in ("RUN pip install torch", "apt-get install -y curl", "dnf install -y lustre-client"):
        assert [text for text in INSTALLS.findall(line) if not any(re.search(mark, text) for mark in PINNED)]


def test_images_that_templates_name_come_from_the_manifest() -> None:
    for path in (*IMAGES.glob("templates/*"), *IMAGES.glob("*.py")):
        named = re.findall(
            r"(?:nvcr\.io|public\.ecr\.aws|docker\.io|quay\.io|ghcr\.io)/[\w./-]+:[\w.-]+", path.read_text()
        )
        assert not named, path.name
