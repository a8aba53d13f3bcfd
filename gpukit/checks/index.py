"""All codes: the rules by module, and the codes that reading a stack file and planning it give out."""

import importlib
from functools import cache
from typing import Final

from gpukit.checks.rule import Rule

RULE_MODULES: Final[dict[str, str]] = {
    "GK1013": "unused_definition",
    "GK1015": "section_not_built",
    "GK1023": "setting_without_effect",
    "GK1024": "tag_not_allowed",
    "GK1025": "too_many_tags",
    "GK1026": "label_not_allowed",
    "GK1027": "node_bounds_reversed",
    "GK1028": "name_too_long",
    "GK1029": "kubernetes_version_not_offered",
    "GK1030": "version_not_pinned",
    "GK1031": "user_data_too_large",
    "GK1032": "no_system_pool",
    "GK1033": "system_pool_tainted",
    "GK1034": "team_share_exceeds_cluster",
    "GK1035": "health_replaces_without_limit",
    "GK1036": "limit_name_unknown",
    "GK1037": "workstation_not_single",
    "GK1038": "addon_unknown",
    "GK1039": "memory_setting_too_large",
    "GK2001": "reservation_type_differs",
    "GK2002": "reservation_outside_pool_zones",
    "GK2003": "reservation_platform_differs",
    "GK2004": "reservation_shared_too_widely",
    "GK2005": "capacity_does_not_cover_pool",
    "GK2006": "reservation_expired",
    "GK2007": "reservation_dates_reversed",
    "GK2008": "reservation_id_missing",
    "GK2009": "reservation_zone_missing",
    "GK2010": "capacity_block_not_fixed",
    "GK2011": "capacity_block_with_placement_group",
    "GK2012": "reservation_in_other_placement_group",
    "GK2013": "mode_not_for_type",
    "GK2014": "spot_with_efa",
    "GK2020": "efa_over_several_zones",
    "GK2021": "type_not_offered",
    "GK2022": "efa_not_on_type",
    "GK2023": "efa_with_one_node",
    "GK2024": "rack_not_whole",
    "GK2025": "mig_profile_unknown",
    "GK2026": "sharing_with_efa",
    "GK2027": "update_needs_spare_capacity",
    "GK2028": "several_types_not_allowed",
    "GK2029": "type_past_its_time",
    "GK2030": "capacity_block_too_large",
    "GK2031": "capacity_block_duration",
    "GK2032": "capacity_block_too_far_ahead",
    "GK2040": "limit_exceeded",
    "GK2041": "limit_nearly_reached",
    "GK2042": "limit_not_known",
    "GK2043": "update_share_too_large",
    "GK2044": "pods_beyond_addresses",
    "GK2045": "efa_without_placement_group",
    "GK2046": "very_many_nodes",
    "GK2047": "capacity_beyond_pool",
    "GK2048": "helper_pool_with_gpus",
    "GK3001": "subnet_too_small",
    "GK3002": "address_blocks_overlap",
    "GK3003": "endpoint_open_to_world",
    "GK3004": "port_open_to_world",
    "GK3005": "endpoints_incomplete",
    "GK3006": "registry_out_of_reach",
    "GK3007": "many_interfaces_in_public_subnet",
    "GK3008": "interface_layout_illegal",
    "GK3009": "efa_without_security_group",
    "GK3010": "existing_network_without_zone",
    "GK3011": "address_block_not_private",
    "GK3012": "no_way_out",
    "GK3013": "network_plugin_too_old",
    "GK3014": "retention_not_allowed",
    "GK3015": "port_range_reversed",
    "GK3016": "subnet_named_twice",
    "GK4001": "lustre_size_illegal",
    "GK4002": "lustre_tier_unknown",
    "GK4003": "lustre_efa_needs_persistent2",
    "GK4004": "storage_in_other_zone",
    "GK4005": "metadata_iops_illegal",
    "GK4006": "mount_path_twice",
    "GK4007": "existing_id_of_other_kind",
    "GK4008": "root_smaller_than_image",
    "GK4009": "volume_settings_illegal",
    "GK4011": "lustre_ports_closed",
    "GK4012": "data_unprotected",
    "GK4013": "durable_role_on_scratch",
    "GK4014": "backup_not_possible",
    "GK4015": "local_disks_missing",
    "GK4016": "storage_outlives_stack",
    "GK4017": "data_repository_not_possible",
    "GK5003": "precision_not_on_gpu",
    "GK5004": "architecture_differs",
    "GK5005": "driver_not_for_gpu",
    "GK5006": "image_contents_unknown",
    "GK5007": "packages_without_build",
    "GK6001": "liquid_only_type_in_air",
    "GK6002": "envelope_exceeded",
    "GK6003": "cooling_zone_elsewhere",
    "GK6004": "too_few_racks",
    "GK7001": "cost_above_cap",
    "GK7002": "price_not_known",
    "GK7003": "no_budget",
    "GK7004": "nobody_is_told",
    "GK7005": "no_end_date",
    "GK7006": "end_date_passed",
    "GK7007": "workstation_never_stops",
    "GK7008": "nothing_drains_before_end",
}
"""Code -> module of this package that holds the rule. Written out, so that starting needs no search."""

CODES_ELSEWHERE: Final = {
    "GK1001": "the file cannot be read",
    "GK1002": "a key is not known where it stands",
    "GK1003": "a value has another form than its key takes",
    "GK1004": "a key without default is missing",
    "GK1005": "a key stands twice",
    "GK1006": "the preset does not exist",
    "GK1007": "the instance type is not in the catalogue",
    "GK1008": "the image is not defined",
    "GK1009": "the cooling zone is not defined",
    "GK1010": "the bucket store of a data repository is not defined",
    "GK1011": "the region is not in the catalogue",
    "GK1012": "the availability zone is not in the region",
    "GK1014": "a phase names a pool that is not defined",
    "GK1016": "the UltraServer is not in the catalogue",
    "GK1017": "a GPU pool names no instance type",
    "GK1018": "a GPU pool has an instance type without GPU",
    "GK1019": "a boot hook cannot be read, or is not the one that was checked",
    "GK1020": "a suppression has ended",
    "GK1021": "a suppression names a code that does not exist",
    "GK1022": "a suppression accepts nothing",
    "GK5001": "no known image fits the pool",
    "GK5002": "an image can change by itself",
}
"""Code -> title, for what is found while reading, resolving names, planning and suppressing."""


@cache
def load_rules() -> tuple[Rule, ...]:
    """Return all rules by code."""
    return tuple(load_rule(code) for code in sorted(RULE_MODULES))


def load_rule(code: str) -> Rule:
    """Return one rule; KeyError where the code has none."""
    rule: Rule = importlib.import_module(f"gpukit.checks.{RULE_MODULES[code]}").RULE
    return rule


@cache
def known_codes() -> tuple[str, ...]:
    """Return every code, sorted."""
    return tuple(sorted({*RULE_MODULES, *CODES_ELSEWHERE}))


def title_of(code: str) -> str:
    """Return what is wrong when a code is given out; KeyError where there is no such code."""
    return CODES_ELSEWHERE.get(code) or load_rule(code).title
