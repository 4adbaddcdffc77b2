"""Files of the tools that are not read: each is named with why, and what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

import vivavoce as viva
from vivavoce.core.errors import InputError


@pytest.mark.parametrize("name", ["export_JSON_MIN.json", "export_CSV.csv", "export_TSV.tsv"])
def test_a_smaller_export_of_label_studio_is_not_read_beside_the_whole_one(
    shared: Path, tmp_path: Path, name: str, viva: Any
) -> None:
    """By the command as well, which takes other tables of these kinds as answers."""
    file = shared / "data" / "peers" / "label_studio" / name
    with pytest.raises(
        InputError, match=r"a smaller export .* and export_JSON\.json beside it has .*\. Nothing"
    ):
        viva("import", tmp_path / "x.viva", file)


def test_in_a_folder_they_are_skipped_with_that_reason(shared: Path, tmp_path: Path) -> None:
    logs = viva.open(tmp_path / "x.viva").import_logs(shared / "data" / "peers" / "label_studio")
    reasons = {Path(file).name: why for file, why in logs.skipped_files.items()}
    assert {"config.xml", "import_tasks.json"} == {
        n for n, why in reasons.items() if why == "no reader knows it"
    }
    assert 3 == sum("smaller export of Label Studio" in why for why in reasons.values())


def test_a_helm_run_of_options_one_by_one_does_not_stop_the_others(shared: Path, tmp_path: Path) -> None:
    runs = shared / "data" / "peers" / "helm"
    method = "multiple_choice_separate_original"
    for run, words in (("viva_open", None), ("viva_mcq", method)):
        for file in (runs / run).iterdir():
            text = file.read_text(encoding="utf-8")
            if words:
                text = text.replace('"multiple_choice_joint"', f'"{words}"')
            (tmp_path / "logs" / run).mkdir(parents=True, exist_ok=True)
            (tmp_path / "logs" / run / file.name).write_text(text, encoding="utf-8")
    logs = viva.open(tmp_path / "x.viva").import_logs(tmp_path / "logs")
    assert ["viva_open"] == [log.task for log in logs.logs]
    state = str(tmp_path / "logs" / "viva_mcq" / "scenario_state.json")
    assert (
        f"its options were asked one by one ({method}): that is no answer in words, and not read"
        == (logs.skipped_files[state])
    )


@pytest.mark.parametrize("single", [0, 8])
def test_conversations_of_deepeval_that_end_with_the_user_are_counted(
    shared: Path, tmp_path: Path, single: int
) -> None:
    file = shared / "data" / "peers" / "deepeval" / "test_run_20261122_154615.json"
    log = json.loads(file.read_text(encoding="utf-8"))
    turns = {"name": "talk", "turns": [{"role": "user", "content": "Hello"}], "metricsData": []}
    log = {"testCases": log.pop("testCases")[:single], "conversationalTestCases": [turns, turns], **log}
    log["conversationalTestCases"] = [turns, turns]
    copy = tmp_path / "test_run_1.json"
    copy.write_text(json.dumps(log), encoding="utf-8")
    clause = "Rows without an answer are left out: 2 (a conversation without a last reply)."
    run = viva.open(tmp_path / "x.viva")
    if single:
        assert [(8, (clause,))] == [(n.items, n.notes[:1]) for n in run.import_logs(copy).logs]
        return
    with pytest.raises(InputError, match=r"2 \(a conversation without a last reply\)\. Nothing"):
        run.import_logs(copy)
