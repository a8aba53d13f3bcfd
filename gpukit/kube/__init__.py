"""What gpukit puts into a Kubernetes cluster, as plain objects: queues, topology, gang jobs. Pure: from a plan to manifests."""
