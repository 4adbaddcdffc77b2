"""What every format must keep, ours and a plugin's."""

from collections.abc import Sequence
from dataclasses import fields

from vivavoce import formats
from vivavoce.core.records import Item, Reading
from vivavoce.core.text import is_blank
from vivavoce.formats.base import Format

BLANK = ("", " ", "\n\t", "...", "<think>", "<think></think>", "<think>It is B.</think>", "\u0301", "\u200b")
"""Texts that hold no answer."""
TEXTS = (
    *(
        "A",
        "I cannot answer this.",
        "Answer: B\nAnswer: C",
        "1. A\n2. B\n3. C",
        "**Final answer:** 2",
        "-" * 5_000,
    ),
    *(
        '{"answer": "A"}',
        '{"answer": null}',
        '[["A"], {"b": NaN}]',
        "```json\n{",
        "\\boxed{A",
        "<answer>A</answer>",
    ),
    *("<think>A", "A</think>B", "<think>" * 500, "word " * 20_000, "A, " * 5_000, "(" * 2_000, "9" * 5_000),
    *("答案是B。", "ответ: А", "الجواب ب", "🩺" * 200, "\x00\x1b[31mB", "\ufeffB", "É́", "\u202eB"),
)
"""Texts that responses are made of: marked up, broken off, very long, in other scripts."""


def check_format(name: str, items: Sequence[Item]) -> None:
    """Raise `AssertionError` with a sentence for the first rule that the format `name` breaks.

    `items` are items of that format as a benchmark gives them, with and without what is optional.
    """
    _require(bool(items), f"give items of the format {name} to check it with")
    _require(name in formats.FORMATS, f"no format is registered as {name}")
    _check_properties(formats.FORMATS[name])
    for item in items:
        _require(item.format == name, f"{item.name} is an item of the format {item.format}, not of {name}")
        _check_item(item)


def _check_properties(form: Format) -> None:
    """The class attributes: they are documentation, and the rest of the house asks them."""
    names = {field.name for field in fields(Item)}
    _require(bool((type(form).__doc__ or "").strip()), f"{form.name} has no docstring")
    _require(bool(form.fields), f"{form.name} names no item field that it uses")
    strange = [field for field in form.fields if field not in names]
    _require(not strange, f"{form.name} uses fields that no item has: {', '.join(strange)}")
    texts = all(isinstance(text, str) and text.strip() for text in (form.answered, form.read_as))
    _require(texts, f"{form.name} does not say in words how it is answered and read")
    known = not form.scored_as or form.scored_as in formats.FORMATS
    _require(known, f"{form.name} is scored as {form.scored_as!r}, which is no format")


def _check_item(item: Item) -> None:
    checked = formats.check(item)
    _require(formats.check(checked) == checked, f"{item.name}: check changes an item that it has checked")
    prompt = formats.ask(checked)
    _require(isinstance(prompt, str) and not is_blank(prompt), f"{item.name}: ask gives no text")
    for text in BLANK:
        _require(_read_text(checked, text).status != "ok", f"{item.name}: {text!r} is read as an answer")
    for text in TEXTS:
        _read_text(checked, text)
    key = formats.key(checked)
    if key:
        reading = _read_text(checked, key)
        _require(reading.status == "ok", f"{item.name}: its key {key!r} is read as {reading}")
        _require(
            _read_text(checked, formats.labelled_key(checked)).status == "ok",
            f"{item.name}: its labelled key is not read",
        )


def _read_text(item: Item, text: str) -> Reading:
    """The reading of a text, which must be one, and the same each time."""
    start = f"{item.name}: {text[:40]!r}"
    try:
        reading = formats.read_response(item, text)
    except Exception as error:  # third-party code: whatever it raises breaks the rule
        raise AssertionError(f"{start} raises {type(error).__name__}: {error}") from error
    _require(isinstance(reading, Reading), f"{start} is read as {type(reading).__name__}, not as a Reading")
    statuses = ("ok", "unanswered", "unreadable")
    _require(
        reading.status in statuses,
        f"{start} has the status {reading.status!r}, none of {', '.join(statuses)}",
    )
    parsed = (reading.parsed is None) == (reading.status != "ok")
    _require(parsed, f"{start} has the status {reading.status} and is parsed as {reading.parsed!r}")
    _require(formats.read_response(item, text) == reading, f"{start} is read otherwise the second time")
    return reading


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise AssertionError(rule)
