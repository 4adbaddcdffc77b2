"""HealthBench as simple-evals writes it: the exam, and the results of candidates that were scored by points.

The layout is that of github.com/openai/simple-evals at ee3b031. It has no place for a point that could not be
scored, so that such an answer is left out and counted.
"""

import hashlib
import json
import math
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.errors import SelectionError
from vivavoce.core.private_files import new_text
from vivavoce.core.records import Item, Measure, Unit
from vivavoce.core.registry import exporter
from vivavoce.run.exchange.tool_files.answers import Answer, Exam, ExportSource, ToolExport
from vivavoce.run.exchange.tool_files.asked import file_slug, folder_name, messages_of
from vivavoce.run.exchange.tool_files.files import ExportedFiles, json_text
from vivavoce.run.tables.load import refuse_retired
from vivavoce.store.view import View

_DRAWS, _SEED = 1000, 0
"""How often answers are drawn anew for the standard deviation of a mean, and by which seed."""
_ABOUT = """
HealthBench as simple-evals writes it, a folder for each benchmark.
  input.jsonl                              the conversations with their criteria and points
  healthbench_MODEL_allresults.json        of each candidate whose answers were scored by all criteria: the
                                           clipped mean, and which criteria each answer meets
"""


class _Graded(NamedTuple):
    """An answer whose every criterion was scored: which are met, with the grader's words."""

    answer: Answer
    met: tuple[bool, ...]
    notes: tuple[str, ...]


@exporter("healthbench")
class HealthBenchFiles(ToolExport):
    """Questions with rubrics and their results in HealthBench's layout.

    `metric` and `rater` name whose scores of criteria are meant, where there are several.
    """

    candidate: str | None = None
    metric: str | None = None
    rater: str | None = None
    name, readme, texts = "healthbench", _ABOUT, "a conversation is texts"
    no_file = " holds no question with a rubric of points."

    def write_exams(self, view: View, source: ExportSource, files: ExportedFiles) -> None:
        """The questions of each exam, and the results of candidates that were scored by points."""
        if self.metric:
            refuse_retired(view, self.metric, self.rater)
        measure, name = self._measure(source), source.named(self.candidate)
        for exam in source.exams():
            if _write_input(exam, files) and measure is not None:
                for candidate, (key, _) in source.candidates(exam, name).items():
                    _write_results(exam, candidate, _graded(source, exam, key, measure, files), files)

    def _measure(self, source: ExportSource) -> int | None:
        """The measure that scores criteria; null for none.

        Raises `SelectionError` for several, or where none is named so.
        """
        measures = {key: measure for key, measure in source.measures.items() if self._is_named(measure)}
        keys = {key: f"{m.metric} by {m.rater}" if m.rater else m.metric for key, m in measures.items()}
        if len(keys) > 1:
            names = ", ".join(dict.fromkeys(keys.values()))
            raise SelectionError(f"several score criteria ({names}): --metric and --rater say which.")
        if not keys and (self.metric or self.rater):
            raise SelectionError(f"nothing of that name scores criteria: {self.metric or self.rater}.")
        return next(iter(keys), None)

    def _is_named(self, measure: Measure) -> bool:
        """Whether a measure scores pieces of an answer, and is the one that the user means."""
        names = (None, measure.metric, f"{measure.metric}:{measure.criterion.criterion}")
        is_meant = self.metric in names and self.rater in (None, measure.rater)
        return is_meant and measure.criterion.pool == "unit"


def _write_input(exam: Exam, files: ExportedFiles) -> int:
    """Write the questions that have a rubric, and count the others; how many they are."""
    items = [item for item in exam.items.values() if item.rubric]
    files.left_out["questions: without a rubric of points"] += len(exam.items) - len(items)
    if items:
        name = f"{folder_name(exam.name)}/input.jsonl"
        with files.text(name) as stream:
            for item in items:
                row = {
                    "prompt_id": exam.id_of(item), "prompt": messages_of(item),
                    "rubrics": [_criterion(item, unit) for unit in item.rubric],
                    "example_tags": _tags(item), "ideal_completions_data": _ideal(item),
                }  # fmt: skip
                stream.write(f"{json_text(row)}\n")
        files.add(name, len(items), exam.name)
    return len(items)


def _criterion(item: Item, unit: Unit) -> dict[str, Any]:
    axes = item.meta.get("axes")
    axis = axes.get(unit.unit) if isinstance(axes, Mapping) else None
    weight = unit.weight
    points = (
        int(weight) if weight is not None and float(weight).is_integer() else weight
    )  # as they are published
    return {"criterion": unit.text, "points": points, "tags": [f"axis:{axis}"] if axis else []}


def _tags(item: Item) -> list[str]:
    tags = item.meta.get("tags")
    others = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list | tuple) else []
    return [*([f"theme:{item.category}"] if item.category else []), *others]


def _ideal(item: Item) -> dict[str, Any] | None:
    if not item.references:
        return None
    return {
        "ideal_completion": item.references[0], "ideal_completions_group": None,
        "ideal_completions_ref_completions": None,
    }  # fmt: skip


def _graded(
    source: ExportSource, exam: Exam, candidate: int, measure: int, files: ExportedFiles
) -> Iterator[_Graded]:
    """The answers of which every criterion has a score, of the first pass; the others are counted."""
    for answer in source.answers(exam, candidate):
        rubric = answer.item.rubric
        points = _points(answer, measure)
        if answer.text is None or len(points) < len(rubric):
            files.left_out["answers: a criterion has no score"] += 1
        elif any((unit.weight or 0) > 0 for unit in rubric):
            yield _Graded(answer, tuple(met for met, _ in points), tuple(note for _, note in points))
        elif rubric:
            files.left_out["answers: no point can be reached"] += 1


def _points(answer: Answer, measure: int) -> list[tuple[bool, str]]:
    """Whether each criterion that has a score is met, with the note on it, in the rubric's order."""
    scores = {
        (score.unit.unit, score.unit.text): (score.value >= 0.5, score.note or "")
        for score in answer.scores
        if score.measure == measure and score.unit and score.pass_no == 1 and score.value is not None
    }
    names = [(unit.unit, unit.text) for unit in answer.item.rubric]
    return [scores[name] for name in names if name in scores]


def _write_results(exam: Exam, candidate: str, graded: Iterator[_Graded], files: ExportedFiles) -> None:
    """Write the results of a candidate: figures first, which wait until every answer was read."""
    stem = f"{folder_name(exam.name)}/healthbench_{file_slug(candidate)}"
    name = f"{files.unused(stem, '_allresults.json')}_allresults.json"
    values: dict[str, list[float]] = defaultdict(list)
    path = files.new(name)
    waiting = [path.with_name(f"{path.name}.{part}") for part in ("convos", "examples")]
    try:
        with new_text(waiting[0]) as convos, new_text(waiting[1]) as examples:
            for n, entry in enumerate(graded):
                example = _example(exam.id_of(entry.answer.item), entry)
                for tag, score in _scores(entry).items():
                    values[tag].append(score)
                separator = ",\n" if n else ""
                convos.write(f"{separator}{json_text([*example['prompt'], *example['completion']])}")
                examples.write(f"{separator}{json_text(example)}")
        if not values:
            return
        metrics = dict(_metrics(values))
        with new_text(path) as stream:
            head = json.dumps({"score": metrics["overall_score"], "metrics": metrics, "htmls": []}, indent=1)
            stream.write(f'{head.removesuffix("}").rstrip()},\n "convos": [\n')
            with waiting[0].open(encoding="utf-8") as convos:
                shutil.copyfileobj(convos, stream)
            stream.write('\n ],\n "metadata": {"example_level_metadata": [\n')
            with waiting[1].open(encoding="utf-8") as examples:
                shutil.copyfileobj(examples, stream)
            stream.write("\n ]}\n}\n")
    finally:
        for file in waiting:
            file.unlink(missing_ok=True)
    files.add(name, len(values["overall_score"]), exam.name, candidate)


def _example(identity: str, entry: _Graded) -> dict[str, Any]:
    """What is kept of one answer."""
    item, text, n = entry.answer.item, entry.answer.text or "", entry.answer.tokens
    names = (
        "input_tokens",
        "input_cached_tokens",
        "output_tokens",
        "output_reasoning_tokens",
        "total_tokens",
    )
    usage = dict.fromkeys(names) | {"input_tokens": entry.answer.input_tokens, "output_tokens": n}
    criteria = zip(item.rubric, entry.met, entry.notes, strict=True)
    return {
        "score": _scores(entry)["overall_score"],
        "usage": usage,
        "rubric_items": [
            {**_criterion(item, unit), "criteria_met": met, "explanation": note}
            for unit, met, note in criteria
        ],
        "prompt": messages_of(item),
        "completion": [{"content": text, "role": "assistant"}],
        "prompt_id": identity,
        "completion_id": hashlib.sha256(f"{identity}{text}".encode("utf-8", "surrogatepass")).hexdigest(),
    }


def _scores(entry: _Graded) -> dict[str, float]:
    """The share of the points that an answer reaches, which may be negative: of all, and by tag."""
    item = entry.answer.item
    scores: dict[str, float] = {}
    points = [(unit.weight or 0.0, met) for unit, met in zip(item.rubric, entry.met, strict=True)]
    if (share := _share(points)) is not None:
        scores = {"overall_score": share, **dict.fromkeys(_tags(item), share)}
    by_axis: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for unit, point in zip(item.rubric, points, strict=True):
        for tag in _criterion(item, unit)["tags"]:
            by_axis[tag].append(point)
    shares = {tag: _share(entries) for tag, entries in by_axis.items()}
    return scores | {tag: of_axis for tag, of_axis in shares.items() if of_axis is not None}


def _share(points: Sequence[tuple[float, bool]]) -> float | None:
    """Points reached over those that can be; null where none can."""
    possible = math.fsum(weight for weight, _ in points if weight > 0)
    return math.fsum(weight for weight, met in points if met) / possible if possible else None


def _metrics(values: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, float]]:
    """Clipped means with the number of answers, and the standard deviation of means that are drawn anew."""
    import numpy as np

    from vivavoce import stats

    for tag, scores in values.items():
        rng, points, n = stats.seeded_rng(_SEED), np.asarray(scores), len(scores)
        means = [np.clip(points[stats.random_indices(rng, n, n)].mean(), 0, 1) for _ in range(_DRAWS)]
        yield tag, float(np.clip(np.mean(scores), 0, 1))
        yield f"{tag}:n_samples", len(scores)
        yield f"{tag}:bootstrap_std", float(np.std(means))
