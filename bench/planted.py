"""Thirty planted data sets: what a careful statistician concludes of each, and what `viva` says.

    python bench/planted.py            # a line a set; exit code 1 where one differs
    python bench/planted.py --only 7   # one of them, with all that is said

Each set is a table of scores that is written down here, with the conclusion, before anything is computed.
Scores go in as people bring them, a row an answer, and the whole way is gone: import, then compare, gate or
study.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

import vivavoce as viva
from vivavoce.core.errors import InputError

Values = Sequence[float | None]
"""Scores of one candidate, question by question; null for a score that failed."""


@dataclass(frozen=True)
class Planted:
    """A data set: scores by candidate, and what they show.

    `cases` and `categories` are a name for each question; `repeats` is how often each was answered the same.
    `ask` says what of the run is looked at; it gives a word, which is `conclusion`.
    """

    name: str
    scores: Mapping[str, Values]
    ask: Callable[[viva.Run], str]
    conclusion: str
    reason: str
    upper: float = 1
    cases: Sequence[object] = ()
    categories: Sequence[str] = ()
    questions: Sequence[str] = ()
    repeats: int = 1
    blank: Mapping[str, Sequence[int]] = field(default_factory=dict)


def run_of(planted: Planted) -> viva.Run:
    """A run that holds the scores of a set, by a measure `grade`."""
    rows = list(_rows(planted))
    answers = [{key: row[key] for key in row if key not in ("grade", "state")} for row in rows]
    run = viva.evaluate(pl.DataFrame(answers), [])
    keys = ("id", "model", "repeat", "grade", "state")
    scores = pl.DataFrame([{key: row[key] for key in keys} for row in rows])
    run.import_scores(
        scores,
        measure="grades",
        criteria=["grade"],
        status="state",
        range={"grade": (0, planted.upper)},
        if_unanswered={"grade": "worst"},
    )
    return run


def _rows(planted: Planted) -> Iterator[dict[str, Any]]:
    for candidate, values in planted.scores.items():
        for n, value in enumerate(values):
            if value is not None and value != value:
                continue  # never asked
            for repeat in range(planted.repeats):
                yield {
                    "id": f"q{n:04}",
                    "model": candidate,
                    "repeat": repeat + 1,
                    "question": planted.questions[n] if planted.questions else f"What about case {n * 7919}?",
                    "references": f"reference {n}",
                    "group": str(planted.cases[n]) if planted.cases else f"g{n}",
                    "category": planted.categories[n] if planted.categories else "all",
                    "response": "" if n in planted.blank.get(candidate, ()) else f"{candidate} says {n}",
                    "grade": 0.0 if value is None else float(value),
                    "state": "timeout" if value is None else "ok",
                }


# --- what is looked at


def verdict(*names: str, **options: Any) -> Callable[[viva.Run], str]:
    """Who is better of two, or "none" where no verdict is reached, or the code of another one."""

    def ask(run: viva.Run) -> str:
        (row,) = run.compare(*(names or ("A", "B")), metric="grades:grade", **options).rows
        code = row["verdict_code"] or "incomparable"
        if code in ("better", "better_by_margin"):
            return str(row[row["favours"]])
        return "none" if code in ("cannot_tell", "too_few") else str(code)

    return ask


def leader(run: viva.Run) -> str:
    """Who is better than every other candidate; "none" if nobody is."""
    rows = run.compare(metric="grades:grade").rows
    names = {str(row[side]) for row in rows for side in ("a", "b")}
    wins = {name: sum(_winner(row) == name for row in rows) for name in names}
    best = max(wins, key=lambda name: wins[name])
    involved = sum(best in (row["a"], row["b"]) for row in rows)
    return best if wins[best] == involved else "none"


def _winner(row: Mapping[str, Any]) -> str | None:
    better = row["verdict_code"] in ("better", "better_by_margin")
    return str(row[row["favours"]]) if better and row["favours"] else None


def gate(margin: float) -> Callable[[viva.Run], str]:
    """Whether A is shown to be no worse than B by the margin."""

    def ask(run: viva.Run) -> str:
        found = run.gate("A", against="B", metric="grades:grade", margin=margin, require="not-worse")
        return "closed" if found.closed else "pass"

    return ask


def category(run: viva.Run) -> str:
    """The category that is named as failing; "none" if none is."""
    found = run.study("gaps")["gaps"]
    failing = {str(row["category"]) for row in found.rows if row.get("fails")}
    return " ".join(sorted(failing)) or "none"


# --- tables


def first(k: int, n: int, value: float = 1, rest: float = 0) -> list[float]:
    """`k` of `n` questions have one value, the others the rest."""
    return [value] * k + [rest] * (n - k)


def spread(k: int, n: int) -> list[float]:
    """`k` ones among `n`, evenly spread."""
    return [float((i * k) // n != ((i + 1) * k) // n) for i in range(n)]


def waves(n: int, height: float, step: int) -> list[float]:
    """Values between -height and height that sum to about 0."""
    return [height * (((i * step) % 11) - 5) / 5 for i in range(n)]


def around(centre: float, *parts: Sequence[float]) -> list[float]:
    """Grades of 0 to 5 around a centre."""
    return [min(5.0, max(0.0, centre + sum(values))) for values in zip(*parts, strict=True)]


def hospitals(shares: Sequence[float], size: int) -> list[float]:
    """Ones in these shares, hospital by hospital."""
    return [value for share in shares for value in spread(round(share * size), size)]


NEVER = float("nan")


def sets() -> list[Planted]:
    """All of them; the conclusion was written before the first run."""
    names8 = [f"hospital {i}" for i in range(8) for _ in range(40)]
    return [
        Planted("clear", {"A": spread(90, 100), "B": spread(60, 100)}, verdict(), "A", "30 points of 100"),
        Planted(
            "equal", {"A": spread(75, 100), "B": spread(75, 100)[::-1]}, verdict(), "none", "75 of 100 each"
        ),
        Planted("close", {"A": spread(32, 40), "B": spread(30, 40)[::-1]}, verdict(), "none", "2 of 40"),
        Planted(
            "few but one-sided",
            {"A": first(12, 12), "B": first(4, 12)},
            verdict(),
            "A",
            "8 of 8 discordant: p .008",
        ),
        Planted(
            "five cases",
            {"A": first(5, 5), "B": first(0, 5)},
            verdict(),
            "none",
            "no test reaches .05 with 5 signs",
        ),
        Planted(
            "eight hospitals, all the same way",
            {
                "A": hospitals([0.9, 0.85, 0.8, 0.9, 0.95, 0.8, 0.85, 0.9], 40),
                "B": hospitals([0.7, 0.7, 0.6, 0.75, 0.8, 0.65, 0.7, 0.7], 40),
            },
            verdict(),
            "A",
            "8 of 8 hospitals: p .008",
            cases=names8,
        ),
        Planted(
            "eight hospitals, five against three",
            {"A": hospitals([0.9, 0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.5], 40), "B": hospitals([0.6] * 8, 40)},
            verdict(),
            "none",
            "hospitals disagree, though 320 questions give p < .001",
            cases=names8,
        ),
        Planted(
            "four exams, all the same way",
            {"A": hospitals([0.9] * 4, 40), "B": hospitals([0.7] * 4, 40)},
            verdict(),
            "none",
            "4 signs cannot reach .05",
            cases=[f"exam {i}" for i in range(4) for _ in range(40)],
        ),
        Planted(
            "ten questions, thirty repeats",
            {"A": first(7, 10), "B": first(5, 10)},
            verdict(),
            "none",
            "10 questions are 10, not 300",
            repeats=30,
        ),
        Planted(
            "fifteen cases asked four times",
            {
                "A": [v for v in first(11, 15) for _ in range(4)],
                "B": [v for v in first(7, 15) for _ in range(4)],
            },
            verdict(),
            "none",
            "4 of 15 cases, though 16 of 60 questions",
            cases=[i for i in range(15) for _ in range(4)],
        ),
        Planted(
            "near the ceiling, no difference",
            {"A": first(199, 200), "B": first(198, 200)},
            verdict(),
            "none",
            "1 of 200",
        ),
        Planted(
            "near the ceiling, a difference",
            {"A": first(200, 200), "B": first(188, 200)},
            verdict(),
            "A",
            "12 of 12 discordant",
        ),
        Planted(
            "rare harm, not shown",
            {"A": first(300, 300), "B": first(297, 300)},
            verdict(),
            "none",
            "3 of 3: p .25",
        ),
        Planted(
            "rare harm, shown",
            {"A": first(300, 300), "B": first(290, 300)},
            verdict(),
            "A",
            "10 of 10: p .002",
        ),
        Planted(
            "a small category fails",
            {"A": first(94, 100), "B": first(94, 100)},
            category,
            "renal",
            "0 of 6 beside 94 of 94",
            categories=["liver"] * 94 + ["renal"] * 6,
        ),
        Planted(
            "a small category is as the rest",
            {"A": [*spread(80, 94), *first(5, 6)], "B": [*spread(80, 94), *first(5, 6)]},
            category,
            "none",
            "5 of 6 beside 80 of 94",
            categories=["liver"] * 94 + ["renal"] * 6,
        ),
        Planted(
            "twenty equal candidates",
            {f"M{k:02}": [spread(70, 100)[(i * (2 * k + 1)) % 100] for i in range(100)] for k in range(20)},
            leader,
            "none",
            "70 of 100 each",
        ),
        Planted(
            "one of twenty leads",
            {
                f"M{k:02}": spread(190, 200)
                if k == 7
                else [spread(120, 200)[(i * (2 * k + 1)) % 200] for i in range(200)]
                for k in range(20)
            },
            leader,
            "M07",
            "35 points over each of 19, 200 questions",
        ),
        Planted(
            "four of ten scores failed",
            {"A": spread(70, 100), "B": [*spread(42, 60), *[None] * 40]},
            verdict(),
            "none",
            "B lies between .42 and .82: no verdict holds for both",
        ),
        Planted(
            "five of a hundred failed",
            {"A": spread(95, 100), "B": [*spread(48, 95), *[None] * 5]},
            verdict(),
            "A",
            "B is at most .53",
        ),
        Planted(
            "grades, a difference",
            {
                "A": around(3.6, waves(60, 1, 3), waves(60, 0.5, 7)),
                "B": around(3.0, waves(60, 1, 3), waves(60, 0.5, 4)),
            },
            verdict(),
            "A",
            ".6 of 5 at sd .5, n 60",
            upper=5,
        ),
        Planted(
            "grades, none",
            {
                "A": around(3.0, waves(66, 1, 3), waves(66, 0.8, 7)),
                "B": around(3.0, waves(66, 1, 3), waves(66, 0.8, 4)),
            },
            verdict(),
            "none",
            "equal means",
            upper=5,
        ),
        Planted(
            "one large outlier",
            {"A": [5.0, *[3.0] * 29], "B": [0.0, *[3.0] * 29]},
            verdict(),
            "none",
            "one case of 30 differs",
            upper=5,
        ),
        Planted(
            "ties but for four",
            {"A": [*[4.0] * 4, *[3.0] * 26], "B": [3.0] * 30},
            verdict(),
            "none",
            "4 cases differ",
            upper=5,
        ),
        Planted(
            "half up, half down",
            {"A": [4.0, 2.0] * 40, "B": [3.0] * 80},
            verdict(),
            "none",
            "40 against 40",
            upper=5,
        ),
        Planted(
            "equal, gate of .1",
            {"A": spread(320, 400), "B": spread(320, 400)},
            gate(0.1),
            "pass",
            "the same answers, 400 questions",
        ),
        Planted(
            "equal, gate of .1, twenty questions",
            {"A": spread(16, 20), "B": spread(16, 20)[::-1]},
            gate(0.1),
            "closed",
            "20 questions cannot show it",
        ),
        Planted(
            "worse by .15, gate of .1",
            {"A": spread(260, 400), "B": spread(320, 400)},
            gate(0.1),
            "closed",
            "worse by more than the margin",
        ),
        Planted(
            "half left blank",
            {"A": spread(80, 100), "B": [1.0] * 100},
            verdict(),
            "A",
            "a blank answer counts as worst: .8 against .5",
            blank={"B": range(0, 100, 2)},
        ),
        Planted(
            "other questions",
            {"A": [*spread(45, 50), *[NEVER] * 50], "B": [*[NEVER] * 50, *spread(25, 50)]},
            verdict(),
            "incomparable",
            "no question in common",
        ),
    ]


def main() -> None:
    """Print each set, its conclusion and what is said."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=int, help="the number of one set")
    options = parser.parse_args()
    misses = 0
    for number, planted in enumerate(sets(), 1):
        if options.only in (None, number):
            try:
                said = planted.ask(run_of(planted))
            except InputError as error:
                said = (
                    "incomparable"
                    if "no item" in str(error) or "in common" in str(error)
                    else f"refused: {error}"
                )
            misses += said != planted.conclusion
            mark = "same" if said == planted.conclusion else "DIFFERS"
            print(
                f"{number:2} {planted.name:38} {planted.conclusion:13} {said:13} {mark}  {planted.reason}",
                flush=True,
            )
    print(f"{misses} differ")
    sys.exit(misses > 0)


if __name__ == "__main__":
    main()
