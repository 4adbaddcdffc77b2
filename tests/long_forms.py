"""Which files of tests have a long form: those that draw examples, or whose lengths `tests.lengths` gives."""

from pathlib import Path

from tests.imports import reaches


def has_long_form(file: Path) -> bool:
    """Whether a file, or a module of the tests that it imports, has one. Its conftest.py does not count."""
    return reaches(file, ("hypothesis", "tests.lengths"))
