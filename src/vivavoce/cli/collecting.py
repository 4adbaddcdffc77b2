"""The verbs that ask models: collect."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli.options import (
    Allow,
    AllowPhi,
    Json,
    MaxCost,
    Offline,
    Plugin,
    Providers,
    Quiet,
    RunPath,
    opened,
)
from vivavoce.cli.output import asking, figure, print_json, print_table
from vivavoce.text import printable

__all__ = ["collect"]


class OnOff(StrEnum):
    """Whether a chat template is used."""

    on = "on"
    off = "off"


class Preset(StrEnum):
    """Settings that are known by a name."""

    published = "published"


def collect(
    run: RunPath,
    benchmark: Annotated[str, typer.Argument(help='The exam: sample, "jsonl(path=FILE)" …')],
    model: Annotated[
        list[str],
        typer.Option(help='Whom: openai/gpt-4o, "vllm/NAME(seed=1)", baseline/random; repeatable.'),
    ] = [],  # noqa: B006 - typer reads the default, nothing changes it
    for_: Annotated[
        list[str],
        typer.Option("--for", help="Ask for the probabilities that this metric marks; repeatable."),
    ] = [],  # noqa: B006
    repeats: Annotated[int | None, typer.Option(help="How often each question is asked; else 1.")] = None,
    temperature: Annotated[float | None, typer.Option(help="For every model that states none.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Nucleus sampling, as temperature.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens of an answer at most.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes a seed for each question and repeat.")] = None,
    system: Annotated[str | None, typer.Option(help="The system message, or a .md file.")] = None,
    prompt: Annotated[Path | None, typer.Option(help="A .md file with {{ question }} …")] = None,
    shots: Annotated[int | None, typer.Option(help="So many solved questions go before.")] = None,
    chat_template: Annotated[
        OnOff | None, typer.Option(help="For models that run here; endpoints have their own.")
    ] = None,
    preset: Annotated[
        Preset | None, typer.Option(help="The settings that the benchmark was published with.")
    ] = None,
    sample: Annotated[
        str | None, typer.Option(help="Ask only a share such as 10%, or so many questions, by category.")
    ] = None,
    providers: Providers = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked and cost, and what could be seen.")
    ] = False,
    max_cost: MaxCost = None,
    offline: Offline = False,
    allow: Allow = [],  # noqa: B006
    allow_phi: AllowPhi = False,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Ask models every question, and store each answer as it comes. The same command again goes on.

    What is answered is not asked again; what failed is. Keys come from the environment. Exit code 1 if
    answers failed or are left.

    Example: `viva collect exam.viva sample --model openai/gpt-4o --model baseline/random --repeats 5`

    Example: `viva collect exam.viva "jsonl(path=exam.jsonl)" --model vllm/my-model --offline`

    Example: `viva collect exam.viva sample --model openai/gpt-4o --max-tokens 500 --dry-run`

    Example: `viva collect exam.viva sample --model hf/NAME --for perplexity --for options`
    """
    here = opened(run, plugin)
    with asking(show=not quiet and not dry_run and sys.stderr.isatty()) as hear:
        found = here.collect(
            benchmark,
            models=model,
            for_=for_,
            repeats=repeats,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=seed,
            system=system,
            prompt=prompt,
            shots=shots,
            chat_template=None if chat_template is None else chat_template is OnOff.on,
            preset="published" if preset else None,
            sample=sample,
            providers=providers,
            dry_run=dry_run,
            max_cost=max_cost,
            offline=offline,
            allow=allow,
            allow_phi=allow_phi,
            progress=hear,
        )
    if json:
        print_json("collect", run, list(found.rows))
    elif not quiet:
        if dry_run:
            columns = ("model", "to ask", "answered", "tokens in", "tokens out, at most", "price, at most")
            lines = [
                ["-" if cell is None else cell for cell in list(row.values())[:-1]] + [figure(row["cost"], 2)]
                for row in found.rows
            ]
            print_table(columns, lines, "what would be asked; tokens are characters / 4")
        print(printable(str(found)))
    if dry_run:
        return
    (row,) = found.rows
    if row["interrupted"]:
        raise typer.Exit(130)
    if row["failed"] or row["left"]:
        raise typer.Exit(1)
