"""Data sets on which a confident sentence would be false, each with the first sentence that must come out."""

from pathlib import Path
from typing import Any

from tests.studies.making import SILENT, made, marked, score, twins

from vivavoce.core.records import Finding
from vivavoce.run.run import Run


def ranking(run: Run) -> Finding:
    return run.study("ranking")["ranking"]


def lead(run: Run) -> str:
    """What the report says first."""
    return next(str(row["words"]) for row in run.report_rows() if row["section"] == "answer")


def order(finding: Finding) -> list[str]:
    return [row["candidate"] for row in finding.rows]


def hard_ones_never_asked(folder: Path) -> Run:
    """A is ahead on each of 30 easy questions, and alone was asked 30 hard ones."""
    easy = [round(0.7 + 0.01 * (n % 10), 2) for n in range(30)]
    hard = {f"hard{n:02}": round(0.1 + 0.01 * (n % 7), 2) for n in range(30)}
    ahead = twins([round(value + 0.05 + 0.001 * (n % 3), 3) for n, value in enumerate(easy)])
    return marked(folder, {"A": ahead | hard, "B": twins(easy)})


def test_hard_questions_never_asked_of_one(tmp_path: Path) -> None:
    """B's own mean is .745 and A's .462; the order is that of the 30 questions that both were asked."""
    run = hard_ones_never_asked(tmp_path)
    found = run.estimates("told")
    assert ["A", "B"] == order(found)
    assert (
        "told: worth on exam: Candidates have scores on different questions, so they are ordered by their "
        "means on the 30 questions that all share. Means over their own questions: A 0.462 on 60, B 0.745 on "
        "30."
    ) == found.text.splitlines()[0]
    assert ranking(run).text.startswith(
        "told: worth on exam: Candidates have scores on different questions, so they are ranked by "
        "their means "
        "on the 30 questions that all share."
    )
    assert lead(run) == (
        "Candidates have scores on different questions, so they are ordered by their means on the "
        "30 questions "
        "that all share. Means over their own questions: A 0.462 on 60, B 0.745 on 30. On these A has the "
        "highest mean, 0.796, of 2 candidates. Paired tests put A alone in first place."
    )
    (board,) = [r for r in run.report_rows() if r["section"] == "leaderboard" and r["candidate"] == "B"]
    assert (30, 0.5) == (board["n_never_asked"], board["coverage"])


def test_simpsons_paradox(tmp_path: Path) -> None:
    """B is better in each category; A was asked more easy questions than hard ones, and B the reverse."""
    both = {"easy": range(4), "hard": range(4)}
    a = {f"easy{n:02}": 0.8 for n in range(24)} | {f"hard{n:02}": 0.2 for n in both["hard"]}
    b = {f"hard{n:02}": 0.3 for n in range(24)} | {f"easy{n:02}": 0.9 for n in both["easy"]}
    items = [{"item": name, "category": name[:4]} for name in sorted(a | b)]
    run = marked(tmp_path, {"A": a, "B": b}, items=items)
    found = run.estimates("told")
    assert ["B", "A"] == order(found)
    assert found.text.splitlines()[0].endswith(
        "so they are ordered by their means on the 8 questions that all share. Means over their own "
        "questions: "
        "B 0.386 on 28, A 0.714 on 28."
    )
    assert "On these B has the highest mean, 0.600, of 2 candidates." in lead(run)


def test_no_question_in_common(tmp_path: Path) -> None:
    run = marked(tmp_path, {"B": twins([0.9] * 12, name="x"), "A": twins([0.1] * 12, name="y")})
    assert ["A", "B"] == order(run.estimates("told"))
    assert lead(run) == (
        "No question has scores of all candidates, so their means cannot be compared and they are "
        "not ordered. "
        "Means over their own questions: A 0.100 on 12, B 0.900 on 12."
    )
    assert run.compare("A", "B", metric="told").text.startswith(
        "These two cannot be compared: no question has scores of both."
    )


def test_failed_scores_that_decide_a_ranking(tmp_path: Path) -> None:
    a, b = [0.6, 0.7] * 6 + [0.6] * 8, [0.3, 0.5] * 6 + ["fail"] * 8
    run = marked(tmp_path, {"A": twins(a), "B": twins(b)})
    assert ranking(run).text.startswith(
        "told: worth on exam: The ranks of A and B depend on the 8 scores that failed: score them "
        "again before "
        "deciding."
    )
    verdict = run.compare("A", "B", metric="told").rows[0]["verdict"]
    assert verdict.startswith("It depends on the 8 answers that could not be")


def one_case(name: str, value: float) -> dict[str, Any]:
    return {f"q{n:02}": value - 0.1 * (n % 2) for n in range(20)}


def test_one_group(tmp_path: Path) -> None:
    items = [{"item": f"q{n:02}", "group": "the only case"} for n in range(20)]
    run = marked(tmp_path, {"A": one_case("A", 0.9), "B": one_case("B", 0.3)}, items=items)
    assert {(None, None)} == {(r["low"], r["high"]) for r in run.estimates("told").rows}
    assert run.compare("A", "B", metric="told").text == (
        "These two cannot be compared: all they share is one case, and one case says nothing about the next."
    )
    assert {None} == {r["rank"] for r in ranking(run).rows}
    assert "too few to rank" in ranking(run).text


def test_a_candidate_at_the_ceiling(tmp_path: Path) -> None:
    """Full scores on 30 questions: no interval of width zero, and never a certain first place by chance."""
    run = marked(tmp_path, {"A": twins([1] * 30), "B": twins([1] * 28 + [0, 0])})
    (row, _) = run.estimates("told").rows
    assert ("A", 1.0, 1.0) == (row["candidate"], row["estimate"], row["high"])
    assert row["low"] < 0.95
    assert run.compare("A", "B", metric="told").text.endswith("Too few different cases to say.")
    assert {(1, 2)} == {(r["rank_low"], r["rank_high"]) for r in ranking(run).rows}


def test_all_ties(tmp_path: Path) -> None:
    run = marked(tmp_path, {name: twins([0.25, 0.75] * 15) for name in "AB"})
    assert run.compare("A", "B", metric="told").text.endswith("Too few different cases to say.")
    assert lead(run).startswith("A and B have the highest mean, 0.500")
    assert {(1.5, 1, 2)} == {(r["rank"], r["rank_low"], r["rank_high"]) for r in ranking(run).rows}


def test_refusals_alone(tmp_path: Path) -> None:
    """C only refused, and half of D's scores failed beside its refusals: neither has a result anywhere."""
    answers = {"A": [0.2, 0.3] * 6, "B": [0.8, 0.9] * 6, "C": [SILENT] * 12, "D": [SILENT, "fail"] * 6}
    run = made(tmp_path, {name: twins(values) for name, values in answers.items()})
    found = score(run)
    assert [("B", False), ("A", False), ("C", True), ("D", True)] == [
        (r["candidate"], r["estimate"] is None) for r in found.rows
    ]
    assert found.text.splitlines()[2] == (
        "told: worth on exam: C: no result: no answer could be scored (12 unanswered)."
    )
    assert run.compare("C", "A", metric="told").text == (
        "These two cannot be compared: C has no result, as no answer of it could be scored."
    )
    assert ["B", "A"] == order(ranking(run))
