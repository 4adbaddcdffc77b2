"""Logs of Inspect: one for each benchmark and candidate, as `.eval` or `.json`.

They are what `inspect_ai.log.read_eval_log` reads and `inspect view` shows (format 2, inspect_ai 0.3.285).
"""

import json
import shutil
import uuid
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce._version import __version__
from vivavoce.core.private_files import new_bytes, new_text
from vivavoce.core.records import Role
from vivavoce.core.registry import exporter
from vivavoce.run.exchange.tool_files.answers import Exam, ExportSource, ToolExport, mean_estimates
from vivavoce.run.exchange.tool_files.asked import file_slug
from vivavoce.run.exchange.tool_files.files import (
    ExportedFiles,
    json_text,
)
from vivavoce.run.exchange.tool_files.inspect_samples import sample_of, summary_of
from vivavoce.run.exchange.tool_files.inspect_scores import (
    OURS,
    Scorers,
    declared_scorers,
    results_of,
    scorers_of,
)
from vivavoce.store.view import View

_VERSION = 2
"""The version of the log format."""
_MADE = (1980, 1, 1, 0, 0, 0)
"""The time of every member: the same log has the same bytes."""
_NAMES = uuid.UUID("5b3c5a4e-6d0f-5d0a-9a52-5b1f2f0c7a11")
_ABOUT = """
Logs of Inspect, one for each benchmark and candidate: `inspect view --log-dir FOLDER` shows them.
Repeats are epochs, failed responses are errors of samples, and what has no score is NaN with a reason.
The metadata named vivavoce hold items, responses and scores as the run holds them; intervals stand with the
metrics. `viva import RUN FOLDER --from inspect` reads them.
"""


class _Log(NamedTuple):
    """What a log is about: an exam, a candidate and the scorers."""

    exam: Exam
    candidate: str
    key: int
    role: Role
    scorers: Scorers
    evaluation: str
    times: tuple[str, str]


@exporter("inspect")
class InspectLogs(ToolExport):
    """Logs of Inspect, with our scores, statuses and intervals: one for each benchmark and candidate."""

    candidate: str | None = None
    log_format: Literal["eval", "json"] = "eval"
    readme = _ABOUT
    no_file = " holds no answers in words that a log could hold."

    def write_exams(self, view: View, source: ExportSource, files: ExportedFiles) -> None:
        """A log for each candidate."""
        estimates = tuple(mean_estimates(view, self.items).values())
        name, scorers = source.named(self.candidate), scorers_of(source.measures)
        for exam in source.exams():
            for candidate, (key, role) in source.candidates(exam, name).items():
                identity, times = _identity(source, exam, key, self.redact), source.answered_at(exam, key)
                log = _Log(exam, candidate, key, role, scorers, identity, times)
                self._write_log(files, source, log, estimates)

    def _write_log(
        self, files: ExportedFiles, source: ExportSource, log: _Log, estimates: Sequence[Mapping[str, Any]]
    ) -> None:
        """Write one log; no file for a candidate without an answer in words."""
        counts: Counter[str] = Counter()
        samples = _counted(
            (
                sample_of(answer, log.exam.id_of(answer.item), log.candidate, log.scorers)
                for answer in source.answers(log.exam, log.key)
            ),
            counts,
        )
        first = next(samples, None)
        if first is None:
            return
        name = _file_name(log, self.log_format)
        written = _write_archive if self.log_format == "eval" else _write_json
        written(files.new(name), first, samples, lambda: _header(log, counts, estimates))
        files.add(name, counts["samples"], log.exam.name, log.candidate)


def _identity(source: ExportSource, exam: Exam, candidate: int, redact: bool) -> str:
    """The id of an evaluation: the same for the same answers and scores; a new one for hidden texts."""
    return uuid.uuid4().hex if redact else uuid.uuid5(_NAMES, source.state(exam, candidate)).hex


def _file_name(log: _Log, suffix: str) -> str:
    """A name as Inspect gives it: time, task, id."""
    stamp = log.times[0][:19].replace(":", "-")
    words = f"{file_slug(log.exam.name)}-{file_slug(log.candidate)}"
    return f"{stamp}_{words}_{log.evaluation[:22]}.{suffix}"


def _counted(samples: Iterable[dict[str, Any]], counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The samples, and in `counts` how many there are, with epochs, errors, and scores by scorer."""
    for sample in samples:
        counts["samples"] += 1
        counts["epochs"] = max(counts["epochs"], sample["epoch"])
        counts["errors"] += "error" in sample
        for name, usage in sample["model_usage"].items():
            for kind, n in usage.items():
                counts[f"usage {name} {kind}"] += n
        for name, score in sample["scores"].items():
            values = score["value"].values() if isinstance(score["value"], dict) else [score["value"]]
            counts[f"{'scored' if all(v == v for v in values) else 'unscored'} {name}"] += 1
        yield sample


def _header(log: _Log, counts: Counter[str], estimates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The log without its samples."""
    exam, candidate, first = log.exam, log.candidate, log.times[0]
    ids = list(exam.ids.values())
    kinds = ("input_tokens", "output_tokens", "total_tokens", "total_cost")
    usage = {kind: n for kind in kinds if (n := counts.get(f"usage {candidate} {kind}")) is not None}
    return {
        "version": _VERSION,
        "status": "success",
        "eval": {
            "eval_id": log.evaluation, "run_id": log.evaluation, "created": first,
            "task": exam.name, "task_id": uuid.uuid5(_NAMES, exam.entry.signature).hex,
            "task_version": 0, "task_display_name": exam.name, "task_attribs": {}, "task_args": {},
            "dataset": {"name": exam.name, "samples": len(ids), "sample_ids": ids, "shuffled": False},
            "model": candidate, "model_generate_config": {}, "model_args": {},
            "config": {"epochs": counts["epochs"], "epochs_reducer": ["mean"]},
            "packages": {OURS: __version__},
            "scorers": declared_scorers(log.scorers),
            "metadata": {
                OURS: {
                    "version": __version__, "benchmark": exam.name, "licence": exam.card.licence,
                    "candidate": candidate, "role": log.role,
                }
            },
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": results_of(exam.name, candidate, log.scorers, counts, estimates),
        "stats": {
            "started_at": first, "completed_at": log.times[1],
            "model_usage": {candidate: usage} if usage else {}, "role_usage": {},
        },
    }  # fmt: skip


def _write_json(path: Path, first: dict[str, Any], rest: Iterator[dict[str, Any]], header: Any) -> None:
    """Write a log as JSON. Its header counts the samples and stands before them: they wait in a file."""
    waiting = path.with_name(f"{path.name}.samples")
    try:
        with new_text(waiting) as stream:
            stream.write(json_text(first))
            stream.writelines(f",\n{json_text(sample)}" for sample in rest)
        head = json.dumps(header(), ensure_ascii=False, indent=1).removesuffix("\n}")
        with new_text(path) as log, waiting.open(encoding="utf-8") as stream:
            log.write(f'{head},\n "samples": [\n')
            shutil.copyfileobj(stream, log)
            log.write("\n]\n}\n")
    finally:
        waiting.unlink(missing_ok=True)


def _write_archive(path: Path, first: dict[str, Any], rest: Iterator[dict[str, Any]], header: Any) -> None:
    """Write a log as an archive, a member for each sample; summaries wait in a file until all are there."""
    waiting = path.with_name(f"{path.name}.summaries")
    try:
        with new_bytes(path) as file, zipfile.ZipFile(file, "w") as archive:
            with new_text(waiting) as stream:
                stream.write("[")
                for number, sample in enumerate(chain([first], rest)):
                    name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
                    archive.writestr(_member(name), json_text(sample))
                    stream.write(f"{',' if number else ''}\n{json_text(summary_of(sample))}")
                stream.write("\n]\n")
            with archive.open(_member("summaries.json"), "w") as to, waiting.open("rb") as summaries:
                shutil.copyfileobj(summaries, to)
            head = header()
            start = {name: head[name] for name in ("version", "eval", "plan")}
            archive.writestr(_member("_journal/start.json"), json_text(start))
            archive.writestr(_member("header.json"), json_text(head))
    finally:
        waiting.unlink(missing_ok=True)


def _member(name: str) -> zipfile.ZipInfo:
    """A member that is compressed by deflate, which every reader of archives knows, Inspect's too."""
    entry = zipfile.ZipInfo(name, date_time=_MADE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry
