"""The beginning of a status: what is missing, what is here, coverage, cost, and what to do next."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from shlex import quote
from typing import Any

from vivavoce.core.cases import near_repeats_lines
from vivavoce.core.group_levels import scope_lines
from vivavoce.core.index import REMOVED
from vivavoce.core.numbers import printed
from vivavoce.core.text import count, one_line
from vivavoce.studies.answer_integrity import integrity_lines
from vivavoce.studies.text import missing_words

STATES = ("ok", "unanswered", "unreadable", "failed", "set_aside")


def status_lines(rows: Sequence[Mapping[str, Any]], path: str, *, compared: bool) -> tuple[str, ...]:
    """Five lines on the rows of a status, and one more for each benchmark of which rows were left out,
    and for each with questions that are nearly the same.

    The first is the answer: what is missing. There is one more for a run that is a shard, on what it has of
    its part, for measures that are retired, and for texts that were forgotten.

    `compared` says whether the run holds a comparison; `path` is that of the run, for the command of the last
    line.
    """
    every = [row for row in rows if row["about"] == "marks"]
    calls = [row for row in rows if row["about"] == "calls"]
    scores = [row for row in every if row["criterion"] is not None]
    expected = _expected(rows)
    # What was never asked comes first: scoring and comparing before it would be done twice.
    of_shard = _next_of_shard(rows, quote(path)) or _next_request(rows)
    following = of_shard or _next(rows, every, scores, calls, quote(path), compared=compared)
    return (
        missing_line(rows),
        _contents(rows, every, scores),
        *near_repeats_lines(rows),
        *scope_lines(rows),
        *shard_lines(rows),
        *_built(rows),
        *_left_out(rows),
        *integrity_lines(rows),
        *retired_lines(rows),
        *forgotten_lines(rows),
        _coverage(expected, are_scores=bool(scores)),
        _cost(calls),
        f"Next: {following}",
    )


def _contents(
    rows: Sequence[Mapping[str, Any]],
    every: Sequence[Mapping[str, Any]],
    scores: Sequence[Mapping[str, Any]],
) -> str:
    questions = [row for row in rows if row["about"] == "questions"]
    if not questions:
        return "Here: nothing yet."
    benchmarks = one_line(", ".join(row["benchmark"] for row in questions), 60)
    n_cases = sum(row["further"] for row in questions)
    of_candidates = count(len({row["candidate"] for row in every}), "candidate")
    by_metrics = count(len({(row["metric"], row["rater"]) for row in scores}), "metric")
    n_questions = sum(row["questions"] for row in questions)
    return (
        f"Here: {count(n_questions, 'question')} ({count(n_cases, 'case')}) of {benchmarks}, answered by "
        f"{of_candidates}, scored by {by_metrics}."
    )


MOST_JOBS = 3
"""Jobs of a shard that a line names."""


def shard_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which shard a run is, and what it has of its part; nothing for a run that is none."""
    jobs = _jobs(rows)
    if not jobs:
        return []
    named = [_job(row) for row in jobs[:MOST_JOBS]]
    named += [f"and {len(jobs) - MOST_JOBS:,} more"] if len(jobs) > MOST_JOBS else []
    return [f"Shard: {', '.join(dict.fromkeys(row['shard'] for row in jobs))}; {'; '.join(named)}."]


def _jobs(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of what a shard is to bring, what is unfinished first."""
    jobs = [row for row in rows if row["about"] == "shard"]
    return sorted(jobs, key=lambda row: row["state"] == "complete")


def _job(row: Mapping[str, Any]) -> str:
    """What a shard has of one job. More may have come to do since it was counted what that takes."""
    expected, is_complete = row["expected"], row["state"] == "complete"
    is_counted = expected is not None and (is_complete or row["done"] < expected)
    of = f" of {max(expected, row['done'] + row['failed']):,}" if is_counted else ""
    subject = "answers" if row["verb"] == "collect" else "scores"
    more = "" if is_complete or of else " so far"
    failed = f", {row['failed']:,} failed" if row["failed"] else ""
    return f"{row['verb']} {one_line(row['of_what'], 60)}: {row['done']:,}{of} {subject}{more}{failed}"


def _built(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How far an exam under construction has come."""
    steps = [row for row in rows if row["about"] == "build"]
    if not steps:
        return []
    dropped, last = sum(row["dropped"] for row in steps), steps[-1]
    waiting = f"; {last['review']:,} wait for a person" if last["review"] else ""
    recipes = ", ".join(dict.fromkeys(row["recipe"] for row in steps))
    return [
        f"Built: {count(len(steps), 'step')} of {recipes}, the last {last['step']} with "
        f"{last['n_out']:,} parts; {dropped:,} dropped{waiting}."
    ]


def _left_out(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many rows of a benchmark are no questions, and the reason that most of them share."""
    lines = []
    for row in rows:
        if row["about"] == "exclusions":
            reason, n = next(iter(row["exclusions"].items()))
            lines.append(
                f"Left out: {row['excluded']:,} of {row['excluded_of']:,} rows of "
                f"{one_line(row['benchmark'], 40)}; most often ({n:,}) {one_line(reason, 60)}."
            )
    return lines


MOST_RETIRED = 3
"""Retired measures that a line names."""


def retired_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which measures are retired, and count nowhere; nothing for a run without such."""
    retired = [row for row in rows if row["about"] == "retired"]
    if not retired:
        return []
    named = [f"{count(row['scores'], 'score')} of {row['words']}" for row in retired[:MOST_RETIRED]]
    named += [f"and {len(retired) - MOST_RETIRED:,} more"] if len(retired) > MOST_RETIRED else []
    return [f"Retired: {', '.join(named)}; `viva retire RUN MEASURE --undo` lets one count again."]


def forgotten_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the run was told to forget; nothing for a run that was told nothing."""
    return [row["text"] for row in rows if row["about"] == "forgotten"]


def _expected(status_rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The rows that coverage is of: scores and candidates that were never asked; before scoring all."""
    marks = [row for row in status_rows if row["about"] == "marks"]
    if all(row["criterion"] is None for row in marks):
        return marks
    return [row for row in marks if row["criterion"] is not None or row["never_asked"]]


def _coverage(rows: Sequence[Mapping[str, Any]], *, are_scores: bool) -> str:
    """The share of expected scores that are ok; before scoring that of answers."""
    expected = sum(row["expected"] for row in rows)
    if not expected:
        return "Coverage: no answer is here."
    ok = sum(_share(row) * row["expected"] for row in rows)
    things = count(expected, "score" if are_scores else "answer")
    line = f"Coverage: {printed(ok / expected, '.1%')} of {things} are ok"
    least = min(rows, key=_share)
    if ok == expected:
        return f"{line}."
    by = f" by {least['metric']}" if least["metric"] else ""
    return f"{line}; the least, {printed(_share(least), '.1%')}, of {one_line(least['candidate'], 40)}{by}."


def _share(row: Mapping[str, Any]) -> float:
    return 1.0 if row["coverage"] is None else float(row["coverage"])


def missing_line(status_rows: Sequence[Mapping[str, Any]]) -> str:
    """How many answers were never asked for, how many scores are not ok by state, and the commonest cause."""
    rows = _expected(status_rows)
    if not rows:
        return "Missing: answers, none is here yet."
    never_asked = {"never asked": _never_asked(rows)}
    counts = {state: sum(row[state] for row in rows) for state in STATES[1:]}
    unscored = sum(row["unscored"] for row in rows)
    if all(row["criterion"] is None for row in rows):  # before scoring
        words = [missing_words(never_asked | counts | {"not scored yet": unscored}, "answer")]
    else:
        scores = missing_words(counts | {"not made yet": unscored}, "score")
        words = [missing_words(never_asked, "answer"), scores]
    if not any(words):
        return "Missing: nothing."
    return f"Missing: {', '.join(filter(None, words))}.{_commonest_cause(rows, never_asked | counts)}"


def _commonest_cause(rows: Sequence[Mapping[str, Any]], states: Collection[str]) -> str:
    """The cause that most of what is missing shares, without those that are a state themselves."""
    causes = Counter[str]()
    for row in rows:
        causes.update({cause: n for cause, n in row["causes"].items() if cause not in states})
    return "".join(
        f" Most often ({n:,}) {one_line(cause.replace(';', ','), 60)}." for cause, n in causes.most_common(1)
    )


def _never_asked(rows: Sequence[Mapping[str, Any]]) -> int:
    """The answers that candidates were never asked for; several measures lack the same ones."""
    most: dict[tuple[str, str], int] = {}
    for row in rows:
        key = (row["benchmark"], row["candidate"])
        most[key] = max(most.get(key, 0), row["never_asked"])
    return sum(most.values())


def _cost(calls: Sequence[Mapping[str, Any]]) -> str:
    """What models were asked and what it cost; no sum where one bill is not known."""
    if not calls:
        return "Cost: none, no model was asked."
    costs = [row["cost"] for row in calls if row["calls"] > row["failed"]]
    n_calls, failed = (sum(row[name] for row in calls) for name in ("calls", "failed"))
    bill = "not known" if None in costs else f"{sum(costs):.4f}"
    models = count(len({row["model"] for row in calls}), "model")
    return f"Cost: {bill}, for {count(n_calls, 'call')} to {models}, {failed:,} failed."


def _next(
    rows: Sequence[Mapping[str, Any]],
    every: Sequence[Mapping[str, Any]],
    scores: Sequence[Mapping[str, Any]],
    calls: Sequence[Mapping[str, Any]],
    path: str,
    *,
    compared: bool,
) -> str:
    """The command that brings the run further, and what it does."""
    if not every:
        return f"`viva import {path} FILE` or `viva collect {path} BENCHMARK --model …` brings answers."
    if not scores:
        return f"`viva score {path}` scores by what fits the formats."
    if again := [row["metric"] for row in rows if _worth_a_try(row)]:
        command = f"`viva score {path} {quote(again[0])}` scores what has no score, or failed."
        return " ".join([command, *_advice(calls)])
    if compared or len({row["candidate"] for row in scores}) < 2:
        return f"`viva report {path}` writes the report."
    return f"`viva compare {path}` tests which candidate is better."


def _next_of_shard(rows: Sequence[Mapping[str, Any]], path: str) -> str | None:
    """The command that brings a shard further: its own, and when that is done the merge of all shards."""
    jobs = _jobs(rows)
    if not jobs:
        return None
    first = jobs[0]
    if first["state"] == "complete":
        return f"`viva merge ALL.viva {path} …` joins it with the other shards."
    if first["verb"] == "collect":
        return f"`viva collect {path} … --shard {first['shard']}` again asks what is left, or failed."
    metric = quote(first["of_what"])
    return f"`viva score {path} {metric} --shard {first['shard']}` scores what has no score, or failed."


def _next_request(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The command that asks for what was requested and never asked, or was lost."""
    requests = [row for row in rows if row["about"] == "request"]
    if not requests:
        return None
    n = sum(row["never_asked"] for row in requests)
    return f"`{requests[0]['command']}` asks for the {count(n, 'answer')} that were never asked for."


def _advice(calls: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to do about the first model whose calls failed."""
    return [row["advice"] for row in calls if row["last_cause"] and row["advice"]][:1]


def _worth_a_try(row: Mapping[str, Any]) -> bool:
    """Whether scoring again can help: a rule fails on an answer that never came, and would again.

    Recorded scores come with the file that holds them alone, and a metric that was removed scores nothing.
    """
    if row["about"] not in ("marks", "variants") or row["criterion"] is None or row.get("recorded"):
        return False
    if row["metric"].partition("(")[0] in REMOVED["metric"]:
        return False
    return bool(row["unscored"] or (row["failed"] and row["rater"]))
