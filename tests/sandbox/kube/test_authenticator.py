"""Who a token stands for: only a signed request to this very STS counts, and an access entry decides the rest."""

import base64

import pytest
from gpukit_sandbox.kube.access_rights import group_of, namespace_bindings
from gpukit_sandbox.kube.authenticator import Refused, identity_of, principal_of, read_token, region_of

STS = "http://127.0.0.1:4000"
SIGNED = "X-Amz-Credential=AKIA%2F20261201%2Feu-west-1%2Fsts%2Faws4_request&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


def token(url: str) -> str:
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def test_a_signed_request_for_the_callers_identity_is_read() -> None:
    url = f"{STS}/?Action=GetCallerIdentity&{SIGNED}"

    assert read_token(token(url), STS) == url
    assert region_of(url) == "eu-west-1"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param("abc", "not an EKS token", id="prefix"),
        pytest.param("k8s-aws-v1.%%%", "not base64", id="base64"),
        pytest.param(
            token(f"http://evil.example/?Action=GetCallerIdentity&{SIGNED}"), "goes to evil.example", id="other-host"
        ),
        pytest.param(token(f"{STS}@evil.example/?Action=GetCallerIdentity&{SIGNED}"), "goes to", id="user-info"),
        pytest.param(token(f"{STS}/_gpukit/reset?Action=GetCallerIdentity&{SIGNED}"), "goes to", id="other-path"),
        pytest.param(token(f"{STS}/?Action=AssumeRole&{SIGNED}"), "not GetCallerIdentity", id="other-action"),
        pytest.param(
            token(f"{STS}/?Action=GetCallerIdentity&X-Amz-SignedHeaders=host"), "does not sign", id="no-cluster"
        ),
        pytest.param("k8s-aws-v1." + "A" * 20_000, "not an EKS token", id="too-long"),
    ],
)
def test_any_other_token_is_refused(given: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        read_token(given, STS)


def test_a_roles_session_belongs_to_its_role() -> None:
    assert principal_of("arn:aws:sts::111122223333:assumed-role/viewer/anna") == (
        "arn:aws:iam::111122223333:role/viewer",
        "anna",
    )
    assert principal_of("arn:aws:iam::111122223333:user/anna") == ("arn:aws:iam::111122223333:user/anna", "")


def test_an_entry_gives_name_groups_and_a_group_for_each_policy() -> None:
    found = identity_of(
        "arn:aws:iam::111122223333:role/viewer",
        "anna",
        {"username": "viewer:{{SessionName}}", "kubernetesGroups": ["team-a"]},
        [{"policyArn": VIEW, "accessScope": {"type": "namespace", "namespaces": ["a", "b"]}}],
    )

    assert found.username == "viewer:anna"
    assert found.groups == ("eks-access:AmazonEKSViewPolicy:a", "eks-access:AmazonEKSViewPolicy:b", "team-a")


def test_a_namespaced_right_is_bound_in_its_namespace_alone() -> None:
    (binding,) = namespace_bindings([(VIEW, "team-a"), (VIEW, "team-a")])

    assert binding["kind"] == "RoleBinding"
    assert binding["metadata"]["namespace"] == "team-a"
    assert binding["roleRef"]["name"] == "view"
    assert binding["subjects"][0]["name"] == group_of(VIEW, "team-a")


def test_a_policy_without_a_role_gives_no_right() -> None:
    assert namespace_bindings([("arn:aws:eks::aws:cluster-access-policy/AmazonEKSArgoCDPolicy", "team-a")]) == []
