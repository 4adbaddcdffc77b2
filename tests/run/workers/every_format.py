"""A run with an item of every format, answered well, badly, not at all and not readably."""

from pathlib import Path
from typing import Any

from vivavoce.core import registry
from vivavoce.core.records import Card, Response
from vivavoce.logprobs.requests import requests_of
from vivavoce.run.run import Run, open_run
from vivavoce.store.item_rows import item_keys
from vivavoce.store.write import put_benchmark, put_candidates, put_responses
from vivavoce.testing.metric import _items, _logprob_row, _responses

CANDIDATES = ("A", "B", "C")
BAD = ("", "<think>never closed", "I cannot help with that.", "\x1b[31m\x00 ⚕ ﷽ 'quoted'; DROP TABLE scores")
"""A blank, what cannot be read, a refusal and hostile text."""


def answered(path: Path, specs: tuple[str, ...]) -> Run:
    """A run of these items; log-probabilities are there for those of the specs that score them."""
    items = list(_items())
    responses = []
    for item in items:
        texts = [*_responses(item), *BAD]
        for k, candidate in enumerate(CANDIDATES):
            said: list[dict[str, Any]] = [{"text": text} for text in texts[k:] + texts[:k]]
            said.append({"text": None, "status": "failed", "error": "it did not arrive"})
            responses += [
                Response(
                    benchmark=item.benchmark, item=item.item, candidate=candidate, repeat=repeat,
                    **{"meta": {"confidence": 0.1 * (repeat % 10)} if repeat % 2 else {}, **words},
                )
                for repeat, words in enumerate(said, 1)
            ]  # fmt: skip
    responses += probed(specs)
    run = open_run(path)
    card = Card(
        name="example", description="d", source="s", revision_note="made here", licence="l", citation="c"
    )
    with run.file.writing() as db:
        put_benchmark(db, card, items, spec="example()", signature="example()@1")
        candidates = put_candidates(db, dict.fromkeys(CANDIDATES, "candidate"))
        put_responses(db, responses, items=item_keys(db, items[0].benchmark), candidates=candidates)
    return run


def probed(specs: tuple[str, ...]) -> list[Response]:
    """The records of log-probabilities that these metrics score, each kind once for an item."""
    records = {}
    for spec in specs:
        metric = registry.build("metric", spec)
        if requests := requests_of(metric):
            for item in filter(metric.applies_to, _items()):
                row = _logprob_row(requests, item)
                for candidate in CANDIDATES:
                    response = row.response
                    record = Response(
                        benchmark=response.benchmark, item=response.item, candidate=candidate,
                        probe=response.probe, logprobs=response.logprobs,
                    )  # fmt: skip
                    records[requests.name, item.item, candidate] = record
    return list(records.values())


def stored_scores(run: Run) -> list[tuple[Any, ...]]:
    """Every score of a run with all that is stored of it, and what it rests on, in the order of its keys."""
    sql = (
        "SELECT m.signature, m.criterion, s.response_id, u.unit, u.text, u.weight, s.pass_no, s.value, "
        "s.status_id, s.parts, s.note FROM scores s JOIN measures m USING (measure_id) "
        "JOIN units u USING (unit_id) ORDER BY 1, 2, 3, 4, 5, 7"
    )
    with run.file.reading() as db:
        return db.execute(sql).fetchall() + sorted(db.execute("SELECT * FROM evidence_rows"), key=repr)
