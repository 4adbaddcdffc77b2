"""What a table leaves open before its answers can come in, all at once, each with what is proposed."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, filterfalse, islice
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import (
    FIELDS,
    OF_ITEMS,
    columns_of,
    folded,
    holds_questions,
    likely_columns,
    spread_options,
)
from vivavoce.benchmarks.table_options import ANSWERS, option_columns
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line, Lines
from vivavoce.core.text import one_line
from vivavoce.run.exchange.answer_scores import scores_by_model
from vivavoce.run.exchange.file_scores import (
    NONE,
    are_scores,
    are_truths,
    check_columns,
    names_scores,
)
from vivavoce.run.exchange.numbered_repeats import COUNTED, Numbering
from vivavoce.run.exchange.option_likelihoods import option_figures
from vivavoce.run.exchange.rater_columns import numbers_rater
from vivavoce.run.exchange.sources import Source
from vivavoce.run.exchange.table_files import names_of, refuse_columns_as_values, with_fields
from vivavoce.run.exchange.wide_tables import MODEL_FAMILIES, cell_or_null, long_lines

BY_ROW = (
    "Which question each row answers: no column holds ids or questions. Proposed: the first row the first "
    "question of the exam, and so on.",
    ("--by", "row"),
)
_HEAD = 200
"""Rows whose values tell what a column holds."""
_SPREAD = (*FIELDS["text"].others, "text", *ANSWERS)
"""Words of a column with a model's answers, beside the model's name."""

_PLURAL = ("responses", "outputs", "preds", "predictions", "completions", "generations", "answers")


class OpenQuestion(NamedTuple):
    """What is not said, in a sentence with the proposal, and the option that says it."""

    sentence: str
    option: tuple[str, str]


class OpenQuestions(InputError):
    """Questions that the data leave open; `options` are the words of the command line that say it.

    `sentences` has one for each question, with what is proposed.
    """

    def __init__(self, name: str, questions: Sequence[OpenQuestion]) -> None:
        self.options = tuple(word for question in questions for word in question.option)
        self.sentences = tuple(question.sentence for question in questions)
        lines = "".join(f"\n  {sentence}" for sentence in self.sentences)
        super().__init__(
            f"{name} leaves open:{lines}\nNothing was imported. --yes (yes=True) takes what is proposed."
        )


class Plan(NamedTuple):
    """How a source is read: its rows, what is mapped and set, what was taken, and what is open.

    `scores` are the columns that hold the file's own scores of its answers, null where nobody says.
    """

    source: Source
    map: Mapping[str, str]
    set: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    scores: tuple[str, ...] | None = None

    def asking(self, sentence: str, option: tuple[str, str]) -> "Plan":
        """The plan with one more question."""
        return self._replace(questions=(*self.questions, OpenQuestion(sentence, option)))

    def noting(self, note: str) -> "Plan":
        """The plan with a sentence on what was taken."""
        return self._replace(notes=(*self.notes, note))

    def counting(self, sentence: str) -> "Plan":
        """The plan in which the rows of one question and candidate are its repeats."""
        plan = self.asking(
            f"Repeats: {sentence}. Proposed: the rows of one question and candidate are its repeats, in "
            "their order; a column that numbers them is named by --map repeat=COLUMN.",
            ("--set", f"repeat={COUNTED}"),
        )
        return plan._replace(set={**plan.set, "repeat": COUNTED})

    def numbering(self, numbering: Numbering, sentence: str) -> "Plan":
        """The plan in which a column numbers the repeats: it is asked about unless its name says so alone."""
        column = numbering.column
        text = f"{column!r} numbers the repeats: it counts {numbering.n:,} for a question and candidate."
        plan = (
            self.noting(text)
            if numbering.is_certain
            else self.asking(f"Repeats: {sentence}. Proposed: {text}", ("--map", f"repeat={column}"))
        )
        return plan._replace(map={**plan.map, "repeat": column})

    def is_nameless(self, fields: Mapping[str, str]) -> bool:
        """Whether the rows say nothing of the question that they answer."""
        return self.source.free and not {"item", "question", "messages"} & {*fields, *self.set}

    @property
    def constants(self) -> dict[str, Any]:
        """What is set for all rows, without repeats that are counted."""
        return {field: value for field, value in self.set.items() if (field, value) != ("repeat", COUNTED)}

    @property
    def names(self) -> frozenset[str]:
        """The fields that are mapped or set."""
        return frozenset((*self.map, *self.set))

    @property
    def columns(self) -> list[str]:
        """The columns that are not mapped, and hold no scores."""
        taken = {*self.map.values(), *(self.scores or ())}
        return [column for column in columns_of(self.source.lines) if column not in taken]

    def example(self, column: str) -> str:
        """The first value of a column, on one short line."""
        values = self.values(column)
        return one_line(str(values[0]), 30) if values else "empty"

    def likely(self, field: str) -> list[str]:
        """The columns that may be the field, of those not mapped; none where it is said."""
        return [] if field in self.names else likely_columns(field, self.columns)

    @property
    def options(self) -> tuple[str, ...]:
        """The columns that hold one option each, by their names and the keys; none where one holds all."""
        if "options" in self.names or self.likely("options"):
            return ()
        keys = [*self.likely("answer"), *self.likely("references")]
        keys = [self.map[field] for field in ("answer", "references") if field in self.map] or keys
        lines = list(islice(self.source.lines, _HEAD))
        series = (spread_options(lines, (), {"answer": key}, needed=()) for key in keys or [""])
        return tuple(next(filter(None, series), {}).values())

    def values(self, column: str) -> list[Any]:
        """What stands first in a column, without nulls and blanks."""
        cells = (cell_or_null(line, column) for line in islice(self.source.lines, _HEAD))
        return [value for value in cells if value not in (None, "")]


def planned(
    source: Source,
    map: Mapping[str, str],
    set: Mapping[str, Any],
    *,
    candidate_from: str | None = None,
    has_exam: bool = False,
    scores: Sequence[str] | None = None,
) -> Plan:
    """The plan for a table of answers: which column is what, and whose answers they are.

    `has_exam` is whether the questions stand elsewhere. Raises `InputError` for a file of questions and keys
    alone, and for the name of a column that is set as the value of all rows.
    """
    plan = Plan(source, map, set)
    if not source.free:
        return plan
    refuse_columns_as_values(plan.constants, plan.columns)
    if scores is not None and [*scores] != [NONE]:
        check_columns(scores, columns_of(source.lines))
        plan = plan._replace(scores=tuple(scores))
    asks = not has_exam and scores is None and holds_questions(plan.columns, plan.map)
    plan = _models(_key(_text(plan), asks=asks))
    if not has_exam and source.joined is None:
        _refuse_exam(plan)
    return _listed(_candidate(plan, pattern=candidate_from))


def _text(plan: Plan) -> Plan:
    """One of several columns may be what the model answered: the longest texts are proposed."""
    likely = plan.likely("text")
    if len(likely) < 2 or _affix_models(plan):
        return plan
    texts = [column for column in likely if not _may_score(plan, column)]
    if len(texts) == 1:
        return plan._replace(map={**plan.map, "text": texts[0]})
    longest = max(likely, key=lambda column: _mean_length(plan.values(column)))
    columns = " or ".join(f"{column!r} ({plan.example(column)})" for column in likely)
    sentence = f"What the model answered: {columns}. Proposed: {longest!r}."
    return plan.asking(sentence, ("--map", f"text={longest}"))._replace(map={**plan.map, "text": longest})


def _may_score(plan: Plan, column: str) -> bool:
    """Whether a column such as `result` may hold scores. "Yes" below `response` is what a model answered."""
    return names_scores(column) is not False and are_scores(plan.values(column))


def _key(plan: Plan, *, asks: bool) -> Plan:
    """A column of true and false beside another key says how the tool read answers: it is no key.

    Without another key it may be either, and is asked about if the table `asks` questions.
    """
    texts = _answering(plan)
    likely = [column for column in plan.likely("answer") if column not in texts]
    keys = _keys_among(plan, likely)
    if len(keys) == 1 and len(likely) > 1:
        return plan._replace(map={**plan.map, "answer": keys[0]})
    return _key_or_score(plan, likely[0], texts) if asks and not keys and len(likely) == 1 else plan


def _keys_among(plan: Plan, columns: Sequence[str]) -> list[str]:
    """Of columns that may hold the key those that hold no scores by their values, else by their names."""
    keys = [column for column in columns if not are_scores(plan.values(column))]
    return keys or [*filterfalse(names_scores, columns)]


def _answering(plan: Plan) -> list[str]:
    """The columns that may hold what models answered; one such as `answer` where no other does."""
    if "text" in plan.map:
        return [plan.map["text"]]
    says_whose = plan.likely("candidate") or "candidate" in plan.names
    answers = [column for column in plan.columns if says_whose and folded(column) in ANSWERS]
    return plan.likely("text") or answers


def _key_or_score(plan: Plan, column: str, answering: Sequence[str]) -> Plan:
    """A column `correct` of true and false, and no other key: beside references it holds scores."""
    scored = plan._replace(scores=(column,))
    if plan.likely("references") or "references" in plan.names:
        return scored
    is_key = _proposes_key(plan, answering)
    sentence = f"Whether {column!r} ({plan.example(column)}) is the key, or the file's score of each answer. "
    sentence += f"Proposed: the {'key' if is_key else 'score'}."
    if is_key:
        return plan._replace(map={**plan.map, "answer": column}).asking(
            sentence, ("--map", f"answer={column}")
        )
    return scored.asking(sentence, ("--criteria", column))


def _proposes_key(plan: Plan, answering: Sequence[str]) -> bool:
    """Whether the questions have options that need a key, or all answers are yes or no."""
    if plan.likely("options") or option_columns({name: folded(name) for name in plan.columns}):
        return True
    return are_truths([value for name in answering[:1] for value in plan.values(name)])


def _models(plan: Plan) -> Plan:
    """Columns that each hold a model's answers: told by a word for answers or names of models, else asked."""
    if plan.likely("candidate") or "candidate" in plan.names:
        return plan
    models = _affix_models(plan)
    if not models and not _has_text(plan):
        plan, models = _bare_models(plan)
    if not models:
        return plan
    further = scores_by_model(plan.columns, models, plan.values)
    lines = Lines(partial(long_lines, plan.source.lines, models, (), further))
    names = dict.fromkeys(filterfalse(numbers_rater, chain.from_iterable(further.values())))
    source = plan.source._replace(lines=lines, models=models)
    scores = (*(plan.scores or ()), *names) or None
    return plan._replace(source=source, scores=scores).noting(
        f"Each of these models has a column: {_few(list(models))}."
    )


def _refuse_exam(plan: Plan) -> None:
    """Raise `InputError` for a table of questions with keys in which no column may answer them."""
    says_whose = plan.source.models or plan.likely("candidate") or "candidate" in plan.names
    answers = [column for column in plan.columns if folded(column) in ANSWERS]
    has_figures = option_figures(plan.columns, plan.map, plan.set, plan.values) is not None
    if not (says_whose or has_figures or _has_text(plan)) and _is_exam(plan, answers):
        raise InputError(_of_exam(plan, answers))


def _is_exam(plan: Plan, answers: Sequence[str]) -> bool:
    """Whether a table holds questions and one key; of two columns for keys, `answers` may be a model's."""
    has_second = {"answer", "references"} & plan.names or plan.likely("references")
    if (answers and has_second) or not holds_questions(plan.columns, plan.map):
        return False
    return bool(has_second or plan.likely("answer"))


def _of_exam(plan: Plan, answers: Sequence[str]) -> str:
    """The sentences on an exam without answers: what to do with it, and what else its columns may be."""
    reader = "jsonl" if plan.source.name.endswith((".jsonl", ".ndjson", ".json")) else "csv"
    spec = shlex.quote(f"{reader}:path={'FILE' if plan.source.in_memory else plan.source.name}")
    advice = [f"If {column!r} is what a model answered: --map text={column}." for column in answers[:1]]
    if letters := [column for column in plan.options if _LETTERED.search(folded(column))]:
        option = shlex.quote(",".join(letters))
        advice.append(f"If {_few(letters)} hold answers of models: --models-in-columns {option}.")
    sentence = (
        f"this is an exam without answers: viva collect ... {spec} asks it, or give it beside answers as "
    )
    return " ".join([f"{sentence}--benchmark {spec}.", *advice])


_LETTERED = re.compile(rf"^(?:({'|'.join(ANSWERS)})_)?[a-z]$")
"""Names of columns that hold options by their letters, or a model's answers."""


def _bare_models(plan: Plan) -> tuple[Plan, dict[str, str]]:
    """Columns of texts that bear names of models; else all columns of texts, where there are several."""
    columns = _other_texts(plan)
    models = {column: column for column in columns if MODEL_FAMILIES.match(folded(column))}
    if len(models) > 1 or len(columns) < 2:
        return plan, models
    sentence = "Whose answers: no column holds models and none answers. Proposed: each of "
    sentence += f"{_few(columns)} holds the answers of one."
    option = ("--models-in-columns", ",".join(columns))
    return plan.asking(sentence, option), {column: column for column in columns}


def _has_text(plan: Plan) -> bool:
    """Whether some column may hold what a model answered; of two that may be the key one may."""
    rivals = any(folded(column) in ANSWERS for column in plan.columns) and len(plan.likely("answer")) > 1
    return "text" in plan.names or rivals or bool(plan.likely("text"))


def _affix_models(plan: Plan) -> dict[str, str]:
    """Candidates with their columns, where a word for answers stands before or behind two names or more."""
    if "candidate" in plan.names or "text" in plan.names:
        return {}
    by_word: dict[str, dict[str, str]] = {}
    options = plan.options
    for column in (column for column in plan.columns if column not in options):
        if split := _split(column):
            by_word.setdefault(split[0], {})[split[1]] = column
    return next((models for models in by_word.values() if len(models) > 1), {})


def _split(column: str) -> tuple[str, str] | None:
    """The word for answers and the name beside it in a column: `gpt-4o_response`, `answers.gpt-4o`."""
    for word in sorted(_SPREAD, key=len, reverse=True):
        spelling = re.escape(word).replace("_", r"[\W_]")
        for pattern in (rf"({spelling})s?[._ -]+(.+)", rf"(.+)[._ -]+({spelling})"):
            if match := re.fullmatch(pattern, column.strip(), re.IGNORECASE):
                name = match[2] if pattern.startswith("(" + spelling) else match[1]
                if not _is_field(column) and not _is_field(name):
                    return word, name
    return None


def _is_field(column: str) -> bool:
    fields = ("item", "candidate", "text", *OF_ITEMS)
    words = ("correct", "true", "gold", "right", "expected", "id", "text", "length", "tokens", "reference")
    return folded(column) in words or any(likely_columns(field, [column]) for field in fields)


def _other_texts(plan: Plan) -> list[str]:
    """The columns of texts that are no field of ours."""
    fields = {column for field in FIELDS for column in plan.likely(field)}
    fields.update(plan.options)
    columns = [column for column in plan.columns if column not in fields and not _is_of_question(column)]
    return [column for column in columns if (values := plan.values(column)) and all(map(_is_text, values))]


def _is_of_question(column: str) -> bool:
    """Whether a column has a name for a further key, or for a wrong option."""
    wrong = re.match(r"(incorrect|wrong|falsche?)_(answer|option|antwort)|distractor", folded(column))
    return bool(wrong or likely_columns("answer", [column]))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not re.fullmatch(r"[-+]?[\d.,]+%?|true|false", value.strip().casefold())


def _candidate(plan: Plan, *, pattern: str | None) -> Plan:
    """Whose answers a file holds that names no model: what its name says, of a file alone a proposal."""
    source = plan.source
    is_known = any((plan.likely("candidate"), "candidate" in plan.names, source.models))
    if source.in_memory or (is_known and not pattern):
        return plan
    names = names_of(source.files, pattern)
    candidates = list(dict.fromkeys(fields["candidate"] for fields in names.fields.values()))
    if source.joined is None:
        plan = plan._replace(set={**plan.set, **names.fields[source.files[0]]})
        sentence = f"Which model: no column says it. Proposed, of the file's name: {candidates[0]!r}."
        return plan if pattern else plan.asking(sentence, ("--set", f"candidate={candidates[0]}"))
    plan = plan._replace(source=source._replace(lines=with_fields(source.joined, names.fields)))
    if not names.varies:
        note = f"The model is what the files' names say: {_few(candidates)}."
        return plan if pattern else plan.noting(note)
    sentence = f"Which models: the files' names differ in several parts. Proposed: {_few(candidates)}; "
    sentence += "* stands for what is no part of the name."
    return plan.asking(sentence, ("--candidate-from", names.pattern))


def _listed(plan: Plan) -> Plan:
    """Lists of answers in a column such as `responses` are repeats, a row each."""
    columns = [plan.map["text"]] if "text" in plan.map else plan.likely("text")
    if len(columns) != 1 or folded(columns[0]) not in _PLURAL:
        return plan
    (column,) = columns
    values = plan.values(column)
    is_repeated = plan.likely("repeat") or "repeat" in plan.names
    if is_repeated or not values or not all(map(_is_texts, values)):
        return plan
    lines = Lines(partial(_repeats, plan.source.lines, column))
    return plan._replace(source=plan.source._replace(lines=lines)).noting(
        f"{column} holds lists: each entry is a repeat."
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)


def _repeats(lines: Iterable[Line], column: str) -> Iterator[Line]:
    for line in lines:
        texts = line.row.get(column)
        texts = texts if isinstance(texts, list) else [texts]
        scores = {name: cell for name, cell in line.row.items() if _is_score_list(name, cell, len(texts))}
        for number, text in enumerate(texts, 1):
            of_it = {name: cell[number - 1] for name, cell in scores.items()}
            row = {**line.row, **of_it, column: text, "repeat": number}
            yield Line(f"{line.where}, {column} {number}", row)


def _is_score_list(column: str, value: Any, n: int) -> bool:
    """Whether a cell holds a score for each of so many answers."""
    is_of_answers = bool(names_scores(column)) and isinstance(value, list) and are_scores(value)
    return isinstance(value, list) and len(value) == n and (is_of_answers or numbers_rater(column))


def _mean_length(values: Sequence[Any]) -> float:
    return sum(len(str(value)) for value in values) / max(len(values), 1)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
