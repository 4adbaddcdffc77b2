"""Rubrics: which version of a judge's rubric agrees best with people, on cases that had no part in choosing.

The best of several is best partly by luck. So the cases are cut in two: one half chooses, the other reports,
and what the chosen rubric loses on the way is the luck. Where nothing but the judge itself could choose, the
study says that this is circular, and chooses nothing.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SpecError
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.core.specs import Spec, parse, signed
from vivavoce.stats import LEAST_GROUPS
from vivavoce.studies.bounded import figure_text, interval_text
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import Estimate, Floats, by_coefficient, by_mean, minus
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.rater_scores import (
    Rater,
    is_judge,
    label_mismatch,
    labels_of,
    model_of,
    raters_of,
    scores_of,
)
from vivavoce.studies.row_parts import distinct
from vivavoce.studies.score_table import RESPONSE, ScoreTable, by_answer, unweighted
from vivavoce.studies.study import Study, measure_columns
from vivavoce.studies.text import count

HALVES = ("choose", "report")


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricRow:
    """A figure of one rubric, on one half of the labelled cases."""

    benchmark: str
    metric: str
    signature: str
    rater: str
    criterion: str
    half: str | None = None
    figure: str | None = None
    other: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    n_units: int | None = None
    n_groups: int | None = None
    n_people: int | None = None
    chosen: bool | None = None
    optimism: float | None = None
    reason: str | None = None


BEST = NamingSentence(
    code="rubrics.best",
    templates=(
        (
            "{criterion} on {benchmark}, rubrics {rubrics}: {best} agrees best with people on the {n} "
            "cases that choose, {figures}."
        ),
        "Less the agreement there of {differences}.",
    ),
    names=("metric",),
    family="chosen on one half of the cases; on the other against each rubric",
    correction="a held-out half; Bonferroni",
    null="rubrics",
)


@study("rubrics")
class Rubrics(Study):
    """The choice among versions of a judge's rubric."""

    about = "Which version of a rubric agrees best with people, on cases that had no part in choosing it."
    row = RubricRow
    sentences = (BEST,)
    special = True
    needs = ("cards",)
    labels: str | None = None

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows per benchmark, criterion and rubric of one judge (same model, same other settings).

        `alpha_ordinal` of the judge with each person's labels, on the half of the cases that chooses and on
        the half that reports; both halves hold the same responses for all rubrics. `chosen` is the rubric
        with the highest on the choosing half, the first of equal ones; its `optimism` is that figure less the
        one on the reporting half. `difference` is the chosen one's less the `other`'s on the reporting half.
        Halves are cut by a hash of the group's name, so that the same cases fall to the same side in every
        run. The intervals of the differences hold for all of them at once. Without labels the rows are
        `ceiling_mean`, what a rubric gives the ceiling, which may not choose.
        """
        single, notes = by_answer(scores.measures)
        scores = scores._replace(measures=single)
        rows: list[RubricRow] = []
        sentences: list[str] = []
        judges = list(_rubric_versions(scores))
        if not judges:
            return self.finding((), "No judge of this run scored by two rubrics: nothing to compare.", notes)
        for versions in judges:
            shared = [c for c in versions[0].keys if all(c in version.keys for version in versions)]
            for criterion in shared:
                more_rows, more_sentences = _by_criterion(scores, versions, criterion)
                rows.extend(more_rows)
                sentences.extend(more_sentences)
            if not shared:
                sentences.append(f"{_names(versions)} share no criterion: nothing to compare.")
            sentences.extend(circular_choices(scores, versions[0], _names(versions)))
        weighing = unweighted(scores.scores, "these figures count")
        return self.finding(rows, "\n".join(sentences), (*notes, *weighing))


def _rubric_versions(scores: ScoreTable) -> Iterator[list[Rater]]:
    """Judges that differ in the rubric alone: in its name, the file behind it, or the reference shown."""
    versions_of: dict[tuple[Any, ...], list[Rater]] = {}
    for rater in raters_of(scores):
        if is_judge(scores.measures[next(iter(rater.keys.values()))]):
            spec = signed(rater.signature).spec
            rest = tuple((k, str(v)) for k, v in spec.settings.items() if k not in ("rubric", "reference"))
            versions_of.setdefault((spec.name, rest, rater.rater), []).append(rater)
    yield from (versions for versions in versions_of.values() if len(versions) > 1)


def _rubric_settings(spec: Spec) -> str:
    """The settings that tell one rubric from another, or the spec where it has none."""
    settings = {k: spec.settings[k] for k in ("rubric", "reference") if k in spec.settings}
    texts = (str(v) if k == "rubric" else f"{k}={str(v).lower()}" for k, v in settings.items())
    return ", ".join(texts) or str(spec)


def _name(version: Rater, versions: Sequence[Rater]) -> str:
    """What tells a rubric from the others: its settings, with its version where these do not."""
    signature = signed(version.signature)
    name = _rubric_settings(signature.spec)
    # A file may change under one name: then only its version tells the rubrics apart.
    names = [_rubric_settings(signed(v.signature).spec) for v in versions]
    return f"{name} @{signature.version}" if names.count(name) > 1 else name


def _names(versions: Sequence[Rater]) -> str:
    return ", ".join(_name(version, versions) for version in versions)


def _by_criterion(
    scores: ScoreTable, versions: Sequence[Rater], criterion: str
) -> tuple[list[RubricRow], list[str]]:
    """Rows and sentences of one criterion."""
    measures = [scores.measures[version.keys[criterion]] for version in versions]
    subject = f"{criterion}, rubrics {_names(versions)}"
    reason = next((reason for m in measures if (reason := label_mismatch(scores, m))), None)
    if reason:
        ceilings = list(_ceiling_rows(scores, versions, criterion))
        return ceilings, [f"{subject}: {reason}."] if scores.people else []
    table = labels_of(scores, criterion)
    for n, version in enumerate(versions):
        ratings = scores_of(scores, version.keys[criterion])
        table = table.join(
            ratings.select(*RESPONSE, pl.col("value").alias(f"rubric {n}")), on=list(RESPONSE), validate="m:1"
        )
    rows: list[RubricRow] = []
    sentences = []
    for (benchmark,), part in table.sort(*RESPONSE, "person").group_by("benchmark", maintain_order=True):
        values = [part.select(f"rubric {n}", "label").to_numpy() for n in range(len(versions))]
        choice = _Choice(str(benchmark), versions, measures, part, values)
        more_rows, text = choice.rows_and_text()
        rows.extend(more_rows)
        sentences.append(f"{criterion} on {benchmark}, rubrics {_names(versions)}: {text}")
    if not rows:
        sentences.append(f"{subject}: no answer has labels and scores by all of them.")
    return rows, sentences


def _row(benchmark: str, measure: Measure, **values: Any) -> RubricRow:
    return RubricRow(
        benchmark=benchmark,
        **measure_columns(measure),
        signature=measure.signature,
        **values,
    )


class _Choice(NamedTuple):
    """The choice among rubrics by one criterion on one benchmark.

    `table` has a row per response and person; `values` are for each rubric its scores of these and the
    labels.
    """

    benchmark: str
    versions: Sequence[Rater]
    measures: Sequence[Measure]
    table: pl.DataFrame
    values: Sequence[Floats]

    def rows_and_text(self) -> tuple[list[RubricRow], str]:
        """The rows of all rubrics, and the sentence about them."""
        halves = self.halves()
        n_cases = sum(map(len, halves.values()))
        # Each half needs enough cases for an interval of its own.
        if n_cases < 2 * LEAST_GROUPS:
            return self.too_few(halves, n_cases)
        at = {half: self.rows_of(cases) for half, cases in halves.items()}
        by_key = {
            (n, half): self.agreement(n, half, at[half]) for n in range(len(self.versions)) for half in at
        }
        able = [n for n in range(len(self.versions)) if by_key[n, "choose"].value is not None]
        if not able:
            return list(by_key.values()), f"{by_key[0, 'choose'].reason}: no rubric can be chosen."
        # The first of equal ones: rounding, so that the last digit of a figure does not choose.
        best = max(able, key=lambda n: (float(stats.rounded(by_key[n, "choose"].value or 0.0)), -n))
        choosing, reporting = by_key[best, "choose"], by_key[best, "report"]
        optimism = minus(choosing.value, reporting.value)
        by_key[best, "choose"] = replace(choosing, chosen=True)
        by_key[best, "report"] = reporting = replace(reporting, chosen=True, optimism=optimism)
        others = [n for n in range(len(self.versions)) if n != best]
        level = stats.bonferroni_level(0.95, len(others))
        differences = [self.difference(best, n, at["report"], reporting.n_units, level) for n in others]
        text = _choice_text(choosing, reporting, differences, _name(self.versions[best], self.versions))
        return [*by_key.values(), *differences], text

    def rows_of(self, cases: set[Any]) -> Any:
        """The positions of the rows of these cases."""
        return np.flatnonzero([group in cases for group in self.table["group"].to_list()])

    @property
    def n_people(self) -> int:
        return self.table["person"].n_unique()

    def halves(self) -> dict[str, set[Any]]:
        """The cases that choose, and those that report."""
        groups = set(self.table["group"].to_list())
        # By a hash, so that a case falls to the same half in every run and for every judge.
        ordered = sorted(groups, key=lambda group: _hash(self.benchmark, group))
        middle = (len(ordered) + 1) // 2
        return dict(zip(HALVES, (set(ordered[:middle]), set(ordered[middle:])), strict=True))

    def too_few(self, halves: Mapping[str, set[Any]], n_cases: int) -> tuple[list[RubricRow], str]:
        reason = f"{count(n_cases, 'case')} with labels: too few to choose on one half and report on another"
        rows = [
            _row(self.benchmark, measure, half=half, figure="alpha_ordinal", n_groups=len(cases),
                 n_people=self.n_people, reason=reason)
            for measure in self.measures
            for half, cases in halves.items()
        ]  # fmt: skip
        return rows, (
            f"{reason}. To choose a rubric on these labels and report its agreement on the same ones would "
            "be a circle: the figure is too high by the luck of the choice."
        )

    def agreement(self, n: int, half: str, at: Any) -> RubricRow:
        """The row of one rubric on one half."""
        groups = self.table["group"].to_numpy()[at]
        alpha = by_coefficient("alpha_ordinal", self.values[n][at], groups)
        return self._estimate_row(
            n, alpha, self.table[at].unique(RESPONSE).height, half=half, figure="alpha_ordinal", chosen=False
        )

    def difference(self, best: int, n: int, at: Any, n_units: int | None, level: float) -> RubricRow:
        """The row of the chosen rubric less another, on the half that reports; its interval is at `level`."""
        difference = by_coefficient(
            "alpha_ordinal",
            self.values[best][at],
            self.table["group"].to_numpy()[at],
            less=self.values[n][at],
            level=level,
        )
        against = _name(self.versions[n], self.versions)
        return self._estimate_row(
            best, difference, n_units, half="report", figure="difference", other=against
        )

    def _estimate_row(self, n: int, estimate: Estimate, n_units: int | None, **values: Any) -> RubricRow:
        figures = estimate._asdict() | {"n_units": n_units, "n_people": self.n_people}
        return _row(self.benchmark, self.measures[n], **values, **figures)


def _hash(benchmark: str, group: str) -> bytes:
    # A second benchmark in the run may put the benchmark before the labels: it moves no case.
    label = group.removeprefix(f"{benchmark}: ")
    return hashlib.sha256(f"rubrics|{benchmark}|{label}".encode("utf-8", "surrogatepass")).digest()


def _choice_text(
    choosing: RubricRow, reporting: RubricRow, differences: Sequence[RubricRow], name: str
) -> str:
    chosen = (
        f"{name} agrees best with people on the {count(choosing.n_groups or 0, 'case')} that choose, alpha "
        f"(ordinal) {printed(choosing.value)}"
    )
    if reporting.value is None:
        return f"{chosen}; on the others: {reporting.reason}."
    people = "1 person" if reporting.n_people == 1 else f"{reporting.n_people} people"
    against = "; ".join(
        f"{r.other}: {printed(r.value, '+.2f')}{interval_text(r)}" for r in differences if r.value is not None
    )
    at_once = ", intervals for all at once" if len(differences) > 1 else ""
    cases, answers = count(reporting.n_groups or 0, "case"), count(reporting.n_units or 0, "answer")
    return (
        f"{chosen}; on the other {cases} ({answers}, labels of {people}) it has {figure_text(reporting)}"
        f": the choice made it look {printed(reporting.optimism, '+.2f')} better. Less the "
        f"agreement there of {against}{at_once}."
    )


def _ceiling_rows(scores: ScoreTable, versions: Sequence[Rater], criterion: str) -> Iterator[RubricRow]:
    """What each rubric gives to each ceiling: a figure of the judge's own, by which none may be chosen."""
    for version in versions:
        measure = scores.measures[version.keys[criterion]]
        limits = {"low": measure.criterion.low, "high": measure.criterion.high}
        rows = scores_of(scores, version.keys[criterion]).filter(pl.col("role") == "ceiling")
        for (benchmark, candidate), part in rows.sort("benchmark", "candidate").group_by(
            "benchmark", "candidate", maintain_order=True
        ):
            items = part.group_by("item", "variant", "group", maintain_order=True).agg(
                exact_mean(pl.col("value"))
            )
            mean = by_mean(items["value"].to_numpy(), items["group"].to_numpy(), **limits)
            yield _row(str(benchmark), measure, figure="ceiling_mean", other=str(candidate), **mean._asdict())


def circular_choices(scores: ScoreTable, judge: Rater, names: str) -> Iterator[str]:
    """Sentences on the ways in which a choice among a judge's rubrics would be circular.

    It is where a judge, or its own words, would choose the rubric by which it is then believed. `names` are
    the rubrics'. Families are those of `scores.cards` under `models_named`: the judge's, and that of the
    model that worded a ceiling, as far as the ceiling's label tells.
    """
    if scores.people:
        yield (
            "If anybody worded a rubric with these labels before them, both halves have been seen, and no "
            "cut undoes that."
        )
    else:
        yield (
            "No labels were given (--labels METRIC), so nothing but the judge's own scores could choose "
            f"among {names}: by how high they put the ceiling, or by how they fit each other. That is a "
            "circle: the judge would choose the rubric by which it is then believed. No rubric is chosen."
        )
    for ceiling in _ceilings(scores):
        author = _related_author(ceiling, model_of(judge), scores)
        if author is None:
            yield f"Which model worded the ceiling {ceiling} is not known from this run."
        elif author:
            yield (
                f"The ceiling {ceiling} was worded by a model of the judge's own family ({author}): how high "
                "the judge puts it says as much of a liking for its own words as of the rubric."
            )


def models_named(scores: ScoreTable) -> frozenset[str]:
    """Names under which `scores.cards` holds the models that judge, and that may have worded a ceiling.

    Of a ceiling that is anything in its label that may name a model: most of it names none.
    """
    judges = (model_of(rater) for rater in raters_of(scores))
    authors = (name for ceiling in _ceilings(scores) for name in _phrases(ceiling))
    return frozenset(filter(None, (*judges, *authors)))


def _ceilings(scores: ScoreTable) -> list[str]:
    people = distinct(scores.scores, "candidate", "role")
    return people.filter(pl.col("role") == "ceiling")["candidate"].sort().to_list()


def _related_author(ceiling: str, judge: str, scores: ScoreTable) -> str | None:
    """The model in a ceiling's label if it is of the judge's family, '' if it is of another, else null."""
    cards = scores.cards or {}
    card = cards.get(judge)
    names_model = bool(_models_in_label(ceiling))
    for name in _phrases(ceiling):
        author = cards.get(name)
        related = card and author and author.family is not None and author.family == card.family
        if related or _same_model(name, judge):
            return name
        names_model = names_model or author is not None
    return "" if names_model else None


def _same_model(name: str, judge: str) -> bool:
    """Whether a name is the judge's, perhaps without its date: gpt-4o is gpt-4o-2024-08-06."""
    bare_name, bare_judge = (model.casefold().rpartition("/")[2] for model in (name, judge))
    return any(c.isdigit() for c in name) and f"{bare_judge}-".startswith(f"{bare_name}-")


def _phrases(ceiling: str) -> list[str]:
    """Whatever in a ceiling's label may name a model, models that it states as a spec first."""
    words = [w for w in re.split(r"[^\w./:+~-]+", ceiling) if w]
    return [*_models_in_label(ceiling), *words, *(f"{a} {b}" for a, b in pairwise(words)), ceiling]


def _models_in_label(ceiling: str) -> list[str]:
    """The models that a label names, being a spec."""
    try:
        return list(_models(parse(ceiling)))
    except SpecError:
        return []


def _models(spec: Spec) -> Iterator[str]:
    """The models that a spec names, in itself or inside its settings."""
    for key, value in spec.settings.items():
        if isinstance(value, Spec):
            yield from _models(value)
        elif key in ("model", "by") and isinstance(value, str):
            yield value
