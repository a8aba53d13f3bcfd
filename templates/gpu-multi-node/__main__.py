"""EKS with 8 nodes of 8 GPUs in one zone, EFA, FSx for Lustre and homes on EFS."""

from gpukit_components import deploy

deploy()
