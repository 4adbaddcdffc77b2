"""A ballot in the run: scores of each candidate, whether it came as a file or one judgement at a time.

Candidates with the same answer share what is said of it. What the scores are is the task's.
"""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.records import ItemKey, Measure, ScoreStatus
from vivavoce.core.text import label
from vivavoce.people.key import Key
from vivavoce.people.question import REFERENCE, Question, Seen
from vivavoce.people.stored_keys import read_keys
from vivavoce.people.storing.read_ballots import Ballot
from vivavoce.people.storing.references import put_references
from vivavoce.people.tasks import FilledItem, Task
from vivavoce.store.ballot_scores import ballot_scores
from vivavoce.store.by_place import items_at, responses_at
from vivavoce.store.forgotten import GONE, forgotten_names
from vivavoce.store.retirement import refuse_retired_scores
from vivavoce.store.write import (
    ScoreRow,
    drop_scores,
    put_event,
    put_measures,
    put_provenance,
    put_scores,
)


class RewordedItemError(InputError):
    """An item that is worded otherwise than when raters saw it."""

    def __init__(self, name: str, panel: str) -> None:
        super().__init__(
            f"{name} is worded otherwise in this run since panel {panel} was made: what raters saw is no "
            "longer what is asked here. Read the ballots into a copy of the run from before."
        )


class BallotsStored(NamedTuple):
    """The effect of reading one file, counted in ballots: items by one rater.

    `forgotten` are of questions that the run forgot since, and left out. `skipped` are not filled in; those
    of them that were once are among the `replaced`. Of what was entered, `labels` counts ratings, each answer
    and criterion, and `cannot_tell` those that the rater could not give.
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
    task: str = "rank"
    metric: str = ""
    labels: int = 0
    cannot_tell: int = 0
    forgotten: int = 0


def _without_forgotten(db: sqlite3.Connection, ballot: Ballot) -> tuple[Ballot, int]:
    """The ballot without questions that were forgotten since the panel was made, and how many these are."""
    places = [filled.seen_question.question.place for filled in ballot.filled]
    gone = {benchmark: forgotten_names(db, benchmark) for benchmark, *_ in set(places)}
    filled_items = tuple(
        filled
        for filled, (benchmark, item, _) in zip(ballot.filled, places, strict=True)
        if item not in gone[benchmark]
    )
    return ballot._replace(filled=filled_items), len(places) - len(filled_items)


class _Stored(NamedTuple):
    """A score that the run holds."""

    value: float | None
    status: ScoreStatus
    note: str | None

    def says_as(self, new: "_Stored") -> bool:
        """Whether a rater says the same again; a remark that was forgotten is not known."""
        return self == new or (self.note == GONE and self[:2] == new[:2])


_StoredScores = Mapping[tuple[int, int], _Stored]


def put_ballot(db: sqlite3.Connection, ballot: Ballot, replace: bool) -> BallotsStored:
    """Store a ballot, whole or of one question, in a transaction that the caller holds.

    Raises `InputError` where it says otherwise than the run, unless `replace`, for an item that was worded
    otherwise when the panel was made, and for a rater whose scores are retired.
    """
    key, task = ballot.key, ballot.key.task
    signature = task.signature(key.panel)
    of_rater = [
        Measure(metric=key.metric, signature=signature, rater=ballot.rater, criterion=c)
        for c in task.criteria
    ]
    refuse_retired_scores(db, of_rater)
    measures = put_measures(db, of_rater)
    ballot, n_forgotten = _without_forgotten(db, ballot)
    answered = [filled for filled in ballot.filled if not filled.open]
    filled_items = (*ballot.filled, *(_unshown_items(ballot) if answered else ()))
    stored = _stored_by_item(db, ballot, filled_items, measures)
    elsewhere = _places_elsewhere(db, ballot)
    to_store = [
        filled
        for filled in filled_items
        if not filled.open or _taken_back(filled, stored, elsewhere) or _has_words(db, ballot, filled)
    ]
    responses = _responses(db, key, [filled.seen_question.question for filled in to_store])
    start = db.total_changes
    outcomes: Counter[str] = Counter()
    changes: list[dict[str, Any]] = []
    for filled in to_store:
        item = filled.seen_question.question
        scores = _scores(ballot, filled, responses[item.name])
        if item.place in elsewhere:
            scores = _without_gaps(task, scores, stored[item.name], measures)
        outcome, contradictions = _put_question(
            db, ballot, filled, scores, stored[item.name], measures, replace=replace
        )
        outcomes[outcome] += 1
        changes += contradictions
    _note(db, ballot, changes, len(answered), start)
    tally = task.tally(answered)
    return BallotsStored(
        file=ballot.source,
        panel=key.panel,
        rater=ballot.rater,
        new=outcomes["new"],
        unchanged=outcomes["unchanged"],
        replaced=outcomes["replaced"],
        skipped=len(ballot.filled) - len(answered),
        task=task.name,
        metric=key.metric,
        forgotten=n_forgotten,
        **tally._asdict(),
    )


def _scores(ballot: Ballot, filled: FilledItem, responses: Mapping[str, int]) -> dict[str, list[ScoreRow]]:
    """The scores of a question by criterion, in the pass of the ballot."""
    task = ballot.key.task
    ballot_id = task.ballot(ballot.key.panel, ballot.rater, filled.seen_question.question)
    return {
        criterion: [row._replace(pass_no=ballot.pass_no) for row in rows]
        for criterion, rows in task.scores(filled, responses, ballot_id).items()
    }


def _put_question(
    db: sqlite3.Connection,
    ballot: Ballot,
    filled: FilledItem,
    scores: Mapping[str, Sequence[ScoreRow]],
    stored: _StoredScores,
    measures: Sequence[int],
    *,
    replace: bool,
) -> tuple[str, list[dict[str, Any]]]:
    """Store one question; what came of it, '' for one that nobody was shown, and what it contradicts."""
    task = ballot.key.task
    contradictions = _named(ballot, filled, _contradictions(task, filled, scores, stored, measures))
    if contradictions and not replace:
        raise _contradicts(ballot, contradictions[0])
    if contradictions:
        _drop_stored(db, ballot, scores, stored, measures)
    rows = {} if filled.open else scores
    for c, measure in zip(task.criteria, measures, strict=True):
        put_scores(db, measure, rows.get(c.criterion, ()))
    changed_words = task.put_words(db, filled, ballot.rater)
    if contradictions:
        return "replaced", contradictions
    if not filled.seen_question.question.answers:
        return "", []
    return ("new" if changed_words or _added(task, scores, stored, measures) else "unchanged"), []


def _named(ballot: Ballot, filled: FilledItem, changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Changes with the question's name in the key: a rater's page may call it otherwise."""
    names = {question.place: question.name for question in ballot.key.questions}
    return [{"item": names[filled.seen_question.question.place], **change} for change in changes]


def _drop_stored(
    db: sqlite3.Connection,
    ballot: Ballot,
    scores: Mapping[str, Sequence[ScoreRow]],
    stored: _StoredScores,
    measures: Sequence[int],
) -> None:
    """Take away the scores that are given anew, and those that are given no more."""
    task = ballot.key.task
    for c, measure in zip(task.criteria, measures, strict=True):
        anew = {row.response for row in scores[c.criterion]}
        if task.leaves_gaps:
            anew |= {response for key, response in stored if key == measure}
        drop_scores(db, [measure], ballot.pass_no, sorted(anew))


def _places_elsewhere(db: sqlite3.Connection, ballot: Ballot) -> set[ItemKey]:
    """The items that another panel of the measure put to this rater: there a gap takes nothing back.

    What went to an annotation tool was put to whoever judges there.
    """
    key = ballot.key
    return {
        seen_question.question.place
        for panel, panel_key in read_keys(db).items()
        if panel != key.panel and panel_key.metric == key.metric
        for seen_question in (*panel_key.packets.get(ballot.rater, ()), *panel_key.shared)
    }


def _taken_back(
    filled: FilledItem, stored: Mapping[str, _StoredScores], elsewhere: Collection[ItemKey]
) -> bool:
    """Whether an item that is not filled in was filled in before, by this rater in this panel."""
    item = filled.seen_question.question
    return bool(stored[item.name]) and item.place not in elsewhere


def _has_words(db: sqlite3.Connection, ballot: Ballot, filled: FilledItem) -> bool:
    """Whether the rater wrote something beside the scores of an item that was shown."""
    seen_question = filled.seen_question
    return bool(seen_question.answers and ballot.key.task.stored_words(db, seen_question, ballot.rater))


def _without_gaps(
    task: Task, scores: Mapping[str, Sequence[ScoreRow]], stored: _StoredScores, measures: Sequence[int]
) -> dict[str, list[ScoreRow]]:
    """The scores without those that are not filled in here and stand in the run."""
    return {
        c.criterion: [
            row
            for row in scores[c.criterion]
            if row.value.status != "failed" or (measure, row.response) not in stored
        ]
        for c, measure in zip(task.criteria, measures, strict=True)
    }


def _unshown_items(ballot: Ballot) -> list[FilledItem]:
    """The items to which every answer was silent: nobody sees them; of a shared panel the rater's."""
    key = ballot.key
    if ballot.pass_no > 1:
        return []
    if key.unshown is None:
        questions = tuple(question for question in key.questions if not question.answers)
    else:
        questions = key.unshown.get(ballot.rater, ())
    return [key.task.read_rows(Seen(question, (), ""), ()) for question in questions]


def _note(
    db: sqlite3.Connection, ballot: Ballot, changes: Sequence[Mapping[str, Any]], n_answered: int, start: int
) -> None:
    """Put replaced ballots into the run's events, and one that changed rows since `start` on record."""
    file = {"file": ballot.file.name} if ballot.file else {}
    if changes:
        body = {
            "panel": ballot.key.panel,
            "rater": ballot.rater,
            **file,
            "changes": changes,
        }
        put_event(db, "panel ballots replaced", body)
    if ballot.file:
        file["file_hash"] = file_hash(ballot.file)
    verb = "panel read" if ballot.file else "panel judgement"
    settings = {**file, "metric": ballot.key.metric, "rater": ballot.rater, "ballots": n_answered}
    if db.total_changes > start:
        put_provenance(db, verb, settings, changed=db.total_changes - start)


def _contradicts(ballot: Ballot, change: Mapping[str, Any]) -> InputError:
    old, new = ("nothing" if change[k] is None else change[k] for k in ("before", "after"))
    return InputError(
        f"{ballot.source}: {ballot.rater} said otherwise before of {change['item']} "
        f"({change['criterion']} of answer {change['answer']}: {old}, now {new}). --replace takes this "
        "ballot instead and notes both; nothing was stored."
    )


def _responses(db: sqlite3.Connection, key: Key, questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    """Response keys by item and candidate; the reference answers are stored where they are not yet.

    Raises `InputError` for an item that is worded otherwise since the panel was made.
    """
    in_run = items_at(db, [q.place for q in questions])
    for q in questions:
        if q.place not in in_run or in_run[q.place][1].hash != q.hash:
            raise RewordedItemError(q.name, key.panel)
    with_reference = [q for q in questions if q.reference and key.task.rates_reference]
    if with_reference:
        put_references(db, dict(in_run[q.place] for q in with_reference), origin=key.metric, same_text=True)
    return response_keys(db, key, questions)


def response_keys(
    db: sqlite3.Connection, key: Key, questions: Sequence[Question]
) -> dict[str, dict[str, int]]:
    """The keys of the responses that the run holds, by item and candidate."""
    answers = responses_at(db, [q.place for q in questions])
    reference = {REFERENCE: 1} if key.task.rates_reference else {}
    return {
        q.name: {
            candidate: stored.key
            for candidate, repeat in {**q.repeats, **(reference if q.reference else {})}.items()
            if (stored := answers.get((*q.place, candidate, repeat)))
        }
        for q in questions
    }


def _stored_by_item(
    db: sqlite3.Connection, ballot: Ballot, filled: Sequence[FilledItem], measures: Sequence[int]
) -> dict[str, _StoredScores]:
    """By item what the run holds of this rater's scores."""
    items = [filled_item.seen_question.question for filled_item in filled]
    responses = response_keys(db, ballot.key, items)
    return {
        item.name: _stored_scores(
            db,
            measures,
            responses[item.name].values(),
            ballot.key.task.ballot(ballot.key.panel, ballot.rater, item),
            ballot.pass_no,
        )
        for item in items
    }


def _stored_scores(
    db: sqlite3.Connection, measures: Sequence[int], responses: Iterable[int], ballot: str, pass_no: int
) -> _StoredScores:
    """The stored scores of responses on a ballot that did not fail, by measure and response."""
    scores = ballot_scores(db, measures, list(responses), ballot=ballot, pass_no=pass_no)
    return {
        (score.measure, score.response): _Stored(score.value, score.status, score.note)
        for score in scores
        if score.status != "failed"
    }


def _added(
    task: Task, scores: Mapping[str, Sequence[ScoreRow]], stored: _StoredScores, measures: Sequence[int]
) -> bool:
    """Whether a ballot adds something the stored one lacks, such as a tag."""
    return not stored or any(
        mark.value.status != "failed" and (measure, mark.response) not in stored
        for c, measure in zip(task.criteria, measures, strict=True)
        for mark in scores[c.criterion]
    )


def _contradictions(
    task: Task,
    filled: FilledItem,
    scores: Mapping[str, Sequence[ScoreRow]],
    stored: _StoredScores,
    measures: Sequence[int],
) -> list[dict[str, Any]]:
    """Differences between a ballot and the stored one, in the rater's terms: labels, not candidates."""
    moved = []
    for c, measure in zip(task.criteria, measures, strict=True):
        for mark in scores[c.criterion]:
            old = stored.get((measure, mark.response))
            # A lost answer failed before as well and is not stored: a stored score was given, and taken back.
            if old is None:
                continue
            new = _Stored(mark.value.value, mark.value.status, mark.value.note)
            if not old.says_as(new):
                is_remark = old[:2] == new[:2]
                moved.append({
                    "answer": "none" if mark.position is None else label(mark.position - 1),
                    "criterion": "the remark" if is_remark else c.criterion,
                    "before": old.note if is_remark else _entry(old),
                    "after": new.note if is_remark else _entry(new),
                })  # fmt: skip
        if task.leaves_gaps:
            moved += _taken_out(c.criterion, scores[c.criterion], stored, measure)
    return moved


def _taken_out(
    criterion: str, scores: Sequence[ScoreRow], stored: _StoredScores, measure: int
) -> list[dict[str, Any]]:
    """Scores that are given no more, where what is missing has no score."""
    absent = {response for key, response in stored if key == measure} - {row.response for row in scores}
    return [
        {"answer": label(0), "criterion": criterion,
         "before": _entry(stored[measure, response]), "after": None}
        for response in sorted(absent)
    ]  # fmt: skip


def _entry(score: _Stored) -> float | str | None:
    """What a rater entered: a value, or the words that stand for none."""
    return score.note if score.status == "set_aside" else score.value
