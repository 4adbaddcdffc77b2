"""What help shows at 80 columns: examples, words for values, and nothing of Python."""

import re
from typing import Any

import typer.main
from tests.cases import each_case
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.cli.commands import GROUPS, OLD_OPTIONS

_group: Any = typer.main.get_command(cli.app)
COMMANDS = {name: _group.get_command(None, name) for name in _group.list_commands(None)}
PYTHON = re.compile(
    r"\b(TEXT|PATH|INTEGER|FLOAT|BOOLEAN|UUID|str|int|bool|list\[)\b|<[\w\[\]|]+>|<function|"
    r"\[default: (\[\]|None|False)"
)


def help_of(*words: str) -> str:
    done = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(cli.app, [*words, "--help"])
    assert 0 == done.exit_code, done.output
    return done.output


@each_case("name", [(), *((name,) for name in COMMANDS)])
def test_help_fits_80_columns_and_shows_no_python(name: tuple[str, ...]) -> None:
    text = help_of(*name)
    assert [] == [line for line in text.splitlines() if len(line) > 80]
    assert not PYTHON.search(text), PYTHON.search(text)
    assert "`" not in text


@each_case("name", COMMANDS)
def test_every_value_has_a_word_of_its_own(name: str) -> None:
    """A name of the parameter in capitals is no word for what belongs there."""
    takes = [p for p in COMMANDS[name].params if p.param_type_name == "argument" or not p.is_flag]
    assert [] == [p.name for p in takes if p.name != "help" and not p.metavar]


@each_case("name", COMMANDS)
def test_every_command_has_an_example_that_begins_with_it(name: str) -> None:
    assert f"Example: viva {name}" in " ".join(help_of(name).split())


def test_the_list_of_commands_is_one_screen_and_names_all_by_their_work() -> None:
    text = help_of()
    assert 27 == len(text.splitlines())
    assert {*COMMANDS} == {name for common, more in GROUPS.values() for name in (*common, *more)}
    assert [] == [name for name in COMMANDS if not re.search(rf"(^  |also .*\b){name}\b", text, re.MULTILINE)]


def test_common_commands_are_listed_with_a_whole_sentence() -> None:
    text = help_of()
    assert "..." not in text.partition("\n")[2]
    for name in (name for common, _ in GROUPS.values() for name in common):
        sentence, _, _ = " ".join(COMMANDS[name].help.split()).partition(". ")
        assert sentence.rstrip(".") in text


def test_former_names_of_options_work_and_no_help_shows_them() -> None:
    for name, options in OLD_OPTIONS.items():
        for old, new in options.items():
            shown = {opt for p in COMMANDS[name].params for opt in p.opts}
            assert new in shown
            assert old not in shown


def test_to_is_a_path_wherever_a_command_shows_it() -> None:
    words = {p.metavar for c in COMMANDS.values() for p in c.params if "--to" in p.opts}
    assert {"DIR", "FILE"} == words
