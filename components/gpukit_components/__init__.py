"""The Pulumi components of gpukit: each usable alone, all of them together by `deploy()`."""

from gpukit_components.cluster import GpuCluster, GpuClusterArgs
from gpukit_components.cooling_zone import CoolingZone, CoolingZoneArgs
from gpukit_components.image import FrameworkImage, FrameworkImageArgs
from gpukit_components.network import GpuNetwork, GpuNetworkArgs
from gpukit_components.node_pool import GpuNodePool, GpuNodePoolArgs, ReservationArgs
from gpukit_components.spend_guard import SpendGuard, SpendGuardArgs
from gpukit_components.stack import build, deploy
from gpukit_components.storage import StoreArgs, TrainingStorage, TrainingStorageArgs
from gpukit_components.workstation import GpuWorkstation, GpuWorkstationArgs

__all__ = [
    "CoolingZone",
    "CoolingZoneArgs",
    "FrameworkImage",
    "FrameworkImageArgs",
    "GpuCluster",
    "GpuClusterArgs",
    "GpuNetwork",
    "GpuNetworkArgs",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "GpuWorkstation",
    "GpuWorkstationArgs",
    "ReservationArgs",
    "SpendGuard",
    "SpendGuardArgs",
    "StoreArgs",
    "TrainingStorage",
    "TrainingStorageArgs",
    "build",
    "deploy",
]
