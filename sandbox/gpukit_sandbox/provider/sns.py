"""Topics, subscriptions and topic policies."""

from typing import Any, ClassVar

from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties, plain, same_value
from gpukit_sandbox.provider.world import Calls, Refused

_MISSING = ("NotFound", "NotFoundException")
_TOPIC_ATTRIBUTES = {
    "displayName": "DisplayName",
    "policy": "Policy",
    "deliveryPolicy": "DeliveryPolicy",
    "kmsMasterKeyId": "KmsMasterKeyId",
    "signatureVersion": "SignatureVersion",
    "tracingConfig": "TracingConfig",
    "contentBasedDeduplication": "ContentBasedDeduplication",
}
_SUBSCRIPTION_ATTRIBUTES = {
    "deliveryPolicy": "DeliveryPolicy",
    "filterPolicy": "FilterPolicy",
    "filterPolicyScope": "FilterPolicyScope",
    "rawMessageDelivery": "RawMessageDelivery",
    "redrivePolicy": "RedrivePolicy",
    "subscriptionRoleArn": "SubscriptionRoleArn",
}


class Topic(Resource):
    """A topic; its ARN is its id."""

    token = "aws:sns/topic:Topic"
    service, autoname_max = "sns", 256
    create_call, id_from = "create_topic", "TopicArn"
    gone = _MISSING
    delete_call, delete_args = "delete_topic", {"TopicArn": "{id}"}
    handles = frozenset({"namePrefix", "fifoTopic", *_TOPIC_ATTRIBUTES})
    tagging = Tagging(
        create_member="Tags",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"ResourceArn": "{id}"},
        read_call="list_tags_for_resource",
        read_path="Tags",
    )
    not_imported = frozenset({"namePrefix", "policy"})

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Region, account and name make the ARN."""
        return f"arn:aws:sns:{calls.region}:{calls.account}:{inputs['name']}"

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Settings are attributes, all text."""
        params = super().create_params(calls, inputs)
        attributes = {
            member: plain(inputs[name]) for name, member in _TOPIC_ATTRIBUTES.items() if inputs.get(name) is not None
        }
        if inputs.get("fifoTopic"):
            attributes["FifoTopic"] = "true"
        if attributes:
            params["Attributes"] = attributes
        return params

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read its attributes."""
        return _attributes(calls, "get_topic_attributes", TopicArn=resource_id)

    @applies(*_TOPIC_ATTRIBUTES, on_create=False)
    def set(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Set changed attributes, one call each."""
        for name, member in _TOPIC_ATTRIBUTES.items():
            if not same_value(new.get(name), old.get(name)):
                value = plain(new[name]) if new.get(name) is not None else ""
                calls.call(
                    "sns", "set_topic_attributes", TopicArn=resource_id, AttributeName=member, AttributeValue=value
                )

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add name and ARN."""
        return {
            "arn": resource_id,
            "name": resource_id.rsplit(":", 1)[-1],
            "policy": item.get("Policy"),
            "owner": item.get("Owner"),
        }


class TopicSubscription(Resource):
    """A subscription. E-mail ones stay pending until somebody confirms them."""

    token = "aws:sns/topicSubscription:TopicSubscription"
    service, autoname = "sns", ""
    create_call, id_from = "subscribe", "SubscriptionArn"
    gone = _MISSING
    delete_call, delete_args = "unsubscribe", {"SubscriptionArn": "{id}"}
    renames: ClassVar = {"topic": "TopicArn"}
    handles = frozenset({"confirmationTimeoutInMinutes", "endpointAutoConfirms", *_SUBSCRIPTION_ATTRIBUTES})
    defaults: ClassVar = {"confirmationTimeoutInMinutes": 1, "endpointAutoConfirms": False}

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Settings are attributes, all text."""
        params = super().create_params(calls, inputs)
        attributes = {
            member: plain(inputs[name]) for name, member in _SUBSCRIPTION_ATTRIBUTES.items() if inputs.get(name)
        }
        return {**params, "ReturnSubscriptionArn": True, **({"Attributes": attributes} if attributes else {})}

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read its attributes."""
        return _attributes(calls, "get_subscription_attributes", SubscriptionArn=resource_id)

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """A topic has one subscription of an endpoint at most."""
        for found in calls.call("sns", "list_subscriptions_by_topic", TopicArn=inputs["topic"])["Subscriptions"]:
            if found["Endpoint"] == inputs["endpoint"] and found["SubscriptionArn"].startswith("arn:"):
                return str(found["SubscriptionArn"])
        return None

    @applies(*_SUBSCRIPTION_ATTRIBUTES, on_create=False)
    def set(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Set changed attributes, one call each."""
        for name, member in _SUBSCRIPTION_ATTRIBUTES.items():
            if not same_value(new.get(name), old.get(name)):
                value = plain(new[name]) if new.get(name) is not None else ""
                calls.call(
                    "sns",
                    "set_subscription_attributes",
                    SubscriptionArn=resource_id,
                    AttributeName=member,
                    AttributeValue=value,
                )

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add its ARN and state."""
        return {
            "arn": resource_id,
            "ownerId": item.get("Owner"),
            "pendingConfirmation": item.get("PendingConfirmation") == "true",
            "rawMessageDelivery": item.get("RawMessageDelivery") == "true" if "rawMessageDelivery" in state else None,
        }


class TopicPolicy(Resource):
    """A topic's policy; the topic's ARN is its id."""

    token = "aws:sns/topicPolicy:TopicPolicy"
    service, autoname = "sns", ""
    handles = frozenset({"arn", "policy"})
    gone = _MISSING

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Write it."""
        calls.call(
            "sns",
            "set_topic_attributes",
            TopicArn=inputs["arn"],
            AttributeName="Policy",
            AttributeValue=inputs["policy"],
        )
        return str(inputs["arn"])

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it off the topic."""
        return _attributes(calls, "get_topic_attributes", TopicArn=resource_id)

    @applies("policy", on_create=False)
    def rewrite(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Write it again."""
        self.make(calls, new)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the topic."""
        return {"arn": resource_id, "owner": item.get("Owner")}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Give the topic AWS's own policy back: its owner and nobody else."""
        import json

        own = {
            "Version": "2008-10-17",
            "Id": "__default_policy_ID",
            "Statement": [
                {
                    "Sid": "__default_statement_ID",
                    "Effect": "Allow",
                    "Principal": {"AWS": "*"},
                    "Action": ["SNS:GetTopicAttributes", "SNS:SetTopicAttributes", "SNS:AddPermission", "SNS:RemovePermission",
                               "SNS:DeleteTopic", "SNS:Subscribe", "SNS:ListSubscriptionsByTopic", "SNS:Publish"],
                    "Resource": resource_id,
                    "Condition": {"StringEquals": {"AWS:SourceOwner": calls.account}},
                }
            ],
        }  # fmt: skip
        calls.call(
            "sns", "set_topic_attributes", TopicArn=resource_id, AttributeName="Policy", AttributeValue=json.dumps(own)
        )


def _attributes(calls: Calls, operation: str, **arguments: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = calls.call("sns", operation, **arguments)["Attributes"]
    except Refused as refusal:
        if refusal.code in _MISSING:
            return None
        raise
    return found
