"""What a run remembers of the shard that it is, in its provenance: its part, and what all parts share.

What was brought in by a merge is another run's memory: a run is a shard by what was done to it since.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.shards import Shard
from vivavoce.store.damage import decoding
from vivavoce.store.read import verb_records
from vivavoce.store.view import View
from vivavoce.store.write import put_provenance

VERB = "shard"
"""The verb of provenance under which a run says which shard it is."""
WHOLE_VERB = "whole"
"""The verb under which it says of which shards all was scored at once, after they were joined."""
_WHAT = "which shard this is"
ShardVerb = Literal["collect", "score"]
_JOB_KEYS = {"collect": {"benchmark", "candidates", "repeats"}, "score": {"signature", "passes"}}


class Covered(NamedTuple):
    """What there was to score: so many `answers` to items of these formats, in words ('') or of a probe."""

    probe: str
    formats: tuple[str, ...]
    answers: int


class ShardWork(NamedTuple):
    """One part of what is collected or scored in shards.

    `job` is what all shards have in common; `expected` counts the responses that this one is to bring, or the
    scores that it has, null while it scores. `derived` counts its items that were made of others, where it
    collects. `done` says that scoring came to its end, `covered` on what.
    """

    verb: ShardVerb
    shard: Shard
    job: Mapping[str, Any]
    expected: int | None
    done: bool
    derived: int | None = None
    covered: Covered | None = None

    @property
    def key(self) -> str:
        """What is equal for the shards of one job."""
        return json.dumps([self.verb, self.shard.of, self.job], sort_keys=True)


def shard_works(db: sqlite3.Connection, *, since_merge: bool = False) -> list[ShardWork]:
    """All that was done in shards, in order; `since_merge`: what this run did since others came into it."""
    return [_work(record) for record in verb_records(db, VERB, _WHAT, since_merge=since_merge)]


def whole_works(db: sqlite3.Connection) -> list[ShardWork]:
    """The shards that were scored as parts of a whole, after they were joined."""
    rows = verb_records(db, WHOLE_VERB, _WHAT)
    with decoding(_WHAT):
        # Before the counts of a part were stored, their numbers were.
        parts = [(row, row.get("parts") or _numbers_alone(row)) for row in rows]
        return [_work({**row, **part}) for row, of_row in parts for part in of_row]


def _numbers_alone(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"shard": number, "expected": None} for number in row["shards"]]


def _work(row: Mapping[str, Any]) -> ShardWork:
    with decoding(_WHAT):
        shard, job, expected = Shard(row["shard"], row["of"]), row["job"], row["expected"]
        derived = row.get("derived")
        counts = (*shard, expected or 0, derived or 0)
        if not all(isinstance(n, int) for n in counts) or not 1 <= shard.number <= shard.of:
            raise ValueError("a shard has a number")
        if row["of_verb"] not in _JOB_KEYS or not _JOB_KEYS[row["of_verb"]] <= job.keys():
            raise ValueError("what shards have in common lacks a key")
        covered = _covered(row["covered"]) if row.get("covered") else None
        return ShardWork(row["of_verb"], shard, job, expected, row["state"] == "done", derived, covered)


def _covered(fields: Mapping[str, Any]) -> Covered:
    probe, formats, answers = fields["probe"], tuple(fields["formats"]), fields["answers"]
    if not isinstance(answers, int) or not all(isinstance(text, str) for text in (probe, *formats)):
        raise ValueError("what was scored is a count")
    return Covered(probe, formats, answers)


def remember_shard(db: sqlite3.Connection, *works: ShardWork) -> None:
    """Store what the run is about to do as a shard, or has done; the same once."""
    latest = {(earlier.key, earlier.shard): earlier for earlier in shard_works(db, since_merge=True)}
    for work in works:
        if latest.get((work.key, work.shard)) == work:
            continue
        body = {
            "of_verb": work.verb,
            "of": work.shard.of,
            "job": dict(work.job),
            "derived": work.derived,
            "state": "done" if work.done else "begun",
            **_of_part(work),
        }
        put_provenance(db, VERB, body, changed=0)


def _of_part(work: ShardWork) -> dict[str, Any]:
    """What is stored of a part alone."""
    covered = work.covered._asdict() if work.covered else None
    return {"shard": work.shard.number, "expected": work.expected, "covered": covered}


def remember_whole(db: sqlite3.Connection, works: Sequence[ShardWork]) -> None:
    """Store which shards of one job have been scored with the whole of a run, and on what; the same once."""
    remembered = [*shard_works(db), *whole_works(db)]
    if parts := [_of_part(work) for work in works if work not in remembered]:
        body = {"of_verb": "score", "of": works[0].shard.of, "job": dict(works[0].job), "state": "done"}
        put_provenance(db, WHOLE_VERB, {**body, "parts": parts}, changed=0)


def scored_with_whole(part: ShardWork, job: Mapping[str, Any]) -> bool:
    """Whether scoring a whole run by a job does what is done in this part."""
    return (
        part.verb == "score"
        and job["signature"] == part.job["signature"]
        and job["passes"] >= part.job["passes"]
        and job["items"] in (None, part.job.get("items"))
    )


def first_work_at(db: sqlite3.Connection) -> str:
    """When a run that is a shard first did its part, since other runs came into it."""
    return min(str(record["made_at"]) for record in verb_records(db, VERB, _WHAT, since_merge=True))


def refuse_other_shard(view: View, shard: Shard) -> None:
    """Raise `InputError` if the run is another shard."""
    for work in own_shards(view):
        if work.shard != shard:
            raise InputError(
                f"{view.path} is shard {work.shard}: ask for --shard {work.shard} here, and give shard "
                f"{shard} a run of its own."
            )


def refuse_whole(view: View, benchmark: str) -> None:
    """Raise `InputError` if the run is a shard of a benchmark that is to be collected whole."""
    for work in own_shards(view):
        if work.verb == "collect" and work.job["benchmark"] == benchmark:
            raise InputError(
                f"{view.path} is shard {work.shard} of {benchmark}: ask for --shard {work.shard} here, or "
                "use another run for all of it."
            )


def refuse_items_outside(
    view: View, stored: Sequence[tuple[str, str]], part: Sequence[Item], shard: Shard
) -> None:
    """Raise `InputError` if the run holds items, by id and variant, of other shards."""
    inside = {(item.item, item.variant) for item in part}
    if outside := [name for name, variant in stored if (name, variant) not in inside]:
        raise InputError(
            f"{view.path} holds {len(outside):,} items that are not in shard {shard}, such as "
            f"{min(outside)}: a shard needs a run of its own."
        )


def own_shards(view: View) -> list[ShardWork]:
    """What this run did in shards since other runs came into it; none where there is no run yet."""
    if not view.exists:
        return []
    return shard_works(view.db, since_merge=True)
