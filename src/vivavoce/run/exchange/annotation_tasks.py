"""A panel out to an annotation tool: blinded tasks, whose key stays in the run.

It asks what a packet asks, of the same questions, and what comes back is stored as a packet's ballot is.
"""

import json
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.private_files import write_private
from vivavoce.core.registry import exporter
from vivavoce.people.key import EVERYONE
from vivavoce.people.packets import rater_names
from vivavoce.people.tasks import TASKS
from vivavoce.people.tool_tasks import ToolPanel, make_tool_panel
from vivavoce.run.exchange.annotation_tools import argilla, label_studio
from vivavoce.run.exchange.export_folder import MADE_BY, README, export_folder
from vivavoce.run.exchange.exporters import Exporter
from vivavoce.run.people.annotate import panel_task, refuse_credentialed
from vivavoce.run.tables.load import select_items
from vivavoce.run.tables.run_tables import RunTables
from vivavoce.store.integrity import check_texts
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.view import with_view

_BACK = """
The ids of the tasks say nothing about who answered; the key is in the run, so send these files alone. What
people annotated comes back with

  viva import {run} EXPORT.json --ballots

A rater is called `user ID`, with the id that the tool gives them; --rater ID=NAME names one. What was
cancelled is left out and named. Not for clinical use.
"""


class TasksWritten(NamedTuple):
    """A file of tasks: the panel, its tasks and size, what is not asked, by reason, and what to know."""

    table: str
    path: Path
    rows: int
    bytes: int
    panel: str
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AnnotationTasks(Exporter):
    """Writes a panel as tasks. Without `raters` all share them; with them each rater has tasks of their own.

    `task` is what is asked, and the other options are those of `viva annotate`. Questions of a credentialed
    benchmark are refused unless `allow` says that whoever reads them signed for it.
    """

    task: str | None = None
    raters: tuple[str, ...] = ()
    items: str | None = None
    candidates: tuple[str, ...] = ()
    rubric: str | None = None
    criterion: str | None = None
    n: int | None = None
    seed: int = 1
    allow: bool = False
    redact: bool = False
    skips_credentialed: ClassVar[bool] = True
    form_file: ClassVar[str]
    """The file that tells the tool what to ask."""
    how: ClassVar[str]
    """How the files come into the tool, for README.txt."""
    stem: ClassVar[str]
    """What files of tasks are called."""

    def write(self, run: RunTables, to: Path) -> tuple[TasksWritten, ...]:
        """Write the form and the tasks, a file for all or one for each rater.

        Raises `InputError` where texts are hidden, for a task that has no form, and for settings that do not
        go together; `SelectionError` where nothing can be asked.
        """
        self.check()
        raters = rater_names(self.raters) if self.raters else [EVERYONE]
        names = {rater: f"{self.stem}{f'-{rater}' if rater != EVERYONE else ''}.json" for rater in raters}
        with export_folder(to, run.file, {self.form_file, *names.values()}) as folder:
            panel = self._panel(run)
            write_private(folder / self.form_file, _bytes(self.form(panel)))
            for rater, name in names.items():
                write_private(folder / name, _bytes(json_text(self.rows(panel, rater))))
            about = "\n".join((f"Panel {panel.panel}: {panel.task.name}", *panel.lines))
            text = f"{MADE_BY}: {run.file.path.name}\n{about}\n\n{self.how}"
            write_private(folder / README, _bytes(text + _BACK.format(run=run.file.path.name)))
        return tuple(self._written(panel, rater, to / name) for rater, name in names.items())

    def check(self) -> None:
        """Raise `InputError` for an option that cannot be, before anything is made."""
        if self.redact:
            raise InputError("a task is texts that people read, and --redact hides them: export without it.")
        names = [name for name, task in TASKS.items() if task.has_form]
        if self.task not in names:
            what = "is missing" if self.task is None else f"is not {self.task!r}"
            raise InputError(f"--task {what}: annotation tools ask {', '.join(names)}.")

    def _panel(self, run: RunTables) -> ToolPanel:
        with run.file.reading() as db:
            refuse_redacted(db, "a task is texts that people read")
            check_texts(db)
        chosen = panel_task(
            run.file, self.task or "", self.candidates, rubric=self.rubric, criterion=self.criterion
        )
        return make_tool_panel(
            run.file,
            chosen.task,
            self.raters,
            items=with_view(run.file, select_items, self.items),
            candidates=chosen.candidates,
            n=self.n,
            seed=self.seed,
            check=partial(refuse_credentialed, run.file, self.allow),
        )

    def _written(self, panel: ToolPanel, rater: str, path: Path) -> TasksWritten:
        notes: tuple[str, ...] = ()
        if panel.naming:
            names = ", ".join(panel.naming[:5]) + (" …" if len(panel.naming) > 5 else "")
            notes = (f"Answers name a candidate, which no order blinds: {names}.",)
        n = len(panel.tasks[rater])
        return TasksWritten("tasks", path, n, path.stat().st_size, panel.panel, panel.left_out, notes)

    @abstractmethod
    def form(self, panel: ToolPanel) -> str:
        """What tells the tool what to ask."""

    @abstractmethod
    def rows(self, panel: ToolPanel, rater: str) -> list[dict[str, Any]]:
        """The tasks of a rater as the tool reads them."""


def json_text(value: Any) -> str:
    """JSON that people can read too."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


@exporter("label_studio")
class LabelStudioTasks(AnnotationTasks):
    """Blinded tasks for Label Studio: a labelling configuration and the tasks."""

    form_file, stem = "config.xml", "tasks"
    how = (
        "In Label Studio make a project, paste config.xml as its labelling configuration (Code), and import\n"
        "the file of tasks. Export as JSON: other exports drop what was cancelled, and are not read.\n"
    )

    def form(self, panel: ToolPanel) -> str:
        """The labelling configuration."""
        return label_studio.config(panel)

    def rows(self, panel: ToolPanel, rater: str) -> list[dict[str, Any]]:
        """Tasks with their data."""
        return label_studio.tasks(panel, rater)


@exporter("argilla")
class ArgillaTasks(AnnotationTasks):
    """Blinded records for Argilla, with the settings of their data set."""

    overlap: int = 1
    form_file, stem = "settings.json", "records"
    how = (
        'In Argilla 2: `settings = rg.Settings.from_json("settings.json")`, make `rg.Dataset(name=…,\n'
        'settings=settings)`, `dataset.create()`, then `dataset.records.from_json("records.json")`.\n'
        "Export with `dataset.records(query=…).to_json(path)`, of records whose response was submitted.\n"
    )

    def check(self) -> None:
        """As of other tools; a record needs a response."""
        super().check()
        if self.overlap < 1:
            raise InputError("a record is complete with 1 response or more: --overlap takes 1 or more.")

    def form(self, panel: ToolPanel) -> str:
        """The settings of the data set."""
        return json_text(argilla.settings(panel, self.overlap))

    def rows(self, panel: ToolPanel, rater: str) -> list[dict[str, Any]]:
        """Records without responses."""
        return argilla.records(panel, rater)
