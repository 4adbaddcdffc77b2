"""Values of parameters that are read without typer's parsers.

For each parameter, typed or not, typer builds a parser of pydantic: a tenth of a second for every command.
What is no plain value is left to typer, and so is every error.
"""

import inspect
import os
import re
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

_NUMBERS = {int: re.compile(r"-?[0-9]{1,15}"), float: re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")}
"""Numbers that every parser reads alike."""


def read_plainly(parameters: Iterable[Any], function: Callable[..., None] | None = None) -> None:
    """Let these parameters read plain values, by the annotations of the function of their command.

    Flags need none; what has neither is left as it is.
    """
    annotations = inspect.signature(function).parameters if function else {}
    for parameter in parameters:
        flag = bool if getattr(parameter, "is_flag", False) else None
        annotation = annotations[parameter.name].annotation if parameter.name in annotations else flag
        if annotation is not None and "process_value" not in vars(parameter):
            parameter.process_value = _process(parameter, annotation, parameter.process_value)


def _process(parameter: Any, annotation: Any, typer_process: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in for `process_value` of a parameter."""
    kind, information = (
        get_args(annotation)[:2] if get_origin(annotation) is Annotated else (annotation, None)
    )
    parser = getattr(information, "parser", None)
    is_list = parameter.nargs == -1 or getattr(parameter, "multiple", False)

    def process_value(context: Any, value: Any) -> Any:
        if parameter.required and value in (None, (), []):
            return typer_process(context, value)
        try:
            plain = plain_value(_of_option(kind), parser, value)
        except ValueError:
            return typer_process(context, value)
        if is_list and value is None:
            plain = ()
        return plain if parameter.callback is None else parameter.callback(context, parameter, plain)

    return process_value


def _of_option(kind: Any) -> Any:
    """The type of an option that may be left out, without the null."""
    if get_origin(kind) is UnionType and NoneType in get_args(kind):
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    return kind


def plain_value(kind: Any, parser: Callable[[Any], Any] | None, value: Any) -> Any:
    """A value as its type, null as it is. Raises `ValueError` for one that typer has to read or refuse."""
    if value is None:
        return None
    if parser is not None:
        return parser(value)
    if get_origin(kind) is list and isinstance(value, list | tuple):
        return [plain_value(get_args(kind)[0], None, entry) for entry in value]
    return _of_type(kind, value)


def _of_type(kind: Any, value: Any) -> Any:
    """A value as its type, which is no list."""
    is_choice = get_origin(kind) is Literal and value in get_args(kind)
    if is_choice or (isinstance(kind, type) and isinstance(value, kind)):
        return value
    if isinstance(kind, type) and isinstance(value, str):
        return _from_word(kind, value)
    raise ValueError


def _from_word(kind: Any, word: str) -> Any:
    """A word as a value of its type."""
    if kind is Path and (os.access(word, os.R_OK) or not os.path.lexists(word)):
        return Path(word)
    if issubclass(kind, Enum) or (kind in _NUMBERS and _NUMBERS[kind].fullmatch(word)):
        return kind(word)
    raise ValueError
