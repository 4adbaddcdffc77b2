"""`viva annotate`: people judge a run's questions in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import (
    AllowCredentialed,
    Items,
    Json,
    Plugin,
    Quiet,
    RankingCriterion,
    RatingRubric,
    RunPath,
    ShownCandidates,
    open_run,
)
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.stdout import echo

if TYPE_CHECKING:
    from vivavoce.people.panels import Panel
    from vivavoce.run.people.annotate import LinkRow
    from vivavoce.web.access.exposure import Exposure


def annotate(
    run: RunPath,
    task: Annotated[
        Literal[
            "rank",
            "pairwise",
            "rate",
            "review",
            "translation",
            "rewording",
            "verify",
            "neutralise",
            "answer",
        ],
        typer.Argument(
            metavar="TASK",
            help="rank, pairwise, rate: judge answers; verify: their facts; neutralise: words that give the "
            "option away; review: the questions with their keys; translation, rewording: beside what they "
            "were made from; answer: take the exam.",
        ),
    ],
    raters: Annotated[
        str | None,
        typer.Option(
            help="The raters' names, separated by commas; by default those of before.", metavar="NAMES"
        ),
    ] = None,
    items: Items = None,
    candidates: ShownCandidates = [],
    rubric: RatingRubric = None,
    criterion: RankingCriterion = None,
    n: Annotated[
        int | None,
        typer.Option(
            "--n", help="Number of sampled questions (rank 30, review and answer all, else 60).", metavar="N"
        ),
    ] = None,
    double: Annotated[
        float | None,
        typer.Option(
            help="Share questions out: one rater each, two for this share (else all judge all).",
            metavar="SHARE",
        ),
    ] = None,
    repeats: Annotated[
        float, typer.Option(help="Share of a rater's questions that are put to them again.", metavar="SHARE")
    ] = 0.05,
    labels: Annotated[
        int | None,
        typer.Option(
            help="So many judgements are fixed beforehand: agreement is hidden until then (else until all).",
            metavar="N",
        ),
    ] = None,
    pilot: Annotated[
        int,
        typer.Option(
            help="So many questions come first, for all; the organiser opens the rest.", metavar="N"
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of questions, shares and orders.", metavar="N")] = 1,
    assist: Annotated[
        str | None,
        typer.Option(
            help="answer: show this candidate's answer first, on half of each rater's questions.",
            metavar="CANDIDATE",
            autocompletion=completion.candidates,
        ),
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            help='rate: what labels are for, "compare A B" or "score A": draw where they tell most.',
            metavar="GOAL",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="rate --for: the judge whose scores people are to correct.",
            metavar="METRIC",
            autocompletion=completion.metrics,
        ),
    ] = None,
    new_links: Annotated[
        bool, typer.Option("--new-links", help="Draw all links anew; the earlier ones sign nobody in.")
    ] = False,
    revoke: Annotated[
        list[str],
        typer.Option(help="End the link of this rater, and do no more; repeatable.", metavar="NAME"),
    ] = [],
    allow: AllowCredentialed = False,
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="Port to answer on; 0 takes a free one.")
    ] = 8018,
    host: Annotated[
        str,
        typer.Option(help="Address to answer on; another than this machine's needs TLS.", metavar="ADDRESS"),
    ] = "127.0.0.1",
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy ends TLS and forwards the visitor's address.")
    ] = False,
    proxy_header: Annotated[
        str | None,
        typer.Option(
            help="With --behind-proxy: the header in which the proxy names the visitor (X-Forwarded-For).",
            metavar="NAME",
        ),
    ] = None,
    public_name: Annotated[
        str | None, typer.Option(help="The name by which raters reach the server.", metavar="NAME")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="TLS certificate, a PEM file.", metavar="FILE")
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option(help="Its key, where it is another file.", metavar="FILE")
    ] = None,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Let people judge answers or questions in the browser.

    One question a page, stored at once, in any order.

    Each rater gets a link, which signs in as often as they like; the run holds no link, only its hash, so
    links are printed once. The same command after a stop goes on where it was. Raters see no candidate, no
    score and nobody else. The organiser has a link of their own: progress, rounds, disputes, agreement.
    With --json the links are one JSON object, and the server goes on. Ctrl-C ends it. It needs the extra
    `web`. Not for clinical use.

    Example: `viva annotate exam.viva review --raters anna,ben,carla --double 0.45 --seed 1`

    Example: `viva annotate exam.viva rate --rubric medgpt --raters anna,ben --n 60`

    Example: `viva annotate exam.viva rate --rubric medgpt --raters anna,ben --for "compare A B" --n 40`

    Example: `viva annotate exam.viva answer --raters anna,ben --assist gpt-4o`, then `viva score` and
    `viva compare exam.viva --assisted`

    Example: `viva annotate exam.viva rank --raters anna,ben --pilot 5 --public-name exam.example.org
    --behind-proxy`
    """
    from vivavoce.web.server import require_web

    require_web("viva annotate")
    from vivavoce.run.people.annotate import prepare_panel, revoke_links
    from vivavoce.run.people.label_panel import Labelling
    from vivavoce.web.access.exposure import Exposure

    exposure = Exposure(host, behind_proxy, certificate, certificate_key, public_name, proxy_header)
    exposure.check()
    file = open_run(run, plugin).file
    if revoke:
        _show_revoked(run, revoke_links(file, revoke), quiet=quiet, json=json)
        return
    panel = prepare_panel(
        file, task, [name for name in (raters or "").split(",") if name.strip()], items=items,
        candidates=candidates, rubric=rubric, criterion=criterion, n=n, double=double, repeats=repeats,
        pilot=pilot, seed=seed, assist=assist, labels=labels, allow=allow,
        labelling=Labelling(for_, metric),
    )  # fmt: skip
    _serve(run, panel, exposure, port=port, new_links=new_links, quiet=quiet, json=json)


def _show_revoked(run: Path, names: "list[str]", *, quiet: bool, json: bool) -> None:
    """Whose links have ended, as JSON or as sentences."""
    if json:
        print_json("annotate", run, [], revoked=names)
    elif not quiet:
        for name in names:
            echo(f"the link of {name} signs nobody in any more.")


def _serve(
    run: Path, panel: "Panel", exposure: "Exposure", *, port: int, new_links: bool, quiet: bool, json: bool
) -> None:
    from vivavoce.run.people.annotate import draw_links
    from vivavoce.store.runfile import RunFile
    from vivavoce.web.access.access import Access
    from vivavoce.web.annotate.app import annotate_app
    from vivavoce.web.annotate.desk import WAIT_S
    from vivavoce.web.server import serve

    file = RunFile(run, wait_s=WAIT_S)

    def announce(address: str) -> None:
        base = exposure.address(urlsplit(address).port or port)
        rows, organiser = draw_links(file, panel, base, anew=new_links)
        if json:
            print_json(
                "annotate", run, [row._asdict() for row in rows], organiser=organiser, panel=panel.key.panel
            )
        elif not quiet:
            _print_links(run, panel, rows, organiser)
        echo(end="", flush=True)

    serve(
        annotate_app(file, panel, Access(file, exposure)),
        host=exposure.host,
        port=port,
        announce=announce,
        certificate=exposure.certificate,
        key=exposure.certificate_key,
        exposed=exposure.encrypted,
        behind_proxy=exposure.behind_proxy,
    )


_GIVEN_BEFORE = "printed before"


def _print_links(run: Path, panel: "Panel", rows: "list[LinkRow]", organiser: str | None) -> None:
    print_table(
        ("rater", "questions", "double", "put again", "link"),
        [(row.rater, row.n_items, row.n_double, row.n_planted, row.link or _GIVEN_BEFORE) for row in rows],
        f"panel {panel.key.panel}: {panel.key.task.criterion}",
    )
    echo(f"organiser: {organiser or _GIVEN_BEFORE}")
    if panel.changed:
        echo(f"No longer asked, as the run holds them otherwise now: {', '.join(panel.changed[:5])}.")
    if organiser is None or any(row.link is None for row in rows):
        echo("Links are not kept: --new-links draws all of them anew.")
    echo(f"{run} takes judgements now. Ctrl-C ends it; the same command goes on.")
