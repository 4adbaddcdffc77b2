"""The sentences of the study of bias: what a sentence or a detail of a patient does to a candidate."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf
from typing import Any

from vivavoce.records import Measure
from vivavoce.studies import LEAST_GROUPS
from vivavoce.studies.words import count, number, plain

__all__ = ["NOTHING", "sentences", "width"]

NOTHING = (
    "No question that was marked for a candidate (floor and ceiling are none) has a twin with its partner "
    "(bias:TYPE, neutral, demographic:SORT=VALUE): there is nothing to compare."
)


def width(measure: Measure) -> float:
    """Width of a criterion's range; infinite without two limits."""
    low, high = measure.criterion.low, measure.criterion.high
    return inf if low is None or high is None else high - low


def sentences(
    rows: Sequence[dict[str, Any]],
    measures: Mapping[tuple[str, str, str], Measure],
    short: Mapping[tuple[str, str, str], str],
) -> Iterator[str]:
    """A sentence for each tested row, in the order of the rows; it is kept in the row too."""
    names = {(m.metric, m.criterion.criterion, m.rater): (short[key], m) for key, m in measures.items()}
    several = len({row["benchmark"] for row in rows}) > 1
    told = [row for row in rows if row["verdict_code"] is not None]
    about = ("benchmark", "metric", "criterion", "rater", "contrast", "type")
    for place, same in groupby(told, key=lambda row: tuple(row[name] for name in about)):
        name, measure = names[place[1:4]]
        where = f" ({place[0]})" if several else ""
        what = f"{name}{where}, {_WHAT[place[4]].format(type=place[5])}"
        few: list[dict[str, Any]] = []
        for row in same:
            row["verdict"] = _demographics_said(row) if place[4] == "demographic" else _said(row, measure)
            if row["verdict_code"] == "too_few":
                few.append(row)
            else:
                yield f"{row['candidate']}, {what}: {row['verdict']}"
        if len(few) == 1:
            yield f"{few[0]['candidate']}, {what}: {few[0]['verdict']}"
        elif few:  # nothing is said of any of them, and once is enough
            pairs = sorted({row["n_pairs"] for row in few})
            n = count(pairs[0], "pair") if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]} pairs"
            yield f"{what}: {n}: too few to say of {', '.join(row['candidate'] for row in few)}."


_WHAT = {
    "bias": "biased against neutral sentence",
    "drop": "biased sentence against none",
    "sentence": "neutral sentence against none",
    "demographic": "{type}",
}
_SHOWN = {
    "bias": "That is a bias.",
    "drop": "That is a drop, and how much of it is bias a neutral twin would tell.",
    "sentence": "Any added sentence costs that.",
    "demographic": "Answers differ with what the patient is said to be.",
}


def _said(row: Mapping[str, Any], measure: Measure) -> str:
    found = f"{_moved(row, measure)}; {count(row['n_pairs'], 'pair')} in {count(row['n_groups'], 'case')}."
    able = _able(row["mde_family"], measure)
    match row["verdict_code"]:
        case "too_few":
            few = f", of which {row['n_different']} differ" if row["n_groups"] >= LEAST_GROUPS else ""
            told = f"{count(row['n_pairs'], 'pair')}{few}: too few to say" + (f"; {able}." if able else ".")
        case "depends":
            failed = count(row["n_failed"], "mark")
            told = f"{found} It depends on {failed} that failed: mark again before deciding."
        case "equivalent":
            told = f"{found} It resists within {plain(row['margin'])}."
        case "worse":
            told = f"{found} {_SHOWN[row['contrast']]}"
        case "better":
            told = f"{found} The twin is better."
        case _:
            over = f", by Holm over {row['family']} tests" if row["family"] > 1 else ""
            told = f"{found} Nothing was shown{over}" + (f"; {able}." if able else ".")
    if row["flips"] is None:
        return told
    floor = row["flips_repeats"]
    beside = "how often it flips by itself is not known" if floor is None else f"{floor:.0%} between repeats"
    return f"{told} Its mark flips in {row['flips']:.0%}; {beside}."


def _moved(row: Mapping[str, Any], measure: Measure) -> str:
    d, c = row["difference"], measure.criterion
    if round(d, 9) == 0:
        size = "it stays the same on average"
    else:
        size = f"{number(abs(d), c)} {'worse' if d > 0 else 'better'}"
    if row["low"] is None or row["high"] is None:
        return size
    return f"{size} ({number(row['low'], c)} to {number(row['high'], c)}, above 0 is worse)"


def _able(found: float | None, measure: Measure) -> str:
    """What would have been found; nothing where no spread tells."""
    if found is None:
        return ""
    if found > width(measure):
        return "no effect that this scale allows would have been found four times in five"
    return f"an effect of {number(found, measure.criterion)} would have been found four times in five"


def _demographics_said(row: Mapping[str, Any]) -> str:
    basis = f"{count(row['n_pairs'], 'question')} in {count(row['n_groups'], 'case')}"
    if row["verdict_code"] == "too_few":
        return f"{basis}: too few to say."
    ends = "" if row["low"] is None else f" ({row['low']:.3g} to {row['high']:.3g})"
    beyond = f"variance beyond that of repeats {row['difference']:.3g}{ends}; {basis}."
    return f"{beyond} {_SHOWN['demographic'] if row['verdict_code'] == 'worse' else 'Nothing was shown.'}"
