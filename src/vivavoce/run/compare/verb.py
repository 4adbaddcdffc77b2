"""Compare candidates of a run, and store the comparison."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from vivavoce.core.cases import NearDuplicates, near_repeats_lines
from vivavoce.core.errors import SelectionError
from vivavoce.core.group_levels import scope_lines
from vivavoce.core.records import Finding, ItemKey
from vivavoce.run.compare.assistance import by_help
from vivavoce.run.compare.candidates import best_first, compared_names, unnamed_candidates, with_unnamed
from vivavoce.run.compare.interim import (
    PlanTerms,
    check_analyses,
    new_analyses,
    notes_outside,
    plan_digest,
    plans_of,
    store_analyses,
)
from vivavoce.run.tables.answer_integrity import answer_flags, answer_integrity
from vivavoce.run.tables.labels import draws_by_word, labels_for, left_out_labels, store_word
from vivavoce.run.tables.load import (
    comparable_scores,
    load_items,
    select_items,
    store_finding,
)
from vivavoce.run.tables.named_scores import scores_by
from vivavoce.run.tables.primary import choose_primary, of_primary, primary_of_run
from vivavoce.run.tables.stored_findings import checked_findings, judge_statuses
from vivavoce.run.tables.writers import writer_notes
from vivavoce.store import read
from vivavoce.store.cases import check_choice, choose_near_duplicates, question_rows, scopes
from vivavoce.store.comparisons import comparison_tests, comparisons, current_findings
from vivavoce.store.forgotten import forgotten_notes
from vivavoce.store.interim_analyses import read_interim_analyses
from vivavoce.store.label_draws import LabelDraw, read_label_draws
from vivavoce.store.view import View
from vivavoce.studies.answer_integrity import differences, not_whole
from vivavoce.studies.comparing.compare import compare
from vivavoce.studies.comparing.contradictions import contradictions
from vivavoce.studies.comparing.headline import (
    comparison_headline,
    row_criterion,
)
from vivavoce.studies.comparing.pairs import pairs_of
from vivavoce.studies.comparing.repeated_tests import PairKey, comparison_digest, data_digests
from vivavoce.studies.labels import labels_digest
from vivavoce.studies.primary import Primary
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_table import CONFIDENCE, ITEM_KEY, SECONDS, Labels, ScoreTable, is_confidence

if TYPE_CHECKING:
    from vivavoce.studies.comparing.paired import Population


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
    near_duplicates: NearDuplicates | None = None,
    bad_end: str | None = None,
) -> Finding:
    """Compare candidates on the items they share, and store the comparison; with `assisted`, people.

    Every comparison is one more test on the run; on unchanged data it is the same one, and `sequential`
    ones of the same pairs are interim analyses of one plan. `primary` is kept as the run's primary criterion,
    `near_duplicates` as what becomes of its questions that are nearly the same. `bad_end` is the view to
    compare in instead of the mean, as `view_named` takes it.
    """
    if bad_end and (labels or assisted):
        raise SelectionError(
            "--view compares what was scored: labels correct means, and --assisted compares people."
        )
    check_choice(near_duplicates)
    if near_duplicates is not None:
        with view.writing() as db:
            choose_near_duplicates(db, near_duplicates)
    choose_primary(view, primary)
    check_analyses(sequential, analyses)
    terms = _Terms(items, margin, population, labels, labels_at_random, sequential, analyses, bad_end)
    question = _question(view, candidates, terms, metric=metric, reference=against, assisted=assisted)
    return _compare(view, question, terms)


class _Terms(NamedTuple):
    """On what terms candidates are compared, as the options of the verb have it."""

    items: str | None
    margin: float | None = None
    population: "Population" = "sample"
    labels: str | None = None
    labels_at_random: bool = False
    sequential: bool = False
    analyses: int | None = None
    bad_end: str | None = None

    @property
    def are_plain(self) -> bool:
        """Whether they are those of a family: one test of a sample, by what the run itself holds."""
        return self.population == "sample" and not (self.sequential or self.labels or self.bad_end)


def _compare(view: View, question: "_Question", options: _Terms) -> Finding:
    """The comparison that was asked for, made and stored."""
    names, of_people = question.names, question.labels
    of_labels = labels_digest(of_people)
    terms = PlanTerms.of(question.digests, of_labels, options.population, options.items, options.analyses)
    tests = comparison_tests(checked_findings(read.findings(view.db, "compare"), "compare"))
    recorded = read_interim_analyses(view.db)
    plans = plans_of(recorded, terms) if options.sequential else None
    terms_of_test = {"margin": options.margin, "population": options.population, "labels": of_labels}
    digest = comparison_digest(question.digests, {**terms_of_test, "sequential": options.sequential})
    # All analyses of a plan are one test, whatever the data were.
    test = plan_digest(terms) if options.sequential else question.test(digest, options.margin)
    finding = compare(
        question.table.scores,
        question.table.measures,
        names,
        margin=options.margin,
        # The same comparison on unchanged data is the same test.
        looks=(tests.index(test) if test in tests else len(tests)) + 1,
        against=question.reference,
        all_pairs=question.all_pairs,
        population=options.population,
        labels=of_people,
        statuses=judge_statuses(view),
        scopes=_scopes(view, options.population),
        plans=plans,
        outcomes=question.outcomes,
    )
    selected = select_items(view, options.items)
    integrity = [row for row in answer_integrity(view, selected) if row.candidate in names]
    of_cut = differences(integrity, partial(_answers_of, view, selected), _pairs_of_rows(finding))
    of_margin = _notes_on_margin(question, options)
    notes = (*of_cut, *finding.notes, *of_margin, *left_out_labels(of_people), *question.table.notes)
    questions = question_rows(view.db, finding.rows, selected)
    scope = (*_scope_lines(questions, options.population), *view.fetch(forgotten_notes))
    finding = replace(
        finding,
        headline=_headline(finding.rows, question),
        notes=(*notes, *writer_notes(view, names), *near_repeats_lines(questions), *scope),
        integrity=not_whole(integrity),
        questions=questions,
    )
    settings: dict[str, Any] = {
        "candidates": names,
        "metric": question.metric,
        "margin": options.margin,
        "items": options.items,
        "against": question.reference,
        "population": options.population,
        "digest": digest,
        "labels": options.labels,
        "labels_at_random": options.labels_at_random,
        **({"view": options.bad_end} if options.bad_end else {}),
    }
    store_word(view, question.words)
    if options.sequential:
        settings |= {"sequential": True, "analyses": options.analyses, "test": test}
        store_analyses(view, settings, finding.rows, new_analyses(finding.rows, recorded, terms))
        return finding
    if question.family:
        settings |= {"family": question.family, "test": test, "order": question.order}
    notes = (
        *finding.notes,
        *notes_outside(recorded, terms),
        *_contradictions(view, question, finding.rows, options.items),
    )
    return store_finding(view, "compare", settings, replace(finding, notes=notes))


_MARGIN_OF_SCORES = (
    "The margin is in the units of the score, and of no other: seconds and confidence have none."
)


def _scopes(view: View, population: "Population") -> dict[str, str]:
    return view.fetch(scopes) if population == "sample" else {}


def _scope_lines(questions: Sequence[Mapping[str, Any]], population: "Population") -> Iterator[str]:
    return scope_lines(questions) if population == "sample" else iter(())


def _answers_of(view: View, items: set[ItemKey] | None, benchmark: str, candidate: str) -> pl.DataFrame:
    """What is counted of a candidate's answers to a benchmark, with the case of each."""
    chosen = (pl.col("benchmark") == benchmark) & (pl.col("candidate") == candidate)
    groups = load_items(view, items).select(*ITEM_KEY, "group")
    return select_rows(answer_flags(view, items), chosen).join(groups, on=ITEM_KEY)


def _contradictions(
    view: View, question: "_Question", rows: Sequence[Mapping[str, Any]], items: str | None
) -> Iterator[str]:
    """The line on what the family and an additional comparison of the same items say otherwise."""
    findings, provenance = checked_findings(comparisons(view.db), "compare"), read.provenance(view.db)
    stored = current_findings(findings, items, provenance, of_family=not question.family)
    if question.family:
        yield from contradictions(rows, stored)
    elif stored:
        yield from contradictions(stored[0]["rows"], [{"rows": rows}])


class Family(NamedTuple):
    """A run's family on the data as they are: the name of this state, and its test if that is not stored."""

    name: str
    unstored: Mapping[str, Any] | None


def compare_family(view: View, *, items: str | None) -> Family | None:
    """Make the test of a run's family on its data as they are, unless it is stored.

    Where the run cannot be written, say on a read-only disk, the test is given in the form of a stored one. A
    family is all pairs of the candidates by the primary criterion. Null without a family: nothing scored,
    fewer than two candidates with scores, or a plan of interim analyses, whose tests count instead.
    """
    try:
        question = _question(view, (), _Terms(items), metric=None)
    except SelectionError:
        return None
    findings = checked_findings(read.findings(view.db, "compare"), "compare")
    if question.family is None or any(f["settings"].get("sequential") for f in findings):
        return None
    if any(finding["settings"].get("family") == question.family for finding in findings):
        return Family(question.family, None)
    finding = _compare(view, question, _Terms(items))
    findings = read.findings(view.db, "compare")
    if any(stored["settings"].get("family") == question.family for stored in findings):
        return Family(question.family, None)
    made_at = datetime.now(UTC).isoformat()
    settings = {"family": question.family, "test": question.family, "items": items, "order": question.order}
    times = {"made_at": made_at, "first_at": made_at}
    return Family(
        question.family, {**times, "settings": settings, "rows": [dict(row) for row in finding.rows]}
    )


class _Question(NamedTuple):
    """What is compared: the candidates and pairs, the scores with their digests, and people's labels.

    `family` names the state of the data where these are all pairs by the primary criterion; else it is null.
    `order` are a family's candidates, those with the best estimate first; of others it is empty. `outcomes`
    are what is compared together with the scores of the table: how fast people are, and how sure.
    """

    names: list[str]
    reference: str | None
    all_pairs: bool
    metric: str
    table: ScoreTable
    digests: Mapping[PairKey, str]
    labels: Mapping[int, Labels | str]
    words: Sequence[LabelDraw]
    family: str | None
    order: Sequence[str]
    outcomes: ScoreTable | None = None

    def test(self, digest: str, margin: float | None) -> str:
        """What the test is counted as: the family's is one in a state of the data; a margin asks more."""
        return digest if self.family is None or margin is not None else self.family


def _question(
    view: View,
    candidates: Sequence[str],
    terms: _Terms,
    *,
    metric: str | None,
    reference: str | None = None,
    assisted: bool = False,
) -> _Question:
    """What a call asks, with its scores. Raises `SelectionError` where nothing can be compared."""
    all_pairs = not (candidates or reference or assisted)
    names, reference = compared_names(view, candidates, reference, assisted=assisted)
    selected = select_items(view, terms.items)
    primary = None if metric else primary_of_run(view, selected)
    compared = _tables(view, metric or primary, names, terms, selected, assisted=assisted)
    names, metric, table, outcomes = _by_help(view, names, compared, assisted=assisted)
    words = draws_by_word(view, terms.labels, is_given=terms.labels_at_random)
    draws = read_label_draws(view.db, words)
    of_people = _labels(view, table, terms, draws, selected, names)
    if all_pairs:
        names = best_first(view, table._replace(labels=of_people), selected, names)
        table = with_unnamed(view, table, names)
    pairs = pairs_of(names, reference, all_pairs=all_pairs)
    digests = data_digests(table.scores, table.measures, pairs) | _digests(outcomes, pairs)
    family, order = None, list[str]()
    if terms.are_plain and not assisted and _are_family(view, pairs, table, primary, selected):
        family = comparison_digest(digests, {"labels": labels_digest(of_people)})
        order = names if all_pairs else best_first(view, table._replace(labels=of_people), selected, names)
    return _Question(
        names, reference, all_pairs, metric, table, digests, of_people, words, family, order, outcomes
    )


def _tables(
    view: View,
    metric: str | Primary | None,
    names: Sequence[str],
    terms: _Terms,
    items: set[ItemKey] | None,
    *,
    assisted: bool,
) -> tuple[str, ScoreTable, ScoreTable | None]:
    """The metric, its scores, and where it is the primary one the outcomes of people's answers."""
    if isinstance(metric, str):
        if metric in (SECONDS, CONFIDENCE):
            from vivavoce.run.compare.outcomes import is_outcome, outcome_to_compare

            if is_outcome(view, metric, assisted=assisted):
                if terms.bad_end:
                    raise SelectionError(f"--view compares scores by question: {metric} has none.")
                return metric, outcome_to_compare(view, metric, names, items), None
        name, table = _scores_to_compare(view, metric, None, names, items=terms.items)
        return name, _in_view(view, table, terms.bad_end, items), None
    name, table = _scores_to_compare(view, None, metric, names, items=terms.items)
    if not assisted:
        return name, _in_view(view, table, terms.bad_end, items), None
    from vivavoce.run.compare.outcomes import outcomes_of_people

    outcomes = outcomes_of_people(view, names, items)
    more = outcomes.notes if outcomes else ()
    return name, table._replace(notes=(*table.notes, *more)), outcomes


def _digests(outcomes: ScoreTable | None, pairs: Sequence[tuple[str, str]]) -> dict[PairKey, str]:
    return {} if outcomes is None else data_digests(outcomes.scores, outcomes.measures, pairs)


def _by_help(
    view: View, names: list[str], tables: tuple[str, ScoreTable, ScoreTable | None], *, assisted: bool
) -> tuple[list[str], str, ScoreTable, ScoreTable | None]:
    """The names, the metric and the tables, where `assisted` those of people with help and without."""
    if not assisted:
        return names, *tables
    metric, table, outcomes = tables
    names, table = by_help(view, table)
    return names, metric, table, outcomes and by_help(view, outcomes)[1]


def _labels(
    view: View,
    table: ScoreTable,
    terms: _Terms,
    draws: Mapping[str, LabelDraw],
    items: set[ItemKey] | None,
    names: Sequence[str],
) -> Mapping[int, Labels | str]:
    """People's scores that correct the table's means; a bad end is no mean."""
    if terms.bad_end:
        return {}
    return labels_for(view, table, terms.labels, draws=draws, items=items, candidates=names)


def _in_view(view: View, table: ScoreTable, name: str | None, items: set[ItemKey] | None) -> ScoreTable:
    """The scores by question in the view of this name; without a name as they are."""
    if name is None:
        return table
    from vivavoce.studies.comparing.bad_end_scores import in_view, view_named
    from vivavoce.studies.thresholds import red_lines

    bad = view_named(name)
    return in_view(table, bad, red_lines(bad, lambda metric: scores_by(view, metric, items)))


def _headline(rows: Sequence[Mapping[str, Any]], question: _Question) -> str:
    """What a comparison says in one line; a family's is on its best candidate, however it is named."""
    if not rows:
        return ""
    if question.outcomes is not None:
        from vivavoce.studies.comparing.help_headline import help_headline

        return help_headline(rows, [*question.table.measures.values(), *question.outcomes.measures.values()])
    criterion = row_criterion(rows[0], question.table.measures.values())
    return comparison_headline(rows, criterion, order=question.order)


def _notes_on_margin(question: "_Question", options: _Terms) -> tuple[str, ...]:
    """That a margin is one of scores, where other outcomes are compared beside them."""
    return (_MARGIN_OF_SCORES,) if question.outcomes is not None and options.margin is not None else ()


def _pairs_of_rows(finding: Finding) -> Iterator[tuple[str, str, str]]:
    return ((row["benchmark"], row["a"], row["b"]) for row in finding.rows)


def _are_family(
    view: View,
    pairs: Sequence[tuple[str, str]],
    table: ScoreTable,
    primary: Primary | None,
    items: set[ItemKey] | None,
) -> bool:
    """Whether these are all pairs of the run's candidates, by its primary criterion and nothing else."""
    family = pairs_of(unnamed_candidates(view), all_pairs=True)
    if set(map(frozenset, family)) != set(map(frozenset, pairs)):
        return False
    try:
        primary = primary or primary_of_run(view, items)
    except SelectionError:
        return False
    scores = of_primary(table, primary)
    return scores.scores.height == table.scores.height > 0


def _scores_to_compare(
    view: View, metric: str | None, primary: Primary | None, names: Sequence[str], *, items: str | None
) -> tuple[str, ScoreTable]:
    """The metric that these candidates are compared by, without a name the primary one, and its scores."""
    metric = metric or (primary.metric if primary else "")
    table = scores_by(view, metric, select_items(view, items), names)
    if primary:
        reason = f"No --metric: compared by {primary.label} ({primary.why})."
        table = of_primary(table, primary)._replace(notes=(*table.notes, reason))
    if not table.scores.height:
        place = "" if items is None else f" on the items of {items}"
        raise SelectionError(
            f"none of these candidates has scores by {metric}{place}: `viva score {view.path}` first."
        )
    table = comparable_scores(view, table, names)
    if not table.scores.height:
        raise SelectionError(table.notes[0])
    if any(map(is_confidence, table.measures.values())):
        from vivavoce.run.compare.outcomes import no_better_end

        table = table._replace(notes=(*table.notes, no_better_end(view)))
    return metric, table
