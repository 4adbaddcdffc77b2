"""The command line: the verbs of `Run`, and nothing besides. Everything heavy is imported inside a verb.

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failed rows remain, 2 the request cannot be
met, 130 interrupted.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vivavoce.errors import InputError, VivaError

if TYPE_CHECKING:
    from vivavoce.run import Run

__all__ = ["app", "main"]

app = typer.Typer(
    name="viva",
    help="Examine healthcare language models, and examine the examiners too.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    epilog='A first run: `viva import exam.viva answers.jsonl --benchmark "jsonl(path=exam.jsonl)"`, then '
    "`viva score exam.viva accuracy`, `viva compare exam.viva A B --metric accuracy`, `viva report "
    "exam.viva`",
)

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The run file, such as exam.viva.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no tables.")]
Plugin = Annotated[list[Path], typer.Option(help="A Python file with metrics or benchmarks; repeatable.")]
Items = Annotated[str | None, typer.Option(help="Restrict to the items that this benchmark spec selects.")]


def main() -> None:
    """Run the command line; an error of ours is one sentence on stderr and exit code 2."""
    try:
        app()
    except VivaError as error:
        print(f"viva: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(
            "viva: interrupted; what was stored is safe, and the same command goes on from there.",
            file=sys.stderr,
        )
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as under `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _open(path: Path, plugins: Sequence[Path] = ()) -> "Run":
    from vivavoce.run import open_run

    return open_run(path, plugins=plugins)


def _pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """`name=value` words as a mapping; the last `=` divides for roles, whose names may hold one."""
    pairs = {}
    for word in words:
        left, equals, right = word.rpartition("=") if option == "--role" else word.partition("=")
        if not equals or not left or not right:
            raise InputError(f"{option} {word!r}: write {option} name=value.")
        if left in pairs:
            raise InputError(f"{option} names {left!r} twice.")
        pairs[left] = right
    return pairs


def _print_json(verb: str, run: Path | None, rows: object) -> None:
    print(json.dumps({"schema": f"viva.{verb}/1", "run": run and str(run), "rows": rows},
                     ensure_ascii=False, allow_nan=False, indent=1))  # fmt: skip


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for name, cells in zip(columns, zip(*rows, strict=True) if rows else [()] * len(columns), strict=True):
        numbers = all(isinstance(c, int | float) or c is None for c in cells)
        table.add_column(name, justify="right" if numbers and rows else "left", overflow="fold")
    for row in rows:
        # Text, not str: an answer or a label with [brackets] is no markup.
        table.add_row(*(Text("" if c is None else str(c)) for c in row))
    width = None if sys.stdout.isatty() else 140
    Console(width=width).print(table)


@contextmanager
def _progress(show: bool) -> Iterator[Any]:
    """A bar on stderr that hears (what, done, total); nothing when quiet or not at a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if not show:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def hear(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)

        yield hear


def _figure(value: float | None, places: int = 3) -> str | None:
    return None if value is None else f"{value:.{places}f}"


@app.command("list")
def list_(
    kind: Annotated[Literal["metrics", "benchmarks", "formats"], typer.Argument(help="What to list.")],
    plugin: Plugin = [],  # noqa: B006 - typer reads the default, nothing changes it
    json: Json = False,
) -> None:
    """List what can be named: metrics, benchmarks, formats.

    Example: `viva list metrics`
    """
    from vivavoce.catalogue import listing
    from vivavoce.registry import load_plugin

    for path in plugin:
        load_plugin(path)
    rows = listing(kind)
    if json:
        return _print_json("list", None, rows)
    texts = [[", ".join(v) if isinstance(v, list) else v for v in row.values()] for row in rows]
    _print_table(list(rows[0]), texts)


@app.command()
def show(
    spec: Annotated[str, typer.Argument(help='What to show, such as "rouge(n=L)" or hivmedqa.')],
    plugin: Plugin = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Show a metric or benchmark: its settings, signature, criteria or card.

    Example: `viva show "rouge(n=L)"`
    """
    from vivavoce.catalogue import describe
    from vivavoce.registry import load_plugin

    for path in plugin:
        load_plugin(path)
    rows = describe(spec)
    if json:
        return _print_json("show", None, [rows])
    _print_table(["", spec], [[k, _plain(v)] for k, v in rows.items() if v not in (None, [], "")])


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items())
    return "\n".join(_plain(v) for v in value) if isinstance(value, list | tuple) else str(value)


@app.command("import")
def import_(
    run: RunPath,
    file: Annotated[Path, typer.Argument(help="Recorded answers: .jsonl, .csv, .tsv or .parquet.")],
    benchmark: Annotated[
        str, typer.Option(help='The exam they answer: "hivmedqa(data=DIR)", "jsonl(path=F)".')
    ],
    map: Annotated[list[str], typer.Option(help="ours=theirs: which column holds a field; repeatable.")] = [],  # noqa: B006
    set: Annotated[
        list[str], typer.Option(help="ours=value: a field's value for all rows; repeatable.")
    ] = [],  # noqa: B006
    role: Annotated[list[str], typer.Option(help='"NAME=ceiling" or "NAME=floor"; repeatable.')] = [],  # noqa: B006
    new_version: Annotated[
        bool, typer.Option("--new-version", help="Accept items that have changed.")
    ] = False,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Import recorded answers into a run; it is made if it does not exist.

    Fields: item, variant, candidate, repeat, edit, text, status, reasoning, finish_reason, tokens,
    seconds, cost, error. A null text is a failed response, an empty one arrived empty.

    Example: `viva import exam.viva answers.jsonl --benchmark "jsonl(path=exam.jsonl)" --map candidate=model`
    """
    roles = _pairs(role, "--role")
    for name, part in roles.items():
        if part not in ("candidate", "floor", "ceiling"):
            raise InputError(f"--role {name}={part}: a role is candidate, floor or ceiling.")
    done = _open(run, plugin).import_answers(
        file,
        benchmark=benchmark,
        map=_pairs(map, "--map"),
        set=_pairs(set, "--set"),
        role=roles,  # type: ignore[arg-type]
        new_version=new_version,
    )
    if json:
        return _print_json("import", run, [done._asdict()])
    if quiet:
        return
    print(
        f"{run}: {done.responses} answers of {done.candidates} candidates to {done.items} items "
        f"({done.new} new, {done.unchanged} unchanged, {done.replaced} replacing failures); "
        f"{done.blank} blank, {done.failed} failed, {done.skipped} skipped."
    )
    for name in done.identical_repeats:
        print(f"All repeats of {name} are the same text: they tell nothing of how it varies.")


@app.command()
def score(
    run: RunPath,
    metrics: Annotated[list[str], typer.Argument(metavar="METRIC...", help='Such as "rouge(n=1)" or @file.')],
    items: Items = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Mark every answer that is not marked yet, and show what each candidate scored.

    Intervals are 95%; coverage is the share of expected answers that could be marked. Exit code 1 if marks
    failed.

    Example: `viva score exam.viva "rouge(n=1)" token_f1`
    """
    with _progress(show=not quiet and sys.stderr.isatty()) as progress:
        found = _open(run, plugin).score(*metrics, items=items, progress=progress)
    if json:
        _print_json("score", run, found.rows)
    elif not quiet:
        _print_estimates(found.rows)
        for note in found.notes:
            print(note)
    failed = sum(row["n_failed"] for row in found.rows)
    if failed:
        print(f"viva: {failed} marks failed; `viva status {run}` tells why, the same command tries again.",
              file=sys.stderr)  # fmt: skip
        raise typer.Exit(1)


def _print_estimates(rows: Sequence[Mapping[str, Any]]) -> None:
    from itertools import groupby

    for (benchmark, metric, criterion), part in groupby(
        rows, key=lambda r: (r["benchmark"], r["metric"], r["criterion"])
    ):
        lines = [
            (
                row["candidate"] + ("" if row["role"] == "candidate" else f" ({row['role']})"),
                _figure(row["estimate"]),
                None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}",
                row["n_items"],
                row["n_groups"],
                f"{row['coverage']:.1%}",
                row["n_unanswered"],
                row["n_unreadable"],
                row["n_failed"],
            )
            for row in part
        ]
        columns = ("candidate", "estimate", "95% interval", "items", "groups", "coverage", "unanswered",
                   "unreadable", "failed")  # fmt: skip
        _print_table(columns, lines, f"{metric}: {criterion} on {benchmark}")


@app.command()
def compare(
    run: RunPath,
    candidates: Annotated[
        list[str], typer.Argument(metavar="A B [C...]", help="Candidates, as they are labelled.")
    ],
    metric: Annotated[
        str, typer.Option(help="By which metric; a part of its name will do if it is the only one.")
    ],
    margin: Annotated[
        float | None, typer.Option(help="Least difference that matters, in the metric's units.")
    ] = None,
    items: Items = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say whether one candidate is better than another, and how sure that is.

    Two or three candidates are compared in all pairs, four or more each with the first. Every call is
    counted: a run that was looked at often is believed less.

    Example: `viva compare exam.viva "Model A" "Model B" --metric "rouge(n=1)" --margin 0.05`
    """
    found = _open(run, plugin).compare(*candidates, metric=metric, margin=margin, items=items)
    if json:
        return _print_json("compare", run, found.rows)
    if quiet:
        return
    lines = [
        (
            f"{row['a']} - {row['b']}",
            row["criterion"],
            _figure(row["difference"]),
            None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}",
            _figure(row["p_adjusted"], 4),
            row["n_items"],
            row["n_groups"],
            _figure(row["mde_family"]),
        )
        for row in found.rows
    ]
    columns = ("pair", "criterion", "difference", "95% interval, pair alone", "p (Holm)", "items", "groups",
               "detectable")  # fmt: skip
    _print_table(columns, lines, found.rows[0]["metric"] if found.rows else None)
    print(found)


@app.command()
def status(
    run: RunPath,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show what a run holds, what is missing from it, and why. Exit code 1 if failed rows remain.

    Example: `viva status exam.viva`
    """
    found = _open(run, plugin).status()
    if json:
        _print_json("status", run, found.rows)
    elif not quiet:
        lines = [
            [*(row[c] for c in list(row)[:-1]), "; ".join(f"{n} x {why}" for why, n in row["causes"].items())]
            for row in found.rows
        ]
        _print_table(list(found.rows[0]) if found.rows else ["nothing here yet"], lines)
    if any(row["failed"] for row in found.rows):
        raise typer.Exit(1)


@app.command()
def report(
    run: RunPath,
    to: Annotated[Path | None, typer.Option(help="Where to write it; by default beside the run.")] = None,
    items: Items = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the report: one HTML file that asks nothing of the network.

    Example: `viva report exam.viva`
    """
    path = _open(run, plugin).report(to, items=items)
    if json:
        return _print_json("report", run, [{"path": str(path), "bytes": path.stat().st_size}])
    if not quiet:
        print(path)


@app.command()
def copy(
    run: RunPath,
    to: Annotated[Path, typer.Argument(help="A path where nothing lies yet.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Copy a run into a compact file, also while others write to it.

    Example: `viva copy exam.viva backup.viva`
    """
    path = _open(run).copy(to)
    if json:
        return _print_json("copy", run, [{"path": str(path), "bytes": path.stat().st_size}])
    if not quiet:
        print(path)
