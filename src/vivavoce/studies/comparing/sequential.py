"""Comparisons that are tested again while data grow: their p values and levels, corrected over a plan.

A plan belongs to a pair by a criterion. Each of its analyses holds tests and intervals to the level that
`stats.nominal_alpha` gives, so p, intervals and margins of a row all hold over the whole plan. Over the
family of a call alpha is shared alike (Bonferroni): Holm's larger shares would depend on the other pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import scipy

from vivavoce import stats
from vivavoce.studies.comparing.data_digest import PairKey
from vivavoce.studies.comparing.paired import Compared, Pair
from vivavoce.studies.comparing.verdicts import ComparisonRow, Corrected, Levels, form_of

_LEAST_ALPHA = 1e-15


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

    `form_of` is the criterion that stands in the family for its own, else null.
    """

    plan: Plan
    compared: Compared
    form_of: str | None
    family: int

    def levels(self) -> Levels:
        """The levels of its intervals, which hold over all analyses of the plan."""
        # The first of many analyses spends less than a float can hold, and a level of 1 has no interval.
        return Levels(*(1 - max(self._nominal(0.05 / k), _LEAST_ALPHA) for k in (1, self.family)))

    def p(self, paired: stats.Paired) -> float:
        """The p value of this test of the pair, corrected over the plan."""
        return stats.sequential_p(paired.p, self._history(paired), analyses=self.plan.analyses)

    def worse_p(self) -> float:
        """The larger p value of the two fillings of failed scores; its own where nothing failed."""
        # A verdict must hold under both fillings, so the weaker evidence counts.
        return max(map(self.p, self.compared.fillings or (self.compared.observed,)))

    def columns(self, row: ComparisonRow, corrected: Corrected) -> ComparisonRow:
        """The row with what it says of its plan; `levels` made its intervals."""
        nominal = self._nominal(0.05 / self.family)
        spent = None
        if self.plan.analyses is not None:
            fraction = self.plan.number / self.plan.analyses
            spent = self.family * stats.obrien_fleming_spending(fraction, 0.05 / self.family)
        return replace(
            row,
            p=corrected.alone,
            # Sign flips are a check on one test, and would not hold over a plan.
            p_flip=None,
            analysis=self.plan.number,
            analyses=self.plan.analyses,
            alpha_spent=spent,
            critical=-float(scipy.special.ndtri(nominal / 2)),
            information=self._history(self.compared.observed)[-1].information,
        )

    def _nominal(self, alpha: float) -> float:
        history = self._history(self.compared.observed)
        return stats.nominal_alpha(history, analyses=self.plan.analyses, alpha=alpha)

    def _history(self, paired: stats.Paired) -> tuple[stats.InterimAnalysis, ...]:
        pair = self.compared.pair
        return (*self.plan.earlier, interim_analysis(self.plan.number, pair, paired))


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
    return [PlannedTest(*test, largest) for test in zip(of_pairs, compared, forms, strict=True)]


def key_of(pair: Pair) -> PairKey:
    """What the pair's plan is found by."""
    return PairKey.of(pair.benchmark, pair.measure, pair.a, pair.b)


def corrections(tests: Sequence[PlannedTest]) -> list[Corrected]:
    """The p values of interim analyses, corrected over their plans and by Bonferroni over the family."""
    p_values = [test.p(test.compared.observed) for test in tests]
    q = stats.benjamini_hochberg(p_values)
    return [
        Corrected(
            observed=min(1.0, test.family * p_values[k]),
            filled=min(1.0, test.family * test.worse_p()),
            q=float(q[k]),
            form_of=test.form_of,
            alone=p_values[k],
        )
        for k, test in enumerate(tests)
    ]


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


def _share(alpha: float) -> str:
    return f"{alpha:.4f}"[1:] if alpha >= 0.00005 else "less than .0001"
