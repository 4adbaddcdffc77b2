"""Arguments: an explanation that is to help with a closed task, whose options and label the item keeps."""

from dataclasses import replace
from typing import ClassVar

from vivavoce.core.prompts import load
from vivavoce.core.records import Item
from vivavoce.core.registry import format
from vivavoce.core.text import label
from vivavoce.formats.base import Format, item_error, with_context
from vivavoce.formats.options import require_options, with_option_texts


@format("argument")
class Argument(Format):
    """An explanation for a task with options; evaluators score it by how far it helps to solve the task.

    The item keeps its options and the label, one of them. `references` are explanations by people, where
    there are any, so text metrics and judges score it like `short`.
    """

    fields: ClassVar[tuple[str, ...]] = ("question", "options", "answer", "references", "context")
    answered: ClassVar[str] = "in free text: why one of the options is right"
    read_as: ClassVar[str] = "the explanation without thinking"
    scored_as: ClassVar[str] = "short"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question with its options, and a request for the reasons of the right one."""
        options = "\n".join(f"{label(k)}. {text}" for k, text in enumerate(item.options))
        return load("argument").fill(question=with_context(item), options=options)

    def check(self, item: Item) -> Item:
        """Needs two or more different options and one of them as the label, which it keeps."""
        require_options(item, 2)
        if len(item.answer) != 1:
            raise item_error(item, f"an argument needs one label, the right option, not {len(item.answer)}")
        item = with_option_texts(item)
        return replace(item, references=tuple(text for text in item.references if text.strip()))

    def key(self, item: Item) -> str:
        """The first explanation by a person; empty without one."""
        return item.references[0] if item.references else ""
