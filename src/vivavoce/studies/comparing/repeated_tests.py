"""Comparisons that are tested again: on the same data, or as interim analyses while data grow.

A digest of the scores behind each pair says whether two comparisons rest on the same data. A plan belongs to
a pair by a criterion. Each of its analyses holds tests and intervals to the level that `stats.nominal_alpha`
gives, so p, intervals and margins of a row all hold over the whole plan. Over the family of a call alpha is
shared alike (Bonferroni): Holm's larger shares would depend on the other pairs.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple, TypeVar

import polars as pl
import scipy

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.studies.comparing.evidence import Corrected, Levels, form_of
from vivavoce.studies.comparing.paired import Compared, Incomparable, Pair
from vivavoce.studies.comparing.verdicts import ComparisonRow
from vivavoce.studies.item_means import ItemMeans
from vivavoce.studies.row_parts import by_benchmark, select_rows
from vivavoce.studies.score_table import ITEM
from vivavoce.studies.text import listed

CONTENT = ("repeat", "pass_no", "unit", "ballot", "value", "status", "parts", "weight")
"""What a comparison reads of a score row, beside the item and the candidate."""
_LENGTH = 32
"""Hexadecimal digits of a digest."""


class PairKey(NamedTuple):
    """What is compared, whichever of the two is named first: `a` comes before `b` in the alphabet."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    a: str
    b: str

    @classmethod
    def of(cls, benchmark: str, measure: Measure, a: str, b: str) -> "PairKey":
        """The key of a pair by a measure."""
        first, second = sorted((a, b))
        return cls(benchmark, measure.metric, measure.criterion.criterion, measure.rater, first, second)

    @classmethod
    def named(cls, row: Mapping[str, Any]) -> "PairKey":
        """The key of a row of a comparison."""
        first, second = sorted((row["a"], row["b"]))
        return cls(row["benchmark"], row["metric"], row["criterion"], row["rater"], first, second)


def data_digests(
    scores: pl.DataFrame, measures: Mapping[int, Measure], names: Sequence[tuple[str, str]]
) -> dict[PairKey, str]:
    """For each pair of these names, by each measure, a digest of the scores that its comparison rests on.

    The digest is the same in any order of the score rows and of the pair. It changes with a value, a status,
    an item that both have scores on, a case, a weight or a version of the metric. Items that only one of the
    two has scores on do not matter.
    """
    hashes: dict[PairKey, Any] = {}
    # By signature: what a measure is called inside a run file is another in a copy.
    for key, measure in sorted(measures.items(), key=lambda keyed: keyed[1].signature):
        unedited = select_rows(scores, (pl.col("measure_id") == key) & (pl.col("edit") == ""))
        for benchmark, rows in by_benchmark(unedited):
            for names_of_pair in names:
                pair = PairKey.of(benchmark, measure, *names_of_pair)
                of_pair = hashes.setdefault(pair, hashlib.sha256(_line(pair)))
                of_pair.update(_line(measure.signature))
                # Hashed at once: the texts of all pairs would take more memory than the scores.
                of_pair.update(_content(select_rows(rows, pl.col("candidate").is_in(names_of_pair))))
    return {pair: of_pair.hexdigest()[:_LENGTH] for pair, of_pair in hashes.items()}


def comparison_digest(digests: Mapping[PairKey, str], settings: Mapping[str, Any]) -> str:
    """One digest of a whole comparison: of its pairs in any order, and of these settings."""
    lines = _line(sorted(digests.values())) + _line(sorted(settings.items()))
    return hashlib.sha256(lines).hexdigest()[:_LENGTH]


def _content(rows: pl.DataFrame) -> memoryview:
    """The score rows on items that both candidates have scores on, sorted, as text."""
    items = list(ITEM)
    shared = rows.group_by(items).agg(pl.col("candidate").n_unique()).filter(pl.col("candidate") > 1)
    columns = [*items, "candidate", *(name for name in CONTENT if name in rows.columns)]
    common = rows.select(columns).join(shared, on=items, how="semi")
    text = BytesIO()
    common.sort(columns, nulls_last=True).write_csv(text)
    return text.getbuffer()


def _line(content: Any) -> bytes:
    return (json.dumps(content) + "\n").encode()


_Pair = TypeVar("_Pair", Compared, Compared | Incomparable)
_LEAST_ALPHA = 1e-15
LEAST_UNLIMITED = 60
"""Cases from which on a plan's verdict is relied on where no limit of the scale bounds a loss."""
MOST_NAMED = 3
"""Pairs that a note names."""


class Plan(NamedTuple):
    """A plan before the analysis that is being made.

    `analyses` is how many it declared, null for any number; `earlier` are those made before on other data;
    `family` is the largest family that any of them was made in.
    """

    analyses: int | None
    earlier: tuple[stats.InterimAnalysis, ...] = ()
    family: int = 1

    @property
    def number(self) -> int:
        """Of the analysis that is being made."""
        return len(self.earlier) + 1


class PlannedTest(NamedTuple):
    """An interim analysis of a pair, sharing alpha with the comparisons of its `family`.

    `form_of` is the criterion that stands in the family for its own, else null; `q` is Benjamini-Hochberg's.
    """

    plan: Plan
    compared: Compared
    form_of: str | None
    family: int
    q: float = 1.0

    def levels(self) -> Levels:
        """The levels of its intervals, which hold over all analyses of the plan."""
        # The first of many analyses spends less than a float can hold, and a level of 1 has no interval.
        return Levels(*(1 - max(self._nominal(0.05 / k), _LEAST_ALPHA) for k in (1, self.family)))

    def p(self, paired: stats.Paired) -> float:
        """The p value of this test of the pair, corrected over the plan."""
        return stats.sequential_p(paired.p, self._history(paired), analyses=self.plan.analyses)

    @property
    def corrected(self) -> Corrected:
        """Its p values, corrected over the plan and by Bonferroni over the family."""
        alone = self.p(self.compared.observed)
        # A verdict must hold under both fillings, so the weaker evidence counts.
        filled = max(map(self.p, self.compared.fillings or (self.compared.observed,)))
        observed, filled = (min(1.0, self.family * p) for p in (alone, filled))
        return Corrected(observed, filled, self.q, self.form_of, alone)

    def columns(self) -> dict[str, Any]:
        """The columns of a row on its plan; `levels` made its intervals."""
        nominal = self._nominal(0.05 / self.family)
        spent = None
        if self.plan.analyses is not None:
            fraction = self.plan.number / self.plan.analyses
            spent = self.family * stats.obrien_fleming_spending(fraction, 0.05 / self.family)
        return {
            "p": self.p(self.compared.observed),
            # Sign flips are a check on one test, and would not hold over a plan.
            "p_flip": None,
            "analysis": self.plan.number,
            "analyses": self.plan.analyses,
            "alpha_spent": spent,
            "critical": -float(scipy.special.ndtri(nominal / 2)),
            "information": self._history(self.compared.observed)[-1].information,
        }

    def _nominal(self, alpha: float) -> float:
        history = self._history(self.compared.observed)
        return stats.nominal_alpha(history, analyses=self.plan.analyses, alpha=alpha)

    def _history(self, paired: stats.Paired) -> tuple[stats.InterimAnalysis, ...]:
        pair = self.compared.pair
        return (*self.plan.earlier, interim_analysis(self.plan.number, pair, paired))


def with_rare_losses(compared: _Pair) -> _Pair:
    """A pair of a plan, whose p and intervals allow for whole losses that are rare or were not seen.

    As it was where nothing bounds a loss (without two limits, of pooled figures, on people's scale, on a
    fixed benchmark) and where it is incomparable.
    """
    if not isinstance(compared, Compared):
        return compared
    pair, data = compared.pair, compared.data
    if pair.width is None or pair.population == "fixed" or not isinstance(data, ItemMeans):
        return compared
    span = pair.width

    def allowing(side: str, tested: stats.Paired) -> stats.Paired:
        values, groups, weighing = data.arrays(side)
        return tested.with_rare_losses(values, groups, span=span, weights=weighing["weights"])

    observed, fillings = allowing("observed", compared.observed), compared.fillings
    if fillings is not None:
        fillings = allowing("low", fillings[0]), allowing("high", fillings[1])
    return compared._replace(observed=observed, fillings=fillings)


def interim_analysis(number: int, pair: Pair, paired: stats.Paired) -> stats.InterimAnalysis:
    """What an analysis of the pair knows; nothing by t where an exact test gave its p."""
    information = 1 / paired.se**2 if paired.test == "t" and paired.se else None
    # A fixed benchmark is no sample of cases, so their sizes do not matter.
    cases = paired.n_groups if pair.population == "fixed" else paired.effective_groups
    return stats.InterimAnalysis(number, information, float(cases))


def planned_tests(
    compared: Sequence[Compared], leads: Sequence[int], plans: Mapping[PairKey, Plan], family: int
) -> list[PlannedTest]:
    """The interim analysis of each pair, all sharing alpha; `plans` holds those that have begun or begin.

    `leads` are as `leads_of` gives them.
    """
    of_pairs = [plans[key_of(pair.pair)] for pair in compared]
    # Else a pair picked from many after the first analyses would get the alpha of all of them.
    largest = max((family, *(plan.family for plan in of_pairs)))
    forms = [form_of(compared, k, lead) for k, lead in enumerate(leads)]
    tests = [PlannedTest(*test, largest) for test in zip(of_pairs, compared, forms, strict=True)]
    q = stats.benjamini_hochberg([test.p(test.compared.observed) for test in tests])
    return [test._replace(q=float(value)) for test, value in zip(tests, q, strict=True)]


def key_of(pair: Pair) -> PairKey:
    """What the pair's plan is found by."""
    return PairKey.of(pair.benchmark, pair.measure, pair.a, pair.b)


def notes_on_plans(rows: Sequence[ComparisonRow]) -> Iterator[str]:
    """What stands under interim analyses: which they are, and what was spent."""
    planned = [row for row in rows if row.analysis is not None]
    of_plans: dict[tuple[int | None, int | None], list[ComparisonRow]] = {}
    for row in planned:
        of_plans.setdefault((row.analysis, row.analyses), []).append(row)
    for first, *later_plans in of_plans.values():
        pairs = dict.fromkeys(f"{row.a} and {row.b}" for row in (first, *later_plans))
        scope = "" if len(of_plans) == 1 else f", of {', '.join(pairs)}"
        if first.analyses is None:
            yield (
                f"Interim analysis {first.analysis} of any number{scope} (confidence sequence): p values and "
                "intervals hold over all analyses together, however many there will be."
            )
        else:
            yield (
                f"Interim analysis {first.analysis} of {first.analyses}{scope} (O'Brien-Fleming spending): p "
                f"values and intervals hold over all {first.analyses} together; "
                f"{_share(first.alpha_spent or 0.0)} of alpha .05 is spent."
            )


def notes_on_losses(compared: Sequence[Compared]) -> Iterator[str]:
    """What a plan allows for where hardly a whole loss was seen, and what it cannot without limits."""
    if unseen := [pair for pair in compared if any(not side.hits for side in pair.observed.rare or ())]:
        yield (
            f"{_listed_pairs(unseen)}: p values and intervals of the plan allow for whole losses (over half "
            "the scale) that few or no questions showed, as many as may exist."
        )
    if few := list(filter(_is_unbounded, compared)):
        yield (
            f"{_listed_pairs(few)}: the scale has no two limits, so nothing bounds a loss that was not seen. "
            f"Rely on a verdict of this plan from {LEAST_UNLIMITED} cases on."
        )


def _is_unbounded(compared: Compared) -> bool:
    """Whether few cases were sampled on a scale without two limits."""
    pair = compared.pair
    is_sample = pair.width is None and pair.population == "sample"
    return is_sample and compared.observed.effective_groups < LEAST_UNLIMITED


def _listed_pairs(compared: Sequence[Compared]) -> str:
    names = dict.fromkeys(f"{pair.pair.a} against {pair.pair.b}" for pair in compared)
    return "All pairs" if len(names) > MOST_NAMED else listed(list(names))


def _share(alpha: float) -> str:
    return f"{alpha:.4f}"[1:] if alpha >= 0.00005 else "less than .0001"
