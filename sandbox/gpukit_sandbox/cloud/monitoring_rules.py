"""CloudWatch alarms, log groups, budgets and topics: ranges, lists and names that moto takes and AWS does not."""

import re
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.kms_rules import find_key
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

DAY_SECONDS: Final = 86_400
WEEK_SECONDS: Final = 7 * DAY_SECONDS
HOUR_SECONDS: Final = 3_600
MAX_ACTIONS: Final = 5
SHORT_PERIODS: Final = (10, 20, 30)
_ALARM_DOC: Final = "CloudWatch API reference, PutMetricAlarm: Period, EvaluationPeriods, AlarmActions"
RETENTION_DAYS: Final = (
    1,
    3,
    5,
    7,
    14,
    30,
    60,
    90,
    120,
    150,
    180,
    365,
    400,
    545,
    731,
    1_096,
    1_827,
    2_192,
    2_557,
    2_922,
    3_288,
    3_653,
)
MAX_EMAILS: Final = 10
MAX_NOTIFICATIONS: Final = 10


def _bad_alarm(message: str) -> AwsError:
    return AwsError("ValidationError", message)


@rule("cloudwatch", "PutMetricAlarm", source=_ALARM_DOC)
def alarm_period_is_valid(call: ApiCall) -> None:
    """10, 20, 30 seconds or whole minutes; periods x evaluations within a day, or a week from one hour on."""
    params = call.params
    for each in [
        params,
        *((metric.get("MetricStat") or {}) for metric in params.get("Metrics") or []),
        *(params.get("Metrics") or []),
    ]:
        period = each.get("Period")
        if period is not None and int(period) not in SHORT_PERIODS and (int(period) < 60 or int(period) % 60):
            raise _bad_alarm(f"The parameter Period must be 10, 20, 30 or a multiple of 60; it is {period}.")
    periods = [
        int(each["Period"])
        for each in [params, *((metric.get("MetricStat") or {}) for metric in params.get("Metrics") or [])]
        if each.get("Period")
    ]
    evaluations = int(params.get("EvaluationPeriods") or 1)
    if params.get("DatapointsToAlarm") is not None and not 1 <= int(params["DatapointsToAlarm"]) <= evaluations:
        raise _bad_alarm(f"DatapointsToAlarm must be between 1 and EvaluationPeriods ({evaluations}).")
    for period in periods:
        limit = WEEK_SECONDS if period >= HOUR_SECONDS else DAY_SECONDS
        if period * evaluations > limit:
            raise _bad_alarm(
                f"Metrics cannot be checked across more than {'seven days' if limit == WEEK_SECONDS else 'a day'} (EvaluationPeriods * Period must be <= {limit})."
            )


@rule("cloudwatch", "PutMetricAlarm", "PutCompositeAlarm", source=_ALARM_DOC)
def alarm_actions_are_valid(call: ApiCall) -> None:
    """At most five actions for each state, each an ARN."""
    for name in ("AlarmActions", "OKActions", "InsufficientDataActions"):
        actions = call.params.get(name) or []
        if len(actions) > MAX_ACTIONS:
            raise _bad_alarm(
                f"Value at '{name}' failed to satisfy constraint: Member must have length less than or equal to {MAX_ACTIONS}"
            )
        for each in actions:
            if not str(each).startswith("arn:"):
                raise _bad_alarm(f"Invalid arn syntax: {each}")


@rule("cloudwatch", "PutMetricAlarm", source=_ALARM_DOC)
def alarm_watches_one_thing(call: ApiCall) -> None:
    """One metric with a statistic, or a list of metrics of which one returns data."""
    params = call.params
    if params.get("Metrics"):
        if params.get("MetricName") or params.get("Namespace") or params.get("Statistic"):
            raise AwsError(
                "InvalidParameterCombination", "Metrics list and single metric parameters cannot both be given."
            )
        if sum(1 for each in params["Metrics"] if each.get("ReturnData") is not False) != 1 and not params.get(
            "ThresholdMetricId"
        ):
            raise _bad_alarm("Exactly one element of the metrics list should return data.")
        return
    if not params.get("EvaluationCriteria"):
        if not params.get("MetricName") or not params.get("Namespace"):
            raise AwsError("MissingParameter", "MetricName and Namespace, or Metrics, are required.")
        if bool(params.get("Statistic")) == bool(params.get("ExtendedStatistic")):
            raise AwsError(
                "InvalidParameterCombination" if params.get("Statistic") else "MissingParameter",
                "Exactly one of Statistic and ExtendedStatistic is required.",
            )
        if params.get("Period") is None:
            raise AwsError("MissingParameter", "Period is required.")
    extended = params.get("ExtendedStatistic")
    if extended and not re.fullmatch(
        r"p(\d{1,2}(\.\d{0,10})?|100)|(tm|wm|tc|ts)\d+(\.\d+)?|IQM|(PR|TC|TM|TS|WM)\(.*\)", extended
    ):
        raise _bad_alarm(f"The value {extended} for parameter ExtendedStatistic is not supported.")
    missing = params.get("TreatMissingData")
    if missing is not None and missing not in ("breaching", "notBreaching", "ignore", "missing"):
        raise _bad_alarm(f"Option {missing} for TreatMissingData is not supported.")
    for each in params.get("Dimensions") or []:
        if str(each.get("Name", "")).startswith(":"):
            raise _bad_alarm("Dimension names may not begin with a colon.")
    if len(params.get("Dimensions") or []) > 30:
        raise _bad_alarm("An alarm takes at most 30 dimensions.")
    if params.get("Threshold") is None and not params.get("ThresholdMetricId"):
        raise _bad_alarm("A threshold is required.")


@rule("logs", "PutRetentionPolicy", source="CloudWatch Logs API reference, PutRetentionPolicy: retentionInDays")
def retention_is_one_of_the_list(call: ApiCall) -> None:
    """One of 22 numbers of days."""
    if int(call.params.get("retentionInDays") or 0) not in RETENTION_DAYS:
        raise AwsError(
            "InvalidParameterException", f"retentionInDays must be one of {', '.join(map(str, RETENTION_DAYS))}."
        )


@rule("logs", "CreateLogGroup", source="CloudWatch Logs API reference, CreateLogGroup")
def log_group_is_well_formed(call: ApiCall) -> None:
    """No aws/ at the beginning, and an enabled symmetric key of this Region."""
    name = call.params.get("logGroupName", "")
    if name.startswith("aws/"):
        raise AwsError("InvalidParameterException", "Log groups starting with AWS/ are reserved for AWS.")
    _check_log_key(call, call.params.get("kmsKeyId"))


@rule("logs", "AssociateKmsKey", source="CloudWatch Logs API reference, AssociateKmsKey")
def log_key_exists(call: ApiCall) -> None:
    """The ARN of an enabled symmetric key of this Region."""
    _check_log_key(call, call.params.get("kmsKeyId"))


def _check_log_key(call: ApiCall, key: str | None) -> None:
    if key is None:
        return
    if not re.fullmatch(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+", key):
        raise AwsError("InvalidParameterException", f"The specified KMS key is not an ARN: {key}")
    if key.split(":")[3] == call.region and key.split(":")[4] != ACCOUNT_ID:
        return  # Another account's key is out of sight.
    found = find_key(call, key) if key.split(":")[3] == call.region else None
    if found is None:
        raise AwsError("InvalidParameterException", f"The specified KMS Key Id could not be found. '{key}'")
    if found.key_state != "Enabled":
        raise AwsError("InvalidParameterException", f"The specified KMS key is not enabled: {key}")
    if getattr(found, "key_spec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        raise AwsError("InvalidParameterException", f"CloudWatch Logs takes symmetric keys only: {key}")


@rule(
    "budgets",
    "CreateBudget",
    "UpdateBudget",
    source="Budgets API reference, Budget and CreateBudget; AWS Budgets quotas",
)
def budget_is_well_formed(call: ApiCall) -> None:
    """A name without : and \\, an amount above zero, a unit, a time span in order."""
    budget = call.params.get("Budget") or call.params.get("NewBudget") or {}
    name = budget.get("BudgetName", "")
    if re.search(r"[:\\]", name) or "/action/" in name or not 1 <= len(name) <= 100:
        raise _bad_budget(f"Budget name '{name}' is invalid: 1 to 100 characters without ':', '\\' and '/action/'.")
    limit = budget.get("BudgetLimit")
    planned = budget.get("PlannedBudgetLimits")
    automatic = budget.get("AutoAdjustData")
    if limit and planned:
        raise _bad_budget("BudgetLimit and PlannedBudgetLimits cannot both be given.")
    if not limit and not planned and not automatic:
        raise _bad_budget("BudgetLimit, PlannedBudgetLimits or AutoAdjustData is required.")
    kind = budget.get("BudgetType")
    if limit:
        _check_amount(limit, kind)
    if (
        kind in ("RI_UTILIZATION", "RI_COVERAGE", "SAVINGS_PLANS_UTILIZATION", "SAVINGS_PLANS_COVERAGE")
        and limit
        and str(limit.get("Unit")) != "PERCENTAGE"
    ):
        raise _bad_budget(f"A budget of type {kind} is in PERCENTAGE.")
    if budget.get("TimeUnit") == "DAILY" and planned:
        raise _bad_budget("Planned limits are for monthly and quarterly budgets.")
    period = budget.get("TimePeriod") or {}
    if period.get("Start") and period.get("End") and period["Start"] >= period["End"]:
        raise _bad_budget("The start of the time period must be before its end.")


def _check_amount(limit: dict[str, Any], kind: str | None) -> None:
    try:
        amount = float(limit.get("Amount", ""))
    except ValueError as problem:
        raise _bad_budget(f"Amount '{limit.get('Amount')}' is no number.") from problem
    if amount <= 0:
        raise _bad_budget("The amount of a budget must be above zero.")
    if kind == "COST" and limit.get("Unit") != "USD":
        raise _bad_budget(f"A cost budget is in USD, not in '{limit.get('Unit')}'.")


@rule(
    "budgets",
    "CreateBudget",
    "CreateNotification",
    "CreateSubscriber",
    source="Budgets API reference, Notification and Subscriber; AWS Budgets quotas",
)
def budget_notifications_are_valid(call: ApiCall) -> None:
    """At most ten notifications; ten e-mail addresses and one topic each; a threshold that could be reached."""
    given = call.params.get("NotificationsWithSubscribers") or []
    if call.operation == "CreateNotification":
        given = [{"Notification": call.params.get("Notification"), "Subscribers": call.params.get("Subscribers")}]
    if call.operation == "CreateSubscriber":
        _check_subscriber(call.params.get("Subscriber") or {})
    if len(given) > MAX_NOTIFICATIONS:
        raise AwsError("CreationLimitExceededException", f"A budget takes at most {MAX_NOTIFICATIONS} notifications.")
    seen: set[tuple[Any, ...]] = set()
    for each in given:
        notification, subscribers = each.get("Notification") or {}, each.get("Subscribers") or []
        key = tuple(
            notification.get(name) for name in ("NotificationType", "ComparisonOperator", "Threshold", "ThresholdType")
        )
        if key in seen:
            raise AwsError("DuplicateRecordException", "The same notification is given twice.")
        seen.add(key)
        threshold = float(notification.get("Threshold") or 0)
        if threshold < 0 or (
            notification.get("ThresholdType", "PERCENTAGE") == "PERCENTAGE" and not 0 < threshold <= 1_000_000_000
        ):
            raise _bad_budget(f"The threshold {threshold} is out of range.")
        emails = [one for one in subscribers if one.get("SubscriptionType") == "EMAIL"]
        topics = [one for one in subscribers if one.get("SubscriptionType") == "SNS"]
        if len(emails) > MAX_EMAILS or len(topics) > 1:
            raise AwsError(
                "CreationLimitExceededException",
                f"A notification takes at most {MAX_EMAILS} e-mail subscribers and one SNS topic.",
            )
        if not subscribers:
            raise _bad_budget("A notification needs a subscriber.")
        if len({(one.get("SubscriptionType"), one.get("Address")) for one in subscribers}) != len(subscribers):
            raise AwsError("DuplicateRecordException", "The same subscriber is given twice.")
        for one in subscribers:
            _check_subscriber(one)


def _check_subscriber(one: dict[str, Any]) -> None:
    address = str(one.get("Address") or "")
    if one.get("SubscriptionType") == "EMAIL" and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", address):
        raise _bad_budget(f"'{address}' is no e-mail address.")
    if one.get("SubscriptionType") == "SNS" and not re.fullmatch(
        r"arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_.-]+", address
    ):
        raise _bad_budget(f"'{address}' is no SNS topic ARN.")


def _bad_budget(message: str) -> AwsError:
    return AwsError("InvalidParameterException", message)


@rule("sns", "CreateTopic", source="SNS API reference, CreateTopic")
def topic_name_is_valid(call: ApiCall) -> None:
    """1 to 256 letters, digits, - and _; .fifo only for FIFO topics."""
    name, fifo = (
        call.params.get("Name", ""),
        str((call.params.get("Attributes") or {}).get("FifoTopic", "")).lower() == "true",
    )
    plain = name.removesuffix(".fifo") if fifo else name
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", plain) or (fifo and not name.endswith(".fifo")):
        raise AwsError("InvalidParameter", "Invalid parameter: Topic Name")


@rule(
    "sns",
    "Publish",
    "Subscribe",
    "SetTopicAttributes",
    "GetTopicAttributes",
    source="SNS API reference, error NotFound",
)
def topic_exists(call: ApiCall) -> None:
    """A topic that was made."""
    arn = call.params.get("TopicArn")
    if arn and arn not in get_backend("sns")[ACCOUNT_ID][call.region].topics:
        raise AwsError("NotFound", "Topic does not exist", status=404)
