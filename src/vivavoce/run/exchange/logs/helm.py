"""Logs of HELM: a folder with `scenario_state.json`, `per_instance_stats.json` and `run_spec.json`."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import entries, members
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Item
from vivavoce.core.registry import log_reader
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    item_of,
    keyed,
    mark_of,
    name_or_empty,
    need,
    numbered,
    part,
    rows_in,
    text_or_null,
    texts,
    whole_number,
)
from vivavoce.run.exchange.logs.files import members_before, start_of
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample, safe_name

_STATES = "request_states"
_SETTINGS = ("method", "temperature", "max_tokens", "max_train_instances")
_ACCOUNTS = (
    *("num_", "training_", "inference_", "batch_size", "finish_reason_", "prompt_truncated", "max_prob"),
    *("logprob", "perplexity", "bits_per_byte", "logprob_per_byte"),
)
"""How the names of HELM's statistics begin that count work and score no answer."""
Marks = Mapping[tuple[str, int, str], tuple[Mark, ...]]


@log_reader("helm")
class HelmRun(RecordedLogReader):
    """One run of HELM: one scenario, one model."""

    describes: ClassVar[str] = "scenario_state.json and what stands beside it"

    def knows(self, path: Path) -> bool:
        """JSON that begins with an adapter."""
        return path.name == "scenario_state.json" and '"adapter_spec"' in start_of(path)

    def refuses(self, path: Path) -> str:
        """A run that asked each option by itself."""
        method = ""
        with suppress(InputError):
            method = str(_adapter(path).get("method")) if self.knows(path) else ""
        reason = f"its options were asked one by one ({method}): that is no answer in words, and not read"
        return reason if method.startswith("multiple_choice_separate") else ""

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one folder."""
        adapter = _adapter(path)
        stats, spec = path.with_name("per_instance_stats.json"), path.with_name("run_spec.json")
        outputs = adapter.get("num_outputs", 1)
        notes = []
        if not stats.is_file():
            notes.append(f"{path.parent.name} has no {stats.name}: no score was recorded.")
        elif adapter.get("method") == "generation" and outputs != 1:
            notes.append(
                f"HELM scores the {outputs} completions of a request together: scores stand at the first."
            )
        yield RecordedLog(
            tool="helm",
            version=None,
            task=_task(path, spec),
            candidate=name_or_empty(adapter.get("model") or adapter.get("model_deployment")),
            files=tuple(file for file in (path, stats, spec) if file.is_file()),
            samples=partial(_samples, path, stats, _task(path, spec)),
            settings={name: adapter.get(name) for name in _SETTINGS},
            notes=tuple(notes),
        )


def _adapter(path: Path) -> Mapping[str, Any]:
    """How the model was asked."""
    return part(members_before(path, _STATES), "adapter_spec")


def _task(path: Path, spec: Path) -> str:
    """The scenario that the run's name begins with, else the folder's name."""
    name = str(read_json_file(spec).get("name", "")) if spec.is_file() else ""
    return name.partition(":")[0] or path.parent.name


def _samples(path: Path, stats: Path, task: str) -> Iterator[Sample]:
    marks = _marks(stats) if stats.is_file() else {}
    rows = (row for name, row in members(path, _STATES) if name == _STATES)
    for number, row in enumerate(rows, 1):
        yield from _answers(row, f"{path}, request {number}", task, marks)


def _answers(row: Any, place: str, task: str, marks: Marks) -> Iterator[Sample]:
    """An answer for each completion; a request that failed is one failed answer."""
    instance = need(need({"state": row}, "state", place), "instance", place)
    variant = str(part(instance, "perturbation").get("name", ""))
    item = _item(row, instance, task, variant)
    result, trial = need(row, "result", place), whole_number(row.get("train_trial_index")) or 0
    completions = rows_in(result, "completions")
    before = trial * max(1, whole_number(part(row, "request").get("num_completions")) or 1)
    if not result.get("success") or not completions:
        reason = result.get("error") or "the request failed"
        yield Sample(where=place, item=item, repeat=before + 1, **answer_fields(None, reason))
        return
    answers = (
        answer_fields(text_or_null(c.get("text"), place), reason=part(c, "finish_reason").get("reason"))
        | {"tokens": len(rows_in(c, "tokens")) or None}
        for c in completions
    )
    scores = marks.get((item.item, trial, variant), ())
    yield from numbered(answers, start=before + 1, where=place, item=item, marks=scores)


def _item(row: Mapping[str, Any], instance: Mapping[str, Any], task: str, variant: str) -> Item:
    """The item of an instance: closed where letters stand for its references."""
    references = rows_in(instance, "references")
    outputs = [str(part(reference, "output").get("text")) for reference in references]
    right = [o for o, r in zip(outputs, references, strict=True) if "correct" in texts(r.get("tags"))]
    options = tuple(str(option) for option in part(row, "output_mapping").values())
    question = str(part(instance, "input").get("text"))
    return item_of(
        task, name_or_empty(instance.get("id")), question, variant=variant, **keyed(options, right)
    )


def _marks(path: Path) -> Marks:
    """The scores of each instance, trial and perturbation."""
    marks = {}
    for number, row in enumerate(entries(path), 1):
        stats = need(need({"entry": row}, "entry", f"{path}, entry {number}"), "stats", str(path), list)
        variant = str(part(row, "perturbation").get("name", ""))
        trial = whole_number(row.get("train_trial_index")) or 0
        marks[str(row.get("instance_id")), trial, variant] = tuple(
            mark_of(safe_name(name.replace("@", "_at_")), stat.get("mean"))
            for stat in stats
            if (name := str(part(stat, "name").get("name")))
            and stat.get("count")
            and not name.startswith(_ACCOUNTS)
        )
    return marks
