"""S3 buckets and the settings that are resources of their own."""

from typing import Any, ClassVar

from gpukit_sandbox.provider.convert import from_api, tags_from_api, to_api
from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls, Refused

_NO_BUCKET = ("NoSuchBucket", "404", "NotFound")


class _BucketTags(Tagging):
    """S3 has one call that replaces all tags of a bucket."""

    def change(self, calls: Calls, service: str, resource_id: str, state: Properties, wanted: Any) -> None:
        """Replace them all."""
        if wanted:
            calls.call("s3", "put_bucket_tagging", Bucket=resource_id, Tagging={"TagSet": self.write(wanted)})
        else:
            calls.call("s3", "delete_bucket_tagging", Bucket=resource_id)

    def read(self, calls: Calls, service: str, resource_id: str, state: Properties, item: Any) -> dict[str, str]:
        """Read them; none is an error code here."""
        try:
            return tags_from_api(calls.call("s3", "get_bucket_tagging", Bucket=resource_id)["TagSet"])
        except Refused as refusal:
            if refusal.code == "NoSuchTagSet":
                return {}
            raise


class Bucket(Resource):
    """A bucket; its name is its id. Settings with a resource of their own are taken there, not here."""

    token = "aws:s3/bucket:Bucket"
    service, autoname, autoname_max = "s3", "bucket", 63
    create_call = "create_bucket"
    gone = _NO_BUCKET
    renames: ClassVar = {"objectLockEnabled": "ObjectLockEnabledForBucket"}
    handles = frozenset({"forceDestroy", "bucketPrefix"})
    tagging = _BucketTags()
    arn = "arn:aws:s3:::{id}"
    not_imported = frozenset({"bucketPrefix", "acl"})
    defaults: ClassVar = {"forceDestroy": False}

    def shape_name(self, name: str) -> str:
        """Bucket names are lower case."""
        return name.lower().replace("_", "-")

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["bucket"])

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Outside us-east-1 the region must be named."""
        params: dict[str, Any] = {"Bucket": inputs["bucket"]}
        if calls.region != "us-east-1":
            params["CreateBucketConfiguration"] = {"LocationConstraint": calls.region}
        if inputs.get("objectLockEnabled"):
            params["ObjectLockEnabledForBucket"] = True
        if inputs.get("acl"):
            params["ACL"] = inputs["acl"]
        return params

    def settle(self, calls: Calls, resource_id: str, inputs: Properties, *, old: Properties | None = None) -> None:
        """Write the tags after the creation: the call does not take them."""
        super().settle(calls, resource_id, inputs, old=old)
        tags = self.all_tags(calls, inputs)
        if tags:
            self.tagging.change(calls, "s3", resource_id, {}, tags)

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Ask for its head."""
        try:
            answer = calls.call("s3", "head_bucket", Bucket=resource_id)
        except Refused as refusal:
            if refusal.code in _NO_BUCKET:
                return None
            raise
        return {"Bucket": resource_id, "BucketRegion": answer.get("BucketRegion", calls.region)}

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add its names."""
        return {
            "bucket": resource_id,
            "bucketDomainName": f"{resource_id}.s3.amazonaws.com",
            "bucketRegionalDomainName": f"{resource_id}.s3.{calls.region}.amazonaws.com",
            "bucketRegion": calls.region,
        }

    @applies("policy")
    def policy(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Write or take off the policy that is stated inside the bucket."""
        if new.get("policy"):
            calls.call("s3", "put_bucket_policy", Bucket=resource_id, Policy=new["policy"])
        else:
            calls.call("s3", "delete_bucket_policy", Bucket=resource_id)

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it; `forceDestroy` empties it first."""
        if state.get("forceDestroy"):
            self._empty(calls, resource_id)
        calls.call("s3", "delete_bucket", Bucket=resource_id)

    def _empty(self, calls: Calls, bucket: str) -> None:
        while True:
            page = calls.call("s3", "list_object_versions", Bucket=bucket)
            doomed = [
                {"Key": o["Key"], "VersionId": o["VersionId"]}
                for kind in ("Versions", "DeleteMarkers")
                for o in page.get(kind, [])
            ]
            if not doomed:
                return
            calls.call("s3", "delete_objects", Bucket=bucket, Delete={"Objects": doomed[:1000], "Quiet": True})


class BucketV2(Bucket):
    """The bucket under its older token."""

    token = "aws:s3/bucketV2:BucketV2"


class _Setting(Resource):
    """A setting of a bucket: written and read as one value, the bucket's name is its id."""

    service, autoname = "s3", ""
    gone = _NO_BUCKET
    none_codes: ClassVar[tuple[str, ...]] = ()
    delete_args: ClassVar = {"Bucket": "{id}"}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the bucket's name."""
        return str(inputs["bucket"])

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """The bucket's name."""
        return str(inputs["bucket"])

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return what is written."""
        return {"Bucket": inputs["bucket"], **self.written(calls, inputs)}

    def written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return the setting in AWS's form."""
        raise NotImplementedError

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Write it again."""
        calls.call("s3", self.create_call, **self.create_params(calls, new))

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read it; the code for none means that it is gone."""
        try:
            return calls.call("s3", self.read_call, Bucket=resource_id)
        except Refused as refusal:
            if refusal.code in (*self.none_codes, *_NO_BUCKET):
                return None
            raise

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Say whose setting it is."""
        return {"bucket": resource_id}


class BucketVersioning(_Setting):
    """Versioning."""

    token = "aws:s3/bucketVersioning:BucketVersioning"
    create_call, read_call = "put_bucket_versioning", "get_bucket_versioning"
    renames: ClassVar = {"mfaDelete": "MFADelete", "mfa": "MFA"}

    def written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return status and MFA."""
        stated = inputs["versioningConfiguration"]
        value = {"Status": stated["status"]} if stated.get("status") != "Disabled" else {"Status": "Suspended"}
        if stated.get("mfaDelete"):
            value["MFADelete"] = stated["mfaDelete"]
        return {"VersioningConfiguration": value}

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """A bucket that never had versions says nothing."""
        status = item.get("Status") or "Disabled"
        stated = state.get("versioningConfiguration") or {}
        same = status == "Suspended" and stated.get("status") == "Disabled"
        return {"bucket": resource_id, "versioningConfiguration": {**stated, "status": "Disabled" if same else status}}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Suspend it: AWS knows no way back to never."""
        if (state.get("versioningConfiguration") or {}).get("status") == "Enabled":
            calls.call(
                "s3", "put_bucket_versioning", Bucket=resource_id, VersioningConfiguration={"Status": "Suspended"}
            )


class BucketVersioningV2(BucketVersioning):
    """Versioning under its older token."""

    token = "aws:s3/bucketVersioningV2:BucketVersioningV2"


class BucketServerSideEncryptionConfiguration(_Setting):
    """Default encryption."""

    token = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    create_call, read_call = "put_bucket_encryption", "get_bucket_encryption"
    delete_call = "delete_bucket_encryption"
    none_codes = ("ServerSideEncryptionConfigurationNotFoundError",)
    renames: ClassVar = {"kmsMasterKeyId": "KMSMasterKeyID", "sseAlgorithm": "SSEAlgorithm", "rules": "Rules"}
    handles = frozenset({"rules"})

    def written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return the rules."""
        shape = calls.shape("s3", "put_bucket_encryption").members["ServerSideEncryptionConfiguration"]
        return {"ServerSideEncryptionConfiguration": to_api({"rules": inputs["rules"]}, shape, self.renames)}

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read the rules back."""
        rules = from_api(item["ServerSideEncryptionConfiguration"], {"rules": self.type.outputs["rules"]}, self.renames)
        return {"bucket": resource_id, **rules}


class BucketServerSideEncryptionConfigurationV2(BucketServerSideEncryptionConfiguration):
    """Default encryption under its older token."""

    token = "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2"


class BucketPublicAccessBlock(_Setting):
    """The four switches against public access."""

    token = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    create_call, read_call = "put_public_access_block", "get_public_access_block"
    delete_call = "delete_public_access_block"
    none_codes = ("NoSuchPublicAccessBlockConfiguration",)
    handles = frozenset(
        {"skipDestroy", "blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"}
    )
    _switches: ClassVar = {
        "blockPublicAcls": "BlockPublicAcls",
        "blockPublicPolicy": "BlockPublicPolicy",
        "ignorePublicAcls": "IgnorePublicAcls",
        "restrictPublicBuckets": "RestrictPublicBuckets",
    }

    def written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return the switches."""
        return {
            "PublicAccessBlockConfiguration": {
                member: bool(inputs.get(name)) for name, member in self._switches.items()
            }
        }

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read the switches back."""
        found = item["PublicAccessBlockConfiguration"]
        return {"bucket": resource_id, **{name: bool(found.get(member)) for name, member in self._switches.items()}}


class BucketPolicy(_Setting):
    """The bucket's policy."""

    token = "aws:s3/bucketPolicy:BucketPolicy"
    create_call, read_call = "put_bucket_policy", "get_bucket_policy"
    delete_call = "delete_bucket_policy"
    none_codes = ("NoSuchBucketPolicy",)

    def written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return the text."""
        return {"Policy": inputs["policy"]}


class BucketLifecycleConfiguration(_Setting):
    """Lifecycle rules."""

    token = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
    create_call, read_call = "put_bucket_lifecycle_configuration", "get_bucket_lifecycle_configuration"
    delete_call = "delete_bucket_lifecycle"
    none_codes = ("NoSuchLifecycleConfiguration",)
    handles = frozenset({"rules", "timeouts", "transitionDefaultMinimumObjectSize"})
    renames: ClassVar = {
        "id": "ID",
        "noncurrentVersionTransitions": "NoncurrentVersionTransitions",
        "transitions": "Transitions",
    }

    def written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return the rules; a rule without a filter applies to all."""
        shape = calls.shape("s3", "put_bucket_lifecycle_configuration").members["LifecycleConfiguration"]
        rules = to_api({"rules": inputs.get("rules") or []}, shape, self.renames)
        for rule in rules["Rules"]:
            if "Prefix" not in rule and not rule.get("Filter"):
                rule["Filter"] = {"Prefix": ""}
        extra = {}
        if inputs.get("transitionDefaultMinimumObjectSize"):
            extra["TransitionDefaultMinimumObjectSize"] = inputs["transitionDefaultMinimumObjectSize"]
        return {"LifecycleConfiguration": rules, **extra}

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read the rules back."""
        found = from_api({"Rules": item.get("Rules", [])}, {"rules": self.type.outputs["rules"]}, self.renames)
        return {"bucket": resource_id, **found}


class BucketLifecycleConfigurationV2(BucketLifecycleConfiguration):
    """Lifecycle rules under their older token."""

    token = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"


class BucketOwnershipControls(_Setting):
    """Who owns what others write."""

    token = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
    create_call, read_call = "put_bucket_ownership_controls", "get_bucket_ownership_controls"
    delete_call = "delete_bucket_ownership_controls"
    none_codes = ("OwnershipControlsNotFoundError",)
    handles = frozenset({"rule"})

    def written(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return the one rule."""
        return {"OwnershipControls": {"Rules": [{"ObjectOwnership": inputs["rule"]["objectOwnership"]}]}}

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read the rule back."""
        return {
            "bucket": resource_id,
            "rule": {"objectOwnership": item["OwnershipControls"]["Rules"][0]["ObjectOwnership"]},
        }
