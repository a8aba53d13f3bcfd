"""Rows of Kubernetes on EKS: versions with their support dates, and add-ons with the build that is pinned for each."""

from dataclasses import dataclass
from datetime import date
from functools import cache

from gpukit.catalog.reading import read_table
from gpukit.catalog.tables import DATA


@dataclass(frozen=True, slots=True, kw_only=True)
class EksVersion:
    """A Kubernetes version of EKS. Exactly one row is the default: the newest with its AMI and add-ons pinned."""

    version: str
    released: str
    standard_support_ends: str
    extended_support_ends: str
    default: bool
    source: str
    as_of: str
    doubts: str = ""

    def support_on(self, today: date) -> str:
        """Return `standard`, `extended` (dearer by the hour) or `none`; the day a support ends still counts."""
        if today <= date.fromisoformat(self.standard_support_ends):
            return "standard"
        return "extended" if today <= date.fromisoformat(self.extended_support_ends) else "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class EksAddon:
    """
    The build of an EKS add-on that is pinned for one Kubernetes version.

    `required_for` is what a plan must have for the add-on to be wanted: all, gpu, efa, lustre, efs or s3. `default`
    says whether it is installed unasked then. `needs_role` is the AWS-managed policy of its service account, or empty.
    """

    kubernetes_version: str
    addon: str
    addon_version: str
    required_for: str
    default: bool
    needs_role: str
    source: str
    as_of: str
    doubts: str = ""


@cache
def load_eks_versions() -> tuple[EksVersion, ...]:
    """Return the Kubernetes versions of EKS, oldest first; CatalogError where the table cannot be read."""
    return read_table(EksVersion, DATA / "eks_versions.csv", key=("version",))


@cache
def load_eks_addons() -> tuple[EksAddon, ...]:
    """Return the pinned add-ons, by Kubernetes version and name; CatalogError where the table cannot be read."""
    return read_table(EksAddon, DATA / "eks_addons.csv", key=("kubernetes_version", "addon"))
