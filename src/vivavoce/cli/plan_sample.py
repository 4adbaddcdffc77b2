"""`viva plan-sample`: how many items to review for a margin, and the margin of a number of items."""

from collections.abc import Iterator
from math import floor, log10
from typing import Annotated, Any

import typer

from vivavoce.cli.options import Json
from vivavoce.cli.output import counted, print_json
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import InputError


def plan_sample(
    margin: Annotated[
        float | None, typer.Option(metavar="H", help="The margin wanted, such as 0.05: a share -/+ 5 points.")
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", metavar="N", help="A number of items: the margin it gives.")
    ] = None,
    of: Annotated[
        int | None,
        typer.Option(metavar="N", help="Items in the whole set, if the share is to hold for that set."),
    ] = None,
    deff: Annotated[
        float, typer.Option(metavar="D", help="Design effect: how much larger the variance is with cases.")
    ] = 1.0,
    p: Annotated[
        float, typer.Option("--p", metavar="P", help="The share expected; 0.5 asks for most.")
    ] = 0.5,
    json: Json = False,
) -> None:
    """Say how many items a review needs for a margin at 95 %, and which margin a number of items gives.

    With fewer than 10 events expected, the margin is half the width of the exact interval.

    Example: `viva plan-sample --margin 0.05 --of 5621`

    Example: `viva plan-sample --n 260 --of 5621`
    """
    if margin is None and n is None:
        raise InputError("say --margin (how many items?), --n (which margin?), or both.")
    if margin is not None and not 1e-6 <= margin < 1:
        raise InputError(f"--margin {margin:g}: a margin is a share between 0.000001 and 1, such as 0.05.")
    rows = _rows(margin, n, of, deff, p)
    if json:
        print_json("plan-sample", None, rows)
        return
    for row in rows:
        for line in _lines(row):
            echo(line)


def _lines(row: dict[str, Any]) -> Iterator[str]:
    """The margin with its items; with few events, the exact interval."""
    population = "" if row["of"] is None else f" of {row['of']:,}"
    verb = "takes" if row["source"] == "margin" else "is what you get from"
    items = counted(row["n"], "item")
    yield f"A margin of {_points(row['margin'])} points at 95 % {verb} {items}{population}."
    if row["method"] == "exact":
        ends = " to ".join(f"{100 * row[end]:.2g}" for end in ("low", "high"))
        yield f"About {row['events']:.2g} events are expected: the exact interval would be {ends} %."


def _points(margin: float) -> str:
    """A margin in points: two decimals, or two digits that are not 0 where it is smaller than that."""
    decimals = 2 if margin <= 0 else max(2, 1 - floor(log10(100 * margin)))
    return f"{100 * margin:.{decimals}f}"


def _rows(margin: float | None, n: int | None, of: int | None, deff: float, p: float) -> list[dict[str, Any]]:
    """One row per question: `source` names the number that was given, the other follows from it."""
    from vivavoce.stats import planned_share, proportion_n

    rows = []
    try:
        if margin is not None:
            needed = proportion_n(p, margin, population=of, design_effect=deff)
            share = planned_share(needed, p, population=of, design_effect=deff)
            rows.append(("margin", margin, needed, share))
        if n is not None:
            share = planned_share(n, p, population=of, design_effect=deff)
            rows.append(("n", share.margin, n, share))
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"no sample is planned: {error}.") from error
    names = ("source", "margin", "n")
    return [
        dict(zip(names, row, strict=True))
        | {"of": of, "deff": deff, "p": p, "level": 0.95, "method": "exact" if share.is_exact else "normal"}
        | {"low": share.low, "high": share.high, "events": share.events}
        for *row, share in rows
    ]
