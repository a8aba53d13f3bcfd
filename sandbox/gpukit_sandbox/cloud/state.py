"""What the cloud keeps beside moto's own objects: plain tables of plain records, so that they can be saved at any moment."""

import contextlib
import os
import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

ACCOUNT_ID: Final = "111122223333"
"""The account of every sandbox: AWS's own documentation account."""
DEFAULT_REGION: Final = "us-east-1"

# moto reads these once, at import: our account, and none of its few hundred sample images.
os.environ["MOTO_ACCOUNT_ID"] = ACCOUNT_ID
os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
# moto otherwise refuses regions that are newer than it.
os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")


class World:
    """The tables of one sandbox. One lock: calls are answered one after the other, so every answer sees a whole world."""

    def __init__(self) -> None:
        """Make an empty world."""
        self.tables: dict[str, dict[str, Any]] = {}
        self.lock = threading.RLock()
        self.version = 0

    def table(self, region: str, kind: str) -> dict[str, Any]:
        """Return the records of a kind in a region, by id; made empty at first use."""
        return self.tables.setdefault(f"{region}/{kind}", {})

    def regions_with(self, kind: str) -> list[str]:
        """Return the regions that hold a record of a kind."""
        return sorted(
            key.split("/", 1)[0] for key, rows in self.tables.items() if rows and key.split("/", 1)[1] == kind
        )

    def now(self) -> datetime:
        """Return the time as the records keep it: aware, UTC, whole seconds."""
        return datetime.now(UTC).replace(microsecond=0)

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lock and count a change, so that the saver writes it."""
        with self.lock:
            yield
            self.version += 1


def new_id(prefix: str, digits: int = 17) -> str:
    """Return an id as AWS makes them: prefix and hexadecimal digits."""
    return f"{prefix}-{random.getrandbits(4 * digits):0{digits}x}"


def arn(service: str, region: str, resource: str) -> str:
    """Return the ARN of a resource of the sandbox's account."""
    return f"arn:aws:{service}:{region}:{ACCOUNT_ID}:{resource}"
