"""The study `arguments`: which source writes the arguments that help most, and who says so.

De la Iglesia and others, Ranking over Scoring (COLING 2025), sections 3 and 4. Sources are candidates;
ceilings (explanations by people) are ranked with them, floors (controls) beside them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import polars as pl

from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.panels.rank_data import Board, boards
from vivavoce.studies.score_table import ScoreTable, unweighted
from vivavoce.studies.study import Study
from vivavoce.systems.ranking.study.confusion import confusion_rows
from vivavoce.systems.ranking.study.examples import example_rows
from vivavoce.systems.ranking.study.gate import Level, check_threshold, gate_rows
from vivavoce.systems.ranking.study.leaks import Leak, items_to_drop, leak_rows, leaks_of
from vivavoce.systems.ranking.study.length import length_rows
from vivavoce.systems.ranking.study.panel_agreement import across_evaluators, lexical_rows, panel_rows
from vivavoce.systems.ranking.study.ranks import ARGUMENTS, EVERYTHING, Lineup, lineups, rank_rows
from vivavoce.systems.ranking.study.rows import KEEP, ArgumentsRow
from vivavoce.systems.ranking.study.sentences import sentences
from vivavoce.systems.ranking.study.source_scores import Family, families, source_scores
from vivavoce.systems.ranking.study.spread import spread_rows

ARGUMENT = "argument"
"""The format of the items that the study is about."""


RANKS = NamingSentence(
    code="arguments.ranks",
    templates=("{measure} on {benchmark}{floors} ({basis}): {ranks}, rank {rank}.",),
    names=("candidate", "metric"),
    family="all pairs of sources by one criterion",
    correction="Holm",
    null="arguments",
)


@study("arguments")
class Arguments(Study):
    """Rows by `part` and `figure`, for each family of evaluators and benchmark.

    A family is one metric and criterion over its raters and passes: the mixtures of arguments that an
    evaluator was trained on, and the training runs. All ranks are on the items with a score of every source
    in every run (`n_items`); `among` says whether floors are ranked with the `arguments`, and `leaked`
    whether items that repeat a training question stay (`keep`), go (`drop`), or near ones too
    (`drop_near`).

    `ranks`, by source: `mean` over items and runs, with its interval by case; `rank_of_mean`, the published
    rank, with the ranks that paired tests leave open (Holm over all pairs, under both fillings of failed
    scores); `mean_run_rank`, the mean over runs of the rank in the run; `mean_instance_rank`, the mean over
    items of the rank in the item by the mean over runs. 1 is the best, ties share their mean rank.
    `order`: `order` as `text`; `friedman` (Iman and Davenport's F, cases as blocks, p by permutation inside
    them), `friedman_chi2`, `critical_difference` of the `mean_case_rank`s, `pairs_told_apart`. `spread`, by
    source: `between_mixtures` and `between_runs` apart, and `of_all_runs` with `ddof` 1 and 0. `panel`:
    agreement with a panel's ranks of the same arguments. `lexical`: agreement with what words alone say.
    `length`, `confusion` (tasks of classes), `leaks`, `examples`: items on which arguments differ most.
    `gate`: Krippendorff's alpha of each panel's ranks, by the level of measurement, and the verdict:
    `suitable` where the whole interval lies above `threshold`, `not_suitable` where it lies below,
    `not_shown` where it holds it.
    """

    about = (
        "Which source's arguments help most with a task: three ranks with tests, the spread over training, "
        "agreement with people and with words alone, and whether the task is suitable."
    )
    row = ArgumentsRow
    sentences = (RANKS,)
    special = True
    needs = ("ranks", "items", "any_tokeniser")
    threshold: float | None = None
    level: Level = "ordinal"

    def applies_to(self, scores: ScoreTable) -> bool:
        """Whether an argument was scored."""
        return bool(scores.scores.select((pl.col("format") == ARGUMENT).any()).item())

    def findings(self, scores: ScoreTable) -> Finding:
        """The ranks of sources by every family, what they rest on, and the gate.

        Raises `SelectionError` for a threshold that is no value of alpha between 0 and 1.
        """
        check_threshold(self.threshold)
        panels, leaks = _panels(scores), leaks_of(scores)
        rows: list[ArgumentsRow] = list(gate_rows(panels, self.threshold, self.level))
        by_family = {family: _lineups(scores, family, leaks) for family in families(scores.measures)}
        for lines in by_family.values():
            for lineup in lines:
                rows += rank_rows(lineup)
            rows += _on_training(lines, by_family, scores)
            rows += _on_arguments(lines, panels, scores)
        rows += across_evaluators(rows)
        rows += leak_rows(scores, leaks)
        text = (
            "\n".join(sentences(rows)) or "No argument has a score here: `viva score RUN lexical` gives one."
        )
        notes = [note for board in panels for note in board.notes]
        return self.finding(rows, text, (*notes, *unweighted(scores.scores, "ranks of arguments count")))


def _panels(scores: ScoreTable) -> list[Board]:
    """The panels that ranked arguments; of other answers the study `panel` speaks."""
    of_arguments = set(scores.scores.filter(pl.col("format") == ARGUMENT)["benchmark"])
    return [board for board in boards(scores) if board.benchmark in of_arguments]


def _lineups(scores: ScoreTable, family: Family, leaks: list[Leak]) -> list[Lineup]:
    """A family's lineups on every benchmark."""
    return [
        lineup
        for table in source_scores(scores, family)
        for lineup in lineups(table, items_to_drop(leaks, table.benchmark))
    ]


def _on_training(
    lines: Sequence[Lineup], by_family: Mapping[Family, list[Lineup]], scores: ScoreTable
) -> Iterator[ArgumentsRow]:
    """What a family learned, over all sources with the floors: its spread, its classes, and words alone."""
    for lineup in lines:
        if lineup.leaked == KEEP and lineup.among == _widest(lines, lineup):
            yield from spread_rows(lineup.scores)
            yield from confusion_rows(lineup.scores, scores)
            for words in _lexical(lineup, by_family):
                yield from lexical_rows(lineup, words)


def _on_arguments(
    lines: Sequence[Lineup], panels: Sequence[Board], scores: ScoreTable
) -> Iterator[ArgumentsRow]:
    """What holds of arguments and not of floors: their length, examples, and what panels say of them."""
    for lineup in lines:
        if lineup.leaked == KEEP and lineup.among == ARGUMENTS:
            yield from length_rows(lineup, scores)
            yield from example_rows(lineup)
            for board in panels:
                if board.benchmark == lineup.scores.benchmark:
                    yield from panel_rows(lineup, board, scores)


def _widest(lines: Sequence[Lineup], lineup: Lineup) -> str:
    """What the widest lineup of a benchmark is among."""
    lineups_there = {line.among for line in lines if line.scores.benchmark == lineup.scores.benchmark}
    return EVERYTHING if EVERYTHING in lineups_there else ARGUMENTS


def _lexical(lineup: Lineup, by_family: Mapping[Family, list[Lineup]]) -> list[Lineup]:
    """The same sources and items as words alone score them."""
    return [
        line
        for words in _words_alone(lineup.scores.family, by_family)
        for line in by_family[words]
        if line[:2] == lineup[:2] and line.scores.benchmark == lineup.scores.benchmark
    ]


def _words_alone(family: Family, among: Collection[Family]) -> list[Family]:
    """The lexical criterion of the evaluator, or else the metric `lexical`; none for these two themselves."""
    criterion = family.criterion.criterion
    if family.name == "lexical" or criterion.startswith("lexical_"):
        return []
    beside_it = (family.metric, f"lexical_{criterion}")
    families_of_words = [f for f in among if (f.metric, f.criterion.criterion) == beside_it]
    return families_of_words or [
        f for f in among if f.name == "lexical" and f.criterion.criterion == criterion
    ]
