"""What moto lacks of EFS: taking a file system's policy off."""

from typing import Any

from moto.efs.models import efs_backends

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID


@action("efs", "DeleteFileSystemPolicy")
def delete_file_system_policy(call: ApiCall) -> dict[str, Any]:
    """Take the policy off; fine when there is none. Raises FileSystemNotFound."""
    identifier = str(call.params.get("FileSystemId", ""))
    systems = efs_backends[ACCOUNT_ID][call.region].file_systems_by_id
    if identifier not in systems:
        raise AwsError("FileSystemNotFound", f"File system '{identifier}' does not exist.", status=404)
    systems[identifier].file_system_policy = None
    return {}
