"""From data in memory to scores in one call: `viva.evaluate`."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vivavoce.core import registry
from vivavoce.core.cases import NearDuplicates
from vivavoce.core.errors import InputError
from vivavoce.core.exclusions import Faulty
from vivavoce.core.records import Finding, Role
from vivavoce.core.tables import Dialect
from vivavoce.models.engine.usage import Progress
from vivavoce.run.exchange.imported import Imported
from vivavoce.run.exchange.questions import holds_answers, import_questions
from vivavoce.run.exchange.sources import Data, Reading, read_source
from vivavoce.run.exchange.wide_tables import Columns
from vivavoce.run.run import Run
from vivavoce.run.tables.credentialed import refuse_temporary
from vivavoce.run.tables.primary import name_primary
from vivavoce.run.tables.stored_benchmarks import load_benchmark
from vivavoce.store.view import with_view


class Evaluated(Run):
    """The run that `evaluate` made: `imported` says what was read from the data, `scored` has the estimates.

    Without a path it is `temporary`: its file lies in a private folder and is removed with this object, at
    the latest when Python ends. `copy("exam.viva")` keeps it.
    """

    imported: Imported | None = None
    scored: Finding | None = None

    def __init__(self, path: Path | None) -> None:
        self.temporary = path is None
        if path is None:
            folder = tempfile.mkdtemp(prefix="viva-")  # its owner's alone
            path = Path(folder) / "exam.viva"
            weakref.finalize(self, _remove, folder, os.getpid())
        super().__init__(path)

    def report_rows(self, to: str | Path | None = None, **rest: Any) -> list[dict[str, Any]]:
        """As of any run; a temporary one has no place beside it, and needs `to`."""
        if self.temporary and to is None:
            raise InputError(
                "this run is temporary, and so is what lies beside it: name the report's file, as "
                'run.report("report.html").'
            )
        return super().report_rows(to, **rest)


def _remove(folder: str, process: int) -> None:
    """Remove the folder of a temporary run; a process that was forked leaves it to the one that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def evaluate(
    data: Data, metrics: str | Sequence[str] | None = None, *, to: str | Path | None = None,
    benchmark: str | None = None, name: str | None = None, map: Mapping[str, str] | None = None,
    set: Mapping[str, Any] | None = None, role: Mapping[str, Role] | None = None,
    models_in_columns: Columns = (), delimiter: str | None = None, encoding: str | None = None,
    sheet: str | None = None, models: Sequence[str] = (), repeats: int | None = None, passes: int = 1,
    providers: str | Path | None = None, max_cost: float | None = None, offline: bool = False,
    allow: Sequence[str] = (), allow_phi: bool = False, progress: Progress | None = None,
    plugins: Sequence[str | Path] = (), primary: str | None = None, faulty: Faulty = "refuse",
    near_duplicates: NearDuplicates | None = None,
) -> Evaluated:  # fmt: skip
    """Score the answers of a data frame, a list of dicts, a `datasets.Dataset` or a file, and return the run.

    A row is an answer: which model (`model`), to which question (`id`), what it said (`response`), and what
    the question is (`question`, `options`, `answer` or `references`, `category` …). Columns are found by
    these and other names, or as `map` says; `set` gives a value for every row. The questions become a
    benchmark of this `name`, by default `exam` or the file's stem: one item for each id, or for each question
    where there are no ids, its format as the column `format` says or inferred. A table of ids and answers
    alone needs `benchmark`, the spec of the exam. What was matched and inferred stands in `imported` of what
    is returned. `models_in_columns` names the columns of a wide table that hold a model's answers each;
    `delimiter`, `encoding` and `sheet` say how a file is written, where that is not found.

    `metrics` are specs, such as "accuracy" or "judge(rubric=medgpt, model=openai/gpt-4o)"; without any, the
    rules that fit the formats score. An empty list scores nothing. `models` are asked the questions first;
    the data then need no answers. `repeats` is for them, `passes` for judges; `providers` and what follows
    are as in `Run.collect` and `Run.score`. `primary`, such as "token_f1", "judge:harm" or "overall", names
    the criterion that decides, before anything is scored. A question that can be none refuses the table; with
    `faulty` "exclude" it is left out, and `imported` counts it with its reason. With `near_duplicates` "join"
    questions that are nearly the same are one case. Comparing and the report are the run's: `run.compare()`,
    `run.report("report.html")`.

    The run is at `to`, added to what is there, or else in a private temporary file that is removed with it:
    `run.copy("exam.viva")` keeps it. Raises `InputError` with a sentence for data that cannot be used.
    """
    for plugin in plugins:
        registry.load_plugin(plugin)
    run = Evaluated(None if to is None else Path(to))
    common: dict[str, Any] = {"name": name, "map": map or {}, "set": set or {}, "faulty": faulty}
    common["near_duplicates"] = near_duplicates
    loaded = with_view(run.file, load_benchmark, benchmark) if benchmark else None
    if loaded and run.temporary:
        refuse_temporary(loaded)
    reading = Reading(Dialect(delimiter, encoding, sheet), models_in_columns)
    source = read_source(data, loaded, reading, (*common["map"], *common["set"]))
    if loaded is not None or holds_answers(source, common["map"], common["set"]):
        run.imported = run.import_answers(source, benchmark=benchmark, role=role, **common)
    elif models:
        run.imported = import_questions(run.file, source, **common)
    else:
        raise InputError(
            f"{source.name}: no column holds what a model answered, nor which model: name them with "
            'map={"text": "COLUMN", "candidate": "COLUMN"}, or models_in_columns=["COLUMN", …] where each '
            'model has one, or let models=["openai/gpt-4o"] be asked.'
        )
    asking: Any = {"providers": providers, "max_cost": max_cost, "offline": offline, "allow": allow}
    asking["allow_phi"] = allow_phi
    if models:
        run.collect(run.imported.benchmark, models=models, repeats=repeats, **asking)
    if primary:
        with_view(run.file, name_primary, primary, "stated in evaluate")
    if metrics is None or len(metrics):
        names = (metrics,) if isinstance(metrics, str) else metrics or ()
        run.scored = run.score(*names, passes=passes, progress=progress, **asking)
    return run
