"""What importing and using the catalogue costs: none of the heavy packages."""

import subprocess
import sys

HEAVY = (
    "pydantic",
    "pandas",
    "numpy",
    "yaml",
    "typer",
    "rich",
    "jinja2",
    "pulumi",
    "boto3",
    "botocore",
    "moto",
    "difflib",
)


def test_reading_the_catalogue_loads_no_heavy_package() -> None:
    program = (
        "import sys\n"
        "from gpukit.catalog import load_catalog\n"
        "catalog = load_catalog()\n"
        "catalog.network_cards('p5en.48xlarge'), catalog.limits(), catalog.zones_offering('p5en.48xlarge', 'us-east-1')\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_loading_reads_no_table() -> None:
    program = (
        "import sys\n"
        "from gpukit.catalog import load_catalog\n"
        "print(load_catalog()._cache, 'gpukit.catalog.hardware' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "{} False\n"


def test_public_names_are_those_of_the_package() -> None:
    import gpukit.catalog

    for name in gpukit.catalog.__all__:
        assert hasattr(gpukit.catalog, name)
