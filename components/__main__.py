"""The component package `gpukit`: serves every component to every Pulumi language."""

import sys
from pathlib import Path


def main() -> None:
    """Serve the components over gRPC until the engine hangs up."""
    # `pulumi package add` copies or clones the repository: the core stands beside this folder, installed or not
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    import gpukit_components as components
    from pulumi.provider.experimental import component_provider_host

    from gpukit import __version__

    component_provider_host(
        components=[
            components.CoolingZone,
            components.FrameworkImage,
            components.GpuCluster,
            components.GpuNetwork,
            components.GpuNodePool,
            components.GpuWorkstation,
            components.SpendGuard,
            components.TrainingStorage,
        ],
        name="gpukit",
        version=__version__,
    )


if __name__ == "__main__":
    main()
