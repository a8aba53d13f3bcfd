"""Kubernetes versions and add-ons of EKS: sourced, complete where a cluster can be made, and of one default."""

import csv
import re
from datetime import date

import pytest

from gpukit.catalog import DATA
from gpukit.catalog.kubernetes import EksAddon, EksVersion, load_eks_addons, load_eks_versions

WITH_ADDONS = sorted({row.kubernetes_version for row in load_eks_addons()})
ALWAYS = {"vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent", "aws-ebs-csi-driver", "metrics-server"}
STORAGE_AND_GPU = {
    "lustre": "aws-fsx-csi-driver",
    "efs": "aws-efs-csi-driver",
    "s3": "aws-mountpoint-s3-csi-driver",
    "gpu": "eks-node-monitoring-agent",
}


def test_exactly_one_version_is_the_default() -> None:
    defaults = [row.version for row in load_eks_versions() if row.default]

    assert defaults == ["1.36"]


def test_the_default_version_has_node_images_for_both_architectures() -> None:
    default = next(row.version for row in load_eks_versions() if row.default)
    with (DATA / "ami_pins.csv").open(newline="", encoding="utf-8") as file:
        pinned = {row["ami_type"] for row in csv.DictReader(file) if row["kubernetes"] == default}

    assert {"AL2023_x86_64_NVIDIA", "AL2023_ARM_64_NVIDIA", "AL2023_x86_64_STANDARD"} <= pinned


@pytest.mark.parametrize("row", load_eks_versions(), ids=lambda row: row.version)
def test_support_lasts_fourteen_months_and_twelve_more(row: EksVersion) -> None:
    released, standard, extended = (
        date.fromisoformat(text) for text in (row.released, row.standard_support_ends, row.extended_support_ends)
    )

    assert _months_between(released, standard) == 14
    assert _months_between(standard, extended) == 12


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        pytest.param(date(2027, 8, 2), "standard", id="the last day of standard support"),
        pytest.param(date(2027, 8, 3), "extended", id="the day after"),
        pytest.param(date(2028, 8, 2), "extended", id="the last day of extended support"),
        pytest.param(date(2028, 8, 3), "none", id="after all support"),
    ],
)
def test_support_changes_on_the_day_after_its_last(today: date, expected: str) -> None:
    row = next(row for row in load_eks_versions() if row.version == "1.36")

    assert row.support_on(today) == expected


@pytest.mark.parametrize("version", WITH_ADDONS)
def test_a_version_with_addons_has_all_that_a_cluster_needs(version: str) -> None:
    rows = [row for row in load_eks_addons() if row.kubernetes_version == version]
    unasked = {row.addon for row in rows if row.default and row.required_for == "all"}

    assert unasked == ALWAYS
    assert {row.required_for: row.addon for row in rows if row.required_for != "all"} == STORAGE_AND_GPU
    assert len(rows) == len({row.addon for row in rows})


@pytest.mark.parametrize("row", load_eks_addons(), ids=lambda row: f"{row.addon}-{row.kubernetes_version}")
def test_an_addon_is_pinned_to_one_build(row: EksAddon) -> None:
    assert re.fullmatch(r"v\d+\.\d+\.\d+-eksbuild\.\d+", row.addon_version)
    assert row.kubernetes_version in {version.version for version in load_eks_versions()}
    assert row.needs_role == "" or row.needs_role.startswith("arn:aws:iam::aws:policy/")


@pytest.mark.parametrize("version", WITH_ADDONS)
def test_kube_proxy_is_of_the_cluster_s_own_minor_version(version: str) -> None:
    [build] = [
        row.addon_version for row in load_eks_addons() if (row.kubernetes_version, row.addon) == (version, "kube-proxy")
    ]

    assert build.startswith(f"v{version}.")


def test_every_source_slug_is_explained() -> None:
    with (DATA / "eks_sources.csv").open(newline="", encoding="utf-8") as file:
        known = {row["slug"] for row in csv.DictReader(file)}
    used = {slug for row in (*load_eks_versions(), *load_eks_addons()) for slug in row.source.split(";")}

    assert used == known


def _months_between(start: date, end: date) -> int:
    assert start.day == end.day
    return (end.year - start.year) * 12 + end.month - start.month
