"""The report of a run: what it shows is read here, written by `vivavoce.report`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vivavoce.core import registry
from vivavoce.core.errors import StoreError
from vivavoce.report import Pages, write
from vivavoce.report import refuse_other_files as refuse_other_files
from vivavoce.report.data import ReportData, Roster, facts_of
from vivavoce.run.compare.verb import compare_family
from vivavoce.run.estimates import estimate_scores
from vivavoce.run.tables.answer_integrity import answer_integrity
from vivavoce.run.tables.credentialed import credentialed_benchmarks
from vivavoce.run.tables.file_scores import compared_file_scores
from vivavoce.run.tables.load import (
    answers_of,
    load_items,
    load_logprobs,
    load_scores,
    select_items,
)
from vivavoce.run.tables.primary import choose_primary, primary_pairs, primary_rows, primary_scores
from vivavoce.run.tables.requests import load_requests
from vivavoce.run.tables.reviews import without_reviews
from vivavoce.run.tables.stored_benchmarks import shown_exclusions
from vivavoce.run.tables.stored_findings import checked_findings, stored_findings, without_retired
from vivavoce.run.tables.unit_rows import evidence_by_measure, with_units
from vivavoce.store import read
from vivavoce.store.call_log import response_days
from vivavoce.store.cases import run_cases
from vivavoce.store.comparisons import comparison_tests, comparisons
from vivavoce.store.forgotten import forgotten_notes
from vivavoce.store.integrity import check_texts
from vivavoce.store.retirement import measure_words
from vivavoce.store.view import View
from vivavoce.studies.answers import identical_repeats
from vivavoce.studies.overall_design import OVERALL


def write_report(
    view: View,
    to: Path | None,
    *,
    items: str | None,
    plots: Path | None,
    redact: bool,
    checklist: Path | None = None,
    pages: Pages = "all",
    primary: str | None = None,
) -> list[dict[str, Any]]:
    """Write the report, and return its numbers as rows, each under its `section`; the first is the file.

    `primary` is kept as the run's primary criterion. A credentialed run is redacted.
    """
    path = to or view.path.with_suffix(".html")
    for file, option in ((path, "--to"), (checklist, "--checklist")):
        if file is not None and file.exists() and view.exists and file.samefile(view.path):
            raise StoreError(f"{file} is the run itself: give another path with {option}.")
    refuse_other_files(path, checklist)  # before anything is read, and again before it is written
    choose_primary(view, primary)
    family = compare_family(view, items=items)
    state = family.name if family else None
    redact = redact or bool(credentialed_benchmarks(view))
    selected = select_items(view, items)
    table = without_reviews(load_scores(view, None, selected))
    items_here, answers = load_items(view, selected), answers_of(view, selected)
    responses, logprob_rows = facts_of(answers), load_logprobs(view, items_here)
    facts = with_units(view, table, selected)
    evidence = evidence_by_measure(view, facts.unit_measures)
    check_texts(view.db)
    criterion, overall = primary_scores(view, table, selected)
    unstored = [family.unstored] if family and family.unstored else []
    tests = checked_findings([*comparisons(view.db), *unstored], "compare")
    compared = tuple(without_retired(view.db, tests, "compare"))
    if not (criterion and criterion.metric == OVERALL):
        overall = overall._replace(scores=overall.scores.clear())  # these rows are as many as the scores
    rows, of_overall = estimate_scores(view, table, selected).rows, None
    if criterion and criterion.metric == OVERALL:
        rows = (*estimate_scores(view, overall, selected).rows, *rows)
        table = table._replace(measures={**overall.measures, **table.measures})
        of_overall = overall.scores
    del overall
    of_it = primary_rows(criterion, rows)
    data = ReportData(
        name=view.path.name,
        items=items_here,
        responses=responses.drop("text_hash"),
        answers=answers,
        identical=identical_repeats(responses),
        roster=Roster.of(responses, table.scores, logprob_rows),
        requests=load_requests(view, selected),
        scores=table.scores,
        measures=table.measures,
        only=table.only,
        probes=table.probes,
        logprob_rows=logprob_rows,
        estimates=rows,
        comparisons=compared,
        benchmarks=tuple(view.fetch(read.benchmarks)),
        provenance=tuple(map(_without_folders, read.provenance(view.db))),
        selection=items,
        studies={name: tuple(stored_findings(view.db, name)) for name in registry.members("study")},
        redact=redact,
        cases=run_cases(view.db),
        days=response_days(view.db),
        exclusions=shown_exclusions(view.db, redact=redact),
        primary=criterion,
        primary_rows=of_it,
        primary_pairs=primary_pairs(criterion, compared, of_it, selection=items, family=state),
        family=state,
        overall_scores=of_overall,
        units=facts.units,
        unit_measures=facts.unit_measures,
        evidence=evidence,
        retired=tuple(measure_words(entry.measure) for entry in view.fetch(read.retired_measures)),
        n_tests_retired=len(comparison_tests(tests)) - len(comparison_tests(compared)),
        integrity=answer_integrity(view, selected),
        file_scores=compared_file_scores(view, selected),
        forgotten=view.fetch(forgotten_notes),
    )
    return write(data, path, plots=plots, checklist=checklist, pages=pages)


def _without_folders(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of the provenance as a report shows it: local models without the folder they lie in."""
    models = step.get("models") or {}
    public_facts = {name: {k: v for k, v in facts.items() if k != "model"} for name, facts in models.items()}
    return {**step, "models": public_facts} if public_facts else dict(step)
