"""`viva interim`: the tests made on a run, and what they spent of the alpha of their plans."""

from collections.abc import Mapping
from typing import Any

from vivavoce.cli.options import Json, Plugin, Quiet, RunPath, open_run
from vivavoce.cli.output import figure, groups_of, p_value, print_json, print_table
from vivavoce.core.text import printable


def interim(run: RunPath, plugin: Plugin = [], quiet: Quiet = False, json: Json = False) -> None:
    """List the tests made on a run: when, what was compared on how much, and what came of it.

    A comparison on unchanged data is one test. Comparisons with --sequential are interim analyses of a plan,
    which together are one test: each is shown with its number, and how much of alpha .05 the plan has spent.

    Example: `viva interim exam.viva`

    Example: `viva interim exam.viva --json`
    """
    finding = open_run(run, plugin).interim()
    if json:
        print_json("interim", run, finding.rows)
    elif not quiet:
        if finding.rows:
            lines = [_line(row) for row in finding.rows]
            columns = ("made at", "test", "analysis", "spent", "left", "pair", "metric", "items", "groups",
                       "difference", "p (family)", "verdict")  # fmt: skip
            print_table(columns, lines, "Tests")
        print(printable(finding.text))


def _line(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A row of the table."""
    analysis = None
    if row["analysis"] is not None:
        analysis = f"{row['analysis']} of {row['analyses'] or 'any'}"
    return (
        row["made_at"][:16].replace("T", " "),
        row["test"],
        analysis,
        _alpha(row["alpha_spent"]),
        _alpha(row["alpha_left"]),
        f"{row['a']} - {row['b']}",
        row["metric"] if row["metric"] == row["criterion"] else f"{row['metric']}, {row['criterion']}",
        row["n_items"],
        groups_of(row),
        figure(row["difference"]),
        p_value(row["p_adjusted"]),
        (row["verdict_code"] or "").replace("_", " "),
    )


def _alpha(alpha: float | None) -> str | None:
    return None if alpha is None else f"{alpha:.4f}"
