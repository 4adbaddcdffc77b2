"""The methods of a run as paragraphs for a paper: only what is true of this run, filled from its tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from vivavoce._version import __version__
from vivavoce.records import IfUnanswered, Measure
from vivavoce.report.drawing import clean
from vivavoce.report.wording import and_so, percent
from vivavoce.specs import signed
from vivavoce.studies import identical_repeats
from vivavoce.studies.grids import PLAIN
from vivavoce.studies.pooling import on_log_scale
from vivavoce.studies.stamps import stamp_of, weakest
from vivavoce.studies.words import count, sampled

if TYPE_CHECKING:
    import polars as pl

    from vivavoce.report.contents import Contents
    from vivavoce.store.read import Benchmark

__all__ = ["bounded", "exam_source", "methods", "missing_rules", "revision"]

STUDIED = {
    "ranking": "Ranks are the places that paired tests of all pairs leave open, with p values corrected by "
    "Holm; mean ranks over cases were compared by Friedman's test, with Nemenyi's critical difference.",
    "correlation": "Measures were correlated over candidates' means (Spearman, Kendall, Pearson) after "
    "turning those on which lower is better; each coefficient names its level.",
    "consistency": "The variance of marks was divided into question, candidate by question, repeat and "
    "examiner.",
    "agreement": "Agreement of marks on the same answer was measured by Krippendorff's alpha and other "
    "coefficients, with intervals from leaving out one case at a time.",
    "examiners": "Judges and raters were examined themselves: repeated marks, marks of other judges and of "
    "people on the same answers (Krippendorff's alpha, with intervals from leaving out one case at a time), "
    "shares of marks at one value, and what marks follow besides quality.",
    "positions": "Which place among the options a candidate picks was counted over all rotations of them.",
    "contamination": "Signs of training on the exam were sought in how far questions were gone on with from "
    "their first half, in accuracy by the published order of options against other orders, all places of the "
    "key counting alike, and in the rank of the benchmark's canary among decoys, as far as these were asked, "
    "p values corrected by Holm over all tests of the study.",
    "rubrics": "Rubrics were compared by their agreement with people, on cases that had no part in choosing.",
    "size": "In a family each model was compared with those of the next smaller size, and a medical model "
    "with its base, in pairs as candidates are, p values corrected by Holm over all pairs of the study; "
    "means were fitted on the logarithm of parameters with the model as unit.",
    "gaps": "Whether a candidate's profile differs between categories was tested as an interaction of "
    "candidate and category with cases as unit, on categories of ten cases or more, p values corrected by "
    "Holm over all profiles of the study.",
}


def methods(contents: "Contents") -> list[str]:
    """Paragraphs ready for a paper: exam, candidates, missing answers, measures, statistics, software.

    A paragraph or sentence stands only where the run gives it: without comparisons nothing is said of their
    correction, without bounded measures nothing of Wilson intervals. Texts are plain; names in them are the
    run's own words and must be escaped where they are shown.
    """
    c = contents
    made = (_exam(c), _candidates(c), _missing(c), _measures(c), _estimates(c), _comparisons(c), _studies(c),
            _software(c))  # fmt: skip
    return [clean(paragraph) for paragraph in made if paragraph]


def _exam(c: "Contents") -> str:
    import polars as pl

    said = []
    for benchmark in c.benchmarks:
        own = c.items.filter(pl.col("benchmark") == benchmark.benchmark)
        if not own.height:
            continue
        forms = Counter(own["format"].to_list())
        shapes = and_so(f"{n} {form}" for form, n in sorted(forms.items()))
        groups = own.n_unique("group")
        cases = (
            "each an independent case"
            if groups == own.height
            else f"from {count(groups, 'independent case')} (questions that share a source or a patient are "
            "one case)"
        )
        card = benchmark.card
        citation = "" if card.citation in ("", "none") else f" ({card.citation})"
        said.append(
            f"The exam was {benchmark.benchmark}{citation}: {count(own.height, 'question')} ({shapes}), "
            f"{cases}. Source: {exam_source(benchmark)}; {revision(benchmark)}; licence: {card.licence}."
        )
    if said:
        asked = sampled(c.items)
        said += asked
        if asked and any(step.get("sample") for step in c.provenance if step["verb"] == "collect"):
            said.append("It was drawn by category, in an order that follows from the questions' ids alone.")
    if said and c.selection:
        said.append(f"Only the items of {c.selection} were used.")
    return " ".join(said)


def exam_source(benchmark: "Benchmark") -> str:
    """Where an exam comes from; of a user's own file its name, not where it lies on their machine."""
    card = benchmark.card
    return (
        f"a file of the authors' own, {PurePath(card.source).name}" if card.access == "own" else card.source
    )


def revision(benchmark: "Benchmark") -> str:
    """The revision of an exam, or why it has none, with the hash of its content where there is one."""
    card = benchmark.card
    said = f"revision {card.revision}" if card.revision else f"no revision ({card.revision_note})"
    _, _, mark = signed(benchmark.signature).version.partition("#")
    return f"{said}, content hash {mark}" if mark else said


def _candidates(c: "Contents") -> str:
    import polars as pl

    answers = c.responses.filter(pl.col("edit") == "")
    examined = c.examined
    if not examined.height:
        return ""
    names: dict[str, list[str]] = {}
    for name, role in examined.select("candidate", "role").unique().sort("candidate").iter_rows():
        names.setdefault(role, []).append(name)
    said = []
    if "candidate" in names:
        own = names["candidate"]
        verb = "was" if len(own) == 1 else "were"
        said.append(f"{count(len(own), 'candidate')} {verb} examined: {and_so(own)}.")
    said += [f"{and_so(names[role])} served as {role}, not as a candidate." for role in ("floor", "ceiling")
             if role in names]  # fmt: skip
    if answers.height:
        said.append(_answered(answers, everyone=examined["candidate"].n_unique()))
    if c.n_told:
        words = "" if answers.height else ", and no answers in words"
        said.append(f"Probabilities of given texts were asked about {count(c.n_told, 'question')}{words}.")
    same = sorted(identical_repeats(c.responses))
    if same:
        said.append(f"All repeats of {and_so(same)} are the same text: they say nothing of how answers vary.")
    imports = [p for p in c.provenance if p["verb"] == "import"]
    if imports:
        days = and_so(sorted({p["made_at"][:10] for p in imports}))
        files = and_so(dict.fromkeys(PurePath(str(p["file"])).name for p in imports if p.get("file")))
        source = f" from {files}" if files else ""
        said.append(
            f"Answers were recorded elsewhere and imported on {days}{source}; candidates bear the labels of "
            "the recording."
        )
    asked = [step for step in c.provenance if step["verb"] == "collect"]
    if asked:
        days = and_so(sorted({step["made_at"][:10] for step in asked}))
        places = and_so(dict.fromkeys(one["endpoint"] for step in asked for one in step.get("sent") or ()))
        where = f" at {places}" if places else ""
        said.append(
            f"Models were asked on {days}{where}; candidates bear the name and settings they were asked with."
        )
    return " ".join(said)


def _answered(answers: "pl.DataFrame", *, everyone: int) -> str:
    """Who answered in words, and how often; some may have been asked for probabilities alone."""
    repeats = answers.group_by("benchmark", "candidate", "item", "variant").len()["len"]
    least, most = int(repeats.min()), int(repeats.max())  # type: ignore[arg-type]
    often = f"{least} times" if least > 1 else "once"
    if least != most:
        often = f"between {least} and {most} times"
    names = answers["candidate"].unique().sort().to_list()
    who = "Each" if len(names) == everyone else f"{and_so(names)} alone"
    words = "" if len(names) == everyone else " in words"
    return f"{who} answered a question{words} {often}, {count(answers.height, 'answer')} in all."


def missing_rules(measures: Mapping[int, Measure]) -> dict[IfUnanswered, list[str]]:
    """The criteria by what silence counts as: the criterion's name with its metric where that differs."""
    made: dict[IfUnanswered, dict[str, None]] = {}
    for m in measures.values():
        name = m.metric if m.criterion.criterion in (m.metric, *PLAIN) else (
            f"{m.metric}: {m.criterion.criterion}")  # fmt: skip
        made.setdefault(m.criterion.if_unanswered, {})[name] = None
    return {rule: list(names) for rule, names in made.items()}


COUNTS_AS = {
    "worst": "counted as the worst mark",
    "set_aside": "was set aside",
    "correct": "counted as right",
}


def _missing(c: "Contents") -> str:
    if not c.estimates:
        return ""
    words = c.of_words.measures
    rules = missing_rules(words)
    told = [f"{COUNTS_AS[rule]} by {and_so(names)}" for rule, names in rules.items()]
    said = []
    if not all(signed(m.signature).recorded for m in words.values()):
        said.append(
            "Answers were read before they were marked: unanswered is what was blank, refused or withheld, "
            "unreadable what was given in no form that could be read."
        )
    if told:
        said.append(f"What was unanswered or unreadable {'; it '.join(told)}.")
    coverage = [row["coverage"] for row in c.estimates if row["coverage"] is not None]
    if coverage:
        low, high = (percent(end) for end in (min(coverage), max(coverage)))
        said.append(
            f"The share of expected answers with a mark of their own was {low}."
            if low == high
            else f"The share of expected answers with a mark of their own lay between {low} and {high} by "
            "candidate and measure."
        )
    failed = sum(row["n_failed"] for row in c.estimates)
    if failed:
        said.append(
            f"{count(failed, 'mark')} failed for reasons that are not the candidate's; they are in no mean, "
            "and bounds show what the best and worst marks in their place would make of it."
        )
    else:
        said.append("No mark failed.")
    return " ".join(said)


def _measures(c: "Contents") -> str:
    if not c.measures:
        return ""
    words = list(c.of_words.measures.values())
    probabilities = [m for key, m in c.measures.items() if key in c.probes]
    marked = "; ".join(
        f"{what} were marked by {and_so(_signed(own))}"
        for what, own in (("answers", words), ("probabilities", probabilities))
        if own
    )
    said = f"{marked[0].upper()}{marked[1:]}; signatures state every setting and the version."
    return " ".join((said, *_stamps(c)))


def _signed(measures: Iterable[Measure]) -> Iterator[str]:
    """Each metric with its signature, its raters, and whether its marks were recorded elsewhere."""
    by: dict[str, list[Measure]] = {}
    for measure in measures:
        by.setdefault(measure.signature, []).append(measure)
    for signature, own in by.items():
        raters = and_so(dict.fromkeys(m.rater for m in own if m.rater))
        source = ", recorded elsewhere" if signed(signature).recorded else ""
        yield f"{own[0].metric} [{signature}{f'; by {raters}' if raters else ''}{source}]"


def _stamps(c: "Contents") -> Iterator[str]:
    """What is known of the judges: the criteria by stamp, each with the weakest that it has on any exam."""
    by: dict[str, list[str]] = {}
    for measure in c.measures.values():
        if stamp := weakest(stamp_of(c.stamps, b.benchmark, measure) for b in c.benchmarks):
            by.setdefault(stamp, []).append(f"{measure.criterion.criterion} by {measure.metric}")
    if by:
        told = "; ".join(f"{stamp}: {and_so(dict.fromkeys(names))}" for stamp, names in by.items())
        yield f"Held against people's marks, the marks of judges are {told}."


def bounded(measures: Iterable[Measure]) -> tuple[list[str], list[str]]:
    """The metrics with two limits, whose intervals are Wilson's, and those without."""
    kinds: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for m in measures:
        free = m.criterion.low is None or m.criterion.high is None
        kinds[free][m.metric] = None
    return list(kinds[0]), list(kinds[1])


def _estimates(c: "Contents") -> str:
    if not any(row["estimate"] is not None for row in c.estimates):
        return ""
    said = [
        "Passes were averaged within an answer, repeats within a question, and then questions.",
        "Standard errors are cluster-robust (CR1; Liang and Zeger 1986) with the case as unit.",
    ]
    if sampled(c.items):
        said[0] = (
            "Passes were averaged within an answer, repeats within a question, and then questions, each "
            "weighted by the number of questions of the exam that it stands for."
        )
    limited, free = bounded(c.measures.values())
    if limited:
        of = f" of {and_so(limited)}" if free else ""
        said.append(
            f"95 % intervals{of} are Wilson intervals with the effective sample size that the standard error "
            "amounts to (Wilson 1927; Dean and Pagano 2015)."
        )
    if free:
        of = f" of {and_so(free)}" if limited else ""
        said.append(f"95 % intervals{of} use t with cases − 1 degrees of freedom.")
    logs = dict.fromkeys(m.criterion.criterion for m in c.measures.values() if on_log_scale(m.criterion))
    if logs:
        said.append(
            f"For {and_so(logs)} sums were pooled over questions; intervals and comparisons are of the "
            "logarithm."
        )
    return " ".join(said)


def _comparisons(c: "Contents") -> str:
    calls = [[row for row in finding["rows"] if row["difference"] is not None] for finding in c.comparisons]
    rows = [row for call in calls for row in call]
    if not rows:
        return ""
    said = [
        "Candidates were compared in pairs on the questions both have marks on, by t on CR1 standard errors "
        "of the differences, or by the exact sign test of cases where fewer than ten cases differ."
    ]
    fixed = sum(row["population"] == "fixed" for row in rows)
    if fixed:
        which = "All comparisons" if fixed == len(rows) else f"{fixed} of {len(rows)} comparisons"
        said.append(f"{which} took the exam as fixed, so that only repeats are chance.")
    elsewhere = dict.fromkeys(
        f["settings"].get("items") for f in c.comparisons if f["settings"].get("items") != c.selection
    )
    if elsewhere:
        which = and_so("all items" if items is None else f"the items of {items}" for items in elsewhere)
        said.append(f"Some comparisons were made on {which}.")
    families = [call[0]["family"] for call in calls if call]
    if max(families) > 1:
        sizes = and_so(map(str, sorted(set(families))))
        said.append(
            "p values were corrected by Holm and intervals by Bonferroni over the comparisons made together "
            f"(families of {sizes})."
        )
    else:
        said.append("Each was made by itself, so that no correction within a call was due.")
    looks = len(c.comparisons)
    said.append(
        f"This run was compared {looks} times in all; p values are not corrected over these looks."
        if looks > 1
        else "This was the only comparison call on this run."
    )
    said.append(_verdicts(rows))
    return " ".join(said)


def _verdicts(rows: Sequence[Mapping[str, Any]]) -> str:
    words = (
        "A candidate was called better if its corrected p was at most .05; with fewer than ten cases, or "
        "fewer than six that differ, nothing was said."
    )
    margins = sorted({row["margin"] for row in rows if row["margin"] is not None})
    if not margins:
        return words
    told = and_so(f"{margin:g}" for margin in margins)
    n = sum(row["margin"] is not None for row in rows)
    which = "" if n == len(rows) else f" in {n} of {len(rows)} comparisons"
    return f"{words} The smallest difference that matters was set to {told}{which}."


def _studies(c: "Contents") -> str:
    made = [name for name, findings in c.studies.items() if findings]
    return " ".join(STUDIED[name] for name in made if name in STUDIED)


def _software(c: "Contents") -> str:
    used = dict.fromkeys(str(p["vivavoce"]) for p in c.provenance if p.get("vivavoce"))
    told = and_so(used) or __version__
    report = "" if set(used) <= {__version__} else f" (this report by {__version__})"
    plugins = and_so(
        dict.fromkeys(PurePath(name).name for p in c.provenance for name in p.get("plugins") or ())
    )
    return (
        f"Answers, marks and findings were processed with vivavoce {told}{report}."
        f"{f' Plugins: {plugins}.' if plugins else ''}"
    )
