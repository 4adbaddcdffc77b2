"""`viva view`: a run in the browser."""

from typing import Annotated

import typer

from vivavoce.cli.options import RunPath
from vivavoce.cli.run_files import check_run_path
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import RunNotFound


def view(
    run: RunPath,
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="Port of this machine to answer on; 0 takes a free one.")
    ] = 8017,
) -> None:
    """Browse a run in the browser, also while it grows.

    It shows answers, scores and notes, and two candidates side by side.

    It only reads, and only this machine reaches it, by the address it prints. Ctrl-C ends it. The pages name
    the candidates, so raters must not see them. It needs the extra `web`.

    Example: `viva view exam.viva`

    Example: `viva view exam.viva --port 0`
    """
    from vivavoce.store.runfile import RunFile
    from vivavoce.web.server import require_web

    require_web("viva view")
    check_run_path(run)
    if not RunFile(run).exists:
        raise RunNotFound(f"no run at {run}.")
    from vivavoce.web.server import serve
    from vivavoce.web.view.app import draw_key, view_app

    key = draw_key()
    app = view_app(run, key)
    serve(
        app,
        port=port,
        announce=lambda address: echo(
            f"{run} is open for you alone at {address}?key={key}\nCtrl-C ends it.", flush=True
        ),
    )
