"""Scores that a run holds already under another rater or measure: an import of the same, once more.

What came in under other names would count twice, so it is looked for when an import has stored its rows and
its transaction can still be taken back.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.measure_names import is_of_file
from vivavoce.core.records import Measure
from vivavoce.core.specs import signed
from vivavoce.store.read import KeyedMeasure, measures, stored_measures
from vivavoce.store.retirement import measure_words
from vivavoce.store.schema import STATUSES

UNNAMED = "value"
"""The criterion of scores of which nobody said what they are of."""
LEAST = 5
"""Scores that two raters are not expected to agree in, one by one; fewer are no sign of an import."""
Groups = frozenset[tuple[int, int]]


class Import(NamedTuple):
    """What an import reads: a name for a sentence, hashes of its files, and for a log the tool's name.

    A tool names its scorers itself: two of them that agree are two scorers, not one under another name.
    """

    name: str
    file_hashes: tuple[str, ...]
    tool: str = ""


class _Source(NamedTuple):
    """A rater by a measure, whose criteria belong together."""

    signature: str
    rater: str


_Criteria = Mapping[str, KeyedMeasure]
"""The measures of a source by criterion."""


class _Overlap(NamedTuple):
    """Scores of a candidate: how many, of how many answers another measure has a score, and the same one.

    `low` and `high` are the least and the largest.
    """

    n: int
    shared: int
    same: int
    low: float | None
    high: float | None


class Twin(NamedTuple):
    """A new measure with the stored one that gave the same scores: `same` of `n`."""

    new: Measure
    stored: Measure
    reference: str
    same: int
    n: int


@contextmanager
def refusing_same_scores(db: sqlite3.Connection, data: Import, *, allowed: bool) -> Iterator[None]:
    """Raise `InputError` if the block stores scores that the run holds under another name, unless `allowed`.

    They are held if another imported rater or measure that counts gave, by every criterion that both have,
    the same scores to all answers of the candidates that both scored. Few scores, and those that are all one
    value, are taken for an import only if they come from the same file: raters may well agree in them.
    """
    if allowed:
        yield
        return
    present, from_same_file = score_groups(db), any(_is_known(db, digest) for digest in data.file_hashes)
    yield
    if added := score_groups(db) - present:
        twin = next(_twins(db, present, added, data.tool, from_same_file=from_same_file), None)
        if twin:
            raise InputError(_sentence(data, twin))


def score_groups(db: sqlite3.Connection) -> Groups:
    """The measures and candidates that have scores, by their keys."""
    return frozenset(db.execute("SELECT measure_id, candidate_id FROM score_checksums"))


def _twins(
    db: sqlite3.Connection, present: Groups, added: Groups, tool: str, *, from_same_file: bool
) -> Iterator[Twin]:
    """What was added and is there by another source, one for each source that was added."""
    old = _by_source(measures(db), {measure for measure, _ in present})
    new = _by_source(stored_measures(db), {measure for measure, _ in added})
    for source, criteria in new.items():
        for old_source, old_criteria in old.items():
            if source == old_source or (tool and old_source.signature.startswith(f"{tool}.")):
                continue
            pairs = _pairs(criteria, old_criteria)
            if twin := _twin(db, pairs, added, from_same_file=from_same_file):
                is_partial = len(pairs) < len(old_criteria)
                yield twin if is_partial else twin._replace(reference=twin.stored.metric)
                break


def _by_source(
    keyed_measures: Iterable[KeyedMeasure], keys: Collection[int]
) -> dict[_Source, dict[str, KeyedMeasure]]:
    """The imported measures of these keys, by who gave their scores; a file's own scores are no rater's."""
    sources: dict[_Source, dict[str, KeyedMeasure]] = {}
    for keyed in keyed_measures:
        m = keyed.measure
        if keyed.key in keys and signed(m.signature).recorded and not is_of_file(m):
            sources.setdefault(_Source(m.signature, m.rater), {})[m.criterion.criterion] = keyed
    return sources


def _pairs(new: _Criteria, old: _Criteria) -> list[tuple[KeyedMeasure, KeyedMeasure]]:
    """The criteria of two sources that may be one: those of one name, or single ones if one is unnamed."""
    if shared := [(new[name], old[name]) for name in new if name in old]:
        return shared
    single = len(new) == len(old) == 1 and UNNAMED in {*new, *old}
    return [(*new.values(), *old.values())] if single else []  # type: ignore[list-item]


def _twin(
    db: sqlite3.Connection,
    pairs: Sequence[tuple[KeyedMeasure, KeyedMeasure]],
    added: Groups,
    *,
    from_same_file: bool,
) -> Twin | None:
    """The first of the pairs, if the scores of all pairs are the same; null if they are not."""
    by_pair = [
        [overlap for candidate, overlap in _overlaps(db, new.key, old.key) if (new.key, candidate) in added]
        for new, old in pairs
    ]
    if not _are_same(by_pair, from_same_file=from_same_file):
        return None
    (new, old), *_ = pairs
    reference = f"{old.measure.metric}:{old.measure.criterion.criterion}"
    same, n = (sum(getattr(o, name) for overlaps in by_pair for o in overlaps) for name in ("same", "n"))
    return Twin(new.measure, old.measure, reference, same, n)


def _are_same(by_pair: Sequence[Sequence[_Overlap]], *, from_same_file: bool) -> bool:
    """Whether the scores by all pairs of criteria are the same, and too many to be so by chance."""
    overlaps = [overlap for of_pair in by_pair for overlap in of_pair]
    same = sum(overlap.same for overlap in overlaps)
    may_be_chance = same < LEAST or not any(map(_varies, by_pair))
    return bool(same) and all(map(_agrees, overlaps)) and (from_same_file or not may_be_chance)


def _agrees(overlap: _Overlap) -> bool:
    """Whether a candidate's scores are all the same, or nobody else scored its answers."""
    return not overlap.shared or overlap.same == overlap.n


def _varies(overlaps: Iterable[_Overlap]) -> bool:
    """Whether the scores that another measure gave too are not all one value."""
    return len({end for overlap in overlaps if overlap.shared for end in (overlap.low, overlap.high)}) > 1


_OF_ANSWER = (
    "SELECT 1 FROM scores o WHERE o.measure_id = :old AND o.response_id = s.response_id "
    "AND o.unit_id = s.unit_id AND o.pass_no = s.pass_no"
)


def _overlaps(db: sqlite3.Connection, new: int, old: int) -> list[tuple[int, _Overlap]]:
    """By candidate the scores of a measure that did not fail, beside those of another measure.

    On which ballot is not asked: its name may hold that of the rater.
    """
    rows = db.execute(
        f"SELECT r.candidate_id, count(*), sum(EXISTS ({_OF_ANSWER})), sum(EXISTS ({_OF_ANSWER} "
        "AND o.status_id = s.status_id AND o.value IS s.value)), min(s.value), max(s.value) "
        "FROM scores s CROSS JOIN responses r USING (response_id) "
        f"WHERE s.measure_id = :new AND s.status_id != {STATUSES.index('failed')} GROUP BY r.candidate_id",
        {"new": new, "old": old},
    )
    return [(candidate, _Overlap(*row)) for candidate, *row in rows]


def _is_known(db: sqlite3.Connection, file_hash: str) -> bool:
    """Whether an earlier import read a file of this hash."""
    sql = "SELECT EXISTS (SELECT 1 FROM provenance WHERE json_extract(body, '$.file_hash') = ?)"
    return bool(db.execute(sql, (file_hash,)).fetchone()[0])


def same_score_notes(db: sqlite3.Connection, present: Groups, name: str) -> Iterator[str]:
    """A sentence on each source of scores that a merge brought and that were `present` by another source."""
    for twin in _twins(db, present, score_groups(db) - present, "", from_same_file=False):
        yield (
            f"{name}: {_number(twin)} scores by {measure_words(twin.new)} were in this run already, by "
            f"{measure_words(twin.stored)}: if one rater gave them, `{_command(twin)}` takes those out."
        )


def _number(twin: Twin) -> str:
    return f"{twin.same:,}" if twin.same == twin.n else f"{twin.same:,} of the {twin.n:,}"


def _command(twin: Twin) -> str:
    return f"viva retire RUN {quote(twin.reference)} --rater {quote(twin.stored.rater)}"


def _sentence(data: Import, twin: Twin) -> str:
    return (
        f"{data.name}: {_number(twin)} scores by {measure_words(twin.new)} are in this run already, by "
        f"{measure_words(twin.stored)}: `{_command(twin)}` takes those out first, and --again (again=True) "
        "stores them a second time, as when two raters agree in everything. Nothing was imported."
    )
