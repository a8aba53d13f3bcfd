import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gpukit.catalog import Catalog, load_catalog


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="session")
def api_dump() -> dict[str, Any]:
    """What DescribeInstanceTypes said, as moto ships it."""
    import moto.ec2

    path = Path(moto.ec2.__file__).parent / "resources" / "instance_types.json.gz"
    with gzip.open(path) as file:
        return json.load(file)
