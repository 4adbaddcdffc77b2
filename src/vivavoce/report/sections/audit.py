"""The section of the audit: one row for each measure, instead of one for each figure."""

from collections.abc import Mapping
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report.data import Rows
from vivavoce.report.section import Section
from vivavoce.studies.audit.figures import HELD


@section("audit")
class Audit(Section):
    """Which measures deserve belief."""

    methods = (
        "Measures were audited against people's scores, or those of a trusted judge where the text says "
        "so: by Pearson's correlation of scores centred at their question, and at their candidate too "
        "(candidates held), with intervals from leaving out one case at a time, and by Kendall's tau-b of "
        "candidates' means. A small set was chosen, candidates held, on one half "
        "of the cases by what each measure adds to those before it, and tested in that order on the other "
        "half, from which all figures of the choice come. Contrast pairs of opposite texts were scored by "
        "rules and embeddings."
    )
    order = 75

    def table(self, rows: Rows) -> Rows:
        """A row for each measure of each benchmark."""
        by_measure: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for row in rows:
            key = tuple(str(row[name]) for name in ("benchmark", "signature", "criterion", "rater"))
            by_measure.setdefault(key, []).append(row)
        closest = _closest(rows)
        return [_summary(of_measure, closest) for of_measure in by_measure.values()]


def _closest(rows: Rows) -> dict[tuple[str, str], tuple[float, str]]:
    """By benchmark and measure the highest correlation with another one, and which that is."""
    closest: dict[tuple[str, str], tuple[float, str]] = {}
    for row in rows:
        if row["part"] == "redundancy" and row["value"] is not None:
            first, second = row.get("measure", row["metric"]), row["against"]
            for name, neighbour in ((first, second), (second, first)):
                key = (row["benchmark"], name)
                closest[key] = max(closest.get(key, (-2.0, "")), (row["value"], neighbour))
    return closest


def _summary(rows: Rows, closest: Mapping[tuple[str, str], tuple[float, str]]) -> dict[str, Any]:
    """The figures of one measure that a reader compares."""

    def of(part: str, **columns: Any) -> Mapping[str, Any]:
        matching = (r for r in rows if r["part"] == part and all(r[k] == v for k, v in columns.items()))
        return next(matching, {})

    within_questions = of("agreement", figure="pearson", contrast="delivered")
    row_held = of("agreement", contrast=HELD)
    yes_no = [r["alike"] for r in rows if r["part"] == "polarity" and r["against"] == "yes_no"]
    separated = None if None in yes_no or not yes_no else "no" if any(yes_no) else "yes"
    benchmark, name = rows[0]["benchmark"], rows[0].get("measure", rows[0]["metric"])
    correlation, neighbour = closest.get((benchmark, name), (None, None))
    return {
        "measure": name,
        "benchmark": benchmark,
        "keep": of("choice", contrast="alone").get("chosen"),
        "within questions": within_questions.get("value"),
        HELD: row_held.get("value"),
        "low": row_held.get("low"),
        "high": row_held.get("high"),
        "of candidates": of("agreement", figure="kendall").get("value"),
        "most like": neighbour,
        "their correlation": correlation,
        "from wording": of("rephrasing").get("value"),
        "with words": of("length", contrast="words").get("value"),
        "spread from silence": of("silence", figure="variance_share").get("value"),
        "tells Yes from No": separated,
        "contradictions told": of("polarity", figure="told_apart").get("value"),
    }
