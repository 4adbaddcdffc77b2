"""The answers on the page: which ones, as data for the explorer, and the worst as plain rows.

A page cannot carry every answer of a large run. It carries the worst, the same number for each candidate,
and answers to random questions, and states how many are left out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.core.text import label, printable
from vivavoce.studies.answers import Answers
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.row_parts import by_candidate, distinct, select_rows
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import counted_value

MOST_ANSWERS = 3_000
MOST_BYTES = 3_000_000
"""The limit for the answers and their questions as the page holds them."""
MOST_WORST = 12
"""The worst answers that the page also holds as text, for print and for browsers without scripts."""
LONGEST_TEXT = 4_000
LONGEST_NOTE = 300
MOST_ENTRIES = 40
SEED = "explorer 0"

_KEY = ("benchmark", "item", "variant", "candidate", "repeat")
_ITEM = _KEY[:3]
_SHOWN = (
    "question",
    "options",
    "answer",
    "references",
    "steps",
    "step",
    "false_answer",
    "context",
    "follows",
)
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Explorer(NamedTuple):
    """The answers on the page: `data` is JSON that is safe inside a script element."""

    data: str
    n_total: int
    n_here: int
    n_worst: int
    n_drawn: int
    n_edited: int
    worst: list[dict[str, Any]]


def explorer(
    items: pl.DataFrame,
    responses: pl.DataFrame,
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    read_answers: Answers,
) -> Explorer:
    """Choose the answers that the page carries, and lay them out; `scores` are those of answers in words.

    `read_answers` reads the texts of those alone.

    If not all fit, worst and drawn answers take turns until `MOST_ANSWERS` or `MOST_BYTES` is reached. Worst
    is the lowest mean over the bounded criteria, each turned and scaled to 0 (worst) to 1; silence counts as
    its criterion says, what failed to be scored is left out. Edited answers are not carried.
    """
    unedited = select_rows(responses, pl.col("edit") == "")
    worst, random = _chosen(unedited.select(*_KEY, "role"), scores, measures)
    turns = (
        pl.concat([part.with_row_index("turn") for part in (worst, random)])
        .sort("turn", "why", descending=[False, True])  # the worst first
        .unique(_KEY, keep="first", maintain_order=True)
        .head(MOST_ANSWERS)
        .select(*_KEY, "goodness", "why")
    )
    keys = list(measures)
    marks = _marks(_about(turns, scores).join(turns, on=_KEY, how="semi"), keys)
    printed = _first_of(worst)
    of_page = pl.concat([turns.select(_ITEM), printed.select(_ITEM)]).unique()
    texts = read_answers(*_KEY, "final", "ending", "status", "error", edited=False, items=of_page)
    names = items.select(*_ITEM, "alias", "format", "category", "messages", *_SHOWN)

    def with_texts_of(answers: pl.DataFrame) -> pl.DataFrame:
        """The answers with their texts and questions."""
        with_texts = answers.join(texts, on=_KEY, how="left", maintain_order="left")
        return with_texts.join(names, on=_ITEM, how="left", maintain_order="left")

    full = with_texts_of(turns)
    people = distinct(responses, "candidate", "role").sort("candidate").rows()
    packed = _Packed({name: n for n, (name, _) in enumerate(people)}, marks)
    for row in full.iter_rows(named=True):
        if not packed.take(row):
            break
    short = labels(measures)
    data = {
        "measures": [_measure(m, short[key_of(m)]) for m in measures.values()],
        "candidates": [{"name": printable(name), "role": role} for name, role in people],
        "items": packed.items,
        "answers": packed.answers,
    }
    taken = [row["why"] for row in full.head(len(packed.answers)).iter_rows(named=True)]
    return Explorer(
        data=embedded(data),
        n_total=unedited.height,
        n_here=len(packed.answers),
        n_worst=taken.count("worst"),
        n_drawn=taken.count("drawn"),
        n_edited=responses.height - unedited.height,
        worst=list(_worst(with_texts_of(printed), scores)),
    )


def embedded(data: object) -> str:
    """JSON that cannot end its script element: `<`, `>`, `&` and line separators are escaped."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")


def _chosen(
    answers: pl.DataFrame, scores: pl.DataFrame, measures: Mapping[int, Measure]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The worst answers and those to random questions, `MOST_ANSWERS` of each at most, in order.

    They are ranked candidate by candidate: nobody's answers enter further than that many.
    """
    items = distinct(answers, *_ITEM)
    order = [hashlib.sha256("\0".join((SEED, *item)).encode()).hexdigest()[:16] for item in items.rows()]
    # Numbers in the order of what was drawn, then of the items' names: texts would be compared row by row.
    with_order = items.with_columns(pl.Series("drawn", order, pl.String)).sort("drawn", *_ITEM)
    with_order = with_order.with_columns(drawn=pl.int_range(pl.len(), dtype=pl.UInt32))
    worst, random = [], []
    columns = scores.select(*_KEY, "edit", "measure_id", "status", "value")
    for candidate, part in by_candidate(answers):
        of_candidate = columns.filter((pl.col("candidate") == candidate) & (pl.col("edit") == ""))
        ranked = _ranked(part.join(with_order, on=_ITEM, how="left"), of_candidate, measures)
        scored = (pl.col("role") == "candidate") & pl.col("goodness").is_not_null()
        worst.append(_first(ranked.filter(scored)))
        random.append(_first(ranked.sort("drawn", "repeat")))
    if not worst:
        unpaired = _ranked(answers.with_columns(drawn=pl.lit(0, pl.UInt32)), columns, {})
        worst, random = [unpaired], [unpaired]
    # Candidates fail alike on one question: the name decides which of them comes first.
    first = pl.concat(worst).sort("place", "goodness", "drawn", *_KEY).head(MOST_ANSWERS)
    sampled = pl.concat(random).sort("drawn", *_KEY).head(MOST_ANSWERS)
    return first.with_columns(why=pl.lit("worst")), sampled.with_columns(why=pl.lit("drawn"))


def _first(answers: pl.DataFrame) -> pl.DataFrame:
    """The first answers, `MOST_ANSWERS` at most: gathered, for a slice would hold all others too."""
    return answers[pl.int_range(min(answers.height, MOST_ANSWERS), eager=True)]


def _ranked(answers: pl.DataFrame, scores: pl.DataFrame, measures: Mapping[int, Measure]) -> pl.DataFrame:
    """A candidate's answers with `goodness` and their `place`, the worst first."""
    parts = [part for key, m in measures.items() if (part := _goodness(scores, key, m)).height]
    if parts:
        key = (*_ITEM, "repeat")
        means = pl.concat(parts).group_by(key).agg(exact_mean(pl.col("goodness")))
        ranked = answers.join(means, on=key, how="left")
    else:
        ranked = answers.with_columns(goodness=pl.lit(None, pl.Float64))
    ranked = ranked.sort("goodness", "drawn", "repeat", nulls_last=True)
    return ranked.with_columns(place=pl.int_range(pl.len()))


def _about(answers: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows about the items of these few answers: a join by all of a key would hash every row."""
    return rows.filter(pl.col("item").is_in(answers["item"].unique().implode()))


def _goodness(scores: pl.DataFrame, key: int, measure: Measure) -> pl.DataFrame:
    """Answers by one criterion, 0 worst to 1 best; none where it has no limits."""
    c = measure.criterion
    rows = scores.filter(pl.col("measure_id") == key).select(*_KEY, "status", "value")
    if c.low is None or c.high is None or c.high == c.low:
        return rows.clear().with_columns(goodness=pl.lit(None, pl.Float64)).select(*_KEY, "goodness")
    scaled = (counted_value(c) - c.low) / (c.high - c.low)
    good = scaled if c.direction == "higher" else 1 - scaled
    return rows.with_columns(goodness=good).select(*_KEY, "goodness")


def _marks(scores: pl.DataFrame, measures: list[int]) -> dict[tuple[Any, ...], list[list[Any]]]:
    """By answer: measure, value, status, note and number of scores; several scores as their mean."""
    unedited = scores.filter(pl.col("edit") == "")
    by_measure = unedited.group_by(*_KEY, "measure_id", maintain_order=True).agg(
        exact_mean(pl.col("value")),
        pl.col("status").sort_by(pl.col("status") != "ok").first(),
        pl.col("note").drop_nulls().first(),
        pl.len().alias("n"),
    )
    by_answer: dict[tuple[Any, ...], list[list[Any]]] = {}
    for *key, measure, value, status, note, n in by_measure.iter_rows():
        cut_note = printable(note)[:LONGEST_NOTE] if note else None
        by_answer.setdefault(tuple(key), []).append(
            [measures.index(measure), None if value is None else round(value, 6), status, cut_note, n]
        )
    return by_answer


class _Packed:
    """Answers and the questions they need, up to a number of bytes."""

    def __init__(self, people: Mapping[str, int], marks: Mapping[tuple[Any, ...], list[list[Any]]]) -> None:
        self.people, self.marks = people, marks
        self.items: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        self.places: dict[tuple[str, ...], int] = {}
        self.n_bytes = 0

    def take(self, row: Mapping[str, Any]) -> bool:
        """Add an answer; False, and nothing added, if it does not fit."""
        thing = tuple(row[k] for k in _ITEM)
        place = self.places.get(thing, len(self.items))
        new = [_item(row)] if place == len(self.items) else []
        text = row["final"] or ""
        answer = {
            "item": place,
            "candidate": self.people[row["candidate"]],
            "repeat": row["repeat"],
            "good": None if row["goodness"] is None else round(row["goodness"], 6),
            "text": None if row["final"] is None else _cut(text),
            "cut": max(0, len(text) - LONGEST_TEXT),
            "why": _why(row),
            "marks": self.marks.get(tuple(row[k] for k in _KEY), []),
        }
        size = sum(len(embedded(entry).encode()) for entry in (*new, answer))
        if self.n_bytes + size > MOST_BYTES:
            return False
        self.n_bytes += size
        self.items += new
        self.places[thing] = place
        self.answers.append(answer)
        return True


_CUT = {
    "cut": "it ended at its length limit",
    "thinking": "it ended at its length limit while thinking",
    "filtered": "a content filter ended it",
}


def _why(row: Mapping[str, Any]) -> str | None:
    """Why there is no text, or that it was cut short by its length."""
    if row["final"] is None:
        return printable(row["error"] or f"{row['status']}, no answer was recorded")[:LONGEST_NOTE]
    return _CUT.get(row["ending"])


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    """A question as the explorer shows it: empty fields are left out."""
    fields = {name: _field(row[name]) for name in _SHOWN}
    named = {"name": printable(item_name(row)), "benchmark": row["benchmark"], "format": row["format"]}
    if row["category"]:
        named["category"] = printable(row["category"])
    fields["answer"] = [_cut(entry) for entry in key_with_labels(row)[:MOST_ENTRIES]]
    messages = json.loads(row["messages"] or "[]")
    if len(messages) > 1:  # the question is the same words as one text
        turns = [[message["role"], _cut(message["content"])] for message in messages[-MOST_ENTRIES:]]
        fields |= {"question": None, "messages": turns}
    return named | {name: value for name, value in fields.items() if value not in (None, "", [])}


def key_with_labels(row: Mapping[str, Any]) -> list[str]:
    """The key, each option of it behind the label it is asked under: answers speak of A to E."""
    options = list(row["options"] or ())
    return [
        f"{label(options.index(text))}. {text}" if text in options else text for text in row["answer"] or ()
    ]


def _field(value: Any) -> Any:
    if isinstance(value, list):
        return [_cut(entry) for entry in value[:MOST_ENTRIES]]
    return _cut(value) if isinstance(value, str) else value


def _cut(text: str) -> str:
    return printable(text[:LONGEST_TEXT])


def item_name(row: Mapping[str, Any]) -> str:
    """What a question is called on the page: its alias, or its id with the variant."""
    return row["alias"] or (f"{row['item']} [{row['variant']}]" if row["variant"] else row["item"])


def _measure(m: Measure, name: str) -> dict[str, Any]:
    c = m.criterion
    return {"name": printable(name), "low": c.low, "high": c.high, "direction": c.direction,
            "silence": c.silence}  # fmt: skip


def _first_of(worst: pl.DataFrame) -> pl.DataFrame:
    """The worst answer of each candidate to each item, worst first, as far as there is room."""
    ordered = worst.sort("goodness", "place", *_KEY)
    return ordered.unique([*_ITEM, "candidate"], keep="first", maintain_order=True).head(MOST_WORST)


def _worst(answers: pl.DataFrame, scores: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The answers with their scores, for the page's text."""
    marks: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    unedited = _about(answers, scores).filter(edit="")
    for row in unedited.join(answers, on=_KEY, how="semi").iter_rows(named=True):
        marks.setdefault(tuple(row[k] for k in _KEY), []).append(row)
    for row in answers.iter_rows(named=True):
        text = row["final"] or ""
        yield row | {
            "name": item_name(row),
            "key": key_with_labels(row),
            "marks": marks[tuple(row[k] for k in _KEY)],
            "shown": text[:LONGEST_TEXT],
            "cut": max(0, len(text) - LONGEST_TEXT),
        }
