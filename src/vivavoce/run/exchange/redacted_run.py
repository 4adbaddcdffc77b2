"""A run without its texts: ids, statuses, scores and counts stay, so every figure is that of the original.

What is equal stays equal where figures rest on it: repeated questions, and repeats of an answer. No mark can
be tried out: it is made with a key that is drawn for this copy and kept nowhere.
"""

import hmac
import json
import re
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce.core.cases import place_of
from vivavoce.core.item_content import Content
from vivavoce.core.parts import LIKE_THINKING, final_text, made_parts
from vivavoce.core.records import Item, ItemKey, Response
from vivavoce.core.tables import LISTS
from vivavoce.core.text import looks_like_thinking
from vivavoce.privacy.redaction import PLAIN_UNIT, without_words_of_users
from vivavoce.run.tables.load import scored_items
from vivavoce.run.tables.stored_benchmarks import is_ours, without_reasons
from vivavoce.store.cases import NEAR_DUPLICATES, NEAR_PAIRS, near_pairs
from vivavoce.store.comparisons import AGAIN
from vivavoce.store.integrity import rehash
from vivavoce.store.interim_analyses import INTERIM_EVENT
from vivavoce.store.label_draws import DRAW_EVENT
from vivavoce.store.passages import drop_unused_passages
from vivavoce.store.read import items_by_id, stored_measures
from vivavoce.store.redacted import VERB
from vivavoce.store.retirement import RESTORED, RETIRED
from vivavoce.store.rewriting import rewrite_items, rewrite_rows, rewrite_score_texts, shorten_journals
from vivavoce.store.stored_values import stored_object
from vivavoce.store.view import View
from vivavoce.store.write import put_event, put_provenance

_EVENTS = (NEAR_DUPLICATES, NEAR_PAIRS, AGAIN, INTERIM_EVENT, DRAW_EVENT, RETIRED, RESTORED)
"""Events that figures rest on. The others are of panels: their secrets and remarks do not leave."""
_TOKENS = re.compile(r"logprob|drawn|token_?s\b|token_ids|^ids$|^bytes$")
"""Names of fields that spell a text token by token, in numbers too."""

_SHORT = 16

Text = str | None
Mark = Callable[[str, object], str]


def _marks() -> Mark:
    key = secrets.token_bytes(32)

    def mark(text: str, scope: object = "") -> str:
        """The mark of a text: equal ones have equal marks within a scope. A blank text stays as it is."""
        if not text.strip():
            return text
        content = json.dumps([scope, text]).encode()
        return f"[redacted: {hmac.new(key, content, 'sha256').hexdigest()[:32]}]"

    return mark


def redact_run(db: sqlite3.Connection, of: str, unscored: Mapping[str, Sequence[ItemKey]]) -> None:
    """Replace every text of the run behind a connection, inside the transaction of its caller.

    `of` names the run; `unscored` gives by signature the items that a metric does not score, which can no
    longer be told from their texts.
    """
    mark = _marks()
    pairs = near_pairs(db)
    rewrite_items(db, lambda item, key: redacted_item(item, key, mark))
    _redact_responses(db, mark)
    _redact_scores(db, mark)
    _redact_passages(db, mark)
    _redact_exclusions(db, mark)
    _redact_calls(db, mark)
    _redact_journals(db)
    if pairs is not None:  # no text is left to find them by
        put_event(db, NEAR_PAIRS, {"pairs": pairs})
    put_provenance(db, VERB, {"of": of, "unscored": dict(unscored)}, changed=0)
    rehash(db)


def redacted_item(item: Item, key: int, mark: Mark) -> dict[str, Any]:
    """The columns of an item without its texts. Items that were the same question have the same marks."""
    content = place_of(item).content or Content(str(key).encode(), str(key).encode())
    question, exhibit = content.text.hex(), content.exhibit.hex()

    def listed(name: str) -> list[str]:
        # Marks by place: those of an option and of the key that names it would tell which is right.
        texts = [f"[redacted: {name} {n}]" for n, _ in enumerate(getattr(item, name), 1)]
        return [mark(exhibit, "steps"), *texts[1:]] if name == "steps" and texts and exhibit else texts

    return {
        "question": mark(question, "question") if item.question.strip() else item.question,
        "context": item.context and mark(question, "context"),
        "messages": json.dumps(
            [{"role": m.role, "content": m.content and mark(m.content, "message")} for m in item.messages]
        ),
        "false_answer": item.false_answer and mark(exhibit, "false answer"),
        "source": item.source and mark(item.source, ("source", key)),
        **{name: json.dumps(listed(name)) for name in LISTS},
        "rubric": json.dumps(
            [
                {"unit": _unit(point.unit, mark), "text": mark(point.text, "unit"), "weight": point.weight}
                for point in item.rubric
            ]
        ),
        "meta": json.dumps(redacted_value(dict(item.meta), mark, "meta"), ensure_ascii=False),
    }


def _unit(name: str, mark: Mark) -> str:
    return name if PLAIN_UNIT.fullmatch(name) else mark(name, "unit name")


def _long(text: str, mark: Mark, scope: object) -> str:
    """The mark of a text; short ones, which would be told by how often a mark returns, have one for all."""
    return mark(text, scope) if len(text) >= _SHORT or not text.strip() else "[redacted: short]"


def redacted_json(text: str, mark: Mark, scope: object) -> str:
    """JSON as `redacted_value` makes it."""
    return json.dumps(redacted_value(json.loads(text), mark, scope), ensure_ascii=False)


def redacted_value(value: Any, mark: Mark, scope: object) -> Any:
    """JSON with marks for its texts; names of fields, numbers and what tells a tokeniser apart stay.

    Tokens go, since their numbers are the text.
    """
    if isinstance(value, str):
        return _long(value, mark, scope)
    if isinstance(value, dict):
        return {
            name: _entry(name, entry, mark, scope)
            for name, entry in value.items()
            if not _TOKENS.search(name)
        }
    return [redacted_value(entry, mark, scope) for entry in value] if isinstance(value, list) else value


def _entry(name: str, entry: Any, mark: Mark, scope: object) -> Any:
    return entry if name == "tokeniser" and isinstance(entry, str) else redacted_value(entry, mark, scope)


def _redact_responses(db: sqlite3.Connection, mark: Mark) -> None:
    """Repeats of one candidate that are the same text stay the same; others cannot be compared."""

    def replacement(
        _: int,
        text: Text,
        final: Text,
        reasoning: Text,
        error: Text,
        meta: Text,
        logprobs: Text,
        ending: Text,
        item: int,
        candidate: int,
        finish_reason: Text,
    ) -> Sequence[Text]:
        scope = [item, candidate]
        details = stored_object(meta or "{}", "the details of a response")
        response = Response(
            benchmark="", item="", candidate="", text=text, final=final, reasoning=reasoning,
            finish_reason=finish_reason, meta=details,
        )  # fmt: skip
        return (
            *(field and mark(field, scope) for field in (text, final, reasoning, error)),
            json.dumps({**redacted_value(details, mark, scope), **likeness(response)}, ensure_ascii=False),
            logprobs and redacted_json(logprobs, mark, scope),
            ending or ending_in_thinking(response),
        )

    # An answer that an older version stored is parted when it is read: its text tells of the thinking.
    columns = ("text", "final", "reasoning", "error", "meta", "logprobs", "ending")
    rewrite_rows(db, "responses", columns, replacement, "item_id", "candidate_id", "finish_reason")


def likeness(response: Response) -> dict[str, bool]:
    """What its text looks like, for `meta`: nothing else of a copy can say it."""
    is_like = looks_like_thinking(final_text(response.text, response.final))
    return {LIKE_THINKING: True} if is_like else {}


def ending_in_thinking(response: Response) -> Text:
    """How an answer ended whose text alone tells it; null for any other."""
    return "thinking" if response.final is None and made_parts(response)[1] == "thinking" else None


def _redact_scores(db: sqlite3.Connection, mark: Mark) -> None:
    rewrite_rows(db, "units", ("unit", "text"), lambda _, unit, text: (_unit(unit, mark), mark(text, "unit")))
    rewrite_score_texts(
        db,
        note=lambda note: _long(note, mark, "note"),
        parts=lambda parts: redacted_json(parts, mark, "parts"),
    )


def _redact_passages(db: sqlite3.Connection, mark: Mark) -> None:
    """A file's name may be a title that a model cited, and by the hash of a source texts can be tried out."""
    drop_unused_passages(db)
    names = ("source", "version", "file", "quote")

    def replacement(_: int, *texts: str) -> Sequence[str]:
        return [mark(text, name) for text, name in zip(texts, names, strict=True)]

    rewrite_rows(db, "passages", names, replacement)


def _redact_exclusions(db: sqlite3.Connection, mark: Mark) -> None:
    """Our loaders' reasons hold no text of a row; those of others may."""

    def replacement(_: int, reason: str, spec: str) -> Sequence[str]:
        return [reason if is_ours(spec) else mark(reason, "reason")]

    rewrite_rows(db, "exclusions", ("reason",), replacement, "spec")


def _redact_calls(db: sqlite3.Connection, mark: Mark) -> None:
    """The key of a call is a hash of what was sent, by which likely texts could be tried out."""

    def replacement(call: int, key: str, error: Text, reply: Text) -> Sequence[Text]:
        return mark(key, "call"), error and mark(error, call), reply and json.dumps(mark(reply, call))

    rewrite_rows(db, "calls", ("key", "error", "reply"), replacement)


def _redact_journals(db: sqlite3.Connection) -> None:
    """Findings but comparisons go, and so do events of panels; words of users in provenance are replaced."""
    shorten_journals(db, _EVENTS, "compare")

    def replacement(_: int, body: str) -> Sequence[str]:
        return [json.dumps(without_words_of_users(json.loads(body)), ensure_ascii=False)]

    rewrite_rows(db, "provenance", ("body",), replacement)


def without_words(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """A table of a redacted export without words that stand in no column of texts, as in a redacted run.

    Findings but comparisons go, and words of users in provenance and reasons of other loaders are replaced.
    """
    if name == "findings":
        return table.filter(study="compare")
    if name == "provenance":
        bodies = [
            json.dumps(without_words_of_users(json.loads(body)), ensure_ascii=False) for body in table["body"]
        ]
        return table.with_columns(body=pl.Series(bodies, dtype=pl.String))
    if name == "evidence":
        return table.with_columns(version=pl.lit("[redacted]"), file=pl.lit("[redacted]"))
    return without_reasons(table) if name == "exclusions" else table


def unscored_by_signature(view: View) -> dict[str, list[ItemKey]]:
    """By signature the items that a metric of the run does not score, which only their texts tell."""
    measures = {keyed.key: keyed.measure for keyed in view.fetch(stored_measures)}
    keys = [(item.benchmark, item.item, item.variant) for item in view.fetch(items_by_id).values()]
    return {
        measures[key].signature: [item for item in keys if item not in scored]
        for key, scored in scored_items(view, measures).items()
    }
