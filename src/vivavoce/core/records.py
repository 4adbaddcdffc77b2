"""The vocabulary: what was asked, what was answered, who scored it, what it means.

Records are frozen. Their field names are the column names of the tables, and the tables' schemas are derived
from them (`vivavoce.core.tables.schema`).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce.core import display
from vivavoce.core.conversations import Message
from vivavoce.core.display import short_repr
from vivavoce.core.downloads import Download as Download
from vivavoce.core.evidence import Evidence
from vivavoce.core.item_content import Hashed
from vivavoce.core.parts import Ending, Parts, made_parts, parts_of
from vivavoce.core.text import one_line, printable, spoken

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

ItemKey = tuple[str, str, str]
"""Benchmark, base id, variant."""

Role = Literal["candidate", "floor", "ceiling"]
ResponseStatus = Literal["ok", "filtered", "failed"]
ScoreStatus = Literal["ok", "unanswered", "unreadable", "failed", "set_aside"]
IfUnanswered = Literal["worst", "set_aside", "correct"]
Direction = Literal["higher", "lower"]
_VISIBLE = (
    *("format", "question", "messages", "follows", "options", "answer", "references", "must", "nice"),
    *("steps", "step", "false_answer", "context"),
)
"""The fields of an item that a candidate or examiner sees as they stand."""
_HASHED = json.JSONEncoder(ensure_ascii=False, sort_keys=True)  # for all: making it costs more than using it
MOST_LINES, MOST_IN_LINE = 12, 400
"""Lines, and characters in each, that a finding shows of itself where nobody printed it."""


def _set_fields(record: Any) -> dict[str, Any]:
    """The fields of a record that hold something."""
    values = {f.name: getattr(record, f.name) for f in fields(record)}
    return {name: value for name, value in values.items() if value not in (None, "", (), {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A piece of a response or an item that is scored by itself: a fact, a rubric point, a step."""

    unit: str
    text: str
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Hashed):
    """One question of a benchmark, as a candidate sees it and an examiner scores it.

    `item` is the base id, `variant` the framing ('' for the base item), `alias` the id it was published under
    where that differs. `group` names what must be resampled together and defaults to the base id, and
    `outer_groups` the groups in which alone it is that group, outermost first, '' where one is not stated.
    `answer` holds the keyed answer of a closed format: one option's text, several for a list, 'True' or
    'False'. `steps` is a chain of reasoning: the right one, or with `step` one whose step of that number
    (from 1) is wrong. `weight` is how many questions of the benchmark it stands for in a sample of them.
    `messages` are the turns of a conversation, whose last one a candidate answers; `question` is then the
    whole thread as one text. `follows` is the id of the item whose turn goes before: what each candidate was
    asked and answered until there stands before these messages.
    `false_answer` is a wrong answer that is shown and is to be explained. `must` are statements that an
    answer must make, `nice` those that it would be good to make. `rubric` holds points that answers to it are
    scored by, of weights that may be negative. `origin` is null for an item of the exam itself,
    else the spec of what made it in the run.
    """

    benchmark: str
    item: str
    variant: str = ""
    alias: str | None = None
    group: str = ""
    outer_groups: tuple[str, ...] = ()
    category: str | None = None
    format: str
    question: str
    messages: tuple[Message, ...] = ()
    follows: str | None = None
    options: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    nice: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    step: int | None = None
    false_answer: str | None = None
    rubric: tuple[Unit, ...] = ()
    context: str | None = None
    source: str | None = None
    origin: str | None = None
    weight: float = 1.0
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.group:
            object.__setattr__(self, "group", self.item)

    def __repr__(self) -> str:
        return short_repr(self, _set_fields(self))

    def _repr_html_(self) -> str | None:
        return display.html(self)

    @property
    def name(self) -> str:
        """The id a person knows the item by: its alias, else 'item' or 'item [variant]'."""
        return self.alias or (f"{self.item} [{self.variant}]" if self.variant else self.item)

    def _hash_of_content(self) -> str:
        """First 16 hex digits of SHA-256 over what candidate or examiner sees.

        Category, group, source and meta may change without making another item of it. Empty fields are left
        out, so that a field added to the record later changes no hash.
        """
        content: dict[str, Any] = {name: getattr(self, name) for name in _VISIBLE}
        content["rubric"] = [(u.unit, u.text, u.weight) for u in self.rubric]
        text = _HASHED.encode({k: v for k, v in content.items() if v}).encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()[:16]


class Exclusion(NamedTuple):
    """A row of a benchmark's files that became no item: where it stands, and why it was left out.

    `file` is the file's name, without its folder. `row` is its number in the file, from 1 as the file's
    readers count, or the id that it bears there. `reason` is a short phrase that can be counted, such as
    "two options are equal"; it holds no text of the row. There is one for each item that the benchmark lacks.
    """

    file: str
    row: int | str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model or system under examination: its label, verbatim, and the part it plays."""

    candidate: str
    role: Role = "candidate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a candidate answered to an item, raw and kept for ever.

    `status` is `ok` if text arrived, even empty or cut, `filtered` if it was withheld, `failed` if we
    did not get it; `text` is null exactly when it is not `ok`. `final` is what the text says in the end, null
    where all of it does, and `ending` how it ended (`parts`). `seconds` and `cost` (in the provider's
    currency) may be null. `meta` keeps what else came: citations, the name that answered, log-probabilities.
    Its `confidence` holds the pieces cut out of `text` that state one, or one that was imported. `probe` is
    '' for a response in words; else it names the requests for log-likelihoods: their record is `logprobs`.
    """

    benchmark: str
    item: str
    variant: str = ""
    candidate: str
    repeat: int = 1
    edit: str = ""
    probe: str = ""
    status: ResponseStatus = "ok"
    text: str | None = None
    final: str | None = None
    ending: Ending | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    error: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    logprobs: str | None = None

    def __repr__(self) -> str:
        return short_repr(self, _set_fields(self))

    def _repr_html_(self) -> str | None:
        return display.html(self)

    @property
    def parts(self) -> Parts:
        """The answer in its parts, as readers get it; the final part is empty where no text arrived."""
        return parts_of(self)

    def with_parts(self, form: str | None = None) -> "Response":
        """The response with `final` and `ending`, made for an item of this format where it has none."""
        if self.final is not None or self.ending is not None:
            return self
        final, ending = made_parts(self, form)
        return self if final is ending is None else replace(self, final=final, ending=ending)

    @property
    def final_text(self) -> str:
        """What the candidate says in the end: the text without thinking and marks of a chat."""
        return spoken(self.parts.final).text


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One column of a metric: its range (null = no limit), direction, and what silence is worth.

    `if_unanswered`: `worst` for quality, `set_aside` for harm, bias and precision, `correct` where
    refusing is right. `pool` names how rows combine; a `clipped_mean` is clipped to 0 to 1, single values may
    lie below, and a silence counts as 0. `smallest_difference` is the least difference that
    matters, in the criterion's units; null leaves the margin to the user.
    """

    criterion: str
    low: float | None = 0.0
    high: float | None = 1.0
    direction: Direction = "higher"
    if_unanswered: IfUnanswered = "worst"
    pool: str = "mean"
    smallest_difference: float | None = None

    @property
    def worst(self) -> float | None:
        """The end of the range that is worst; null without a limit there."""
        return self.low if self.direction == "higher" else self.high

    @property
    def best(self) -> float | None:
        """The end of the range that is best; null without a limit there."""
        return self.high if self.direction == "higher" else self.low

    @property
    def silence(self) -> float | None:
        """What a silence counts as; null if it is set aside, or counts as a limit that there is not."""
        worst = 0.0 if self.pool == "clipped_mean" else self.worst
        return {"worst": worst, "correct": self.best, "set_aside": None}[self.if_unanswered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A criterion of a metric with settings, scored by a rater: what a score is a value of."""

    metric: str
    signature: str
    rater: str = ""
    criterion: Criterion


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one rater said in one pass about one thing. `value` is null unless `status` is `ok`."""

    benchmark: str
    item: str
    variant: str = ""
    candidate: str
    repeat: int = 1
    edit: str = ""
    metric: str
    criterion: str
    rater: str = ""
    pass_no: int = 1
    unit: str = ""
    ballot: str = ""
    position: int | None = None
    value: float | None = None
    status: ScoreStatus = "ok"
    parts: Mapping[str, float] | None = None
    note: str | None = None


class Reasoned(NamedTuple):
    """An answer reached in steps: the answer, and the steps in order (none if none were written)."""

    answer: str
    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is compared with the references."""
        return self.answer


class Located(NamedTuple):
    """A fault found in a chain of steps: which step (null if none was named), and why it is wrong."""

    step: int | None
    explanation: str

    @property
    def text(self) -> str:
        """What is compared with the references."""
        return self.explanation


class Reading(NamedTuple):
    """What a format made of an answer.

    `parsed` is an option's text (mcq), a bool (true_false), a tuple of option texts (list), a `Reasoned`
    (multi_hop), a `Located` (multi_hop_inverse), a tuple of `Relation` (relation), or the answer's text
    (other open formats); null unless `status` is `ok`. `stray` holds the entries of a list that are no
    option, or no relation. `reason` says why an answer was not read.
    """

    status: Literal["ok", "unanswered", "unreadable"]
    parsed: Any = None
    stray: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def text(self) -> str:
        """The part of an open answer that is compared with the references: what text metrics score."""
        return self.parsed if isinstance(self.parsed, str) else self.parsed.text


class Row(NamedTuple):
    """What a metric gets to mark: a readable answer beside its item.

    `other_repeats` are the readings of the candidate's other answers to the same item, unreadable ones too,
    for a metric that `needs_repeats`; what failed is none.
    """

    item: Item
    response: Response
    reading: Reading
    other_repeats: tuple[Reading, ...] = ()


class Value(NamedTuple):
    """A metric's score for one row and criterion.

    Without a value it is null with a note and a status: `set_aside` where the metric does not apply to the
    item (it enters no mean and no bound), `failed` where something went wrong (it is tried again, and gives
    bounds). `evidence` are the passages that it rests on.
    """

    value: float | None
    parts: Mapping[str, float] | None = None
    note: str | None = None
    status: ScoreStatus = "ok"
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a study found: rows with named columns, and the sentences that say it.

    `headline` is the answer in one line of at most 200 characters without a semicolon, or empty. `passes` of
    scores: how many texts each encoder read; `languages`: a row for each benchmark with its script, its
    language, null where unknown, and what is supported in it; `file_scores`: scores that came with answers,
    compared with ours. `integrity` of scores and comparisons: a row for each benchmark and candidate with
    answers that are not whole, `questions` of comparisons: a row for each benchmark, as in `Run.status`.
    """

    study: str
    rows: tuple[Mapping[str, Any], ...]
    text: str = ""
    notes: tuple[str, ...] = ()
    passes: Mapping[str, int] = field(default_factory=dict)
    headline: str = ""
    languages: tuple[Mapping[str, Any], ...] = ()
    integrity: tuple[Mapping[str, Any], ...] = ()
    file_scores: tuple[Mapping[str, Any], ...] = ()
    questions: tuple[Mapping[str, Any], ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.text, *self.notes]) if self.notes else self.text

    def __repr__(self) -> str:
        n = len(self.rows)
        lines = [f"<Finding of {self.study}: {n:,} row{'' if n == 1 else 's'}>", *str(self).splitlines()]
        more = len(lines) - MOST_LINES
        cut = [one_line(printable(line), MOST_IN_LINE) for line in lines[:MOST_LINES]]
        return "\n".join([*cut, *([f"… and {more:,} more lines: print it to see all"] if more > 0 else [])])

    def _repr_html_(self) -> str | None:
        return display.html(self)

    @property
    def table(self) -> "pl.DataFrame":
        """The rows as a Polars frame: nested values as JSON, what is missing null, empty without rows."""
        from vivavoce.core.row_frames import row_frame

        return row_frame(self.rows)

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a pandas frame, as `viva.to_pandas` makes one of any table; pyarrow is not needed."""
        from vivavoce.core.row_frames import to_pandas

        return to_pandas(self.table)

    def plot(self, *, interactive: bool = False) -> Any:
        """The finding as a static SVG drawing, which a notebook shows and `save` writes to a file.

        `interactive` gives an Altair chart instead, of estimates and comparisons; it needs the extra `plots`.
        Raises `SelectionError` for a finding of which there is no chart.
        """
        return display.view("interactive" if interactive else "drawing", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a benchmark is, where it comes from, and what is wrong with it.

    `revision` may be null only where `revision_note` says why. `access`: `open`, `registered`,
    `credentialed`, or `own`, a user's file. `published` holds the settings that the published figures were
    made with, as far as they are known: those of a candidate, and `repeats`. `released` is the year and month
    in which its questions could first be read by anybody, such as 2024-07; null is not known. `primary` names
    the criterion that it is to be judged by, such as `accuracy`, `metric:criterion` or `overall`; null: none.
    `groups_of` is the benchmark whose groups it has, so that items of both with one group are one case; null:
    its own. `group_levels` names the levels of its groups, outermost first, if they have several and names.
    `writers` are the models that wrote or translated its items: their own scores on it say less.
    """

    name: str
    description: str
    source: str
    revision: str | None = None
    revision_note: str | None = None
    licence: str
    access: Literal["open", "registered", "credentialed", "own"] = "open"
    citation: str
    faults: tuple[str, ...] = ()
    published: Mapping[str, Any] = field(default_factory=dict)
    released: str | None = None
    primary: str | None = None
    groups_of: str | None = None
    group_levels: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is publicly known of one model; null means unknown. `models.yaml` explains the fields."""

    name: str
    family: str | None = None
    parameters: float | None = None
    active: float | None = None
    open: bool | None = None
    medical: bool | None = None
    instructed: bool | None = None
    base: tuple[str, ...] | None = None
    release: str | None = None
    cutoff: str | None = None
    names: tuple[str, ...] = ()
