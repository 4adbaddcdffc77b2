"""Logs of eleven tools, mostly of one exam: what comes in is what a hand counts in the files."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.run.test_row_counts import adds_up

import vivavoce as viva
from vivavoce.core.errors import InputError
from vivavoce.run.exchange.recognise import readers

# By hand, of the files: items, responses, failed, blank, repeats, scores, failed scores, scores of units,
# option log-likelihoods.
COUNTS = {
    ("lm_eval/recorded", "viva_med_gen"): (5, 10, 0, 0, 2, 10, 0, 0, 0),
    ("lm_eval/recorded", "viva_med_open"): (3, 6, 0, 2, 2, 3, 0, 0, 0),
    ("lm_eval/tiny", "viva_med_mcq"): (5, 5, 0, 0, 1, 10, 0, 0, 5),
    ("inspect", "med_mcq"): (5, 10, 0, 0, 2, 10, 0, 0, 0),
    ("inspect", "med_open"): (3, 6, 1, 2, 2, 5, 1, 0, 0),
    ("deepeval", "viva sample"): (8, 8, 0, 1, 1, 16, 2, 0, 0),
    ("healthbench", "healthbench"): (3, 6, 0, 2, 2, 24, 0, 18, 0),
    ("helm", "viva_mcq"): (5, 5, 0, 0, 1, 40, 0, 0, 0),
    ("helm", "viva_open"): (3, 6, 0, 0, 2, 24, 0, 0, 0),
    ("lighteval", "viva_mcq"): (5, 5, 0, 0, 1, 5, 0, 0, 5),
    ("lighteval", "viva_open"): (3, 3, 0, 1, 1, 3, 0, 0, 0),
    ("promptfoo", "viva sample"): (8, 32, 4, 4, 2, 36, 0, 0, 0),
    ("openai_batch", "openai_batch"): (3, 6, 2, 1, 2, 0, 0, 0, 0),
    ("every_eval_ever/from_lm_eval", "viva_med_mcq"): (5, 5, 0, 0, 1, 10, 0, 0, 0),
    ("label_studio", "label_studio"): (3, 3, 0, 1, 1, 9, 0, 0, 0),
    ("argilla", "argilla"): (3, 3, 0, 1, 1, 15, 0, 0, 0),
}
_COUNTED = (
    "items",
    "responses",
    "failed",
    "blank",
    "repeats",
    "scores",
    "scores_failed",
    "units",
    "logprobs",
)


@pytest.fixture
def peers(shared: Path) -> Path:
    return shared / "data" / "peers"


def imported(tmp_path: Path, *paths: Path, **options: Any) -> tuple[viva.Run, Any]:
    tmp_path.mkdir(exist_ok=True)
    run = viva.open(tmp_path / "logs.viva")
    return run, run.import_logs(*paths, **options)


@pytest.mark.parametrize(("folder", "task"), COUNTS)
def test_a_log_gives_the_rows_that_a_hand_counts(peers: Path, tmp_path: Path, folder: str, task: str) -> None:
    run, logs = imported(tmp_path, peers / folder)
    log = next(log for log in logs.logs if log.task == task)
    assert COUNTS[folder, task] == tuple(getattr(log, name) for name in _COUNTED)
    repeated = run.import_logs(peers / folder)
    assert {0} == {log.new + log.replaced for log in repeated.logs}


def test_an_evaluation_in_two_files_is_read_once(peers: Path, tmp_path: Path) -> None:
    original = peers / "inspect" / "2026-11-22T15-54-17-00-00_med-open.json"
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(original.read_bytes())
    _, logs = imported(tmp_path, tmp_path / "a.json", tmp_path / "b.json")
    assert 1 == len(logs.logs)
    assert {str(tmp_path / "b.json"): "it is the evaluation of a.json again"} == dict(logs.skipped_files)


EVERY = ("m1", "m2", "m3", "m4", "m5", "o1", "o2", "o3")
SAME = {
    "lm_eval/recorded": EVERY,
    "deepeval": EVERY,
    "promptfoo": (*EVERY[:6], "o3"),  # o2 is the request that it failed
    "inspect": ("m4", "m5", "o1", "o2", "o3"),  # multiple_choice rewrites what it reads, as "ANSWER: A"
    "lighteval": ("o1", "o2", "o3"),  # these five asked or hold open questions alone
    "openai_batch": ("o1", "o2", "o3"),
    "healthbench": ("o1", "o2", "o3"),
    "label_studio": ("o1", "o2", "o3"),
    "argilla": ("o1", "o2", "o3"),
}
"""The recorded answers that each tool kept; HELM and `lm_eval/tiny` asked models of their own."""


def asked_by(peers: Path) -> dict[str, str]:
    """The questions of the exam, each with its id: tools number items as they like."""
    lines = [
        line
        for name in ("exam_mcq", "exam_open")
        for line in (peers / "exam" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return {row["question"]: row["id"] for row in map(json.loads, lines)}


@pytest.mark.parametrize("folder", SAME)
def test_the_recorded_answers_are_the_same_texts_from_every_tool(
    peers: Path, tmp_path: Path, folder: str
) -> None:
    """And a second import changes nothing: neither answers nor scores."""
    answers = json.loads((peers / "exam" / "answers.json").read_text(encoding="utf-8"))
    run, _ = imported(tmp_path, peers / folder)
    texts: dict[str, set[str]] = {}
    with run.file.reading() as db:
        for question, text in db.execute(
            "SELECT question, text FROM responses JOIN items USING (item_id) WHERE logprobs IS NULL"
        ):
            name = next(name for words, name in asked_by(peers).items() if words in question)
            texts.setdefault(name, set()).add(text)
    assert set(SAME[folder]) == {name for name, of_item in texts.items() if answers[name] in of_item}
    further = {name for name in SAME[folder] if texts[name] - {None} != {answers[name]}}
    assert further == ({"m3"} if folder == "lm_eval/recorded" else set())  # its second answer is another one
    before = run.responses, run.scores
    again = run.import_logs(peers / folder)
    assert {(0, 0)} == {(log.new, log.replaced) for log in again.logs}
    assert all(old.equals(new) for old, new in zip(before, (run.responses, run.scores), strict=True))


def test_accuracy_of_one_exam_is_the_same_from_every_tool(peers: Path, tmp_path: Path) -> None:
    """m1, m2 and m3 are right: three of five, however options are listed and the key is named.

    Of lm_eval the second answer to m3 is another one, and wrong: of first answers it is the same too.
    """
    exam = tmp_path / "exam.jsonl"
    rows = [json.loads(line) for line in (peers / "exam" / "exam_mcq.jsonl").read_text().splitlines()]
    exam.write_text(
        "".join(json.dumps({**r, "format": "mcq", "answer": r["options"][r["answer"]]}) + "\n" for r in rows)
    )
    accuracies, first = {}, {}
    for folder in ("lm_eval/recorded", "inspect", "deepeval", "promptfoo"):
        run, logs = imported(
            tmp_path / folder.replace("/", "-"), peers / folder, benchmark=f"jsonl(path={exam})"
        )
        assert all(name.startswith(("o1", "o2", "o3")) for log in logs.logs for name in log.skipped_items)
        run.score("accuracy")
        accuracies[folder] = {r["estimate"] for r in run.estimates().rows if r["metric"] == "accuracy"}
        scores = run.scores.filter((run.scores["metric"] == "accuracy") & (run.scores["repeat"] == 1))
        first[folder] = set(scores.group_by("candidate").agg(pl.col("value").sum())["value"])
    assert {"lm_eval/recorded": {0.5}, "inspect": {0.6}, "deepeval": {0.6}, "promptfoo": {0.6}} == accuracies
    assert {folder: {3} for folder in accuracies} == first


def test_rows_find_items_by_content_and_never_by_place(peers: Path, tmp_path: Path) -> None:
    """Ids in lighteval are places in a shuffled file; here other items bear them as ids."""
    exam = tmp_path / "exam.jsonl"
    rows = [json.loads(line) for line in (peers / "exam" / "exam_mcq.jsonl").read_text().splitlines()]
    exam.write_text("".join(
        json.dumps({"id": str(4 - k), "format": "mcq", "question": r["question"], "options": r["options"],
                    "answer": r["options"][r["answer"]]}) + "\n"
        for k, r in enumerate(rows)
    ))  # fmt: skip
    details = next((peers / "lighteval").glob("details_viva_mcq*"))
    run, logs = imported(tmp_path, details, benchmark=f"jsonl(path={exam})")
    assert (5, 0) == (logs.logs[0].items, logs.logs[0].skipped)
    run.score("options(of=text)")
    theirs = {r["estimate"] for r in run.estimates().rows if r["metric"] == "lighteval.acc"}
    ours = {
        r["estimate"]
        for r in run.estimates().rows
        if r["metric"].startswith("options") and r["criterion"] == "accuracy"
    }
    # Of one question the key and another option are equally likely: lighteval takes the first, we halve.
    assert ({0.4}, {0.3}) == (theirs, ours)


def test_marks_are_recorded_measures_with_the_graders_words(peers: Path, tmp_path: Path) -> None:
    run, _ = imported(tmp_path, peers / "inspect")
    scores = run.scores.filter(run.scores["metric"] == "inspect.model_graded_qa")
    assert ["mockllm/judge"] == scores["rater"].unique().to_list()
    assert {"ok": 4, "failed": 1} == dict(scores["status"].value_counts().iter_rows())
    with run.file.reading() as db:
        notes = [note for (note,) in db.execute("SELECT note FROM scores WHERE status_id = 3")]
    assert 1 == len(notes)
    assert notes[0].startswith("grader_failed; Grade not found")


def test_criteria_of_healthbench_keep_their_points_negative_ones_too(peers: Path, tmp_path: Path) -> None:
    run, _ = imported(tmp_path, peers / "healthbench")
    with run.file.reading() as db:
        weights = {w for (w,) in db.execute("SELECT weight FROM units WHERE unit_id != 0")}
    assert min(weights) < 0 < max(weights)


def test_a_name_is_for_one_model(peers: Path, tmp_path: Path) -> None:
    run, logs = imported(tmp_path, peers / "argilla", candidate="M")
    assert ("M",) == logs.logs[0].candidates
    with pytest.raises(InputError, match=r"one name is no name for them"):
        run.import_logs(peers / "promptfoo", candidate="M")


def test_the_command_names_what_it_skipped(peers: Path, tmp_path: Path, viva: Any) -> None:
    path = tmp_path / "x.viva"
    rows = json.loads(viva("import", path, peers / "helm", "--json").stdout)["rows"]
    assert [("helm", 5), ("helm", 3)] == [(r["tool"], r["items"]) for r in rows if "tool" in r]
    assert 4 == sum("skipped_file" in row for row in rows)
    told = viva("import", tmp_path / "y.viva", peers / "helm").stdout
    assert "HELM scores the 2 completions of a request together" in told
    assert "scenario.json: no reader knows it." in told


@pytest.mark.parametrize("folder", dict.fromkeys(folder for folder, _ in COUNTS))
def test_the_command_prints_every_log_as_sentences_and_as_counts_that_add_up(
    peers: Path, tmp_path: Path, folder: str, viva: Any
) -> None:
    assert " new, 0 unchanged" in viva("import", tmp_path / "text.viva", peers / folder).stdout
    rows = json.loads(viva("import", tmp_path / "json.viva", peers / folder, "--json").stdout)["rows"]
    counts = [row["row_counts"] for row in rows if "tool" in row]
    assert all(adds_up(c, c["answers"] + c.get("left_out", 0) + c.get("same", 0)) for c in counts)


@pytest.mark.parametrize("name", ["lm-eval", "lm_eval", "label-studio", "every-eval-ever"])
def test_a_reader_is_named_with_hyphens_or_underscores(name: str) -> None:
    assert [name.replace("-", "_")] == list(readers(name))


def test_a_second_evaluation_of_one_model_comes_in_under_another_name(peers: Path, tmp_path: Path) -> None:
    text = (peers / "inspect" / "2026-11-22T15-54-17-00-00_med-open.json").read_text(encoding="utf-8")
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    other = text.replace("YfYzoQeLPMyU2RUh8UBQMu", "second").replace("Give adrenaline", "Inject adrenaline")
    (tmp_path / "b.json").write_text(other, encoding="utf-8")
    run, _ = imported(tmp_path, tmp_path / "a.json")
    with pytest.raises(
        InputError, match=r"another answer to o1 \(repeat 1\).*--set candidate=NAME, or into another run\."
    ):
        run.import_logs(tmp_path / "b.json")
    logs = run.import_logs(tmp_path / "b.json", candidate="second")
    assert ("second",) == logs.logs[0].candidates
    assert {6} == set(run.responses.group_by("candidate").len()["len"])


def test_status_advises_no_scoring_of_recorded_marks(peers: Path, tmp_path: Path, viva: Any) -> None:
    """A score of the grader failed; `viva score` knows no metric of its name, and the log has no other."""
    imported(tmp_path, peers / "inspect")
    output = viva("status", tmp_path / "logs.viva", code=1).stdout
    assert "Missing: 1 score failed, 1 not made yet" in output
    assert f"Next: `viva report {tmp_path / 'logs.viva'}` writes the report." in output


def test_a_mean_without_a_lower_limit_has_an_interval_from_ten_cases_on(peers: Path, tmp_path: Path) -> None:
    """HealthBench's score of a conversation has none: t with Hall's adjustment, clipped at 1 alone."""
    log = json.loads((peers / "healthbench" / "healthbench_fake_allresults.json").read_text(encoding="utf-8"))
    (example, *_) = log["metadata"]["example_level_metadata"]
    for n in (9, 10):
        log["metadata"]["example_level_metadata"] = [
            {**example, "prompt_id": f"p{k}", "score": 1.0 if k % 3 else -0.5,
             "prompt": [{"role": "user", "content": f"Question {k}?"}]}
            for k in range(n)
        ]  # fmt: skip
        file = tmp_path / f"hb{n}_allresults.json"
        file.write_text(json.dumps(log), encoding="utf-8")
        run = viva.open(tmp_path / f"{n}.viva")
        run.import_logs(file)
        (row,) = (r for r in run.estimates().rows if r["metric"] == "healthbench.score")
        assert (n < 10) == (row["low"] is None) == bool(row["reason"])
    assert row["low"] < row["estimate"] < row["high"] <= 1.0
