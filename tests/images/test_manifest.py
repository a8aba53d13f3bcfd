"""Every row of the image manifest: it parses, is sourced, dated and exact."""

import csv
import re

import pytest

from gpukit.images.choose import require_exact_container
from gpukit.images.manifest import DATA, load_manifest

FILES = (
    "image_manifest.csv",
    "framework_versions.csv",
    "ami_pins.csv",
    "component_versions.csv",
    "communication_rules.csv",
)


def rows_of(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known_sources() -> set[str]:
    return {row["slug"] for row in rows_of("image_sources.csv")} | {row["slug"] for row in rows_of("sources.csv")}


@pytest.mark.parametrize("name", FILES)
def test_every_row_has_a_known_source_and_a_date(name) -> None:
    known = known_sources()
    for row in rows_of(name):
        slugs = [re.sub(r"\(.*\)", "", slug).strip() for slug in row["source"].split(";")]
        assert slugs, row
        assert set(slugs) <= known, (row, set(slugs) - known)
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", row["as_of"]), row


@pytest.mark.parametrize("name", FILES)
def test_every_row_has_as_many_cells_as_the_header(name) -> None:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))

    assert {len(line) for line in lines} == {len(lines[0])}


def test_no_id_is_given_twice() -> None:
    manifest = load_manifest()
    for ids in (
        [row.gpu_model for row in manifest.gpus],
        [row.id for row in manifest.amis],
        [row.id for row in manifest.frameworks],
    ):
        assert len(ids) == len(set(ids))


def test_every_nvidia_gpu_of_the_catalogue_has_a_row_with_the_same_architecture() -> None:
    catalogue = {row["model"]: row for row in rows_of("gpu_models.csv") if row.get("vendor", "nvidia") == "nvidia"}
    manifest = {row.gpu_model: row for row in load_manifest().gpus}
    nvidia = {
        model
        for model, row in catalogue.items()
        if not model.startswith(("Trainium", "TPU")) and row["architecture"] not in ("Trillium", "Ironwood")
    }

    assert nvidia == set(manifest)
    for model in nvidia:
        assert manifest[model].gpu_architecture == catalogue[model]["architecture"]
        assert manifest[model].compute_capability == catalogue[model]["compute_capability"]


def test_precision_follows_the_generation() -> None:
    rows = {row.gpu_model: row for row in load_manifest().gpus}

    assert {m for m, r in rows.items() if r.loss_scaling} == {"V100-16", "V100-32", "T4", "T4G"}
    assert all(r.training_precision == "fp16" for r in rows.values() if r.loss_scaling)
    assert all(r.training_precision == "bf16" for r in rows.values() if r.bf16)
    assert {r.gpu_architecture for r in rows.values() if r.fp8} == {"Ada", "Hopper", "Blackwell", "Blackwell Ultra"}
    assert {r.gpu_architecture for r in rows.values() if r.fp4} == {"Blackwell", "Blackwell Ultra"}


def test_precisions_agree_with_the_gpu_table() -> None:
    for row in rows_of("gpu_models.csv"):
        mine = load_manifest().gpu(row["model"])
        if mine is not None and row.get("precisions"):
            theirs = set(row["precisions"].split("|"))
            assert theirs & {"bf16", "fp8", "fp4"} == set(mine.precisions) & {"bf16", "fp8", "fp4"}, row["model"]


def test_every_container_is_one_image() -> None:
    for row in load_manifest().frameworks:
        require_exact_container(row.container, row.id)


def test_every_ami_is_one_image() -> None:
    for row in load_manifest().amis:
        assert re.search(r"20\d{6}$", row.ami_name), row.ami_name
        if row.role == "eks":
            assert re.fullmatch(rf"{re.escape(row.kubernetes)}\.\d+-20\d{{6}}", row.release_version)
            assert row.ami_name.endswith("v" + row.release_version.rpartition("-")[2])
        else:
            assert row.ami_owner == "898082745236"


def test_an_eks_ami_of_every_architecture_exists_for_every_kubernetes_version() -> None:
    amis = [row for row in load_manifest().amis if row.role == "eks"]
    versions = {row.kubernetes for row in amis}

    assert versions == {"1.34", "1.35", "1.36"}
    for version in versions:
        types = {row.ami_type for row in amis if row.kubernetes == version}
        assert types >= {
            "AL2023_x86_64_NVIDIA",
            "AL2023_ARM_64_NVIDIA",
            "AL2023_x86_64_STANDARD",
            "AL2023_ARM_64_STANDARD",
        }


def test_efa_installers_are_in_order_and_name_their_plug_in() -> None:
    rows = rows_of("component_versions.csv")

    assert [row["released"] for row in rows] == sorted((row["released"] for row in rows), reverse=True)
    assert all(row["ofi_nccl"] for row in rows)


def test_a_bad_cell_is_named_with_file_row_and_column(tmp_path) -> None:
    for name in ("image_manifest.csv", "framework_versions.csv", "ami_pins.csv", "communication_rules.csv"):
        (tmp_path / name).write_text((DATA / name).read_text())
    text = (
        (tmp_path / "image_manifest.csv")
        .read_text()
        .replace(",proprietary,,12.0,fp32,no,", ",proprietary,,12.0,fp32,maybe,")
    )
    (tmp_path / "image_manifest.csv").write_text(text)

    with pytest.raises(ValueError, match=r"image_manifest.csv:2: loss_scaling is `maybe`, not yes or no"):
        load_manifest(tmp_path)
