"""The small set: measures chosen on one half of the cases, reported on the other, each with a reason.

Halves are cut by a hash of the case's name and the seed, so that a case falls to the same half in every run.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.studies.audit.responses import YARDSTICK, Responses, Yardstick
from vivavoce.studies.audit.rows import CENTRED, ONE_CALL, AuditRow, Within, audit_row
from vivavoce.studies.bounded import figure_text
from vivavoce.studies.intervals import Estimate
from vivavoce.studies.text import and_so, cases, count

LEAST_SHARE = 0.5
"""The share of the yardstick's responses that a measure must have scored to be chosen from."""
OTHER_CUTS = 20
"""Further cuts in halves, to say how often a measure would be kept."""
LITTLE = 0.1
"""The partial correlation below which a measure adds too little: 1 % of what those kept leave open."""
REPORT = "report"


class Choice(NamedTuple):
    """The rows of a choice, and its sentences."""

    rows: list[AuditRow]
    sentences: list[str]


def choice(responses: Responses, caveats: Mapping[str, str], threshold: float, seed: int) -> Choice:
    """The small set of measures that follow the yardstick inside items, beyond who answered.

    Values are centred at their items and at their candidates: what a candidate has on all items alike goes
    together by luck where there are a few candidates, however many items.
    On the half that chooses each is taken by what it adds to those before it; on the half that reports the
    gains are tested in that order, up to the first that is not shown (`stats.choose_measures`). All figures
    are of the half that reports, but for `optimism`, what the half that chose showed beyond it, and
    `kept_share`, in how many of 20 further cuts the measure is kept. `caveats` are what else is known of a
    measure, by column. A measure with scores of under half of the responses takes no part, and `chosen` is
    null.
    """
    if responses.yardstick is None:
        return Choice([], [])
    able, excluded = _able(responses)
    if responses.table[YARDSTICK].null_count() == responses.table.height:
        reason = f"no answer has a score of {responses.yardstick.text}"
        rows = [_empty(responses, column, reason) for column in responses.measures]
        return Choice(rows, [f"On {responses.benchmark} nothing is chosen: {reason}."])
    rows = [_empty(responses, column, reason) for column, reason in excluded.items()]
    comparison = responses.within(*able, YARDSTICK, level=CENTRED)
    cut = _Cut.of(comparison, responses.benchmark, seed)
    if problem := _problem(able, cut, responses.yardstick):
        rows += [_empty(responses, column, problem) for column in able]
        lines = [f"{responses.names[c]}: {reason}." for c, reason in excluded.items() if reason != ONE_CALL]
        return Choice(rows, [f"On {responses.benchmark} nothing is chosen: {problem}.", *lines])
    # From here on every figure is of the half that did not choose, but for the optimism.
    outcome = _Outcome(responses, responses.yardstick, able, cut.chosen(), cut.reporting(), threshold)
    for n, share in enumerate(_kept_shares(comparison, responses.benchmark, seed)):
        rows += outcome.rows(n, share)
    rows += outcome.together()
    return Choice(rows, list(outcome.sentences(excluded, caveats, cut, seed)))


def _problem(able: list[str], cut: "_Cut", yardstick: Yardstick) -> str | None:
    """Why nothing can be chosen; null where it can."""
    if not able:
        return "no measure can be chosen from"
    if few := cut.few():
        return few
    # A judge that gives everything the same agrees with nobody, and nobody with it.
    if not cut.within.items.varies(len(able)):
        return (
            f"no two answers to one question differ in the scores of {yardstick.text}, but for who answered"
        )
    return None


def _able(responses: Responses) -> tuple[list[str], dict[str, str]]:
    """The columns to choose from, and why the others are not among them."""
    calls = responses.yardstick.calls if responses.yardstick else frozenset()
    table = responses.table.drop_nulls(YARDSTICK)
    able, reasons = [], {}
    for column, measure in responses.measures.items():
        # Cells must have every measure: one with few scores would take the cases of all others away.
        n = table.height - table[column].null_count()
        if (measure.signature, measure.rater) in calls:
            reasons[column] = ONE_CALL
        elif n < LEAST_SHARE * table.height or not n:
            reasons[column] = f"it scores {n:,} of {count(table.height, 'answer')} only"
        elif responses.within(column, YARDSTICK, level=CENTRED).items.varies(0):
            able.append(column)
        elif responses.within(column, YARDSTICK).items.varies(0):
            reasons[column] = "it knows only who answered"
        else:
            reasons[column] = "it does not vary inside a question"
    return able, reasons


def _empty(responses: Responses, column: str, reason: str) -> AuditRow:
    kind = responses.yardstick.kind if responses.yardstick else ""
    row = audit_row("choice", responses.benchmark, responses.measures[column], yardstick=kind)
    return replace(row, level=CENTRED, figure="pearson", contrast="alone", reason=reason)


def _kept_shares(within: Within, benchmark: str, seed: int) -> list[float]:
    """For each measure the share of further cuts in halves in which it is kept."""
    cuts = (_Cut.of(within, benchmark, seed + n) for n in range(1, OTHER_CUTS + 1))
    confirmed = [cut.chosen().confirmed for cut in cuts]
    return [sum(n in of_cut for of_cut in confirmed) / OTHER_CUTS for n in range(within.target)]


class _Cut(NamedTuple):
    """The cases cut in two: positions of the groups that choose and of those that report."""

    within: Within
    choose: np.ndarray[Any, Any]
    report: np.ndarray[Any, Any]

    @classmethod
    def of(cls, within: Within, benchmark: str, seed: int) -> "_Cut":
        """By a hash of the names of the cases, so that nothing else decides who chooses."""
        # A second benchmark in the run may put the benchmark before the names: it moves no case.
        names = [name.removeprefix(f"{benchmark}: ") for name in within.groups]
        texts = (f"audit|{seed}|{benchmark}|{name}".encode("utf-8", "surrogatepass") for name in names)
        hashes = [hashlib.sha256(text).digest() for text in texts]
        order = np.array(sorted(range(len(hashes)), key=hashes.__getitem__), dtype=np.intp)
        middle = (len(order) + 1) // 2
        return cls(within, np.sort(order[:middle]), np.sort(order[middle:]))

    def few(self) -> str | None:
        """Why the halves are too small to choose on; null where each has 10 effective cases."""
        for half in (self.choose, self.report):
            sizes = self.within.items.sizes[half]
            effective = stats.effective_groups(np.repeat(np.arange(len(sizes)), sizes)) if len(sizes) else 0.0
            if not stats.enough_groups(effective):
                return (
                    f"a half has {cases(len(sizes), effective)}, and each takes {stats.LEAST_GROUPS} to "
                    "choose on one and report on the other"
                )
        return None

    def chosen(self) -> stats.MeasureChoice:
        """What the one half chooses and the other shows."""
        halves = (self.within.items.of(half) for half in (self.choose, self.report))
        return stats.choose_measures(*halves, target=self.within.target, columns=range(self.within.target))

    def reporting(self) -> Within:
        """The half that reports."""
        items = self.within.items.of(self.report)
        groups = tuple(self.within.groups[g] for g in self.report)
        return Within(items, int(items.sizes.sum()), self.within.n_candidates, groups, None)


class _Outcome(NamedTuple):
    """What was chosen among the columns `able`, and the half of the cases that reports."""

    responses: Responses
    yardstick: Yardstick
    able: list[str]
    choice: stats.MeasureChoice
    half: Within
    threshold: float

    def name(self, n: int) -> str:
        return self.responses.names[self.able[n]]

    def controls(self, n: int) -> tuple[int, ...]:
        """Those kept before a measure; all of them for one that is not kept."""
        confirmed = self.choice.confirmed
        # What is left out is held against the whole set, what is kept against those before it.
        return confirmed[: confirmed.index(n)] if n in confirmed else confirmed

    def alone(self, n: int) -> Estimate:
        return self.half.estimate(n, self.half.target, "it does not vary on the half that reports")

    def beyond(self, n: int) -> Estimate:
        """What a measure says of the yardstick beyond those kept before it."""
        repeated = f"it says the same as {and_so(map(self.name, self.controls(n)))}"
        return self.half.estimate(n, self.half.target, repeated, controls=self.controls(n))

    def rows(self, n: int, share: float) -> Iterator[AuditRow]:
        """A measure on the half that reports: alone, beyond those kept before it, and how often kept."""
        row = audit_row(
            *("choice", self.responses.benchmark, self.responses.measures[self.able[n]]),
            level=CENTRED,
            yardstick=self.yardstick.kind,
            half=REPORT,
            chosen=n in self.choice.confirmed,
            n_candidates=self.half.n_candidates,
        )
        yield replace(row, figure="pearson", contrast="alone", **self.alone(n)._asdict())
        if names := and_so(map(self.name, self.controls(n))):
            yield replace(row, figure="partial", contrast="beyond", against=names, **self.beyond(n)._asdict())
        yield replace(row, figure="kept_share", half="", contrast=f"{OTHER_CUTS} further cuts", value=share)

    def together(self) -> Iterator[AuditRow]:
        """Those kept as one weighted sum, weights from the half that chose, on a row of the first of them."""
        together, before = self.choice.together, self.choice.before
        if together is None or before is None or together.value is None or before.value is None:
            return
        row = audit_row(
            *(
                "choice",
                self.responses.benchmark,
                self.responses.measures[self.able[self.choice.confirmed[0]]],
            ),
            level=CENTRED,
            yardstick=self.yardstick.kind,
            half=REPORT,
            chosen=True,
            contrast="together",
            against=and_so(map(self.name, self.choice.confirmed)),
            n_units=self.half.n_units,
            n_groups=self.half.n_groups,
            n_candidates=self.half.n_candidates,
        )
        ends: dict[str, Any] = {"low": together.low, "high": together.high, "se": together.se}
        yield replace(row, figure="pearson", value=together.value, **ends)
        yield replace(row, figure="optimism", value=before.value - together.value)

    def sentences(
        self, excluded: Mapping[str, str], caveats: Mapping[str, str], cut: _Cut, seed: int
    ) -> Iterator[str]:
        """What to keep and why, and why not the others."""
        benchmark, confirmed = self.responses.benchmark, self.choice.confirmed
        basis = f"held against {self.yardstick.text}, inside questions and candidates"
        halves = f"{count(len(cut.choose), 'case')} chose and {len(cut.report)} report (cut {seed})"
        if confirmed:
            names = and_so(map(self.name, confirmed))
            yield f"On {benchmark} keep {names}, {basis}; {halves}.{self._together_text()}"
        else:
            yield (
                f"On {benchmark} nothing separates these measures, {basis}: {halves}, and none is shown "
                "there to go with it."
            )
        for n in (*confirmed, *(n for n in range(len(self.able)) if n not in confirmed)):
            beware = f"; {caveats[self.able[n]]}" if self.able[n] in caveats else ""
            yield f"{self._judged(n)}{beware}."
        for column, reason in excluded.items():
            if reason != ONE_CALL:
                yield f"Not chosen from: {self.responses.names[column]}, {reason}."

    def _together_text(self) -> str:
        row = next(self.together(), None)
        if row is None or len(self.choice.confirmed) < 2:
            return ""
        return f" Together r {figure_text(row)}."

    def _judged(self, n: int) -> str:
        """Whether to keep a measure, and why; not needed is what is shown to add next to nothing."""
        name, alone, confirmed = self.name(n), self.alone(n), self.choice.confirmed
        if not confirmed or n == confirmed[0]:
            figure = str(alone.reason) if alone.value is None else f"r {figure_text(alone)}"
            return f"{'Keep' if confirmed else 'Not shown:'} {name}: {figure}"
        others, beyond = and_so(map(self.name, self.controls(n))), self.beyond(n)
        if beyond.value is None:
            return f"Not needed: {name}: {beyond.reason}"
        figure = f"(partial r {figure_text(beyond)}; alone r {printed(alone.value)})"
        if n in confirmed:
            return f"Keep {name}: it adds to {others} {figure}"
        if beyond.low is not None and beyond.low > 0:
            return f"Not kept: {name}: what it adds to {others} {figure} is shown on one half alone"
        if self._adds_little(n):
            return f"Not needed: {name}: it adds under {LITTLE:g} to {others} {figure}{self._repeated(n)}"
        return f"Not kept: {name}: it is not shown to add to {others} {figure}{self._repeated(n)}"

    def _adds_little(self, n: int) -> bool:
        """Whether a partial correlation is shown to be under `LITTLE`, for all that are not kept at once."""
        left_out = len(self.able) - len(self.choice.confirmed)
        level = stats.bonferroni_level(0.95, left_out)
        high = self.half.estimate(n, self.half.target, "", controls=self.controls(n), level=level).high
        return high is not None and high < LITTLE

    def _repeated(self, n: int) -> str:
        """With which of those kept it says much the same."""
        for neighbour in self.choice.confirmed:
            value = self.half.estimate(n, neighbour, "").value
            if value is not None and value > self.threshold:
                return f" and says much the same as {self.name(neighbour)} (r {printed(value)})"
        return ""
