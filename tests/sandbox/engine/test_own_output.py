"""Our own output leaves out where plugins lie, and nothing else."""

import pytest
from gpukit_sandbox.engine import quieter

NOTICE = "warning: using pulumi-resource-aws from $PATH at /x/bin/pulumi-resource-aws\n"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        pytest.param([NOTICE], [], id="bare"),
        pytest.param(
            ["    pulumi:pulumi:Stack a-b  " + NOTICE, " +  aws:ec2:Vpc net create \n"],
            [" +  aws:ec2:Vpc net create \n"],
            id="among-steps",
        ),
        pytest.param(
            ["Diagnostics:\n", "  pulumi:pulumi:Stack (a-b):\n", "    " + NOTICE, "\n", "Resources:\n"],
            ["Resources:\n"],
            id="empty-diagnostics-go",
        ),
        pytest.param(
            ["Diagnostics:\n", "  pulumi:pulumi:Stack (a-b):\n", "    " + NOTICE, "    warning: GK7004\n", "\n"],
            ["Diagnostics:\n", "  pulumi:pulumi:Stack (a-b):\n", "    warning: GK7004\n", "\n"],
            id="other-warnings-stay",
        ),
        pytest.param(
            [" +  pulumi:pulumi:Stack a-b create " + NOTICE],
            [" +  pulumi:pulumi:Stack a-b create\n"],
            id="the-step-stays",
        ),
        pytest.param(
            [
                "Duration: 1s\n",
                "The resources in the stack have been deleted, but the history and configuration associated with it\n",
                "If you want to remove the stack completely, run `pulumi stack rm dev`.\n",
            ],
            ["Duration: 1s\n"],
            id="no-advice-to-remove-the-stack",
        ),
    ],
)
def test_quieter(said: list[str], shown: list[str]) -> None:
    assert shown == list(quieter(said))
