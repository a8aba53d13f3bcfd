"""One GPU instance that only you can reach: SSM sessions, encrypted disks, idle stop, budget alarm."""

from gpukit_components import deploy

deploy()
