"""What raters are asked to do: rank answers, rate each by a rubric, or review the items themselves."""

from collections.abc import Mapping
from typing import Any

from vivavoce.people.tasks.rank import RankTask
from vivavoce.people.tasks.rate import RateTask
from vivavoce.people.tasks.review import ReviewTask
from vivavoce.people.tasks.task import FilledItem, Row, Tally, Task

TASKS: dict[str, type[Task]] = {task.name: task for task in (RankTask, RateTask, ReviewTask)}

__all__ = ["TASKS", "FilledItem", "RankTask", "RateTask", "ReviewTask", "Row", "Tally", "Task", "read_task"]


def read_task(body: Mapping[str, Any]) -> Task:
    """The task that a blinding key holds; keys of panels that rank do not name theirs."""
    return TASKS[body.get("task", RankTask.name)].from_body(body)
