"""Compare: A against B on the same items, and what may be said of it.

Two passes: first each pair by itself, then the family of all pairs, metrics and criteria of the call, which
corrects the p values and widens the intervals that the verdicts rest on. Criteria that are one number in
several forms are one of that family. Inside, differences are turned once so that above 0 favours A; rows give
them in the metric's own direction.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding, Measure
from vivavoce.studies.comparing.data_digest import PairKey
from vivavoce.studies.comparing.margin_intervals import gate_interval
from vivavoce.studies.comparing.paired import (
    Compared,
    Correction,
    Incomparable,
    Pair,
    PooledFigures,
    Population,
)
from vivavoce.studies.comparing.pairs import check_margin, pairs, pairs_of, shown_rows
from vivavoce.studies.comparing.sequential import (
    Plan,
    PlannedTest,
    corrections,
    notes_on_plans,
    planned_tests,
)
from vivavoce.studies.comparing.unseen_losses import notes_on_unseen_losses, unseen_losses
from vivavoce.studies.comparing.verdicts import (
    BETTER,
    ComparisonRow,
    Corrected,
    Levels,
    basis_of,
    correct,
    footnote,
    holds_zero,
    leads_of,
    note_on_logs,
    notes_on_forms,
    notes_on_people,
    sentence,
    verdict_of,
)
from vivavoce.studies.intervals import FLIPPED
from vivavoce.studies.labels import LabelledValues, unlabelled_words
from vivavoce.studies.pooling import NO_FILLING, on_log_scale
from vivavoce.studies.rater_scores import is_judge
from vivavoce.studies.scale import LOG, PEOPLE, scale_of
from vivavoce.studies.score_table import NO_LIMIT, SAMPLED, JudgedCriterion, Labels, span
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
    plans: Mapping[PairKey, Plan] | None = None,
) -> Finding:
    """A `ComparisonRow` per pair, benchmark, metric and criterion, and the sentences.

    `scores` are score rows with `measure_id`. `margin`, in the criterion's units, is the least difference
    that matters; without it a criterion's declared `smallest_difference` serves. With `all_pairs` these are
    compared however many candidates there are; `pairs_of` says which are else. `looks` counts the tests made
    on this run, this one included; where no pair can be compared it is none. `plans` hold the plan of each
    pair where these are interim analyses: then p, intervals and verdicts hold over all analyses. Figures
    of a pair that cannot be compared are null, with a `reason`. With `population` fixed only repeats vary,
    for gates that ask whether a system has changed; else the items are a sample, by group. `…_answered` are
    on what both answered. `loss_a` and `loss_b` are the most by which A and B could be worse, on the interval
    of a gate; `unseen_loss_a` and `unseen_loss_b` are the shares of cases that they could have lost whole
    (95 %), null where a loss over half the scale was seen. A pooled criterion is compared by its figures as a
    whole, each group left out of both in turn; a perplexity on the log scale (`scale` is log), where
    differences, their intervals and margins are natural logarithms of how many times A's figure is B's. Of
    criteria that are one number in several forms one is in the family; each of the others is corrected as if
    it stood in its place, and has its name as `form_of`, else null.

    `labels` are people's scores by measure, or why there are none. With them a row's `scale` is people and
    its `estimate_kind` prediction_powered: `lambda` says how far it rests on the rater's `difference_judge`,
    `difference_people` is of the `n_labelled` items alone, and `n_unlabelled` drawn cases have no label.
    Without labels a judge's row is `judge_alone`, its `scale` judge. `statuses` give judges their `stamp`.
    """
    check_margin(margin)
    if population not in get_args(Population):
        raise SelectionError(f"a population is {' or '.join(get_args(Population))}, not {population!r}.")
    names = pairs_of(candidates, against, all_pairs=all_pairs)
    results = list(pairs(scores, measures, names, margin=margin, population=population, labels=labels))
    compared = [pair for pair in results if isinstance(pair, Compared)]
    looks -= not compared  # what could not be compared was not tested
    leads = leads_of(compared)
    # Two forms of one number ask one question, so together they count as one test.
    family = max(1, len(set(leads)))
    corrected = _corrected(compared, leads, plans, family)
    rows = [
        _stamped(
            _row(pair, *next(corrected), family, looks)
            if isinstance(pair, Compared)
            else _incomparable_row(pair, family, looks),
            pair.pair,
            statuses,
        )
        for pair in results
    ]
    notes = (
        footnote(family, looks, margin, planned=plans is not None)
        if compared
        else "No pair could be compared, so nothing was tested.",
        *notes_on_plans(rows),
        *notes_on_forms(rows),
        *note_on_logs(pair.pair.measure.criterion for pair in compared),
        *([SAMPLED] if "weight" in scores.columns else []),
        *notes_on_unseen_losses(results, rows),
        *notes_on_people(compared, rows),
    )
    return Finding(
        study="compare", rows=tuple(map(as_mapping, rows)), text=_text(_rows_in_text(rows)), notes=notes
    )


def _corrected(
    compared: Sequence[Compared], leads: Sequence[int], plans: Mapping[PairKey, Plan] | None, family: int
) -> Iterator[tuple[Corrected, PlannedTest | None]]:
    """The corrected p values of each pair, with its interim analysis under a plan."""
    if plans is None:
        yield from ((corrected, None) for corrected in correct(compared, leads))
    else:
        tests = planned_tests(compared, leads, plans, family)
        yield from zip(corrections(tests), tests, strict=True)


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


def _shared(pair: Pair, family: int, looks: int) -> ComparisonRow:
    """The columns that a pair has whether or not it can be compared."""
    return ComparisonRow(
        benchmark=pair.benchmark,
        a=pair.a,
        b=pair.b,
        metric=pair.measure.metric,
        criterion=pair.measure.criterion.criterion,
        rater=pair.measure.rater,
        signature=pair.measure.signature,
        margin=pair.margin,
        margin_source=pair.margin_source,
        population=pair.population,
        family=family,
        looks=looks,
    )


def _stamped(row: ComparisonRow, pair: Pair, statuses: Mapping[JudgedCriterion, str]) -> ComparisonRow:
    """The row with what is known of its judge."""
    return replace(row, stamp=status_of(statuses, pair.benchmark, pair.measure))


def _incomparable_row(incomparable: Incomparable, family: int, looks: int) -> ComparisonRow:
    """All columns of a pair that cannot be compared."""
    pair, verdict = incomparable.pair, stats.Verdict("incomparable")
    row = replace(
        _shared(pair, family, looks),
        reason=incomparable.reason,
        **_counts(incomparable.common, pair.population),
    )
    words = sentence(row, verdict, pair.measure.criterion, incomparable.failed)
    return replace(row, verdict_code=verdict.code, verdict=words)


def paired_row(
    compared: Compared, corrected: Corrected, family: int, looks: int = 1, levels: Levels | None = None
) -> ComparisonRow:
    """The columns that follow from the differences and their correction; without the verdict."""
    pair, observed, change = compared.pair, compared.observed, compared.correction
    levels = levels or Levels.of(family)
    low, high = _ends(pair, observed.interval(level=levels.alone))
    # Holm has no simple simultaneous intervals, so the intervals of a family are Bonferroni's.
    low_family, high_family = _ends(pair, observed.interval(level=levels.family))
    return replace(
        _shared(pair, family, looks),
        difference=observed.difference * pair.sign,
        low=low,
        high=high,
        low_family=low_family,
        high_family=high_family,
        p=observed.p,
        p_adjusted=corrected.observed,
        mde_family=_mde(pair, observed, level=levels.family),
        **_scale_columns(pair, change),
        **_counts(change.judge if change else observed, pair.population) | {"test": observed.test},
    )


def _scale_columns(pair: Pair, change: Correction | None) -> dict[str, Any]:
    """Whose scale the pair is on, and what people's scores did, in the metric's own direction."""
    if change is None:
        judge_alone = is_judge(pair.measure)
        scale = LOG if on_log_scale(pair.measure.criterion) else scale_of("scores", judge_alone=judge_alone)
        return {"judge_alone": judge_alone, "scale": scale}
    return {
        "estimate_kind": "prediction_powered",
        "scale": PEOPLE,
        "n_labelled": change.n_labelled,
        "n_unlabelled": change.n_unlabelled,
        "lambda_": change.lambda_,
        "difference_judge": change.judge.difference * pair.sign,
        "difference_people": change.difference_people * pair.sign,
    }


def with_verdict(
    row: ComparisonRow, compared: Compared, corrected: Corrected, levels: Levels | None = None
) -> ComparisonRow:
    """The row with its verdict, in words."""
    criterion = compared.pair.measure.criterion
    level = (levels or Levels.of(row.family)).family
    verdict = verdict_of(compared, corrected, level)
    certain = gate_interval(compared, level)
    return replace(
        row,
        verdict_code=verdict.code,
        favours=verdict.favours,
        # The interval is of "better for A".
        loss_a=certain and -certain.low,
        loss_b=certain and certain.high,
        **unseen_losses(compared),
        basis=basis_of(row, compared, criterion),
        verdict=sentence(row, verdict, criterion, compared.failed, compared.missing - compared.failed),
    )


def _row(
    compared: Compared, corrected: Corrected, test: PlannedTest | None, family: int, looks: int
) -> ComparisonRow:
    """All columns of a pair that was compared; of an interim analysis, as its plan corrects them."""
    pair, observed, on_answered = compared.pair, compared.observed, compared.on_answered
    levels = test.levels() if test else Levels.of(family)
    level = levels.alone
    low_answered, high_answered = _ends(pair, on_answered.interval(level=level) if on_answered else None)
    row = replace(
        paired_row(compared, corrected, family, looks, levels),
        q=corrected.q if family > 1 else None,  # of one test it is p
        form_of=corrected.form_of,
        p_flip=observed.p if observed.test == "sign-flip" else _p_flip(compared),
        n_only_a=compared.n_only[0],
        n_only_b=compared.n_only[1],
        difference_answered=on_answered.difference * pair.sign if on_answered else None,
        low_answered=low_answered,
        high_answered=high_answered,
        n_answered=_n_answered(compared),
        mde=_mde(pair, observed, level=level),
        n_needed=_n_needed(compared, levels.family),
    )
    if test:
        row = test.columns(row, corrected)
    row = with_verdict(with_bounds(row, compared, level=level), compared, corrected, levels)
    return replace(row, reason="; ".join((*_label_reasons(compared), *_reasons(row, compared))) or None)


def _n_answered(compared: Compared) -> int | None:
    """Items that both answered; null on people's scale, which has no comparison of its own on these."""
    if compared.correction:
        return None
    return compared.on_answered.n_items if compared.on_answered else 0


def _label_reasons(compared: Compared) -> Iterator[str]:
    """Why people's scores did not correct a pair, or may make it lean."""
    if compared.uncorrected:
        yield f"not corrected by people's scores: {compared.uncorrected}"
    if compared.correction and compared.correction.n_unlabelled:
        yield unlabelled_words(compared.correction.n_unlabelled)


def _reasons(row: ComparisonRow, compared: Compared) -> Iterator[str]:
    """Why figures are null, and why an interval and a verdict differ."""
    observed = compared.observed
    if row.set_low is None or row.set_high is None:
        yield NO_FILLING if isinstance(compared.data, PooledFigures) else NO_LIMIT
    if not observed.se:
        yield "all cases differ alike: without spread no detectable difference can be told"
    elif row.low is None or row.low_family is None:
        yield FLIPPED
    elif row.mde is None:
        yield FEW_FOR_MDE
    if row.verdict_code in BETTER and holds_zero(row.low_family, row.high_family):
        yield "p is by Holm, the interval of the family by Bonferroni, which is wider"


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


def _ends(pair: Pair, ends: tuple[float | None, float | None] | None) -> tuple[float | None, float | None]:
    """An interval of "better for A", no wider than the range, in the metric's own direction."""
    low, high = ends or (None, None)
    # A t interval ignores the limits of the scale, but no difference is wider than the range.
    if pair.width is not None:
        low = None if low is None else max(low, -pair.width)
        high = None if high is None else min(high, pair.width)
    if pair.sign > 0:
        return low, high
    return (None if high is None else -high), (None if low is None else -low)


def with_bounds(row: ComparisonRow, compared: Compared, *, level: float = 0.95) -> ComparisonRow:
    """What the failed scores could make of the difference; the figures themselves when nothing failed."""
    if not compared.missing:
        return replace(
            row, set_low=row.difference, set_high=row.difference, bound_low=row.low, bound_high=row.high
        )
    pair, width = compared.pair, compared.pair.width
    # The counts of a failed score have no worst value, so a pooled figure has no bounds.
    if isinstance(compared.data, PooledFigures):
        return row
    if isinstance(compared.data, LabelledValues):
        return _with_labelled_bounds(row, compared, level)
    bounds = span(compared.data.items, ("d_low", "d_high"),
                  low=None if width is None else -width, high=width, level=level)  # fmt: skip
    # A filling is judged by its own test, and bounds by another would contradict it.
    if pair.population == "fixed" or any(filling.test == "sign-flip" for filling in compared.fillings or ()):
        bounds = _bounds_by_test(bounds, compared, level)
    set_low, set_high = _ends(pair, bounds[:2])
    bound_low, bound_high = _ends(pair, bounds[2:])
    return replace(row, set_low=set_low, set_high=set_high, bound_low=bound_low, bound_high=bound_high)


def _with_labelled_bounds(row: ComparisonRow, compared: Compared, level: float) -> ComparisonRow:
    """The bounds on people's scale: what was observed and the two fillings, each corrected by the labels."""
    if compared.fillings is None:
        return row
    pair, filled = compared.pair, [compared.observed, *compared.fillings]
    differences = [paired.difference for paired in filled]
    set_low, set_high = _ends(pair, (min(differences), max(differences)))
    intervals = [ends for paired in filled if (ends := paired.interval(level=level))]
    bound_low = bound_high = None
    if len(intervals) == len(filled):
        lows, highs = zip(*intervals, strict=True)
        bound_low, bound_high = _ends(pair, (min(lows), max(highs)))
    return replace(row, set_low=set_low, set_high=set_high, bound_low=bound_low, bound_high=bound_high)


def _bounds_by_test(bounds: stats.Bounds, compared: Compared, level: float) -> stats.Bounds:
    """The bounds by the tests of the fillings; null without fillings or without a range."""
    width = compared.pair.width
    if compared.fillings is None or width is None:
        return bounds._replace(bound_low=None, bound_high=None)
    worst, best = (filling.interval(level=level) for filling in compared.fillings)
    return bounds._replace(
        bound_low=None if worst is None else max(worst.low, -width),
        bound_high=None if best is None else min(best.high, width),
    )


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
    seed = int.from_bytes(hashlib.sha256(names.encode()).digest()[:8], "big")
    rng = np.random.default_rng(seed)
    if isinstance(compared.data, PooledFigures):
        return (compared.data if pair.a < pair.b else compared.data.swapped()).swaps(rng).p
    return stats.sign_flips(compared.data.arrays("d").sums(), rng=rng).p


def _n_needed(compared: Compared, level: float) -> int | None:
    """Items it takes to find a difference of the margin four times in five; null without a margin."""
    pair, observed = compared.pair, compared.observed
    # The number comes from a declared margin: from the observed difference it would be post-hoc power.
    if pair.margin is None or not observed.se or pair.population == "fixed" or compared.correction:
        return None
    variance = stats.group_variance(observed.se, observed.n_groups, n_items=observed.n_items)
    evenness = observed.effective_groups / observed.n_groups
    groups = stats.groups_needed(pair.margin, variance, alpha=1 - level, evenness=evenness)
    return groups and stats.items_needed(groups, n_items=observed.n_items, n_groups=observed.n_groups)
