"""Every answer arrives, once: what is asked again, what is not, and what a run holds afterwards."""

import asyncio
import hashlib
import json
import sqlite3
from collections import Counter
from contextlib import closing

import polars as pl
import pytest
from aiohttp import web

import vivavoce as viva
from vivavoce.benchmarks import load, sampled
from vivavoce.core.errors import InputError, SpecError, StoreError
from vivavoce.models.engine import leases, scheduler
from vivavoce.models.engine.writing import MAX_UNSTORED
from vivavoce.store import read, runfile
from vivavoce.store.call_log import call_totals
from vivavoce.store.calls import lease

GOOD = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


def one(finding):
    (row,) = finding.rows
    return row


def calls(run):
    with closing(sqlite3.connect(run.file.path)) as db:
        return db.execute("SELECT status, attempts, cost, response_id FROM calls ORDER BY call_id").fetchall()


# Once.


def test_what_is_answered_is_not_asked_again(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    first = one(run.collect(exam(20), models=["vllm/m"]))
    again = run.collect(exam(20), models=["vllm/m"])
    assert (20, 0, 0) == (first["answered"], first["failed"], first["left"])
    assert (0, 0) == (one(again)["answered"], one(again)["left"])
    assert "Everything was answered already; nobody was asked." == str(again)
    assert [1] * 20 == list(server.seen.values())
    assert 20 == run.responses.height
    told = run.responses.filter(item="q3").row(0, named=True)
    assert told["text"].startswith("answer to Question 3?")
    assert ("vllm/m", "ok", 3, "stop") == (
        told["candidate"],
        told["status"],
        told["tokens"],
        told["finish_reason"],
    )
    assert {"model": "m"} == json.loads(told["meta"])


def test_more_repeats_ask_only_for_what_is_new(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    run.collect(exam(5), models=["vllm/m"], repeats=2)
    found = one(run.collect(exam(5), models=["vllm/m"], repeats=3))
    assert 5 == found["answered"]
    assert [3] * 5 == list(server.seen.values())
    assert [1, 2, 3] == sorted(run.responses["repeat"].unique())


def test_items_added_to_an_exam_are_asked_and_the_others_are_not(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    run.collect(exam(5), models=["vllm/m"])
    assert 2 == one(run.collect(exam(7), models=["vllm/m"]))["answered"]
    assert [1] * 7 == list(server.seen.values())


def test_a_failed_answer_is_tried_again_and_replaced_with_its_marks(exam, fake, monkeypatch, tmp_path):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.0)
    bad = web.json_response({"error": {"message": "maximum context length is 8 tokens"}}, status=400)
    server = fake(lambda request: asyncio.sleep(0, bad), GOOD)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    run = viva.open(tmp_path / "run.viva")
    first = one(run.collect(exam(1), models=["vllm/m"]))
    assert (0, 1) == (first["answered"], first["failed"])
    run.score("exact")
    assert ["failed"] == run.scores["status"].to_list()
    assert 1 == one(run.collect(exam(1), models=["vllm/m"]))["answered"]
    assert [("ok", "yes", None)] == run.responses.select("status", "text", "error").rows()
    assert 0 == run.scores.height
    assert ["failed", "ok"] == [status for status, *_ in calls(run)]


def test_a_question_longer_than_the_context_is_stored_as_failed_with_its_cause(
    viva, exam, fake, monkeypatch, tmp_path
):
    said = {"error": {"message": "This model's maximum context length is 8192 tokens"}}
    server = fake(lambda request: asyncio.sleep(0, web.json_response(said, status=400)))
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    told = viva("collect", tmp_path / "run.viva", exam(3), "--model", "vllm/m", code=1)
    assert "3 failed: 3 x the question is longer than the model's context (HTTP 400" in told.stdout
    assert 3 == len(server.received)


def test_equal_questions_are_asked_once_in_each_repeat(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    same = exam(6, change=lambda k: {"question": f"Question {k % 2}?"})
    found = one(run.collect(same, models=["vllm/m"], repeats=3))
    assert (18, 12) == (found["answered"], found["shared"])
    assert [3, 3] == list(server.seen.values())
    assert 18 == run.responses.height
    for _, told in run.responses.group_by("alias", "repeat"):
        assert told["text"].n_unique() == 2


def test_an_equal_question_that_comes_later_is_not_asked_again(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    run.collect(exam(1), models=["vllm/m"])
    found = one(run.collect(exam(2, change=lambda k: {"question": "Question 0?"}), models=["vllm/m"]))
    assert (1, 1) == (found["answered"], found["shared"])
    assert [1] == list(server.seen.values())
    assert [0.0, None] == sorted([cost for *_, cost, _ in calls(run)], key=lambda c: c is None)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_equal_questions_are_one_request_in_what_was_spent_whenever_they_are_asked(
    exam, endpoint, limits, tmp_path, concurrency
):
    endpoint(latency=0.05)
    run = viva.open(tmp_path / "run.viva")
    file = limits(concurrency=concurrency, prices={"m": [1.0, 1.0]})
    same = exam(6, change=lambda k: {"question": "Question 0?"})
    found = one(run.collect(same, models=["vllm/m"], providers=file))
    with run.file.reading() as db:
        (account,) = call_totals(db)
    assert (1, found["input_tokens"], found["output_tokens"], found["cost"]) == tuple(
        account[name] for name in ("attempts", "input_tokens", "output_tokens", "cost")
    )
    assert 1 == run.responses["tokens"].n_unique()


def test_an_item_that_changes_while_it_is_asked_gets_no_answer_to_what_it_was(
    exam, fake, limits, monkeypatch, tmp_path
):
    run, spec, imported = viva.open(tmp_path / "run.viva"), exam(12), tmp_path / "other.jsonl"
    imported.write_text(json.dumps({"item": "q0", "candidate": "other", "text": "yes"}) + "\n")

    def change():
        changed = exam(12, change=lambda k: {"question": "Another?"} if k == 8 else {})
        viva.open(run.file.path).import_answers(imported, benchmark=changed, new_version=True)

    async def changing(request):
        if len(server.times) == 3:
            await asyncio.to_thread(change)
        return web.json_response(GOOD)

    server = fake(changing)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    assert 12 == one(run.collect(spec, models=["vllm/m"], providers=limits(concurrency=1)))["answered"]
    asked = {f"q{k}" for k in range(12)}
    assert asked - {"q8"} == set(run.responses.filter(candidate="vllm/m")["item"])
    assert 1 == one(run.collect(spec, models=["vllm/m"]))["answered"]
    assert asked == set(run.responses.filter(candidate="vllm/m")["item"])
    assert 13 == len(server.times)


def test_two_settings_are_two_candidates(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    run.collect(exam(2), models=["vllm/m", "vllm/m(temperature=1)"], temperature=0.5)
    assert {"vllm/m(temperature=0.5)", "vllm/m(temperature=1)"} == set(run.responses["candidate"])
    assert [2, 2] == list(server.seen.values())


# Who may ask.


def test_a_second_collect_of_the_same_work_is_refused_and_another_candidate_is_not(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    exam(3)
    run.collect(exam(3), models=["baseline/echo"])
    assert lease(run.file, ["collect exam vllm/m"], "elsewhere, process 7, 1", 60.0) is None
    with pytest.raises(StoreError, match=r"another collect \(elsewhere, process 7\) is asking for the same"):
        run.collect(exam(3), models=["vllm/m"])
    assert {} == server.seen
    assert {"baseline/echo"} == set(run.responses["candidate"])
    assert 3 == one(run.collect(exam(3), models=["vllm/n"]))["answered"]


def test_two_collects_in_one_process_do_not_share_a_lease(exam, endpoint, tmp_path):
    endpoint()
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1), models=["baseline/echo"])
    with (
        leases.leased(run.file, ["collect exam vllm/m"], "collect"),
        pytest.raises(StoreError, match="another collect"),
    ):
        run.collect(exam(1), models=["vllm/m"])
    assert 1 == one(run.collect(exam(1), models=["vllm/m"]))["answered"]


def test_the_lease_of_a_holder_that_is_not_heard_of_ends(exam, endpoint, monkeypatch, tmp_path):
    endpoint()
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1), models=["baseline/echo"])
    lease(run.file, ["collect exam vllm/m"], "elsewhere, process 7, 1", -1.0)
    assert 1 == one(run.collect(exam(1), models=["vllm/m"]))["answered"]


def test_a_lease_that_went_to_another_stops_the_asking(exam, endpoint, limits, monkeypatch, tmp_path):
    """As after a machine slept: here the lease is one of no time, and another takes it."""
    server = endpoint(latency=0.05)
    monkeypatch.setattr(leases, "LEASE_S", 3.0)
    run, stolen = viva.open(tmp_path / "run.viva"), []

    def steal(tally, total):
        if not stolen:
            stolen.append(True)
            with run.file.writing() as db:
                db.execute("UPDATE leases SET holder = 'elsewhere, process 7, 1', until = until + 2")

    with pytest.raises(StoreError, match=r"another collect \(elsewhere, process 7\) has taken over"):
        run.collect(exam(200), models=["vllm/m"], providers=limits(concurrency=2), progress=steal)
    assert 0 < run.responses.height < 200
    assert run.responses.height == sum(server.seen.values())  # each that was paid is stored


def test_what_another_stored_is_not_overwritten_by_a_collect_that_lost_its_lease(
    exam, fake, monkeypatch, tmp_path
):
    run = viva.open(tmp_path / "run.viva")

    async def late(request):
        """The answer comes when another process has taken over, and has stored its own."""
        await asyncio.to_thread(rival)
        return web.json_response(GOOD)

    def rival():
        with run.file.writing() as db:
            db.execute(
                "INSERT INTO responses (item_id, candidate_id, repeat, edit_id, hash, status, text) "
                "SELECT item_id, candidate_id, 1, 0, 'x', 'ok', 'the first' FROM items, candidates"
            )

    def lost(lease):
        raise leases.LeaseLostError("taken over")

    monkeypatch.setenv("VLLM_BASE_URL", fake(late).base_url)
    monkeypatch.setattr(leases.Lease, "check", lost)
    with pytest.raises(StoreError, match="taken over"):
        run.collect(exam(1), models=["vllm/m"])
    with closing(sqlite3.connect(run.file.path)) as db:
        assert [("ok", "the first")] == db.execute("SELECT status, text FROM responses").fetchall()
    assert [("ok", 1)] == [row[:2] for row in calls(run)]  # what it paid is counted


# Inside an event loop, as in a notebook.


def test_collect_works_where_an_event_loop_runs(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")

    async def cell():
        return run.collect(exam(30), models=["vllm/m"])

    assert 30 == one(asyncio.run(cell()))["answered"]
    assert [1] * 30 == list(server.seen.values())


def test_what_breaks_inside_an_event_loop_is_raised_there(exam, endpoint, tmp_path):
    endpoint()
    run = viva.open(tmp_path / "run.viva")

    def broken(tally, total):
        raise ValueError("no such bar")

    async def cell():
        run.collect(exam(3), models=["vllm/m"], progress=broken)

    with pytest.raises(ValueError, match="no such bar"):
        asyncio.run(cell())


# Disk, cost, rehearsal.


def test_on_a_full_disk_what_came_stays_and_the_same_call_goes_on(
    exam, endpoint, limits, monkeypatch, tmp_path
):
    server, run, opened = endpoint(), viva.open(tmp_path / "run.viva"), runfile._open
    spec, asked = exam(300, change=lambda k: {"question": f"{k}? " + "word " * 200}), limits(concurrency=4)

    def limited(address):
        db = opened(address)
        db.execute("PRAGMA max_page_count = 180")
        return db

    with monkeypatch.context() as patch:
        patch.setattr(runfile, "_open", limited)
        with pytest.raises(StoreError, match=r"the disk is full: .* what was there before is safe"):
            run.collect(spec, models=["vllm/m"], providers=asked)
    stored = set(run.responses["item"])
    before = server.seen
    assert 0 < len(stored) < 300
    assert 300 - len(stored) == one(run.collect(spec, models=["vllm/m"], providers=asked))["answered"]
    assert 300 == run.responses.height
    assert sum(server.seen.values()) <= 300 + sum(before.values()) - len(stored)
    assert sum(before.values()) - len(stored) <= 4 + MAX_UNSTORED


def test_max_cost_stops_before_it_is_passed_and_says_so(exam, endpoint, limits, tmp_path):
    endpoint()
    run = viva.open(tmp_path / "run.viva")
    priced = limits(concurrency=1, prices={"m": [1e6, 0]})  # 11 tokens in: 11 a request
    found = run.collect(exam(20), models=["vllm/m"], providers=priced, max_cost=60)
    assert (5, 15, 55.0) == (one(found)["answered"], one(found)["left"], one(found)["cost"])
    assert "another request might pass --max-cost 60 (55.0000 spent)" in str(found)
    assert 55.0 == run.responses["cost"].sum()


def test_max_cost_without_a_price_or_an_amount_asks_nobody(exam, endpoint, limits, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    asked = {"models": ["baseline/echo", "vllm/m"]}
    with pytest.raises(InputError, match=r"the price of vllm/m is not known, .* or leave --max-cost out\.$"):
        run.collect(exam(2), **asked, max_cost=1)
    for amount in (-1, float("nan")):
        with pytest.raises(InputError, match="--max-cost"):
            run.collect(exam(2), **asked, max_cost=amount, providers=limits(prices={"m": [1, 1]}))
    assert ({}, False) == (server.seen, run.file.exists)


def test_replies_that_do_not_say_their_tokens_count_for_max_cost(exam, fake, limits, monkeypatch, tmp_path):
    server = fake(GOOD)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    priced = limits(concurrency=1, prices={"m": [0, 1e6]})  # 10 a request, by max_tokens
    run = viva.open(tmp_path / "run.viva")
    found = run.collect(exam(9), models=["vllm/m"], providers=priced, max_tokens=10, max_cost=35)
    assert (3, 6, None) == (one(found)["answered"], one(found)["left"], one(found)["cost"])
    assert 3 == len(server.received)


def test_a_plan_names_no_difference_above_one(exam, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    for n, words in (
        (3, "no difference in accuracy short of everything."),
        (4, "accuracy of 0.93 if they differ on 20% of the cases, none short of everything if on 50%."),
    ):
        assert words in str(run.collect(exam(n), models=["baseline/echo"], dry_run=True))


def test_a_dry_run_sends_nothing_and_stores_nothing(exam, endpoint, limits, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    priced = limits(prices={"m": [1.0, 2.0]})
    found = run.collect(
        exam(10), models=["vllm/m"], repeats=2, max_tokens=100, dry_run=True, providers=priced
    )
    row = one(found)
    assert ({}, False) == (server.seen, run.file.exists)
    asked = sum(len(f"Question {k}?\n\nAnswer in a phrase or at most two sentences.") for k in range(10)) * 2
    assert (20, 0, asked // 4, 2000) == (
        row["calls"], row["answered"], row["input_tokens"], row["output_tokens"],
    )  # fmt: skip
    assert pytest.approx((asked // 4 + 2 * 2000) / 1e6) == row["cost"]


def test_a_dry_run_counts_only_what_is_left(exam, endpoint, tmp_path):
    endpoint()
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(4), models=["vllm/m"])
    row = one(run.collect(exam(6), models=["vllm/m"], repeats=2, dry_run=True))
    assert (8, 4, None) == (row["calls"], row["answered"], row["cost"])


# Looks.


def test_answers_that_come_after_a_comparison_are_a_look(exam, endpoint, tmp_path):
    endpoint()
    run = viva.open(tmp_path / "run.viva")
    asked = {"models": ["vllm/m", "baseline/reference"]}
    assert not one(run.collect(exam(5), **asked))["look"]
    run.score("exact")
    assert 1 == run.compare("vllm/m", "baseline/reference", metric="exact").rows[0]["looks"]
    assert not one(run.collect(exam(5), **asked))["look"]  # nothing came
    found = run.collect(exam(5), **asked, repeats=2)
    assert one(found)["look"]
    assert str(found).endswith("had been seen before: these answers are recorded as a look at it.")
    with run.file.reading() as db:
        assert 1 == len(read.findings(db, "collect"))
    assert 1 == run.compare("vllm/m", "baseline/reference", metric="exact").rows[0]["looks"]  # not scored yet
    run.score("exact")
    assert 2 == run.compare("vllm/m", "baseline/reference", metric="exact").rows[0]["looks"]


# Samples.


def sized(exam, n=100):
    return exam(n, change=lambda k: {"category": "rare" if k % 10 == 0 else "common"})


def test_a_sample_is_stratified_and_its_weights_sum_to_the_questions(exam, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    found = one(run.collect(sized(exam), models=["baseline/reference"], sample="20%"))
    assert 20 == found["answered"]
    told = dict(run.items.group_by("category").agg(pl.col("weight").sum()).rows())
    assert {"rare": 10.0, "common": 90.0} == told
    assert {"rare": 2, "common": 18} == dict(run.items.group_by("category").len().rows())


def test_a_larger_sample_holds_the_smaller_one_and_a_share_is_a_number(exam, tmp_path):
    drawn = []
    for k, size in enumerate(("10%", 10, "30%", 100)):
        run = viva.open(tmp_path / f"run{k}.viva")
        run.collect(sized(exam), models=["baseline/echo"], sample=size)
        drawn.append(set(run.items["item"]))
    assert drawn[0] == drawn[1] < drawn[2] < drawn[3]
    assert [10, 10, 30, 100] == list(map(len, drawn))


def test_a_run_with_another_sample_is_refused_and_nothing_is_asked(exam, endpoint, tmp_path):
    server, run = endpoint(), viva.open(tmp_path / "run.viva")
    run.collect(sized(exam), models=["vllm/m"], sample=10)
    for other in (20, None):
        with pytest.raises(InputError, match=r"another sample of exam \(10 items, not (20|100)\)"):
            run.collect(sized(exam), models=["vllm/m"], sample=other)
    assert 10 == len(server.seen)
    assert 10 == one(run.collect(sized(exam), models=["vllm/m"], sample=10, repeats=2))["answered"]


def test_the_first_draw_is_the_sample_of_before_and_others_are_as_large(exam):
    items = load(sized(exam)).items
    first = [item.item for item in sampled(items, "20%")]
    rare = [item.item for item in items if item.category == "rare"]
    before = sorted(rare, key=lambda name: hashlib.sha256(f"sample|{name}".encode()).digest())[:2]
    assert set(before) == set(first) & set(rare)
    assert sampled(items, "20%") == sampled(items, "20%", 1)
    draws = [sampled(items, "20%", n) for n in range(1, 41)]
    assert {len(first)} == {len(drawn) for drawn in draws}
    assert 40 == len({frozenset(item.item for item in drawn) for drawn in draws})
    assert all(len(items) == pytest.approx(sum(item.weight for item in drawn)) for drawn in draws)
    assert draws[1] == sampled(items[::-1], "20%", 2)[::-1]
    times = Counter(item.item for drawn in draws for item in drawn)
    # each of 100 questions is in a fifth of 40 draws: 8 of them, with a standard deviation of 2.5
    assert 100 == len(times)
    assert max(times.values()) < 20


def test_a_larger_sample_of_a_draw_holds_the_smaller_one(exam):
    items = load(sized(exam)).items
    small, large = ({item.item for item in sampled(items, size, 3)} for size in ("10%", "30%"))
    assert small < large


def test_another_draw_is_refused_in_the_same_run_and_the_same_one_joined(exam, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    run.collect(sized(exam), models=["baseline/echo"], sample=10, draw=2)
    with pytest.raises(InputError, match=r"10 items, \d+ of which are not in this one\): ask for the same "):
        run.collect(sized(exam), models=["baseline/echo"], sample=10)
    assert 10 == one(run.collect(sized(exam), models=["baseline/reference"], sample=10, draw=2))["answered"]
    assert 2 == json.loads(collected(run)[0])["draw"]


def test_two_draws_are_not_merged(exam, tmp_path):
    runs = [viva.open(tmp_path / f"{n}.viva") for n in (1, 2, 3)]
    for run, draw in zip(runs, (1, 2, 2), strict=True):
        run.collect(sized(exam), models=["baseline/echo"], sample=10, draw=draw)
    with pytest.raises(InputError, match="draw 2 of a sample of exam was asked there, and draw 1 here"):
        runs[0].merge(runs[1].file.path)
    runs[1].merge(runs[2].file.path)
    assert 10 == runs[1].items.height


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"draw": 2}, "--draw 2 says which sample is asked"), ({"sample": 5, "draw": 0}, "numbered from 1"),
     ({"sample": 5, "draw": -1}, "--draw -1: draws are numbered from 1")],
)  # fmt: skip
def test_a_draw_that_cannot_be_had_is_refused(exam, tmp_path, options, sentence):
    with pytest.raises(InputError, match=sentence):
        viva.open(tmp_path / "run.viva").collect(sized(exam), models=["baseline/echo"], **options)


def collected(run):
    with run.file.reading() as db:
        return [body for (body,) in db.execute("SELECT body FROM provenance WHERE verb = 'collect'")]


def test_estimates_weigh_a_sample(exam, tmp_path):
    """Two of 10 rare and 2 of 30 common questions: the means are weighted 10 to 30."""
    spec = exam(40, change=lambda k: {"category": "rare" if k < 10 else "common",
                                      "answer": "yes" if k < 10 else f"answer {k}"})  # fmt: skip
    recorded = tmp_path / "recorded.jsonl"
    tail = "\n\nAnswer in a phrase or at most two sentences."
    lines = (json.dumps({"prompt": f"Question {k}?{tail}", "text": "yes"}) for k in range(40))
    recorded.write_text("\n".join(lines))
    run = viva.open(tmp_path / "run.viva")
    run.collect(spec, models=[f"replay(path={recorded})"], sample=4)
    counts = dict(run.items.group_by("category").len().rows())
    assert {"rare": 1, "common": 3} == counts
    (row,) = run.score("exact").rows
    assert pytest.approx(0.25) == row["estimate"]


def test_a_sample_that_cannot_be_had_is_refused(exam, tmp_path):
    for size in ("0", "101", "ten", "150%"):
        with pytest.raises(InputError, match=f"--sample {size}: write a share such as 10%"):
            viva.open(tmp_path / "run.viva").collect(sized(exam), models=["baseline/echo"], sample=size)


def test_a_number_below_one_question_of_each_category_is_refused(exam, tmp_path):
    spec = exam(34, change=lambda k: {"category": f"c{k % 17}"})
    run = viva.open(tmp_path / "run.viva")
    with pytest.raises(InputError, match=r"--sample 2: there are 17 categories, .*: ask for 17 or more\."):
        run.collect(spec, models=["baseline/echo"], sample=2)
    assert 17 == one(run.collect(spec, models=["baseline/echo"], sample=17))["answered"]


# What there is to name.


def test_settings_out_of_range_are_refused_before_anything_is_sent(exam, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    for setting, words in (({"temperature": -1}, "--temperature -1: a number from 0 to 10"),
                           ({"top_p": 0}, "--top-p 0: a number above 0 and at most 1"),
                           ({"max_tokens": 0}, "--max-tokens 0: a whole number from 1"),
                           ({"shots": -1}, "--shots -1: a whole number from 0")):  # fmt: skip
        with pytest.raises(SpecError, match=words):
            run.collect(exam(2), models=["vllm/m"], **setting)
    assert not run.file.exists
