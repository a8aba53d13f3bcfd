"""Where instances write the end of their boot, so that a node that never came can still be understood."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

RETENTION_DAYS = 30
"""A failed boot is looked at within days; the logs of good ones are not worth keeping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootLog:
    """A CloudWatch log group for boots: its name is known before it exists, and stands in user data."""

    name: str
    arn: pulumi.Input[str]


def make_boot_log(
    logical_name: str,
    *,
    name: str,
    tags: Mapping[str, str],
    kms_key_arn: pulumi.Input[str] | None,
    opts: pulumi.ResourceOptions,
) -> BootLog:
    """Create the log group."""
    import pulumi_aws as aws

    group = aws.cloudwatch.LogGroup(
        logical_name, name=name, retention_in_days=RETENTION_DAYS, kms_key_id=kms_key_arn, tags=dict(tags), opts=opts
    )
    return BootLog(name=name, arn=group.arn)


def allow_boot_log(logical_name: str, role: Any, log: BootLog, opts: pulumi.ResourceOptions) -> pulumi.Resource:
    """Let a role write to that one log group."""
    import pulumi_aws as aws

    rights: pulumi.Resource = aws.iam.RolePolicy(
        logical_name,
        role=role.id,
        policy=pulumi.Output.from_input(log.arn).apply(_render_rights),
        opts=opts,
    )
    return rights


def _render_rights(arn: str) -> str:
    statement = {
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": f"{arn}:*",
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
