"""Logs in the format of Every Eval Ever: `UUID_samples.jsonl`, and `UUID.json` beside it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.models.replies import stated_usage
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    item_of,
    key_texts,
    keyed,
    mark_of,
    messages_of,
    name_or_empty,
    need,
    number_or_null,
    numbered,
    part,
    question_of,
    rows_in,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.files import first_row, json_rows
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample, safe_name

NEWEST = (0, 3)
"""The newest version of the schema that is read."""
_END = "_samples.jsonl"


@log_reader("every_eval_ever")
class EveryEvalEver(RecordedLogReader):
    """Samples of one evaluation. A score stands with the number that the schema demands of each."""

    describes: ClassVar[str] = "*_samples.jsonl beside its .json"

    def knows(self, path: Path) -> bool:
        """Told by the fields of the first line."""
        return first_row(path).keys() >= {"schema_version", "evaluation_id", "sample_id"}

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file."""
        first = first_row(path)
        version = str(first["schema_version"])
        numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
        if numbers > NEWEST:
            raise InputError(
                f"{path}: schema {version}, and {NEWEST[0]}.{NEWEST[1]} is read: update vivavoce."
            )
        aggregate = path.with_name(path.name.removesuffix(_END) + ".json")
        described = read_json_file(aggregate) if path.name.endswith(_END) and aggregate.is_file() else {}
        results = {r.get("evaluation_result_id"): r for r in rows_in(described, "evaluation_results")}
        task = _task(first, results) or path.stem
        yield RecordedLog(
            tool="every_eval_ever",
            version=version,
            task=task,
            candidate=_candidate(described) or name_or_empty(first.get("model_id")),
            files=(path, aggregate) if described else (path,),
            samples=partial(_samples, path, task, results),
            evaluation=f"{first['evaluation_id']}/{path.name}",
            settings={"library": part(described, "eval_library")},
            notes=()
            if described
            else (f"{path.name} has no {aggregate.name} beside it: ranges are not known.",),
        )


def _candidate(described: Mapping[str, Any]) -> str:
    """The candidate as our own exports name it, with its settings; '' in files of others."""
    if part(described, "eval_library").get("name") != "vivavoce":
        return ""
    return name_or_empty(part(described, "model_info", "additional_details").get("candidate"))


def _task(row: Mapping[str, Any], results: Mapping[Any, Mapping[str, Any]]) -> str:
    """The name of the data set, else of the evaluation."""
    source = part(results.get(row.get("evaluation_result_id")) or {}, "source_data")
    return name_or_empty(source.get("dataset_name", row.get("evaluation_name")))


def _samples(path: Path, task: str, results: Mapping[Any, Mapping[str, Any]]) -> Iterator[Sample]:
    for line in json_rows(path):
        yield from _answers(line, task, results)


def _answers(line: Line, task: str, results: Mapping[Any, Mapping[str, Any]]) -> Iterator[Sample]:
    row, place = line.row, line.where
    request, replies = need(row, "input", place), part(row, "output")
    options = texts(request.get("choices"))
    key = key_texts(request.get("reference"), options)
    question = row.get("messages") if request.get("raw") is None else request["raw"]
    identity = name_or_empty(row.get("sample_id"))
    item = item_of(
        task,
        identity,
        question_of(question, place),
        messages=messages_of(question),
        **keyed(options, key),
    )
    number = name_or_empty(part(row, "metadata").get("repeat"))
    start = int(number) if re.fullmatch(r"[1-9]\d{0,5}", number) else 1
    fields: dict[str, Any] = {"where": place, "item": item, "row_id": identity.isdecimal()}
    answers, error = texts_or_null(replies.get("raw")), row.get("error")
    if error or not answers:
        yield Sample(**fields, repeat=start, **answer_fields(None, error))
        return
    came = (answer_fields(text_or_null(text, place)) for text in answers)
    tokens = stated_usage({"usage": row.get("token_usage")}).output
    yield from numbered(came, start=start, **fields, tokens=tokens, marks=[_mark(row, results)])


def texts_or_null(values: Any) -> list[Any]:
    """A list as it is; a text by itself is a list of one."""
    return [values] if isinstance(values, str) else list(values or ())


def _mark(row: Mapping[str, Any], results: Mapping[Any, Mapping[str, Any]]) -> Mark:
    """The sample's score, under the metric of its result."""
    config = part(results.get(row.get("evaluation_result_id")) or {}, "metric_config")
    name = config.get("metric_name", row.get("evaluation_result_id", row.get("evaluation_name")))
    filter_name = part(row, "metadata").get("filter")
    label = f"(filter={filter_name})" if filter_name not in (None, "none") else ""
    return mark_of(
        f"{safe_name(str(name))}{label}",
        part(row, "evaluation").get("score"),
        low=number_or_null(config.get("min_score")),
        high=number_or_null(config.get("max_score")),
        direction="lower" if config.get("lower_is_better") else "higher",
    )
