"""Scores that are made of others: those of a jury, and those of an overall.

A jury's judges have one voice each: passes are averaged first. What is missing stays missing: a jury with
fewer scores than its quorum has failed, and bounds say what that could mean. In an overall every item keeps
the score of the metric that scores its format. What the sections weigh stands beside them, so that means,
errors by case, bounds and comparisons are those of any other criterion.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Measure
from vivavoce.core.tables import restrict_to_items
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.overall_design import OVERALL, OverallDesign
from vivavoce.studies.primary import is_quality, measures_named
from vivavoce.studies.rater_scores import is_judge
from vivavoce.studies.row_parts import distinct, select_rows, stacked
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import ITEM_KEY, SECTION, SHARE, ScoreTable, section_name
from vivavoce.studies.text import count

_SCORED = (
    *("benchmark", "item", "variant", "alias", "group", "category", "format", "candidate", "role", "repeat"),
    *("edit", "unit", "ballot"),
)
"""What a jury scores, and a voice is about."""


def consensus(
    scores: ScoreTable, *, metric: str, judges: Sequence[str], rule: str, quorum: int | None = None
) -> ScoreTable:
    """The jury's scores, as rows of a measure per criterion that is in no table.

    Their keys are below 0, and other ones for every jury; its signature follows from those of its judges.
    `judges` are signatures of measures in `scores`. A response that nobody could score for the candidate's
    own doing (unanswered, unreadable) is so for the jury. `rule` is mean, median, majority (a score that more
    than half of those who scored gave) or worst. Fewer scores than `quorum`, by default one of each judge, or
    no majority: failed. Items that one of the judges never scores (`scores.only`) are none of the jury's.
    Raises `SelectionError` where the judges do not share a criterion with one range and direction, or no
    item.
    """
    signature = f"{metric}@{_digest(metric, *judges)[:8]}"
    frames: list[pl.DataFrame] = []
    measures: dict[int, Measure] = {}
    only: dict[int, frozenset[tuple[str, str, str]]] = {}
    for criterion, keys in _shared_criteria(scores.measures, judges, metric).items():
        # Below 0, where no key of a stored measure is.
        key = -1 - int(_digest(signature, criterion)[:12], 16)
        measure = Measure(
            metric=metric, signature=signature, rater="jury", criterion=scores.measures[keys[0]].criterion
        )
        rows = scores.scores.filter(pl.col("measure_id").is_in(keys))
        if bounds := [scores.only[k] for k in keys if k in scores.only]:
            only[key] = frozenset.intersection(*bounds)
            if not only[key]:
                raise SelectionError(f"{metric}: there is no item of which all its judges score {criterion}.")
            rows = restrict_to_items(rows, only[key])
        vote = _Vote(rule, len(keys), len(keys) if quorum is None else quorum)
        jury = _jury_rows(rows, measure, vote).with_columns(measure_id=pl.lit(key, pl.Int64))
        frames.append(jury.select(scores.scores.columns).sort(*_SCORED))
        measures[key] = measure
    return scores._replace(scores=pl.concat(frames), measures=measures, only=only)


class _Vote(NamedTuple):
    """How the voices of so many judges become one score."""

    rule: str
    n_judges: int
    quorum: int

    def value(self, ok: pl.Expr, criterion: Criterion) -> pl.Expr:
        """The jury's score of `ok`, the scores of those who scored."""
        match self.rule:
            case "mean":
                return exact_mean(ok)
            case "median":
                return ok.median()
            case "worst":
                return ok.min() if criterion.direction == "higher" else ok.max()
            case _:
                return ok.mode().first()

    def enough(self, ok: pl.Expr) -> pl.Expr:
        """Whether the quorum has scored, and a majority alike where the rule needs one."""
        quorate = ok.len() >= self.quorum
        if self.rule != "majority":
            return quorate
        # More than half of those who scored: the most frequent of three different scores is none.
        return quorate & ((ok == ok.mode().first()).sum() * 2 > ok.len())


def _jury_rows(rows: pl.DataFrame, measure: Measure, vote: _Vote) -> pl.DataFrame:
    """The jury's score rows, all columns but the key."""
    columns = [name for name in (*_SCORED, "weight") if name in rows.columns]
    # Passes first: a judge that scored twice has one voice all the same.
    voices = rows.group_by(*columns, "measure_id").agg(
        value=exact_mean(pl.col("value")),
        status=pl.when(pl.col("value").is_not_null().any())
        .then(pl.lit("ok"))
        .otherwise(pl.col("status").last()),
        position=pl.col("position").first(),
    )
    ok = pl.col("value").filter(pl.col("status") == "ok")
    silent = pl.col("status").filter(pl.col("status").is_in(["unanswered", "unreadable"]))
    is_enough = vote.enough(ok)
    counted = voices.group_by(columns).agg(
        value=pl.when((silent.len() == 0) & is_enough).then(vote.value(ok, measure.criterion)),
        # Silence is the candidate's doing and the same for every judge, so one report settles it.
        status=pl.when(silent.len() > 0)
        .then(silent.first())
        .when(is_enough)
        .then(pl.lit("ok"))
        .otherwise(pl.lit("failed")),
        position=pl.col("position").first(),
        n=ok.len(),
    )
    lacking = "majority" if vote.rule == "majority" else "quorum"
    note = pl.format(f"{{}} of {vote.n_judges} judges scored, and there is no {lacking}", "n")
    return counted.with_columns(
        metric=pl.lit(measure.metric),
        criterion=pl.lit(measure.criterion.criterion),
        rater=pl.lit("jury"),
        pass_no=pl.lit(1, pl.Int64),
        parts=pl.lit(None, pl.String),
        note=pl.when(pl.col("status") == "failed").then(note),
    )


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _shared_criteria(
    measures: Mapping[int, Measure], judges: Sequence[str], metric: str
) -> dict[str, list[int]]:
    """The keys of the judges' measures by criterion, for the criteria that all have."""
    keys: dict[str, dict[str, int]] = {}
    for key, m in measures.items():
        if m.signature in judges:
            keys.setdefault(m.criterion.criterion, {})[m.signature] = key
    shared = {name: by_judge for name, by_judge in keys.items() if len(by_judge) == len(set(judges))}
    if not shared:
        raise SelectionError(f"{metric}: its judges have no criterion in common.")
    for name, by_judge in shared.items():
        criteria = [measures[key].criterion for key in by_judge.values()]
        if not _declared_alike(criteria):
            raise SelectionError(
                f"{metric}: its judges do not declare {name} alike (range, direction, silence), so their "
                "scores make no one score."
            )
    return {name: [by_judge[judge] for judge in dict.fromkeys(judges)] for name, by_judge in shared.items()}


def _declared_alike(criteria: Sequence[Criterion]) -> bool:
    return len({(c.low, c.high, c.direction, c.if_unanswered) for c in criteria}) == 1


FEW_CASES = 10
"""A group of fewer cases than this is named: it may decide how well an overall is known."""

HOW = {"macro": "each group counts the same", "micro": "every question counts the same"}


class Section(NamedTuple):
    """A format's part of a group: its items, and the measure that scores them."""

    group: str
    format: str
    items: pl.DataFrame
    key: int


def overall_scores(
    scores: ScoreTable,
    items: pl.DataFrame,
    design: OverallDesign,
    defaults: Mapping[str, Sequence[str]],
    *,
    benchmark: str,
) -> ScoreTable:
    """The scores of an overall on one benchmark: one measure, whose key is below 0 and in no table.

    `items` are those asked about; `defaults` are by format the metrics that fit it, the best first. The rows
    have columns `section`, an enumeration of all groups, and `share`, the weight of the group; with micro
    weights all are one section. Raises `SelectionError` where a group holds no item, a format has no
    metric or several, or the metrics of an overall do not all run from 0 to 1 with higher as better.
    """
    items = items.filter(pl.col("benchmark") == benchmark)
    placed = _placed(items, design)
    names = list(design.groups) or sorted(placed["group_name"].unique())
    shares = {} if design.weights == "micro" else design.shares(names)
    sections = []
    for (group, form), part in placed.partition_by("group_name", "format", as_dict=True).items():
        present = _Present.of(scores, benchmark, str(form))
        key = present.declared(design) or present.by_default(design, defaults.get(str(form), ()))
        sections.append(Section(str(group), str(form), part, key))
    _check_stated(design, scores, sections)
    sections.sort(key=lambda section: (names.index(section.group), section.format))
    measure = _measure(design, scores, sections)
    key = -1 - int(_digest(measure.signature, benchmark)[:12], 16)
    weighing = _weighing(benchmark, names, shares)
    rows = stacked([_rows(scores, section, key, measure, weighing[section.group]) for section in sections])
    scored = frozenset(distinct(rows, *ITEM_KEY).iter_rows())
    expected = items.filter(pl.col("format").is_in([section.format for section in sections]))
    everything = scored == frozenset(expected.select(ITEM_KEY).iter_rows())
    notes = _notes(scores, sections, shares, str(design.weights), benchmark)
    n_outside = items.height - placed.height
    outside = [f"Not in the overall: {count(n_outside, 'question')} of no group."] if n_outside else []
    return scores._replace(
        scores=rows,
        measures={key: measure},
        only={} if everything else {key: scored},
        probes={},
        notes=(*notes, *outside),
    )


def _placed(items: pl.DataFrame, design: OverallDesign) -> pl.DataFrame:
    """The items that are in a group, with its name. Raises `SelectionError` for a group without any."""
    placed = items.with_columns(
        group_name=pl.col(design.by).map_elements(design.group_of, return_dtype=pl.String, skip_nulls=True)
    ).filter(pl.col("group_name").is_not_null())
    present = set(items[design.by].drop_nulls())
    for name, parts in design.groups.items():
        if empty := [part for part in parts if part not in present]:
            raise SelectionError(
                f"overall: no question has the {design.by} {empty[0]!r} of the group {name!r}; here are "
                f"{', '.join(sorted(present))}."
            )
    if not placed.height:
        lacking = "no question has a category" if design.by == "category" else "no question is in a group"
        raise SelectionError(f"overall: {lacking} here.")
    return placed


def _check_stated(design: OverallDesign, scores: ScoreTable, sections: Sequence[Section]) -> None:
    """Raise `SelectionError` for a stated metric that scores no section: another would stand in its place."""
    forms = sorted({section.format for section in sections})
    if unknown := [form for form in design.metrics if form not in forms]:
        raise SelectionError(
            f"overall, metrics: no question of a group has the format {unknown[0]!r}."
            f"{suggest(unknown[0], forms)} Formats here: {', '.join(forms)}."
        )
    named = measures_named(design.metric, scores.measures) if design.metric else {}
    if design.metric and not any(section.key in named for section in sections):
        raise SelectionError(
            f"overall, metric: {design.metric} has scored no format here for every candidate that has scores."
        )


class _Present(NamedTuple):
    """What has scored a format on a benchmark, and how many candidates each measure has scored."""

    form: str
    benchmark: str
    measures: Mapping[int, Measure]
    n_candidates: Mapping[int, int]

    @classmethod
    def of(cls, scores: ScoreTable, benchmark: str, form: str) -> "_Present":
        """Those of this benchmark and format."""
        place = (pl.col("benchmark") == benchmark) & (pl.col("format") == form)
        rows = scores.scores.lazy().filter(place & (pl.col("role") == "candidate"))
        counted = dict(rows.group_by("measure_id").agg(pl.col("candidate").n_unique()).collect().iter_rows())
        measures = {key: m for key, m in scores.measures.items() if key in counted}
        return cls(form, benchmark, measures, counted)

    def declared(self, design: OverallDesign) -> int | None:
        """The key of the measure that the design states for the format; null where it states none."""
        if self.form not in design.metrics:
            return None
        named = measures_named(design.metrics[self.form], self.measures)
        if not named:
            raise SelectionError(
                f"overall: nothing of the format {self.form} is scored by {design.metrics[self.form]}."
            )
        return self.newest(named)

    def by_default(self, design: OverallDesign, references: Sequence[str]) -> int:
        """The key of the first of these that scored every candidate; else of the only one of quality."""
        for reference in filter(None, (design.metric, *references)):
            named = measures_named(reference, self.measures)
            if complete := {key: m for key, m in named.items() if self._is_complete(key)}:
                return self.newest(complete)
        quality = {key: m for key, m in self.measures.items() if is_quality(m)}
        if not quality:
            raise SelectionError(
                f"overall: no metric has scored the format {self.form} on {self.benchmark}: "
                f"`viva score RUN {(*references, 'METRIC')[0]}` does."
            )
        return self.newest(quality)

    def _is_complete(self, key: int) -> bool:
        return self.n_candidates[key] == max(self.n_candidates.values())

    def newest(self, named: Mapping[int, Measure]) -> int:
        """The newest version of one measure. Raises `SelectionError` for several, or another scale."""
        lines = {(m.metric, m.criterion.criterion, m.rater) for m in named.values()}
        if len(lines) > 1:
            references = sorted(f"{metric}:{criterion}" for metric, criterion, _ in lines)
            raise SelectionError(
                f"overall: several criteria score the format {self.form} ({', '.join(references)}): say "
                f"which, such as overall(metrics=['{self.form}:{references[0]}'])."
            )
        key = max(named)
        _check_scale(named[key], self.form)
        return key


def _check_scale(measure: Measure, form: str) -> None:
    """Raise `SelectionError` for a criterion that does not run from 0 to 1 with higher as better."""
    c = measure.criterion
    if (c.low, c.high, c.direction, c.pool) == (0.0, 1.0, "higher", "mean") and c.if_unanswered != "correct":
        return
    low, high = ("no limit" if end is None else f"{end:g}" for end in (c.low, c.high))
    raise SelectionError(
        f"overall: {measure.metric}, {c.criterion}, of the format {form}, runs from {low} to {high}, "
        f"{c.direction} is better{'' if c.pool == 'mean' else ', and is pooled'}: a mean over groups takes "
        "scales from 0 to 1 on which higher is better."
    )


def _measure(design: OverallDesign, scores: ScoreTable, sections: Sequence[Section]) -> Measure:
    """The measure of the overall; its signature holds the design, and a digest of the measures behind it."""
    parts = [repr((s.group, s.format, key_of(scores.measures[s.key]))) for s in sections]
    judges = {m.rater for s in sections if is_judge(m := scores.measures[s.key])}
    return Measure(
        metric=OVERALL,
        signature=f"{design}@{_digest(*parts)[:8]}",
        rater=", ".join(sorted(judges)),
        criterion=Criterion(criterion=OVERALL),
    )


def _weighing(
    benchmark: str, names: Sequence[str], shares: Mapping[str, float]
) -> dict[str, dict[str, pl.Expr]]:
    """By group its section and the section's share as columns; without shares all is one: a plain mean."""
    labels_of = {name: section_name(benchmark, name if shares else "") for name in names}
    kind = pl.Enum(list(dict.fromkeys(labels_of.values())))
    return {
        name: {SECTION: pl.lit(label, kind), SHARE: pl.lit(float(shares[name] if shares else 1.0))}
        for name, label in labels_of.items()
    }


def _rows(
    scores: ScoreTable, section: Section, key: int, measure: Measure, weighing: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """The score rows of a section, under the measure of the overall."""
    rows = select_rows(scores.scores, pl.col("measure_id") == section.key)
    items = section.items.select(ITEM_KEY)
    if distinct(rows, *ITEM_KEY).join(items, on=ITEM_KEY, how="anti").height:
        rows = rows.join(items, on=ITEM_KEY, how="semi", maintain_order="left")
    if scores.measures[section.key].criterion.if_unanswered == "set_aside":
        silent = pl.col("status").is_in(["unanswered", "unreadable"])
        rows = rows.with_columns(status=pl.when(silent).then(pl.lit("set_aside")).otherwise("status"))
    return rows.with_columns(
        measure_id=pl.lit(key, pl.Int64),
        metric=pl.lit(measure.metric),
        criterion=pl.lit(measure.criterion.criterion),
        rater=pl.lit(measure.rater),
        **weighing,
    )


def _notes(
    scores: ScoreTable, sections: Sequence[Section], shares: Mapping[str, float], weights: str, benchmark: str
) -> Iterator[str]:
    """The lines on what an overall is made of, and on groups of so few cases that they limit it."""
    short = labels(scores.measures)
    words = []
    for group in dict.fromkeys(section.group for section in sections):
        parts = [section for section in sections if section.group == group]
        n_items = sum(part.items.height for part in parts)
        by = " and ".join(dict.fromkeys(short[key_of(scores.measures[part.key])] for part in parts))
        share = f" {printed(shares[group], '.0%')}," if shares else ""
        words.append(f"{group}{share} by {by} ({count(n_items, 'question')})")
    how = HOW.get(weights, "means of groups by their shares")
    yield f"Overall on {benchmark}, {how}: {'; '.join(words)}."
    if few := _few_cases(sections) if shares else []:
        yield f"Few cases in a group ({', '.join(few)}): an overall is no better known than its groups."


def _few_cases(sections: Sequence[Section]) -> list[str]:
    """The groups of fewer than 10 cases, with their number."""
    labels_of: dict[str, set[str]] = {}
    for section in sections:
        labels_of.setdefault(section.group, set()).update(section.items["group"])
    return [f"{group} {len(cases)}" for group, cases in labels_of.items() if len(cases) < FEW_CASES]
