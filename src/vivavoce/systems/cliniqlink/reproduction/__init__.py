"""ClinIQLink 2025: the cases that its released harness scored, and the overall of its leaderboard.

Colelough, Bartels and Demner-Fushman (2025). The harness's rules are `rules=published` of the metric
`cliniqlink`; what the paper prints is in published.yaml. What the harness does and is not copied stands there
too, with the reason.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.registry import reproduction
from vivavoce.core.yaml_files import read_mapping
from vivavoce.run.reproduce import Claim, Reproduction, check_claims
from vivavoce.systems.cliniqlink.reproduction.golden import (
    OPEN,
    Case,
    Checked,
    by,
    cases,
    encoder,
    headlines,
    ngrams,
    notes,
    tables,
    words,
)

PUBLISHED = Path(__file__).with_name("published.yaml")
NO_VALUE = "the harness gave no value"


@reproduction("cliniqlink")
def reproduce(data: Path) -> Reproduction:
    """Score the cases of golden.json by the harness's rules, and average the columns of the paper's Table 2.

    `data` also holds idf_sample.json, the harness's weights and stop words. Without the encoder the cases of
    open formats are not computed, and `incomplete` says what to install. Raises `InputError` for files that
    are missing or hold something else.
    """
    printed = read_mapping(PUBLISHED, "published figures", InputError)
    golden_cases, table = cases(data / "golden.json"), words(data / "idf_sample.json")
    incomplete: list[dict[str, Any]] = []
    try:
        embed = encoder()
    except MetricError as error:
        embed = None
        incomplete = _not_computed(golden_cases, error)
    marked, grams = headlines(golden_cases, table, embed), ngrams(golden_cases)
    overall = _overall(printed["table2"])
    claims = check_claims((_claim(case) for case in printed["claims"]), _figures(printed, overall))
    rows = {
        "golden": {
            **_counted(marked),
            "by_type": {name: _counted(checks) for name, checks in by(marked, "qtype").items()},
            "misses": _misses(case for case in marked if embed or case.why or case.qtype not in OPEN),
        },
        "ngram": _counted(grams),
        "overall": overall,
        "claims": claims,
        "incomplete": incomplete,
        "not_copied": printed["not_copied"],
    }
    return Reproduction(rows, tables(rows, marked, grams, printed), notes(rows, _misses(grams)))


def _not_computed(golden_cases: Sequence[Case], error: MetricError) -> list[dict[str, Any]]:
    """The cases that need the encoder, and why it cannot be had; empty where no case needs it."""
    open_cases = [case.id for case in golden_cases if case.qtype in OPEN]
    if not open_cases:
        return []
    return [{"what": "semantic scores", "cases": open_cases, "why": str(error).rstrip(".")}]


def _counted(checked: Sequence[Checked]) -> dict[str, int]:
    return {"n": len(checked), "matched": sum(check.matched for check in checked)}


def _misses(checked: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": check.id,
            "field": check.field,
            "ours": check.ours,
            "reference": check.reference,
            "reason": check.why or (NO_VALUE if check.reference is None else None),
        }
        for check in checked
        if not check.matched
    ]


def _overall(table: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """The printed overall, and the unweighted mean of the seven printed columns."""
    return {
        name: {"published": published, "recomputed": fmean(columns)}
        for name, (published, *columns) in table.items()
    }


def _figures(printed: Mapping[str, Any], overall: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """What the claims point into."""
    table, columns = printed["table2"], printed["columns"]
    order = sorted(overall, key=lambda name: -overall[name]["recomputed"])
    return {
        "double_reviewed": sum(printed["double_reviewed"].values()),
        "place": {name: place for place, name in enumerate(order, 1)},
        "open": {name: fmean(row[-4:]) for name, row in table.items()},
        "highest": {name: max(row[k] for row in table.values()) for k, name in enumerate(columns)},
    }


def _claim(row: Mapping[str, Any]) -> Claim:
    return Claim(what=row["what"], published=row["published"], at=tuple(row["at"]), why=row.get("why"))
