"""Files in the layout of NLI4CT, with trials and statements of our own. Not for clinical use."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TRIAL, OTHER = "NCT00000001", "NCT00000002"
TRIALS: dict[str, dict[str, Any]] = {
    TRIAL: {
        "Clinical Trial ID": TRIAL,
        "Intervention": ["INTERVENTION 1: ", "  Walking", "  Half an hour a day."],
        "Eligibility": [
            "Inclusion Criteria:",
            "  Adults from 18 to 70 years",
            "Exclusion Criteria:",
            "  Pregnancy",
        ],
        "Results": ["Outcome Measurement: ", "  Steps a day", "Results 1: ", "  Mean: 6100"],
        "Adverse Events": ["Adverse Events 1:", "  Total: 2/40 (5.00%)", "  Falls 2/40 (5.00%)"],
    },
    OTHER: {
        "Clinical Trial ID": OTHER,
        "Intervention": ["INTERVENTION 1: ", "  Usual care"],
        "Eligibility": ["Inclusion Criteria:", "  Women of any age"],
        "Results": [],
        "Adverse Events": ["Adverse Events 1:", "  Total: 0/39 (0.00%)"],
    },
}


def statement(**changes: Any) -> dict[str, Any]:
    """A statement on one trial; a change to null takes the field away."""
    row = {
        "Type": "Single",
        "Section_id": "Eligibility",
        "Primary_id": TRIAL,
        "Statement": "A woman of 74 years can take part in the primary trial.",
        "Label": "Contradiction",
        "Primary_evidence_index": [0, 1],
    }
    return {name: value for name, value in (row | changes).items() if value is not None}


def comparison(**changes: Any) -> dict[str, Any]:
    """A statement on two trials."""
    second = {"Type": "Comparison", "Secondary_id": OTHER, "Secondary_evidence_index": [1]}
    return statement(**second | {"Statement": "Both trials take women.", "Label": "Entailment"} | changes)


SAFE = statement(
    Section_id="Adverse Events",
    Statement="Under a tenth of the patients fell.",
    Label="Entailment",
    Primary_evidence_index=[2],
)
STATEMENTS: dict[str, dict[str, dict[str, Any]]] = {
    "train": {"t1": statement(), "t2": SAFE, "t3": comparison()},
    "dev": {"d1": SAFE},
    "Gold_test": {"g1": statement(), "g2": comparison(), "g3": SAFE},
    "test": {"g1": statement(Label=None, Primary_evidence_index=None)},
}


def write_json(path: Path, content: Any, *, mark: bytes = b"", end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(mark + json.dumps(content, indent=4).replace("\n", end).encode())
    return path


def written(
    folder: Path,
    statements: Mapping[str, Mapping[str, Any]] = STATEMENTS,
    trials: Mapping[str, Any] = TRIALS,
    **text: Any,
) -> Path:
    """The archive as it unpacks: Complete_dataset, and beside it what macOS put there."""
    for name, rows in statements.items():
        write_json(folder / "Complete_dataset" / f"{name}.json", rows, **text)
        _mac(folder / "__MACOSX" / "Complete_dataset" / f"._{name}.json")
    for name, record in trials.items():
        write_json(folder / "Complete_dataset" / "CT json" / f"{name}.json", record, **text)
        _mac(folder / "__MACOSX" / "Complete_dataset" / "CT json" / f"._{name}.json")
    return folder


def _mac(path: Path) -> None:
    """What the archive has beside each file: no JSON, whatever its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        \xff\xfe")


def many() -> dict[str, dict[str, dict[str, Any]]]:
    """As many statements as were published, single ones by label and comparisons."""
    sizes = {"train": (533, 502, 665), "dev": (70, 70, 60), "Gold_test": (115, 114, 271)}
    return {
        name: {
            **{f"{name}-e{k}": SAFE | {"Statement": f"Under {k + 1} tenths fell."} for k in range(entailed)},
            **{f"{name}-c{k}": statement(Statement=f"One of {71 + k} can.") for k in range(contradicted)},
            **{f"{name}-2{k}": comparison() for k in range(two)},
        }
        for name, (entailed, contradicted, two) in sizes.items()
    }
