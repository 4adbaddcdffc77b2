"""The README.txt of an export: what the files are, and what stands in each column."""

import textwrap
from collections.abc import Mapping, Sequence

__all__ = ["MADE_BY", "MEANINGS", "readme"]

MADE_BY = "Tables of a vivavoce run"
"""The first words of the file, by which an earlier export is known."""

_TABLES = {
    "items": "The questions: a row per item and variant.",
    "responses": "The answers, raw: a row per item, variant, candidate, repeat, edit and probe.",
    "scores": "The marks: a row per answer, measure, pass and ballot.",
    "estimates": "What each candidate scored by each measure, with 95% intervals.",
    "measures": "What gave the marks: a row per criterion of a metric.",
    "benchmarks": "The exams, with source, licence and known faults.",
    "findings": "What was compared and studied, oldest first; every comparison counts as a look.",
    "provenance": "What was done to the run, oldest first.",
    "calls": "What was asked of models, oldest first: a row per request, with tokens and cost; no texts.",
}

MEANINGS = {
    "benchmark": "the exam",
    "item": "the question's id; variants share it",
    "variant": "the framing of the question; empty for the base item",
    "alias": "the id it was published under, where that differs",
    "group": "what must be resampled together",
    "category": "the benchmark's own heading",
    "format": "how it is asked and read: mcq, true_false, list, short, longform …",
    "question": "what was asked",
    "options": "what could be chosen (a list)",
    "answer": "the keyed answer of a closed format (a list)",
    "references": "the gold answers of an open format (a list)",
    "must": "statements that an answer must make (a list)",
    "nice": "statements that it would be good to make (a list)",
    "steps": "the reasoning, in order (a list)",
    "step": "the number of the wrong step, from 1",
    "false_answer": "a wrong answer that is shown and is to be explained",
    "rubric": "points that answers are marked by, each with its weight, as JSON",
    "context": "what is shown besides the question",
    "weight": "how many questions of the benchmark it stands for in a sample of them; 1 if all were asked",
    "source": "where it comes from",
    "origin": "what made the item in this run; null for one of the exam",
    "meta": "further fields, as JSON",
    "candidate": "who answered",
    "role": "candidate, floor or ceiling; only candidates enter rankings",
    "repeat": "which of several answers to the same words, from 1",
    "edit": "what was done to the answer afterwards; empty if nothing",
    "probe": "what was asked of the model's probabilities; empty for an answer in words and its marks",
    "status": "answers, calls: ok (it arrived), filtered, failed. Marks: ok, unanswered, unreadable, failed",
    "text": "the answer, of a probe what was told, as JSON; null exactly when its status is not ok",
    "reasoning": "the candidate's thinking, where it came apart from the answer",
    "finish_reason": "why the answer ended",
    "tokens": "length of the answer, as the provider counted",
    "seconds": "how long it took",
    "cost": "in the provider's currency",
    "error": "why there is no answer",
    "metric": "the metric with its settings",
    "criterion": "which of the metric's marks",
    "rater": "who marked; empty for a rule",
    "pass_no": "which of several marks of the same answer by the same rater, from 1",
    "unit": "which piece of the answer; empty for the whole",
    "ballot": "marks that were given side by side share it",
    "position": "the place at which it was shown on the ballot",
    "value": "the mark; null unless its status is ok",
    "signature": "all settings, version and hashes of files: two marks with one signature are comparable",
    "parts": "what the mark is made of, as JSON",
    "note": "why there is no mark, or what the rater said",
    "low": "measures: the least mark possible. Estimates: the lower end of the 95% interval",
    "high": "measures: the greatest mark possible. Estimates: the upper end of the 95% interval",
    "direction": "whether higher or lower is better",
    "if_unanswered": "what silence counts as: worst, set_aside or correct",
    "pool": "how marks combine",
    "smallest_difference": "the least difference that matters; null leaves it open",
    "spec": "the words by which the benchmark is loaded",
    "description": "what the benchmark is",
    "revision": "which state of it",
    "revision_note": "why no revision is named",
    "licence": "under which terms it may be used",
    "access": "open, registered, credentialed or own",
    "citation": "what to cite",
    "faults": "what is known to be wrong with it (a list)",
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
    "view": "which look at the marks: their mean, the worst of several answers, the worst questions …",
    "n_vetoed": "answers over a red line",
    "estimate": "the candidate's score: the mean of its items, each the mean of its repeats",
    "n_responses": "answers behind the estimate",
    "n_items": "items behind the estimate",
    "n_groups": "groups behind the estimate: they are what is counted on",
    "coverage": "share of the expected marks that are ok",
    "n_unanswered": "answers that were blank, refused or withheld",
    "n_unreadable": "answers in no readable form",
    "n_failed": "marks that failed: never averaged",
    "reason": "why a figure is null",
    "set_low": "the estimate if every failed mark were the worst",
    "set_high": "the estimate if every failed mark were the best",
    "bound_low": "the lower end of the interval around both",
    "bound_high": "the upper end of the interval around both",
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
of a candidate's answer and reasoning, of a note, an error and of further fields (meta, parts) stands a mark
such as [redacted: 123 characters, hmac 1a2b3c4d]. Equal texts have equal marks in these files; the key of the
marks was thrown away. Texts under 16 characters are all [redacted: short]. What a model told
of its probabilities is such a text as a whole: its figures are redacted with it, and no mark can be made anew
from these files. Numbers in other columns, ids, categories, labels of candidates with their settings,
findings and provenance stand as they are: look through them before you pass this on.
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
