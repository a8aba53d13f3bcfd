"""Turn refusals into honest answers: a missing permission or an overloaded API is unknown, never a pass."""

from gpukit.preflight.account import Refused
from gpukit.preflight.probe import ProbeResult, Verdict


def unknown_because(refused: Refused, *, probe: str, path: str, question: str) -> ProbeResult:
    """Return the answer to a question that could not be asked, naming the action and what would allow it."""
    if refused.denied:
        answer = f"not allowed to ask: {refused.action}"
        fix = f"allow {refused.action} (`gpukit preflight --iam-policy` prints all that is needed)"
    elif refused.throttled:
        answer = f"AWS limits the rate of {refused.action} ({refused.code}), also after repetitions"
        fix = "run it again in some minutes"
    else:
        answer = f"{refused.action} answered {refused.code}: {refused.message[:200]}"
        fix = "correct what the answer names, and run it again"
    return ProbeResult(
        probe=probe,
        path=path,
        question=question,
        verdict=Verdict.UNKNOWN,
        answer=answer,
        fix=fix,
        action=refused.action,
    )
