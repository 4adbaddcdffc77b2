"""HealthBench's meta-evaluation: completions whose points physicians called met or not."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.benchmarks.health.source_files import content_id
from vivavoce.core.conversations import read_messages, thread
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.records import Item, Unit
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line, read_lines
from vivavoce.run.exchange.logs.fields import need, text_or_null
from vivavoce.run.exchange.logs.files import start_of
from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample

TASK = "healthbench_meta"
PHYSICIAN = "physician"
_LABELS, _NAMES = "binary_labels", "anonymized_physician_ids"


@log_reader("healthbench_meta")
class HealthBenchMeta(RecordedLogReader):
    """Each row is a conversation with one point and a completion; each physician's label is a score of it."""

    describes: ClassVar[str] = "*_oss_meta_eval.jsonl of HealthBench, labels by physicians"

    def knows(self, path: Path) -> bool:
        """JSON lines whose first row has labels and names of physicians."""
        start = start_of(path)
        return path.suffix.lower() == ".jsonl" and all(f'"{name}"' in start for name in (_LABELS, _NAMES))

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file. It names no model: a completion is one of several to its conversation."""
        yield RecordedLog(
            tool=TASK,
            version=None,
            task=TASK,
            candidate="completions",
            files=(path,),
            samples=partial(_samples, path),
            notes=(
                f"{path.name}: the models behind the completions are not named. Hold a judge against the "
                f"physicians with `viva study RUN meta_evaluation`.",
            ),
        )


def _samples(path: Path) -> Iterator[Sample]:
    for line in read_lines(path):
        yield _sample(line)


def _sample(line: Line) -> Sample:
    row, place = line.row, line.where
    labels, names = need(row, _LABELS, place, list), need(row, _NAMES, place, list)
    if len(labels) != len(names) or not all(isinstance(label, bool) for label in labels):
        raise InputError(
            f"{place}: {_LABELS} and {_NAMES} are to be lists of one length, of true or false and of names."
        )
    return Sample(
        where=place,
        item=_item(row, place),
        text=text_or_null(row.get("completion"), place, "the completion"),
        status="ok" if row.get("completion") is not None else "failed",
        marks=tuple(
            Mark(scorer=PHYSICIAN, criterion="score", value=float(label), low=0.0, high=1.0, rater=str(name))
            for label, name in zip(labels, names, strict=True)
        ),
    )


def _item(row: dict[str, Any], place: str) -> Item:
    """The conversation with its one point, weight 1: the score of a response is whether it is met."""
    prompt, category = need(row, "prompt_id", place, str), need(row, "category", place, str)
    try:
        messages = read_messages(row.get("prompt"), f"{place}, prompt")
    except RowError as error:
        raise InputError(str(error)) from None
    point = need(row, "rubric", place, str)
    return Item(
        benchmark=TASK,
        item=f"{prompt}/{content_id(point)}",
        group=prompt,
        category=category,
        format="conversation",
        question=thread(messages),
        messages=messages,
        rubric=(Unit(unit="r1", text=point, weight=1.0),),
    )
