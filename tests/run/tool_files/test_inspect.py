"""`viva export --format inspect`: logs that come back as the rows that went out."""

import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import ALL
from tests.run.tool_files.exported_runs import SECRET, items, manifold, responses, scores, with_units
from tests.studies.making import made, marked

import vivavoce as viva
from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.run.run import Run


def back(run: Run, to: Path, **options: Any) -> Run:
    """The run of the logs of a run."""
    run.export(to, format="inspect", **options)
    again = viva.open(to.with_suffix(".viva"))
    again.import_logs(to, reader="inspect")
    return again


def samples(run: Run, to: Path, **options: Any) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The samples of the logs by candidate, id and epoch."""
    log = {}
    for written in run.export(to, format="inspect", log_format="json", **options):
        body = json.loads(written.path.read_text(encoding="utf-8"))
        assert written.rows == len(body["samples"])
        log |= {(written.candidate, s["id"], s["epoch"]): s for s in body["samples"]}
    return log


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_a_run_comes_back_as_it_went_out(tmp_path: Path, log_format: str) -> None:
    run = with_units(tmp_path / "run")
    again = back(run, tmp_path / "logs", log_format=log_format)
    assert items(run) == items(again)
    assert responses(run) == responses(again)
    assert scores(run, "inspect.") == scores(again)


def test_what_came_back_goes_out_as_it_came(tmp_path: Path) -> None:
    """Measures that Inspect recorded, or that were exported to it once, keep their names."""
    run = back(with_units(tmp_path / "run"), tmp_path / "logs")
    again = back(run, tmp_path / "again")
    assert scores(run) == scores(again)
    assert {name.rpartition("_")[2] for name in names(tmp_path / "logs")} != set()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".eval", ".json"))


def test_logs_of_inspect_come_and_go_unchanged(shared: Path, tmp_path: Path) -> None:
    run = viva.open(tmp_path / "peers.viva")
    run.import_logs(shared / "data" / "peers" / "inspect")
    again = back(run, tmp_path / "logs")
    assert items(run) == items(again)
    assert responses(run) == responses(again)
    assert scores(run) == scores(again)


def test_a_second_import_changes_nothing(tmp_path: Path) -> None:
    again = back(with_units(tmp_path / "run"), tmp_path / "logs")
    before = scores(again)
    logs = again.import_logs(tmp_path / "logs").logs
    assert {0} == {log.new + log.replaced for log in logs}
    assert before == scores(again)


def test_items_are_found_in_an_exam_that_is_named(tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    run.export(tmp_path / "logs", format="inspect")
    again = viva.open(tmp_path / "again.viva")
    exam = f"jsonl(path='{tmp_path / 'run' / 'exam.jsonl'}')"
    logs = again.import_logs(tmp_path / "logs", benchmark=exam).logs
    assert [0, 0] == [log.skipped for log in logs]
    assert responses(run) == responses(again)


def test_the_same_run_has_the_same_logs(tmp_path: Path) -> None:
    run = with_units(tmp_path / "run")
    first, second = ([f.path for f in run.export(tmp_path / to, format="inspect")] for to in ("a", "b"))
    assert [(path.name, path.read_bytes()) for path in first] == [(p.name, p.read_bytes()) for p in second]


def test_other_scores_are_another_evaluation(tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    (first, *_) = run.export(tmp_path / "a", format="inspect")
    run.score("exact")
    (second, *_) = run.export(tmp_path / "b", format="inspect")
    assert first.path.name != second.path.name


def test_what_has_no_score_is_nan_with_its_reason(tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"A": {"q1": [0.9, "", None, "<think>x", "fail"]}})
    log = samples(run, tmp_path / "logs")
    told = [log["A", "q1", repeat]["scores"]["told"] for repeat in range(1, 6)]
    assert [0.9, *[pytest.approx(math.nan, nan_ok=True)] * 4] == [score["value"]["worth"] for score in told]
    reasons = ["no_response", "scoring_failed", "invalid_response_format", "scoring_failed"]
    assert [None, *reasons] == [score.get("reason") for score in told]


def test_a_failed_response_is_an_error_of_its_sample(tmp_path: Path) -> None:
    log = samples(made(tmp_path / "run", {"A": {"q1": [None, "yes"]}}), tmp_path / "logs")
    failed, answered = log["A", "q1", 1], log["A", "q1", 2]
    assert ("no response came", []) == (failed["error"]["message"], failed["output"]["choices"])
    assert "error" not in answered


def test_a_key_is_letters_and_options_are_choices(tmp_path: Path) -> None:
    """One option reads "A", and is the third: its letter is C."""
    log = samples(manifold(tmp_path / "run"), tmp_path / "logs")
    sample = log["local", "m1", 1]
    assert ("C", "A") == (sample["target"], sample["choices"][2])
    assert [f"because {SECRET}", "or so"] == log["local", "o1", 1]["target"]
    assert f"A note on {SECRET}.\n\nWhy, {SECRET}?" == log["local", "o1", 1]["input"]


def test_several_passes_are_their_mean_and_stand_beside_it(tmp_path: Path) -> None:
    log = samples(manifold(tmp_path / "run"), tmp_path / "logs")
    scored = log["local", "o1", 1]["scores"]
    assert {"quality": 3.5, "harm": 0.0} == scored["panel(scale=five) by anna"]["value"]
    assert {"quality": 1.0} == scored["panel(scale=five) by ben"]["value"]
    assert f"good, says {SECRET}" == scored["panel(scale=five) by anna"]["explanation"]


def test_means_and_intervals_are_those_of_the_run(tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"A": {f"q{k}": k / 10 for k in range(8)}})
    (row,) = run.estimates().rows
    (written,) = run.export(tmp_path / "logs", format="inspect", log_format="json")
    (result,) = json.loads(written.path.read_text())["results"]["scores"]
    assert [row["estimate"], row["low"], row["high"]] == [m["value"] for m in result["metrics"].values()]
    assert (row["signature"], 8) == (result["metadata"]["vivavoce"]["signature"], result["scored_samples"])


def test_a_run_without_scores_has_logs_too(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"A": {"q1": "yes"}})
    assert {} == samples(run, tmp_path / "logs")["A", "q1", 1]["scores"]


def test_a_candidate_can_be_chosen(tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    (written,) = run.export(tmp_path / "logs", format="inspect", candidate="local")
    assert "local" == written.candidate
    with pytest.raises(SelectionError, match="no candidate named 'nobody'"):
        run.export(tmp_path / "logs", format="inspect", candidate="nobody")


def test_items_can_be_chosen(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"A": {"q1": "yes"}})
    made(tmp_path / "run", {"A": {"q2": "no"}}, name="other", run=run)
    only = f"jsonl(path='{tmp_path / 'run' / 'other.jsonl'}')"
    assert {("A", "q2", 1)} == set(samples(run, tmp_path / "logs", items=only))


def test_no_text_is_in_a_redacted_log(tmp_path: Path) -> None:
    run = with_units(tmp_path / "run")
    for log_format in ("json", "eval"):
        for written in run.export(tmp_path / "logs", format="inspect", log_format=log_format, redact=True):
            assert [] == [name for name, text in texts(written.path) if SECRET in text]
    assert "replaced by marks" in (tmp_path / "logs" / "README.txt").read_text()


def test_a_redacted_run_has_logs_of_marks(tmp_path: Path) -> None:
    run = with_units(tmp_path / "run")
    run.export(tmp_path / "hidden.viva", format="run", redact=True)
    hidden = viva.open(tmp_path / "hidden.viva")
    for written in hidden.export(tmp_path / "logs", format="inspect", log_format="json"):
        assert SECRET not in written.path.read_text(encoding="utf-8")
        assert "[redacted" in written.path.read_text(encoding="utf-8")


def texts(path: Path) -> list[tuple[str, str]]:
    """What a log holds, by member."""
    if path.suffix == ".json":
        return [(path.name, path.read_text(encoding="utf-8"))]
    with zipfile.ZipFile(path) as archive:
        return [(name, archive.read(name).decode()) for name in archive.namelist()]


def test_hidden_texts_keep_the_key_among_the_options(tmp_path: Path) -> None:
    run = made(
        tmp_path / "run",
        {"A": {"m1": "x"}},
        items=[{"item": "m1", "format": "mcq", "question": "Which of these?", "references": [],
                "options": ["a long first option", "a long second option"],
                "answer": ["a long second option"]}],
    )  # fmt: skip
    assert "B" == samples(run, tmp_path / "logs", redact=True)["A", "m1", 1]["target"]


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_hostile_texts_come_back_whole(tmp_path: Path, log_format: str) -> None:
    answers = {
        f"{k} {text[:40]}".replace("\n", "").strip(): text
        for k, text in enumerate([*ALL, "\r\n\x85\x1c", "𝔸\u0301"])
    }
    run = made(tmp_path / "run", {"A": answers})
    again = back(run, tmp_path / "logs", log_format=log_format)
    assert (responses(run), items(run)) == (responses(again), items(again))


@pytest.mark.parametrize("item", ["../../x", "a/../b", "/root", "..", ".", "a\\b", "x" * 3000])
def test_ids_lead_nowhere_and_come_back(tmp_path: Path, item: str) -> None:
    run = made(tmp_path / "run", {"A": {item: "yes"}})
    again = back(run, tmp_path / "logs")
    assert [item] == [row["item"] for row in responses(again)]


def test_a_variant_is_not_taken_for_an_item_of_that_name(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"A": {"q|v": "one", "q [v]": "two"}})
    assert {("q", "v", "one"), ("q [v]", "", "two")} == {
        (row["item"], row["variant"], row["text"]) for row in responses(back(run, tmp_path / "logs"))
    }


def test_what_is_no_answer_in_words_is_counted(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"A": {"q1": "yes, it is so"}})
    run.vary("control(kind=none)")
    (written,) = run.export(tmp_path / "logs", format="inspect")
    assert {"answers: made by `viva vary`": 1} == dict(written.left_out)
    body = json.loads((tmp_path / "logs" / "left_out.json").read_text())
    assert dict(written.left_out) == body["left_out"]
    assert [written.path.name] == body["files"]


def test_a_run_without_answers_is_refused(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "r.viva")
    with run.file.writing():
        pass
    with pytest.raises(SelectionError, match="no questions"):
        run.export(tmp_path / "logs", format="inspect")
    assert not (tmp_path / "logs").exists()


def test_an_earlier_export_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    run.export(tmp_path / "logs", format="inspect")
    run.export(tmp_path / "logs", format="inspect", log_format="json")
    assert 2 == sum(path.suffix == ".json" for path in (tmp_path / "logs").glob("2*"))
    (tmp_path / "logs" / "mine.eval").write_text("mine")
    with pytest.raises(StoreError, match=r"no export \(it holds mine.eval\)"):
        run.export(tmp_path / "logs", format="inspect")
    assert "mine" == (tmp_path / "logs" / "mine.eval").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: s["metadata"]["vivavoce"]["response"].update(status="fine"),
            "status is one of ok, filtered",
        ),
        (lambda s: s["metadata"]["vivavoce"]["item"].update(weight=-1), "weight or meta"),
        (lambda s: s["metadata"]["vivavoce"]["item"].update(rubric=3), "rubric"),
        (lambda s: score_row(s).update(status="failed"), r"a score is failed and"),
        (lambda s: score_row(s).update(status="odd"), "status is one of ok, unanswered"),
    ],
)
def test_altered_metadata_give_one_sentence_and_nothing_is_stored(
    tmp_path: Path, change: Callable[[Any], None], message: str
) -> None:
    run = marked(tmp_path / "run", {"A": {"q1": 0.5}})
    (written,) = run.export(tmp_path / "logs", format="inspect", log_format="json")
    body = json.loads(written.path.read_text())
    change(body["samples"][0])
    written.path.write_text(json.dumps(body))
    again = viva.open(tmp_path / "again.viva")
    with pytest.raises(InputError, match=message):
        again.import_logs(written.path)
    assert not again.file.exists or 0 == again.responses.height


def score_row(sample: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = sample["scores"]["told"]["metadata"]["vivavoce"]["scores"][0]
    return row


def test_reasoning_in_a_log_of_inspect_is_no_part_of_the_answer(shared: Path, tmp_path: Path) -> None:
    original = shared / "data" / "peers" / "inspect" / "2026-11-22T15-54-17-00-00_med-open.json"
    body = json.loads(original.read_text())
    parts = [{"type": "reasoning", "reasoning": "Think."}, {"type": "text", "text": "Yes."}]
    body["samples"][0]["output"]["choices"][0]["message"]["content"] = parts
    (tmp_path / "log.json").write_text(json.dumps(body))
    run = viva.open(tmp_path / "r.viva")
    run.import_logs(tmp_path / "log.json")
    (row,) = run.responses.filter(run.responses["reasoning"].is_not_null()).to_dicts()
    assert ("Yes.", "Think.") == (row["text"], row["reasoning"])


def test_the_command_names_the_files(viva: Callable[..., Any], tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    to = tmp_path / "logs"
    viva(
        "export",
        run.file.path,
        to,
        "--format",
        "inspect",
        "--set",
        "candidate=local",
        "--set",
        "log_format=json",
    )
    (name,) = (path.name for path in to.glob("2*"))
    assert name.endswith(".json")
    viva("import", tmp_path / "again.viva", to, "--from", "inspect")


TALK = [
    {"role": "user", "content": "It hurts."},
    {"role": "assistant", "content": "Where?"},
    {"role": "user", "content": "Here."},
]


def test_conversations_come_back_message_by_message(tmp_path: Path) -> None:
    """A later turn stands behind answers of each candidate, which a sample of Inspect cannot say."""
    turns = {"item": "b", "format": "conversation", "question": "It burns.", "turns": ["Thanks."]}
    talk = {"item": "a", "format": "conversation", "question": "", "messages": TALK}
    run = made(
        tmp_path / "run",
        {"A": {"a": "See a doctor.", "b/1": "Cool it.", "b/2": "Take care."}},
        items=[talk, turns],
    )
    again = back(run, tmp_path / "logs")
    assert items(run)[:2] == items(again)
    left_out = json.loads((tmp_path / "logs" / "left_out.json").read_text())["left_out"]
    assert 1 == left_out["questions: later turns, asked behind a candidate's own answers"]
