"""Logs in documented layouts: what comes in is what a hand counts in the small files of `written_logs`."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.logs.written_logs import A1, A2, ITEMS, PROMPTFOO, Q1, Q2, WRITTEN, table, write_log
from tests.run.test_row_counts import adds_up

import vivavoce as viva
from vivavoce import open as viva_open
from vivavoce.core.errors import InputError

# By hand: task, candidates, items, responses, failed, repeats, scores, failed scores, rows left out.
COUNTS: dict[str, tuple[Any, ...]] = {
    "openai_evals": ("eval_med", ["gpt-4o-mini-2024-07-18"], 2, 2, 1, 1, 2, 0, 0),
    "oaieval": ("med.dev.v0", ["gpt-4o"], 2, 2, 0, 1, 3, 0, 0),
    "lm_eval": ("med", ["demo/tiny"], 2, 2, 0, 1, 4, 0, 0),
    "promptfoo": ("promptfoo", ["openai:gpt-4"], 2, 2, 1, 1, 1, 0, 0),
    "promptfoo_csv": ("out", ["openai:gpt-4", "ollama:llama"], 2, 4, 1, 1, 4, 0, 0),
    "deepeval": ("talks", ["chat-1"], 2, 2, 0, 1, 1, 0, 1),
    "mlflow": ("eval_results_table", ["unnamed (mlflow)"], 2, 2, 0, 1, 2, 0, 0),
    "wandb": ("answers_3_ab.table", ["m1"], 2, 2, 0, 1, 4, 0, 0),
    "braintrust": ("experiment", ["m1"], 2, 2, 1, 1, 1, 0, 1),
    "phoenix": ("experiment", ["unnamed (phoenix)"], 1, 2, 1, 2, 1, 0, 0),
    "langfuse": ("traces", ["m1"], 2, 2, 0, 1, 1, 0, 0),
    "langsmith": ("experiment", ["unnamed (langsmith)"], 2, 2, 1, 1, 1, 0, 0),
    "ragas": ("ragas", ["unnamed (ragas)"], 2, 2, 0, 1, 6, 1, 0),
    "opencompass": ("med", ["m1"], 2, 3, 0, 2, 2, 0, 0),
    "doccano": ("doccano", ["m1"], 2, 2, 0, 1, 4, 0, 1),
    "label_studio_min": ("label_studio", ["unnamed (label_studio)"], 1, 1, 0, 1, 9, 0, 0),
}


def imported(folder: Path, *paths: Path, **options: Any) -> tuple[viva.Run, Any]:
    run = viva.open(folder / "logs.viva")
    return run, run.import_logs(*paths, **options)


def values(run: viva.Run) -> dict[tuple[str, str], list[float | None]]:
    """The scores by scorer and criterion, in the order of the answers."""
    by_measure: dict[tuple[str, str], list[float | None]] = {}
    for row in run.scores.to_dicts():
        by_measure.setdefault((row["metric"], row["criterion"]), []).append(row["value"])
    return by_measure


@pytest.mark.parametrize("name", WRITTEN)
def test_a_log_is_recognised_and_gives_the_rows_that_a_hand_counts(tmp_path: Path, name: str) -> None:
    """No row is lost without a count, and a second import changes nothing."""
    file = write_log(tmp_path, name)
    run, logs = imported(tmp_path, file)
    (log,) = logs.logs
    counted = (log.items, log.responses, log.failed, log.repeats, log.scores, log.scores_failed)
    assert COUNTS[name] == (log.task, [*log.candidates], *counted, sum(log.left_out.values()) + log.skipped)
    assert [0] == [log.new + log.replaced for log in run.import_logs(file).logs]


ROWS = {
    "deepeval": 3,
    "braintrust": 3,
    "promptfoo_csv": 4,
    "opencompass": 3,
    "doccano": 3,
    "label_studio_min": 3,
}
"""Answers and other rows of these files, counted by hand; the others have two."""


@pytest.mark.parametrize("name", WRITTEN)
def test_the_command_says_what_came_and_its_counts_add_up(tmp_path: Path, name: str, viva: Any) -> None:
    """In sentences and in JSON, for each reader."""
    file = write_log(tmp_path, name)
    assert "new, 0 unchanged" in viva("import", tmp_path / "text.viva", file).stdout
    (row,) = json.loads(viva("import", tmp_path / "json.viva", file, "--json").stdout)["rows"]
    counts = row["row_counts"]
    assert adds_up(counts, ROWS.get(name, 2))
    assert (row["responses"], sum(row["left_out"].values())) == (counts["answers"], counts.get("left_out", 0))


@pytest.mark.parametrize("name", [name for name in WRITTEN if name not in ("deepeval", "lm_eval", "phoenix")])
def test_questions_and_answers_are_those_of_the_file(tmp_path: Path, name: str) -> None:
    run, _ = imported(tmp_path, write_log(tmp_path, name))
    with run.file.reading() as db:
        rows = db.execute("SELECT question, text FROM responses JOIN items USING (item_id)").fetchall()
    assert (Q1, A1) in rows
    assert {*rows} <= {(Q1, A1), (Q2, A2), (Q1, A2), (Q2, A1), (Q2, None)}


def test_the_last_reply_of_a_conversation_answers_the_turns_before_it(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, write_log(tmp_path, "deepeval"))
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT item, text FROM responses JOIN items USING (item_id) ORDER BY item"
        ).fetchall()
    assert [("bed", A1), ("ward", A2)] == rows


def test_scores_are_those_of_the_file(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("openai_evals", "langsmith", "ragas", "label_studio_min")}
    for folder in folders.values():
        folder.mkdir()
    scores = {name: values(imported(folder, write_log(folder, name))[0]) for name, folder in folders.items()}
    assert {("openai_evals.grader", "value"): [1.0], ("openai_evals.string_check", "value"): [0.0]} == scores[
        "openai_evals"
    ]
    assert {("langsmith.correct", "value"): [1.0]} == scores["langsmith"]
    assert [0.5, None] == scores["ragas"]["ragas.faithfulness", "value"]
    assert [1.0, 0.0] == scores["ragas"]["ragas.politeness", "value"]
    of_people = scores["label_studio_min"]
    assert [1.0, 0.0, 1.0] == of_people["label_studio.tag", "good"]
    assert [3.0, 4.0, 5.0] == sorted(filter(None, of_people["label_studio.stars", "value"]))


def test_the_smaller_exports_give_the_scores_of_the_whole_one(shared: Path, tmp_path: Path) -> None:
    """Of annotations that were not cancelled: one layout says what the other does."""
    of_each = []
    for name in ("export_JSON.json", "export_JSON_MIN.json", "export_CSV.csv", "export_TSV.tsv"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_bytes((shared / "data" / "peers" / "label_studio" / name).read_bytes())
        run, _ = imported(folder, folder / name)
        rows = run.scores.select("item", "metric", "criterion", "rater", "value").rows()
        of_each.append(sorted(rows))
    assert 9 == len(of_each[0])
    assert [of_each[0]] * 3 == of_each[1:]


def test_an_unreadable_file_of_a_folder_is_listed_and_the_others_come_in(tmp_path: Path) -> None:
    """A named one refuses."""
    for name in ("openai_evals", "wandb"):
        write_log(tmp_path, name)
    cut = tmp_path / "cut.table.json"
    cut.write_text(WRITTEN["wandb"]["answers_3_ab.table.json"][:-60], encoding="utf-8")
    items = tmp_path / "broken.jsonl"
    items.write_text(json.dumps(ITEMS[0]) + "\n{", encoding="utf-8")
    run, logs = imported(tmp_path, tmp_path)
    assert ["wandb", "openai_evals"] == [log.tool for log in logs.logs]
    assert {str(cut), str(items)} <= logs.skipped_files.keys()
    assert "broken JSON" in logs.skipped_files[str(items)]
    with pytest.raises(InputError, match="broken JSON"):
        run.import_logs(items)


def test_a_folder_of_unreadable_files_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text(json.dumps(ITEMS[0]) + "\n{", encoding="utf-8")
    with pytest.raises(InputError, match=r"broken JSON.*Nothing was imported"):
        imported(tmp_path, tmp_path)


def test_near_duplicates_are_joined_as_by_any_import(tmp_path: Path) -> None:
    question = "What is the safe daily dose of quinine in severe renal failure?"
    rows = [
        {"user_input": text, "response": "Adrenaline.", "reference": "adrenaline", "faithfulness": "1"}
        for text in (question, f"Please answer: {question}")
    ]
    file = tmp_path / "ragas.csv"
    file.write_text(table(*rows), encoding="utf-8")
    _, logs = imported(tmp_path, file, near_duplicates="join")
    assert [(2, 1, 1)] == [(log.questions, log.cases, log.near_repeated) for log in logs.logs]


def test_lists_that_the_hosted_evals_return_are_read_as_lines_are(tmp_path: Path) -> None:
    page = {"object": "list", "data": ITEMS, "first_id": "a", "last_id": "b", "has_more": False}
    counts = set()
    for name, body in (("page.json", page), ("list.json", ITEMS)):
        file = tmp_path / name
        file.write_text(json.dumps(body), encoding="utf-8")
        folder = tmp_path / file.stem
        folder.mkdir()
        (log,) = imported(folder, file)[1].logs
        counts.add((log.items, log.responses, log.failed, log.scores))
    assert {(2, 2, 1, 2)} == counts


@pytest.mark.parametrize("verdict", ["[PASS] ", "[FAIL] "])
def test_earlier_tables_of_promptfoo_have_the_verdict_before_the_text(tmp_path: Path, verdict: str) -> None:
    file = tmp_path / "out.csv"
    file.write_text(
        f'"question","[openai:gpt-4] {{{{question}}}}"\n"{Q1}","{verdict}{A1}"\n', encoding="utf-8"
    )
    run, _ = imported(tmp_path, file)
    assert [float("PASS" in verdict)] == run.scores["value"].to_list()
    assert [A1] == run.responses["text"].to_list()


def test_version_1_of_promptfoo_at_the_top_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text(json.dumps({"version": 1, "results": PROMPTFOO, "stats": {}}), encoding="utf-8")
    assert [2] == [log.responses for log in imported(tmp_path, file)[1].logs]


def test_with_options_of_tables_the_table_of_a_tool_is_a_table(tmp_path: Path, viva: Any) -> None:
    """Its answers come in under the columns that are mapped, and no scores."""
    file = write_log(tmp_path, "ragas")
    viva("import", tmp_path / "log.viva", file)
    words = ("--map", "text=response", "--map", "question=user_input", "--set", "candidate=m")
    viva("import", tmp_path / "table.viva", file, *words)
    scores = [viva_open(tmp_path / f"{name}.viva").scores.height for name in ("log", "table")]
    assert [6, 0] == scores


def test_how_long_the_metrics_of_deepeval_took_is_no_time_of_an_answer(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, write_log(tmp_path, "deepeval"))
    assert [None, None] == run.responses["seconds"].to_list()
