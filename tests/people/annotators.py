"""People who annotate tasks by rule, in the layouts in which Label Studio and Argilla export them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Opinion = Callable[[str, Sequence[str]], Mapping[str, Any]]
"""From a question's text and its answers to what is entered, by field: `rank_0`, `tag_0`, `remark` …"""


def exported_tasks(folder: Path, name: str = "tasks") -> list[dict[str, Any]]:
    """The tasks that an export wrote."""
    return list(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))


def label_studio_export(
    tasks: Sequence[Mapping[str, Any]], opinions: Mapping[int, Opinion], to: Path
) -> Path:
    """The tasks as a project exports them as JSON, each annotated by every user of `opinions`."""
    rows = []
    for number, task in enumerate(tasks, 1):
        data = task["data"]
        texts = [answer["text"] for answer in data["answers"]]
        annotations = [
            {
                "id": 100 * number + user,
                "completed_by": user,
                "result": [_result(name, value) for name, value in opinion(data["question"], texts).items()],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2026-11-22T10:00:00.000000Z",
                "updated_at": "2026-11-22T10:01:00.000000Z",
                "lead_time": 41.5,
                "prediction": {},
                "result_count": 0,
                "task": number,
                "project": 1,
            }
            for user, opinion in opinions.items()
        ]
        rows.append(
            {
                "id": number,
                "annotations": annotations,
                "drafts": [],
                "predictions": [],
                "data": data,
                "meta": {},
                "inner_id": number,
                "total_annotations": len(annotations),
                "cancelled_annotations": 0,
                "project": 1,
            }
        )
    return write_rows(to, rows)


def write_rows(to: Path, rows: object) -> Path:
    """Rows as a JSON file."""
    to.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return to


_FREE_TEXT = ("remark", "comment", "dispute", "proposed_edit", "category")


def _result(name: str, value: Any) -> dict[str, Any]:
    text = name.startswith(_FREE_TEXT)
    answer = name.rpartition("_")[2]
    return {
        "id": f"r-{name}",
        "from_name": name,
        "to_name": f"answer_{answer}" if answer.isdigit() else "question",
        "type": "textarea" if text else "choices",
        "origin": "manual",
        "value": {"text": [value]} if text else {"choices": ["yes" if value is True else str(value)]},
    }


def argilla_export(
    records: Sequence[Mapping[str, Any]], opinions: Mapping[str, Opinion], letters: int, to: Path
) -> Path:
    """The records as `records.to_json` writes them; rankings name all `letters` of the form."""
    rows = []
    for record in records:
        responses: dict[str, list[dict[str, Any]]] = {}
        texts = [record["fields"][name] for name in record["fields"] if name.startswith("answer_")]
        for user, opinion in opinions.items():
            entries = opinion(record["fields"]["question"], texts)
            for name, value in _argilla_values(entries, letters).items():
                responses.setdefault(name, []).append({"value": value, "user_id": user})
        rows.append({**record, "responses": responses, "status": "completed"})
    return write_rows(to, rows)


def _argilla_values(entries: Mapping[str, Any], letters: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    ranks = {name: value for name, value in entries.items() if name.startswith("rank_")}
    if ranks:
        order = [{"value": chr(65 + n), "rank": ranks.get(f"rank_{n}", letters)} for n in range(letters)]
        values["rank"] = sorted(order, key=lambda each: each["rank"])
    wrong = [chr(65 + int(name[-1])) for name in entries if name.startswith("clearly_wrong_")]
    if wrong:
        values["clearly_wrong"] = wrong
    plain = {
        name: value for name, value in entries.items() if not name.startswith(("rank_", "clearly_wrong_"))
    }
    return values | plain
