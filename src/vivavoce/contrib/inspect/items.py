"""An item in the metadata of a sample, and the item of a sample that is not ours."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from vivavoce import formats
from vivavoce.benchmarks.table_rows import inferred_format
from vivavoce.core.conversations import Message
from vivavoce.core.records import Item, Unit
from vivavoce.run.exchange.logs.fields import category_in, item_of, key_texts, keyed, question_of, texts

ITEM = "vivavoce"
"""The key under which the metadata of a sample hold its item."""

_LISTS = frozenset(f.name for f in fields(Item) if f.default == ())


def item_record(item: Item) -> dict[str, Any]:
    """The item's fields that hold something, fit for JSON."""
    values = {name: value for name, value in asdict(item).items() if value not in (None, "", (), {})}
    return {name: list(value) if name in _LISTS else value for name, value in values.items()}


def item_from(record: Mapping[str, Any]) -> Item:
    """The item of a record."""
    values: dict[str, Any] = {
        name: tuple(value) if name in _LISTS else value for name, value in record.items()
    }
    values["messages"] = tuple(Message(*message) for message in values.get("messages", ()))
    if "rubric" in values:
        values["rubric"] = tuple(Unit(**point) for point in values["rubric"])
    return Item(**values)


def item_of_state(state: Any, target: Any, task: str) -> Item:
    """The item of a sample of anybody's task: its question, options and key; its format follows from them.

    Raises `InputError` where they make no item.
    """
    question = state.input if isinstance(state.input, str) else [m.model_dump() for m in state.input]
    options = texts([choice.value for choice in state.choices or ()])
    item = item_of(
        task,
        str(state.sample_id),
        question_of(question, f"sample {state.sample_id}"),
        category=category_in(state.metadata or {}),
        **keyed(options, key_texts(list(target), options)),
    )
    values = {"options": item.options, "answer": list(item.answer), "references": list(item.references)}
    item = replace(item, format=inferred_format(values))
    if item.format == "true_false":
        item = replace(item, answer=(item.references[0].strip().capitalize(),), references=())
    return formats.check(item)
