"""The verb behind `viva table`: a table of a run for a paper, as text."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from vivavoce.core.errors import InputError
from vivavoce.report.paper.tables import (
    PaperTable,
    agreement_table,
    comparisons_table,
    estimates_table,
    flow_table,
)
from vivavoce.report.paper.writers import WRITERS, Form
from vivavoce.run.run import Run

Content = Literal["estimates", "comparisons", "agreement", "flow"]


def paper_table(run: Run, content: Content, *, format: Form = "latex", metric: Sequence[str] = ()) -> str:
    """A table of the run: estimates, comparisons, agreement, or the flow of answers, in this form.

    `metric` names the measures, by default all; comparisons take one, by default that of `Run.compare`, and
    count as a comparison does. Raises `InputError` for a word that is no table or form, or where the run has
    nothing for it.
    """
    for word, allowed, kind in ((content, get_args(Content), "table"), (format, tuple(WRITERS), "format")):
        if word not in allowed:
            raise InputError(f"no {kind} {word!r}: it is {' or '.join(allowed)}.")
    table = _table(run, content, metric)
    if not table.rows:
        raise InputError(f"{run.file.path} has nothing for a table of {content} yet.")
    return WRITERS[format](table)


def _table(run: Run, content: Content, metric: Sequence[str]) -> PaperTable:
    if content == "comparisons":
        if len(metric) > 1:
            raise InputError("a table of comparisons is of one metric: name it once.")
        compared = run.compare(metric=metric[0] if metric else None)
        return comparisons_table(compared.rows, compared.notes)
    if content == "agreement":
        rows: Any = run.study("agreement")["agreement"].rows
        return agreement_table(_chosen(rows, metric))
    if content == "flow":
        return flow_table(_chosen([row for row in run.status().rows if row["about"] == "marks"], metric))
    return estimates_table(_chosen(run.estimates().rows, metric))


def _chosen(rows: Sequence[Any], metric: Sequence[str]) -> list[Any]:
    """The rows of these metrics, or all. Raises `InputError` for a metric that has none."""
    names = {row["metric"] for row in rows}
    for name in metric:
        if name not in names:
            raise InputError(f"no metric {name!r} here: there are {', '.join(sorted(filter(None, names)))}.")
    return [row for row in rows if not metric or row["metric"] in metric]
