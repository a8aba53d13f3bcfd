"""Budgets tell people in time, by mail and by an encrypted topic."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plans
from gpukit_components.spend_guard import SpendGuard, SpendGuardBuild
from recorder import Recorder

from gpukit.plan import BudgetPlan

BUDGET = BudgetPlan(hourly_usd=5.0, monthly_usd=1000.0, notify=("team@example.com",), alert_pct=(50, 80, 100))
BUILD = SpendGuardBuild(budget=BUDGET, stack_name="ml-test", region="us-east-1", tags=plans.TAGS)


def _build(recorded: Callable[..., Recorder], **changes: Any) -> Recorder:
    return recorded(lambda: SpendGuard.from_plan("ml", replace(BUILD, **changes)))


def test_people_are_told_at_each_share_and_when_the_forecast_is_above_the_budget(
    recorded: Callable[..., Recorder],
) -> None:
    budget = _build(recorded).one("Budget", "ml-monthly").inputs

    assert (budget["limitAmount"], budget["timeUnit"]) == ("1000.00", "MONTHLY")
    told = [(item["notificationType"], item["threshold"]) for item in budget["notifications"]]
    assert told == [("ACTUAL", 50), ("ACTUAL", 80), ("ACTUAL", 100), ("FORECASTED", 100)]
    for item in budget["notifications"]:
        assert item["subscriberEmailAddresses"] == ["team@example.com"]
        assert item["subscriberSnsTopicArns"] == ["arn:aws:mock:us-east-1:111122223333:ml-spend"]


def test_hourly_cap_is_watched_as_a_day(recorded: Callable[..., Recorder]) -> None:
    budget = _build(recorded).one("Budget", "ml-daily").inputs

    assert (budget["limitAmount"], budget["timeUnit"]) == ("120.00", "DAILY")
    assert {item["notificationType"] for item in budget["notifications"]} == {"ACTUAL"}


def test_budget_names_have_no_colon(recorded: Callable[..., Recorder]) -> None:
    names = [budget.inputs["name"] for budget in _build(recorded).of("Budget")]

    assert sorted(names) == ["ml-test-daily", "ml-test-monthly"]


def test_topic_is_encrypted_and_only_budgets_and_alarms_of_this_account_send_to_it(
    recorded: Callable[..., Recorder],
) -> None:
    made = _build(recorded)

    assert made.one("Topic").inputs["kmsMasterKeyId"] == "arn:aws:mock:us-east-1:111122223333:ml-spend-key"
    (statement,) = json.loads(made.one("TopicPolicy").inputs["policy"])["Statement"]
    assert statement["Principal"] == {"Service": ["budgets.amazonaws.com", "cloudwatch.amazonaws.com"]}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": "111122223333"}}
    key_policy = json.loads(made.one("Key").inputs["policy"])
    assert "budgets.amazonaws.com" in json.dumps(key_policy)


def test_alarm_on_charges_is_made_where_the_metric_exists(recorded: Callable[..., Recorder]) -> None:
    assert _build(recorded).one("MetricAlarm").inputs["metricName"] == "EstimatedCharges"
    assert _build(recorded, region="eu-west-1").of("MetricAlarm") == []


def test_whole_account_is_counted_unless_a_cost_tag_is_named(recorded: Callable[..., Recorder]) -> None:
    """A filter on a tag that is not activated counts nothing, so the default errs towards counting too much."""
    assert "costFilters" not in _build(recorded).one("Budget", "ml-monthly").inputs
    tagged = _build(recorded, cost_tag="team$vision").one("Budget", "ml-monthly").inputs
    assert tagged["costFilters"] == [{"name": "TagKeyValue", "values": ["user:team$vision"]}]
