"""The integrity of answers: how many of a candidate's were cut, or are not what it said in the end.

It is counted by benchmark and candidate, over unedited answers in words, and told wherever their scores are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from vivavoce.core.endings import SERVER_ERROR
from vivavoce.core.errors import VivaError
from vivavoce.core.parts import ESCAPED, PROMPT_CUT
from vivavoce.core.specs import parse
from vivavoce.core.text import one_line
from vivavoce.studies.answers import LIKE_THINKING
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
"""The least difference between two candidates' shares that a comparison names."""
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
    counts = answers.group_by("benchmark", "candidate").agg(
        pl.len().alias("answers"), *(pl.col(name).sum() for name in DERIVED)
    )
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
    percent = "under 1" if n and n < n_answers / 100 else f"{100 * n / n_answers:.0f}"
    return f"{n:,} of {count(n_answers, 'answer')} ({percent} %)"


def _limit(row: Mapping[str, Any], kind: str) -> str:
    if kind != "cut":
        return ""
    limit = f"max_tokens {row['token_limit']:,}" if row["token_limit"] else ""
    thinking = f"{row['cut_thinking']:,} while thinking" if row["cut_thinking"] else ""
    further = ", ".join(filter(None, (limit, thinking)))
    return f", {further}" if further else ""


def differences(rows: Sequence[IntegrityRow], pairs: Iterable[tuple[str, str, str]]) -> list[str]:
    """A sentence for each benchmark and kind of which compared candidates have different shares.

    Pairs are a benchmark and two candidates. Shares that differ by less than `LEAST_DIFFERENCE` are alike.
    """
    by_place = {(row.benchmark, row.candidate): row for row in rows if row.answers}
    by_benchmark: dict[str, list[list[IntegrityRow]]] = {}
    for benchmark, *names in dict.fromkeys(pairs):
        sides = [by_place[benchmark, name] for name in names if (benchmark, name) in by_place]
        by_benchmark.setdefault(benchmark, []).append(sides)
    return [
        f"{benchmark}: {_of_each(differing, kind)} {words}; part of a difference may come from that."
        for benchmark, compared in by_benchmark.items()
        for kind, words in _UNLIKE.items()
        if (differing := _differing(compared, kind))
    ]


def _differing(compared: Iterable[Sequence[IntegrityRow]], kind: str) -> list[IntegrityRow]:
    """The rows of pairs whose shares differ."""
    return list(dict.fromkeys(row for sides in compared if _differ(sides, kind) for row in sides))


_UNLIKE = {
    "cut": "were cut at a limit",
    "like_thinking": "look like thinking that was not told apart from them",
    "prompt_cut": "came to a prompt that the server cut",
    "server_errors": "are a server's error, which counts as failed",
}


def _differ(sides: Sequence[IntegrityRow], kind: str) -> bool:
    shares = [getattr(row, kind) / row.answers for row in sides]
    return len(shares) == 2 and bool(abs(shares[0] - shares[1]) >= LEAST_DIFFERENCE)


def _of_each(rows: Sequence[IntegrityRow], kind: str) -> str:
    """The shares of the candidates with most, and those of the one with fewest."""
    ordered = sorted(rows, key=lambda row: -getattr(row, kind) / row.answers)
    named = ordered if len(ordered) <= MOST_NAMED + 1 else [*ordered[:MOST_NAMED], ordered[-1]]
    return and_so([f"{share(as_mapping(row), kind)} of {one_line(row.candidate, 40)}" for row in named])
