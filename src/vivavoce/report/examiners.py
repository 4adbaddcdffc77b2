"""Who marked: every examiner of a run, what it left unmarked, and whether it was checked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.records import Measure
from vivavoce.specs import signed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["examiners"]

MOST_CAUSES = 3
_STATUSES = ("ok", "unanswered", "unreadable", "failed")


def examiners(
    scores: "pl.DataFrame", measures: Mapping[int, Measure], agreements: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A row per criterion of each examiner, in the order they came.

    `origin` is `computed` (a rule of this program) or `given elsewhere` (marks that were imported). `checked`
    is a sentence on its agreement with other raters, the newest of `agreements` (findings of the study of
    that name), null where there is none: then the examiner is unvalidated. `coverage` is the share of its
    marks that are ok; `n_set_aside` counts silences that enter no mean. `causes` are the commonest reasons
    of failures. Marks of edited answers do not count.
    """
    import polars as pl

    scores = scores.filter(pl.col("edit") == "")
    counts = {
        (key, status): n
        for key, status, n in scores.group_by("measure_id", "status").agg(pl.len()).iter_rows()
    }
    failed = (
        scores.filter(pl.col("status") == "failed")
        .group_by("measure_id", pl.col("note").fill_null("no answer was recorded"))
        .agg(pl.len())
    )
    causes: dict[int, Counter[str]] = {}
    for key, note, n in failed.iter_rows():
        causes.setdefault(key, Counter())[note] = n
    made = []
    for key, m in measures.items():
        c, mark = m.criterion, signed(m.signature)
        n = {status: counts.get((key, status), 0) for status in _STATUSES}
        silent = n["unanswered"] + n["unreadable"]
        reasons = sorted(causes.get(key, Counter()).items(), key=lambda found: (-found[1], found[0]))
        total = sum(n.values())
        made.append(
            {
                "metric": m.metric,
                "criterion": c.criterion,
                "rater": m.rater,
                "signature": m.signature,
                "version": mark.version,
                "origin": "given elsewhere" if mark.recorded else "computed",
                "low": c.low,
                "high": c.high,
                "direction": c.direction,
                "if_unanswered": c.if_unanswered,
                "n_marks": total,
                **{f"n_{status}": count for status, count in n.items()},
                "n_set_aside": silent if c.if_unanswered == "set_aside" else 0,
                "coverage": n["ok"] / total if total else None,
                "causes": dict(reasons[:MOST_CAUSES]),
                "checked": _checked(m, agreements),
                "reason": None if total else "no marks on these items",
            }
        )
    return made


def _checked(measure: Measure, agreements: Sequence[Mapping[str, Any]]) -> str | None:
    """What was found of this criterion's raters, whoever they are; the run does not say who is a person."""
    for row in agreements[-1]["rows"] if agreements else ():
        same = (row["metric"], row["criterion"]) == (measure.metric, measure.criterion.criterion)
        if same and row["contrast"] == "raters" and row["coefficient"] == "alpha_ordinal":
            if row["value"] is None:
                return None
            ends = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
            return f"Krippendorff's alpha between its raters: {row['value']:.2f}{ends}"
    return None
