"""Gate: a comparison of a run, and whether it lets the new candidates pass."""

from collections.abc import Callable, Sequence

import polars as pl

from vivavoce.core.errors import SelectionError, VivaError
from vivavoce.core.records import Finding
from vivavoce.run.compare.outcomes import is_outcome
from vivavoce.run.tables.load import answers_of, load_items, select_items, select_signatures
from vivavoce.run.tables.named_scores import metric_and_criterion, scores_by
from vivavoce.store import read
from vivavoce.store.view import View
from vivavoce.studies.comparing.gate import (
    CriticalCount,
    Gate,
    GateTerms,
    check_terms,
    checks,
    critical_counts,
)
from vivavoce.studies.score_table import CONFIDENCE, is_confidence
from vivavoce.studies.thresholds import BadEnds, RedLine, parse_veto, red_lines


def gate_run(
    view: View,
    compare: Callable[..., Finding],
    terms: GateTerms,
    *,
    metric: str | None,
    margin: float | None,
    items: str | None,
) -> Gate:
    """The decision of a gate on what `compare` finds on these items.

    Raises `SelectionError` for terms that cannot be decided, before a comparison is made and counted.
    """
    if metric is None:
        raise SelectionError("a gate names its --metric: what else would count may change with the scores.")
    lines = _checked_lines(view, terms, metric=metric, margin=margin, items=items)
    responses = _responses(view, items) if lines else None  # before the comparison, which ends this state
    finding = compare(view, metric=metric, margin=margin, items=items)
    critical: Sequence[CriticalCount] = ()
    if responses is not None:
        new = dict.fromkeys(row["b"] for row in finding.rows if row["a"] == finding.rows[0]["a"])
        critical = critical_counts(lines, responses, list(new))
    return Gate(finding, checks(finding.rows, terms, critical))


def _checked_lines(
    view: View, terms: GateTerms, *, metric: str, margin: float | None, items: str | None
) -> tuple[RedLine, ...]:
    """The lines of the vetoes with the scores they are drawn on.

    Raises `SelectionError` for terms that cannot be decided: "not worse" needs a margin, of the call or
    declared by every criterion of the metric.
    """
    check_terms(terms)
    _require_better_end(view, metric)
    if terms.require == "not-worse" and margin is None:
        _require_declared_margins(view, metric)
    selected = select_items(view, items)
    vetoes = BadEnds(vetoes=tuple(map(parse_veto, terms.vetoes)))
    return red_lines(vetoes, lambda name: scores_by(view, name, selected))


def _require_better_end(view: View, metric: str) -> None:
    if _is_confidence(view, metric):
        raise SelectionError(
            f"a gate asks who is better, and more confident is not: {metric} opens and closes none. `viva "
            "compare` without a gate compares it."
        )


def _is_confidence(view: View, metric: str) -> bool:
    """Whether a name, whole or in part, is that of a confidence; what names nothing is refused later."""
    if is_outcome(view, metric, assisted=False):
        return metric == CONFIDENCE
    name, criterion = metric_and_criterion(view, metric)
    try:
        signatures = select_signatures(view, name) or ()
    except VivaError:
        return False
    measures = [keyed.measure for keyed in view.fetch(read.measures) if keyed.measure.signature in signatures]
    return any(is_confidence(m) and criterion in (None, m.criterion.criterion) for m in measures)


def _require_declared_margins(view: View, metric: str) -> None:
    if is_outcome(view, metric, assisted=False):
        raise SelectionError(
            f"--require not-worse asks by how much: name it with --margin, as the logarithm of a factor (0.1 "
            f"is 10 %): {metric} declare no smallest difference."
        )
    measures = [keyed.measure for keyed in view.fetch(read.measures)]
    signatures = select_signatures(view, metric) or ()
    without = [
        m.criterion.criterion
        for m in measures
        if m.signature in signatures and m.criterion.smallest_difference is None
    ]
    if without:
        raise SelectionError(
            f"--require not-worse asks by how much: {metric} declares no smallest difference of "
            f"{', '.join(dict.fromkeys(without))}, so name one with --margin, in its units."
        )


def _responses(view: View, items: str | None) -> pl.DataFrame:
    """The responses whose critical errors are counted, each with the format of its item."""
    key = ["benchmark", "item", "variant"]
    chosen = select_items(view, items)
    formats = load_items(view, chosen).select(*key, "format")
    answers = answers_of(view, chosen)(*key, "candidate", "repeat", edited=False)
    return answers.join(formats, on=key)
