"""128 p5en.48xlarge nodes in one zone on two Capacity Blocks of 64, EKS, Lustre by EFA, S3."""

from gpukit_components import deploy

deploy()
