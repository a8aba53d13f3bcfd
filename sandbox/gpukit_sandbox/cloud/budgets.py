"""AWS Budgets: budgets with notifications and subscribers, which moto keeps only in part."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

KIND: Final = "budgets"
PLACE: Final = "global"
_NO_END: Final = datetime(2087, 6, 15, tzinfo=UTC)
_COST_TYPES: Final = {
    "IncludeTax": True,
    "IncludeSubscription": True,
    "UseBlended": False,
    "IncludeRefund": True,
    "IncludeCredit": True,
    "IncludeUpfront": True,
    "IncludeRecurring": True,
    "IncludeOtherSubscription": True,
    "IncludeSupport": True,
    "IncludeDiscount": True,
    "UseAmortized": False,
}


def _same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    def key(each: Mapping[str, Any]) -> tuple[Any, ...]:
        return (
            each.get("NotificationType"),
            each.get("ComparisonOperator"),
            float(each.get("Threshold") or 0),
            each.get("ThresholdType") or "PERCENTAGE",
        )

    return key(first) == key(second)


@action("budgets", "CreateBudget")
def create_budget(call: ApiCall) -> dict[str, Any]:
    """Make a budget with its notifications."""
    table, wanted = call.world.table(PLACE, KIND), call.params["Budget"]
    if wanted["BudgetName"] in table:
        raise AwsError(
            "DuplicateRecordException", f"Error creating budget: {wanted['BudgetName']} - the budget already exists."
        )
    table[wanted["BudgetName"]] = {
        "budget": _described(call, wanted),
        "notifications": [
            {"notification": _with_defaults(each["Notification"]), "subscribers": list(each.get("Subscribers") or [])}
            for each in call.params.get("NotificationsWithSubscribers") or []
        ],
        "tags": [dict(each) for each in call.params.get("ResourceTags") or []],
    }
    return {}


@action("budgets", "DescribeBudget")
def describe_budget(call: ApiCall) -> dict[str, Any]:
    """Return a budget."""
    return {"Budget": _find(call)["budget"]}


@action("budgets", "DescribeBudgets")
def describe_budgets(call: ApiCall) -> dict[str, Any]:
    """Return every budget."""
    return {"Budgets": [each["budget"] for each in call.world.table(PLACE, KIND).values()]}


@action("budgets", "UpdateBudget")
def update_budget(call: ApiCall) -> dict[str, Any]:
    """Replace a budget's settings; its notifications stay."""
    wanted = call.params["NewBudget"]
    record = _find(call, wanted["BudgetName"])
    # What is left out of the period stays.
    record["budget"] = _described(
        call, {**wanted, "TimePeriod": {**record["budget"]["TimePeriod"], **(wanted.get("TimePeriod") or {})}}
    )
    return {}


@action("budgets", "DeleteBudget")
def delete_budget(call: ApiCall) -> dict[str, Any]:
    """Delete a budget with its notifications."""
    _find(call)
    del call.world.table(PLACE, KIND)[call.params["BudgetName"]]
    return {}


@action("budgets", "CreateNotification")
def create_notification(call: ApiCall) -> dict[str, Any]:
    """Add a notification."""
    record = _find(call)
    if any(_same(each["notification"], call.params["Notification"]) for each in record["notifications"]):
        raise AwsError("DuplicateRecordException", "The notification already exists.")
    if len(record["notifications"]) >= 10:
        raise AwsError("CreationLimitExceededException", "A budget takes at most 10 notifications.")
    record["notifications"].append(
        {
            "notification": _with_defaults(call.params["Notification"]),
            "subscribers": list(call.params.get("Subscribers") or []),
        }
    )
    return {}


@action("budgets", "DeleteNotification")
def delete_notification(call: ApiCall) -> dict[str, Any]:
    """Delete a notification."""
    record, found = _find(call), _notification(call)
    record["notifications"] = [each for each in record["notifications"] if each is not found]
    return {}


@action("budgets", "UpdateNotification")
def update_notification(call: ApiCall) -> dict[str, Any]:
    """Replace a notification; its subscribers stay."""
    _notification(call, call.params["OldNotification"])["notification"] = _with_defaults(call.params["NewNotification"])
    return {}


@action("budgets", "DescribeNotificationsForBudget")
def describe_notifications(call: ApiCall) -> dict[str, Any]:
    """Return a budget's notifications."""
    return {"Notifications": [each["notification"] for each in _find(call)["notifications"]]}


@action("budgets", "DescribeSubscribersForNotification")
def describe_subscribers(call: ApiCall) -> dict[str, Any]:
    """Return a notification's subscribers."""
    return {"Subscribers": _notification(call)["subscribers"]}


@action("budgets", "CreateSubscriber")
def create_subscriber(call: ApiCall) -> dict[str, Any]:
    """Add a subscriber."""
    found, wanted = _notification(call), dict(call.params["Subscriber"])
    if wanted in found["subscribers"]:
        raise AwsError("DuplicateRecordException", "The subscriber already exists.")
    same = [each for each in found["subscribers"] if each["SubscriptionType"] == wanted["SubscriptionType"]]
    if len(same) >= (10 if wanted["SubscriptionType"] == "EMAIL" else 1):
        raise AwsError("CreationLimitExceededException", "The notification has as many subscribers as it takes.")
    found["subscribers"].append(wanted)
    return {}


@action("budgets", "DeleteSubscriber")
def delete_subscriber(call: ApiCall) -> dict[str, Any]:
    """Remove a subscriber."""
    found, wanted = _notification(call), dict(call.params["Subscriber"])
    if wanted not in found["subscribers"]:
        raise AwsError("NotFoundException", "The subscriber does not exist.")
    found["subscribers"] = [each for each in found["subscribers"] if each != wanted]
    return {}


@action("budgets", "DescribeBudgetActionsForBudget", "DescribeBudgetActionsForAccount")
def describe_budget_actions(_call: ApiCall) -> dict[str, Any]:
    """Return none: the sandbox makes no budget action."""
    return {"Actions": []}


@action("budgets", "TagResource")
def tag_resource(call: ApiCall) -> dict[str, Any]:
    """Set tags."""
    record = _by_arn(call)
    new = {each["Key"]: each for each in call.params.get("ResourceTags") or []}
    record["tags"] = [each for each in record["tags"] if each["Key"] not in new] + [dict(each) for each in new.values()]
    return {}


@action("budgets", "UntagResource")
def untag_resource(call: ApiCall) -> dict[str, Any]:
    """Remove tags."""
    record = _by_arn(call)
    record["tags"] = [each for each in record["tags"] if each["Key"] not in (call.params.get("ResourceTagKeys") or [])]
    return {}


@action("budgets", "ListTagsForResource")
def list_tags(call: ApiCall) -> dict[str, Any]:
    """Return tags."""
    return {"ResourceTags": _by_arn(call)["tags"]}


def _described(call: ApiCall, wanted: Mapping[str, Any]) -> dict[str, Any]:
    budget = dict(wanted)
    period = dict(budget.get("TimePeriod") or {})
    period.setdefault("Start", call.world.now().replace(day=1, hour=0, minute=0, second=0))
    period.setdefault("End", _NO_END)
    budget["TimePeriod"] = period
    limit = budget.get("BudgetLimit")
    unit = limit["Unit"] if limit else "USD"
    budget["CalculatedSpend"] = {
        "ActualSpend": {"Amount": "0.0", "Unit": unit},
        "ForecastedSpend": {"Amount": "0.0", "Unit": unit},
    }
    if budget["BudgetType"] == "COST" and not budget.get("Metrics"):
        budget["CostTypes"] = {**_COST_TYPES, **(budget.get("CostTypes") or {})}
    budget["LastUpdatedTime"] = call.world.now()
    return budget


def _with_defaults(notification: Mapping[str, Any]) -> dict[str, Any]:
    return {"ThresholdType": "PERCENTAGE", "NotificationState": "OK", **notification}


def _find(call: ApiCall, name: str | None = None) -> dict[str, Any]:
    wanted = name or call.params.get("BudgetName", "")
    if call.params.get("AccountId", ACCOUNT_ID) != ACCOUNT_ID:
        raise AwsError("AccessDeniedException", f"Account {call.params['AccountId']} is not this account.")
    found: dict[str, Any] | None = call.world.table(PLACE, KIND).get(wanted)
    if found is None:
        raise AwsError("NotFoundException", f"Unable to get budget: {wanted} - the budget doesn't exist.")
    return found


def _notification(call: ApiCall, wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
    for each in _find(call)["notifications"]:
        if _same(each["notification"], wanted or call.params["Notification"]):
            found: dict[str, Any] = each
            return found
    raise AwsError("NotFoundException", "Unable to get the notification: it doesn't exist.")


def _by_arn(call: ApiCall) -> dict[str, Any]:
    return _find(call, str(call.params.get("ResourceARN", "")).rsplit("budget/", 1)[-1])
