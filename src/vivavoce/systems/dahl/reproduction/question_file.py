"""What stands in DAHL's question file: its categories, its different texts, and the precision of a tenth."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce import stats
from vivavoce.benchmarks import load, sampled
from vivavoce.benchmarks.health.source_files import SourceLine
from vivavoce.core.specs import Spec
from vivavoce.systems.dahl.benchmark import read_rows
from vivavoce.systems.dahl.filters import RULES, decide

_Z = 1.959964


class QuestionFile(NamedTuple):
    """The rows of the file, how many of them are items, their cases, and the size of a tenth by category."""

    rows: Sequence[SourceLine]
    n_items: int
    n_cases: int
    n_sample: int


def read_questions(data: Path) -> QuestionFile:
    """The question file, also as the benchmark reads it. Raises `InputError` for another file."""
    rows = read_rows(data)
    items = load(Spec("dahl", {"data": str(data)})).items
    return QuestionFile(rows, len(items), len({item.group for item in items}), len(sampled(items, "10%")))


def categories(file: QuestionFile, paper: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By category, the largest first: `n` rows, and `published` rows of the released file, null for none.

    `listed`: whether the paper names the category.
    """
    counts = Counter(row.optional("category") or "" for row in file.rows)
    names = sorted({*counts, *paper["categories"]}, key=lambda name: (-counts[name], name))
    return {
        name: {
            "n": counts[name],
            "published": paper["categories"].get(name),
            "listed": name in paper["listed"],
        }
        for name in names
    }


def filters(file: QuestionFile) -> dict[str, Any]:
    """Rows by what the paper's rules say of them: `keep`, `review`, `drop`, `repair`; hits of each rule.

    `dropped` and `repaired` name the rows, by their line in the file, with the rules that they break.
    """
    decisions = [(row.number, decide(str(row.row["question"]))) for row in file.rows]
    words = Counter(decision.decision for _, decision in decisions)
    hits = Counter(rule for _, decision in decisions for rule in decision.rules)
    named = {
        key: [{"row": row, "rules": list(d.rules)} for row, d in decisions if d.decision == word]
        for key, word in (("dropped", "drop"), ("repaired", "repair"))
    }
    return {
        **{word: words[word] for word in ("keep", "review", "drop", "repair")},
        "rules": {rule: hits[rule] for rule in RULES},
        **named,
    }


def sample_precision(
    n: int, population: int, systems: Sequence[Mapping[str, Any]], of: str
) -> dict[str, Any]:
    """What a sample of `n` of the questions can tell at most, without any answer.

    A score between 0 and 1 with mean m has a variance of m (1 - m) at most. `half_width_at_most`: of the 95 %
    interval of the sampled mean of the system `of`, whose answers the paper drew, with the finite correction.
    `detectable_at_most`: the difference that a t test of two draws finds four times in five; null with one.
    `pairs_closer`: how many of the `pairs` of systems in Table 2 differ by less.
    """
    scores = [system["score"] for system in systems]
    mean = next(system["score"] for system in systems if system["name"] == of)
    sd = math.sqrt(mean * (1 - mean))
    detectable = stats.mde(sd * math.sqrt(2 / n), df=2 * n - 2)
    gaps = [abs(a - b) for k, a in enumerate(scores) for b in scores[:k]]
    se = stats.sample_se(sd / math.sqrt(n), n, population=population)
    return {
        "n": n,
        "population": population,
        "sd_at_most": sd,
        "half_width_at_most": None if se is None else _Z * se,
        "detectable_at_most": detectable,
        "pairs": len(gaps),
        "pairs_closer": None if detectable is None else sum(gap < detectable for gap in gaps),
    }


def checker_calls(
    n: int, n_sample: int, systems: Sequence[Mapping[str, Any]], example: Mapping[str, int]
) -> dict[str, Any]:
    """Facts and calls of a checker by system, if all answers split as finely as the paper's example.

    `units` of an answer of the printed length; `calls` for all `n` questions, `calls_sample` for a tenth.
    """
    size = example["characters"] / example["units"]
    return {
        "characters_per_unit": size,
        "systems": {
            system["name"]: {
                "units": system["length"] / size,
                "calls": round(n * system["length"] / size),
                "calls_sample": round(n_sample * system["length"] / size),
            }
            for system in systems
        },
    }
