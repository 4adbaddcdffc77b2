"""Evidence that comes with an item or an answer: the item's own context, and the text of the answer."""

import hashlib

from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Item
from vivavoce.core.text import is_blank
from vivavoce.facts.checker import Claim
from vivavoce.retrieval.passages import passage_spans

CONTEXT, ANSWER = "context", "answer"


def context_passages(item: Item) -> tuple[Evidence, ...]:
    """The item's context in passages, in their order; none where the item has no context.

    Together they hold every sentence: a fact is checked against all of it.
    """
    return _passages(CONTEXT, item.item, item.context or "")


def statement_claim(statement: str, answer_text: str) -> Claim:
    """The claim that an answer makes a statement: the statement, with the answer as its only passages.

    `supported` means that the answer makes it; a blank answer makes none, and nobody is asked.
    """
    return Claim(statement, _passages(ANSWER, "", answer_text))


def is_statement(claim: Claim) -> bool:
    """Whether a claim is that an answer makes a statement, as `statement_claim` puts it."""
    return bool(claim.passages) and all(passage.source == ANSWER for passage in claim.passages or ())


def _passages(source: str, name: str, text: str) -> tuple[Evidence, ...]:
    if is_blank(text):
        return ()
    version = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return tuple(
        Evidence(source, version, name, None, span.start, text[span.start : span.end])
        for span in passage_spans(text)
    )
