"""ClinIQLink 2025: the cases that its released harness marked, and the overall of its leaderboard.

Colelough, Bartels and Demner-Fushman (2025). The harness's rules are `rules=published` of the metric
`cliniqlink`; what the paper prints is in published.yaml. What the harness does and is not copied stands there
too, with the reason.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from vivavoce.errors import InputError, MetricError
from vivavoce.models.yamls import read_mapping
from vivavoce.reproduce import Reproduction
from vivavoce.reproduce.claims import Claim, settled
from vivavoce.reproduce.cliniqlink import told
from vivavoce.reproduce.cliniqlink.golden import OPEN, Checked, cases, encoder, headlines, ngrams, words

__all__ = ["PUBLISHED", "reproduce"]

PUBLISHED = Path(__file__).with_name("published.yaml")
NO_VALUE = "the harness gave no value"


def reproduce(data: Path) -> Reproduction:
    """Mark the cases of golden.json by the harness's rules, and average the columns of the paper's Table 2.

    `data` also holds idf_sample.json, the harness's weights and stop words. Without the encoder the cases of
    open formats are not computed, and `incomplete` says what to install. Raises `InputError` for files that
    are missing or hold something else.
    """
    printed = read_mapping(PUBLISHED, "published figures", InputError)
    given, table = cases(data / "golden.json"), words(data / "idf_sample.json")
    incomplete = []
    try:
        embed = encoder()
    except MetricError as error:
        embed = None
        left = [one.id for one in given if one.qtype in OPEN]
        if left:
            incomplete.append({"what": "semantic scores", "cases": left, "why": str(error).rstrip(".")})
    marked, grams = headlines(given, table, embed), ngrams(given)
    overall = _overall(printed["table2"])
    stated = settled((_claim(one) for one in printed["claims"]), _figures(printed, overall))
    rows = {
        "golden": {
            **_counted(marked),
            "by_type": {name: _counted(own) for name, own in told.by(marked, "qtype").items()},
            "misses": _misses(one for one in marked if embed or one.why or one.qtype not in OPEN),
        },
        "ngram": _counted(grams),
        "overall": overall,
        "claims": stated,
        "incomplete": incomplete,
        "not_copied": printed["not_copied"],
    }
    return Reproduction(rows, told.tables(rows, marked, grams, printed), told.notes(rows, _misses(grams)))


def _counted(checked: Sequence[Checked]) -> dict[str, int]:
    return {"n": len(checked), "matched": sum(one.matched for one in checked)}


def _misses(checked: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "field": one.field,
            "ours": one.ours,
            "reference": one.reference,
            "reason": one.why or (NO_VALUE if one.reference is None else None),
        }
        for one in checked
        if not one.matched
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


def _claim(stated: Mapping[str, Any]) -> Claim:
    return Claim(
        what=stated["what"], published=stated["published"], at=tuple(stated["at"]), why=stated.get("why")
    )
