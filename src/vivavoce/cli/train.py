"""`viva train`: evaluators of arguments, trained on a benchmark's training split."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Offline, Plugin, Quiet, output_path
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.progress import progress_bars
from vivavoce.cli.stdout import echo
from vivavoce.core.numbers import printed
from vivavoce.core.registry import load_plugin


def train(
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK",
            autocompletion=completion.registered("benchmarks"),
            help="A benchmark with a training split, such as casimedicos:data=DIR.",
        ),
    ],
    arguments: Annotated[
        Literal["none", "expert", "mixture"],
        typer.Option(help="What it reads beside the question.", metavar="none|expert|mixture"),
    ],
    to: Annotated[Path, typer.Option(parser=output_path, metavar="DIR", help="Folder of the evaluators.")],
    encoder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A folder or hub id; auto: MiniLM, if its package is installed; lexical: none.",
        ),
    ] = "auto",
    run: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A run whose candidates argued for the training items."),
    ] = None,
    mixtures: Annotated[
        int | None, typer.Option(metavar="N", help="Mixtures to train on; default: 3, or those published.")
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", help="Trainings of each mixture.")] = 3,
    recipe: Annotated[
        str,
        typer.Option(metavar="RECIPE", help="Any of {recipes}, with settings: corrected(epochs=5, batch=4)."),
    ] = "corrected",
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of draws and trainings.")] = 0,
    device: Annotated[
        str | None, typer.Option(metavar="DEVICE", help="cpu, cuda or mps; default: a GPU if there is one.")
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            metavar="DTYPE", help="What passes compute in: float32, bfloat16 or, on a GPU, float16."
        ),
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count texts, tokens and steps; write nothing.")
    ] = False,
    offline: Offline = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train evaluators that solve a task with an argument's help, so that arguments compare. Rerun to resume.

    Each training item is shown with no argument, with an expert's, or in a mixture with that of one source;
    published mixtures are taken as drawn. Each mixture is trained several times, by stored seeds, and also
    gets a lexical evaluator: the lower bound that a trained one has to beat. Encoders need the extra
    `evaluators`. `viva score RUN "trained(weights=DIR/mixture-1)"` scores arguments by them.

    Example: `viva train casimedicos:data=DIR --arguments mixture --to evaluators --dry-run`

    Example: `viva train casimedicos:data=DIR --arguments none --to baseline --encoder lexical`

    Example: `viva train casimedicos:data=DIR --arguments mixture --to as-published --recipe published`
    """
    from vivavoce.run.train import train as train_evaluators

    for path in plugin:
        load_plugin(path)
    with progress_bars(show=not quiet) as progress:
        finding = train_evaluators(
            benchmark,
            arguments=arguments,
            to=to,
            encoder=encoder,
            run=run,
            mixtures=mixtures,
            runs=runs,
            recipe=recipe,
            seed=seed,
            device=device,
            dtype=dtype,
            dry_run=dry_run,
            offline=offline,
            progress=progress,
        )
    if json:
        print_json("train", run, list(finding.rows), notes=list(finding.notes))
    elif not quiet:
        columns = (
            "mixture",
            "run",
            "state",
            "rows",
            "texts",
            "tokens",
            "cut",
            "steps",
            "epoch",
            "dev accuracy",
        )
        print_table(columns, [_cells(row) for row in finding.rows], keys=2)
        echo(str(finding))


def _cells(row: Mapping[str, Any]) -> list[Any]:
    accuracy = None if row["dev_accuracy"] is None else printed(row["dev_accuracy"], ".1%")
    epoch = None if row["best_epoch"] is None else f"{row['best_epoch']} of {row['epochs']}"
    run = "lexical" if row["run"] is None else row["run"]
    counts = [row[name] for name in ("n_train", "texts", "tokens", "cut", "steps")]
    return [row["mixture"], run, row["state"], *counts, epoch, accuracy]
