"""GK4006: two stores with the same mount path."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity
from gpukit.judge import Judgement


def test_mount_path_twice_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4006")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.datasets.mount_path"
    assert finding.problem == "`/data` is taken by `storage.scratch`"
    assert finding.fix == "use another path, such as /data/datasets"


def _told(judge_text: Callable[[str], Judgement], first: str, second: str = "/datasets") -> list[str]:
    text = f"""
region: us-east-1
pools:
  train: {{instance_type: g6e.xlarge}}
storage:
  scratch: {{kind: lustre, mount_path: {first}}}
  datasets: {{kind: efs, role: datasets, mount_path: {second}}}
"""
    return [finding.problem for finding in judge_text(text).findings if finding.code == "GK4006"]


@pytest.mark.parametrize("path", ["/data/", "//data", "/data//", pytest.param("///data", id="three-slashes")])
def test_one_folder_written_in_two_ways_is_taken(path: str, judge_text: Callable[[str], Judgement]) -> None:
    assert len(_told(judge_text, "/data", path)) == 1


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        pytest.param("/a/../b", "/b", id="up"),
        pytest.param("/a/./b", "/a/b", id="here"),
        pytest.param("/../etc", "/etc", id="above-the-root"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(
    path: str, leads_to: str, judge_text: Callable[[str], Judgement]
) -> None:
    assert _told(judge_text, path) == [f"`{path}` leads to `{leads_to}`"]


@pytest.mark.parametrize(
    "path",
    [
        "/", "/etc", "/etc/data", "/var/lib/kubelet", "/var/lib/containerd/data", "/dev/shm", "/run/data", "/boot",
        "/proc", "/sys/fs", "/usr/local/data", "/bin", "/sbin", "/lib/modules", "/lib64", "/opt/amazon/efa", "/opt",
        "//etc/", "/var",
    ],
)  # fmt: skip
def test_what_belongs_to_the_system_is_refused_with_all_inside(
    path: str, judge_text: Callable[[str], Judgement]
) -> None:
    (problem,) = _told(judge_text, path)

    assert "belongs to the operating system" in problem


@pytest.mark.parametrize(
    "path", ["/opt/data", "/mnt/data", "/home", "/etcetera", "/var/data", "/data/..hidden", "/usr2"]
)
def test_a_folder_of_ones_own_is_taken_as_it_is(path: str, judge_text: Callable[[str], Judgement]) -> None:
    assert _told(judge_text, path) == []
