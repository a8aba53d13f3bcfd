"""When two values mean the same, and what drift looks like."""

import json

import pytest
from gpukit_sandbox.provider.diff import changes
from gpukit_sandbox.provider.values import UNKNOWN, from_struct, has_unknown, project, same_value, to_struct

VPC = "aws:ec2/vpc:Vpc"
POOL = "aws:eks/nodeGroup:NodeGroup"


def policy(action: object, **more: object) -> str:
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*", **more}]}
    )


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        pytest.param("true", True, True, id="text-and-switch"),
        pytest.param("5", 5, True, id="text-and-number"),
        pytest.param(5.0, 5, True, id="float-and-int"),
        pytest.param("1.30", "1.3", False, id="versions-are-no-numbers"),
        pytest.param(["b", "a"], ["a", "b"], True, id="plain-lists-are-sets"),
        pytest.param([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], False, id="lists-of-blocks-are-ordered"),
        pytest.param(None, {}, True, id="nothing-and-empty"),
        pytest.param(None, False, False, id="nothing-and-false"),
        pytest.param(policy("s3:Get"), policy(["s3:Get"]), True, id="policy-one-action"),
        pytest.param(policy(["a:b", "a:c"]), policy(["a:c", "a:b"]), True, id="policy-order"),
        pytest.param(policy("s3:Get"), policy("s3:Put"), False, id="policy-differs"),
        pytest.param("{not json", "{not  json", False, id="no-json"),
        pytest.param(UNKNOWN, "x", False, id="unknown"),
    ],
)
def test_same_value(left: object, right: object, same: bool) -> None:
    assert same is same_value(left, right)
    assert same is same_value(right, left)


@pytest.mark.parametrize(
    ("wanted", "actual", "seen"),
    [
        pytest.param({"a": "1"}, {"a": 1, "b": 2}, {"a": "1"}, id="what-nobody-stated-is-no-drift"),
        pytest.param({"a": 1}, {"a": 2}, {"a": 2}, id="a-changed-value"),
        pytest.param({"a": 1}, {}, {"a": 1}, id="what-cannot-be-read-stays"),
        pytest.param(["x"], ["x", "y"], ["x", "y"], id="an-added-item"),
        pytest.param(
            [{"n": 1, "d": "x"}, {"n": 2}],
            [{"n": 2, "d": "q"}, {"n": 1, "d": "x"}],
            [{"n": 1, "d": "x"}, {"n": 2}],
            id="another-order",
        ),
        pytest.param([{"n": 1}], [{"n": 1}, {"n": 3}], [{"n": 1}, {"n": 3}], id="an-added-block"),
        pytest.param([{"n": 1}, {"n": 2}], [{"n": 1}], [{"n": 1}], id="a-removed-block"),
        pytest.param("x", None, "x", id="not-read"),
    ],
)
def test_project_shows_drift_and_nothing_else(wanted: object, actual: object, seen: object) -> None:
    assert seen == project(wanted, actual)


def test_values_survive_the_wire() -> None:
    value = {"a": 1, "b": 1.5, "c": [True, "x", {"d": "e"}], "n": None}

    assert from_struct(to_struct(value)) == {"a": 1, "b": 1.5, "c": [True, "x", {"d": "e"}]}


def test_an_unknown_is_found_anywhere() -> None:
    assert has_unknown({"a": [{"b": UNKNOWN}]})
    assert not has_unknown({"a": ["b"]})


@pytest.mark.parametrize(
    ("token", "old", "new", "found"),
    [
        pytest.param(VPC, {"cidrBlock": "a"}, {"cidrBlock": "b"}, [("cidrBlock", "update", True)], id="replace"),
        pytest.param(VPC, {"tags": {"a": "1"}}, {"tags": {"a": "2", "b": "1"}}, [("tags.a", "update", False), ("tags.b", "add", False)], id="tags"),
        pytest.param(VPC, {"__defaults": []}, {"__defaults": ["x"]}, [], id="own-notes-do-not-count"),
        pytest.param(VPC, {"cidrBlock": "a"}, {"cidrBlock": UNKNOWN}, [("cidrBlock", "update", True)], id="unknown-may-replace"),
        pytest.param(POOL, {"launchTemplate": {"id": "lt-1", "version": "1"}}, {"launchTemplate": {"id": "lt-1", "version": "2"}},
                     [("launchTemplate.version", "update", False)], id="template-version-rolls"),
        pytest.param(POOL, {"launchTemplate": {"id": "lt-1"}}, {"launchTemplate": {"id": "lt-2"}}, [("launchTemplate.id", "update", True)], id="template-replaces"),
        pytest.param(POOL, {"taints": [{"key": "a"}]}, {}, [("taints[0].key", "delete", False)], id="a-block-goes"),
        pytest.param(POOL, {"subnetIds": ["a", "b"]}, {"subnetIds": ["b", "a"]}, [], id="order-of-a-set"),
    ],
)  # fmt: skip
def test_changes_name_the_leaf_and_whether_it_replaces(
    token: str, old: dict[str, object], new: dict[str, object], found: list[tuple[str, str, bool]]
) -> None:
    assert found == [(c.path, c.kind, c.replaces) for c in changes(token, old, new)]
