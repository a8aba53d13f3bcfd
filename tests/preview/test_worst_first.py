"""What a refused program said: its error first, then findings by level, each block whole."""

from gpukit.preview.record import worst_first

SAID = """\
GK7004 warning  budget.notify: the monthly cap tells nobody
  why:  an alarm without an address is read by nobody
GK2042 unknown  pools.workstation: 4 vCPUs are needed
  why:  quotas differ
gpukit found 1 mistake; nothing was created
GK7001 error  budget.monthly_usd: $1,427.03 a month
  why:  the cap is there
  fix:  raise it"""


def test_errors_come_first_then_warnings_then_unknowns() -> None:
    assert worst_first(SAID).splitlines() == [
        "gpukit found 1 mistake; nothing was created",
        "GK7001 error  budget.monthly_usd: $1,427.03 a month",
        "  why:  the cap is there",
        "  fix:  raise it",
        "GK7004 warning  budget.notify: the monthly cap tells nobody",
        "  why:  an alarm without an address is read by nobody",
        "GK2042 unknown  pools.workstation: 4 vCPUs are needed",
        "  why:  quotas differ",
    ]


def test_words_without_findings_stay_as_they_are() -> None:
    said = "starting\nKeyError: 'x' (/p/__main__.py:3)"

    assert worst_first(said) == said
