"""Status of a run: what it holds, what is missing and why, and what calls to models cost."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from shlex import join
from typing import Any

from vivavoce.core import registry
from vivavoce.core.cases import count_cases
from vivavoce.core.records import Finding
from vivavoce.core.specs import Spec, parse
from vivavoce.models.engine.advice import advice
from vivavoce.models.engine.refusals import unnumbered
from vivavoce.people import KEY_EVENT
from vivavoce.run.shards.joining import as_json, own_shard_rows
from vivavoce.run.shards.own_part import items_to_score
from vivavoce.run.tables.answer_integrity import answer_integrity
from vivavoce.run.tables.load import load_scores
from vivavoce.run.tables.requests import load_requests
from vivavoce.store import read
from vivavoce.store.build_steps import build_steps
from vivavoce.store.call_log import call_totals, failed_calls
from vivavoce.store.cases import run_cases
from vivavoce.store.exclusions import exclusion_lists
from vivavoce.store.forgotten import forgotten
from vivavoce.store.retirement import measure_words
from vivavoce.store.run_counts import scores_by_measure
from vivavoce.store.view import View
from vivavoce.studies.answer_integrity import integrity_lines, not_whole
from vivavoce.studies.answers import BLANK
from vivavoce.studies.comparing.status import OF_RESPONSES, status
from vivavoce.studies.comparing.status_lines import forgotten_lines, missing_line, retired_lines, shard_lines


def run_status(view: View) -> Finding:
    """What the run holds: questions and cases, scores with what is missing and why, and calls to models."""
    table = load_scores(view, twins=True)
    responses = read.responses(view.db, columns=OF_RESPONSES, derived={"blank": BLANK})
    calls, cases = calls_with_causes(view.db), count_cases(run_cases(view.db))
    exclusions = [entry.counts for entry in exclusion_lists(view.db)]
    finding = status(
        responses,
        table.scores,
        table.measures,
        load_requests(view),
        calls,
        only=items_to_score(view, table),
        probes=table.probes,
        cases=cases,
        exclusions=exclusions,
    )
    facts = (step.facts for step in build_steps(view.db))
    built = [{"about": "build", **{k: v for k, v in row.items() if k != "notes"}} for row in facts]
    rows = (
        *(
            *finding.rows,
            *_open_requests(view, finding.rows),
            *not_whole(answer_integrity(view)),
            *_retired(view),
            *_forgotten(view),
        ),
        *(*_judgements(view.db), *built, *as_json(own_shard_rows(view))),
    )
    of_rows = (*shard_lines(rows), *integrity_lines(rows), *retired_lines(rows), *forgotten_lines(rows))
    text = "\n".join([*of_rows, finding.text])
    return replace(finding, rows=rows, text=text, headline=missing_line(rows))


def _forgotten(view: View) -> list[dict[str, Any]]:
    """A row for what the run was told to forget; nothing where it was told nothing."""
    gone = view.fetch(forgotten)
    return [{"about": "forgotten", **gone._asdict(), "text": gone.text}] if gone.last else []


def _retired(view: View) -> list[dict[str, Any]]:
    """A row for each measure that is retired: it counts nowhere else here."""
    n_scores = view.fetch(scores_by_measure)
    return [
        {
            "about": "retired",
            "metric": entry.measure.metric,
            "criterion": entry.measure.criterion.criterion,
            "rater": entry.measure.rater,
            "signature": entry.measure.signature,
            "words": measure_words(entry.measure),
            "scores": n_scores.get(entry.key, 0),
            "since": entry.made_at,
        }
        for entry in view.fetch(read.retired_measures)
    ]


def _open_requests(view: View, rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row per collect that candidates have answers left to give of, with the command that asks for them.

    `rows` are those of a status. A collect is named by the last one of its benchmark and candidates; a gap of
    which the run knows no collect, such as one of imported answers, has no row.
    """
    gaps = {
        (row["benchmark"], row["candidate"]): row["never_asked"]
        for row in rows
        if row["about"] == "marks" and row["never_asked"]
    }
    if not gaps:
        return
    names = {benchmark.spec: benchmark.benchmark for benchmark in view.fetch(read.benchmarks)}
    for record in reversed(read.verb_records(view.db, "collect", "what was collected")):
        places = [(names.get(record["benchmark"], ""), name) for name in record["candidates"]]
        if n := sum(gaps.pop(place, 0) for place in places):
            yield {
                "about": "request",
                "benchmark": places[0][0],
                "never_asked": n,
                "command": _command(str(view.path), record),
            }


def _command(path: str, record: Mapping[str, Any]) -> str:
    """The command line of a collect, as far as its record says."""
    specs = [parse(candidate) for candidate in record["candidates"]]
    # A label names the preset in place of the settings that the option brings.
    presets = [spec.settings["preset"] for spec in specs if "preset" in spec.settings]
    options = [
        *(("--model", _without_preset(spec)) for spec in specs),
        ("--repeats", record["repeats"] if record["repeats"] != 1 else None),
        ("--sample", record["sample"]),
        ("--draw", record.get("draw")),
        ("--preset", record["preset"] or next(iter(presets), None)),
        *(("--logprobs", _metric(probe)) for probe in record.get("for", ())),
    ]
    words = chain.from_iterable((name, str(setting)) for name, setting in options if setting is not None)
    return join(["viva", "collect", path, record["benchmark"], *words])


def _without_preset(spec: Spec) -> Spec:
    return Spec(spec.name, {name: value for name, value in spec.settings.items() if name != "preset"})


def _metric(probe: str) -> str:
    """A metric that makes these requests for log-likelihoods, as far as its name says."""
    return probe if registry.member("metric", probe) else "METRIC"


def _judgements(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """How far each rater of a panel is. A run without a panel loads nothing of the room of people."""
    if not read.event_texts(db, KEY_EVENT):
        return
    from vivavoce.people.stored_keys import read_keys
    from vivavoce.people.storing.judgements import progress
    from vivavoce.people.storing.store_reviews import read_adjudicated

    items = {(dispute.rater, dispute.task, dispute.place) for dispute in read_adjudicated(db).disputes}
    disputes = Counter((rater, task) for rater, task, _ in items)
    for p in (rater for key in read_keys(db).values() for rater in progress(db, key)):
        yield {"about": "judgements", "panel": p.panel, "task": p.task, "rater": p.rater, "done": p.n_done,
               "left": p.n_left, "disputed": disputes[p.rater, p.task]}  # fmt: skip


def calls_with_causes(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """The rows of `call_totals`; where calls failed, with the last cause and what to do about it."""
    failed = failed_calls(db)
    rows = call_totals(db)
    for row in rows:
        calls = failed.get((row["model"], row["endpoint"], row["purpose"]))
        if calls is None:
            continue
        last = list(calls.causes)[-1]
        equal = [n for cause, n in calls.causes.items() if unnumbered(cause) == unnumbered(last)]
        row |= {
            "last_cause": last,
            "last_cause_calls": sum(equal),
            "answered_since": calls.answered_since,
            "advice": advice(last),
        }
    return rows
