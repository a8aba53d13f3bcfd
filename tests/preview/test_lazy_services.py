"""The recorder's service packages: a class comes from its own file, and every name is what the whole package gives."""

import json
import subprocess
import sys

import pytest

from gpukit.preview.record import recorder_file

# each test runs whole processes
pytestmark = pytest.mark.slow

LAZY = f"import runpy; runpy.run_path({str(recorder_file().parent / 'lazy_services.py')!r})['install']()\n"
NAMES = (
    "ec2.LaunchTemplate", "ec2.LaunchTemplateArgs", "ec2.LaunchTemplateBlockDeviceMappingArgs", "ec2.VpcEndpoint",
    "ec2.get_ami_output", "ec2.get_ami", "ec2.Eip", "ec2.outputs", "ec2.launch_template", "iam.RolePolicyAttachment",
    "iam.get_policy_document", "ec2.InstanceType", "eks.NodeGroup", "s3.Bucket", "ec2.AmiEbsBlockDevice",
)  # fmt: skip


def ask(program: str) -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_name_is_the_same_as_in_the_whole_package() -> None:
    program = f"""
import json, operator, pulumi_aws
def told(name):
    try:
        value = operator.attrgetter(name)(pulumi_aws)
    except AttributeError:
        return "none"
    return [type(value).__name__, getattr(value, "__module__", ""), value.__name__]
print(json.dumps({{name: told(name) for name in {NAMES!r}}}))
"""
    assert ask(LAZY + program) == ask(program)


def test_one_class_loads_its_own_file_and_none_beside_it() -> None:
    told = ask(
        LAZY
        + """
import json, sys, pulumi_aws
pulumi_aws.ec2.LaunchTemplate
print(json.dumps({name: name in sys.modules for name in ("pulumi_aws.ec2.launch_template", "pulumi_aws.ec2.vpc")}))
"""
    )

    assert told == {"pulumi_aws.ec2.launch_template": True, "pulumi_aws.ec2.vpc": False}


@pytest.mark.parametrize(
    "how", ["from pulumi_aws.sqs import *; names = dir()", "pulumi_aws.sqs.Queue; names = dir(pulumi_aws.sqs)"]
)
def test_a_star_import_and_dir_see_all_of_it(how: str) -> None:
    told = ask(LAZY + f"import json, pulumi_aws\n{how}\nprint(json.dumps({{'n': 'RedrivePolicy' in names}}))")

    assert told == {"n": True}
