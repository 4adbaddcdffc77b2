"""The sample exam: questions in every format, carried by the package, to learn on and to test with.

It was written for vivavoce. With it come recorded answers of three made-up candidates, which hold on purpose
what answers of models come with: blanks, refusals, cut texts, stray letters, words to the judge.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from vivavoce.benchmarks import Benchmark
from vivavoce.benchmarks.files import JSONLines
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.records import Card, Exclusion, Item
from vivavoce.core.registry import benchmark

CANDIDATES = ("Model A (made up)", "Model B (made up)", "Model C (made up)")
"""Who gave the recorded answers, the best first: nobody did, they are made up."""


def recorded() -> AbstractContextManager[Path]:
    """The file of recorded answers, for as long as the context lasts."""
    return _packaged("answers.jsonl")


def _packaged(name: str) -> AbstractContextManager[Path]:
    from importlib.resources import as_file, files

    return as_file(files("vivavoce.benchmarks.sample") / name)


@benchmark("sample")
class Sample(Benchmark):
    """A small exam in every format with bias twins, carried by the package: to learn on, not to rank by."""

    @property
    def card(self) -> Card:
        """What it is, and what it must not be used for; the revision is the hash of its file."""
        with _packaged("exam.jsonl") as path:
            revision = file_hash(path)
        return Card(
            name="sample",
            description="Clinical questions of many specialties in every format; twins plant a bias in some, "
            "and neutral twins stand beside them.",
            source="written for vivavoce",
            revision=revision,
            licence="Apache-2.0",
            access="open",
            citation="vivavoce sample exam (an illustration)",
            faults=(
                "It is small: differences between good models cannot be seen on it.",
                "It is an illustration, not a validated instrument: not for clinical use, not for rankings.",
                "The recorded answers are made up, faults included; no model gave them.",
                "It is public, so that models may have learnt it.",
            ),
            primary="accuracy",
        )

    def items(self) -> Iterator[Item | Exclusion]:
        """Base items, each followed by its twins; explanation and planted answer stand in `meta`."""
        with _packaged("exam.jsonl") as path:
            yield from JSONLines(path=path, name="sample").items()
