"""IAM roles with nothing more than named policies."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from gpukit.plan import PoolPlan


def render_trust_policy(service: str, *, actions: Sequence[str] = ("sts:AssumeRole",)) -> str:
    """Return the policy that lets one AWS service assume a role."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


POD_IDENTITY_TRUST = render_trust_policy("pods.eks.amazonaws.com", actions=("sts:AssumeRole", "sts:TagSession"))
"""Trust policy of a role for EKS Pod Identity. Source: EKS User Guide, "EKS Pod Identity role", 2026-08."""


def make_role(
    name: str,
    *,
    trust: str,
    description: str,
    managed: Mapping[str, str],
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> tuple[Any, list[pulumi.Resource]]:
    """
    Create a role and attach managed policies (short name -> ARN, or its path below `aws:policy/`).

    Returns the role and its attachments, so that what needs the rights can wait for them and goes before them.
    """
    import pulumi_aws as aws

    role = aws.iam.Role(name, assume_role_policy=trust, description=description, tags=dict(tags), opts=opts)
    attachments: list[pulumi.Resource] = [
        aws.iam.RolePolicyAttachment(f"{name}-{short}", role=role.name, policy_arn=policy_arn(policy, opts), opts=opts)
        for short, policy in managed.items()
    ]
    return role, attachments


def policy_arn(policy: str, opts: pulumi.ResourceOptions) -> pulumi.Input[str]:
    """Return the ARN of an AWS-managed policy in this partition; an ARN stays as it is."""
    if policy.startswith("arn:"):
        return policy
    return partition(opts).apply(lambda name: f"arn:{name}:iam::aws:policy/{policy}")


def partition(opts: pulumi.ResourceOptions) -> pulumi.Output[str]:
    """Return the partition (`aws`, `aws-cn`, `aws-us-gov`) of the account that is deployed to."""
    import pulumi_aws as aws

    identity = aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(parent=opts.parent))
    found: pulumi.Output[str] = identity.arn.apply(lambda arn: arn.split(":")[1])
    return found


def grant_pool_permissions(
    name: str,
    role: Any,
    pool: PoolPlan,
    bucket_arns: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """
    Give a role the buckets and policies of a pool; return what was attached.

    `bucket_arns` holds the ARNs of stores by their name in the plan; any other bucket is taken by its real name.
    """
    import pulumi_aws as aws

    def arns(buckets: Sequence[str]) -> pulumi.Output[list[str]]:
        return pulumi.Output.all(
            *[
                bucket_arns.get(bucket) or pulumi.Output.format("arn:{0}:s3:::{1}", partition(opts), bucket)
                for bucket in buckets
            ]
        )

    granted: list[pulumi.Resource] = []
    if pool.buckets.read or pool.buckets.write:
        policy = pulumi.Output.all(read=arns(pool.buckets.read), write=arns(pool.buckets.write)).apply(
            lambda known: render_bucket_policy(known["read"], known["write"])
        )
        granted.append(aws.iam.RolePolicy(f"{name}-buckets", role=role.id, policy=policy, opts=opts))
    for stated in pool.policies:
        granted.append(
            aws.iam.RolePolicyAttachment(
                f"{name}-{stated.rsplit('/', 1)[-1]}", role=role.name, policy_arn=policy_arn(stated, opts), opts=opts
            )
        )
    return granted


def render_bucket_policy(read: Sequence[str], write: Sequence[str]) -> str:
    """Return the rights to read some buckets, and to read and write others, by bucket ARN."""
    statements: list[dict[str, object]] = []
    everything = sorted({*read, *write})
    if everything:
        statements += [
            {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:GetBucketLocation"], "Resource": everything},
            {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [f"{arn}/*" for arn in everything]},
        ]
    if write:
        statements.append(
            {
                "Effect": "Allow",
                "Action": ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
                "Resource": [f"{arn}/*" for arn in sorted(write)],
            }
        )
    return json.dumps({"Version": "2012-10-17", "Statement": statements})
