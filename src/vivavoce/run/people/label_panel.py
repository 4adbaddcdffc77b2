"""Panels that label for a goal: which scores they rest on, and how many labels they take."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, NamedTuple

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import Finding, ItemKey, Measure
from vivavoce.people.choosing import askable
from vivavoce.people.goal_draw import GoalDraw
from vivavoce.people.label_goal import Frame, Goal, goal_figures
from vivavoce.people.label_needs import label_needs, needs_text
from vivavoce.people.packets import PacketsWritten, write_packets
from vivavoce.people.stored_keys import read_keys
from vivavoce.people.tasks import RateTask
from vivavoce.run.tables.credentialed import refuse_copy
from vivavoce.run.tables.load import load_scores, select_items
from vivavoce.run.tables.named_scores import scores_by
from vivavoce.store.candidate_names import candidate_labels
from vivavoce.store.cases import cases_by_item
from vivavoce.store.label_draws import read_label_draws
from vivavoce.store.read import items_by_id, measures
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import View, view_of, with_view
from vivavoce.studies.rater_scores import is_judge, is_people
from vivavoce.studies.score_table import ScoreTable


class Labelling(NamedTuple):
    """What labels are wanted for, in the user's words: `goal` such as "compare A B", the judge's `metric`."""

    goal: str | None = None
    metric: str | None = None
    margin: float | None = None
    dry_run: bool = False

    def check(self) -> None:
        """Raise `InputError` for settings that do not go together."""
        options = {"--metric": self.metric, "--margin": self.margin, "--dry-run": self.dry_run or None}
        if self.goal is None and (
            misplaced := [name for name, value in options.items() if value is not None]
        ):
            raise InputError(f'{misplaced[0]} goes with --for, such as --for "compare A B".')
        if self.margin is not None and not self.dry_run:
            raise InputError(
                "--margin goes with --dry-run, which says how many labels it takes: --n draws them."
            )
        if self.margin is not None and not 0 < self.margin < float("inf"):
            raise InputError(f"--margin {self.margin:g}: a margin is above 0, in the rubric's units.")


def make_panel(
    run: RunFile,
    raters: Sequence[str],
    to: str | Path | None,
    *,
    items: str | None,
    candidates: Sequence[str],
    n: int | None,
    seed: int,
    criterion: str | None,
    task: Literal["rank", "rate"],
    rubric: str | None,
    labelling: Labelling,
) -> PacketsWritten | Finding:
    """Write a panel's packets; of a dry run, how many labels its goal takes, and nothing is written."""
    with view_of(run) as view:
        chosen = select_items(view, items)
        draw = goal_draw(view, labelling, chosen, task, rubric)
    if draw and labelling.dry_run:
        return _plan(run, draw, chosen, RateTask.default_n if n is None else n, labelling.margin)
    if to is None:
        raise InputError("a panel needs a folder for its packets: to names it.")
    with_view(run, refuse_copy, "a packet", "Name the other questions with --items.", chosen)
    return write_packets(
        run,
        raters,
        Path(to),
        items=chosen,
        candidates=candidates or (draw.candidates if draw else ()),
        n=n,
        seed=seed,
        criterion=criterion,
        task=task,
        rubric=rubric,
        goal_draw=draw,
    )


def goal_draw(
    view: View, labelling: Labelling, items: set[ItemKey] | None, task: str, rubric: str | None
) -> GoalDraw | None:
    """The draw for the goal; null without one. Raises `InputError` for what does not go together."""
    labelling.check()
    if labelling.goal is None:
        return None
    if task != RateTask.name or rubric is None:
        raise InputError("--for is about labels: it goes with the task rate and a --rubric.")
    rating = RateTask.with_rubric(rubric)
    goal = Goal.parse(labelling.goal, candidate_labels(view))
    earlier = view.fetch(read_label_draws).get(rating.metric())
    panels = [key for key in read_keys(view.db).values() if key.metric == rating.metric()]
    stored = [keyed.measure for keyed in view.fetch(measures)]
    criteria = {c.name for c in rating.scales.rated}
    metric = labelling.metric or _only_judge(stored, criteria, rubric)
    judge = _judge(view, metric, criteria, goal, items)
    return GoalDraw(goal, judge, _labels(view, rating, stored, goal, items), earlier, panels)


def _labels(
    view: View, rating: RateTask, stored: Sequence[Measure], goal: Goal, items: set[ItemKey] | None
) -> ScoreTable | None:
    """What people rated so far, null for nothing."""
    signatures = {m.signature for m in stored if m.metric == rating.metric() and is_people(m)}
    return load_scores(view, signatures, items, list(goal.signs)) if signatures else None


def _only_judge(stored: Sequence[Measure], criteria: Collection[str], rubric: str) -> str:
    """The signature of the judge with these criteria. Raises `SelectionError` if it is not the only one."""
    judges = {m.signature: m.metric for m in stored if is_judge(m) and m.criterion.criterion in criteria}
    if not judges:
        raise SelectionError(
            f"no judge scored this run by a criterion of the rubric {rubric}: --for draws by the scores that "
            "people are to correct."
        )
    if len(judges) > 1:
        raise SelectionError(
            f"several judges scored this run by criteria of the rubric {rubric}: --metric names one of "
            f"{', '.join(sorted(set(judges.values())))}."
        )
    return next(iter(judges))


def _judge(
    view: View, metric: str, criteria: Collection[str], goal: Goal, items: set[ItemKey] | None
) -> ScoreTable:
    """The judge's scores by the criteria that raters see. Raises `SelectionError` if there are none."""
    table = scores_by(view, metric, items, list(goal.signs))
    rated = {key: m for key, m in table.measures.items() if m.criterion.criterion in criteria}
    if not rated or not table.scores.height:
        raise SelectionError(
            f"{metric} has not scored {' and '.join(goal.signs)} by what raters are to rate "
            f"({', '.join(sorted(criteria))}): `viva score {view.path}` first."
        )
    if len(signatures := {m.signature for m in rated.values()}) > 1:
        raise SelectionError(
            f"{metric} names several judges: --metric takes one of them, {' or '.join(sorted(signatures))}."
        )
    return table._replace(measures=rated)


def _plan(run: RunFile, draw: GoalDraw, items: set[ItemKey] | None, n: int, margin: float | None) -> Finding:
    """How many labels the goal takes on the cases that the judge scored and a panel would show."""
    with run.reading() as db:
        cases = cases_by_item(db)
        in_run = [item for item in items_by_id(db).values() if item.origin is None]
    open_to_raters = {(item.benchmark, item.item, item.variant) for item in askable(in_run, items)}
    judged = draw.judge.scores.select("benchmark", "item", "variant").iter_rows()
    places = open_to_raters.intersection(judged)
    frame = Frame.of_cases(places, cases, draw.earlier)
    figures = goal_figures(draw.goal, draw.judge, draw.people, frame)
    if not figures or len(frame.cases) < 2:
        raise SelectionError(f"{draw.goal.text}: the judge scored fewer than two cases to plan from.")
    needs = label_needs(figures, frame, n=round(n * len(frame.cases) / len(places)), margin=margin)
    metric = next(iter(draw.judge.measures.values())).metric
    rows = tuple(asdict(need) for need in needs)
    return Finding(study="panel", rows=rows, text=needs_text(draw.goal, metric, needs))
