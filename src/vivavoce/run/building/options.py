"""From the words of a command to a recipe: which options it has, and what each takes."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from vivavoce.core import registry
from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.specs import Setting, Spec
from vivavoce.run.building.step import BuildRecipe


def recipe_of(name: str, options: Mapping[str, Any]) -> BuildRecipe:
    """The recipe with these options, each a value, or the words of one.

    Raises `SpecError` for a recipe that is not there and for a value that does not fit, `SelectionError` for
    an option that it does not have, or lacks.
    """
    entry = registry.find("build_recipe", name)
    fields = {field.rstrip("_"): field for field in registry.settings(entry)}
    hints = get_type_hints(entry.cls)
    values: dict[str, Setting] = {}
    for option, value in options.items():
        word = option.rstrip("_")
        if word not in fields:
            typed = word.replace("_", "-")
            raise SelectionError(f"viva build … {name} has no option --{typed}.{suggest(word, list(fields))}")
        values[fields[word]] = _fitting(hints[fields[word]], value)
    needed = [field for field in fields.values() if field not in {*values, *registry.defaults(entry)}]
    if needed:
        typed = " and ".join(f"--{field.rstrip('_').replace('_', '-')}" for field in needed)
        raise SelectionError(f"viva build … {name} needs {typed}: `viva build --help` has an example.")
    recipe: BuildRecipe = registry.build("build_recipe", Spec(name, values))
    return recipe


def _fitting(hint: Any, value: Any) -> Setting:
    """The words of an option as its field wants them; one word is no list, and a number may come as text."""
    several = value if isinstance(value, tuple | list) else (value,)
    words = tuple(str(word) if isinstance(word, Path) else word for word in several)
    if get_origin(hint) is tuple or len(words) != 1:
        return words
    return _number(hint, words[0])


def _number(hint: Any, word: Setting) -> Setting:
    """The word as the number that the field takes; as it is where it takes none, or is none."""
    if isinstance(word, str):
        for kind in (int, float):
            if kind in (hint, *get_args(hint)):
                with suppress(ValueError):
                    return kind(word)
    return word
