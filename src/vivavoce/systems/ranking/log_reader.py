"""The published argument files of CasiMedicos in: each file is a candidate, and each item answered once."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vivavoce.benchmarks import Loaded
from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.records import Item, Role
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line, is_file
from vivavoce.evaluators.proxy_task import NO_ARGUMENT
from vivavoce.run.exchange.log_readers import Log, LogReader
from vivavoce.studies.text import count
from vivavoce.systems.ranking.rotations import arguments_in, plain_label

_NAME = re.compile(r"(?P<split>[a-z]{2}\.[a-z]+)_casimedicos_(?P<source>\w+)\.jsonl")
_MOST_NAMED = 5


class _Source(NamedTuple):
    """The candidate that a published file is of, and the part that it plays."""

    candidate: str
    role: Role = "candidate"


_SOURCES = {
    "Expert": _Source("gold", "ceiling"),
    "GPT4": _Source("gpt4o"),
    "OpenBioLLM": _Source("openbiollm"),
    "Llama3": _Source("llama3"),
    "No_Argument": _Source("no_argument", "floor"),
    "Noise": _Source("noise", "floor"),
    "Label_Only": _Source("label_only", "floor"),
    "IR_Passages": _Source("ir_passages", "floor"),
}


@log_reader("casimedicos")
class CasiMedicosArguments(LogReader):
    """A folder of files such as en.test_casimedicos_GPT4.jsonl, or one of them."""

    def accepts(self, path: Path, benchmark: Loaded) -> bool:
        """Any folder for CasiMedicos, and a file that is named as the published ones."""
        if not benchmark.items[0].benchmark.startswith("casimedicos"):
            return False
        return _NAME.fullmatch(path.name) is not None if is_file(path) else path.is_dir()

    def lines(self, path: Path, benchmark: Loaded) -> Iterable[Line]:
        """The rows of `log`."""
        return self.log(path, benchmark).lines

    def log(self, path: Path, benchmark: Loaded) -> Log:
        """An answer of each file to each item that it has, from the row that lists the right option where the
        item does: a text that names its place is then true of the item.

        A file of another source is a candidate under the source's name in small letters.
        """
        items = [item for item in (*benchmark.items, *benchmark.others) if item.origin is None]
        lines: list[Line] = []
        roles: dict[str, Role] = {}
        notes: list[str] = []
        for file, name in _files(path, items[0]).items():
            source = _SOURCES.get(name, _Source(name.lower()))
            arguments = arguments_in(file, items)
            texts = {item.item: _text(item, arguments, source) for item in items if item.item in arguments}
            roles[source.candidate] = source.role
            lines += [
                Line(f"{file}, item {item}", {"item": item, "candidate": source.candidate, "text": text})
                for item, text in texts.items()
            ]
            notes += _gaps(source.candidate, items, texts)
            if name == "Label_Only":
                notes += _leaks(source.candidate, items, arguments)
        return Log(lines, roles, tuple(notes))

    def file_hash(self, path: Path, benchmark: Loaded) -> str:
        """The hashes of the files, joined by hyphens."""
        return "-".join(map(file_hash, _files(path, benchmark.items[0])))


def _files(path: Path, item: Item) -> dict[Path, str]:
    """The files of the item's language and split, with the name of the source of each."""
    split = _split(item.benchmark)
    if is_file(path):
        paths = [path]
    else:
        paths = sorted(path.glob(f"{split}_casimedicos_*.jsonl")) or sorted(
            path.glob(f"tests/{split}_casimedicos_*.jsonl")
        )
    files = {file: match["source"] for file in paths if (match := _NAME.fullmatch(file.name))}
    if not files:
        raise InputError(
            f"{path}: no {split}_casimedicos_SOURCE.jsonl in it, such as {split}_casimedicos_GPT4.jsonl."
        )
    return files


def _split(benchmark: str) -> str:
    """How the names of the files of a benchmark begin: `en.test`."""
    words = benchmark.split("_")[1:]
    language = next((word for word in words if len(word) == 2), "en")
    return f"{language}.{next((word for word in words if len(word) > 2), 'test')}"


def _text(item: Item, arguments: Mapping[str, Mapping[int, str]], source: _Source) -> str:
    by_place = arguments[item.item]
    text = by_place[item.options.index(item.answer[0]) + 1]
    return NO_ARGUMENT if source.candidate == "no_argument" and not text else text


def _gaps(candidate: str, items: Sequence[Item], texts: Mapping[str, str]) -> Iterator[str]:
    """The sentences on items without an argument, and with an empty one."""
    if absent := [item for item in items if item.item not in texts]:
        yield f"{candidate} has no argument for {_listed(absent)}."
    if blank := [item for item in items if texts.get(item.item) == ""]:
        yield f"{candidate} has an empty argument for {_listed(blank)}: it stays unanswered."


def _leaks(candidate: str, items: Sequence[Item], arguments: Mapping[str, Mapping[int, str]]) -> list[str]:
    """The sentence on labels that say more than the label most items have; none where all say the same."""
    labels = {item: plain_label(*next((t, p) for p, t in texts.items())) for item, texts in arguments.items()}
    usual = Counter(labels.values()).most_common(1)
    leaking = [item for item in items if item.item in labels and labels[item.item] != usual[0][0]]
    if not leaking:
        return []
    return [
        f"{candidate} says more than a label for {_listed(leaking)}: it leaks an explanation, and scores of "
        "these items are not those of a label alone."
    ]


def _listed(items: Sequence[Item]) -> str:
    names = ", ".join(f"g {item.meta['g']}" for item in items[:_MOST_NAMED])
    return f"{count(len(items), 'item')} ({names}{' …' if len(items) > _MOST_NAMED else ''})"
