"""The key of a panel: who gave which answer, in what order each rater saw them. It stays in the run.

A packet carries ids, labels and a seal for each question. The seal is an HMAC over what the rater was shown,
under a secret that only the run holds, so that what comes back can be told from what was sent. All secrets
come from one that is drawn for the run: who guesses which candidate gave which answer finds nothing in a
packet that confirms it.
"""

import hashlib
import hmac
import json
import re
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.interchange.spreadsheets import FORMULA
from vivavoce.store.write import put_event

__all__ = ["REFERENCE", "Key", "Question", "Seen", "Shown", "identified", "keys_of", "plain", "put_key"]

REFERENCE = "reference"
"""The candidate, a ceiling, that the reference answer is in the run."""
EVENT = "panel made"
DRAWN = "panel secret drawn"
_FORMULA = re.compile(FORMULA)


class Shown(NamedTuple):
    """An answer as raters see it, and every candidate who gave it."""

    text: str
    candidates: tuple[str, ...]


class Question(NamedTuple):
    """A question of a panel.

    `name` is what packets call it, `asked` what is shown of it. `answers` are different texts, `repeats` says
    which repeat of each candidate was taken. `silent` gives the reason by candidate, `lost` are candidates
    whose answer did not arrive. `reference` says whether there is a reference answer. In a key that was kept
    all texts are empty: they are the run's, and go with its items.
    """

    name: str
    benchmark: str
    item: str
    variant: str
    hash: str
    asked: str
    answers: tuple[Shown, ...]
    repeats: Mapping[str, int]
    silent: Mapping[str, str]
    lost: tuple[str, ...]
    reference: bool

    @property
    def place(self) -> tuple[str, str, str]:
        """Benchmark, base id and variant."""
        return self.benchmark, self.item, self.variant


class Seen(NamedTuple):
    """A question as one rater sees it: its answers in the order of their labels, and its seal."""

    question: Question
    answers: tuple[Shown, ...]
    seal: str


class Key(NamedTuple):
    """A panel: `packets` gives for each rater the questions in the order they are put."""

    panel: str
    seed: int
    criterion: str
    secret: str
    questions: tuple[Question, ...]
    packets: Mapping[str, tuple[Seen, ...]]

    @property
    def metric(self) -> str:
        """The spec under which its marks stand in the run."""
        return f"panel(id={self.panel})"

    def packet(self, rater: str) -> tuple[Seen, ...]:
        """The questions for a rater in an order of their own, each with its answers in an order of its own.

        Orders follow from secret, rater and ids, whatever the order in which things came.
        """
        order = sorted(self.questions, key=lambda q: self._drawn("question", rater, *q.place))
        return tuple(self._seen(question, rater) for question in order)

    def _seen(self, question: Question, rater: str) -> Seen:
        answers = sorted(
            question.answers,
            key=lambda shown: self._drawn("answer", rater, *question.place, *shown.candidates),
        )
        texts = [shown.text for shown in answers]
        return Seen(question, tuple(answers), self.seal(rater, question, question.asked, texts))

    def seal(self, rater: str, question: Question, asked: str, answers: Sequence[str]) -> str:
        """What stands for this question, asked and answered in these words, in this rater's packet.

        Blanks do not count, nor apostrophes before a text: browsers and spreadsheets move both.
        """
        content = [self.panel, rater, *question.place, *map(plain, (asked, *answers))]
        return self._drawn("seal", *content)[:16]

    def _drawn(self, *words: str) -> str:
        text = json.dumps(words, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest()


def plain(text: str) -> str:
    """A text with single blanks, and without the apostrophes that keep a spreadsheet from running it."""
    return " ".join((text.lstrip("'") if _FORMULA.match(text) else text).split())


def identified(
    db: sqlite3.Connection, seed: int, criterion: str, questions: Sequence[Question]
) -> tuple[str, str]:
    """The id of a panel and its secret; both follow from its content and the secret of the run.

    The run's secret is drawn, and kept, when its first panel is made. A run that others were merged into may
    hold several: the one under which this panel is known counts, else the first.
    """
    rows = db.execute("SELECT body FROM events WHERE kind = ? ORDER BY event_id", (DRAWN,))
    drawn = [json.loads(body)["secret"] for (body,) in rows]
    if not drawn:
        drawn = [secrets.token_hex(32)]
        put_event(db, DRAWN, {"secret": drawn[0]})
    texts = [[_body(q), q.asked, [shown.text for shown in q.answers]] for q in questions]
    content = json.dumps([seed, criterion, texts], ensure_ascii=False, sort_keys=True)
    found = [_identity(one, content.encode("utf-8", "surrogatepass")) for one in drawn]
    known = keys_of(db)
    return next((one for one in found if one[0] in known), found[0])


def _identity(run_secret: str, text: bytes) -> tuple[str, str]:
    identity, secret = (
        hmac.new(run_secret.encode(), what + text, hashlib.sha256).hexdigest() for what in (b"id", b"secret")
    )
    # A letter first: ten digits, or 1e10, would be read as a number in a spec.
    return f"p{identity[:9]}", secret


def put_key(db: sqlite3.Connection, key: Key) -> bool:
    """Keep the packets of raters that the run does not know of yet; false if it knows all."""
    there = keys_of(db).get(key.panel)
    new = {who: seen for who, seen in key.packets.items() if there is None or who not in there.packets}
    if not new:
        return False
    order = {question.name: n for n, question in enumerate(key.questions)}
    packets = {
        who: [
            {"question": order[one.question.name], "seal": one.seal,
             "order": [one.question.answers.index(shown) for shown in one.answers]}
            for one in seen
        ]
        for who, seen in new.items()
    }  # fmt: skip
    body = {"panel": key.panel, "seed": key.seed, "criterion": key.criterion, "secret": key.secret,
            "questions": [_body(q) for q in key.questions], "packets": packets}  # fmt: skip
    put_event(db, EVENT, body)
    return True


def _body(question: Question) -> dict[str, Any]:
    """All of a question but its texts."""
    body = question._asdict() | {"answers": [shown.candidates for shown in question.answers]}
    return {name: value for name, value in body.items() if name != "asked"}


def keys_of(db: sqlite3.Connection) -> dict[str, Key]:
    """The panels that were made from this run, by id."""
    found: dict[str, Key] = {}
    for (text,) in db.execute("SELECT body FROM events WHERE kind = ? ORDER BY event_id", (EVENT,)):
        body = json.loads(text)
        questions = tuple(_question(one) for one in body["questions"])
        packets = {
            who: tuple(
                Seen(
                    questions[one["question"]],
                    tuple(questions[one["question"]].answers[n] for n in one["order"]),
                    one["seal"],
                )
                for one in seen
            )
            for who, seen in body["packets"].items()
        }
        before = found[body["panel"]].packets if body["panel"] in found else {}
        found[body["panel"]] = Key(
            body["panel"], body["seed"], body["criterion"], body["secret"], questions, {**before, **packets}
        )
    return found


def _question(body: Mapping[str, Any]) -> Question:
    answers = tuple(Shown("", tuple(candidates)) for candidates in body["answers"])
    return Question(**{**body, "asked": "", "answers": answers, "lost": tuple(body["lost"])})
