"""Probabilities in a report: counted and named as such, and never taken for answers in words."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.report.test_report import report
from tests.run.collect.likely import FakeLikely

import vivavoce as viva
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.requests import Reply, Request, Usage
from vivavoce.report.charts.estimate_plots import _axis_title
from vivavoce.report.format import interval, number
from vivavoce.report.sections.comparisons import with_figures
from vivavoce.run.run import Run

GIBBERISH = "no such letter here"


class FakeTalker(FakeLikely):
    """What it writes in words is given by the question; what it holds probable is another matter."""

    said = staticmethod(lambda question: GIBBERISH)

    async def generate(self, request: Request) -> Reply:
        self._count(request)
        return Reply(text=self.said(request.messages[-1].content), usage=Usage(4, 3))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that holds nothing yet; whatever is asked is asked of fake models."""
    made: dict[str, FakeTalker] = {}
    monkeypatch.setattr(
        CandidateConfig, "connect", lambda self: made.setdefault(str(self.spec), FakeTalker(str(self.spec)))
    )
    return viva.open(tmp_path / "run.viva")


def exam(run: Run, n: int = 12) -> str:
    file = run.file.path.with_name("exam.jsonl")
    shared = {"format": "mcq", "options": ["one", "two", "three"], "answer": "one"}
    rows = [{"id": f"q{k}", "question": f"Question {k}?", "category": "xy"[k % 2]} | shared for k in range(n)]
    shorts = [
        {"id": f"s{k}", "question": f"Short {k}?", "format": "short", "answer": f"answer {k}"}
        for k in range(n)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in (*rows, *shorts)))
    return f"jsonl(path={file})"


def told(run: Run, *metrics: str) -> Run:
    """Both models are asked for probabilities, which are scored."""
    run.collect(exam(run), models=["vllm/a", "vllm/b"], for_=metrics)
    run.score(*metrics)
    return run


def of(run: Run, section: str) -> list[dict[str, Any]]:
    return [row for row in run.report_rows() if row["section"] == section]


def test_no_answer_is_called_readable_for_a_mark_of_probabilities(run: Run) -> None:
    assert [] == of(told(run, "options"), "compliance")
    run.collect(exam(run), models=["vllm/a"])
    assert [] == of(run, "compliance")  # none was read yet
    run.score("accuracy")
    (row,) = of(run, "compliance")
    assert ("vllm/a", 0, 12) == tuple(row[k] for k in ("candidate", "ok", "unreadable"))


def test_the_worst_answers_are_the_worst_in_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes the wrong letter is last, however probable the right one is to it."""
    wrong = "Question 7?"
    monkeypatch.setattr(
        FakeTalker, "said", staticmethod(lambda q: "Answer: B" if wrong in q else "Answer: A")
    )
    told(run, "options", "perplexity").collect(exam(run), models=["vllm/a", "vllm/b"])
    run.score("accuracy")
    page = report(run)
    ranked = sorted(
        (answer for answer in page.carried["answers"] if answer["marks"]), key=lambda answer: answer["good"]
    )
    names = [page.carried["items"][answer["item"]]["name"] for answer in ranked]
    assert ["q7", "q7"] == names[:2]
    assert {0.0, 1.0} == {answer["good"] for answer in ranked}
    assert ["accuracy"] == [measure["name"] for measure in page.carried["measures"]]
    assert {1} == {len(answer["marks"]) for answer in ranked}
    assert "Scores of probabilities are of no answer in words" in page.text


def test_a_run_without_probabilities_says_nothing_of_them(run: Run) -> None:
    run.collect(exam(run), models=["vllm/a"])
    run.score("accuracy")
    said = report(run).text
    assert not [words for words in ("Probabilities", "arks of probabilities") if words in said]
    (row,) = of(run, "run")
    assert 0 == row["questions_told"]


def test_a_run_of_probabilities_alone_names_whom_it_asked_and_about_what(run: Run) -> None:
    told(run, "options", "perplexity")
    (row,) = of(run, "run")
    assert (2, 24, 24, 0, 24) == tuple(
        row[k] for k in ("candidates", "questions", "independent_cases", "answers", "questions_told")
    )
    said = "\n".join(row["text"] for row in of(run, "methods"))
    asked = "Probabilities of given texts were asked about 24 questions, and no answers in words."
    assert f"2 candidates were examined: vllm/a and vllm/b. {asked}" in said
    assert "Probabilities were scored by options [" in said
    assert "Answers were" not in said.replace("Answers, marks", "")
    assert asked in report(run).text
    known = {row["item"]: row["answer"] for row in of(run, "checklist")}
    assert known["Models"].startswith("Candidates by label: vllm/a and vllm/b.")
    assert "Probabilities were asked about 24 questions." == known["Flow"]
    assert "Log-probabilities are kept" in known["Raw and processed output"]
    assert any("Scores of probabilities" in row["text"] for row in of(run, "limitation"))


def test_who_was_asked_for_probabilities_alone_is_no_one_who_answered(run: Run) -> None:
    told(run, "options").collect(exam(run), models=["vllm/a"])
    run.score("accuracy")
    said = "\n".join(row["text"] for row in of(run, "methods"))
    assert "2 candidates were examined: vllm/a and vllm/b. vllm/a alone answered" in said
    assert "asked about 12 questions." in said
    assert "Answers were scored by accuracy [" in said
    assert "; probabilities were scored by options [" in said
    (row,) = of(run, "run")
    assert (2, 24, 24) == (row["candidates"], row["answers"], row["questions"])


def test_charts_count_questions_where_no_answer_was_marked(run: Run) -> None:
    told(run, "options").collect(exam(run), models=["vllm/a"])
    run.score("accuracy")
    charts = {row["title"]: row["of"] for row in of(run, "chart")}
    assert "distributions" == charts["accuracy: mcq answers on exam"]
    assert "distributions" == charts["options: mcq questions on exam"]
    assert "against" not in charts.values()  # an option held probable and a letter that was written


def test_a_pooled_figure_by_category_is_pooled_as_in_the_leaderboard(run: Run) -> None:
    file = exam(run)
    path = run.file.path.with_name("exam.jsonl")
    rows = [
        json.loads(line) | {"category": "xy"[k % 2]} for k, line in enumerate(path.read_text().splitlines())
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run.collect(file, models=["vllm/a"], for_=["perplexity"])
    run.score("perplexity")
    (whole,) = [row for row in of(run, "leaderboard") if row["criterion"] == "word_perplexity"]
    parts = [row for row in of(run, "profile") if row["criterion"] == "word_perplexity"]
    assert [("pooled", "x", 6), ("pooled", "y", 6)] == [(r["view"], r["part"], r["n_items"]) for r in parts]
    x, y = (row["estimate"] for row in parts)
    # All references have as many words, so the whole is the geometric mean of its halves.
    assert whole["estimate"] == pytest.approx((x * y) ** 0.5)
    assert all("pooled over questions" in row["said"] for row in parts)


def row(criterion: str, scale: str | None) -> dict[str, Any]:
    ends = {"low": -1.0, "high": 2.0, "low_family": -1.5, "high_family": 2.5, "margin": None, "family": 2}
    who = {"a": "A", "b": "B", "call": 1, "benchmark": "exam", "metric": "m", "criterion": criterion}
    return {**who, "rater": "", "difference": 0.5, "scale": scale, **ends}


def test_an_axis_of_logarithms_says_so() -> None:
    assert "difference on the log scale, A − B, worth" == _axis_title([row("worth", "log")])[0]
    assert "difference, A − B, worth" == _axis_title([row("worth", None)])[0]


def test_logarithms_and_plain_differences_share_no_axis() -> None:
    def figures(*scales: str | None) -> int:
        made = with_figures([row(f"c{k}", scale) for k, scale in enumerate(scales)], {}, {})
        return sum(one["figure"] is not None for one in made)

    assert 1 == figures("log", "log")
    assert 0 == figures("log", None)
    assert 2 == figures("log", "log", None, None)


@each_case(
    ("value", "told"),
    [
        (231406883869.734, "2.31e11"),
        (-231406883869.734, "−2.31e11"),
        (100_000, "1e5"),
        (86_136.4, "86,136"),
        (-1_580.2, "−1,580"),
        (999.0, "999.000"),
        (0.5, "0.500"),
        (1e300, "1e300"),
        (None, "–"),
    ],
)
def test_a_huge_figure_is_told_in_three_digits_and_a_power(value: float | None, told: str) -> None:
    assert told == number(value)


def test_huge_figures_keep_their_sign_and_their_ends() -> None:
    assert "+2.31e11" == number(231406883869.734, "+.3f")
    assert "+1,580" == number(1580.2, "+.1f")
    assert "1.0e−05" == number(1e-5, ".1e")
    assert "5e13" == number(5e13, ".3g")
    assert "1.000 to 6.9e13" == interval(1.0, 69_000_000_000_000.0)


def test_what_was_told_and_not_marked_yet_is_named_too(run: Run) -> None:
    run.collect(exam(run), models=["vllm/a", "vllm/b"], for_=["options"])
    (row,) = of(run, "run")
    assert (2, 12) == (row["candidates"], row["questions_told"])
