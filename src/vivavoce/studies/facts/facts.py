"""The study of facts: what the verdicts on single facts of long answers show, and what they do not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.bounded import figure_text
from vivavoce.studies.facts.coverage import by_category, by_severity, coverage, lengths, precision
from vivavoce.studies.facts.draws import PUBLISHED, draw_sentences, draws
from vivavoce.studies.facts.fact_table import KINDS, ONE_PASS, FactTable, fact_tables
from vivavoce.studies.facts.false_facts import false_facts
from vivavoce.studies.facts.length import length, length_sentences
from vivavoce.studies.facts.rater_pairs import (
    AT_RANDOM,
    PEOPLE,
    judging_tables,
    pair_rows,
    pair_sentences,
    rater_pairs,
)
from vivavoce.studies.facts.rows import FactsRow
from vivavoce.studies.facts.temperatures import temperature_sentences, temperatures
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study
from vivavoce.studies.text import cases, count

CONFLICT_ONLY = (
    "This measures conflict with facts only: an answer without a false fact may leave out what matters, and "
    "advise harm."
)
NOTHING = (
    'No facts of answers were scored here: `viva score RUN --metric "atomic_facts(splitter=…, checker=…)"` '
    "does that."
)


class Part(NamedTuple):
    """Rows, the sentences about them, and the notes that they need."""

    rows: Sequence[FactsRow]
    sentences: Iterable[str]
    notes: Sequence[str] = ()


TEMPERATURE = NamingSentence(
    code="facts.temperature",
    templates=(
        "{model} on {benchmark}, by {checker}, at {n} temperatures from {low} to {high}: "
        "{candidate} is better than {other} ({figure}).",
    ),
    names=("candidate", "rater"),
    family="all neighbouring temperatures",
    correction="Holm",
    null="temperatures",
)


CORRECTED = NamingSentence(
    code="facts.corrected",
    templates=(
        "{candidate}: precision {figure} by the checker, {corrected} corrected by recorded verdicts.",
    ),
    names=("candidate",),
    family="each candidate alone",
    correction="none",
    null="facts",
)


@study("facts")
class Facts(Study):
    """What the facts of long answers show."""

    about = (
        "What the single facts of answers show: coverage, categories and kinds of facts, length, "
        "temperatures, samples, splitter and checker against people, and false facts that candidates share."
    )
    row = FactsRow
    sentences = (TEMPERATURE, CORRECTED)
    special = True
    needs = ("units",)
    margin: float | None = None
    sample: float | None = None
    draws: int = 3
    units_margin: float | None = None

    def applies_to(self, scores: ScoreTable) -> bool:
        """Where facts were scored."""
        return scores.units is not None

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by measure, benchmark and `part`; every interval is by case.

        `coverage`: answers by what became of them, and the units of an answer. `units`: units by what became
        of them. `lengths`: mean words, characters, tokens and facts of the answers that arrived, null where
        they are not known. `precision`: the share of right facts among those with a verdict that is a score,
        of each answer and then over answers (`precision`) and over all facts (`pooled_precision`);
        `bound_low` and `bound_high` take everything without a score for wrong, then for right. `category`:
        precision by category; no category is held against another. `severity`: pooled precision by what an
        error in a fact
        would do. `length`: rank correlation and slope of precision with the units and characters of answers;
        `dropped`: what is lost, and what the score becomes, if one verdict that is none drops an answer.
        `shared`: false facts, how many of them several candidates state, and those that come most often.
        `temperature`: candidates that differ in their temperature alone, and neighbours compared, p by Holm
        over all neighbours of the call, with a verdict by `margin`. `draw`: with `sample`, a share, so many
        `draws` of the questions, each against all of them (`full`): the error of the draw, equivalence within
        `margin` (two one-sided tests, Holm over the draws), and the published F and t tests between draws.
        `people` and `per_call`: two measures of the same answers, one by a person, or equal but for the facts
        of a call: units an answer with equivalence within `units_margin`, units that both name, agreement of
        verdicts; of people also sensitivity, specificity and each candidate's precision corrected by them
        (prediction-powered; `full` is before). Fewer than 10 cases show counts only.
        """
        tables = list(fact_tables(scores))
        if not tables:
            return self.finding((), NOTHING)
        judging = judging_tables(tables)
        by_table = [_of_table(table, judges=any(table is judge for judge in judging)) for table in tables]
        parts = [*by_table, *self._across(tables, judging)]
        rows = [row for part in parts for row in part.rows]
        sentences = [sentence for part in parts for sentence in part.sentences]
        notes = [note for part in parts for note in part.notes]
        return self.finding(rows, "\n".join(sentences), dict.fromkeys([CONFLICT_ONLY, *notes]))

    def _across(self, tables: Sequence[FactTable], judging: Sequence[FactTable]) -> Iterator[Part]:
        """Measures of the same answers, and samples and temperatures by those that are `judging`."""
        for pair in rater_pairs(tables):
            rows = list(pair_rows(pair, self.units_margin))
            yield Part(rows, pair_sentences(rows), [AT_RANDOM] if pair.part == PEOPLE else [])
        if self.sample is not None:
            shares = self.sample, self.draws, self.margin
            rows = [row for table in judging for row in draws(table, *shares)]
            yield Part(rows, draw_sentences(rows), [PUBLISHED])
        rows = temperatures(judging, self.margin)
        yield Part(rows, temperature_sentences(rows))


def _of_table(table: FactTable, *, judges: bool) -> Part:
    """What one measure shows on one benchmark; `judges`: by it candidates are judged, and no checker."""
    counts, precisions = list(coverage(table)), list(precision(table))
    against_score = list(length(table)) if judges else []
    kinds = [*by_category(table), *by_severity(table)]
    sizes = list(lengths(table))
    rows = [*counts, *sizes, *precisions, *kinds, *against_score, *false_facts(table)]
    texts = _precision_sentences(table, precisions, [*counts, *sizes])
    sentences = [*texts, *length_sentences(table, against_score)]
    passes = [f"{table.measure.rater} on {table.benchmark}: {ONE_PASS}"] if table.passes > 1 else []
    return Part(rows, sentences, passes)


def _precision_sentences(
    table: FactTable, precisions: Sequence[FactsRow], counts: Sequence[FactsRow]
) -> Iterator[str]:
    """A sentence for each candidate: precision with its bounds, and beside it what became of its answers."""
    for candidate in table.candidates:
        macro, pooled = (row for row in precisions if row.candidate == candidate)
        # Units have words of their own, and two of them are kinds of answers too.
        of_it = [row for row in counts if row.candidate == candidate and row.part in ("coverage", "lengths")]
        figures = {row.figure: row.value for row in of_it}
        yield (
            f"{candidate} on {table.benchmark}, by {table.measure.rater}: {_precision_text(macro, pooled)}; "
            f"{_coverage_text(figures)}."
        )


def _coverage_text(figures: Mapping[str, float | None]) -> str:
    answered, *more_rows = (
        f"{figures[kind]:,.0f} {kind}" for kind in KINDS if figures[kind] or kind == KINDS[0]
    )
    length = figures["units_per_answer"]
    units = "" if length is None else f" with {printed(length, '.3g')} checked facts each"
    words = figures["words"]
    size = [] if words is None else [f"{printed(words, '.3g')} words on average"]
    return ", ".join([count(int(figures["answers"] or 0), "answer"), answered + units, *more_rows, *size])


def _precision_text(macro: FactsRow, pooled: FactsRow) -> str:
    if macro.value is None:
        return f"precision: {macro.reason}"
    sample = cases(macro.n_groups, macro.effective_cases)
    text = f"precision {figure_text(macro, '.3f')} in {sample}"
    if macro.bound_low is not None and macro.bound_low != macro.bound_high:
        low, high = printed(macro.bound_low, ".3f"), printed(macro.bound_high, ".3f")
        text += f", {low} to {high} with all that is unsettled"
    return text if pooled.value is None else f"{text}; over all facts {printed(pooled.value, '.3f')}"
