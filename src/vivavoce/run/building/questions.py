"""The step that reads questions: of a table, as `viva import` reads it, or of a benchmark."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from vivavoce.benchmarks import load
from vivavoce.benchmarks.health.source_files import content_id
from vivavoce.benchmarks.item_rows import json_value
from vivavoce.benchmarks.table import table_items
from vivavoce.benchmarks.table_layout import layout_of
from vivavoce.core import registry
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.core.specs import parse
from vivavoce.core.tables import ITEMS, Line, is_file, open_table
from vivavoce.run.building.parts import Part
from vivavoce.run.building.step import Lab, Step, StepResult


@step("questions")
class Questions(Step):
    """Questions from files (jsonl, csv, parquet, xlsx) or benchmarks, such as "medqa(data=DIR)".

    Each row of a file is a question; one without an id is named by its content, and an equal one is told from
    it by a number. `source` names file and row.
    """

    files: tuple[str, ...]

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The questions in their order. Raises `InputError` for what cannot be read."""
        items = [item for text in self.files for item in read_questions(text, lab.benchmark)]
        if not items:
            raise InputError(f"no question in {', '.join(self.files)}.")
        return StepResult(items)

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The files among its sources, so that a changed one is read again."""
        return tuple(Path(text) for text in self.files if is_file(Path(text)))


def read_questions(text: str, benchmark: str) -> list[Item]:
    """The questions of the file `text`, or of the benchmark that it names."""
    path = Path(text)
    if not is_file(path):
        return _of_benchmark(text)
    lines = list(open_table(path).lines)
    named = list(_named(layout_of(lines).rows(lines), path))
    rows = {str(line.row["item"]): line for line in named}
    try:
        items = table_items(named, benchmark).benchmark.items
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from error
    return [_completed(item, rows[item.item], path) for item in items]


def _completed(item: Item, line: Line, path: Path) -> Item:
    """The item with its source, that of its row or file and row, and with further columns in `meta`."""
    further = {name: json_value(value) for name, value in line.row.items() if name not in ITEMS}
    source = line.row.get("source") or f"{path.name}, {line.where}"
    return replace(item, source=str(source), meta={**further, **item.meta})


def _named(lines: Iterable[Line], path: Path) -> Iterator[Line]:
    """The rows with an id each: that of their content, and a number where an earlier row has it."""
    occurrences: Counter[str] = Counter()
    for line in lines:
        row, place = dict(line.row), line.where.removeprefix(f"{path}, ")
        if row.get("item") in (None, ""):
            texts = (str(row.get(name) or "") for name in ("question", "context", "options"))
            name = content_id(*filter(None, texts))
            occurrences[name] += 1
            row["item"] = name if occurrences[name] == 1 else f"{name}-{occurrences[name]}"
        yield Line(place, row)


def _of_benchmark(text: str) -> list[Item]:
    try:
        name = parse(text).name
    except SpecError:
        name = ""
    if registry.member("benchmark", name) is None:
        raise InputError(f"--from {text}: no file of this name, and no benchmark.")
    loaded = load(text)
    if loaded.card.access == "credentialed":
        raise InputError(f"--from {text}: it is credentialed, and its items may not become another exam's.")
    return [*loaded.items, *loaded.others]
