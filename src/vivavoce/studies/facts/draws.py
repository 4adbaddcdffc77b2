"""Samples of a benchmark that was scored whole: what each would have said, beside that of all questions.

The sample lies inside the benchmark: only the draw is random, with variance (1 - f) s^2 / n by category.
Whether a sample will do is a question of equivalence within a margin. The published way, tests of variance
and mean between samples, asks whether a difference was shown, and a large p there shows nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import polars as pl

from vivavoce import stats
from vivavoce.benchmarks import sampled
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.numbers import printed
from vivavoce.core.records import Item
from vivavoce.studies.facts.coverage import NO_FACT
from vivavoce.studies.facts.fact_table import FactTable, by_item
from vivavoce.studies.facts.rows import FactsRow, facts_row
from vivavoce.studies.score_table import weights_of
from vivavoce.studies.text import count

PUBLISHED = (
    "The published F and t tests between samples prove nothing here: a large p is what small samples give, "
    "whatever the truth, and samples of one benchmark are not independent of it. Equivalence takes a margin."
)
NO_MARGIN = "no margin, so nothing says how near is near enough: --margin"
ONE_CATEGORY_ITEM = "a category has one sampled question of several: its error is not known"
IS_SAMPLE = "the run holds a sample itself: draws are held against a benchmark that was scored whole"
LEVEL = 0.025
"""One side of an interval at 95 %, as for every verdict by a margin."""


def draws(table: FactTable, sample: float, n_draws: int, margin: float | None) -> Iterator[FactsRow]:
    """The draws of each candidate, each against all questions, then the published tests of every two."""
    if not 0 < sample < 1:
        raise SelectionError(f"sample {sample:g}: a share between 0 and 1 is drawn, such as 0.1.")
    if n_draws < 1:
        raise SelectionError(f"draws {n_draws}: one or more.")
    members = _members(table, sample, n_draws)
    for candidate in table.candidates:
        items = by_item(table.of(candidate).answers)
        row = facts_row(
            table, "draw", "precision", candidate=candidate, contrast=f"{sample:.3g}", margin=margin
        )
        if weights_of(items) is not None or isinstance(members, str):
            yield replace(row, reason=members if isinstance(members, str) else IS_SAMPLE)
            continue
        rows = [_draw(row, items, chosen, k) for k, chosen in enumerate(members, 1)]
        yield from _with_verdicts(rows)
        values = [items.join(m, on="item", how="semi")["precision"].drop_nulls().to_numpy() for m in members]
        for (a, first), (b, second) in combinations(enumerate(values, 1), 2):
            published = replace(row, contrast=f"draw {a}", against=f"draw {b}", margin=None)
            yield from _published(published, first, second)


def _members(table: FactTable, sample: float, n_draws: int) -> list[pl.DataFrame] | str:
    """The questions of each draw, as `viva collect --sample SHARE --draw N` takes them."""
    items = table.answers.select("item", "category").unique().sort("item")
    stand_ins = [
        Item(benchmark=table.benchmark, item=item, category=category, format="short", question="")
        for item, category in items.iter_rows()
    ]
    try:
        chosen = [sampled(stand_ins, f"{100 * sample:.10g}%", k) for k in range(1, n_draws + 1)]
    except InputError as error:
        return str(error)
    return [pl.DataFrame({"item": [item.item for item in draw]}) for draw in chosen]


def _draw(row: FactsRow, items: pl.DataFrame, members: pl.DataFrame, number: int) -> FactsRow:
    """What one draw says of the precision over all questions with one."""
    # Variants stay with their question in a draw, so a question is what is drawn.
    by_question = items.group_by("item", "category", maintain_order=True).agg(
        y=pl.col("precision").sum(), n=pl.col("precision").count()
    )
    sizes = by_question.with_columns(size=pl.len().over("category"))
    part = sizes.join(members, on="item", how="semi", maintain_order="left")
    row = replace(row, contrast=f"draw {number}", n_items=part.height)
    if not part.height or not part["n"].sum():
        return replace(row, reason=NO_FACT)
    full = float(sizes["y"].sum()) / float(sizes["n"].sum())
    figure = stats.sample_ratio(
        *(part[name].to_numpy() for name in ("y", "n")),
        strata=part["category"].fill_null("").to_numpy(),
        sizes=part["size"].to_numpy(),
    )
    row = replace(row, value=figure.value, full=full, se=figure.se)
    if figure.value is None or figure.se is None:
        return replace(row, reason=ONE_CATEGORY_ITEM)
    # A t interval of so few questions is too sure of its error.
    if not stats.enough_groups(figure.df + 1):
        few = (
            f"{count(part.height, 'question')} drawn, {figure.df + 1:.3g} effective: too few for an interval"
        )
        return replace(row, reason=few)
    ends = stats.t_interval(figure.value, figure.se, figure.df, low=0.0, high=1.0)
    row = replace(row, low=ends.low, high=ends.high, effective_cases=figure.df + 1)
    if row.margin is None:
        return replace(row, reason=NO_MARGIN)
    test = stats.tost(figure.value - full, figure.se, figure.df, margin=row.margin)
    return replace(row, p=test.p_equivalent if test else None, reason=None if test else "no error was seen")


def _with_verdicts(rows: list[FactsRow]) -> Iterator[FactsRow]:
    """The rows with their p corrected by Holm over the draws of the candidate, and what it shows."""
    adjusted = iter(stats.holm([row.p for row in rows if row.p is not None]).tolist())
    family = sum(row.p is not None for row in rows)
    for row in rows:
        if row.p is None:
            yield row
            continue
        p = next(adjusted)
        code = "equivalent" if p <= LEVEL else "cannot_tell"
        yield replace(row, p_adjusted=p, family=family, verdict_code=code)


def _published(row: FactsRow, first: object, second: object) -> Iterator[FactsRow]:
    """F and t of two draws as if they were independent, which they are not where they share questions."""
    for figure, test in (("published_f", stats.variance_ratio), ("published_t", stats.two_sample_t)):
        part = replace(row, figure=figure)
        try:
            tested = test(first, second)  # type: ignore[arg-type]
        except ValueError:  # a draw without a precision
            yield replace(part, reason=NO_FACT)
            continue
        reason = None if tested.p is not None else "no spread, or one question"
        yield replace(part, value=tested.value, p=tested.p, reason=reason)


def draw_sentences(rows: list[FactsRow]) -> Iterator[str]:
    """How near the draws come to the figure of all questions, and whether that is near enough."""
    by_candidate: dict[tuple[str, ...], list[FactsRow]] = {}
    for row in rows:
        if row.figure == "precision" and row.value is not None and row.full is not None:
            by_candidate.setdefault((row.candidate, row.benchmark, row.rater, row.signature), []).append(row)
    for (candidate, benchmark, rater, _), of_it in by_candidate.items():
        values = [row.value or 0.0 for row in of_it]
        yield (
            f"{candidate} on {benchmark}, by {rater}: {printed(of_it[0].full, '.3f')} over all questions, "
            f"{printed(min(values), '.3f')} to {printed(max(values), '.3f')} in {count(len(of_it), 'draw')}"
            f"{_equivalence_text(of_it)}."
        )


def _equivalence_text(rows: list[FactsRow]) -> str:
    if rows[0].margin is None:
        return "; without --margin nothing says whether that is near enough"
    n = sum(row.verdict_code == "equivalent" for row in rows)
    return f", {n} of them equivalent within {rows[0].margin:g}"
