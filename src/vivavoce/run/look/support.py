"""What can be said with what a run holds, and what not: a row for each question that people ask."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.text import count, one_line
from vivavoce.run.run import Run
from vivavoce.run.tables.fitting_metrics import fitting_metrics
from vivavoce.stats.group_error import LEAST_GROUPS
from vivavoce.store import read
from vivavoce.studies.text import and_so, percent

DIFFERING = 0.3
"""The share of cases on which two candidates are taken to differ, where no scores say it yet."""
QUESTION = ("benchmark", "item", "variant")
_FEW_NAMES = 3


class Support(NamedTuple):
    """Whether something can be said: `yes`, `no`, or in `part`, with the reason in a sentence."""

    subject: str
    supported: Literal["yes", "part", "no"]
    text: str


def supports(run: Run) -> list[Support]:
    """What the answers, keys, repeats, scores and people's marks in a run support."""
    items, answers = run.items, _answers(run)
    cases = items.select(*QUESTION, case=pl.col("group"))
    answered = answers.join(cases, on=QUESTION).select(*QUESTION, "case", "candidate").unique()
    scoring = _scoring(run)
    return [
        scoring,
        *_candidates(answered, is_scored=scoring.supported == "yes" or bool(run.measures)),
        _repeats(answers),
        _people(run),
        *_categories(items),
    ]


def _answers(run: Run) -> pl.DataFrame:
    """The answers that came, without edits: in words, else the probabilities of options."""
    columns = ("benchmark", "item", "variant", "candidate", "repeat", "status")
    with run.file.reading() as db:
        frame = read.responses(db, probed=False, edited=False, columns=columns)
        if frame.is_empty():
            frame = read.responses(db, probed=True, edited=False, columns=columns)
    return frame.filter(pl.col("status") == "ok")


def _scoring(run: Run) -> Support:
    """Which metrics score all that they apply to, without a model."""
    with run.file.reading() as db:
        items = [item for _, item in read.current_items(db)]
    metrics = fitting_metrics(items)
    if metrics:
        return Support("scoring", "yes", f"Scored without a model, by {and_so(metrics)}.")
    return Support(
        "scoring",
        "no",
        "Questions lack a key or a reference: a judge (`viva list rubrics`) or people score the answers.",
    )


def _candidates(answered: pl.DataFrame, *, is_scored: bool) -> Iterator[Support]:
    """The mean of each candidate, and the comparison; `answered` has a row a question and candidate."""
    if answered.is_empty():
        yield Support("estimates", "no", "No answers: `viva collect` asks models.")
        return
    least = min(map(_cases, answered.partition_by("candidate")), key=lambda cases: cases.effective)
    few = least.effective < LEAST_GROUPS
    text = f"A mean with its interval, of {least.text}"
    if few:
        text += f": below {LEAST_GROUPS} intervals say little"
    if not is_scored:
        text += ", once a judge or people have scored the answers"
    yield Support("estimates", "part" if few or not is_scored else "yes", f"{text}.")
    yield _comparison(answered)


class _Cases(NamedTuple):
    """The cases of some questions, and how many of equal size would tell as much."""

    n: int
    effective: float

    @property
    def text(self) -> str:
        """`41 cases (2.0 effective)`; the second number where it is another."""
        n = count(self.n, "case")
        return n if self.effective > self.n - 0.05 else f"{n} ({printed(self.effective, '.1f')} effective)"


def _cases(questions: pl.DataFrame) -> _Cases:
    cases = questions["case"].to_numpy()
    return _Cases(len({*cases}), stats.effective_groups(cases))


def _comparison(answered: pl.DataFrame) -> Support:
    """Whether candidates answered the same questions, and how small a difference could be found."""
    by_candidate = answered.partition_by("candidate")
    pairs = [*combinations(by_candidate, 2)]
    if not pairs:
        return Support("comparison", "no", "One candidate: there is nobody to compare it with.")
    common = [a.join(b, on=QUESTION, how="semi") for a, b in pairs]
    if any(frame.is_empty() for frame in common):
        return Support("comparison", "no", "Some candidates answered no question in common.")
    cases = min(map(_cases, common), key=lambda cases: cases.effective)
    text = f"{count(len(by_candidate), 'candidate')} on {cases.text} in common"
    least = None
    if cases.effective >= LEAST_GROUPS:
        se = math.sqrt(DIFFERING / cases.effective)
        least = stats.mde(se, df=cases.effective - 1, k=len(pairs))
    if least is None or least >= DIFFERING:
        return Support("comparison", "part", f"{text}: too few to find any but a very large difference.")
    family = f", {len(pairs)} pairs tested together" if len(pairs) > 1 else ""
    return Support(
        "comparison",
        "yes",
        f"{text}: of two that differ on {percent(DIFFERING)} of the cases{family}, a difference of "
        f"{math.ceil(100 * least)} points or more is found four times in five.",
    )


def _repeats(answers: pl.DataFrame) -> Support:
    """Whether questions were asked again, which alone tells how answers vary."""
    if answers.is_empty():
        return Support("consistency", "no", "No answers, so none that repeat.")
    of_each = answers.group_by("benchmark", "item", "variant", "candidate").len()["len"]
    most = int(of_each.max())  # type: ignore[arg-type]
    if most == 1:
        return Support("consistency", "no", "Each question was asked once: how answers vary is not known.")
    share = float((of_each > 1).mean())  # type: ignore[arg-type]
    return Support(
        "consistency",
        "yes" if share == 1 else "part",
        f"Up to {most} answers to a question by one candidate, to {percent(share)} of the questions: how "
        "they vary can be told.",
    )


def _people(run: Run) -> Support:
    """Whether people's scores are there, and of how many raters."""
    raters = sorted({measure.rater for measure in run.measures if measure.metric == "people"})
    criteria = sorted({measure.criterion.criterion for measure in run.measures if measure.metric == "file"})
    note = f" The file's own scores ({_named(criteria)}) can be checked against ours." if criteria else ""
    if not raters:
        return Support("people", "no", f"No labels by people: a judge could not be checked.{note}")
    if len(raters) == 1:
        return Support(
            "people",
            "part",
            f"Labels by {one_line(raters[0], 40)} alone: a judge can be checked, agreement of people not."
            f"{note}",
        )
    return Support(
        "people",
        "yes",
        f"Labels by {count(len(raters), 'rater')} ({_named(raters)}): their agreement, and a judge against "
        f"them.{note}",
    )


def _categories(items: pl.DataFrame) -> Iterator[Support]:
    """Categories of questions that results can be told apart by; nothing where the file has none."""
    sizes = items.drop_nulls("category").group_by("category").len()["len"]
    if len(sizes) > 1:
        yield Support(
            "categories",
            "yes" if int(sizes.min()) >= LEAST_GROUPS else "part",  # type: ignore[arg-type]
            f"{len(sizes)} categories of questions, the smallest of {int(sizes.min())}.",  # type: ignore[arg-type]
        )


def _named(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _FEW_NAMES
    first = [one_line(name, 40) for name in names[:_FEW_NAMES]]
    return and_so(first) if more <= 0 else f"{', '.join(first)} and {more} more"
