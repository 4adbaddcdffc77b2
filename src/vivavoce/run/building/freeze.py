"""The freeze: the exam as files that nobody changes any more."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.private_files import write_all_private
from vivavoce.core.records import Card, Finding, Item, ItemKey
from vivavoce.core.registry import build_recipe
from vivavoce.models.engine.client import ModelClient
from vivavoce.models.engine.counting_client import CountingClient
from vivavoce.run.building.counts import step_counts
from vivavoce.run.building.frozen_files import EXAM, frozen_files
from vivavoce.run.building.parts import REVIEW, Part, digest
from vivavoce.run.building.step import BuildRecipe, Drop, Step, StepResult, items_of
from vivavoce.run.building.stored_exam import FREEZE, exam_parts, store_single_step
from vivavoce.run.tables.reviews import read_reviews
from vivavoce.store import read
from vivavoce.store.build_steps import StoredStep
from vivavoce.store.forgotten import is_forgotten
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.store.write import put_provenance
from vivavoce.studies.reviewed_items import ReviewedItem, Reviews, category_of


class Terms(NamedTuple):
    """What is asked of an item: its mean relevance, its number of reviewers, and a look where one is due."""

    min_relevance: float = 0.0
    min_raters: int = 0
    unreviewed: bool = False


def select_reviewed(items: Sequence[Item], reviews: Reviews, terms: Terms) -> StepResult:
    """The items that may be frozen; the others are dropped, each with its reason."""
    by_place: dict[ItemKey, list[ReviewedItem]] = {}
    for entry in reviews.items:
        by_place.setdefault(entry.place, []).append(entry)
    parts: list[Part] = []
    dropped: list[Drop] = []
    for item in items:
        place: ItemKey = (item.benchmark, item.item, item.variant)
        entries = by_place.get(place) or [ReviewedItem(place, item.group, "", {}, {})]
        reason = _of_tasks(entries, reviews) or _of_terms(entries, terms)
        reason = reason or _of_waiting(item, entries, reviews, terms)
        if reason:
            dropped.append(Drop(item, *reason))
        else:
            parts.append(_as_reviewed(item, entries, reviews))
    return StepResult(parts, dropped)


def _as_reviewed(item: Item, entries: Sequence[ReviewedItem], reviews: Reviews) -> Item:
    """The item in the category, and of the difficulty, that most reviewers name in any of the tasks."""
    votes = {vote for entry in entries for vote in entry.categories.items()}
    category = category_of((name for _, name in votes), "")
    difficulty = reviews.difficulty.get(entries[0].place)
    meta = {**item.meta, "difficulty": difficulty} if difficulty else item.meta
    return replace(item, category=category or item.category, meta=meta)


_Reason = tuple[str, str]
"""A reason, one of few, and what it is about this item."""


def _verdict(entry: ReviewedItem, reviews: Reviews) -> float | None:
    """1 for correct, 0 for wrong, by adjudication or majority; null where nothing is decided."""
    return reviews.adjudicated.get(entry.place, entry.majority)


def _of_tasks(entries: Sequence[ReviewedItem], reviews: Reviews) -> _Reason | None:
    """Why an item is left out by what people said in any of the tasks in which they reviewed it."""
    return next((reason for entry in entries if (reason := _of_verdicts(entry, reviews))), None)


def _of_verdicts(entry: ReviewedItem, reviews: Reviews) -> _Reason | None:
    """Why an item is left out by what people said of its key."""
    if entry.place in reviews.disputed:
        return "a dispute about it is open", ""
    verdict = _verdict(entry, reviews)
    if verdict == 0:
        return "people found it wrong", ""
    return ("people are divided about it", "") if entry.correct and verdict is None else None


def _of_terms(entries: Sequence[ReviewedItem], terms: Terms) -> _Reason | None:
    """Why an item is left out by what is asked of every item."""
    n_raters = len({rater for entry in entries for rater in entry.raters})
    if n_raters < terms.min_raters:
        return f"fewer than {terms.min_raters} people reviewed it", f"{n_raters}"
    relevance = _relevance(entries)
    if terms.min_relevance and relevance is None:
        return "nobody said how relevant it is", ""
    if relevance is not None and relevance < terms.min_relevance:
        return f"its mean relevance is below {terms.min_relevance:g}", f"{relevance:.2f}"
    return None


def _of_waiting(
    item: Item, entries: Sequence[ReviewedItem], reviews: Reviews, terms: Terms
) -> _Reason | None:
    """Why an item is left out that somebody should look at first."""
    is_settled = any(_verdict(entry, reviews) is not None for entry in entries)
    waits = item.meta.get(REVIEW) and not is_settled and not terms.unreviewed
    return ("it waits for a person", "; ".join(item.meta[REVIEW])) if waits else None


def _relevance(entries: Sequence[ReviewedItem]) -> float | None:
    """The mean relevance of an item, null where nobody gave one."""
    values = [value for entry in entries for value in entry.relevance.values()]
    return mean(values) if values else None


@build_recipe(FREEZE)
class Freeze(BuildRecipe):
    """Write the exam to the folder `to`, once: exam.jsonl, exam.parquet, cards, its history, checksums.

    That is the exam under construction, or the questions that the run holds otherwise, as `viva import` or
    `viva collect` brought them; `exam` names them where they are of several benchmarks.

    Left out, with the reason, is what people found wrong or of a mean relevance below `min_relevance` (1 to
    5) or reviewed by fewer than `min_raters` people, what has an open dispute, and what waits for a person,
    unless `unreviewed` lets it in. `twins` takes the variants along that `viva vary` made of the items.
    """

    to: str
    min_relevance: float = 0.0
    min_raters: int = 0
    twins: bool = False
    unreviewed: bool = False
    licence: str = ""
    citation: str = ""
    exam: str = ""
    continues = True

    def steps(self) -> Mapping[str, Step]:
        """None: what is left out depends on what people said, and not on items alone."""
        return {}

    def run_on(
        self, run: RunFile, name: str, client: ModelClient, *, benchmark: str, until: str | None, seed: int
    ) -> Finding:
        """Write the files. Raises `InputError` where there is no exam, or the folder holds something."""
        folder = Path(self.to)
        if run.exists:
            with run.reading() as db:
                refuse_redacted(db, "an exam is texts")
        steps, items = _exam(run, self.exam)
        _refuse_overwriting(folder)
        terms = Terms(self.min_relevance, self.min_raters, self.unreviewed)
        result = select_reviewed(items, with_view(run, read_reviews, None), terms)
        frozen = items_of(result.parts)
        if not frozen:
            raise InputError(f"nothing is left to freeze: {_reasons(result)}.")
        frozen += _twins(run, frozen) if self.twins else []
        if isinstance(client, CountingClient):
            return _forecast(name, items, result, len(frozen))
        card, changes = self._card(run, frozen), _changes(run, frozen)
        step = store_single_step(run, name, str(self), items, result)
        contents = frozen_files(run, card, frozen, [*steps, step], changes)
        folder.mkdir(parents=True, exist_ok=True)
        write_all_private({folder / file: body for file, body in contents.items()})
        hashes = {item.name: item.hash for item in frozen}
        with run.writing() as db:
            body = {"to": folder.name, "revision": card.revision, "items": hashes}
            put_provenance(db, "freeze", body, changed=len(frozen))
        return _finding(folder, card, frozen, step, changes)

    def _card(self, run: RunFile, items: Sequence[Item]) -> Card:
        """The card of the exam with the hash of its items, and the licence and citation that were stated."""
        with run.reading() as db:
            (card,) = [b.card for b in read.benchmarks(db) if b.benchmark == items[0].benchmark]
        licence, citation = self.licence or card.licence, self.citation or card.citation
        return replace(card, revision=digest(items), revision_note=None, licence=licence, citation=citation)


def _exam(run: RunFile, name: str) -> tuple[list[StoredStep], list[Item]]:
    """The steps before any freeze, and the items that they made; without steps those of a benchmark."""
    steps, parts = exam_parts(run, (FREEZE,))
    if name and name not in {str(step.facts["benchmark"]) for step in steps}:
        return [], _of_benchmark(run, name)
    items = items_of(parts) if steps else _of_benchmark(run, name)
    if not items:
        raise InputError(f"{run.path} holds no item to freeze: the build has not come that far.")
    return steps, items


def _of_benchmark(run: RunFile, name: str) -> list[Item]:
    """The questions of a benchmark of the run, the only one where none is named, but for forgotten ones.

    Raises `InputError` where it is not clear which one is meant, and for one that is credentialed.
    """
    if not run.exists:
        raise InputError(f"{run.path} holds no exam under construction, and no other questions.")
    with run.reading() as db:
        cards = {entry.benchmark: entry.card for entry in read.benchmarks(db)}
        stored = [item for item in read.items_by_id(db).values() if item.origin is None]
    chosen = _chosen(run, name, list(cards))
    if cards[chosen].access == "credentialed":
        raise InputError(f"{chosen} is credentialed, and its questions may not become another exam's.")
    return [item for item in stored if item.benchmark == chosen and not is_forgotten(item.meta)]


def _chosen(run: RunFile, name: str, names: Sequence[str]) -> str:
    """The name of the benchmark that is meant. Raises `InputError` where that is not clear."""
    if not names:
        raise InputError(f"{run.path} holds no exam under construction, and no other questions.")
    if name not in names and (name or len(names) > 1):
        raise InputError(f"which exam is frozen: --exam is one of {', '.join(names)}.")
    return name or names[0]


def _refuse_overwriting(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} holds something already, and a frozen exam is never overwritten.")


def _twins(run: RunFile, items: Sequence[Item]) -> list[Item]:
    """The variants that the run holds of these items: in a frozen exam they are items of their own."""
    bases = {(item.benchmark, item.item) for item in items}
    with run.reading() as db:
        stored = read.items_by_id(db).values()
    return [replace(i, origin=None) for i in stored if i.origin and (i.benchmark, i.item) in bases]


def _reasons(result: StepResult) -> str:
    counts = Counter(drop.reason for drop in result.dropped)
    return ", ".join(f"{reason} ({n:,})" for reason, n in counts.items())


def _changes(run: RunFile, items: Sequence[Item]) -> dict[str, list[str]]:
    """The names of items that are new, changed and gone since the last freeze; all new in the first."""
    with run.reading() as db:
        earlier: list[dict[str, str]] = [b["items"] for b in read.provenance(db) if b["verb"] == "freeze"]
    before = earlier[-1] if earlier else {}
    now = {item.name: item.hash for item in items}
    return {
        "added": list(filterfalse(before.__contains__, now)),
        "changed": [name for name, value in now.items() if before.get(name, value) != value],
        "withdrawn": list(filterfalse(now.__contains__, before)),
    }


def _forecast(name: str, items: Sequence[Item], result: StepResult, n: int) -> Finding:
    """What a dry run of the freeze comes to."""
    row = {"recipe": name, "step": name, **step_counts(items, result), "requests": 0, "cost": 0.0}
    text = f"{n:,} items would be frozen, and {len(result.dropped):,} left out. Nothing was written."
    return Finding(study="build", rows=(row,), text=text)


def _finding(
    folder: Path, card: Card, items: Sequence[Item], step: StoredStep, changes: Mapping[str, Sequence[str]]
) -> Finding:
    row: dict[str, Any] = {name: value for name, value in step.facts.items() if name != "notes"}
    row |= {"path": str(folder / EXAM), "revision": card.revision}
    row |= {kind: len(names) for kind, names in changes.items()}
    text = (
        f"{len(items):,} items are frozen in {folder}; {row['dropped']:,} stay in the run, each with its "
        f"reason. Read them with jsonl(path={folder / EXAM})."
    )
    return Finding(study="build", rows=(row,), text=text)
