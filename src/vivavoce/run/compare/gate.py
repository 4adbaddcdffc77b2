"""Gate: a comparison of a run, and whether it lets the new candidates pass."""

from collections.abc import Callable, Sequence

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.tables.load import answers_of, load_items, select_items, select_signatures
from vivavoce.run.tables.named_scores import scores_by
from vivavoce.store import read
from vivavoce.store.runfile import RunFile
from vivavoce.studies.comparison.critical import CriticalCount, critical_counts
from vivavoce.studies.comparison.gate import Gate, GateTerms, check_terms, checks
from vivavoce.studies.thresholds import BadEnds, RedLine, parse_veto, red_lines


def gate_run(
    run: RunFile,
    compare: Callable[..., Finding],
    terms: GateTerms,
    *,
    metric: str,
    margin: float | None,
    items: str | None,
) -> Gate:
    """The decision of a gate on what `compare` finds on these items.

    Raises `SelectionError` for terms that cannot be decided, before a comparison is made and counted.
    """
    lines = _checked_lines(run, terms, metric=metric, margin=margin, items=items)
    return _decide(run, compare(metric=metric, margin=margin, items=items), terms, lines, items=items)


def _checked_lines(
    run: RunFile, terms: GateTerms, *, metric: str, margin: float | None, items: str | None
) -> tuple[RedLine, ...]:
    """The lines of the vetoes with the scores they are drawn on.

    Raises `SelectionError` for terms that cannot be decided: "not worse" needs a margin, of the call or
    declared by every criterion of the metric.
    """
    check_terms(terms)
    if terms.require == "not-worse" and margin is None:
        _require_declared_margins(run, metric)
    selected = select_items(run, items)
    vetoes = BadEnds(vetoes=tuple(map(parse_veto, terms.vetoes)))
    return red_lines(vetoes, lambda name: scores_by(run, name, selected))


def _require_declared_margins(run: RunFile, metric: str) -> None:
    with run.reading() as db:
        measures = [keyed.measure for keyed in read.measures(db)]
    signatures = select_signatures(run, metric) or ()
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


def _decide(
    run: RunFile, finding: Finding, terms: GateTerms, lines: Sequence[RedLine], *, items: str | None
) -> Gate:
    """The decision of a gate on a comparison of this run."""
    critical: Sequence[CriticalCount] = ()
    if lines:
        chosen = select_items(run, items)
        key = ["benchmark", "item", "variant"]
        formats = load_items(run, chosen).select(*key, "format")
        answers = answers_of(run, chosen)(*key, "candidate", "repeat", edited=False)
        responses = answers.join(formats, on=key)
        new = dict.fromkeys(row["b"] for row in finding.rows if row["a"] == finding.rows[0]["a"])
        critical = critical_counts(lines, responses, list(new))
    return Gate(finding, checks(finding.rows, terms, critical))
