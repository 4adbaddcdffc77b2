"""Logs of promptfoo: the JSON that `promptfoo eval -o out.json` writes, of any version, and its CSV."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from vivavoce.core.delimited import delimited_rows, delimiter_of
from vivavoce.core.encodings import encoding_of
from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import members
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    item_of,
    mark_of,
    name_or_empty,
    need,
    part,
    rows_in,
)
from vivavoce.run.exchange.logs.files import first_row, start_of
from vivavoce.run.exchange.logs.mapping import Fields, MappedLog, Names, json_cell, number_in, value_at
from vivavoce.run.exchange.recorded_log import LeftOut, Mark, RecordedLog, Sample, safe_name

_LISTS = ("results.results", "results")
"""Where the results are: of version 1 some files have them at the top."""
_ERROR = 2
"""`failureReason` of a result without an answer; 1 is an assertion that failed, which is a score."""
_OUTPUT = re.compile(r"\[(?P<provider>[^\]]+)\] ?(?P<prompt>.*)", re.DOTALL)
_VERDICT = re.compile(r"\[(PASS|FAIL|ERROR)\] ?", re.DOTALL)


@log_reader("promptfoo")
class PromptfooResults(MappedLog):
    """Results of several providers and prompts; a repeat is another test with the same variables."""

    tool: ClassVar[str] = "promptfoo"
    describes: ClassVar[str] = "the JSON of promptfoo eval -o"
    endings: ClassVar[Names] = (".json",)
    fields: ClassVar[Fields] = Fields(
        candidate=("provider.label", "provider.id", "provider"),
        tokens=("response.tokenUsage.completion",),
        milliseconds=("latencyMs",),
        cost=("cost",),
    )

    def knows(self, path: Path) -> bool:
        """JSON that begins with results, and the id of an evaluation or the version of a layout."""
        start = start_of(path)
        of_version = '"version"' in start and ('"vars"' in start or '"prompts"' in start)
        return path.suffix.lower() == ".json" and '"results"' in start and ('"evalId"' in start or of_version)

    def head(self, path: Path) -> RecordedLog:
        """One exam, answered by each provider to each prompt."""
        run = {name: value for name, value in members(path, *_LISTS) if name not in _LISTS}
        labels = list(dict.fromkeys(str(p.get("label")) for p in rows_in(run, "results.prompts")))
        several = f"{len(labels)} prompts: a candidate is a provider with the number of its prompt."
        return RecordedLog(
            tool=self.tool,
            version=part(run, "metadata").get("promptfooVersion"),
            task=name_or_empty((run.get("config") or {}).get("description")) or "promptfoo",
            files=(path,),
            evaluation=name_or_empty(run.get("evalId")),
            settings={"prompts": labels},
            notes=(several,) if len(labels) > 1 else (),
        )

    def rows(self, path: Path) -> Iterator[Line]:
        """The results, numbered."""
        rows = (row for name, row in members(path, *_LISTS) if name in _LISTS)
        for number, row in enumerate(rows, 1):
            place = f"{path}, result {number}"
            yield Line(place, need({"result": row}, "result", place))

    def samples(self, line: Line, log: RecordedLog) -> Iterable[Sample | LeftOut]:
        """The answer to one prompt; of version 1 an error without an output is a failure."""
        row, place = line.row, line.where
        if not isinstance(row.get("provider"), str):
            need(row, "provider", place)
        sample, output = self.answer(line), part(row, "response").get("output")
        failed = row.get("failureReason") == _ERROR or (output is None and bool(row.get("error")))
        name = sample.candidate
        if len(log.settings["prompts"]) > 1:
            name = f"{name}, prompt {row.get('promptIdx', 0) + 1}"
        text = output if output is None or isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        fields = {name: getattr(sample, name) for name in ("tokens", "seconds", "cost")}
        return (
            Sample(
                where=place,
                item=item_of(log.task, *_item(need(row, "vars", place), part(row, "prompt").get("raw"))),
                candidate=name,
                **answer_fields(None if failed else text, row.get("error")),
                **fields,
                marks=() if failed else _marks(row),
            ),
        )


def _item(variables: Mapping[str, Any], prompt: Any) -> tuple[str, str]:
    """Id and question by the variables; the prompt is the question where no variable is named so."""
    question = variables.get("question")
    identity = name_or_empty(value_at(variables, ("id", "item")))
    return identity, question if isinstance(question, str) else str(prompt)


def _marks(row: Mapping[str, Any]) -> tuple[Mark, ...]:
    """A score for each assertion, named by its metric or type; several of one name are numbered.

    Version 1 may have the score of the whole result alone.
    """
    results = rows_in(part(row, "gradingResult"), "componentResults")
    if not results and "gradingResult" not in row and "failureReason" not in row and "score" in row:
        return (mark_of("score", row["score"], low=0.0, high=1.0),)
    numbers: Counter[str] = Counter()
    marks = []
    for result in results:
        assertion = part(result, "assertion")
        name = safe_name(str(assertion.get("metric") or assertion.get("type")))
        numbers[name] += 1
        scorer = name if numbers[name] == 1 else f"{name}_{numbers[name]}"
        marks.append(mark_of(scorer, result.get("score"), result.get("reason"), low=0.0, high=1.0))
    return tuple(marks)


@log_reader("promptfoo_csv")
class PromptfooTable(MappedLog):
    """A row for each test, with a column for each provider and prompt, and what was said of it behind it."""

    tool: ClassVar[str] = "promptfoo"
    describes: ClassVar[str] = "the CSV of promptfoo eval -o"

    def knows(self, path: Path) -> bool:
        """Told by the column of an output: `[provider] prompt`."""
        return path.suffix.lower() == ".csv" and any(_OUTPUT.fullmatch(name) for name in first_row(path))

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The one log of the table."""
        log = RecordedLog(tool=self.tool, task=path.stem, files=(path,))
        yield replace(log, samples=partial(_of_table, path, log.task))


class _Column(NamedTuple):
    """The output of a provider to a prompt: its place, the place behind its verdict, and the candidate."""

    start: int
    end: int
    candidate: str


def _output_columns(header: Sequence[str]) -> list[_Column]:
    """The columns of outputs. A candidate is a provider, and its prompt by number if there are several."""
    outputs = {k: match for k, name in enumerate(header) if (match := _OUTPUT.fullmatch(name))}
    prompts = list(dict.fromkeys(match["prompt"] for match in outputs.values()))
    ends = [*list(outputs)[1:], len(header)]
    return [
        _Column(
            k,
            end,
            match["provider"]
            + (f", prompt {prompts.index(match['prompt']) + 1}" if len(prompts) > 1 else ""),
        )
        for (k, match), end in zip(outputs.items(), ends, strict=True)
    ]


def _of_table(path: Path, task: str) -> Iterator[Sample]:
    codec = encoding_of(path).codec
    rows = delimited_rows(path, codec, delimiter_of(path, codec))
    header = next(rows)[1]
    columns = _output_columns(header)
    names = header[: columns[0].start]
    for number, cells in rows:
        place = f"{path}, line {number}"
        if len(cells) != len(header):
            raise InputError(f"{place}: {len(cells)} fields where the header has {len(header)}.")
        variables = dict(zip(names, cells, strict=False))
        item = item_of(task, *_item(variables, next((variables[n] for n in names if n != "Description"), "")))
        for start, end, candidate in columns:
            verdict = dict(zip(header[start + 1 : end], cells[start + 1 : end], strict=True))
            yield Sample(where=place, item=item, candidate=candidate, **_output_fields(cells[start], verdict))


def _output_fields(cell: str, verdict: Mapping[str, str]) -> dict[str, Any]:
    """What came and its scores; earlier versions write the verdict in front of the text."""
    prefix = None if "Status" in verdict else _VERDICT.match(cell)
    if prefix:
        cell, verdict = cell[prefix.end() :], {"Status": prefix[1], "Score": str(float(prefix[1] == "PASS"))}
    reason = verdict.get("Grader Reason")
    if verdict.get("Status") == "ERROR":
        return answer_fields(None, reason or cell)
    scores = {"score": number_in(verdict.get("Score"))}
    if isinstance(named := json_cell(verdict.get("Named Scores")), dict):
        scores |= named
    marks = (
        mark_of(safe_name(name), value, reason, low=0.0, high=1.0)
        for name, value in scores.items()
        if value is not None
    )
    return {**answer_fields(cell), "marks": tuple(marks)}
