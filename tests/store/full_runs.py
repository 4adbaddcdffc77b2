"""Runs that hold something in every table, all by the names of items: any division gives the same rows."""

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.studies.making import exam

import vivavoce as viva
from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Criterion, Exclusion, Measure, Unit, Value
from vivavoce.run.run import Run
from vivavoce.store.exclusions import put_exclusions
from vivavoce.store.read import items_by_id
from vivavoce.store.requests import put_requests
from vivavoce.store.write import ScoreRow, put_measures, put_scores

CANDIDATES, REPEATS, PASSES = ("A", "B", "C"), (1, 2), (1, 2)
MEASURES = {
    name: Measure(metric=name, signature=f"{name}()@1", rater=rater, criterion=Criterion(criterion=criterion))
    for name, rater, criterion in (("claims", "checker", "supported"), ("panel", "Ann", "quality"))
}
TIME = "2026-01-01T00:00:00.000Z"
_RESPONSES = (
    "SELECT response_id, item, candidate, repeat FROM responses JOIN items USING (item_id) "
    "JOIN candidates USING (candidate_id) WHERE status = 'ok' ORDER BY response_id"
)


def item_names(n: int) -> list[str]:
    """So many names of items, in their order."""
    return [f"q{number:04}" for number in range(n)]


def shared_exam(folder: Path, n: int) -> str:
    """The spec of a benchmark of so many items, which all runs of a division are on."""
    items = [
        {"item": name, "group": f"case {k // 2}", "category": f"c{k % 3}", "weight": 1.0 + k % 3}
        for k, name in enumerate(item_names(n))
    ]
    return exam(folder, items)


def full_run(path: Path, spec: str, items: Sequence[str], *, failures: str = "") -> Run:
    """A run of these items of the benchmark: answers and failures, scores, calls, findings and events.

    Another word for `failures` lets other answers and scores fail.
    """
    run = viva.open(path)
    run.import_answers(list(_answers(items, failures)), benchmark=spec)
    run.score("exact")
    with run.file.writing() as db:
        keys = put_measures(db, MEASURES.values())
        responses = db.execute(_RESPONSES).fetchall()
        claims = [row for response in responses for row in _claims(*response, failures)]
        panel = [row for response in responses for row in _panel(*response)]
        db.executemany(  # put_scores numbers new ballots in the order of a set
            "INSERT INTO ballots (ballot) VALUES (?) ON CONFLICT DO NOTHING", [(row.ballot,) for row in panel]
        )
        for key, rows in zip(keys, (claims, panel), strict=True):
            put_scores(db, key, rows)
        exclusions = [Exclusion("exam.jsonl", 999, "no question"), Exclusion("exam.jsonl", "x", "no answer")]
        put_requests(db, [i for i in items_by_id(db).values() if i.item in items], CANDIDATES, repeats=2)
        put_exclusions(db, "exam", exclusions, spec=spec, signature="exam@1", items=1)
        db.executemany(
            "INSERT INTO calls (made_at, key, model, endpoint, repeat, kind, purpose, status, attempts, "
            "seconds, response_id) VALUES (?, ?, ?, 'fake', ?, 'generate', 'collect', 'ok', 1, 0.5, ?)",
            [
                (TIME, f"key of {item}", candidate, repeat, response)
                for response, item, candidate, repeat in responses
            ],
        )
        db.executemany(
            "INSERT INTO findings (made_at, study, settings, rows) VALUES (?, 'look', ?, '[]')",
            [(TIME, json.dumps({"item": item})) for item in items],
        )
        db.executemany(
            "INSERT INTO events (made_at, kind, body) VALUES (?, 'seen', ?)",
            [(TIME, json.dumps({"item": item})) for item in items],
        )
    return run


def _share(*names: object) -> float:
    """A number from 0 to 1 that these names give on every machine."""
    return zlib.crc32(repr(names).encode()) / 2**32


def _answers(items: Sequence[str], failures: str) -> Iterator[dict[str, Any]]:
    for item in items:
        for candidate in CANDIDATES:
            for repeat in REPEATS:
                key = (item, candidate, repeat)
                text = None if _share("failure", failures, *key) < 0.1 else f"answer {_share(*key):.3f}"
                yield {"item": item, "candidate": candidate, "repeat": repeat, "text": text}


def _claims(response: int, item: str, candidate: str, repeat: int, failures: str) -> Iterator[ScoreRow]:
    """Two units, which rest on passages that others rest on too; some failed."""
    for number in (1, 2):
        share = _share("claim", item, candidate, repeat, number)
        passage = Evidence("leaflets", "9f3a", "a.pdf", number, 7, f"Passage {share:.1f}.", "supports")
        value = Value(share, {"part": share / 2}, f"note {share:.2f}", evidence=(passage,) * number)
        if _share("failed claim", failures, share) < 0.1:
            value = Value(None, note="timeout", status="failed")
        yield ScoreRow(response, value, unit=Unit(unit=str(number), text=f"Claim {share:.2f} of {item}."))


def _panel(response: int, item: str, candidate: str, repeat: int) -> Iterator[ScoreRow]:
    """Two passes, each on a ballot of the item with its place there."""
    for pass_no in PASSES:
        value = Value(round(_share("panel", item, candidate, repeat, pass_no)))
        place = 1 + CANDIDATES.index(candidate)
        yield ScoreRow(response, value, pass_no, f"ballot {pass_no} of {item}, {repeat}", place)
