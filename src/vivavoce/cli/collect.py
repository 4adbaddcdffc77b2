"""`viva collect`: ask models the items of a benchmark and store their responses."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vivavoce.cli import completion
from vivavoce.cli.exit_codes import ExitCode, end_interrupted
from vivavoce.cli.options import (
    TIMEOUT_TOTAL_S,
    Allow,
    AllowPhi,
    GpuNumbers,
    Json,
    Limits,
    MaxCost,
    NearDuplicates,
    Offline,
    Plugin,
    Providers,
    Quiet,
    RunPath,
    Shard,
    TimeoutTotal,
    open_run,
)
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.cli.progress import collect_progress
from vivavoce.cli.stdout import echo


def collect(
    run: RunPath,
    benchmark: Annotated[
        str,
        typer.Argument(
            help="The benchmark: sample, jsonl:path=FILE …",
            metavar="BENCHMARK",
            autocompletion=completion.registered("benchmarks"),
        ),
    ],
    model: Annotated[
        list[str],
        typer.Option(
            help="Model to evaluate, such as openai/gpt-4o, vllm/NAME:seed=1 or baseline/random; repeatable.",
            metavar="MODEL",
        ),
    ] = [],
    logprobs: Annotated[
        list[str],
        typer.Option(
            metavar="METRIC",
            help="Collect the log-probabilities this metric needs; repeatable.",
        ),
    ] = [],
    repeats: Annotated[
        int | None, typer.Option(help="How often each question is asked (1 if not given).", metavar="N")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(help="Sampling temperature of every model that sets none itself.", metavar="NUMBER"),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(help="Nucleus sampling of every model that sets none itself.", metavar="NUMBER"),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Maximum number of tokens of an answer.", metavar="N")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed from which each question and repeat gets its own.", metavar="N")
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="System message, or a .md file that holds it.", metavar="MESSAGE")
    ] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(help="A .md file with the prompt; {{ question }} … are filled in.", metavar="FILE"),
    ] = None,
    shots: Annotated[int | None, typer.Option(help="Number of few-shot examples.", metavar="N")] = None,
    chat_template: Annotated[
        Literal["on", "off"] | None,
        typer.Option(
            help="Whether a local model's chat template is used; endpoints apply their own.", metavar="on|off"
        ),
    ] = None,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="Ask for a last line that states a confidence: confidence(of=stated)."
        ),
    ] = False,
    preset: Annotated[
        Literal["paper-settings", "published"] | None,
        typer.Option(
            help="Use the paper's settings (temperature, tokens, order of parts), with prompts in our words; "
            "`viva prompts` cuts the printed ones. published is the older name.",
            metavar="paper-settings",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            help="Ask only a share such as 10%, or a number of questions, spread over categories.",
            metavar="SHARE",
        ),
    ] = None,
    draw: Annotated[
        int,
        typer.Option(help="Which sample of that size; each needs a run of its own.", metavar="N"),
    ] = 1,
    shard: Shard = None,
    limits: Limits = "divided",
    gpus: GpuNumbers = None,
    providers: Providers = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be asked and sent, and its cost; ask nothing.")
    ] = False,
    max_cost: MaxCost = None,
    timeout_total: TimeoutTotal = TIMEOUT_TOTAL_S,
    offline: Offline = False,
    allow: Allow = [],
    allow_phi: AllowPhi = False,
    near_duplicates: NearDuplicates = None,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Ask models every question, and store each answer as it arrives. Rerun to resume.

    Stop it at any time and rerun the command to resume: stored answers are never lost, and failed ones are
    asked again. API keys come from the environment. Exit code 1 if answers failed or are still to be asked.

    Example: `viva collect exam.viva sample --model openai/gpt-4o --model baseline/random --repeats 5`

    Example: `viva collect exam.viva jsonl:path=exam.jsonl --model vllm/my-model --offline`

    Example: `viva collect exam.viva sample --model openai/gpt-4o --max-tokens 500 --dry-run`

    Example: `viva collect exam.viva sample --model hf/NAME --logprobs perplexity --logprobs options`

    Example: `viva collect part-3.viva sample --model openai/gpt-4o --shard 3/16`

    Example: `viva collect exam.viva sample --model hf/NAME --gpus 0,1,2,3`
    """
    opened = open_run(run, plugin)
    with collect_progress(show=not quiet and not dry_run) as progress:
        finding = opened.collect(
            benchmark,
            models=model,
            logprobs=logprobs,
            repeats=repeats,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=seed,
            system=system,
            prompt=prompt,
            shots=shots,
            chat_template=None if chat_template is None else chat_template == "on",
            confidence=confidence,
            preset=preset,
            sample=sample,
            draw=draw,
            shard=shard,
            limits=limits,
            gpus=gpus,
            providers=providers,
            dry_run=dry_run,
            max_cost=max_cost,
            timeout_total=timeout_total,
            offline=offline,
            allow=allow,
            allow_phi=allow_phi,
            near_duplicates=near_duplicates,
            progress=progress,
        )
    if json:
        print_json("collect", run, list(finding.rows))
    elif not quiet:
        if dry_run:
            _print_dry_run(finding.rows)
        echo(str(finding))
    if not dry_run:
        (row,) = finding.rows
        _exit_unless_complete(row, is_printed=not (json or quiet))


def _exit_unless_complete(row: Mapping[str, Any], *, is_printed: bool) -> None:
    """Exit with 130 if collecting was interrupted, with 1 if answers failed or are still to be asked."""
    if row["interrupted"]:
        end_interrupted(is_printed=is_printed)
    if row["failed"] or row["left"]:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _print_dry_run(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of what each model would be asked, and its price."""
    columns = ("model", "to ask", "answered", "tokens in", "tokens out, at most", "price, at most")
    names = ("candidate", "calls", "answered", "input_tokens", "output_tokens")
    lines = [
        [*("-" if row[name] is None else row[name] for name in names), figure(row["cost"], 2)] for row in rows
    ]
    print_table(columns, lines, "what would be asked; tokens are characters / 4")
