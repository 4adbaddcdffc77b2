"""Logs of lighteval: `details_TASK_DATE.parquet`, and `results_DATE.json`, which names the model."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    item_of,
    key_texts,
    keyed,
    mark_of,
    name_or_empty,
    need,
    number_or_null,
    part,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.files import first_row
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample, safe_name

_NAME = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.parquet")
_COLUMNS = ("doc", "metric", "model_response")
_BATCH = 500


@log_reader("lighteval")
class LightevalDetails(RecordedLogReader):
    """Details of one task. Rows are shuffled, and their ids are places of rows."""

    describes: ClassVar[str] = "details_*.parquet with results_*.json"

    def knows(self, path: Path) -> bool:
        """Told by the columns."""
        return path.suffix.lower() == ".parquet" and first_row(path).keys() >= {*_COLUMNS}

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file."""
        name = _NAME.fullmatch(path.name)
        results = _results(path, name["date"]) if name else None
        general = part(read_json_file(results), "config_general") if results else {}
        model = general.get("model_name", part(general, "model_config").get("model_name"))
        task = name["task"].partition("|")[0] if name else path.stem
        yield RecordedLog(
            tool="lighteval",
            version=name_or_empty(general.get("lighteval_sha")).replace("?", "") or None,
            task=task,
            candidate=name_or_empty(model),
            files=(path, results) if results else (path,),
            samples=partial(_samples, path, task),
            settings=part(general, "model_config", "generation_parameters"),
            notes=() if results else (f"{path.name} has no results file, which names the model.",),
        )


def _results(path: Path, date: str) -> Path | None:
    """The results of the same date: beside the details, or where lighteval puts them."""
    places = [path.parent]
    if len(path.parents) > 3:  # details/MODEL/DATE/details_….parquet and results/MODEL/results_….json
        places.append(path.parents[3] / "results" / path.parents[1].name)
    files = (place / f"results_{date}.json" for place in places)
    return next((file for file in files if file.is_file()), None)


def _samples(path: Path, task: str) -> Iterator[Sample]:
    for line in _rows(path):
        yield from _answers(line, task)


def _rows(path: Path) -> Iterator[Line]:
    """The rows, some hundred at a time. Raises `InputError` where Parquet is broken."""
    import polars as pl

    try:
        table = pl.scan_parquet(path).select(_COLUMNS)
        n_rows = table.select(pl.len()).collect().item()
        for start in range(0, n_rows, _BATCH):
            rows = table.slice(start, _BATCH).collect().iter_rows(named=True)
            yield from (Line(f"{path}, row {n}", row) for n, row in enumerate(rows, start + 1))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet ({one_line(str(error), 100)}).") from None


def _answers(line: Line, task: str) -> Iterator[Sample]:
    """The answers of a row, or the log-likelihoods of its options."""
    row, place = line.row, line.where
    doc, response = need(row, "doc", place), need(row, "model_response", place)
    choices = texts(doc.get("choices"))
    key = _stripped(key_texts(doc.get("gold_index"), choices))
    marks = tuple(_marks(part(row, "metric")))
    question = need(doc, "original_query" if doc.get("original_query") else "query", place, str)
    item = item_of(
        task, str(doc.get("id")), question, **keyed(_stripped(choices) if len(choices) > 1 else (), key)
    )
    if "LOGPROBS" in texts(doc.get("sampling_methods")):
        logprobs = _logprobs(response, len(choices), place)
        yield Sample(where=place, item=item, row_id=True, repeat=1, option_logprobs=logprobs, marks=marks)
        return
    for number, text in enumerate(response.get("text") or [None], 1):
        yield Sample(
            where=place,
            item=item,
            row_id=True,
            repeat=number,
            **answer_fields(text_or_null(text, place)),
            marks=marks if number == 1 else (),
        )


def _logprobs(response: Mapping[str, Any], options: int, place: str) -> tuple[float, ...]:
    """The log-probability of each option. Raises `InputError` where one is missing."""
    scores = [number_or_null(n) for n in response.get("logprobs") or ()]
    logprobs = tuple(n for n in scores if n is not None)
    if len(scores) != options or len(logprobs) != options:
        raise InputError(f"{place}: {len(logprobs)} log-probabilities for {options} options.")
    return logprobs


def _stripped(options: Iterable[str]) -> tuple[str, ...]:
    return tuple(option.strip() for option in options)


def _marks(metric: Mapping[str, Any]) -> Iterator[Mark]:
    """A score for each metric of the task; a struct has those of other rows too, as null."""
    for name, value in metric.items():
        if value is not None:
            yield mark_of(safe_name(name), value)
