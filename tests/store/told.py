"""What a model told of its probabilities, put into a run as a collect puts it there."""

import json
from collections.abc import Mapping
from dataclasses import replace

from vivavoce.core.records import Response
from vivavoce.run.run import Run
from vivavoce.store.calls import CallRecord, ledger
from vivavoce.store.read import items_by_id
from vivavoce.store.write import put_candidates

__all__ = ["GIVEN", "tell"]

GIVEN = "given(after=question)"


def tell(run: Run, candidate: str, items: Mapping[str, float | None]) -> None:
    """By item of the benchmark `exam` the log-probability of its one reference, each with its call.

    Null stands for a reply that never came.
    """
    with run.file.writing() as db:
        put_candidates(db, {candidate: "candidate"})
    with ledger(run.file) as book:
        exam = (item for item in items_by_id(book.db).values() if item.benchmark == "exam")
        stored = {item.item: item for item in exam if not item.variant}
        for item, logprob in items.items():
            of_reference = {"logprob": logprob, "tokens": 2, "verbatim": 2}
            told = {"references": [of_reference], "tokeniser": "a tokeniser of some length", "truncated": 0}
            book.keep(
                CallRecord(
                    *(f"key of {item}", candidate, "fake", 1, "loglikelihood", "probe", "ok", 1, 0.5, 7, 0),
                    *(0.25, None, "{}"),
                )
            )
            response = Response(benchmark="exam", item=item, candidate=candidate, probe=GIVEN)
            if logprob is None:
                book.put(stored[item], replace(response, status="failed", error="timeout"), None)
            else:
                meta = {"asked": f"key of {item}"}
                book.put(stored[item], replace(response, logprobs=json.dumps(told), meta=meta), None)
