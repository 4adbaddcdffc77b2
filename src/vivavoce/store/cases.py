"""The cases of a run, worked out when it is read, so that runs of any age have them."""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from vivavoce.core.cases import Cases, NearDuplicates, Place, count_cases, join_cases
from vivavoce.core.errors import InputError
from vivavoce.core.group_levels import GroupLevel, level_text, scope_text
from vivavoce.core.item_content import Content, content_of, exhibit_of
from vivavoce.core.records import ItemKey
from vivavoce.core.text import one_line
from vivavoce.store.damage import decoding
from vivavoce.store.stored_values import stored_object
from vivavoce.store.table_hashes import check_table_hashes
from vivavoce.store.write import put_event

if TYPE_CHECKING:
    import polars as pl

_CONTENTS: dict[tuple[str, str], Content | None] = {}
"""The content of items by their hash and `meta`: worked out once in a process, since it takes longest."""
_KEY = ["benchmark", "item", "variant"]
NEAR_DUPLICATES, NEAR_PAIRS = "near duplicates", "near pairs"
"""Events: what a user chose for near duplicates, and the pairs of a run whose texts are gone."""
_Pair = tuple[ItemKey, ItemKey]
_PAIRS: dict[int, list[_Pair]] = {}
"""The near repeats of the items of one run, by what was read of them: looked for once in a process."""


def near_duplicates_choice(db: sqlite3.Connection) -> NearDuplicates:
    """What a user chose last for questions that are nearly the same; they are counted by default."""
    chosen = db.execute(
        "SELECT body FROM events WHERE kind = ? ORDER BY event_id DESC LIMIT 1", (NEAR_DUPLICATES,)
    ).fetchone()
    rule = stored_object(chosen[0], "the choice on near duplicates")["rule"] if chosen else "count"
    return "join" if rule == "join" else "count"


def check_choice(rule: str | None) -> None:
    """Raise `InputError` for a choice on near duplicates that is none; null chooses nothing."""
    if rule is not None and rule not in get_args(NearDuplicates):
        raise InputError(f"near duplicates {rule!r}: write count or join.")


def choose_near_duplicates(db: sqlite3.Connection, rule: NearDuplicates) -> None:
    """Keep what a user chooses for near duplicates.

    Raises `InputError` for "join" in a run of more than `MOST_QUESTIONS`.
    """
    if rule == "join" and near_pairs(db) is None:
        raise InputError(
            "near duplicates cannot be joined here: a run of this size is not searched for them. Give "
            "such questions one group in the exam file."
        )
    if rule != near_duplicates_choice(db):
        put_event(db, NEAR_DUPLICATES, {"rule": rule})


def kept_choice(db: sqlite3.Connection, rule: NearDuplicates | None) -> NearDuplicates:
    """What becomes of near duplicates from now on: what is chosen here is kept, null changes nothing."""
    if rule is not None:
        choose_near_duplicates(db, rule)
    return near_duplicates_choice(db)


def run_cases(db: sqlite3.Connection) -> Cases:
    """The cases of the current items, over all benchmarks of the run; items made in the run are left out.

    Near repeats are looked for, and are one case if a user chose that they be.
    """
    return _cases(db, "AND origin IS NULL", look=True)


def question_rows(
    db: sqlite3.Connection, rows: Sequence[Mapping[str, Any]], items: Collection[ItemKey] | None
) -> tuple[dict[str, Any], ...]:
    """What `Run.status` has on the questions of the benchmarks of rows: of these items, or of all."""
    benchmarks = {row["benchmark"] for row in rows}
    counts = count_cases(run_cases(db), items)
    return tuple({"about": "questions", **n._asdict()} for n in counts if n.benchmark in benchmarks)


def near_pairs(db: sqlite3.Connection) -> list[_Pair] | None:
    """The pairs of items whose questions are nearly the same; null for more than `MOST_QUESTIONS`.

    Those of a run without its texts are the pairs that were kept when these were taken out.
    """
    from vivavoce.language.near_repeats import MOST_QUESTIONS  # not where nobody asks for near repeats

    rows = db.execute(_WORDINGS).fetchall()
    if len(rows) > MOST_QUESTIONS:
        return None
    bodies = db.execute("SELECT body FROM events WHERE kind = ?", (NEAR_PAIRS,)).fetchall()
    state = hash((tuple(rows), tuple(bodies)))
    if state not in _PAIRS:
        stored = [pair for (body,) in bodies for pair in stored_object(body, "the near pairs")["pairs"]]
        _PAIRS.clear()
        _PAIRS[state] = [
            *((tuple(a), tuple(b)) for a, b in stored),
            *_new_pairs(rows, gone=bool(bodies)),
        ]
    return _PAIRS[state]


_WORDINGS = (
    "SELECT benchmark, item, variant, question, options, context, false_answer, steps, step, meta "
    "FROM items JOIN benchmarks USING (benchmark_id) "
    "WHERE current = 1 AND origin IS NULL AND follows IS NULL ORDER BY benchmark, item, variant"
)
_REDACTED = "[redacted: "


def _new_pairs(rows: Sequence[tuple[Any, ...]], *, gone: bool) -> list[_Pair]:
    """The near repeats among rows of items; with `gone`, without those whose texts were taken out."""
    from vivavoce.language.near_repeats import near_repeats, wording_of

    if gone:
        rows = [row for row in rows if not row[3].startswith(_REDACTED)]
    wordings = []
    for *_, question, options, context, false_answer, steps, step, meta in rows:
        with decoding("the wording of an item"):
            exhibit = exhibit_of(false_answer, json.loads(steps), step)
            wordings.append(
                wording_of(question, json.loads(options), context, exhibit=exhibit, meta=json.loads(meta))
            )
    keys = [(row[0], row[1], row[2]) for row in rows]
    return [(keys[first], keys[second]) for first, second in near_repeats(wordings)]


def cases_by_item(db: sqlite3.Connection) -> dict[ItemKey, str]:
    """The label of the case of every current item, those made in the run included."""
    cases = _cases(db, "")
    return {place[:3]: label for place, label in zip(cases.places, cases.labels, strict=True)}


def case_levels(db: sqlite3.Connection) -> Mapping[str, GroupLevel]:
    """By benchmark with groups of several levels the one that makes its cases."""
    if not db.execute("SELECT 1 FROM items WHERE outer_groups != '[]' LIMIT 1").fetchone():
        return {}
    return _cases(db, "AND origin IS NULL").levels


def scopes(db: sqlite3.Connection) -> dict[str, str]:
    """By benchmark the sentence for which groups alone its figures hold, where these are few."""
    texts = {benchmark: scope_text(**level.facts) for benchmark, level in case_levels(db).items()}
    return {benchmark: text for benchmark, text in texts.items() if text}


def scope_notes(db: sqlite3.Connection) -> tuple[str, ...]:
    """For each such benchmark by which level errors are, and for what figures hold."""
    levels = case_levels(db)
    return tuple(f"{one_line(name, 40)}: {level_text(**levels[name].facts)}" for name in scopes(db))


def with_cases(db: sqlite3.Connection, frame: "pl.DataFrame") -> "pl.DataFrame":
    """Rows about items, with the label of the item's case as `group` in place of the declared group."""
    import polars as pl

    joined = _cases(db, "")
    changed = [
        (*place[:3], label)
        for place, label in zip(joined.places, joined.labels, strict=True)
        if label != place.group
    ]
    if not changed:
        return frame
    labels = pl.DataFrame(changed, schema=dict.fromkeys([*_KEY, "case"], pl.String), orient="row")
    rows = frame.join(labels, on=_KEY, how="left", maintain_order="left", validate="m:1")
    return rows.with_columns(group=pl.coalesce("case", "group")).drop("case")


def _cases(db: sqlite3.Connection, condition: str, *, look: bool = False) -> Cases:
    """The cases of the current items that meet a condition in SQL.

    Near repeats are looked for where they are joined, and with `look`.
    """
    check_table_hashes(db)  # here, because groups are what cases come from
    items = f"FROM items JOIN benchmarks USING (benchmark_id) WHERE current = 1 {condition}"
    rows = db.execute(
        f"""SELECT benchmark, item, variant, "group", json_extract(card, '$.groups_of'),
        coalesce(json_extract(card, '$.access'), '') = 'own', outer_groups, hash,
        iif(origin IS NULL AND follows IS NULL, meta, NULL) {items} ORDER BY benchmark, item, variant"""
    ).fetchall()
    if any(meta is not None and (digest, meta) not in _CONTENTS for *_, digest, meta in rows):
        _read_contents(db)
    join_near = near_duplicates_choice(db) == "join"
    pairs = near_pairs(db) if join_near or look else None
    return join_cases(
        (
            Place(
                *(
                    benchmark,
                    item,
                    variant,
                    group,
                    _CONTENTS.get((digest, meta)),
                    groups_of,
                    bool(user_table),
                ),
                outer_groups=_outer_groups(outer),
            )
            for benchmark, item, variant, group, groups_of, user_table, outer, digest, meta in rows
        ),
        None if pairs is None else _positions(pairs, [row[:3] for row in rows]),
        join_near=join_near,
        level_names=_level_names(db),
    )


def _outer_groups(text: str) -> tuple[str, ...]:
    if text == "[]":
        return ()
    with decoding("the groups of an item"):
        return tuple(map(str, json.loads(text)))


def _level_names(db: sqlite3.Connection) -> dict[str, list[str]]:
    """By benchmark the names of the levels of its groups, where they have some."""
    rows = db.execute(
        "SELECT coalesce(json_extract(card, '$.groups_of'), benchmark), json_extract(card, '$.group_levels') "
        "FROM benchmarks WHERE json_array_length(card, '$.group_levels') > 0"
    )
    with decoding("the card of a benchmark"):
        return {benchmark: [str(name) for name in json.loads(names)] for benchmark, names in rows}


def _positions(pairs: Sequence[_Pair], keys: Sequence[ItemKey]) -> list[tuple[int, int]]:
    """The positions of both items of each pair, where both are there."""
    places = {key: n for n, key in enumerate(keys)} if pairs else {}
    return [(places[a], places[b]) for a, b in pairs if {a, b} <= places.keys()]


def _read_contents(db: sqlite3.Connection) -> None:
    """Work out the content of the current items that were not made in the run."""
    sql = (
        "SELECT hash, meta, question, options, context, false_answer, steps, step FROM items "
        "WHERE current = 1 AND origin IS NULL AND follows IS NULL"
    )
    for digest, meta, question, options, context, false_answer, steps, step in db.execute(sql):
        if (digest, meta) not in _CONTENTS:
            with decoding("the content of an item"):
                exhibit = exhibit_of(false_answer, json.loads(steps), step)
                _CONTENTS[digest, meta] = content_of(
                    question, json.loads(options), context, exhibit=exhibit, meta=json.loads(meta)
                )
