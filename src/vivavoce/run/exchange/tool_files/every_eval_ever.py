"""Every Eval Ever, schema 0.3.0: `data/TASK/DEVELOPER/MODEL/UUID.json` beside `UUID_samples.jsonl`.

The schema demands a number of every sample and of every result: an answer without a score, and a measure
without an estimate, have no place there and are counted.
"""

import hashlib
import json
import math
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import Any, Literal, NamedTuple

from vivavoce._version import __version__
from vivavoce.core.errors import SpecError
from vivavoce.core.private_files import new_bytes
from vivavoce.core.records import Measure
from vivavoce.core.registry import exporter
from vivavoce.core.specs import Spec, parse, show
from vivavoce.formats.base import with_context
from vivavoce.run.exchange.tool_files.answers import Answer, Exam, ExportSource, ToolExport, mean_estimates
from vivavoce.run.exchange.tool_files.asked import filled, folder_name, key_texts
from vivavoce.run.exchange.tool_files.files import (
    ExportedFiles,
    json_text,
)
from vivavoce.store.read import provenance_times
from vivavoce.store.view import View

SCHEMA = "0.3.0"
_NAMES = uuid.UUID("0c5d6a1e-58a0-5e0b-8f0e-3d6a0e9f4c22")
_ARGUMENTS = {"temperature": (int, float), "top_p": (int, float), "max_tokens": (int,)}
_COUNTS = ("n_responses", "n_unanswered", "n_unreadable", "n_failed", "n_set_aside")
_ABOUT = """
Results in the format of Every Eval Ever, schema 0.3.0, for a folder of its repository.

data/TASK/DEVELOPER/MODEL/UUID.json            a benchmark and a candidate: each measure with its interval
data/TASK/DEVELOPER/MODEL/UUID_samples.jsonl   one line for each answer and measure that has a score

`is_correct` says that a score is the best of its range. An answer that has no score is in no line: results
count it by the rule of their measure (`details`), so a mean of the lines may be another number.
"""


class _Result(NamedTuple):
    """A measure with its estimate for the candidate, under the id that lines refer to."""

    name: str
    measure: Measure
    estimate: Mapping[str, Any]


@exporter("every_eval_ever")
class EveryEvalEver(ToolExport):
    """Results and samples of Every Eval Ever; `organization` evaluated, `relationship` is that to the models'
    developers, and `developer` is theirs where a candidate's name does not say it.
    """

    candidate: str | None = None
    developer: str | None = None
    organization: str = "not stated"
    relationship: Literal["first_party", "third_party", "collaborative", "other"] = "other"
    readme = _ABOUT
    no_file = ": no answer has a score, and Every Eval Ever takes no other: `viva score` gives some."

    def write_exams(self, view: View, source: ExportSource, files: ExportedFiles) -> None:
        """The results and samples of each candidate."""
        estimates, (_, made_at) = mean_estimates(view, self.items), provenance_times(view.db)
        name = source.named(self.candidate)
        for exam in source.exams():
            for candidate, (key, _) in source.candidates(exam, name).items():
                results = _results(source, estimates, exam.name, candidate)
                _Evaluation(self, source, exam, candidate, key, results, made_at).write(files)


def _results(
    source: ExportSource,
    estimates: Mapping[tuple[str, ...], Mapping[str, Any]],
    benchmark: str,
    candidate: str,
) -> dict[int, _Result]:
    """The measures of a candidate that have an estimate, by key."""
    results: dict[int, _Result] = {}
    for key, measure in source.measures.items():
        c = measure.criterion
        row = estimates.get((benchmark, candidate, measure.signature, c.criterion, measure.rater))
        if row is None or row["estimate"] is None:
            continue
        by = f" by {measure.rater}" if measure.rater else ""
        criterion = "" if c.criterion in (measure.metric, "value") else f":{c.criterion}"
        name = f"{measure.metric}{criterion}{by}"
        same = sum(result.name.partition(" #")[0] == name for result in results.values())
        results[key] = _Result(f"{name} #{same + 1}" if same else name, measure, row)
    return results


class _Evaluation:
    """One benchmark and candidate: a file of results, and one of samples."""

    def __init__(
        self, options: EveryEvalEver, source: ExportSource, exam: Exam, candidate: str, key: int,
        results: Mapping[int, _Result], made_at: str,
    ) -> None:  # fmt: skip
        self._options, self._source, self._exam, self._results = options, source, exam, results
        self._candidate, self._key = candidate, key
        self._developer, self._model, self._spec = _model_of(candidate, options.developer)
        self._times = [_seconds(source.answered_at(exam, key)[1]), _seconds(made_at)]
        state = f"{source.state(exam, key)} {options.developer} {options.organization} {options.relationship}"
        number = uuid.uuid4() if options.redact else uuid.uuid5(_NAMES, state)
        self._uuid = uuid.UUID(bytes=number.bytes, version=4)  # the schema takes no other version
        self._id = f"{exam.name}/{self._developer}/{self._model}/{self._times[1]}"

    def write(self, files: ExportedFiles) -> None:
        """Write both files; none where there is no line."""
        folder = "/".join(folder_name(n) for n in ("data", self._exam.name, self._developer, self._model))
        name, digest, n = f"{folder}/{self._uuid}_samples.jsonl", hashlib.sha256(), 0
        lines = self._lines(files)
        first = next(lines, None)
        if first is None:
            return
        with new_bytes(files.new(name)) as stream:
            for line in chain([first], lines):
                data = f"{json_text(line)}\n".encode("utf-8", "replace")
                digest.update(data)
                stream.write(data)
                n += 1
        body = self._aggregate() | {
            "detailed_evaluation_results": {
                "format": "jsonl", "file_path": name, "hash_algorithm": "sha256",
                "checksum": digest.hexdigest(), "total_rows": n,
            }
        }  # fmt: skip
        with files.text(f"{folder}/{self._uuid}.json") as text:
            text.write(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
        files.add(name, n, self._exam.name, self._candidate)
        files.add(f"{folder}/{self._uuid}.json", len(self._results), self._exam.name, self._candidate)

    def _aggregate(self) -> dict[str, Any]:
        evaluated, retrieved = self._times
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self._id,
            "evaluation_timestamp": evaluated,
            "retrieved_timestamp": retrieved,
            "source_metadata": {
                "source_name": "vivavoce", "source_type": "evaluation_run",
                "source_organization_name": self._options.organization,
                "evaluator_relationship": self._options.relationship,
            },
            "eval_library": {"name": "vivavoce", "version": __version__},
            "model_info": {
                "name": self._model, "id": f"{self._developer}/{self._model}", "developer": self._developer,
                "additional_details": {
                    "deployment_type": "unknown", "model_availability": "unknown",
                    "candidate": self._candidate,
                },
            },
            "evaluation_results": [self._result(result) for result in self._results.values()],
        }  # fmt: skip

    def _result(self, result: _Result) -> dict[str, Any]:
        measure, row, card = result.measure, result.estimate, self._exam.card
        c = measure.criterion
        settings = parse(measure.metric).settings
        interval = {"lower": row["low"], "upper": row["high"], "confidence_level": 0.95}
        counts = {name: str(row[name]) for name in _COUNTS}
        config = {
            "evaluation_description": f"{c.criterion} of {measure.metric}",
            "metric_id": f"vivavoce.{parse(measure.metric).name}.{c.criterion}", "metric_name": result.name,
            "metric_parameters": {n: v if _is_plain(v) else show(v) for n, v in settings.items()},
            "lower_is_better": c.direction == "lower", "score_type": "continuous",
            "min_score": c.low, "max_score": c.high,
            "additional_details": filled({"signature": measure.signature, "rater": measure.rater}),
        }  # fmt: skip
        arguments = {
            name: value
            for name, kinds in _ARGUMENTS.items()
            if isinstance(value := self._spec.settings.get(name), kinds) and not isinstance(value, bool)
        }
        return {
            "evaluation_result_id": result.name,
            "evaluation_name": self._exam.name,
            "source_data": {
                "dataset_name": self._exam.name, "source_type": "other",
                "additional_details": {"licence": card.licence},
            },
            "metric_config": config,
            "score_details": {
                "score": row["estimate"],
                "details": {**counts, "if_unanswered": c.if_unanswered},
                "uncertainty": {"num_samples": row["n_items"]}
                | ({"confidence_interval": interval} if None not in interval.values() else {}),
            },
        } | ({"generation_config": {"generation_args": arguments}} if arguments else {})  # fmt: skip

    def _lines(self, files: ExportedFiles) -> Iterator[dict[str, Any]]:
        """A line for each answer and measure with a score."""
        for answer in self._source.answers(self._exam, self._key):
            scores: dict[int, list[float]] = defaultdict(list)
            without: dict[int, str] = {}
            for score in answer.scores:
                if score.unit is not None:
                    files.left_out["scores: of a unit of an answer"] += 1
                elif score.value is None:
                    without[score.measure] = score.status
                else:
                    scores[score.measure].append(score.value)
            if not answer.scores:
                files.left_out["samples: not scored"] += 1
            for key, status in without.items():
                files.left_out[f"samples: {status.replace('_', ' ')}"] += key not in scores
            for key, values in scores.items():
                if key in self._results and answer.text is not None:
                    yield self._line(answer, self._results[key], math.fsum(values) / len(values))
                else:
                    files.left_out["samples: of a measure without an estimate"] += 1

    def _line(self, answer: Answer, result: _Result, score: float) -> dict[str, Any]:
        item, question = answer.item, with_context(answer.item)
        key, best = key_texts(item), result.measure.criterion.best
        sent, n = answer.input_tokens, answer.tokens
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self._id,
            "model_id": f"{self._developer}/{self._model}",
            "evaluation_name": self._exam.name,
            "evaluation_result_id": result.name,
            "sample_id": self._exam.id_of(item),
            "sample_hash": _sha256(question + json_text(key)),
            "interaction_type": "single_turn",
            "input": {"raw": question, "reference": key, "choices": list(item.options) or None},
            "output": {
                "raw": [answer.text or ""],
                "reasoning_trace": [answer.reasoning] if answer.reasoning else None,
            },
            "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": best is not None and score == best},
            "token_usage": None if sent is None or n is None
            else {"input_tokens": sent, "output_tokens": n, "total_tokens": sent + n},
            "performance": None if answer.seconds is None else {"latency_ms": answer.seconds * 1000},
            "metadata": filled(
                {
                    "repeat": str(answer.repeat), "category": item.category, "group": item.group,
                    "variant": item.variant,
                }
            ),
        }  # fmt: skip


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _model_of(candidate: str, developer: str | None) -> tuple[str, str, Spec]:
    """Developer and model: the last two parts of a name; 'unknown' where it has one."""
    spec = Spec("label")
    name = candidate
    with suppress(SpecError):  # a label need not be a spec
        spec = parse(candidate)
        name = spec.name
    *before, model = [part for part in name.split("/") if part] or [name]
    return developer or (before[-1] if before else "unknown"), model, spec


def _seconds(moment: str) -> str:
    """A moment of the run, in UTC, as seconds since 1970."""
    return str(int(datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
