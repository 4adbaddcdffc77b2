"""HIVMedQA, whole: its Table 2, tests, drops and gaps from the published answers and marks.

Cardenal Antolin et al. (2025). What the paper prints is in published.yaml. Every figure comes from the import
and the studies of the product; only the published order of averaging is this module's own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vivavoce.errors import InputError
from vivavoce.models.yamls import read_mapping
from vivavoce.reproduce import Reproduction
from vivavoce.reproduce.claims import Claim, settled
from vivavoce.reproduce.hivmedqa import told
from vivavoce.reproduce.hivmedqa.arithmetic import f1_counts
from vivavoce.reproduce.hivmedqa.averages import exclusions, f1_variants, reference_gap, table2
from vivavoce.reproduce.hivmedqa.figures import figures
from vivavoce.reproduce.hivmedqa.inference import bias_drop, paired
from vivavoce.reproduce.hivmedqa.marks import CEILING, SIX, recorded

__all__ = ["PUBLISHED", "TOLERANCE", "reproduce"]

PUBLISHED = Path(__file__).with_name("published.yaml")
BEST = "Gemini 2.5 Pro"
TOLERANCE = 0.0051
"""Half a unit of Table 2's last digit, and a little for figures that were rounded twice."""


def reproduce(data: Path) -> Reproduction:
    """Recompute the paper's figures from the folder of questions, answers, marks and F1 figures.

    A candidate of which marks are missing has null figures, and a line under `incomplete`. Raises
    `InputError` for files that hold something else than what was published.
    """
    printed = read_mapping(PUBLISHED, "published figures", InputError)
    candidates = list(printed["table2"])
    models = [name for name in candidates if name != CEILING]
    marks = recorded(data, candidates, list(printed["f1_variants"]))
    drop, control = bias_drop(marks, models, CEILING)
    rows: dict[str, Any] = {
        "table2": table2(marks, printed["table2"]),
        "exclusions": exclusions(marks),
        "paired": paired(marks, BEST, [name for name in models if name != BEST], printed["test"]),
        "bias_drop": drop,
        "bias_drop_ceiling": control,
        "reference_gap": reference_gap(marks, models),
        "f1_variants": f1_variants(marks, printed["f1_variants"]),
        "f1_counts": f1_counts(data / "f1.csv"),
    }
    tree = figures(marks, rows, models, printed["test"]["criterion"])
    stated = settled(map(_claim, printed["text"]), tree)
    beyond = settled(map(_claim, printed["beyond"]), tree)
    missed = _cells(rows["table2"]) + [row for row in stated if row["holds"] is False] + beyond
    rows["claims"] = stated
    rows["not_reproduced"] = [
        {name: row[name] for name in ("what", "published", "recomputed", "why")} for row in missed
    ]
    rows["incomplete"] = [one._asdict() for one in marks.incomplete]
    return Reproduction(rows, told.tables(rows, BEST), told.notes(rows, marks.incomplete))


def _claim(stated: Mapping[str, Any]) -> Claim:
    at = stated.get("at")
    return Claim(
        what=stated["what"],
        published=stated["published"],
        at=None if at is None else tuple(map(str, at)),
        why=stated.get("why"),
    )


def _cells(table: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> list[dict[str, Any]]:
    """The cells of Table 2 that do not come out, or cannot be given."""
    missed = []
    for candidate, row in table.items():
        for name in SIX:
            for figure in ("mean", "sd"):
                found, printed = row[name][figure], row[name][f"published_{figure}"]
                if printed is None or (found is not None and abs(found - printed) <= TOLERANCE):
                    continue
                missed.append(
                    {
                        "what": f"Table 2, {name} of {candidate}, {figure}",
                        "published": printed,
                        "recomputed": found,
                        "why": "marks are missing from the files" if found is None
                        else "the files hold other marks than those it was printed from",
                    }
                )  # fmt: skip
    return missed
