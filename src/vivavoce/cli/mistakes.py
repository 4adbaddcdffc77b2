"""What a user may type wrong, as one sentence that says what to type next."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from vivavoce.errors import InputError, RunNotFound, SelectionError, StoreError

if TYPE_CHECKING:
    from vivavoce.run import Run

__all__ = ["UsageError", "by_metric", "check_path", "check_target", "misused", "nowhere", "runs_in", "whole"]

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What the parser of the command line raises; typer gives it no public name."""

_WORDS = {
    "add": "import", "load": "import", "mark": "score", "evaluate": "score", "eval": "score", "run": "score",
    "grade": "score", "analyse": "study", "analyze": "study", "leaderboard": "report", "html": "report",
    "info": "status", "ls": "list", "describe": "show", "join": "merge", "backup": "copy", "save": "export",
}  # fmt: skip
"""What others call our verbs."""
_DOCUMENTED = ("--to",)
"""Of an option's two names the one that every document uses."""
_DATA = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_IMPORT = '`viva import exam.viva answers.jsonl --benchmark "jsonl(path=exam.jsonl)"`'


def misused(error: Any, words: Sequence[str]) -> str:
    """The sentence for an error of the parser; `words` are what was typed after `viva`."""
    kind, context = type(error).__name__, error.ctx
    within = context is not None and context.parent is not None
    verb = str(context.info_name) if within else next(iter(words), "") if context is None else ""
    of = f"{verb} " if verb else ""
    if kind == "NoSuchOption":
        return _option(error, context, verb)
    if kind == "MissingParameter" and error.param is not None:
        if error.param.name == "run":
            return f"{of}needs a RUN, the file that holds a run. {runs_in(Path(), verb)}"
        return f"{of}needs {_named(error.param)}, as in {_example(context)}."
    if kind == "BadParameter" and error.param is not None:
        return _value(error, words)
    if kind == "BadOptionUsage":
        return f"{error.option_name} needs a value after it: `viva {of}--help` shows examples."
    if context is not None and not within and str(error.message).startswith("No such command"):
        return _verb(words, list(context.command.commands))
    if found := re.search(r"extra argument(?:s|\(s\))? \((.*)\)", str(error.message)):
        return f"{of}takes no further {found[1]!r}: `viva {of}--help` shows what it takes."
    said = " ".join(str(error.format_message()).split()).rstrip(".")
    return f"{of}{said[:1].lower()}{said[1:]}: `viva {of}--help` shows what it takes."


def _example(context: Any) -> str:
    """The first example in a verb's help, as it stands there."""
    found = re.search(r"Example:\s+(`[^`]+`)", str(context.command.help))
    return " ".join(found[1].split()) if found else f"`{context.command_path} --help`"


def _named(parameter: Any) -> str:
    """An option by the name that the documents use, an argument by what help calls it."""
    if parameter.param_type_name == "option":
        return str(next((name for name in _DOCUMENTED if name in parameter.opts), parameter.opts[0]))
    return str(parameter.metavar or parameter.name.upper()).split(" ")[0].removesuffix("...")


def _value(error: Any, words: Sequence[str]) -> str:
    """What is wrong with a value, with the nearest of the words that can be chosen."""
    names = error.param.opts
    given = [after for word, after in pairwise(words) if word in names]
    given += [word.partition("=")[2] for word in words if word.partition("=")[0] in names and "=" in word]
    said = " ".join(str(error.message).split()).rstrip(".").removeprefix("Value error, ")
    said = said[:1].lower() + said[1:]
    found = re.fullmatch(r"'(.*?)' is not one of (.*)", said)
    if found:
        near = get_close_matches(found[1], re.findall(r"'([^']*)'", found[2]), n=1)
        return f"{_named(error.param)}: {said}." + (f" Did you mean {near[0]!r}?" if near else "")
    return f"{' '.join([_named(error.param), *given[:1]])}: {said}."


def _option(error: Any, context: Any, verb: str) -> str:
    """The sentence for an option that a verb does not have."""
    name, of = str(error.option_name), f"{verb} " if verb else ""
    own = [word for p in context.command.params for word in (*p.opts, *p.secondary_opts) if word[0] == "-"]
    said = f"{verb or 'viva'} has no option {name}."
    group = context.parent.command if context.parent else context.command
    others = [other for other, c in group.commands.items() if any(name in p.opts for p in c.params)]
    if verb == "score" and get_close_matches(name, ["--metric"]) and (name == "--metric" or not others):
        return f"{said} Metrics stand after RUN: `viva score exam.viva accuracy`."
    if others and not verb:
        return f"{said} Options stand after the verb: `viva {others[0]} … {name}`."
    if others:
        return f"{said} It belongs to {' and '.join(f'`viva {other}`' for other in others[:3])}."
    if near := get_close_matches(name, own, n=1):
        return f"{said} Did you mean {near[0]}?"
    return f"{said} `viva {of}--help` lists those it has."


def _verb(words: Sequence[str], verbs: Sequence[str]) -> str:
    """The sentence for a first word that is no verb."""
    said = next((word for word in words if not word.startswith("-")), "")
    rest = [word for word in words if word != said]
    if said.casefold() == "help":
        return "`viva --help` lists the verbs, `viva score --help` explains one."
    if said.endswith(".viva") or Path(said).is_file():
        verb = next((word for word in rest if word in verbs), "status")
        return f"the verb comes first, then the run: `viva {verb} {quote(said)}`."
    near = [v for v in verbs if v == said.casefold()] or get_close_matches(said.casefold(), verbs, n=1)
    if meant := next(iter(near), _WORDS.get(said.casefold())):
        return f"no verb {said!r}. Did you mean `viva {meant}`?"
    return f"no verb {said!r}. There are {', '.join(verbs)}; `viva demo` is the way to begin."


# Runs


def runs_in(folder: Path, verb: str = "status") -> str:
    """What runs lie in a folder, with the command for one of them, or the command that makes one."""
    found = _runs(folder)
    if not found or verb == "import":
        return f"{_IMPORT} makes one, `viva demo` makes one to look at."
    more = "" if verb in ("status", "report", "study") else " …"
    return f"Here: {_some(found)}, so `viva {verb or 'status'} {quote(str(found[0]))}{more}`."


def nowhere(error: RunNotFound) -> str:
    """The sentence for a run that is not there, with those that are."""
    found = _runs(Path())
    return f"{error} " + (f"Here: {_some(found)}." if found else "`viva demo` makes one to look at.")


def _runs(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.glob("*.viva") if path.is_file())
    except OSError:
        return []


def _some(found: Sequence[Path]) -> str:
    return ", ".join(map(str, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")


def check_path(path: Path) -> None:
    """Raise `StoreError` for a path that names an exam, answers, a report or a folder instead of a run."""
    name = quote(str(path))
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder, and a run is a file. {runs_in(path)}")
        if path.suffix.lower() in (".html", ".htm"):
            run = path.with_suffix(".viva")
            here = f"the run is {run}." if run.is_file() else runs_in(path.parent)
            raise StoreError(f"{path} is a report, not a run: {here}")
        if path.suffix.lower() not in _DATA or _is_run(path):
            return
    except OSError as error:
        raise StoreError(f"cannot look for a run at {path}: {error.strerror or error}.") from None
    raise StoreError(
        f"{path} is a file of questions, answers or marks, and no run, which stands first: `viva import "
        f"exam.viva {name} --benchmark …` brings it into one."
    )


def check_target(path: Path) -> None:
    """Raise `StoreError` for a path that the system does not even look at, such as too long a name."""
    try:
        path.exists()
    except OSError as error:
        raise StoreError(f"cannot write to {path}: {error.strerror or error}. Give another path.") from None


def _is_run(path: Path) -> bool:
    """True if an SQLite file lies there, whatever it is called."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(15) == b"SQLite format 3"


def whole(metrics: Iterable[str]) -> list[str]:
    """Metrics as they were typed. Raises `InputError` where one was taken apart, or an @file cannot be read.

    `rouge n=L` and `"rouge (n=L)"` are one metric each.
    """
    metrics = list(metrics)
    for at, word in enumerate(metrics):
        if word.startswith("@"):
            _check_list(Path(word[1:]))
        before = metrics[at - 1] if at else ""
        if re.fullmatch(r"\w+=\S+", word) and re.fullmatch(r"\w+", before):
            raise InputError(
                f"{word!r} is no metric: settings stand in brackets, and the whole in quotes: "
                f'"{before}({word})".'
            )
        if found := re.fullmatch(r"(\w+)\s+\((.*)\)", word):
            raise InputError(f'{word!r}: no blank stands before the bracket, "{found[1]}({found[2]})".')
    return metrics


def _check_list(path: Path) -> None:
    """Raise `InputError` for a file of metrics that cannot be read."""
    try:
        path.open("rb").close()
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"cannot read {path}, a file with one metric a line: {why}.") from None


def by_metric(run: "Run") -> NoReturn:
    """Raise `SelectionError` with the metrics that a comparison without --metric could have named."""
    names = list(dict.fromkeys(measure.metric for measure in run.measures))
    path = quote(str(run.file.path))
    if not names:
        raise SelectionError(
            f"nothing has been marked in this run yet: `viva score {path} METRIC` does that."
        )
    raise SelectionError(
        f"compare needs --metric, one of those that marked this run: {', '.join(names)}. "
        f'Such as: --metric "{names[0]}"'
    )
