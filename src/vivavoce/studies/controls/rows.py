"""The rows of the examiner's card on control cases: one of each kind, and one of all."""

from dataclasses import dataclass

from vivavoce.stats import ControlVerdict
from vivavoce.studies.study import MeasureRow

ALL = "all"
"""The control of the row that is about every kind together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRow(MeasureRow):
    """One measure against one kind of control on one benchmark; what cannot be had is null with a reason.

    `control` is the kind, or `all`; `expects` what an honest examiner does with it (`lower`, `no_higher`).
    `p_greater` is P(real > control) + P(tie) / 2 with its interval. `difference` is real less control in the
    metric's units, turned so that above 0 the real text is better, with the interval that the verdict rests
    on. `p` is two-sided against a difference that lies on the line of `margin`; `p_adjusted` is Holm's over
    the kinds of the examiner. `set_…` and `bound_…` are what the failed scores could make of the difference,
    without and with sampling error. `mde` is the smallest distance from the line that is told four times in
    five, `n_needed` the questions at which that is one margin. `n_unanswered` are the controls that the
    examiner's reading took for no answer, `n_without_real` the controls of an answer that is none itself:
    they have no pair. `n_candidates` counts ceilings too. Of injections `n_strata_shown` counts the forms and
    languages that were in enough cases, of `n_strata`; `stratum` is the one that gained most, by
    `stratum_gain` in `n_stratum_cases` cases, and `p_stratum` the p of the greatest gain of all, corrected
    for the kinds. In the row of `all`, items, cases and candidates
    are the fewest of any kind, the other counts are sums, and `p` is that of the conjunction where each kind
    points to "not fooled". `example_…` names the pair in which the control gained most on the real text.
    """

    control: str
    expects: str | None = None
    p_greater: float | None = None
    p_greater_low: float | None = None
    p_greater_high: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    margin: float | None = None
    margin_source: str | None = None
    p: float | None = None
    p_adjusted: float | None = None
    verdict: ControlVerdict | None = None
    n_items: int = 0
    n_groups: int = 0
    effective_cases: float | None = None
    n_different: int = 0
    n_candidates: int = 0
    n_draws: int = 0
    n_pairs: int = 0
    n_failed: int = 0
    n_unanswered: int = 0
    n_without_real: int = 0
    set_low: float | None = None
    set_high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    mde: float | None = None
    n_needed: int | None = None
    n_strata: int | None = None
    n_strata_shown: int | None = None
    stratum: str | None = None
    stratum_gain: float | None = None
    n_stratum_cases: int | None = None
    p_stratum: float | None = None
    example_item: str | None = None
    example_variant: str | None = None
    example_candidate: str | None = None
    example_repeat: int | None = None
    example_edit: str | None = None
    example_real: float | None = None
    example_control: float | None = None
    reason: str | None = None
