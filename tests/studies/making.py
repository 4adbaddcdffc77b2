"""Small runs made by hand: an exam, answers that say what they are worth, and the metric that reads it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.finished_runs import finished_run

from vivavoce.core import registry
from vivavoce.core.records import Finding
from vivavoce.run.catalogue import metrics_of
from vivavoce.run.run import Run, open_run
from vivavoce.run.score import bind_all
from vivavoce.run.score import score as score_metrics
from vivavoce.store.view import view_of

TOLD = Path(__file__).with_name("told.py")
SILENT, UNREADABLE = "", "<think>never closed"

Answers = Mapping[str, Mapping[str, str | float | Sequence[str | float | None] | None]]
"""Candidate, then item (or 'item|variant'), then the answer of each repeat; null did not arrive."""


@contextmanager
def borrowed() -> Iterator[None]:
    """What is registered inside is forgotten afterwards: no test sees another's plugin."""
    _load_all()
    kept = [(there, dict(there)) for there in (registry._entries, registry._plugins)]
    try:
        yield
    finally:
        for there, before in kept:
            there.clear()
            there.update(before)


@cache
def _load_all() -> None:
    """Register all that ships, once in a process: no block forgets that."""
    for kind in registry.DOORS:
        registry.entries(kind)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def exam(folder: Path, items: Sequence[Mapping[str, Any] | str], *, name: str = "exam") -> str:
    """An exam file of these items, short ones where only a name is given, and the spec that reads it."""
    rows = [
        {
            "format": "short",
            "question": f"What of {named(item)}?",
            "references": [f"the key of {named(item)}"],
            **(
                dict(zip(("item", "variant"), item.split("|"), strict=False))
                if isinstance(item, str)
                else item
            ),
        }
        for item in items
    ]
    path = write_lines(folder / f"{name}.jsonl", rows)
    return f"jsonl(path='{path}')"


def named(item: Mapping[str, Any] | str) -> str:
    return item if isinstance(item, str) else str(item["item"])


def answer_rows(answers: Answers) -> list[dict[str, Any]]:
    rows = []
    for candidate, by_item in answers.items():
        for item, said in by_item.items():
            base, _, variant = item.partition("|")
            repeats = [said] if isinstance(said, str | int | float) or said is None else said
            rows += [
                {
                    "candidate": candidate,
                    "item": base,
                    "variant": variant,
                    "repeat": repeat,
                    "text": text if text is None else str(text),
                }
                for repeat, text in enumerate(repeats, 1)
            ]
    return rows


def made(
    folder: Path,
    answers: Answers,
    *,
    items: Sequence[Mapping[str, Any] | str] = (),
    role: Mapping[str, Any] | None = None,
    name: str = "exam",
    run: Run | None = None,
) -> Run:
    """A run that holds these answers; its exam has the items they answer, unless others are given.

    It is added to `run`, or to the run of `folder` if there is one.
    """
    if run is None:
        finished_run(folder, _make, answers, items, role, name)
        return open_run(folder / "run.viva")
    _make(folder, answers, items, role, name, run)
    return run


def _make(
    folder: Path,
    answers: Answers,
    items: Sequence[Mapping[str, Any] | str],
    role: Mapping[str, Any] | None,
    name: str,
    run: Run | None = None,
) -> None:
    folder.mkdir(exist_ok=True)
    answered = dict.fromkeys(item for by_item in answers.values() for item in by_item)
    spec = exam(folder, items or list(answered), name=name)
    file = write_lines(folder / f"answers-{name}.jsonl", answer_rows(answers))
    (run or open_run(folder / "run.viva")).import_answers(file, benchmark=spec, role=role)


def score(run: Run, *specs: str, **settings: Any) -> Finding:
    """Score by the plugin's metric, or by what else is named."""
    with _plugin_loaded():
        return run.score(*(specs or ("told",)), **settings)


@contextmanager
def _plugin_loaded() -> Iterator[None]:
    with borrowed():
        if str(TOLD) not in registry._plugins:
            entries, plugins = _plugin_entries()
            registry._entries.update(entries)
            registry._plugins.update(plugins)
        yield


@cache
def _plugin_entries() -> tuple[dict[Any, Any], dict[str, str]]:
    """What the plugin registers: its file is read and run once in a process, not once a run."""
    with borrowed():
        earlier_keys = set(registry._entries)
        registry.load_plugin(TOLD)
        entries = {key: entry for key, entry in registry._entries.items() if key not in earlier_keys}
        return entries, {str(TOLD): registry._plugins[str(TOLD)]}


def empty_run(folder: Path) -> Run:
    """A run that holds no row."""
    run = open_run(folder / "empty.viva")
    with run.file.writing():
        pass
    return run


def marked(folder: Path, answers: Answers, spec: str = "told", **settings: Any) -> Run:
    """A run of these answers, scored as `score` scores it, without the estimates."""
    if "run" in settings:
        run = made(folder, answers, **settings)
        _mark(run, spec)
        return run
    finished_run(folder, _make_marked, answers, spec, settings)
    return open_run(folder / "run.viva")


def _make_marked(folder: Path, answers: Answers, spec: str, settings: Mapping[str, Any]) -> None:
    _mark(made(folder, answers, **settings), spec)


def _mark(run: Run, spec: str) -> None:
    with _plugin_loaded(), view_of(run.file) as view:
        score_metrics(view, bind_all(view, metrics_of([spec])))


def row(finding: Finding, **wanted: Any) -> dict[str, Any]:
    """The one row of a finding that has these values."""
    found = [r for r in finding.rows if all(k in r and r[k] == v for k, v in wanted.items())]
    assert 1 == len(found), f"{len(found)} rows with {wanted}"
    return dict(found[0])


def twins(values: Sequence[str | float], *, name: str = "q") -> dict[str, str | float]:
    """Items q00, q01, … with these answers."""
    return {f"{name}{n:02}": value for n, value in enumerate(values)}
