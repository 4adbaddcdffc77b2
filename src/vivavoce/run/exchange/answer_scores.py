"""The scores that a table gives to its answers, row by row: its own, and those of people in columns."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from vivavoce.benchmarks.column_names import folded
from vivavoce.core.tables import Line, cell
from vivavoce.core.text import one_line
from vivavoce.run.exchange.file_scores import are_scores, is_unparsed, names_scores, score_value
from vivavoce.run.exchange.rater_columns import RaterColumn, numbers_rater, people_score
from vivavoce.run.exchange.recorded_log import Mark
from vivavoce.studies.comparing.file_scores import UNPARSED


def file_mark(column: str, value: float | None = None, note: str | None = None) -> Mark:
    """A score of a file in one of its columns, on the scale from 0 to 1."""
    return Mark(
        scorer="", criterion=one_line(column, 80), value=value, low=0.0, high=1.0, if_unanswered="worst",
        note=note,
    )  # fmt: skip


def scores_by_model(
    columns: Sequence[str], models: Mapping[str, str], values_of: Callable[[str], Sequence[Any]]
) -> dict[str, dict[str, str]]:
    """By candidate the columns of scores that bear its name, such as `gpt-4o_correct`, by what else they say.

    `models` gives the column of each candidate's answers.
    """
    scores: dict[str, dict[str, str]] = {}
    for column in (column for column in columns if column not in models.values()):
        for model in sorted(models, key=len, reverse=True):
            name = _name_without(folded(column), folded(model))
            if name and (numbers_rater(name) or (names_scores(name) and are_scores(values_of(column)))):
                scores.setdefault(model, {})[name] = column
                break
    return scores


def _name_without(column: str, model: str) -> str:
    """What the name of a column says before or after that of a model; '' where it does not bear it."""
    if column.startswith(f"{model}_"):
        return column.removeprefix(f"{model}_")
    return column.removesuffix(f"_{model}") if column.endswith(f"_{model}") else ""


class AnswerScores:
    """The columns of a file's scores of its own answers, that of the answer that it read, and of raters.

    `misfits` gives for a column the first place where what it holds is no score, and `unbounded` the criteria
    of people with scores outside 0 to 1, as far as rows were read.
    """

    def __init__(
        self, columns: Sequence[str] = (), parsed: str | None = None, raters: Sequence[RaterColumn] = ()
    ) -> None:
        self.columns, self.parsed, self.raters = tuple(columns), parsed, tuple(raters)
        self.misfits: dict[str, str] = {}
        self.unbounded: set[str] = set()

    @property
    def used(self) -> set[str]:
        """The columns that are read."""
        parsed = {self.parsed} if self.parsed is not None and self.columns else set()
        return {*self.scored_columns, *parsed}

    def marks(self, line: Line) -> tuple[Mark, ...]:
        """The scores that a row gives to its answer; one of its own that the file lacks has failed."""
        if not (self.columns or self.raters):
            return ()
        return (*self._of_file(line), *self._of_people(line))

    @property
    def declared(self) -> list[Mark]:
        """A mark for each measure, with the limits that its scores keep."""
        return [*map(file_mark, self.columns), *(self._of_person(rater) for rater in self.raters)]

    @property
    def scored_columns(self) -> list[str]:
        """The column of each of these marks."""
        return [*self.columns, *(rater.column for rater in self.raters)]

    def _of_file(self, line: Line) -> Iterator[Mark]:
        for column in self.columns:
            if column in (content := self._content(line, column, score_value)):
                value = content[column]
                unparsed = UNPARSED if self.parsed is not None and self._is_unparsed(line) else None
                note = unparsed or ("no value was recorded" if value is None else None)
                yield file_mark(column, value, note)

    def _of_people(self, line: Line) -> Iterator[Mark]:
        """The scores of people; an empty cell is no score, as a rater need not have scored all answers."""
        for rater in self.raters:
            value = self._content(line, rater.column, people_score).get(rater.column)
            if value is not None:
                if not 0 <= value <= 1:
                    self.unbounded.add(rater.criterion)
                yield self._of_person(rater, value)

    def _of_person(self, rater: RaterColumn, value: float | None = None) -> Mark:
        """A person's score; its scale is known where no score of the criterion lies outside 0 to 1."""
        criterion, name = one_line(rater.criterion, 80), one_line(rater.rater, 80)
        if rater.criterion in self.unbounded:
            return Mark(scorer="", criterion=criterion, value=value, rater=name)
        return Mark(
            scorer="", criterion=criterion, value=value, low=0.0, high=1.0, if_unanswered="worst", rater=name
        )

    def _content(
        self, line: Line, column: str, parse: Callable[[Any], float | None]
    ) -> dict[str, float | None]:
        """The score in a column; none where the row lacks the column, or what stands there is none."""
        try:
            content = cell(line.row, column)
            return {column: parse(content)}
        except KeyError:
            pass
        except ValueError:
            self.misfits.setdefault(column, f"{line.where}: {column} is {one_line(str(content), 40)!r}")
        return {}

    def _is_unparsed(self, line: Line) -> bool:
        try:
            return is_unparsed(cell(line.row, self.parsed or ""))
        except KeyError:
            return False

    def removing(self, columns: Collection[str]) -> "AnswerScores":
        """The scores but for those of these columns."""
        scores = AnswerScores(
            [column for column in self.columns if column not in columns],
            self.parsed,
            [rater for rater in self.raters if rater.column not in columns],
        )
        scores.unbounded = self.unbounded
        return scores


NO_SCORES = AnswerScores()
