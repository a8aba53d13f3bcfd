"""GK3008: a network interface layout that the instance type refuses."""

from collections import Counter
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity
from gpukit.plan import NodeGroupPlan


def check(context: CheckContext) -> Iterator[Finding]:
    """
    Yield a finding for each node group whose interfaces do not fit its type, once a reason.

    Where nobody knows the cards of the type, nothing can be judged: one unknown for the pool, not an error a group.
    """
    unknown: set[tuple[str, str]] = set()
    for pool, group in context.node_groups():
        if not context.catalog.has_instance_type(group.instance_type):
            continue
        if not context.catalog.network_cards(group.instance_type):
            if (pool.name, group.instance_type) not in unknown:
                unknown.add((pool.name, group.instance_type))
                yield tell(
                    "GK3008",
                    Severity.UNKNOWN,
                    f"pools.{pool.name}.network_interfaces",
                    problem=f"the network cards of {group.instance_type} are not known",
                    fix="look them up (`aws ec2 describe-instance-types`), and add them to a table of your own",
                )
            continue
        for reason in dict.fromkeys(_refusals(group, context)):
            yield tell(
                "GK3008",
                Severity.ERROR,
                f"pools.{pool.name}.network_interfaces",
                problem=f"{group.name} on {group.instance_type}: {reason}",
                fix="use the layout of `gpukit plan`, which follows the cards of the type",
            )


def _refusals(group: NodeGroupPlan, context: CheckContext) -> Iterator[str]:
    cards = {card.index: card for card in context.catalog.network_cards(group.instance_type)}
    layout = group.network_interfaces
    if not layout or (layout[0].network_card, layout[0].device_index) != (0, 0):
        yield "the primary interface must be card 0, device 0"
    elif layout[0].interface_type == "efa-only":
        yield "the primary interface cannot be efa-only: it carries the node's address"
    for pair, count in Counter((item.network_card, item.device_index) for item in layout).items():
        if count > 1:
            yield f"card {pair[0]}, device {pair[1]} is used {count} times"
    for index, count in Counter(item.network_card for item in layout).items():
        card = cards.get(index)
        if card is None:
            yield f"there is no network card {index}; the type has {len(cards)}"
            continue
        if card.max_enis is not None and count > card.max_enis:
            yield f"card {index} holds {card.max_enis} interfaces, and {count} are laid out"
        efa = [item for item in layout if item.network_card == index and item.is_efa]
        if len(efa) > 1:
            yield f"card {index} has {len(efa)} EFA interfaces, and takes one"
        if efa and not card.supports_efa:
            yield f"card {index} takes no EFA"


RULE = Rule(
    code="GK3008",
    title="a network interface layout that the instance type refuses",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="EC2 refuses the launch, or takes it and leaves cards without EFA, so a job falls to TCP",
    source=(
        'EC2 User Guide, "Maximize network bandwidth with EFA" ; network_cards.csv ; public reports '
        "terraform-aws-eks#2182 and #3653, parallelcluster PR#6066, eksctl#7520"
    ),
)
