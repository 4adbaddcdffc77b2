"""Values that are read without typer's parsers are those that its parsers give."""

from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from vivavoce.cli.commands import NAMES, function_of
from vivavoce.cli.network_disk import with_network_disk
from vivavoce.cli.plain_values import plain_value, read_plainly

WORDS = (
    *("", "a", "3", "-3", "0.5", "1e3", "1_000", " 5 ", "٣", "nan", "inf", "+2", "00012", "1" * 20, "true"),
    *("worse", "unclear", "sample", "fixed", "count", "join", "exam.viva", "/", "/nowhere/x", "-"),
)


def command(name: str, *, plain: bool):
    """The command as typer makes it, or with plain values."""
    function = with_network_disk(function_of(name))
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name)(function)
    result = typer.main.get_command(single)
    if plain:
        read_plainly(result.params, function)
    return result


def outcome(parameter, context, value):
    """What a parameter makes of a value, a list of a list or a tuple, or the error."""
    try:
        result = parameter.process_value(context, value)
    except Exception as error:
        return type(error).__name__, str(error)
    return [*result] if isinstance(result, list | tuple) else (type(result).__name__, repr(result))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_reads_every_word_as_typer_does(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("exam.viva").write_text("x")
    reference, plain = command(name, plain=False), command(name, plain=True)
    context = reference.context_class(reference, info_name=name)
    for expected, parameter in zip(reference.params, plain.params, strict=True):
        takes_many = expected.nargs == -1 or getattr(expected, "multiple", False)
        words = (True, False) if getattr(expected, "is_flag", False) else WORDS
        values = [*((word,) for word in words), ("3", "a"), ()] if takes_many else words
        for value in (None, expected.default, *values):
            assert outcome(parameter, context, value) == outcome(expected, context, value), (
                f"{name} {parameter.name} {value!r}"
            )


@pytest.mark.parametrize(
    ("kind", "word"),
    [(int, "1_000"), (int, "x"), (float, "nan"), (dict, "a"), (list[str], "a"), (SimpleNamespace, "a")],
)
def test_what_is_no_plain_value_is_left_to_typer(kind, word):
    with pytest.raises(ValueError, match=r"^$"):
        plain_value(kind, None, word)


def test_a_file_that_cannot_be_read_is_left_to_typer(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(ValueError, match=r"^$"):
        plain_value(Path, None, str(tmp_path))


def test_every_option_of_ours_has_a_type_that_is_written():
    for name in NAMES:
        assert all(p.annotation is not p.empty for p in signature(function_of(name)).parameters.values()), (
            name
        )
