"""Logs of HealthBench: `healthbench_MODEL_allresults.json` as simple-evals writes it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import members
from vivavoce.core.records import Unit
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.models.replies import stated_usage
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    content_text,
    item_of,
    mark_of,
    messages_of,
    need,
    number_or_null,
    question_of,
    rows_in,
)
from vivavoce.run.exchange.logs.files import start_of
from vivavoce.run.exchange.logs.mapping import MappedLog, Names
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, Sample

_NAME = re.compile(r"healthbench(?:_hard|_consensus|_meta)?_(?P<model>.+?)(?:_\d{8}_\d{6})?_allresults\.json")


@log_reader("healthbench")
class HealthBenchResults(MappedLog):
    """Answers to conversations, each with criteria that a grader called met or not."""

    tool: ClassVar[str] = "healthbench"
    describes: ClassVar[str] = "*_allresults.json of simple-evals"
    endings: ClassVar[Names] = (".json",)
    rows_at: ClassVar[str] = "metadata.example_level_metadata"
    row_is: ClassVar[str] = "example"

    def knows(self, path: Path) -> bool:
        """JSON that begins with a score and metrics, and holds `convos`."""
        start = start_of(path).lstrip()
        if path.suffix.lower() != ".json" or not re.match(r'\{\s*"score"', start) or '"metrics"' not in start:
            return False
        try:
            return any(name == "convos" for name, _ in members(path, "htmls", "convos", self.rows_at))
        except InputError:  # a cut file is ours to name
            return True

    def head(self, path: Path) -> RecordedLog:
        """The model stands only in the name of the file."""
        name = _NAME.fullmatch(path.name)
        return replace(super().head(path), task=self.tool, candidate=name["model"] if name else "")

    def samples(self, line: Line, log: RecordedLog) -> Iterable[Sample]:
        """The answer with a score of its own, and one for each criterion."""
        row, place = line.row, line.where
        criteria = need(row, "rubric_items", place, list)
        points = tuple(
            Unit(unit=f"r{k}", text=str(entry.get("criterion")), weight=number_or_null(entry.get("points")))
            for k, entry in enumerate(criteria, 1)
        )
        completion = rows_in(row, "completion")
        item = item_of(
            log.task,
            need(row, "prompt_id", place, str),
            question_of(row.get("prompt"), place),
            messages=messages_of(row.get("prompt")),
            rubric=points,
            meta={"axes": axes} if (axes := _axes(criteria)) else {},
        )
        answer = answer_fields(content_text(completion[-1].get("content")) if completion else None)
        marks = (mark_of("score", row.get("score"), high=1.0), *map(_mark, criteria, points))
        return (Sample(where=place, item=item, **answer, tokens=stated_usage(row).output, marks=marks),)


def _axes(criteria: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The axis of each criterion that has one, by the name of its unit."""
    return {
        f"r{k}": tag.removeprefix("axis:")
        for k, entry in enumerate(criteria, 1)
        for tag in entry.get("tags") or ()
        if isinstance(tag, str) and tag.startswith("axis:")
    }


def _mark(entry: Mapping[str, Any], point: Unit) -> Mark:
    """Whether a criterion was met, 1 or 0: its points are the unit's weight, negative ones too."""
    met = entry.get("criteria_met")
    return mark_of(
        "criteria",
        met if isinstance(met, bool) else None,
        entry.get("explanation"),
        criterion="met",
        low=0.0,
        high=1.0,
        unit=point,
    )
