"""Which questions raters get: single ones, or whole cases with a chance that is known.

Labels correct a judge only if it is known how they were drawn (statistics 11.6): a simple random sample of
cases, in the order of a hash of seed and ids. A larger sample of the same seed holds the smaller one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

from vivavoce.core.records import ItemKey
from vivavoce.people.question import BlindedAnswer, Question


class CaseDraw(NamedTuple):
    """A draw of `n` of so many cases: those of `candidates` with an answer to show.

    `frame` is a digest of these cases with their questions. Without a `goal` it is a simple random draw; with
    one every case has a chance of its own, and `n_asked` is the number of questions that were asked for.
    """

    n: int
    of: int
    frame: str
    candidates: tuple[str, ...]
    goal: str = ""
    n_asked: int = 0

    @property
    def probability(self) -> float:
        """The chance of every case to be drawn, without a goal."""
        return self.n / self.of

    @classmethod
    def from_body(cls, body: Mapping[str, Any] | None) -> "CaseDraw | None":
        """The draw that a key holds, null for none."""
        return None if body is None else cls(**{**body, "candidates": tuple(body["candidates"])})


class DrawnItems(NamedTuple):
    """The items of a panel; and where cases were drawn, how, and the chance of every item that could be."""

    items: tuple[Question, ...]
    draw: CaseDraw | None = None
    probabilities: Mapping[ItemKey, float] = {}


def draw_questions(ready: Sequence[Question], n: int, seed: int) -> DrawnItems:
    """`n` questions, all alike in chance."""
    sample = sorted(ready, key=lambda item: _order_of(seed, "questions", *item.place))[:n]
    return DrawnItems(by_place(sample))


def draw_cases(
    ready: Sequence[Question],
    unshown: Sequence[Question],
    cases: Mapping[ItemKey, str],
    n: int,
    seed: int,
    candidates: Sequence[str],
) -> DrawnItems:
    """Whole cases with about `n` questions: k = max(1, round(n * K / N)) of K cases with N `ready` questions.

    Every case has the probability k / K. `unshown` are questions to which all answers are silent: they follow
    their case. Where nothing in a case can be read it is taken for certain, as its scores follow by rule.
    """
    by_case: dict[str, list[Question]] = {}
    for item in ready:
        by_case.setdefault(cases[item.place], []).append(item)
    # By the first question and not by the label, which may change as benchmarks join the run.
    first = {case: min(item.place for item in items) for case, items in by_case.items()}
    order = sorted(by_case, key=lambda case: _order_of(seed, "cases", *first[case]))
    k = min(max(1, round(n * len(by_case) / len(ready))), len(by_case))
    chosen = set(order[:k])
    questions = (*ready, *unshown)
    probabilities = {
        item.place: k / len(by_case) if cases[item.place] in by_case else 1.0 for item in questions
    }
    sample = [item for item in questions if cases[item.place] in chosen or probabilities[item.place] == 1]
    draw = CaseDraw(k, len(by_case), frame_digest(questions, cases), tuple(candidates))
    return DrawnItems(by_place(sample), draw, probabilities)


def few_answers(sample: DrawnItems, n: int, seed: int) -> DrawnItems:
    """The drawn questions with `n` answers each, so that candidates come, and meet, about alike often.

    Candidates that are silent stay where answers are compared: they lose without being shown.
    """
    met: Counter[tuple[str, ...]] = Counter()
    items = []
    for item in sorted(sample.items, key=lambda item: _order_of(seed, "answers", *item.place)):
        choices = sorted(
            combinations(item.answers, n),
            key=lambda answers: (
                _mean_count(met, answers),
                _order_of(seed, "choice", *item.place, *(name for a in answers for name in a.candidates)),
            ),
        )
        answers = choices[0]
        met.update(_meetings(answers))
        silent = item.silent if n > 1 else {}
        names = {candidate for answer in answers for candidate in answer.candidates}.union(silent)
        repeats = {candidate: repeat for candidate, repeat in item.repeats.items() if candidate in names}
        items.append(item._replace(answers=answers, repeats=repeats, silent=silent, lost=()))
    return sample._replace(items=by_place(items))


def _meetings(answers: Sequence[BlindedAnswer]) -> list[tuple[str, ...]]:
    """Each way to take one candidate of every answer, in the order of names; and each candidate alone."""
    groups = [tuple(sorted(names)) for names in product(*(answer.candidates for answer in answers))]
    return groups + [(name,) for answer in answers for name in answer.candidates if len(answers) > 1]


def _mean_count(met: Mapping[tuple[str, ...], int], answers: Sequence[BlindedAnswer]) -> float:
    counts = [met.get(names, 0) for names in _meetings(answers)]
    return sum(counts) / len(counts)


def by_place(items: Iterable[Question]) -> tuple[Question, ...]:
    """The items in the order of their benchmarks and ids."""
    return tuple(sorted(items, key=lambda item: item.place))


def frame_digest(items: Iterable[Question], cases: Mapping[ItemKey, str]) -> str:
    """A digest of the cases with their questions, whatever the labels of the cases are."""
    members: dict[str, list[str]] = {}
    for item in items:
        members.setdefault(cases[item.place], []).append("\t".join(item.place))
    text = "\n\n".join(sorted("\n".join(sorted(places)) for places in members.values()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _order_of(seed: int, *ids: str) -> str:
    """A place in an order that follows from the seed and the ids, whatever else the run holds."""
    text = "\n".join((str(seed), *ids))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
