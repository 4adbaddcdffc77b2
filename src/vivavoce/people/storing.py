"""Ballots into the run: what ranks, flags and tags come to for each candidate, all of them or none.

Candidates who gave the same answer share what was said of it. Who said nothing loses to everybody who
answered, without having been shown; whose answer was lost has a failed mark.
"""

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.errors import InputError, SelectionError
from vivavoce.people.ballots import Ballot, Filled, open_ballot
from vivavoce.people.keys import REFERENCE, Key, Question, keys_of
from vivavoce.people.references import reference
from vivavoce.records import Criterion, Measure, Response, Value
from vivavoce.registry import file_hash
from vivavoce.specs import RECORDED
from vivavoce.store import RunFile, read
from vivavoce.store.write import (
    Mark,
    drop_ballots,
    put_candidates,
    put_event,
    put_measures,
    put_provenance,
    put_responses,
    put_scores,
)

__all__ = ["CRITERIA", "Taken", "take"]

CRITERIA = (
    Criterion(
        criterion="rank", low=1.0, high=None, direction="lower", if_unanswered="set_aside", pool="rank"
    ),
    Criterion(criterion="ahead"),
    Criterion(criterion="clearly_wrong", direction="lower", if_unanswered="set_aside"),
    Criterion(criterion="good"),
    Criterion(criterion="bad", direction="lower"),
)
"""What a ballot says of each candidate: the mid-rank; the share of the others it stands before, ties half;
and whether it is clearly wrong, good, bad. Okay is neither good nor bad. Who is silent has no mark of its
own; where marks are counted, silence counts 0 in `ahead`, also beside another silence: no half of a tie.
"""
NO_TAG = "the rater gave no tag"
NO_RANK = "the rater took the ranks back"


class Taken(NamedTuple):
    """What the reading of one file did, in ballots: questions by one rater.

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


def take(
    run: RunFile, files: Sequence[Path], *, partial: bool = False, replace: bool = False
) -> tuple[Taken, ...]:
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
        keys = keys_of(db)
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
    gaps = [f"{one.seen.question.name} lacks {one.lacking}" for one in ballot.filled if one.lacking]
    if gaps:
        more = f"; and {len(gaps) - 5} more" if len(gaps) > 5 else ""
        raise InputError(
            f"{ballot.file} is half filled, {len(ballot.filled) - len(gaps)} of {len(ballot.filled)} "
            f"questions are complete: {'; '.join(gaps[:5])}{more}. Send it back, or take what is ranked with "
            "--partial; nothing was stored."
        )


def _put(db: sqlite3.Connection, ballot: Ballot, replace: bool) -> Taken:
    key = ballot.key
    signature = f"{key.metric}@{RECORDED}"
    measures = put_measures(
        db,
        [Measure(metric=key.metric, signature=signature, rater=ballot.rater, criterion=c) for c in CRITERIA],
    )
    ranked = [one for one in ballot.filled if not one.unranked]
    taken_back = [
        one
        for one in ballot.filled
        if one.unranked and _there(db, measures, _ballot(key, ballot.rater, one.seen.question))
    ]
    places = _places(db, key, [one.seen.question for one in (*ranked, *taken_back)])
    before = db.total_changes
    new = unchanged = replaced = 0
    changes: list[dict[str, Any]] = []
    for one in (*ranked, *taken_back):
        name = _ballot(key, ballot.rater, one.seen.question)
        marks = _marks(one, places[one.seen.question.name], name)
        there = _there(db, measures, name)
        moved = _moved(one, marks, there, measures)
        if moved and not replace:
            raise _said_otherwise(ballot, moved[0])
        if moved:
            drop_ballots(db, measures, 1, [name])
            changes += moved
            replaced += 1
        elif there and not _added(marks, there, measures):
            unchanged += 1
        else:
            new += 1
        if one.unranked:
            continue
        for c, measure in zip(CRITERIA, measures, strict=True):
            put_scores(db, measure, marks[c.criterion])
    if changes:
        body = {"panel": key.panel, "rater": ballot.rater, "file": ballot.file.name, "changes": changes}
        put_event(db, "panel ballots replaced", body)
    settings = {"file": ballot.file.name, "file_hash": file_hash(ballot.file), "metric": key.metric,
                "rater": ballot.rater, "ballots": len(ranked)}  # fmt: skip
    if db.total_changes > before:
        put_provenance(db, "panel read", settings, changed=db.total_changes - before)
    return Taken(
        file=str(ballot.file),
        panel=key.panel,
        rater=ballot.rater,
        new=new,
        unchanged=unchanged,
        replaced=replaced,
        skipped=len(ballot.filled) - len(ranked),
        clearly_wrong=sum(said.wrong for one in ranked for said in one.said),
        remarks=sum(bool(one.remark) for one in ranked),
    )


def _said_otherwise(ballot: Ballot, move: Mapping[str, Any]) -> InputError:
    before, after = ("nothing" if move[k] is None else move[k] for k in ("before", "after"))
    return InputError(
        f"{ballot.file}: {ballot.rater} said otherwise before of {move['item']} ({move['criterion']} of "
        f"answer {move['answer']}: {before}, now {after}). --replace takes this ballot instead and notes "
        "both; nothing was stored."
    )


def _places(db: sqlite3.Connection, key: Key, questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    """Response keys by question and candidate; the reference answers are stored where they are not yet."""
    stock = {(i.benchmark, i.item, i.variant): (n, i) for n, i in read.stock(db).items()}
    for q in questions:
        if q.place not in stock or stock[q.place][1].hash != q.hash:
            raise InputError(
                f"{q.name} is worded otherwise in this run since panel {key.panel} was made: what raters saw "
                "is no longer what is asked here. Read the ballots into a copy of the run from before."
            )
    with_key = [q for q in questions if q.reference]
    if with_key:
        if any(c.candidate == REFERENCE and c.role != "ceiling" for c in read.candidates(db)):
            raise InputError(
                f"a candidate of this run is called {REFERENCE!r} since panel {key.panel} was made, which is "
                "what the reference answer is called: import its answers under another name."
            )
        people = put_candidates(db, {REFERENCE: "ceiling"})
        known = read.answers(db)
        for q in with_key:
            number, item = stock[q.place]
            held = known.get((*q.place, REFERENCE, 1, ""))
            if held and held.text == formats.key(item):  # a ceiling that was collected: the same key
                continue
            response = Response(benchmark=q.benchmark, item=q.item, variant=q.variant, candidate=REFERENCE,
                                text=reference(item), meta={"origin": key.metric})  # fmt: skip
            put_responses(db, [response], items={(q.item, q.variant): number}, candidates=people)
    answers = read.answers(db)
    return {
        q.name: {
            who: answers[(*q.place, who, repeat, "")].key
            for who, repeat in {**q.repeats, **({REFERENCE: 1} if q.reference else {})}.items()
        }
        for q in questions
    }


def _ballot(key: Key, rater: str, question: Question) -> str:
    text = "\n".join((key.panel, rater, *question.place))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _marks(filled: Filled, responses: Mapping[str, int], name: str) -> dict[str, list[Mark]]:
    """The marks of a ballot by criterion; of one without ranks they have all failed."""
    question = filled.seen.question
    if filled.unranked:
        gone = [
            Mark(responses[who], Value(None, note=NO_RANK, status="failed"), 1, name, position)
            for position, shown in enumerate(filled.seen.answers, 1)
            for who in shown.candidates
        ]
        return {c.criterion: gone for c in CRITERIA}
    places = [
        # All that is clearly wrong shares the last place among what was shown.
        (float("inf") if said.rank is None else said.rank, said, position, who)
        for position, (shown, said) in enumerate(zip(filled.seen.answers, filled.said, strict=True), 1)
        for who in shown.candidates
    ]
    ranks, silent = [rank for rank, *_ in places], len(question.silent)
    made: dict[str, list[Mark]] = {c.criterion: [] for c in CRITERIA}

    def put(who: str, position: int | None, **values: Value) -> None:
        for criterion, value in values.items():
            made[criterion].append(Mark(responses[who], value, 1, name, position))

    for rank, said, position, who in places:
        better, equal = sum(r < rank for r in ranks), sum(r == rank for r in ranks)
        others = len(ranks) + silent - 1
        beaten = len(ranks) - better - equal + silent + (equal - 1) / 2
        no_tag = Value(None, note=NO_TAG, status="failed")
        put(
            who,
            position,
            rank=Value(better + (equal + 1) / 2, note=filled.remark or None),
            ahead=Value(beaten / others),
            clearly_wrong=Value(float(said.wrong)),
            good=no_tag if said.tag is None else Value(float(said.tag == "good")),
            bad=no_tag if said.tag is None else Value(float(said.tag == "bad")),
        )
    for who, status in question.silent.items():
        note = "not shown to raters: there was nothing to read"
        none = Value(None, note=note, status="unreadable" if status == "unreadable" else "unanswered")
        put(who, None, **dict.fromkeys(made, none))
    for who in question.lost:
        lost = Value(None, note="not shown to raters: its answer did not arrive", status="failed")
        put(who, None, **dict.fromkeys(made, lost))
    return made


_Held = Mapping[tuple[int, int], tuple[float | None, int, str | None]]


def _there(db: sqlite3.Connection, measures: Sequence[int], name: str) -> _Held:
    """The marks of a ballot that are stored and did not fail, by measure and response."""
    found = db.execute(
        "SELECT measure_id, response_id, value, status_id, note FROM scores JOIN ballots USING (ballot_id) "
        "WHERE ballot = ? AND status_id != 3",
        (name,),
    )
    return {(measure, response): rest for measure, response, *rest in found if measure in measures}


def _added(marks: Mapping[str, Sequence[Mark]], there: _Held, measures: Sequence[int]) -> bool:
    """Whether a ballot says what the stored one left open, such as a tag."""
    return any(
        mark.value.status != "failed" and (measure, mark.response) not in there
        for c, measure in zip(CRITERIA, measures, strict=True)
        for mark in marks[c.criterion]
    )


def _moved(
    filled: Filled, marks: Mapping[str, Sequence[Mark]], there: _Held, measures: Sequence[int]
) -> list[dict[str, Any]]:
    """What a ballot says otherwise than the stored one, in the rater's words: labels, not candidates."""
    moved = []
    for c, measure in zip(CRITERIA, measures, strict=True):
        for mark in marks[c.criterion]:
            held = there.get((measure, mark.response))
            # A lost answer failed before as well, and is not held: what is held was said, and taken back.
            if held is None:
                continue
            now = (mark.value.value, mark.value.note)
            if (held[0], held[2]) != now:
                only = held[0] == mark.value.value
                where = "none" if mark.position is None else formats.label(mark.position - 1)
                moved.append({
                    "item": filled.seen.question.name,
                    "answer": where,
                    "criterion": "the remark" if only else c.criterion,
                    "before": held[2] if only else held[0],
                    "after": mark.value.note if only else mark.value.value,
                })  # fmt: skip
    return moved
