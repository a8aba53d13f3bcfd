"""
Rules over a spec and its plan: every costly mistake found before any cloud call, all at once.

One rule is one module here, one page in `docs/codes/` and one test in `tests/checks/`. `run_checks` runs them all.
"""

from gpukit.checks.rule import CheckContext, CheckResult, Rule, SuppressedFinding
from gpukit.checks.runner import run_checks

__all__ = ["CheckContext", "CheckResult", "Rule", "SuppressedFinding", "run_checks"]
