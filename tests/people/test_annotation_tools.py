"""Panels that go out to Label Studio and Argilla: blinded tasks, and the scores that packets would give."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.finished_runs import finished_run
from tests.lengths import length
from tests.people.annotators import (
    Opinion,
    argilla_export,
    exported_tasks,
    label_studio_export,
    write_rows,
)
from tests.people.raters import drawn, examined, lines, write
from tests.people.test_judgements import score_rows
from tests.studies.making import made

from vivavoce.core.errors import InputError, SelectionError, VivaError
from vivavoce.core.text import label
from vivavoce.people.choosing import cleaned
from vivavoce.people.packets import write_packets
from vivavoce.people.panels import load_panel
from vivavoce.people.question import plain
from vivavoce.people.stored_keys import read_keys
from vivavoce.people.storing.judgements import store_judgement
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.run.exchange.recognise import holds_tasks
from vivavoce.run.run import Run, open_run

USERS = {"anna": "11111111-1111-4111-8111-111111111111", "ben": "22222222-2222-4222-8222-222222222222"}
NUMBERS = {"anna": 1, "ben": 2}
TOOLS = ("label-studio", "argilla")
STEMS = {"label-studio": "tasks", "argilla": "records"}


def rank_of(answer: str, *, strict: bool = True) -> int:
    """Five milligrams first, the key and some milligrams tied or in this order, anything else last."""
    if "five" in answer:
        return 1
    return 2 if "key" in answer or (not strict and "some" in answer) else 3


def ranked(question: str, answers: Sequence[str], strict: bool = True) -> dict[str, Any]:
    entries: dict[str, Any] = {"remark": f"of {len(answers)}: <b>=1+1</b> “so”"}
    for n, answer in enumerate(answers):
        entries[f"rank_{n}"] = rank_of(answer, strict=strict)
        entries[f"tag_{n}"] = "good" if "five" in answer else "okay"
        if "spoonful" in answer and strict:
            entries |= {f"clearly_wrong_{n}": True, f"tag_{n}": "bad", f"rank_{n}": len(answers)}
    return entries


def chosen(question: str, answers: Sequence[str], strict: bool = True) -> dict[str, Any]:
    ranks = [rank_of(answer, strict=strict) for answer in answers]
    word = "tie" if ranks[0] == ranks[1] else label(int(ranks[1] < ranks[0]))
    return {"better": word, "remark": "of two"}


def rated(question: str, answers: Sequence[str], strict: bool = True) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for n, answer in enumerate(answers):
        entries[f"correct_{n}"] = (
            "1" if "five" in answer else "0" if strict or "some" in answer else "cannot tell"
        )
        if "five" in answer:
            entries[f"remark_{n}"] = "clear"
    return entries


def reviewed(question: str, answers: Sequence[str], strict: bool = True) -> dict[str, Any]:
    more = {"dispute": "the dose\nis wrong", "comment": "see page 4"} if strict else {"category": "dosing"}
    return {"correct": "no" if strict else "yes", "relevance": "4", **more}


TASKS: dict[str, tuple[dict[str, Any], Any]] = {
    "rank": ({}, ranked),
    "pairwise": ({}, chosen),
    "rate": ({"rubric": "correctness"}, rated),
    "review": ({}, reviewed),
}


def opinions(task: str) -> dict[str, Opinion]:
    opinion = TASKS[task][1]
    return {"anna": opinion, "ben": partial(opinion, strict=False)}


def exported(folder: Path, tool: str, task: str, **more: Any) -> tuple[Run, Path]:
    folder.mkdir(exist_ok=True)
    finished_run(folder, _export, tool, task, more)
    return open_run(folder / "run.viva"), folder / "out"


def _export(folder: Path, tool: str, task: str, more: Mapping[str, Any]) -> None:
    run = drawn(examined(folder, 5, silent=["Poor q03"]))
    run.export(folder / "out", format=tool, task=task, **TASKS[task][0], **more)


def annotated(out: Path, tool: str, opinions: Mapping[str, Opinion], to: Path, name: str = "") -> Path:
    tasks = exported_tasks(out, name or STEMS[tool])
    if tool == "label-studio":
        return label_studio_export(tasks, {NUMBERS[who]: said for who, said in opinions.items()}, to)
    most = max(sum(field.startswith("answer_") for field in record["fields"]) for record in tasks)
    return argilla_export(tasks, {USERS[who]: said for who, said in opinions.items()}, most, to)


def names(tool: str) -> dict[str, str]:
    return {str(number): who for who, number in NUMBERS.items()} if tool == "label-studio" else {
        user: who for who, user in USERS.items()
    }  # fmt: skip


def portal(run: Run, task: str) -> None:
    """The same judgements as the portal stores them, of raters who see what the tool's users see."""
    with run.file.reading() as db:
        (key,) = read_keys(db).values()
    texts = panel_texts(run)
    for who, opinion in opinions(task).items():
        seated = key._replace(packets={who: key.shared})
        for entry in key.shared:
            question, answers = texts[entry.question.name]
            by_candidates = [answers[answer.candidates] for answer in entry.answers]
            entries = by_label(opinion(question, by_candidates), key.task.filled)
            store_judgement(run.file, seated, who, entry.question.name, entries)


def panel_texts(run: Run) -> dict[str, tuple[str, dict[tuple[str, ...], str]]]:
    with run.file.reading() as db:
        (panel,) = read_keys(db)
    key = load_panel(run.file, panel).key
    return {q.name: (q.prompt, {a.candidates: a.text for a in q.answers}) for q in key.questions}


def by_label(fields: Mapping[str, Any], columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The entries of a form as a page sends them."""
    entries: dict[str, dict[str, Any]] = {}
    for name, value in fields.items():
        column, _, n = name.rpartition("_")
        answer, column = (label(int(n)), column) if n.isdigit() else ("A", name)
        assert column in columns
        entries.setdefault(answer, {})[column] = value
    return entries


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("tool", TOOLS)
def test_annotations_give_the_score_rows_that_the_portal_stores(tmp_path: Path, tool: str, task: str) -> None:
    there, out = exported(tmp_path / "there", tool, task)
    by_page, _ = exported(tmp_path / "page", tool, task)
    file = annotated(out, tool, opinions(task), tmp_path / "export.json")
    stored = there.import_annotations(file, raters=names(tool))
    portal(by_page, task)
    assert {"anna", "ben"} == {ballot.rater for ballot in stored.ballots}
    assert {5} == {ballot.new for ballot in stored.ballots}
    assert {} == stored.left_out
    rows = score_rows(there)
    assert rows
    assert score_rows(by_page) == rows
    with there.file.reading() as one, by_page.file.reading() as other:
        words = [
            sorted(
                json.dumps({k: v for k, v in json.loads(body).items() if k != "made_at"}, sort_keys=True)
                for (body,) in db.execute("SELECT body FROM events WHERE kind LIKE 'review%'")
            )
            for db in (one, other)
        ]
    assert words[0] == words[1]
    assert (task == "review") == bool(words[0])


@pytest.mark.parametrize("task", ["rank", "rate"])
@pytest.mark.parametrize("tool", TOOLS)
def test_tasks_of_named_raters_give_the_score_rows_of_their_packets(
    tmp_path: Path, tool: str, task: str
) -> None:
    """With all columns alike, positions too: a named rater sees the order of their packet."""
    there, out = exported(tmp_path / "there", tool, task, raters=("anna", "ben"))
    (tmp_path / "packets").mkdir()
    by_packet = drawn(examined(tmp_path / "packets", 5, silent=["Poor q03"]))
    write_packets(by_packet.file, ["anna", "ben"], tmp_path / "out", task=task, **TASKS[task][0])
    for who, opinion in opinions(task).items():
        file = annotated(out, tool, {who: opinion}, tmp_path / f"{who}.json", f"{STEMS[tool]}-{who}")
        there.import_annotations(file)
        sheet = tmp_path / "out" / f"{who}.csv"
        store_ballots(by_packet.file, [_sheet_filled(sheet, opinion)])
    rows = score_rows(there)
    assert rows
    assert score_rows(by_packet) == rows


def _sheet_filled(sheet: Path, opinion: Opinion) -> Path:
    rows = lines(sheet)
    by_item: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_item.setdefault(plain(row["item"]), []).append(row)
    for answers in by_item.values():
        fields = opinion(answers[0]["question"], [plain(row["answer"]) for row in answers])
        entries = by_label(fields, [*answers[0]])
        for row in answers:
            for column, value in entries.get(row["label"], {}).items():
                row[column] = "x" if value is True else str(value)
    return write(sheet, rows)


@pytest.mark.parametrize("tool", TOOLS)
def test_shared_tasks_and_packets_differ_in_nothing_but_the_order_that_a_rater_saw(
    tmp_path: Path, tool: str
) -> None:
    there, out = exported(tmp_path / "there", tool, "rank")
    there.import_annotations(
        annotated(out, tool, {"anna": ranked}, tmp_path / "export.json"), raters=_one(tool, "anna")
    )
    (tmp_path / "packets").mkdir()
    by_packet = drawn(examined(tmp_path / "packets", 5, silent=["Poor q03"]))
    write_packets(by_packet.file, ["anna"], tmp_path / "out")
    store_ballots(by_packet.file, [_sheet_filled(tmp_path / "out" / "anna.csv", ranked)])
    without_position = [[row[:9] + row[10:] for row in score_rows(run)] for run in (there, by_packet)]
    assert without_position[0]
    assert sorted(without_position[0], key=str) == sorted(without_position[1], key=str)


def _one(tool: str, who: str) -> dict[str, str]:
    return {identity: name for identity, name in names(tool).items() if name == who}


@pytest.mark.parametrize("tool", TOOLS)
def test_the_same_export_again_changes_nothing_and_another_judgement_needs_replace(
    tmp_path: Path, tool: str
) -> None:
    run, out = exported(tmp_path / "run", tool, "rank")
    file = annotated(out, tool, opinions("rank"), tmp_path / "export.json")
    run.import_annotations(file)
    scores_before, bytes_before = score_rows(run), run.file.path.read_bytes()
    again = run.import_annotations(file)
    assert [(0, 5, 0)] * 2 == [(b.new, b.unchanged, b.replaced) for b in again.ballots]
    assert bytes_before == run.file.path.read_bytes()
    other = annotated(
        out, tool, {"anna": partial(ranked, strict=False), "ben": partial(ranked, strict=False)}, file
    )
    with pytest.raises(InputError, match="said otherwise before of q"):
        run.import_annotations(other)
    assert scores_before == score_rows(run)
    replaced = run.import_annotations(other, replace=True)
    assert [5, 0] == [ballot.replaced for ballot in replaced.ballots]


def test_a_rater_is_called_by_the_number_that_the_tool_has_for_them(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "pairwise")
    file = annotated(out, "label-studio", opinions("pairwise"), tmp_path / "export.json")
    assert ["user 1", "user 2"] == [b.rater for b in run.import_annotations(file).ballots]


@pytest.mark.parametrize("task", ["rank", "pairwise", "rate", "review"])
def test_annotations_under_another_name_of_their_rater_are_recognised(tmp_path: Path, task: str) -> None:
    run, folder = exported(tmp_path / "run", "label-studio", task)
    file = annotated(folder, "label-studio", {"anna": opinions(task)["anna"]}, tmp_path / "export.json")
    run.import_annotations(file)
    rows = score_rows(run)
    with pytest.raises(
        InputError, match=r" by anna are in this run already, by .* by user 1: `viva retire RUN "
    ):
        run.import_annotations(file, raters={"1": "anna"})
    assert rows == score_rows(run)
    run.import_annotations(file, raters={"1": "anna"}, again=True)
    assert 2 * len(rows) == len(score_rows(run))


def test_a_person_of_whom_the_export_says_more_can_be_named_by_it(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "pairwise")
    file = annotated(out, "label-studio", {"anna": chosen}, tmp_path / "export.json")
    rows = json.loads(file.read_text(encoding="utf-8"))
    for row in rows:
        row["annotations"][0]["completed_by"] = {"id": 7, "email": "a@example.org"}
    stored = run.import_annotations(write_rows(file, rows), raters={"a@example.org": "anna"})
    assert ["anna"] == [ballot.rater for ballot in stored.ballots]


def test_a_name_for_nobody_is_refused(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "pairwise")
    file = annotated(out, "label-studio", {"anna": chosen}, tmp_path / "export.json")
    with pytest.raises(InputError, match=r"--rater 9=carla: nobody called '9' annotated"):
        run.import_annotations(file, raters={"1": "anna", "9": "carla"})
    assert [] == score_rows(run)


def test_cancelled_annotations_and_drafts_are_named_and_never_stored(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "rank")
    file = annotated(out, "label-studio", {"anna": ranked}, tmp_path / "export.json")
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[0]["annotations"][0]["was_cancelled"] = True
    rows[1]["drafts"] = [{"id": 3, "result": rows[1]["annotations"][0]["result"]}]
    rows[3]["drafts"] = [17]
    rows[1]["annotations"] = []
    rows[2]["annotations"][0]["result"] = []
    stored = run.import_annotations(write_rows(file, rows))
    assert {
        "cancelled": (f"{file}, task 1 by 1",),
        "draft": (f"{file}, task 2", f"{file}, task 4"),
        "nothing was filled in": (f"{file}, task 3 by 1",),
    } == stored.left_out
    (ballot,) = stored.ballots
    assert (2, 1) == (ballot.new, ballot.skipped)
    assert {"rows": 6, "judgements": 2, "left_out": 4} == stored.row_counts


def test_discarded_responses_are_named_where_the_file_tells_them(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "argilla", "rate")
    file = annotated(out, "argilla", {"anna": rated}, tmp_path / "export.json")
    rows = json.loads(file.read_text(encoding="utf-8"))
    for responses in rows[0]["responses"].values():
        responses[0]["status"] = "discarded"
    stored = run.import_annotations(write_rows(file, rows))
    assert ["discarded"] == list(stored.left_out)
    assert 4 == stored.ballots[0].new
    assert any("do not tell drafts" in note for note in stored.notes)


def test_half_an_annotation_is_refused_unless_it_is_to_be_taken(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "rate")

    def half(question: str, answers: Sequence[str]) -> dict[str, Any]:
        return {"correct_0": "1"}

    file = annotated(out, "label-studio", {"anna": half}, tmp_path / "export.json")
    with pytest.raises(InputError, match=r"half filled: q0\d by user 1 lacks correct of B"):
        run.import_annotations(file)
    assert [] == score_rows(run)
    assert 5 == run.import_annotations(file, partial=True).ballots[0].new


def test_ranks_count_among_the_answers_that_a_question_has(tmp_path: Path) -> None:
    """A form has four ranks for a question with three answers: whichever are chosen, their order counts."""
    runs = []
    for name, ranks in (("near", {1: 1, 2: 2, 3: 3}), ("far", {1: 2, 2: 3, 3: 4})):
        run, out = exported(tmp_path / name, "label-studio", "rank")

        def opinion(question: str, answers: Sequence[str], ranks: dict[int, int] = ranks) -> dict[str, Any]:
            return {
                name: ranks[value] if name.startswith("rank_") and value in ranks else value
                for name, value in ranked(question, answers).items()
            }

        run.import_annotations(annotated(out, "label-studio", {"anna": opinion}, tmp_path / f"{name}.json"))
        runs.append(score_rows(run))
    assert runs[0]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_task_whose_text_was_changed_is_refused(tmp_path: Path, tool: str) -> None:
    run, out = exported(tmp_path / "run", tool, "rank")
    file = annotated(out, tool, {"anna": ranked}, tmp_path / "export.json")
    file.write_text(file.read_text(encoding="utf-8").replace("five mill", "fifty mill"), encoding="utf-8")
    with pytest.raises(InputError, match="what stands here is not what was sent"):
        run.import_annotations(file)
    assert [] == score_rows(run)


def test_tasks_of_another_run_are_refused(tmp_path: Path) -> None:
    _, out = exported(tmp_path / "one", "label-studio", "rank")
    file = annotated(out, "label-studio", {"anna": ranked}, tmp_path / "export.json")
    (tmp_path / "other").mkdir()
    other = examined(tmp_path / "other", 3)
    with pytest.raises(InputError, match=r"was not made from .*no panel was made from it"):
        other.import_annotations(file)


def test_a_second_annotation_by_one_rater_is_refused(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "pairwise")
    file = annotated(out, "label-studio", opinions("pairwise"), tmp_path / "export.json")
    with pytest.raises(InputError, match=r"are both annotations of q0\d by anna"):
        run.import_annotations(file, raters={"1": "anna", "2": "anna"})
    with pytest.raises(InputError, match="are both annotations"):
        run.import_annotations(file, _copy(file))


def _copy(file: Path) -> Path:
    copy = file.with_name("copy.json")
    copy.write_bytes(file.read_bytes())
    return copy


def test_a_task_of_a_named_rater_is_nobody_elses(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "rank", raters=("anna", "ben"))
    file = annotated(out, "label-studio", {"ben": ranked}, tmp_path / "anna.json", "tasks-anna")
    with pytest.raises(InputError, match="is a task of anna, and ben annotated it"):
        run.import_annotations(file, raters={"2": "ben"})


def test_a_file_with_tasks_of_somebody_else_too_is_refused(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "rank")
    file = annotated(out, "label-studio", {"anna": ranked}, tmp_path / "export.json")
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[3]["data"] = {"question": "What else?", "answer": "Nothing."}
    with pytest.raises(InputError, match="task 4 is no task that `viva export` wrote"):
        run.import_annotations(write_rows(file, rows))


def test_an_entry_that_cannot_be_is_named_with_its_task(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "rate")

    def off_scale(question: str, answers: Sequence[str]) -> dict[str, Any]:
        return {f"correct_{n}": "7" for n, _ in enumerate(answers)}

    file = annotated(out, "label-studio", {"anna": off_scale}, tmp_path / "export.json")
    with pytest.raises(InputError, match=r"task 1 by 1: answer A to q0\d: correct is 0, 0.5 or 1"):
        run.import_annotations(file)
    assert [] == score_rows(run)


def test_fields_that_were_added_in_the_tool_are_named(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "pairwise")

    def more(question: str, answers: Sequence[str]) -> dict[str, Any]:
        return {**chosen(question, answers), "mood": "fine"}

    file = annotated(out, "label-studio", {"anna": more}, tmp_path / "export.json")
    assert ("Fields that no panel asked for are left out: mood.",) == run.import_annotations(file).notes


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("task", TASKS)
def test_tasks_name_no_candidate_no_score_and_no_item(tmp_path: Path, tool: str, task: str) -> None:
    run, out = exported(tmp_path / "run", tool, task)
    with run.file.reading() as db:
        (key,) = read_keys(db).values()
    rows = exported_tasks(out, STEMS[tool])
    ids = [row["data"]["viva"] if tool == "label-studio" else row["id"] for row in rows]
    assert [f"{key.panel}-{entry.seal}" for entry in key.shared] == ids
    for path in out.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not any(name in text for name in ("Able", "Fair", "Poor", key.secret))
        assert path.name.startswith(STEMS[tool]) == ("What of q" in text)


@pytest.mark.parametrize("tool", TOOLS)
def test_the_same_export_again_is_the_same_byte_for_byte(tmp_path: Path, tool: str) -> None:
    run, out = exported(tmp_path / "run", tool, "rank")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    run.export(out, format=tool, task="rank")
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}
    with run.file.reading() as db:
        assert 1 == len(read_keys(db))
        assert 1 == db.execute("SELECT count(*) FROM events WHERE kind = 'panel made'").fetchone()[0]


HOSTILE = '</Text><script>x</script> "$question" &amp; {{idx}} \u202e<!--'


def test_hostile_texts_stand_in_the_tasks_and_break_no_configuration(tmp_path: Path) -> None:
    answers = {who: {"q1": f"{who[0]} {HOSTILE}"} for who in ("Able", "Fair")}
    run = made(tmp_path / "run", answers)
    run.export(tmp_path / "out", format="label_studio", task="rank", criterion=f"Which costs $5? {HOSTILE}")
    root = ElementTree.parse(tmp_path / "out" / "config.xml").getroot()
    headers = [element.get("value", "") for element in root.iter("Header")]
    assert "＄5" in headers[0]
    assert "$" not in headers[0]
    assert "<script>" in headers[0]
    names = [element.get("name") for element in root.iter() if element.get("name")]
    assert len(names) == len(set(names))
    assert {"answer_{{idx}}", "question"} == {
        element.get("toName") for element in root.iter() if element.get("toName")
    }
    (task,) = exported_tasks(tmp_path / "out")
    assert any(cleaned(HOSTILE) in answer["text"] for answer in task["data"]["answers"])
    file = label_studio_export([task], {1: ranked}, tmp_path / "export.json")
    assert 1 == run.import_annotations(file).ballots[0].new


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "--task is missing: annotation tools ask rank, pairwise, rate, review"),
        ({"task": "verify"}, "--task is not 'verify'"),
        ({"task": "rate"}, "rate needs a --rubric"),
        ({"task": "rank", "rubric": "correctness"}, "--rubric goes with rate"),
        ({"task": "rank", "redact": True}, "--redact hides them"),
        ({"task": "rank", "n": 0}, "--n takes 1 or more"),
        ({"task": "rank", "raters": ("a/b",)}, "cannot be a rater's name"),
        ({"task": "rank", "overlap": 0}, "--overlap takes 1 or more"),
    ],
)
def test_settings_that_cannot_be_write_nothing(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    (tmp_path / "run").mkdir()
    run = examined(tmp_path / "run", 3)
    with pytest.raises(InputError, match=sentence):
        run.export(tmp_path / "out", format="argilla", **options)
    assert not (tmp_path / "out").exists()
    with run.file.reading() as db:
        assert {} == read_keys(db)


def test_a_run_in_which_nothing_can_be_asked_says_so(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    silent = [f"{who} q00" for who in ("Able", "Fair", "Poor")]
    run = examined(tmp_path / "run", 1, silent=silent)
    with pytest.raises(SelectionError, match="no question here has two different answers"):
        run.export(tmp_path / "out", format="label-studio", task="rank")


def test_a_log_of_tasks_of_ours_is_no_log(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "argilla", "rank")
    file = annotated(out, "argilla", {"anna": ranked}, tmp_path / "export.json")
    with pytest.raises(InputError, match="what people said of them are ballots"):
        run.import_logs(file)


def test_a_file_without_tasks_of_ours_holds_no_annotations(tmp_path: Path) -> None:
    run, _ = exported(tmp_path / "run", "argilla", "rank")
    file = write_rows(tmp_path / "foreign.json", [{"id": 1, "data": {"question": "?"}, "annotations": []}])
    with pytest.raises(InputError, match="holds no task that `viva export` wrote"):
        run.import_annotations(file)


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where anything stands in JSON."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [path, *(place for name, child in children for place in nodes(child, (*path, name)))]


def altered(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = altered(value[path[0]], path[1:], new)
    return copy


STRANGE = (None, 5, -0.5, True, "x", "é" * 3000, [], {}, [5], [[]], {"a": 1}, [{"value": "A"}])


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("task", ["rank", "review"])
def test_an_export_with_anything_altered_gives_ballots_or_one_sentence(
    tmp_path: Path, tool: str, task: str
) -> None:
    run, out = exported(tmp_path / "run", tool, task, n=1)
    file = annotated(out, tool, {"anna": TASKS[task][1]}, tmp_path / "export.json")
    rows = json.loads(file.read_text(encoding="utf-8"))
    outcomes = {"stored": 0, "refused": 0, "no tasks": 0}
    strange = cycle(STRANGE)
    before = score_rows(run)
    for path in nodes(rows):
        for new in islice(strange, length(1, len(STRANGE))):
            write_rows(file, altered(rows, path, new))
            if not holds_tasks([file]):
                outcomes["no tasks"] += 1
                continue
            try:
                run.import_annotations(file, partial=True, replace=True)
                outcomes["stored"] += 1
                before = score_rows(run)
            except VivaError:
                outcomes["refused"] += 1
                assert before == score_rows(run)
    assert all(count > length(2, 30) for count in outcomes.values()), outcomes


def test_an_export_that_was_cut_is_one_sentence(tmp_path: Path) -> None:
    run, out = exported(tmp_path / "run", "label-studio", "rank")
    text = annotated(out, "label-studio", {"anna": ranked}, tmp_path / "all.json").read_text(encoding="utf-8")
    for share in (0.3, 0.6, 0.9, 0.999):
        file = tmp_path / "export.json"
        file.write_text(text[: int(share * len(text))], encoding="utf-8")
        with pytest.raises(VivaError):
            run.import_annotations(file)
    assert [] == score_rows(run)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_question_with_twenty_six_answers_and_one_with_two_share_a_form(tmp_path: Path, tool: str) -> None:
    answers: dict[str, dict[str, Any]] = {f"C{n:02}": {"q1": f"{n} milligrams"} for n in range(25)}
    answers["C00"]["q2"] = "five milligrams"
    run = made(tmp_path / "run", answers)
    run.export(tmp_path / "out", format=tool, task="rank")

    def by_number(question: str, answers: Sequence[str]) -> dict[str, Any]:
        order = sorted(answers)
        return {f"rank_{n}": 1 + order.index(answer) for n, answer in enumerate(answers)}

    file = annotated(tmp_path / "out", tool, {"anna": by_number}, tmp_path / "export.json")
    (ballot,) = run.import_annotations(file, partial=True).ballots
    assert 2 == ballot.new
    ranks = [row[10] for row in score_rows(run) if row[1] == "rank"]
    assert sorted([*range(1, 27), 1, 2]) == sorted(ranks)


def test_the_longest_text_comes_back_as_it_went(tmp_path: Path) -> None:
    answers = {who: {"q1": f"{who} " + "milligrams of ü\n" * 60_000} for who in ("Able", "Fair")}
    run = made(tmp_path / "run", answers)
    run.export(tmp_path / "out", format="label-studio", task="pairwise")
    file = annotated(tmp_path / "out", "label-studio", {"anna": chosen}, tmp_path / "export.json")
    assert 1 == run.import_annotations(file).ballots[0].new


def test_packets_of_the_same_panel_can_be_sent_too(tmp_path: Path) -> None:
    """A rater may fill in one or the other; what they said is theirs, whichever way it came."""
    run, out = exported(tmp_path / "run", "label-studio", "rate")
    file = annotated(out, "label-studio", {"anna": rated}, tmp_path / "export.json")
    stored = run.import_annotations(file, raters={"1": "anna"})
    packets = write_packets(run.file, ["anna"], tmp_path / "packets", task="rate", **TASKS["rate"][0])
    assert packets.panel == stored.ballots[0].panel
    before = [row[:9] + row[10:] for row in score_rows(run)]
    (ballot,) = store_ballots(run.file, [_sheet_filled(tmp_path / "packets" / "anna.csv", rated)])
    assert (0, 5, 0) == (ballot.new, ballot.unchanged, ballot.replaced)
    assert before == [row[:9] + row[10:] for row in score_rows(run)]
