"""KWOK's configuration: every stage is well formed, and a node that fails is never made ready by another stage."""

import pytest
import yaml
from gpukit_sandbox.kube.stages import NODE_FAILS, RUNS_FOR, node_heartbeat, node_ready, pod_completes, render_stages


def test_the_file_holds_one_stage_a_document_with_unique_names() -> None:
    stages = list(yaml.safe_load_all(render_stages()))

    assert [stage["kind"] for stage in stages] == ["Stage"] * len(stages)
    assert len({stage["metadata"]["name"] for stage in stages}) == len(stages)


@pytest.mark.parametrize("stage", [node_ready, node_heartbeat], ids=lambda stage: stage.__name__)
def test_a_failing_node_is_left_alone_by_the_stages_that_say_ready(stage: object) -> None:
    selectors = stage()["spec"]["selector"]["matchExpressions"]  # type: ignore[operator]

    assert {"key": f'.metadata.annotations["{NODE_FAILS}"]', "operator": "DoesNotExist"} in selectors


def test_only_a_jobs_pod_that_says_how_long_it_runs_completes() -> None:
    spec = pod_completes()["spec"]
    keys = {item["key"]: item["operator"] for item in spec["selector"]["matchExpressions"]}  # type: ignore[index]

    assert keys[f'.metadata.annotations["{RUNS_FOR}"]'] == "Exists"
    assert RUNS_FOR in spec["delay"]["durationFrom"]["expressionFrom"]  # type: ignore[index]
