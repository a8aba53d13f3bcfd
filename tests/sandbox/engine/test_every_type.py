"""Each resource type of the double against the sandbox's server: create, read without drift, tags by hand, import, change, delete."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from gpukit_sandbox.provider.registry import modelled_tokens, resource_for
from gpukit_sandbox.provider.sdk_types import known_tokens
from gpukit_sandbox.provider.values import Properties, same_value

from tests.sandbox.engine.as_engine import Aborted, Double

pytestmark = pytest.mark.slow

ACCOUNT = "111122223333"
TAGS = {"Name": "it", "team": "vision"}


def trust(service: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": ["sts:AssumeRole"]}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def allow(action: str, resource: str = "*") -> str:
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource}]}
    )


@dataclass
class Made:
    """What stands of one type."""

    token: str
    name: str
    id: str
    state: Properties
    inputs: Properties


@dataclass
class Case:
    """One resource: its inputs from what stands, and a change in place (None: the type has none)."""

    key: str
    token: str
    inputs: Callable[[dict[str, Made]], Properties]
    change: Callable[[dict[str, Made]], Properties] | None = None
    drifts: frozenset[str] = field(default_factory=frozenset)


def case(key: str, token: str, inputs: Any, change: Any = None) -> Case:
    return Case(key, f"aws:{token}", inputs, change)


CASES = [
    case("vpc", "ec2/vpc:Vpc", lambda m: {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True, "tags": TAGS}, lambda m: {"enableDnsHostnames": False}),
    case("cidr", "ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation", lambda m: {"vpcId": m["vpc"].id, "cidrBlock": "10.1.0.0/16"}),
    case("subnet", "ec2/subnet:Subnet", lambda m: {"vpcId": m["vpc"].id, "cidrBlock": "10.0.1.0/24", "availabilityZone": "us-east-1a", "tags": TAGS},
         lambda m: {"mapPublicIpOnLaunch": True}),
    case("subnet2", "ec2/subnet:Subnet", lambda m: {"vpcId": m["vpc"].id, "cidrBlock": "10.0.2.0/24", "availabilityZone": "us-east-1b"}),
    case("dhcp", "ec2/vpcDhcpOptions:VpcDhcpOptions", lambda m: {"domainName": "gpu.internal", "domainNameServers": ["AmazonProvidedDNS"], "tags": TAGS}),
    case("dhcpuse", "ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation", lambda m: {"vpcId": m["vpc"].id, "dhcpOptionsId": m["dhcp"].id}),
    case("internet", "ec2/internetGateway:InternetGateway", lambda m: {"vpcId": m["vpc"].id, "tags": TAGS}),
    case("address", "ec2/eip:Eip", lambda m: {"domain": "vpc", "tags": TAGS}),
    case("nat", "ec2/natGateway:NatGateway", lambda m: {"allocationId": m["address"].id, "subnetId": m["subnet"].id, "tags": TAGS}),
    case("table", "ec2/routeTable:RouteTable", lambda m: {"vpcId": m["vpc"].id, "tags": TAGS, "routes": [{"cidrBlock": "0.0.0.0/0", "natGatewayId": m["nat"].id}]},
         lambda m: {"routes": [{"cidrBlock": "0.0.0.0/0", "gatewayId": m["internet"].id}]}),
    case("table2", "ec2/routeTable:RouteTable", lambda m: {"vpcId": m["vpc"].id}),
    case("route", "ec2/route:Route", lambda m: {"routeTableId": m["table2"].id, "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": m["nat"].id},
         lambda m: {"natGatewayId": None, "gatewayId": m["internet"].id}),
    case("tableuse", "ec2/routeTableAssociation:RouteTableAssociation", lambda m: {"routeTableId": m["table"].id, "subnetId": m["subnet"].id},
         lambda m: {"routeTableId": m["table2"].id}),
    case("group", "ec2/securityGroup:SecurityGroup", lambda m: {
        "vpcId": m["vpc"].id, "description": "nodes", "tags": TAGS,
        "ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}, {"protocol": "tcp", "fromPort": 988, "toPort": 988, "cidrBlocks": ["10.0.0.0/16"], "description": "Lustre"}],
        "egress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}]},
        lambda m: {"ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}]}),
    case("plain", "ec2/securityGroup:SecurityGroup", lambda m: {"vpcId": m["vpc"].id, "name": "plain"}),
    case("in", "vpc/securityGroupIngressRule:SecurityGroupIngressRule", lambda m: {"securityGroupId": m["plain"].id, "ipProtocol": "-1", "referencedSecurityGroupId": m["plain"].id, "tags": TAGS}),
    case("in2", "vpc/securityGroupIngressRule:SecurityGroupIngressRule", lambda m: {"securityGroupId": m["plain"].id, "ipProtocol": "tcp", "fromPort": 443, "toPort": 443, "cidrIpv4": "10.0.0.0/16"},
         lambda m: {"description": "web"}),
    case("out", "vpc/securityGroupEgressRule:SecurityGroupEgressRule", lambda m: {"securityGroupId": m["plain"].id, "ipProtocol": "-1", "cidrIpv4": "0.0.0.0/0"}),
    case("default", "ec2/defaultSecurityGroup:DefaultSecurityGroup", lambda m: {"vpcId": m["vpc"].id, "tags": TAGS}),
    case("logs", "cloudwatch/logGroup:LogGroup", lambda m: {"name": "/gpukit/flow", "retentionInDays": 30, "tags": TAGS}, lambda m: {"retentionInDays": 7}),
    case("role", "iam/role:Role", lambda m: {"assumeRolePolicy": trust("ec2.amazonaws.com"), "tags": TAGS, "description": "nodes"},
         lambda m: {"description": "other", "assumeRolePolicy": trust("vpc-flow-logs.amazonaws.com")}),
    case("node", "iam/role:Role", lambda m: {"name": "node", "assumeRolePolicy": trust("ec2.amazonaws.com")}),
    case("clusterrole", "iam/role:Role", lambda m: {"name": "control", "assumeRolePolicy": trust("eks.amazonaws.com")}),
    case("podrole", "iam/role:Role", lambda m: {"name": "pods", "assumeRolePolicy": json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": ["sts:AssumeRole", "sts:TagSession"]}]})}),
    case("inline", "iam/rolePolicy:RolePolicy", lambda m: {"role": m["role"].id, "policy": allow("logs:PutLogEvents")}, lambda m: {"policy": allow("logs:CreateLogStream")}),
    case("managed", "iam/policy:Policy", lambda m: {"policy": allow("s3:GetObject"), "tags": TAGS}, lambda m: {"policy": allow("s3:ListBucket")}),
    case("attach", "iam/rolePolicyAttachment:RolePolicyAttachment", lambda m: {"role": m["role"].id, "policyArn": m["managed"].state["arn"]}),
    *[case(f"node-{p}", "iam/rolePolicyAttachment:RolePolicyAttachment", lambda m, p=p: {"role": m["node"].id, "policyArn": f"arn:aws:iam::aws:policy/{p}"})
      for p in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy")],
    case("control", "iam/rolePolicyAttachment:RolePolicyAttachment", lambda m: {"role": m["clusterrole"].id, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}),
    case("profile", "iam/instanceProfile:InstanceProfile", lambda m: {"role": m["role"].id, "tags": TAGS}),
    case("oidc", "iam/openIdConnectProvider:OpenIdConnectProvider", lambda m: {"url": "https://oidc.example.com/id/1", "clientIdLists": ["sts.amazonaws.com"], "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"]}),
    case("flow", "ec2/flowLog:FlowLog", lambda m: {"vpcId": m["vpc"].id, "trafficType": "ALL", "logDestination": m["logs"].state["arn"], "iamRoleArn": m["role"].state["arn"], "tags": TAGS}),
    case("endpoint", "ec2/vpcEndpoint:VpcEndpoint", lambda m: {"vpcId": m["vpc"].id, "serviceName": "com.amazonaws.us-east-1.s3", "routeTableIds": [m["table"].id], "tags": TAGS},
         lambda m: {"routeTableIds": [m["table"].id, m["table2"].id]}),
    case("iface", "ec2/vpcEndpoint:VpcEndpoint", lambda m: {"vpcId": m["vpc"].id, "serviceName": "com.amazonaws.us-east-1.ec2", "vpcEndpointType": "Interface",
                                                        "subnetIds": [m["subnet"].id], "securityGroupIds": [m["plain"].id], "privateDnsEnabled": True}),
    case("placement", "ec2/placementGroup:PlacementGroup", lambda m: {"strategy": "cluster", "tags": TAGS}),
    case("reservation", "ec2/capacityReservation:CapacityReservation", lambda m: {"instanceType": "g5.xlarge", "instancePlatform": "Linux/UNIX", "availabilityZone": "us-east-1a", "instanceCount": 2, "tags": TAGS},
         lambda m: {"instanceCount": 3}),
    case("template", "ec2/launchTemplate:LaunchTemplate", lambda m: {
        "imageId": AMI, "instanceType": "m5.large", "updateDefaultVersion": True, "userData": "IyEvYmluL3NoCg==", "tags": TAGS,
        "metadataOptions": {"httpTokens": "required", "httpEndpoint": "enabled", "httpPutResponseHopLimit": 2},
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 100, "volumeType": "gp3", "encrypted": "true", "deleteOnTermination": "true", "throughput": 250, "iops": 4000}}],
        "networkInterfaces": [{"deviceIndex": 0, "networkCardIndex": 0, "securityGroups": [m["group"].id], "associatePublicIpAddress": "false", "deleteOnTermination": "true"}],
        "tagSpecifications": [{"resourceType": "instance", "tags": {"Name": "node"}}], "monitoring": {"enabled": True}},
        lambda m: {"instanceType": "m5.xlarge"}),
    case("machine", "ec2/instance:Instance", lambda m: {
        "ami": AMI, "instanceType": "t3.micro", "subnetId": m["subnet"].id, "vpcSecurityGroupIds": [m["group"].id], "iamInstanceProfile": m["profile"].id,
        "rootBlockDevice": {"volumeSize": 50, "volumeType": "gp3", "encrypted": True}, "metadataOptions": {"httpTokens": "required", "httpEndpoint": "enabled"},
        "userData": "#!/bin/sh\n", "tags": TAGS, "monitoring": True},
        lambda m: {"instanceType": "t3.small", "vpcSecurityGroupIds": [m["group"].id, m["plain"].id]}),
    case("disk", "ebs/volume:Volume", lambda m: {"availabilityZone": "us-east-1a", "size": 20, "type": "gp3", "encrypted": True, "tags": TAGS}, lambda m: {"size": 40}),
    case("diskuse", "ec2/volumeAttachment:VolumeAttachment", lambda m: {"deviceName": "/dev/sdf", "volumeId": m["disk"].id, "instanceId": m["machine"].id}),
    case("ebs", "ebs/encryptionByDefault:EncryptionByDefault", lambda m: {"enabled": True}),
    case("key", "kms/key:Key", lambda m: {"description": "data", "enableKeyRotation": True, "deletionWindowInDays": 7, "tags": TAGS}, lambda m: {"description": "more data"}),
    case("alias", "kms/alias:Alias", lambda m: {"targetKeyId": m["key"].id}),
    case("cluster", "eks/cluster:Cluster", lambda m: {
        "name": "ml", "roleArn": m["clusterrole"].state["arn"], "vpcConfig": {"subnetIds": [m["subnet"].id, m["subnet2"].id], "endpointPrivateAccess": True, "endpointPublicAccess": False},
        "enabledClusterLogTypes": ["api", "audit"], "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
        "encryptionConfig": {"provider": {"keyArn": m["key"].state["arn"]}, "resources": ["secrets"]}, "tags": TAGS},
        lambda m: {"enabledClusterLogTypes": ["api"]}),
    case("entry", "eks/accessEntry:AccessEntry", lambda m: {"clusterName": "ml", "principalArn": m["role"].state["arn"], "tags": TAGS}, lambda m: {"kubernetesGroups": ["researchers"]}),
    case("may", "eks/accessPolicyAssociation:AccessPolicyAssociation", lambda m: {
        "clusterName": "ml", "principalArn": m["entry"].inputs["principalArn"], "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", "accessScope": {"type": "cluster"}}),
    case("pool", "eks/nodeGroup:NodeGroup", lambda m: {
        "clusterName": m["cluster"].id, "nodeRoleArn": m["node"].state["arn"], "subnetIds": [m["subnet"].id], "instanceTypes": ["m5.large"],
        "scalingConfig": {"minSize": 1, "maxSize": 3, "desiredSize": 1}, "labels": {"pool": "system"}, "tags": TAGS,
        "taints": [{"key": "gpu", "value": "true", "effect": "NO_SCHEDULE"}], "updateConfig": {"maxUnavailable": 1}},
        lambda m: {"labels": {"pool": "other"}, "scalingConfig": {"minSize": 1, "maxSize": 4, "desiredSize": 2}}),
    case("addon", "eks/addon:Addon", lambda m: {"clusterName": m["cluster"].id, "addonName": "eks-pod-identity-agent", "tags": TAGS, "resolveConflictsOnUpdate": "OVERWRITE"}),
    case("pod", "eks/podIdentityAssociation:PodIdentityAssociation", lambda m: {
        "clusterName": m["cluster"].id, "namespace": "train", "serviceAccount": "job", "roleArn": m["podrole"].state["arn"], "tags": TAGS}),
    case("lustre", "fsx/lustreFileSystem:LustreFileSystem", lambda m: {
        "subnetIds": m["subnet"].id, "securityGroupIds": [m["group"].id], "storageCapacity": 1200, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 125,
        "dataCompressionType": "LZ4", "metadataConfiguration": {"mode": "AUTOMATIC"}, "fileSystemTypeVersion": "2.15", "tags": TAGS},
        lambda m: {"storageCapacity": 2400}),
    case("bucket", "s3/bucket:Bucket", lambda m: {"tags": TAGS, "forceDestroy": True}),
    case("bucket2", "s3/bucketV2:BucketV2", lambda m: {}),
    case("versions", "s3/bucketVersioning:BucketVersioning", lambda m: {"bucket": m["bucket"].id, "versioningConfiguration": {"status": "Enabled"}}),
    case("versions2", "s3/bucketVersioningV2:BucketVersioningV2", lambda m: {"bucket": m["bucket2"].id, "versioningConfiguration": {"status": "Enabled"}}),
    *[case(f"sse{v}", f"s3/bucketServerSideEncryptionConfiguration{v}:BucketServerSideEncryptionConfiguration{v}", lambda m, v=v: {
        "bucket": m[f"bucket{'2' if v else ''}"].id, "rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": m["key"].state["arn"]}, "bucketKeyEnabled": True}]})
      for v in ("", "V2")],
    case("closed", "s3/bucketPublicAccessBlock:BucketPublicAccessBlock", lambda m: {
        "bucket": m["bucket"].id, "blockPublicAcls": True, "blockPublicPolicy": True, "ignorePublicAcls": True, "restrictPublicBuckets": True}, lambda m: {"ignorePublicAcls": False}),
    case("owner", "s3/bucketOwnershipControls:BucketOwnershipControls", lambda m: {"bucket": m["bucket"].id, "rule": {"objectOwnership": "BucketOwnerEnforced"}}),
    case("policy", "s3/bucketPolicy:BucketPolicy", lambda m: {"bucket": m["bucket"].id, "policy": json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": [f"arn:aws:s3:::{m['bucket'].id}/*"], "Condition": {"Bool": {"aws:SecureTransport": "false"}}}]})}),
    *[case(f"lifecycle{v}", f"s3/bucketLifecycleConfiguration{v}:BucketLifecycleConfiguration{v}", lambda m, v=v: {
        "bucket": m[f"bucket{'2' if v else ''}"].id, "rules": [{"id": "old", "status": "Enabled", "filter": {"prefix": "checkpoints/"}, "noncurrentVersionExpiration": {"noncurrentDays": 30},
                                       "abortIncompleteMultipartUpload": {"daysAfterInitiation": 7}}]}) for v in ("", "V2")],
    case("data", "fsx/dataRepositoryAssociation:DataRepositoryAssociation", lambda m: {
        "fileSystemId": m["lustre"].id, "fileSystemPath": "/datasets", "dataRepositoryPath": f"s3://{m['bucket'].id}/datasets", "tags": TAGS,
        "s3": {"autoImportPolicy": {"events": ["NEW", "CHANGED", "DELETED"]}}}),
    case("home", "efs/fileSystem:FileSystem", lambda m: {"encrypted": True, "throughputMode": "elastic", "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}], "tags": TAGS}),
    case("mount", "efs/mountTarget:MountTarget", lambda m: {"fileSystemId": m["home"].id, "subnetId": m["subnet"].id, "securityGroups": [m["group"].id]}, lambda m: {"securityGroups": [m["plain"].id]}),
    case("point", "efs/accessPoint:AccessPoint", lambda m: {"fileSystemId": m["home"].id, "posixUser": {"uid": 1000, "gid": 1000}, "tags": TAGS,
                                                          "rootDirectory": {"path": "/home", "creationInfo": {"ownerUid": 1000, "ownerGid": 1000, "permissions": "0755"}}}),
    case("homepolicy", "efs/fileSystemPolicy:FileSystemPolicy", lambda m: {"fileSystemId": m["home"].id, "policy": json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "elasticfilesystem:ClientMount", "Resource": m["home"].state["arn"]}]})}),
    case("backup", "efs/backupPolicy:BackupPolicy", lambda m: {"fileSystemId": m["home"].id, "backupPolicy": {"status": "ENABLED"}}),
    case("topic", "sns/topic:Topic", lambda m: {"displayName": "spend", "tags": TAGS}, lambda m: {"displayName": "money"}),
    case("topicpolicy", "sns/topicPolicy:TopicPolicy", lambda m: {"arn": m["topic"].id, "policy": json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "budgets.amazonaws.com"}, "Action": "SNS:Publish", "Resource": m["topic"].id}]})}),
    case("mail", "sns/topicSubscription:TopicSubscription", lambda m: {"topic": m["topic"].id, "protocol": "email", "endpoint": "ops@example.com"}),
    case("alarm", "cloudwatch/metricAlarm:MetricAlarm", lambda m: {
        "comparisonOperator": "LessThanThreshold", "evaluationPeriods": 4, "metricName": "utilization_gpu", "namespace": "gpukit", "period": 900, "statistic": "Maximum",
        "threshold": 5, "dimensions": {"InstanceId": m["machine"].id}, "alarmActions": [m["topic"].id], "tags": TAGS}, lambda m: {"threshold": 7}),
    case("board", "cloudwatch/dashboard:Dashboard", lambda m: {"dashboardName": "gpus", "dashboardBody": json.dumps({"widgets": []})}),
    case("rule", "cloudwatch/eventRule:EventRule", lambda m: {"scheduleExpression": "rate(1 hour)", "description": "hourly", "tags": TAGS}, lambda m: {"description": "every hour"}),
    case("target", "cloudwatch/eventTarget:EventTarget", lambda m: {"rule": m["rule"].id, "arn": m["topic"].id}),
    case("schedule", "scheduler/schedule:Schedule", lambda m: {"scheduleExpression": "rate(1 days)", "flexibleTimeWindow": {"mode": "OFF"}, "target": {"arn": m["topic"].id, "roleArn": m["role"].state["arn"]}},
         lambda m: {"description": "daily"}),
    case("budget", "budgets/budget:Budget", lambda m: {
        "budgetType": "COST", "timeUnit": "MONTHLY", "limitAmount": "1200", "limitUnit": "USD", "timePeriodStart": "2026-12-01_00:00",
        "notifications": [{"comparisonOperator": "GREATER_THAN", "threshold": 80, "thresholdType": "PERCENTAGE", "notificationType": "ACTUAL", "subscriberSnsTopicArns": [m["topic"].id]}]}),
    case("parameter", "ssm/parameter:Parameter", lambda m: {"name": "/gpukit/ami", "type": "String", "value": "ami-1", "description": "image", "tags": TAGS}, lambda m: {"value": "ami-2"}),
    case("images", "ecr/repository:Repository", lambda m: {"name": "gpukit/pytorch", "imageTagMutability": "IMMUTABLE", "imageScanningConfiguration": {"scanOnPush": True}, "tags": TAGS},
         lambda m: {"imageTagMutability": "MUTABLE"}),
    case("expire", "ecr/lifecyclePolicy:LifecyclePolicy", lambda m: {"repository": m["images"].id, "policy": json.dumps({"rules": [
        {"rulePriority": 1, "selection": {"tagStatus": "untagged", "countType": "sinceImagePushed", "countUnit": "days", "countNumber": 14}, "action": {"type": "expire"}}]})}),
    case("step", "imagebuilder/component:Component", lambda m: {"platform": "Linux", "version": "1.0.0", "data": "name: driver\nschemaVersion: 1.0\nphases:\n- name: build\n  steps:\n  - name: hello\n    action: ExecuteBash\n    inputs:\n      commands:\n      - echo hello\n", "tags": TAGS}),
    case("recipe", "imagebuilder/imageRecipe:ImageRecipe", lambda m: {
        "parentImage": "arn:aws:imagebuilder:us-east-1:aws:image/ubuntu-server-22-lts-x86/x.x.x", "version": "1.0.0", "components": [{"componentArn": m["step"].id}], "tags": TAGS,
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 100, "volumeType": "gp3", "deleteOnTermination": "true"}}]}),
    case("builders", "imagebuilder/infrastructureConfiguration:InfrastructureConfiguration", lambda m: {"instanceProfileName": m["profile"].id, "instanceTypes": ["g5.xlarge"], "tags": TAGS},
         lambda m: {"instanceTypes": ["g5.2xlarge"]}),
    case("spread", "imagebuilder/distributionConfiguration:DistributionConfiguration", lambda m: {"distributions": [{"region": "us-east-1", "amiDistributionConfiguration": {"name": "gpukit-{{ imagebuilder:buildDate }}"}}], "tags": TAGS}),
    case("pipeline", "imagebuilder/imagePipeline:ImagePipeline", lambda m: {
        "imageRecipeArn": m["recipe"].id, "infrastructureConfigurationArn": m["builders"].id, "distributionConfigurationArn": m["spread"].id, "tags": TAGS}, lambda m: {"description": "nightly"}),
]  # fmt: skip

AMI = ""
WITHOUT_A_CASE = {"aws:ec2/capacityBlockReservation:CapacityBlockReservation"}
"""Bought from an offering: its own test."""


@pytest.fixture(scope="module")
def standing(double: Double) -> dict[str, Made]:
    """Every case, created in order; a creation that fails is kept as its error, and what needs it fails too."""
    global AMI
    AMI = double.invoke("aws:ec2/getAmi:getAmi", {"owners": ["amazon"], "mostRecent": True})["id"]
    made: dict[str, Made] = {}
    errors: dict[str, str] = {}
    for item in CASES:
        try:
            inputs, failures = double.check(item.token, item.key, item.inputs(made))
            if failures:
                raise AssertionError(f"check: {failures}")
            resource_id, state = double.create(item.token, item.key, inputs)
            made[item.key] = Made(item.token, item.key, resource_id, state, inputs)
            # At once: what comes after it changes some outputs, such as the number of mount targets.
            AT_ONCE[item.key] = double.read(item.token, item.key, resource_id, state, inputs)
        except KeyError as problem:
            missing = str(problem.args[0])
            errors[item.key] = f"needs {missing}: {errors.get(missing, 'which no case makes')}"
        except (Aborted, AssertionError) as problem:
            errors[item.key] = f"{type(problem).__name__}: {problem}"
    ERRORS.clear()
    ERRORS.update(errors)
    return made


ERRORS: dict[str, str] = {}
AT_ONCE: dict[str, tuple[str, Properties, Properties]] = {}
BY_KEY = {item.key: item for item in CASES}


def _made(standing: dict[str, Made], key: str) -> Made:
    if key in ERRORS:
        if "NotImplemented" in ERRORS[key]:
            pytest.skip(f"the server lacks an action: {ERRORS[key]}")
        pytest.fail(f"{key} was not created: {ERRORS[key]}")
    return standing[key]


each = pytest.mark.parametrize(
    "key", [pytest.param(item.key, id=f"{item.key}-{item.token.split(':')[-1]}") for item in CASES]
)


def test_every_modelled_type_has_a_case() -> None:
    assert set(known_tokens()) == set(modelled_tokens())
    assert set(modelled_tokens()) == {item.token for item in CASES} | WITHOUT_A_CASE


@each
def test_what_was_created_reads_without_drift(standing: dict[str, Made], key: str) -> None:
    made = _made(standing, key)
    resource_id, state, inputs = AT_ONCE[key]

    assert made.id == resource_id
    assert made.inputs == inputs
    assert made.state == state


@each
def test_the_same_inputs_are_no_change(double: Double, standing: dict[str, Made], key: str) -> None:
    made = _made(standing, key)
    again, failures = double.check(made.token, key, BY_KEY[key].inputs(standing), made.inputs)

    assert failures == {}
    assert list(double.diff(made.token, key, made.id, made.state, made.inputs, again).diffs) == []


@each
def test_an_import_gives_inputs_that_the_program_would_state(
    double: Double, standing: dict[str, Made], key: str
) -> None:
    made = _made(standing, key)
    resource = resource_for(made.token)
    assert resource is not None
    _id, _state, inputs = double.read(
        made.token,
        key,
        made.id,
        {
            k: v
            for k, v in made.state.items()
            if k
            in (
                "fileSystemId",
                "clusterName",
                "vpcId",
                "volumeId",
                "instanceId",
                "deviceName",
                "rule",
                "targetId",
                "eventBusName",
            )
        },
        {},
    )

    _checked, failures = double.check(made.token, key, {k: v for k, v in inputs.items() if not k.startswith("__")})
    assert not {k: v for k, v in failures.items() if "unexpected" in v}
    for name in resource.type.required:
        assert name in inputs or name in resource.not_imported


@pytest.mark.parametrize("key", [pytest.param(i.key, id=i.key) for i in CASES if i.change is not None])
def test_a_change_in_place_reaches_aws(double: Double, standing: dict[str, Made], key: str) -> None:
    made = _made(standing, key)
    item = BY_KEY[key]
    assert item.change is not None
    wanted = {k: v for k, v in {**item.inputs(standing), **item.change(standing)}.items() if v is not None}
    new, failures = double.check(made.token, key, wanted, made.inputs)
    assert failures == {}
    assert list(double.diff(made.token, key, made.id, made.state, made.inputs, new).replaces) == []
    state = double.update(made.token, key, made.id, made.state, made.inputs, new)
    _id, read, inputs = double.read(made.token, key, made.id, state, new)

    assert new == inputs
    assert {k: read[k] for k in state} == state
    made.state, made.inputs = state, new


@pytest.mark.parametrize("key", [pytest.param(i.key, id=i.key) for i in CASES if i.key not in ("default", "alias")])
def test_tags_change_in_place(double: Double, standing: dict[str, Made], key: str) -> None:
    made = _made(standing, key)
    resource = resource_for(made.token)
    assert resource is not None
    if "tags" not in made.inputs:
        pytest.skip("this case states no tags")
    new = {**made.inputs, "tags": {"Name": "it", "cost": "high"}}
    assert list(double.diff(made.token, key, made.id, made.state, made.inputs, new).replaces) == []
    state = double.update(made.token, key, made.id, made.state, made.inputs, new)
    _id, _state, inputs = double.read(made.token, key, made.id, state, new)

    assert state["tagsAll"] == {"Name": "it", "cost": "high"}
    assert new == inputs
    made.state, made.inputs = state, new


def test_all_of_it_is_deleted_in_reverse_order(double: Double, standing: dict[str, Made]) -> None:
    """The last test of the module: the order rules of AWS hold on the way down."""
    left = {}
    for key in reversed(list(standing)):
        made = standing[key]
        try:
            double.delete(made.token, key, made.id, made.state, made.inputs)
            resource_id, _state, _inputs = double.read(made.token, key, made.id, made.state, made.inputs)
            if resource_id and key not in STAYS:
                left[key] = resource_id
        except Aborted as problem:
            left[key] = str(problem)

    assert left == {}


STAYS = {"default", "ebs", "versions", "versions2", "backup", "topicpolicy"}
"""Settings and AWS's own things: deleting them only switches them back."""


def test_same_value_is_what_the_table_rests_on() -> None:
    assert same_value({"a": ["x", "y"]}, {"a": ["y", "x"], "b": None})
