"""One Pulumi stack, one environment: the stack file says what, gpukit decides the rest and builds it."""

from gpukit_components import deploy

deploy()
