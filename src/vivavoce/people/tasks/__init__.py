"""What raters are asked to do with the answers of a packet: rank them, or rate each by a rubric."""

from collections.abc import Mapping
from typing import Any

from vivavoce.people.tasks.rank import RankTask
from vivavoce.people.tasks.rate import RateTask
from vivavoce.people.tasks.task import FilledItem, Row, Tally, Task

TASKS: dict[str, type[Task]] = {task.name: task for task in (RankTask, RateTask)}

__all__ = ["TASKS", "FilledItem", "RankTask", "RateTask", "Row", "Tally", "Task", "read_task"]


def read_task(body: Mapping[str, Any]) -> Task:
    """The task that a blinding key holds; keys of panels that rank do not name theirs."""
    return TASKS[body.get("task", RankTask.name)].from_body(body)
