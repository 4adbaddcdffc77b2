"""Agreement: would the same answer get the same mark again, from the same examiner or from another?

Three contrasts, each with its own rows: `passes` of one examiner over the same response; `identical text`,
repeats that are word for word the same and so are passes in all but name, of marks that were recorded (a
judge that is asked here marks equal texts once); `raters`, several examiners on one criterion. The unit is
the response (or the repeated text; of answers set side by side, the response on one ballot: what stood beside
it is no noise), the interval comes from leaving out one case at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce.records import Finding, Measure
from vivavoce.specs import signed
from vivavoce.studies import Marks, by_answer, unweighted
from vivavoce.studies.examined import examined
from vivavoce.studies.figures import by_coefficient
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "Table", "coefficients", "findings", "retests"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "contrast", "candidate", "coefficient", "value"),
    *("low", "high"),
    *("n_units", "n_groups", "n_raters", "n_ratings", "n_dropped", "n_changed", "reason"),
)
COEFFICIENTS = ("alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "icc_a1", "percent")
MARK = ("item", "variant", "candidate", "repeat", "ballot")
"""What is marked again: an answer, or where answers stood side by side, its place on one ballot."""


class Table(NamedTuple):
    """Units by raters (or passes, or repeats), with what is missing; of one group each unit."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    contrast: str
    candidate: str
    values: "np.ndarray[Any, np.dtype[np.float64]]"
    missing: "np.ndarray[Any, np.dtype[np.bool_]]"
    groups: "np.ndarray[Any, Any]"


def findings(marks: Marks) -> Finding:
    """A row per contrast and coefficient: Krippendorff's alpha (nominal, ordinal, interval), AC1,
    ICC(A,1), percent.

    Marks that are not ok are missing ratings; units with fewer than two are dropped and counted.
    `n_changed` units did not get the same mark from all. A coefficient is null where the marks do not
    vary: undefined, not perfect.
    """
    import polars as pl

    single, notes = by_answer(marks.measures)
    marks = marks._replace(measures=single)
    ok = marks.scores.filter((pl.col("edit") == "") & (pl.col("status") == "ok"))
    tables = (*retests(ok, marks), *_raters(ok, marks.measures))
    rows = [row for table in tables for row in coefficients(table)]
    short = labels(marks.measures)
    names = {(m.metric, m.criterion.criterion, m.rater): short[key_of(m)] for m in marks.measures.values()}
    text = "\n".join(_sentences(rows, names)) or (
        "There is nothing to compare: no second pass, no second examiner, and no judged text that was "
        "answered twice; marks that are computed do not vary."
    )
    return Finding(
        study="agreement",
        rows=tuple(rows),
        text=text,
        notes=(*notes, *unweighted(marks.scores, "agreement counts")),
    )


def retests(ok: "pl.DataFrame", marks: Marks) -> Iterator[Table]:
    """By measure and benchmark its marks of the same response, and of a candidate's same text.

    `ok` are score rows that are ok.
    """
    import polars as pl

    for key, measure in marks.measures.items():
        own = ok.filter(pl.col("measure_id") == key)
        for (benchmark,), part in own.group_by("benchmark", maintain_order=True):
            place = (str(benchmark), measure.metric, measure.criterion.criterion, measure.rater)
            if part["pass_no"].n_unique() > 1:
                yield _table(*place, "passes", "", part, MARK, "pass_no")
            # A rule gives the same text the same mark, and a judge asked here marks it once for all that
            # share it: there is nothing to learn from either.
            if not (examined(measure) and signed(measure.signature).recorded):
                continue
            # On a ballot the same text stands beside others each time.
            alone = part.filter(pl.col("ballot") == "")
            first = alone.filter(pl.col("pass_no") == pl.col("pass_no").min())
            for (candidate,), said in first.group_by("candidate", maintain_order=True):
                if candidate in marks.identical and said["repeat"].n_unique() > 1:
                    yield _table(
                        *place, "identical text", str(candidate), said, ("item", "variant"), "repeat"
                    )


def _raters(ok: "pl.DataFrame", measures: Mapping[int, Measure]) -> Iterator[Table]:
    """Several raters on the criterion of one kind of measure."""
    import polars as pl

    families: dict[tuple[str, str], list[int]] = {}
    for key, m in measures.items():
        if m.rater:
            spec = signed(m.signature).spec
            kind = ", ".join(f"{k}={v}" for k, v in spec.settings.items() if k != "model")
            families.setdefault((f"{spec.name}({kind})", m.criterion.criterion), []).append(key)
    for (family, criterion), keys in families.items():
        if len({measures[key].rater for key in keys}) > 1:
            own = ok.filter(pl.col("measure_id").is_in(keys) & (pl.col("pass_no") == 1))
            for (benchmark,), part in own.group_by("benchmark", maintain_order=True):
                yield _table(str(benchmark), family, criterion, "", "raters", "", part, MARK, "rater")


def _table(
    benchmark: str,
    metric: str,
    criterion: str,
    rater: str,
    contrast: str,
    candidate: str,
    part: "pl.DataFrame",
    unit: Sequence[str],
    across: str,
) -> Table:
    import polars as pl

    wide = part.pivot(on=across, index=[*unit, "group"], values="value", aggregate_function="mean").sort(unit)
    ratings = wide.drop([*unit, "group"])
    missing = ratings.select(pl.all().is_null()).to_numpy()
    values = ratings.fill_null(0.0).to_numpy().astype(np.float64)
    return Table(
        benchmark, metric, criterion, rater, contrast, candidate, values, missing, wide["group"].to_numpy()
    )


def coefficients(t: Table) -> Iterator[dict[str, Any]]:
    """Every coefficient of a table, with its jackknife interval by group."""
    # Only now and then has a unit one rating; it can agree with nothing and is dropped once, for all.
    kept = (~t.missing).sum(axis=1) > 1
    values, missing, groups = t.values[kept], t.missing[kept], t.groups[kept]
    n_groups = len(set(groups.tolist()))
    high = np.where(missing, -np.inf, values).max(axis=1, initial=-np.inf)
    low = np.where(missing, np.inf, values).min(axis=1, initial=np.inf)
    shared = dict.fromkeys(COLUMNS) | {
        "benchmark": t.benchmark,
        "metric": t.metric,
        "criterion": t.criterion,
        "rater": t.rater,
        "contrast": t.contrast,
        "candidate": t.candidate,
        "n_units": int(kept.sum()),
        "n_groups": n_groups,
        "n_raters": t.values.shape[1],
        "n_ratings": int((~missing).sum()),
        "n_dropped": int((~kept).sum()),
        "n_changed": int((high - low > 1e-9).sum()),
    }
    for name in COEFFICIENTS:
        found = by_coefficient(name, values, groups, missing)
        yield shared | {"coefficient": name} | {k: found.get(k) for k in ("value", "low", "high", "reason")}


def _sentences(rows: list[dict[str, Any]], names: Mapping[tuple[str, str, str], str]) -> Iterator[str]:
    for row in rows:
        if row["coefficient"] != "alpha_ordinal":
            continue
        who = f", {row['candidate']}" if row["candidate"] else ""
        key = (row["metric"], row["criterion"], row["rater"])
        name = names.get(key, f"{row['metric']}: {row['criterion']}")
        what = f"{name} ({row['contrast']}{who}) on {row['benchmark']}"
        if row["value"] is None:
            yield f"{what}: {row['reason']}."
            continue
        ends = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
        yield (
            f"{what}: alpha (ordinal) {row['value']:.2f}{ends}; {row['n_changed']} of "
            f"{count(row['n_units'], 'unit')} in {count(row['n_groups'], 'case')} were not marked alike."
        )
