"""Argilla: the settings of a data set that shows a panel, its records, and responses to these.

Fields and questions are those of the largest question; what a smaller one lacks is optional. Settings and
records have the layout of Argilla 2 (`rg.Settings.from_json`, `dataset.records.from_json`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line
from vivavoce.core.text import label
from vivavoce.people.key import EVERYONE
from vivavoce.people.storing.store_annotations import AnnotatedFile, Annotation
from vivavoce.people.tasks.control import Control, field_stems, form_fields
from vivavoce.people.tool_tasks import ToolPanel, ToolTask, is_task_id
from vivavoce.run.exchange.annotation_tools.returned import (
    Returned,
    annotated_file,
    entered_text,
    objects,
)
from vivavoce.run.exchange.logs.fields import name_or_empty, need
from vivavoce.run.exchange.logs.files import first_row, json_rows

_UNSUBMITTED = ("draft", "discarded")
_NO_STATUS = (
    "Argilla's records do not tell drafts and discarded responses from submitted ones: export those with a "
    "submitted response only."
)


def settings(panel: ToolPanel, overlap: int) -> dict[str, Any]:
    """The settings of the data set; a record is complete with `overlap` submitted responses."""
    key = not panel.task.shows_candidates
    fields = [_field(column, column.capitalize(), required=True) for column in panel.columns]
    for n in range(panel.most):
        title = "Key" if key else f"Answer {label(n)}"
        fields.append(_field(f"answer_{n}", title, required=n < panel.least))
    return {
        "guidelines": "\n\n".join((*panel.lines, *_smaller(panel))),
        "questions": [*_questions(panel)],
        "fields": fields,
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": overlap},
        "mapping": None,
    }


def _smaller(panel: ToolPanel) -> tuple[str, ...]:
    if panel.least == panel.most:
        return ()
    return (
        "Some questions have fewer answers than there are letters. What is asked of a letter without an "
        "answer stays empty, and such letters rank last.",
    )


def _field(name: str, title: str, *, required: bool) -> dict[str, Any]:
    return {
        **{"id": None, "name": name, "title": title, "required": required, "description": None},
        "settings": {"type": "text", "use_markdown": False},
        "type": "text",
    }


def _questions(panel: ToolPanel) -> Iterator[dict[str, Any]]:
    """A ranking, and a set of letters, stand for all answers; of other controls each answer has its own."""
    stems = field_stems(panel.controls)
    letters = [label(n) for n in range(panel.most)]
    for control in panel.controls:
        if control.orders:
            yield _question(stems[control.column], control, "ranking", letters, required=True)
        elif _is_set(control):
            more = {**_visible(letters), "options_order": "natural"}
            yield _question(stems[control.column], control, "multi_label_selection", letters, settings=more)
    for name, (control, n) in form_fields(panel.controls, panel.most).items():
        if not (control.orders or _is_set(control)):
            yield _question_of(name, control, n, required=control.required and (n or 0) < panel.least)


def _is_set(control: Control) -> bool:
    """Whether a control can only be ticked, so that letters say for which answers it is."""
    return control.each and len(control.choices) == 1


def _question_of(name: str, control: Control, answer: int | None, *, required: bool) -> dict[str, Any]:
    if control.choices:
        choices = list(control.choices)
        return _question(
            name, control, "label_selection", choices, required=required, answer=answer,
            settings=_visible(choices),
        )  # fmt: skip
    settings = {"use_markdown": False}
    return _question(name, control, "text", [], required=required, answer=answer, settings=settings)


def _visible(choices: list[str]) -> dict[str, Any]:
    """All choices are shown at once; Argilla wants no number below three."""
    return {"visible_options": len(choices) if len(choices) > 2 else None}


def _question(
    name: str,
    control: Control,
    kind: str,
    choices: list[str],
    *,
    required: bool = False,
    answer: int | None = None,
    settings: Mapping[str, Any] = {},
) -> dict[str, Any]:
    hints = control.hints
    options = [{"value": c, "text": f"{c}: {hints[c]}" if c in hints else c} for c in choices]
    return {
        "id": None,
        "name": name,
        "title": control.ask if answer is None else f"{label(answer)}: {control.ask}",
        "description": None,
        "required": required,
        "settings": {"type": kind, **({"options": options} if options else {}), **settings},
        "type": kind,
    }


def records(panel: ToolPanel, rater: str) -> list[dict[str, Any]]:
    """The records of a rater, or those that all share, as `Record.to_dict()` gives them."""
    return [_record(panel, task, rater) for task in panel.tasks[rater]]


def _record(panel: ToolPanel, task: ToolTask, rater: str) -> dict[str, Any]:
    answers = {f"answer_{n}": text for n, text in enumerate(task.answers)}
    return {
        "id": task.id,
        "fields": {name: task.texts[name] for name in panel.columns} | answers,
        "metadata": {} if rater == EVERYONE else {"rater": rater},
        "suggestions": {},
        "responses": {},
        "vectors": {},
        "status": "pending",
        "_server_id": None,
    }


def is_ours(path: Path) -> bool:
    """Whether the first record of a file is one that `viva export` wrote."""
    return is_task_id(first_row(path).get("id"))


def annotated(path: Path) -> AnnotatedFile:
    """The responses to records of ours. Raises `InputError` for a record of somebody else."""
    returned = Returned({})
    annotations = [
        annotation for line in json_rows(path) for annotation in _annotations(path, line, returned)
    ]
    notes = (_NO_STATUS,) if annotations else ()
    return annotated_file(path, annotations, returned, notes)


def _annotations(path: Path, line: Line, returned: Returned) -> Iterator[Annotation]:
    place = f"{path}, record {name_or_empty(line.row.get('id')) or line.where.rpartition(' ')[2]}"
    returned.check_task(line.row.get("id"), place)
    texts = {name: text for name, text in need(line.row, "fields", place).items() if isinstance(text, str)}
    answers = [texts[name] for name in takewhile(texts.__contains__, map("answer_{}".format, count()))]
    responses = {
        question: objects(entries, place, f"responses to {question}")
        for question, entries in need(line.row, "responses", place).items()
    }
    unsubmitted = _unsubmitted(responses)
    for user, reason in unsubmitted.items():
        returned.leave(reason, f"{place} by {user}")
    for user, fields in _by_user(responses, place).items():
        if user not in unsubmitted:
            people = (user,) if user else ()
            yield Annotation(f"{place} by {user}", line.row["id"], texts, tuple(answers), people, fields)


_Responses = Mapping[str, Sequence[Mapping[str, Any]]]
"""The responses of a record, by question."""


def _unsubmitted(responses: _Responses) -> dict[str, str]:
    """By user the status of what was not submitted, where the file tells it."""
    return {
        name_or_empty(response.get("user_id")): str(response["status"])
        for entries in responses.values()
        for response in entries
        if response.get("status") in _UNSUBMITTED
    }


def _by_user(responses: _Responses, place: str) -> dict[str, dict[str, Any]]:
    """What each user entered, by field. Raises `InputError` for a question that one answered twice."""
    users: dict[str, dict[str, Any]] = {}
    for question, entries in responses.items():
        for response in entries:
            user = name_or_empty(response.get("user_id"))
            fields = users.setdefault(user, {})
            for name, value in _entries(question, response.get("value"), place):
                if name in fields:
                    raise InputError(f"{place}: {user} answered {question} twice; nothing was stored.")
                fields[name] = value
    return users


def _entries(question: str, value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The entries in a response: of a ranking and of a set of letters one for each letter."""
    if isinstance(value, list):
        for entry in value:
            ranked = isinstance(entry, dict)
            letter = str(entry.get("value") if ranked else entry)
            name = f"{question}_{ord(letter) - ord('A') if len(letter) == 1 else letter}"
            yield name, entered_text(entry.get("rank"), place, name) if ranked else True
    elif value is not None:
        yield question, entered_text(value, place, question)
