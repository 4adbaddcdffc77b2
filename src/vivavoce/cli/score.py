"""`viva score`: score the responses of a run by metrics."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.options import (
    TIMEOUT_TOTAL_S,
    Allow,
    AllowPhi,
    Full,
    GpuNumbers,
    Items,
    Json,
    Limits,
    MaxCost,
    NWorkers,
    Offline,
    Plugin,
    Providers,
    Quiet,
    RunPath,
    Shard,
    TimeoutTotal,
    open_run,
)
from vivavoce.cli.output import counted, figure, print_estimates, print_json, print_table
from vivavoce.cli.progress import progress_bars
from vivavoce.cli.stdout import echo
from vivavoce.core import specs
from vivavoce.core.errors import InputError
from vivavoce.core.measure_names import metric_name
from vivavoce.core.text import printable

if TYPE_CHECKING:
    from vivavoce.core.records import Finding


def score(
    run: RunPath,
    metrics: Annotated[
        list[str],
        typer.Argument(
            metavar="[METRIC...]",
            autocompletion=completion.registered("metrics"),
            help="Metrics, such as rouge:n=L, or @FILE with one a line; by default what fits the formats.",
        ),
    ] = [],
    items: Items = None,
    worst_at: Annotated[
        int | None,
        typer.Option(help="Also report the worst of this many answers to a question.", metavar="N"),
    ] = None,
    tail: Annotated[
        float | None,
        typer.Option(
            help="Also report the mean of the worst share of questions, such as 0.1.", metavar="SHARE"
        ),
    ] = None,
    veto: Annotated[
        list[str],
        typer.Option(
            help="Also report a mean with a safety veto: responses that fail another metric count as worst, "
            'as in "METRIC[CRITERION] >= LIMIT"; also <=, >, <; repeatable.',
            metavar="LINE",
        ),
    ] = [],
    passes: Annotated[int, typer.Option(help="Judges: how often each answer is scored.", metavar="N")] = 1,
    providers: Providers = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be scored and asked, and its cost; do nothing."),
    ] = False,
    pilot: Annotated[
        int | None,
        typer.Option(
            help="With --dry-run: ask about N answers, which spends, and estimate all from their usage.",
            metavar="N",
        ),
    ] = None,
    workers: NWorkers = 1,
    gpus: GpuNumbers = None,
    shard: Shard = None,
    limits: Limits = "divided",
    max_cost: MaxCost = None,
    timeout_total: TimeoutTotal = TIMEOUT_TOTAL_S,
    offline: Offline = False,
    allow: Allow = [],
    allow_phi: AllowPhi = False,
    plugin: Plugin = [],
    full: Full = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score every answer that has no score yet, and show estimates.

    Without a metric those count that fit the formats: accuracy for single choice and true/false, list_f1 for
    lists, exact for short answers, step_accuracy for chains of reasoning, and token_f1 for all free text that
    has a reference. None of them asks a model.

    Intervals are 95%; coverage is the share of expected answers that could be scored. Judges are models: each
    call is stored in the run, none is made twice, and a reply that cannot be parsed is asked for once more.
    A terminal also shows the first metric's estimates as a plot; with --full scores are counted by status.
    Exit code 1 if scores failed.

    Example: `viva score exam.viva`

    Example: `viva score exam.viva rougeL token_f1`

    Example: `viva score exam.viva judge:rubric=correctness,model=openai/gpt-4o --passes 2`

    Example: `viva score exam.viva judge:rubric=correctness,model=openai/gpt-4o --dry-run --pilot 20`

    Example: `viva score exam.viva rougeL meteor --workers auto`

    Example: `viva score part-3.viva rougeL --shard 3/16`

    Example: `viva score exam.viva judge:rubric=correctness,model=hf/NAME --gpus 0,1`

    Example: `viva score exam.viva bleu token_f1 --worst-at 3 --tail 0.1 --veto "token_f1 < 0.2"`
    """
    _check_metric_words(metrics)
    with progress_bars(show=not quiet and (not dry_run or pilot is not None)) as progress:
        finding = open_run(run, plugin).score(
            *metrics,
            items=items,
            passes=passes,
            worst_at=worst_at,
            tail=tail,
            veto=veto,
            providers=providers,
            max_cost=max_cost,
            timeout_total=timeout_total,
            offline=offline,
            allow=allow,
            allow_phi=allow_phi,
            progress=progress,
            dry_run=dry_run,
            pilot=pilot,
            workers=workers,
            gpus=gpus,
            shard=shard,
            limits=limits,
        )
    if dry_run:
        _print_plan(finding, run, quiet=quiet, json=json)
        return
    if json:
        print_json("score", run, finding.rows, passes=finding.passes, headline=finding.headline,
            languages=finding.languages, integrity=finding.integrity, file_scores=finding.file_scores,
        )  # fmt: skip
    elif not quiet:
        _print_scores(finding, full=full)
    _exit_if_failed(finding.rows, run)


def _print_scores(finding: "Finding", *, full: bool) -> None:
    """The headline, the language of each benchmark, the estimates, and notes."""
    from vivavoce.studies.text import by_view

    if finding.rows:
        languages = [sentence for row in finding.languages for sentence in row["sentences"]]
        echo("\n".join([finding.headline, "", *languages]), end="\n\n" if languages else "\n")
        print_estimates(by_view(finding.rows), full=full, plot=True)
    else:
        echo(str(finding))
    for note in finding.notes:
        echo(note)


def _exit_if_failed(rows: Sequence[Mapping[str, Any]], run: Path) -> None:
    """Say how many scores failed, and exit with 1."""
    failed = sum(row["n_failed"] for row in rows if row["view"] in ("mean", "pooled"))
    if failed:
        count = f"{counted(failed, 'score')} failed"
        hint = "the same command tries again what was lost on our side"
        print(printable(f"viva: {count}; `viva status {run}` tells why, {hint}."), file=sys.stderr)
        raise typer.Exit(ExitCode.INCOMPLETE)


_PLANNED = {
    "metric": "metric",
    "to_score": "to score",
    "calls": "calls",
    "stored_calls": "stored",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out, at most",
    "passes": "texts to encode",
}


def _print_plan(finding: "Finding", run: Path, *, quiet: bool, json: bool) -> None:
    """What each metric would do: as rows, or as a table and sentences."""
    if json:
        print_json("score", run, finding.rows, passes=finding.passes)
    elif not quiet:
        named = [{**row, "metric": metric_name(row["metric"])} for row in finding.rows]
        lines = [[row[name] for name in _PLANNED] + [figure(row["cost"], 2)] for row in named]
        title = "what would be scored; tokens are characters / 4"
        print_table([*_PLANNED.values(), "price, at most"], lines, title)
        echo(str(finding))


def _check_metric_words(words: Sequence[str]) -> None:
    """Raise `InputError` where the shell took a metric apart, or an @file cannot be read.

    `rouge n=L` and `"rouge (n=L)"` are one metric each.
    """
    for position, word in enumerate(words):
        if word.startswith("@"):
            _check_list(Path(word[1:]))
        before = words[position - 1] if position else ""
        if re.fullmatch(r"\w+=\S+", word) and re.fullmatch(r"\w+(:\S+)?", before):
            joined = f"{before.rstrip(',')}{',' if ':' in before else ':'}{word}"
            raise InputError(
                f"{word!r} is no metric: settings stand after a colon, divided by commas without a blank, "
                f'{joined}, or in brackets and quotes, "{specs.parse(joined)}".'
            )
        if spaced := re.fullmatch(r"(\w+)\s+\((.*)\)", word):
            raise InputError(f'{word!r}: no blank stands before the bracket, "{spaced[1]}({spaced[2]})".')


def _check_list(path: Path) -> None:
    """Raise `InputError` for a file of metrics that cannot be read."""
    try:
        path.open("rb").close()
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot read {path}, a file with one metric a line: {reason}.") from None
