"""`viva shards`: the shards of a plan as commands, or as a Slurm array job."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from vivavoce.cli.options import Json, Limits, PlanPath, output_path
from vivavoce.cli.output import print_json
from vivavoce.cli.plugin_trust import TrustPlugins, confirm_plugins
from vivavoce.cli.stdout import echo_script


def shards(
    plan: PlanPath,
    of: Annotated[int, typer.Option("--of", metavar="N", help="Into how many shards the plan is divided.")],
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Write a Slurm array job instead of commands.")
    ] = False,
    parts: Annotated[
        Path | None,
        typer.Option(
            parser=output_path, metavar="FOLDER", help="Folder of the shards' runs (beside the plan's run)."
        ),
    ] = None,
    time: Annotated[str, typer.Option(metavar="TIME", help="Slurm: time limit of a task.")] = "24:00:00",
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Slurm: memory of a task.")] = "8G",
    limits: Limits = "divided",
    merge_after: Annotated[
        Literal["any", "ok"],
        typer.Option(
            metavar="any|ok", help="Slurm: merge once all tasks have ended, or only if all succeeded."
        ),
    ] = "any",
    trust_plugins: TrustPlugins = False,
    json: Json = False,
) -> None:
    """Divide a plan into shards: print a command for each and for the merge, or a Slurm job script.

    The job has one task a shard, with a GPU where a local model (hf/…) is in the plan, offline where the plan
    is. Each task works on the node's own disk and copies its run back, every ten minutes, at its end and when
    it is cut; Slurm then starts it again, and it goes on, with what is left of its part of max_cost. The
    merge joins the shards and runs the rest of the plan. The plan is checked before anything is printed, for
    which the code of its plugins runs only if you say so, at the terminal or by --trust-plugins.

    Example: `viva shards exam.yaml --of 4`

    Example: `viva shards exam.yaml --of 16 --slurm > job.sh && bash job.sh`
    """
    from vivavoce.run.plan.slurm import ShardJob, shard_commands, slurm_job

    confirm_plugins(plan, is_trusted=trust_plugins)
    job = ShardJob(of, parts, time, memory, limits, merge_after)
    if slurm:
        script = slurm_job(plan, job)
        rows = [{"script": script}]
    else:
        commands = shard_commands(plan, job)
        script = "".join(f"{command}\n" for command in commands)
        rows = [{"command": command} for command in commands]
    if json:
        print_json("shards", None, rows)
    else:
        echo_script(script)  # names that a terminal could misread were refused
