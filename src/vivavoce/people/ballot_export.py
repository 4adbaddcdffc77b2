"""What raters judged in the browser, as files for another run: one site sends them, another reads them.

Ranks and ratings are ballots as a packet's page saves them, for `viva panel read` in a run with the same
panel; reviews are lines for `viva import --ballots --task review`. A second pass stays where it is.
"""

import json
import sqlite3
from collections.abc import Iterator
from itertools import product
from typing import Any

from vivavoce.core.text import label
from vivavoce.people.key import Key
from vivavoce.people.question import Seen
from vivavoce.people.storing.judgements import Judgement, judgements
from vivavoce.people.tasks.review import WORDS
from vivavoce.people.tasks.verify import verified_answer
from vivavoce.store.rater_texts import newest_facts


def ballot_file(db: sqlite3.Connection, key: Key, rater: str) -> str:
    """The ballot of a rater as JSON; `key` has its texts, which the seals cover."""
    judged = zip(key.packets[rater], judgements(db, key, rater), strict=True)
    items = [_item(key, entry, judgement) for entry, judgement in judged if entry.pass_no == 1]
    body = {"schema": key.task.schema, "panel": key.panel, "rater": rater, "items": items}
    return json.dumps(body, ensure_ascii=False, indent=1)


def _item(key: Key, entry: Seen, judgement: Judgement) -> dict[str, Any]:
    question = entry.question
    reference = {} if key.task.rates_reference else {"reference": question.reference_text}
    answers = [
        {"label": label(n), "answer": answer.text, **judgement.entries.get(label(n), {})}
        for n, answer in enumerate(entry.answers)
    ]
    return {
        "item": question.name,
        "seal": entry.seal,
        "question": question.prompt,
        **reference,
        "answers": answers,
        "remark": "",
    }


def fact_lines(db: sqlite3.Connection, key: Key) -> Iterator[str]:
    """The facts of a panel as lines of JSON, as `atomic_facts(checker=recorded(file=…))` reads them."""
    for rater, packet in key.packets.items():
        for entry in packet:
            question = entry.question
            facts = newest_facts(db, verified_answer(entry, rater)) if entry.pass_no == 1 else []
            for candidate, (k, fact) in product(entry.answers[0].candidates, enumerate(facts, 1)):
                evidence = [{"source": fact["source"], "quote": fact["quote"]}] if fact["quote"] else []
                row = {
                    "benchmark": question.benchmark, "item": question.item, "variant": question.variant,
                    "candidate": candidate, "repeat": question.repeats[candidate], "unit": f"{rater} {k}",
                    "text": fact["fact"], "verdict": fact["verdict"] or None, "source": fact["source"],
                    "evidence": evidence, "rater": rater,
                }  # fmt: skip
                yield json.dumps(row, ensure_ascii=False) + "\n"


def review_lines(db: sqlite3.Connection, key: Key) -> Iterator[str]:
    """The reviews of a panel as lines of JSON, by rater and in their order."""
    for rater, packet in key.packets.items():
        for entry, judgement in zip(packet, judgements(db, key, rater), strict=True):
            if entry.pass_no == 1 and judgement.version:
                entries = judgement.entries["A"]
                row = {"item": entry.question.item, "rater": rater}
                columns = ("category", *(criterion.criterion for criterion in key.task.criteria))
                row |= {column: "" if (e := entries.get(column)) is None else e for column in columns}
                words = {column: entries[column] for column in WORDS if entries.get(column)}
                yield json.dumps(row | words, ensure_ascii=False) + "\n"
