"""The report of a run: what it shows is read here, written by `vivavoce.report`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vivavoce.core import registry
from vivavoce.core.errors import StoreError
from vivavoce.run.estimates import estimate_scores
from vivavoce.run.tables.load import (
    answers_of,
    load_items,
    load_logprobs,
    load_scores,
    select_items,
)
from vivavoce.run.tables.primary import primary_pairs, primary_rows, primary_scores
from vivavoce.run.tables.reviews import without_reviews
from vivavoce.run.tables.stored_benchmarks import shown_exclusions
from vivavoce.run.tables.stored_findings import checked_findings, stored_findings
from vivavoce.run.tables.unit_rows import evidence_by_measure, with_units
from vivavoce.store import read
from vivavoce.store.call_log import response_days
from vivavoce.store.cases import run_cases
from vivavoce.store.comparisons import comparisons
from vivavoce.store.integrity import check_texts
from vivavoce.store.runfile import RunFile
from vivavoce.studies.answers import identical_repeats
from vivavoce.studies.overall_design import OVERALL

if TYPE_CHECKING:
    from vivavoce.report import Pages


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
