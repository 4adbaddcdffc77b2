"""Findings of a run: estimates, comparisons and studies, on the scores that each of them works on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vivavoce.core import registry, specs
from vivavoce.core.cases import count_cases
from vivavoce.core.errors import SelectionError, StoreError, suggest
from vivavoce.core.records import Finding, ItemKey
from vivavoce.people.storing.judgements import progress
from vivavoce.people.storing.store_reviews import read_adjudicated
from vivavoce.people.storing.stored_keys import read_keys
from vivavoce.people.tasks import ReviewTask
from vivavoce.run.assistance import by_help, helped_people
from vivavoce.run.building.stored_exam import build_rows
from vivavoce.run.call_causes import calls_with_causes
from vivavoce.run.interim import (
    PlanTerms,
    check_analyses,
    new_analyses,
    notes_outside,
    plan_digest,
    plans_of,
    store_analyses,
)
from vivavoce.run.people.labels import labels_for, left_out_labels
from vivavoce.run.people.reviews import without_reviews
from vivavoce.run.shards.joining import as_json, own_shard_rows
from vivavoce.run.shards.own_part import items_to_score
from vivavoce.run.study.study_tables import StudyTables
from vivavoce.run.tables.load import (
    answers_of,
    comparable_scores,
    load_items,
    load_logprobs,
    load_scores,
    select_items,
    select_signatures,
    store_finding,
)
from vivavoce.run.tables.named_scores import scores_by
from vivavoce.run.tables.primary import of_primary, primary_pairs, primary_rows, primary_scores
from vivavoce.run.tables.stored_benchmarks import shown_exclusions
from vivavoce.run.tables.stored_findings import checked_findings, settings_of, stored_findings
from vivavoce.run.tables.unit_rows import evidence_by_measure, with_units
from vivavoce.run.writers import writer_notes
from vivavoce.store import read
from vivavoce.store.calls import response_days
from vivavoce.store.cases import run_cases
from vivavoce.store.comparisons import comparison_tests, comparisons
from vivavoce.store.exclusions import exclusion_lists
from vivavoce.store.integrity import check_texts
from vivavoce.store.interim_analyses import read_interim_analyses
from vivavoce.store.read import candidate_labels, match_candidate
from vivavoce.store.runfile import RunFile
from vivavoce.studies.answers import BLANK, identical_answers, identical_repeats
from vivavoce.studies.comparison.compare import compare
from vivavoce.studies.comparison.data_digest import comparison_digest, data_digests
from vivavoce.studies.comparison.diff import diff
from vivavoce.studies.comparison.pairs import pairs_of
from vivavoce.studies.labels import labels_digest
from vivavoce.studies.leaderboard.estimates import estimates
from vivavoce.studies.leaderboard.overall_design import OVERALL
from vivavoce.studies.leaderboard.primary import Primary
from vivavoce.studies.leaderboard.status import OF_RESPONSES, status
from vivavoce.studies.leaderboard.status_lines import shard_lines
from vivavoce.studies.leaderboard.thresholds import BadEnds, red_lines
from vivavoce.studies.raters.validation_status import validation_statuses
from vivavoce.studies.score_table import JudgedCriterion, ScoreTable, is_confidence
from vivavoce.studies.study import Study, why_empty
from vivavoce.studies.text import and_so

if TYPE_CHECKING:
    from vivavoce.report import Pages
    from vivavoce.studies.comparison.paired import Population

OPTIONS = {
    "cards": "models' cards (--cards)",
    "labels": "labels (--labels)",
    "margin": "a margin (--margin)",
    "ratings": "ratings (--ratings)",
    "threshold": "a threshold (--threshold)",
}
"""Options of studies that the command line has as well, as sentences name them."""


def estimate_scores(
    run: RunFile,
    scores: ScoreTable,
    items: set[ItemKey] | None,
    bad_ends: BadEnds | None = None,
    labels: str | None = None,
) -> Finding:
    """The estimates of these scores: means, on people's scale where labels reach, and bad ends asked for."""
    scores = scores._replace(labels=labels_for(run, scores, labels, items=items), statuses=_statuses(run))
    if bad_ends and bad_ends.worst_at:
        scores = scores._replace(identical=identical_answers(answers_of(run, items)))
    lines = red_lines(bad_ends, lambda metric: scores_by(run, metric, items))
    return estimates(scores, load_items(run, items), bad_ends, lines)


def compare_candidates(
    run: RunFile,
    candidates: Sequence[str],
    *,
    metric: str | None,
    margin: float | None,
    against: str | None,
    population: "Population",
    items: str | None,
    labels: str | None = None,
    labels_at_random: bool = False,
    sequential: bool = False,
    analyses: int | None = None,
    assisted: bool = False,
) -> Finding:
    """Compare candidates on the items they share, and store the comparison; with `assisted`, people.

    Every comparison is one more test on the run; on unchanged data it is the same one, and `sequential`
    ones of the same pairs are interim analyses of one plan.
    """
    check_analyses(sequential, analyses)
    if assisted and (candidates or against):
        raise SelectionError("--assisted compares people with help and without: it takes no candidates.")
    names, reference = (helped_people(run), None) if assisted else _compared_names(run, candidates, against)
    selected = select_items(run, items)
    metric, table = _scores_to_compare(run, metric, names, items=items, selected=selected)
    if assisted:
        names, table = by_help(run, table)
    digests = data_digests(table.scores, table.measures, pairs_of(names, reference))
    of_people = labels_for(run, table, labels, at_random=labels_at_random, items=selected, candidates=names)
    of_labels = labels_digest(of_people)
    terms = PlanTerms.of(digests, of_labels, population, items, analyses)
    with run.reading() as db:
        tests = comparison_tests(stored_findings(db, "compare"))
        recorded = read_interim_analyses(db)
    plans = plans_of(recorded, terms) if sequential else None
    digest = comparison_digest(
        digests,
        {"margin": margin, "population": population, "labels": of_labels, "sequential": sequential},
    )
    # All analyses of a plan are one test, whatever the data were.
    test = plan_digest(terms) if sequential else digest
    finding = compare(
        table.scores,
        table.measures,
        names,
        margin=margin,
        # The same comparison on unchanged data is the same test.
        looks=(tests.index(test) if test in tests else len(tests)) + 1,
        against=reference,
        population=population,
        labels=of_people,
        statuses=_statuses(run),
        plans=plans,
    )
    notes = (*finding.notes, *left_out_labels(of_people), *table.notes)
    finding = replace(finding, notes=(*notes, *writer_notes(run, names)))
    settings = {
        "candidates": names,
        "metric": metric,
        "margin": margin,
        "items": items,
        "against": reference,
        "population": population,
        "digest": digest,
        "labels": labels,
        "labels_at_random": labels_at_random,
    }
    if sequential:
        settings |= {"sequential": True, "analyses": analyses, "test": test}
        store_analyses(run, settings, finding.rows, new_analyses(finding.rows, recorded, terms))
        return finding
    finding = replace(finding, notes=(*finding.notes, *notes_outside(recorded, terms)))
    return store_finding(run, "compare", settings, finding)


def _scores_to_compare(
    run: RunFile,
    metric: str | None,
    names: Sequence[str],
    *,
    items: str | None,
    selected: set[ItemKey] | None,
) -> tuple[str, ScoreTable]:
    """The metric that these candidates are compared by, without a name the primary one, and its scores."""
    primary = None if metric else _primary(run, selected)
    metric = metric or (primary.metric if primary else "")
    table = scores_by(run, metric, selected, names)
    if primary:
        why = f"No --metric: compared by {primary.label} ({primary.why})."
        table = of_primary(table, primary)._replace(notes=(*table.notes, why))
    if not table.scores.height:
        place = "" if items is None else f" on the items of {items}"
        raise SelectionError(
            f"none of these candidates has marks by {metric}{place}: `viva score {run.path}` first."
        )
    table = comparable_scores(run, table, names)
    if not table.scores.height:
        raise SelectionError(table.notes[0])
    if all(map(is_confidence, table.measures.values())):
        raise SelectionError(
            f"{metric} says how sure candidates are, and surer is not better: `viva study {run.path} "
            "calibration` holds it against right and wrong."
        )
    return metric, table


def _primary(run: RunFile, items: set[ItemKey] | None) -> Primary:
    """The primary criterion of the run.

    Raises `SelectionError` with the metrics there are, where nothing says how good a response is.
    """
    table = load_scores(run, None, items)
    if primary := primary_scores(run, table, items).primary:
        return primary
    metrics = list(dict.fromkeys(measure.metric for measure in table.measures.values()))
    if not metrics:
        raise SelectionError(f"nothing has been scored in this run yet: `viva score {run.path}` does that.")
    raise SelectionError(
        f"compare needs --metric, one of those that scored this run: {', '.join(metrics)}. "
        f'Such as: --metric "{metrics[0]}"'
    )


def _statuses(run: RunFile) -> dict[JudgedCriterion, str]:
    """What the run knows of its judges."""
    with run.reading() as db:
        return validation_statuses(stored_findings(db, "examiners"))


def _compared_names(
    run: RunFile, candidates: Sequence[str], against: str | None
) -> tuple[list[str], str | None]:
    """The labels of the candidates to compare, and of `against`, which alone stands for all others too.

    Without a name they are both candidates of a run that has two.
    """
    labels = candidate_labels(run)
    reference = None if against is None else match_candidate(against, labels)
    names = [match_candidate(name, labels) for name in candidates]
    names = names or _unnamed_candidates(run, reference)
    if reference and reference not in names:
        names.append(reference)
    if len(dict.fromkeys(names)) < max(2, len(names)):
        raise SelectionError(f"compare takes two or more different candidates. Known: {', '.join(labels)}.")
    return names, reference


def _unnamed_candidates(run: RunFile, reference: str | None) -> list[str]:
    """All candidates without floors and ceilings, of which there are two unless one is the reference."""
    with run.reading() as db:
        names = [c.candidate for c in read.candidates(db) if c.role == "candidate"]
    if reference is None and len(names) > 2:
        raise SelectionError(
            f"this run has {len(names)} candidates: name those to compare, or one with --against, which is "
            f"compared with all others. Here: {', '.join(names)}."
        )
    return names


def compare_measures(
    run: RunFile, measures: Sequence[str], *, items: str | None, margin: float | None
) -> Finding:
    """What the second of two measures changes against the first, on the responses that both scored."""
    sides: list[str] = []
    for measure in measures:
        signatures = select_signatures(run, measure) or []
        if len(signatures) != 1:
            raise SelectionError(
                f"{measure} has several versions here: name one by its signature, {' or '.join(signatures)}."
            )
        sides += signatures
    finding = diff(load_scores(run, sides, select_items(run, items)), *sides, margin=margin)
    settings = {"one": sides[0], "other": sides[1], "items": items, "margin": margin}
    return store_finding(run, "diff", settings, finding)


def run_status(run: RunFile) -> Finding:
    """What the run holds: questions and cases, scores with what is missing and why, and calls to models."""
    table = load_scores(run, twins=True)
    with run.reading() as db:
        responses = read.responses(db, columns=OF_RESPONSES, derived={"blank": BLANK})
        calls, cases = calls_with_causes(db), count_cases(run_cases(db))
        exclusions = [entry.counts for entry in exclusion_lists(db)]
        judged = [rater for key in read_keys(db).values() for rater in progress(db, key)]
        disputes = Counter(dispute.rater for dispute in read_adjudicated(db).disputes)
    tables = (responses, table.scores, table.measures, calls)
    only = items_to_score(run, table)
    finding = status(*tables, only=only, probes=table.probes, cases=cases, exclusions=exclusions)
    people = [
        {"about": "judgements", "panel": p.panel, "task": p.task, "rater": p.rater, "done": p.n_done,
         "left": p.n_left, "disputed": disputes[p.rater] if p.task == ReviewTask.name else 0}
        for p in judged
    ]  # fmt: skip
    rows = (*finding.rows, *people, *build_rows(run), *as_json(own_shard_rows(run)))
    return replace(finding, rows=rows, text="\n".join([*shard_lines(rows), finding.text]))


def write_report(
    run: RunFile,
    to: Path | None,
    *,
    items: str | None,
    plots: Path | None,
    redact: bool,
    checklist: Path | None = None,
    pages: "Pages" = "all",
) -> list[dict[str, Any]]:
    """Write the report, and return its numbers as rows, each under its `section`; the first is the file."""
    from vivavoce.report import write
    from vivavoce.report.data import ReportData, Roster, facts_of

    path = to or run.path.with_suffix(".html")
    for file, option in ((path, "--to"), (checklist, "--checklist")):
        if file is not None and file.exists() and run.exists and file.samefile(run.path):
            raise StoreError(f"{file} is the run itself: give another path with {option}.")
    selected = select_items(run, items)
    table = without_reviews(load_scores(run, None, selected))
    items_here, answers = load_items(run, selected), answers_of(run, selected)
    responses, logprob_rows = facts_of(answers), load_logprobs(run, items_here)
    facts = with_units(run, table, selected)
    evidence = evidence_by_measure(run, facts.unit_measures)
    with run.reading() as db:
        check_texts(db)
        primary, overall = primary_scores(run, table, selected)
        compared = tuple(checked_findings(comparisons(db), "compare"))
        if not (primary and primary.metric == OVERALL):
            overall = overall._replace(scores=overall.scores.clear())  # these rows are as many as the scores
        rows, of_overall = estimate_scores(run, table, selected).rows, None
        if primary and primary.metric == OVERALL:
            rows = (*estimate_scores(run, overall, selected).rows, *rows)
            table = table._replace(measures={**overall.measures, **table.measures})
            of_overall = overall.scores
        del overall
        of_it = primary_rows(primary, rows)
        data = ReportData(
            name=run.path.name,
            items=items_here,
            responses=responses.drop("text_hash"),
            answers=answers,
            identical=identical_repeats(responses),
            roster=Roster.of(responses, table.scores, logprob_rows),
            scores=table.scores,
            measures=table.measures,
            only=table.only,
            probes=table.probes,
            logprob_rows=logprob_rows,
            estimates=rows,
            comparisons=compared,
            benchmarks=tuple(read.benchmarks(db)),
            provenance=tuple(map(_without_folders, read.provenance(db))),
            selection=items,
            studies={name: tuple(stored_findings(db, name)) for name in registry.members("study")},
            redact=redact,
            cases=run_cases(db),
            days=response_days(db),
            exclusions=shown_exclusions(db, redact=redact),
            primary=primary,
            primary_rows=of_it,
            primary_pairs=primary_pairs(primary, compared, of_it, selection=items),
            overall_scores=of_overall,
            units=facts.units,
            unit_measures=facts.unit_measures,
            evidence=evidence,
        )
    return write(data, path, plots=plots, checklist=checklist, pages=pages)


def _without_folders(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of the provenance as a report shows it: local models without the folder they lie in."""
    models = step.get("models") or {}
    public_facts = {name: {k: v for k, v in facts.items() if k != "model"} for name, facts in models.items()}
    return {**step, "models": public_facts} if public_facts else dict(step)


def run_studies(
    run: RunFile, names: Sequence[str | specs.Spec], items: str | None, options: Mapping[str, Any]
) -> dict[str, Finding]:
    """The findings of these studies by name, stored in the run; without a name, of all that apply."""
    studies = named_studies(names, options)
    tables = StudyTables(run, items)
    # Every table before the first study: what a user got wrong is raised before anything is stored.
    scores = {name: tables.of(study, named=bool(names)) for name, study in studies.items()}
    shared = {"items": items, "labels": options["labels"], "margin": options["margin"]}
    findings, warnings = {}, writer_notes(run)
    for name, study in studies.items():
        if not names and not study.applies_to(scores[name]):
            continue
        finding = study.findings(scores[name])
        if not (finding.rows or str(finding)):
            finding = replace(finding, text=why_empty(scores[name]))
        if names or finding.rows or not study.special:
            finding = replace(finding, notes=(*finding.notes, *warnings))
            settings = {**shared, **settings_of(study), "text": str(finding)}
            findings[name] = store_finding(run, finding.study, settings, finding)
    return findings


def study_name(text: str) -> str:
    """The registered name in the spec of a study. Raises `SelectionError` for a name that is not there."""
    studies = registry.members("study")
    name = specs.parse(text).name if "(" in text or "=" in text else text
    if name not in studies:
        raise SelectionError(f"no study named {name!r}.{suggest(name, list(studies))}")
    return name


def named_studies(names: Sequence[str | specs.Spec], options: Mapping[str, Any]) -> dict[str, Study]:
    """The studies that these specs name, by spec; without any spec all studies.

    Each takes those of the options that it has a field for, unless its spec states another value. Raises
    `SelectionError` for an option that none of the named studies takes.
    """
    texts = [str(name) for name in names]
    classes = {text: registry.members("study")[study_name(text)] for text in texts}
    for option, value in options.items():
        if value is not None and classes and not any(_takes(cls, option) for cls in classes.values()):
            takers = [name for name, cls in registry.members("study").items() if _takes(cls, option)]
            of_takers = (
                f"for the study of {and_so(takers)} alone" if takers else "for none of the studies here"
            )
            raise SelectionError(f"{OPTIONS[option]} are {of_takers}.")
    studies = {}
    for text in texts or registry.members("study"):
        spec = specs.parse(text)
        study: Study = registry.build("study", spec)
        free = {key: value for key, value in options.items() if key not in spec.settings}
        values: dict[str, Any] = {
            key: value for key, value in free.items() if value is not None and _takes(type(study), key)
        }
        studies[text] = replace(study, **values)  # type: ignore[type-var]  # registered: a dataclass
    return studies


def _takes(study: type, option: str) -> bool:
    return option in {field.name for field in fields(study)}
