"""Warnings for exams that a candidate of the run wrote."""

from collections.abc import Collection

from vivavoce.store import read
from vivavoce.store.view import View
from vivavoce.studies.comparing.writers import writer_warning, writers_examined


def writer_notes(view: View, names: Collection[str] | None = None) -> tuple[str, ...]:
    """A sentence for each of these candidates, or of all, that wrote items of an exam of the run."""
    benchmarks = view.fetch(read.benchmarks)
    present = [c.candidate for c in view.fetch(read.candidates) if names is None or c.candidate in names]
    return tuple(
        writer_warning(benchmark.benchmark, candidate)
        for benchmark in benchmarks
        for candidate in writers_examined(benchmark.card, present)
    )
