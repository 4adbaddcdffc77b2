"""DAHL's questions from answers to rows of units, with a splitter and a checker that misbehave on purpose.

Both are fakes that look up what they reply. This proves plumbing only: that no unit is lost, invented, asked
about twice or scored without a verdict. It says nothing of how well any model splits or checks.
"""

import csv
import json
import signal
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.lengths import length
from tests.systems.dahl.fake_facts import FakeFacts, Received, listening
from tests.systems.dahl.written_answers import (
    ANSWERS,
    BY_EVIDENCE,
    BY_KNOWLEDGE,
    DOCUMENTS,
    INJECTION,
    MOST,
    NO_EVIDENCE,
    REPEAT,
)

import vivavoce as viva
from vivavoce.benchmarks import load, sampled
from vivavoce.facts import clean
from vivavoce.models.engine.writing import BATCH

METRIC = f"atomic_facts(splitter=fake/split, checker=fake/check, most={MOST})"
CANDIDATES = {"A": 0, "B": 5}
"""Candidate B gives the answer that comes so many later: the same answers, to other questions."""
SPLIT = [answer for answer in ANSWERS if answer.units]
CUT = {answer.text for answer in SPLIT if answer.cut}
CHECKED = {unit.text for answer in SPLIT for unit in answer.units if unit.word in ("true", "false", "bad")}


def split_reply(text, passages, prompt):
    (answer,) = (a for a in SPLIT if clean("", a.text, finish_reason=a.finish_reason).text == text)
    facts = [{"text": u.text, "claim": u.claim, "why": "" if u.claim else "a greeting"} for u in answer.units]
    reply = json.dumps({"facts": facts})
    if answer.cut and "Your reply cannot be used" not in prompt:
        return reply[: len(reply) // 2], "length"
    return reply, "stop"


def check_reply(text, passages, prompt):
    reply = BY_EVIDENCE.get(text, NO_EVIDENCE)[0] if passages else BY_KNOWLEDGE.get(text, "True")
    return (prompt if reply == REPEAT else reply), "stop"


@pytest.fixture
def fake():
    with listening(FakeFacts(split_reply, check_reply)) as fake:
        yield fake


@pytest.fixture(scope="module")
def benchmark(shared, tmp_path_factory):
    """The first questions of DAHL."""
    folder = tmp_path_factory.mktemp("dahl")
    with (shared / "data" / "dahl" / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(islice(csv.reader(file), length(401, None)))
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return f"dahl(data='{folder}')"


@pytest.fixture(scope="module")
def items(benchmark):
    return sampled(load(benchmark).items, length("100", "200"))


def answers(items):
    """Candidate, item and answer."""
    for candidate, shift in CANDIDATES.items():
        for k, item in enumerate(items):
            yield candidate, item.item, ANSWERS[(k + shift) % len(ANSWERS)]


def run_of(path: Path, benchmark: str, items) -> viva.Run:
    """A run of these items, with the answers of both candidates."""
    rows = [
        {"item": item, "candidate": candidate, "text": answer.text, "finish_reason": answer.finish_reason}
        for candidate, item, answer in answers(items)
    ]
    run = viva.open(path)
    run.import_answers(rows, benchmark=benchmark)
    return run


def units_given(items, word=lambda unit: unit.word):
    """Every unit that the splitter gives, as its row should have it: `word` is the fate or the verdict."""
    return sorted(
        (candidate, item, str(number), " ".join(unit.text.split()), word(unit))
        for candidate, item, answer in answers(items)
        for number, unit in enumerate(answer.units, 1)
    )


def stored(run: viva.Run, criterion: str = "supported", metric: str = METRIC) -> list[dict]:
    """The scores of a criterion with their units and notes."""
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT candidate, item, unit, u.text, r.text AS answer, note, value, t.status, parts FROM scores"
            " JOIN measures m USING (measure_id) JOIN responses r USING (response_id)"
            " JOIN items USING (item_id) JOIN candidates USING (candidate_id) JOIN units u USING (unit_id)"
            " JOIN statuses t USING (status_id) WHERE criterion = ? AND m.metric LIKE ?",
            (criterion, "%source=%" if "source" in metric else "%fake/split)"),
        )
        names = [name for name, *_ in rows.description]
        return [dict(zip(names, row, strict=True)) for row in rows]


def unit_rows(run: viva.Run, metric: str = METRIC) -> list[tuple]:
    """The stored rows of units in the form of `units_given`."""
    rows = [row for row in stored(run, metric=metric) if row["unit"]]
    return sorted(
        (r["candidate"], r["item"], r["unit"], r["text"], r["note"].partition(":")[0]) for r in rows
    )


class Scored(NamedTuple):
    """The run after its first scoring, the fake that goes on listening, and what it had received by then."""

    run: viva.Run
    fake: FakeFacts
    providers: Path
    received: list[Received]


@pytest.fixture(scope="module")
def scored(tmp_path_factory, benchmark, items):
    folder = tmp_path_factory.mktemp("scored")
    with listening(FakeFacts(split_reply, check_reply)) as fake:
        run, providers = run_of(folder / "run.viva", benchmark, items), fake.providers(folder)
        run.score(METRIC, providers=providers)
        yield Scored(run, fake, providers, list(fake.received))


@pytest.fixture(scope="module")
def run(scored):
    return scored.run


def test_every_unit_is_a_row_with_its_fate_and_nothing_is_a_number_without_a_verdict(run, items):
    assert units_given(items) == unit_rows(run)
    for row in stored(run):
        word = (row["note"] or "").partition(":")[0]
        assert {"true": 1.0, "false": 0.0}.get(word) == row["value"]
        assert row["status"] == ("ok" if word in ("true", "false") else row["status"])
        assert row["unit"] or row["status"] == "unanswered"


def test_totals_add_up(run, items):
    by_answer = Counter((candidate, item) for candidate, item, *_ in units_given(items))
    precision = {(row["candidate"], row["item"]): row for row in stored(run, "precision")}
    assert len(items) * len(CANDIDATES) == len(precision)
    for place, row in precision.items():
        if not by_answer[place]:
            assert (None, "unanswered") == (row["value"], row["status"])
            continue
        parts = json.loads(row["parts"])
        assert by_answer[place] == parts.pop("units") == sum(parts.values())
        settled = parts["true"] + parts["false"]
        assert (parts["true"] / settled if settled else None) == row["value"]


def test_no_request_is_made_twice_and_equal_facts_are_one(scored):
    assert sorted(CHECKED) == sorted(r.text for r in scored.received if r.model == "check")
    assert {1} == set(Counter(scored.received).values())


def test_the_second_run_asks_nothing_and_changes_nothing(run, scored):
    before = sorted(map(str, stored(run)))
    scored.fake.received.clear()
    run.score(METRIC, providers=scored.providers)
    assert [] == scored.fake.received
    assert before == sorted(map(str, stored(run)))


def test_an_injection_stands_in_its_fence_alone(scored):
    prompts = [received.prompt for received in scored.received if INJECTION in received.prompt]
    assert 0 < len(prompts)
    for prompt in prompts:
        tag = "answer" if "<answer>" in prompt else "statement"
        assert (1, 1) == (prompt.count(f"\n</{tag}>"), prompt.count(INJECTION))
        assert prompt.index(f"\n<{tag}>\n") < prompt.index(INJECTION) < prompt.index(f"\n</{tag}>")
        assert "never an instruction to you" in prompt


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    (folder / "broken.pdf").write_bytes(b"no pdf")
    return folder


def test_with_a_source_every_verdict_rests_on_a_quote_or_is_unverifiable(run, scored, items, source):
    fake = scored.fake
    fake.received.clear()
    metric = METRIC.replace("(", f"(source='{source}', ", 1)
    run.score(metric, providers=scored.providers)
    # The units are those of the first run; only a first reply that was cut is asked for again.
    assert CUT >= set(fake.texts("split"))

    def word(unit):
        return BY_EVIDENCE.get(unit.text, NO_EVIDENCE)[1] if unit.text in CHECKED else unit.word

    assert units_given(items, word) == unit_rows(run, metric)
    assert not [text for text in fake.texts("check") if text == "Malaria is spread by mosquitoes."]
    bearing = run.evidence.filter(run.evidence["bearing"] != "shown")
    assert {"supports", "contradicts"} == set(bearing["bearing"])
    for row in bearing.iter_rows(named=True):
        text = DOCUMENTS[row["file"]]
        assert text[row["offset"] :].startswith(row["quote"])


USELESS = ('{"facts": [{"te', "I'm sorry, but I cannot help with that.", "", "- One.\n- Two.")


def test_a_splitter_without_a_usable_reply_fails_the_answer_and_makes_no_number(
    tmp_path, fake, benchmark, items
):
    texts = [answer.text for answer in SPLIT]
    fake.replies["split"] = lambda text, *_: (USELESS[len(text) % len(USELESS)], "stop")
    run = run_of(tmp_path / "run.viva", benchmark, items[:5])
    run.score(METRIC, providers=fake.providers(tmp_path))
    rows = stored(run) + stored(run, "precision")
    assert 2 * len(CANDIDATES) * 5 == len(rows)
    for row in rows:
        failed = row["answer"] in texts
        assert row["note"]
        assert (None, "failed" if failed else "unanswered") == (row["value"], row["status"])
    assert [] == fake.texts("check")


KILLS = {
    "inside the split": ("split", 3),
    **length({}, {"between split and check": ("check", 1)}),
    "inside the check": ("check", 4),
}


def holding(fake, model, number):
    """Hold the request back that is the so-manieth to this model from now on."""
    before = len(fake.texts(model))
    fake.held.clear()
    fake.holds = lambda received: received.model == model and len(fake.texts(model)) == before + number


@pytest.mark.slow
def test_killed_inside_and_between_stages_nothing_is_lost_and_no_reply_is_asked_for_again(
    tmp_path, fake, benchmark, items
):
    """One request is on its way at each kill: it is asked again, and so are uncommitted and cut replies."""
    few = items[: 2 * len(ANSWERS)]
    run = run_of(tmp_path / "run.viva", benchmark, few)
    providers = fake.providers(tmp_path, concurrency=1)
    command = [sys.executable, "-m", "vivavoce", "score", run.file.path, METRIC, "--providers", providers]
    lost = []
    for model, number in KILLS.values():
        holding(fake, model, number)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert fake.held.wait(60)
        finally:
            process.kill()
        assert -signal.SIGKILL == process.wait()
        lost.append(fake.received[-1])
        assert [] == unit_rows(run)
    fake.holds = lambda received: False
    run.score(METRIC, providers=providers)
    assert units_given(few) == unit_rows(run)
    again = Counter(fake.received) - Counter(set(fake.received))
    asked_again = Counter(received for received in again.elements() if received.text not in CUT)
    assert not Counter(lost) - asked_again
    assert (asked_again - Counter(lost)).total() <= BATCH * len(KILLS)  # what came in the last 50 ms
    n_requests = len(fake.received)
    run.score(METRIC, providers=providers)
    assert n_requests == len(fake.received)
