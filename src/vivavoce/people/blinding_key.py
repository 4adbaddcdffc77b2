"""The blinding key of a panel: who gave which answer, and in what order each rater saw them.

The key stays in the run. A packet carries ids, labels and a seal for each item. The seal is an HMAC over what
the rater was shown, under a secret that only the run holds, so that an altered ballot is detected. All
secrets derive from a random one of the run: nothing in a packet confirms a guess about who gave an answer.
"""

import hashlib
import hmac
import json
import re
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.spreadsheets import FORMULA
from vivavoce.store.write import put_event

REFERENCE = "reference"
"""The candidate, a ceiling, that the reference answer is in the run."""
KEY_EVENT = "panel made"
SECRET_EVENT = "panel secret drawn"
_FORMULA = re.compile(FORMULA)


class BlindedAnswer(NamedTuple):
    """An answer as raters see it, and every candidate who gave it."""

    text: str
    candidates: tuple[str, ...]


class PanelItem(NamedTuple):
    """An item of a panel.

    `name` is what packets call it, `prompt` its text. `answers` are different texts, `repeats` says
    which repeat of each candidate was taken. `silent` gives the reason by candidate, `lost` are candidates
    whose answer did not arrive. `reference` says whether there is a reference answer. In a key that was kept
    all texts are empty: they are the run's, and go with its items.
    """

    name: str
    benchmark: str
    item: str
    variant: str
    hash: str
    prompt: str
    answers: tuple[BlindedAnswer, ...]
    repeats: Mapping[str, int]
    silent: Mapping[str, str]
    lost: tuple[str, ...]
    reference: bool

    @property
    def place(self) -> tuple[str, str, str]:
        """Benchmark, base id and variant."""
        return self.benchmark, self.item, self.variant


class PacketItem(NamedTuple):
    """An item as one rater sees it: its answers in the order of their labels, and its seal."""

    item: PanelItem
    answers: tuple[BlindedAnswer, ...]
    seal: str


class BlindingKey(NamedTuple):
    """A panel: `packets` gives for each rater the questions in the order they are put."""

    panel: str
    seed: int
    criterion: str
    secret: str
    questions: tuple[PanelItem, ...]
    packets: Mapping[str, tuple[PacketItem, ...]]

    @property
    def metric(self) -> str:
        """The spec under which its marks stand in the run."""
        return f"panel(id={self.panel})"

    def packet(self, rater: str) -> tuple[PacketItem, ...]:
        """The items for a rater in an order of their own, each with its answers in an order of its own.

        Orders follow from secret, rater and ids, whatever the order in which things came.
        """
        order = sorted(self.questions, key=lambda q: self._keyed_hash("question", rater, *q.place))
        return tuple(self._packet_item(question, rater) for question in order)

    def _packet_item(self, question: PanelItem, rater: str) -> PacketItem:
        answers = sorted(
            question.answers,
            key=lambda answer: self._keyed_hash("answer", rater, *question.place, *answer.candidates),
        )
        texts = [answer.text for answer in answers]
        return PacketItem(question, tuple(answers), self.seal(rater, question, question.prompt, texts))

    def seal(self, rater: str, question: PanelItem, prompt: str, answers: Sequence[str]) -> str:
        """The seal of this item, with this prompt and these answers, in this rater's packet.

        Blanks do not count, nor apostrophes before a text: browsers and spreadsheets move both.
        """
        content = [self.panel, rater, *question.place, *map(plain, (prompt, *answers))]
        return self._keyed_hash("seal", *content)[:16]

    def _keyed_hash(self, *words: str) -> str:
        text = json.dumps(words, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest()


def plain(text: str) -> str:
    """A text with single blanks, and without the apostrophes that keep a spreadsheet from running it."""
    return " ".join((text.lstrip("'") if _FORMULA.match(text) else text).split())


def panel_identity(
    db: sqlite3.Connection, seed: int, criterion: str, questions: Sequence[PanelItem]
) -> tuple[str, str]:
    """The id of a panel and its secret; both follow from its content and the secret of the run.

    The run's secret is drawn, and kept, when its first panel is made. A run that others were merged into may
    hold several: the one under which this panel is known counts, else the first.
    """
    rows = db.execute("SELECT body FROM events WHERE kind = ? ORDER BY event_id", (SECRET_EVENT,))
    secrets_of_run = [json.loads(body)["secret"] for (body,) in rows]
    if not secrets_of_run:
        secrets_of_run = [secrets.token_hex(32)]
        put_event(db, SECRET_EVENT, {"secret": secrets_of_run[0]})
    texts = [[_body(q), q.prompt, [answer.text for answer in q.answers]] for q in questions]
    content = json.dumps([seed, criterion, texts], ensure_ascii=False, sort_keys=True)
    identities = [
        _identity(identity, content.encode("utf-8", "surrogatepass")) for identity in secrets_of_run
    ]
    panels = read_keys(db)
    return next((identity for identity in identities if identity[0] in panels), identities[0])


def _identity(run_secret: str, text: bytes) -> tuple[str, str]:
    identity, secret = (
        hmac.new(run_secret.encode(), what + text, hashlib.sha256).hexdigest() for what in (b"id", b"secret")
    )
    # A letter first: ten digits, or 1e10, would be read as a number in a spec.
    return f"p{identity[:9]}", secret


def put_key(db: sqlite3.Connection, key: BlindingKey) -> bool:
    """Store the packets of raters that are new to the run; false if there are none."""
    stored = read_keys(db).get(key.panel)
    new = {who: packet for who, packet in key.packets.items() if stored is None or who not in stored.packets}
    if not new:
        return False
    order = {question.name: n for n, question in enumerate(key.questions)}
    packets = {
        who: [
            {"question": order[entry.item.name], "seal": entry.seal,
             "order": [entry.item.answers.index(answer) for answer in entry.answers]}
            for entry in packet
        ]
        for who, packet in new.items()
    }  # fmt: skip
    body = {"panel": key.panel, "seed": key.seed, "criterion": key.criterion, "secret": key.secret,
            "questions": [_body(q) for q in key.questions], "packets": packets}  # fmt: skip
    put_event(db, KEY_EVENT, body)
    return True


def _body(question: PanelItem) -> dict[str, Any]:
    """All of an item but its texts."""
    body = question._asdict() | {"answers": [answer.candidates for answer in question.answers]}
    return {name: value for name, value in body.items() if name != "prompt"}


def read_keys(db: sqlite3.Connection) -> dict[str, BlindingKey]:
    """The panels that were made from this run, by id."""
    keys: dict[str, BlindingKey] = {}
    for (text,) in db.execute("SELECT body FROM events WHERE kind = ? ORDER BY event_id", (KEY_EVENT,)):
        body = json.loads(text)
        questions = tuple(_question(entry) for entry in body["questions"])
        packets = {
            who: tuple(
                PacketItem(
                    questions[entry["question"]],
                    tuple(questions[entry["question"]].answers[n] for n in entry["order"]),
                    entry["seal"],
                )
                for entry in packet
            )
            for who, packet in body["packets"].items()
        }
        before = keys[body["panel"]].packets if body["panel"] in keys else {}
        keys[body["panel"]] = BlindingKey(
            body["panel"], body["seed"], body["criterion"], body["secret"], questions, {**before, **packets}
        )
    return keys


def _question(body: Mapping[str, Any]) -> PanelItem:
    answers = tuple(BlindedAnswer("", tuple(candidates)) for candidates in body["answers"])
    return PanelItem(**{**body, "prompt": "", "answers": answers, "lost": tuple(body["lost"])})
