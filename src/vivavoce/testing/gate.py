"""A gate as an assertion, for a suite of tests."""

from pathlib import Path
from typing import Literal

from vivavoce.core.errors import VivaError
from vivavoce.run.run import Run, open_run


def assert_not_worse(
    run: Run | str | Path,
    new: str,
    old: str,
    *,
    metric: str,
    margin: float | None = None,
    population: Literal["sample", "fixed"] = "sample",
    items: str | None = None,
) -> None:
    """Raise `AssertionError` unless it is shown that `new` is not worse than `old` by `margin` or more.

    Everything inconclusive raises too, with the verdict, why, and what would show it. `margin` is in the
    metric's units, and may be left out where the metric declares a smallest difference. The rest is as in
    `Run.gate`. Raises `VivaError` for a run, candidate or metric that is not there.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    try:
        opened = run if isinstance(run, Run) else open_run(run)
        gate = opened.gate(
            new,
            against=old,
            metric=metric,
            margin=margin,
            population=population,
            items=items,
            require="not-worse",
        )
    except VivaError as error:
        raise error.with_traceback(None) from None  # its sentence says what is wrong, and where
    if gate.closed:
        raise AssertionError("\n".join(gate.reasons))
