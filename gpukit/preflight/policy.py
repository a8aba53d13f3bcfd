"""The least that preflight and leaks need to read: an IAM policy without one changing action."""

import json

from gpukit.preflight import capacity, launch, network, quotas


def reading_actions() -> tuple[str, ...]:
    """Return every action that preflight asks for, as IAM spells them, sorted."""
    asked = {*quotas.ACTIONS, *capacity.ACTIONS, *network.ACTIONS, *launch.ACTIONS}
    return tuple(sorted({"sts:GetCallerIdentity", *asked}))


def render_policy() -> str:
    """
    Return the policy as JSON.

    The resource is `*` because these actions take no other (Service Authorization Reference, 2026). Launching is not in
    it: IAM cannot allow a dry run alone, so the launch is tried by whoever deploys.
    """
    from gpukit.leaks import sweep

    statements = [
        {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": "*"}
        for sid, actions in (("GpukitPreflight", reading_actions()), ("GpukitLeaks", sweep.reading_actions()))
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, indent=2) + "\n"
