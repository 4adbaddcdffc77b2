"""Panels in the browser: which panel a command means, and the links of its raters and its organiser."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import polars as pl

from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey
from vivavoce.people.key import Key
from vivavoce.people.panels import Panel, PanelSettings, load_panel, newest_panel, open_panel
from vivavoce.people.question import Question, Seen
from vivavoce.people.tasks import REVIEW_TASKS, TASKS, AnswerTask, PairwiseTask, RankTask, RateTask, Task
from vivavoce.run.people.label_panel import Labelling, goal_draw
from vivavoce.run.tables.credentialed import credentialed_benchmarks
from vivavoce.run.tables.load import load_scores, select_items
from vivavoce.run.tables.reviews import read_reviews
from vivavoce.store.by_place import items_at
from vivavoce.store.candidate_names import candidate_labels, match_candidate
from vivavoce.store.runfile import RunFile
from vivavoce.store.sign_in_links import SignInRole, draw_link, live_links, revoke_link
from vivavoce.store.view import View, view_of, with_view
from vivavoce.studies.panels.panel import Panel as RankPanel
from vivavoce.studies.reliability.agreement import Agreement
from vivavoce.studies.review.review import Review
from vivavoce.studies.score_table import ScoreTable

ORGANISER = "organiser"
"""The name under which the organiser of every panel signs in."""


NO_GOAL = Labelling()


class LinkRow(NamedTuple):
    """A rater's link, null where it was printed before, and their questions.

    `n_double` of the `n_items` are another rater's too; `n_planted` are put a second time.
    """

    rater: str
    link: str | None
    n_items: int
    n_double: int
    n_planted: int


def prepare_panel(
    run: RunFile,
    task: str,
    raters: Sequence[str],
    *,
    items: str | None = None,
    candidates: Sequence[str] = (),
    rubric: str | None = None,
    criterion: str | None = None,
    n: int | None = None,
    double: float | None = None,
    repeats: float = 0.05,
    pilot: int = 0,
    seed: int = 1,
    assist: str | None = None,
    labels: int | None = None,
    allow: bool = False,
    labelling: Labelling = NO_GOAL,
) -> Panel:
    """The panel that these settings name, made where there is none; without raters the newest of the task.

    `labelling` says what labels are wanted for: cases are then drawn where they tell most. Raises
    `InputError` for credentialed items without `allow`, and as `open_panel` and `goal_draw`.
    """
    if not raters:
        newest = newest_panel(run, task)
        if newest is None:
            raise InputError(
                f"nobody was asked to {task} in this run yet: --raters names who does, as --raters anna,ben."
            )
        panel = load_panel(run, newest.panel)
    else:
        chosen, names = panel_task(run, task, candidates, rubric=rubric, criterion=criterion, assist=assist)
        settings = PanelSettings(
            chosen, items, names, n, seed, double, pilot, repeats, labels, labelling.goal, labelling.metric
        )
        selected = with_view(run, select_items, items)
        draw = partial(with_view, run, goal_draw, labelling, selected, task, rubric)
        panel = open_panel(run, settings, raters, selected, partial(refuse_credentialed, run, allow), draw)
    refuse_credentialed(run, allow, panel.key.questions)
    return panel


class PanelTask(NamedTuple):
    """What a panel asks, and whose answers it shows, none for all candidates."""

    task: Task
    candidates: tuple[str, ...]


def panel_task(
    run: RunFile,
    task: str,
    candidates: Sequence[str],
    *,
    rubric: str | None,
    criterion: str | None,
    assist: str | None = None,
) -> PanelTask:
    """The task of these settings, with the candidates by their full names. Raises as `task_of`."""
    # An exam under construction has no answers, and is reviewed, or answered by people, all the same.
    of_items = task in (*REVIEW_TASKS, AnswerTask.name) and not candidates and assist is None
    candidate_names = [] if of_items else with_view(run, candidate_labels)
    names = tuple(match_candidate(name, candidate_names) for name in candidates)
    helper = None if assist is None else match_candidate(assist, candidate_names)
    chosen = task_of(task, rubric=rubric, criterion=criterion, assist=helper)
    return PanelTask(chosen, names if helper is None else (helper,))


_TASKS_WITH = {
    "rubric": (RateTask.name,),
    "criterion": (RankTask.name, PairwiseTask.name),
    "assist": (AnswerTask.name,),
}
"""The tasks that a setting goes with."""


def task_of(task: str, *, rubric: str | None, criterion: str | None, assist: str | None = None) -> Task:
    """The task of these settings. Raises `InputError` for a setting of another task."""
    settings = {"rubric": rubric, "criterion": criterion, "assist": assist}
    for name, setting in settings.items():
        if setting is not None and task not in _TASKS_WITH[name]:
            raise InputError(f"--{name} goes with {' and '.join(_TASKS_WITH[name])}, and the task is {task}.")
    if task == RateTask.name:
        if rubric is None:
            raise InputError("rate needs a --rubric, shipped or a .md file: `viva list rubrics` shows them.")
        return RateTask.with_rubric(rubric)
    if task in _TASKS_WITH["criterion"]:
        return (RankTask if task == RankTask.name else PairwiseTask)(criterion)
    return TASKS[task].from_body({"assist": assist})


def refuse_credentialed(run: RunFile, allow: bool, questions: Sequence[Question]) -> None:
    """Raise `InputError` for questions of a credentialed benchmark, unless `allow`."""
    names = set(with_view(run, credentialed_benchmarks)) & {question.benchmark for question in questions}
    if names and not allow:
        raise InputError(
            f"{', '.join(sorted(names))} is credentialed: whoever reads its items signed for it. --allow "
            "shows them to these raters; --items selects others."
        )


def draw_links(run: RunFile, panel: Panel, base: str, *, anew: bool) -> tuple[list[LinkRow], str | None]:
    """A row for each rater, and the organiser's link; links that are live are drawn again only `anew`."""
    raters = list(panel.key.packets)
    counts = Counter(
        entry.question.name for packet in panel.key.packets.values() for entry in packet if entry.pass_no == 1
    )
    people: list[tuple[SignInRole, str]] = [*(("rater", name) for name in raters), ("organiser", ORGANISER)]
    with run.writing() as db:
        live = {(link.role, link.name) for link in live_links(db)}
        links = {
            person: f"{base}/in/{draw_link(db, *person)}" if anew or person not in live else None
            for person in people
        }
    rows = [_link_row(name, panel.key.packets[name], counts, links["rater", name]) for name in raters]
    return rows, links["organiser", ORGANISER]


def _link_row(rater: str, packet: Sequence[Seen], counts: Mapping[str, int], link: str | None) -> LinkRow:
    first = [entry for entry in packet if entry.pass_no == 1]
    n_double = sum(counts[entry.question.name] > 1 for entry in first)
    return LinkRow(rater, link, len(first), n_double, len(packet) - len(first))


def revoke_links(run: RunFile, names: Sequence[str]) -> list[str]:
    """End the links of these raters, and their sessions. Raises `InputError` for one without a link."""
    with run.writing() as db:
        for name in names:
            if not revoke_link(db, "organiser" if name == ORGANISER else "rater", name):
                raise InputError(f"{name!r} has no link: nothing was revoked.")
    return list(names)


class AgreementLine(NamedTuple):
    """How far the raters of a panel agree on something: alpha with its interval, or why it has none."""

    name: str
    alpha: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None


def agreement_rows(run: RunFile, key: Key) -> list[AgreementLine]:
    """Agreement on a panel, of all its questions and by category; empty without any."""
    if not key.task.criteria:
        return []
    if key.task.name in REVIEW_TASKS:
        return _of_reviews(run, key)
    rows_of = _of_ranks if isinstance(key.task, RankTask) else _of_scales
    with view_of(run) as view:
        parts = _parts(view, key).items()
        return [line for about, places in parts for line in rows_of(view, key, about, places)]


def _parts(view: View, key: Key) -> dict[str, set[ItemKey]]:
    """The questions of a panel, all together and of each category where there are several."""
    places = [question.place for question in key.questions]
    items = {place: item for place, (_, item) in items_at(view.db, places).items()}
    together = {"all together": set(items)}
    categories: dict[str, set[ItemKey]] = {}
    for place in sorted(items, key=lambda place: items[place].category or ""):
        categories.setdefault(items[place].category or "no category", set()).add(place)
    return together | categories if len(categories) > 1 else together


def _of_reviews(run: RunFile, key: Key) -> list[AgreementLine]:
    reviews = with_view(run, read_reviews, {question.place for question in key.questions})
    table = ScoreTable(pl.DataFrame(), {}, reviews=reviews)
    names = {"all": "all together", "category": None}
    return [
        AgreementLine(
            names[row["about"]] or row["category"] or "no category",
            row["alpha"], row["low"], row["high"], row["n_two"], row["reason"],
        )
        for row in Review().findings(table).rows
        if row["about"] in names and row["task"] == key.task.name and row["n_two"]
    ]  # fmt: skip


def _of_ranks(view: View, key: Key, about: str, places: set[ItemKey]) -> list[AgreementLine]:
    table = load_scores(view, [key.task.signature(key.panel)], places, ranks=True)
    return [
        AgreementLine(
            f"rank, {about}", row["value"], row["low"], row["high"], row["n_items"] or 0, row["reason"]
        )
        for row in RankPanel().findings(table).rows
        if row["figure"] == "alpha_ordinal" and row["part"] in ("experts", "pairs")
    ]


def _of_scales(view: View, key: Key, about: str, places: set[ItemKey]) -> list[AgreementLine]:
    table = load_scores(view, [key.task.signature(key.panel)], places)
    return [
        AgreementLine(f"{row['criterion'].replace('_', ' ')}, {about}", row["value"], row["low"], row["high"],
                      row["n_units"], row["reason"])
        for row in Agreement().findings(table).rows
        if row["contrast"] == "raters" and row["coefficient"] == "alpha_ordinal" and row["n_units"]
    ]  # fmt: skip
