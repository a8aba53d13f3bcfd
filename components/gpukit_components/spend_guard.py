"""`SpendGuard`: budgets that tell people before the money is gone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import BudgetPlan
from gpukit_components.encryption import make_encryption_key

PUBLISHERS = ("budgets.amazonaws.com", "cloudwatch.amazonaws.com")
"""Services that send to the topic."""

BILLING_REGION = "us-east-1"
"""The one Region that has the metric of estimated charges. Source: CloudWatch User Guide, "billing alarm", 2026-08."""


class SpendGuardArgs(TypedDict):
    """What may be spent, and who is told."""

    monthly_usd: NotRequired[float]
    """The most per month."""
    hourly_usd: NotRequired[float]
    """The most per hour; watched as 24 hours a day, the finest that AWS Budgets knows."""
    notify: NotRequired[list[str]]
    """E-mail addresses."""
    alert_pct: NotRequired[list[int]]
    """Shares of the budget in per cent at which people are told."""
    cost_tag: NotRequired[str]
    """Count only what carries this cost allocation tag, as `key$value`; the whole account when left out."""
    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """KMS key for the topic; a key of its own when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags on everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendGuardBuild:
    """A decided budget."""

    budget: BudgetPlan
    stack_name: str
    region: str
    tags: Mapping[str, str]
    cost_tag: str | None = None
    kms_key_arn: pulumi.Input[str] | None = None


class SpendGuard(pulumi.ComponentResource):
    """Budgets with notifications by e-mail and by an encrypted topic, on what was spent and on what is forecast."""

    topic_arn: pulumi.Output[str]
    """ARN of the topic that budgets and alarms send to."""
    monthly_budget_name: pulumi.Output[str] | None
    """Name of the monthly budget; none where no monthly cap is stated."""
    daily_budget_name: pulumi.Output[str] | None
    """Name of the daily budget; none where no hourly cap is stated."""

    def __init__(
        self,
        name: str,
        args: SpendGuardArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: SpendGuardBuild | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_spend_guard

            planned = plan_spend_guard(name, args)
        super().__init__("gpukit:index:SpendGuard", name, None, opts)
        self._name, self._planned = name, planned
        self._child = pulumi.ResourceOptions(parent=self)
        budget = planned.budget

        topic, allowed = self._make_topic()
        self._topic_arn = topic.arn
        self._after_topic = pulumi.ResourceOptions(parent=self, depends_on=[allowed])
        self.topic_arn = topic.arn
        self.monthly_budget_name = None
        self.daily_budget_name = None
        if budget.monthly_usd is not None:
            self.monthly_budget_name = self._make_budget("monthly", "MONTHLY", budget.monthly_usd)
            if planned.region == BILLING_REGION:
                self._make_billing_alarm(budget.monthly_usd)
        if budget.hourly_usd is not None:
            self.daily_budget_name = self._make_budget("daily", "DAILY", 24 * budget.hourly_usd)
        self.register_outputs(
            {
                "topicArn": self.topic_arn,
                "monthlyBudgetName": self.monthly_budget_name,
                "dailyBudgetName": self.daily_budget_name,
            }
        )

    @classmethod
    def from_plan(cls, name: str, planned: SpendGuardBuild, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Build what a plan has decided."""
        return cls(name, cast(SpendGuardArgs, {}), opts, planned=planned)

    def _make_topic(self) -> tuple[Any, pulumi.Resource]:
        import pulumi_aws as aws

        planned = self._planned
        key_arn = planned.kms_key_arn or make_encryption_key(
            f"{self._name}-spend",
            purpose="messages about spending",
            region=planned.region,
            tags=planned.tags,
            opts=self._child,
            via_services=("sns",),
            publishers=PUBLISHERS,
        )
        topic = aws.sns.Topic(
            f"{self._name}-spend", kms_master_key_id=key_arn, tags=dict(planned.tags), opts=self._child
        )
        account = aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(parent=self)).account_id
        allowed: pulumi.Resource = aws.sns.TopicPolicy(
            f"{self._name}-spend",
            arn=topic.arn,
            policy=pulumi.Output.json_dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Sid": "BudgetsAndAlarmsOfThisAccount",
                            "Effect": "Allow",
                            "Principal": {"Service": list(PUBLISHERS)},
                            "Action": "sns:Publish",
                            "Resource": topic.arn,
                            "Condition": {"StringEquals": {"aws:SourceAccount": account}},
                        }
                    ],
                }
            ),
            opts=self._child,
        )
        return topic, allowed

    def _make_budget(self, suffix: str, time_unit: str, limit_usd: float) -> pulumi.Output[str]:
        import pulumi_aws as aws

        planned = self._planned
        notifications = [self._notification("ACTUAL", pct) for pct in planned.budget.alert_pct]
        if time_unit == "MONTHLY":
            # a daily budget has no forecast
            notifications.append(self._notification("FORECASTED", 100))
        made = aws.budgets.Budget(
            f"{self._name}-{suffix}",
            name=f"{planned.stack_name}-{suffix}",
            budget_type="COST",
            time_unit=time_unit,
            limit_amount=f"{limit_usd:.2f}",
            limit_unit="USD",
            cost_filters=(
                [{"name": "TagKeyValue", "values": [f"user:{planned.cost_tag}"]}] if planned.cost_tag else None
            ),
            notifications=notifications,
            tags=dict(planned.tags),
            opts=self._after_topic,
        )
        budget_name: pulumi.Output[str] = made.name
        return budget_name

    def _notification(self, kind: str, threshold_pct: int) -> dict[str, Any]:
        return {
            "comparison_operator": "GREATER_THAN",
            "notification_type": kind,
            "threshold": threshold_pct,
            "threshold_type": "PERCENTAGE",
            "subscriber_email_addresses": list(self._planned.budget.notify),
            "subscriber_sns_topic_arns": [self._topic_arn],
        }

    def _make_billing_alarm(self, monthly_usd: float) -> None:
        import pulumi_aws as aws

        aws.cloudwatch.MetricAlarm(
            f"{self._name}-charges",
            alarm_description=f"Charges of this month are above {monthly_usd:.2f} USD",
            namespace="AWS/Billing",
            metric_name="EstimatedCharges",
            dimensions={"Currency": "USD"},
            statistic="Maximum",
            period=21_600,
            evaluation_periods=1,
            comparison_operator="GreaterThanThreshold",
            threshold=monthly_usd,
            treat_missing_data="notBreaching",
            alarm_actions=[self._topic_arn],
            tags=dict(self._planned.tags),
            opts=self._after_topic,
        )
