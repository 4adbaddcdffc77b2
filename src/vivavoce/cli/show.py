"""`viva show`: what a name means."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Plugin
from vivavoce.cli.output import as_text, print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.core.exclusions import reasons_in_words
from vivavoce.core.numbers import printed
from vivavoce.core.registry import load_plugin


def show(
    spec: Annotated[
        str,
        typer.Argument(
            help="What to show, such as rouge:n=L or sample.",
            metavar="SPEC",
            autocompletion=completion.registered("metrics"),
        ),
    ],
    contents: Annotated[
        bool,
        typer.Option(
            "--contents",
            help="Of a benchmark: sizes, lengths, vocabulary, categories by year, keys, negative questions.",
        ),
    ] = False,
    plots: Annotated[
        Path | None,
        typer.Option(help="As --contents, and a folder that gets its charts as SVG files.", metavar="FOLDER"),
    ] = None,
    plugin: Plugin = [],
    json: Json = False,
) -> None:
    """Show a metric, benchmark, variation or rubric in detail.

    For a benchmark it also counts questions and cases, and lists questions that repeat one another. With
    `--contents` it shows what a benchmark consists of instead.

    Example: `viva show rouge:n=L`

    Example: `viva show sample --contents --plots charts`
    """
    from vivavoce.run.catalogue import describe

    for path in plugin:
        load_plugin(path)
    if contents or plots is not None:
        _show_contents(spec, plots, json=json)
        return
    facts = describe(spec)
    if json:
        print_json("show", None, [facts])
        return
    card = facts.pop("card", {})  # its fields are rows like the others
    if questions := facts.pop("repeated_questions", ()):
        card["repeated questions"] = _repeats_text(questions)
    card["rows left out"] = _left_out_text(*(facts.pop(name) for name in EXCLUSION_FACTS if name in facts))
    lines = [[name, as_text(fact)] for name, fact in (facts | card).items() if fact not in (None, [], "")]
    print_table(["", spec], lines)


EXCLUSION_FACTS = ("excluded", "excluded_of", "exclusions")


def _left_out_text(excluded: int = 0, of: int = 0, reasons: Mapping[str, int] = {}) -> str:
    return f"{excluded:,} of {of:,}: {reasons_in_words(reasons)}" if reasons else ""


def _show_contents(spec: str, plots: Path | None, *, json: bool) -> None:
    """Print what a benchmark consists of, a table for each kind of row, and the rules below."""
    from vivavoce.run.contents import contents

    finding = contents(spec, plots=plots)
    if json:
        print_json("show", None, finding.rows)
        return
    echo(finding.text, end="\n\n")
    for about, group in groupby(finding.rows, key=itemgetter("about")):
        rows = list(group)
        columns = [name for name in rows[0] if name != "about" and set(map(itemgetter(name), rows)) != {None}]
        lines = [[_cell(name, row[name]) for name in columns] for row in rows]
        print_table([name.replace("_", " ") for name in columns], lines, about.capitalize())
    for note in finding.notes:
        echo(note)


def _cell(name: str, value: object) -> object:
    """A cell of the contents: shares in percent, other numbers with one decimal, all for all."""
    if isinstance(value, float):
        return printed(value, ".1%") if name in ("share", "majority", "chance") else f"{value:,.1f}"
    return "all" if value is None and name in ("format", "part", "word", "why", "year") else value


MOST_QUESTIONS, MOST_ITEMS = 20, 8
"""The repeated questions in the table, and the items named for each; `--json` has all of them."""


def _repeats_text(questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each repeated question: the items that ask it, and its beginning."""
    lines = []
    for row in questions[:MOST_QUESTIONS]:
        rest = len(row["items"]) - MOST_ITEMS
        names = ", ".join(row["items"][:MOST_ITEMS]) + (f" and {rest:,} more" if rest > 0 else "")
        lines.append(f"{names}: {row['question']}" if row["question"] else names)
    rest = len(questions) - len(lines)
    return [*lines, *([f"and {rest:,} more: --json lists all"] if rest else [])]
