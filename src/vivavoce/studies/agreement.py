"""Agreement: would the same answer get the same mark again, from the same examiner or from another?

Three contrasts, each with its own rows: `passes` of one examiner over the same response; `identical text`,
repeats that are word for word the same and so are passes in all but name, of marks that were recorded (a
judge that is asked here marks equal texts once); `raters`, several examiners on one criterion. The unit is
the response (or the repeated text), the interval comes from leaving out one case at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Finding, Measure
from vivavoce.specs import signed
from vivavoce.studies import Marks, by_answer, unweighted
from vivavoce.studies.examined import LEAST_GROUPS, examined
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
                unit = ["item", "variant", "candidate", "repeat"]
                yield _table(*place, "passes", "", part, unit, "pass_no")
            # A rule gives the same text the same mark, and a judge asked here marks it once for all that
            # share it: there is nothing to learn from either.
            if not (examined(measure) and signed(measure.signature).recorded):
                continue
            first = part.filter(pl.col("pass_no") == pl.col("pass_no").min())
            for (candidate,), said in first.group_by("candidate", maintain_order=True):
                if candidate in marks.identical and said["repeat"].n_unique() > 1:
                    yield _table(
                        *place, "identical text", str(candidate), said, ["item", "variant"], "repeat"
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
                unit = ["item", "variant", "candidate", "repeat"]
                yield _table(str(benchmark), family, criterion, "", "raters", "", part, unit, "rater")


def _table(
    benchmark: str,
    metric: str,
    criterion: str,
    rater: str,
    contrast: str,
    candidate: str,
    part: "pl.DataFrame",
    unit: list[str],
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
    for name, coefficient in _COEFFICIENTS.items():
        row = shared | {"coefficient": name}
        if n_groups < LEAST_GROUPS:
            yield row | {"reason": f"{count(n_groups, 'case')}: too few to tell"}
            continue

        def value(at: Any, how: Any = coefficient) -> float | None:
            return how(values[at], missing[at])  # type: ignore[no-any-return]

        scale = "raw" if name == "percent" else "z"
        found = stats.by_group_jackknife(value, groups, scale=scale)  # type: ignore[arg-type]
        reason = "the marks do not vary" if found.value is None else None
        if found.value is not None and found.low is None:
            reason = "leaving a case out makes it undefined or perfect: no interval"
        yield row | {"value": found.value, "low": found.low, "high": found.high, "reason": reason}


_COEFFICIENTS: dict[str, Callable[[Any, Any], float | None]] = {
    "alpha_nominal": lambda v, m: stats.krippendorff_alpha(v, "nominal", missing=m).value,
    "alpha_ordinal": lambda v, m: stats.krippendorff_alpha(v, "ordinal", missing=m).value,
    "alpha_interval": lambda v, m: stats.krippendorff_alpha(v, "interval", missing=m).value,
    "ac1": lambda v, m: stats.gwet_ac1(v, missing=m).value,
    "icc_a1": lambda v, m: stats.icc_a1(v, missing=m).value,
    "percent": lambda v, m: stats.percent_agreement(v, missing=m).value,
}


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
