"""What gpukit puts into a Kubernetes cluster, as plain objects: queues, topology, gang jobs. From a plan, purely."""
