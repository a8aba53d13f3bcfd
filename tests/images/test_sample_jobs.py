"""Manifests of the sample jobs for the presets."""

import ast
from pathlib import Path

import pytest
import yaml

from gpukit.images.manifest import FloatingPin, UnknownCombination
from gpukit.images.sample_jobs import (
    JobPlace,
    render_evaluation_job,
    render_preprocess_job,
    render_runtime_config_map,
    render_serving,
    render_tensorflow_job,
    render_training_job,
)

PLACE = JobPlace(namespace="vision", queue="vision")
PYTHON = "public.ecr.aws/docker/library/python:3.13.7-slim"
JOBS = Path(__file__).parents[2] / "gpukit" / "images" / "jobs"


def load(text: str) -> dict[str, dict]:
    return {item["kind"]: item for item in yaml.safe_load_all(text)}


@pytest.fixture
def thousand(presets):
    plan = presets["thousand-card"]
    return plan, plan.pools[0]


def without_scripts(text: str) -> str:
    documents = [item for item in yaml.safe_load_all(text) if item["kind"] != "ConfigMap"]
    return yaml.safe_dump_all(documents, sort_keys=False, width=110)


@pytest.mark.parametrize("preset", ["multi-node", "thousand-card", "thousand-card-liquid"])
def test_the_training_job_of_every_preset_is_a_golden(presets, compare_golden, preset) -> None:
    plan = presets[preset]
    pool = plan.pools[0]

    compare_golden(
        f"{preset}.train.yaml", without_scripts(render_training_job(plan, pool, nodes=pool.nodes, place=PLACE))
    )


def test_serving_is_a_golden(thousand, compare_golden) -> None:
    compare_golden("serve.yaml", render_serving(*thousand, model="/checkpoints/model", place=PLACE))


def test_a_training_pod_takes_all_gpus_and_all_efa_interfaces_of_its_node(thousand) -> None:
    job = load(render_training_job(*thousand, nodes=128, place=PLACE))["Job"]
    container = job["spec"]["template"]["spec"]["containers"][0]
    resources = container["resources"]

    assert resources["limits"]["nvidia.com/gpu"] == "8"
    assert resources["limits"]["vpc.amazonaws.com/efa"] == "16"
    assert resources["limits"]["hugepages-2Mi"] == resources["requests"]["hugepages-2Mi"] == "5120Mi"
    assert resources["limits"]["memory"] == resources["requests"]["memory"]
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (128, 128)


def test_a_training_pod_carries_the_settings_of_its_image(thousand) -> None:
    plan, pool = thousand
    job = load(render_training_job(plan, pool, nodes=2, place=PLACE))["Job"]
    container = job["spec"]["template"]["spec"]["containers"][0]
    environment = {item["name"]: item["value"] for item in container["env"]}

    assert container["image"] == plan.image(pool.image).container
    assert plan.image(pool.image).environment.items() <= environment.items()


def test_the_job_tolerates_the_taints_of_its_nodes_by_itself(thousand) -> None:
    plan, pool = thousand
    job = load(render_training_job(plan, pool, nodes=2, place=PLACE))["Job"]
    tolerated = {(item["key"], item["effect"]) for item in job["spec"]["template"]["spec"]["tolerations"]}

    assert tolerated == {(taint.key, taint.effect) for taint in pool.node_groups[0].taints}


def test_a_queued_job_starts_suspended_and_a_plain_one_does_not(thousand) -> None:
    queued = load(render_training_job(*thousand, nodes=2, place=PLACE))["Job"]
    plain = load(render_training_job(*thousand, nodes=2, place=JobPlace()))["Job"]

    assert queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "vision"
    assert (queued["spec"]["suspend"], plain["spec"]["suspend"]) == (True, False)


def test_ranks_meet_at_the_first_pod_by_its_service_name(thousand) -> None:
    found = load(render_training_job(*thousand, nodes=2, place=PLACE))
    command = found["Job"]["spec"]["template"]["spec"]["containers"][0]["command"][-1]

    assert "--master-addr=gpukit-train-0.gpukit-train.vision.svc" in command
    assert found["Service"]["spec"]["clusterIP"] == "None"
    assert found["Service"]["spec"]["selector"] == {"app.kubernetes.io/name": "gpukit-train"}
    assert found["Job"]["spec"]["template"]["spec"]["subdomain"] == found["Service"]["metadata"]["name"]


def test_evaluation_takes_one_gpu_and_no_efa(thousand) -> None:
    job = load(render_evaluation_job(*thousand, place=PLACE, below=3.5))["Job"]
    container = job["spec"]["template"]["spec"]["containers"][0]

    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert "vpc.amazonaws.com/efa" not in container["resources"]["limits"]
    assert container["command"][-1].endswith("--below 3.5")


def test_preprocess_needs_no_gpu_and_shares_its_files_by_index(thousand) -> None:
    job = load(render_preprocess_job(thousand[0], workers=16, place=PLACE, image=PYTHON))["Job"]
    container = job["spec"]["template"]["spec"]["containers"][0]

    assert "nvidia.com/gpu" not in str(container["resources"])
    assert "JOB_COMPLETIONS=16" in container["command"][-1]
    with pytest.raises(FloatingPin):
        render_preprocess_job(thousand[0], workers=1, place=PLACE, image="python:latest")


def test_serving_grows_with_waiting_requests_and_listens_inside_the_cluster_only(thousand) -> None:
    found = load(render_serving(*thousand, model="/checkpoints/model", place=PLACE, least=2, most=8))
    scaler = found["HorizontalPodAutoscaler"]["spec"]

    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (2, 8)
    assert scaler["metrics"][0]["pods"]["metric"]["name"] == "vllm:num_requests_waiting"
    assert "type" not in found["Service"]["spec"]


def test_a_job_of_another_framework_than_the_pools_image_is_refused(thousand) -> None:
    with pytest.raises(UnknownCombination, match="no tensorflow container for this job"):
        render_tensorflow_job(*thousand, nodes=2, place=PLACE)


def test_tensorflow_workers_know_each_other() -> None:
    import datetime

    from gpukit.planning import plan_from_preset

    plan = plan_from_preset(
        "multi-node", sets=("images.pytorch.framework=tensorflow",), today=datetime.date(2026, 12, 1)
    ).plan
    assert plan is not None
    job = load(render_tensorflow_job(plan, plan.pools[0], nodes=2, place=PLACE))["Job"]
    command = job["spec"]["template"]["spec"]["containers"][0]["command"][-1]

    assert (
        "GPUKIT_HOSTS=gpukit-tensorflow-0.gpukit-tensorflow.vision.svc:29500,"
        "gpukit-tensorflow-1.gpukit-tensorflow.vision.svc:29500"
    ) in command


def test_serving_on_arm_says_what_is_known(presets) -> None:
    plan = presets["thousand-card-liquid"]

    with pytest.raises(UnknownCombination, match="no vLLM container for arm64"):
        render_serving(plan, plan.pools[0], model="/checkpoints/model", place=PLACE)


def test_config_maps_hold_the_scripts_and_stay_under_kubernetes_limit(thousand) -> None:
    data = load(render_training_job(*thousand, nodes=2, place=PLACE))["ConfigMap"]["data"]
    runtime = load(render_runtime_config_map(PLACE))["ConfigMap"]["data"]

    assert data["train_fsdp.py"] == (JOBS / "train_fsdp.py").read_text()
    assert set(runtime) == {"__init__.py", "decide.py", "frameworks.py"}
    assert sum(len(text) for text in (*data.values(), *runtime.values())) < 1_000_000


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.py")), ids=lambda path: path.name)
def test_every_script_of_a_job_parses(path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 10))
