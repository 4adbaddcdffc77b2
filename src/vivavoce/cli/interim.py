"""`viva interim`: the tests made on a run, and what they spent of the alpha of their plans."""

from collections.abc import Mapping
from typing import Any

from vivavoce.cli.options import Json, Plugin, Quiet, RunPath, open_run
from vivavoce.cli.output import figure, groups_of, p_value, print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.core.measure_names import measure_name


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
            planned = any(row["plan"] is not None for row in finding.rows)
            lines = [_line(row, planned) for row in finding.rows]
            of_plan = ("analysis", "spent", "left") if planned else ()
            columns = ("made at", "test", *of_plan, "pair", "metric", "items", "groups", "difference",
                       "p (family)", "verdict")  # fmt: skip
            print_table(columns, lines, "Tests", keys=2)
        echo(finding.text)


def _line(row: Mapping[str, Any], planned: bool) -> tuple[Any, ...]:
    """A row of the table; the columns of plans stand only where there is one."""
    analysis = None
    if row["analysis"] is not None:
        analysis = f"{row['analysis']} of {row['analyses'] or 'any'}"
    return (
        row["made_at"][:16].replace("T", " "),
        row["test"],
        *((analysis, _alpha(row["alpha_spent"]), _alpha(row["alpha_left"])) if planned else ()),
        f"{row['a']} -\n{row['b']}",
        measure_name(row["metric"], row["criterion"], row["rater"] or ""),
        row["n_items"],
        groups_of(row),
        figure(row["difference"]),
        p_value(row["p_adjusted"]),
        _verdict(row),
    )


def _verdict(row: Mapping[str, Any]) -> str:
    """The verdict in a few words: which candidate it is about, and whether a judge alone says so."""
    code = (row["verdict_code"] or "").replace("_", " ")
    name = {"a": row["a"], "b": row["b"]}.get(row["favours"] or "")
    if row["judge_alone"] and code.startswith("better"):
        return f"the judge prefers {name}"
    return f"{name} {code}" if name else code


def _alpha(alpha: float | None) -> str | None:
    return None if alpha is None else f"{alpha:.4f}"
