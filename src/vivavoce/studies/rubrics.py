"""Rubrics: which version of a judge's rubric agrees best with people, on cases that had no part in choosing.

The best of several is best partly by luck. So the cases are cut in two: one half chooses, the other reports,
and what the chosen rubric loses on the way is the luck. Where nothing but the judge itself could choose, the
study says that this is a circle, and chooses nothing.
"""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Finding, Measure
from vivavoce.specs import Spec, signed
from vivavoce.studies import LEAST_GROUPS, Marks, by_answer, unweighted
from vivavoce.studies.circles import circles
from vivavoce.studies.examined import RESPONSE, Examiner, examiners, is_judge, marked
from vivavoce.studies.figures import Row, by_jackknife, by_mean, ends, less
from vivavoce.studies.labelled import given, unlike
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "metric", "signature", "rater", "criterion", "half", "figure", "other", "value", "low"),
    *("high", "se", "n_units", "n_groups", "n_people", "chosen", "optimism", "reason"),
)
HALVES = ("choose", "report")


def findings(marks: Marks) -> Finding:
    """Rows of `COLUMNS` per benchmark, criterion and rubric of one judge (same model, same other settings).

    `alpha_ordinal` of the judge with each person's labels, on the half of the cases that chooses and on the
    half that reports; both halves hold the same responses for all rubrics. `chosen` is the rubric with the
    highest on the choosing half, the first of equal ones; its `optimism` is that figure less the one on the
    reporting half. `difference` is the chosen one's less the `other`'s on the reporting half. Halves are cut
    by a hash of the group's name, so that the same cases fall to the same side in every run. Without labels
    the rows are `ceiling_mean`, what a rubric gives the ceiling, which may not choose.
    """
    single, notes = by_answer(marks.measures)
    marks = marks._replace(measures=single)
    sets = list(_versions(marks))
    if not sets:
        return Finding(
            study="rubrics", rows=(), text="No judge of this run marked by two rubrics: nothing to compare.",
            notes=notes,
        )  # fmt: skip
    rows: list[Row] = []
    said: list[str] = []
    for versions in sets:
        shared = [c for c in versions[0].keys if all(c in e.keys for e in versions)]
        for criterion in shared:
            found, told = _compared(marks, versions, criterion)
            rows.extend(found)
            said.extend(told)
        if not shared:
            said.append(f"{_names(versions)} share no criterion: nothing to compare.")
        said.extend(circles(marks, versions[0], _names(versions)))
    return Finding(
        study="rubrics",
        rows=tuple(rows),
        text="\n".join(said),
        notes=(*notes, *unweighted(marks.scores, "these figures count")),
    )


def _versions(marks: Marks) -> Iterator[list[Examiner]]:
    """Examiners that differ in the rubric alone: in its name, the file behind it, or the reference shown."""
    alike: dict[tuple[Any, ...], list[Examiner]] = {}
    for examiner in examiners(marks):
        if is_judge(marks.measures[next(iter(examiner.keys.values()))]):
            spec = signed(examiner.signature).spec
            rest = tuple((k, str(v)) for k, v in spec.settings.items() if k not in ("rubric", "reference"))
            alike.setdefault((spec.name, rest, examiner.rater), []).append(examiner)
    yield from (versions for versions in alike.values() if len(versions) > 1)


def _short(examiner: Examiner, versions: list[Examiner]) -> str:
    """The settings that tell a rubric from the others, or its version where none do."""
    mark = signed(examiner.signature)

    def told(spec: Spec) -> str:
        settings = {k: spec.settings[k] for k in ("rubric", "reference") if k in spec.settings}
        return ", ".join(str(v) if k == "rubric" else f"{k}={str(v).lower()}" for k, v in settings.items())

    name = told(mark.spec) or str(mark.spec)
    same = [e for e in versions if (told(signed(e.signature).spec) or str(signed(e.signature).spec)) == name]
    return f"{name} @{mark.version}" if len(same) > 1 else name


def _names(versions: list[Examiner]) -> str:
    return ", ".join(_short(e, versions) for e in versions)


def _compared(marks: Marks, versions: list[Examiner], criterion: str) -> tuple[list[Row], list[str]]:
    """Rows and sentences of one criterion."""
    import polars as pl

    measures = [marks.measures[e.keys[criterion]] for e in versions]
    reason = next((why for m in measures if (why := unlike(marks, m))), None)
    if reason:
        found = list(_ceilings(marks, versions, criterion))
        return found, [f"{criterion}, rubrics {_names(versions)}: {reason}."] if marks.people else []
    table = given(marks, criterion)
    for n, examiner in enumerate(versions):
        own = marked(marks, examiner.keys[criterion]).select(*RESPONSE, pl.col("value").alias(f"rubric {n}"))
        table = table.join(own, on=list(RESPONSE), validate="m:1")
    rows: list[Row] = []
    said = []
    for (benchmark,), part in table.sort(*RESPONSE, "person").group_by("benchmark", maintain_order=True):
        found, line = _on_halves(part, str(benchmark), versions, measures)
        rows.extend(found)
        said.append(f"{criterion} on {benchmark}, rubrics {_names(versions)}: {line}")
    if not rows:
        said.append(
            f"{criterion}, rubrics {_names(versions)}: no answer has labels and marks by all of them."
        )
    return rows, said


def _row(benchmark: str, measure: Measure, **values: Any) -> Row:
    return dict.fromkeys(COLUMNS) | {
        "benchmark": benchmark,
        "metric": measure.metric,
        "signature": measure.signature,
        "rater": measure.rater,
        "criterion": measure.criterion.criterion,
        **values,
    }


def _on_halves(
    part: "pl.DataFrame", benchmark: str, versions: list[Examiner], measures: list[Measure]
) -> tuple[list[Row], str]:
    groups = part["group"].to_numpy()
    ordered = sorted(set(groups.tolist()), key=lambda g: _hash(benchmark, g))
    middle = (len(ordered) + 1) // 2
    sides = {"choose": set(ordered[:middle]), "report": set(ordered[middle:])}
    people = part["person"].n_unique()
    if len(ordered) < 2 * LEAST_GROUPS:
        reason = (
            f"{count(len(ordered), 'case')} with labels: too few to choose on one half and report on another"
        )
        rows = [
            _row(benchmark, m, half=half, figure="alpha_ordinal", n_groups=len(sides[half]), n_people=people,
                 reason=reason) for m in measures for half in HALVES
        ]  # fmt: skip
        return rows, (
            f"{reason}. To choose a rubric on these labels and report its agreement on the same ones would "
            "be a circle: the figure is too high by the luck of the choice."
        )
    two = [part.select(f"rubric {n}", "label").to_numpy() for n in range(len(versions))]
    held = {half: np.flatnonzero([g in side for g in groups.tolist()]) for half, side in sides.items()}

    def alpha(n: int, at: Any) -> float | None:
        return stats.krippendorff_alpha(two[n][at], "ordinal").value

    found: dict[tuple[int, str], Row] = {}
    for n, measure in enumerate(measures):
        for half, at in held.items():
            values = by_jackknife(lambda kept, n=n, at=at: alpha(n, at[kept]), groups[at])  # type: ignore[misc]
            values["n_units"] = part[at].unique(RESPONSE).height
            shared = {"half": half, "figure": "alpha_ordinal", "n_people": people, "chosen": False}
            found[n, half] = _row(benchmark, measure, **shared, **values)
    able = [n for n in range(len(versions)) if found[n, "choose"]["value"] is not None]
    rows = [found[n, half] for n in range(len(versions)) for half in HALVES]
    if not able:
        return rows, f"{found[0, 'choose']['reason']}: no rubric can be chosen."
    best = max(able, key=lambda n: (round(found[n, "choose"]["value"], 9), -n))
    before, after = found[best, "choose"], found[best, "report"]
    before["chosen"] = after["chosen"] = True
    after["optimism"] = None if after["value"] is None else before["value"] - after["value"]
    at = held["report"]
    for n in (n for n in range(len(versions)) if n != best):
        values = by_jackknife(
            lambda kept, n=n: less(alpha(best, at[kept]), alpha(n, at[kept])),  # type: ignore[misc]
            groups[at],
            scale="raw",
        )
        place = {"half": "report", "figure": "difference", "other": _short(versions[n], versions)}
        values["n_units"] = after["n_units"]
        rows.append(_row(benchmark, measures[best], **place, n_people=people, **values))
    return rows, _said(before, after, rows[2 * len(versions) :], _short(versions[best], versions))


def _hash(benchmark: str, group: Any) -> bytes:
    return hashlib.sha256(f"rubrics|{benchmark}|{group}".encode("utf-8", "surrogatepass")).digest()


def _said(before: Row, after: Row, apart: list[Row], name: str) -> str:
    chose = (
        f"{name} agrees best with people on the {count(before['n_groups'], 'case')} that choose, alpha "
        f"(ordinal) {before['value']:.2f}"
    )
    if after["value"] is None:
        return f"{chose}; on the others: {after['reason']}."
    people = "1 person" if after["n_people"] == 1 else f"{after['n_people']} people"
    told = "; ".join(
        f"{r['value']:+.2f}{ends(r)} against {r['other']}" for r in apart if r["value"] is not None
    )
    on = f"{count(after['n_groups'], 'case')} ({count(after['n_units'], 'answer')}, labels of {people})"
    return (
        f"{chose}; on the other {on} it has {after['value']:.2f}{ends(after)}: the choice made it look "
        f"{after['optimism']:+.2f} better. There it stands {told}."
    )


def _ceilings(marks: Marks, versions: list[Examiner], criterion: str) -> Iterator[Row]:
    """What each rubric gives to each ceiling: a figure of the judge's own, by which none may be chosen."""
    import polars as pl

    for examiner in versions:
        measure = marks.measures[examiner.keys[criterion]]
        own = marked(marks, examiner.keys[criterion])
        top = own.filter(own["role"] == "ceiling").sort("benchmark", "candidate")
        for (benchmark, candidate), part in top.group_by("benchmark", "candidate", maintain_order=True):
            by_item = part.group_by("item", "variant", "group", maintain_order=True)
            items = by_item.agg(pl.col("value").mean())
            limits = {"low": measure.criterion.low, "high": measure.criterion.high}
            values = by_mean(items["value"].to_numpy(), items["group"].to_numpy(), **limits)
            yield _row(str(benchmark), measure, figure="ceiling_mean", other=str(candidate), **values)
