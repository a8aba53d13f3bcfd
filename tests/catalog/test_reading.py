"""A table that cannot be read says which cell, why, and what to write."""

from pathlib import Path

import pytest

from gpukit.catalog import CatalogError, load_catalog


def _overrides(folder: Path, table: str, *lines: str) -> Path:
    (folder / f"{table}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        pytest.param(
            ["name,vcpus,source,as_of", "p5en.48xlarge,200,x,2026-12-01"],
            "instance_types.csv line 1: unknown column `vcpus`; a column that nothing reads would be lost in silence; "
            "use `vcpu`",
            id="unknown column",
        ),
        pytest.param(
            ["name,vcpu", "p5en.48xlarge,many"],
            "instance_types.csv line 2: column `vcpu` has `many`; it must be a number; "
            "write such a value, or leave the cell empty where it is unknown",
            id="no number",
        ),
        pytest.param(
            ["name,vcpu", "p5en.48xlarge,1.5"],
            "instance_types.csv line 2: column `vcpu` has `1.5`; it must be a whole number; "
            "write such a value, or leave the cell empty where it is unknown",
            id="half a processor",
        ),
        pytest.param(
            ["name,usd_per_hour_on_demand", "p5en.48xlarge,NaN"],
            "instance_types.csv line 2: column `usd_per_hour_on_demand` has `NaN`; it must be a finite number; "
            "write such a value, or leave the cell empty where it is unknown",
            id="NaN price",
        ),
        pytest.param(
            ["name,spot", "p5en.48xlarge,maybe"],
            "instance_types.csv line 2: column `spot` has `maybe`; it must be yes or no; "
            "write such a value, or leave the cell empty where it is unknown",
            id="neither yes nor no",
        ),
        pytest.param(
            ["name,vcpu", ",4"],
            "instance_types.csv line 2: the row has no `name`; a row is found by its key; fill in name",
            id="no key",
        ),
        pytest.param(
            ["name,vcpu", "p5en.48xlarge,4,5"],
            "instance_types.csv line 2: 3 cells under 2 columns; the cells of a row cannot be told apart; "
            "put cells with commas in double quotes",
            id="a comma too many",
        ),
        pytest.param(
            ["name,vcpu", "x9.large,4"],
            "instance_types.csv line 2: column `family` is empty; nothing can be decided for the row without it; "
            "fill in `family`",
            id="a new row without what it needs",
        ),
    ],
)
def test_a_bad_override_is_told_whole(lines: list[str], told: str, tmp_path: Path) -> None:
    catalog = load_catalog(_overrides(tmp_path, "instance_types", *lines))

    with pytest.raises(CatalogError) as caught:
        catalog.instance_types()

    assert told == str(caught.value)


def test_a_table_that_is_not_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_bytes(b"id,usd\n\xff\xfe\x00,1\n")

    with pytest.raises(CatalogError, match="cannot read the table"):
        load_catalog(tmp_path).prices()


def test_a_cell_with_a_null_byte_is_told(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_bytes(b"id,usd\nnat-gateway-hour,\x00\n")

    with pytest.raises(CatalogError):
        load_catalog(tmp_path).prices()


def test_ranges_of_network_cards_must_not_overlap(tmp_path: Path) -> None:
    _overrides(
        tmp_path,
        "network_cards",
        "instance_type,card_from,card_to,efa_default,source,as_of",
        "p5en.48xlarge,8,15,no,x,2026-12-01",
    )

    with pytest.raises(CatalogError, match=r"network card 8 of p5en\.48xlarge is described twice"):
        load_catalog(tmp_path).network_cards("p5en.48xlarge")


def test_an_offering_is_read_when_its_type_is_asked_for(tmp_path: Path) -> None:
    _overrides(tmp_path, "instance_offerings", "instance_type,region,source", "p5en.48xlarge,us-east-3,x")
    catalog = load_catalog(tmp_path)

    assert catalog.regions_offering("g5.xlarge")
    with pytest.raises(CatalogError, match="column `as_of` is empty"):
        catalog.regions_offering("p5en.48xlarge")


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="does not exist"):
        load_catalog(tmp_path / "nowhere")


def test_a_misspelt_table_is_told_at_once(tmp_path: Path) -> None:
    _overrides(tmp_path, "instance_type", "name", "p5en.48xlarge")

    with pytest.raises(CatalogError, match=r"call it `instance_types\.csv`"):
        load_catalog(tmp_path)


def test_an_empty_table_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "instance_types.csv").write_text("", encoding="utf-8")

    assert load_catalog(tmp_path).instance_types() == load_catalog().instance_types()


def test_a_table_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    _overrides(tmp_path, "prices", "id,usd", "nat-gateway-hour,cheap")
    catalog = load_catalog(tmp_path)

    assert catalog.instance_type("p5en.48xlarge").gpu_count == 8
    with pytest.raises(CatalogError):
        catalog.price("nat-gateway-hour")


def test_rows_cannot_be_changed() -> None:
    row = load_catalog().instance_type("p5en.48xlarge")

    with pytest.raises(AttributeError):
        row.vcpu = 1  # type: ignore[misc]
