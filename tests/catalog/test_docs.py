"""The page on the catalogue names every table."""

import re
from pathlib import Path

from gpukit.catalog import DATA

PAGE = Path(__file__).parents[2] / "docs" / "catalog.md"
OF_OTHER_PACKAGES = re.compile(r"^(ami_|image_|component_versions|framework_versions|communication_rules|eks_)")


def test_the_page_names_every_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    tables = [path.stem for path in DATA.glob("*.csv") if not OF_OTHER_PACKAGES.match(path.stem)]

    assert [name for name in tables if f"`{name}`" not in page] == []


def test_the_example_row_of_the_page_works(tmp_path: Path) -> None:
    from gpukit.catalog import load_catalog

    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("    name,family,vcpu"))
    (tmp_path / "instance_types.csv").write_text("\n".join(line.strip() for line in lines[start : start + 2]) + "\n")
    catalog = load_catalog(tmp_path)

    assert catalog.instance_type("p9.48xlarge").gpu_model == "B300"
    assert [card.index for card in catalog.network_cards("p9.48xlarge") if card.efa_default] == list(range(1, 9))
