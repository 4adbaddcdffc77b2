"""Conversations on the wire: message by message, and later turns behind the candidate's own answers."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import write_lines

import vivavoce as viva
from vivavoce.core.errors import InputError
from vivavoce.store import read
from vivavoce.store.earlier_turns import EarlierTurns

TALK = [
    {"role": "system", "content": "You are a nurse."},
    {"role": "user", "content": "My head hurts."},
    {"role": "assistant", "content": "How long?"},
    {"role": "user", "content": "Two days."},
]
TURNS = {"id": "b", "question": "My chest hurts.", "must": ["112"], "turns": ["To my arm.", "Thanks."]}


class FakeTalker:
    """A fake endpoint that says how many messages it got; `replies` has what it does to a last message."""

    def __init__(self) -> None:
        self.sent: list[list[dict[str, str]]] = []
        self.replies: dict[str, Any] = {}
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
                fake.sent.append(asked)
                reply = fake.replies.get(asked[-1]["content"], f"heard {len(asked)}")
                reason = "content_filter" if reply is None else "stop"
                status = reply if isinstance(reply, int) else 200
                message = {"role": "assistant", "content": reply}
                choice = {"index": 0, "message": message, "finish_reason": reason}
                body = json.dumps({"model": "m", "choices": [choice]}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def talker(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTalker]:
    fake = FakeTalker()
    thread = threading.Thread(target=fake.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    monkeypatch.setenv("VLLM_BASE_URL", f"http://127.0.0.1:{fake.server.server_port}/v1")
    yield fake
    fake.server.shutdown()
    fake.server.server_close()
    thread.join()


def exam(folder: Path, *rows: dict[str, Any]) -> str:
    return f"jsonl(path={write_lines(folder / 'talks.jsonl', rows)})"


def texts(run: viva.Run) -> dict[str, str | None]:
    return dict(run.responses.select("item", "text").rows())


def test_messages_are_sent_as_they_stand(talker, tmp_path):
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam(tmp_path, {"id": "a", "messages": TALK}), models=["vllm/m"])
    assert [TALK] == talker.sent
    assert {"a": "heard 4"} == texts(run)


def test_the_candidates_system_message_stands_before_the_conversations(talker, tmp_path):
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam(tmp_path, {"id": "a", "messages": TALK}), models=["vllm/m(system='Be brief.')"])
    (sent,) = talker.sent
    assert {"role": "system", "content": "Be brief.\n\nYou are a nurse."} == sent[0]
    assert TALK[1:] == sent[1:]


def test_a_later_turn_is_asked_behind_the_candidates_own_answers(talker, tmp_path):
    talker.replies["My chest hurts."] = "<think>heart?</think>Does it spread?"
    run = viva.open(tmp_path / "r.viva")
    finding = run.collect(exam(tmp_path, TURNS), models=["vllm/m"])
    assert (3, 0) == (finding.rows[0]["answered"], finding.rows[0]["left"])
    assert [
        {"role": "user", "content": "My chest hurts."},
        {"role": "assistant", "content": "Does it spread?"},
        {"role": "user", "content": "To my arm."},
        {"role": "assistant", "content": "heard 3"},
        {"role": "user", "content": "Thanks."},
    ] == max(talker.sent, key=len)
    assert "heard 5" == texts(run)["b/3"]


def test_what_was_answered_is_not_asked_again_turn_by_turn(talker, tmp_path):
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam(tmp_path, TURNS), models=["vllm/m"], repeats=2)
    assert 6 == len(talker.sent)
    run.collect(exam(tmp_path, TURNS), models=["vllm/m"], repeats=2)
    assert 6 == len(talker.sent)


def test_a_turn_waits_until_the_one_before_has_come(talker, tmp_path):
    talker.replies["To my arm."] = 400
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam(tmp_path, TURNS), models=["vllm/m"])
    assert {"b/1", "b/2"} == set(texts(run))
    talker.replies.clear()
    run.collect(exam(tmp_path, TURNS), models=["vllm/m"])
    assert {"b/1": "heard 1", "b/2": "heard 3", "b/3": "heard 5"} == texts(run)


def test_behind_a_withheld_answer_nobody_is_asked(talker, tmp_path):
    talker.replies["My chest hurts."] = None
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam(tmp_path, TURNS), models=["vllm/m"])
    assert 1 == len(talker.sent)
    assert [("b/1", "filtered"), ("b/2", "filtered"), ("b/3", "filtered")] == (
        run.responses.select("item", "status").rows()
    )
    assert "not asked: an answer before it was withheld" == run.responses["error"][1]


def test_turns_whose_time_did_not_come_are_left(talker, tmp_path):
    file = write_lines(tmp_path / "prices.yaml", [{"vllm": {"concurrency": 1, "prices": {"m": [1.0, 1.0]}}}])
    talks = [{**TURNS, "id": f"b{k}", "question": f"My chest hurts {k}."} for k in range(9)]
    run, spec = viva.open(tmp_path / "r.viva"), exam(tmp_path, *talks)
    finding = run.collect(spec, models=["vllm/m"], providers=file, max_cost=1e-5)
    assert (1, 26) == (finding.rows[0]["answered"], finding.rows[0]["left"])
    assert "26 are left." in finding.text


def test_what_was_withheld_behind_a_withheld_answer_is_not_left(talker, tmp_path):
    talker.replies["My chest hurts."] = None
    run = viva.open(tmp_path / "r.viva")
    finding = run.collect(exam(tmp_path, TURNS), models=["vllm/m"])
    with run.file.reading() as db:
        (step,) = [step for step in read.provenance(db) if step["verb"] == "collect"]
    assert (0, 0) == (finding.rows[0]["left"], step["left"])


def test_a_turn_reads_as_each_candidate_was_asked_it(talker, tmp_path):
    run = viva.open(tmp_path / "r.viva")
    talker.replies["My chest hurts."] = "Since when?"
    run.collect(exam(tmp_path, TURNS), models=["vllm/m"])
    with run.file.reading() as db:
        (turn,) = [item for item in read.items_by_id(db).values() if item.item == "b/2"]
        asked = EarlierTurns(db).as_asked(turn, "vllm/m", 1)
        assert asked is not None
        assert "User: My chest hurts.\n\nAssistant: Since when?\n\nUser: To my arm." == asked.question
        assert EarlierTurns(db).as_asked(turn, "vllm/m", 2) is None
        assert EarlierTurns(db).as_asked(turn, "vllm/other", 1) is None


def test_examples_cannot_stand_before_a_conversation(tmp_path):
    run = viva.open(tmp_path / "r.viva")
    spec = exam(tmp_path, {"id": "a", "messages": TALK, "references": ["x"]})
    with pytest.raises(InputError, match="is a conversation, before which no example can stand"):
        run.collect(spec, models=["vllm/m"], shots=1)


def test_a_turn_without_the_one_it_follows_is_refused(talker, tmp_path):
    row = {"id": "b/2", "question": "Thanks.", "format": "conversation", "follows": "b/1"}
    with pytest.raises(InputError, match=r"item 'b/2' follows 'b/1', which is no earlier turn"):
        viva.open(tmp_path / "r.viva").collect(exam(tmp_path, row), models=["vllm/m"])
    assert [] == talker.sent


def test_exported_chats_are_the_conversations_as_they_were(talker, tmp_path):
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam(tmp_path, TURNS), models=["vllm/m"])
    run.export(tmp_path / "chats", format="sft")
    lines = [json.loads(line) for line in (tmp_path / "chats" / "sft.jsonl").read_text().splitlines()]
    longest = max((line["messages"] for line in lines), key=len)
    assert ["user", "assistant"] * 3 == [message["role"] for message in longest]
    assert 3 == len(lines)
