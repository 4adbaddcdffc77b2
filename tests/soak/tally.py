"""What a soak counts: how often a promise was tried, and how often it held; one table for all tests."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from tests.lengths import LONG

PROPERTY = "soak"
Row = tuple[str, int, int]


@dataclass
class Tally:
    """The counts of one test. `broken` says of each trial that failed what happened."""

    tried: Counter[str] = field(default_factory=Counter)
    survived: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def count(self, promise: str, fault: str | None, times: int = 1) -> None:
        """One trial of a promise, or several; `fault` says what broke it, null if it held."""
        self.tried[promise] += times
        if fault is None:
            self.survived[promise] += times
        else:
            self.broken.append(f"{promise}: {fault}")

    def check(self) -> None:
        """Fail with the first of what was broken."""
        more = f"\n… and {len(self.broken) - 20} more" if len(self.broken) > 20 else ""
        assert not self.broken, "\n".join(self.broken[:20]) + more

    @property
    def rows(self) -> list[Row]:
        return [(promise, n, self.survived[promise]) for promise, n in self.tried.items()]


class Collected:
    """Gathers the rows of all tests, from this process or from those of xdist."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.rows += [tuple(row) for name, rows in report.user_properties if name == PROPERTY
                          for row in rows]  # type: ignore[misc, union-attr]  # fmt: skip

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if LONG and self.rows:
            terminalreporter.section("soak")
            terminalreporter.write_line(table(self.rows))


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown, those of one promise as one."""
    tried: Counter[str] = Counter()
    survived: Counter[str] = Counter()
    for promise, n, held in sorted(rows):
        tried[promise] += n
        survived[promise] += held
    lines = [f"| {promise} | {tried[promise]:,} | {survived[promise]:,} |" for promise in tried]
    return "\n".join(["| promise | tried | survived |", "|---|--:|--:|", *lines])


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> "pytest.Generator[Tally, None, None]":
    """The counts of this test, which go to the table at the end of `make test-long`."""
    counts = Tally()
    yield counts
    record_property(PROPERTY, counts.rows)
