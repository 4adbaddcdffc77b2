"""Drawing cases for a goal: those whose label is likely to tell most, with probabilities that are known."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce import stats
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import ItemKey
from vivavoce.people.case_draw import CaseDraw, DrawnItems, by_place, frame_digest
from vivavoce.people.key import Key
from vivavoce.people.label_goal import Frame, Goal, GoalFigures, goal_figures
from vivavoce.people.question import Question
from vivavoce.store.label_draws import LabelDraw
from vivavoce.studies.score_table import ScoreTable

FOLDS = 5


class GoalDraw(NamedTuple):
    """What a draw for a goal rests on: the judge's scores, people's so far, and all draws of these so far."""

    goal: Goal
    judge: ScoreTable
    people: ScoreTable | None
    earlier: LabelDraw | None
    panels: Sequence[Key]

    def draw(
        self,
        ready: Sequence[Question],
        unshown: Sequence[Question],
        cases: Mapping[ItemKey, str],
        n: int,
        seed: int,
        candidates: Sequence[str],
    ) -> DrawnItems:
        """Whole cases with about `n` questions, of those that were not drawn before.

        k = max(1, round(n K / N)) of the K cases left with N questions. The probabilities are totals: that a
        case was drawn before or is now. A case of which nothing can be shown is taken for certain. The seed
        of an earlier draw for this goal gives the questions of that draw again, for more raters. Raises
        `InputError` where that had another `n`, `SelectionError` if no case is left.
        """
        questions = (*ready, *unshown)
        if panel := self._earlier_panel(n, seed):
            places = {question.place for question in panel.questions}
            return DrawnItems(by_place(item for item in questions if item.place in places), panel.draw)
        frame = Frame.of_cases((item.place for item in ready), cases, self.earlier)
        if not frame.free.any():
            raise SelectionError(
                f"every case that can be rated for {self.goal.text!r} was drawn before: none is left."
            )
        chances = self._chances(frame, frame.n_cases(n), seed)
        digest, n_drawn = frame_digest(questions, cases), int(chances.selected.sum())
        draw = CaseDraw(n_drawn, len(frame.cases), digest, tuple(candidates), self.goal.text, n)
        # Where nothing in a case can be read, its scores follow by rule: it counts as drawn for certain.
        total = dict(zip(frame.cases, map(float, chances.total), strict=True))
        skipped = set(np.array(frame.cases)[~chances.selected])
        return DrawnItems(
            by_place(item for item in questions if cases[item.place] not in skipped),
            draw,
            {item.place: total.get(cases[item.place], 1.0) for item in questions},
        )

    @property
    def candidates(self) -> tuple[str, ...]:
        """Whose answers raters see by default: those of earlier draws, else those that the goal names.

        A case drawn for some candidates alone has no labels of the others, so all draws show the same.
        """
        for key in self.panels:
            if key.draw and set(self.goal.signs) <= set(key.draw.candidates):
                return key.draw.candidates
        return tuple(self.goal.signs)

    def _earlier_panel(self, n: int, seed: int) -> Key | None:
        """The panel that this seed drew for the goal before."""
        for key in self.panels:
            if key.seed == seed and key.draw and key.draw.goal == self.goal.text:
                if key.draw.n_asked != n:
                    raise InputError(
                        f"--seed {seed} has drawn {key.draw.n_asked} questions for {self.goal.text!r}: the "
                        "same --n gives them to more raters, and another --seed draws further ones."
                    )
                return key
        return None

    def _chances(self, frame: Frame, k: int, seed: int) -> "_Chances":
        """Which k of the free cases are drawn, and every case's total probability."""
        keys = [items[0] for items in frame.items]
        folds = [int(_number("fold", *key) * FOLDS) for key in keys]
        draws = [
            _probabilities(figures, frame, k, folds)
            for figures in goal_figures(self.goal, self.judge, self.people, frame)
        ]
        # Each criterion's probabilities sum to k, so their mean does.
        chances = np.mean(draws or [np.full(len(keys), k / frame.free.sum())], axis=0)
        # With earlier draws the numbers are new ones, whatever the seed.
        closed = sorted(self.earlier.items) if self.earlier else []
        salt = (str(seed), *(part for item in closed for part in item))
        selected = stats.draw_cases(
            np.where(frame.free, chances, 0.0),
            numbers=[_number("label", *key, *salt) for key in keys],
            start=_number("start", *salt),
        )
        return _Chances(selected, frame.earlier + (1 - frame.earlier) * chances)


def _probabilities(figures: GoalFigures, frame: Frame, k: int, folds: Sequence[int]) -> NDArray[np.float64]:
    """The probabilities of drawing k more cases by one criterion."""
    weighable = frame.earlier[figures.labelled] > 0  # labels without a probability cannot be weighed
    return stats.case_probabilities(
        k,
        judged=figures.judged,
        spread=figures.spread,
        sizes=figures.sizes,
        earlier=frame.earlier,
        free=frame.free,
        labels=figures.labels[weighable],
        labelled=figures.labelled[weighable],
        folds=folds,
    ).now


class _Chances(NamedTuple):
    selected: NDArray[np.bool_]
    total: NDArray[np.float64]


def _number(*words: str) -> float:
    """A number from 0 to below 1 that follows from the words."""
    text = json.dumps(words, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:6], "big") / 2**48
