"""Build recordings as small as a test's claim needs."""

from typing import Any

from gpukit.preview.recording import RecordedResource, Recording

PREFIX = "urn:pulumi:dev::demo::"
COMPONENT = f"{PREFIX}gpukit:index:GpuNodePool::train"


def urn(token: str, name: str) -> str:
    return f"{PREFIX}gpukit:index:GpuNodePool${token}::{name}"


def resource(token: str, name: str, inputs: dict[str, Any], **more: Any) -> RecordedResource:
    return RecordedResource(
        urn=urn(token, name),
        id=f"id-of-{name}-abc",
        type_token=token,
        name=name,
        parent=COMPONENT,
        custom=True,
        inputs=inputs,
        **more,
    )


def recording(*resources: RecordedResource, totals: dict[str, Any] | None = None) -> Recording:
    component = RecordedResource(
        urn=COMPONENT, id="", type_token="gpukit:index:GpuNodePool", name="train", parent="", custom=False, inputs={}
    )
    return Recording(
        project="demo",
        stack="dev",
        resources=tuple(sorted((component, *resources), key=lambda one: one.urn)),
        outputs={"totals": totals} if totals else {},
    )
