"""What is sent to a judge and to whom, in which form, and for how much."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import TOKENS, FakeJudge
from tests.studies.making import exam, made, twins

from vivavoce.core.errors import EgressError, InputError, ModelError, StoreError
from vivavoce.models.engine import client
from vivavoce.run.run import Run
from vivavoce.store import read
from vivavoce.store.checksums import delete_scores
from vivavoce.store.sqlite_errors import Unwritable
from vivavoce.store.table_hashes import renew_table_hashes

ProvidersFile = Callable[..., Path]
CORRECTNESS = "judge(rubric=correctness, model=fake/j1)"
MEDGPT = "judge(rubric=medgpt, model=fake/j1)"
ELSEWHERE = "https://judge.invalid/v1"
KEY = "sk-fake-0123456789abcdef0123456789abcdef"
PATIENT = "Mrs Agatha Smith, born 12 March 1948, MRN 00482913, has pneumonia."


@pytest.fixture(autouse=True)
def _nobody_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches the network: a name that is looked up all the same is an error of the test."""
    import socket

    asked = socket.getaddrinfo

    def local(host: Any, *words: Any, **settings: Any) -> Any:
        assert host in ("127.0.0.1", "localhost", None), f"{host} was looked up"
        return asked(host, *words, **settings)

    monkeypatch.setattr(socket, "getaddrinfo", local)


def nothing_came_of_it(run: Run) -> None:
    with run.file.reading() as db:
        assert (0,) == db.execute("SELECT count(*) FROM calls").fetchone()
    assert 0 == run.scores.height


def guarded(run: Run, benchmark: str = "exam") -> None:
    """Let the card of a benchmark say that it is credentialed."""
    with run.file.writing() as db:
        db.execute(
            "UPDATE benchmarks SET card = json_set(card, '$.access', 'credentialed') WHERE benchmark = ?",
            (benchmark,),
        )
        renew_table_hashes(db)
    with run.file.reading() as db:
        assert "credentialed" in [b.card.access for b in read.benchmarks(db) if b.benchmark == benchmark]


def test_offline_a_judge_elsewhere_is_refused_before_anything_is_sent(
    tmp_path: Path, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(EgressError, match=r"offline: 'judge\.invalid' is not this machine, so nothing was"):
        run.score(CORRECTNESS, providers=providers_file(base_url=ELSEWHERE), offline=True)
    nothing_came_of_it(run)


def test_offline_a_judge_on_this_machine_marks(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    assert 1.0 == run.score(CORRECTNESS, providers=providers_file(), offline=True).rows[0]["estimate"]


def test_items_of_a_credentialed_benchmark_go_only_where_they_may(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    guarded(run)
    for allow in ((), ("other.invalid",)):
        with pytest.raises(EgressError, match=r"credentialed: .* say --allow judge\.invalid\. Nothing was"):
            run.score(CORRECTNESS, providers=providers_file(base_url=ELSEWHERE), allow=allow)
    nothing_came_of_it(run)
    run.score(CORRECTNESS, providers=providers_file())  # this machine is nobody else
    assert 1 == len(judge.sent)


def test_items_that_look_like_patients_need_a_word(tmp_path: Path, providers_file: ProvidersFile) -> None:
    item = {"item": "q1", "question": f"{PATIENT} What next?", "references": ["x"], "format": "short"}
    run = made(tmp_path, {"A": {"q1": "x"}}, items=[item])
    with pytest.raises(EgressError, match=r"1 item of 1 looks as if .* say --allow-phi") as error:
        run.score(CORRECTNESS, providers=providers_file(base_url=ELSEWHERE))
    assert "Agatha" not in str(error.value)
    nothing_came_of_it(run)


def test_answers_that_look_like_patients_need_a_word(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """What a candidate made up, or repeated of what it was shown elsewhere, is sent to the judge too."""
    run = made(tmp_path, {"A": {"q1": PATIENT, "q2": "x"}})
    with pytest.raises(EgressError, match=r"one of the answers looks as if it held patient data") as error:
        run.score(CORRECTNESS, providers=providers_file(base_url=ELSEWHERE))
    assert "judge.invalid" in str(error.value)
    assert "Agatha" not in str(error.value)
    nothing_came_of_it(run)
    run.score(CORRECTNESS, providers=providers_file())  # this machine is not elsewhere
    assert 2 == len(judge.sent)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge counts as one at another machine, whose name is 127.0.0.1."""
    monkeypatch.setattr("vivavoce.models.engine.egress.is_local", lambda host: False)


def test_a_word_lets_it_go(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, far: None
) -> None:
    run = made(tmp_path, {"A": {"q1": PATIENT}})
    guarded(run)
    with pytest.raises(EgressError, match="--allow 127"):
        run.score(CORRECTNESS, providers=providers_file(), allow_phi=True)
    with pytest.raises(EgressError, match="--allow-phi"):
        run.score(CORRECTNESS, providers=providers_file(), allow=["127.0.0.1"])
    assert [] == judge.sent
    run.score(CORRECTNESS, providers=providers_file(), allow=["127.0.0.1"], allow_phi=True)
    assert [(PATIENT,)] == [sent.answers for sent in judge.sent]


def test_only_what_would_be_sent_is_looked_at(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, far: None
) -> None:
    """q2's answer names a patient and the other benchmark is guarded; neither is asked about."""
    (tmp_path / "part").mkdir()
    part = exam(tmp_path / "part", ["q1"])
    run = made(tmp_path, {"A": {"q1": "x", "q2": PATIENT}})
    made(tmp_path, {"A": {"r1": "y"}}, name="other", run=run)
    guarded(run, "other")
    run.score(CORRECTNESS, items=part, providers=providers_file())
    assert [("x",)] == [sent.answers for sent in judge.sent]


def test_a_key_is_kept_nowhere(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the endpoint repeats it, in a reply or an error."""
    monkeypatch.setenv("FAKE_JUDGE_KEY", KEY)
    run = made(tmp_path, {"A": {"q1": "loud", "q2": "indiscreet", "q3": "x"}})
    judge.manners = {name: (name,) for name in ("loud", "indiscreet")}
    run.score(CORRECTNESS, providers=providers_file(key="FAKE_JUDGE_KEY"))
    assert {f"Bearer {KEY}"} == {sent.headers["Authorization"] for sent in judge.sent}
    assert ["failed", "failed", "ok"] == run.scores.sort("item")["status"].to_list()
    run.report(tmp_path / "report.html")
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert run.file.path in files
    assert all(KEY.encode() not in file.read_bytes() for file in files)


def test_without_its_key_nobody_is_asked(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(ModelError, match="set the environment variable FAKE_JUDGE_NO_KEY"):
        run.score(CORRECTNESS, providers=providers_file(key="FAKE_JUDGE_NO_KEY"))
    assert [] == judge.sent


# Structured output.


def test_the_schema_is_sent_where_it_is_taken(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    run.score(CORRECTNESS, providers=providers_file())
    for sent in judge.sent:
        assert sent.schema is not None
        assert ["reason", "correct"] == list(sent.schema["properties"])
        assert [0, 0.5, 1] == sent.schema["properties"]["correct"]["enum"]


def test_a_schema_that_is_refused_is_not_sent_again_and_the_marks_are_the_same(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """One request is refused in a call of the program, whatever the number of answers and of passes."""
    answers = {"A": twins([f"worth {k / 2}" for k in range(3)] * 2)}
    taken, refused = made(tmp_path / "taken", answers), made(tmp_path / "refused", answers)
    taken.score(CORRECTNESS, passes=2, providers=providers_file())
    judge.takes_schema = False
    judge.sent.clear()
    refused.score(CORRECTNESS, passes=2, providers=providers_file())
    assert 1 == sum(sent.schema is not None for sent in judge.sent)
    assert judge.sent[0].schema
    assert 12 == sum(sent.schema is None for sent in judge.sent)
    columns = ("item", "pass_no", "value", "status")
    assert taken.scores.select(columns).equals(refused.scores.select(columns))


def test_a_first_request_that_is_merely_lost_says_nothing_of_schemas(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """One attempt is all there is, so a lost first request looks like a refused one; it is not asked bare."""
    run = made(tmp_path, {"A": {"q1": "lost", "q2": "y"}})
    judge.manners = {"lost": ("500",)}
    run.score(CORRECTNESS, providers=providers_file(attempts=1))
    assert [True, True] == [sent.schema is not None for sent in judge.sent]


def test_one_answer_that_is_refused_costs_the_others_no_schema(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "refused", "q2": "y", "q3": "z"}})
    judge.manners = {"refused": ("400",)}
    run.score(CORRECTNESS, providers=providers_file())
    assert ["failed", "ok", "ok"] == run.scores["status"].to_list()
    assert all(sent.schema for sent in judge.sent if sent not in judge.about("refused"))


def test_structured_false_never_sends_a_schema(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    run.score("judge(rubric=correctness, model=fake/j1, structured=false)", providers=providers_file())
    assert [None, None] == [sent.schema for sent in judge.sent]


def test_models_of_one_name_at_two_endpoints_are_told_apart(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """What one of them takes says nothing of the other."""
    file = providers_file()
    settings = json.loads(file.read_text())["fake"]
    file.write_text(json.dumps({"fake": settings, "mock": settings}))
    run = made(tmp_path, {"A": {"q1": "x"}})
    judge.takes_schema = False
    run.score(CORRECTNESS, "judge(rubric=correctness, model=mock/j1)", providers=file)
    assert [True, False, True, False] == [sent.schema is not None for sent in judge.sent]


# Money.


def test_without_a_price_there_is_no_limit_to_keep(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(InputError, match="the price of fake/j1 is not known, so the limit could not be kept"):
        run.score(CORRECTNESS, providers=providers_file(), max_cost=1.0)
    assert [] == judge.sent


def test_a_limit_stops_the_asking_and_what_came_costs_nothing_again(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """A reply costs 1000 x 3 + 100 x 10 = 4000 per million: 0.004. Five are possible with 0.021."""
    assert 4000 == TOKENS["prompt_tokens"] * 3 + TOKENS["completion_tokens"] * 10
    file = providers_file(concurrency=1, prices={"j1": [3.0, 10.0]})
    run = made(tmp_path, {"A": twins([f"answer {k}" for k in range(8)])})
    with pytest.raises(ModelError, match=r"might pass --max-cost 0\.0.* What came is stored"):
        run.score(CORRECTNESS, providers=file, max_cost=0.021)
    assert 5 == len(judge.sent)
    with run.file.reading() as db:
        assert pytest.approx(0.02) == db.execute("SELECT sum(cost) FROM calls").fetchone()[0]
    found = run.score(CORRECTNESS, providers=file, max_cost=0.0121)
    assert 8 == len(judge.sent) == len({sent.answers for sent in judge.sent})
    assert 1.0 == found.rows[0]["coverage"]


def test_one_limit_holds_for_all_judges_and_passes_of_a_command(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    file = providers_file(concurrency=1, prices={"j1": [3.0, 10.0], "j2": [3.0, 10.0]})
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    with pytest.raises(ModelError, match="might pass --max-cost"):
        run.score(
            CORRECTNESS, "judge(rubric=correctness, model=fake/j2)", passes=2, providers=file, max_cost=0.0201
        )
    assert ["j1"] * 4 + ["j2"] == [sent.body["model"] for sent in judge.sent]


def test_a_limit_counts_replies_that_do_not_say_their_tokens(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They count by their characters, in the first pass and in the second alike."""
    monkeypatch.setattr("tests.judging.fake_judge.TOKENS", None)
    file = providers_file(concurrency=1, prices={"j1": [1000.0, 1000.0]})
    run = made(tmp_path, {"A": {"q1": "x"}})
    run.score(CORRECTNESS, providers=file)
    each = sum(len(content) for _, content in judge.sent[0].messages) // 4 * 1000e-6
    other = made(tmp_path / "other", {"A": {"q1": "x"}})
    judge.sent.clear()
    with pytest.raises(ModelError, match="might pass --max-cost"):
        other.score(CORRECTNESS, passes=5, providers=file, max_cost=2.5 * each)
    assert 2 == len(judge.sent)


def test_what_was_sent_and_paid_stands_in_the_run(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    run.score(CORRECTNESS, "exact", providers=providers_file(prices={"j1": [3.0, 10.0]}))
    with run.file.reading() as db:
        (step,) = [step for step in read.provenance(db) if step["verb"] == "ask"]
    assert pytest.approx(0.008) == step["cost"]
    assert ["judge(model=fake/j1, rubric=correctness)"] == step["metrics"]
    sent = sum(len(content) for one in judge.sent for _, content in one.messages)
    assert [{"endpoint": judge.base_url.removesuffix("/v1"), "requests": 2, "characters": sent}] == step[
        "sent"
    ]


def test_what_was_sent_and_paid_stands_in_the_run_though_the_replies_could_not_be_stored(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, late: bool) -> None:
        raise Unwritable("the disk is full.")

    monkeypatch.setattr(client, "put_calls", full)
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    with pytest.raises(StoreError, match="the disk is full"):
        run.score(CORRECTNESS, providers=providers_file(prices={"j1": [3.0, 10.0]}))
    with run.file.reading() as db:
        (step,) = [step for step in read.provenance(db) if step["verb"] == "ask"]
    (sent,) = step["sent"]
    assert len(judge.sent) == sent["requests"] > 0
    assert pytest.approx(0.004 * len(judge.sent)) == step["cost"]
    assert 0 == step["answered"]


def test_what_broke_is_said_though_the_account_cannot_be_stored_either(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object, **__: object) -> None:
        raise StoreError("kept locked by another process.")

    monkeypatch.setattr("vivavoce.run.score.put_provenance", locked)
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    with pytest.raises(ModelError, match="might pass --max-cost"):
        run.score(
            CORRECTNESS, providers=providers_file(concurrency=1, prices={"j1": [3.0, 10.0]}), max_cost=0.005
        )
    with pytest.raises(StoreError, match="kept locked"):
        run.score(CORRECTNESS, providers=providers_file())


def test_a_reply_of_another_model_is_refused_unless_it_is_accepted(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    judge.manners = {"x": ("someone else",)}
    assert 1 == run.score(CORRECTNESS, providers=providers_file()).rows[0]["n_failed"]
    accepted = providers_file(accept={"j1": ["another-model"]})
    assert 0 == run.score(CORRECTNESS, providers=accepted).rows[0]["n_failed"]


def test_what_is_known_without_a_schema_is_not_asked_again_with_one(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """Though the endpoint is down by now: nothing needs it."""
    judge.takes_schema = False
    run = made(tmp_path, {"A": {"q1": "worth 1", "q2": "worth 0.5"}})
    run.score(CORRECTNESS, providers=providers_file())
    sent = len(judge.sent)
    with run.file.writing() as db:
        delete_scores(db, "true")
    run.score(CORRECTNESS, providers=providers_file())
    assert sent == len(judge.sent)
    assert [0.5, 1.0] == sorted(run.scores["value"])
