"""An item, a response, and a response with its scores in a notebook."""

from collections.abc import Iterator
from typing import Any

from vivavoce.core.display import shows
from vivavoce.core.records import Item, Response, Score
from vivavoce.core.text import label
from vivavoce.notebook.markup import Column, Html, block, element, escaped, head, prose, soft, table

MOST_IN_QUESTION, MOST_IN_RESPONSE, MOST_SCORES = 2_000, 3_000, 30
SCORE_FIELDS = ("metric", "criterion", "rater", "unit", "ballot", "pass_no", "value", "status", "note")
DULL: dict[str, set[Any]] = {"pass": {1}, "status": {"ok"}}
"""What a column of scores says in every row where it says nothing."""
LISTS = (("references", "Reference"), ("must", "Must say"), ("nice", "Good to say"), ("steps", "Step"))
"""Lists of texts of an item, with the words before each."""


@shows("html", Item)
def item_html(item: Item) -> str:
    """The question as a candidate sees it, and what an examiner holds it against."""
    return block(*item_parts(item))


def item_parts(item: Item) -> Iterator[Html]:
    """The parts of an item: what it is, the question, the options with the key, and the references."""
    yield head(f"{item.name}, an item of {item.benchmark}")
    case = f"case {item.group}" if item.group != item.item else None
    yield soft(", ".join(filter(None, (item.format, item.category, case, item.origin))))
    if item.context:
        yield prose(item.context, MOST_IN_QUESTION, classes="viva-soft")
    yield from _question(item)
    yield from _key(item)
    for field, words in LISTS:
        for number, text in enumerate(getattr(item, field), 1):
            yield _labelled(f"{words} {number}" if field == "steps" else words, text)
    if item.rubric:
        points, weights = zip(*((unit.text, unit.weight) for unit in item.rubric), strict=True)
        yield table([Column("point", points), Column("weight", weights)])


def _question(item: Item) -> Iterator[Html]:
    """The question, or each message of a conversation with who speaks."""
    if len(item.messages) < 2:
        yield prose(item.question, MOST_IN_QUESTION)
        return
    for message in item.messages:
        yield _labelled(message.role.capitalize(), message.content)


def _key(item: Item) -> Iterator[Html]:
    """The options, of which the key is marked; else the key, and the wrong answer that is shown."""
    for number, option in enumerate(item.options):
        key = element("b", " ✓ key") if option in item.answer else None
        yield element("p", f"{label(number)}. ", escaped(option), key, dir="auto")
    if item.answer and not item.options:
        yield _labelled("Key", ", ".join(item.answer))
    if item.false_answer:
        yield _labelled("Wrong answer that is shown", item.false_answer)


def _labelled(words: str, text: str) -> Html:
    return element(
        "div", element("b", f"{words}: "), escaped(text, MOST_IN_QUESTION), classes="viva-text", dir="auto"
    )


@shows("html", Response)
def response_html(response: Response) -> str:
    """Who answered what, and the text as it came."""
    return block(*response_parts(response))


def response_parts(response: Response) -> Iterator[Html]:
    """The parts of a response: where it belongs, its status where it is not ok, and its text."""
    variant = f" [{response.variant}]" if response.variant else ""
    yield head(f"{response.candidate} on {response.item}{variant}")
    yield soft(", ".join((response.benchmark, *_facts(response))))
    if response.status != "ok":
        yield element("p", f"{response.status}: ", escaped(response.error or "no reason was recorded", 1_000),
                      classes="viva-missing")  # fmt: skip
    if response.reasoning:
        thoughts = prose(response.reasoning, MOST_IN_RESPONSE, classes="viva-soft")
        yield element("details", element("summary", "reasoning"), thoughts)
    if response.text is not None:
        final = response.final_text
        if final != response.text.strip():
            text = prose(response.text, MOST_IN_RESPONSE, classes="viva-soft")
            yield element("details", element("summary", "the text as it came"), text)
        yield prose(final, MOST_IN_RESPONSE, classes="viva-answer") if final else soft("The text is blank.")


def _facts(response: Response) -> Iterator[str]:
    """What else is known of a response, as far as it is."""
    forms: tuple[tuple[str, Any], ...] = (
        ("repeat {}", response.repeat),
        ("edit {}", response.edit),
        ("log-likelihoods for {}", response.probe),
        ("{:,} tokens", response.tokens),
        ("{:.1f} s", response.seconds),
        ("cost {:.4f}", response.cost),
        ("ended by {}", None if response.finish_reason == "stop" else response.finish_reason),
    )
    return (form.format(value) for form, value in forms if value not in (None, ""))


def scored_html(item: Item, response: Response, scores: tuple[Score, ...]) -> str:
    """The question, folded, the response, and a row for each score."""
    question = element("details", element("summary", "the question"), *item_parts(item))
    return block(*response_parts(response), *score_parts(scores), question)


def score_parts(scores: tuple[Score, ...]) -> Iterator[Html]:
    """The scores as a table; what failed or could not be read has its reason."""
    if not scores:
        yield soft("It has no scores yet.")
        return
    columns = (_column(field, scores[:MOST_SCORES]) for field in SCORE_FIELDS)
    yield table(c for c in columns if set(c.cells) - {None, ""} - DULL.get(c.heading, set()))
    if len(scores) > MOST_SCORES:
        yield soft(f"… and {len(scores) - MOST_SCORES:,} more scores.")


def _column(field: str, scores: tuple[Score, ...]) -> Column:
    return Column(field.removesuffix("_no"), [getattr(score, field) for score in scores])
