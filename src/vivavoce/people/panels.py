"""Panels that are judged in the browser: who judges what, kept in the run, and the texts that raters see.

The same settings open the same panel again, however the run has grown since. The key holds no text: texts
are read from the run, and a question that is worded otherwise since the panel was made is asked no more.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, ItemKey
from vivavoce.people.assignment import assign
from vivavoce.people.choosing import Choice, choose, cleaned
from vivavoce.people.goal_draw import GoalDraw
from vivavoce.people.key import Key
from vivavoce.people.packets import rater_names
from vivavoce.people.question import REFERENCE, BlindedAnswer, Question, Seen
from vivavoce.people.recorded_draws import record_draw
from vivavoce.people.stored_keys import panel_identity, put_key, read_keys
from vivavoce.people.tasks import Task
from vivavoce.store import read
from vivavoce.store.by_place import responses_at
from vivavoce.store.read import StoredResponse
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_provenance

_Responses = Mapping[tuple[str, str, str, str, int], StoredResponse]
"""The responses in words by benchmark, item, variant, candidate and repeat."""


class PanelSettings(NamedTuple):
    """What a panel asks and of whom: each setting that another panel may have otherwise.

    `items` is the user's selection, null for all; `n` null for the task's own number. Without `double` every
    rater judges every question; with it one rater does, and two of that share. `pilot` questions come first,
    and all raters judge them. The share `repeats` of a rater's questions is put again. `labels` is the number
    of judgements after which agreement may be looked at, null for all. `goal` is what labels are drawn for,
    and `judge` the metric whose scores they correct.
    """

    task: Task
    items: str | None = None
    candidates: tuple[str, ...] = ()
    n: int | None = None
    seed: int = 1
    double: float | None = None
    pilot: int = 0
    repeats: float = 0.05
    labels: int | None = None
    goal: str | None = None
    judge: str | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The settings as JSON, by which the panel is known again."""
        settings = self._asdict() | {"task": self.task.body, "candidates": sorted(self.candidates)}
        settings = {name: value for name, value in settings.items() if value not in (None, [])}
        stored: dict[str, Any] = json.loads(json.dumps(settings))  # as it is read back
        return stored


class Panel(NamedTuple):
    """A panel with its texts. `items` are those of its questions by name; `changed` are no longer asked."""

    key: Key
    items: Mapping[str, Item]
    changed: tuple[str, ...]

    @property
    def pilot(self) -> int:
        """How many questions, the first of every rater, are the pilot."""
        return int((self.key.settings or {}).get("pilot", 0))

    @property
    def n_labels(self) -> int:
        """How many judgements were fixed beforehand, by default all."""
        n = sum(map(len, self.key.packets.values()))
        return min(n, int((self.key.settings or {}).get("labels", n)))


def open_panel(
    run: RunFile,
    settings: PanelSettings,
    raters: Sequence[str],
    chosen: "set[ItemKey] | None" = None,
    check: "Callable[[Sequence[Question]], None] | None" = None,
    draw: "Callable[[], GoalDraw | None]" = lambda: None,
) -> Panel:
    """The panel with these settings, made and stored where the run has none; `chosen` are those of `items`.

    `check` may refuse the questions of a panel before it is stored. `draw` gives the draw for its goal.

    Further raters join where everybody judges everything. Raises `InputError` for names that no rater can
    have, for a further rater where questions were shared out, and for settings that do not go together;
    `SelectionError` where nothing can be asked.
    """
    names = rater_names(raters)
    _check_numbers(settings)
    with run.reading() as db:
        stored = [key for key in read_keys(db).values() if key.settings == settings.body]
    if stored:
        key = _with_raters(stored[-1], names, settings)
        if key is not stored[-1]:
            with run.writing() as db:
                put_key(db, _with_packets(_with_texts(db, key)[0], names, settings, None))
    else:
        n = settings.task.default_n if settings.n is None else settings.n
        goal = draw()
        candidates = settings.candidates or (goal.candidates if goal else ())
        choice = choose(run, settings.task, chosen, candidates, n, settings.seed, goal)
        if check is not None:
            check(choice.questions)
        key = _make(run, settings, names, choice)
    return load_panel(run, key.panel)


def _check_numbers(settings: PanelSettings) -> None:
    numbers = [n for n in (settings.n, settings.labels) if n is not None]
    if settings.pilot < 0 or min(numbers, default=1) < 1:
        raise InputError("--n and --labels take 1 or more, --pilot 0 or more.")
    if settings.goal is not None and settings.pilot:
        raise InputError(
            "--pilot does not go with --for: what a round leaves out was drawn and has no label, so that its "
            "chance to be labelled would not be known."
        )


def load_panel(run: RunFile, panel: str) -> Panel:
    """A stored panel with the texts of the run as it is now."""
    with run.reading() as db:
        key, items = _with_texts(db, read_keys(db)[panel])
    packets, changed = {}, set[str]()
    for rater, packet in key.packets.items():
        intact = tuple(entry for entry in packet if _is_intact(key, rater, entry))
        changed |= {entry.question.name for entry in packet} - {entry.question.name for entry in intact}
        packets[rater] = intact
    return Panel(key._replace(packets=packets), items, tuple(sorted(changed)))


def newest_panel(run: RunFile, task: str) -> Key | None:
    """The panel of a task that was made last to be judged in the browser, null for none."""
    with run.reading() as db:
        keys = [key for key in read_keys(db).values() if key.settings is not None and key.task.name == task]
    return keys[-1] if keys else None


def _with_raters(key: Key, names: Sequence[str], settings: PanelSettings) -> Key:
    """The key with raters that are new to it, still without packets."""
    new = [name for name in names if name not in key.packets]
    if new and settings.double is not None:
        raise InputError(
            f"panel {key.panel} is shared out among {', '.join(sorted(key.packets))}: a further "
            f"rater, {new[0]}, would get none. Give all raters at once, with another --seed for a new panel."
        )
    return key._replace(packets={**key.packets, **{name: () for name in new}}) if new else key


def _make(run: RunFile, settings: PanelSettings, names: Sequence[str], choice: Choice) -> Key:
    with run.writing() as db:
        panel, secret = panel_identity(db, settings.seed, settings.task, choice.questions)
        earlier = read_keys(db)
        while panel in earlier:  # the same questions under other settings: another panel all the same
            panel = _next_name(panel)
        key = Key(panel, settings.seed, settings.task, secret, choice.questions, {}, choice.sample.draw)
        with_items = read.items_by_id(db).values()
        categories = {(i.benchmark, i.item, i.variant): i.category or "" for i in with_items}
        key = _with_packets(key._replace(settings=settings.body), names, settings, categories)
        settings.task.check_earlier(old.task for old in earlier.values())
        record_draw(db, key, choice.sample.probabilities, list(earlier.values()))
        put_key(db, key)
        body = {"panel": panel, "raters": list(names), **settings.task.settings, "seed": settings.seed}
        put_provenance(db, "annotate", body, changed=0)  # no answer and no mark: findings stay fresh
    return key


def _next_name(panel: str) -> str:
    return f"p{(int(panel[1:], 16) + 1) % 16**9:09x}"


def _with_packets(
    key: Key, names: Sequence[str], settings: PanelSettings, categories: Mapping[ItemKey, str] | None
) -> Key:
    """The key with a packet for each of these raters; shared out by `categories` where a share is double."""
    key = key._replace(packets={**key.packets, **{name: key.packets.get(name, ()) for name in names}})
    pilot = key.first_places(settings.pilot)
    places = {question.place for question in key.questions} - pilot
    parts = {name: places for name in names}
    if settings.double is not None and categories is not None:
        by_place = {place: categories.get(place, "") for place in places}
        shares = assign(by_place, names, double=settings.double, seed=settings.seed).raters
        parts = {name: set(shares[name]) for name in names}
        key = key._replace(unshown=_silent_questions(key, parts))
    packets, earlier = {}, Counter[ItemKey]()
    for name in key.packets:
        part = parts.get(name, places)
        packets[name] = (
            key.packets[name]
            if name not in parts
            else (
                *key.packet(name, pilot, earlier=earlier),
                *key.packet(name, part, repeats=settings.repeats, earlier=earlier),
            )
        )
        earlier.update(part | pilot)
    return key._replace(packets=packets)


def _silent_questions(key: Key, parts: Mapping[str, set[ItemKey]]) -> dict[str, tuple[Question, ...]]:
    """By rater the questions of their part to which every answer was silent."""
    silent = [question for question in key.questions if not question.answers]
    return {name: tuple(q for q in silent if q.place in part) for name, part in parts.items()}


def _with_texts(db: sqlite3.Connection, key: Key) -> tuple[Key, dict[str, Item]]:
    """The key with the texts of its questions and answers, and the items by name; what is gone is blank."""
    by_place = {(i.benchmark, i.item, i.variant): i for i in read.items_by_id(db).values()}
    items = {q.name: by_place[q.place] for q in key.questions if q.place in by_place}
    responses = responses_at(db, [q.place for q in key.questions if q.name in items])
    questions = {
        q.name: _question_with_texts(key.task, q, items[q.name], responses) if q.name in items else q
        for q in key.questions
    }
    packets = {
        rater: tuple(_seen_with_texts(entry, questions[entry.question.name]) for entry in packet)
        for rater, packet in key.packets.items()
    }
    return key._replace(questions=tuple(questions.values()), packets=packets), items


def _question_with_texts(task: Task, question: Question, item: Item, responses: _Responses) -> Question:
    if item.hash != question.hash:
        return question
    answers = tuple(
        BlindedAnswer(_answer_text(task, question, item, answer.candidates, responses), answer.candidates)
        for answer in question.answers
    )
    reference_text = "" if task.rates_reference else cleaned(task.reference(item))
    return question._replace(
        prompt=cleaned(formats.ask(item)), answers=answers, reference_text=reference_text
    )


def _answer_text(
    task: Task, question: Question, item: Item, candidates: Sequence[str], responses: _Responses
) -> str:
    """The text of an answer: what the first of its candidates said, or the reference answer."""
    name = next((candidate for candidate in candidates if candidate != REFERENCE), None)
    if name is None:
        return cleaned(task.reference(item))
    response = responses.get((*question.place, name, question.repeats[name]))
    if response is None or response.text is None:
        return ""
    return cleaned(task.visible_part(response.text, response.final_text))


def _seen_with_texts(entry: Seen, question: Question) -> Seen:
    texts = {answer.candidates: answer for answer in question.answers}
    return entry._replace(
        question=question, answers=tuple(texts[answer.candidates] for answer in entry.answers)
    )


def _is_intact(key: Key, rater: str, entry: Seen) -> bool:
    """Whether the run still holds what the panel was made to show."""
    texts = (*key.task.texts_beside(entry.question), *(answer.text for answer in entry.answers))
    return entry.seal == key.seal(rater, entry.question, texts)
