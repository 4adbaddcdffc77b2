"""What formats with options share: the prompt that shows them, and the check of their key."""

from dataclasses import replace

from vivavoce.errors import InputError, suggest
from vivavoce.formats.base import fault
from vivavoce.formats.match import label
from vivavoce.prompts import load
from vivavoce.records import Item
from vivavoce.text import is_blank

__all__ = ["STYLES", "as_keyed", "checked_options", "checked_question", "laid_out", "prompt"]

STYLES = ("text", "letter", "both")


def prompt(name: str, item: Item, style: str | None) -> str:
    """The prompt `name` in a style, with question and options; raises `InputError` for an unknown style."""
    style = style or "both"
    if style not in STYLES:
        raise InputError(f"no style {style!r} for {name}.{suggest(style, STYLES)}")
    lettered = style != "text"
    shown = "\n".join(
        f"{label(k)}. {text}" if lettered else f"- {text}" for k, text in enumerate(item.options)
    )
    return load(f"{name}_{style}").fill(question=laid_out(item), options=shown)


def laid_out(item: Item) -> str:
    """The question, with its context before it where there is one."""
    return f"{item.context}\n\n{item.question}" if item.context else item.question


def checked_question(item: Item) -> Item:
    """The item, if it has a question."""
    if is_blank(item.question):
        raise fault(item, "the question is blank")
    return item


def checked_options(item: Item, *, at_least: int) -> Item:
    """The item, if it has a question and enough different options; options are never edited."""
    checked_question(item)
    if len(item.options) < at_least:
        raise fault(item, f"{item.format} needs {at_least} or more options, not {len(item.options)}")
    for k, text in enumerate(item.options):
        if not text.strip():
            raise fault(item, f"option {label(k)} is empty")
        if text in item.options[:k]:
            raise fault(item, f"the option {text!r} stands there twice")
    return item


def as_keyed(item: Item) -> Item:
    """The item with its key as texts of options: each is an option's exact text, else its letter."""
    letters = {label(k): text for k, text in enumerate(item.options)}
    keyed = []
    for key in item.answer:
        text = key if key in item.options else letters.get(key)
        if text is None:
            raise fault(item, f"the key {key!r} is no option.{suggest(key, item.options)}")
        if text in keyed:
            raise fault(item, f"the key {text!r} stands there twice")
        keyed.append(text)
    return item if tuple(keyed) == item.answer else replace(item, answer=tuple(keyed))
