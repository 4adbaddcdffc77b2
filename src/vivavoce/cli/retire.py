"""`viva retire`: a measure out of all that a run says, and back."""

from typing import Annotated

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Plugin, Quiet, RunPath, open_run
from vivavoce.cli.output import print_json
from vivavoce.cli.stdout import echo


def retire(
    run: RunPath,
    measure: Annotated[
        str,
        typer.Argument(
            metavar="MEASURE",
            autocompletion=completion.metrics,
            help="What gave the scores: METRIC, METRIC:CRITERION or a signature.",
        ),
    ],
    rater: Annotated[
        str | None,
        typer.Option(help="Only this rater's scores; '' for those without a rater.", metavar="NAME"),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Let the measure count again.")] = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Take a measure out of every estimate, comparison, study and report; nothing is deleted.

    Its scores stay in the run and no longer count anywhere: not as a criterion, not as labels, not in exports
    of scores. `viva status` lists what is retired, `viva merge` and `viva copy` carry it, and `--undo` lets
    the measure count again. Without `--rater` the scores of all its raters are retired.

    Example: `viva retire exam.viva labels --rater anna`

    Example: `viva retire exam.viva judge:harm`

    Example: `viva retire exam.viva labels --rater anna --undo`
    """
    finding = open_run(run, plugin).retire(measure, rater=rater, undo=undo)
    if json:
        print_json("retire", run, finding.rows)
    elif not quiet:
        echo(finding.text)
