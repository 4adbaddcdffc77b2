"""What an import of answers did, in numbers and in sentences."""

from collections.abc import Mapping
from typing import NamedTuple

from vivavoce.core.exclusions import ExclusionCounts
from vivavoce.studies.text import count


class Imported(NamedTuple):
    """What an import of answers did, in rows of the file.

    `skipped` rows answer items outside the benchmark, or that its settings leave out; `skipped_items` names
    these. `probes` rows hold what a model told of its probabilities: they are no answers in words, and are
    left out too. The benchmark has `questions` in so many `cases`; `repeated` of them repeat another one.
    `matched` gives the columns that were found under other names than ours, by field; `formats` how many
    questions were taken for each format, where the table stated none; `left_out` the columns not used.
    `benchmark` is the spec of what was answered, `benchmark_name` its name; `exclusions` counts by reason the
    rows that it leaves out, `excluded` of `excluded_of` in all.
    `delimiter`, `encoding` and `sheet` are how a file was read, null where its kind has none; `guess` says
    why one of them was guessed. `notes` are sentences on what the log of another tool lacks.
    """

    responses: int
    candidates: int
    items: int
    blank: int
    failed: int
    skipped: int
    new: int
    unchanged: int
    replaced: int
    identical_repeats: tuple[str, ...]
    probes: int = 0
    skipped_items: tuple[str, ...] = ()
    questions: int = 0
    repeated: int = 0
    cases: int = 0
    matched: Mapping[str, str] = {}
    formats: Mapping[str, int] = {}
    left_out: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    guess: str = ""
    notes: tuple[str, ...] = ()
    benchmark: str = ""
    benchmark_name: str = ""
    excluded: int = 0
    excluded_of: int | None = None
    exclusions: Mapping[str, int] = {}

    def __str__(self) -> str:
        return f"{self._answers} {self.left_out_text}".rstrip()

    @property
    def left_out_text(self) -> str:
        """The sentence on rows of the benchmark that were left out; '' where it has them all."""
        if not self.exclusions:
            return ""
        items = (self.excluded_of or 0) - self.excluded
        counts = ExclusionCounts(self.benchmark_name, self.benchmark, items, self.exclusions)
        return f"{counts.text} Answers to them are skipped."

    @property
    def _answers(self) -> str:
        return (
            f"{count(self.responses, 'answer')} of {count(self.candidates, 'candidate')} to "
            f"{count(self.items, 'item')} ({self.new} new, {self.unchanged} unchanged, {self.replaced} "
            f"replacing failures); {self.blank} blank, {self.failed} failed, {self.skipped} skipped."
        )
