"""Merging runs: the rows of one run file into another, matched by their natural keys, never by their numbers.

Everything is SQL over the two files. First the maps from their keys to ours are made, then whatever the
two hold under one key is compared, then what is new is copied.

Tables that grow with the answers are joined by CROSS JOIN, whose order SQLite keeps: one is read row by row
and the others are searched by their keys. SQLite knows no table's size here, and of its own choice read all
scores of one file for each score of the other.
"""

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.parts import MARKS
from vivavoce.store.checksums import delete_scores, renew_checksums
from vivavoce.store.integrity import refuse_damaged
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.runfile import RunFile
from vivavoce.store.same_scores import same_score_notes, score_groups
from vivavoce.store.table_hashes import renew_table_hashes
from vivavoce.store.write import ANSWER, put_provenance


class Merged(NamedTuple):
    """What a merge brought: rows that were not there, and failures that it replaced.

    `notes` are sentences on scores that were there by another rater or measure.
    """

    source: str
    items: int
    responses: int
    scores: int
    replaced: int
    findings: int
    calls: int
    notes: tuple[str, ...] = ()


def merge(
    target: RunFile, source: RunFile, *, by_repeats: Collection[str] = (), name: str | None = None
) -> Merged:
    """Bring the current items of `source`, their answers, scores, findings and calls into `target`.

    All or nothing. A failure on one side gives way to what is there on the other. Looks at the source count
    as looks at the result. Merging the same run again brings nothing. Raises `InputError` where the two
    differ: in the wording of an item, in the sample that was asked, in the rows left out, the text of an
    answer, the declaration of a measure, a score, or what is kept under the name of an edit; `StoreError`
    where one of the two does not fit its hashes.

    `by_repeats` are signatures of measures that score an answer beside its other repeats: their scores of
    answers that get further repeats here are dropped, so that `viva score` makes them again. `name` is what
    the record calls the source, by default its path.
    """
    if target.exists and source.exists and target.path.samefile(source.path):
        raise InputError(f"{source.path} cannot be merged into itself.")
    with source.reading() as theirs:
        refuse_damaged(theirs, "Nothing was merged.")
    with target.writing(source=source) as db:
        refuse_damaged(db, "Nothing was merged.")
        refuse_redacted(db, "it cannot be merged with any other")
        refuse_redacted(db, "it cannot be merged with any other", "theirs")
        n_stored, present = _counts(db), score_groups(db)
        _refuse(
            *(db, source, _OTHER_WORDING, _OTHER_GROUP, _OTHER_FORM),
            *(*_OTHER_SAMPLE, _OTHER_DRAW, *_OTHER_EXCLUSIONS),
        )
        db.execute("CREATE TEMP TABLE by_repeats (signature TEXT)")
        db.executemany("INSERT INTO temp.by_repeats VALUES (?)", [(signature,) for signature in by_repeats])
        for statement in (*_REPEATS_BEFORE, *_DIMENSIONS):
            db.execute(statement)
        _refuse(db, source, *_OTHER_CONTENT)
        for statement in _FAILED_HERE:
            db.execute(statement)
        delete_scores(db, _UNMARKED)
        replaced = db.execute(_MENDED).rowcount
        for statement in _FACTS:
            db.execute(statement)
        delete_scores(db, _OUTDATED)
        renew_table_hashes(db)
        renew_checksums(db, "candidate_id IN (SELECT ours FROM temp.candidate_map)")
        items, responses, scores, findings, calls = (
            n - n_before for n, n_before in zip(_counts(db), n_stored, strict=True)
        )
        scores = max(scores, 0)  # further repeats may take more scores away than come
        done = Merged(name or str(source.path), items, responses, scores, replaced, findings, calls)
        put_provenance(db, "merge", _facts(done), changed=responses + scores + replaced)
        notes = tuple(same_score_notes(db, present, done.source))
    return done._replace(notes=notes)


def _facts(done: Merged) -> dict[str, object]:
    """What provenance keeps of a merge: its numbers."""
    return {name: value for name, value in done._asdict().items() if name != "notes"}


_REPEATS = (
    "SELECT item_id, candidate_id, edit_id, count(*) AS n FROM main.responses WHERE status != 'failed' "
    "GROUP BY item_id, candidate_id, edit_id"
)
"""How many repeats of an answer have arrived here."""
_REPEATS_BEFORE = (
    "CREATE TEMP TABLE repeats_before (item_id INTEGER, candidate_id INTEGER, edit_id INTEGER, n INTEGER, "
    "PRIMARY KEY (item_id, candidate_id, edit_id)) WITHOUT ROWID",
    f"INSERT INTO temp.repeats_before {_REPEATS}",
)
_OUTDATED = f"""
    measure_id IN (SELECT measure_id FROM main.measures WHERE signature IN temp.by_repeats)
    AND response_id IN (
        SELECT r.response_id FROM ({_REPEATS}) a CROSS JOIN temp.repeats_before b
            ON (b.item_id, b.candidate_id, b.edit_id) = (a.item_id, a.candidate_id, a.edit_id) AND b.n != a.n
        CROSS JOIN main.responses r
            ON (r.item_id, r.candidate_id, r.edit_id) = (a.item_id, a.candidate_id, a.edit_id))
"""


def _counts(db: sqlite3.Connection) -> list[int]:
    tables = ("items", "responses", "scores", "findings", "calls")
    return [db.execute(f"SELECT count(*) FROM main.{table}").fetchone()[0] for table in tables]


def _refuse(db: sqlite3.Connection, source: RunFile, *contradictions: tuple[str, str, str]) -> None:
    """Raise `InputError` if a row of theirs and one of ours have one key and two contents.

    A contradiction is what a query selects, where it looks, and the sentence about what it finds.
    """
    for columns, condition, sentence in contradictions:
        if row := db.execute(f"SELECT {columns} {condition} LIMIT 1").fetchone():
            raise InputError(f"cannot merge {source.path}: {sentence.format(*row)} Nothing was merged.")


_SAME_ITEM = """
    FROM theirs.items ti CROSS JOIN theirs.benchmarks tb USING (benchmark_id)
         CROSS JOIN main.benchmarks b ON b.benchmark = tb.benchmark CROSS JOIN main.items i
         ON (i.benchmark_id, i.item, i.variant) = (b.benchmark_id, ti.item, ti.variant)
    WHERE ti.current = 1 AND i.current = 1
"""
_SAME_MEASURE = """
    FROM theirs.measures tm
         CROSS JOIN main.measures m USING (signature, criterion, rater)
"""
_THEIR_RESPONSE = """
    FROM temp.item_map im CROSS JOIN theirs.responses tr ON tr.item_id = im.theirs
         CROSS JOIN temp.candidate_map cm ON cm.theirs = tr.candidate_id
         CROSS JOIN temp.edit_map em ON em.theirs = tr.edit_id
"""
_SAME_RESPONSE = f"""
    {_THEIR_RESPONSE} CROSS JOIN main.responses r
    ON (r.item_id, r.candidate_id, r.repeat, r.edit_id) = (im.ours, cm.ours, tr.repeat, em.ours)
"""
_CONTENT = f"{{0}}.status, {{0}}.text, {{0}}.logprobs, {{0}}.meta ->> '$.{MARKS}'"
"""What makes two answers the same one: also the marks of thinking that a model has of its own."""
_MAPPED_RESPONSE = """
    FROM temp.response_map rm CROSS JOIN theirs.responses tr ON tr.response_id = rm.theirs
         CROSS JOIN main.responses r ON r.response_id = rm.ours
"""
_SAME_SCORE = """
    FROM theirs.scores ts CROSS JOIN temp.measure_map mm ON mm.theirs = ts.measure_id
         CROSS JOIN temp.response_map rm ON rm.theirs = ts.response_id
         CROSS JOIN temp.unit_map um ON um.theirs = ts.unit_id
         CROSS JOIN temp.ballot_map lm ON lm.theirs = ts.ballot_id
"""
_OUR_SCORE = """
         CROSS JOIN main.scores s ON (s.measure_id, s.response_id, s.unit_id, s.ballot_id, s.pass_no)
                                   = (mm.ours, rm.ours, um.ours, lm.ours, ts.pass_no)
"""
_STRATA = (
    "(SELECT benchmark, category, min(weight) AS weight FROM {0}.items "
    "JOIN {0}.benchmarks USING (benchmark_id) WHERE current = 1 GROUP BY benchmark, category "
    "HAVING min(weight) = max(weight))"
)
"""By benchmark and category what each item counts for, where all count for the same."""
_DECLARED = ("low", "high", "direction", "if_unanswered", "pool", "smallest_difference")

_OTHER_WORDING = (
    "b.benchmark, ti.item",
    f"{_SAME_ITEM} AND ti.hash != i.hash",
    "the item {1!r} of {0} has another wording there.",
)
_GROUPS = """replace(trim({0}.outer_groups, '[]"'), '", "', ' / ')
    || iif({0}.outer_groups = '[]', '', ' / ') || {0}."group\""""
# Errors are by group, and answers of one run cannot be grouped by those of the other.
_OTHER_GROUP = (
    f"b.benchmark, ti.item, {_GROUPS.format('ti')}, {_GROUPS.format('i')}",
    f'{_SAME_ITEM} AND (ti."group", ti.outer_groups) != (i."group", i.outer_groups)',
    "the item {1!r} of {0} is in the group {2!r} there and in {3!r} here: import one of the two again with "
    "the groups of the other.",
)
# An older run may hold an edit that is named as what a probe told is kept today.
_OTHER_FORM = (
    "t.edit",
    "FROM theirs.edits t JOIN main.edits o USING (edit) WHERE t.probe != o.probe",
    "what is kept under {0!r} is an edit of answers in one of the two, and what a model told of its "
    "probabilities in the other.",
)
# Questions that stand for several in one sample stand for others in the next: both together are no exam.
_OTHER_SAMPLE = (
    (
        "b.benchmark, ti.item, ti.weight, i.weight",
        f"{_SAME_ITEM} AND ti.weight != i.weight",
        "the item {1!r} of {0} stands for {2:g} questions of the exam there and for {3:g} here: another "
        "sample was asked.",
    ),
    (
        "t.benchmark, t.category, t.weight, o.weight",
        " ".join(
            (
                "FROM",
                _STRATA.format("theirs"),
                "t JOIN",
                _STRATA.format("main"),
                "o ON (t.benchmark, t.category) IS (o.benchmark, o.category) WHERE t.weight != o.weight",
            )
        ),
        "an item of {0} stands for {2:g} questions of the exam there and for {3:g} here: another sample was "
        "asked.",
    ),
)
_DRAWS = (
    "(SELECT DISTINCT b.benchmark, coalesce(json_extract(p.body, '$.draw'), 1) AS draw FROM {0}.provenance p "
    "JOIN {0}.benchmarks b ON b.spec = json_extract(p.body, '$.benchmark') "
    "WHERE p.verb = 'collect' AND json_extract(p.body, '$.sample') IS NOT NULL)"
)
# Two draws of one size weigh alike, and together they would stand for twice the benchmark.
_OTHER_DRAW = (
    "t.benchmark, t.draw, o.draw",
    f"FROM {_DRAWS.format('theirs')} t JOIN {_DRAWS.format('main')} o USING (benchmark) "
    "WHERE t.draw != o.draw",
    "draw {1} of a sample of {0} was asked there, and draw {2} here: together they are no sample. Keep draws "
    "in runs of their own.",
)
# Reasons are words of a loader, which another version may say otherwise; which rows it was is a fact.
_LEFT_OUT = (
    '(SELECT list_id, json_group_array(json_array(file, "row")) AS rows FROM '
    '(SELECT list_id, file, "row" FROM {0}.exclusions ORDER BY list_id, file, "row") GROUP BY list_id)'
)
"""By list the rows that were left out, in an order of their own."""
_OTHER_EXCLUSIONS = (
    (
        "b.benchmark, tl.items, l.items",
        "FROM theirs.exclusion_lists tl JOIN theirs.benchmarks tb USING (benchmark_id) "
        "JOIN main.benchmarks b ON b.benchmark = tb.benchmark "
        "JOIN main.exclusion_lists l ON (l.benchmark_id, l.spec) = (b.benchmark_id, tl.spec) "
        f"JOIN {_LEFT_OUT.format('theirs')} tr ON tr.list_id = tl.list_id "
        f"JOIN {_LEFT_OUT.format('main')} r ON r.list_id = l.list_id "
        "WHERE (tl.items, tr.rows) IS NOT (l.items, r.rows)",
        "other rows of {0} were left out there ({1:,} are questions there and {2:,} here): collect both runs "
        "from the same files.",
    ),
    *(
        (
            "b.benchmark",
            f"FROM {holder}.exclusion_lists l JOIN {holder}.benchmarks b USING (benchmark_id) "
            f"JOIN {lacker}.benchmarks o ON (o.benchmark, o.spec) = (b.benchmark, l.spec) "
            f"WHERE NOT EXISTS (SELECT 1 FROM {lacker}.exclusion_lists ol "
            "WHERE (ol.benchmark_id, ol.spec) = (o.benchmark_id, o.spec))",
            f"rows of {{0}} were left out {place}: collect both runs from the same files.",
        )
        for holder, lacker, place in (
            ("theirs", "main", "there, and none here"),
            ("main", "theirs", "here, and none there"),
        )
    ),
)
_OTHER_CONTENT = (
    (
        "tm.metric, tm.criterion",
        f"{_SAME_MEASURE} WHERE ({', '.join(f'tm.{c}' for c in _DECLARED)}) "
        f"IS NOT ({', '.join(f'm.{c}' for c in _DECLARED)})",
        "{0}, criterion {1}, is declared otherwise there.",
    ),
    (
        "c.candidate, i.item, r.repeat",
        f"{_SAME_RESPONSE} CROSS JOIN main.candidates c ON c.candidate_id = r.candidate_id "
        "CROSS JOIN main.items i ON i.item_id = r.item_id "
        "WHERE r.status != 'failed' AND tr.status != 'failed' "
        f"AND ({_CONTENT.format('r')}) IS NOT ({_CONTENT.format('tr')})",
        "{0} has another answer to {1} (repeat {2}) there.",
    ),
    (
        "m.metric, i.item, c.candidate",
        f"{_SAME_SCORE} {_OUR_SCORE} CROSS JOIN main.measures m ON m.measure_id = s.measure_id "
        "CROSS JOIN main.responses r ON r.response_id = s.response_id "
        "CROSS JOIN main.items i ON i.item_id = r.item_id "
        "CROSS JOIN main.candidates c ON c.candidate_id = r.candidate_id "
        "WHERE s.status_id != 3 AND ts.status_id != 3 "
        "AND (s.status_id, s.value) IS NOT (ts.status_id, ts.value) "
        "AND m.signature NOT IN (SELECT signature FROM temp.by_repeats) "
        "ORDER BY s.measure_id, s.response_id, s.unit_id, s.ballot_id, s.pass_no",
        "{0} has another score for {1} of {2} there.",
    ),
)


def _map(key: str, pairs: str) -> tuple[str, str]:
    """Make the map from their keys to ours, of the pairs that a query selects; it is searched by theirs."""
    return (
        f"CREATE TEMP TABLE {key}_map (theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL)",
        f"INSERT INTO temp.{key}_map SELECT {pairs}",
    )


def _dimension(table: str, key: str, columns: str, name: str) -> tuple[str, ...]:
    """Copy the rows of a table of names that are not here yet, and map their keys to ours by name."""
    return (
        f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM theirs.{table} WHERE true "
        "ON CONFLICT DO NOTHING",
        *_map(
            key,
            f"t.{key}_id, o.{key}_id FROM theirs.{table} t CROSS JOIN main.{table} o USING ({name})",
        ),
    )


def _new_rows(table: str, columns: Sequence[str], key: Sequence[str], values: str = "") -> tuple[str, ...]:
    """Copy the rows of a journal, in their order, but for those whose key, never null, is here already.

    `values` are SQL for the columns where they are not copied as they are. Journals have no index by which
    a row could be looked up, and a NOT IN over several columns would read them all for each new row.
    """
    ours, theirs = (", ".join(f"{alias}.{name}" for name in key) for alias in "ot")
    return (
        f"CREATE TEMP TABLE our_{table} AS SELECT {', '.join(key)} FROM main.{table}",
        f"CREATE INDEX temp.our_{table}_key ON our_{table} ({', '.join(key)})",
        f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {values or ', '.join(columns)} "
        f"FROM theirs.{table} t WHERE NOT EXISTS "
        f"(SELECT 1 FROM temp.our_{table} o WHERE ({ours}) = ({theirs}))",
    )


_ITEM = (
    'item, variant, hash, alias, "group", outer_groups, category, format, question, messages, follows, '
    'options, answer, "references", must, nice, steps, step, false_answer, rubric, context, source, '
    "origin, weight, meta"
)
_DIMENSIONS = (
    "INSERT INTO main.benchmarks (benchmark, spec, signature, card) "
    "SELECT benchmark, spec, signature, card FROM theirs.benchmarks WHERE true ON CONFLICT DO NOTHING",
    """
    INSERT INTO main.exclusion_lists (benchmark_id, spec, signature, items)
    SELECT b.benchmark_id, tl.spec, tl.signature, tl.items
    FROM theirs.exclusion_lists tl JOIN theirs.benchmarks tb USING (benchmark_id)
         JOIN main.benchmarks b ON b.benchmark = tb.benchmark WHERE true ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO main.exclusions (list_id, file, "row", reason) SELECT l.list_id, te.file, te."row", te.reason
    FROM theirs.exclusions te JOIN theirs.exclusion_lists tl USING (list_id)
         JOIN theirs.benchmarks tb ON tb.benchmark_id = tl.benchmark_id
         JOIN main.benchmarks b ON b.benchmark = tb.benchmark
         JOIN main.exclusion_lists l ON (l.benchmark_id, l.spec) = (b.benchmark_id, tl.spec)
    WHERE NOT EXISTS (SELECT 1 FROM main.exclusions e WHERE e.list_id = l.list_id) ORDER BY te.exclusion_id
    """,
    f"INSERT INTO main.items (benchmark_id, version, current, {_ITEM}) "
    "SELECT b.benchmark_id, (SELECT coalesce(max(v.version), 0) + 1 FROM main.items v WHERE "
    "(v.benchmark_id, v.item, v.variant) = (b.benchmark_id, ti.item, ti.variant)), 1, "
    f"{', '.join('ti.' + c.strip() for c in _ITEM.split(','))} "
    "FROM theirs.items ti JOIN theirs.benchmarks tb USING (benchmark_id) "
    "JOIN main.benchmarks b ON b.benchmark = tb.benchmark WHERE ti.current = 1 AND NOT EXISTS (SELECT 1 "
    "FROM main.items i WHERE (i.benchmark_id, i.item, i.variant) = (b.benchmark_id, ti.item, ti.variant) "
    "AND i.current = 1)",
    f"CREATE TEMP TABLE item_map AS SELECT ti.item_id AS theirs, i.item_id AS ours {_SAME_ITEM} "
    "ORDER BY ti.benchmark_id, ti.item, ti.variant",
    *_dimension("candidates", "candidate", "candidate, role", "candidate"),
    *_dimension("edits", "edit", "edit, probe", "edit, probe"),
    *_dimension("units", "unit", "unit, text, weight", "unit, text"),
    *_dimension("ballots", "ballot", "ballot", "ballot"),
    *_dimension("passages", "passage", 'hash, source, version, file, page, "offset", quote', "hash"),
    *_dimension(
        "measures",
        "measure",
        f"metric, signature, criterion, rater, {', '.join(_DECLARED)}",
        "signature, criterion, rater",
    ),
    "INSERT INTO main.requests SELECT im.ours, cm.ours, tr.probe, tr.repeats FROM temp.item_map im "
    "CROSS JOIN theirs.requests tr ON tr.item_id = im.theirs "
    "CROSS JOIN temp.candidate_map cm ON cm.theirs = tr.candidate_id "
    "WHERE true ON CONFLICT DO UPDATE SET repeats = max(repeats, excluded.repeats)",
    *_map("response", f"tr.response_id, r.response_id {_SAME_RESPONSE}"),
)
_THEIR_ANSWER = ", ".join(f"tr.{c}" for c in ANSWER)
_FAILED_HERE = (
    "CREATE TEMP TABLE failed_here (ours INTEGER PRIMARY KEY, theirs INTEGER NOT NULL)",
    f"INSERT INTO temp.failed_here SELECT rm.ours, rm.theirs {_MAPPED_RESPONSE} "
    "WHERE r.status = 'failed' AND tr.status != 'failed'",
)
"""Our failed answers and what takes their place."""
# Scores of an answer that had failed say nothing about the one that takes its place.
_UNMARKED = """
    measure_id IN (SELECT measure_id FROM main.measures)
    AND response_id IN (SELECT ours FROM temp.failed_here)
"""
_MENDED = f"""
    UPDATE main.responses AS o SET ({", ".join(ANSWER)}) =
        (SELECT {_THEIR_ANSWER} FROM temp.failed_here f CROSS JOIN theirs.responses tr
         ON tr.response_id = f.theirs WHERE f.ours = o.response_id)
    WHERE o.response_id IN (SELECT ours FROM temp.failed_here)
"""
_SCORE = ("position", "value", "status_id", "parts", "note")
_CALL = (
    *("made_at", "key", "model", "endpoint", "repeat", "kind", "purpose", "status", "attempts", "seconds"),
    *("input_tokens", "output_tokens", "cost", "error", "reply"),
)
_KEY = "(measure_id, response_id, unit_id, ballot_id, pass_no)"
_OUR_KEY = "(mm.ours, rm.ours, um.ours, lm.ours, ts.pass_no)"
_EVIDENCE_MOVES = f"""
    CREATE TEMP TABLE evidence_moves AS
    SELECT mm.ours AS measure_id, rm.ours AS response_id, um.ours AS unit_id, lm.ours AS ballot_id,
           ts.pass_no, ts.place, pm.ours AS passage_id, ts.bearing
    {_SAME_SCORE.replace("theirs.scores ts", "theirs.evidence ts")}
         CROSS JOIN temp.passage_map pm ON pm.theirs = ts.passage_id
    WHERE NOT EXISTS (SELECT 1 FROM main.scores WHERE {_KEY} = {_OUR_KEY} AND status_id != 3)
"""
"""What scores rest on that are new here, or take the place of a failed one."""
_FACTS = (
    f"""
    INSERT INTO main.responses (item_id, candidate_id, repeat, edit_id, {", ".join(ANSWER)})
    SELECT im.ours, cm.ours, tr.repeat, em.ours, {_THEIR_ANSWER} {_THEIR_RESPONSE}
    WHERE true ORDER BY im.rowid, tr.candidate_id, tr.repeat, tr.edit_id ON CONFLICT DO NOTHING
    """,
    "DELETE FROM temp.response_map",
    f"INSERT INTO temp.response_map SELECT tr.response_id, r.response_id {_SAME_RESPONSE} "
    f"WHERE ({_CONTENT.format('r')}) IS ({_CONTENT.format('tr')})",
    _EVIDENCE_MOVES,
    f"DELETE FROM main.evidence WHERE {_KEY} IN "
    f"(SELECT {_OUR_KEY[1:-1]} {_SAME_SCORE} {_OUR_SCORE} WHERE s.status_id = 3)",
    f"""
    INSERT INTO main.scores (measure_id, response_id, unit_id, ballot_id, pass_no, {", ".join(_SCORE)})
    SELECT mm.ours, rm.ours, um.ours, lm.ours, ts.pass_no, {", ".join(f"ts.{c}" for c in _SCORE)}
    {_SAME_SCORE}
    WHERE true ON CONFLICT (measure_id, response_id, unit_id, ballot_id, pass_no)
    DO UPDATE SET {", ".join(f"{c} = excluded.{c}" for c in _SCORE)} WHERE scores.status_id = 3
    """,
    "INSERT INTO main.evidence SELECT * FROM temp.evidence_moves",
    *_new_rows(
        "calls",
        (*_CALL, "response_id"),
        ("made_at", "key", "model", "endpoint", "repeat", "purpose", "attempts"),
        f"{', '.join(_CALL)}, (SELECT ours FROM temp.response_map WHERE theirs = t.response_id)",
    ),
    *_new_rows("findings", ("made_at", "study", "settings", "rows"), ("made_at", "study", "settings")),
    *_new_rows("provenance", ("made_at", "verb", "body"), ("made_at", "verb", "body")),
    *_new_rows("events", ("made_at", "kind", "body"), ("made_at", "kind", "body")),
)
