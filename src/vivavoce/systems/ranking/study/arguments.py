"""The study `arguments`: which source writes the arguments that help most, and who says so.

De la Iglesia and others, Ranking over Scoring (COLING 2025), sections 3 and 4. Sources are candidates;
ceilings (explanations by people) are ranked with them, floors (controls) beside them.
"""

from collections.abc import Sequence

import polars as pl

from vivavoce.core.records import Finding
from vivavoce.core.registry import study
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
    `order`: `order` as `text`; `friedman` (Iman and Davenport's F, cases as blocks), `friedman_chi2`,
    `critical_difference` of the `mean_case_rank`s, `pairs_told_apart`. `spread`, by source:
    `between_mixtures` and `between_runs` apart, and `of_all_runs` with `ddof` 1 and 0. `panel`: agreement
    with a panel's ranks of the same arguments. `lexical`: agreement with what words alone say. `length`,
    `confusion` (tasks of classes), `leaks`, `examples`: items on which arguments differ most. `gate`:
    Krippendorff's alpha of each panel's ranks, by the level of measurement, and the verdict: `suitable`
    where the whole interval lies above `threshold`, `not_suitable` where it lies below, `not_shown` where it
    holds it.
    """

    about = (
        "Which source's arguments help most with a task: three ranks with tests, the spread over training, "
        "agreement with people and with words alone, and whether the task is suitable."
    )
    row = ArgumentsRow
    special = True
    needs = ("ranks", "items", "any_tokeniser")
    threshold: float | None = None
    level: Level = "ordinal"

    def applies_to(self, scores: ScoreTable) -> bool:
        """Whether an argument was scored."""
        return bool((scores.scores["format"] == ARGUMENT).any())

    def findings(self, scores: ScoreTable) -> Finding:
        """The ranks of sources by every family, what they rest on, and the gate.

        Raises `SelectionError` for a threshold that is no value of alpha between 0 and 1.
        """
        check_threshold(self.threshold)
        panels = [board for board in boards(scores) if _of_arguments(scores, board)]
        leaks = leaks_of(scores)
        rows: list[ArgumentsRow] = list(gate_rows(panels, self.threshold, self.level))
        notes = [note for board in panels for note in board.notes]
        by_family = {family: _lineups(scores, family, leaks) for family in families(scores.measures)}
        for lines in by_family.values():
            for lineup in lines:
                rows += rank_rows(lineup)
            for widest in (
                line for line in lines if line.among == _widest(lines, line) and line.leaked == KEEP
            ):
                rows += spread_rows(widest.scores)
                rows += confusion_rows(widest.scores, scores)
                for words in _lexical(widest, by_family):
                    rows += lexical_rows(widest, words)
            for line_up in (line for line in lines if line.among == ARGUMENTS and line.leaked == KEEP):
                rows += length_rows(line_up, scores)
                rows += example_rows(line_up)
                for board in panels:
                    if board.benchmark == line_up.scores.benchmark:
                        rows += panel_rows(line_up, board, scores)
        rows += across_evaluators([row for row in rows if row.part == "panel"])
        rows += leak_rows(scores, leaks)
        text = (
            "\n".join(sentences(rows)) or "No argument has a score here: `viva score RUN lexical` gives one."
        )
        return self.finding(rows, text, (*notes, *unweighted(scores.scores, "ranks of arguments count")))


def _of_arguments(scores: ScoreTable, board: Board) -> bool:
    """Whether a panel ranked arguments; of other answers the study `panel` speaks."""
    on_board = scores.scores.filter(pl.col("benchmark") == board.benchmark)
    return bool((on_board["format"] == ARGUMENT).any())


def _lineups(scores: ScoreTable, family: Family, leaks: list[Leak]) -> list[Lineup]:
    """A family's lineups on every benchmark."""
    return [
        lineup
        for table in source_scores(scores, family)
        for lineup in lineups(table, items_to_drop(leaks, table.benchmark))
    ]


def _widest(lines: Sequence[Lineup], of: Lineup) -> str:
    """What the widest lineup of a benchmark is among."""
    lineups_there = {line.among for line in lines if line.scores.benchmark == of.scores.benchmark}
    return EVERYTHING if EVERYTHING in lineups_there else ARGUMENTS


def _lexical(lineup: Lineup, by_family: dict[Family, list[Lineup]]) -> list[Lineup]:
    """What words alone say: the lexical criterion of the evaluator, or else the metric `lexical`."""
    family = lineup.scores.family
    criterion = family.criterion.criterion
    if is_lexical(family):
        return []
    criterion_of_words = f"lexical_{criterion}"
    beside_it = [
        f for f in by_family if (f.metric, f.criterion.criterion) == (family.metric, criterion_of_words)
    ]
    general = [f for f in by_family if f.name == "lexical" and f.criterion.criterion == criterion]
    return [
        line
        for words in beside_it or general
        for line in by_family[words]
        if line[:2] == lineup[:2] and line.scores.benchmark == lineup.scores.benchmark
    ]


def is_lexical(family: Family) -> bool:
    """Whether a family's scores come from words alone."""
    return family.name == "lexical" or family.criterion.criterion.startswith("lexical_")
