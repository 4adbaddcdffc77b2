"""How `viva` finds its commands: those of this package first, then those that plugins registered.

A command of ours is loaded when it is typed. All are, and registered commands and members, only when a help
text or an unknown word asks for them.
"""

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import chain
from pathlib import PurePath
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from vivavoce.cli.network_disk import with_network_disk
from vivavoce.cli.plain_values import read_plainly
from vivavoce.cli.stdout import echo, others_to_stderr
from vivavoce.core import registry
from vivavoce.core.errors import SpecError, VivaError
from vivavoce.core.listing import command_summaries, listed
from vivavoce.core.text import one_line

OLD_OPTIONS = {"collect": {"--for": "--logprobs"}, "export": {"--to": "--format"}}
"""Former names of options. They still work, and no help shows them."""
GROUPS = {
    "Try": (("demo", "look", "list"), ("show",)),
    "Ask and import": (("import", "collect", "run"), ("fetch", "build", "vary", "shards", "merge")),
    "Score and compare": (("score", "compare", "study", "status"), ("interim", "diff", "retire", "train")),
    "People": (("annotate", "panel"), ("plan-sample",)),
    "Share and reproduce": (
        ("report", "table", "view", "export"),
        ("copy", "forget", "reproduce", "prompts", "challenge"),
    ),
}
"""The commands by the work that they do: the common ones, which help shows with a sentence, then the rest."""
REGISTERED = ("challenge", "prompts")
"""Those of them that systems register."""
NAMES = {
    name: {"import": "import_", "list": "list_"}.get(name, name.replace("-", "_"))
    for group in GROUPS.values()
    for name in chain.from_iterable(group)
    if name not in REGISTERED
}
"""The module of each command of ours, by what is typed: it has a function of its own name."""
_OPEN = {"ignore_unknown_options": True, "allow_extra_args": True}
"""Of a command that takes options of what it names."""
_FIRST_SENTENCE = re.compile(r"(?<=\.)\s")
_MEMBERS = re.compile(r"\{(\w+)\}")


def member_names(plural: str) -> list[str]:
    """The names that are registered of a kind. `plural` is its word, such as `studies`."""
    with others_to_stderr():
        return [row["name"] for row in listed(registry.KINDS[plural])]


class Command(TyperCommand):
    """A command of ours. Its help names members of the registry: `{studies}` becomes their names."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, and the option for help."""
        parameters = super().get_params(ctx)
        read_plainly(parameters)
        return parameters

    def get_help_option(self, ctx: Any) -> Any:
        """The option for help, which prints as commands do."""
        return _printing_plainly(super().get_help_option(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command, which alone prints to stdout.

        Raises `VivaError` where a plugin or a library exits: its code would pass for one of ours.
        """
        with others_to_stderr():
            try:
                return super().invoke(ctx)
            except SystemExit as error:
                raise VivaError(_exit_sentence(error)) from error

    def fill_help(self) -> None:
        """Put the registered names into the help of the command and of its parameters."""
        self.help = _with_members(self.help or "")
        for parameter in self.params:
            if isinstance(parameter, TyperArgument | TyperOption) and parameter.help:
                parameter.help = _with_members(parameter.help)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help with the members that are registered now."""
        self.fill_help()
        self.help = (self.help or "").replace("`", "")
        super().format_help(ctx, formatter)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write how the command is typed: its arguments, then its options."""
        arguments = [spelling(p) for p in self.params if isinstance(p, TyperArgument)]
        formatter.write_usage(ctx.command_path, " ".join([*arguments, "[OPTIONS]"]))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options, each with the word for its value and what it does."""
        parameters = [p for p in self.get_params(ctx) if not getattr(p, "hidden", False)]
        for title, kind in (("Arguments", TyperArgument), ("Options", TyperOption)):
            if records := [(spelling(p), _meaning(p)) for p in parameters if isinstance(p, kind)]:
                with formatter.section(title):
                    formatter.write_dl(records)


def _printing_plainly(option: Any) -> Any:
    """The option for help; as click prints it, a stream of ASCII would get UTF-8."""
    if option is not None:
        option.callback = _print_help
    return option


def _print_help(context: Any, _: object, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        echo(context.get_help())
        context.exit()


def spelling(parameter: Any) -> str:
    """How a parameter is typed: an argument's placeholder, an option with the word for its value."""
    word = str(parameter.metavar or parameter.name.upper())
    if parameter.param_type_name == "argument":
        return word
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag or parameter.name == "help" else f"{names} {word}"


def _meaning(parameter: Any) -> str:
    """The help of a parameter, with its default where that is a word or a number."""
    text = (parameter.help or "").replace("`", "")
    default = parameter.default
    plain = isinstance(default, str | int | float | PurePath) and not isinstance(default, bool)
    return f"{text} [default: {default}]" if plain and str(default) else text


def _with_members(text: str) -> str:
    """The text with the members of a kind in the place of its name; other words in braces stay."""
    return _MEMBERS.sub(
        lambda match: match[0] if match[1] == "candidate" else ", ".join(member_names(match[1])), text
    )


def _exit_sentence(error: SystemExit) -> str:
    """Who exited, and where."""
    from traceback import extract_tb

    # The `exit` of Python's shell is a frame of its own, without a file.
    frame = [each for each in extract_tb(error.__traceback__) if not each.filename.startswith("<")][-1]
    code = one_line(f"SystemExit: {error}", 200)
    return (
        f"a plugin or a library exits in line {frame.lineno} of {frame.filename} ({code}): it has to raise "
        "an error instead. What was stored is safe."
    )


class PluginCommand(Command):
    """A command of a plugin, which prints to stdout as it likes."""

    invoke = TyperCommand.invoke


def function_of(name: str) -> Callable[..., None]:
    """The function of one of our commands. It alone is imported."""
    module = NAMES[name]
    function: Callable[..., None] = getattr(import_module(f"vivavoce.cli.{module}"), module)
    return function


class CommandGroup(TyperGroup):
    """`viva`: its own commands, each loaded when it is typed, and those of plugins once they are needed."""

    _complete = False

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, and the option for help."""
        parameters = super().get_params(ctx)
        read_plainly(parameters)
        return parameters

    def get_help_option(self, ctx: Any) -> Any:
        """The option for help, which prints as commands do."""
        return _printing_plainly(super().get_help_option(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, the registered ones last."""
        self._add_all()
        return [*NAMES, *(name for name in super().list_commands(ctx) if name not in NAMES)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name. All others, and plugins, are loaded only if the package has none."""
        if cmd_name in NAMES:
            self._add_own(cmd_name)
        elif cmd_name not in self.commands:
            self._add_all()
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by their work, on one screen: common ones with the first sentence of help."""
        with others_to_stderr():
            registered = {row["name"]: row["what"] for row in listed("command")}
        summaries = command_summaries() | registered
        formatter.write(f"Usage: {ctx.command_path} COMMAND [ARGS]...\n\n")
        for title, (common, more) in GROUPS.items():
            names = ", ".join(name for name in more if name in summaries)
            formatter.write(f"{title}; also {names}\n" if names else f"{title}\n")
            formatter.write("".join(_summary_line(name, summaries[name]) for name in common))
        of_plugins = registered.keys() - {*REGISTERED}
        if of_plugins:
            formatter.write("Of plugins\n")
            formatter.write("".join(_summary_line(name, registered[name]) for name in sorted(of_plugins)))
        formatter.write(f"\n{self.epilog}\n")

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command and its words, with former names of options replaced by today's."""
        name, command, words = super().resolve_command(ctx, args)
        return name, command, list(_with_current_options(OLD_OPTIONS.get(name or "", {}), words))

    def _add_all(self) -> None:
        if self._complete:
            return
        for name in NAMES:
            self._add_own(name)
        with others_to_stderr():
            entries = registry.entries("command")
        for entry in entries:
            if entry.name in self.commands:
                raise SpecError(f"the command {entry.name!r} of {entry.origin} is there already.")
            self._add(entry.name, entry.cls, Command if entry.origin == "vivavoce" else PluginCommand)
        self._complete = True

    def _add_own(self, name: str) -> None:
        if name not in self.commands:
            self._add(name, with_network_disk(function_of(name)), Command, _OPEN if name == "build" else None)

    def _add(
        self,
        name: str,
        function: Callable[..., None],
        cls: type[Command],
        settings: dict[str, bool] | None = None,
    ) -> None:
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, cls=cls, context_settings=settings)(function)
        added: Any = typer.main.get_command(single)
        if name in NAMES:
            read_plainly(added.params, function)
        self.add_command(added)


def _summary_line(name: str, text: str) -> str:
    """A command with the first sentence of its help, in a line."""
    return f"  {name:9} {_FIRST_SENTENCE.split(text)[0].replace('`', '')}\n"


def _with_current_options(current: dict[str, str], words: Iterable[str]) -> Iterable[str]:
    for word in words:
        name, equals, value = word.partition("=")
        yield current.get(name, name) + equals + value
