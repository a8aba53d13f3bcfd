"""Budgets: what moto cannot change or tell: a new limit, the subscribers of a notification, tags."""

from typing import Any, Final

from moto.backends import get_backend
from moto.core.utils import unix_time

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

KIND: Final = "budget tags"
_EVERYWHERE: Final = "aws-global"
_PARTITION: Final = "aws"
"""Key of moto's backend for a service without Regions."""
_NOTIFICATION_KEY: Final = ("NotificationType", "ComparisonOperator", "Threshold", "ThresholdType")


@action("budgets", "CreateBudget")
def create_budget(call: ApiCall) -> Any:
    """Create it as moto does, and remember its tags."""
    answer = call.moto()
    tags = call.params.get("ResourceTags")
    if tags:
        _tags(call)[_arn(call.params["Budget"]["BudgetName"])] = {tag["Key"]: tag["Value"] for tag in tags}
    return answer


@action("budgets", "UpdateBudget")
def update_budget(call: ApiCall) -> dict[str, Any]:
    """Replace everything of a budget but its notifications; what is left out of the period stays."""
    wanted = dict(call.params["NewBudget"])
    found = _find(call, wanted["BudgetName"])
    wanted["TimePeriod"] = {**found.budget.get("TimePeriod", {}), **(wanted.get("TimePeriod") or {})}
    wanted["LastUpdatedTime"] = unix_time()
    found.budget = wanted
    return {}


@action("budgets", "DeleteBudget")
def delete_budget(call: ApiCall) -> Any:
    """Delete it as moto does, and forget its tags."""
    answer = call.moto()
    _tags(call).pop(_arn(call.params["BudgetName"]), None)
    return answer


@action("budgets", "DescribeSubscribersForNotification")
def describe_subscribers(call: ApiCall) -> dict[str, Any]:
    """Return who is told by one notification of a budget."""
    wanted = _key(call.params["Notification"])
    for notification in _find(call, call.params["BudgetName"]).notifications:
        if _key(notification.details) == wanted:
            return {"Subscribers": notification.subscribers}
    raise AwsError("NotFoundException", "Unable to get subscribers - the notification doesn't exist.")


@action("budgets", "ListTagsForResource")
def list_tags(call: ApiCall) -> dict[str, Any]:
    """Return the tags of a budget."""
    found = _tags(call).get(_known(call), {})
    return {"ResourceTags": [{"Key": key, "Value": value} for key, value in sorted(found.items())]}


@action("budgets", "TagResource")
def tag_resource(call: ApiCall) -> dict[str, Any]:
    """Add tags to a budget or change their values."""
    added = {tag["Key"]: tag["Value"] for tag in call.params["ResourceTags"]}
    _tags(call).setdefault(_known(call), {}).update(added)
    return {}


@action("budgets", "UntagResource")
def untag_resource(call: ApiCall) -> dict[str, Any]:
    """Take tags off a budget."""
    found = _tags(call).get(_known(call), {})
    for key in call.params["ResourceTagKeys"]:
        found.pop(key, None)
    return {}


def _find(call: ApiCall, name: str) -> Any:
    budgets = get_backend("budgets")[ACCOUNT_ID][_PARTITION].budgets
    account = call.params.get("AccountId", ACCOUNT_ID)
    if name not in budgets[account]:
        raise AwsError("NotFoundException", f"Unable to get budget: {name} - the budget doesn't exist.")
    return budgets[account][name]


def _tags(call: ApiCall) -> Any:
    return call.world.table(_EVERYWHERE, KIND)


def _known(call: ApiCall) -> str:
    arn = str(call.params["ResourceARN"])
    _find(call, arn.rsplit("/", 1)[-1])
    return arn


def _arn(name: str) -> str:
    return f"arn:aws:budgets::{ACCOUNT_ID}:budget/{name}"


def _key(notification: dict[str, Any]) -> tuple[Any, ...]:
    # the threshold is 80 to one caller and 80.0 to the other
    return tuple(
        float(notification[name]) if name == "Threshold" else notification.get(name) for name in _NOTIFICATION_KEY
    )
