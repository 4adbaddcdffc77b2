"""What help brings to people in one line: accuracy, speed and confidence."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from vivavoce.core.records import Measure
from vivavoce.core.short_names import Name
from vivavoce.studies.comparing.headline import (
    MORE,
    Row,
    Unit,
    difference_words,
    fitting_headline,
    names_in_order,
    pair_headline,
    row_criterion,
    scope_of_rows,
)
from vivavoce.studies.comparing.outcome_words import ALONE, WITH, comparative, opposite, side_of
from vivavoce.studies.comparing.verdicts import DIFFERENT
from vivavoce.studies.scale import phrase_of, scale_of_row
from vivavoce.studies.text import and_so

Measured = tuple[Row, Unit]


def help_headline(rows: Sequence[Row], measures: Iterable[Measure]) -> str:
    """What help brings to people in one line: how good their answers are, how fast, and how sure they are.

    `rows` are of people with help and people alone, by several measures. Each helper has its own sentences,
    on several benchmarks for each. Figures give way where the line is too long.
    """
    all_measures, parts = list(measures), dict[tuple[str, str], list[Measured]]()
    of_help = [row for row in rows if row["b"] == ALONE]
    for row in of_help:
        unit = Unit(row_criterion(row, all_measures))
        parts.setdefault((row["a"], row["benchmark"]), []).append((row, unit))
    scope, line = scope_of_rows(rows), ""
    names, write = names_in_order(of_help, ()), _of_one
    if len(parts) > 1:
        names, write = list({row["a"].removeprefix(WITH): None for row in of_help}), _of_several
    for figures in (3, 2, 1, 0):
        line = fitting_headline(partial(write, list(parts.values()), figures), names, scope)
        if MORE not in line:
            break
    return line


def _of_one(parts: Sequence[Sequence[Measured]], figures: int, name: Name) -> list[str]:
    """The sentences on one helper: on the first measure, on those that differ, on those that do not."""
    (row, unit), *measured = parts[0]
    first = pair_headline(row, unit, name, is_short=figures < 2)
    if row["verdict_code"] == "cannot_tell":  # its figures would take the room of the others
        first = (
            f"No significant difference in {row['criterion']} between {name(row['a'])} and {name(row['b'])}."
        )
    sentences = [first]
    if clauses := _clauses(measured, figures):
        sentences.append(f"With help they are {and_so(clauses)}.")
    if alike := _alike(measured):
        sentences.append(f"No significant difference in {alike}.")
    return [*sentences, *_undecided(measured)]


def _of_several(parts: Sequence[Sequence[Measured]], figures: int, name: Name) -> list[str]:
    """The sentences on several helpers, or on several benchmarks, each beside people alone."""
    sentences = []
    is_placed = len({measured[0][0]["benchmark"] for measured in parts}) > 1
    for measured in parts:
        row, _ = measured[0]
        helper = f"ith {name(row['a'].removeprefix(WITH))}"
        start = f"On {row['benchmark']} w{helper}" if is_placed else f"W{helper}"
        alike = _alike(measured)
        if clauses := _clauses(measured, min(figures, 2)):
            end = f" ({alike}: no significant difference)" if alike else ""
            sentences.append(f"{start}, people are {and_so(clauses)}{end}.")
        elif alike:
            sentences.append(f"{start}, no significant difference in {alike}.")
        sentences += [f"{start}, {words}" for words in _undecided(measured)]
    return sentences


def _clauses(measured: Sequence[Measured], figures: int) -> list[str]:
    """What people are with help by the measures that differ, and by how much."""
    return [_clause(*m, figures) for m in measured if m[0]["verdict_code"] in DIFFERENT]


def _clause(row: Row, unit: Unit, figures: int) -> str:
    word, amount = comparative(row["verdict_code"], row.get("signature")), difference_words(row, unit)
    word = word if side_of(row) == "a" else opposite(word)
    if phrase := phrase_of(scale_of_row(row)):
        word = f"{word} ({phrase})"
    if not figures:
        return word
    return f"{word} by {amount if figures > 2 else amount.partition(' (')[0]}"


def _alike(measured: Sequence[Measured]) -> str:
    return and_so(row["criterion"] for row, _ in measured if row["verdict_code"] == "cannot_tell")


def _undecided(measured: Sequence[Measured]) -> Iterator[str]:
    """The verdicts that neither separate nor find no difference, by their criterion."""
    for row, _ in measured:
        if row["verdict_code"] not in (*DIFFERENT, "cannot_tell"):
            yield f"{row['criterion']}: {_verdict(row)}"


def _verdict(row: Row) -> str:
    """A verdict that separates nobody, in words that can follow a colon."""
    words = str(row["verdict"] or "").removesuffix(row.get("scope") or "").rstrip().replace(";", ",")
    return f"{words[:1].lower()}{words[1:]}"
