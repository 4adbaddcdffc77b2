"""Benchmarks whose files can be fetched, and some whose cannot."""

from collections.abc import Iterator
from pathlib import Path

from vivavoce.benchmarks import Benchmark
from vivavoce.core.records import Card, Download, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import read_lines

CARD = Card(name="fetched", description="d", source="the hub", licence="CC BY 4.0", citation="c")


class Exam(Benchmark):
    card = CARD

    def items(self) -> Iterator[Item]:
        for line in read_lines(self.data / "data" / "test.jsonl"):  # type: ignore[attr-defined]
            yield Item(
                benchmark="fetched",
                format="short",
                item=line.row["id"],
                question="Which drug?",
                references=("a",),
            )


@benchmark("fetched")
class Fetched(Exam):
    data: Path
    language: str = "en"

    download = Download(
        hub="owner/exam",
        files=("data/*.jsonl", "notes.txt"),
        terms="cite the authors",
        by_hand="Read the notes",
    )


@benchmark("pinned")
class Pinned(Exam):
    data: Path
    download = Download(hub="owner/exam", files=("data/*.jsonl",), revision="b" * 40)


@benchmark("at_commit")
class AtCommit(Exam):
    """Files below an address; tests put their server in its place."""

    data: Path
    download = Download(url="https://example.org/{revision}/", files=("a.csv",))


@benchmark("at_url")
class AtURL(Exam):
    data: Path
    download = Download(url="https://example.org/plain/", files=("a b.csv",))


@benchmark("hostile")
class Hostile(Exam):
    data: Path
    download = Download(hub="owner/exam", files=("*",))


@benchmark("secret")
class Secret(Exam):
    data: Path
    card = Card(
        name="secret", description="d", source="PhysioNet", licence="own", citation="c", access="credentialed"
    )
    download = Download(hub="owner/exam", files=("data/*.jsonl",), by_hand="put test.csv into the folder")


@benchmark("manual")
class Manual(Exam):
    data: Path
    download = Download(by_hand="download mtsamples.csv from the page and put it into the folder")


@benchmark("undeclared")
class Undeclared(Exam):
    data: Path
