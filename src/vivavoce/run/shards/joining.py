"""Joining shards: what refuses parts that do not belong together, and which of all parts are missing."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from vivavoce.core import registry
from vivavoce.core.errors import InputError, VivaError
from vivavoce.core.records import Item
from vivavoce.core.shards import exam_digest
from vivavoce.run.plugin_code import PluginCode, code_by_signature, programs
from vivavoce.run.shards.counts import (
    coverage_by_part,
    parts_of,
    responses_by_part,
    scores_by_part,
    unscored_by_part,
)
from vivavoce.run.shards.memory import Covered, ShardVerb, ShardWork, shard_works, whole_works
from vivavoce.store.read import items_by_id, provenance
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import View

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
    codes = _codes(target) if target.exists else {}
    for source in sources:
        theirs = _all_works(source)
        if any(_own_works(source)) and earlier:
            _refuse_others(source.path, theirs, earlier)
        earlier += theirs
        _refuse_other_weights(source, weights, of_shards=bool(theirs))
        _refuse_other_code(source, codes, of_shards=bool(theirs))


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


def _codes(run: RunFile) -> dict[str, list[PluginCode]]:
    with run.reading() as db:
        return code_by_signature(db)


def _refuse_other_code(source: RunFile, codes: dict[str, list[PluginCode]], *, of_shards: bool) -> None:
    """Raise `InputError` for a shard that another program scored under one signature; they join the codes."""
    for signature, theirs in _codes(source).items():
        different = programs([*codes.setdefault(signature, theirs), *theirs])
        if not of_shards:
            continue
        if len(different) > 1:
            of_files = different[0].file != different[1].file
            what = "plugin files" if of_files else "versions of what its plugin file imports"
            raise InputError(
                f"cannot merge {source.path}: scores by {signature} are of several {what} (with the "
                f"hashes {different[0]} and {different[1]}): score all shards by one of them, under a new "
                "version of the metric. Nothing was merged."
            )
        codes[signature] = different


def shard_rows(run: RunFile) -> list[ShardRow]:
    """How far every part is of all that was done in shards: jobs in their order, the parts by number.

    Counted in what the run holds, so that the order in which parts came, and how often, changes nothing.
    """
    if not run.exists:
        return []
    with run.reading() as db:
        return [row for job in _jobs(db) for row in job.rows()]


def own_shard_rows(view: View) -> list[ShardRow]:
    """How far a run that is a shard is with its own part of each job, jobs in their order.

    None for a run that is no shard, such as one that shards were joined in, and none of a job of which it
    holds other parts too.
    """
    numbers: dict[str, set[int]] = {}
    for work in shard_works(view.db, since_merge=True):
        numbers.setdefault(work.key, set()).add(work.shard.number)
    jobs = _jobs(view.db) if numbers else []
    return [job.row(number) for job in jobs for number in numbers.get(job.key, ()) if job.is_of(number)]


def _jobs(db: sqlite3.Connection) -> list["_Job"]:
    """All that was done in shards, jobs in their order."""
    jobs: dict[str, list[ShardWork]] = {}
    for work in shard_works(db) + whole_works(db):
        jobs.setdefault(work.key, []).append(work)
    if not jobs:
        return []
    items = items_by_id(db)
    in_order = sorted(jobs.items(), key=lambda entry: (entry[1][0].verb, _of_what(entry[1][0]), entry[0]))
    in_turn: list[_Job] = []
    for _, works in in_order:  # collects come first
        of_same = [job for job in in_turn if job.collects and job.of == works[0].shard.of]
        in_turn.append(_Job(db, works, items, of_same))
    return in_turn


class _Job:
    """What a run holds of one job, beside what it remembers of each part."""

    def __init__(
        self,
        db: sqlite3.Connection,
        works: Sequence[ShardWork],
        items: Mapping[int, Item],
        collected: Sequence["_Job"],
    ) -> None:
        self._db, self._items, self._job = db, items, works[-1]
        self.key, self.of = self._job.key, self._job.shard.of
        self.collects = self._job.verb == "collect"
        self._remembered: dict[int, list[ShardWork]] = {}
        for work in works:
            self._remembered.setdefault(work.shard.number, []).append(work)
        benchmark = self._job.job["benchmark"] if self.collects else None
        self._parts = parts_of(items, self._job.shard.of, benchmark)
        count = responses_by_part if self.collects else scores_by_part
        self._counts = count(db, self._job.job, self._parts)
        self._derived = Counter(n for key, n in self._parts.items() if items[key].origin is not None)
        self._n_items = Counter(self._parts.values())
        self._coverage = cache(self._coverage_by_part)
        self._unscored = cache(self._unscored_by_part)
        self._collected = collected
        self._empty = set() if self.collects else self._empty_parts()
        self._holds_exam = cache(self._has_whole_exam)

    def rows(self) -> list[ShardRow]:
        """A row for each part."""
        return [self.row(number) for number in range(1, self._job.shard.of + 1)]

    def is_of(self, number: int) -> bool:
        """Whether the run holds nothing of the job but the part of this number."""
        return all(part == number for part, _ in +self._counts)

    def row(self, number: int) -> ShardRow:
        """The row of the part of this number."""
        state, expected = self._state(number)
        return ShardRow(
            verb=self._job.verb,
            of_what=_of_what(self._job),
            shard=f"{number}/{self.of}",
            state=state,
            expected=expected,
            done=self._counts[number, False],
            failed=self._counts[number, True],
        )

    def _state(self, number: int) -> tuple[ShardState, int | None]:
        """How far a part is, and how much is expected of it."""
        if number in self._empty:
            return "complete", 0
        remembered = self._remembered.get(number)
        if not remembered:
            if self.has_come_whole(number):
                return "complete", self._counts[number, False]
            return "missing", None
        ended = [work for work in remembered if self._has_ended(work, is_latest=work is remembered[-1])]
        expected = (ended or remembered)[-1].expected
        return "complete" if ended and not self._counts[number, True] else "unfinished", expected

    def _has_ended(self, work: ShardWork, *, is_latest: bool) -> bool:
        """Whether the run holds what the part was to bring, and nothing that the part did not have then.

        A memory without these counts speaks where it is the latest. More than the part had then does no harm
        where all of it was asked, or scored.
        """
        number, bring = work.shard.number, work.expected or 0
        n = self._counts[number, False]
        if self.collects:
            as_then = is_latest if work.derived is None else self._derived[number] <= work.derived
            return (n >= bring and as_then) or self._all_asked(number)
        n += self._counts[number, True]
        if work.covered is None:
            return work.done and n >= bring and is_latest
        probe, formats, answers = work.covered
        now = self._coverage(probe, formats).get(number, work.covered).answers
        as_then = work.done and n >= bring and now <= answers
        return as_then or not self._unscored(probe, formats)[number]

    def _all_asked(self, number: int) -> bool:
        """Whether each item of a part has the answers of all candidates and repeats, in words."""
        return not self._job.job.get("for") and 0 < self._due(number) <= self._counts[number, False]

    def _due(self, number: int) -> int:
        job = self._job.job
        return int(self._n_items[number] * len(job["candidates"]) * job["repeats"])

    def has_come_whole(self, number: int) -> bool:
        """Whether a part that no shard brought is all here with a run of the whole exam.

        Of a score: whether the part was collected so, and all its answers have settled scores.
        """
        if number in self._remembered or self._counts[number, True]:
            return False
        if self.collects:
            return self._holds_exam() and (self._all_asked(number) or not self._due(number))
        return self._has_scored_whole(number)

    def _has_scored_whole(self, number: int) -> bool:
        works = (work for of_part in self._remembered.values() for work in of_part)
        covered = next((work.covered for work in works if work.covered), None)
        if not covered or not any(job.has_come_whole(number) for job in self._collected):
            return False
        all_collected = all(job.row(number).state == "complete" for job in self._collected)
        return all_collected and not self._unscored(covered.probe, covered.formats)[number]

    def _has_whole_exam(self) -> bool:
        """Whether the run holds all items of the exam; candidates are known by name with their settings."""
        exam = exam_digest(self._items[key] for key in self._parts)
        return not self._job.job.get("for") and exam == self._job.job.get("exam")

    def _coverage_by_part(self, probe: str, formats: tuple[str, ...]) -> Mapping[int, Covered]:
        return coverage_by_part(self._db, self._items, self._parts, probe, formats)

    def _unscored_by_part(self, probe: str, formats: tuple[str, ...]) -> Counter[int]:
        return unscored_by_part(self._db, self._job.job, self._items, self._parts, probe, formats)

    def _empty_parts(self) -> set[int]:
        """The parts in which the metric has nothing to score: no such item, and not for want of a collect."""
        filled = {self._parts[key] for key in _scorable(self._items, self._job)}
        empty = set(range(1, self._job.shard.of + 1)) - filled
        return empty.intersection(*(job._remembered.keys() for job in self._collected))


def _scorable(items: Mapping[int, Item], job: ShardWork) -> Iterable[int]:
    """The items that the job's metric can score: all of them where no such metric is registered here."""
    try:
        metric = registry.build("metric", job.job["metric"])
        return [key for key, item in items.items() if metric.applies_to(item)]
    except VivaError:
        return items


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
