"""The one name of an environment in AWS."""

from gpukit.plan import Plan


def stack_name(plan: Plan) -> str:
    """Return the plan's name with its environment, as two of them may share an account: `research-staging`."""
    return plan.name if plan.name.endswith(plan.environment) else f"{plan.name}-{plan.environment}"
