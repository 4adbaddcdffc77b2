"""The integrity of answers: how many of a candidate's were cut, or are not what it said in the end.

It is counted by benchmark and candidate, over unedited answers in words, and told wherever their scores are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.endings import SERVER_ERROR
from vivavoce.core.errors import VivaError
from vivavoce.core.numbers import printed
from vivavoce.core.parts import ESCAPED, PROMPT_CUT
from vivavoce.core.specs import parse
from vivavoce.core.text import one_line
from vivavoce.stats.sign_flips import FLIP_SEED, FLIPS
from vivavoce.studies.answers import LIKE_THINKING
from vivavoce.studies.row_parts import PART
from vivavoce.studies.study import as_mapping
from vivavoce.studies.text import and_so, count

IS_CUT = pl.col("ending").is_in(["cut", "thinking"])
"""Whether a limit of tokens or time ended an answer."""
DERIVED: Mapping[str, pl.Expr] = {
    "cut": IS_CUT,
    "cut_thinking": pl.col("ending") == "thinking",
    "like_thinking": LIKE_THINKING,
    **{
        name: pl.col("meta").str.contains(f'"{field}":', literal=True)
        for name, field in (
            ("prompt_cut", PROMPT_CUT),
            ("server_errors", SERVER_ERROR),
            ("escaped_line_ends", ESCAPED),
        )
    },
}
"""What is counted, as columns made of an answer; null counts as false."""
LEAST_DIFFERENCE = 0.01
"""The least difference between two candidates' shares that a comparison names, where a test finds it."""
MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityRow:
    """The answers of a candidate to a benchmark, and how many of them are in some way not whole.

    `cut` were ended by a limit of tokens or time, `cut_thinking` of them before any answer; `like_thinking`
    look like thinking that was not told apart from the answer. Of `prompt_cut` the endpoint counted far fewer
    tokens than were sent. In place of `server_errors` answers a file holds the error of a server, and in
    `escaped_line_ends` a backslash and an n for a line end, which is read as one. `token_limit` is the
    `max_tokens` of the candidate's label; null: not known.
    """

    about: str = "integrity"
    benchmark: str
    candidate: str
    answers: int
    cut: int = 0
    cut_thinking: int = 0
    like_thinking: int = 0
    prompt_cut: int = 0
    server_errors: int = 0
    escaped_line_ends: int = 0
    token_limit: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is to be told of it."""
        return not any(getattr(self, name) for name in DERIVED)

    @property
    def has_many_cut(self) -> bool:
        """Whether so many answers were cut that its scores tell of that too."""
        return self.cut > 0 and self.cut >= LEAST_DIFFERENCE * self.answers


def integrity_rows(answers: pl.DataFrame) -> list[IntegrityRow]:
    """A row per benchmark and candidate; `answers` have the columns of `DERIVED`, true, false or null."""
    place, sums = ("benchmark", "candidate"), [pl.col(name).sum() for name in DERIVED]
    parts = [
        part.group_by(place).agg(pl.len().alias("answers"), *sums)
        for part in (answers.clear(), *answers.iter_slices(PART))
    ]
    counts = pl.concat(parts).group_by(place).agg(pl.col("answers").sum(), *sums)
    return [
        IntegrityRow(token_limit=token_limit(row["candidate"]), **row)
        for row in counts.sort("benchmark", "candidate").iter_rows(named=True)
    ]


def not_whole(rows: Iterable[IntegrityRow]) -> tuple[Mapping[str, Any], ...]:
    """The rows of candidates of which some answers are not whole, as `--json` has them."""
    return tuple(as_mapping(row) for row in rows if not row.is_whole)


def token_limit(candidate: str) -> int | None:
    """The `max_tokens` that a candidate's label states; null for none, and for a label that is no spec."""
    try:
        limit = parse(candidate).settings.get("max_tokens")
    except VivaError:
        return None
    return limit if isinstance(limit, int) and not isinstance(limit, bool) else None


def integrity_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each kind of answer that is not whole, which names the candidates; none where all are."""
    kinds = (
        ("cut", "Cut at a limit"),
        ("like_thinking", "Like thinking that was not told apart from the answer"),
        ("prompt_cut", "Asked with a prompt that the server cut"),
        ("server_errors", "A server's error in place of an answer"),
        ("escaped_line_ends", "Line ends escaped, and read as line ends"),
    )
    of_answers = [row for row in rows if row["about"] == "integrity"]
    several = len({row["benchmark"] for row in of_answers}) > 1
    return [f"{words}: {'; '.join(_named(of_answers, kind, several=several))}." for kind, words in kinds
            if any(row[kind] for row in of_answers)]  # fmt: skip


def _named(rows: Sequence[Mapping[str, Any]], kind: str, *, several: bool) -> Iterator[str]:
    concerned = sorted((row for row in rows if row[kind]), key=lambda row: -row[kind] / row["answers"])
    for row in concerned[:MOST_NAMED]:
        to_exam = f" to {one_line(row['benchmark'], 30)}" if several else ""
        yield f"{share(row, kind)} of {one_line(row['candidate'], 40)}{to_exam}{_limit(row, kind)}"
    if len(concerned) > MOST_NAMED:
        yield f"{len(concerned) - MOST_NAMED:,} more"


def share(row: Mapping[str, Any], kind: str) -> str:
    """'5 of 40 answers (12 %)'."""
    n, n_answers = row[kind], row["answers"]
    percent = "under 1" if n and n < n_answers / 100 else printed(100 * n / n_answers, ".0f")
    return f"{n:,} of {count(n_answers, 'answer')} ({percent} %)"


def _limit(row: Mapping[str, Any], kind: str) -> str:
    if kind != "cut":
        return ""
    limit = f"max_tokens {row['token_limit']:,}" if row["token_limit"] else ""
    thinking = f"{row['cut_thinking']:,} while thinking" if row["cut_thinking"] else ""
    further = ", ".join(filter(None, (limit, thinking)))
    return f", {further}" if further else ""


class _ShareTest(NamedTuple):
    """Two candidates' shares of one kind of answers to a benchmark, with the test of their difference."""

    kind: str
    sides: tuple[IntegrityRow, IntegrityRow]
    p: float

    @property
    def is_worth_a_word(self) -> bool:
        """Whether the shares differ by more than `LEAST_DIFFERENCE`."""
        shares = [getattr(row, self.kind) / row.answers for row in self.sides]
        return bool(abs(shares[0] - shares[1]) >= LEAST_DIFFERENCE)


AnswersOf = Callable[[str, str], pl.DataFrame]
"""Reads the answers of a candidate to a benchmark: `DERIVED`, with the `ITEM` of each."""


def differences(
    rows: Iterable[IntegrityRow], answers: AnswersOf, pairs: Iterable[tuple[str, str, str]]
) -> list[str]:
    """A sentence for each benchmark and kind of which compared candidates have different shares.

    Pairs are a benchmark and two candidates; `answers` are read of those that are not all whole. Shares of a
    pair are paired by item and tested by sign flips of cases. The family are all pairs and kinds of which
    some case differs, by Holm: no other test can reject.
    """
    tests = [*_share_tests(rows, answers, dict.fromkeys(pairs))]
    adjusted = stats.holm([test.p for test in tests]).tolist() if tests else []
    by_kind: dict[tuple[str, str], list[_ShareTest]] = {}
    for test, p in zip(tests, adjusted, strict=True):
        if p <= stats.ALPHA and test.is_worth_a_word:
            place = test.sides[0].benchmark, test.kind
            by_kind.setdefault(place, []).append(test._replace(p=p))
    return [_sentence(*place, of_kind, len(tests)) for place, of_kind in by_kind.items()]


def _sentence(benchmark: str, kind: str, tests: Sequence[_ShareTest], family: int) -> str:
    """The shares of the candidates that differ in one kind, with the largest p of their tests."""
    rows = list(dict.fromkeys(row for test in tests for row in test.sides))
    p = f"{'p =' if len(tests) == 1 else 'each p at most'} {max(test.p for test in tests):.2g}"
    tests_made = f" over {count(family, 'test')}" if family > 1 else ""
    return (
        f"{benchmark}: {_of_each(rows, kind)} {_UNLIKE[kind]} (sign flips of cases, Holm-adjusted {p}"
        f"{tests_made}); part of a difference may come from that."
    )


def _share_tests(
    rows: Iterable[IntegrityRow], answers: AnswersOf, pairs: Iterable[tuple[str, str, str]]
) -> Iterator[_ShareTest]:
    """The test of each pair and kind of which a case differs."""
    by_place = {(row.benchmark, row.candidate): row for row in rows}
    means = [pl.col(kind).fill_null(False).mean() for kind in _UNLIKE]

    @cache
    def shares(benchmark: str, candidate: str) -> pl.DataFrame:
        return answers(benchmark, candidate).group_by("item", "variant", "group").agg(*means)

    for pair in (((benchmark, a), (benchmark, b)) for benchmark, a, b in pairs):
        sides = [by_place[place] for place in pair if place in by_place]
        if len(sides) == 2 and not_whole(sides):
            by_case = _case_differences(shares(*pair[0]), shares(*pair[1]))
            yield from _tests_by_kind((sides[0], sides[1]), by_case)


def _tests_by_kind(sides: tuple[IntegrityRow, IntegrityRow], by_case: pl.DataFrame) -> Iterator[_ShareTest]:
    """The tests of a pair. That no case differs is no result of one: no such data could have rejected."""
    for kind in _UNLIKE:
        if (by_case[kind].round(9) != 0).any():
            yield _ShareTest(kind, sides, _flipped(by_case[kind]))


def _flipped(sums: pl.Series) -> float:
    """The p of the differences summed by case, if each sign were a coin's."""
    return stats.sign_flips(sums, rng=stats.seeded_rng(FLIP_SEED), resamples=FLIPS).p


def _case_differences(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """By case the sum of the differences on the items that both answered, a column for each kind."""
    paired = first.join(second, on=["item", "variant"], how="inner", suffix="_of_second")
    sums = ((pl.col(kind) - pl.col(f"{kind}_of_second")).sum() for kind in _UNLIKE)
    return paired.group_by("group").agg(*sums).sort("group")


_UNLIKE = {
    "cut": "were cut at a limit",
    "like_thinking": "look like thinking that was not told apart from them",
    "prompt_cut": "came to a prompt that the server cut",
    "server_errors": "are a server's error, which counts as failed",
}


def _of_each(rows: Sequence[IntegrityRow], kind: str) -> str:
    """The shares of the candidates with most, and those of the one with fewest."""
    ordered = sorted(rows, key=lambda row: -getattr(row, kind) / row.answers)
    named = ordered if len(ordered) <= MOST_NAMED + 1 else [*ordered[:MOST_NAMED], ordered[-1]]
    return and_so([f"{share(as_mapping(row), kind)} of {one_line(row.candidate, 40)}" for row in named])
