"""The files of the ClinIQLink challenge in: seven files of results become answers to an exam.

The published evaluation keys results by paragraph: where two items share one, the later overwrites the
earlier. Here an answer finds its question by id and hash, else by what stands in its input, never by its
place; and the gold that stands there is held against the exam's, never scored by.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vivavoce.benchmarks import Loaded
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Item
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line, is_file
from vivavoce.core.text import one_line
from vivavoce.formats import check
from vivavoce.run.exchange.log_readers import LogReader
from vivavoce.systems.cliniqlink.benchmark import PARTS, Part, fields_of, visible_part, visible_row
from vivavoce.systems.cliniqlink.exam_files import EXAM, entry, in_parts, refuse_others

_TEXTS = ("generated_text", "text")
"""Where a pipeline of the model hub leaves its text, the outer first."""


@log_reader("cliniqlink")
class ClinIQLinkResults(LogReader):
    """A folder with the result files of a ClinIQLink submission."""

    def accepts(self, path: Path, benchmark: Loaded) -> bool:
        """Any folder for the exam, and for another benchmark one with such a file: it gets a sentence."""
        is_exam = benchmark.items[0].benchmark.startswith("cliniqlink")
        return path.is_dir() and (is_exam or any(is_file(path / f"{part.kind}.json") for part in PARTS))

    def lines(self, path: Path, benchmark: Loaded) -> list[Line]:
        """The answers in the result files: rows of `item` and `text`, and `candidate` if the file names
        it.
        """
        return read_results(path, benchmark)

    def file_hash(self, path: Path, benchmark: Loaded) -> str:
        """The hashes of the result files that answer the benchmark, joined by hyphens."""
        return "-".join(file_hash(path / f"{part.kind}.json") for part, _ in in_parts(benchmark.items))


def read_results(folder: Path, exam: Loaded) -> list[Line]:
    """The answers in the result files of a folder.

    Read are the files of the formats that the exam has; they may answer a part of it. Raises `InputError`
    naming file and index: a file that is absent or broken, lists of other lengths, a question that the exam
    does not have or that comes twice, gold that is not the exam's, an answer that is no text.
    """
    refuse_others(exam)
    parts = list(in_parts(exam.items))
    _check_files(folder, parts, exam.spec)
    lines = [line for part, items in parts for line in part_answers(folder, part, items, exam.spec)]
    names = list(dict.fromkeys(line.row["candidate"] for line in lines if "candidate" in line.row))
    if len(names) > 1:
        raise InputError(f"{folder} mixes results of {' and '.join(names)}: give each a folder of its own.")
    return lines


def _check_files(folder: Path, parts: Sequence[tuple[Part, list[Item]]], spec: str) -> None:
    """Raise `InputError` if the file of a format is absent."""
    absent = [part.kind for part, _ in parts if not is_file(folder / f"{part.kind}.json")]
    if absent:
        present = [part.stem for part, _ in parts if part.kind not in absent]
        example = f"{EXAM}(data=DIR, files=[{', '.join(present)}])"
        hint = f" For those that are there write {example}." if present else ""
        raise InputError(
            f"{folder} lacks {', '.join(f'{kind}.json' for kind in absent)}: results are a file for each of "
            f"the {len(parts)} formats of {spec}.{hint} For a board, where what lacks counts as empty, "
            "`viva challenge import` takes them."
        )


def part_answers(folder: Path, part: Part, items: Sequence[Item], spec: str) -> Iterator[Line]:
    """The answers in the result file of one format. Raises `InputError` as `read_results`."""
    path = folder / f"{part.kind}.json"
    body = _read_body(path)
    candidate = {"candidate": body["candidate"]} if isinstance(body.get("candidate"), str) else {}
    exam = _Questions(part, items, spec)
    for index, (row, response) in enumerate(zip(body["inputs"], body["responses"], strict=True)):
        item = exam.take(row, f"{path}, inputs[{index}]")
        place = f"{path}, responses[{index}]"
        yield Line(place, {"item": item.item, "text": _text(response, place), **candidate})


def _read_body(path: Path) -> dict[str, Any]:
    """The object in a result file, whose lists `inputs`, `responses` and, if any, `prompts` are as long."""
    body = read_json_file(path)
    if not isinstance(body, dict) or not all(isinstance(body.get(k), list) for k in ("inputs", "responses")):
        raise InputError(f"{path}: a JSON object with the lists inputs and responses is needed.")
    inputs = body["inputs"]
    for name in ("responses", "prompts"):
        if name in body and (not isinstance(body[name], list) or len(body[name]) != len(inputs)):
            n = len(body[name]) if isinstance(body[name], list) else "no list of"
            raise InputError(
                f"{path}: {len(inputs)} inputs and {n} {name}: which belongs to which cannot be told. Have "
                "the file written again; an answer that is lacking is a null in its place."
            )
    return body


class _Questions:
    """The exam's questions of one format, each to be answered once."""

    def __init__(self, part: Part, items: Sequence[Item], spec: str) -> None:
        self._part, self._spec = part, spec
        self._named = {item.item: item for item in items}
        self._alike: dict[str, list[Item]] = defaultdict(list)
        for item in items:
            self._alike[visible_part(item).hash].append(item)
        self._taken: dict[str, str] = {}

    def take(self, row: Any, where: str) -> Item:
        """The question that an input is, from now on taken. Raises `InputError` where there is none."""
        try:
            digest = visible_row(self._part, "", row).hash
        except (ValueError, InputError) as error:
            raise InputError(f"{where} is no question of this format: {str(error).rstrip('.')}.") from None
        item = self._by_name(row, digest, where) if "hash" in row else self._by_content(row, digest, where)
        if item.item in self._taken:
            raise InputError(
                f"{where} asks {item.item} of {self._spec} a second time, after {self._taken[item.item]}: "
                "one question has one answer. Take one of the two out, with its response."
            )
        if not self._same_gold(row, item):
            keys = ", ".join(key for key in self._part.gold if key in row)
            raise InputError(
                f"{where}: its gold ({keys}) is not that of {item.item} in {self._spec}: these results were "
                "made on other data. Import them with the data they were made on, or without their gold."
            )
        self._taken[item.item] = where
        return item

    def _by_name(self, row: Mapping[str, Any], digest: str, place: str) -> Item:
        name = str(row.get("id"))
        if name not in self._named:
            raise InputError(f"{place}: {self._spec} has no {name!r}.{suggest(name, list(self._named))}")
        expected = visible_part(self._named[name]).hash
        if digest != expected or row["hash"] != expected:
            raise InputError(
                f"{place}: {name} is worded otherwise in {self._spec}: its hash is {expected} there, "
                f"{one_line(str(row['hash']), 20)} in the input, and {digest} by what stands there. Import "
                "it with the data that the questions were written from."
            )
        return self._named[name]

    def _by_content(self, row: Mapping[str, Any], digest: str, place: str) -> Item:
        """The item asked in these words: of several that on the paragraph, with the gold, and still free."""
        alike = self._alike.get(digest, [])
        if not alike:
            raise InputError(
                f"{place}: {self._spec} does not ask {one_line(str(row['question']), 60)!r} with these "
                "options or steps: import it with the data that it is from."
            )
        source = row.get("source")
        paragraph = source.get("paragraph_id") if isinstance(source, dict) else None
        for fits in (
            lambda item: paragraph is None or item.group == str(paragraph),
            lambda item: self._same_gold(row, item),
            lambda item: item.item not in self._taken,
        ):
            alike = list(filter(fits, alike)) or alike
        if len({_key(item) for item in alike}) > 1:
            raise InputError(
                f"{place} could be {' or '.join(item.item for item in alike)} of {self._spec}, which ask the "
                "same and have other keys: give it the id and the hash that `viva challenge questions` gives."
            )
        return alike[0]

    def _same_gold(self, row: Mapping[str, Any], item: Item) -> bool:
        """Whether what gold an input holds is the item's; it need not hold any, and a package has none."""
        if item.benchmark != EXAM or not self._part.gold.keys() & row.keys():
            return True
        gold_row = entry(item, gold=True)
        try:
            fields = fields_of(self._part.stem, {**gold_row, **row})
            return _key(check(Item(benchmark=EXAM, item=item.item, **fields))) == _key(item)
        except (ValueError, InputError):
            return False


def _key(item: Item) -> tuple[object, ...]:
    return tuple(sorted(item.answer)), item.references, item.step, item.steps


def _text(text: Any, place: str) -> str | None:
    """An answer as text: out of what a pipeline of the model hub wraps it in; null is a failed one."""
    response = text
    for _ in range(8):
        if text is None or isinstance(text, str):
            return text
        if isinstance(text, list) and len(text) == 1:
            text = text[0]
        elif isinstance(text, dict) and (name := next((n for n in _TEXTS if n in text), None)):
            text = text[name]
        else:
            break
    kind, excerpt = type(response).__name__, one_line(json.dumps(response, ensure_ascii=False), 60)
    raise InputError(
        f"{place} is no text but {kind}: {excerpt}. An answer is a text, an object with generated_text or "
        "text, or null where none came."
    )
