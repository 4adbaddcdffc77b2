"""Options that several commands share, and how their values are read."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vivavoce.cli import completion
from vivavoce.cli.run_files import check_run_path
from vivavoce.core.errors import InputError

if TYPE_CHECKING:
    from vivavoce.run.run import Run


def benchmark_spec(spec: str | None) -> str | None:
    """A benchmark spec as it was typed. Raises `InputError` for a file where its spec is needed."""
    typed = (spec or "").strip()
    file = re.fullmatch(r"[^=()]+\.(jsonl|ndjson|json|csv|tsv|xlsx|xlsm)", typed)
    without_key = re.fullmatch(r"(jsonl|csv)\(([^=()]+)\)", typed)
    if not file and not without_key:
        return spec
    from vivavoce.core.specs import Spec

    path = (without_key[2] if without_key else typed).strip().strip("\"'")
    name = without_key[1] if without_key else "csv" if typed.endswith(("sv", "xlsx", "xlsm")) else "jsonl"
    raise InputError(f'{typed} is no benchmark: write "{Spec(name, {"path": path})}".')


def output_path(path: str | Path) -> Path:
    """A path to write to, typed or a default. Raises `InputError` for an empty one, which names no folder."""
    if not str(path).strip():
        raise InputError("the path to write to is empty: a variable of the shell may not be set.")
    return Path(path)


RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The run file, such as exam.viva.")]
PlanPath = Annotated[Path, typer.Argument(metavar="FILE", help="The plan, a YAML file such as exam.yaml.")]
Items = Annotated[
    str | None,
    typer.Option(
        callback=benchmark_spec,
        help="Restrict to the items that this benchmark spec selects.",
        metavar="BENCHMARK",
    ),
]
Primary = Annotated[
    str | None,
    typer.Option(
        metavar="CRITERION",
        help="Criterion that decides, for this and later calls: METRIC, METRIC:CRITERION or overall.",
    ),
]
NearDuplicates = Annotated[
    Literal["count", "join"] | None,
    typer.Option(
        metavar="count|join",
        help="Questions that are nearly the same, for this and later calls: counted, or one case.",
    ),
]
Plugin = Annotated[
    list[Path],
    typer.Option(help="A Python file that registers metrics, benchmarks …; repeatable.", metavar="FILE"),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no tables.")]
Full = Annotated[bool, typer.Option("--full", help="Print all columns and paragraphs, not the main ones.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Redact = Annotated[
    bool, typer.Option("--redact", help="Replace the texts of questions, answers and notes by placeholders.")
]

# What is shown to people
ShownCandidates = Annotated[
    list[str],
    typer.Option(
        help="A candidate to show; repeatable; by default all.",
        metavar="CANDIDATE",
        autocompletion=completion.candidates,
    ),
]
RatingRubric = Annotated[
    str | None, typer.Option(help="rate: the rubric, shipped or a .md file.", metavar="RUBRIC")
]
RankingCriterion = Annotated[
    str | None, typer.Option(help="rank, pairwise: a sentence that says how.", metavar="SENTENCE")
]
AllowCredentialed = Annotated[
    bool, typer.Option("--allow", help="Show items of a credentialed benchmark: the raters signed for it.")
]

# Calls to models
Shard = Annotated[
    str | None,
    typer.Option(
        help="Only this part, such as 3/16, into a run of its own; `viva merge` joins all parts.",
        metavar="K/N",
    ),
]
Limits = Annotated[
    Literal["divided", "whole"],
    typer.Option(
        help="With --shard: keep a part of rates, concurrency and --max-cost, or all.",
        metavar="divided|whole",
    ),
]
GpuNumbers = Annotated[
    str | None,
    typer.Option(
        "--gpus",
        help="Run local models (hf/…) in a process on each of these GPUs. The answers are the same.",
        metavar="NUMBERS",
    ),
]
Providers = Annotated[
    Path | None,
    typer.Option(
        help="A YAML file with endpoints, limits and prices, added to the shipped ones.", metavar="FILE"
    ),
]
MaxCost = Annotated[float | None, typer.Option(help="Stop before spending more than this.", metavar="NUMBER")]
TimeoutTotal = Annotated[
    float,
    typer.Option(
        help="Seconds one request may take in all, over its attempts and the waits between them.",
        metavar="SECONDS",
    ),
]
TIMEOUT_TOTAL_S = 600.0
"""The default of `--timeout-total`, that of the engine: importing it would slow down `--help`."""
Offline = Annotated[bool, typer.Option("--offline", help="Allow connections to localhost only.")]
Allow = Annotated[
    list[str],
    typer.Option(
        help="A host that may get a credentialed benchmark, or compute by Ray offline; repeatable.",
        metavar="HOST",
    ),
]
AllowPhi = Annotated[
    bool, typer.Option("--allow-phi", help="Send items even if they look like patient data.")
]


def _workers(words: object) -> int | str:
    """The number of worker processes, or the address of Ray, that was typed."""
    from vivavoce.run.workers.worker_count import read_workers

    return read_workers(str(words))


NWorkers = Annotated[
    Any,
    typer.Option(
        parser=_workers,
        help="Processes that compute side by side, auto for one a core, ray or ray://HOST:PORT. The rows are "
        "the same.",
        metavar="N",
    ),
]

# Files of answers and scores
Map = Annotated[
    list[str],
    typer.Option(help="The file's column of a field; repeatable.", metavar="FIELD=COLUMN"),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What divides the columns: comma, semicolon, tab, pipe or a character; default: found.",
        metavar="WORD",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="The encoding, such as utf-8, utf-16 or cp1252; default: found, and named.", metavar="NAME"
    ),
]
Sheet = Annotated[
    str | None, typer.Option(help="The sheet of a workbook; default: the first.", metavar="NAME")
]
ModelsInColumns = Annotated[
    list[str],
    typer.Option(
        help="Columns that each hold the answers of one model, or CANDIDATE=COLUMN; repeatable.",
        metavar="COLUMNS",
    ),
]
Set = Annotated[
    list[str], typer.Option(help="One value of a field for all rows; repeatable.", metavar="FIELD=VALUE")
]
Role = Annotated[
    list[str],
    typer.Option(
        help='"NAME=ceiling" or "NAME=floor": an upper or lower reference; repeatable.', metavar="NAME=ROLE"
    ),
]
Where = Annotated[
    list[str],
    typer.Option(help="Scores: COLUMN=VALUE, which rows to import; repeatable.", metavar="COLUMN=VALUE"),
]
Range = Annotated[
    list[str],
    typer.Option(help="Scores: LOW:HIGH, or CRITERION=LOW:HIGH, the scale; repeatable.", metavar="LOW:HIGH"),
]
Direction = Annotated[
    list[str],
    typer.Option(
        help="Scores: higher or lower, or CRITERION=…: which end is best; repeatable.", metavar="END"
    ),
]
IfUnanswered = Annotated[
    list[str],
    typer.Option(
        help="Scores: worst, set_aside or correct, or CRITERION=…: a blank counts so; repeatable.",
        metavar="RULE",
    ),
]


def open_run(path: Path, plugins: Sequence[Path] = ()) -> "Run":
    """The run at `path`, with the plugins loaded. Raises `StoreError` for another kind of file."""
    from vivavoce.run import run

    check_run_path(path)
    return run.open_run(path, plugins=plugins)


def parse_pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """`name=value` words as a mapping; the last `=` divides for roles, whose names may hold one."""
    pairs = {}
    for word in words:
        name, equals, value = word.rpartition("=") if option == "--role" else word.partition("=")
        if not equals or not name or not value:
            raise InputError(f"{option} {word!r}: write {option} name=value.")
        if name in pairs:
            raise InputError(f"{option} names {name!r} twice.")
        pairs[name] = value
    return pairs


def parse_by_criterion(words: Sequence[str], option: str) -> dict[str, str]:
    """`VALUE` for all criteria or `CRITERION=VALUE` for one."""
    return parse_pairs([word if "=" in word else f"*={word}" for word in words], option)


def parse_ranges(words: Sequence[str]) -> dict[str, tuple[float | None, float | None]]:
    """`0:5` as two limits; an empty side has none."""
    ranges = {}
    for criterion, word in parse_by_criterion(words, "--range").items():
        low, colon, high = word.partition(":")
        try:
            ranges[criterion] = (float(low) if low else None, float(high) if high else None)
        except ValueError:
            colon = ""
        if not colon:
            raise InputError(f"--range {word!r}: write LOW:HIGH, such as 0:5, or 0: for no upper limit.")
    return ranges
