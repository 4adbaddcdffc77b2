"""Logs of DeepEval: `test_run_*.json`."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.json_stream import members
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.fields import (
    category_in,
    item_of,
    messages_of,
    name_or_empty,
    need,
    part,
    question_of,
    rows_in,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.files import start_of
from vivavoce.run.exchange.logs.mapping import Fields, MappedLog, Names, Scores
from vivavoce.run.exchange.recorded_log import LeftOut, RecordedLog, Sample

_CASES = {"testCases": "test case", "conversationalTestCases": "conversation"}


@log_reader("deepeval")
class DeepEvalRun(MappedLog):
    """A test run of cases; the last reply of a conversation answers the turns before it."""

    tool: ClassVar[str] = "deepeval"
    describes: ClassVar[str] = "test_run_*.json"
    endings: ClassVar[Names] = (".json",)
    fields: ClassVar[Fields] = Fields(answer=("actualOutput",), seconds=("completionTime",))
    scores = (Scores(field=("metricsData",), rater=("evaluationModel",), low=0.0, high=1.0),)

    def knows(self, path: Path) -> bool:
        """JSON that begins with test cases."""
        return path.suffix.lower() == ".json" and any(f'"{name}"' in start_of(path) for name in _CASES)

    def head(self, path: Path) -> RecordedLog:
        """The name of the run and its settings, which may name a model."""
        run = {name: value for name, value in members(path, *_CASES) if name not in _CASES}
        settings = run.get("hyperparameters") or {}
        return RecordedLog(
            tool=self.tool,
            task=name_or_empty(run.get("identifier")) or "deepeval",
            candidate=name_or_empty(settings.get("model")),
            files=(path,),
            settings=settings,
        )

    def rows(self, path: Path) -> Iterable[Line]:
        """The cases of one turn and of several, numbered by themselves."""
        number = dict.fromkeys(_CASES, 0)
        for name, row in members(path, *_CASES):
            if name in _CASES:
                number[name] += 1
                place = f"{path}, {_CASES[name]} {number[name]}"
                yield Line(place, need({"case": row}, "case", place))

    def samples(self, line: Line, log: RecordedLog) -> Iterable[Sample | LeftOut]:
        """The answer of a case; a conversation that ends with the user has none."""
        row, place = line.row, line.where
        turns = rows_in(row, "turns")
        question: Any = turns if "turns" in row else need(row, "input", place, str)
        if "turns" in row:
            if not turns or turns[-1].get("role") != "assistant":
                return (LeftOut(place, "a conversation without a last reply"),)
            line = Line(place, {**row, "actualOutput": turns[-1].get("content")})
            question = turns[:-1] or str(row.get("scenario") or "")
        text_or_null(line.row.get("actualOutput"), place)
        identity = name_or_empty(row.get("name"))
        item = item_of(
            log.task,
            identity,
            question_of(question, place),
            messages=messages_of(question),
            references=texts(row.get("expectedOutput")),
            context="\n\n".join(texts(row.get("context"))) or None,
            category=category_in(part(row, "metadata")),
        )
        by_row = re.fullmatch(r"(test|conversational_test)_case_\d+", identity) is not None
        return (replace(self.answer(line), item=item, row_id=by_row),)
