"""
A token for an EKS cluster, without the AWS command line: the credential plug-in of a kubeconfig.

    python -m gpukit_sandbox.kube.token --cluster-name research-staging --region us-east-1

Prints an ExecCredential. It works against AWS as well: the token is a request to STS, signed by whoever runs this, good for 15 minutes.
Source of the format: EKS User Guide and kubernetes-sigs/aws-iam-authenticator, "API Authorization from Outside a Cluster".
"""

import argparse
import base64
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from typing import Final

PREFIX: Final = "k8s-aws-v1."
CLUSTER_HEADER: Final = "x-k8s-aws-id"
SIGNED_SECONDS: Final = 60
TOKEN_LIFETIME: Final = timedelta(minutes=14)


def make_token(cluster_name: str, region: str, *, endpoint: str | None = None, role_arn: str | None = None) -> str:
    """Return a token for a cluster, signed with the credentials of the environment, or of a role that they may assume."""
    import boto3
    from botocore.signers import RequestSigner

    session = boto3.session.Session()
    address = endpoint or os.environ.get("AWS_ENDPOINT_URL_STS") or os.environ.get("AWS_ENDPOINT_URL")
    credentials = session.get_credentials()
    if role_arn is not None:
        assumed = boto3.client("sts", region_name=region, endpoint_url=address).assume_role(
            RoleArn=role_arn, RoleSessionName="gpukit"
        )
        found = assumed["Credentials"]
        session = boto3.session.Session(found["AccessKeyId"], found["SecretAccessKey"], found["SessionToken"])
        credentials = session.get_credentials()
    if credentials is None:
        raise LookupError("no AWS credentials in the environment")
    service_id = session.client("sts", region_name=region, endpoint_url=address).meta.service_model.service_id
    signer = RequestSigner(service_id, region, "sts", "v4", credentials, session.events)
    base = (address or f"https://sts.{region}.amazonaws.com").rstrip("/")
    url = signer.generate_presigned_url(
        {
            "method": "GET",
            "url": f"{base}/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {CLUSTER_HEADER: cluster_name},
            "context": {},
        },
        region_name=region,
        expires_in=SIGNED_SECONDS,
        operation_name="",
    )
    return PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def render_credential(token: str, now: datetime) -> str:
    """Return the ExecCredential that kubectl and every client library read."""
    return json.dumps(
        {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "kind": "ExecCredential",
            "spec": {},
            "status": {"expirationTimestamp": (now + TOKEN_LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ"), "token": token},
        }
    )


def main(arguments: list[str] | None = None) -> int:
    """Print a credential. Exit code 0, or 3 without credentials."""
    parser = argparse.ArgumentParser(prog="gpukit-eks-token", description=__doc__)
    parser.add_argument("--cluster-name", required=True)
    parser.add_argument("--region", default=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"))
    parser.add_argument("--role-arn", default=None, help="assume this role first")
    parser.add_argument("--output", default="json", choices=("json",), help="as the AWS command line has it")
    options = parser.parse_args(arguments)
    if not options.region:
        parser.error("--region is missing, and AWS_REGION is not set")
    try:
        token = make_token(options.cluster_name, options.region, role_arn=options.role_arn)
    except Exception as problem:
        print(f"no token for cluster {options.cluster_name!r}: {problem}", file=sys.stderr)
        return 3
    print(render_credential(token, datetime.now(UTC)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
