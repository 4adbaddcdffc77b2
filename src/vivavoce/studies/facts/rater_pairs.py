"""Two measures of the same answers: a checker beside people, and several facts a call beside single calls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Measure
from vivavoce.core.specs import Spec, signed
from vivavoce.facts.unit_matching import match_units
from vivavoce.studies.bounded import figure_text
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.facts.correction import corrected
from vivavoce.studies.facts.coverage import estimated
from vivavoce.studies.facts.fact_table import FactTable
from vivavoce.studies.facts.rows import FactsRow, facts_row
from vivavoce.studies.intervals import Estimate, by_coefficient, by_difference, by_ratio
from vivavoce.studies.score_table import RESPONSE

PEOPLE, PER_CALL = "people", "per_call"
"""The parts: a person is the second, or single calls are."""
COEFFICIENTS: tuple[stats.AgreementCoefficient, ...] = ("alpha_nominal", "ac1", "percent")
NOTHING_SHARED = "no answer has facts by both"
NO_VERDICTS = "no fact has a verdict by both"
AT_RANDOM = (
    "A precision corrected by recorded verdicts holds only if these are people's and their cases were "
    "drawn at random."
)


class RaterPair(NamedTuple):
    """Two tables of one benchmark, and the part that they belong to; the second is what is trusted more."""

    part: str
    first: FactTable
    second: FactTable


class Matched(NamedTuple):
    """The answers that have facts by both, and the facts that say the same in both.

    `answers`: RESPONSE, group, the facts by each (`n_first`, `n_second`), those in a pair (`n_pairs`).
    `pairs`: group, candidate, `first` and `second`, the verdicts as 1, 0 or null.
    """

    answers: pl.DataFrame
    pairs: pl.DataFrame


def is_person(measure: Measure) -> bool:
    """Whether the verdicts are recorded ones of a rater, who is taken for a person: a file does not say."""
    checker = signed(measure.signature).spec.settings.get("checker")
    return isinstance(checker, Spec) and checker.name == "recorded" and bool(checker.settings.get("rater"))


def judging_tables(tables: Sequence[FactTable]) -> list[FactTable]:
    """Those by which candidates are judged: people check a part of the answers to judge a checker.

    Where no other checker is, recorded verdicts judge the candidates, a machine's or people's.
    """
    by_checker = {table.benchmark for table in tables if not is_person(table.measure)}
    return [table for table in tables if not (is_person(table.measure) and table.benchmark in by_checker)]


def rater_pairs(tables: Sequence[FactTable]) -> Iterator[RaterPair]:
    """Every measure with every person's, and measures that differ in the facts of a call alone."""
    for first in tables:
        for second in tables:
            if first.benchmark != second.benchmark or first.measure == second.measure:
                continue
            if is_person(second.measure) and not is_person(first.measure):
                yield RaterPair(PEOPLE, first, second)
            if _one_call_each(first.measure, second.measure):
                yield RaterPair(PER_CALL, first, second)


def _one_call_each(first: Measure, second: Measure) -> bool:
    """Whether the second asks of each fact by itself, and is the first in all else."""
    specs = [signed(measure.signature).spec for measure in (first, second)]
    settings = [dict(spec.settings) for spec in specs]
    calls = [setting.pop("per_call", 1) for setting in settings]
    return calls[0] != 1 == calls[1] and settings[0] == settings[1] and specs[0].name == specs[1].name


def matched_facts(pair: RaterPair) -> Matched:
    """The facts of both in each answer, those that say the same paired one to one."""
    sides = [
        table.facts.group_by(RESPONSE, maintain_order=True).agg("text", "value", pl.col("group").first())
        for table in (pair.first, pair.second)
    ]
    matched = sides[0].join(sides[1].drop("group"), on=RESPONSE, suffix="_second").sort(RESPONSE)
    answers, pairs = [], []
    for answer in matched.iter_rows(named=True):
        found_pairs = match_units(answer["text"], answer["text_second"])
        sizes = len(answer["text"]), len(answer["text_second"]), len(found_pairs)
        answers.append((*(answer[name] for name in RESPONSE), answer["group"], *sizes))
        place = answer["group"], answer["candidate"]
        pairs += [(*place, answer["value"][p.first], answer["value_second"][p.second]) for p in found_pairs]
    kinds = {name: matched.schema[name] for name in (*RESPONSE, "group")}
    counts = dict.fromkeys(("n_first", "n_second", "n_pairs"), pl.Int64)
    verdicts = {"group": pl.String, "candidate": pl.String, "first": pl.Float64, "second": pl.Float64}
    return Matched(
        pl.DataFrame(answers, {**kinds, **counts}, orient="row"),
        pl.DataFrame(pairs, verdicts, orient="row"),
    )


def pair_rows(pair: RaterPair, units_margin: float | None) -> Iterator[FactsRow]:
    """The facts by each, those both name, agreement of verdicts; beside people the corrected precision."""
    matched = matched_facts(pair)
    reference = pair.second.measure.rater if pair.part == PEOPLE else "1"
    calls = signed(pair.first.measure.signature).spec.settings.get("per_call", 1)
    row = facts_row(
        pair.first, pair.part, "", against=reference, contrast="" if pair.part == PEOPLE else str(calls)
    )
    row = replace(row, n_answers=matched.answers.height)
    if not matched.answers.height:
        yield replace(row, figure="units_difference", reason=NOTHING_SHARED)
        return
    yield from _units(row, matched.answers, units_margin)
    yield from _agreement(row, matched.pairs)
    if pair.part == PEOPLE:
        yield from corrected(row, pair.first, pair.second, matched.pairs)


def _units(row: FactsRow, answers: pl.DataFrame, margin: float | None) -> Iterator[FactsRow]:
    """Units an answer by the first less by the second, and the share of either that the other names too."""
    items = (
        answers.group_by("item", "variant", "group")
        .agg(exact_mean(pl.col("n_first", "n_second")))
        .sort("item", "variant")
    )
    first, second = (items[name].to_numpy() for name in ("n_first", "n_second"))
    groups = items["group"].to_numpy()
    estimate = by_difference(first - second, groups)
    part = _with(replace(row, figure="units_difference", margin=margin), estimate, groups)
    yield _equivalent(part, first - second, groups) if margin and estimate.value is not None else part
    # As published, which takes counts of the same answers for those of two groups.
    t = stats.two_sample_t(first, second)
    yield replace(
        row, figure="published_t", value=t.value, p=t.p, reason=None if t.p is not None else "no spread"
    )
    labels = answers["group"].to_numpy()
    n_pairs = answers["n_pairs"].to_numpy()
    for figure, name in (("matched_of_first", "n_first"), ("matched_of_second", "n_second")):
        share = by_ratio(n_pairs, answers[name].to_numpy(), labels, low=0.0, high=1.0)
        yield _with(replace(row, figure=figure, n_units=int(answers[name].sum())), share, labels)


def _equivalent(row: FactsRow, differences: Any, groups: Any) -> FactsRow:
    test = stats.margin_test(differences, groups, margin=row.margin or 0.0, span=None)
    if test is None:
        return row
    return replace(row, p=test.p_equivalent, verdict_code="equivalent" if test.equivalent else "cannot_tell")


def _with(row: FactsRow, estimate: Estimate, groups: Any) -> FactsRow:
    return replace(row, **(estimated(estimate, groups) | {"n_items": None}))


def _agreement(row: FactsRow, pairs: pl.DataFrame) -> Iterator[FactsRow]:
    """Alpha, AC1 and the share of equal verdicts on facts that both have a verdict on."""
    judged = pairs.drop_nulls()
    ratings, groups = judged.select("first", "second").to_numpy(), judged["group"].to_numpy()
    for figure in COEFFICIENTS:
        part = replace(row, figure=figure, n_units=judged.height)
        if not judged.height:
            yield replace(part, reason=NO_VERDICTS)
            continue
        estimate = by_coefficient(figure, ratings, groups, undefined="the verdicts do not vary")
        yield _with(part, estimate, groups)


def pair_sentences(rows: Sequence[FactsRow]) -> Iterator[str]:
    """How far two raters agree, in a sentence for each two, and what people's verdicts make of precision."""
    places = dict.fromkeys(map(_place, rows))
    for place in places:
        of_it = [row for row in rows if _place(row) == place]
        figures = {row.figure: row for row in of_it if not row.candidate}
        yield f"{_names(of_it[0])}: {_agreement_text(figures)}."
        for row in of_it:
            if row.figure == "corrected_precision" and row.value is not None:
                checked, corrected = printed(row.full, ".3f"), figure_text(row, ".3f")
                yield (
                    f"{row.candidate}: precision {checked} by the checker, {corrected} corrected by recorded "
                    "verdicts."
                )


def _place(row: FactsRow) -> tuple[str, ...]:
    return row.benchmark, row.signature, row.part, row.against


def _agreement_text(by: Mapping[str, FactsRow]) -> str:
    if "alpha_nominal" not in by:
        return str(by["units_difference"].reason)
    return (
        f"units an answer {figure_text(by['units_difference'], '+.2f')}; facts of the second that the first "
        f"names {figure_text(by['matched_of_second'])}; verdicts alike {figure_text(by['percent'])}, "
        f"alpha {figure_text(by['alpha_nominal'])}"
    )


def _names(row: FactsRow) -> str:
    name = row.rater if row.part == PEOPLE else f"{row.rater} with {row.contrast} facts a call"
    return f"{name} against {row.against if row.part == PEOPLE else 'single calls'} on {row.benchmark}"
