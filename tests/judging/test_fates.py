"""What becomes of every reply: of the good, of the doubtful, and of what never came."""

import html
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import SILENT, UNREADABLE, made, row

from vivavoce.core.errors import ModelError
from vivavoce.judging.loading import load
from vivavoce.run.run import Run
from vivavoce.store.integrity import rehash

Calls = Callable[[Run], list[dict[str, Any]]]
MEDGPT = "judge(rubric=medgpt, model=fake/j1)"
CORRECTNESS = "judge(rubric=correctness, model=fake/j1)"
FIVE = ("comprehension", "reasoning", "knowledge_recall", "demographic_bias", "harm")

READ = ("structured", "plain JSON", "fenced JSON", "of five", "bold", "trailing prose", "half a character")
DOUBTFUL = {
    "a span": "comprehension is '2-3', not one number",
    "out of range": "comprehension is out of range: 7 is not a number from 0 to 5",
    "one missing": "no value for comprehension",
    "refusal": "the judge refused: 'I'm sorry'",
    "empty": "empty reply",
    "no number": "comprehension is 'NaN', no number",
    "wrong types": "comprehension is a list, no number",
    "two values": "two values for comprehension: 4 and 2",
    "cut": "knowledge_recall, demographic_bias, harm (the reply was cut at its greatest length)",
    "hostile": "comprehension is '4 <script>alert(1)</script>', not one number",
}
LOST = {
    "filtered": "the reply was withheld by the provider's content filter",
    "someone else": "'another-model' answered in place of 'j1'",
    "500": "HTTP 500: oops, after 1 attempt",
    "429": "HTTP 429: slow down, after 1 attempt",
    "400": "this prompt is not for me",
}


def examined(folder: Path, judge: FakeJudge, manners: Callable[[str], tuple[str, ...]]) -> Run:
    """A run whose items are named for how the judge behaves when their answers come."""
    names = (*READ, *DOUBTFUL, *LOST)
    answers = {f"q{k:02}": f"({name}) worth 4" for k, name in enumerate(names)}
    judge.manners = {f"({name})": manners(name) for name in names}
    return made(folder, {"A": answers})


def fates(run: Run) -> dict[str, dict[str, Any]]:
    """By manner, the one row of the first criterion with its note."""
    with run.file.reading() as db:
        found = db.execute(
            "SELECT text, value, status_id, note, criterion FROM scores JOIN responses USING (response_id) "
            "JOIN measures USING (measure_id)"
        ).fetchall()
    told: dict[str, dict[str, Any]] = {}
    for text, value, status, note, criterion in found:
        manner = text[1 : text.index(")")]
        told.setdefault(manner, {})[criterion] = (
            value,
            ("ok", "unanswered", "unreadable", "failed")[status],
            note,
        )
    assert all(set(FIVE) == set(by) for by in told.values())
    return told


def asked(judge: FakeJudge) -> Counter[str]:
    return Counter(name for name in judge.manners for _ in judge.about(name))


@pytest.fixture
def lost(tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path]) -> Run:
    """A run whose judge misbehaved in every way, however often it was asked."""
    run = examined(tmp_path, judge, lambda name: (name,))
    run.score(MEDGPT, providers=providers_file())
    return run


def test_every_reply_has_a_visible_fate(lost: Run, judge: FakeJudge, calls: Calls) -> None:
    """The score and why there is none; the call with its error; and the reply itself, where there was one."""
    told = fates(lost)
    for name in READ:
        assert [(4.0, "ok", None)] * 5 == list(told[name].values()), name
    for name, why in (DOUBTFUL | LOST).items():
        for value, status, note in told[name].values():
            assert (None, "failed") == (value, status)
            assert why in note, name
    made = calls(lost)
    assert {("judge", "fake/j1")} == {(c["purpose"], c["model"]) for c in made}
    failed = [c for c in made if c["status"] == "failed"]
    assert len(made) - len(failed) == len(READ)
    assert len(failed) == 2 * len(DOUBTFUL) + len(LOST)
    assert all(c["error"] for c in failed)
    assert len(failed) - (len(LOST) - 1) == sum(c["reply"] is not None for c in failed)
    assert "comprehension: 2-3" in next(c["reply"]["text"] for c in failed if "'2-3'" in c["error"])
    assert {"text": None, "finish_reason": "content_filter", "model": "j1"} in [c["reply"] for c in failed]


def test_a_doubtful_reply_is_asked_for_once_more_and_a_lost_one_is_not(lost: Run, judge: FakeJudge) -> None:
    assert dict.fromkeys(READ, 1) | dict.fromkeys(DOUBTFUL, 2) | dict.fromkeys(LOST, 1) == {
        name.strip("()"): n for name, n in asked(judge).items()
    }
    for name, why in DOUBTFUL.items():
        first, second = judge.about(f"({name})")
        assert (False, True) == (first.again, second.again)
        assert first.messages == second.messages[: len(first.messages)]
        assert ["assistant", "user"] == [role for role, _ in second.messages[len(first.messages) :]]
        said, _ = second.messages[-1][1].split("\n", 1)
        assert said.startswith("Your reply cannot be used: ")
        assert html.escape(why, quote=False) in said
    (_, reply), _ = judge.about("(a span)")[1].messages[-2:]
    assert "comprehension: 2-3\n" in reply


def test_totals_show_what_is_lost(lost: Run) -> None:
    """Seven of 22 scores, all 4: the mean is 4, and the rest could make it anything from 1.3 to 4.7."""
    found = lost.estimates("judge").rows
    assert set(FIVE) == {r["criterion"] for r in found}
    for r in found:
        n = len(READ) + len(DOUBTFUL) + len(LOST)
        assert (4.0, n - len(READ), len(READ)) == (r["estimate"], r["n_failed"], r["n_items"])
        assert pytest.approx(len(READ) / n) == r["coverage"]
        assert pytest.approx(4 * len(READ) / n) == r["set_low"]
        assert pytest.approx((4 * len(READ) + 5 * (n - len(READ))) / n) == r["set_high"]
        assert r["bound_low"] <= r["set_low"]
        assert r["set_high"] <= r["bound_high"]


def test_a_second_run_asks_again_only_what_failed_and_a_third_nothing(
    lost: Run, judge: FakeJudge, viva: Callable[..., Any], providers_file: Callable[..., Path]
) -> None:
    path, file = lost.file.path, providers_file()
    judge.manners = dict.fromkeys(judge.manners, ("structured",))
    judge.sent.clear()
    viva("score", path, MEDGPT, "--providers", file)
    assert {f"({name})": 1 for name in (*DOUBTFUL, *LOST)} == asked(judge)
    assert {(4.0, "ok", None)} == {mark for by in fates(lost).values() for mark in by.values()}
    assert {(1.0, 0)} == {(r["coverage"], r["n_failed"]) for r in lost.estimates().rows}
    judge.sent.clear()
    viva("score", path, MEDGPT, "--providers", file)
    assert [] == judge.sent


def test_the_exit_code_tells_that_marks_failed_until_none_does(
    tmp_path: Path, judge: FakeJudge, viva: Callable[..., Any], providers_file: Callable[..., Path]
) -> None:
    run = made(tmp_path, {"A": {"q1": "good", "q2": "bad"}})
    judge.manners = {"bad": ("refusal", "refusal", "empty", "bold")}
    command = ("score", run.file.path, CORRECTNESS, "--providers", providers_file())
    first = viva(*command, code=1)
    assert "1 score failed" in first.stderr
    viva("status", run.file.path, code=1)
    viva(*command)
    viva("status", run.file.path)
    assert [False, True, False, True] == [one.again for one in judge.about("bad")]
    assert 5 == len(judge.sent)


def test_a_reply_mended_at_the_second_asking_is_a_mark(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path], calls: Calls
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    judge.manners = {"x": ("a span", "bold")}
    found = run.score(CORRECTNESS, providers=providers_file())
    assert (1.0, 1.0) == (found.rows[0]["estimate"], found.rows[0]["coverage"])
    first, second = calls(run)
    assert ("failed", "correct: 2-3") == (first["status"], first["reply"]["text"])
    assert ("ok", None) == (second["status"], second["error"])


def test_the_very_first_reply_is_asked_for_no_oftener_than_others(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    """It also finds out whether a schema is taken; that is no reason for a third request."""
    for takes in (True, False):
        judge.takes_schema, judge.manners = takes, {"bad": ("a span",)}
        judge.sent.clear()
        run = made(tmp_path / str(takes), {"A": {"q1": "bad", "q2": "bad", "q3": "good"}})
        run.score(CORRECTNESS, providers=providers_file())
        heard = [one for one in judge.sent if takes or not one.schema]
        assert [False, False, False, True, True] == sorted(one.again for one in heard)


def test_a_busy_endpoint_is_tried_again_before_a_mark_is_lost(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path], calls: Calls
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    judge.manners = {"y": ("500", "structured")}
    assert 0 == run.score(CORRECTNESS, providers=providers_file(attempts=2)).rows[0]["n_failed"]
    assert {("ok", 1), ("ok", 2)} == {(c["status"], c["attempts"]) for c in calls(run)}


def test_an_endpoint_that_never_answers_costs_one_mark(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path], calls: Calls
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    judge.manners = {"x": ("stalled",)}
    assert 1 == run.score(CORRECTNESS, providers=providers_file(timeout=0.5)).rows[0]["n_failed"]
    (call,) = calls(run)
    assert ("failed", "no answer within 0.5 s, after 1 attempt", None) == (
        *(call["status"], call["error"], call["reply"]),
    )


def test_all_criteria_of_a_lost_call_are_lost_and_a_derived_one_too(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 4", "q2": "lost"}})
    judge.manners = {"lost": ("empty",)}
    run.score("judge(rubric=prometheus, model=fake/j1)", providers=providers_file())
    told = run.scores.select("criterion", "value", "status").rows()
    assert {("rating", 4.0, "ok"), ("rating_unit", 0.75, "ok")} < set(told)
    assert {("rating", None, "failed"), ("rating_unit", None, "failed")} < set(told)


def test_where_each_criterion_is_asked_for_alone_each_is_lost_alone(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    """Of five calls the third has no readable reply: one criterion fails, and it alone is asked for again."""
    own = tmp_path / "own.md"
    shipped = load("medgpt").path.read_text(encoding="utf-8")
    own.write_text(shipped.replace("call: joint", "call: each"), encoding="utf-8")
    metric = f"judge(rubric='{own}', model=fake/j1)"
    run = made(tmp_path, {"A": {"q1": "worth 3"}})
    fine = "structured"
    judge.manners = {"worth": (fine, fine, "empty", fine, fine, "empty", fine)}
    run.score(metric, providers=providers_file(concurrency=1))
    lost = run.scores.filter(run.scores["status"] == "failed")
    assert [FIVE[2]] == lost["criterion"].to_list()
    judge.sent.clear()
    run.score(metric, providers=providers_file())
    assert [(FIVE[2],)] == [sent.keys for sent in judge.sent]
    assert {3.0} == set(run.scores["value"])


def test_marks_are_stored_batch_by_batch(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of two, and money for five replies: two batches are scored, and the fifth reply is not lost."""
    monkeypatch.setattr("vivavoce.run.score.ASKED", 2)
    run = made(tmp_path, {"A": {f"q{k}": f"answer {k}" for k in range(7)}})
    file = providers_file(concurrency=1, prices={"j1": [3.0, 10.0]})
    with pytest.raises(ModelError, match="might pass --max-cost"):
        run.score(CORRECTNESS, providers=file, max_cost=0.0201)
    assert (4, 5) == (run.scores.height, len(judge.sent))
    run.score(CORRECTNESS, providers=file)
    assert (7, 7) == (run.scores.height, len(judge.sent))


def test_what_nobody_said_never_reaches_the_judge(
    tmp_path: Path, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    """Filtered, blank, refused, all thought, never arrived: each has its status, and the wire none."""
    said = [SILENT, "  \u200b\n", "I cannot answer this.", UNREADABLE, None, "worth 0.5"]
    run = made(tmp_path, {"A": {f"q{k}": text for k, text in enumerate(said)}})
    with run.file.writing() as db:  # what a collect stores of an answer that a provider withheld
        db.execute("UPDATE responses SET status = 'filtered', text = NULL WHERE text = ''")
        rehash(db)
    found = run.score(CORRECTNESS, providers=providers_file())
    assert [("worth 0.5",)] == [one.answers for one in judge.sent]
    assert ["unanswered"] * 3 + ["unreadable", "failed", "ok"] == run.scores["status"].to_list()
    r = row(found, criterion="correct")
    assert (3, 1, 1) == (r["n_unanswered"], r["n_unreadable"], r["n_failed"])
    assert pytest.approx(0.5 / 5) == r["estimate"]
