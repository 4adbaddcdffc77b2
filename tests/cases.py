"""Tables of cases as one test, which names every case that fails.

    @each_case(("text", "expected"), [("a", 1), ("b", 2)])
    def test_a_text_has_its_number(text, expected): ...

Where `pytest.mark.parametrize` would make a test of each line of a long table, this makes one: collecting,
sending and reporting thousands of tests costs more than they do. Cases share the fixtures of the test.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

SHOWN = 20


def each_case(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """A decorator that runs a test for each case: a value of the one name, or a sequence with one of each.

    All cases run; if any fail, the error counts them and names the first 20 with what they raised. Stacked,
    it runs every combination. What a case skips, the test skips.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [(case,) if len(columns) == 1 else tuple(case) for case in cases]
    assert table, "a table without a case proves nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def test_each(**fixtures: Any) -> None:
            failed = []
            for case in table:
                values = dict(zip(columns, case, strict=True))
                try:
                    test(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as error:
                    values_text = ", ".join(f"{name}={value!r}"[:200] for name, value in values.items())
                    failed.append(f"{values_text}: {type(error).__name__}: {error}")
            if failed:
                remainder = [f"and {len(failed) - SHOWN} more"] if len(failed) > SHOWN else []
                report = "\n".join([f"{len(failed)} of {len(table)} cases fail", *failed[:SHOWN], *remainder])
                pytest.fail(report, pytrace=False)

        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        test_each.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return test_each

    return decorate
