"""What `viva import` prints of what came in."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vivavoce.cli.output import counted, print_json
from vivavoce.cli.stdout import echo
from vivavoce.core.cases import CASE_FACTS, repeats_text

if TYPE_CHECKING:
    from vivavoce.people.storing.store_reviews import ReviewsStored
    from vivavoce.run.exchange.imported import Imported, ImportedLogs
    from vivavoce.run.exchange.scores import ImportedScores

T = TypeVar("T", bound=Any)


def show(run: Path, result: T, print_result: Callable[[Path, T], None], *, json: bool, quiet: bool) -> None:
    """Print what an import did, as sentences or as JSON."""
    if json:
        print_json("import", run, [result._asdict()])
    elif not quiet:
        print_result(run, result)


def show_logs(run: Path, imported: "ImportedLogs", *, json: bool, quiet: bool) -> None:
    """Print what the import of logs did, as sentences or as JSON."""
    if json:
        skipped = [
            {"source": name, "skipped_file": reason} for name, reason in imported.skipped_files.items()
        ]
        print_json("import", run, [*(log._asdict() for log in imported.logs), *skipped])
    elif not quiet:
        _print_logs(run, imported)


def _print_logs(run: Path, imported: "ImportedLogs") -> None:
    """Print a sentence for each log, and what was skipped."""
    for log in imported.logs:
        marks = f"{counted(log.scores, 'score')}, {log.scores_failed} failed" if log.scores else "no scores"
        echo(
            f"{run}: {log.tool} {log.task}, {', '.join(log.candidates)}: "
            f"{counted(log.responses, 'answer')} to {counted(log.items, 'item')} ({log.new} new, "
            f"{log.unchanged} unchanged, {log.replaced} replacing failures); {log.blank} blank, "
            f"{log.failed} failed, {log.skipped} skipped; {marks}."
        )
        if log.skipped_items:
            names = ", ".join(log.skipped_items[:5]) + (" …" if len(log.skipped_items) > 5 else "")
            echo(f"Skipped, as no item of the exam: {names}.")
        for note in log.notes:
            echo(note)
        if text := repeats_text(**{name: getattr(log, name) for name in CASE_FACTS}):
            echo(text)
    for name, reason in imported.skipped_files.items():
        echo(f"Skipped {name}: {reason}.")


def print_reviews(run: Path, reviews: "ReviewsStored") -> None:
    """Print how many reviews were stored."""
    echo(
        f"{run}: {counted(reviews.new, 'review')} stored of {counted(reviews.items, 'item')} by "
        f"{counted(reviews.raters, 'rater')}, {reviews.unchanged} there already; "
        f"{counted(reviews.events, 'text')} noted beside them."
    )
    _print_rows(reviews.row_counts)


def print_answers(run: Path, imported: "Imported") -> None:
    """Print what came in, and how it was read."""
    echo(f"{run}: {imported}")
    _print_matched(imported)
    if imported.formats:
        formats = ", ".join(f"{name} {number}" for name, number in imported.formats.items())
        echo(f"Formats of the questions, inferred: {formats}.")
    if imported.left_out:
        echo(f"Columns not used: {', '.join(imported.left_out)}.")
    _print_outside(imported)
    facts = {name: getattr(imported, name) for name in CASE_FACTS}
    if text := repeats_text(**facts):
        echo(text)
    _print_probes(imported.probes, "answer")
    _print_rows(imported.row_counts)
    for note in imported.notes:
        echo(note)
    for name in imported.identical_repeats:
        echo(f"All repeats of {name} are the same text: they tell nothing of how it varies.")


def print_scores(run: Path, imported: "ImportedScores") -> None:
    """Print how many scores came in, and how they were read."""
    criteria = f" on {', '.join(imported.criteria)}" * bool(imported.criteria)
    echo(
        f"{run}: {counted(imported.scores, 'score')}{criteria}: {imported.ok} ok, "
        f"{imported.unanswered} unanswered, {imported.failed} failed; {counted(imported.skipped, 'row')} "
        "skipped."
    )
    _print_matched(imported)
    _print_outside(imported)
    _print_probes(imported.probes, "score of an answer")
    if imported.forgotten:
        echo(f"{counted(imported.forgotten, 'row')} left out: about what had been forgotten in this run.")
    _print_rows(imported.row_counts)
    if imported.other_texts:
        from vivavoce.run.exchange.rows import listed

        rows = counted(sum(imported.other_texts.values()), "row")
        echo(f"{rows} scored another text than the run's answer: {listed(imported.other_texts)}.")
    if imported.blank_scored:
        blank = counted(len(imported.blank_scored), "blank answer")
        echo(f"{blank} had been given scores, which do not count:")
        echo("\n".join(f"  {name}" for name in imported.blank_scored))


def _print_matched(imported: "Imported | ImportedScores") -> None:
    """The columns that were found under other names, and how the file was read, where that is to be said."""
    from vivavoce.benchmarks.column_names import matched_words
    from vivavoce.core.tables import Dialect

    if imported.matched:
        echo(f"Columns: {matched_words(imported.matched)}.")
    dialect = Dialect(imported.delimiter, imported.encoding, imported.sheet)
    if dialect not in (Dialect(), Dialect(encoding="utf-8")):
        echo(f"Read with {dialect.in_words}{f' (a guess: {imported.guess})' * bool(imported.guess)}.")


def _print_outside(imported: "Imported | ImportedScores") -> None:
    """The sentence on the rows that were skipped, if there are any."""
    from vivavoce.run.exchange.rows import outside

    if imported.skipped:
        echo(outside(imported.skipped, imported.skipped_items))


def _print_rows(counts: Mapping[str, int]) -> None:
    """The sentence on what the rows of the file are, where they are not all one thing."""
    from vivavoce.run.exchange.row_counts import row_counts_text

    if text := row_counts_text(counts):
        echo(text)


def _print_probes(rows: int, what: str) -> None:
    if rows:
        echo(
            f"{counted(rows, 'row')} left out: what a model told of its probabilities is no {what} in words."
        )
