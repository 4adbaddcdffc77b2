"""The score rows of a run as a frame: checked part by part, ordered by numbers, and named only at the end.

A score row holds the keys of its measure, response, unit and ballot. The names behind them are long and few,
so that rows are joined, filtered and sorted by their places among the sorted names.
"""

import json
import math
import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.core.tables import SCORES
from vivavoce.store.cases import with_cases
from vivavoce.store.damage import decoding
from vivavoce.store.name_places import ColumnParts, Places, current_items, frame_of, in_order, keyed_names
from vivavoce.store.passages import evidence_column
from vivavoce.store.query_frames import frame_parts, rows_frame
from vivavoce.store.retirement import counting_measures, retired_keys
from vivavoce.store.schema import STATUSES
from vivavoce.store.score_checks import ScoreChecks, refuse_nulls

if TYPE_CHECKING:
    import polars as pl

_RESPONSE = ("response_id", "item_id", "candidate_id", "repeat", "edit_id")
_PLACES = ("of_item", "of_candidate", "of_edit")
_KEYS = ("measure_id", "response_id", "unit_id", "ballot_id", "pass_no")
_DETAILS = ("parts", "note")
_IN = "IN (SELECT value FROM json_each(?))"


def scores(
    db: sqlite3.Connection,
    *,
    measures: Sequence[int] | None = None,
    candidates: Sequence[str] | None = None,
    details: bool = False,
    generated: bool = True,
    unit_texts: bool = False,
) -> "pl.DataFrame":
    """The scores of current items in the columns of `SCORES`; filters are pushed into the query.

    Without `measures` these are all that are not retired. `group` is the label of the item's case.
    `details` adds `measure_id`, `category`, `format`, `parts` and `note`, and `weight` in a run of which some
    item does not count for one; `unit_texts` adds `text` and `unit_weight`. Without `generated`, items that
    were made in the run are left out; of chosen candidates, ballots that fewer than two of them stand on.
    Raises `StoreError` where the rows do not fit their checksums.
    """
    if measures is None and retired_keys(db):
        measures = [key for (key,) in db.execute(counting_measures(db))]
    names, checks = _read_names(db, candidates, details=details, generated=generated, unit_texts=unit_texts)
    rows = _numbered_rows(db, names, checks, measures, candidates, details=details)
    del checks  # it holds three numbers a response
    rows = _ordered(rows, names, candidates)
    names = names._replace(items=with_cases(db, names.items))
    with decoding("a score"):
        return _named(rows, names, details=details, unit_texts=unit_texts)


class _Names(NamedTuple):
    """What the keys of score rows stand for: frames in the order of their names, `number` the place there.

    `responses` holds the places of the response's item, candidate and edit.
    """

    responses: "pl.DataFrame"
    items: "pl.DataFrame"
    candidates: "pl.DataFrame"
    edits: "pl.DataFrame"
    measures: "pl.DataFrame"
    units: "pl.DataFrame"
    ballots: "pl.DataFrame"


def _read_names(
    db: sqlite3.Connection,
    candidates: Sequence[str] | None,
    *,
    details: bool,
    generated: bool,
    unit_texts: bool,
) -> tuple[_Names, ScoreChecks]:
    """The names that score rows refer to, and the checks of the rows that are read."""
    import polars as pl

    answers = rows_frame(
        db,
        f"SELECT {', '.join(_RESPONSE)} FROM responses ORDER BY response_id",
        pl.Schema(dict.fromkeys(_RESPONSE, pl.Int64)),
    )
    refuse_nulls(answers, *answers.columns)
    condition = "" if candidates is None else f" WHERE candidate {_IN}"
    people = keyed_names(
        db, f"SELECT candidate_id, candidate, role FROM candidates{condition}",
        "candidate_id", "candidate", "role",
        values=[] if candidates is None else [json.dumps(list(candidates))],
    )  # fmt: skip
    marks = keyed_names(
        db, "SELECT measure_id, metric, criterion, rater FROM measures",
        "measure_id", "metric", "criterion", "rater",
    )  # fmt: skip
    edits = keyed_names(
        db, "SELECT edit_id, iif(probe = '', edit, '') AS edit FROM edits", "edit_id", "edit"
    )  # fmt: skip
    units = keyed_names(
        db, "SELECT unit_id, unit, text FROM units ORDER BY unit_id", "unit_id", "unit", "text"
    )  # fmt: skip
    ballots = keyed_names(
        db, "SELECT ballot_id, ballot FROM ballots ORDER BY ballot_id", "ballot_id", "ballot"
    )  # fmt: skip
    checks = ScoreChecks(db, answers, units, ballots)
    named_units = units
    if unit_texts:
        unit_weights = keyed_names(
            db, "SELECT unit_id, weight FROM units", "unit_id", numbers=["unit_weight"]
        )  # fmt: skip
        named_units = units.join(unit_weights, on="unit_id", validate="1:1")
    items = current_items(db, generated=generated, weight=details and _weighted(db))
    people, edits = in_order(people, "candidate"), in_order(edits, "edit")
    responses = answers
    del answers
    for frame, place in ((items, "of_item"), (people, "of_candidate"), (edits, "of_edit")):
        responses = responses.with_columns(
            Places.from_names(frame, frame.columns[1]).series(place, responses)
        )
    names = _Names(
        responses=in_order(
            responses.select("response_id", "repeat", *_PLACES).drop_nulls(),
            "of_item",
            "of_candidate",
            "repeat",
            "of_edit",
        ),
        items=items,
        candidates=people,
        edits=edits,
        measures=in_order(marks, "metric", "criterion", "measure_id").with_columns(
            kind=pl.struct("metric", "criterion").rle_id()
        ),
        units=in_order(named_units, "unit", "unit_id"),
        ballots=in_order(ballots, "ballot"),
    )
    return names, checks


def _numbered_rows(
    db: sqlite3.Connection,
    names: _Names,
    checks: ScoreChecks,
    measures: Sequence[int] | None,
    candidates: Sequence[str] | None,
    *,
    details: bool,
) -> "pl.DataFrame":
    """The score rows with places of names for keys. Each part is checked before it is joined."""
    import polars as pl

    i64, extra = pl.Int64(), _DETAILS if details else ()
    conditions, values = [], []
    if measures is not None:
        conditions.append(f"measure_id {_IN}")
        values.append(json.dumps(list(measures)))
    if candidates is not None:
        conditions.append(
            f"response_id IN (SELECT response_id FROM responses JOIN candidates USING (candidate_id) "
            f"WHERE candidate {_IN})"
        )
        values.append(json.dumps(list(candidates)))
    covered = (*_DETAILS, evidence_column(db)) if details else ()
    parts = frame_parts(
        db,
        f"SELECT {', '.join((*_KEYS, 'position', 'value', 'status_id', *covered))} FROM scores"
        f"{' WHERE ' if conditions else ''}{' AND '.join(conditions)}",
        pl.Schema(
            {
                **dict.fromkeys((*_KEYS, "position"), i64), "value": pl.Float64(), "status_id": i64,
                **dict.fromkeys((*extra, "evidence") if details else (), pl.String()),
            }
        ),
        values,
    )  # fmt: skip
    places = {
        "of_response": Places.from_names(names.responses, "response_id"),
        "of_measure": Places.from_names(names.measures, "measure_id"),
        "of_unit": Places.from_names(names.units, "unit_id"),
        "of_ballot": Places.from_names(names.ballots, "ballot_id"),
    }
    numbered = ColumnParts(_numbered_schema(extra))
    for part in parts:
        checks.add(part)
        numbered.add(
            part.select(
                *(place.series(name, part) for name, place in places.items()),
                *("pass_no", "position", "value", pl.col("status_id").cast(pl.UInt8), *extra),
            ).drop_nulls(list(places))
        )
    checks.verify(measures=measures, candidates=candidates, details=details)
    return numbered.frame()


def _numbered_schema(extra: Sequence[str]) -> "pl.Schema":
    import polars as pl

    places = ("of_response", "of_measure", "of_unit", "of_ballot")
    return pl.Schema(
        {
            **dict.fromkeys(places, pl.UInt32()), "pass_no": pl.Int64(), "position": pl.Int64(),
            "value": pl.Float64(), "status_id": pl.UInt8(), **dict.fromkeys(extra, pl.String()),
        }
    )  # fmt: skip


def _ordered(rows: "pl.DataFrame", names: _Names, candidates: Sequence[str] | None) -> "pl.DataFrame":
    """The rows in the order of metric, criterion, response, pass, unit and ballot.

    Of chosen candidates without the ballots that fewer than two of them stand on.
    """
    import polars as pl

    if candidates is not None:
        empty = names.ballots.filter(ballot="")["number"].to_list()
        shared = pl.len().over("of_measure", "of_ballot", "pass_no") > 1
        rows = rows.filter(pl.col("of_ballot").is_in(empty) | shared)
    rows = rows.with_columns(kind=names.measures["kind"].gather(rows["of_measure"]))
    order = ("kind", "of_response", "pass_no", "of_unit", "of_ballot", "of_measure")
    varied = [name for name in order if rows[name].min() != rows[name].max()]
    places = rows.select(pl.arg_sort_by(varied)).to_series() if varied else None
    return rows if places is None or places.is_sorted() else rows[places]


def _named(rows: "pl.DataFrame", names: _Names, *, details: bool, unit_texts: bool) -> "pl.DataFrame":
    """The rows with names for the places of names."""
    import polars as pl

    def of_response(column: str) -> pl.Series:
        return names.responses[column].gather(rows["of_response"])

    weight = ("weight",) if "weight" in names.items.columns else ()
    of_item = ("benchmark", "item", "variant", "alias", "group", *weight)
    sources = (
        (names.items, of_response("of_item"), (*of_item, *(("category", "format") if details else ()))),
        (names.candidates, of_response("of_candidate"), ("candidate", "role")),
        (names.edits, of_response("of_edit"), ("edit",)),
        (names.measures, rows["of_measure"], ("metric", "criterion", "rater", "measure_id")),
        (names.units, rows["of_unit"], ("unit", *(("text", "unit_weight") if unit_texts else ()))),
        (names.ballots, rows["of_ballot"], ("ballot",)),
    )
    named = {name: (frame[name], place) for frame, place, columns in sources for name in columns}
    named["status"] = (pl.Series(STATUSES, dtype=pl.String), rows["status_id"])
    of_score = ("value", "pass_no", "position", *(_DETAILS if details else ()))
    columns = chain(((name, rows[name]) for name in of_score), [("repeat", of_response("repeat"))])
    further = ("measure_id", "category", "format", *weight, *_DETAILS) if details else ()
    of_unit = ("text", "unit_weight") if unit_texts else ()
    return frame_of(columns, named).select(*SCORES, *further, *of_unit)


def _weighted(db: sqlite3.Connection) -> bool:
    """Whether a sample was asked: some item counts for more or less than itself."""
    (n, lowest, highest) = db.execute(
        "SELECT count(*), min(weight), max(weight) FROM items WHERE current = 1 AND weight IS NOT 1"
    ).fetchone()
    with decoding("for how many questions an item stands"):
        if n and not 0 < lowest <= highest < math.inf:
            raise ValueError("not a number of questions")
    return bool(n)
