"""`viva list`: what is registered."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Plugin
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.core.listing import listed
from vivavoce.core.registry import KINDS, load_plugin

LISTED = (*KINDS, "languages", "rubrics")


def _kind(word: str) -> str:
    if word not in LISTED:
        raise typer.BadParameter(f"{word!r} is not one of {', '.join(map(repr, LISTED))}.")
    return word


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            parser=_kind,
            metavar="KIND",
            autocompletion=completion.words(*LISTED),
            help=f"What to list: {', '.join(LISTED)}.",
        ),
    ],
    plugin: Plugin = [],
    json: Json = False,
) -> None:
    """List what can be named, such as metrics, benchmarks or studies.

    Languages are listed with what is read in each: yes, listed words (no other word may stand beside an
    option), or not known.

    Example: `viva list metrics`

    Example: `viva list languages`
    """
    for path in plugin:
        load_plugin(path)
    rows = _rows(kind)
    if json:
        print_json("list", None, rows)
    elif not rows:
        echo(f"No {kind} are registered.")
    elif kind == "languages":
        _print_languages(rows)
    else:
        _print(rows)


def _rows(kind: str) -> list[dict[str, Any]]:
    """What is listed. What stands in the built index needs no import of all that is registered."""
    if kind in KINDS and kind not in ("formats", "providers"):
        return listed(KINDS[kind])
    from vivavoce.run.catalogue import listing

    return listing(kind)


_HEADS = {"name": "code", "rejection": "reject", "true_false": "t/f", "refusal": "refuse", "no_answer": "N/A"}
_CELLS = {"listed words": "listed", "not known": "–", "characters": "chars", "pairs of characters": "pairs"}
"""Heads and cells that are shorter in the table of languages than in its rows, which fits 80 columns so."""


def _print_languages(rows: Sequence[Mapping[str, Any]]) -> None:
    """One table of what is read in each language, with a key below, and what ends a sentence where."""
    names = [name for name in rows[0] if name != "sentences"]
    lines = [[_cell(row[name]) for name in names] for row in rows]
    print_table([_HEADS.get(name, name) for name in names], lines)
    echo("listed: an option counts only beside words of a list; –: not known.")
    echo("t/f: true or false; chars, pairs: each character, or each two, is a word.")
    echo(f"Sentences end at {rows[0]['sentences']} and at {_further_ends(rows)}.")


def _further_ends(rows: Sequence[Mapping[str, Any]]) -> str:
    """What ends a sentence in some languages and not in English, with their codes."""
    languages: dict[str, list[str]] = {}
    for row in rows:
        ends = [end for end in row["sentences"].split() if end not in rows[0]["sentences"]]
        if ends and row["sentences"] != "not known":
            languages.setdefault(" ".join(ends), []).append(row["name"])
    return ", ".join(f"{ends} ({', '.join(codes)})" for ends, codes in languages.items())


def _cell(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return _CELLS.get(text, text.replace("Hiragana, Katakana", "Kana"))


def _print(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table with the long text last; where a name comes from only if it is not ours."""
    ours = all(row.get("origin") in (None, "vivavoce") for row in rows)
    columns = sorted(rows[0], key=lambda name: name == "what")
    columns = [name for name in columns if not (ours and name == "origin")]
    cells = [[row[name] for name in columns] for row in rows]
    print_table(columns, [[", ".join(c) if isinstance(c, list) else c for c in line] for line in cells])
