"""`viva vary`: what it prints, and that what it made is asked, scored and studied as questions are."""

import json

import pytest

from vivavoce.core.errors import InputError, RunNotFound
from vivavoce.run.run import open_run

BIAS = "bias(type=[recency, authority], seed=1)"


@pytest.fixture
def run(tmp_path):
    return tmp_path / "exam.viva"


def test_it_prints_what_was_made_and_what_comes_next(viva, run):
    found = viva("vary", run, BIAS, "--items", "sample")
    assert "bias:authority" in found.stdout
    assert "bias:recency: 4 x the exam has its own twins." in found.stdout
    assert "viva collect" in found.stdout.splitlines()[-1]
    again = viva("vary", run, BIAS, "--items", "sample")
    assert "0 rows were made; 78 were there already" in again.stdout
    assert "Next" not in again.stdout


def test_json_holds_the_rows_and_quiet_nothing(viva, run):
    found = json.loads(viva("vary", run, BIAS, "--items", "sample", "--json").stdout)
    assert "viva.vary/1" == found["schema"]
    assert ["bias:recency", "bias:authority"] == [row["what"] for row in found["rows"]]
    assert {
        "variation",
        "what",
        "made",
        "there",
        "marked",
        "dropped",
        "skipped",
        "rows",
        "requests",
        "reasons",
    } == set(found["rows"][0])
    assert "" == viva("vary", run, BIAS, "--quiet").stdout


def test_a_dry_run_makes_no_file(viva, run):
    found = viva(
        "vary", run, BIAS, "rephrase(model=openai/gpt-4o, of=references)", "--items", "sample", "--dry-run"
    )
    assert "Nothing was stored." in found.stdout
    assert "requests" in found.stdout
    assert not run.exists()


def test_without_a_run_it_asks_for_the_items(viva, run):
    with pytest.raises(RunNotFound):
        viva("vary", run, BIAS)


def test_what_was_made_is_asked_and_marked_with_its_benchmark(viva, run):
    viva("vary", run, "bias(type=authority)", "--items", "sample", "--quiet")
    viva("collect", run, "sample", "--model", "baseline/reference", "--quiet")
    there = open_run(run)
    made = there.items.filter(there.items["origin"].is_not_null())
    assert 82 == made.height
    assert 96 + 82 == there.responses.height
    viva("score", run, "accuracy", "--quiet")
    with pytest.raises(InputError, match=r"from bias\(seed=0, type=authority\), not from bias\(seed=4"):
        viva("vary", run, "bias(type=authority)", "--seed", "4")
