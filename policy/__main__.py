"""The policy pack: `pulumi preview --policy-pack policy`."""

from gpukit_policies import make_policies
from pulumi_policy import PolicyPack

PolicyPack(
    name="gpukit",
    description="Capacity, network, storage and exposure rules of gpukit over a stack's AWS resources",
    policies=make_policies(),
)
