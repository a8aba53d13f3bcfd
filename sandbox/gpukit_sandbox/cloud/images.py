"""
Machine images: Amazon's EKS and Deep Learning images of every region, made up from gpukit's pins, and their public SSM parameters.

An image id is a hash of region and name, so that it is the same in every sandbox. Names, release versions and owners come from
`gpukit/catalog/data/ami_pins.csv`; for Kubernetes versions without a pin the name follows the pattern of the pins.
"""

import csv
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from moto.backends import get_backend
from moto.ec2.models.amis import Ami

from gpukit.catalog import DATA
from gpukit_sandbox.cloud.admin import route
from gpukit_sandbox.cloud.ec2_placement import tags_of
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.faults import Faults
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, DEFAULT_REGION, World, new_id

AMAZON_EKS_OWNER: Final = "602401143452"
AMAZON_OWNER: Final = "137112412989"
DLAMI_OWNER: Final = "898082745236"
KUBERNETES_VERSIONS: Final = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")
"""What EKS offers in the sandbox. Source: facts limits.csv, eks-versions; the cases ask for 1.32 and 1.33."""
_UNPINNED_DATE: Final = "20260728"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicImage:
    """An image that Amazon publishes in every region."""

    name: str
    owner: str
    architecture: str
    root_device: str
    root_gib: int
    parameters: tuple[str, ...]
    """SSM parameters whose value is the image id."""
    kubernetes: str = ""
    ami_type: str = ""
    release: str = ""


class CloudImage(Ami):
    """An image with a root snapshot of a known size; moto's own always says 15 GiB."""

    def __init__(
        self,
        backend: Any,
        *,
        identifier: str,
        name: str,
        owner: str,
        architecture: str,
        root_device: str,
        root_gib: int,
        alias: str | None,
        public: bool,
    ) -> None:
        """Make an available image."""
        self.ec2_backend = backend
        self.id = identifier
        self.state = "available"
        self.name = name
        self.image_type = "machine"
        self.image_location = f"{alias or owner}/{name}"
        self.owner_id = owner
        self.owner_alias = alias
        self.description = name
        self.virtualization_type = "hvm"
        self.architecture = architecture
        self.kernel_id = None
        self.platform = None
        self.hypervisor = "xen"
        self.root_device_name = root_device
        self.root_device_type = "ebs"
        self.sriov = "simple"
        self.creation_date = _creation_date(name)
        self.product_codes = set()
        self.boot_mode = "uefi-preferred"
        self.instance_id = None
        self.ena_support = True
        self.launch_permissions = [{"Group": "all"}] if public else []
        self.root_gib = root_gib
        self.root_snapshot_id = "snap-" + identifier.removeprefix("ami-")
        self.more_mappings: list[dict[str, Any]] = []

    @property
    def ebs_snapshot(self) -> Any:
        """The root snapshot, as far as anybody asks for it: its id."""
        return _Snapshot(self.root_snapshot_id)

    @property
    def block_device_mappings(self) -> list[dict[str, Any]]:
        """The root volume, and what else the image was registered with."""
        root = {
            "DeviceName": self.root_device_name,
            "Ebs": {
                "SnapshotId": self.root_snapshot_id,
                "VolumeSize": self.root_gib,
                "DeleteOnTermination": True,
                "VolumeType": "gp3",
                "Encrypted": False,
            },
        }
        return [root, *self.more_mappings]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    id: str


def image_id(region: str, name: str) -> str:
    """Return the id that an image of that name has in a region."""
    return "ami-0" + hashlib.sha256(f"{region}/{name}".encode()).hexdigest()[:16]


@cache
def public_images() -> tuple[PublicImage, ...]:
    """Return what Amazon publishes, pinned images first."""
    found: list[PublicImage] = []
    latest: set[tuple[str, str]] = set()
    with (DATA / "ami_pins.csv").open(encoding="utf-8", newline="") as source:
        rows = sorted(csv.DictReader(source), key=lambda row: int(row["preference"] or 99))
    for row in rows:
        if row["role"] != "eks":
            continue
        key = (row["kubernetes"], row["ami_type"])
        found.append(
            _eks_image(
                row["kubernetes"],
                row["ami_type"],
                row["ami_name"],
                row["release_version"],
                int(float(row["gib"] or 20)),
                newest=key not in latest,
            )
        )
        latest.add(key)
    for version in KUBERNETES_VERSIONS:
        for ami_type, name in _EKS_KINDS.items():
            if (version, ami_type) not in latest:
                found.append(
                    _eks_image(
                        version,
                        ami_type,
                        f"amazon-eks-node-al2023-{name}-{version}-v{_UNPINNED_DATE}",
                        f"{version}.0-{_UNPINNED_DATE}",
                        20,
                        newest=True,
                    )
                )
        for architecture in ("x86_64", "arm64"):
            for flavour in ("", "-nvidia"):
                found.append(
                    PublicImage(
                        name=f"bottlerocket-aws-k8s-{version}{flavour}-{architecture.replace('arm64', 'aarch64')}-v1.46.0-5b8d7e2c",
                        owner="092701018921",
                        architecture=architecture,
                        root_device="/dev/xvda",
                        root_gib=2,
                        parameters=(
                            f"/aws/service/bottlerocket/aws-k8s-{version}{flavour}/{architecture}/latest/image_id",
                        ),
                    )
                )
    for row in rows:
        if row["role"] == "ec2":
            found.append(
                PublicImage(
                    name=row["ami_name"],
                    owner=row["ami_owner"] or DLAMI_OWNER,
                    architecture=row["cpu_architecture"],
                    root_device="/dev/sda1",
                    root_gib=int(float(row["gib"] or 75)),
                    parameters=(_dlami_parameter(row),),
                )
            )
    for architecture in ("x86_64", "arm64"):
        found.append(
            PublicImage(
                name=f"al2023-ami-2023.9.20261117.0-kernel-6.12-{architecture}",
                owner=AMAZON_OWNER,
                architecture=architecture,
                root_device="/dev/xvda",
                root_gib=8,
                parameters=tuple(
                    f"/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-{kernel}-{architecture}"
                    for kernel in ("default", "6.1", "6.12")
                ),
            )
        )
    return tuple(found)


_EKS_KINDS: Final = {
    "AL2023_x86_64_NVIDIA": "x86_64-nvidia",
    "AL2023_ARM_64_NVIDIA": "arm64-nvidia",
    "AL2023_x86_64_STANDARD": "x86_64-standard",
    "AL2023_ARM_64_STANDARD": "arm64-standard",
    "AL2023_x86_64_NEURON": "x86_64-neuron",
}


def _eks_image(version: str, ami_type: str, name: str, release: str, root_gib: int, *, newest: bool) -> PublicImage:
    architecture, _, flavour = _EKS_KINDS[ami_type].rpartition("-")
    folder = f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{architecture}/{flavour}"
    parameters = [f"{folder}/{name}/image_id"]
    if newest:
        parameters.append(f"{folder}/recommended/image_id")
    return PublicImage(
        name=name,
        owner=AMAZON_EKS_OWNER,
        architecture=architecture,
        root_device="/dev/xvda",
        root_gib=root_gib,
        parameters=tuple(parameters),
        kubernetes=version,
        ami_type=ami_type,
        release=release,
    )


def _dlami_parameter(row: Mapping[str, str]) -> str:
    system = (
        "ubuntu-22.04"
        if "22.04" in row["ami_name"]
        else "amazon-linux-2023"
        if "Amazon Linux 2023" in row["ami_name"]
        else "ubuntu-24.04"
    )
    kind = (
        f"oss-nvidia-driver-gpu-{row['framework']}-{row['framework_version']}"
        if row["framework"]
        else "base-oss-nvidia-driver-gpu"
    )
    return f"/aws/service/deeplearning/ami/{row['cpu_architecture']}/{kind}-{system}/latest/ami-id"


@cache
def public_parameters(region: str) -> dict[str, str]:
    """Return Amazon's public parameters of a region that name images."""
    found: dict[str, str] = {}
    for image in public_images():
        identifier = image_id(region, image.name)
        for name in image.parameters:
            found[name] = identifier
            if image.kubernetes:
                folder = name.rsplit("/", 1)[0]
                found[f"{folder}/image_name"] = image.name
                found[f"{folder}/release_version"] = image.release
                found[folder] = json.dumps(
                    {
                        "schema_version": "2",
                        "image_id": identifier,
                        "image_name": image.name,
                        "release_version": image.release,
                    }
                )
    return found


def resolve_parameter(backend: Any, name: str) -> str:
    """Return the image id that a parameter holds, Amazon's or the account's own. Raises InvalidAMIID.NotFound."""
    plain = name.rsplit(":", 1)[0] if re.search(r":\d+$", name) else name
    public = public_parameters(backend.region_name)
    if plain in public:
        return public[plain]
    parameter = get_backend("ssm")[ACCOUNT_ID][backend.region_name].get_parameter(plain)
    if parameter is None:
        raise AwsError("InvalidAMIID.NotFound", f"The SSM parameter {name} does not exist.")
    return str(parameter.value)


def ensure_images(world: World, region: str) -> None:
    """Publish Amazon's images in a region, once."""
    seeded = world.table(region, "_images")
    if seeded:
        return
    seeded["seeded"] = True
    backend = get_backend("ec2")[ACCOUNT_ID][region]
    for vpc in backend.vpcs.values():
        let_default_group_reach_itself(backend, vpc.id)
    for each in public_images():
        identifier = image_id(region, each.name)
        backend.amis[identifier] = CloudImage(
            backend,
            identifier=identifier,
            name=each.name,
            owner=each.owner,
            architecture=each.architecture,
            root_device=each.root_device,
            root_gib=each.root_gib,
            alias="amazon",
            public=True,
        )


def let_default_group_reach_itself(backend: Any, vpc_id: str) -> None:
    """Give the default group of a VPC the rule that AWS gives it and moto does not: everything from its own members."""
    group = backend.get_default_security_group(vpc_id)
    if group is not None and not group.ingress_rules:
        backend.authorize_security_group_ingress(group.id, "-1", None, None, [], source_groups=[{"GroupId": group.id}])


def eks_image(region: str, kubernetes: str, ami_type: str, release: str | None = None) -> tuple[str, str]:
    """Return image id and release version for nodes of a managed node group. Raises InvalidParameterException for a release that does not exist."""
    candidates = [each for each in public_images() if each.kubernetes == kubernetes and each.ami_type == ami_type]
    if release:
        candidates = [each for each in candidates if each.release == release]
        if not candidates:
            raise AwsError(
                "InvalidParameterException",
                f"Requested release version {release} is not valid for kubernetes version {kubernetes}.",
            )
    if candidates:
        return image_id(region, candidates[0].name), candidates[0].release
    # Families that are not listed above (Bottlerocket, Windows) still launch: with an image of their architecture.
    architecture = "arm64" if "ARM" in ami_type.upper() else "x86_64"
    same = next(each for each in public_images() if each.architecture == architecture and each.kubernetes == kubernetes)
    return image_id(region, same.name), release or f"{kubernetes}.0-{_UNPINNED_DATE}"


@rule("ec2", "RegisterImage", source="EC2 API reference, RegisterImage")
def registered_image_is_well_formed(call: ApiCall) -> None:
    """A name of 3 to 128 characters that is free."""
    name = call.params.get("Name") or ""
    if not re.fullmatch(r"[A-Za-z0-9()\[\] ./\-'@_]{3,128}", name):
        raise AwsError(
            "InvalidAMIName.Malformed",
            "AMI names must be between 3 and 128 characters long, and may contain letters, numbers, '(', ')', '.', '-', '/' and '_'",
        )
    if any(
        each.name == name and each.owner_id == ACCOUNT_ID
        for each in get_backend("ec2")[ACCOUNT_ID][call.region].amis.values()
    ):
        raise AwsError("InvalidAMIName.Duplicate", f"AMI name {name} is already in use by another AMI")


@action("ec2", "RegisterImage")
def register_image(call: ApiCall) -> dict[str, Any]:
    """Register an image of the account's own; its root size is that of the mapping or of the snapshot."""
    backend = get_backend("ec2")[ACCOUNT_ID][call.region]
    params = call.params
    root = params.get("RootDeviceName") or "/dev/sda1"
    mappings = {each.get("DeviceName"): each.get("Ebs") or {} for each in params.get("BlockDeviceMappings") or []}
    ebs = mappings.get(root, {})
    snapshot = backend.snapshots.get(ebs.get("SnapshotId")) if ebs.get("SnapshotId") else None
    if ebs.get("SnapshotId") and snapshot is None:
        raise AwsError("InvalidSnapshot.NotFound", f"The snapshot '{ebs['SnapshotId']}' does not exist.")
    size = int(ebs.get("VolumeSize") or (snapshot.volume.size if snapshot is not None else 8))
    image = CloudImage(
        backend,
        identifier=new_id("ami"),
        name=params["Name"],
        owner=ACCOUNT_ID,
        architecture=params.get("Architecture") or "x86_64",
        root_device=root,
        root_gib=size,
        alias=None,
        public=False,
    )
    image.creation_date = call.world.now().replace(tzinfo=None)
    image.description = params.get("Description")
    if snapshot is not None:
        image.root_snapshot_id = snapshot.id
    image.add_tags({tag["Key"]: tag["Value"] for tag in tags_of(params, "image")})
    backend.amis[image.id] = image
    return {"ImageId": image.id}


@action("ssm", "GetParameter")
def get_parameter(call: ApiCall) -> dict[str, Any]:
    """Return a parameter, Amazon's public image parameters included."""
    name = call.params.get("Name", "")
    found = public_parameters(call.region).get(name)
    return {"Parameter": _shown(call, name, found)} if found is not None else call.moto()


@action("ssm", "GetParameters")
def get_parameters(call: ApiCall) -> dict[str, Any]:
    """Return parameters by name."""
    public = public_parameters(call.region)
    names = call.params.get("Names") or []
    found = [_shown(call, name, public[name]) for name in names if name in public]
    if len(found) == len(names):
        return {"Parameters": found, "InvalidParameters": []}
    rest = call.moto()
    rest["Parameters"] = [*found, *rest.get("Parameters", [])]
    rest["InvalidParameters"] = [name for name in rest.get("InvalidParameters", []) if name not in public]
    return rest


@action("ssm", "GetParametersByPath")
def get_parameters_by_path(call: ApiCall) -> dict[str, Any]:
    """Return the parameters under a path."""
    path = str(call.params.get("Path", "")).rstrip("/") + "/"
    if not path.startswith(
        (
            "/aws/service/eks/",
            "/aws/service/deeplearning/",
            "/aws/service/bottlerocket/",
            "/aws/service/ami-amazon-linux-latest/",
        )
    ):
        return call.moto()
    deep = bool(call.params.get("Recursive"))
    found = [
        _shown(call, name, value)
        for name, value in sorted(public_parameters(call.region).items())
        if name.startswith(path) and (deep or "/" not in name[len(path) :])
    ]
    most, start = int(call.params.get("MaxResults") or 10), int(call.params.get("NextToken") or 0)
    answer: dict[str, Any] = {"Parameters": found[start : start + most]}
    if start + most < len(found):
        answer["NextToken"] = str(start + most)
    return answer


def _shown(call: ApiCall, name: str, value: str) -> dict[str, Any]:
    return {
        "Name": name,
        "Type": "String",
        "Value": value,
        "Version": 1,
        "LastModifiedDate": call.world.now(),
        "ARN": f"arn:aws:ssm:{call.region}::parameter{name}",
        "DataType": "text",
    }


def _creation_date(name: str) -> datetime:
    match = re.search(r"(20\d{6})", name)
    return datetime.strptime(match.group(1), "%Y%m%d") if match else datetime(2026, 7, 28)


@route("POST", "/images")
def _seed_image(request: dict[str, Any], world: World, _faults: Faults) -> Any:
    """Publish an image with a given id: `id`, `name`, `architecture`, `root_gib`, `owner`, `region`."""
    region = str(request.get("region", DEFAULT_REGION))
    ensure_images(world, region)
    backend = get_backend("ec2")[ACCOUNT_ID][region]
    identifier = str(request["id"])
    backend.amis[identifier] = CloudImage(
        backend,
        identifier=identifier,
        name=str(request.get("name", identifier)),
        owner=str(request.get("owner", ACCOUNT_ID)),
        architecture=str(request.get("architecture", "x86_64")),
        root_device=str(request.get("root_device", "/dev/xvda")),
        root_gib=int(request.get("root_gib", 8)),
        alias=None,
        public=False,
    )
    return {"id": identifier, "region": region}
