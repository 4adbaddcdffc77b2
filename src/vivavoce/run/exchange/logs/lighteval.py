"""Logs of lighteval: `details_TASK_DATE.parquet`, and `results_DATE.json`, which names the model."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    item_of,
    key_texts,
    keyed,
    name_or_empty,
    need,
    number_or_null,
    numbered,
    part,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.mapping import MappedLog, Names, Scores
from vivavoce.run.exchange.recorded_log import RecordedLog, Sample

_NAME = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.parquet")


@log_reader("lighteval")
class LightevalDetails(MappedLog):
    """Details of one task. Rows are shuffled, and their ids are places of rows."""

    tool: ClassVar[str] = "lighteval"
    describes: ClassVar[str] = "details_*.parquet with results_*.json"
    endings: ClassVar[Names] = (".parquet",)
    signs: ClassVar[tuple[Names, ...]] = (("doc", "metric", "model_response"),)
    scores = (Scores(field=("metric",)),)

    def head(self, path: Path) -> RecordedLog:
        """With the model and its settings, which stand in the results."""
        name = _NAME.fullmatch(path.name)
        results = _results(path, name["date"]) if name else None
        general = part(read_json_file(results), "config_general") if results else {}
        model = general.get("model_name", part(general, "model_config").get("model_name"))
        return RecordedLog(
            tool=self.tool,
            version=name_or_empty(general.get("lighteval_sha")).replace("?", "") or None,
            task=name["task"].partition("|")[0] if name else path.stem,
            candidate=name_or_empty(model),
            files=(path, results) if results else (path,),
            settings=part(general, "model_config", "generation_parameters"),
            notes=() if results else (f"{path.name} has no results file, which names the model.",),
        )

    def samples(self, line: Line, log: RecordedLog) -> Iterable[Sample]:
        """The answers of a row, or the log-likelihoods of its options."""
        row, place = line.row, line.where
        doc, response = need(row, "doc", place), need(row, "model_response", place)
        choices = texts(doc.get("choices"))
        options = _stripped(choices) if len(choices) > 1 else ()
        key = _stripped(key_texts(doc.get("gold_index"), choices))
        question = need(doc, "original_query" if doc.get("original_query") else "query", place, str)
        if "LOGPROBS" in texts(doc.get("sampling_methods")):
            answers = [{"option_logprobs": _logprobs(response, len(choices), place)}]
        else:
            answers = [answer_fields(text_or_null(t, place)) for t in response.get("text") or [None]]
        return numbered(
            answers,
            where=place,
            item=item_of(log.task, str(doc.get("id")), question, **keyed(options, key)),
            row_id=True,
            marks=self.marks(row),
        )


def _results(path: Path, date: str) -> Path | None:
    """The results of the same date: beside the details, or where lighteval puts them."""
    places = [path.parent]
    if len(path.parents) > 3:  # details/MODEL/DATE/details_….parquet and results/MODEL/results_….json
        places.append(path.parents[3] / "results" / path.parents[1].name)
    files = (place / f"results_{date}.json" for place in places)
    return next((file for file in files if file.is_file()), None)


def _logprobs(response: Mapping[str, Any], options: int, place: str) -> tuple[float, ...]:
    """The log-probability of each option. Raises `InputError` where one is missing."""
    scores = [number_or_null(n) for n in response.get("logprobs") or ()]
    logprobs = tuple(n for n in scores if n is not None)
    if len(scores) != options or len(logprobs) != options:
        raise InputError(f"{place}: {len(logprobs)} log-probabilities for {options} options.")
    return logprobs


def _stripped(options: Iterable[str]) -> tuple[str, ...]:
    return tuple(option.strip() for option in options)
