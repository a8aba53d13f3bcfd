"""
Kueue beside a control plane: its objects with the webhooks on 127.0.0.1, and its configuration.

The CustomResourceDefinitions and webhooks come from the very Go module that the binary is built from, and are kept beside the binary.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox import tools
from gpukit_sandbox.errors import MissingTool
from gpukit_sandbox.kube.layout import KubeDirectory

NAMESPACE: Final = "kueue-system"
WEBHOOK_SERVICE: Final = "kueue-webhook-service"
WEBHOOK_SECRET: Final = "kueue-webhook-server-cert"
AUTHORITY_NAME: Final = "kueue-ca"
"""What Kueue calls its own authority; a certificate by another name it would replace. Source: Kueue v0.17.0, pkg/util/cert."""
DNS_NAME: Final = f"{WEBHOOK_SERVICE}.{NAMESPACE}.svc"
CONVERTED: Final = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
"""Kinds with two versions, which Kueue converts. Source: Kueue v0.17.0, config/components/crd/kustomization.yaml."""
LEFT_ALONE: Final = ("kube-system", NAMESPACE)
"""Namespaces whose pods Kueue never judges. Source: Kueue v0.17.0, config/components/webhook/kustomization.yaml."""
FRAMEWORKS: Final = (
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "trainer.kubeflow.org/trainjob",
    "ray.io/rayjob",
    "ray.io/raycluster",
    "pod",
    "deployment",
    "statefulset",
)


def read_sources() -> "list[dict[str, Any]]":
    """
    Return Kueue's CustomResourceDefinitions and webhook configurations as its module has them.

    Raises MissingTool when they are neither beside the binary nor to be had from the Go module.
    """
    kept = tools.cached_path("kueue").parent / "manifests.json"
    if kept.is_file():
        found: list[dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    import yaml

    folder = _module_folder() / "config" / "components"
    files = [*sorted((folder / "crd" / "bases").glob("kueue.x-k8s.io_*.yaml")), folder / "webhook" / "manifests.yaml"]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = [item for file in files for item in yaml.load_all(file.read_text(encoding="utf-8"), Loader=loader) if item]
    kept.parent.mkdir(parents=True, exist_ok=True)
    scratch = kept.with_name(f".manifests-{os.getpid()}")
    scratch.write_text(json.dumps(found), encoding="utf-8")
    os.replace(scratch, kept)
    return found


def render_objects(
    sources: "list[dict[str, Any]]", *, port: int, certificates: Mapping[str, bytes]
) -> "list[dict[str, Any]]":
    """Return what the control plane needs before Kueue starts: namespace, certificate, definitions, webhooks that call 127.0.0.1."""
    bundle = base64.b64encode(certificates["ca.crt"]).decode()
    objects: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": WEBHOOK_SECRET, "namespace": NAMESPACE},
            "data": {name: base64.b64encode(content).decode() for name, content in certificates.items()},
        },
    ]
    for source in sources:
        if source["kind"] == "CustomResourceDefinition":
            objects.append(_definition(source, port, bundle))
        else:
            objects.append(_webhooks(source, port, bundle))
    return objects


def render_configuration(directory: KubeDirectory, ports: Mapping[str, int]) -> str:
    """Return Kueue's configuration file."""
    import yaml

    return yaml.safe_dump(
        {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": NAMESPACE,
            "health": {"healthProbeBindAddress": f"127.0.0.1:{ports['kueue-health']}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {
                "host": "127.0.0.1",
                "port": ports["kueue-webhook"],
                "certDir": str(directory.kueue_certificates),
            },
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {
                "enable": True,
                "webhookServiceName": WEBHOOK_SERVICE,
                "webhookSecretName": WEBHOOK_SECRET,
            },
            "controller": {
                "groupKindConcurrency": {
                    "Job.batch": 5,
                    "Pod": 5,
                    "Workload.kueue.x-k8s.io": 5,
                    "LocalQueue.kueue.x-k8s.io": 1,
                    "Cohort.kueue.x-k8s.io": 1,
                    "ClusterQueue.kueue.x-k8s.io": 1,
                    "ResourceFlavor.kueue.x-k8s.io": 1,
                }
            },
            "clientConnection": {"qps": 300, "burst": 600},
            "managedJobsNamespaceSelector": {
                "matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(LEFT_ALONE)}
                ]
            },
            "integrations": {"frameworks": list(FRAMEWORKS)},
        },
        sort_keys=False,
    )


def _definition(source: Mapping[str, Any], port: int, bundle: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(source))
    made.pop("status", None)
    if made["spec"]["names"]["plural"] in CONVERTED:
        made["spec"]["conversion"] = {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"url": f"https://127.0.0.1:{port}/convert", "caBundle": bundle},
                "conversionReviewVersions": ["v1"],
            },
        }
    return made


def _webhooks(source: Mapping[str, Any], port: int, bundle: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(source))
    made["metadata"]["name"] = "kueue-" + made["metadata"]["name"].removeprefix("kueue-")
    for hook in made["webhooks"]:
        path = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
        if hook["name"][1:].removesuffix(".kb.io") in ("pod", "deployment", "statefulset"):
            hook["namespaceSelector"] = {
                "matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(LEFT_ALONE)}
                ]
            }
    return made


def _module_folder() -> Path:
    go = shutil.which("go")
    version = tools.TOOLS["kueue"].version
    if go is None:
        raise MissingTool(
            "the definitions of Kueue's objects are missing, and go, which could fetch them, is missing too",
            why=f"they come from the module sigs.k8s.io/kueue {version}",
            fix="install Go 1.26 or newer",
        )
    done = subprocess.run(
        [go, "mod", "download", "-json", f"sigs.k8s.io/kueue@{version}"],
        cwd=tools.go_folder("kueue"),
        env={**os.environ, "GOFLAGS": "", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        folder = Path(json.loads(done.stdout)["Dir"])
    except (ValueError, KeyError) as problem:
        raise MissingTool(
            "the definitions of Kueue's objects cannot be fetched",
            why=(done.stderr or done.stdout).strip()[-500:],
            fix="check the network, then again",
        ) from problem
    return folder
