"""Which communication variables are written: only what the versions need."""

import pytest

from gpukit.images.communication import (
    Stack,
    choose_communication_settings,
    choose_proof_environment,
    explain_variable,
    find_forbidden_settings,
)
from gpukit.images.manifest import load_manifest

RULES = load_manifest().rules


def names(stack: Stack, *, efa: bool = True, family: str = "p5en", gpu: str = "H200", scope: str = "all"):
    chosen, undecided = choose_communication_settings(
        RULES, stack, efa=efa, instance_family=family, gpu_model=gpu, scope=scope
    )
    return {item.variable: item.value for item in chosen}, {item.variable for item in undecided}


MODERN = Stack(
    framework="pytorch", framework_version="2.11.0", ofi_nccl="1.21.1", nccl="2.29.7", efa_installer="1.50.0"
)


def test_a_modern_stack_needs_three_variables() -> None:
    chosen, undecided = names(MODERN)

    assert chosen == {
        "NCCL_NET_PLUGIN": "ofi",
        "NCCL_SOCKET_IFNAME": "^docker,lo,veth",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
    }
    assert undecided == set()


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        pytest.param(Stack(ofi_nccl="1.5.0", nccl="2.29.7", efa_installer="1.50.0"), {"FI_PROVIDER": "efa", "NCCL_PROTO": "simple"}, id="1.5.0"),
        pytest.param(Stack(ofi_nccl="1.6.3", nccl="2.29.7", efa_installer="1.50.0"), {"FI_EFA_USE_DEVICE_RDMA": "1"}, id="1.6"),
        pytest.param(Stack(ofi_nccl="1.7.0", nccl="2.29.7", efa_installer="1.50.0"), {}, id="1.7"),
        pytest.param(Stack(ofi_nccl="1.15.0", nccl="2.29.7", efa_installer="1.50.0"), {"NCCL_NET_PLUGIN": "ofi"}, id="1.15"),
        pytest.param(
            Stack(ofi_nccl="1.21.1", nccl="2.20.5", efa_installer="1.50.0"),
            {"NCCL_NET_PLUGIN": "ofi", "NCCL_TUNER_PLUGIN": "/opt/amazon/ofi-nccl/lib/libnccl-ofi-tuner.so"},
            id="NCCL 2.20",
        ),
        pytest.param(
            Stack(ofi_nccl="1.7.4", nccl="2.19.3", efa_installer="1.28.0"),
            {
                "FI_EFA_SET_CUDA_SYNC_MEMOPS": "0",
                "NCCL_TUNER_PLUGIN": "/opt/amazon/ofi-nccl/lib/libnccl-ofi-tuner.so",
            },
            id="old installer",
        ),
    ],
)  # fmt: skip
def test_old_versions_get_what_they_need_and_no_more(stack, expected) -> None:
    chosen, _ = names(stack)
    chosen.pop("NCCL_SOCKET_IFNAME")

    assert chosen == expected


def test_without_efa_no_efa_variable_is_written() -> None:
    chosen, undecided = names(MODERN, efa=False)

    assert not [
        name for name in chosen | dict.fromkeys(undecided) if name.startswith("FI_") or name == "NCCL_NET_PLUGIN"
    ]


@pytest.mark.parametrize(("family", "there"), [("g5", True), ("g6", True), ("g6e", False), ("p5", False)])
def test_shared_memory_by_dma_is_for_g5_and_g6_only(family, there) -> None:
    chosen, _ = names(MODERN, family=family, efa=False)

    assert ("NCCL_SHM_USE_CUDA_MEMCPY" in chosen) is there


def test_a_rule_on_an_unknown_version_is_left_out_and_named() -> None:
    chosen, undecided = names(Stack(framework="pytorch", framework_version="2.9.0"))

    assert "NCCL_NET_PLUGIN" not in chosen
    assert {"NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN"} <= undecided


def test_only_the_proof_job_is_loud() -> None:
    quiet, _ = names(MODERN)
    loud, _ = names(MODERN, scope="test")

    assert "NCCL_DEBUG" not in quiet
    assert loud["NCCL_DEBUG"] == "INFO"
    assert "TORCH_NCCL_DUMP_ON_TIMEOUT" in loud


def test_what_the_plug_in_sets_itself_is_never_written() -> None:
    leave = {rule.variable for rule in RULES if rule.action == "leave"}
    chosen, _ = names(MODERN)

    assert not leave & set(chosen)


def test_harmful_variables_of_a_user_are_found_with_their_reason() -> None:
    found = find_forbidden_settings(
        RULES, {"FI_EFA_USE_DEVICE_RDMA": "0", "RDMAV_FORK_SAFE": "1", "NCCL_DEBUG": "INFO"}, efa=True
    )

    assert {item.variable for item in found} == {"FI_EFA_USE_DEVICE_RDMA", "RDMAV_FORK_SAFE"}
    assert all(item.because for item in found)


def test_infiniband_settings_matter_only_with_efa() -> None:
    assert not find_forbidden_settings(RULES, {"NCCL_IB_DISABLE": "1"}, efa=False)
    assert find_forbidden_settings(RULES, {"NCCL_IB_DISABLE": "1"}, efa=True)


def test_every_written_variable_can_be_explained() -> None:
    chosen, _ = names(MODERN)

    assert all("stack file" not in explain_variable(RULES, name, value) for name, value in chosen.items())
    assert explain_variable(RULES, "MY_OWN", "1") == "set by the stack file"


def test_a_proof_job_has_the_images_settings_and_is_loud(presets) -> None:
    plan = presets["thousand-card"]
    image = plan.image("pytorch")
    environment = choose_proof_environment(image, efa=True, instance_type="p5en.48xlarge", gpu_model="H200")

    assert image.environment.items() <= environment.items()
    assert (environment["NCCL_DEBUG"], environment["FI_LOG_LEVEL"]) == ("INFO", "warn")
    assert list(environment) == sorted(environment)
