"""`viva export --format sft`: what was asked word for word, with its answer; the rest is counted."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import ALL
from tests.run.collect.test_collect import GOOD
from tests.small_suite import small_suite
from tests.studies.making import made

import vivavoce as viva
from vivavoce.core.errors import InputError
from vivavoce.run.exchange.sft import REBUILT_OTHERWISE, SftWritten
from vivavoce.run.run import Run

Exam = Callable[..., str]
NOT_COLLECTED = "answers: not asked by `viva collect`, so nobody knows the words"


@pytest.fixture
def server(fake: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A fake endpoint that answers everything alike, and remembers what it was asked."""
    server = fake(GOOD)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    return server


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return viva.open(tmp_path / "run.viva")


def export(run: Run, **options: Any) -> SftWritten:
    (written,) = run.export(run.file.path.with_name("out"), format="sft", **options)
    assert (
        dict(written.left_out) == json.loads((written.path.parent / "left_out.json").read_text())["left_out"]
    )
    assert "Not for clinical use" in (written.path.parent / "README.txt").read_text()
    return written


def lines(written: SftWritten) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in written.path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert written.rows == len(rows)
    return rows


def asked(server: Any) -> list[list[dict[str, str]]]:
    return sorted((body["messages"] for _, _, body in server.received), key=str)


def questions(rows: Sequence[dict[str, Any]]) -> list[list[dict[str, str]]]:
    return sorted((row["messages"][:-1] for row in rows), key=str)


def test_a_line_names_its_question_and_its_candidate(exam: Exam, server: Any, run: Run) -> None:
    run.collect(exam(1, change=lambda k: {"category": "heart"}), models=["vllm/m"])
    (row,) = lines(export(run))
    answer = GOOD["choices"][0]["message"]["content"]
    assert {
        "messages": [
            {"role": "user", "content": server.received[0][2]["messages"][0]["content"]},
            {"role": "assistant", "content": answer},
        ],
        "benchmark": "exam", "licence": "not stated", "item": "q0", "variant": "", "category": "heart",
        "group": "q0", "candidate": "vllm/m", "role": "candidate", "repeat": 1,
        "finish_reason": row["finish_reason"],
    } == row  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"system": "Be brief.", "temperature": 0.5, "seed": 7},
        {"repeats": 3},
        {"shots": 2, "sample": "4"},
        {"confidence": True},
    ],
    ids=lambda settings: "+".join(settings) or "plain",
)
def test_every_line_is_what_was_sent(exam: Exam, server: Any, run: Run, settings: dict[str, Any]) -> None:
    run.collect(exam(8), models=["vllm/m"], **settings)
    written = export(run)
    assert {} == dict(written.left_out)
    assert asked(server) == questions(lines(written))


def test_the_messages_of_a_prompt_file_are_built_again(
    exam: Exam, server: Any, run: Run, tmp_path: Path
) -> None:
    prompt = tmp_path / "mine.md"
    prompt.write_text("Think first.\n\n{{ question }}")
    run.collect(exam(3), models=["vllm/m"], prompt=prompt)
    assert asked(server) == questions(lines(export(run)))

    prompt.write_text("Do not think.\n\n{{ question }}")
    assert {f"answers: {REBUILT_OTHERWISE}": 3} == dict(export(run).left_out)
    prompt.unlink()
    assert {f"answers: {REBUILT_OTHERWISE}": 3} == dict(export(run).left_out)


def test_a_preset_stands_for_the_settings_of_each_benchmark(server: Any, run: Run, tmp_path: Path) -> None:
    small_suite.medtext(tmp_path)
    small_suite.mts_dialog(tmp_path)
    for name in ("medtext", "mts_dialog"):
        run.collect(f"{name}(data={tmp_path})", models=["vllm/m"], preset="published")
    written = export(run)
    assert {"medtext", "mts_dialog"} == {row["benchmark"] for row in lines(written)}
    assert asked(server) == questions(lines(written))


def test_examples_that_are_gone_leave_their_answers_out(exam: Exam, server: Any, run: Run) -> None:
    run.collect(exam(8), models=["vllm/m"], shots=2)
    exam(4)
    written = export(run)
    assert 8 == written.left_out[f"answers: {REBUILT_OTHERWISE}"]


def test_controls_floors_and_imported_answers_are_left_out(
    exam: Exam, server: Any, run: Run, tmp_path: Path
) -> None:
    run.collect(exam(3), models=["vllm/m", "baseline/reference", "baseline/echo"])
    run.vary("control(kind=none)")
    written = export(run)
    assert ["vllm/m"] * 3 == [row["candidate"] for row in lines(written)]
    assert {"answers: of a baseline": 6, "answers: made by `viva vary`": 6} == dict(written.left_out)
    imported = made(tmp_path / "log", {"A": {"q1": "yes", "q2": ""}}, name="other")
    assert {NOT_COLLECTED: 2} == dict(export(imported).left_out)


def test_a_blank_and_an_unreadable_answer_teach_nothing(
    exam: Exam, fake: Any, run: Run, monkeypatch: Any
) -> None:
    texts = ["  ", "A or B", "A"]
    replies = [{"choices": [{"message": {"content": text}, "finish_reason": "stop"}]} for text in texts]
    monkeypatch.setenv("VLLM_BASE_URL", fake(*replies).base_url)
    choice = {"format": "mcq", "options": ["yes", "no"], "answer": "yes"}
    run.collect(exam(3, change=lambda k: choice), models=["vllm/m"])
    written = export(run)
    assert ["A"] == [row["messages"][-1]["content"] for row in lines(written)]
    assert {"answers: unanswered": 1, "answers: unreadable": 1} == dict(written.left_out)


def test_hostile_answers_stay_one_line_each(exam: Exam, fake: Any, run: Run, monkeypatch: Any) -> None:
    texts = [text for text in ALL if text.strip()]
    replies = [{"choices": [{"message": {"content": text}, "finish_reason": "stop"}]} for text in texts]
    monkeypatch.setenv("VLLM_BASE_URL", fake(*replies).base_url)
    run.collect(exam(len(texts)), models=["vllm/m"])
    written = export(run)
    raw = written.path.read_bytes().decode()
    assert written.rows == len(raw.split("\n")) - 1 == len(raw.splitlines())
    assert len(texts) == written.rows + sum(written.left_out.values())


def test_items_restrict_what_is_written(exam: Exam, server: Any, run: Run) -> None:
    run.collect(exam(3), models=["vllm/m"])
    assert {"q0"} == {row["item"] for row in lines(export(run, items=exam(1)))}


def test_hidden_texts_make_no_conversation(exam: Exam, server: Any, run: Run, tmp_path: Path) -> None:
    run.collect(exam(2), models=["vllm/m"])
    with pytest.raises(InputError, match="--redact hides them"):
        export(run, redact=True)
    run.export(tmp_path / "hidden.viva", format="run", redact=True)
    with pytest.raises(InputError, match="a conversation is texts"):
        export(viva.open(tmp_path / "hidden.viva"))
