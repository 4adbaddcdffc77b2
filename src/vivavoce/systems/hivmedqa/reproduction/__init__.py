"""HIVMedQA, whole: its Table 2, tests, drops and gaps from the published answers and scores.

Cardenal Antolin et al. (2025). What the paper prints is in published.yaml. Every figure comes from the import
and the studies of the product; only the published order of averaging is this module's own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.registry import reproduction
from vivavoce.core.yaml_files import read_mapping
from vivavoce.run.reproduce import Claim, Reproduction, check_claims
from vivavoce.systems.hivmedqa.reproduction import tables as told
from vivavoce.systems.hivmedqa.reproduction.averages import exclusions, f1_variants, reference_gap, table2
from vivavoce.systems.hivmedqa.reproduction.figures import f1_counts, figures
from vivavoce.systems.hivmedqa.reproduction.inference import bias_drop, paired
from vivavoce.systems.hivmedqa.reproduction.judge_scores import CEILING, SIX, recorded

PUBLISHED = Path(__file__).with_name("published.yaml")
BEST = "Gemini 2.5 Pro"
TOLERANCE = 0.0051
"""Half a unit of Table 2's last digit, and a little for figures that were rounded twice."""


@reproduction("hivmedqa")
def reproduce(data: Path) -> Reproduction:
    """Recompute the paper's figures from the folder of questions, answers, scores and F1 figures.

    A candidate of which scores are missing has null figures, and a line under `incomplete`. Raises
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
    claims = check_claims(map(_claim, printed["text"]), tree)
    further_claims = check_claims(map(_claim, printed["beyond"]), tree)
    missed = _cells(rows["table2"]) + [row for row in claims if row["holds"] is False] + further_claims
    rows["claims"] = claims
    rows["not_reproduced"] = [
        {name: row[name] for name in ("what", "published", "recomputed", "why")} for row in missed
    ]
    rows["incomplete"] = [gap._asdict() for gap in marks.incomplete]
    return Reproduction(rows, told.tables(rows, BEST), told.notes(rows, marks.incomplete))


def _claim(row: Mapping[str, Any]) -> Claim:
    place = row.get("at")
    return Claim(
        what=row["what"],
        published=row["published"],
        at=None if place is None else tuple(map(str, place)),
        why=row.get("why"),
    )


def _cells(table: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> list[dict[str, Any]]:
    """The cells of Table 2 that do not come out, or cannot be given."""
    missed = []
    for candidate, row in table.items():
        for name in SIX:
            for figure in ("mean", "sd"):
                recomputed, printed = row[name][figure], row[name][f"published_{figure}"]
                if printed is None or (recomputed is not None and abs(recomputed - printed) <= TOLERANCE):
                    continue
                missed.append(
                    {
                        "what": f"Table 2, {name} of {candidate}, {figure}",
                        "published": printed,
                        "recomputed": recomputed,
                        "why": "scores are missing from the files" if recomputed is None
                        else "the files hold other scores than those it was printed from",
                    }
                )  # fmt: skip
    return missed
