"""Forgetting questions and answers: their texts are overwritten, and what is left of the run goes on.

Overwriting is one transaction; writing the pages of the file anew comes after it. A run that was killed
between the two says so, and the same command ends what was begun.
"""

import hashlib
import json
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.cases import place_of
from vivavoce.core.errors import InputError
from vivavoce.core.private_files import clear_abandoned
from vivavoce.core.records import Finding, Item, Response
from vivavoce.run.exchange.redacted_run import ending_in_thinking, likeness, redacted_item, redacted_json
from vivavoce.store import forgetting
from vivavoce.store.cases import NEAR_PAIRS, near_pairs
from vivavoce.store.forgetting_selection import (
    MOST_NAMED,
    answer_keys,
    answer_place,
    candidate_keys,
    item_keys,
)
from vivavoce.store.forgotten import FORGOTTEN, REWRITTEN, forgotten_meta, is_forgotten, unfinished
from vivavoce.store.integrity import refuse_damaged
from vivavoce.store.read import events
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.rewriting import rewrite_items, rewrite_rows
from vivavoce.store.runfile import RunFile, overwrite_deleted
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_event, put_provenance
from vivavoce.studies.text import and_so, count

_KEPT = ("confidence", "origin", "assist", "seconds")
"""Fields of a response's `meta` that are no texts: figures rest on them."""


class Selection(NamedTuple):
    """What a user wants forgotten: questions by id, answers of candidates, or single answers."""

    items: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The name of the one way to select that is used. Raises `InputError` for none, and for several."""
        used = [name for name in ("items", "candidates", "responses") if getattr(self, name)]
        if len(used) != 1:
            raise InputError(
                "name what to forget in one way: --item ID (a question and all answers to it), --candidate "
                "NAME (all answers of it), or --response CANDIDATE:ITEM (one answer)."
            )
        return used[0]


_KEYS = {"items": item_keys, "candidates": candidate_keys, "responses": answer_keys}


class _DryRun(Exception):
    """Nothing is to be stored."""


def forget(
    file: RunFile, chosen: Selection, *, keep_hashes: bool, drop_scores: bool, dry_run: bool = False
) -> Finding:
    """Overwrite the texts of what is chosen; a row for each kind of thing with how many were overwritten.

    What is forgotten already stays so. The hashes of the texts go, unless `keep_hashes`; scores stay, unless
    `drop_scores`. Raises `SelectionError` for a name that selects nothing or several things, and for a
    question whose words stand in another one too; `InputError` for a redacted copy; `RunNotFound` where no
    run is; `StoreError` for a damaged run, and where the file's pages cannot be written anew.
    """
    kind = chosen.kind
    with file.reading():  # refuses where there is no run: writing would make one
        pass
    done: Counter[str] = Counter()
    same: list[str] = []
    try:
        with file.writing() as db:
            overwrite_deleted(db)
            refuse_damaged(db, "Nothing was forgotten.")
            refuse_redacted(db, "nothing is left to forget")
            keys = _KEYS[kind](db, getattr(chosen, kind))
            forgetting.choose_rows(db, keys.items, keys.responses)
            same = list(forgetting.same_texts(db))
            done = overwrite(db, keep_hashes=keep_hashes, drop_scores=drop_scores)
            if dry_run:
                raise _DryRun
            if done:
                body = {"id": secrets.token_hex(8), "by": kind, "hashes": "kept" if keep_hashes else "gone",
                        "scores": "deleted" if drop_scores else "kept",
                        kind: list(getattr(chosen, kind)), "rows": dict(done)}  # fmt: skip
                put_event(db, FORGOTTEN, body)
                put_provenance(db, "forget", {"by": kind, "rows": dict(done)}, changed=sum(done.values()))
    except _DryRun:
        return _finding(done, same, dry_run=True)
    finish(file)
    return _finding(done, same, dry_run=False)


def finish(file: RunFile) -> bool:
    """Write the pages of the file anew where something was overwritten since; whether that was so."""
    with file.reading() as db:
        ids = unfinished(db)
    if ids:
        forgetting.rewrite_pages(file)
        with file.writing() as db:
            put_event(db, REWRITTEN, {"of": ids})
    clear_abandoned(file.path.parent)
    return bool(ids)


def overwrite(db: sqlite3.Connection, *, keep_hashes: bool, drop_scores: bool) -> Counter[str]:
    """Overwrite the texts of the rows that `forgetting.choose_rows` chose; how many of each kind."""
    names, words = forgetting.chosen_names(db), forgetting.words_of_chosen(db)
    pairs = _near_pairs(db, names)
    done: Counter[str] = Counter()
    units = _overwrite_items(db, done, keep_hashes=keep_hashes, scores=not drop_scores)
    _overwrite_responses(db, done, keep_hashes=keep_hashes, scores=not drop_scores)
    if not done:
        return done
    done += forgetting.overwrite_scores(db, units, drop=drop_scores)
    done += forgetting.overwrite_calls(db, words)
    done += forgetting.overwrite_journals(db, names, words)
    if pairs:
        put_event(db, NEAR_PAIRS, {"pairs": pairs})
    forgetting.settle(db, forgetting.chosen_responses(db))
    return +done


def _near_pairs(db: sqlite3.Connection, names: forgetting.Names) -> list[Any]:
    """The questions that are nearly those to be forgotten: no text will be left to find them by."""
    if not names.items:
        return []
    stored = [pair for body in events(db, NEAR_PAIRS) for pair in body["pairs"]]
    return [
        pair
        for pair in near_pairs(db) or ()
        if any((benchmark, item) in names.items for benchmark, item, _ in pair)
        and [list(key) for key in pair] not in stored
    ]


def _marks(*name: str) -> Callable[[str, object], str]:
    """Marks for the texts of one thing, by its name: of the texts they say only which are the same."""
    places: dict[tuple[str, str], int] = {}

    def mark(text: str, scope: object = "") -> str:
        if not text.strip():
            return text
        field = str(scope[0] if isinstance(scope, (tuple, list)) else scope)
        place = places.setdefault((field, text), len(places))
        content = json.dumps(["forgotten", *name, field, place]).encode("utf-8", "surrogatepass")
        return f"[redacted: {hashlib.sha256(content).hexdigest()[:32]}]"

    return mark


def _overwrite_items(
    db: sqlite3.Connection, done: Counter[str], *, keep_hashes: bool, scores: bool
) -> dict[tuple[str, str], str]:
    """Overwrite the chosen items; returns the marks of the points of their rubrics by name and text."""
    units: dict[tuple[str, str], str] = {}
    first: dict[object, tuple[str, ...]] = {}

    def fields(item: Item, key: int) -> Mapping[str, object]:
        if is_forgotten(item.meta):
            return {"meta": json.dumps(dict(item.meta))}
        content = place_of(item).content
        name = item.benchmark, item.item, item.variant
        mark = _marks(*first.setdefault(content or key, name))
        new = redacted_item(item, key, mark)
        for point, gone in zip(item.rubric, json.loads(str(new["rubric"])), strict=True):
            units[point.unit, point.text] = gone["text"]
        done["questions"] += 1
        digest = item.hash if keep_hashes else None
        return {**new, "meta": json.dumps(forgotten_meta(digest, scores=scores))}

    rewrite_items(db, fields, forgetting.OF_ITEMS)
    return units


def _overwrite_responses(
    db: sqlite3.Connection, done: Counter[str], *, keep_hashes: bool, scores: bool
) -> None:
    marks: dict[tuple[int, int], Callable[[str, object], str]] = {}

    def replacement(key: int, *row: Any) -> Sequence[object]:
        text, final, reasoning, error, meta, logprobs, ending, item, candidate, finish_reason, digest = row
        details = stored_object(meta or "{}", "the details of a response")
        if is_forgotten(details):
            return row[:7]
        mark = marks.setdefault((item, candidate), _marks(*answer_place(db, item, candidate)))
        response = Response(
            benchmark="", item="", candidate="", text=text, final=final, reasoning=reasoning,
            finish_reason=finish_reason, meta=details,
        )  # fmt: skip
        done["answers" if logprobs is None else "log-probabilities"] += 1
        facts = {name: details[name] for name in _KEPT if name in details}
        gone = forgotten_meta(digest if keep_hashes else None, scores=scores)
        return (
            *(field and mark(field, name) for name, field in
              (("text", text), ("final", final), ("reasoning", reasoning), ("error", error))),
            json.dumps(facts | likeness(response) | gone, ensure_ascii=False),
            logprobs and redacted_json(logprobs, mark, "logprobs"),
            ending or ending_in_thinking(response),
        )  # fmt: skip

    columns = ("text", "final", "reasoning", "error", "meta", "logprobs", "ending")
    rewrite_rows(
        db, "responses", columns, replacement, "item_id", "candidate_id", "finish_reason", "hash",
        condition=forgetting.OF_RESPONSES,
    )  # fmt: skip


def _notes(same: Sequence[str]) -> tuple[str, ...]:
    if not same:
        return ()
    more = f" and {len(same) - MOST_NAMED} more" if len(same) > MOST_NAMED else ""
    return (f"Word for word the same, and still in the run: {and_so(same[:MOST_NAMED])}{more}.",)


def _text(done: Counter[str], verb: str) -> str:
    """What was overwritten, in a sentence."""
    named = [count(done[kind], kind.removesuffix("s")) for kind in ("questions", "answers") if done[kind]]
    texts = [f"the texts of {and_so(named)}"] if named else []
    more = [f"{n:,} {kind}" for kind, n in done.items() if n and kind not in ("questions", "answers")]
    return f"{verb} {', and '.join([*texts, *([and_so(more)] if more else [])])}."


def _finding(done: Counter[str], same: Sequence[str], *, dry_run: bool) -> Finding:
    rows = tuple({"about": kind, "n": n} for kind, n in done.items() if n)
    notes = _notes(same)
    if not rows:
        return Finding(study="forget", rows=(), text="All of that is forgotten already.", notes=notes)
    text = _text(done, "Would overwrite" if dry_run else "Overwrote")
    end = (
        "Nothing was changed." if dry_run else
        "This cannot be undone here. Backups, exports, reports and packets made before still hold the texts."
    )  # fmt: skip
    return Finding(study="forget", rows=rows, text=f"{text} {end}", notes=notes)
