"""A panel as tasks of an annotation tool: the questions of a packet, each under an id that says nothing.

An id is the panel and the seal of what is shown: only the run knows which question and whose answers it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey
from vivavoce.people.choosing import Choice, choose, naming
from vivavoce.people.key import EVERYONE, Key
from vivavoce.people.packets import new_key, rater_names, store_key
from vivavoce.people.question import Question, Seen
from vivavoce.people.tasks import Task
from vivavoce.people.tasks.control import Control
from vivavoce.store.forgotten import NOTE
from vivavoce.store.runfile import RunFile

_TASK_ID = re.compile(r"p[0-9a-f]{9}-[0-9a-f]{16}")


def task_id(key: Key, entry: Seen) -> str:
    """The opaque id of a question in a packet."""
    return f"{key.panel}-{entry.seal}"


def is_task_id(text: object) -> bool:
    """Whether a tool's task bears an id of ours, of whatever run."""
    return isinstance(text, str) and _TASK_ID.fullmatch(text) is not None


class ToolTask(NamedTuple):
    """A question as a tool shows it: texts beside the answers by column, and the answers in order."""

    id: str
    texts: Mapping[str, str]
    answers: tuple[str, ...]


class ToolPanel(NamedTuple):
    """The tasks of a panel by rater, under `EVERYONE` where they share them, and the form to fill in.

    `controls` are those of its largest question, which has `most` answers; none has fewer than `least`.
    `columns` are those beside the answers that hold any text. `left_out` counts what is not
    asked, by reason; `naming` are questions with an answer that names a candidate.
    """

    panel: str
    task: Task
    tasks: Mapping[str, tuple[ToolTask, ...]]
    controls: tuple[Control, ...]
    most: int
    least: int
    columns: tuple[str, ...]
    left_out: Mapping[str, int]
    naming: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """What raters read first."""
        return (self.task.criterion, *self.task.page_lines())


def make_tool_panel(
    run: RunFile,
    task: Task,
    raters: Sequence[str],
    *,
    items: "set[ItemKey] | None",
    candidates: Sequence[str],
    n: int | None,
    seed: int,
    check: "Callable[[Sequence[Question]], None]",
) -> ToolPanel:
    """The tasks of a panel, whose key is stored in the run; the same again are the same tasks.

    Without `raters` all share the tasks, and see the answers in one order; with them each has tasks of their
    own, in the orders of their packet. `check` may refuse the questions before anything is stored. Raises as
    `choose` and `rater_names` do, and `InputError` for a task that has no form.
    """
    names = rater_names(raters) if raters else []
    n = task.default_n if n is None else n
    if n < 1:
        raise InputError(f"a panel of {n} questions asks nothing: --n takes 1 or more.")
    if not task.has_form:
        raise InputError(f"annotation tools have no form for the task {task.name}: `viva annotate` asks it.")
    choice = choose(run, task, items, candidates, n, seed)
    check([question for question in choice.questions if question.answers])
    with run.writing() as db:
        key = new_key(db, task, choice, names, seed)
        store_key(db, key, choice, "annotation tasks")
    return _panel(key, choice)


def _panel(key: Key, choice: Choice) -> ToolPanel:
    packets = {**key.packets, EVERYONE: key.shared} if key.shared else key.packets
    tasks = {rater: tuple(_tool_task(key, entry) for entry in packet) for rater, packet in packets.items()}
    tool_tasks = list(chain.from_iterable(tasks.values()))
    sizes = {len(task.answers) for task in tool_tasks}
    filled = {column for task in tool_tasks for column, text in task.texts.items() if text.strip()}
    return ToolPanel(
        panel=key.panel,
        task=key.task,
        tasks=tasks,
        controls=tuple(key.task.controls(max(sizes))),
        most=max(sizes),
        least=min(sizes),
        columns=tuple(filter(filled.__contains__, key.task.shown_columns)),
        left_out=_left_out(choice),
        naming=naming(choice.questions, choice.candidates),
    )


def _tool_task(key: Key, entry: Seen) -> ToolTask:
    texts = dict(zip(key.task.shown_columns, key.task.texts_beside(entry.question), strict=True))
    return ToolTask(task_id(key, entry), texts, tuple(answer.text for answer in entry.answers))


def _left_out(choice: Choice) -> dict[str, int]:
    questions = choice.questions
    counts = {
        "questions: not drawn": choice.n_ready - sum(bool(q.answers) for q in questions),
        "questions: too few answers to show": choice.n_possible - choice.n_ready,
        f"questions: {NOTE}": choice.n_gone_items,
        f"answers: {NOTE}": choice.n_gone_answers,
        "answers: nothing to read": sum(len(q.silent) for q in questions),
        "answers: did not arrive": sum(len(q.lost) for q in questions),
        "answers: shown once with an equal one": sum(
            len(answer.candidates) - 1 for q in questions for answer in q.answers
        ),
    }
    return {reason: count for reason, count in counts.items() if count}
