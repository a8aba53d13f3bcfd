"""Which image a pool gets, why, and what is refused with the nearest known."""

import pytest

from gpukit.images.choose import choose_image
from gpukit.images.manifest import FloatingPin, UnknownCombination

GIANT = "public.ecr.aws/team/train@sha256:" + "0" * 64


def choose(instance_type: str, gpu: str | None, **changes):
    wish = {
        "name": "train",
        "framework": "pytorch",
        "framework_version": None,
        "architecture": "x86_64",
        "gpu_architecture": None,
        "gpu_model": gpu,
        "role": "eks",
        "kubernetes_version": "1.36",
        "region": "us-east-1",
        "pinned": {},
        "efa": False,
        "instance_type": instance_type,
        "catalog": None,
    }
    return choose_image(**{**wish, **changes})


@pytest.mark.parametrize(
    ("instance_type", "gpu", "changes", "expected"),
    [
        pytest.param(
            "p5en.48xlarge", "H200", {"efa": True}, ("AL2023_x86_64_NVIDIA", "1.36.2-20260728"), id="thousand-card"
        ),
        pytest.param(
            "p6e-gb200.36xlarge",
            "GB200",
            {"efa": True, "architecture": "arm64"},
            ("AL2023_ARM_64_NVIDIA", "1.36.2-20260728"),
            id="thousand-card-liquid",
        ),
        pytest.param(
            "p5.48xlarge", "H100", {"kubernetes_version": "1.34"}, ("AL2023_x86_64_NVIDIA", "1.34.9-20260801"), id="1.34"
        ),
        pytest.param(
            "m7i.large", None, {"framework": None}, ("AL2023_x86_64_STANDARD", "1.36.2-20260728"), id="system pool"
        ),
        pytest.param(
            "m7g.large",
            None,
            {"framework": "none", "architecture": "arm64"},
            ("AL2023_ARM_64_STANDARD", "1.36.2-20260728"),
            id="arm system pool",
        ),
        pytest.param(
            "trn2.48xlarge",
            "Trainium2",
            {"framework": None},
            ("AL2023_x86_64_NEURON", "1.36.2-20260728"),
            id="trainium",
        ),
    ],
)  # fmt: skip
def test_a_node_gets_the_eks_release_of_its_architecture(instance_type, gpu, changes, expected) -> None:
    image, _ = choose(instance_type, gpu, **changes)

    assert (image.ami_type, image.release_version) == expected
    assert image.source == "eks-release"


def test_a_workstation_gets_a_dated_dlami_of_its_framework() -> None:
    image, _ = choose("g5.xlarge", "A10G", role="ec2", kubernetes_version=None)

    assert image.ami_name == "Deep Learning OSS Nvidia Driver AMI GPU PyTorch 2.9 (Ubuntu 24.04) 20260317"
    assert image.ami_owner == "898082745236"
    assert image.container is None
    assert image.ami_type is None


def test_a_workstation_without_a_dlami_of_its_framework_gets_the_base_and_a_container() -> None:
    image, _ = choose("g7e.2xlarge", "RTX-PRO-6000-SE", role="ec2", kubernetes_version=None)

    assert image.ami_name == "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 24.04) 20261006"
    assert image.container is not None
    assert "pytorch" in image.container


@pytest.mark.parametrize(
    ("instance_type", "gpu"), [("p6-b300.48xlarge", "B300"), ("g7.2xlarge", "RTX-PRO-4500-SE"), ("g6.xlarge", "L4")]
)
def test_every_family_of_today_runs_as_a_workstation(instance_type, gpu) -> None:
    image, _ = choose(instance_type, gpu, role="ec2", kubernetes_version=None)

    assert image.ami_name is not None


def test_an_efa_pool_gets_a_container_whose_nccl_and_plug_in_are_known() -> None:
    image, _ = choose("p5en.48xlarge", "H200", efa=True)

    assert image.components["nccl"] == "2.29.7"
    assert image.components["ofi_nccl"] == "1.17.0"
    assert image.environment["NCCL_NET_PLUGIN"] == "ofi"


def test_the_thousand_card_image_explains_driver_cuda_efa_plug_in_nccl_and_framework() -> None:
    image, decisions = choose("p5en.48xlarge", "H200", efa=True)

    assert {"driver", "cuda", "efa_driver", "ofi_nccl", "nccl", "pytorch", "kernel"} <= set(image.components)
    assert all(decision.source for decision in decisions)
    assert any(decision.subject == "images.train.driver" and "Hopper" in decision.because for decision in decisions)


@pytest.mark.parametrize(
    ("gpu", "architecture", "precision", "scaling", "formats"),
    [
        pytest.param("V100-32", "x86_64", "fp16", "1", "fp32,fp16", id="Volta"),
        pytest.param("T4", "x86_64", "fp16", "1", "fp32,fp16", id="Turing"),
        pytest.param("A100-80", "x86_64", "bf16", "0", "fp32,tf32,fp16,bf16", id="Ampere"),
        pytest.param("H100", "x86_64", "bf16", "0", "fp32,tf32,fp16,bf16,fp8", id="Hopper"),
        pytest.param("B200", "x86_64", "bf16", "0", "fp32,tf32,fp16,bf16,fp8,fp4", id="Blackwell"),
        pytest.param("GB300", "arm64", "bf16", "0", "fp32,tf32,fp16,bf16,fp8,fp4", id="Blackwell Ultra"),
    ],
)
def test_precision_settings_follow_the_generation(gpu, architecture, precision, scaling, formats) -> None:
    family = {"V100-32": "p3dn", "T4": "g4dn", "A100-80": "p4de", "H100": "p5", "B200": "p6-b200", "GB300": "p6e-gb300"}
    image, _ = choose(f"{family[gpu]}.48xlarge", gpu, architecture=architecture)

    assert image.environment["GPUKIT_TRAINING_PRECISION"] == precision
    assert image.environment["GPUKIT_LOSS_SCALING"] == scaling
    assert image.environment["GPUKIT_PRECISIONS"] == formats


def test_volta_gets_the_newest_container_that_still_has_its_cuda() -> None:
    image, _ = choose("p3dn.24xlarge", "V100-32")

    assert image.framework_version == "2.8.0"
    assert image.components["cuda"] == "12.9"


@pytest.mark.parametrize(
    ("instance_type", "gpu", "changes", "words", "nearest"),
    [
        pytest.param(
            "p3dn.24xlarge",
            "V100-32",
            {"framework_version": "2.9.0"},
            "pytorch 2.9.0 (pytorch-2.9.0-dlc) runs from compute capability 7.5 on, V100-32 has 7.0",
            "pytorch 2.8.0",
            id="CUDA 13 on Volta",
        ),
        pytest.param(
            "p5.48xlarge",
            "H100",
            {"framework": "tensorflow", "framework_version": "2.19"},
            "tensorflow for x86_64 is known in 2.17.0, not in 2.19",
            "tensorflow 2.17.0",
            id="TensorFlow nobody pinned",
        ),
        pytest.param(
            "g7.12xlarge",
            "RTX-PRO-4500-SE",
            {},
            "`amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260728` is not known to run on g7",
            "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 24.04) 20261006",
            id="g7 needs driver 595",
        ),
        pytest.param(
            "p5.48xlarge",
            "H100",
            {"kubernetes_version": "1.29"},
            "ami_pins.csv has no row for it",
            "AL2023_x86_64_NVIDIA 1.34.9-20260801",
            id="Kubernetes without a release",
        ),
        pytest.param(
            "p5.48xlarge",
            "H100",
            {"pinned": {"driver": "595.91.07"}},
            "`amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260728` has driver 580.159.03, not 595.91.07",
            "AL2023_x86_64_NVIDIA 1.36.2-20260728",
            id="a driver no AMI has",
        ),
        pytest.param(
            "p6e-gb200.36xlarge",
            "GB200",
            {"architecture": "x86_64"},
            "the manifest knows GB200 on arm64 hosts only",
            "GB200 on arm64",
            id="GB200 on x86_64",
        ),
        pytest.param(
            "p9.48xlarge",
            "H201",
            {},
            "without a row nothing says which driver and precision it needs",
            "H200",
            id="a GPU nobody knows",
        ),
    ],
)
def test_an_unknown_combination_names_why_and_the_nearest(instance_type, gpu, changes, words, nearest) -> None:
    with pytest.raises(UnknownCombination) as caught:
        choose(instance_type, gpu, **changes)

    assert caught.value.why == words
    assert nearest in caught.value.nearest


def test_no_image_carries_a_k80() -> None:
    with pytest.raises(UnknownCombination):
        choose("p2.xlarge", "K80")


@pytest.mark.parametrize(
    "container",
    [
        "pytorch/pytorch",
        "pytorch/pytorch:latest",
        "repo/x:stable",
        "repo/x:main-latest",
        "localhost:5000/x",
        "x:v2-nightly",
    ],
)
def test_a_container_that_can_move_is_refused(container) -> None:
    with pytest.raises(FloatingPin, match=r"images\.train\.container"):
        choose("p5.48xlarge", "H100", pinned={"container": container})


@pytest.mark.parametrize("container", [GIANT, "repo:5000/x/y:1.2.3", "nvcr.io/nvidia/pytorch:25.12-py3"])
def test_a_container_with_digest_or_exact_version_is_taken(container) -> None:
    image, _ = choose("p5.48xlarge", "H100", pinned={"container": container})

    assert image.container == container


@pytest.mark.parametrize("name", ["Deep Learning*", "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 24.04)"])
def test_an_ami_name_that_matches_many_is_refused(name) -> None:
    with pytest.raises(FloatingPin, match="is not one AMI"):
        choose("g5.xlarge", "A10G", role="ec2", pinned={"ami_name": name})


@pytest.mark.parametrize("release", ["latest", "1.36", "v20260728"])
def test_a_release_that_is_no_release_is_refused(release) -> None:
    with pytest.raises(FloatingPin, match="is not an EKS AMI release"):
        choose("p5.48xlarge", "H100", pinned={"release_version": release})


def test_a_release_of_another_kubernetes_version_is_refused() -> None:
    with pytest.raises(UnknownCombination, match=r"`1\.35\.6-20260728` with Kubernetes 1\.36"):
        choose("p5.48xlarge", "H100", pinned={"release_version": "1.35.6-20260728"})


def test_a_newer_release_than_the_manifest_is_taken_and_says_that_it_is_not_known() -> None:
    image, _ = choose("p5.48xlarge", "H100", pinned={"release_version": "1.36.3-20261101"})

    assert image.release_version == "1.36.3-20261101"
    assert "driver" not in image.components
    assert "newer than the manifest" in image.because


def test_a_pinned_ami_id_wins_and_its_contents_are_not_claimed() -> None:
    image, _ = choose("p5.48xlarge", "H100", pinned={"ami_id": "ami-0123456789abcdef0"})

    assert (image.source, image.ami_id, image.ami_type) == ("ami-id", "ami-0123456789abcdef0", "CUSTOM")
    assert "driver" not in image.components
    assert image.release_version is None


@pytest.mark.parametrize("gpu", ["H800", "H20", "A800-80", "L20", "H200"])
def test_nodes_that_exist_get_container_and_environment_only(gpu) -> None:
    image, decisions = choose("", gpu, role="existing", kubernetes_version=None, efa=False)

    assert (image.source, image.ami_id, image.ami_name, image.release_version, image.ami_type) == (
        "existing",
        None,
        None,
        None,
        None,
    )
    assert image.container is not None
    assert image.environment["GPUKIT_TRAINING_PRECISION"] == "bf16"
    assert image.gib == 0
    assert decisions[0].choice == "existing"


def test_two_choices_of_one_wish_are_equal() -> None:
    assert choose("p5en.48xlarge", "H200", efa=True) == choose("p5en.48xlarge", "H200", efa=True)


def test_a_container_takes_root_space_even_where_its_size_is_unknown() -> None:
    plain, _ = choose("p5.48xlarge", "H100", framework=None)
    known, _ = choose("p5.48xlarge", "H100")
    own, _ = choose("p5.48xlarge", "H100", pinned={"container": GIANT})

    assert (plain.gib, known.gib, own.gib) == (20, 37, 39)


def test_every_problem_names_its_image_first() -> None:
    with pytest.raises(UnknownCombination, match=r"^images\.train: no known AMI for pytorch on H100"):
        choose("p5.48xlarge", "H100", kubernetes_version="1.29")
