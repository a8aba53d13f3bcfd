"""Instances, launch templates, placement groups and EBS volumes."""

import base64
from collections.abc import Iterable
from typing import Any, ClassVar

from gpukit_sandbox.provider.convert import from_api, to_api
from gpukit_sandbox.provider.ec2_network import Ec2Resource
from gpukit_sandbox.provider.resource import applies
from gpukit_sandbox.provider.sdk_types import nested_type
from gpukit_sandbox.provider.tagging import ec2_tags
from gpukit_sandbox.provider.values import UNKNOWN, Properties
from gpukit_sandbox.provider.world import Calls, Refused

_STOPPED_STATES = ("stopped", "stopping", "shutting-down", "terminated")


class LaunchTemplate(Ec2Resource):
    """A launch template; every change of its content makes a new version."""

    token = "aws:ec2/launchTemplate:LaunchTemplate"
    autoname, autoname_max = "name", 125
    create_call, id_from = "create_launch_template", "LaunchTemplate.LaunchTemplateId"
    delete_call, delete_args = "delete_launch_template", {"LaunchTemplateId": "{id}"}
    gone = (
        "InvalidLaunchTemplateId.NotFound",
        "InvalidLaunchTemplateId.NotFoundException",
        "InvalidLaunchTemplateName.NotFoundException",
    )
    renames: ClassVar = {
        "name": "LaunchTemplateName",
        "description": "VersionDescription",
        "securityGroupNames": "SecurityGroups",
        "vpcSecurityGroupIds": "SecurityGroupIds",
        "networkInterfaces": "NetworkInterfaces",
        "securityGroups": "Groups",
        "ramDiskId": "RamDiskId",
        "ipv4Addresses": "PrivateIpAddresses",
        "ipv4AddressCount": "SecondaryPrivateIpAddressCount",
        "ipv6AddressCount": "Ipv6AddressCount",
        "ipv4PrefixCount": "Ipv4PrefixCount",
        "ipv6PrefixCount": "Ipv6PrefixCount",
        "licenseSpecifications": "LicenseSpecifications",
    }
    tagging = ec2_tags("launch-template")
    arn = "arn:aws:ec2:{region}:{account}:launch-template/{id}"
    changes_with_every_update = ("latestVersion",)
    _head: ClassVar = frozenset(
        {
            "name",
            "namePrefix",
            "description",
            "tags",
            "tagsAll",
            "region",
            "defaultVersion",
            "updateDefaultVersion",
            "__defaults",
        }
    )
    handles = frozenset({"defaultVersion", "updateDefaultVersion", "namePrefix"})
    not_imported = frozenset({"namePrefix"})

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse two ways of choosing the default version."""
        if inputs.get("updateDefaultVersion") and inputs.get("defaultVersion") is not None:
            yield "defaultVersion", "conflicts with updateDefaultVersion"

    def not_modelled(self, calls: Calls, inputs: Properties) -> list[tuple[str, str]]:
        """Hold the content against the template's own structure."""
        from gpukit_sandbox.provider.convert import Unmatched, consumed

        shape = calls.shape("ec2", "create_launch_template").members["LaunchTemplateData"]
        content = {k: v for k, v in inputs.items() if k not in self._head}
        unmatched = Unmatched()
        to_api(content, shape, self._inner(), unmatched=unmatched)
        lost = [p for p in content if p not in consumed(content, shape, self._inner())]
        return [(p, f"{p!r}: the sandbox's AWS double does not model it") for p in [*lost, *unmatched.paths]]

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Put the content into one structure."""
        params: dict[str, Any] = {
            "LaunchTemplateName": inputs["name"],
            "LaunchTemplateData": self._content(calls, inputs),
        }
        if inputs.get("description"):
            params["VersionDescription"] = inputs["description"]
        return {**params, **self.tagging.on_create({}, self.all_tags(calls, inputs), True)}

    def _content(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        shape = calls.shape("ec2", "create_launch_template").members["LaunchTemplateData"]
        return to_api({k: v for k, v in inputs.items() if k not in self._head}, shape, self._inner())

    def _inner(self) -> dict[str, str]:
        return {k: v for k, v in self.renames.items() if k not in ("name", "description")}

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Join the template's head and its newest version."""
        try:
            heads = calls.call("ec2", "describe_launch_templates", LaunchTemplateIds=[resource_id])["LaunchTemplates"]
            if not heads:
                return None
            newest = calls.call(
                "ec2", "describe_launch_template_versions", LaunchTemplateId=resource_id, Versions=["$Latest"]
            )
        except Refused as refusal:
            if refusal.code in self.gone:
                return None
            raise
        version = newest["LaunchTemplateVersions"][0]
        return {
            **version.get("LaunchTemplateData", {}),
            "VersionDescription": version.get("VersionDescription"),
            **heads[0],
        }

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the version numbers."""
        content = from_api(item, {k: v for k, v in self.type.outputs.items() if k not in self._head}, self._inner())
        return {
            **content,
            "latestVersion": int(item["LatestVersionNumber"]),
            "defaultVersion": int(item["DefaultVersionNumber"]),
            "name": item["LaunchTemplateName"],
        }

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Make a new version when the content changed, then point the default where it was asked to be."""
        if "tags" in changed:
            self.tagging.change(calls, "ec2", resource_id, state, self.all_tags(calls, new))
        default = new.get("defaultVersion")
        if (changed - self._head) | (changed & {"description"}):
            words = {"VersionDescription": new["description"]} if new.get("description") else {}
            answer = calls.call(
                "ec2",
                "create_launch_template_version",
                LaunchTemplateId=resource_id,
                LaunchTemplateData=self._content(calls, new),
                **words,
            )
            if new.get("updateDefaultVersion"):
                default = answer["LaunchTemplateVersion"]["VersionNumber"]
        if default is not None:
            calls.call("ec2", "modify_launch_template", LaunchTemplateId=resource_id, DefaultVersion=str(int(default)))


class PlacementGroup(Ec2Resource):
    """A placement group; its name is its id."""

    token = "aws:ec2/placementGroup:PlacementGroup"
    autoname, autoname_max = "name", 255
    create_call = "create_placement_group"
    read_call, read_args, item = "describe_placement_groups", {"GroupNames": ["{id}"]}, "PlacementGroups[0]"
    gone = ("InvalidPlacementGroup.Unknown", "status:deleted")
    delete_call, delete_args = "delete_placement_group", {"GroupName": "{id}"}
    renames: ClassVar = {"name": "GroupName", "placementGroupId": "GroupId", "arn": "GroupArn"}
    tagging = ec2_tags("placement-group")
    status, ready = "State", ("available",)
    not_imported = frozenset({"partitionCount", "spreadLevel"})

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Create it; tags are written on its own id."""
        return super().make(calls, inputs)

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Only tags change in place, and EC2 takes them by the group's id."""
        if "tags" in changed:
            self.tagging.change(
                calls, "ec2", str(state.get("placementGroupId", resource_id)), state, self.all_tags(calls, new)
            )


class Instance(Ec2Resource):
    """One instance."""

    token = "aws:ec2/instance:Instance"
    create_call, id_from = "run_instances", "Instances[0].InstanceId"
    read_call, read_args, item = "describe_instances", {"InstanceIds": ["{id}"]}, "Reservations[0].Instances[0]"
    gone = ("InvalidInstanceID.NotFound", "status:terminated")
    delete_call, delete_args = "terminate_instances", {"InstanceIds": ["{id}"]}
    renames: ClassVar = {"ami": "ImageId", "vpcSecurityGroupIds": "SecurityGroupIds", "privateIp": "PrivateIpAddress", "publicIp": "PublicIpAddress",
                         "privateDns": "PrivateDnsName", "publicDns": "PublicDnsName"}  # fmt: skip
    handles = frozenset(
        {
            "associatePublicIpAddress", "availabilityZone", "creditSpecification", "ebsBlockDevices", "ephemeralBlockDevices", "forceDestroy",
            "getPasswordData", "hibernation", "iamInstanceProfile", "launchTemplate", "monitoring", "networkInterfaces",
            "placementGroup", "placementPartitionNumber", "rootBlockDevice", "sourceDestCheck", "tenancy", "userData", "userDataBase64",
            "userDataReplaceOnChange", "volumeTags", "placementGroupId", "primaryNetworkInterface",
        }
    )  # fmt: skip
    not_sent = handles
    tagging = ec2_tags("instance")
    arn = "arn:aws:ec2:{region}:{account}:instance/{id}"
    status, ready, failed = "State.Name", ("running", "stopped"), ("terminated", "shutting-down", "gone")
    waits_for_deletion = True
    defaults: ClassVar = {
        "sourceDestCheck": True,
        "userDataReplaceOnChange": False,
        "getPasswordData": False,
        "forceDestroy": False,
    }
    not_imported = frozenset(
        {
            "networkInterfaces",
            "securityGroups",
            "primaryNetworkInterface",
            "ebsBlockDevices",
            "secondaryNetworkInterfaces",
        }
    )

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Gather placement, disks, interface and user data."""
        params = super().create_params(calls, inputs)
        params |= {"MinCount": 1, "MaxCount": 1}
        placement = {
            "AvailabilityZone": inputs.get("availabilityZone"),
            "GroupName": inputs.get("placementGroup"),
            "GroupId": inputs.get("placementGroupId"),
            "PartitionNumber": inputs.get("placementPartitionNumber"),
            "Tenancy": inputs.get("tenancy"),
        }
        placement = {k: v for k, v in placement.items() if v is not None}
        if placement:
            params["Placement"] = placement
        if inputs.get("monitoring") is not None:
            params["Monitoring"] = {"Enabled": bool(inputs["monitoring"])}
        if inputs.get("hibernation"):
            params["HibernationOptions"] = {"Configured": True}
        if inputs.get("creditSpecification"):
            params["CreditSpecification"] = {"CpuCredits": inputs["creditSpecification"].get("cpuCredits", "standard")}
        if inputs.get("iamInstanceProfile"):
            params["IamInstanceProfile"] = {"Name": inputs["iamInstanceProfile"]}
        if inputs.get("launchTemplate"):
            template = inputs["launchTemplate"]
            stated = {
                "LaunchTemplateId": template.get("id"),
                "LaunchTemplateName": template.get("name"),
                "Version": template.get("version"),
            }
            params["LaunchTemplate"] = {k: str(v) for k, v in stated.items() if v is not None}
        if inputs.get("userDataBase64"):
            params["UserData"] = base64.b64decode(inputs["userDataBase64"]).decode("latin-1")
        elif inputs.get("userData"):
            params["UserData"] = inputs["userData"]
        disks = self._disks(calls, inputs)
        if disks:
            params["BlockDeviceMappings"] = disks
        if inputs.get("volumeTags") or (inputs.get("rootBlockDevice") or {}).get("tags"):
            tags = {**(inputs.get("volumeTags") or {}), **((inputs.get("rootBlockDevice") or {}).get("tags") or {})}
            params.setdefault("TagSpecifications", []).append(
                {"ResourceType": "volume", "Tags": self.tagging.write(tags)}
            )
        self._write_interfaces(params, inputs)
        return params

    def _write_interfaces(self, params: dict[str, Any], inputs: Properties) -> None:
        attached = [
            {"NetworkInterfaceId": i["networkInterfaceId"], "DeviceIndex": int(i["deviceIndex"]), **_card(i)}
            for i in inputs.get("networkInterfaces") or []
        ]
        primary = inputs.get("primaryNetworkInterface")
        if primary:
            attached.insert(0, {"NetworkInterfaceId": primary["networkInterfaceId"], "DeviceIndex": 0})
        if attached:
            params["NetworkInterfaces"] = attached
        elif inputs.get("associatePublicIpAddress") is not None:
            # AWS takes subnet, groups and address on the interface once anything is said about it.
            interface: dict[str, Any] = {
                "DeviceIndex": 0,
                "AssociatePublicIpAddress": bool(inputs["associatePublicIpAddress"]),
            }
            for member, target in (
                ("SubnetId", "SubnetId"),
                ("SecurityGroupIds", "Groups"),
                ("PrivateIpAddress", "PrivateIpAddress"),
            ):
                if member in params:
                    interface[target] = params.pop(member)
            params["NetworkInterfaces"] = [interface]

    def _disks(self, calls: Calls, inputs: Properties) -> list[dict[str, Any]]:
        shape = calls.shape("ec2", "run_instances").members["BlockDeviceMappings"].member.members["Ebs"]
        disks = []
        root = inputs.get("rootBlockDevice")
        if root:
            ebs = to_api(
                {k: v for k, v in root.items() if k not in ("deviceName", "tags", "tagsAll", "volumeId")}, shape
            )
            disks.append({"DeviceName": root.get("deviceName") or self._root_device(calls, inputs), "Ebs": ebs})
        for disk in inputs.get("ebsBlockDevices") or []:
            ebs = to_api(
                {k: v for k, v in disk.items() if k not in ("deviceName", "tags", "tagsAll", "volumeId")}, shape
            )
            disks.append({"DeviceName": disk["deviceName"], "Ebs": ebs})
        for disk in inputs.get("ephemeralBlockDevices") or []:
            words = {"VirtualName": disk.get("virtualName")} if not disk.get("noDevice") else {"NoDevice": ""}
            disks.append({"DeviceName": disk["deviceName"], **words})
        return disks

    def _root_device(self, calls: Calls, inputs: Properties) -> str:
        image = inputs.get("ami")
        if not image and inputs.get("launchTemplate"):
            template = inputs["launchTemplate"]
            by = (
                {"LaunchTemplateId": template["id"]} if template.get("id") else {"LaunchTemplateName": template["name"]}
            )
            version = str(template.get("version") or "$Default")
            found = calls.call("ec2", "describe_launch_template_versions", Versions=[version], **by)[
                "LaunchTemplateVersions"
            ]
            image = found[0]["LaunchTemplateData"].get("ImageId") if found else None
        images = calls.call("ec2", "describe_images", ImageIds=[image])["Images"] if image else []
        return str(images[0].get("RootDeviceName") or "/dev/xvda") if images else "/dev/xvda"

    @applies("sourceDestCheck")
    def source_check(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the check; on by default, so only said when it differs."""
        if new.get("sourceDestCheck", True) != old.get("sourceDestCheck", True):
            value = {"Value": bool(new.get("sourceDestCheck", True))}
            calls.call("ec2", "modify_instance_attribute", InstanceId=resource_id, SourceDestCheck=value)

    @applies("instanceType", on_create=False)
    def resize(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Stop, change the type, start, as the real provider does."""
        self._stopped(calls, resource_id, lambda: calls.call(
            "ec2", "modify_instance_attribute", InstanceId=resource_id, InstanceType={"Value": new["instanceType"]}))  # fmt: skip

    @applies("userData", "userDataBase64", on_create=False)
    def user_data(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Stop, change the user data, start."""
        text = (
            base64.b64decode(new["userDataBase64"])
            if new.get("userDataBase64")
            else str(new.get("userData") or "").encode()
        )
        self._stopped(calls, resource_id, lambda: calls.call(
            "ec2", "modify_instance_attribute", InstanceId=resource_id, UserData={"Value": text}))  # fmt: skip

    def _stopped(self, calls: Calls, resource_id: str, change: Any) -> None:
        item = self.find(calls, resource_id, {}) or {}
        running = item.get("State", {}).get("Name") == "running"
        if running:
            calls.call("ec2", "stop_instances", InstanceIds=[resource_id])
            self._wait_for(calls, resource_id, "stopped")
        change()
        if running:
            calls.call("ec2", "start_instances", InstanceIds=[resource_id])
            self._wait_for(calls, resource_id, "running")

    def _wait_for(self, calls: Calls, resource_id: str, state: str) -> None:
        for _ in range(600):
            if ((self.find(calls, resource_id, {}) or {}).get("State") or {}).get("Name") == state:
                return
            calls.pause(0.2)
        raise Refused(f"{resource_id} did not become {state}", "Timeout")

    @applies("vpcSecurityGroupIds", on_create=False)
    def groups(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change the security groups of the first interface."""
        calls.call(
            "ec2",
            "modify_instance_attribute",
            InstanceId=resource_id,
            Groups=list(new.get("vpcSecurityGroupIds") or []),
        )

    @applies("disableApiTermination", on_create=False)
    def termination(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the protection against termination."""
        value = {"Value": bool(new.get("disableApiTermination"))}
        calls.call("ec2", "modify_instance_attribute", InstanceId=resource_id, DisableApiTermination=value)

    @applies("disableApiStop", on_create=False)
    def stop_protection(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the protection against stopping."""
        calls.call(
            "ec2",
            "modify_instance_attribute",
            InstanceId=resource_id,
            DisableApiStop={"Value": bool(new.get("disableApiStop"))},
        )

    @applies("instanceInitiatedShutdownBehavior", on_create=False)
    def shutdown(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Choose what a shutdown from inside does."""
        value = {"Value": new.get("instanceInitiatedShutdownBehavior", "stop")}
        calls.call("ec2", "modify_instance_attribute", InstanceId=resource_id, InstanceInitiatedShutdownBehavior=value)

    @applies("monitoring", on_create=False)
    def monitoring(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch detailed monitoring."""
        calls.call(
            "ec2", "monitor_instances" if new.get("monitoring") else "unmonitor_instances", InstanceIds=[resource_id]
        )

    @applies("metadataOptions", on_create=False)
    def metadata(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change the metadata service."""
        shape = calls.shape("ec2", "modify_instance_metadata_options")
        calls.call(
            "ec2",
            "modify_instance_metadata_options",
            **{**to_api(new.get("metadataOptions") or {}, shape), "InstanceId": resource_id},
        )

    @applies("iamInstanceProfile", on_create=False)
    def profile(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Bind another instance profile."""
        filters = [{"Name": "instance-id", "Values": [resource_id]}]
        standing = calls.call("ec2", "describe_iam_instance_profile_associations", Filters=filters)[
            "IamInstanceProfileAssociations"
        ]
        wanted = new.get("iamInstanceProfile")
        if standing and wanted:
            calls.call(
                "ec2",
                "replace_iam_instance_profile_association",
                AssociationId=standing[0]["AssociationId"],
                IamInstanceProfile={"Name": wanted},
            )
        elif standing:
            calls.call("ec2", "disassociate_iam_instance_profile", AssociationId=standing[0]["AssociationId"])
        elif wanted:
            calls.call(
                "ec2", "associate_iam_instance_profile", InstanceId=resource_id, IamInstanceProfile={"Name": wanted}
            )

    @applies("rootBlockDevice", on_create=False)
    def root_volume(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change size, type, IOPS or throughput of the root volume."""
        item = self.find(calls, resource_id, {}) or {}
        volume = next(
            (
                d["Ebs"]["VolumeId"]
                for d in item.get("BlockDeviceMappings", [])
                if d["DeviceName"] == item.get("RootDeviceName")
            ),
            None,
        )
        before, after = old.get("rootBlockDevice") or {}, new.get("rootBlockDevice") or {}
        change = {}
        for name, member in (
            ("volumeSize", "Size"),
            ("volumeType", "VolumeType"),
            ("iops", "Iops"),
            ("throughput", "Throughput"),
        ):
            if after.get(name) is not None and after.get(name) != before.get(name):
                change[member] = after[name]
        if volume and change:
            calls.call("ec2", "modify_volume", VolumeId=volume, **change)

    @applies("capacityReservationSpecification", on_create=False)
    def reservation(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change what reservations it may use."""
        shape = calls.shape("ec2", "modify_instance_capacity_reservation_attributes").members[
            "CapacityReservationSpecification"
        ]
        value = to_api(new.get("capacityReservationSpecification") or {"capacityReservationPreference": "open"}, shape)
        calls.call(
            "ec2",
            "modify_instance_capacity_reservation_attributes",
            InstanceId=resource_id,
            CapacityReservationSpecification=value,
        )

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read placement, groups, disks and profile back."""
        placement = item.get("Placement") or {}
        profile = (item.get("IamInstanceProfile") or {}).get("Arn", "")
        found: Properties = {
            "availabilityZone": placement.get("AvailabilityZone"),
            "placementGroup": placement.get("GroupName") or None,
            "tenancy": placement.get("Tenancy") or "default",
            "instanceState": (item.get("State") or {}).get("Name"),
            "monitoring": (item.get("Monitoring") or {}).get("State") in ("enabled", "pending"),
            "vpcSecurityGroupIds": [g["GroupId"] for g in item.get("SecurityGroups") or []],
            "iamInstanceProfile": profile.rsplit("/", 1)[-1] or None,
            "launchTemplate": state.get("launchTemplate"),
            "userData": state.get("userData"),
        }
        found["securityGroups"] = (
            [g["GroupName"] for g in item.get("SecurityGroups") or []] if not item.get("VpcId") else None
        )
        interfaces = item.get("NetworkInterfaces") or []
        first = next((i for i in interfaces if (i.get("Attachment") or {}).get("DeviceIndex") == 0), None)
        if first:
            found["primaryNetworkInterfaceId"] = first.get("NetworkInterfaceId")
        if state.get("networkInterfaces"):
            found["networkInterfaces"] = state["networkInterfaces"]
        found["associatePublicIpAddress"] = bool(item.get("PublicIpAddress"))
        found |= self._read_disks(calls, item, state)
        if item.get("InstanceLifecycle") != "capacity-block" and not state.get("capacityReservationSpecification"):
            found["capacityReservationSpecification"] = None
        return found

    def _read_disks(self, calls: Calls, item: dict[str, Any], state: Properties) -> Properties:
        mapped = {
            d["Ebs"]["VolumeId"]: d for d in item.get("BlockDeviceMappings", []) if d.get("Ebs", {}).get("VolumeId")
        }
        if not mapped:
            return {}
        volumes = calls.call("ec2", "describe_volumes", VolumeIds=sorted(mapped))["Volumes"]
        declared = nested_type("#ec2.InstanceRootBlockDevice") or {}
        root, others = None, []
        for volume in volumes:
            device = mapped[volume["VolumeId"]]
            attached = (volume.get("Attachments") or [{}])[0]
            disk = from_api({**volume, "VolumeSize": volume["Size"], "DeviceName": device["DeviceName"]}, declared)
            disk["deleteOnTermination"] = bool(
                device["Ebs"].get("DeleteOnTermination", attached.get("DeleteOnTermination", True))
            )
            if device["DeviceName"] == item.get("RootDeviceName") or len(mapped) == 1:
                root = disk
            else:
                others.append(disk)
        stated = {d.get("deviceName") for d in state.get("ebsBlockDevices") or []}
        # Volumes that a VolumeAttachment brought belong to it, not to the instance.
        return {
            "rootBlockDevice": root,
            "ebsBlockDevices": [d for d in others if d.get("deviceName") in stated] or None,
        }

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Terminate; `forceDestroy` takes the protection off first."""
        if state.get("forceDestroy"):
            calls.call(
                "ec2", "modify_instance_attribute", InstanceId=resource_id, DisableApiTermination={"Value": False}
            )
        calls.call("ec2", "terminate_instances", InstanceIds=[resource_id])

    def replaces_for(self, old: Properties, new: Properties) -> set[str]:
        """User data replaces only where the program says so."""
        return {"userData", "userDataBase64"} if new.get("userDataReplaceOnChange") else set()


def _card(interface: Properties) -> dict[str, int]:
    card = interface.get("networkCardIndex")
    return {"NetworkCardIndex": int(card)} if card and card != UNKNOWN else {}


class Volume(Ec2Resource):
    """An EBS volume."""

    token = "aws:ebs/volume:Volume"
    create_call, id_from = "create_volume", "VolumeId"
    read_call, read_args, item = "describe_volumes", {"VolumeIds": ["{id}"]}, "Volumes[0]"
    gone = ("InvalidVolume.NotFound", "status:deleted", "status:deleting")
    delete_call, delete_args = "delete_volume", {"VolumeId": "{id}"}
    renames: ClassVar = {"type": "VolumeType"}
    handles = frozenset({"finalSnapshot"})
    tagging = ec2_tags("volume")
    arn = "arn:aws:ec2:{region}:{account}:volume/{id}"
    status, ready, failed = "State", ("available", "in-use"), ("error",)
    not_imported = frozenset({"snapshotId", "volumeInitializationRate", "outpostArn"})
    defaults: ClassVar = {"finalSnapshot": False}
    waits_for_deletion = True

    @applies("size", "type", "iops", "throughput", on_create=False)
    def modify(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Grow or retune it in place."""
        members = {"size": "Size", "type": "VolumeType", "iops": "Iops", "throughput": "Throughput"}
        change = {m: new[p] for p, m in members.items() if new.get(p) is not None and new.get(p) != old.get(p)}
        if change:
            calls.call("ec2", "modify_volume", VolumeId=resource_id, **change)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """An empty snapshot id means none."""
        return {"snapshotId": item.get("SnapshotId") or None}


class VolumeAttachment(Ec2Resource):
    """What binds a volume to an instance."""

    token = "aws:ec2/volumeAttachment:VolumeAttachment"
    create_call = "attach_volume"
    renames: ClassVar = {"deviceName": "Device"}
    handles = frozenset({"forceDetach", "skipDestroy", "stopInstanceBeforeDetaching"})
    gone = ("InvalidAttachment.NotFound", "InvalidVolume.NotFound", "IncorrectState")

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return a name made of its three parts."""
        return self._id(inputs)

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Its three parts name it."""
        return self._id(inputs)

    def _id(self, inputs: Properties) -> str:
        return f"vai-{inputs['volumeId'].removeprefix('vol-')}-{inputs['instanceId'].removeprefix('i-')}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it on the volume."""
        try:
            volumes = calls.call("ec2", "describe_volumes", VolumeIds=[state["volumeId"]])["Volumes"]
        except Refused as refusal:
            if refusal.code == "InvalidVolume.NotFound":
                return None
            raise
        for attached in volumes[0].get("Attachments", []) if volumes else []:
            if attached["InstanceId"] == state["instanceId"]:
                return dict(attached)
        return None

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Detach."""
        if not state.get("skipDestroy"):
            parts = {"VolumeId": state["volumeId"], "InstanceId": state["instanceId"], "Device": state["deviceName"]}
            calls.call("ec2", "detach_volume", **parts, Force=bool(state.get("forceDetach")))

    waits_for_deletion = False


class EncryptionByDefault(Ec2Resource):
    """The account's EBS encryption switch in a region."""

    token = "aws:ebs/encryptionByDefault:EncryptionByDefault"
    handles = frozenset({"enabled"})
    defaults: ClassVar = {"enabled": True}

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Switch it."""
        self.switch(calls, "", inputs, {})
        return f"ebs-encryption-{calls.region}"

    @applies("enabled", on_create=False)
    def switch(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch it."""
        calls.call(
            "ec2",
            "enable_ebs_encryption_by_default" if new.get("enabled", True) else "disable_ebs_encryption_by_default",
        )

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Read the switch."""
        return {"Enabled": calls.call("ec2", "get_ebs_encryption_by_default")["EbsEncryptionByDefault"]}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Switch it off, as the real provider does."""
        calls.call("ec2", "disable_ebs_encryption_by_default")
