"""Store ballots in the run as scores of each candidate, all of them or none.

Candidates with the same answer share its rating. A blank answer is not shown and loses to every other; an
answer that we failed to collect gets a failed score.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import Criterion, Item, Measure, Response, Value
from vivavoce.core.registry import file_hash
from vivavoce.core.specs import RECORDED
from vivavoce.core.text import label
from vivavoce.people.blinding_key import REFERENCE, BlindingKey, PanelItem, read_keys
from vivavoce.people.read_ballots import Ballot, FilledItem, Rating, open_ballot
from vivavoce.store import read
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import (
    ScoreRow,
    drop_ballots,
    put_candidates,
    put_event,
    put_measures,
    put_provenance,
    put_responses,
    put_scores,
)

CRITERIA = (
    Criterion(
        criterion="rank", low=1.0, high=None, direction="lower", if_unanswered="set_aside", pool="rank"
    ),
    Criterion(criterion="ahead"),
    Criterion(criterion="clearly_wrong", direction="lower", if_unanswered="set_aside"),
    Criterion(criterion="good"),
    Criterion(criterion="bad", direction="lower"),
)
"""The scores of a ballot for each candidate: the mid-rank; the share of the others it is ahead of, ties half;
and whether it is clearly wrong, good, bad. Okay is neither good nor bad. A non-response has no score of its
own; where scores are counted it is 0 in `ahead`, also beside another non-response: no half of a tie.
"""
NO_TAG = "the rater gave no tag"
NO_RANK = "the rater took the ranks back"


class BallotsStored(NamedTuple):
    """The effect of reading one file, counted in ballots: items by one rater.

    `skipped` are not filled in; those of them that were once are among the `replaced`.
    """

    file: str
    panel: str
    rater: str
    new: int
    unchanged: int
    replaced: int
    skipped: int
    clearly_wrong: int
    remarks: int


def store_ballots(
    run: RunFile, files: Sequence[Path], *, partial: bool = False, replace: bool = False
) -> tuple[BallotsStored, ...]:
    """Store the ballots of these files as scores by `panel(id=…)`; all of them or none.

    `partial` leaves out questions that lack a rank, and stores no tag where none was given, instead of
    refusing the file. A ballot that says what is stored already changes nothing; one that says otherwise is
    refused unless `replace`, which puts it in its place and notes both in the run's events. That holds for
    what was taken back too: a tag that is gone, or the ranks of a question, which then leaves the run.
    Raises `InputError` as `open_ballot`, and for what is not filled in.
    """
    if not files:
        raise SelectionError(
            "name the ballots that came back: .json files of the pages, or filled .csv files."
        )
    with run.reading() as db:
        keys = read_keys(db)
    ballots = [open_ballot(file, keys, run.path) for file in files]
    _refuse_twice(ballots)
    if not partial:
        for ballot in ballots:
            _refuse_gaps(ballot)
    with run.writing() as db:
        return tuple(_put(db, ballot, replace) for ballot in ballots)


def _refuse_twice(ballots: Sequence[Ballot]) -> None:
    by: dict[tuple[str, str], Path] = {}
    for ballot in ballots:
        who = (ballot.key.panel, ballot.rater)
        if who in by:
            raise InputError(
                f"{by[who]} and {ballot.file} are both ballots of {ballot.rater}: read the one that counts."
            )
        by[who] = ballot.file


def _refuse_gaps(ballot: Ballot) -> None:
    gaps = [
        f"{filled.packet_item.item.name} lacks {filled.lacking}" for filled in ballot.filled if filled.lacking
    ]
    if gaps:
        more = f"; and {len(gaps) - 5} more" if len(gaps) > 5 else ""
        raise InputError(
            f"{ballot.file} is half filled, {len(ballot.filled) - len(gaps)} of {len(ballot.filled)} "
            f"questions are complete: {'; '.join(gaps[:5])}{more}. Send it back, or take what is ranked with "
            "--partial; nothing was stored."
        )


def _put(db: sqlite3.Connection, ballot: Ballot, replace: bool) -> BallotsStored:
    key = ballot.key
    signature = f"{key.metric}@{RECORDED}"
    measures = put_measures(
        db,
        [Measure(metric=key.metric, signature=signature, rater=ballot.rater, criterion=c) for c in CRITERIA],
    )
    ranked = [filled for filled in ballot.filled if not filled.unranked]
    taken_back = [
        filled
        for filled in ballot.filled
        if filled.unranked and _stored_scores(db, measures, _ballot_id(ballot, filled))
    ]
    responses = _response_keys(db, key, [filled.packet_item.item for filled in (*ranked, *taken_back)])
    before = db.total_changes
    outcomes: Counter[str] = Counter()
    changes: list[dict[str, Any]] = []
    for filled in (*ranked, *taken_back):
        ballot_id = _ballot_id(ballot, filled)
        scores = _scores(filled, responses[filled.packet_item.item.name], ballot_id)
        stored = _stored_scores(db, measures, ballot_id)
        contradictions = _contradictions(filled, scores, stored, measures)
        if contradictions and not replace:
            raise _contradicts(ballot, contradictions[0])
        if contradictions:
            drop_ballots(db, measures, 1, [ballot_id])
            changes += contradictions
            outcomes["replaced"] += 1
        elif stored and not _added(scores, stored, measures):
            outcomes["unchanged"] += 1
        else:
            outcomes["new"] += 1
        if not filled.unranked:
            for c, measure in zip(CRITERIA, measures, strict=True):
                put_scores(db, measure, scores[c.criterion])
    _note(db, ballot, changes, len(ranked), before)
    return BallotsStored(
        file=str(ballot.file),
        panel=key.panel,
        rater=ballot.rater,
        new=outcomes["new"],
        unchanged=outcomes["unchanged"],
        replaced=outcomes["replaced"],
        skipped=len(ballot.filled) - len(ranked),
        clearly_wrong=sum(rating.wrong for filled in ranked for rating in filled.ratings),
        remarks=sum(bool(filled.remark) for filled in ranked),
    )


def _note(
    db: sqlite3.Connection, ballot: Ballot, changes: Sequence[Mapping[str, Any]], n_ranked: int, before: int
) -> None:
    """Put replaced ballots into the run's events, and a reading that changed anything into its provenance."""
    if changes:
        body = {
            "panel": ballot.key.panel,
            "rater": ballot.rater,
            "file": ballot.file.name,
            "changes": changes,
        }
        put_event(db, "panel ballots replaced", body)
    settings = {"file": ballot.file.name, "file_hash": file_hash(ballot.file), "metric": ballot.key.metric,
                "rater": ballot.rater, "ballots": n_ranked}  # fmt: skip
    if db.total_changes > before:
        put_provenance(db, "panel read", settings, changed=db.total_changes - before)


def _contradicts(ballot: Ballot, change: Mapping[str, Any]) -> InputError:
    before, after = ("nothing" if change[k] is None else change[k] for k in ("before", "after"))
    return InputError(
        f"{ballot.file}: {ballot.rater} said otherwise before of {change['item']} ({change['criterion']} of "
        f"answer {change['answer']}: {before}, now {after}). --replace takes this ballot instead and notes "
        "both; nothing was stored."
    )


def _response_keys(
    db: sqlite3.Connection, key: BlindingKey, panel_items: Sequence[PanelItem]
) -> dict[str, dict[str, int]]:
    """Response keys by item and candidate; the reference answers are stored where they are not yet."""
    in_run = {(i.benchmark, i.item, i.variant): (n, i) for n, i in read.items_by_id(db).items()}
    for q in panel_items:
        if q.place not in in_run or in_run[q.place][1].hash != q.hash:
            raise InputError(
                f"{q.name} is worded otherwise in this run since panel {key.panel} was made: what raters saw "
                "is no longer what is asked here. Read the ballots into a copy of the run from before."
            )
    with_reference = [q for q in panel_items if q.reference]
    if with_reference:
        _store_references(db, key, [(q, *in_run[q.place]) for q in with_reference])
    answers = read.stored_responses(db)
    return {
        q.name: {
            who: answers[(*q.place, who, repeat, "")].key
            for who, repeat in {**q.repeats, **({REFERENCE: 1} if q.reference else {})}.items()
        }
        for q in panel_items
    }


def _store_references(
    db: sqlite3.Connection, key: BlindingKey, panel_items: Sequence[tuple[PanelItem, int, Item]]
) -> None:
    """Store the reference answers that the run lacks as those of a ceiling."""
    if any(c.candidate == REFERENCE and c.role != "ceiling" for c in read.candidates(db)):
        raise InputError(
            f"a candidate of this run is called {REFERENCE!r} since panel {key.panel} was made, which is "
            "what the reference answer is called: import its answers under another name."
        )
    people = put_candidates(db, {REFERENCE: "ceiling"})
    answers = read.stored_responses(db)
    for q, number, item in panel_items:
        collected = answers.get((*q.place, REFERENCE, 1, ""))
        if collected and collected.text == formats.key(item):  # a ceiling that was collected: the same key
            continue
        response = Response(benchmark=q.benchmark, item=q.item, variant=q.variant, candidate=REFERENCE,
                            text=formats.labelled_key(item), meta={"origin": key.metric})  # fmt: skip
        put_responses(db, [response], items={(q.item, q.variant): number}, candidates=people)


def _ballot_id(ballot: Ballot, filled: FilledItem) -> str:
    text = "\n".join((ballot.key.panel, ballot.rater, *filled.packet_item.item.place))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _scores(filled: FilledItem, responses: Mapping[str, int], ballot_id: str) -> dict[str, list[ScoreRow]]:
    """The scores of a ballot by criterion; without ranks all of them have failed."""
    item = filled.packet_item.item
    if filled.unranked:
        failed = [
            ScoreRow(responses[who], Value(None, note=NO_RANK, status="failed"), 1, ballot_id, position)
            for position, answer in enumerate(filled.packet_item.answers, 1)
            for who in answer.candidates
        ]
        return {c.criterion: failed for c in CRITERIA}
    scores: dict[str, list[ScoreRow]] = {c.criterion: [] for c in CRITERIA}

    def put(who: str, position: int | None, values: Mapping[str, Value]) -> None:
        for criterion, value in values.items():
            scores[criterion].append(ScoreRow(responses[who], value, 1, ballot_id, position))

    ranked = [
        (rating, position, who)
        for position, (answer, rating) in enumerate(
            zip(filled.packet_item.answers, filled.ratings, strict=True), 1
        )
        for who in answer.candidates
    ]
    ranks = [_rank(rating) for rating, *_ in ranked]
    for rating, position, who in ranked:
        put(who, position, _values(rating, ranks, len(item.silent), filled.remark))
    for who, status in item.silent.items():
        note = "not shown to raters: there was nothing to read"
        silent = Value(None, note=note, status="unreadable" if status == "unreadable" else "unanswered")
        put(who, None, dict.fromkeys(scores, silent))
    for who in item.lost:
        lost = Value(None, note="not shown to raters: its answer did not arrive", status="failed")
        put(who, None, dict.fromkeys(scores, lost))
    return scores


def _rank(rating: Rating) -> float:
    """All that is clearly wrong shares the last place among what was shown."""
    return float("inf") if rating.rank is None else rating.rank


def _values(rating: Rating, ranks: Sequence[float], n_silent: int, remark: str) -> dict[str, Value]:
    """What one candidate's answer gets, among the ranks of all that were shown."""
    rank = _rank(rating)
    better, equal = sum(r < rank for r in ranks), sum(r == rank for r in ranks)
    # Half of each tie counts as beaten, and every silent candidate does.
    beaten = len(ranks) - better - equal + n_silent + (equal - 1) / 2
    tags = {
        tag: Value(None, note=NO_TAG, status="failed")
        if rating.tag is None
        else Value(float(rating.tag == tag))
        for tag in ("good", "bad")
    }
    return {
        "rank": Value(better + (equal + 1) / 2, note=remark or None),
        "ahead": Value(beaten / (len(ranks) + n_silent - 1)),
        "clearly_wrong": Value(float(rating.wrong)),
        **tags,
    }


_StoredScores = Mapping[tuple[int, int], tuple[float | None, int, str | None]]


def _stored_scores(db: sqlite3.Connection, measures: Sequence[int], name: str) -> _StoredScores:
    """The stored scores of a ballot that did not fail, by measure and response."""
    stored = db.execute(
        "SELECT measure_id, response_id, value, status_id, note FROM scores JOIN ballots USING (ballot_id) "
        "WHERE ballot = ? AND status_id != 3",
        (name,),
    )
    return {(measure, response): rest for measure, response, *rest in stored if measure in measures}


def _added(scores: Mapping[str, Sequence[ScoreRow]], stored: _StoredScores, measures: Sequence[int]) -> bool:
    """Whether a ballot adds something the stored one lacks, such as a tag."""
    return any(
        mark.value.status != "failed" and (measure, mark.response) not in stored
        for c, measure in zip(CRITERIA, measures, strict=True)
        for mark in scores[c.criterion]
    )


def _contradictions(
    filled: FilledItem,
    scores: Mapping[str, Sequence[ScoreRow]],
    stored: _StoredScores,
    measures: Sequence[int],
) -> list[dict[str, Any]]:
    """Differences between a ballot and the stored one, in the rater's terms: labels, not candidates."""
    moved = []
    for c, measure in zip(CRITERIA, measures, strict=True):
        for mark in scores[c.criterion]:
            before = stored.get((measure, mark.response))
            # A lost answer failed before as well and is not stored: a stored score was given, and taken back.
            if before is None:
                continue
            now = (mark.value.value, mark.value.note)
            if (before[0], before[2]) != now:
                only = before[0] == mark.value.value
                where = "none" if mark.position is None else label(mark.position - 1)
                moved.append({
                    "item": filled.packet_item.item.name,
                    "answer": where,
                    "criterion": "the remark" if only else c.criterion,
                    "before": before[2] if only else before[0],
                    "after": mark.value.note if only else mark.value.value,
                })  # fmt: skip
    return moved
