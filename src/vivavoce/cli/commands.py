"""How `viva` finds its commands: those of this package first, then those that plugins registered.

Registered commands and members are loaded only when a help text or an unknown word asks for them.
"""

import re
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from vivavoce.core import registry
from vivavoce.core.errors import SpecError

OLD_OPTIONS = {"collect": {"--for": "--logprobs"}, "export": {"--to": "--format"}}
"""Former names of options. They still work, and no help shows them."""
_MEMBERS = re.compile(r"\{(\w+)\}")


def member_names(plural: str) -> list[str]:
    """The names that are registered of a kind. `plural` is its word, such as `studies`."""
    return [entry.name for entry in registry.entries(registry.KINDS[plural])]


class Command(TyperCommand):
    """A command whose help names members of the registry: `{studies}` becomes their names."""

    def fill_help(self) -> None:
        """Put the registered names into the help of the command and of its parameters."""
        self.help = _with_members(self.help or "")
        for parameter in self.params:
            if isinstance(parameter, TyperArgument | TyperOption) and parameter.help:
                parameter.help = _with_members(parameter.help)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help with the members that are registered now."""
        self.fill_help()
        super().format_help(ctx, formatter)


def _with_members(text: str) -> str:
    return _MEMBERS.sub(lambda match: ", ".join(member_names(match[1])), text)


class CommandGroup(TyperGroup):
    """`viva`: its own commands, and those of plugins once they are needed."""

    _complete = False

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, the registered ones last."""
        self._add_registered()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name. Plugins are loaded only if the package has none."""
        if cmd_name not in self.commands:
            self._add_registered()
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command and its words, with former names of options replaced by today's."""
        name, command, words = super().resolve_command(ctx, args)
        return name, command, list(_with_current_options(OLD_OPTIONS.get(name or "", {}), words))

    def _add_registered(self) -> None:
        if self._complete:
            return
        for entry in registry.entries("command"):
            if entry.name in self.commands:
                raise SpecError(f"the command {entry.name!r} of {entry.origin} is there already.")
            plugin = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            plugin.command(entry.name, cls=Command)(entry.cls)
            self.add_command(typer.main.get_command(plugin))
        self._complete = True


def _with_current_options(current: dict[str, str], words: Iterable[str]) -> Iterable[str]:
    for word in words:
        name, equals, value = word.partition("=")
        yield current.get(name, name) + equals + value
