"""What readers of logs share: the fields of a JSON object, questions, keys, answers and scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from vivavoce.core.conversations import Message, read_messages
from vivavoce.core.endings import meaning_of
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.records import Item
from vivavoce.core.text import one_line
from vivavoce.models.content import end_of, thinking_text
from vivavoce.run.exchange.recorded_log import Mark, Sample

_KINDS = ("reasoning", "thinking", "redacted_thinking")
MOST = 1 << 53
"""More than any count is, and what every column of numbers holds."""


def need(row: Mapping[str, Any], name: str, where: str, kind: type = dict) -> Any:
    """A field that must be there. Raises `InputError` where it is absent, or of another kind."""
    value = row.get(name)
    if not isinstance(value, kind):
        lack = "is missing" if name not in row else f"is {type(value).__name__}"
        raise InputError(f"{where}: {name} {lack}, so this is no whole log: have it written again.")
    return value


def text_or_null(value: Any, where: str, what: str = "the answer") -> str | None:
    """A text, or null. Raises `InputError` for anything else."""
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{where}: {what} is {type(value).__name__}, not text: {one_line(str(value), 40)}.")


def name_or_empty(value: Any) -> str:
    """An id, also where it is a number; '' for none."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def number_or_null(value: Any) -> float | None:
    """A finite number, True as 1; null for anything else."""
    with suppress(OverflowError):  # a whole number of hundreds of digits
        if isinstance(value, int | float) and abs(value) < float("inf"):
            return float(value)
    return None


def question_of(messages: Any, where: str) -> str:
    """The question in a list of messages: the only user's text, else all turns with who speaks.

    A text is itself. Parts of a message that are no text are named in its place.
    """
    if isinstance(messages, str):
        return messages
    if not isinstance(messages, list) or not messages:
        raise InputError(f"{where}: the question is neither a text nor a list of messages.")
    turns = []
    for message in messages:
        if not isinstance(message, dict):
            raise InputError(f"{where}: a message is {type(message).__name__}, not an object.")
        turns.append((str(message.get("role", "user")), content_text(message.get("content"))))
    if len(turns) == 1 and turns[0][0] == "user":
        return turns[0][1]
    return "\n\n".join(f"{role.capitalize()}: {text}" for role, text in turns)


def content_text(content: Any) -> str:
    """The text of a message, of which other parts, as images, are named by their type."""
    if isinstance(content, list):
        return "\n".join(
            str(part.get("text", f"[{part.get('type', 'part')}]")) if isinstance(part, dict) else str(part)
            for part in content
        )
    return "" if content is None else str(content)


def texts(values: Any) -> tuple[str, ...]:
    """A list of texts without empty ones; a text by itself is a list of one."""
    if isinstance(values, str):
        values = [values]
    return tuple(str(value) for value in values or () if value not in (None, ""))


def key_texts(key: Any, options: Sequence[str]) -> tuple[str, ...]:
    """A key as texts of options: by text, by letter (A is the first) or by place (from 0)."""
    keys: Iterable[Any] = key if isinstance(key, list | tuple) else [key]
    return tuple(text for entry in keys if (text := _key_text(entry, options)) is not None)


def _key_text(key: Any, options: Sequence[str]) -> str | None:
    if key is None or key == "" or isinstance(key, bool):
        return None
    word = str(key).strip()
    if not options:
        return str(key)
    names = {chr(65 + k): option for k, option in enumerate(options[:26])}
    names |= {str(k): option for k, option in enumerate(options)}
    names |= {option.strip(): option for option in options}
    return names.get(word) or names.get(word.upper())


def part(row: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The object inside objects under these names; empty where there is none."""
    value: Any = row
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def rows_in(row: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects in the list under a name; none where there is no list."""
    value = row.get(name)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def category_in(row: Mapping[str, Any]) -> str | None:
    """The category of an item, where the log has one in words."""
    category = row.get("category")
    return category if isinstance(category, str) else None


def whole_number(value: Any) -> int | None:
    """A number of tokens or repeats, from 0; null for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST else None


def answer_fields(
    text: str | None, why: Any = None, reason: Any = None, meta: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """The fields of a sample that say what came: a text, a text withheld, or none, and `why`.

    The tool's word for the end of the answer is stored as its like of all tools, and kept in `meta`.
    """
    end = end_of(reason if isinstance(reason, str) else None)
    meaning = meaning_of(end.reason)
    if text is None:
        return {"status": "failed", "error": one_line(str(why or "the log holds no output"), 300)}
    if not text and meaning == "failure":
        return {"status": "failed", "error": f"the endpoint ended the reply by {end.reason!r}"}
    meta = {**meta, **({"finish_reason": end.raw_reason} if end.raw_reason else {})}
    if not text and meaning == "content_filter":
        return {"status": "filtered", "finish_reason": end.reason, "meta": meta}
    return {"text": text, "finish_reason": end.reason, "meta": meta}


def numbered(
    answers: Iterable[Mapping[str, Any]], *, start: int = 1, marks: Iterable[Mark] = (), **fields: Any
) -> Iterator[Sample]:
    """A sample for each answer to an item, numbered; the scores, which are of them all, are the first's."""
    for repeat, answer in enumerate(answers, start):
        yield Sample(repeat=repeat, **answer, **fields, marks=tuple(marks) if repeat == start else ())


def mark_of(scorer: str, value: Any, note: Any = None, **declared: Any) -> Mark:
    """A score of a scorer, whose name is put in small letters; what is no number failed, with a note."""
    number = number_or_null(value)
    words = str(note) if note else None
    return Mark(
        scorer=scorer,
        value=number,
        note=words if number is not None or words else "no number was recorded",
        **declared,
    )


def keyed(options: Sequence[str], key: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The key of an item: the answer where it has options, else references."""
    return {"options": tuple(options), "answer": tuple(key)} if options else {"references": tuple(key)}


def item_of(task: str, identity: str, question: str, **fields: Any) -> Item:
    """An item of the log's exam; its format is told when the exam is checked."""
    return Item(benchmark=task, item=identity, format="", question=question, **fields)


def messages_of(question: Any) -> tuple[Message, ...]:
    """Two messages or more with the user's last; none for a text, for images, tools, or another order.

    Such a question is the text that `question_of` makes of it.
    """
    if not isinstance(question, list) or len(question) < 2:
        return ()
    try:
        return read_messages(question, "the question")
    except RowError:
        return ()


def without_reasoning(content: Any) -> Any:
    """The parts of a message but those of the model's reasoning."""
    return [entry for entry in content if not _is_reasoning(entry)] if isinstance(content, list) else content


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """The model's reasoning in a message; null for none.

    It stands in a field `reasoning_content` or `reasoning`, or among the parts (`thinking_text`).
    """
    stated = (message.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in stated if isinstance(text, str) and text), None) or thinking_text(
        message.get("content")
    )


def _is_reasoning(entry: Any) -> bool:
    return isinstance(entry, Mapping) and (entry.get("type") in _KINDS or entry.get("thought") is True)
