"""`viva plan-sample`: how many items to review for a margin, and the margin of a number of items."""

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
    population = "" if of is None else f" of {of:,}"
    for row in rows:
        verb = "takes" if row["source"] == "margin" else "is what you get from"
        items = counted(row["n"], "item")
        points = _points(row["margin"])
        echo(f"A margin of {points} points at 95 % {verb} {items}{population}.")


def _points(margin: float) -> str:
    """A margin in points: two decimals, or two digits that are not 0 where it is smaller than that."""
    decimals = 2 if margin <= 0 else max(2, 1 - floor(log10(100 * margin)))
    return f"{100 * margin:.{decimals}f}"


def _rows(margin: float | None, n: int | None, of: int | None, deff: float, p: float) -> list[dict[str, Any]]:
    """One row per question: `source` names the number that was given, the other follows from it."""
    from vivavoce.stats import proportion_margin, proportion_n

    rows = []
    try:
        if margin is not None:
            rows.append(("margin", margin, proportion_n(p, margin, population=of, design_effect=deff)))
        if n is not None:
            rows.append(("n", proportion_margin(n, p, population=of, design_effect=deff), n))
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"no sample is planned: {error}.") from error
    names = ("source", "margin", "n", "of", "deff", "p", "level")
    return [dict(zip(names, (*row, of, deff, p, 0.95), strict=True)) for row in rows]
