"""Logs of Inspect: `.eval` archives and `.json` files."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import members
from vivavoce.core.registry import log_reader
from vivavoce.core.text import one_line
from vivavoce.models.content import thinking_text
from vivavoce.models.replies import stated_usage
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    category_in,
    content_text,
    item_of,
    key_texts,
    keyed,
    messages_of,
    name_or_empty,
    need,
    number_or_null,
    part,
    question_of,
    rows_in,
    texts,
    whole_number,
    without_reasoning,
)
from vivavoce.run.exchange.logs.files import members_before, start_of
from vivavoce.run.exchange.logs.inspect_archive import attached, header, member, open_archive
from vivavoce.run.exchange.logs.inspect_marks import Scorers
from vivavoce.run.exchange.logs.inspect_ours import OURS, restored
from vivavoce.run.exchange.recorded_log import RecordedLog, RecordedLogReader, Sample

NEWEST = 2
"""The newest version of the log format that is read."""
_READ = ("id", "epoch", "input", "choices", "target", "metadata", "output", "error", "scores")
"""What is read of a sample. Its events are most of it, and are not."""


@log_reader("inspect")
class InspectLog(RecordedLogReader):
    """An evaluation of one task by one model, in epochs."""

    describes: ClassVar[str] = ".eval and .json"

    def knows(self, path: Path) -> bool:
        """An archive with a header or a journal; JSON that begins with a version and an evaluation."""
        if path.suffix.lower() == ".eval":
            return zipfile.is_zipfile(path) or start_of(path) == ""
        start = start_of(path)
        return path.suffix.lower() == ".json" and all(
            f'"{n}"' in start for n in ("eval", "task_id", "run_id")
        )

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file."""
        head = header(path) if path.suffix.lower() == ".eval" else members_before(path, "samples")
        of_eval = need(head, "eval", str(path))
        if (whole_number(head.get("version", 0)) or 0) > NEWEST:
            raise InputError(
                f"{path}: a log of version {head['version']}, and versions up to {NEWEST} are read: update "
                "vivavoce, or have `inspect log convert` write an older one."
            )
        notes = []
        if head.get("status", "started") != "success":
            notes.append(f"{path.name}: the evaluation ended as {head.get('status', 'started')!r}.")
        steps = json.dumps(head.get("plan") or {})
        if "multiple_choice" in steps:
            notes.append("Inspect's multiple_choice rewrites an answer that it reads, as 'ANSWER: A'.")
        yield RecordedLog(
            tool="inspect",
            version=(of_eval.get("packages") or {}).get("inspect_ai"),
            task=str(need(of_eval, "task", str(path), str)),
            candidate=name_or_empty(of_eval.get("model")),
            files=(path,),
            samples=partial(_samples, path, str(of_eval["task"]), Scorers.of(of_eval)),
            evaluation=name_or_empty(of_eval.get("eval_id")),
            settings={"generation": of_eval.get("model_generate_config") or None},
            notes=tuple(notes),
        )


def _samples(path: Path, task: str, scorers: Scorers) -> Iterator[Sample]:
    if path.suffix.lower() != ".eval":
        rows = (row for name, row in members(path, "samples") if name == "samples")
        for number, row in enumerate(rows, 1):
            yield _sample(row, f"{path}, sample {number}", task, scorers)
        return
    with open_archive(path) as archive:
        for name in archive.namelist():
            if re.fullmatch(r"samples/.+\.json", name):
                yield _sample(member(path, archive, name), f"{path}, {name}", task, scorers)


def _sample(row: Any, place: str, task: str, scorers: Scorers) -> Sample:
    row = _with_id(row, place)
    row = attached({name: row[name] for name in _READ if name in row}, part(row, "attachments"))
    options = texts(row.get("choices"))
    output, error = part(row, "output"), row.get("error")
    first = next(iter(rows_in(output, "choices")), {})
    reason = first.get("stop_reason")
    content = part(first, "message").get("content") if first and not error else None
    sample = Sample(
        where=place,
        item=item_of(
            task,
            str(row["id"]),
            question_of(row["input"], place),
            messages=messages_of(row["input"]),
            category=category_in(part(row, "metadata")),
            **keyed(options, key_texts(row.get("target"), options)),
        ),
        repeat=_epoch(row, place),
        **answer_fields(
            content_text(without_reasoning(content)) if first and not error else None,
            part(row, "error").get("message", error or output.get("error")),
            reason,
        ),
        reasoning=thinking_text(content),
        tokens=stated_usage(output).output,
        seconds=number_or_null(output.get("time")),
        marks=tuple(scorers.marks(part(row, "scores"), place)),
    )
    ours = part(row, "metadata", OURS)
    # A sample of our tasks holds an item alone, for its scorer; our exports hold what a run held.
    return restored(sample, ours) if isinstance(ours.get("response"), dict) else sample


def _with_id(row: Any, place: str) -> Mapping[str, Any]:
    """The row. Raises `InputError` where it is no sample."""
    if not isinstance(row, dict) or "id" not in row or "input" not in row:
        raise InputError(f"{place}: no sample with an id and an input: have the log written again.")
    return row


def _epoch(row: Mapping[str, Any], place: str) -> int:
    epoch = row.get("epoch", 1)
    if not whole_number(epoch):
        raise InputError(f"{place}: epoch must be a whole number from 1, not {one_line(repr(epoch), 40)}.")
    return int(epoch)
