"""What an import leaves open, with the whole command that says it."""

from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote
from typing import Any

import typer

from vivavoce.core.errors import InputError


@contextmanager
def saying_the_command(context: typer.Context) -> Iterator[None]:
    """Put the whole command behind the questions of `OpenQuestions` that is raised inside."""
    from vivavoce.run.exchange.import_plan import OpenQuestions

    try:
        yield
    except OpenQuestions as error:
        words = [*_words_of(context), *error.options]
        raise InputError(f"{error} So does:\n  viva import {' '.join(map(quote, words))}") from None


def _words_of(context: typer.Context) -> Iterator[str]:
    """The arguments and options of a command that are not what they are by default."""
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value in (None, (), [], False) or value == parameter.get_default(context):
            continue
        for entry in value if isinstance(value, list) or parameter.multiple else [value]:
            if parameter.param_type_name == "argument":
                yield str(entry)
            else:
                yield from (parameter.opts[0], *_texts(entry))


def _texts(value: Any) -> list[str]:
    if value is True:
        return []
    return [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
