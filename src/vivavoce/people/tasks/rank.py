"""Ranking: which answer is better, which is clearly wrong, and a tag for each.

Candidates with the same answer share its rank. A blank answer is not shown and loses to every other; an
answer that we failed to collect gets a failed score.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.specs import RECORDED
from vivavoce.core.text import label
from vivavoce.people.question import Question, Seen, plain
from vivavoce.people.tasks.control import Control
from vivavoce.people.tasks.task import FilledItem, Row, Tally, Task, entered, quoted
from vivavoce.store.write import ScoreRow

CRITERION = "Which answer would you rather a colleague acted on? Rank them from best to worst."
CRITERIA = (
    Criterion(
        criterion="rank", low=1.0, high=None, direction="lower", if_unanswered="set_aside", pool="rank"
    ),
    Criterion(criterion="ahead"),
    Criterion(criterion="clearly_wrong", direction="lower", if_unanswered="set_aside"),
    Criterion(criterion="good"),
    Criterion(criterion="bad", direction="lower"),
)
"""The scores of a ballot for each candidate: the mid-rank; the share of the others it is ahead of, ties half;
and whether it is clearly wrong, good, bad. Okay is neither good nor bad. A non-response has no score of its
own; where scores are counted it is 0 in `ahead`, also beside another non-response: no half of a tie.
"""
CLEARLY_WRONG = "yes"
"""The word of a form for an answer that is clearly wrong."""
TAGS = ("good", "okay", "bad")
NO_TAG = "the rater gave no tag"
NO_RANK = "the rater took the ranks back"
_YES, _NO = ("x", "1", "yes", "true", "y"), ("", "0", "no", "false", "n")


class Ranking(NamedTuple):
    """A rater's judgement of an answer. `rank` is null if none was given, or the answer is clearly wrong."""

    rank: float | None
    wrong: bool
    tag: str | None

    @property
    def unranked(self) -> bool:
        """Whether its place is not known."""
        return self.rank is None and not self.wrong


class RankTask(Task):
    """Raters rank the different answers to a question, the reference answer among them."""

    name = "rank"
    schema = "viva.panel.ballot/1"
    least_answers = 2
    default_n = 30
    has_form = True
    rates_reference = True
    shown_columns = ("question",)

    def __init__(self, criterion: str | None = None) -> None:
        self.criterion = " ".join((CRITERION if criterion is None else criterion).split())
        if not self.criterion:
            raise InputError(
                "the criterion is empty: say in a sentence by what the answers are to be ranked."
            )

    @property
    def body(self) -> dict[str, Any]:
        """The sentence alone: keys of earlier versions hold no more."""
        return {"criterion": self.criterion}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> "RankTask":
        """The task that a blinding key holds."""
        return cls(body["criterion"])

    @property
    def identity(self) -> str:
        """The sentence."""
        return self.criterion

    @property
    def settings(self) -> dict[str, Any]:
        """The sentence."""
        return self.body

    def visible_part(self, text: str, final: str) -> str:
        """The answer without what the candidate thought."""
        return final

    def reference(self, item: Item) -> str:
        """The key under the labels of the prompt: among the answers it must not be known by its form."""
        return formats.labelled_key(item)

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        return (
            f"no question here has two different answers to show (of {', '.join(candidates)}): a panel "
            "ranks what arrived and can be read"
        )

    @property
    def filled(self) -> tuple[str, ...]:
        """The columns that a rater fills."""
        return ("rank", "clearly_wrong", "tag", "remark")

    def instructions(self) -> Sequence[str]:
        """How the columns are to be filled."""
        return (
            "rank: a number for every answer to a question, 1 the best; the same number is a tie. "
            "clearly_wrong: x where an answer is clearly wrong; it ranks last and needs no number. "
            "tag: good, okay or bad. remark: what you like, once for a question.",
        )

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        return (
            "Give every answer a rank, 1 for the best; equal ranks are a tie.",
            "An answer that is clearly wrong ranks last and needs no number.",
            "Say of each answer whether it is good, okay or bad.",
        )

    def controls(self, n_answers: int) -> Sequence[Control]:
        """A rank, a flag and a tag for each answer, and a remark on the question."""
        ranks = tuple(str(rank) for rank in range(1, n_answers + 1))
        return (
            Control("rank", "Rank: 1 for the best; equal ranks are a tie.", ranks, each=True, orders=True),
            Control("clearly_wrong", "Clearly wrong? Then it ranks last.", (CLEARLY_WRONG,), each=True),
            Control("tag", "Is it good, okay or bad?", TAGS, each=True),
            Control("remark", "Remark"),
        )

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """Ranks, flags and tags; a question without any rank, or with a rank missing, is open."""
        name = seen_question.question.name
        ratings = tuple(_ranking(row, name, len(rows)) for row in rows) or tuple(
            Ranking(None, False, None) for _ in seen_question.answers
        )
        remarks = dict.fromkeys(str(row.entries.get("remark") or "").strip() for row in rows)
        lacking = _lacking(ratings)
        return FilledItem(
            seen_question,
            ratings,
            plain(" ".join(filter(None, remarks))),
            lacking,
            any(r.unranked for r in ratings),
        )

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """Answers that are clearly wrong, and remarks on questions."""
        return Tally(
            clearly_wrong=sum(rating.wrong for item in filled for rating in item.ratings),
            remarks=sum(bool(item.remark) for item in filled),
        )

    def metric(self, panel: str) -> str:
        """Ranks hold among the answers of one panel."""
        return f"panel(id={panel})"

    def signature(self, panel: str) -> str:
        """The signature of the panel's metric."""
        return f"{self.metric(panel)}@{RECORDED}"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Rank, share of the others it is ahead of, clearly wrong, good, bad."""
        return CRITERIA

    def ballot(self, panel: str, rater: str, item: Question) -> str:
        """One for each question and rater: its ranks go together."""
        text = "\n".join((panel, rater, *item.place))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """The scores of a ballot by criterion; without ranks all of them have failed."""
        item = filled.seen_question.question
        ranked = [
            (rating, position, name)
            for position, (answer, rating) in enumerate(
                zip(filled.seen_question.answers, filled.ratings, strict=True), 1
            )
            for name in answer.candidates
        ]
        unshown = self.unshown_scores(item, responses, ballot)
        if filled.open:
            failed = Value(None, note=NO_RANK, status="failed")
            rows = [ScoreRow(responses[name], failed, 1, ballot, position) for _, position, name in ranked]
            return {c.criterion: rows + unshown for c in CRITERIA}
        scores: dict[str, list[ScoreRow]] = {c.criterion: [] for c in CRITERIA}
        ranks = [_placed(rating) for rating, *_ in ranked]
        for rating, position, name in ranked:
            for criterion, value in _values(rating, ranks, len(item.silent), filled.remark).items():
                scores[criterion].append(ScoreRow(responses[name], value, 1, ballot, position))
        return {criterion: rows + unshown for criterion, rows in scores.items()}

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """Competition ranks (1, 2, 2, 4) among what is not clearly wrong; none unless all were placed."""
        if any("rank" not in values or values["rank"].value is None for values in answers):
            return [{} for _ in answers]
        ranks = [values["rank"].value or 0.0 for values in answers]
        return [
            {**_mark(values, ranks), "tag": _stored_tag(values), "remark": values["rank"].note or ""}
            for values in answers
        ]


def _mark(values: Mapping[str, Value], ranks: Sequence[float]) -> dict[str, Any]:
    wrong = values["clearly_wrong"].value == 1
    better = sum(rank < (values["rank"].value or 0.0) for rank in ranks)
    return {"rank": None if wrong else 1 + better, "clearly_wrong": wrong}


def _stored_tag(values: Mapping[str, Value]) -> str | None:
    good, bad = values["good"].value, values["bad"].value
    return None if good is None or bad is None else "good" if good else "bad" if bad else "okay"


def _lacking(ratings: Sequence[Ranking]) -> str:
    unranked = [label(n) for n, rating in enumerate(ratings) if rating.unranked]
    untagged = [label(n) for n, rating in enumerate(ratings) if rating.tag is None]
    if len(unranked) == len(untagged) == len(ratings):
        return "everything"
    ranks = f"the rank of {', '.join(unranked)}" if unranked else ""
    return " and ".join(filter(None, (ranks, f"the tag of {', '.join(untagged)}" if untagged else "")))


def _ranking(row: Row, item: str, n_answers: int) -> Ranking:
    place = row.place(item)
    wrong = _is_wrong(row.entries.get("clearly_wrong"), place)
    tag = _tag(row.entries.get("tag"), place)
    if wrong and tag not in (None, "bad"):
        raise InputError(f"{place} is called clearly wrong, and {tag} as well: one of the two is a slip.")
    rank = _rank(row.entries.get("rank"), place, n_answers)
    return Ranking(None, True, "bad") if wrong else Ranking(rank, False, tag)


def _is_wrong(entry: Any, place: str) -> bool:
    if isinstance(entry, bool):
        return entry
    word = str(entry or "").strip().casefold()
    if word not in (*_YES, *_NO):
        raise InputError(f"{place}: clearly_wrong is x or empty, not {quoted(entry)}.")
    return word in _YES


def _tag(entry: Any, place: str) -> str | None:
    word = "" if entry is None else str(entry).strip().casefold()
    tag = "okay" if word == "ok" else word or None
    if tag is not None and tag not in TAGS:
        raise InputError(f"{place}: its tag is good, okay or bad, not {quoted(entry)}.")
    return tag


def _rank(entry: Any, place: str, n_answers: int) -> float | None:
    text = entered(entry)
    if not text:
        return None
    try:
        number = math.nan if isinstance(entry, bool) or "_" in text else float(text)
    except ValueError:
        number = math.nan
    if not 1 <= number <= n_answers:
        raise InputError(
            f"{place}: a rank is a number from 1, the best, to {n_answers}, the number of answers, not "
            f"{quoted(entry)}."
        )
    return number


def _placed(rating: Ranking) -> float:
    """All that is clearly wrong shares the last place among what was shown."""
    return float("inf") if rating.rank is None else rating.rank


def _values(rating: Ranking, ranks: Sequence[float], n_silent: int, remark: str) -> dict[str, Value]:
    """What one candidate's answer gets, among the ranks of all that were shown."""
    rank = _placed(rating)
    better, equal = sum(r < rank for r in ranks), sum(r == rank for r in ranks)
    # Half of each tie counts as beaten, and every silent candidate does.
    beaten = len(ranks) - better - equal + n_silent + (equal - 1) / 2
    tags = {
        tag: Value(None, note=NO_TAG, status="failed")
        if rating.tag is None
        else Value(float(rating.tag == tag))
        for tag in ("good", "bad")
    }
    return {
        "rank": Value(better + (equal + 1) / 2, note=remark or None),
        "ahead": Value(beaten / (len(ranks) + n_silent - 1)),
        "clearly_wrong": Value(float(rating.wrong)),
        **tags,
    }
