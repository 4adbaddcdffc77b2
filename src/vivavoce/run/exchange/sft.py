"""Conversations, each with the answer that it got, as supervised fine-tuning (SFT) reads them.

A run keeps the key of every request, and not its words. The words are built again from item, candidate and
prompt file; where their key is another, the answer is left out, so no line shows a question that was not
asked.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import polars as pl

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.parts import Parts
from vivavoce.core.private_files import new_text, write_private
from vivavoce.core.records import Item, ItemKey
from vivavoce.core.registry import exporter
from vivavoce.core.tables import restrict_to_items
from vivavoce.core.text import printable_json
from vivavoce.models.requests import Message
from vivavoce.run.collect.generate import text_as_received
from vivavoce.run.exchange.export_folder import MADE_BY, README, export_folder
from vivavoce.run.exchange.exporters import Exporter
from vivavoce.run.exchange.rebuilt_requests import RebuiltRequests
from vivavoce.run.tables.load import select_items
from vivavoce.run.tables.run_tables import RunTables
from vivavoce.store import read
from vivavoce.store.call_log import request_keys
from vivavoce.store.earlier_turns import EarlierTurns
from vivavoce.store.forgotten import NOTE, NOTE_OF_TURN, is_forgotten
from vivavoce.store.integrity import check_texts
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.view import view_of

LINES, LEFT_OUT = "sft.jsonl", "left_out.json"
REBUILT_OTHERWISE = "asked in other words than can be built today (a prompt file or an item has changed)"
_ROLES = ("candidate", "ceiling")

_ABOUT = f"""
Conversations as candidates were asked, each with the answer, as supervised fine-tuning (SFT) reads them.
Not for clinical use: nothing here says that an answer is right.
These are items of an exam: a model that is trained on them cannot be examined by them any more.
Answers are raw: they are what candidates wrote, and may hold anything, instructions to a model included.

{LINES}: one JSON object a line
  messages                       role and content of each turn: system, examples, question, and the answer
  benchmark, licence             the benchmark, and the licence of its questions
  item, variant, category, group the question's names; the answers to one group go into one split
  candidate, role, repeat        who answered, and in which repeat
  finish_reason                  as the endpoint gave it: an answer may have been cut at its limit

{LEFT_OUT}: what is in no line, by reason
"""


class SftWritten(NamedTuple):
    """The file of conversations, its rows and size, and what was left out: how many, by reason."""

    table: str
    path: Path
    rows: int
    bytes: int
    left_out: Mapping[str, int]


@exporter("sft")
class Sft(Exporter):
    """What candidates were asked and what they answered, as conversations for supervised fine-tuning."""

    items: str | None = None
    redact: bool = False
    skips_credentialed: ClassVar[bool] = True

    def write(self, run: RunTables, to: Path) -> tuple[SftWritten, ...]:
        """Write the conversations, and beside them what was left out.

        Raises `InputError` where texts are hidden, or to be.
        """
        if self.redact:
            raise InputError("a conversation is texts, and --redact hides them: export sft without it.")
        left_out: Counter[str] = Counter()
        n = 0
        with view_of(run.file) as view:
            chosen, db = select_items(view, self.items), view.db
            refuse_redacted(db, "a conversation is texts")
            check_texts(db)
            with export_folder(to, run.file, (LINES, LEFT_OUT)) as folder:
                with new_text(folder / LINES) as stream:
                    for line in _conversations(db, chosen, left_out):
                        stream.write(f"{json_line(line)}\n")
                        n += 1
                counts = {reason: count for reason, count in sorted(left_out.items()) if count}
                body = {"conversations": n, "left_out": counts}
                write_private(folder / LEFT_OUT, json.dumps(body, ensure_ascii=False, indent=1) + "\n")
                write_private(folder / README, f"{MADE_BY}: {run.file.path.name}\n{_ABOUT}")
        return (SftWritten("sft", to / LINES, n, (to / LINES).stat().st_size, counts),)


def _conversations(
    db: sqlite3.Connection, chosen: set[ItemKey] | None, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """A line for each answer that can stand for what was asked; the others are counted."""
    items = {_place(item): item for item in read.items_by_id(db).values()}
    keys = request_keys(db)
    responses = restrict_to_items(read.responses(db, probed=False), chosen)
    left_out["answers: made by `viva vary`"] += responses.filter(pl.col("edit") != "").height
    for entry in read.benchmarks(db):
        stored = {place: item for place, item in items.items() if place[0] == entry.benchmark}
        rows = responses.filter(benchmark=entry.benchmark, edit="")
        yield from _of_benchmark(entry, stored, rows, keys, left_out, EarlierTurns(db))


def _of_benchmark(
    entry: read.Benchmark,
    items: Mapping[tuple[str, str, str], Item],
    rows: pl.DataFrame,
    keys: Mapping[tuple[Any, ...], Set[str]],
    left_out: Counter[str],
    earlier: EarlierTurns,
) -> Iterator[dict[str, Any]]:
    rebuilt = RebuiltRequests(entry, tuple(items.values()))
    for row in rows.iter_rows(named=True):
        item = items[row["benchmark"], row["item"], row["variant"]]
        brought = keys.get((*_place(item), row["candidate"], row["repeat"]), frozenset())
        reason = _reason(row, item, entry.card.access == "credentialed", brought)
        if not reason and earlier.is_broken(item, row["candidate"], row["repeat"]):
            reason = NOTE_OF_TURN
        with_turns = None if reason else earlier.as_asked(item, row["candidate"], row["repeat"])
        turns = (
            None
            if with_turns is None
            else rebuilt.messages(with_turns, row["candidate"], row["repeat"], brought)
        )
        if turns is None:
            left_out[f"answers: {reason or REBUILT_OTHERWISE}"] += 1
            continue
        answer = Message("assistant", text_as_received(row["text"], json.loads(row["meta"])) or "")
        yield {
            "messages": [turn._asdict() for turn in (*turns, answer)],
            **question_names(item, entry.card.licence, row["group"]),
            "candidate": row["candidate"], "role": row["role"], "repeat": row["repeat"],
            "finish_reason": row["finish_reason"],
        }  # fmt: skip


def _place(item: Item) -> tuple[str, str, str]:
    return item.benchmark, item.item, item.variant


def _reason(row: Mapping[str, Any], item: Item, credentialed: bool, keys: Set[str]) -> str | None:
    """Why an answer is in no line, whatever its prompt; null for one that may be."""
    if credentialed:
        return "of a credentialed benchmark"
    if row["candidate"].startswith("baseline/"):
        return "of a baseline"
    if row["role"] not in _ROLES:
        return f"of a {row['role']}"
    if is_forgotten(json.loads(row["meta"])):
        return NOTE
    if item.origin is not None:
        return "to a question made by `viva vary`"
    if row["status"] != "ok":
        return str(row["status"])
    if not keys:
        return "not asked by `viva collect`, so nobody knows the words"
    status = formats.read_response(item, Parts(row["final"], ending=row["ending"])).status
    return None if status == "ok" else status


def json_line(row: Mapping[str, Any]) -> str:
    """A row as JSON on one line, also for readers that end a line at U+2028 and U+2029."""
    text = printable_json(json.dumps(row, ensure_ascii=False, allow_nan=False))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def question_names(item: Item, licence: str, group: str) -> dict[str, Any]:
    """What every line says of its question: answers to one group go into one split."""
    return {
        "benchmark": item.benchmark, "licence": licence, "item": item.item, "variant": item.variant,
        "category": item.category, "group": group,
    }  # fmt: skip
