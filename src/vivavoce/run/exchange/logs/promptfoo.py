"""Logs of promptfoo: the file that `promptfoo eval -o out.json` writes."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.json_stream import members
from vivavoce.core.records import Item
from vivavoce.core.registry import log_reader
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    item_of,
    mark_of,
    name_or_empty,
    need,
    number_or_null,
    part,
    rows_in,
    whole_number,
)
from vivavoce.run.exchange.logs.files import start_of
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample, safe_name

_RESULTS = "results.results"
_ERROR = 2
"""`failureReason` of a result without an answer; 1 is an assertion that failed, which is a score."""


@log_reader("promptfoo")
class PromptfooResults(RecordedLogReader):
    """Results of several providers and prompts; a repeat is another test with the same variables."""

    describes: ClassVar[str] = "the JSON of promptfoo eval -o"

    def knows(self, path: Path) -> bool:
        """JSON that begins with the id of an evaluation and results."""
        start = start_of(path)
        return path.suffix.lower() == ".json" and '"evalId"' in start and '"results"' in start

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file: one exam, answered by each provider to each prompt."""
        head = {name: value for name, value in members(path, _RESULTS) if name != _RESULTS}
        labels = list(dict.fromkeys(str(p.get("label")) for p in rows_in(head, "results.prompts")))
        task = name_or_empty((head.get("config") or {}).get("description")) or "promptfoo"
        several = f"{len(labels)} prompts: a candidate is a provider with the number of its prompt."
        yield RecordedLog(
            tool="promptfoo",
            version=part(head, "metadata").get("promptfooVersion"),
            task=task,
            candidate="",
            files=(path,),
            samples=partial(_samples, path, task, len(labels) > 1),
            evaluation=name_or_empty(head.get("evalId")),
            settings={"prompts": labels},
            notes=(several,) if len(labels) > 1 else (),
        )


def _samples(path: Path, task: str, several_prompts: bool) -> Iterator[Sample]:
    rows = (row for name, row in members(path, _RESULTS) if name == _RESULTS)
    for number, row in enumerate(rows, 1):
        place = f"{path}, result {number}"
        variables = need(need({"result": row}, "result", place), "vars", place)
        provider = need(row, "provider", place)
        name = name_or_empty(provider.get("label")) or name_or_empty(provider.get("id"))
        failed = row.get("failureReason") == _ERROR
        text = None if failed else _text(part(row, "response").get("output"))
        results = rows_in(part(row, "gradingResult"), "componentResults")
        yield Sample(
            where=place,
            item=_item(row, variables, task),
            candidate=f"{name}, prompt {row.get('promptIdx', 0) + 1}" if several_prompts else name,
            **answer_fields(text, row.get("error")),
            tokens=whole_number(part(row, "response", "tokenUsage").get("completion")),
            seconds=_seconds(row.get("latencyMs")),
            cost=number_or_null(row.get("cost")),
            marks=() if failed else _marks(results),
        )


def _item(row: Mapping[str, Any], variables: Mapping[str, Any], task: str) -> Item:
    """The item by its variables; the prompt is its question where no variable is named so."""
    identity = next((i for n in ("id", "item") if (i := name_or_empty(variables.get(n)))), "")
    question = variables.get("question")
    text = question if isinstance(question, str) else str(part(row, "prompt").get("raw"))
    return item_of(task, identity, text)


def _seconds(milliseconds: Any) -> float | None:
    number = number_or_null(milliseconds)
    return None if number is None else number / 1000


def _text(output: Any) -> str | None:
    """The output as text; an object as the JSON that it is."""
    if output is None or isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False)


def _marks(results: Sequence[Mapping[str, Any]]) -> tuple[Mark, ...]:
    """A score for each assertion, named by its metric or type; several of one name are numbered."""
    numbers: Counter[str] = Counter()
    marks = []
    for result in results:
        assertion = part(result, "assertion")
        name = safe_name(str(assertion.get("metric") or assertion.get("type")))
        numbers[name] += 1
        scorer = name if numbers[name] == 1 else f"{name}_{numbers[name]}"
        marks.append(mark_of(scorer, result.get("score"), result.get("reason"), low=0.0, high=1.0))
    return tuple(marks)
