"""The AWS provider double: Pulumi's provider protocol on one side, boto3 calls to a loopback endpoint on the other."""
