"""Compare candidates of a run, and store the comparison."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding, ItemKey
from vivavoce.run.compare.assistance import by_help, helped_people
from vivavoce.run.compare.interim import (
    PlanTerms,
    check_analyses,
    new_analyses,
    notes_outside,
    plan_digest,
    plans_of,
    store_analyses,
)
from vivavoce.run.tables.labels import draws_by_word, labels_for, left_out_labels, store_word
from vivavoce.run.tables.load import (
    comparable_scores,
    load_scores,
    nothing_scored,
    select_items,
    store_finding,
)
from vivavoce.run.tables.named_scores import scores_by
from vivavoce.run.tables.primary import choose_primary, of_primary, primary_scores
from vivavoce.run.tables.stored_findings import checked_findings, judge_statuses
from vivavoce.run.tables.writers import writer_notes
from vivavoce.store import read
from vivavoce.store.candidate_names import candidate_labels, match_candidate
from vivavoce.store.comparisons import comparison_tests
from vivavoce.store.interim_analyses import read_interim_analyses
from vivavoce.store.label_draws import read_label_draws
from vivavoce.store.view import View
from vivavoce.studies.comparison.compare import compare
from vivavoce.studies.comparison.data_digest import comparison_digest, data_digests
from vivavoce.studies.comparison.pairs import pairs_of
from vivavoce.studies.labels import labels_digest
from vivavoce.studies.primary import Primary
from vivavoce.studies.score_table import ScoreTable, is_confidence

if TYPE_CHECKING:
    from vivavoce.studies.comparison.paired import Population


def compare_candidates(
    view: View,
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
    primary: str | None = None,
) -> Finding:
    """Compare candidates on the items they share, and store the comparison; with `assisted`, people.

    Every comparison is one more test on the run; on unchanged data it is the same one, and `sequential`
    ones of the same pairs are interim analyses of one plan. `primary` is kept as the run's primary criterion.
    """
    choose_primary(view, primary)
    check_analyses(sequential, analyses)
    names, reference = _compared_names(view, candidates, against, assisted=assisted)
    selected = select_items(view, items)
    metric, table = _scores_to_compare(view, metric, names, items=items, selected=selected)
    if assisted:
        names, table = by_help(view, table)
    digests = data_digests(table.scores, table.measures, pairs_of(names, reference))
    words = draws_by_word(view, labels, is_given=labels_at_random)
    draws = read_label_draws(view.db, words)
    of_people = labels_for(view, table, labels, draws=draws, items=selected, candidates=names)
    of_labels = labels_digest(of_people)
    terms = PlanTerms.of(digests, of_labels, population, items, analyses)
    tests = comparison_tests(checked_findings(read.findings(view.db, "compare"), "compare"))
    recorded = read_interim_analyses(view.db)
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
        statuses=judge_statuses(view),
        plans=plans,
    )
    notes = (*finding.notes, *left_out_labels(of_people), *table.notes)
    finding = replace(finding, notes=(*notes, *writer_notes(view, names)))
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
    store_word(view, words)
    if sequential:
        settings |= {"sequential": True, "analyses": analyses, "test": test}
        store_analyses(view, settings, finding.rows, new_analyses(finding.rows, recorded, terms))
        return finding
    finding = replace(finding, notes=(*finding.notes, *notes_outside(recorded, terms)))
    return store_finding(view, "compare", settings, finding)


def _scores_to_compare(
    view: View,
    metric: str | None,
    names: Sequence[str],
    *,
    items: str | None,
    selected: set[ItemKey] | None,
) -> tuple[str, ScoreTable]:
    """The metric that these candidates are compared by, without a name the primary one, and its scores."""
    primary = None if metric else _primary(view, selected)
    metric = metric or (primary.metric if primary else "")
    table = scores_by(view, metric, selected, names)
    if primary:
        reason = f"No --metric: compared by {primary.label} ({primary.why})."
        table = of_primary(table, primary)._replace(notes=(*table.notes, reason))
    if not table.scores.height:
        place = "" if items is None else f" on the items of {items}"
        raise SelectionError(
            f"none of these candidates has marks by {metric}{place}: `viva score {view.path}` first."
        )
    table = comparable_scores(view, table, names)
    if not table.scores.height:
        raise SelectionError(table.notes[0])
    if all(map(is_confidence, table.measures.values())):
        raise SelectionError(
            f"{metric} says how sure candidates are, and surer is not better: `viva study {view.path} "
            "calibration` holds it against right and wrong."
        )
    return metric, table


def _primary(view: View, items: set[ItemKey] | None) -> Primary:
    """The primary criterion of the run.

    Raises `SelectionError` with the metrics there are, where nothing says how good a response is.
    """
    table = load_scores(view, None, items)
    if primary := primary_scores(view, table, items).primary:
        return primary
    metrics = list(dict.fromkeys(measure.metric for measure in table.measures.values()))
    if not metrics:
        raise nothing_scored(view)
    raise SelectionError(
        f"compare needs --metric, one of those that scored this run: {', '.join(metrics)}. "
        f'Such as: --metric "{metrics[0]}"'
    )


def _compared_names(
    view: View, candidates: Sequence[str], against: str | None, *, assisted: bool
) -> tuple[list[str], str | None]:
    """The labels of the candidates to compare, and of `against`, which alone stands for all others too.

    Without a name they are both candidates of a run that has two; with `assisted`, people, who have no names.
    """
    if assisted:
        if candidates or against:
            raise SelectionError("--assisted compares people with help and without: it takes no candidates.")
        return helped_people(view), None
    labels = candidate_labels(view)
    reference = None if against is None else match_candidate(against, labels)
    names = [match_candidate(name, labels) for name in candidates]
    names = names or _unnamed_candidates(view, reference)
    if reference and reference not in names:
        names.append(reference)
    if len(dict.fromkeys(names)) < max(2, len(names)):
        raise SelectionError(f"compare takes two or more different candidates. Known: {', '.join(labels)}.")
    return names, reference


def _unnamed_candidates(view: View, reference: str | None) -> list[str]:
    """All candidates without floors and ceilings, of which there are two unless one is the reference."""
    names = [c.candidate for c in view.fetch(read.candidates) if c.role == "candidate"]
    if reference is None and len(names) > 2:
        raise SelectionError(
            f"this run has {len(names)} candidates: name those to compare, or one with --against, which is "
            f"compared with all others. Here: {', '.join(names)}."
        )
    return names
