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
from vivavoce.run.tables.answer_integrity import answer_flags, answer_integrity
from vivavoce.run.tables.labels import draws_by_word, labels_for, left_out_labels, store_word
from vivavoce.run.tables.load import (
    comparable_scores,
    load_items,
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
from vivavoce.store.cases import check_choice, choose_near_duplicates, question_rows, scopes
from vivavoce.store.comparisons import comparison_tests, comparisons, current_findings
from vivavoce.store.forgotten import forgotten_notes
from vivavoce.store.interim_analyses import read_interim_analyses
from vivavoce.store.label_draws import LabelDraw, read_label_draws
from vivavoce.store.view import View
from vivavoce.studies.answer_integrity import differences, not_whole
from vivavoce.studies.comparing.compare import compare
from vivavoce.studies.comparing.headline import comparison_headline, contradictions, row_criterion
from vivavoce.studies.comparing.pairs import ALL_SHOWN, pairs_of
from vivavoce.studies.comparing.repeated_tests import PairKey, comparison_digest, data_digests
from vivavoce.studies.labels import labels_digest
from vivavoce.studies.primary import Primary
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_table import ITEM_KEY, Labels, ScoreTable, is_confidence
from vivavoce.studies.text import HEADLINES, listed

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
    )
    selected = select_items(view, options.items)
    integrity = [row for row in answer_integrity(view, selected) if row.candidate in names]
    pairs = ((row["benchmark"], row["a"], row["b"]) for row in finding.rows)
    of_cut = differences(integrity, partial(_answers_of, view, selected), pairs)
    notes = (*of_cut, *finding.notes, *left_out_labels(of_people), *question.table.notes)
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
    } | ({"view": options.bad_end} if options.bad_end else {})
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
    `order` are a family's candidates, those with the best estimate first; of others it is empty.
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
    items = terms.items
    all_pairs = not (candidates or reference or assisted)
    names, reference = _compared_names(view, candidates, reference, assisted=assisted)
    selected = select_items(view, items)
    primary = None if metric else _primary(view, selected)
    metric, table = _scores_to_compare(view, metric, primary, names, items=items)
    table = _in_view(view, table, terms.bad_end, selected)
    if assisted:
        names, table = by_help(view, table)
    words = draws_by_word(view, terms.labels, is_given=terms.labels_at_random)
    draws = read_label_draws(view.db, words)
    of_people = _labels(view, table, terms, draws, selected, names)
    if all_pairs:
        names = _best_first(view, table._replace(labels=of_people), selected, names)
        table = _with_unnamed(view, table, names)
    pairs = pairs_of(names, reference, all_pairs=all_pairs)
    digests = data_digests(table.scores, table.measures, pairs)
    family, order = None, list[str]()
    if terms.are_plain and not assisted and _are_family(view, pairs, table, primary, selected):
        family = comparison_digest(digests, {"labels": labels_digest(of_people)})
        labelled = table._replace(labels=of_people)
        order = names if all_pairs else _best_first(view, labelled, selected, names)
    return _Question(names, reference, all_pairs, metric, table, digests, of_people, words, family, order)


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
    criterion = row_criterion(rows[0], question.table.measures.values())
    return comparison_headline(rows, criterion, order=question.order)


def _are_family(
    view: View,
    pairs: Sequence[tuple[str, str]],
    table: ScoreTable,
    primary: Primary | None,
    items: set[ItemKey] | None,
) -> bool:
    """Whether these are all pairs of the run's candidates, by its primary criterion and nothing else."""
    family = pairs_of(_unnamed_candidates(view), all_pairs=True)
    if set(map(frozenset, family)) != set(map(frozenset, pairs)):
        return False
    try:
        primary = primary or _primary(view, items)
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

    Without a name they are all candidates but floors and ceilings; `assisted` compares people without names.
    """
    if assisted:
        if candidates or against:
            raise SelectionError("--assisted compares people with help and without: it takes no candidates.")
        return helped_people(view), None
    labels = candidate_labels(view)
    reference = None if against is None else match_candidate(against, labels)
    names = [match_candidate(name, labels) for name in candidates]
    names = names or _unnamed_candidates(view)
    if reference and reference not in names:
        names.append(reference)
    if len(dict.fromkeys(names)) < max(2, len(names)):
        raise SelectionError(f"compare takes two or more different candidates. Known: {', '.join(labels)}.")
    return names, reference


def _unnamed_candidates(view: View) -> list[str]:
    """All candidates without floors and ceilings."""
    return [c.candidate for c in view.fetch(read.candidates) if c.role == "candidate"]


def _best_first(view: View, table: ScoreTable, items: set[ItemKey] | None, names: Sequence[str]) -> list[str]:
    """The candidates in the order of their estimates, those without one last; two keep theirs."""
    if len(names) == 2:
        return list(names)
    from vivavoce.studies.comparing.estimates import estimates

    rows = estimates(table, load_items(view, items)).rows
    order = {row["candidate"]: place for place, row in enumerate(rows) if row["view"] in HEADLINES}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _with_unnamed(view: View, table: ScoreTable, names: Sequence[str]) -> ScoreTable:
    """The table with a note on the floors and ceilings that a comparison without names leaves out."""
    bounds = [c.candidate for c in view.fetch(read.candidates) if c.role != "candidate"]
    notes = (
        [f"Left out: {listed(bounds)} (floor or ceiling). Name them to compare with them."] if bounds else []
    )
    if len(names) > ALL_SHOWN:
        notes.append(
            f"{names[0]}, which has the best estimate, is shown against the others; all pairs are tested and "
            "corrected together, and --json has them."
        )
    return table._replace(notes=(*table.notes, *notes))
