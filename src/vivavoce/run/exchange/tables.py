"""The tables of an export, and the README.txt that says what each column holds."""

import json
import sqlite3
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from vivavoce.core.records import ItemKey
from vivavoce.core.tables import SCORES
from vivavoce.run.exchange.export_folder import MADE_BY
from vivavoce.store import read
from vivavoce.store.call_log import call_rows
from vivavoce.store.evidence import evidence_rows
from vivavoce.store.exclusions import exclusion_rows

Estimates = Callable[[], Sequence[Mapping[str, Any]]]
"""Gives the rows of the table of estimates, where that is asked for."""


def frame(
    db: sqlite3.Connection, name: str, *, chosen: set[ItemKey] | None, estimates: Estimates
) -> pl.DataFrame:
    """The table of that name; what belongs to items only for those chosen, null choosing all."""
    if name == "estimates":
        return _estimates(estimates())
    table = _READ[name](db)
    place = ("benchmark", "item", "variant")
    if chosen is None or not set(place) <= set(table.columns):
        return table
    keys = pl.DataFrame(sorted(chosen), schema=dict.fromkeys(place, pl.String), orient="row")
    return table.join(keys, on=place, how="semi", maintain_order="left")


def _scores(db: sqlite3.Connection) -> pl.DataFrame:
    """The scores with what only an analyst asks for: probe, signature, parts and note."""
    keys = [(key, read.measure_probe(db, key), measure.signature) for key, measure in read.measures(db)]
    kinds = {"measure_id": pl.Int64, "probe": pl.String, "signature": pl.String}
    signed = pl.DataFrame(keys, schema=kinds, orient="row")
    frame = read.scores(db, details=True)
    joined = frame.join(signed, on="measure_id", how="left", validate="m:1", maintain_order="left")
    return joined.select(*SCORES, "category", "format", "probe", "signature", "parts", "note")


def _measures(db: sqlite3.Connection) -> pl.DataFrame:
    names = ("metric", "signature", "rater", "criterion", "low", "high", "direction", "if_unanswered", "pool",
             "smallest_difference", "retired")  # fmt: skip
    retired = {keyed.key for keyed in read.retired_measures(db)}
    rows = [
        {"metric": m.metric, "signature": m.signature, "rater": m.rater, **asdict(m.criterion),
         "retired": key in retired}
        for key, m in read.stored_measures(db)
    ]  # fmt: skip
    numbers = ("low", "high", "smallest_difference")
    kinds = {name: pl.Float64 if name in numbers else pl.String for name in names} | {"retired": pl.Boolean}
    return pl.DataFrame(rows, schema=kinds)


def _benchmarks(db: sqlite3.Connection) -> pl.DataFrame:
    names = ("benchmark", "spec", "signature", "description", "source", "revision", "revision_note",
             "licence", "access", "citation", "faults")  # fmt: skip
    rows = [
        {"benchmark": b.benchmark, "spec": b.spec, "signature": b.signature, **asdict(b.card)}
        for b in read.benchmarks(db)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String) | {"faults": pl.List(pl.String)})


def _findings(db: sqlite3.Connection) -> pl.DataFrame:
    return read.journal_rows(db, "findings")


def _provenance(db: sqlite3.Connection) -> pl.DataFrame:
    return read.journal_rows(db, "provenance")


_READ: Mapping[str, Callable[[sqlite3.Connection], pl.DataFrame]] = {
    "items": read.items,
    "responses": read.responses,
    "scores": _scores,
    "evidence": evidence_rows,
    "measures": _measures,
    "benchmarks": _benchmarks,
    "exclusions": exclusion_rows,
    "findings": _findings,
    "provenance": _provenance,
    "calls": call_rows,
}


_WORDS = ("benchmark", "candidate", "role", "metric", "criterion", "rater", "reason", "signature")


def _estimates(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Estimates as a table: nested values as JSON text, a column without a value as what it would hold."""
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(_WORDS, pl.String) | {"estimate": pl.Float64})
    flat = [
        {k: json.dumps(v, ensure_ascii=False) if isinstance(v, Mapping | list | tuple) else v
         for k, v in row.items()}
        for row in rows
    ]  # fmt: skip
    frame = pl.DataFrame(flat, infer_schema_length=None)
    return frame.with_columns(
        pl.col(name).cast(pl.String if name in _WORDS else pl.Float64)
        for name, kind in frame.schema.items()
        if kind == pl.Null
    )


_TABLES = {
    "items": "The questions: a row per item and variant.",
    "responses": "The answers, raw: a row per item, variant, candidate, repeat, edit and probe.",
    "scores": "The scores: a row per answer, measure, pass and ballot.",
    "evidence": "What scores rest on: a row per passage that a score was checked against.",
    "estimates": "What each candidate scored by each measure, with 95% intervals.",
    "measures": "What gave the scores: a row per criterion of a metric.",
    "benchmarks": "The exams, with source, licence and known faults.",
    "exclusions": "The rows of the exams' files that are no questions here, each with the reason.",
    "findings": "What was compared and studied, oldest first; each on its data is a test.",
    "provenance": "What was done to the run, oldest first.",
    "calls": "What was asked of models, oldest first: a row per request, with tokens and cost; no texts.",
}

MEANINGS = {
    "benchmark": "the exam",
    "item": "the question's id; variants share it",
    "variant": "the framing of the question; empty for the base item",
    "alias": "the id it was published under, where that differs",
    "group": "what must be resampled together: the label of the case",
    "outer_groups": "the groups that the declared group lies in, outermost first (a list)",
    "category": "the benchmark's own heading",
    "format": "how it is asked and read: mcq, true_false, list, short, longform …",
    "question": "what was asked; of a conversation the whole thread",
    "messages": "the messages of a conversation with who speaks, as JSON; a candidate answers the last",
    "follows": "the id of the turn before, behind whose answers this one is asked",
    "options": "what could be chosen (a list)",
    "answer": "the keyed answer of a closed format (a list)",
    "references": "the gold answers of an open format (a list)",
    "must": "statements that an answer must make (a list)",
    "nice": "statements that it would be good to make (a list)",
    "steps": "the reasoning, in order (a list)",
    "step": "the number of the wrong step, from 1",
    "false_answer": "a wrong answer that is shown and is to be explained",
    "rubric": "points that answers are scored by, each with its weight, as JSON",
    "context": "what is shown besides the question",
    "weight": "how many questions of the benchmark it stands for in a sample of them; 1 if all were asked",
    "source": "where it comes from. Evidence: the collection of documents, `context` or `citation`",
    "origin": "what made the item in this run; null for one of the exam",
    "meta": "further fields, as JSON",
    "candidate": "who answered",
    "role": "candidate, floor or ceiling; only candidates enter rankings",
    "repeat": "which of several answers to the same words, from 1",
    "edit": "what was done to the answer afterwards; empty if nothing",
    "probe": "what was asked of the model's probabilities; empty for an answer in words and its scores",
    "status": "answers, calls: ok (it arrived), filtered, failed. Scores: ok, unanswered, unreadable, "
    "failed, set_aside",
    "text": "the answer; null when its status is not ok, and where `logprobs` holds a record",
    "final": "what the answer says in the end: its text without thinking and marks of a chat",
    "ending": "how the answer ended: complete, cut (at a limit), thinking (cut before its thinking ended), "
    "filtered; null where nothing tells",
    "logprobs": "the log-likelihoods that were asked of the model, as JSON; null for an answer in words",
    "reasoning": "the candidate's thinking, where it came apart from the answer",
    "finish_reason": "why the answer ended",
    "tokens": "length of the answer, as the provider counted",
    "seconds": "how long it took",
    "cost": "in the provider's currency",
    "error": "why there is no answer",
    "metric": "the metric with its settings",
    "criterion": "which of the metric's scores",
    "rater": "who scored; empty for a rule",
    "pass_no": "which of several scores of the same answer by the same rater, from 1",
    "unit": "which piece of the answer; empty for the whole",
    "ballot": "scores that were given side by side share it",
    "position": "the place at which it was shown on the ballot",
    "value": "the score; null unless its status is ok",
    "signature": "all settings, version and hashes of files: two scores with one signature are comparable",
    "parts": "what the score is made of, as JSON",
    "note": "why there is no score, or what the rater said",
    "low": "measures: the least score possible. Estimates: the lower end of the 95% interval",
    "high": "measures: the greatest score possible. Estimates: the upper end of the 95% interval",
    "direction": "whether higher or lower is better",
    "if_unanswered": "what silence counts as: worst, set_aside or correct",
    "pool": "how scores combine",
    "smallest_difference": "the least difference that matters; null leaves it open",
    "retired": "whether it was taken out with `viva retire`: then no other table holds a score by it",
    "spec": "the words by which the benchmark is loaded",
    "description": "what the benchmark is",
    "revision": "which state of it",
    "revision_note": "why no revision is named",
    "licence": "under which terms it may be used",
    "access": "open, registered, credentialed or own",
    "citation": "what to cite",
    "faults": "what is known to be wrong with it (a list)",
    "file": "exclusions: the file of the exam in which the row stands. Evidence: the document of the passage",
    "version": "the hash of what was read of the source",
    "page": "the page of the document, from 1; null where it has none",
    "offset": "characters before the passage in the document's text, or in the page's; null where not known",
    "quote": "the passage, word for word",
    "bearing": "what the passage does to the unit: supports, contradicts, or shown (it only was shown)",
    "row": "the row's number in its file, or the id that it bears there",
    "made_at": "when, in UTC",
    "study": "which study, or compare",
    "settings": "what it was asked, as JSON",
    "rows": "what it found, as JSON",
    "model": "whom the request went to, as its endpoint calls it",
    "endpoint": "where it went: an address, or the kind of what runs here",
    "kind": "generate or loglikelihood",
    "purpose": "what it was asked for",
    "attempts": "how often the request was sent until something came of it",
    "input_tokens": "length of the request, as the endpoint counted",
    "output_tokens": "length of the reply, as the endpoint counted",
    "verb": "what was done",
    "body": "with which settings and files, as JSON",
    "view": "which look at the scores: their mean, the worst of several answers, the worst questions …",
    "n_vetoed": "answers over a red line",
    "estimate": "the candidate's score: the mean of its items, each the mean of its repeats",
    "estimate_common": "the estimate on the items that all candidates have a value for: it orders them",
    "n_common": "how many items these are",
    "n_expected": "answers that the candidate was asked for, or owes beside the others",
    "n_responses": "answers with a score in any state",
    "n_items": "items behind the estimate",
    "n_groups": "groups behind the estimate: they are what is counted on",
    "effective_cases": "degrees of freedom plus one: as many groups of equal size would tell as much",
    "coverage": "share of the expected scores that are ok",
    "n_unanswered": "answers that were blank, refused or withheld",
    "n_unreadable": "answers in no readable form",
    "n_set_aside": "answers to which the metric does not apply: in no mean, coverage and bound",
    "n_failed": "scores that failed: never averaged",
    "n_unscored": "answers without a score yet",
    "n_never_asked": "expected answers that were never asked for",
    "reason": "why a figure is null, or why a row was left out",
    "set_low": "the estimate if every failed score were the worst",
    "set_high": "the estimate if every failed score were the best",
    "bound_low": "the lower end of the interval around both",
    "bound_high": "the upper end of the interval around both",
    "estimate_kind": "scores as they are, or corrected by people's: prediction_powered, rogan_gladen",
    "judge_alone": "true where a judge's scores are not corrected by people's",
    "scale": "people or judge, of a comparison also log; null is the metric's own: orders hold on one scale",
    "stamp": "what is known of the judge; null where no judge gave the scores",
    "n_labelled": "items, or answers of another benchmark, that people scored",
    "lambda": "how far the estimate rests on the judge, 0 to 1",
    "estimate_judge": "the estimate by the judge alone",
    "estimate_people": "the estimate by people alone, on the items that they scored",
}

_CSV = """
How these CSV files are written: UTF-8 with a byte order mark, so that spreadsheets read accents; null is an
empty cell; a list is a JSON array; meta, parts, settings, rows and body are JSON.

A text that a spreadsheet could run as a formula begins with an added apostrophe ('). Such a text starts,
perhaps after blanks, unseen characters or quotation marks, with = + - @ or one of their wide forms, or
with a tab or a line end. Answers of models can be made to do harm when a table is opened, therefore the
rule has no exceptions for texts; columns of numbers are never touched. To get the text back, take the first
apostrophe away from a text that begins with one and is followed by such a start. Parquet holds
every text exactly as it was: use it where texts must be the same, as for importing them again.

A spreadsheet may still take a text such as 1-2 for a date: import the columns as text. A cell of Excel holds
at most 32,767 characters, and a longer text does not fit: it is cut, or runs on in the cells below. Parquet
holds it whole.
"""


_REDACTED = """
Texts are redacted: in place of the text of a question, its options, answers, references, steps and context,
of a candidate's answer, log-likelihoods and reasoning, of a note, an error, a quoted passage and of further
fields (meta, parts) stands a mark such as [redacted: 123 characters, hmac 1a2b3c4d]. Equal texts have equal
marks in these files; the key of the marks was thrown away. Texts under 16 characters are all
[redacted: short]. A record of log-likelihoods is such a text as a whole: its figures are redacted with it,
and no score can be computed again from these files. Numbers in other columns, ids, categories, labels of
candidates with their settings, findings and provenance stand as they are: look through them before you pass
this on.
"""

_CHOSEN = """
These are the tables of chosen items. Of calls, those that brought an answer in words to one of them are here.
A request about probabilities, and one to a judge, is kept under no item: such calls are left out, so that
what the calls here cost is not what these items cost.
"""


def readme(
    run: str, form: str, tables: Mapping[str, Sequence[str]], *, redact: bool = False, chosen: bool = False
) -> str:
    """The text for these tables with these columns; `chosen` if they are of some items only."""
    lines = [
        f"{MADE_BY}: {run}",
        "",
        "Not for clinical use: scores say how answers compare with a key, not what helps a patient.",
        "",
        *(
            _REDACTED.strip().splitlines()
            if redact
            else ["Answers are raw: they are what candidates wrote, and may hold anything."]
        ),
        *(_CHOSEN.rstrip().splitlines() if chosen and "calls" in tables else []),
    ]
    for table, columns in tables.items():
        lines += ["", f"{table}.{form}", f"  {_TABLES[table]}", ""]
        for column in columns:
            lines += textwrap.wrap(
                f"{column:20} {MEANINGS[column]}", 110, initial_indent="  ", subsequent_indent=" " * 23
            )
    return "\n".join(lines) + "\n" + (_CSV if form == "csv" else "")
