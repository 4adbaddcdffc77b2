"""Answers that look like thinking that was not told apart from them: counted by candidate, and named."""

from pathlib import Path

from tests.studies.making import made

WAITING = "The patient has a fever. Wait, the heart rate is low. " * 24 + "Wait, no. Wait, so it is B."


def test_status_and_report_name_whose_answers_look_like_thinking(tmp_path: Path) -> None:
    texts = {
        "thinker": {"q1": WAITING, "q2": "<unused7>hm<unused8>B", "q3": "B"},
        "marked": {"q1": f"<think>{WAITING}</think>B", "q2": "[THINK]A[/THINK]B", "q3": "B"},
        "plain": {"q1": "Wait for the test.", "q2": "B", "q3": "x < y"},
    }
    run = made(tmp_path, texts)
    finding = run.status()
    rows = [row for row in finding.rows if row["about"] == "thinking"]
    assert [{"about": "thinking", "candidate": "thinker", "answers": 3, "like_thinking": 2}] == rows
    line = "Like thinking that was not told apart from the answer: 2 of 3 answers of thinker."
    assert line in str(finding)
    page = run.report().read_text()
    assert "2 answers of thinker look like thinking that was not told apart from the answer." in page


def test_a_run_without_such_answers_says_nothing_of_thinking(tmp_path: Path) -> None:
    run = made(tmp_path, {"plain": {"q1": "B", "q2": "C"}})
    finding = run.status()
    assert "thinking" not in {row["about"] for row in finding.rows}
    assert "thinking" not in str(finding)
