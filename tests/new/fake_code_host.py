"""The fake of both code hosts, for tests outside `tests/report`."""

from tests.report.test_post import TOKEN, FakeHost

__all__ = ["TOKEN", "FakeHost"]
