"""OpenAI's Evals: output items of the hosted service, and the event logs of the `evals` library."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    item_of,
    keyed,
    mark_of,
    messages_of,
    name_or_empty,
    number_or_null,
    numbered,
    part,
    question_of,
    texts,
)
from vivavoce.run.exchange.logs.files import first_row, json_rows
from vivavoce.run.exchange.logs.mapping import Fields, MappedLog, Names, Scores
from vivavoce.run.exchange.recorded_log import LeftOut, Mark, RecordedLog, Sample, safe_name

_ITEM = "eval.run.output_item"
_KEYS = (
    "ground_truth",
    "reference",
    "reference_answer",
    "ideal",
    "expected",
    "expected_output",
    "answer",
    "target",
)
_QUESTIONS = ("question", "query", "prompt", "input")


def _of_data(names: Names) -> Names:
    """Where fields of a row of the data are in an output item."""
    return tuple(f"datasource_item.{start}{name}" for name in names for start in ("", "item."))


@log_reader("openai_evals")
class HostedEval(MappedLog):
    """Output items of runs of the hosted Evals: a file of lines, a list, or a page that the API returned."""

    tool: ClassVar[str] = "openai_evals"
    describes: ClassVar[str] = f"output items ({_ITEM}) of OpenAI's hosted Evals, as JSON or JSON lines"
    rows_at: ClassVar[str] = "data"
    begins: ClassVar[Names] = ("data", _ITEM)
    fields: ClassVar[Fields] = Fields(
        item=_of_data(("id", "item_id", "question_id")),
        question=(*_of_data(_QUESTIONS), "sample.input"),
        answer=("sample.output", "datasource_item.sample.output_text"),
        key=_of_data(_KEYS),
        candidate=("sample.model", "datasource_item.model"),
        error=("sample.error",),
        ended=("sample.finish_reason",),
        tokens=("sample.usage.completion_tokens",),
    )
    scores = (Scores(field=("results",), value=("score", "passed")),)

    def knows(self, path: Path) -> bool:
        """Told by the kind of the first object."""
        return first_row(path).get("object") == _ITEM or super().knows(path)

    def head(self, path: Path) -> RecordedLog:
        """The eval names the exam; its model is named with each item."""
        task = name_or_empty(first_row(path).get("eval_id")) or path.stem
        return RecordedLog(tool=self.tool, task=task, files=(path,))


@log_reader("oaieval")
class EvalsLog(MappedLog):
    """Events of one run; of a sample that a model grades, the first text that was sampled is the answer."""

    tool: ClassVar[str] = "oaieval"
    describes: ClassVar[str] = "the event log of OpenAI's evals library (spec, sampling, match, metrics)"

    def knows(self, path: Path) -> bool:
        """Told by the specification in the first line."""
        return "eval_name" in part(first_row(path), "spec")

    def head(self, path: Path) -> RecordedLog:
        """The exam and the model that were specified."""
        spec = part(first_row(path), "spec")
        models = texts(spec.get("completion_fns")) or texts(spec.get("model_name"))
        task, run = name_or_empty(spec.get("eval_name")), name_or_empty(spec.get("run_id"))
        candidate = models[0] if models else ""
        return RecordedLog(tool=self.tool, task=task, candidate=candidate, files=(path,), evaluation=run)

    def _samples(self, path: Path, log: RecordedLog) -> Iterator[Sample | LeftOut]:
        marks: dict[str, list[Mark]] = defaultdict(list)
        keys: dict[str, tuple[str, ...]] = {}
        for line in json_rows(path):
            name, data = name_or_empty(line.row.get("sample_id")), part(line.row, "data")
            marks[name] += _marks(line.row.get("type"), data)
            if "expected" in data:
                keys.setdefault(name, texts(data["expected"]))
        answered = set()
        for line in json_rows(path):
            name = name_or_empty(line.row.get("sample_id"))
            if line.row.get("type") == "sampling" and name not in answered:
                answered.add(name)
                yield from _answers(line, log.task, name, keys.get(name, ()), tuple(marks[name]))
        scored = [name for name, of_sample in marks.items() if of_sample and name not in answered]
        yield from (LeftOut(f"{path}, sample {name}", "scored, but no text was sampled") for name in scored)


def _answers(
    line: Line, task: str, name: str, key: tuple[str, ...], marks: tuple[Mark, ...]
) -> Iterator[Sample | LeftOut]:
    """The texts that were sampled; the scores are of them all, and are stored with the first."""
    data = part(line.row, "data")
    prompt = data.get("prompt", data.get("input"))
    item = item_of(
        task, name, question_of(prompt, line.where), messages=messages_of(prompt), **keyed((), key)
    )
    answers = map(answer_fields, texts(data.get("sampled")) or ("",))
    return numbered(answers, where=line.where, item=item, marks=marks)


def _marks(kind: Any, data: Mapping[str, Any]) -> list[Mark]:
    """The scores in an event: a match is right or not, metrics are the numbers among them."""
    if kind == "match" and isinstance(data.get("correct"), bool):
        return [mark_of("match", data["correct"], low=0.0, high=1.0)]
    metrics = data.items() if kind == "metrics" else ()
    return [mark_of(safe_name(name), value) for name, value in metrics if number_or_null(value) is not None]
