"""Stored findings, each field as its study declares it: a file of a stranger holds what no study wrote."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from vivavoce.core import registry, specs
from vivavoce.core.numbers import finite
from vivavoce.core.records import Measure
from vivavoce.store import read
from vivavoce.store.damage import DamagedValue
from vivavoce.store.view import View
from vivavoce.studies.comparing.verdicts import ComparisonRow
from vivavoce.studies.rater_scores import is_people
from vivavoce.studies.score_table import JudgedCriterion
from vivavoce.studies.study import Study
from vivavoce.studies.validation_status import validation_statuses

_NAMES = frozenset(("benchmark", "a", "b"))
"""Columns that say what a row is about: no version of a study left them out."""
_TEXTS = ("items", "text", "digest", "test")
"""Settings that are read again."""
LARGEST = 1e100
"""Larger numbers have no place on an axis."""
_origin: Callable[[Any], Any] = lru_cache(maxsize=256)(get_origin)
_parts: Callable[[Any], tuple[Any, ...]] = lru_cache(maxsize=256)(get_args)


def stored_findings(db: sqlite3.Connection, study: str) -> list[dict[str, Any]]:
    """The findings of a study as `read.findings` gives them, checked; none rests on retired scores."""
    return without_retired(db, checked_findings(read.findings(db, study), study), study)


def without_retired(
    db: sqlite3.Connection, findings: Sequence[dict[str, Any]], study: str
) -> list[dict[str, Any]]:
    """The findings of a study without those that rest on measures that were retired since.

    Of a comparison its other rows stay. A study is left out as a whole if it mentions the measure, or if
    that holds people's scores, which may be the labels of any judge.
    """
    retired = read.retired_measures(db)
    if not retired:
        return list(findings)
    if study != "compare":
        return [f for f in findings if not any(_rests_on(f, entry) for entry in retired)]
    counting = {_place(keyed.measure) for keyed in read.measures(db)}
    return _compared(findings, {_place(entry.measure) for entry in retired} - counting, retired)


def _compared(
    findings: Iterable[dict[str, Any]],
    places: Set[tuple[str, str, str]],
    retired: Iterable[read.RetiredMeasure],
) -> list[dict[str, Any]]:
    """The comparisons that have rows by measures that count; `places` are those that do not."""
    labels_at = max((entry.made_at for entry in retired if is_people(entry.measure)), default="")
    compared = [{**f, "rows": _counting_rows(f, places, labels_at)} for f in findings]
    return [finding for finding in compared if finding["rows"]]


def _counting_rows(
    finding: Mapping[str, Any], retired: Set[tuple[str, str, str]], labels_at: str
) -> list[dict[str, Any]]:
    """The rows of a comparison by measures that count; `labels_at` is when people's scores were retired."""
    corrected = finding["made_at"] < labels_at  # by labels, some of which are retired now
    return [
        row
        for row in finding["rows"]
        if (row["metric"], row["criterion"], row["rater"] or "") not in retired
        and not (corrected and row.get("n_labelled") is not None)
    ]


def _rests_on(finding: Mapping[str, Any], entry: read.RetiredMeasure) -> bool:
    """Whether a finding of a study was made before a measure was retired, and may rest on its scores."""
    if finding["made_at"] >= entry.made_at:
        return False
    text = json.dumps([finding["settings"], finding["rows"]], ensure_ascii=False)
    return is_people(entry.measure) or json.dumps(entry.measure.metric, ensure_ascii=False)[1:-1] in text


def _place(measure: Measure) -> tuple[str, str, str]:
    return measure.metric, measure.criterion.criterion, measure.rater


def judge_statuses(view: View) -> dict[JudgedCriterion, str]:
    """Whether each judge has been validated by people, as the last study of examiners found it."""
    return validation_statuses(stored_findings(view.db, "examiners"))


def checked_findings(findings: Iterable[Mapping[str, Any]], study: str) -> list[dict[str, Any]]:
    """The findings with all columns that the study declares; those of earlier versions lack some: null.

    Raises `DamagedValue` for a value that is not of its column's type or none of its words, and for a row
    that does not say what it is about. Rows of a study that is not registered stay as they are.
    """
    row_type = ComparisonRow if study == "compare" else getattr(registry.member("study", study), "row", None)
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


@lru_cache(maxsize=64)
def _column_types(row_type: type) -> dict[str, Any]:
    return {name.removesuffix("_"): declared for name, declared in get_type_hints(row_type).items()}


def _check(study: str, name: str, value: object, declared: Any) -> None:
    if not _fits(value, declared):
        raise DamagedValue(f"a finding of {study}: {name} is {value!r:.40}")


def _fits(value: object, declared: Any) -> bool:
    """Whether JSON gives such a value for a column of this type."""
    if _origin(declared) in (Union, UnionType):
        return any(_fits(value, choice) for choice in _parts(declared))
    if _origin(declared) is Literal:
        return value in _parts(declared)
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
