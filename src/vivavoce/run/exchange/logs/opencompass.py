"""Predictions of OpenCompass: `predictions/MODEL/DATASET.json`, with `results/MODEL/DATASET.json`."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.json_stream import members
from vivavoce.core.json_text import read_json_file
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.fields import mark_of, need, number_or_null
from vivavoce.run.exchange.logs.files import start_of
from vivavoce.run.exchange.logs.mapping import Fields, MappedLog, Names
from vivavoce.run.exchange.recorded_log import LeftOut, RecordedLog, Sample

_ROLES = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
_SCORES = ("correct", "score", "is_correct", "cascade_correct")


@log_reader("opencompass")
class OpenCompassPredictions(MappedLog):
    """An object by number of row; the folder names the model, the file the data set."""

    tool: ClassVar[str] = "opencompass"
    describes: ClassVar[str] = "predictions/MODEL/DATASET.json of OpenCompass, with its results"
    endings: ClassVar[Names] = (".json",)
    fields: ClassVar[Fields] = Fields(question=("prompt",), answer=("prediction",), key=("gold",))

    def knows(self, path: Path) -> bool:
        """Told by the prompt of the first row."""
        start = start_of(path).lstrip()
        return (
            path.suffix == ".json"
            and start.startswith("{")
            and '"0"' in start[:40]
            and '"origin_prompt"' in start
        )

    def head(self, path: Path) -> RecordedLog:
        """Model and data set by the path, and the file of results."""
        scores = _results(path)
        files = (path, scores) if scores.is_file() else (path,)
        notes = () if scores.is_file() else (f"{path.name} has no results beside it: no score was recorded.",)
        return RecordedLog(
            tool=self.tool, task=path.stem, candidate=path.parent.name, files=files, notes=notes
        )

    def rows(self, path: Path) -> Iterator[Line]:
        """The rows with their details in the results."""
        scores = _results(path)
        details = read_json_file(scores).get("details") if scores.is_file() else None
        for name, row in members(path):
            place = f"{path}, row {name}"
            row = need({"row": row}, "row", place)
            detail = _detail(details, name)
            yield Line(place, {**row, "prompt": _messages(row.get("origin_prompt")), "details": detail})

    def samples(self, line: Line, log: RecordedLog) -> Iterator[Sample | LeftOut]:
        """A sample for each prediction of a row."""
        predictions = line.row.get("prediction")
        several = predictions if isinstance(predictions, list) else [predictions]
        marks = tuple(
            mark_of(name, value, low=0.0, high=1.0 if isinstance(value, bool) else None)
            for name in _SCORES
            if number_or_null(value := line.row["details"].get(name)) is not None
        )
        for number, prediction in enumerate(several):
            for sample in super().samples(Line(line.where, {**line.row, "prediction": prediction}), log):
                if isinstance(sample, Sample) and number == 0:
                    sample = replace(sample, marks=marks)
                yield sample


def _results(path: Path) -> Path:
    """Where the results of these predictions are."""
    folders = path.parents
    return (
        folders[2] / "results" / folders[0].name / path.name if len(folders) > 2 else path.with_name("none")
    )


def _detail(details: Any, name: str) -> Mapping[str, Any]:
    """The details of a row, in an object by number or a list."""
    if isinstance(details, list) and name.isdecimal() and int(name) < len(details):
        details = {name: details[int(name)]}
    detail = details.get(name) if isinstance(details, Mapping) else None
    return detail if isinstance(detail, Mapping) else {}


def _messages(prompt: Any) -> Any:
    """A prompt as messages, as others write them; a text as it is."""
    if not isinstance(prompt, list):
        return prompt
    return [
        {"role": _ROLES.get(str(turn.get("role")), "user"), "content": turn.get("prompt")}
        for turn in prompt
        if isinstance(turn, Mapping)
    ]
