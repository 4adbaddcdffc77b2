"""Logs of DeepEval: `test_run_*.json`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import members
from vivavoce.core.registry import log_reader
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    category_in,
    item_of,
    mark_of,
    name_or_empty,
    need,
    number_or_null,
    part,
    rows_in,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.files import start_of
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample, safe_name

_CASES, _CONVERSATIONS = "testCases", "conversationalTestCases"


@log_reader("deepeval")
class DeepEvalRun(RecordedLogReader):
    """A test run of cases with one turn."""

    describes: ClassVar[str] = "test_run_*.json"

    def knows(self, path: Path) -> bool:
        """JSON that begins with test cases."""
        return path.suffix.lower() == ".json" and f'"{_CASES}"' in start_of(path)

    def refuses(self, path: Path) -> str:
        """A run of conversations alone."""
        if path.suffix.lower() != ".json" or f'"{_CONVERSATIONS}"' not in start_of(path):
            return ""
        with suppress(InputError):
            names = [name for name, _ in members(path, _CASES, _CONVERSATIONS)]
            if _CONVERSATIONS in names and _CASES not in names:
                return f"{_lost(names.count(_CONVERSATIONS))}, and it holds none"
        return ""

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file."""
        head = {name: value for name, value in members(path, _CASES) if name != _CASES}
        settings = head.get("hyperparameters") or {}
        conversations = len(rows_in(head, _CONVERSATIONS))
        yield RecordedLog(
            tool="deepeval",
            version=None,
            task=name_or_empty(head.get("identifier")) or "deepeval",
            candidate=name_or_empty(settings.get("model")),
            files=(path,),
            samples=partial(_samples, path, name_or_empty(head.get("identifier")) or "deepeval"),
            settings=settings,
            notes=(f"{path.name}: {_lost(conversations)}.",) if conversations else (),
        )


def _lost(conversations: int) -> str:
    """The clause on cases of several turns."""
    return f"{conversations} conversational test cases are not read: only those of a single turn are"


def _samples(path: Path, task: str) -> Iterator[Sample]:
    rows = (row for name, row in members(path, _CASES) if name == _CASES)
    for number, row in enumerate(rows, 1):
        place = f"{path}, test case {number}"
        identity = name_or_empty(need({"case": row}, "case", place).get("name"))
        text = text_or_null(row.get("actualOutput"), place)
        item = item_of(
            task,
            identity,
            need(row, "input", place, str),
            references=texts(row.get("expectedOutput")),
            context="\n\n".join(texts(row.get("context"))) or None,
            category=category_in(part(row, "metadata")),
        )
        yield Sample(
            where=place,
            item=item,
            row_id=re.fullmatch(r"test_case_\d+", identity) is not None,
            **answer_fields(text),
            seconds=number_or_null(row.get("completionTime")),
            marks=tuple(map(_mark, rows_in(row, "metricsData"))),
        )


def _mark(metric: Mapping[str, Any]) -> Mark:
    """A metric's score between 0 and 1; one with an error failed."""
    error = metric.get("error")
    return mark_of(
        safe_name(str(metric.get("name", ""))),
        None if error else metric.get("score"),
        error or metric.get("reason"),
        low=0.0,
        high=1.0,
        rater=name_or_empty(metric.get("evaluationModel")),
    )
