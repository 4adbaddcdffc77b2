"""The answers that a report carries: which are chosen, how many, and that none can leave its block."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import SILENT, made, marked, score, twins
from tests.viewing import read_anew

from vivavoce.report import explorer as module
from vivavoce.report.explorer import LONGEST_TEXT, Explorer, embedded, explorer
from vivavoce.run.run import Run
from vivavoce.store import read


def explored(run: Run) -> tuple[Explorer, dict[str, Any]]:
    with run.file.reading() as db:
        measures = {keyed.key: keyed.measure for keyed in read.measures(db)}
        scores = read.scores(db, details=True)
        found = explorer(read.items(db), run.responses, scores, measures, read_anew(run))
    return found, json.loads(found.data)


def names(data: dict[str, Any]) -> list[str]:
    return [data["items"][answer["item"]]["name"] for answer in data["answers"]]


def test_every_answer_of_a_small_run_is_carried_with_its_question_and_marks(tmp_path: Path) -> None:
    found, data = explored(marked(tmp_path, {"A": {"q1": [0.9, 0.2]}, "B": {"q1": SILENT}}))
    assert (3, 3) == (found.n_total, found.n_here)
    assert [{"name": "A", "role": "candidate"}, {"name": "B", "role": "candidate"}] == data["candidates"]
    assert [("q1", ["the key of q1"])] == [(item["name"], item["references"]) for item in data["items"]]
    told = {(a["candidate"], a["repeat"]): (a["good"], a["marks"]) for a in data["answers"]}
    assert {
        (0, 1): (0.9, [[0, 0.9, "ok", None, 1]]),
        (0, 2): (0.2, [[0, 0.2, "ok", None, 1]]),
        (1, 1): (0.0, [[0, None, "unanswered", told[1, 1][1][0][3], 1]]),
    } == told


def test_a_key_bears_the_letters_under_which_its_options_are_asked(tmp_path: Path) -> None:
    options = [f"option {n}" for n in range(28)]
    item = {"item": "q1", "format": "list", "options": options, "answer": ["option 3", "option 27"]}
    found, data = explored(made(tmp_path, {"A": {"q1": "D, AB"}}, items=[item | {"references": []}]))
    assert ["D. option 3", "AB. option 27"] == data["items"][0]["answer"]
    assert [] == found.worst


def test_what_never_arrived_says_why_and_has_no_text(tmp_path: Path) -> None:
    _, data = explored(made(tmp_path, {"A": {"q1": None}}))
    assert [(None, True, [])] == [(a["text"], bool(a["why"]), a["marks"]) for a in data["answers"]]


def test_worst_answers_come_evenly_from_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weaker candidate's best answer is worse than the better one's worst; both are read all the same."""
    run = marked(tmp_path, {"weak": twins([0.1] * 40), "able": twins([0.9] * 39 + [0.8])})
    monkeypatch.setattr(module, "MOST_ANSWERS", 20)
    found, data = explored(run)
    assert (80, 20) == (found.n_total, found.n_here)
    assert 20 == found.n_worst + found.n_drawn
    able = [
        answer["good"]
        for answer in data["answers"]
        if data["candidates"][answer["candidate"]]["name"] == "able"
    ]
    assert 9 <= len(able) <= 11
    assert 0.8 in able


def test_drawn_answers_are_to_whole_questions_and_the_same_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a worst one (nothing is scored) all are drawn: 4 candidates make 3 questions of 12 answers."""
    run = made(tmp_path, {name: twins(["said"] * 50) for name in "ABCD"})
    monkeypatch.setattr(module, "MOST_ANSWERS", 12)
    found, data = explored(run)
    assert (0, 12) == (found.n_worst, found.n_drawn)
    assert [4, 4, 4] == list(Counter(names(data)).values())
    assert {"q00", "q01", "q02"} != set(names(data))
    assert found == explored(run)[0]


def test_the_page_carries_no_more_than_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = marked(tmp_path, {"A": twins([f"0.5{'1' * 500}"] * 30)})
    monkeypatch.setattr(module, "MOST_BYTES", 10_000)
    found, data = explored(run)
    assert 30 == found.n_total
    assert 0 < found.n_here < 20
    assert len(json.dumps([data["items"], data["answers"]])) < 11_000


def test_long_texts_are_cut_and_counted(tmp_path: Path) -> None:
    _, data = explored(marked(tmp_path, {"A": {"q1": "0.5" + "1" * LONGEST_TEXT}}))
    (answer,) = data["answers"]
    assert (LONGEST_TEXT, 3) == (len(answer["text"]), answer["cut"])


def test_several_passes_are_one_mark_that_says_so(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "said"}})
    rows = [
        {"item": "q1", "candidate": "A", "criterion": "worth", "pass_no": n, "value": v}
        for n, v in ((1, 0), (2, 1))
    ]
    file = tmp_path / "marks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run.import_scores(file, measure="judge(model=m)", range={"*": (0, 1)})
    _, data = explored(run)
    assert [[[0, 0.5, "ok", None, 2]]] == [answer["marks"] for answer in data["answers"]]


def test_the_ceiling_is_carried_but_is_never_the_worst(tmp_path: Path) -> None:
    found, data = explored(
        marked(tmp_path, {"Gold": twins([0.0]), "A": twins([0.5])}, role={"Gold": "ceiling"})
    )
    assert {"ceiling", "candidate"} == {person["role"] for person in data["candidates"]}
    assert 2 == len(data["answers"])
    assert ["A"] == [row["candidate"] for row in found.worst]


def test_a_second_measure_moves_the_worst(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 0.4, "q2": 0.6}})
    assert ["q1", "q2"] == [row["item"] for row in explored(run)[0].worst]
    score(run, "told(direction=lower)")
    _, data = explored(run)
    assert [0.5, 0.5] == [answer["good"] for answer in data["answers"]]


@pytest.mark.parametrize("text", ["</script><script>", "<!--", "]]>", "&lt;", "\u2028\u2029", "\ud800"])
def test_nothing_leaves_its_block(text: str) -> None:
    made = embedded({"text": text})
    assert not set("<>&\u2028\u2029") & set(made)
    made.encode()
    if text != "\ud800":
        assert {"text": text} == json.loads(made)


def test_an_empty_run_carries_nothing(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "said"}})
    with run.file.reading() as db:
        scores = read.scores(db, details=True)
    empty = explorer(run.items.clear(), run.responses.clear(), scores, {}, read_anew(run))
    assert (0, 0, []) == (empty.n_total, empty.n_here, empty.worst)
