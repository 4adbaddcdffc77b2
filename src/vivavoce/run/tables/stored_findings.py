"""Stored findings, each field as its study declares it: a file of a stranger holds what no study wrote."""

import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from vivavoce.core import registry, specs
from vivavoce.core.numbers import finite
from vivavoce.store import read
from vivavoce.store.damage import DamagedValue
from vivavoce.store.view import View
from vivavoce.studies.comparison.verdicts import ComparisonRow
from vivavoce.studies.score_table import JudgedCriterion
from vivavoce.studies.study import Study
from vivavoce.studies.validation_status import validation_statuses

_NAMES = frozenset(("benchmark", "a", "b"))
"""Columns that say what a row is about: no version of a study left them out."""
_TEXTS = ("items", "text", "digest", "test")
"""Settings that are read again."""
LARGEST = 1e100
"""Larger numbers have no place on an axis."""


def stored_findings(db: sqlite3.Connection, study: str) -> list[dict[str, Any]]:
    """The findings of a study as `read.findings` gives them, checked."""
    return checked_findings(read.findings(db, study), study)


def judge_statuses(view: View) -> dict[JudgedCriterion, str]:
    """Whether each judge has been validated by people, as the last study of examiners found it."""
    return validation_statuses(stored_findings(view.db, "examiners"))


def checked_findings(findings: Iterable[Mapping[str, Any]], study: str) -> list[dict[str, Any]]:
    """The findings with all columns that the study declares; those of earlier versions lack some: null.

    Raises `DamagedValue` for a value that is not of its column's type or none of its words, and for a row
    that does not say what it is about. Rows of a study that is not registered stay as they are.
    """
    row_type = ComparisonRow if study == "compare" else getattr(_registered(study), "row", None)
    types = _column_types(row_type) if row_type else {}
    checked = []
    for finding in findings:
        for name in _TEXTS:
            _check(study, name, finding["settings"].get(name), str | None)
        rows = [dict.fromkeys(types) | row for row in finding["rows"]]
        for row, stored in zip(rows, finding["rows"], strict=True):
            for name, declared in types.items():
                if name in stored or name in _NAMES:
                    _check(study, name, row[name], declared)
        checked.append({**finding, "rows": rows})
    return checked


def _registered(study: str) -> object:
    return registry.member("study", study)


@lru_cache(maxsize=64)
def _column_types(row_type: type) -> dict[str, Any]:
    return {name.removesuffix("_"): declared for name, declared in get_type_hints(row_type).items()}


def _check(study: str, name: str, value: object, declared: Any) -> None:
    if not _fits(value, declared):
        raise DamagedValue(f"a finding of {study}: {name} is {value!r:.40}")


def _fits(value: object, declared: Any) -> bool:
    """Whether JSON gives such a value for a column of this type."""
    origin = get_origin(declared)
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in get_args(declared))
    if origin is Literal:
        return value in get_args(declared)
    if declared in (float, int):
        number = finite(value)
        return number is not None and abs(number) <= LARGEST and (declared is float or isinstance(value, int))
    if declared in (str, bool, NoneType):
        return isinstance(value, declared)
    return declared is Any or isinstance(value, list | dict)


def settings_of(study: Study) -> dict[str, Any]:
    """The options of a study that are kept with its finding: all that are stated, but no path of a file."""
    options = registry.canonical(study).settings
    settings = {key: value for key, value in options.items() if key not in ("cards", "ratings")}
    return {key: _in_words(value) for key, value in settings.items()}


def _in_words(value: Any) -> Any:
    """A setting as JSON holds it: a spec, also one in a list, as its text."""
    if isinstance(value, tuple):
        return [_in_words(entry) for entry in value]
    return str(value) if isinstance(value, specs.Spec) else value
