"""Cut answers, answers like thinking and cut prompts: counted by candidate, and told wherever scores are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cases import each_case
from tests.lengths import length
from tests.studies.making import write_lines
from tests.viewing import viewer

from vivavoce.core.records import Finding
from vivavoce.run.run import open_run
from vivavoce.store.hashes import rehash_responses

OPTIONS = ["Metformin", "Empagliflozin"]
WALK = "Let me go through them. A. Metformin: usual first drug and the best choice when"
ALOUD = "The patient has a fever. Wait, the heart rate is low. " * 24 + "Wait, no. Wait, so it is B."
LIMITED = "openai/m(max_tokens=64)"


def run_of(folder: Path, answers: dict[str, list[tuple[str, str | None]]]) -> Any:
    """A run of one exam; each candidate's answers with why they ended."""
    n = max(map(len, answers.values()))
    rows = [{"id": f"q{i}", "format": "mcq", "question": f"{i}?", "options": OPTIONS, "answer": "B"}
            for i in range(n)]  # fmt: skip
    run = open_run(folder / "run.viva")
    run.import_answers(
        [
            {"item": f"q{i}", "candidate": candidate, "text": text, "finish_reason": reason}
            for candidate, texts in answers.items()
            for i, (text, reason) in enumerate(texts)
        ],
        benchmark=f"jsonl(path='{write_lines(folder / 'exam.jsonl', rows)}')",
    )
    run.score("accuracy")
    return run


def rows_of(finding: Finding) -> list[dict[str, Any]]:
    return [dict(row) for row in finding.rows if row["about"] == "integrity"]


def with_cuts(folder: Path) -> Any:
    return run_of(folder, {
        "whole": [("Answer: B", "stop")] * 50,
        LIMITED: [*[(WALK, "length")] * 6, *[("B", "stop")] * 44],
    })  # fmt: skip


LINE = f"Cut at a limit: 6 of 50 answers (12 %) of {LIMITED}, max_tokens 64."


def test_every_place_tells_whose_answers_were_cut(tmp_path: Path) -> None:
    run = with_cuts(tmp_path)
    status = run.status()
    counts = {"answers": 50, "cut": 6, "cut_thinking": 0, "like_thinking": 0, "prompt_cut": 0,
              "server_errors": 0, "escaped_line_ends": 0}  # fmt: skip
    row = {"about": "integrity", "benchmark": "exam", "candidate": LIMITED, **counts, "token_limit": 64}
    assert [row] == rows_of(status)
    assert LINE in str(status)
    assert LINE in run.score("accuracy").notes
    assert LINE in run.report().read_text()


def test_a_score_stands_beside_that_on_complete_answers(tmp_path: Path) -> None:
    notes = with_cuts(tmp_path).score("accuracy").notes
    on_both = f"{LIMITED} on exam: accuracy 0.880 on all answers, 1.000 on those that were not cut."
    assert (LINE, on_both) == notes[:2]


def test_a_comparison_says_that_answers_of_one_were_cut(tmp_path: Path) -> None:
    run = with_cuts(tmp_path)
    assert run.compare().notes[0] == (
        f"exam: 6 of 50 answers (12 %) of {LIMITED} and 0 of 50 answers (0 %) of whole were cut at a limit "
        "(sign flips of cases, Holm-adjusted p = 0.031); part of a difference may come from that."
    )


def test_thinking_that_never_ended_is_counted_with_the_cut(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"A": [("<think>or B", None), ("", "length"), ("B", "stop"), ("B", None)]})
    (row,) = rows_of(run.status())
    assert (4, 2, 1) == (row["answers"], row["cut"], row["cut_thinking"])
    assert "2 of 4 answers (50 %) of A, 1 while thinking." in str(run.status())


def test_answers_that_look_like_thinking_are_counted(tmp_path: Path) -> None:
    run = run_of(tmp_path, {
        "thinker": [(ALOUD, None), ("<unused7>hm<unused8>B", None), ("B", None)],
        "marked": [(f"<think>{ALOUD}</think>B", None), ("[THINK]A[/THINK]B", None), ("B", None)],
        "plain": [("Wait for the test.", None), ("B", None), ("x < y", None)],
    })  # fmt: skip
    (row,) = rows_of(run.status())
    assert ("thinker", 3, 2) == (row["candidate"], row["answers"], row["like_thinking"])
    line = "Like thinking that was not told apart from the answer: 2 of 3 answers (67 %) of thinker."
    assert line in str(run.status())
    assert line in run.report().read_text()


def test_a_run_of_whole_answers_says_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"A": [("B", "stop"), ("Answer: B", None)], "B": [("B", "stop"), ("A", "stop")]})
    assert [] == rows_of(run.status())
    said = f"{run.status()} {run.score('accuracy').notes} {run.compare().notes}"
    assert "cut" not in said
    assert "thinking" not in said


def test_an_answer_that_is_cut_before_a_choice_is_unreadable(tmp_path: Path) -> None:
    scores = with_cuts(tmp_path).scores
    assert {"unreadable": 6, "ok": 94} == dict(scores.group_by("status").len().iter_rows())


def test_answers_that_an_older_version_stored_are_counted_by_the_same_words(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"A": [("B and", "MAX_TOKENS"), ("B", "stop")], "B": [("B", "STOP")] * 2})
    with run.file.writing() as db:
        db.execute("UPDATE responses SET ending = NULL, final = NULL")
        rehash_responses(db)
    line = "Cut at a limit: 1 of 2 answers (50 %) of A."
    assert line in str(run.status())
    assert line in run.score("accuracy").notes


ASIDE = "Like thinking that was not told apart from the answer: 9 of 100 answers (9 %) of aloud."
PLACES = {"A": "12 of 100 answers (12 %) of A", "aloud": "9 of 100 answers (9 %) of aloud"}


def as_of_today(run: Any) -> Any:
    return run


def as_of_an_older_version(run: Any) -> Any:
    """The run with its answers as they were before they had parts."""
    with run.file.writing() as db:
        db.execute("UPDATE responses SET ending = NULL, final = NULL")
        rehash_responses(db)
    return run


def as_a_redacted_copy(run: Any) -> Any:
    path = run.file.path.with_name(f"copy {len(list(run.file.path.parent.iterdir()))}.viva")
    run.export(path, format="run", redact=True)
    return open_run(path)


def as_a_redacted_older_run(run: Any) -> Any:
    return as_a_redacted_copy(as_of_an_older_version(run))


WAYS = (as_of_today, as_of_an_older_version, as_a_redacted_copy, as_a_redacted_older_run)


@each_case("way", WAYS)
def test_all_places_count_alike(tmp_path: Path, viva: Any, way: Callable[[Any], Any]) -> None:
    thought_out = [("", "MAX_TOKENS"), ("<think>A or B", None), ("<think>A</think>", "length")]
    run = run_of(tmp_path, {
        "A": [*[(WALK, "length")] * 9, *thought_out, *[("Answer: B", "stop")] * 88],
        "aloud": [*[(ALOUD, "stop")] * 9, *[("B", None)] * 91],
    })  # fmt: skip
    run.score("accuracy")
    run = way(run)
    counts = {row["candidate"]: (row["cut"], row["cut_thinking"], row["like_thinking"])
              for row in rows_of(run.status())}  # fmt: skip
    assert {"A": (12, 2, 0), "aloud": (0, 0, 9)} == counts
    path, cut = run.file.path, f"Cut at a limit: {PLACES['A']}, 2 while thinking."
    in_words = {"status": str(run.status()), "report": run.report().read_text()}
    in_json = {"status": "rows", "compare": "integrity"}
    if "copy" not in path.name:
        in_words["score"], in_json["score"] = " ".join(run.score("accuracy").notes), "integrity"
    assert {} == {name: text for name, text in in_words.items() if cut not in text or ASIDE not in text}
    notes = " ".join(run.compare().notes)
    assert f"exam: {PLACES['A']} and 0 of 100 answers (0 %) of aloud were cut at a limit (sign flips" in notes
    assert f"exam: {PLACES['aloud']} and 0 of 100 answers (0 %) of A look like thinking that" in notes
    for command, field in in_json.items():
        rows = json.loads(viva(command, path, "--json").stdout)[field]
        counts = [(row["cut"], row["cut_thinking"], row["like_thinking"]) for row in rows
                  if row["about"] == "integrity"]  # fmt: skip
        assert (command, [(12, 2, 0), (0, 0, 9)]) == (command, counts)
    assert {"It was cut at a limit.": 10, "It was cut while thinking.": 2, LOOKS: 9} == in_viewer(run)


def test_details_that_cannot_be_read_hide_no_answer_in_the_viewer(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"A": [("B", "length")]})
    with run.file.writing() as db:
        db.execute("UPDATE responses SET meta = '{'")
    page = viewer(run).get("/answer/1").text
    assert "It was cut at a limit." in page


def test_a_run_without_answers_counts_none(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"A": [("B", "stop")]})
    with run.file.writing() as db:
        db.execute("DELETE FROM scores")
        db.execute("DELETE FROM score_checksums")
        db.execute("DELETE FROM responses")
    assert [] == rows_of(run.status())
    assert () == run.score("accuracy").integrity


LOOKS = "It looks like thinking that was not told apart from the answer."
PAGES = length(15, 100)
"""Of a hundred answers by a candidate those whose pages are opened: all with a remark, and some without."""


def in_viewer(run: Any) -> dict[str, int]:
    """How often the viewer's pages of answers say each remark."""
    client = viewer(run)
    with run.file.reading() as db:
        (n,) = db.execute("SELECT count(*) FROM responses").fetchone()
    pages = [client.get(f"/answer/{key + 1}").text for key in range(n) if key % 100 < PAGES]
    remarks = ("It was cut at a limit.", "It was cut while thinking.", LOOKS)
    return {remark: sum(f'<p class="bad">{remark}</p>' in page for page in pages) for remark in remarks}
