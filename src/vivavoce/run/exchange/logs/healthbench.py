"""Logs of HealthBench: `healthbench_MODEL_allresults.json` as simple-evals writes it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import members
from vivavoce.core.records import Unit
from vivavoce.core.registry import log_reader
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
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample

_EXAMPLES = "metadata.example_level_metadata"
_NAME = re.compile(r"healthbench(?:_hard|_consensus|_meta)?_(?P<model>.+?)(?:_\d{8}_\d{6})?_allresults\.json")


@log_reader("healthbench")
class HealthBenchResults(RecordedLogReader):
    """Answers to conversations, each with criteria that a grader called met or not."""

    describes: ClassVar[str] = "*_allresults.json of simple-evals"

    def knows(self, path: Path) -> bool:
        """JSON that begins with a score and metrics, and holds `convos`."""
        start = start_of(path).lstrip()
        if path.suffix.lower() != ".json" or not re.match(r'\{\s*"score"', start) or '"metrics"' not in start:
            return False
        try:
            return any(name == "convos" for name, _ in members(path, "htmls", "convos", _EXAMPLES))
        except InputError:  # a cut file is ours to name
            return True

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file; the model stands only in its name."""
        name = _NAME.fullmatch(path.name)
        yield RecordedLog(
            tool="healthbench",
            version=None,
            task="healthbench",
            candidate=name["model"] if name else "",
            files=(path,),
            samples=partial(_samples, path),
        )


def _samples(path: Path) -> Iterator[Sample]:
    rows = (row for name, row in members(path, _EXAMPLES) if name == _EXAMPLES)
    for number, row in enumerate(rows, 1):
        place = f"{path}, example {number}"
        if not isinstance(row, dict):
            raise InputError(f"{place}: an object is needed, not {type(row).__name__}.")
        criteria = need(row, "rubric_items", place, list)
        points = [
            Unit(unit=f"r{k}", text=str(entry.get("criterion")), weight=number_or_null(entry.get("points")))
            for k, entry in enumerate(criteria, 1)
        ]
        completion = rows_in(row, "completion")
        text = content_text(completion[-1].get("content")) if completion else None
        yield Sample(
            where=place,
            item=item_of(
                "healthbench",
                need(row, "prompt_id", place, str),
                question_of(row.get("prompt"), place),
                messages=messages_of(row.get("prompt")),
                rubric=tuple(points),
                meta={"axes": axes} if (axes := _axes(criteria)) else {},
            ),
            **answer_fields(text),
            tokens=stated_usage(row).output,
            marks=(
                mark_of("score", row.get("score"), high=1.0),
                *(_mark(entry, point) for entry, point in zip(criteria, points, strict=True)),
            ),
        )


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
