"""Parameters."""

from collections.abc import Iterable
from typing import Any, ClassVar

from gpukit_sandbox.provider.resource import Resource
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls


class Parameter(Resource):
    """A parameter; its name is its id."""

    token = "aws:ssm/parameter:Parameter"
    service, autoname_max = "ssm", 1011
    create_call = "put_parameter"
    read_call, read_args, item = "get_parameter", {"Name": "{id}", "WithDecryption": True}, "Parameter"
    gone = ("ParameterNotFound",)
    delete_call, delete_args = "delete_parameter", {"Name": "{id}"}
    handles = frozenset({"insecureValue", "overwrite"})
    not_sent = frozenset({"overwrite"})
    tagging = Tagging(
        create_member="Tags",
        tag_call="add_tags_to_resource",
        untag_call="remove_tags_from_resource",
        target={"ResourceType": "Parameter", "ResourceId": "{id}"},
        read_call="list_tags_for_resource",
        read_path="TagList",
    )
    changes_with_every_update = ("version",)
    not_imported = frozenset({"insecureValue", "arn"})

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse none or two values."""
        stated = [n for n in ("value", "insecureValue", "valueWo") if inputs.get(n) is not None]
        if len(stated) != 1:
            yield "value", f"exactly one of value, insecureValue must be stated, not {stated or 'none'}"

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Take the value from where it is stated."""
        params = super().create_params(calls, inputs)
        params["Value"] = str(inputs.get("value") if inputs.get("value") is not None else inputs.get("insecureValue"))
        if inputs.get("overwrite"):
            params["Overwrite"] = True
            params.pop("Tags", None)
        return params

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Write it again; tags go their own way."""
        if "tags" in changed:
            self.tagging.change(calls, "ssm", resource_id, state, self.all_tags(calls, new))
        if changed - {"tags", "tagsAll"}:
            params = {**self.create_params(calls, new), "Overwrite": True}
            params.pop("Tags", None)
            calls.call("ssm", "put_parameter", **params)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Put the value where it was stated; description and tier come from another call."""
        filters = [{"Key": "Name", "Option": "Equals", "Values": [resource_id]}]
        described = (calls.call("ssm", "describe_parameters", ParameterFilters=filters).get("Parameters") or [{}])[0]
        insecure = "insecureValue" in state
        return {
            "name": resource_id,
            "value": None if insecure else item["Value"],
            "insecureValue": item["Value"] if insecure else None,
            "description": described.get("Description") or None,
            "tier": described.get("Tier") or state.get("tier"),
            "arn": item.get("ARN"),
        }

    defaults: ClassVar = {}
