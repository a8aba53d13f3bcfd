"""Plan and check a cluster that you have: GPUs, power, cooling zones; nothing is bought, nothing applied yet."""

from gpukit_components import deploy

deploy()
