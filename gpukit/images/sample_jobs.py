"""
Render the sample jobs for any plan: preprocess, FSDP training, TensorFlow workers, evaluation, serving.

Plain Kubernetes objects, for any cluster: indexed Jobs with a headless Service for the rendezvous, and a
Deployment with an autoscaler for serving. Kueue admits them by their queue label. Scripts travel in a ConfigMap.
"""

from dataclasses import dataclass
from typing import Any, Final

from gpukit.images.manifest import UnknownCombination, load_manifest
from gpukit.images.templating import HERE, to_yaml
from gpukit.plan import ImagePlan, Plan, PoolPlan

JOBS: Final = HERE / "jobs"

POD_HUGE_PAGES: Final = "5120Mi"
"""Huge pages of one pod with EFA; request and limit must be equal. Source: os_settings.csv (eks-efa-doc@2026)."""

RENDEZVOUS_PORT: Final = 29500


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlace:
    """Where jobs run and where their data lies: names that the cluster already has."""

    namespace: str = "default"
    queue: str = ""
    """Kueue's LocalQueue; empty: no queue."""
    data_claim: str = "datasets"
    """PersistentVolumeClaim with the shards."""
    checkpoint_claim: str = "checkpoints"
    """PersistentVolumeClaim for checkpoints, on Lustre."""


def render_training_job(plan: Plan, pool: PoolPlan, *, nodes: int, place: JobPlace, steps: int = 1000) -> str:
    """Return the FSDP training over `nodes` whole nodes, as YAML; UnknownCombination without a PyTorch container."""
    image = _require_framework(plan, pool, "pytorch")
    hosts = f"gpukit-train-0.gpukit-train.{place.namespace}.svc"
    command = (
        f"exec torchrun --nnodes={nodes} --nproc-per-node={pool.gpus_per_node} --node-rank=$JOB_COMPLETION_INDEX "
        f"--master-addr={hosts} --master-port={RENDEZVOUS_PORT} /opt/gpukit/jobs/train_fsdp.py "
        f"--data /data --checkpoints /checkpoints --steps {steps}"
    )
    scripts = ("language_model.py", "train_fsdp.py")
    return _documents(
        _scripts("gpukit-train", scripts, place),
        _service("gpukit-train", place),
        _job(
            "gpukit-train",
            place,
            completions=nodes,
            pod=_pod(image, pool, command, name="gpukit-train", place=place, whole_node=True),
        ),
    )


def render_tensorflow_job(plan: Plan, pool: PoolPlan, *, nodes: int, place: JobPlace, epochs: int = 10) -> str:
    """Return MultiWorkerMirrored training, one worker a node; UnknownCombination without a TensorFlow container."""
    image = _require_framework(plan, pool, "tensorflow")
    name = "gpukit-tensorflow"
    hosts = ",".join(f"{name}-{index}.{name}.{place.namespace}.svc:{RENDEZVOUS_PORT}" for index in range(nodes))
    command = (
        f"export GPUKIT_HOSTS={hosts}; "
        f"exec python3 /opt/gpukit/jobs/train_multiworker.py --data /data --checkpoints /checkpoints --epochs {epochs}"
    )
    return _documents(
        _scripts(name, ("train_multiworker.py",), place),
        _service(name, place),
        _job(
            name,
            place,
            completions=nodes,
            pod=_pod(image, pool, command, name=name, place=place, whole_node=True),
        ),
    )


def render_preprocess_job(plan: Plan, *, workers: int, place: JobPlace, image: str) -> str:
    """Return the data job on CPU nodes; `image` is an exact image with Python 3.9 or later."""
    from gpukit.images.choose import require_exact_container

    require_exact_container(image, "jobs.preprocess.image")
    name = "gpukit-preprocess"
    command = (
        f"export JOB_COMPLETIONS={workers}; "
        "exec python3 /opt/gpukit/jobs/preprocess.py --input /data/texts --output /data"
    )
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "work",
                "image": image,
                "command": ["/bin/sh", "-c", command],
                "resources": {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"memory": "4Gi"}},
                "volumeMounts": [
                    {"name": "scripts", "mountPath": "/opt/gpukit/jobs", "readOnly": True},
                    {"name": "data", "mountPath": "/data"},
                ],
            }
        ],
        "volumes": [
            {"name": "scripts", "configMap": {"name": name}},
            {"name": "data", "persistentVolumeClaim": {"claimName": place.data_claim}},
        ],
    }
    return _documents(_scripts(name, ("preprocess.py",), place), _job(name, place, completions=workers, pod=pod))


def render_evaluation_job(plan: Plan, pool: PoolPlan, *, place: JobPlace, below: float | None = None) -> str:
    """Return the evaluation of the newest checkpoint on one GPU; it fails where the loss is not under `below`."""
    image = _require_framework(plan, pool, "pytorch")
    name = "gpukit-evaluate"
    command = "exec python3 /opt/gpukit/jobs/evaluate.py --data /data --checkpoints /checkpoints"
    if below is not None:
        command += f" --below {below}"
    return _documents(
        _scripts(name, ("language_model.py", "evaluate.py"), place),
        _job(name, place, completions=1, pod=_pod(image, pool, command, name=name, place=place, whole_node=False)),
    )


def render_serving(plan: Plan, pool: PoolPlan, *, model: str, place: JobPlace, least: int = 1, most: int = 4) -> str:
    """
    Return a vLLM Deployment, its Service and an autoscaler on waiting requests.

    `model` is a path on the checkpoint volume: nothing is fetched from outside. The autoscaler reads the pod metric
    `vllm:num_requests_waiting`, which a metrics adapter has to serve. UnknownCombination where no vLLM image fits.
    """
    image = plan.image(pool.image)
    row = next(
        (
            item
            for item in load_manifest().frameworks
            if item.framework == "vllm" and item.cpu_architecture == pool.architecture
        ),
        None,
    )
    if row is None:
        raise UnknownCombination(
            f"pools.{pool.name}: no vLLM container for {pool.architecture}",
            why="framework_versions.csv has none",
            fix="serve on an x86_64 pool",
            nearest=("vllm 0.26.0 on x86_64",),
        )
    name = "gpukit-serve"
    labels = {"app.kubernetes.io/name": name}
    pod = _pod(image, pool, "", name=name, place=place, whole_node=False)
    container = pod["containers"][0]
    container |= {
        "image": row.container,
        "command": ["vllm", "serve", model, "--host", "0.0.0.0", "--port", "8000"],
        "ports": [{"name": "http", "containerPort": 8000}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 5},
        "livenessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 20, "failureThreshold": 6},
        "startupProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10, "failureThreshold": 120},
    }
    container["volumeMounts"] = [
        mount for mount in container["volumeMounts"] if mount["name"] not in ("scripts", "data")
    ]
    pod["volumes"] = [volume for volume in pod["volumes"] if volume["name"] not in ("scripts", "data")]
    pod.pop("restartPolicy")
    pod.pop("subdomain", None)
    meta = {"name": name, "namespace": place.namespace, "labels": labels}
    return _documents(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {**meta, "labels": {**labels, **_queue(place)}},
            "spec": {
                "replicas": least,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": {**labels, **_queue(place)}}, "spec": pod},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta,
            "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
        },
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": meta,
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
                "minReplicas": least,
                "maxReplicas": most,
                "metrics": [
                    {
                        "type": "Pods",
                        "pods": {
                            "metric": {"name": "vllm:num_requests_waiting"},
                            "target": {"type": "AverageValue", "averageValue": "4"},
                        },
                    }
                ],
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}},
            },
        },
    )


def _require_framework(plan: Plan, pool: PoolPlan, framework: str) -> ImagePlan:
    image = plan.image(pool.image)
    if image.framework == framework and image.container:
        return image
    known = tuple(
        f"{row.framework} {row.framework_version}" for row in load_manifest().frameworks if row.framework == framework
    )
    raise UnknownCombination(
        f"images.{image.name}: no {framework} container for this job",
        why=f"the image of pool `{pool.name}` has {image.framework or 'no framework'}",
        fix=f"set `framework: {framework}` on the pool's image",
        nearest=known[:3],
    )


def _pod(
    image: ImagePlan, pool: PoolPlan, command: str, *, name: str, place: JobPlace, whole_node: bool
) -> dict[str, Any]:
    """Return the pod of a GPU job: all devices of a node, or one GPU without EFA."""
    gpus = pool.gpus_per_node if whole_node else 1
    limits: dict[str, str] = {"nvidia.com/gpu": str(gpus)}
    if whole_node and pool.efa_interfaces_per_node:
        limits |= {"vpc.amazonaws.com/efa": str(pool.efa_interfaces_per_node), "hugepages-2Mi": POD_HUGE_PAGES}
    cpu = max(1, (pool.vcpu_per_node * gpus // max(pool.gpus_per_node, 1)) * 9 // 10)
    memory = max(4, int(pool.memory_gib_per_node * gpus / max(pool.gpus_per_node, 1) * 0.85))
    group = pool.node_groups[0]
    tolerations = [
        {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect} for taint in group.taints
    ]
    return {
        "restartPolicy": "Never",
        "subdomain": name,
        "nodeSelector": {"node.kubernetes.io/instance-type": group.instance_type},
        # The job itself has to tolerate the taint: with the toleration only on the flavour Kueue evicts it in a loop.
        "tolerations": tolerations,
        "terminationGracePeriodSeconds": 300,
        "containers": [
            {
                "name": "work",
                "image": image.container or "",
                "command": ["/bin/bash", "-c", command],
                "env": [{"name": key, "value": value} for key, value in sorted(image.environment.items())]
                + [{"name": "PYTHONPATH", "value": "/opt/gpukit/runtime"}],
                "resources": {
                    "requests": {"cpu": str(cpu), "memory": f"{memory}Gi", **limits},
                    "limits": {"memory": f"{memory}Gi", **limits},
                },
                "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
                "volumeMounts": [
                    {"name": "scripts", "mountPath": "/opt/gpukit/jobs", "readOnly": True},
                    {"name": "runtime", "mountPath": "/opt/gpukit/runtime/gpukit_runtime", "readOnly": True},
                    {"name": "data", "mountPath": "/data", "readOnly": True},
                    {"name": "checkpoints", "mountPath": "/checkpoints"},
                    {"name": "shm", "mountPath": "/dev/shm"},
                ],
            }
        ],
        "volumes": [
            {"name": "scripts", "configMap": {"name": name}},
            {"name": "runtime", "configMap": {"name": "gpukit-runtime"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": place.data_claim, "readOnly": True}},
            {"name": "checkpoints", "persistentVolumeClaim": {"claimName": place.checkpoint_claim}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{max(1, memory // 8)}Gi"}},
        ],
    }


def _job(name: str, place: JobPlace, *, completions: int, pod: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": place.namespace,
            "labels": {"app.kubernetes.io/name": name, **_queue(place)},
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": completions,
            "parallelism": completions,
            # A node that dies takes the job down once; the next start goes on from the newest checkpoint.
            "backoffLimit": 3 * completions,
            "suspend": bool(place.queue),
            "template": {"metadata": {"labels": {"app.kubernetes.io/name": name}}, "spec": pod},
        },
    }


def _service(name: str, place: JobPlace) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": place.namespace, "labels": {"app.kubernetes.io/name": name}},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"app.kubernetes.io/name": name},
            "ports": [{"name": "rendezvous", "port": RENDEZVOUS_PORT}],
        },
    }


def _scripts(name: str, files: tuple[str, ...], place: JobPlace) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": place.namespace, "labels": {"app.kubernetes.io/name": name}},
        "data": {file: (JOBS / file).read_text(encoding="utf-8") for file in files},
    }


def render_runtime_config_map(place: JobPlace) -> str:
    """Return the ConfigMap `gpukit-runtime` that GPU jobs mount where the image does not hold the module itself."""
    from gpukit.images.build import runtime_files

    return _documents(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "gpukit-runtime", "namespace": place.namespace},
            "data": runtime_files(),
        }
    )


def _queue(place: JobPlace) -> dict[str, str]:
    return {"kueue.x-k8s.io/queue-name": place.queue} if place.queue else {}


def _documents(*documents: dict[str, Any]) -> str:
    return "---\n".join(to_yaml(document) for document in documents)
