"""What the log of another tool holds, in our words: answers, each with its question and its scores."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from vivavoce.benchmarks import Loaded
from vivavoce.core.errors import InputError
from vivavoce.core.parts import with_marks
from vivavoce.core.records import Direction, IfUnanswered, Item, ResponseStatus, ScoreStatus, Unit
from vivavoce.core.tables import Line
from vivavoce.people.storing.store_annotations import AnnotatedFile
from vivavoce.run.exchange.log_readers import LogReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A score that the tool recorded. Without a `value` it failed, unless `status` says otherwise;
    `note` gives the reason.

    It is stored under the measure `TOOL.SCORER`. `low`, `high` and `direction` are what the tool says of its
    range, null where it says nothing; `if_unanswered` is what silence counts as. `note` is the grader's
    reply. `unit` is what was scored by itself, `of_units` says that the criterion scores such pieces.
    `pass_no` counts scores of the same thing by one rater.
    """

    scorer: str
    criterion: str = "value"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    direction: Direction = "higher"
    note: str | None = None
    rater: str = ""
    unit: Unit | None = None
    status: ScoreStatus | None = None
    if_unanswered: IfUnanswered = "set_aside"
    pass_no: int = 1
    of_units: bool = False

    @property
    def outcome(self) -> ScoreStatus:
        """The status of its score."""
        return self.status or ("failed" if self.value is None else "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One answer of a log: where it stands, the item that it answers, and its scores.

    The item's id is '' where the log has none, its format '' where it is to be told; `row_id` says that it is
    the place of a row, which finds no item of another exam. Its `answer` holds the key of a closed question,
    option texts. `repeat` is null in a log that numbers no repeats: then those of one item are numbered in
    their order. `option_logprobs` holds, in place of a text, the log-likelihoods of the item's options.
    """

    where: str
    item: Item
    row_id: bool = False
    candidate: str = ""
    repeat: int | None = None
    status: ResponseStatus = "ok"
    text: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    error: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    option_logprobs: tuple[float, ...] = ()
    marks: tuple[Mark, ...] = ()


class LeftOut(NamedTuple):
    """A row of a log that gives no answer: its place in the file, and why, which is counted by its words."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLog:
    """A log as a reader read it: what it says of the run, and its samples, which can be read more than once.

    `task` names the exam, `candidate` the model, '' where the log names none or each sample its own. `files`
    are all that were read. `evaluation` is the id that the tool gave this evaluation; two logs with one id
    hold the same. `of_batch` says that its requests were written by a run of ours, which knows what they ask.
    `in_folder` says that the file was met in a folder, not named: if it cannot be read, it is listed.
    """

    tool: str
    version: str | None = None
    task: str
    candidate: str = ""
    files: tuple[Path, ...]
    samples: Callable[[], Iterable[Sample | LeftOut]] = tuple
    evaluation: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    of_batch: bool = False
    in_folder: bool = False

    def with_own_marks(self, marks: tuple[str, str] | None) -> Self:
        """The log with a model's own marks of thinking beside each answer; null: none."""
        if marks is None:
            return self

        def marked(sample: Sample | LeftOut) -> Sample | LeftOut:
            if isinstance(sample, LeftOut):
                return sample
            return replace(sample, meta=with_marks(sample.meta, marks))

        return replace(self, samples=lambda: map(marked, self.samples()))


class RecordedLogReader(LogReader):
    """Reads the logs of another tool for `viva import`; register a subclass with `@log_reader("name")`.

    It needs no benchmark: the log is the exam. It uses no library of the tool.
    """

    describes: ClassVar[str] = ""
    """Which files it reads, in a few words."""
    reads_tables: ClassVar[bool] = False
    """Whether its files are tables of a tool, which may be read as any table too."""

    @property
    def looked_for(self) -> str:
        """What a file must be to be known, in words."""
        return self.describes

    @abstractmethod
    def knows(self, path: Path) -> bool:
        """Whether this file is a log of the tool, told by its content. Never raises."""

    @abstractmethod
    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The logs in the file, with what stands beside it.

        Raise `InputError` where it cannot be read, with the file, the place and what to do.
        """

    def has_tasks(self, path: Path) -> bool:
        """Whether this file of the tool holds tasks that `viva export` wrote. Never raises."""
        return False

    def annotated(self, path: Path) -> AnnotatedFile:
        """What people said of such tasks. Raise `InputError` where it cannot be read."""
        raise InputError(f"{path} holds no task that `viva export` wrote.")

    def refuses(self, path: Path) -> str:
        """Why a file of the tool is not read, and what to do; '' for any other file. Never raises."""
        return ""

    def accepts(self, path: Path, benchmark: Loaded) -> bool:
        """Never: its files are recognised without a benchmark."""
        return False

    def lines(self, path: Path, benchmark: Loaded) -> Iterable[Line]:
        """No rows: see `logs`."""
        return ()


def safe_name(text: str) -> str:
    """A tool's name of a scorer in small letters, digits and `_`: 'Word Overlap' is word_overlap."""
    return re.sub(r"\W+", "_", text.strip().lower()).strip("_") or "score"
