"""How many cases people have to label for a goal, before and after the first labels are there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce import stats
from vivavoce.people.label_goal import Frame, Goal, GoalFigures
from vivavoce.studies.text import count

Floats = NDArray[np.float64]
PILOT = 10
"""Labelled cases from which on their own spread is taken, and no assumption."""
ASSUMED = (0.0, 0.5, 0.8)
"""Correlations of people with the judge that stand in for labels."""
POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNeed:
    """How many labelled cases a goal takes by one criterion, under one correlation of people with the judge.

    `basis` is "labels" or "assumed". Beside figures with the judge stand those of labels `alone`. `n_width`
    reaches an interval of ± margin, `n_power` finds a difference of the margin four times in five; null if
    all cases are too few, and without a margin. `half_width` is what `n` labelled cases give.
    """

    criterion: str
    basis: str
    correlation: float
    people_sd: float
    judge_sd: float
    n_cases: int
    n_labelled: int
    n: int
    half_width: float
    half_width_alone: float
    half_width_all: float
    margin: float | None
    n_width: int | None
    n_width_alone: int | None
    n_power: int | None
    n_power_alone: int | None


class _Basis(NamedTuple):
    """What a need is computed from."""

    basis: str
    people_sd: float
    correlation: float


def label_needs(
    figures: Sequence[GoalFigures], frame: Frame, *, n: int, margin: float | None
) -> list[LabelNeed]:
    """How many labels a goal takes on the cases of a frame, by criterion."""
    needs = []
    for figure in figures:
        judge_sd, of_people = _spreads(figure, frame.earlier)
        bases = [of_people] if of_people else [_Basis("assumed", judge_sd, r) for r in ASSUMED]
        needs += [_need(figure, judge_sd, basis, n, margin) for basis in bases]
    return needs


def _need(figure: GoalFigures, judge_sd: float, basis: _Basis, n: int, margin: float | None) -> LabelNeed:
    """One need; `n` labelled cases are looked at as far as there are so many."""
    n_cases = len(figure.judged)
    spreads = {"judge_sd": judge_sd, "people_sd": basis.people_sd}
    joint, without_judge = (
        stats.label_half_widths(n_cases, **spreads, correlation=r) for r in (basis.correlation, 0.0)
    )
    width = power = None
    if margin and basis.people_sd:  # without a spread nothing is known of what the next labels will spread
        width, power = (
            stats.labels_needed(margin, n_cases=n_cases, **spreads, correlation=basis.correlation, power=p)
            for p in (None, POWER)
        )
    position = min(max(n, 2), n_cases) - 2
    return LabelNeed(
        criterion=figure.criterion.criterion,
        **basis._asdict(),
        judge_sd=judge_sd,
        n_cases=n_cases,
        n_labelled=len(figure.labelled),
        n=position + 2,
        half_width=float(joint[position]),
        half_width_alone=float(without_judge[position]),
        half_width_all=float(joint[-1]),
        margin=margin,
        n_width=width and width.n,
        n_width_alone=width and width.n_alone,
        n_power=power and power.n,
        n_power_alone=power and power.n_alone,
    )


def _spreads(figure: GoalFigures, earlier: Floats) -> tuple[float, _Basis | None]:
    """Standard deviation by case of the judge; of people, with the correlation, where labels suffice.

    A case counts by its sum of deviations over the mean size: the error of the mean is that over the root of
    the number of cases.
    """
    d, sizes = figure.judged, figure.sizes
    size = sizes.mean()
    x = (d - sizes * (d.sum() / sizes.sum())) / size
    judge_sd = float(np.sqrt((x @ x) / (len(x) - 1)))
    labelled = figure.labelled
    if len(labelled) < PILOT or (earlier[labelled] <= 0).any():
        return judge_sd, None
    w = 1 / earlier[labelled]
    w = w / w.sum()

    def deviations(sums: Floats) -> Floats:
        return np.asarray((sums - sizes[labelled] * (w @ sums) / (w @ sizes[labelled])) / size)

    y, judged = deviations(figure.labels), deviations(d[labelled])
    # One degree of freedom for the mean, of as many labels as the weights leave.
    effective_n = 1 / (w @ w)
    factor = effective_n / (effective_n - 1)
    of_people, of_judge = (float(np.sqrt(factor * (w @ v**2))) for v in (y, judged))
    product = of_people * of_judge
    r = float(factor * (w @ (y * judged)) / product) if product > 0 else 0.0
    return judge_sd, _Basis("labels", of_people, min(max(r, -1.0), 1.0))


def needs_text(goal: Goal, metric: str, needs: Sequence[LabelNeed]) -> str:
    """The needs in sentences and a table."""
    lines = []
    for criterion in dict.fromkeys(need.criterion for need in needs):
        rows = [need for need in needs if need.criterion == criterion]
        lines.append(
            f"{goal.text} by {criterion}: {metric} scored {count(rows[0].n_cases, 'case')}, "
            f"{rows[0].n_labelled:,} of them labelled by people."
        )
        figures = "differences" if len(goal.signs) > 1 else "scores"
        lines += [f"  {line}" for line in _lines(rows, figures)]
    return "\n".join(lines)


def _lines(rows: Sequence[LabelNeed], figures: str) -> list[str]:
    """The needs by one criterion, a line each."""
    first = rows[0]
    if not first.people_sd:
        source = "labels" if first.basis == "labels" else "judge's scores"
        return [f"The {source} do not differ between cases: nothing can be planned from them."]
    lines = [f"r = {need.correlation:.2f}: {_need_text(need)}" for need in rows]
    if first.basis == "assumed":
        state = f"Fewer than {PILOT} usable labels" if first.n_labelled else "Before any label"
        lines.insert(
            0,
            f"{state}: assumes people's {figures} spread like the judge's (standard deviation "
            f"{first.judge_sd:.3g} by case) and correlate with them as r says.",
        )
    return [*lines, f"All {first.n_cases:,} cases labelled give an interval of ±{first.half_width_all:.3g}."]


def _need_text(need: LabelNeed) -> str:
    if need.margin is None:
        return (
            f"{count(need.n, 'labelled case')} give an interval of ±{need.half_width:.3g} (without the judge "
            f"±{need.half_width_alone:.3g})."
        )

    width = _cases_text(need.n_width, need.n_width_alone)
    power = _cases_text(need.n_power, need.n_power_alone)
    return (
        f"an interval of ±{need.margin:g} takes {width}; to find a difference of {need.margin:g} four times "
        f"in five takes {power}."
    )


def _cases_text(n: int | None, without_judge: int | None) -> str:
    """So many labelled cases, and how many without the judge where that differs."""
    impossible = "more cases than there are"
    text = impossible if n is None else count(n, "labelled case")
    number = impossible if without_judge is None else f"{without_judge:,}"
    return text if n == without_judge else f"{text} (without the judge {number})"
