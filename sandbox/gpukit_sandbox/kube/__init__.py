"""A real Kubernetes control plane for a sandbox: etcd, API server, scheduler, controllers, KWOK for the nodes, Kueue for the queues."""
