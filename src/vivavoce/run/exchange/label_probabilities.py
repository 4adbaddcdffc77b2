"""The probabilities with which the cases of an imported file of labels were drawn."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey, Measure
from vivavoce.core.tables import Line
from vivavoce.run.exchange.rows import listed, number_of
from vivavoce.store.cases import cases_by_item
from vivavoce.store.label_draws import LabelDraw, put_label_draw
from vivavoce.studies.rater_scores import is_judge, is_people

_MEANING = "--map probability=COLUMN gives the probability with which a case was drawn for labelling"


class RowProbability(NamedTuple):
    """What a row of labels states of its item: the probability, null where its cell is empty."""

    where: str
    item: ItemKey
    probability: float | None


def row_probability(line: Line, item: ItemKey) -> RowProbability:
    """The probability in a row of labels. Raises `InputError` for one that is no number."""
    return RowProbability(line.where, item, number_of(line.row, "probability", float, line.where))


def put_imported_draw(
    db: sqlite3.Connection, rows: Sequence[RowProbability], measures: Collection[Measure]
) -> None:
    """Store the draw of the cases that these rows of labels are about.

    Raises `InputError` for a measure that is not people's, and naming rows where a probability is absent or
    not in (0, 1], or two rows about one case state two.
    """
    for measure in measures:
        _refuse_other_raters(measure)
    probabilities = _by_item(rows, cases_by_item(db))
    for metric in {measure.metric for measure in measures}:
        put_label_draw(db, LabelDraw(metric, probabilities, frozenset(probabilities), "import"))


def _refuse_other_raters(measure: Measure) -> None:
    if is_people(measure):
        return
    remedy = (
        "leave the probability out for scores of models"
        if measure.rater or is_judge(measure)
        else "--map rater=COLUMN or --set rater=NAME says who gave them"
    )
    raise InputError(f"{_MEANING}, and {measure.metric} is no measure of people: {remedy}.")


def _by_item(rows: Iterable[RowProbability], cases: Mapping[ItemKey, str]) -> dict[ItemKey, float]:
    """The probability of each item; `cases` gives the case of each."""
    by_item: dict[ItemKey, float] = {}
    first: dict[str, RowProbability] = {}
    wrong, unlike = [], []
    for row in rows:
        if row.probability is None or not 0 < row.probability <= 1:
            wrong.append(row)
            continue
        by_item[row.item] = row.probability
        before = first.setdefault(cases[row.item], row)
        if before.probability != row.probability:
            unlike += [before, row]
    if wrong:
        value = wrong[0].probability
        raise InputError(
            f"{_MEANING}, above 0 and at most 1, not {'empty' if value is None else f'{value:g}'}: "
            f"{_places(wrong)}. Nothing was imported."
        )
    if unlike:
        pair = " and ".join(f"{row.probability:g}" for row in unlike[:2])
        raise InputError(
            f"one case ({cases[unlike[0].item]}) has the probabilities {pair}: {_places(unlike)}. Cases "
            "are drawn whole, so all rows about a case state the same. Nothing was imported."
        )
    return by_item


def _places(rows: Iterable[RowProbability]) -> str:
    return listed(dict.fromkeys(row.where for row in rows))
