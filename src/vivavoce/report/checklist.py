"""Reporting checklists for a paper on this run, as a file: TRIPOD-LLM and CHART.

TRIPOD-LLM is Gallifant et al., Nature Medicine 31, 60-69 (2025), doi 10.1038/s41591-024-03425-5: its items on
the evaluation of a model, by subject and without its numbers (`tripod_llm.md`). CHART is the CHART
Collaborative, BMJ Medicine 4, e001632 (2025), doi 10.1136/bmjmed-2025-001632: its 39 subitems with their
numbers (`chart.md`). Both stand in our own words. What the run knows is filled in; the rest is the authors'
to state.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce._version import __version__
from vivavoce.core.markdown import markdown
from vivavoce.report.charts.sheet import clean
from vivavoce.report.format import SILENCE
from vivavoce.report.methods import bounded, exam_source, missing_rules, revision
from vivavoce.studies.score_table import MISSING
from vivavoce.studies.text import and_so, count, sampled

if TYPE_CHECKING:
    from vivavoce.report.data import ReportData


MADE_BY = "<!-- vivavoce checklist"
ABOUT = (
    "What a study that evaluates a language model is asked to report, by subject, after TRIPOD-LLM "
    "(Gallifant et al., Nature Medicine 2025). Filled in is what this run knows; the rest is the authors' to "
    "state. It is an aid for writing and claims compliance with nothing: the guideline itself has the "
    "binding items."
)
ABOUT_CHART = (
    "What a study of chatbots that give health advice is asked to report, after CHART, the Chatbot "
    "Assessment Reporting Tool (CHART Collaborative, BMJ Medicine 2025), in our own words. Filled in is what "
    "this run knows; the rest is the authors' to state. It claims compliance with nothing: the guideline "
    "itself has the binding items."
)


def checklist(data: "ReportData") -> list[dict[str, Any]]:
    """The items of TRIPOD-LLM with what this run can answer, as `filled` gives them."""
    return filled(data, GUIDELINES[0])


def filled(data: "ReportData", guideline: "Guideline") -> list[dict[str, Any]]:
    """The items with what this run can answer: `guideline`, `item`, `section`, `asks`, `answer`, `where`.

    `answer` is null where the run does not know; `where` names the part of the report that shows the
    answer, null without an answer. An answer never says that an item is fulfilled: `asks` may want more than
    the run holds.
    """
    return list(_filled(data, guideline))


def _filled(c: "ReportData", guideline: "Guideline") -> Iterator[dict[str, Any]]:
    section = ""
    for line in Path(__file__).with_name(guideline.file).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        if not line.startswith("- "):
            continue
        item, _, asks = line.removeprefix("- ").partition(": ")
        find, place = guideline.answers.get(item, (None, None))
        answer = find(c) if find else None
        yield {
            "guideline": guideline.name,
            "item": item,
            "section": section,
            "asks": asks,
            "answer": clean(answer) if answer else None,
            "where": place if answer else None,
        }


def checklist_text(data: "ReportData") -> str:
    """Both checklists as one Markdown file: a table for each section, what is open marked as the authors'."""
    lines = [f"{MADE_BY} {__version__} -->", f"# Reporting checklists for {markdown(data.name)}", ""]
    for guideline in GUIDELINES:
        rows = filled(data, guideline)
        n_open = sum(row["answer"] is None for row in rows)
        lines += [
            f"## {guideline.name}",
            "",
            f"{guideline.about} {n_open} of {len(rows)} items are open.",
            "",
        ]
        for section, part in groupby(rows, key=itemgetter("section")):
            lines += [f"### {section}", "", "| item | asks | answer |", "|---|---|---|"]
            lines += [
                f"| {markdown(row['item'])} | {markdown(row['asks'])} | {_answer(row)} |" for row in part
            ]
            lines.append("")
    return "\n".join(lines)


def _answer(row: Mapping[str, Any]) -> str:
    if row["answer"] is None:
        return "**to be filled in by the authors**"
    return f"{markdown(row['answer'])} (report: {row['where']})"


def _sources(c: "ReportData") -> str | None:
    return "; ".join(f"{b.benchmark}: {exam_source(b)}, {revision(b)}" for b in c.benchmarks) or None


def _described(c: "ReportData") -> str | None:
    if not c.items.height:
        return None
    forms = and_so(f"{n} {form}" for form, n in c.items.group_by("format").len().sort("format").iter_rows())
    cases = c.items["group"].n_unique()
    repeated = sum(counted.repeated for counted in c.case_counts(c.items).values())
    repeats = f", {repeated:,} of them repeated" if repeated else ""
    categories = c.items["category"].drop_nulls().n_unique()
    kinds = f", {categories} categories" if categories > 1 else ""
    questions = f"{count(c.items.height, 'question')} ({forms}{repeats})"
    summary = f"{questions} in {count(cases, 'independent case')}{kinds}."
    return " ".join((summary, *sampled(c.items)))


def _faults(c: "ReportData") -> str | None:
    faults = [f"{b.benchmark}: {fault}" for b in c.benchmarks for fault in b.card.faults]
    return f"Known faults of the exam: {' '.join(faults)}" if faults else None


def _missing(c: "ReportData") -> str | None:
    parts = [e.text for e in c.exclusions]
    parts += [_missing_marks(c)] if c.estimates else []
    return " ".join(parts) or None


def _missing_marks(c: "ReportData") -> str:
    rules = "; ".join(
        f"{SILENCE[rule]} by {and_so(names)}"
        for rule, names in missing_rules(c.without_logprobs.measures).items()
    )
    silence = f"Silence {rules}; failed" if rules else "Failed"
    numbers = {s: sum(r[f"n_{s}"] for r in c.estimates) for s in MISSING}
    if not numbers["set_aside"]:
        del numbers["set_aside"]
    counts = and_so(f"{n:,} {s.replace('_', ' ')}" for s, n in numbers.items())
    selection = f" Only the items of {c.selection} were used." if c.selection else ""
    return f"Of the scores, {counts}{_absent(c)}. {silence} scores are in no mean and give bounds.{selection}"


def _absent(c: "ReportData") -> str:
    numbers = {"never asked": "n_never_asked", "not scored yet": "n_unscored"}
    sums = {word: sum(row[name] for row in c.estimates) for word, name in numbers.items()}
    return "".join(f"; {n:,} expected ones were {word}" for word, n in sums.items() if n)


def _candidates(c: "ReportData") -> str | None:
    names = c.roster.candidates["candidate"].unique().sort().to_list()
    if not names:
        return None
    days = sorted({p["made_at"][:10] for p in c.provenance if p["verb"] == "import"})
    came = (
        f" Their answers were imported on {and_so(days)}; when they were given is not in the run."
        if days
        else ""
    )
    days_asked = sorted({p["made_at"][:10] for p in c.provenance if p["verb"] == "collect"})
    came += f" Models were asked on {and_so(days_asked)}." if days_asked else ""
    return f"Candidates by label: {and_so(names)}.{came}"


def _settings(c: "ReportData") -> str | None:
    named = [n for n in c.roster.candidates["candidate"].unique().sort() if "(" in n and "=" in n]
    return f"Settings as the labels give them: {and_so(named)}." if named else None


def _output(c: "ReportData") -> str | None:
    sentences = []
    if c.responses.height:
        sentences.append(
            "Answers are kept as they came and read by the format of their question before they are scored."
        )
    if c.n_logprob_items:
        sentences.append("Log-probabilities are kept and scored as the models returned them.")
    return " ".join(sentences) or None


def _measured(c: "ReportData") -> str | None:
    signatures = list(dict.fromkeys(m.signature for m in c.measures.values()))
    return f"Measures with every setting: {and_so(signatures)}." if signatures else None


def _human(c: "ReportData") -> str | None:
    return "Agreement between raters was measured in this run." if c.raters_compared else None


def _raters(c: "ReportData") -> str | None:
    if not c.measures:
        return None
    raters = list(dict.fromkeys(m.rater for m in c.measures.values() if m.rater))
    return (
        f"Scores by {and_so(raters)}."
        if raters
        else "No person and no judge model scored: all measures are rules."
    )


def _uncertainty(c: "ReportData") -> str | None:
    if not any(row["estimate"] is not None for row in c.estimates):
        return None
    limited, free = bounded(c.measures.values())
    kinds = [*(["Wilson with effective size"] if limited else []), *(["t"] if free else [])]
    sentence = f"95 % intervals ({and_so(kinds)}) on cluster-robust standard errors by case."
    return sentence + (
        f" {count(c.n_tests, 'test')} of candidates." if c.n_tests else " No candidates were compared."
    )


def _compared(c: "ReportData") -> str | None:
    pairs = {
        (row["benchmark"], row["metric"], row["criterion"], frozenset((row["a"], row["b"])))
        for finding in c.comparisons
        for row in finding["rows"]
    }
    sentences = [f"{count(len(pairs), 'paired comparison')} of candidates."] if pairs else []
    for role in ("floor", "ceiling"):
        names = c.roster.candidates.filter(role=role)["candidate"].unique().sort().to_list()
        sentences += [f"{and_so(names)} served as {role}."] if names else []
    return " ".join(sentences) or None


def _compute(c: "ReportData") -> str | None:
    totals = {name: c.responses[name].drop_nulls() for name in ("tokens", "seconds", "cost")}
    totals_text = [f"{values.sum():,.4g} {name} over {count(len(values), 'answer')}"
             for name, values in totals.items() if len(values)]  # fmt: skip
    return f"As far as it was recorded: {and_so(totals_text)}." if totals_text else None


def _available(c: "ReportData") -> str | None:
    parts = [f"{b.benchmark}: access {b.card.access}, licence {b.card.licence}" for b in c.benchmarks]
    return "; ".join(parts) or None


def _code(c: "ReportData") -> str | None:
    used = and_so(dict.fromkeys(str(p["vivavoce"]) for p in c.provenance if p.get("vivavoce")))
    return f"vivavoce {used or __version__}; the steps of this run stand in its provenance."


def _flow(c: "ReportData") -> str | None:
    logprobs = (
        f"Probabilities were asked about {count(c.n_logprob_items, 'question')}."
        if c.n_logprob_items
        else None
    )
    if not c.responses.height:
        return logprobs
    counts = c.responses.lazy().group_by("status").len().sort("status").collect()
    by_status = dict(counts.iter_rows())
    ways = and_so(f"{n:,} {'arrived' if status == 'ok' else status}" for status, n in by_status.items())
    summary = f"{count(c.responses.height, 'answer')} to {count(c.items.height, 'question')}: {ways}."
    return " ".join(filter(None, (summary, logprobs)))


def _performance(c: "ReportData") -> str | None:
    boards = {(r["benchmark"], r["signature"], r["criterion"], r["rater"]) for r in c.estimates}
    if not boards:
        return None
    return f"{count(len(boards), 'leaderboard')} with 95 % intervals, coverage and what is missing."


def _groups(c: "ReportData") -> str | None:
    if not c.studies.get("gaps"):
        return None
    return "Profiles by category, with a test of whether they differ between categories."


def _limited(c: "ReportData") -> str | None:
    return "What the run shows to be limited is listed there." if c.benchmarks else None


def _reference(c: "ReportData") -> str | None:
    if not c.items.height:
        return None
    with_key = (c.items["answer"].list.len() > 0) | (c.items["references"].list.len() > 0)
    return (
        f"Answers are held against the key or the reference answers of the benchmark; "
        f"{with_key.sum():,} of {count(c.items.height, 'question')} have one."
    )


def _questions(c: "ReportData") -> str | None:
    if not c.items.height:
        return None
    return "The run holds the questions word for word; how each was put to a model is the authors' to state."


def _access(c: "ReportData") -> str | None:
    places = {endpoint["endpoint"] for step in c.provenance for endpoint in step.get("sent") or ()}
    return f"Requests went to {and_so(sorted(places))}." if places else None


def _asked_on(c: "ReportData") -> str | None:
    days = sorted({p["made_at"][:10] for p in c.provenance if p["verb"] == "collect"})
    return f"Models were asked on {and_so(days)} (UTC). The run does not know the place." if days else None


def _responses(c: "ReportData") -> str | None:
    return f"The run holds all {count(c.responses.height, 'answer')}." if c.responses.height else None


def _deviations(c: "ReportData") -> str | None:
    if not any(row["estimate"] is not None for row in c.estimates):
        return None
    return "The report lists answers from the lowest scores on, each beside its key or reference."


def _data_and_code(c: "ReportData") -> str | None:
    return " ".join(filter(None, (_available(c), _code(c)))) or None


class Guideline(NamedTuple):
    """A checklist: its name, the file of its items, a paragraph on it, and who fills in which item.

    `answers` has for an item the function that fills it, and the part of the report that shows the answer.
    """

    name: str
    file: str
    about: str
    answers: "Mapping[str, tuple[Callable[[ReportData], str | None], str]]"


ANSWERS: Mapping[str, tuple["Callable[[ReportData], str | None]", str]] = {
    "Sources": (_sources, "Methods"),
    "Description": (_described, "Methods"),
    "Preparation": (_faults, "Limitations"),
    "Missing data": (_missing, "Methods"),
    "Models": (_candidates, "Methods"),
    "Settings": (_settings, "Methods"),
    "Raw and processed output": (_output, "Answers"),
    "Measures": (_measured, "Methods"),
    "Uncertainty": (_uncertainty, "Methods"),
    "Measures against people": (_human, "Studies"),
    "Assessors": (_raters, "Methods"),
    "Comparators": (_compared, "Comparisons"),
    "Compute": (_compute, "Answers"),
    "Data": (_available, "Methods"),
    "Code": (_code, "Provenance"),
    "Flow": (_flow, "Answers"),
    "Performance": (_performance, "Leaderboard"),
    "Differences between groups": (_groups, "Studies"),
    "Limitations": (_limited, "Limitations"),
}
ANSWERS_CHART: Mapping[str, tuple["Callable[[ReportData], str | None]", str]] = {
    "3a Models": (_candidates, "Methods"),
    "5ai Sources": (_sources, "Methods"),
    "5b Prompts": (_questions, "Answers"),
    "6a Access": (_access, "Provenance"),
    "6b Dates and places": (_asked_on, "Provenance"),
    "6d Responses": (_responses, "Answers"),
    "7a Reference standard": (_reference, "Answers"),
    "7b Process": (_missing, "Methods"),
    "7bi Evaluators": (_raters, "Methods"),
    "8 Sample size": (_described, "Methods"),
    "9a Methods": (_uncertainty, "Methods"),
    "9ai Measures": (_measured, "Methods"),
    "10a Performance": (_performance, "Leaderboard"),
    "10b Deviations": (_deviations, "Answers"),
    "11b Strengths and limitations": (_limited, "Limitations"),
    "12cii Permissions": (_available, "Methods"),
    "12e Data": (_data_and_code, "Provenance"),
}
GUIDELINES = (
    Guideline("TRIPOD-LLM", "tripod_llm.md", ABOUT, ANSWERS),
    Guideline("CHART", "chart.md", ABOUT_CHART, ANSWERS_CHART),
)
