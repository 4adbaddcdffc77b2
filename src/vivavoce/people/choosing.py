"""What a panel shows: its candidates, its items, and of each item the different answers.

Raters see what arrived and could be read. Texts that differ in blanks alone are one answer.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce import formats
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.parts import Parts
from vivavoce.core.records import Item, ItemKey
from vivavoce.core.text import printable
from vivavoce.people.case_draw import DrawnItems
from vivavoce.people.goal_draw import GoalDraw
from vivavoce.people.question import REFERENCE, BlindedAnswer, Question
from vivavoce.people.tasks import Task
from vivavoce.store import read
from vivavoce.store.candidate_names import candidate_labels, match_candidate
from vivavoce.store.cases import run_cases
from vivavoce.store.forgotten import AnswerKey, forgotten_answers, is_forgotten
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import view_of

MOST_ANSWERS = 26  # one letter each; nobody ranks more


class Choice(NamedTuple):
    """The candidates and items of a panel, and how many items were eligible; `n_gone_items` and
    `n_gone_answers`, those to further items, would be shown had they not been forgotten.
    """

    candidates: tuple[str, ...]
    sample: DrawnItems
    n_ready: int
    n_possible: int
    registered: tuple[str, ...]
    n_gone_items: int
    n_gone_answers: int

    @property
    def questions(self) -> tuple[Question, ...]:
        """The drawn items."""
        return self.sample.items


def choose(
    run: RunFile,
    task: Task,
    items: "set[ItemKey] | None",
    candidates: Sequence[str],
    n: int,
    seed: int,
    goal_draw: GoalDraw | None = None,
) -> Choice:
    """The candidates, and the items that are drawn, for a goal if there is one, of those the task can show.

    Raises `InputError` for a candidate called as the reference answer is, `SelectionError` where nothing can
    be shown, or too much.
    """
    with view_of(run) as view:
        db = view.db
        # A later turn of a conversation says nothing without what each candidate answered before it.
        all_items = [i for i in read.items_by_id(db).values() if i.origin is None and i.follows is None]
        responses = read.responses(db, probed=False)
        gone = forgotten_answers(db)
        roles = {c.candidate: c.role for c in read.candidates(db)}
        registered = {b.benchmark for b in read.benchmarks(db) if b.card.access == "credentialed"}
        joined = run_cases(db)
        labels = candidate_labels(view) if candidates else []
    chosen = _candidates(roles, [match_candidate(name, labels) for name in candidates])
    in_reach = _selected(all_items, items) if task.asks_closed else askable(all_items, items)
    suited = [item for item in in_reach if task.applies_to(item)]
    eligible = [item for item in suited if not is_forgotten(item.meta)]
    visible = {(*_place(item), name) for item in eligible for name in chosen if task.shows_candidates}
    n_gone = sum(key[:4] in visible for key in gone)
    possible = _questions(task, eligible, _remaining(responses, gone), chosen)
    ready = [item for item in possible if len(item.answers) >= task.least_answers]
    if not ready:
        raise SelectionError(f"{task.nothing_to_show(chosen)}.")
    unshown = [item for item in possible if not item.answers and item.silent]
    cases = {place[:3]: case for place, case in zip(joined.places, joined.labels, strict=True)}
    sample = (goal_draw or task).draw(ready, unshown, cases, n, seed, chosen)
    _refuse_crowded(sample.items)
    terms = tuple(sorted(registered & {item.benchmark for item in sample.items if item.answers}))
    return Choice(chosen, sample, len(ready), len(possible), terms, len(suited) - len(eligible), n_gone)


def _candidates(roles: Mapping[str, str], named: Sequence[str]) -> tuple[str, ...]:
    """The named candidates, by default all but floors and ceilings."""
    if roles.get(REFERENCE, "ceiling") != "ceiling":
        raise InputError(
            f"a candidate of this run is called {REFERENCE!r}, which is what a panel calls the reference "
            "answer: import its answers under another name."
        )
    named = named or [name for name, role in roles.items() if role == "candidate"]
    return tuple(sorted({name for name in named if name != REFERENCE}))


def _refuse_crowded(items: Sequence[Question]) -> None:
    if crowded := [item for item in items if len(item.answers) > MOST_ANSWERS]:
        raise SelectionError(
            f"{crowded[0].name} has {len(crowded[0].answers)} answers: name at most {MOST_ANSWERS - 1} "
            "--candidates, and better five or six."
        )


def _selected(items: Sequence[Item], chosen: "set[ItemKey] | None") -> list[Item]:
    """The chosen items, by default all: closed ones have a key to judge."""
    return [item for item in items if chosen is None or (item.benchmark, item.item, item.variant) in chosen]


def askable(items: Sequence[Item], chosen: "set[ItemKey] | None") -> list[Item]:
    """The chosen items, by default those answered in free text: in a closed one there is nothing to judge."""
    if chosen is None:
        # An argument has options and a label, and is a text all the same.
        return [
            item
            for item in items
            if not (item.answer or item.options) or formats.accepts(("short",), item.format)
        ]
    return _selected(items, chosen)


def _questions(
    task: Task, items: Sequence[Item], responses: pl.DataFrame, candidates: Sequence[str]
) -> list[Question]:
    """The items with their answers, as far as anything was answered."""
    shown_to_raters = (pl.col("edit") == "") & pl.col("candidate").is_in(candidates)
    by_item: dict[ItemKey, list[Mapping[str, Any]]] = {}
    answered = responses.filter(shown_to_raters) if task.shows_candidates else responses.clear()
    for row in answered.sort("candidate", "repeat").iter_rows(named=True):
        by_item.setdefault((row["benchmark"], row["item"], row["variant"]), []).append(row)
    names = Counter(item.name for item in items)
    return [
        _question(task, item, item.name if names[item.name] == 1 else _full_name(item), rows)
        for item in items
        if (rows := by_item.get((item.benchmark, item.item, item.variant), [])) or not task.shows_candidates
    ]


def _place(item: Item) -> ItemKey:
    return item.benchmark, item.item, item.variant


def _remaining(responses: pl.DataFrame, gone: Collection[AnswerKey]) -> pl.DataFrame:
    """The responses without these and what was made of them."""
    columns = ["benchmark", "item", "variant", "candidate", "repeat"]
    schema = {name: responses.schema[name] for name in columns}
    return responses.join(pl.DataFrame(list(gone), schema=schema, orient="row"), on=columns, how="anti")


def _full_name(item: Item) -> str:
    return (
        f"{item.benchmark} {item.item} [{item.variant}]" if item.variant else f"{item.benchmark} {item.item}"
    )


def _question(task: Task, item: Item, name: str, rows: Sequence[Mapping[str, Any]]) -> Question:
    """The item with what was answered, equal texts together; `rows` are by candidate and repeat."""
    first = _first_arrived(rows)
    answers = _Answers({}, {})
    silent: dict[str, str] = {}
    lost = []
    for candidate, row in first.items():
        if row["status"] == "failed":
            lost.append(candidate)
            continue
        text, final = str(row["text"]), str(row["final"])
        parts = Parts(final, ending=row["ending"])
        status = formats.read_response(item, parts).status if row["status"] == "ok" else "unanswered"
        if status == "ok":
            answers.add(candidate, task.visible_part(text, final))
        else:
            silent[candidate] = "unreadable" if status == "unreadable" else "unanswered"
    reference = task.reference(item)
    if reference.strip() and task.rates_reference:
        answers.add(REFERENCE, reference)
    return Question(
        name=cleaned(name),
        benchmark=item.benchmark,
        item=item.item,
        variant=item.variant,
        hash=item.hash,
        prompt=cleaned(formats.ask(item)),
        answers=answers.blinded(),
        repeats={candidate: int(str(row["repeat"])) for candidate, row in first.items()},
        silent=silent,
        lost=tuple(lost),
        reference=bool(reference.strip()),
        reference_text="" if task.rates_reference else cleaned(reference),
    )


def _first_arrived(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The first repeat of each candidate that arrived, else its first: what was lost is our doing."""
    first: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        candidate = str(row["candidate"])
        if candidate not in first or (first[candidate]["status"] == "failed" and row["status"] != "failed"):
            first[candidate] = row
    return first


class _Answers(NamedTuple):
    """Different texts and who gave each; texts that differ in blanks alone are one."""

    texts: dict[str, str]
    candidates: dict[str, list[str]]

    def add(self, candidate: str, text: str) -> None:
        page_text = cleaned(text)
        flat = " ".join(page_text.split())
        self.texts.setdefault(flat, page_text)
        self.candidates.setdefault(flat, []).append(candidate)

    def blinded(self) -> tuple[BlindedAnswer, ...]:
        return tuple(
            BlindedAnswer(self.texts[flat], tuple(sorted(names)))
            for flat, names in sorted(self.candidates.items())
        )


def cleaned(text: str) -> str:
    """A text as a page shows it: uniform line ends, no terminal or bidirectional control characters."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def naming(questions: Sequence[Question], candidates: Sequence[str]) -> tuple[str, ...]:
    """Questions with an answer in which a candidate's label stands."""
    labels = [name.casefold() for name in candidates if len(name) > 2]
    return tuple(
        q.name for q in questions if any(label in a.text.casefold() for a in q.answers for label in labels)
    )
