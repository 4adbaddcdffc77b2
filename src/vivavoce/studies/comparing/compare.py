"""Compare: A against B on the same items, and what may be said of it.

Two passes: first each pair by itself, then the family of all pairs, metrics and criteria of the call, which
corrects the p values and widens the intervals that the verdicts rest on. Criteria that are one number in
several forms are one of that family. Inside, differences are turned once so that above 0 favours A; rows give
them in the metric's own direction.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding, Measure
from vivavoce.studies.bounded import Bounded, Filled, outermost, reasons
from vivavoce.studies.comparing.evidence import (
    Corrected,
    Levels,
    correct,
    gate_interval,
    leads_of,
    unseen_losses,
    verdict_of,
)
from vivavoce.studies.comparing.outcome_words import HIGHER, verdict_on
from vivavoce.studies.comparing.paired import Compared, Incomparable, Pair, PooledFigures, Population
from vivavoce.studies.comparing.pairs import check_margin, pairs, pairs_of, shown_rows
from vivavoce.studies.comparing.repeated_tests import (
    PairKey,
    Plan,
    PlannedTest,
    notes_on_losses,
    notes_on_plans,
    planned_tests,
    with_rare_losses,
)
from vivavoce.studies.comparing.verdicts import (
    DIFFERENT,
    ComparisonRow,
    basis_of,
    footnote,
    note_on_logs,
    notes_on_forms,
    notes_on_people,
    notes_on_unseen_losses,
    sentence,
)
from vivavoce.studies.intervals import FLIPPED, NO_ENDS
from vivavoce.studies.item_means import ItemMeans
from vivavoce.studies.labels import LabelledValues, unlabelled_words
from vivavoce.studies.pooling import NO_FILLING, on_log_scale
from vivavoce.studies.rater_scores import scale_columns
from vivavoce.studies.scale import LOG
from vivavoce.studies.score_table import (
    NO_LIMIT,
    JudgedCriterion,
    Labels,
    ScoreTable,
    is_confidence,
    sample_note,
)
from vivavoce.studies.study import as_mapping, columns
from vivavoce.studies.validation_status import status_of

COLUMNS = columns(ComparisonRow)
FEW_FOR_MDE = f"fewer than {stats.LEAST_GROUPS} effective cases: no detectable difference can be told"


def compare(
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    candidates: Sequence[str],
    *,
    margin: float | None = None,
    against: str | None = None,
    all_pairs: bool = False,
    population: Population = "sample",
    looks: int = 1,
    labels: Mapping[int, Labels | str] = {},
    statuses: Mapping[JudgedCriterion, str] = {},
    scopes: Mapping[str, str] = {},
    plans: Mapping[PairKey, Plan] | None = None,
    outcomes: ScoreTable | None = None,
) -> Finding:
    """A `ComparisonRow` per pair, benchmark, metric and criterion, and the sentences.

    `scores` are score rows with `measure_id`. `margin`, in the criterion's units, is the least difference
    that matters; without it a criterion's declared `smallest_difference` serves. With `all_pairs` these are
    compared however many candidates there are; `pairs_of` says which are else. `looks` counts the tests made
    on this run, this one included; where no pair can be compared it is none. `plans` hold the plan of each
    pair where these are interim analyses: then p, intervals and verdicts hold over all analyses and for whole
    losses that are rare or were not seen. Figures of a pair that cannot be compared are null, with a
    `reason`. With `population` fixed only repeats vary, for gates that ask whether a system has changed; else
    the items are a sample, by group. `…_answered` are on what both answered. `loss_a` and `loss_b` are the
    most by which A and B could be worse, on the interval of a gate; `unseen_loss_a` and `unseen_loss_b` are
    the shares of cases that they could have lost whole (95 %), null where a loss over half the scale was
    seen. A pooled criterion is compared by its figures as a whole, each group left out of both in turn; a
    perplexity on the log scale (`scale` is log), where differences, their intervals and margins are natural
    logarithms of how many times A's figure is B's. Of criteria that are one number in several forms one is in
    the family; each of the others is corrected as if it stood in its place, and has its name as `form_of`,
    else null. `outcomes` are further score rows of the same family, which `margin` is not of. Where a scale
    has no better end, as a confidence, the code is `higher`, and `favours` null.

    `labels` are people's scores by measure, or why there are none. With them a row's `scale` is people and
    its `estimate_kind` prediction_powered: `lambda` says how far it rests on the rater's `difference_judge`,
    `difference_people` is of the `n_labelled` items alone, and `n_unlabelled` drawn cases have no label.
    Without labels a judge's row is `judge_alone`, its `scale` judge. `statuses` give judges their `stamp`,
    `scopes` benchmarks the sentence for which of their groups alone a verdict holds.
    """
    check_margin(margin)
    if population not in get_args(Population):
        raise SelectionError(f"a population is {' or '.join(get_args(Population))}, not {population!r}.")
    names = pairs_of(candidates, against, all_pairs=all_pairs)
    results = list(pairs(scores, measures, names, margin=margin, population=population, labels=labels))
    results += _of_outcomes(outcomes, names, population)
    results = results if plans is None else list(map(with_rare_losses, results))
    compared = [pair for pair in results if isinstance(pair, Compared)]
    looks -= not compared  # what could not be compared was not tested
    leads = leads_of(compared)
    # Two forms of one number ask one question, so together they count as one test.
    family = max(1, len(set(leads)))
    by_pair = iter(_corrections(compared, leads, plans, family))
    rows = []
    for result in results:
        call: dict[str, Any] = {"family": family, "looks": looks}
        call["stamp"] = status_of(statuses, result.pair.benchmark, result.pair.measure)
        call["scope"] = scopes.get(result.pair.benchmark)
        if isinstance(result, Compared):
            rows.append(_tested_row(result, *next(by_pair), call))
        else:
            rows.append(_incomparable_row(result, call))
    tested = footnote(family, looks, margin, planned=plans is not None)
    notes = (
        tested if compared else "No pair could be compared, so nothing was tested.",
        *notes_on_plans(rows),
        *(notes_on_losses(compared) if plans is not None else ()),
        *notes_on_forms(rows),
        *note_on_logs(pair.pair.measure.criterion for pair in compared),
        *sample_note(scores),
        *notes_on_unseen_losses(results, rows),
        *notes_on_people(compared, rows),
    )
    text = _text(_rows_in_text(rows))
    return Finding(study="compare", rows=tuple(map(as_mapping, rows)), text=text, notes=notes)


def _of_outcomes(
    outcomes: ScoreTable | None, names: Sequence[tuple[str, str]], population: Population
) -> Iterator[Incomparable | Compared]:
    """The pairs by outcomes, whose units no margin of a score is in."""
    if outcomes is not None:
        yield from pairs(outcomes.scores, outcomes.measures, names, margin=None, population=population)


def _corrections(
    compared: Sequence[Compared], leads: Sequence[int], plans: Mapping[PairKey, Plan] | None, family: int
) -> list[tuple[Corrected, PlannedTest | None]]:
    """The corrected p values of each pair, with its interim analysis under a plan."""
    if plans is None:
        return [(corrected, None) for corrected in correct(compared, leads)]
    return [(test.corrected, test) for test in planned_tests(compared, leads, plans, family)]


def _tested_row(
    compared: Compared, corrected: Corrected, test: PlannedTest | None, call: Mapping[str, Any]
) -> ComparisonRow:
    """The row of a pair of a call; of an interim analysis, as its plan corrects it."""
    levels = test.levels() if test else Levels.of(call["family"])
    checks = _checks(compared, corrected, levels, call["family"]) | (test.columns() if test else {})
    return comparison_row(compared, corrected, levels, **call, **checks)


def _rows_in_text(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """The rows that sentences are made of: of a large family the pairs of its first candidate."""
    firsts = [row["a"] for row in shown_rows([{"a": row.a, "b": row.b} for row in rows])]
    return list(rows) if len(firsts) == len(rows) else [row for row in rows if row.a == firsts[0]]


def _text(rows: Sequence[ComparisonRow]) -> str:
    """A paragraph for each row."""
    paragraphs = []
    for subject, row in zip(_subjects(rows), rows, strict=True):
        paragraphs.append(" ".join(filter(None, (subject, row.basis, row.verdict))))
    return "\n\n".join(paragraphs)


def _subjects(rows: Sequence[ComparisonRow]) -> list[str]:
    """What each row is about, as far as the rows differ in it: 'harm by Ann on exam:', or nothing."""
    judged = {
        name for name in ("criterion", "rater", "benchmark") if len({getattr(row, name) for row in rows}) > 1
    }
    subjects = []
    for row in rows:
        words = [row.criterion] if judged else []
        words += [f"by {row.rater}"] if "rater" in judged and row.rater else []
        words += [f"on {row.benchmark}"] if "benchmark" in judged else []
        subjects.append(f"{' '.join(words)}:" if judged else "")
    return subjects


def _incomparable_row(incomparable: Incomparable, call: Mapping[str, Any]) -> ComparisonRow:
    """All columns of a pair that cannot be compared."""
    return ComparisonRow(
        **incomparable.pair.columns,
        **call,
        **_counts(incomparable.common, incomparable.pair.population),
        reason=incomparable.reason,
        verdict_code="incomparable",
        verdict=f"These two cannot be compared: {incomparable.reason}.",
    )


def comparison_row(compared: Compared, corrected: Corrected, levels: Levels, **more: Any) -> ComparisonRow:
    """The row of a pair that was compared, with its verdict in words; `more` are further columns."""
    pair, observed, change = compared.pair, compared.observed, compared.correction
    criterion = pair.measure.criterion
    # Holm has no simple simultaneous intervals, so the intervals of a family are Bonferroni's.
    alone, family_ends = (
        pair.in_units(Bounded.from_ends(observed.difference, observed.interval(level=level)))
        for level in levels
    )
    filled = _filled(compared, alone, levels.alone)
    verdict = verdict_on(pair.measure, verdict_of(compared, corrected, levels.family))
    certain = gate_interval(compared, levels.family)
    if is_confidence(pair.measure):  # neither of two loses on a scale without a better end
        certain = None
    values: dict[str, Any] = {
        **pair.columns,
        **alone.columns("difference"),
        **family_ends.ends("_family"),
        **filled.bound_columns(),
        "p": observed.p,
        "p_adjusted": corrected.observed,
        "mde_family": _mde(pair, observed, level=levels.family),
        **_scale_columns(compared),
        **_counts(change.judge if change else observed, pair.population),
        "test": observed.test,
        "verdict_code": verdict.code,
        "favours": None if verdict.code in HIGHER else verdict.favours,
        # The interval is of "better for A".
        "loss_a": certain and -certain.low,
        "loss_b": certain and certain.high,
        **({} if is_confidence(pair.measure) else unseen_losses(compared)),
    } | more
    row = ComparisonRow(**values)
    unlabelled = compared.missing - compared.failed
    words = sentence(row, verdict, criterion, compared.failed, unlabelled)
    return replace(
        row,
        basis=basis_of(row, compared, criterion),
        verdict=f"{words} {row.scope}" if row.scope else words,
        reason=reasons(*_reasons(row, compared, filled, family_ends)),
    )


def _scale_columns(compared: Compared) -> dict[str, Any]:
    """Whose scale the pair is on, and what people's scores did, in the metric's own direction."""
    pair, change = compared.pair, compared.correction
    if change is None:
        log = {"scale": LOG} if on_log_scale(pair.measure.criterion) else {}
        return scale_columns(pair.measure) | log
    return {
        **scale_columns(pair.measure, "prediction_powered"),
        "n_labelled": change.n_labelled,
        "n_unlabelled": change.n_unlabelled,
        "lambda_": change.lambda_,
        "difference_judge": change.judge.difference * pair.sign,
        "difference_people": change.difference_people * pair.sign,
    }


def _checks(compared: Compared, corrected: Corrected, levels: Levels, family: int) -> dict[str, Any]:
    """What stands beside the verdict on a pair: other tests, other items, and how many more it takes."""
    pair, observed, on_answered = compared.pair, compared.observed, compared.on_answered
    answered = Bounded()
    if on_answered:
        answered = Bounded.from_ends(on_answered.difference, on_answered.interval(level=levels.alone))
    n_answered = on_answered.n_items if on_answered else 0
    return {
        "q": corrected.q if family > 1 else None,  # of one test it is p
        "form_of": corrected.form_of,
        "p_flip": observed.p if observed.test != "t" else _p_flip(compared),
        "n_only_a": compared.n_only[0],
        "n_only_b": compared.n_only[1],
        **pair.in_units(answered).columns("difference", "_answered"),
        # On people's scale there is no comparison of its own on these.
        "n_answered": None if compared.correction else n_answered,
        "mde": _mde(pair, observed, level=levels.alone),
        "n_needed": _n_needed(compared, levels.family),
    }


def _reasons(
    row: ComparisonRow, compared: Compared, filled: Filled, family_ends: Bounded
) -> Iterator[str | None]:
    """Why figures are null or may lean, and why an interval and a verdict differ."""
    yield from _label_reasons(compared)
    if not filled.is_bounded:
        yield NO_FILLING if isinstance(compared.data, PooledFigures) else NO_LIMIT
    if not compared.observed.se:
        yield "all cases differ alike: without spread no detectable difference can be told"
    elif row.low is None or family_ends.low is None:
        yield NO_ENDS.get(compared.observed.test, FLIPPED)
    elif row.mde is None:
        yield FEW_FOR_MDE
    if row.verdict_code in DIFFERENT and family_ends.holds_zero:
        yield "p is by Holm, the interval of the family by Bonferroni, which is wider"


def _label_reasons(compared: Compared) -> Iterator[str]:
    """Why people's scores did not correct a pair, or may make it lean."""
    if compared.uncorrected:
        yield f"not corrected by people's scores: {compared.uncorrected}"
    if compared.correction and compared.correction.n_unlabelled:
        yield unlabelled_words(compared.correction.n_unlabelled)


def _mde(pair: Pair, observed: stats.Paired, *, level: float) -> float | None:
    # On a fixed benchmark the degrees of freedom are those of repeats, and cases are no sample.
    if pair.population == "fixed":
        return stats.mde(observed.se, df=observed.df, alpha=1 - level)
    return observed.mde(alpha=1 - level)


def _counts(paired: stats.Paired | None, population: str) -> dict[str, Any]:
    """Items and groups in common, and who was better on how many items; nothing where none are shared."""
    if paired is None:
        return {}
    return {
        "n_items": paired.n_items,
        "n_groups": paired.n_groups,
        "effective_cases": None if population == "fixed" else paired.effective_groups,
        "n_different": paired.n_different,
        "effective_different": None if population == "fixed" else paired.effective_different,
        "test": paired.test,
        "wins": paired.n_higher,
        "ties": paired.n_items - paired.n_higher - paired.n_lower,
        "losses": paired.n_lower,
    }


def _filled(compared: Compared, observed: Bounded, level: float) -> Filled:
    """What the failed scores could make of the difference; itself when nothing failed."""
    if not compared.missing:
        return Filled.complete(observed)
    # The counts of a failed score have no worst value, so a pooled figure has no bounds.
    if isinstance(compared.data, PooledFigures):
        return Filled(observed)
    return _bounds(compared, compared.data, level)


def _bounds(compared: Compared, data: ItemMeans | LabelledValues, level: float) -> Filled:
    """The differences that the failed scores could have led to, with their error."""
    pair, width = compared.pair, compared.pair.width
    sides = (compared.observed, *(compared.fillings or ()))
    by_test = [Bounded.from_ends(side.difference, side.interval(level=level)) for side in sides]
    if isinstance(data, LabelledValues):
        # What was observed and the two fillings, each corrected by the labels.
        bounds = outermost(by_test) if compared.fillings else stats.Bounds(None, None, None, None)
    else:
        bounds = data.bounds(None if width is None else -width, width, level)
        # A filling is judged by its own test, and bounds by another would contradict it.
        if pair.population == "fixed" or any(side.test != "t" for side in sides[1:]):
            _, worst, best = by_test if len(by_test) > 1 and width is not None else [Bounded()] * 3
            bounds = bounds._replace(bound_low=worst.low, bound_high=best.high)
    lowest, highest = (
        Bounded(bounds.set_low, bounds.bound_low),
        Bounded(bounds.set_high, None, bounds.bound_high),
    )
    return pair.in_units(Filled(Bounded(), lowest, highest))


def _p_flip(compared: Compared) -> float | None:
    """Sign flips of whole groups, a check on the t test; of pooled figures, swaps of their responses.

    Flipping asks about a sample of groups, which a fixed benchmark is not. The same in either order of the
    pair.
    """
    pair = compared.pair
    if pair.population == "fixed" or isinstance(compared.data, LabelledValues):
        return None
    criterion = pair.measure.criterion.criterion
    # Seeded by the pair alone, so p does not depend on which other pairs the call compares.
    names = "|".join((pair.benchmark, pair.measure.metric, criterion, *sorted((pair.a, pair.b))))
    rng = stats.seeded_rng(names)
    if isinstance(compared.data, PooledFigures):
        return (compared.data if pair.a < pair.b else compared.data.swapped()).swaps(rng).p
    return stats.sign_flips(compared.data.arrays().sums(), rng=rng).p


def _n_needed(compared: Compared, level: float) -> int | None:
    """Items it takes to find a difference of the margin four times in five; null without a margin."""
    pair, observed = compared.pair, compared.observed
    # The number comes from a declared margin: from the observed difference it would be post-hoc power.
    if pair.margin is None or not observed.se or pair.population == "fixed" or compared.correction:
        return None
    variance = stats.group_variance(observed.se, observed.n_groups, n_items=observed.n_items)
    evenness = observed.effective_groups / observed.n_groups
    groups = stats.groups_needed(
        pair.margin,
        variance,
        alpha=1 - level,
        evenness=evenness,
        df=observed.df,
        differing=observed.n_different / observed.n_groups or None,
    )
    return groups and stats.items_needed(groups, n_items=observed.n_items, n_groups=observed.n_groups)
