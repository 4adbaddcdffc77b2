"""What raters are asked to do: judge answers in one of five ways, review items in three, or take the exam."""

from collections.abc import Mapping
from typing import Any

from vivavoce.people.tasks.answer import AnswerTask
from vivavoce.people.tasks.neutralise import NeutraliseTask
from vivavoce.people.tasks.pairwise import PairwiseTask
from vivavoce.people.tasks.partner_reviews import RewordingTask, TranslationTask
from vivavoce.people.tasks.rank import RankTask
from vivavoce.people.tasks.rate import RateTask
from vivavoce.people.tasks.review import ReviewTask
from vivavoce.people.tasks.task import FilledItem, Row, Tally, Task
from vivavoce.people.tasks.verify import VerifyTask

TASKS: dict[str, type[Task]] = {
    task.name: task
    for task in (
        *(RankTask, PairwiseTask, RateTask, ReviewTask, TranslationTask, RewordingTask, VerifyTask),
        *(NeutraliseTask, AnswerTask),
    )
}
REVIEW_TASKS: dict[str, type[ReviewTask]] = {
    name: task for name, task in TASKS.items() if issubclass(task, ReviewTask)
}
"""The tasks whose scores are of items and not of answers."""

__all__ = [
    "REVIEW_TASKS", "TASKS", "AnswerTask", "FilledItem", "NeutraliseTask", "PairwiseTask", "RankTask",
    "RateTask", "ReviewTask", "Row", "Tally", "Task", "VerifyTask", "read_task",
]  # fmt: skip


def read_task(body: Mapping[str, Any]) -> Task:
    """The task that a blinding key holds; keys of panels that rank do not name theirs."""
    return TASKS[body.get("task", RankTask.name)].from_body(body)
