"""One customer-managed KMS key for what a component encrypts."""

from collections.abc import Mapping, Sequence

import pulumi

DATA_SERVICES = ("ec2", "fsx", "elasticfilesystem", "s3")
"""Services that read and write data for the account's own principals, as `kms:ViaService` names them."""


def make_encryption_key(
    name: str,
    *,
    purpose: str,
    region: str,
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    via_services: Sequence[str] = DATA_SERVICES,
    publishers: Sequence[str] = (),
) -> pulumi.Output[str]:
    """
    Create a key with rotation and an alias; return its ARN.

    Instances of a node group are launched by a service-linked role that a fresh account does not have, and naming a
    missing principal makes KMS refuse the policy. So the key trusts any principal of this account *through* those
    services (`via_services`), as AWS-managed keys do. `publishers` are service principals that send to an encrypted
    topic.
    """
    import pulumi_aws as aws

    identity = aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(parent=opts.parent))
    policy = pulumi.Output.all(identity.account_id, identity.arn).apply(
        lambda known: render_key_policy(
            account_id=str(known[0]),
            partition=str(known[1]).split(":")[1],
            region=region,
            via_services=via_services,
            publishers=publishers,
        )
    )
    key = aws.kms.Key(
        f"{name}-key",
        description=f"gpukit: {purpose} of {name}",
        enable_key_rotation=True,
        deletion_window_in_days=30,
        policy=policy,
        tags=dict(tags),
        opts=opts,
    )
    aws.kms.Alias(f"{name}-key", target_key_id=key.key_id, opts=opts)
    arn: pulumi.Output[str] = key.arn
    return arn


def render_key_policy(
    *, account_id: str, partition: str, region: str, via_services: Sequence[str], publishers: Sequence[str]
) -> str:
    """Return the key policy as JSON."""
    import json

    suffix = "amazonaws.com.cn" if partition == "aws-cn" else "amazonaws.com"
    statements: list[dict[str, object]] = [
        {
            "Sid": "AccountDecidesByIam",
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:{partition}:iam::{account_id}:root"},
            "Action": "kms:*",
            "Resource": "*",
        },
        {
            "Sid": "AccountUsesItThroughServices",
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": [
                "kms:CreateGrant",
                "kms:Decrypt",
                "kms:DescribeKey",
                "kms:Encrypt",
                "kms:GenerateDataKey*",
                "kms:ReEncrypt*",
            ],
            "Resource": "*",
            "Condition": {
                "StringEquals": {
                    "kms:CallerAccount": account_id,
                    "kms:ViaService": [f"{service}.{region}.{suffix}" for service in via_services],
                }
            },
        },
        {
            "Sid": "LogGroupsOfThisAccount",
            "Effect": "Allow",
            "Principal": {"Service": f"logs.{region}.{suffix}"},
            "Action": ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
            "Resource": "*",
            "Condition": {
                "ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"arn:{partition}:logs:{region}:{account_id}:*"}
            },
        },
    ]
    if publishers:
        statements.append(
            {
                "Sid": "PublishersOfThisAccount",
                "Effect": "Allow",
                "Principal": {"Service": list(publishers)},
                "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
                "Resource": "*",
                "Condition": {"StringEquals": {"aws:SourceAccount": account_id}},
            }
        )
    return json.dumps({"Version": "2012-10-17", "Statement": statements})
