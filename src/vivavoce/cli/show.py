"""`viva show`: what a name means."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Plugin
from vivavoce.cli.output import as_text, print_json, print_table
from vivavoce.core.exclusions import reasons_in_words
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
    plugin: Plugin = [],
    json: Json = False,
) -> None:
    """Show a metric, benchmark, variation or rubric: its settings, signature, criteria or card.

    For a benchmark it also counts questions and cases, and lists questions that repeat one another.

    Example: `viva show rouge:n=L`
    """
    from vivavoce.pipeline.catalogue import describe

    for path in plugin:
        load_plugin(path)
    facts = describe(spec)
    if json:
        print_json("show", None, [facts])
        return
    card = facts.pop("card", {})  # its fields are rows like the others
    if questions := facts.pop("repeated_questions", ()):
        card["repeated questions"] = _repeats_text(questions)
    left_out = {name: facts.pop(name, None) for name in ("excluded", "excluded_of", "exclusions")}
    if left_out["exclusions"]:
        reasons = reasons_in_words(left_out["exclusions"])
        card["rows left out"] = f"{left_out['excluded']:,} of {left_out['excluded_of']:,}: {reasons}"
    lines = [[name, as_text(fact)] for name, fact in (facts | card).items() if fact not in (None, [], "")]
    print_table(["", spec], lines)


MOST_QUESTIONS, MOST_ITEMS = 20, 8
"""The repeated questions in the table, and the items named for each; `--json` has all of them."""


def _repeats_text(questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each repeated question: the items that ask it, and its beginning."""
    lines = []
    for row in questions[:MOST_QUESTIONS]:
        rest = len(row["items"]) - MOST_ITEMS
        names = ", ".join(row["items"][:MOST_ITEMS]) + (f" and {rest:,} more" if rest > 0 else "")
        lines.append(f"{names}: {row['question']}")
    rest = len(questions) - len(lines)
    return [*lines, *([f"and {rest:,} more: --json lists all"] if rest else [])]
