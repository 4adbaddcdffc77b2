"""Writing rows: each function works inside a transaction that its caller holds."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from vivavoce._version import __version__
from vivavoce.core.errors import InputError
from vivavoce.core.evidence import Evidence
from vivavoce.core.parts import MARKS
from vivavoce.core.records import Card, Item, Measure, Response, Role, Unit, Value
from vivavoce.core.registry import plugins
from vivavoce.store.checksums import delete_scores, delete_scores_of, insert_scores
from vivavoce.store.forgotten import GONE, gone_ballots, gone_keys, without_words
from vivavoce.store.hashes import response_hash
from vivavoce.store.item_rows import ItemKey, changed_items, json_text, put_items
from vivavoce.store.name_keys import candidate_keys
from vivavoce.store.passages import ScoreKey
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.schema import STATUSES
from vivavoce.store.table_hashes import check_table_hashes, renew_table_hashes


def put_benchmark(
    db: sqlite3.Connection,
    card: Card,
    items: Sequence[Item],
    *,
    spec: str,
    signature: str,
    new_version: bool = False,
) -> None:
    """Store the items of a benchmark; items that are there already stay.

    What is not content (alias, group, category, source, meta) follows the benchmark. Raises `InputError`
    if an item's content differs from what the run holds, unless `new_version`: then the new content becomes
    the current version and what was answered to the old one is out of every table.
    """
    refuse_redacted(db, "no answer to it can be stored")
    check_table_hashes(db, "benchmarks", "items")
    name = items[0].benchmark
    db.execute(
        "INSERT INTO benchmarks (benchmark, spec, signature, card) VALUES (?, ?, ?, ?) ON CONFLICT DO "
        "NOTHING",
        (name, spec, signature, json_text(asdict(card))),
    )
    (key,) = db.execute("SELECT benchmark_id FROM benchmarks WHERE benchmark = ?", (name,)).fetchone()
    changed = [(item.name, item.item, item.variant) for item in changed_items(db, key, items)]
    if changed and not new_version:
        names = ", ".join(name for name, _, _ in changed[:5]) + (" …" if len(changed) > 5 else "")
        raise InputError(
            f"{len(changed)} of the {name} items have changed since this run was made ({names}): answers "
            "to the "
            "old wording are no answers to the new one. Use another run, or --new-version to go on with "
            "the new."
        )
    if changed:  # spec and signature stand under the tables: those of the items that are current now
        db.execute(
            "UPDATE benchmarks SET spec = ?, signature = ?, card = ? WHERE benchmark_id = ?",
            (spec, signature, json_text(asdict(card)), key),
        )
    if card.group_levels:  # names of labels, which are no content
        db.execute(
            "UPDATE benchmarks SET card = json_set(card, '$.group_levels', json(?)) WHERE benchmark_id = ?",
            (json_text(card.group_levels), key),
        )
    last = put_items(db, key, items)
    # What was made of an earlier wording is another question's.
    db.executemany(
        "UPDATE items SET current = 0 WHERE benchmark_id = ? AND item = ? AND origin IS NOT NULL "
        "AND item_id <= ?",
        [(key, item, last) for _, item, variant in changed if not variant],
    )
    renew_table_hashes(db, "benchmarks", "items")


def put_candidates(db: sqlite3.Connection, roles: Mapping[str, Role]) -> dict[str, int]:
    """Store candidates and return the key of each; a role given again replaces the old one."""
    check_table_hashes(db, "candidates")
    db.executemany(
        "INSERT INTO candidates (candidate, role) VALUES (?, ?) "
        "ON CONFLICT (candidate) DO UPDATE SET role = excluded.role",
        roles.items(),
    )
    renew_table_hashes(db, "candidates")
    return candidate_keys(db)


class Stored(NamedTuple):
    """How many responses were new, were there already with the same text, or replaced a failure.

    Those of `forgotten` were left out: they, or their questions, were forgotten.
    """

    new: int
    unchanged: int
    replaced: int
    forgotten: int = 0


ANSWER = (
    *("status", "text", "final", "ending", "reasoning", "finish_reason", "tokens", "seconds", "cost"),
    *("error", "meta", "logprobs", "hash"),
)
"""The columns that hold what came of asking, and the hash of it."""


TOLD = "likelihood "
"""How the form begins under which `edits` keeps what a probe told; no edit of words may be named so."""


def response_fields(item_hash: str, form: str, response: Response) -> tuple[object, ...]:
    """The values of `ANSWER` with the parts of the answer; a record of log-likelihoods has an empty text."""
    r = response.with_parts(form)
    return (
        *(r.status, stored_text(r), r.final, r.ending, r.reasoning, r.finish_reason, r.tokens, r.seconds),
        *(r.cost, r.error, json_text(dict(r.meta)), r.logprobs, response_hash(item_hash, r)),
    )


def stored_text(response: Response) -> str | None:
    """The text as the table holds it: '' beside a record of log-likelihoods."""
    return "" if response.logprobs is not None and response.text is None else response.text


FURTHER = (
    "If these are further answers, give them other repeat numbers; if they correct the old, start a new run."
)


_KEY = "item_id, candidate_id, repeat, edit_id"
_INSERT = (
    f"INSERT INTO responses ({_KEY}, {', '.join(ANSWER)}) VALUES ({', '.join('?' * (4 + len(ANSWER)))}) "
    f"ON CONFLICT ({_KEY}) DO NOTHING"
)
_PRESENT = (
    f"SELECT response_id, status, text, json_extract(meta, '$.confidence'), logprobs, "
    f"json_extract(meta, '$.{MARKS}') FROM responses "
    f"WHERE ({_KEY}) = (?, ?, ?, ?)"
)


def put_responses(
    db: sqlite3.Connection,
    responses: Iterable[Response],
    *,
    items: Mapping[ItemKey, int],
    candidates: Mapping[str, int],
    advice: str = FURTHER,
) -> Stored:
    """Store responses; the same text again changes nothing, and an answer replaces an earlier failure.

    The scores of a replaced failure are dropped. What was forgotten does not come back. Raises `InputError`
    where another text is there already for the same item, candidate, repeat and edit, with the `advice` what
    to do then; or an edit has a name that is kept for probes.
    """
    edits = dict(db.execute("SELECT edit, edit_id FROM edits"))
    by_item = {key: (h, form) for key, h, form in db.execute("SELECT item_id, hash, format FROM items")}
    gone = gone_keys(db)
    new = unchanged = replaced = forgotten = 0
    for r in responses:
        edit = _edit_of(db, edits, r)
        key = (items[r.item, r.variant], candidates[r.candidate], r.repeat, edit)
        if key[0] in gone.items:
            forgotten += 1
            continue
        values = response_fields(*by_item[key[0]], r)
        if db.execute(_INSERT, key + values).rowcount:
            new += 1
            continue
        present = db.execute(_PRESENT, key).fetchone()
        if present[0] in gone.responses:
            forgotten += 1
        elif _is_unchanged(r, present):
            _refuse_other_confidence(r, present[3])
            _refuse_other_marks(r, present[5])
            unchanged += 1
        elif present[1] == "failed":
            delete_scores_of(db, present[0])
            db.execute(
                f"UPDATE responses SET {', '.join(f'{n} = ?' for n in ANSWER)} WHERE response_id = ?",
                (*values, present[0]),
            )
            replaced += 1
        else:
            variant = f" [{r.variant}]" if r.variant else ""
            raise InputError(
                f"{r.candidate} has another answer to {r.item}{variant} (repeat {r.repeat}) in this run "
                f"already: answers are kept for ever. {advice}"
            )
    return Stored(new, unchanged, replaced, forgotten)


def _edit_of(db: sqlite3.Connection, edits: dict[str, int], response: Response) -> int:
    """The key of the response's edit, or of the probe that it answers; new ones are stored.

    Raises `InputError` for an edit of words that is named as one of a probe.
    """
    if response.edit.startswith(TOLD):
        raise InputError(
            f"{response.candidate}, {response.item}: the edit {response.edit!r} begins with "
            f"{TOLD.strip()!r}, and such names are kept for what a model told of its probabilities: give the "
            "edit another name."
        )
    name = f"{TOLD}{response.probe}" if response.probe else response.edit
    if name not in edits:
        cursor = db.execute("INSERT INTO edits (edit, probe) VALUES (?, ?)", (name, response.probe))
        edits[name] = int(cursor.lastrowid or 0)
    return edits[name]


def _is_unchanged(response: Response, present: Sequence[Any]) -> bool:
    """Whether the response that is there says the same, or the new one failed."""
    content = (response.status, stored_text(response), response.logprobs)
    return response.status == "failed" or (*present[1:3], present[4]) == content


def _refuse_other_marks(response: Response, stored: str | None) -> None:
    """Raise `InputError` for an answer stored with other marks of thinking: scores rest on its parts."""
    earlier, marks = json.loads(stored) if stored else None, response.meta.get(MARKS)
    if response.text is not None and earlier != (list(marks) if marks else None):
        raise InputError(
            f"{response.candidate}, {response.item} (repeat {response.repeat}): stored with the marks of "
            f"thinking {earlier or 'that are known'} already, and answers are kept as they came: import the "
            "file into a new run."
        )


def _refuse_other_confidence(response: Response, stored: object) -> None:
    confidence = response.meta.get("confidence")
    if confidence is not None and confidence != stored:
        place = f"{response.candidate}, {response.item} (repeat {response.repeat})"
        raise InputError(
            f"{place}: stored {'without' if stored is None else 'with another'} confidence already, "
            "and answers are kept as they came: import the file into a new run."
        )


_DECLARED = ("low", "high", "direction", "if_unanswered", "pool", "smallest_difference")


def put_measures(db: sqlite3.Connection, measures: Iterable[Measure]) -> list[int]:
    """Store measures and return their keys in order.

    Raises `InputError` if the run holds one under the same signature that declares another range,
    direction or rule: its scores could not be read together with the new ones.
    """
    refuse_redacted(db, "nothing can be scored by them")
    keys = []
    for m in measures:
        c = m.criterion
        declared = tuple(getattr(c, name) for name in _DECLARED)
        db.execute(
            f"INSERT INTO measures (metric, signature, criterion, rater, {', '.join(_DECLARED)}) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (m.metric, m.signature, c.criterion, m.rater, *declared),
        )
        key, *present = db.execute(
            f"SELECT measure_id, {', '.join(_DECLARED)} FROM measures "
            "WHERE (signature, criterion, rater) = (?, ?, ?)",
            (m.signature, c.criterion, m.rater),
        ).fetchone()
        if tuple(present) != declared:
            old, new = (
                ", ".join(f"{n} {v}" for n, v in zip(_DECLARED, d, strict=True)) for d in (present, declared)
            )
            raise InputError(
                f"{m.metric}, criterion {c.criterion}, is declared otherwise in this run: {old}; now {new}. "
                "Declare it the same, raise the metric's version, or use another run."
            )
        keys.append(key)
    return keys


class ScoreRow(NamedTuple):
    """A value for the response of that key or a unit of it, in one pass, possibly on a ballot with others."""

    response: int
    value: Value
    pass_no: int = 1
    ballot: str = ""
    position: int | None = None
    unit: Unit | None = None


def _without_words(db: sqlite3.Connection, measure: int, scores: Sequence[ScoreRow]) -> list[ScoreRow]:
    """The scores without words about forgotten answers, which somebody may have kept.

    A note is of its ballot, and goes from all scores there. The text of a unit stays where other scores have
    it: it is a point of a rubric.
    """
    if not (gone := gone_keys(db).responses):
        return list(scores)
    ballots = gone_ballots(db, measure, gone) | {s.ballot for s in scores if s.ballot and s.response in gone}
    noted = [_without_note(s) if s.response in gone or s.ballot in ballots else s for s in scores]
    return [_without_facts(db, score) if score.response in gone else score for score in noted]


def _without_note(score: ScoreRow) -> ScoreRow:
    return score._replace(value=score.value._replace(note=without_words(score.value.note)))


def _without_facts(db: sqlite3.Connection, score: ScoreRow) -> ScoreRow:
    unit, shared = score.unit, "SELECT 1 FROM units WHERE (unit, text) = (?, ?)"
    if unit is not None and not db.execute(shared, (unit.unit, unit.text)).fetchone():
        unit = replace(unit, text=GONE)
    return score._replace(value=score.value._replace(evidence=()), unit=unit)


def put_scores(db: sqlite3.Connection, measure: int, scores: Iterable[ScoreRow]) -> None:
    """Store scores by a measure. Only a failed one is ever replaced.

    Those of forgotten answers are stored without notes, evidence and facts, others of a ballot with one
    without its note.
    """
    refuse_redacted(db, "nothing can be scored by them")
    scores = _without_words(db, measure, list(scores))
    names = {score.ballot for score in scores}
    ballots = _ballots(db, names)
    for name in names - ballots.keys():
        ballots[name] = int(db.execute("INSERT INTO ballots (ballot) VALUES (?)", (name,)).lastrowid or 0)

    units: dict[Unit | None, int] = {None: 0}

    def unit(new_unit: Unit) -> int:
        # Items may weigh the same point otherwise; each item says how, and the table then says nothing.
        db.execute(
            "INSERT INTO units (unit, text, weight) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
            "weight = CASE WHEN weight IS excluded.weight THEN weight END",
            (new_unit.unit, new_unit.text, new_unit.weight),
        )
        present = db.execute(
            "SELECT unit_id FROM units WHERE (unit, text) = (?, ?)", (new_unit.unit, new_unit.text)
        )
        return int(present.fetchone()[0])

    rows = []
    evidence: dict[ScoreKey, Sequence[Evidence]] = {}
    for score in scores:
        if score.unit is not None and score.unit not in units:
            units[score.unit] = unit(score.unit)
        key = (measure, score.response, units[score.unit], ballots[score.ballot], score.pass_no)
        value, parts = score.value, json_text(dict(score.value.parts)) if score.value.parts else None
        rows.append((*key, score.position, value.value, STATUSES.index(value.status), parts, value.note))
        if value.evidence:
            evidence[key] = value.evidence
    insert_scores(db, measure, rows, evidence)


def _ballots(db: sqlite3.Connection, names: Iterable[str]) -> dict[str, int]:
    """The keys of the ballots of these names that are there."""
    sql = "SELECT ballot, ballot_id FROM ballots WHERE ballot IN (SELECT value FROM json_each(?))"
    return dict(db.execute(sql, (json_text(sorted(names)),)))


def drop_ballots(db: sqlite3.Connection, measures: Sequence[int], pass_no: int, names: Sequence[str]) -> None:
    """Take the scores on these ballots away: they are to be filled again, or others hold more answers."""
    keys = list(_ballots(db, names).values()) if names else []
    if keys:
        delete_scores(
            db,
            "pass_no = ? AND ballot_id IN (SELECT value FROM json_each(?)) "
            "AND measure_id IN (SELECT value FROM json_each(?))",
            (pass_no, json.dumps(keys), json.dumps(list(measures))),
        )


def drop_scores(
    db: sqlite3.Connection, measures: Sequence[int], pass_no: int, responses: Sequence[int]
) -> None:
    """Take away the scores of these responses by these measures: they are given anew."""
    if responses:
        delete_scores(
            db,
            "pass_no = ? AND response_id IN (SELECT value FROM json_each(?)) "
            "AND measure_id IN (SELECT value FROM json_each(?))",
            (pass_no, json.dumps(list(responses)), json.dumps(list(measures))),
        )


ANOTHER_PASS = "A second judgement of the same answer is another pass: --set pass_no=2."
"""What to do where another score is there already."""


def refuse_other_scores(
    db: sqlite3.Connection, measure: int, scores: Iterable[ScoreRow], advice: str = ANOTHER_PASS
) -> None:
    """Raise `InputError` if the run holds another score than one of these, failed ones aside."""
    scores = list(scores)
    responses = json.dumps(sorted({score.response for score in scores}))
    present = {
        (response, ballot, pass_no, unit, text): (STATUSES[status], value)
        for response, ballot, pass_no, unit, text, status, value in db.execute(
            "SELECT response_id, ballot, pass_no, unit, text, status_id, value FROM scores "
            "JOIN ballots USING (ballot_id) JOIN units USING (unit_id) WHERE measure_id = ? "
            "AND status_id != 3 AND response_id IN (SELECT value FROM json_each(?))",
            (measure, responses),
        )
    }
    for score in scores:
        new = (score.value.status, score.value.value)
        unit = (score.unit.unit, score.unit.text) if score.unit else ("", "")
        old = present.get((score.response, score.ballot, score.pass_no, *unit), new)
        if old != new and score.value.status != "failed":
            candidate, item, repeat = db.execute(
                "SELECT candidate, item, repeat FROM responses JOIN candidates USING (candidate_id) "
                "JOIN items USING (item_id) WHERE response_id = ?",
                (score.response,),
            ).fetchone()
            raise InputError(
                f"{candidate} has another score for {item} (repeat {repeat}) in this run already: scores are "
                f"kept. {advice}"
            )


def put_event(db: sqlite3.Connection, kind: str, body: Mapping[str, Any]) -> None:
    """Append to the journal of what happened to the run; it is never edited."""
    db.execute("INSERT INTO events (kind, body) VALUES (?, ?)", (kind, json_text(dict(body))))


def put_finding(
    db: sqlite3.Connection, study: str, settings: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> int:
    """Keep what a study found, with the settings it was found under. Returns the finding's key."""
    cursor = db.execute(
        "INSERT INTO findings (study, settings, rows) VALUES (?, ?, ?)",
        (study, json_text(dict(settings)), json_text([dict(r) for r in rows])),
    )
    return int(cursor.lastrowid or 0)


def put_provenance(db: sqlite3.Connection, verb: str, body: Mapping[str, Any], *, changed: int) -> int:
    """Record that a verb wrote to the run: its settings, how many rows changed, our version, the plugins.

    Returns the record's key.
    """
    record = {**body, "changed": changed, "vivavoce": __version__, "plugins": plugins()}
    cursor = db.execute("INSERT INTO provenance (verb, body) VALUES (?, ?)", (verb, json_text(record)))
    return int(cursor.lastrowid or 0)


def drop_step(db: sqlite3.Connection, provenance: int, finding: int | None) -> None:
    """Take away the record of a step that was begun, and its finding if it had one: another replaces them."""
    db.execute("DELETE FROM provenance WHERE provenance_id = ?", (provenance,))
    db.execute("DELETE FROM findings WHERE finding_id = ?", (finding,))
