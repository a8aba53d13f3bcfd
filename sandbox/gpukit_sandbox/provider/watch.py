"""Logs, alarms, dashboards, event rules, schedules and budgets."""

from collections.abc import Iterable
from typing import Any, ClassVar

from gpukit_sandbox.provider.convert import from_api, to_api
from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.sdk_types import nested_type
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties, has_unknown, same_value
from gpukit_sandbox.provider.world import Calls, Refused


class LogGroup(Resource):
    """A log group; its name is its id."""

    token = "aws:cloudwatch/logGroup:LogGroup"
    service, autoname_max = "logs", 512
    create_call = "create_log_group"
    gone = ("ResourceNotFoundException",)
    delete_call, delete_args = "delete_log_group", {"logGroupName": "{id}"}
    renames: ClassVar = {"name": "logGroupName"}
    handles = frozenset({"namePrefix", "skipDestroy"})
    tagging = Tagging(
        create_member="tags",
        form="map",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"resourceArn": "{arn}"},
        tags_member="tags",
        keys_member="tagKeys",
        read_call="list_tags_for_resource",
        read_path="tags",
    )
    arn = "arn:aws:logs:{region}:{account}:log-group:{id}"
    defaults: ClassVar = {"skipDestroy": False}
    not_imported = frozenset({"namePrefix"})

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it among those with its name as prefix."""
        for group in calls.call("logs", "describe_log_groups", logGroupNamePrefix=resource_id)["logGroups"]:
            if group["logGroupName"] == resource_id:
                return dict(group)
        return None

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """No retention is written as 0."""
        return {"retentionInDays": int(item.get("retentionInDays") or 0), "name": resource_id}

    @applies("retentionInDays")
    def retention(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Set or lift the retention."""
        if new.get("retentionInDays"):
            calls.call(
                "logs", "put_retention_policy", logGroupName=resource_id, retentionInDays=int(new["retentionInDays"])
            )
        elif old.get("retentionInDays"):
            calls.call("logs", "delete_retention_policy", logGroupName=resource_id)

    @applies("kmsKeyId", on_create=False)
    def key(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Bind another key."""
        if new.get("kmsKeyId"):
            calls.call("logs", "associate_kms_key", logGroupName=resource_id, kmsKeyId=new["kmsKeyId"])
        else:
            calls.call("logs", "disassociate_kms_key", logGroupName=resource_id)

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it, unless it shall stay."""
        if not state.get("skipDestroy"):
            calls.call("logs", "delete_log_group", logGroupName=resource_id)


class MetricAlarm(Resource):
    """An alarm; its name is its id. Every change writes the whole alarm."""

    token = "aws:cloudwatch/metricAlarm:MetricAlarm"
    service, autoname_max = "cloudwatch", 255
    create_call = "put_metric_alarm"
    read_call, read_args, item = "describe_alarms", {"AlarmNames": ["{id}"]}, "MetricAlarms[0]"
    gone = ("ResourceNotFound",)
    delete_call, delete_args = "delete_alarms", {"AlarmNames": ["{id}"]}
    renames: ClassVar = {
        "name": "AlarmName",
        "metricQueries": "Metrics",
        "okActions": "OKActions",
        "metric": "MetricStat",
        "evaluateLowSampleCountPercentiles": "EvaluateLowSampleCountPercentile",
        "arn": "AlarmArn",
    }
    handles = frozenset({"dimensions", "metricQueries"})
    not_sent = frozenset({"dimensions", "metricQueries"})
    tagging = Tagging(
        create_member="Tags",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"ResourceARN": "{arn}"},
        read_call="list_tags_for_resource",
        read_path="Tags",
    )
    defaults: ClassVar = {"actionsEnabled": True, "treatMissingData": "missing"}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Dimensions are a list there; a metric inside a query is nested deeper."""
        params = super().create_params(calls, inputs)
        if inputs.get("dimensions"):
            params["Dimensions"] = _dimensions(inputs["dimensions"])
        if inputs.get("metricQueries"):
            params["Metrics"] = [_query(q) for q in inputs["metricQueries"]]
        return params

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Write the alarm again; tags go their own way."""
        if "tags" in changed:
            self.tagging.change(calls, "cloudwatch", resource_id, state, self.all_tags(calls, new))
        if changed - {"tags", "tagsAll"}:
            params = self.create_params(calls, new)
            params.pop("Tags", None)
            calls.call("cloudwatch", "put_metric_alarm", **params)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read dimensions and queries back."""
        found: Properties = {
            "name": item["AlarmName"],
            "dimensions": {d["Name"]: d["Value"] for d in item.get("Dimensions") or []},
        }
        queries = [_query_back(q) for q in item.get("Metrics") or []]
        found["metricQueries"] = queries or None
        return found


def _dimensions(stated: Properties) -> list[dict[str, str]]:
    return [{"Name": name, "Value": str(value)} for name, value in sorted(stated.items())]


def _query(stated: Properties) -> dict[str, Any]:
    names = {
        "id": "Id",
        "expression": "Expression",
        "label": "Label",
        "returnData": "ReturnData",
        "period": "Period",
        "accountId": "AccountId",
    }
    query = {member: stated[name] for name, member in names.items() if stated.get(name) not in (None, "")}
    metric = stated.get("metric")
    if metric:
        inner = {"MetricName": metric["metricName"], "Dimensions": _dimensions(metric.get("dimensions") or {})}
        if metric.get("namespace"):
            inner["Namespace"] = metric["namespace"]
        query["MetricStat"] = {"Metric": inner, "Period": int(metric["period"]), "Stat": metric["stat"]}
        if metric.get("unit"):
            query["MetricStat"]["Unit"] = metric["unit"]
    return query


def _query_back(item: dict[str, Any]) -> Properties:
    found = from_api(
        {k: v for k, v in item.items() if k != "MetricStat"}, nested_type("#cloudwatch.MetricAlarmMetricQuery") or {}
    )
    stat = item.get("MetricStat")
    if stat:
        metric = stat["Metric"]
        found["metric"] = {
            "metricName": metric.get("MetricName"),
            "namespace": metric.get("Namespace"),
            "dimensions": {d["Name"]: d["Value"] for d in metric.get("Dimensions") or []},
            "period": stat.get("Period"),
            "stat": stat.get("Stat"),
            "unit": stat.get("Unit"),
        }
        found["metric"] = {k: v for k, v in found["metric"].items() if v is not None}
    return found


class Dashboard(Resource):
    """A dashboard; its name is its id."""

    token = "aws:cloudwatch/dashboard:Dashboard"
    service, autoname = "cloudwatch", "dashboardName"
    create_call = "put_dashboard"
    read_call, read_args = "get_dashboard", {"DashboardName": "{id}"}
    gone = ("ResourceNotFound", "DashboardNotFoundError")
    delete_call, delete_args = "delete_dashboards", {"DashboardNames": ["{id}"]}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["dashboardName"])

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Write it; complaints about its widgets come in the answer."""
        answer = calls.call("cloudwatch", "put_dashboard", **self.create_params(calls, inputs))
        errors = [m.get("Message", "") for m in answer.get("DashboardValidationMessages") or []]
        if errors:
            raise Refused(f"cloudwatch PutDashboard: {'; '.join(errors)}", "InvalidParameterInput")
        return self.make_id(answer, inputs)

    @applies("dashboardBody", on_create=False)
    def rewrite(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Write it again."""
        self.make(calls, new)


class EventRule(Resource):
    """An event rule; its name is its id on the default bus."""

    token = "aws:cloudwatch/eventRule:EventRule"
    service, autoname_max = "events", 64
    create_call = "put_rule"
    gone = ("ResourceNotFoundException",)
    handles = frozenset({"namePrefix", "forceDestroy", "isEnabled"})
    tagging = Tagging(
        create_member="Tags",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"ResourceARN": "{arn}"},
        read_call="list_tags_for_resource",
        read_path="Tags",
    )
    defaults: ClassVar = {"eventBusName": "default", "forceDestroy": False}
    not_imported = frozenset({"namePrefix", "isEnabled"})

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse a rule that nothing triggers."""
        if not inputs.get("eventPattern") and not inputs.get("scheduleExpression"):
            yield "eventPattern", "one of eventPattern, scheduleExpression must be stated"

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name, with its bus when it is not the default one."""
        bus = inputs.get("eventBusName", "default")
        return str(inputs["name"]) if bus == "default" else f"{bus}/{inputs['name']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Bus and name make it."""
        return self.make_id({}, inputs)

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Translate the older switch."""
        params = super().create_params(calls, inputs)
        if inputs.get("isEnabled") is not None and "State" not in params:
            params["State"] = "ENABLED" if inputs["isEnabled"] else "DISABLED"
        return params

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it by bus and name."""
        bus, _, name = resource_id.rpartition("/")
        try:
            return calls.call("events", "describe_rule", Name=name, EventBusName=bus or "default")
        except Refused as refusal:
            if refusal.code in self.gone:
                return None
            raise

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Write the rule again; tags go their own way."""
        if "tags" in changed:
            self.tagging.change(calls, "events", resource_id, state, self.all_tags(calls, new))
        if changed - {"tags", "tagsAll"}:
            params = self.create_params(calls, new)
            params.pop("Tags", None)
            calls.call("events", "put_rule", **params)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Keep the older switch in step."""
        return {"isEnabled": item.get("State") == "ENABLED", "eventBusName": item.get("EventBusName") or "default"}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it; `forceDestroy` takes targets off first."""
        bus, _, name = resource_id.rpartition("/")
        if state.get("forceDestroy"):
            ids = [
                t["Id"]
                for t in calls.call("events", "list_targets_by_rule", Rule=name, EventBusName=bus or "default")[
                    "Targets"
                ]
            ]
            if ids:
                calls.call("events", "remove_targets", Rule=name, EventBusName=bus or "default", Ids=ids, Force=True)
        calls.call("events", "delete_rule", Name=name, EventBusName=bus or "default")


class EventTarget(Resource):
    """What a rule calls."""

    token = "aws:cloudwatch/eventTarget:EventTarget"
    service, autoname = "events", "targetId"
    gone = ("ResourceNotFoundException",)
    handles = frozenset({"rule", "eventBusName", "targetId", "forceDestroy", "runCommandTargets", "inputTransformer", "sqsTarget", "arn", "input",
                         "inputPath", "roleArn", "deadLetterConfig", "retryPolicy"})  # fmt: skip
    defaults: ClassVar = {"eventBusName": "default", "forceDestroy": False}

    def _written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        shape = calls.shape("events", "put_targets").members["Targets"].member
        stated = {
            k: inputs[k]
            for k in ("arn", "input", "inputPath", "roleArn", "deadLetterConfig", "retryPolicy")
            if inputs.get(k) is not None
        }
        target = to_api(stated, shape)
        target["Id"] = inputs["targetId"]
        if inputs.get("inputTransformer"):
            stated = inputs["inputTransformer"]
            target["InputTransformer"] = {
                "InputTemplate": stated["inputTemplate"],
                "InputPathsMap": dict(stated.get("inputPaths") or {}),
            }
        if inputs.get("runCommandTargets"):
            target["RunCommandParameters"] = {
                "RunCommandTargets": [{"Key": t["key"], "Values": t["values"]} for t in inputs["runCommandTargets"]]
            }
        if inputs.get("sqsTarget"):
            target["SqsParameters"] = {"MessageGroupId": inputs["sqsTarget"].get("messageGroupId", "")}
        return target

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Write it; refusals come in the answer."""
        bus = inputs.get("eventBusName", "default")
        answer = calls.call(
            "events", "put_targets", Rule=inputs["rule"], EventBusName=bus, Targets=[self._written(calls, inputs)]
        )
        for entry in answer.get("FailedEntries") or []:
            raise Refused(
                f"events PutTargets: {entry.get('ErrorCode')}: {entry.get('ErrorMessage')}", str(entry.get("ErrorCode"))
            )
        return self._id(inputs)

    def _id(self, inputs: Properties) -> str:
        return f"{inputs['rule']}-{inputs['targetId']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Rule and target id make it."""
        return self._id(inputs)

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it among the rule's targets."""
        bus = state.get("eventBusName") or "default"
        try:
            targets = calls.call("events", "list_targets_by_rule", Rule=state["rule"], EventBusName=bus)["Targets"]
        except Refused as refusal:
            if refusal.code in self.gone:
                return None
            raise
        return next(
            ({**t, "Rule": state["rule"], "TargetId": t["Id"]} for t in targets if t["Id"] == state["targetId"]), None
        )

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Write it again."""
        self.make(calls, new)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read the parameters back."""
        found: Properties = {}
        transformer = item.get("InputTransformer")
        if transformer:
            found["inputTransformer"] = {
                "inputTemplate": transformer["InputTemplate"],
                "inputPaths": transformer.get("InputPathsMap") or {},
            }
        commands = (item.get("RunCommandParameters") or {}).get("RunCommandTargets")
        if commands:
            found["runCommandTargets"] = [{"key": c["Key"], "values": c["Values"]} for c in commands]
        return found

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Take it off."""
        bus = state.get("eventBusName") or "default"
        force = bool(state.get("forceDestroy"))
        calls.call(
            "events", "remove_targets", Rule=state["rule"], EventBusName=bus, Ids=[state["targetId"]], Force=force
        )


class Schedule(Resource):
    """A schedule; its id is `group/name`. Every change writes the whole schedule."""

    token = "aws:scheduler/schedule:Schedule"
    service, autoname_max = "scheduler", 64
    create_call = "create_schedule"
    gone = ("ResourceNotFoundException",)
    handles = frozenset({"namePrefix"})
    defaults: ClassVar = {"groupName": "default", "state": "ENABLED", "scheduleExpressionTimezone": "UTC"}
    update_call, update_sends_all = "update_schedule", True

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return group and name."""
        return f"{inputs.get('groupName', 'default')}/{inputs['name']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Group and name make it."""
        return self.make_id({}, inputs)

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it by group and name."""
        group, _, name = resource_id.partition("/")
        try:
            return calls.call("scheduler", "get_schedule", GroupName=group, Name=name)
        except Refused as refusal:
            if refusal.code in self.gone:
                return None
            raise

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it."""
        group, _, name = resource_id.partition("/")
        calls.call("scheduler", "delete_schedule", GroupName=group, Name=name)


class Budget(Resource):
    """A budget with its notifications; its id is `account:name`."""

    token = "aws:budgets/budget:Budget"
    service, autoname_max = "budgets", 100
    create_call = "create_budget"
    gone = ("NotFoundException",)
    handles = frozenset({"accountId", "name", "namePrefix", "budgetType", "costFilters", "costTypes", "limitAmount", "limitUnit", "notifications",
                         "timePeriodEnd", "timePeriodStart", "timeUnit"})  # fmt: skip
    tagging = Tagging(
        create_member="ResourceTags",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"ResourceARN": "{arn}"},
        tags_member="ResourceTags",
        keys_member="ResourceTagKeys",
        read_call="list_tags_for_resource",
        read_path="ResourceTags",
    )
    not_imported = frozenset({"namePrefix", "notifications"})

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return account and name."""
        return f"{inputs['accountId']}:{inputs['name']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Account and name make it."""
        return f"{inputs.get('accountId') or calls.account}:{inputs['name']}"

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Create it with its notifications."""
        account = inputs.get("accountId") or calls.account
        rows = [_notification(n) for n in inputs.get("notifications") or []]
        tags = self.tagging.on_create({}, self.all_tags(calls, inputs), True)
        calls.call(
            "budgets",
            "create_budget",
            AccountId=account,
            Budget=_budget(inputs),
            NotificationsWithSubscribers=rows,
            **tags,
        )
        return f"{account}:{inputs['name']}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read budget, notifications and subscribers."""
        account, _, name = resource_id.partition(":")
        try:
            budget = dict(calls.call("budgets", "describe_budget", AccountId=account, BudgetName=name)["Budget"])
            found = calls.call("budgets", "describe_notifications_for_budget", AccountId=account, BudgetName=name).get(
                "Notifications", []
            )
        except Refused as refusal:
            if refusal.code in self.gone:
                return None
            raise
        rows = []
        for notification in found:
            notification = {k: v for k, v in notification.items() if k != "NotificationState"}
            rows.append((notification, self._subscribers(calls, account, name, notification, state)))
        return {"Budget": budget, "rows": rows, "account": account}

    def _subscribers(
        self, calls: Calls, account: str, name: str, notification: dict[str, Any], state: Properties
    ) -> list[dict[str, str]]:
        try:
            answer = calls.call(
                "budgets",
                "describe_subscribers_for_notification",
                AccountId=account,
                BudgetName=name,
                Notification=notification,
            )
        except Refused as refusal:
            if refusal.code not in ("NotImplemented", "501"):
                raise
            # Where the double's server cannot tell the subscribers, drift in them is not seen.
            stated = [_notification(n) for n in state.get("notifications") or []]
            return next((row["Subscribers"] for row in stated if same_value(row["Notification"], notification)), [])
        found: list[dict[str, str]] = answer.get("Subscribers", [])
        return found

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Write it all back in the SDK's words."""
        budget = item["Budget"]
        limit = budget.get("BudgetLimit") or {}
        amount = str(limit.get("Amount", ""))
        stated = state.get("limitAmount")
        if stated is not None and amount and float(amount) == float(stated):
            amount = stated
        found: Properties = {
            "name": budget["BudgetName"],
            "accountId": item["account"],
            "budgetType": budget.get("BudgetType"),
            "timeUnit": budget.get("TimeUnit"),
            "limitAmount": amount or None,
            "limitUnit": limit.get("Unit"),
            "arn": f"arn:aws:budgets::{item['account']}:budget/{budget['BudgetName']}",
            "costFilters": [
                {"name": k, "values": list(v)} for k, v in sorted((budget.get("CostFilters") or {}).items())
            ],
            "notifications": _in_stated_order(
                [_notification_back(n, s) for n, s in item["rows"]], state.get("notifications") or []
            ),
        }
        if budget.get("CostTypes") and state.get("costTypes"):
            found["costTypes"] = from_api(budget["CostTypes"], nested_type("#budgets.BudgetCostTypes") or {})
        return found

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Update the budget and replace changed notifications."""
        account, _, name = resource_id.partition(":")
        if "tags" in changed:
            self.tagging.change(calls, "budgets", resource_id, state, self.all_tags(calls, new))
        if changed - {"tags", "tagsAll", "notifications"}:
            calls.call("budgets", "update_budget", AccountId=account, NewBudget=_budget(new))
        if "notifications" in changed:
            before = [_notification(n) for n in old.get("notifications") or []]
            after = [_notification(n) for n in new.get("notifications") or []]
            for row in before:
                if row not in after:
                    calls.call(
                        "budgets",
                        "delete_notification",
                        AccountId=account,
                        BudgetName=name,
                        Notification=row["Notification"],
                    )
            for row in after:
                if row not in before:
                    calls.call("budgets", "create_notification", AccountId=account, BudgetName=name, **row)

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it."""
        account, _, name = resource_id.partition(":")
        calls.call("budgets", "delete_budget", AccountId=account, BudgetName=name)


def _budget(inputs: Properties) -> dict[str, Any]:
    budget: dict[str, Any] = {
        "BudgetName": inputs["name"],
        "BudgetType": inputs["budgetType"],
        "TimeUnit": inputs["timeUnit"],
    }
    if inputs.get("limitAmount") is not None:
        budget["BudgetLimit"] = {"Amount": str(inputs["limitAmount"]), "Unit": inputs.get("limitUnit", "USD")}
    if inputs.get("costFilters"):
        budget["CostFilters"] = {f["name"]: list(f["values"]) for f in inputs["costFilters"]}
    if inputs.get("costTypes"):
        budget["CostTypes"] = {name[0].upper() + name[1:]: bool(value) for name, value in inputs["costTypes"].items()}
    period = {}
    for name, member in (("timePeriodStart", "Start"), ("timePeriodEnd", "End")):
        if inputs.get(name) and not has_unknown(inputs[name]):
            # The SDK writes times as 2026-12-01_00:00.
            period[member] = str(inputs[name]).replace("_", "T") + ":00Z"
    if period:
        budget["TimePeriod"] = period
    return budget


def _notification(stated: Properties) -> dict[str, Any]:
    people = [{"SubscriptionType": "EMAIL", "Address": a} for a in stated.get("subscriberEmailAddresses") or []]
    people += [{"SubscriptionType": "SNS", "Address": a} for a in stated.get("subscriberSnsTopicArns") or []]
    return {
        "Notification": {
            "NotificationType": stated["notificationType"],
            "ComparisonOperator": stated["comparisonOperator"],
            "Threshold": float(stated["threshold"]),
            "ThresholdType": stated["thresholdType"],
        },
        "Subscribers": people,
    }


def _notification_back(item: dict[str, Any], subscribers: list[dict[str, str]]) -> Properties:
    return {
        "notificationType": item["NotificationType"],
        "comparisonOperator": item["ComparisonOperator"],
        "threshold": item["Threshold"],
        "thresholdType": item.get("ThresholdType", "PERCENTAGE"),
        "subscriberEmailAddresses": [s["Address"] for s in subscribers if s["SubscriptionType"] == "EMAIL"],
        "subscriberSnsTopicArns": [s["Address"] for s in subscribers if s["SubscriptionType"] == "SNS"],
    }


def _in_stated_order(actual: list[Properties], stated: list[Properties]) -> list[Properties]:
    ordered, left = [], list(actual)
    for wanted in stated:
        match = next((a for a in left if same_value(a, wanted)), None)
        if match is not None:
            ordered.append(wanted)
            left.remove(match)
    return ordered + left
