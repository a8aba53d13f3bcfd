"""Texts that nobody would write, and somebody will: hooks, pins and outputs of commands."""

import email
import subprocess
from dataclasses import replace

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from gpukit.images.choose import choose_image, require_exact_container
from gpukit.images.listing import bump_image
from gpukit.images.manifest import FloatingPin, ImageError
from gpukit.images.render import render_before_join, render_node_user_data
from gpukit.plan import BootHookPlan

TEXT = some.text(some.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=300)

QUIET = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(content=TEXT)
def test_any_text_of_a_hook_arrives_as_it_was_written(presets, tmp_path, content) -> None:
    plan = presets["thousand-card"]
    pool = replace(plan.pools[0], boot=(BootHookPlan(name="any", when="before-join", content=content, sha256=""),))
    script = render_before_join(pool=pool, group=pool.node_groups[0], image=plan.image(pool.image), gate=False)
    start = script.index("cat >/opt/gpukit/before-01-any.sh")
    block = script[start : script.rindex("bash /opt/gpukit/before-01-any.sh")].replace("/opt/gpukit", str(tmp_path))
    (tmp_path / "run.sh").write_bytes(block.encode())

    subprocess.run(["bash", tmp_path / "run.sh"], check=True)

    assert (tmp_path / "before-01-any.sh").read_bytes() == (content.rstrip("\n") + "\n").encode()


@QUIET
@given(content=TEXT)
def test_any_text_of_a_hook_leaves_the_document_in_two_parts(presets, content) -> None:
    plan = presets["thousand-card"]
    pool = replace(plan.pools[0], boot=(BootHookPlan(name="any", when="before-join", content=content, sha256=""),))
    text = render_node_user_data(pool=pool, group=pool.node_groups[0], image=plan.image(pool.image))
    parts = [part for part in email.message_from_bytes(text.encode()).walk() if not part.is_multipart()]

    assert [part.get_content_type() for part in parts] == ["text/x-shellscript", "application/node.eks.aws"]
    assert yaml.safe_load(parts[1].get_payload())["kind"] == "NodeConfig"


NAMES = some.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=12).filter(
    lambda name: name[0].isalpha()
)


@settings(max_examples=60, deadline=None)
@given(
    images=some.dictionaries(NAMES, some.dictionaries(some.sampled_from(["framework", "version", "ami_id"]), some.sampled_from(["pytorch", "none", "2.9.0", "ami-0123456789abcdef0"]), min_size=1), min_size=1, max_size=4),
    before=some.lists(some.sampled_from(["# a comment", "name: x", "tags: {a: b}", ""]), max_size=3),
    indent=some.sampled_from([2, 4]),
)  # fmt: skip
def test_a_bump_changes_the_one_pin_and_nothing_else(images, before, indent) -> None:
    lines = [*dict.fromkeys(before), "images:"]
    for name, body in images.items():
        lines.append(" " * indent + f"{name}:")
        lines += [" " * 2 * indent + f"{key}: {value}" for key, value in body.items()]
    text = "\n".join([*lines, "budget: {hourly_usd: 5}", ""])
    target = next(iter(images))

    bumped = yaml.safe_load(bump_image(text, target, "ami-00000000000000001"))

    wanted = yaml.safe_load(text)
    wanted["images"][target]["ami_id"] = "ami-00000000000000001"
    assert bumped == wanted


@pytest.mark.parametrize(
    "pin",
    [
        "",
        " ",
        "ami-",
        "ami-xyz",
        "$(id)",
        "a b",
        "../..",
        "x:\n  y",
        "repo/x:LATEST",
        "repo/x:v1-latest",
        "repo/x@sha256:123",
    ],
)
def test_a_pin_that_is_none_is_refused(pin) -> None:
    with pytest.raises(ImageError):
        bump_image("images:\n  a:\n    framework: none\n", "a", pin)


@settings(max_examples=100, deadline=None)
@given(name=some.text(max_size=60))
def test_any_container_name_is_taken_or_refused_but_never_breaks(name) -> None:
    refused = _refusal(lambda: require_exact_container(name, "images.x.container"))

    assert refused is None or (isinstance(refused, FloatingPin) and refused.fix)


@settings(max_examples=60, deadline=None)
@given(
    gpu=some.text(max_size=20),
    version=some.text(max_size=10),
    kubernetes=some.text(max_size=10),
    architecture=some.text(max_size=10),
    instance_type=some.text(max_size=20),
)
def test_any_wish_gets_an_image_or_an_image_error(gpu, version, kubernetes, architecture, instance_type) -> None:
    refused = _refusal(
        lambda: choose_image(
            name="x",
            framework="pytorch",
            framework_version=version,
            architecture=architecture,
            gpu_architecture=None,
            gpu_model=gpu,
            role="eks",
            kubernetes_version=kubernetes,
            region="us-east-1",
            instance_type=instance_type,
        )
    )

    assert refused is None or refused.problem.startswith("images.x")


def _refusal(act):
    try:
        act()
    except ImageError as refused:
        return refused
    return None


@settings(max_examples=40, deadline=None)
@given(text=some.text(max_size=400))
def test_any_output_of_a_command_is_a_verdict_and_never_a_crash(node_check, text) -> None:
    class Machine(node_check.Machine):
        def run(self, *command, timeout=60):
            return 0, text

        def read(self, *parts):
            return text

        def names(self, *parts):
            return [text[:5].replace("/", "")] if text else None

        def link_name(self, *parts):
            return "efa"

    expected = {"gpus": 8, "gpu_model": "H200", "efa_interfaces": 16, "local_nvme": 8, "lustre": True, "dcgm_level": 1}
    verdict = node_check.judge(Machine(sleep=lambda _: None, now=lambda: 0.0), expected)

    assert verdict["healthy"] is False
    assert verdict["reason"]
