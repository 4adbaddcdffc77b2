"""Blinding keys in the run: events of its journal, without any text of a question or an answer."""

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from vivavoce.people import KEY_EVENT
from vivavoce.people.case_draw import CaseDraw
from vivavoce.people.key import Key
from vivavoce.people.question import BlindedAnswer, Question, Seen
from vivavoce.people.tasks import Task, read_task
from vivavoce.store.damage import decoding
from vivavoce.store.read import event_texts
from vivavoce.store.write import put_event

SECRET_EVENT = "panel secret drawn"


def panel_identity(
    db: sqlite3.Connection, seed: int, task: Task, questions: Sequence[Question]
) -> tuple[str, str]:
    """The id of a panel and its secret; both follow from its content and the secret of the run.

    The run's secret is drawn, and kept, when its first panel is made. A run that others were merged into may
    hold several: the one under which this panel is known counts, else the first.
    """
    with decoding("the secret of a panel"):
        secrets_of_run = [str(json.loads(body)["secret"]) for body in event_texts(db, SECRET_EVENT)]
    if not secrets_of_run:
        secrets_of_run = [secrets.token_hex(32)]
        put_event(db, SECRET_EVENT, {"secret": secrets_of_run[0]})
    texts = [[_body(q), *task.texts_beside(q), [answer.text for answer in q.answers]] for q in questions]
    content = json.dumps([seed, task.identity, texts], ensure_ascii=False, sort_keys=True)
    identities = [
        _identity(identity, content.encode("utf-8", "surrogatepass")) for identity in secrets_of_run
    ]
    panels = read_keys(db)
    return next((identity for identity in identities if identity[0] in panels), identities[0])


def _identity(run_secret: str, text: bytes) -> tuple[str, str]:
    identity, secret = (
        hmac.new(run_secret.encode(), kind + text, hashlib.sha256).hexdigest() for kind in (b"id", b"secret")
    )
    # A letter first: ten digits, or 1e10, would be read as a number in a spec.
    return f"p{identity[:9]}", secret


def put_key(db: sqlite3.Connection, key: Key) -> bool:
    """Store the packets of raters that are new to the run, and a shared one; false if there are none."""
    stored = read_keys(db).get(key.panel)
    earlier = stored.packets if stored else {}
    new = {rater: packet for rater, packet in key.packets.items() if rater not in earlier}
    shared = () if stored is not None and stored.shared else key.shared
    if not new and not shared:
        return False
    body = {"panel": key.panel, "seed": key.seed, **key.task.body, "secret": key.secret,
            **_settings_body(key, new), "questions": [_body(q) for q in key.questions],
            "packets": _packet_orders(key.questions, new)}  # fmt: skip
    if shared:
        body |= _packet_orders(key.questions, {"shared": shared})
    put_event(db, KEY_EVENT, body)
    return True


def _settings_body(key: Key, raters: Collection[str]) -> dict[str, Any]:
    """What only some panels have: a draw of cases, parts of their own for these raters, settings."""
    body: dict[str, Any] = {"draw": key.draw._asdict()} if key.draw else {}
    if key.unshown is not None:
        numbers = {question.name: n for n, question in enumerate(key.questions)}
        body["unshown"] = {rater: [numbers[q.name] for q in key.unshown.get(rater, ())] for rater in raters}
    if key.settings is not None:
        body["settings"] = dict(key.settings)
    return body


def _packet_orders(
    questions: Sequence[Question], packets: Mapping[str, Sequence[Seen]]
) -> dict[str, list[dict[str, Any]]]:
    """By rater the questions in their order, as numbers, and that of their answers."""
    numbers = {question.name: n for n, question in enumerate(questions)}
    return {
        rater: [
            {"question": numbers[entry.question.name], "seal": entry.seal,
             "order": [entry.question.answers.index(answer) for answer in entry.answers],
             **({"pass": entry.pass_no} if entry.pass_no > 1 else {})}
            for entry in packet
        ]
        for rater, packet in packets.items()
    }  # fmt: skip


def _body(question: Question) -> dict[str, Any]:
    """All of an item but its texts."""
    body = question._asdict() | {"answers": [answer.candidates for answer in question.answers]}
    return {name: value for name, value in body.items() if name not in ("prompt", "reference_text")}


def read_keys(db: sqlite3.Connection) -> dict[str, Key]:
    """The panels that were made from this run, by id."""
    keys: dict[str, Key] = {}
    for text in event_texts(db, KEY_EVENT):
        with decoding("the key of a panel"):
            body = json.loads(text)
            questions = tuple(_question(entry) for entry in body["questions"])
            packets = {rater: _packet(entries, questions) for rater, entries in body["packets"].items()}
            earlier = keys.get(body["panel"])
            keys[body["panel"]] = Key(
                body["panel"],
                body["seed"],
                read_task(body),
                body["secret"],
                questions,
                {**(earlier.packets if earlier else {}), **packets},
                CaseDraw.from_body(body.get("draw")),
                _unshown(body, questions, earlier),
                body.get("settings"),
                _packet(body.get("shared", ()), questions) or (earlier.shared if earlier else ()),
            )
    return keys


def _packet(entries: Sequence[Mapping[str, Any]], questions: Sequence[Question]) -> tuple[Seen, ...]:
    """The questions of a packet in their order, each with its answers in theirs."""
    return tuple(
        Seen(
            questions[entry["question"]],
            tuple(questions[entry["question"]].answers[n] for n in entry["order"]),
            entry["seal"],
            entry.get("pass", 1),
        )
        for entry in entries
    )


def _unshown(
    body: Mapping[str, Any], questions: Sequence[Question], earlier_key: Key | None
) -> Mapping[str, tuple[Question, ...]] | None:
    """By rater the questions without an answer to show; null where they are everybody's."""
    if "unshown" not in body:
        return None
    earlier = (earlier_key and earlier_key.unshown) or {}
    return {**earlier, **{rater: tuple(questions[n] for n in ns) for rater, ns in body["unshown"].items()}}


def _question(body: Mapping[str, Any]) -> Question:
    answers = tuple(BlindedAnswer("", tuple(candidates)) for candidates in body["answers"])
    return Question(**{**body, "prompt": "", "answers": answers, "lost": tuple(body["lost"])})
