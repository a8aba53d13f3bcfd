"""Nothing bought in a cloud: labels, queues, device plugins, storage classes and a proof job on any Kubernetes."""

from gpukit_components import deploy

deploy()
