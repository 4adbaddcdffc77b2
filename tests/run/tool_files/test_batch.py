"""`viva export --format batch`, answered by a fake, and in again: the rows that `viva collect` stores."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.models.conftest import fake
from tests.run.collect.conftest import exam
from tests.run.tool_files.batch_answers import fake_batch, requests_in

import vivavoce as viva
from vivavoce.core.errors import EgressError, InputError, SelectionError
from vivavoce.run.exchange.tool_files import batch
from vivavoce.run.run import Run

__all__ = ["exam", "fake"]
Exam = Callable[..., str]
CANDIDATE = "openai/gpt-x"
ROWS = (
    *(
        "item",
        "variant",
        "candidate",
        "repeat",
        "status",
        "text",
        "reasoning",
        "finish_reason",
        "tokens",
        "error",
    ),
    "meta",
)


def said(body: dict[str, Any]) -> Any:
    """What the fake answers: it depends on the question, the sampling and the seed."""
    question = body["messages"][-1]["content"]
    if "Question 1?" in question:
        return (400, "Invalid prompt: it is odd")
    if "Question 2?" in question:
        return ""
    return f"I say {len(question)} {body.get('seed')} {body.get('temperature')}"


def calls(run: Run) -> list[tuple[Any, ...]]:
    with run.file.reading() as db:
        return db.execute(
            "SELECT k.key, k.model, k.repeat, kind, purpose, k.status, attempts, input_tokens, "
            "output_tokens, item, variant FROM calls k JOIN responses USING (response_id) "
            "JOIN items USING (item_id) "
            "ORDER BY item, variant, k.repeat, k.status"
        ).fetchall()


def started(tmp_path: Path, spec: str, name: str = "run", **settings: Any) -> Run:
    """A run whose items are there, asked of nobody."""
    run = viva.open(tmp_path / f"{name}.viva")
    run.collect(spec, models=["baseline/echo"], **settings)
    return run


@pytest.mark.parametrize(
    ("candidate", "repeats"),
    [
        (CANDIDATE, 1),
        (f"{CANDIDATE}(max_tokens=20, seed=3, system='Be brief.', temperature=0.5)", 3),
        (f"{CANDIDATE}(shots=2)", 1),
        (f"{CANDIDATE}(confidence=true)", 2),
    ],
)
def test_what_comes_back_is_what_a_collect_stores(
    exam: Exam, fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, candidate: str, repeats: int
) -> None:
    spec = exam(8)
    run = started(tmp_path, spec)
    run.export(tmp_path / "out", format="batch", candidate=candidate, repeats=repeats)
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said), reader="openai-batch")

    async def answer(request: web.Request) -> web.StreamResponse:
        text = said(await request.json())
        if isinstance(text, tuple):
            body: dict[str, Any] = {"error": {"message": text[1], "code": "invalid_prompt"}}
            return web.json_response(body, status=text[0])
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 30, "completion_tokens": 10}
        body = {"model": "gpt-x-2026-01-01", "choices": [{"message": message, "finish_reason": "stop"}]}
        return web.json_response(body | {"usage": usage})

    monkeypatch.setenv("OPENAI_BASE_URL", fake(answer).base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    other = started(tmp_path, spec, "collected")
    other.collect(spec, models=[candidate], repeats=repeats)
    label = candidate
    assert sorted(rows(run, label)) == sorted(rows(other, label))
    assert [call[1:] for call in calls(run)] == [call[1:] for call in calls(other)]
    assert {call[0] for call in calls(run)} == {call[0] for call in calls(other)}


def test_each_row_of_the_results_is_counted(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(8))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    results, errors = fake_batch(tmp_path / "out", tmp_path / "in", said)
    mended = json.loads(results.read_text().splitlines()[0]) | {"response": None, "error": {"code": "x"}}
    errors.write_text(f"{errors.read_text()}{json.dumps(mended)}\n")
    n_rows = sum(len(file.read_text().splitlines()) for file in (results, errors))
    counts = run.import_logs(errors, results).logs[0].row_counts
    assert {"rows": n_rows, "answers": n_rows - 1, "retried": 1} == counts


def rows(run: Run, candidate: str) -> list[tuple[Any, ...]]:
    """The answers, with the cause of a failure as far as both ways state it alike."""
    table = run.responses.filter(candidate=candidate).select(ROWS).to_dicts()
    return [tuple((row | {"error": row["error"] and row["error"][:9]}).values()) for row in table]


def test_the_conversations_can_be_trained_on(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(4))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said))
    (written,) = run.export(tmp_path / "sft", format="sft")
    assert 2 == written.rows


def test_what_is_answered_is_not_asked_again(exam: Exam, tmp_path: Path) -> None:
    """The first batch brings all but a failure; the next asks what failed, and what is new."""
    run = started(tmp_path, exam(4))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    assert 4 == len(requests_in(tmp_path / "out"))
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE, repeats=2)
    assert 5 == len(requests_in(tmp_path / "out"))
    log = run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in2", lambda body: "yes")).logs[0]
    assert (5, 4, 0, 1) == (log.responses, log.new, log.unchanged, log.replaced)
    with pytest.raises(InputError, match="nothing is left to be asked"):
        run.export(tmp_path / "out", format="batch", candidate=CANDIDATE, repeats=2)


def test_a_second_import_changes_nothing(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(4))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    files = fake_batch(tmp_path / "out", tmp_path / "in", said)
    (first,), before = run.import_logs(tmp_path / "in").logs, calls(run)
    assert (4, 4, 1, 1, 4, 0) == (
        first.items, first.responses, first.failed, first.blank, first.new, first.unchanged
    )  # fmt: skip
    (again,) = run.import_logs(*files).logs
    assert (0, 4, 0) == (again.new, again.unchanged, again.replaced)
    assert before == calls(run)


def test_what_a_collect_left_unasked_is_asked(
    exam: Exam, fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answers are refused, so that everything is left; the plan says of whom and how often."""

    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.json_response({"error": "no"}, status=400)

    monkeypatch.setenv("VLLM_BASE_URL", fake(refuse).base_url)
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(3), models=["vllm/m", "baseline/echo"], repeats=2, temperature=0.5)
    (written,) = run.export(tmp_path / "out", format="batch")
    assert ("vllm/m(temperature=0.5)", 6) == (written.candidate, written.rows)
    assert {"candidates: not reached by chat completions": 1} == dict(written.left_out)
    assert {0.5} == {request["body"]["temperature"] for request in requests_in(tmp_path / "out")}


def test_items_asked_alike_are_one_request_and_each_has_its_answer(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(3, change=lambda k: {"question": "The same?"}))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE, providers=prices(tmp_path))
    assert 1 == len(requests_in(tmp_path / "out"))
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said))
    answers = run.responses.filter(candidate=CANDIDATE)
    assert (3, 1) == (answers.height, answers["text"].n_unique())
    assert [0.0, 0.0, 25.0] == sorted(answers["cost"])


def prices(folder: Path) -> Path:
    file = folder / "providers.yaml"
    file.write_text(json.dumps({"openai": {"prices": {"gpt-x": [1_000_000, 2_000_000]}}}))
    return file


def test_a_batch_costs_half_where_a_price_is_known(exam: Exam, tmp_path: Path) -> None:
    """30 tokens in at 1, 10 out at 2: 50, and half of it."""
    run = started(tmp_path, exam(1))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE, providers=prices(tmp_path))
    (log,) = run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said)).logs
    assert ("half the listed price" in log.notes[0], [25.0]) == (
        True, run.responses.filter(candidate=CANDIDATE)["cost"].to_list()
    )  # fmt: skip
    other = started(tmp_path, exam(1), "unpriced")
    other.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    other.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said))
    assert [None] == other.responses.filter(candidate=CANDIDATE)["cost"].to_list()


def test_a_batch_charges_thinking_that_only_the_total_counts(exam: Exam, tmp_path: Path) -> None:
    """100 tokens in at 1, 1,105 less 100 out at 2: 2,110, and half of it."""
    run = started(tmp_path, exam(1))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE, providers=prices(tmp_path))

    def thinking(_: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": "A"}
        usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 1105}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", thinking))
    answers = run.responses.filter(candidate=CANDIDATE)
    assert ([1055.0], [1005]) == (answers["cost"].to_list(), answers["tokens"].to_list())


def test_ids_tell_candidates_repeats_and_words_apart(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(3))
    ids = []
    for candidate in (CANDIDATE, f"{CANDIDATE}(temperature=1.0)", "openai/gpt-y"):
        run.export(tmp_path / "out", format="batch", candidate=candidate, repeats=2)
        ids += [request["custom_id"] for request in requests_in(tmp_path / "out")]
    assert 18 == len(set(ids))
    assert {45} == set(map(len, ids))


def test_a_result_of_another_model_is_a_failure_as_in_a_collect(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(1))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said, model="other"))
    (row,) = run.responses.filter(candidate=CANDIDATE).to_dicts()
    assert ("failed", True) == (row["status"], "'other' answered in place of 'gpt-x'" in row["error"])


def test_what_a_filter_withheld_is_no_failure(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(1))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    filtered = (400, "The response was filtered due to the content_filter policy")
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", lambda body: filtered))
    assert ["filtered"] == run.responses.filter(candidate=CANDIDATE)["status"].to_list()


def test_an_expired_request_is_a_failure_with_its_cause(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(1))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    (request,) = requests_in(tmp_path / "out")
    error = {"code": "batch_expired", "message": "not within 24 h"}
    row = {"id": "x", "custom_id": request["custom_id"], "response": None, "error": error}
    (tmp_path / "errors.jsonl").write_text(json.dumps(row) + "\n")
    run.import_logs(tmp_path / "errors.jsonl")
    (row,) = run.responses.filter(candidate=CANDIDATE).to_dicts()
    assert ("failed", "batch_expired: not within 24 h") == (row["status"], row["error"])


@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": [{"message": 3}]}, {"choices": [{"message": {}}]}]
)
def test_a_reply_without_an_answer_is_a_failure(exam: Exam, tmp_path: Path, body: dict[str, Any]) -> None:
    run = started(tmp_path, exam(1))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", lambda _: body))
    assert ["failed"] == run.responses.filter(candidate=CANDIDATE)["status"].to_list()


def test_results_of_another_run_are_refused_and_nothing_is_stored(exam: Exam, tmp_path: Path) -> None:
    spec = exam(3)
    run = started(tmp_path, spec)
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    files = fake_batch(tmp_path / "out", tmp_path / "in", said)
    other = started(tmp_path, spec, "other")
    with pytest.raises(InputError, match=r"no request of this run has the custom_id 'viva-.*the batch"):
        other.import_logs(*files)
    assert 0 == other.responses.filter(candidate=CANDIDATE).height
    with pytest.raises(InputError, match="knows what its own batch asked"):
        run.import_logs(*files, candidate="me")


def test_two_replies_to_one_request_are_refused(exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(1))
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    (file,) = fake_batch(tmp_path / "out", tmp_path / "in", said)
    file.write_text(file.read_text() * 2)
    with pytest.raises(InputError, match="a second reply to the custom_id"):
        run.import_logs(file)


def test_a_changed_prompt_file_is_noticed(exam: Exam, tmp_path: Path) -> None:
    prompt = tmp_path / "mine.md"
    prompt.write_text("First.\n\n{{ question }}")
    run = started(tmp_path, exam(2))
    run.export(tmp_path / "out", format="batch", candidate=f"{CANDIDATE}(prompt='{prompt}')")
    files = fake_batch(tmp_path / "out", tmp_path / "in", lambda body: "yes")
    run.import_logs(*files)
    prompt.write_text("Second.\n\n{{ question }}")
    with pytest.raises(InputError, match="no request of this run"):
        run.import_logs(*files)
    with pytest.raises(InputError, match="in other words before"):
        run.export(tmp_path / "out", format="batch", candidate=f"{CANDIDATE}(prompt='{prompt}')", repeats=2)


def test_files_are_split_at_the_limits(exam: Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(tmp_path, exam(7))
    whole = run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    longest = max(map(len, (line for line in whole[0].path.read_bytes().splitlines(keepends=True))))
    everything = sorted(request["custom_id"] for request in requests_in(tmp_path / "out"))
    for lines, size, parts in ((3, 10**9, [3, 3, 1]), (10**9, 2 * longest, [2, 2, 2, 1])):
        monkeypatch.setattr(batch, "MOST_LINES", lines)
        monkeypatch.setattr(batch, "MOST_BYTES", size)
        assert parts == [
            file.rows for file in run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
        ]
        assert everything == sorted(request["custom_id"] for request in requests_in(tmp_path / "out"))
    monkeypatch.setattr(batch, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="and a batch takes 10 at most"):
        run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)


def test_a_benchmark_can_be_named_for_a_run_without_items(exam: Exam, tmp_path: Path) -> None:
    run = viva.open(tmp_path / "new.viva")
    run.export(tmp_path / "out", format="batch", benchmark=exam(3), candidate=CANDIDATE)
    run.import_logs(*fake_batch(tmp_path / "out", tmp_path / "in", said))
    assert (3, [CANDIDATE]) == (run.responses.height, run.responses["candidate"].unique().to_list())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"redact": True}, "a request is texts"),
        ({"candidate": "anthropic/claude"}, "is not reached by chat completions"),
        ({"candidate": "baseline/echo"}, "is not reached by chat completions"),
        ({}, "nothing is left to be asked"),
        ({"candidate": CANDIDATE, "repeats": 0}, "repeats"),
    ],
)
def test_what_cannot_be_asked_in_a_batch_is_said(
    exam: Exam, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    run = started(tmp_path, exam(1))
    with pytest.raises((InputError, SelectionError), match=message):
        run.export(tmp_path / "out", format="batch", **options)
    assert not (tmp_path / "out").exists()


def test_what_looks_like_patient_data_needs_a_word(exam: Exam, tmp_path: Path) -> None:
    question = "Mr. John Smith, born 03/04/1950, MRN 12345678, coughs. Why?"
    run = started(tmp_path, exam(1, change=lambda k: {"question": question}))
    with pytest.raises(EgressError, match="say --set allow_phi=true"):
        run.export(tmp_path / "out", format="batch", candidate=CANDIDATE)
    run.export(tmp_path / "out", format="batch", candidate=CANDIDATE, allow_phi=True)


def test_the_command_takes_words(viva: Callable[..., Any], exam: Exam, tmp_path: Path) -> None:
    run = started(tmp_path, exam(2))
    to, words = tmp_path / "out", ["--set", f"candidate={CANDIDATE}(temperature=0.5)", "--set", "repeats=2"]
    viva("export", run.file.path, to, "--format", "batch", *words)
    assert 4 == len(requests_in(to))
    fake_batch(to, tmp_path / "in", said)
    viva("import", run.file.path, tmp_path / "in", "--from", "openai-batch")
    viva("import", run.file.path, tmp_path / "in", "--from", "openai_batch")
