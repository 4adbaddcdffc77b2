"""Joining shards: what refuses parts that do not belong together, and which of all parts are missing."""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from vivavoce.core.errors import InputError
from vivavoce.core.shards import shard_numbers
from vivavoce.pipeline.shards.memory import ShardVerb, ShardWork, shard_works, whole_works
from vivavoce.store.read import items_by_id, provenance
from vivavoce.store.runfile import RunFile

ShardState = Literal["complete", "unfinished", "missing"]
_WORDS = {
    "of": "number of shards",
    "exam": "exam, and this one has other items, groups or weights",
    "prompts": "prompt, and candidates were asked in other words there",
    "candidates": "candidates with their settings",
    "repeats": "number of repeats",
    "for": "log-probabilities",
    "passes": "number of passes",
}
"""What must not differ, in words, where its key is none that users know."""
MOST_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRow:
    """How far one part of a collect, or of scoring by a metric, is in a run.

    `expected`, `done` and `failed` count responses where candidates are asked, scores where a metric scores;
    `expected` is null where it is not known.
    """

    about: str = "shard"
    verb: ShardVerb
    of_what: str
    shard: str
    state: ShardState
    expected: int | None
    done: int
    failed: int


def refuse_strange_shards(target: RunFile, sources: Sequence[RunFile]) -> None:
    """Raise `InputError` for a shard of another exam, of other settings or of another division.

    Runs that are no shards themselves are not compared: what they hold was joined before.
    """
    earlier = _all_works(target) if target.exists else []
    weights = _weights(target) if target.exists else {}
    for source in sources:
        theirs = _all_works(source)
        if any(_own_works(source)) and earlier:
            _refuse_others(source.path, theirs, earlier)
        earlier += theirs
        _refuse_other_weights(source, weights, of_shards=bool(theirs))


def _all_works(run: RunFile) -> list[ShardWork]:
    with run.reading() as db:
        return shard_works(db)


def _own_works(run: RunFile) -> list[ShardWork]:
    with run.reading() as db:
        return shard_works(db, since_merge=True)


def _refuse_others(path: Path, theirs: Sequence[ShardWork], ours: Sequence[ShardWork]) -> None:
    """Raise `InputError` if two runs have no job of a verb in common that both have jobs of."""
    for verb in ("collect", "score"):
        pair = [[work for work in works if work.verb == verb] for works in (theirs, ours)]
        if all(pair) and not {work.key for work in pair[0]} & {work.key for work in pair[1]}:
            difference = _difference(pair[0][-1], pair[1][-1])
            raise InputError(
                f"cannot merge {path}, shard {pair[0][-1].shard}: {difference} Nothing was merged."
            )


def _difference(theirs: ShardWork, ours: ShardWork) -> str:
    """What keeps two parts from being parts of one thing, in a sentence."""
    their_job, our_job = ({"of": work.shard.of, **work.job} for work in (theirs, ours))
    keys = [key for key in (*our_job, *their_job) if their_job.get(key) != our_job.get(key)]
    first = next((key for key in ("benchmark", "of") if key in keys), keys[0])
    their_value, our_value = _value(their_job.get(first)), _value(our_job.get(first))
    values = (
        "" if first in ("exam", "prompts") else f" ({their_value} there, {our_value} in the shards before it)"
    )
    return f"shards that are joined have one and the same {_WORDS.get(first, first)}{values}."


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _weights(run: RunFile) -> dict[str, str]:
    """By name the hash of the files of local models that answered in a run."""
    with run.reading() as db:
        models = [row.get("models") or {} for row in provenance(db) if row["verb"] == "collect"]
    return {
        name: facts["weights"] for of_row in models for name, facts in of_row.items() if facts.get("weights")
    }


def _refuse_other_weights(source: RunFile, weights: dict[str, str], *, of_shards: bool) -> None:
    """Raise `InputError` for a shard in which a local model had other weights; they join those of before."""
    for name, digest in _weights(source).items():
        if of_shards and weights.setdefault(name, digest) != digest:
            raise InputError(
                f"cannot merge {source.path}: {name} had other weights there (the hash of its files was "
                f"{digest}, and {weights[name]} in the shards before it). Nothing was merged."
            )


def shard_rows(run: RunFile) -> list[ShardRow]:
    """How far every part is of all that was done in shards: jobs in their order, the parts by number.

    Counted in what the run holds, so that the order in which parts came, and how often, changes nothing.
    """
    if not run.exists:
        return []
    with run.reading() as db:
        works = shard_works(db) + whole_works(db)
        latest = {(work.key, work.shard.number): work for work in works}
        if not latest:
            return []
        items = items_by_id(db)
        jobs = sorted({key: work for (key, _), work in latest.items()}.items(), key=_order)
        rows = []
        for key, work in jobs:
            parts = {number: part for (job, number), part in latest.items() if job == key}
            part_of_item = _parts_of(items, work)
            empty = _empty_parts(work, latest, set(part_of_item.values()))
            rows += _rows_of(work, parts, _counts(db, work, part_of_item), empty)
    return rows


def _empty_parts(
    work: ShardWork, latest: Mapping[tuple[str, int], ShardWork], filled: Collection[int]
) -> set[int]:
    """The parts in which a metric has nothing to score: without an item, and not for want of a collect."""
    if work.verb == "collect":  # says so itself
        return set()
    numbers = set(range(1, work.shard.of + 1))
    collects: dict[str, set[int]] = {}
    for (key, number), part in latest.items():
        if part.verb == "collect" and part.shard.of == work.shard.of:
            collects.setdefault(key, set()).add(number)
    return (numbers - set(filled)).intersection(*collects.values())


def _order(entry: tuple[str, ShardWork]) -> tuple[str, str, str]:
    key, work = entry
    return work.verb, _of_what(work), key


def _parts_of(items: Mapping[int, Any], work: ShardWork) -> dict[int, int]:
    """By the key of an item the number of its part."""
    chosen = {
        key: item
        for key, item in items.items()
        if work.verb == "score" or item.benchmark == work.job["benchmark"]
    }
    return dict(zip(chosen, shard_numbers(list(chosen.values()), work.shard.of), strict=True))


def _counts(db: sqlite3.Connection, work: ShardWork, parts: Mapping[int, int]) -> Counter[tuple[int, bool]]:
    """How many responses or scores there are by part, and by whether they failed."""
    if work.verb == "collect":
        rows = _responses(db, work.job)
    else:
        rows = db.execute(
            "SELECT r.item_id, s.status_id = 3, count(*) FROM scores s JOIN measures m USING (measure_id) "
            "JOIN responses r USING (response_id) WHERE m.signature = ? AND s.pass_no <= ? GROUP BY 1, 2",
            (work.job["signature"], work.job["passes"]),
        )
    counts: Counter[tuple[int, bool]] = Counter()
    for item, failed, n in rows:
        if item in parts:
            counts[parts[item], bool(failed)] += n
    return counts


def _responses(db: sqlite3.Connection, job: Mapping[str, Any]) -> Iterable[tuple[int, int, int]]:
    """Responses of the job's candidates, repeats and log-probabilities, by item and whether they failed."""
    probes = job.get("for") or [""]
    marks = ", ".join("?" * len(job["candidates"])), ", ".join("?" * len(probes))
    return db.execute(
        "SELECT r.item_id, r.status = 'failed', count(*) FROM responses r JOIN candidates c "
        f"USING (candidate_id) JOIN edits e USING (edit_id) WHERE c.candidate IN ({marks[0]}) "
        f"AND e.probe IN ({marks[1]}) AND r.repeat <= ? AND (e.probe != '' OR r.edit_id = 0) GROUP BY 1, 2",
        (*job["candidates"], *probes, job["repeats"]),
    )


def _rows_of(
    job: ShardWork,
    parts: Mapping[int, ShardWork],
    counts: Mapping[tuple[int, bool], int],
    empty: Collection[int],
) -> list[ShardRow]:
    """A row for each part of a job."""
    rows = []
    for number in range(1, job.shard.of + 1):
        part, done, failed = parts.get(number), counts.get((number, False), 0), counts.get((number, True), 0)
        expected = 0 if number in empty else part.expected if part else None
        rows.append(
            ShardRow(
                verb=job.verb,
                of_what=_of_what(job),
                shard=f"{number}/{job.shard.of}",
                state="complete" if number in empty else _state(part, done, failed),
                expected=expected,
                done=done,
                failed=failed,
            )
        )
    return rows


def _state(part: ShardWork | None, done: int, failed: int) -> ShardState:
    if part is None:
        return "missing"
    finished = part.done if part.expected is None else done >= part.expected
    return "complete" if finished and not failed else "unfinished"


def _of_what(work: ShardWork) -> str:
    """What the parts are parts of: a benchmark with its candidates, or a metric."""
    if work.verb == "score":
        return str(work.job["metric"])
    return f"{work.job['benchmark']} by {', '.join(work.job['candidates'])}"


def shard_sentences(rows: Sequence[ShardRow]) -> list[str]:
    """For each job a sentence: that all parts are complete, or which are missing or unfinished."""
    by_job: dict[tuple[str, str, str], list[ShardRow]] = {}
    for row in rows:
        by_job.setdefault((row.verb, row.of_what, row.shard.partition("/")[2]), []).append(row)
    return [_sentence(*job, of_job) for job, of_job in by_job.items()]


def _sentence(verb: str, of_what: str, of: str, rows: Sequence[ShardRow]) -> str:
    subject = f"{verb} {of_what}"
    faults = []
    for state in ("missing", "unfinished"):
        numbers = [row.shard.partition("/")[0] for row in rows if row.state == state]
        if numbers:
            more = f" and {len(numbers) - MOST_NAMED:,} more" if len(numbers) > MOST_NAMED else ""
            faults.append(f"{state}: {', '.join(numbers[:MOST_NAMED])}{more}")
    if not faults:
        return f"{subject}: all {of} shards are complete."
    return f"{subject}, {of} shards; {'; '.join(faults)}."


def incomplete(rows: Iterable[ShardRow]) -> bool:
    """Whether a part is missing or unfinished."""
    return any(row.state != "complete" for row in rows)


def as_json(rows: Iterable[ShardRow]) -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    return [asdict(row) for row in rows]
