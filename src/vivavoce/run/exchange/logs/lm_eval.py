"""Logs of lm-eval: `samples_TASK_DATE.jsonl`, and `results_DATE.json` beside it, which names the model.

Up to 0.4.2 they are `MODEL_TASK.jsonl`, one indented list, beside `results.json`; requests are lists.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Direction
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    category_in,
    item_of,
    key_texts,
    keyed,
    mark_of,
    name_or_empty,
    need,
    numbered,
    part,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.files import first_row, json_rows
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample, safe_name

_FIELDS = ("doc_id", "doc", "target", "arguments", "resps")
_NO_METRICS = {*_FIELDS, "filter", "metrics", "filtered_resps", "doc_hash", "prompt_hash", "target_hash"}
"""Fields of a row that are no metric, where a row does not name its metrics."""
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_UNIT_RANGE = ("acc", "acc_norm", "exact_match", "em", "f1", "mcc", "acc_bytes", "pass@1")
"""Metrics of lm-eval that lie between 0 and 1."""


@log_reader("lm_eval")
class LmEval(RecordedLogReader):
    """Samples of one task; each filter repeats them, and gives scores of its own."""

    describes: ClassVar[str] = "samples_*.jsonl beside results_*.json"

    def knows(self, path: Path) -> bool:
        """Told by the fields of the first line."""
        return first_row(path).keys() >= {*_FIELDS, "filtered_resps"}

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file."""
        task, results = _task_and_results(path)
        of_run = read_json_file(results) if results.is_file() else {}
        config, better = part(of_run, "configs", task), part(of_run, "higher_is_better", task)
        directions: Mapping[str, Direction] = {m: "higher" if up else "lower" for m, up in better.items()}
        repeats = config.get("repeats", 1)
        notes = [] if of_run else [f"{path.name} has no {results.name} beside it, which names the model."]
        if pairs := [m for m in _metrics(first_row(path)) if isinstance(first_row(path).get(m), list)]:
            notes.append(f"{', '.join(pairs)}: what lm_eval adds up over a task is no score of an answer.")
        if repeats != 1:
            notes.append(
                f"lm_eval scores all {repeats} answers to an item together: scores stand at the first."
            )
        yield RecordedLog(
            tool="lm_eval",
            version=of_run.get("lm_eval_version"),
            task=task,
            candidate=_model(of_run),
            files=(path, results) if of_run else (path,),
            samples=partial(_samples, path, task, directions),
            settings={"generation": config.get("generation_kwargs"), "shots": config.get("num_fewshot")},
            notes=tuple(notes),
        )


def _task_and_results(path: Path) -> tuple[str, Path]:
    """The task of a file of samples, and where its results would be."""
    name = _NAME.fullmatch(path.name)
    if name:
        return name["task"], path.with_name(f"results_{name['date']}.json")
    results = path.with_name("results.json")
    configs = part(read_json_file(results), "configs") if results.is_file() else {}
    tasks = [task for task in configs if path.stem == task or path.stem.endswith(f"_{task}")]
    return max(tasks, key=len, default=path.stem), results


def _model(of_run: Mapping[str, Any]) -> str:
    """The model of a run; up to 0.4.2 it is one of the arguments of its kind."""
    config = part(of_run, "config")
    arguments = config.get("model_args")
    words = arguments.split(",") if isinstance(arguments, str) else []
    of_kind = [word.partition("=")[2] for word in words if word.startswith(("pretrained=", "model="))]
    return (
        name_or_empty(of_run.get("model_name"))
        or next(iter(of_kind), "")
        or name_or_empty(config.get("model"))
    )


def _metrics(row: Mapping[str, Any]) -> Iterable[str]:
    """The names of a row's metrics."""
    return row["metrics"] if "metrics" in row else [name for name in row if name not in _NO_METRICS]


def _samples(path: Path, task: str, directions: Mapping[str, Direction]) -> Iterator[Sample]:
    first_filter = first_row(path).get("filter")
    for line in json_rows(path, *_FIELDS):
        samples = _sample(line, task, directions)
        # Every filter repeats all answers; of those after the first only what they score is new.
        yield from samples if line.row.get("filter") == first_filter else (s for s in samples if s.marks)


def _sample(line: Line, task: str, directions: Mapping[str, Direction]) -> Iterator[Sample]:
    """The answers of a row, one for each repeat, or the log-likelihoods of its options."""
    row, place = line.row, line.where
    doc = need(row, "doc", place)
    requests = _requests(row, place)
    replies = need(row, "resps", place, list)
    _check(requests, replies, place)
    if "metrics" in row:
        need(row, "metrics", place, list)
    question = _question(doc, requests)
    identity = name_or_empty(doc.get("id"))
    marks = tuple(_marks(row, directions))
    fields: dict[str, Any] = {"where": place, "row_id": not identity}
    name = identity or str(row["doc_id"])
    if _likelihoods(replies):
        options = tuple(str(r["arg_1"]).strip() for r in requests if r["arg_0"] == requests[0]["arg_0"])
        if len(options) < 2:
            raise InputError(f"{place}: the likelihood of one text alone is no answer to a question.")
        item = item_of(task, name, question, category=category_in(doc), **keyed(options, _key(row, options)))
        logprobs = _likelihoods(replies)[: len(options)]
        yield Sample(item=item, repeat=1, option_logprobs=logprobs, marks=marks, **fields)
        return
    options = texts(doc.get("options", doc.get("choices")))
    key = key_texts(row["target"], options)
    item = item_of(task, name, question, category=category_in(doc), **keyed(options, key))
    answers = (answer_fields(text_or_null(answer, place)) for answer in replies[0])
    yield from numbered(answers, item=item, marks=marks, **fields)


def _requests(row: Mapping[str, Any], place: str) -> list[Mapping[str, Any]]:
    """The requests of a row, each by the names of its arguments."""
    if not isinstance(row["arguments"], list):
        return list(need(row, "arguments", place).values())
    requests = need(row, "arguments", place, list)
    return [{f"arg_{k}": argument for k, argument in enumerate(request)} for request in requests]


def _check(requests: Sequence[Any], replies: Sequence[Any], place: str) -> None:
    """Raise `InputError` for a row without a request, or with another number of replies."""
    if not requests or len(requests) != len(replies) or not all(isinstance(entry, list) for entry in replies):
        raise InputError(f"{place}: not a list of replies for each request: have the log written again.")


def _question(doc: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]) -> str:
    """The question of the data, else the prompt."""
    question = doc.get("question")
    return question if isinstance(question, str) else str(requests[0]["arg_0"])


def _likelihoods(replies: Sequence[Any]) -> tuple[float, ...]:
    """The log-likelihood in each reply; none where replies are texts. lm-eval writes numbers as text."""
    with suppress(TypeError, ValueError, IndexError, KeyError):
        pairs = [reply[0] for reply in replies]
        if pairs and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return tuple(float(logprob) for logprob, _ in pairs)
    return ()


def _key(row: Mapping[str, Any], options: Sequence[str]) -> tuple[str, ...]:
    """The key of a closed question, which lm-eval gives by its place, also as text."""
    target = row["target"]
    if isinstance(target, str) and target.isdecimal() and int(target) < len(options):
        target = int(target)
    return (options[target],) if isinstance(target, int) else key_texts(target, options)


def _marks(row: Mapping[str, Any], directions: Mapping[str, Direction]) -> Iterator[Mark]:
    """A score for each metric of the row that gives a number; its filter is part of the scorer's name."""
    label = "" if row.get("filter", "none") == "none" else f"(filter={one_line(str(row['filter']), 60)})"
    for metric in _metrics(row):
        value = row.get(metric)
        if not isinstance(value, int | float):  # what is only added up over a task, such as BLEU's counts
            continue
        low, high = (0.0, 1.0) if metric in _UNIT_RANGE else (None, None)
        direction = directions.get(metric, "higher")
        yield mark_of(f"{safe_name(metric)}{label}", value, low=low, high=high, direction=direction)
