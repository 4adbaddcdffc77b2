"""Errors of the command line's parser, each as one sentence that says what to type next.

Only what its own messages leave out is written here: the nearest name, an example, a run in this folder.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from vivavoce.cli.run_files import suggest_run

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What the parser of the command line raises; typer gives it no public name."""
_OTHER_WORDS = {
    "add": "import", "load": "import", "mark": "score", "evaluate": "score", "eval": "score", "run": "score",
    "grade": "score", "analyse": "study", "analyze": "study", "leaderboard": "report", "html": "report",
    "info": "status", "ls": "list", "describe": "show", "join": "merge", "backup": "copy", "save": "export",
}  # fmt: skip
"""What other tools call our commands."""


def usage_message(error: Any, words: Sequence[str]) -> str:
    """The sentence for an error of the parser; `words` are what was typed after `viva`."""
    kind, context, message = type(error).__name__, error.ctx, str(error.message)
    within_command = context is not None and context.parent is not None
    first_word = next(iter(words), "") if context is None else ""
    name = str(context.info_name) if within_command else first_word
    prefix = f"{name} " if name else ""
    if kind == "NoSuchOption":
        return _unknown_option(str(error.option_name), context, name)
    if kind == "MissingParameter" and error.param is not None:
        if error.param.name == "run":
            return f"{prefix}needs a RUN, the file that holds a run. {suggest_run(Path(), name)}"
        return f"{prefix}needs {_label(error.param)}, as in {_first_example(context)}."
    if kind == "BadParameter" and error.param is not None:
        return _bad_value(error, words)
    if kind == "BadOptionUsage":
        return f"{error.option_name} needs a value after it: `viva {prefix}--help` shows examples."
    if context is not None and not within_command and message.startswith("No such command"):
        return _unknown_command(words, context.command.list_commands(context))
    if extra := re.search(r"extra argument(?:s|\(s\))? \((.*)\)", message):
        return f"{prefix}takes no further {extra[1]!r}: `viva {prefix}--help` shows what it takes."
    return f"{prefix}{_clause(str(error.format_message()))}: `viva {prefix}--help` shows what it takes."


def _first_example(context: Any) -> str:
    """The first example in a command's help."""
    example = re.search(r"Example:\s+(`[^`]+`)", str(context.command.help))
    return " ".join(example[1].split()) if example else f"`{context.command_path} --help`"


def _label(parameter: Any) -> str:
    """What help calls an option or an argument."""
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name.upper()).split(" ")[0].removesuffix("...")


def _clause(message: str) -> str:
    """A message of the parser as a clause, without a capital and a full stop."""
    text = " ".join(message.split()).rstrip(".").removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def _bad_value(error: Any, words: Sequence[str]) -> str:
    """What is wrong with a value, with the nearest of the words that can be chosen."""
    options = error.param.opts
    values = [after for word, after in pairwise(words) if word in options]
    values += [word.partition("=")[2] for word in words if "=" in word and word.partition("=")[0] in options]
    clause = _clause(str(error.message))
    choice = re.fullmatch(r"'(.*?)' is not one of (.*)", clause)
    if not choice:
        return f"{' '.join([_label(error.param), *values[:1]])}: {clause}."
    nearest = get_close_matches(choice[1], re.findall(r"'([^']*)'", choice[2]), n=1)
    return f"{_label(error.param)}: {clause}." + (f" Did you mean {nearest[0]!r}?" if nearest else "")


def _unknown_option(option: str, context: Any, name: str) -> str:
    message = f"{name or 'viva'} has no option {option}."
    group = context.parent.command if context.parent else context.command
    commands = {command: group.get_command(context, command) for command in group.list_commands(context)}
    owners = [command for command, parsed in commands.items() if any(option in p.opts for p in parsed.params)]
    if name == "score" and get_close_matches(option, ["--metric"]) and (option == "--metric" or not owners):
        return f"{message} Metrics stand after RUN: `viva score exam.viva accuracy`."
    if owners and not name:
        return f"{message} Options stand after the verb: `viva {owners[0]} … {option}`."
    if owners:
        return f"{message} It belongs to {' and '.join(f'`viva {command}`' for command in owners[:3])}."
    options = [opt for p in context.command.params for opt in (*p.opts, *p.secondary_opts) if opt[0] == "-"]
    if nearest := get_close_matches(option, options, n=1):
        return f"{message} Did you mean {nearest[0]}?"
    return f"{message} `viva {name + ' ' if name else ''}--help` lists those it has."


def _unknown_command(words: Sequence[str], commands: Sequence[str]) -> str:
    typed = next((word for word in words if not word.startswith("-")), "")
    if typed.casefold() == "help":
        return "`viva --help` lists the verbs, `viva score --help` explains one."
    if typed.endswith(".viva") or Path(typed).is_file():
        command = next((word for word in words if word in commands), "status")
        return f"the verb comes first, then the run: `viva {command} {quote(typed)}`."
    lower = typed.casefold()
    nearest = [lower] if lower in commands else get_close_matches(lower, commands, n=1)
    if command := next(iter(nearest), _OTHER_WORDS.get(lower, "")):
        return f"no verb {typed!r}. Did you mean `viva {command}`?"
    return f"no verb {typed!r}. There are {', '.join(commands)}; `viva demo` is the way to begin."
