"""The methods of a run as paragraphs for a paper: only what is true of this run, filled from its tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from vivavoce._version import __version__
from vivavoce.core.group_levels import level_text
from vivavoce.core.measure_names import measure_name, metric_name
from vivavoce.core.records import IfUnanswered, Measure
from vivavoce.core.specs import signed
from vivavoce.report.charts.sheet import clean
from vivavoce.report.format import percent
from vivavoce.report.section import section_of
from vivavoce.studies.pooling import on_log_scale
from vivavoce.studies.row_parts import by_candidate, distinct, select_rows
from vivavoce.studies.score_matrix import PLAIN
from vivavoce.studies.text import and_so, count, sampled
from vivavoce.studies.validation_status import status_of, weakest_status

if TYPE_CHECKING:
    from vivavoce.core.cases import CaseCount
    from vivavoce.report.data import ReportData
    from vivavoce.store.read import Benchmark


def methods(data: "ReportData") -> list[str]:
    """Paragraphs ready for a paper: benchmark, candidates, missing answers, measures, statistics, software.

    A paragraph or sentence stands only where the run supports it: without comparisons there is none on their
    correction, without bounded measures none on Wilson intervals. Texts are plain; names in them are the
    run's own words and must be escaped for display.
    """
    parts = (_benchmarks, _candidates, _missing, _measures, _estimates, _comparisons, _studies, _software)
    paragraphs = [part(data) for part in parts]
    return [clean(paragraph) for paragraph in paragraphs if paragraph]


def _benchmarks(c: "ReportData") -> str:
    sentences = []
    counts = c.case_counts(c.items)
    for benchmark in c.benchmarks:
        items = c.items.filter(pl.col("benchmark") == benchmark.benchmark)
        if items.height:
            sentences.append(_benchmark(benchmark, items, counts.get(benchmark.benchmark)))
            sentences += c.left_out(benchmark.benchmark)
    if not sentences:
        return ""
    samples = sampled(c.items)
    sentences += samples
    sentences += _draws(c) if samples else ()
    if c.selection:
        sentences.append(f"Only the items of {c.selection} were used.")
    return " ".join(sentences)


def _draws(c: "ReportData") -> Iterator[str]:
    """What a sample that was collected here follows from."""
    steps = [step for step in c.provenance if step["verb"] == "collect" and step.get("sample")]
    draws = and_so(str(n) for n in sorted({step.get("draw", 1) for step in steps} - {1}))
    if steps:
        seeds = f"s' ids and the number of the draw, {draws}" if draws else "s' ids alone"
        yield f"It was drawn by category, in an order that follows from the question{seeds}."


def _benchmark(benchmark: "Benchmark", items: pl.DataFrame, counted: "CaseCount | None") -> str:
    """Size, shape and origin of one benchmark."""
    by_format = Counter(items["format"].to_list())
    shapes = and_so(f"{n} {form}" for form, n in sorted(by_format.items()))
    groups = items.n_unique("group")
    cases = "each an independent case"
    if groups != items.height:
        shared = "questions that share a source or a patient are one case"
        if counted and counted.repeated:
            shared = f"{shared}, and so are {counted.repeated:,} that repeat another one"
        if counted and counted.near_joined and counted.near_repeated:
            shared = f"{shared}, and {counted.near_repeated:,} that nearly repeat one"
        cases = f"from {count(groups, 'independent case')} ({shared})"
    card = benchmark.card
    citation = "" if card.citation in ("", "none") else f" ({card.citation})"
    return (
        f"The exam was {benchmark.benchmark}{citation}: {count(items.height, 'question')} ({shapes}), "
        f"{cases}.{_levels(counted)} Source: {exam_source(benchmark)}; {revision(benchmark)}; licence: "
        f"{card.licence}."
    )


def _levels(counted: "CaseCount | None") -> str:
    """By which level of groups errors are, after a blank; '' where groups have one level."""
    return f" {level_text(**counted.facts)}".rstrip() if counted else ""


def exam_source(benchmark: "Benchmark") -> str:
    """The source of a benchmark; for a user's own file its name, without the folder."""
    card = benchmark.card
    return (
        f"a file of the authors' own, {PurePath(card.source).name}" if card.access == "own" else card.source
    )


def revision(benchmark: "Benchmark") -> str:
    """The revision of a benchmark, or why it has none, with the hash of its content where known."""
    card = benchmark.card
    text = f"revision {card.revision}" if card.revision else f"no revision ({card.revision_note})"
    _, _, mark = signed(benchmark.signature).version.partition("#")
    return f"{text}, content hash {mark}" if mark else text


def _candidates(c: "ReportData") -> str:
    answers = select_rows(c.responses, pl.col("edit") == "")
    people = c.roster.candidates
    if not people.height:
        return ""
    sentences = _roles(people)
    if answers.height:
        sentences.append(_answered(answers, n_candidates=people["candidate"].n_unique()))
    if c.n_logprob_items:
        words = "" if answers.height else ", and no answers in words"
        n_items = count(c.n_logprob_items, "question")
        sentences.append(f"Probabilities of given texts were asked about {n_items}{words}.")
    if identical := sorted(c.identical):
        sentences.append(
            f"All repeats of {and_so(identical)} are the same text: they say nothing of how answers vary."
        )
    return " ".join((*sentences, *_origins(c)))


def _roles(people: pl.DataFrame) -> list[str]:
    """Who was examined, and who served as floor or ceiling."""
    names: dict[str, list[str]] = {}
    for name, role in people.sort("candidate").iter_rows():
        names.setdefault(role, []).append(name)
    sentences = []
    if candidates := names.get("candidate"):
        verb = "was" if len(candidates) == 1 else "were"
        sentences.append(f"{count(len(candidates), 'candidate')} {verb} examined: {and_so(candidates)}.")
    for role in ("floor", "ceiling"):
        if role in names:
            sentences.append(f"{and_so(names[role])} served as {role}, not as a candidate.")
    return sentences


def _origins(c: "ReportData") -> Iterator[str]:
    """When and from where answers were imported and collected."""
    if imports := [step for step in c.provenance if step["verb"] == "import"]:
        files = and_so(dict.fromkeys(PurePath(str(p["file"])).name for p in imports if p.get("file")))
        source = f" from {files}" if files else ""
        yield (
            f"Answers were recorded elsewhere and imported on {_days(imports)}{source}; candidates bear the "
            "labels of the recording."
        )
    if collects := [step for step in c.provenance if step["verb"] == "collect"]:
        places = and_so(
            dict.fromkeys(endpoint["endpoint"] for p in collects for endpoint in p.get("sent") or ())
        )
        place = f" at {places}" if places else ""
        yield (
            f"Models were asked on {_days(collects)}{place}; candidates bear the name and settings they were "
            "asked with."
        )


def _days(steps: Iterable[Mapping[str, Any]]) -> str:
    return and_so(sorted({step["made_at"][:10] for step in steps}))


def _answered(answers: pl.DataFrame, *, n_candidates: int) -> str:
    """Who answered in words, and how often; some candidates may only have log-likelihoods."""
    key = ("benchmark", "candidate", "item", "variant")
    repeats = pl.concat(of_one.select(key).group_by(key).len()["len"] for _, of_one in by_candidate(answers))
    fewest, most = int(repeats.min()), int(repeats.max())  # type: ignore[arg-type]
    repeats_text = f"{fewest} times" if fewest > 1 else "once"
    if fewest != most:
        repeats_text = f"between {fewest} and {most} times"
    names = distinct(answers, "candidate")["candidate"].sort().to_list()
    subject = "Each" if len(names) == n_candidates else f"{and_so(names)} alone"
    words = "" if len(names) == n_candidates else " in words"
    return f"{subject} answered a question{words} {repeats_text}, {count(answers.height, 'answer')} in all."


def missing_rules(measures: Mapping[int, Measure]) -> dict[IfUnanswered, list[str]]:
    """The criteria by their rule for non-responses: the name, with the metric where that differs."""
    by_rule: dict[IfUnanswered, dict[str, None]] = {}
    for m in measures.values():
        name = measure_name(m.metric, "" if m.criterion.criterion in PLAIN else m.criterion.criterion)
        by_rule.setdefault(m.criterion.if_unanswered, {})[name] = None
    return {rule: list(names) for rule, names in by_rule.items()}


COUNTS_AS = {
    "worst": "counted as the worst score",
    "set_aside": "was set aside",
    "correct": "counted as right",
}


def _missing(c: "ReportData") -> str:
    if not c.estimates:
        return ""
    measures = c.without_logprobs.measures
    sentences = []
    if not all(signed(m.signature).recorded for m in measures.values()):
        sentences.append(
            "Responses were parsed before scoring: unanswered ones were blank, refused or withheld, "
            "unreadable ones could not be parsed."
        )
    clauses = [f"{COUNTS_AS[rule]} by {and_so(names)}" for rule, names in missing_rules(measures).items()]
    if clauses:
        sentences.append(f"What was unanswered or unreadable {'; it '.join(clauses)}.")
    coverage = [row["coverage"] for row in c.estimates if row["coverage"] is not None]
    if coverage:
        sentences.append(_coverage(percent(min(coverage)), percent(max(coverage))))
    failed = sum(row["n_failed"] for row in c.estimates)
    if failed:
        sentences.append(
            f"{count(failed, 'score')} failed for reasons that are not the candidate's; they are in no mean, "
            "and bounds show what the best and worst scores in their place would make of it."
        )
    else:
        sentences.append("No score failed.")
    aside = sum(row["n_set_aside"] for row in c.estimates)
    if aside:
        sentences.append(
            f"{count(aside, 'score')} {'was' if aside == 1 else 'were'} set aside, because the metric does "
            "not apply to the question; they are in no mean and no bound."
        )
    return " ".join(sentences)


def _coverage(low: str, high: str) -> str:
    share = "The share of expected answers with a score of their own"
    if low == high:
        return f"{share} was {low}."
    return f"{share} lay between {low} and {high} by candidate and measure."


def _measures(c: "ReportData") -> str:
    if not c.measures:
        return ""
    words = list(c.without_logprobs.measures.values())
    probabilities = [m for key, m in c.measures.items() if key in c.probes]
    marked = "; ".join(
        f"{kind} were scored by {and_so(_signed(measures))}"
        for kind, measures in (("answers", words), ("probabilities", probabilities))
        if measures
    )
    sentence = f"{marked[0].upper()}{marked[1:]}; signatures state every setting and the version."
    return " ".join((sentence, *_stamps(c)))


def _signed(measures: Iterable[Measure]) -> Iterator[str]:
    """Each metric with its signature, its raters, and whether its scores were recorded elsewhere."""
    by_signature: dict[str, list[Measure]] = {}
    for measure in measures:
        by_signature.setdefault(measure.signature, []).append(measure)
    for signature, versions in by_signature.items():
        raters = and_so(dict.fromkeys(m.rater for m in versions if m.rater))
        source = ", recorded elsewhere" if signed(signature).recorded else ""
        yield f"{versions[0].metric} [{signature}{f'; by {raters}' if raters else ''}{source}]"


def _stamps(c: "ReportData") -> Iterator[str]:
    """The validation status of the judges: criteria by status, each with its weakest on any benchmark."""
    by_stamp: dict[str, list[str]] = {}
    for measure in c.measures.values():
        if stamp := weakest_status(status_of(c.stamps, b.benchmark, measure) for b in c.benchmarks):
            by_stamp.setdefault(stamp, []).append(
                measure_name(measure.metric, measure.criterion.criterion, measure.rater)
            )
    if by_stamp:
        listing = "; ".join(f"{stamp}: {and_so(dict.fromkeys(names))}" for stamp, names in by_stamp.items())
        yield f"Held against people's scores, the scores of judges are {listing}."


def bounded(measures: Iterable[Measure]) -> tuple[list[str], list[str]]:
    """The metrics with two limits, whose intervals are Wilson's, and those without."""
    kinds: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for m in measures:
        free = m.criterion.low is None or m.criterion.high is None
        kinds[free][metric_name(m.metric)] = None
    return list(kinds[0]), list(kinds[1])


def _estimates(c: "ReportData") -> str:
    if not any(row["estimate"] is not None for row in c.estimates):
        return ""
    averages = "Passes were averaged within an answer, repeats within a question, and then questions"
    if sampled(c.items):
        averages += ", each weighted by the number of questions of the exam that it stands for"
    sentences = [
        f"{averages}.",
        "Standard errors are cluster-robust with the case as unit (CR2; Bell and McCaffrey 2002), with "
        "Satterthwaite's degrees of freedom for cases of unequal size; effective cases are these plus one.",
    ]
    limited, free = bounded(c.measures.values())
    if limited:
        scope = f" of {and_so(limited)}" if free else ""
        sentences.append(
            f"95 % intervals{scope} are Wilson intervals with the effective sample size that the standard "
            "error amounts to (Wilson 1927; Dean and Pagano 2015)."
        )
    if free:
        of_them = f" of {and_so(free)}" if limited else ""
        sentences.append(
            f"95 % intervals{of_them} use t with these degrees of freedom, from 10 effective cases on."
        )
    logs = dict.fromkeys(m.criterion.criterion for m in c.measures.values() if on_log_scale(m.criterion))
    if logs:
        sentences.append(
            f"For {and_so(logs)} sums were pooled over questions; intervals and comparisons are of the "
            "logarithm."
        )
    return " ".join(sentences)


def _comparisons(c: "ReportData") -> str:
    calls = [[row for row in finding["rows"] if row["difference"] is not None] for finding in c.comparisons]
    rows = [row for call in calls for row in call]
    if not rows:
        return ""
    planned = [row for row in rows if row.get("analysis")]
    sentences = (
        "Candidates were compared in pairs on the questions both have scores on, by t on these standard "
        "errors of the differences. Where fewer than ten effective cases differ, p and interval are of the "
        "exact sign-flip test over cases; of pooled figures p is that of swaps of answers, and there is no "
        "interval.",
        *_populations(c, rows),
        *_judges(c, rows),
        _families(calls),
        _planned(planned),
        _repeated(c.n_tests, planned=bool(planned)),
        _verdicts(rows),
    )
    return " ".join(filter(None, sentences))


def _judges(c: "ReportData", rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Which comparisons people's scores corrected, how their cases were drawn, and which rest on a judge."""
    corrected = [row for row in rows if row.get("estimate_kind") == "prediction_powered"]
    if corrected:
        verb = "rests" if len(corrected) == 1 else "rest"
        yield (
            f"{count(len(corrected), 'comparison')} of {len(rows)} {verb} on a judge's scores of all "
            "questions, corrected by people's scores of cases drawn at random with known probabilities "
            "(prediction-powered inference; Angelopoulos, Duchi and Zrnic 2023)."
        )
    if any(finding["settings"].get("labels_at_random") for finding in c.comparisons):
        yield "That the labelled cases were drawn at random is the user's word; the run does not show it."
    if n_alone := sum(bool(row.get("judge_alone")) for row in rows):
        verb = "says" if n_alone == 1 else "say"
        yield f"{count(n_alone, 'comparison')} of {len(rows)} {verb} what a judge alone prefers."


def _populations(c: "ReportData", rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Which comparisons took the benchmark as fixed, and which were made on other items."""
    fixed = sum(row["population"] == "fixed" for row in rows)
    if fixed:
        subject = "All comparisons" if fixed == len(rows) else f"{fixed} of {len(rows)} comparisons"
        yield f"{subject} took the exam as fixed, so that only repeats are chance."
    selections = dict.fromkeys(finding["settings"].get("items") for finding in c.comparisons)
    elsewhere = [items for items in selections if items != c.selection]
    if elsewhere:
        subject = and_so("all items" if items is None else f"the items of {items}" for items in elsewhere)
        yield f"Some comparisons were made on {subject}."


def _planned(rows: Sequence[Mapping[str, Any]]) -> str:
    """How interim analyses were corrected, if there are any."""
    ways = []
    if any(row["analyses"] is not None for row in rows):
        ways.append(
            "over a declared number of analyses alpha was spent by an O'Brien-Fleming-type function (Lan and "
            "DeMets 1983)"
        )
    if any(row["analyses"] is None for row in rows):
        ways.append("over any number a confidence sequence holds (Waudby-Smith and others 2024)")
    if not ways:
        return ""
    return (
        "Interim analyses, made under a plan to test again while data grow, were corrected for all tests of "
        f"the plan: {'; '.join(ways)}; comparisons made together share alpha by Bonferroni."
    )


def _repeated(n_tests: int, *, planned: bool) -> str:
    """How many tests there were; interim analyses of a plan are one."""
    if n_tests > 1:
        exception = ", but for interim analyses of one plan" if planned else ""
        total = f"{n_tests} tests were made on this run in all"
        return f"{total}; p values are not corrected over repeated tests{exception}."
    return "No other test was made on this run." if planned else "This was the only test on this run."


def _families(calls: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """How p values and intervals were corrected, by the number of comparisons made together."""
    families = [call[0]["family"] for call in calls if call and not call[0].get("analysis")]
    if not families:
        return ""
    if max(families) == 1:
        return "Each was made by itself, so that no correction within a call was due."
    sizes = and_so(map(str, sorted(set(families))))
    return (
        "p values were corrected by Holm and intervals by Bonferroni over the comparisons made together "
        f"(families of {sizes})."
    )


def _verdicts(rows: Sequence[Mapping[str, Any]]) -> str:
    words = (
        "A candidate was called better if its corrected p was at most .05; with fewer than ten cases, or "
        "fewer than six that differ, nothing was said."
    )
    margins = sorted({row["margin"] for row in rows if row["margin"] is not None})
    if not margins:
        return words
    values = and_so(f"{margin:g}" for margin in margins)
    n = sum(row["margin"] is not None for row in rows)
    scope = "" if n == len(rows) else f" in {n} of {len(rows)} comparisons"
    return f"{words} The smallest difference that matters was set to {values}{scope}."


def _studies(c: "ReportData") -> str:
    names = [name for name, findings in c.studies.items() if findings]
    return " ".join(filter(None, (section_of(name).methods for name in names)))


def _software(c: "ReportData") -> str:
    used = dict.fromkeys(str(p["vivavoce"]) for p in c.provenance if p.get("vivavoce"))
    versions = and_so(used) or __version__
    report = "" if set(used) <= {__version__} else f" (this report by {__version__})"
    plugins = and_so(
        dict.fromkeys(PurePath(name).name for p in c.provenance for name in p.get("plugins") or ())
    )
    return (
        f"Answers, scores and findings were processed with vivavoce {versions}{report}."
        f"{f' Plugins: {plugins}.' if plugins else ''}"
    )
