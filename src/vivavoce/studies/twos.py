"""Two examiners on the same responses: how far they agree, how far apart they are, whom they put in front.

Agreement, shift of level and order are three questions: a correlation answers none of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.specs import Spec, signed
from vivavoce.studies import Marks
from vivavoce.studies.examined import RESPONSE, Examiner, Part, examiners, marked, row
from vivavoce.studies.figures import Row, by_coefficient, by_mean, ends
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["judges", "kind", "pairs", "reference", "rubric_name", "tau_b"]

LEAST_CANDIDATES = 4
FREE = "_free"
"""The ending of a rubric's name that says it is marked without the reference."""

WANTED = ("alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "quadratic_kappa", "pearson", "percent")
"""The `COEFFICIENTS` of two raters who marked the same answers."""


def judges(marks: Marks) -> Part:
    """Judge against judge: examiners that differ in the model (or the rater) alone, two at a time."""
    made = Part([], [])
    for one, other in _matched(marks, kind):
        _told(made, marks, "judges", one, other, each=("difference",))
    return made


def reference(marks: Marks) -> Part:
    """The same model with the reference before it, and without: how the marks shift and agree.

    Two signatures match if they differ only in `reference=false`, or in a rubric `x` and its twin `x_free`.
    `difference` is the marks without the reference less those with it.
    """
    made = Part([], [])
    for one, other in _matched(marks, _but_reference):
        without = {_free(signed(e.signature).spec): e for e in (one, other)}
        if len(without) == 2:
            _told(made, marks, "reference", without[False], without[True], each=None)
    return made


def kind(examiner: Examiner) -> tuple[Any, ...]:
    """What judges that differ in the model alone share; so do raters of one measure."""
    mark = signed(examiner.signature)
    settings = {k: str(v) for k, v in mark.spec.settings.items() if k != "model"}
    return (mark.spec.name, tuple(settings.items()), mark.version)


def rubric_name(spec: Spec) -> str:
    """The rubric that a spec names: the file's name without its ending, or ''."""
    return str(spec.settings.get("rubric") or "").rpartition("/")[2].removesuffix(".md")


def _free(spec: Spec) -> bool:
    """True if the judge sees no reference."""
    return spec.settings.get("reference") is False or rubric_name(spec).endswith(FREE)


def _but_reference(examiner: Examiner) -> tuple[Any, ...]:
    """What a judge with the reference and its twin without share."""
    spec = signed(examiner.signature).spec
    settings = {k: str(v) for k, v in spec.settings.items() if k not in ("reference", "rubric")}
    return (spec.name, tuple(settings.items()), rubric_name(spec).removesuffix(FREE), examiner.rater)


def _matched(
    marks: Marks, alike: Callable[[Examiner], tuple[Any, ...]]
) -> Iterator[tuple[Examiner, Examiner]]:
    """Two examiners at a time of those that are alike."""
    families: dict[tuple[Any, ...], list[Examiner]] = {}
    for examiner in examiners(marks):
        families.setdefault(alike(examiner), []).append(examiner)
    for family in families.values():
        yield from combinations(family, 2)


def _told(
    made: Part, marks: Marks, part: str, one: Examiner, other: Examiner, *, each: Sequence[str] | None
) -> None:
    """Add what two examiners have in common on each criterion that both mark.

    `each` names the figures that are wanted by candidate too; null is all of them.
    """
    short = labels(marks.measures)
    for criterion in (name for name in one.keys if name in other.keys):
        a, b = (marks.measures[e.keys[criterion]] for e in (one, other))
        both = marked(marks, one.keys[criterion]).join(
            marked(marks, other.keys[criterion]).select(*RESPONSE, other="value"),
            on=list(RESPONSE), how="inner", validate="1:1", maintain_order="left",
        )  # fmt: skip
        name = short[key_of(b)]
        found = list(pairs(part, a, name, both, each=each))
        made.rows.extend(found)
        made.said.extend(_sentences(part, short[key_of(a)], name, found))


def pairs(
    part: str, measure: Measure, other: str, both: "pl.DataFrame", *, each: Sequence[str] | None
) -> Iterator[Row]:
    """Every figure of the columns `value` and `other` by benchmark, over all candidates and by candidate.

    `difference` is other less value, with a t interval by group. `tau_b` compares the candidates' means on
    the common responses; its unit is the candidate, and it has no interval.
    """
    import polars as pl

    for (benchmark,), part_rows in both.group_by("benchmark", maintain_order=True):
        shared = {"contrast": part, "other": other, "n_raters": 2}
        candidates = part_rows["candidate"].unique().sort()
        for candidate in ("", *(candidates if len(candidates) > 1 or each is None else ())):
            own = part_rows if candidate == "" else part_rows.filter(pl.col("candidate") == candidate)
            wanted = None if candidate == "" else each
            for figure, values in _figures(own, wanted):
                yield row(
                    part, str(benchmark), measure, candidate=candidate, figure=figure, **shared, **values
                )
        yield row(part, str(benchmark), measure, figure="tau_b", **shared, **tau_b(part_rows))


def _figures(own: "pl.DataFrame", wanted: Sequence[str] | None) -> Iterator[tuple[str, Row]]:
    two, groups = own.select("value", "other").to_numpy(), own["group"].to_numpy()
    changed = {"n_changed": int((abs(two[:, 0] - two[:, 1]) > 1e-9).sum()), "n_ratings": 2 * len(two)}
    for name in WANTED:
        if wanted is None or name in wanted:
            yield name, by_coefficient(name, two, groups) | changed
    yield "difference", by_mean(two[:, 1] - two[:, 0], groups) | changed


def tau_b(both: "pl.DataFrame") -> Row:
    """Kendall's tau-b of the candidates' means in `value` and `other`; ceilings and floors are none."""
    import polars as pl

    means = (
        both.filter(pl.col("role") == "candidate")
        .group_by("candidate")
        .agg(pl.col("value", "other").mean())
        .sort("candidate")
    )
    n = {"n_units": means.height, "n_groups": both["group"].n_unique()}
    if means.height < LEAST_CANDIDATES:
        return {**n, "reason": f"{count(means.height, 'candidate')}: too few to order"}
    value = stats.kendall(means["value"], means["other"])
    return {**n, "value": value, "reason": "one side does not vary" if value is None else None}


def _sentences(part: str, one: str, other: str, found: Sequence[Row]) -> Iterator[str]:
    for benchmark in dict.fromkeys(r["benchmark"] for r in found):
        by = {r["figure"]: r for r in found if r["benchmark"] == benchmark and r["candidate"] == ""}
        alpha, shift, tau, r = (by[k] for k in ("alpha_ordinal", "difference", "tau_b", "pearson"))
        where = f"{one} and {other} on {benchmark}"
        if shift["value"] is None:
            yield f"{where}: {shift['reason']}."
            continue
        on = f"{count(shift['n_units'], 'response')} in {count(shift['n_groups'], 'case')}"
        agreed = alpha["reason"] if alpha["value"] is None else f"{alpha['value']:.2f}{ends(alpha)}"
        order = "" if tau["value"] is None else (
            f"; on what both marked they order {count(tau['n_units'], 'candidate')} with tau-b "
            f"{tau['value']:.2f}"
        )  # fmt: skip
        who = "Without the reference the marks are" if part == "reference" else "The second marks"
        size = f"{abs(shift['value']):.2f}{_turned(shift)} {'higher' if shift['value'] >= 0 else 'lower'}"
        hidden = (
            f" Their correlation (r {r['value']:.2f}) does not show that shift."
            if r["value"] is not None and shift["low"] is not None and shift["low"] * shift["high"] > 0
            else ""
        )
        yield f"{where} ({on}): alpha (ordinal) {agreed}{order}. {who} {size}.{hidden}"


def _turned(shift: Mapping[str, Any]) -> str:
    """The interval of a shift, as seen from the side that is higher."""
    return ends(shift) if shift["value"] >= 0 else ends({"low": -shift["high"], "high": -shift["low"]})
