"""From a folder with a model to a report: the three families, offline, resumed, and killed in between."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.lengths import length
from tests.models.local.tiny import tiny  # noqa: F401

import vivavoce as viva
from vivavoce.models import local

RELAXED = "relaxed_perplexity(n=12, stride=4, samples=3, keep=2)"
FAMILIES = ("perplexity", RELAXED, "options")
SETTINGS = "context=2048, chat_template=false"
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    """Six open questions, one with statements, and six closed ones."""
    rows = [
        {
            "id": f"open{k}",
            "format": "short",
            "question": f"What is {name}?",
            "answer": answer,
            **({"must": ["a part of the body", "an organ"], "nice": ["it is red"]} if k == 0 else {}),
        }
        for k, (name, answer) in enumerate(
            [("the heart", "the organ that pumps blood"), ("a fever", "a rise in temperature"),
             ("an artery", "a vessel that carries blood"), ("a tumor", "an abnormal mass of tissue"),
             ("a tendon", "a cord of tissue"), ("anemia", "a deficiency of red blood cells")]
        )
    ]  # fmt: skip
    rows += [
        {"id": f"closed{k}", "format": "mcq", "question": f"Which is an organ ({k})?",
         "options": ["a fever", "the liver", "a drug"], "answer": "the liver"}
        for k in range(6)
    ]  # fmt: skip
    file = tmp_path_factory.mktemp("exam") / "exam.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"jsonl(path={file})"


@pytest.fixture(scope="module")
def run_path(tiny, exam, tmp_path_factory, viva) -> Path:  # noqa: F811
    """A run of answers and probes of three families that the command line asked for and scored."""
    path, model = tmp_path_factory.mktemp("families") / "run.viva", f"hf/{tiny}({SETTINGS})"
    probes = [word for family in FAMILIES for word in ("--for", family)]
    viva("collect", path, exam, "--model", model, *probes, "--offline")
    viva("collect", path, exam, "--model", model, "--max-tokens", 12, "--offline")
    viva("score", path, *FAMILIES, "rouge(n=1)", "chrf")
    return path


def family_scores(run):
    return run.scores.filter(run.scores["metric"].is_in(list(FAMILIES)))


def test_three_families_from_collect_to_report(run_path, tmp_path):
    run = viva.open(run_path)
    assert {"ok"} == set(family_scores(run)["status"])
    means = {(r["metric"], r["criterion"]): r["estimate"] for r in run.estimates().rows}
    assert 1.0 < means["perplexity", "byte_perplexity"] < 20.0
    assert 0.0 <= means["options", "accuracy"] <= 1.0
    found = run.study("correlation")["correlation"]
    assert any("perplexity" in str(row) and "rouge" in str(row) for row in found.rows)
    assert "rouge(n=1)" in run.report(tmp_path / "report.html").read_text()
    with run.file.reading() as db:
        body = json.loads(db.execute("SELECT body FROM provenance WHERE verb = 'collect'").fetchone()[0])
    (facts,) = body["models"].values()
    assert ("cpu", "packed or branched") == (facts["device"], facts["way"])


def test_a_second_run_computes_nothing_again(tiny, exam, run_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(local, "weights", lambda *a, **k: pytest.fail("the model was loaded again"))
    done = viva.open(run_path).collect(exam, models=[f"hf/{tiny}({SETTINGS})"], for_=list(FAMILIES))
    assert "nobody was asked" in done.text


def test_the_same_words_twice_are_the_same_figures(tiny, exam, run_path, tmp_path):  # noqa: F811
    run = viva.open(tmp_path / "alone.viva")
    run.collect(exam, models=[f"hf/{tiny}({SETTINGS}, batch=1)"], for_=list(FAMILIES))
    run.score(*FAMILIES)
    one_by_one, in_batches = (
        family_scores(r).sort("metric", "criterion", "item")["value"].to_list()
        for r in (run, viva.open(run_path))
    )
    assert one_by_one == pytest.approx(in_batches, rel=1e-4)


def kept(path: Path) -> tuple[int, int]:
    """How many calls and how many responses of probes are committed."""
    if not path.exists():
        return 0, 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as db:
        try:
            (calls,) = db.execute("SELECT count(*) FROM calls WHERE status = 'ok'").fetchone()
            (told,) = db.execute("SELECT count(*) FROM response_rows WHERE probe != ''").fetchone()
        except sqlite3.OperationalError:  # the tables are being made
            return 0, 0
        return calls, told


@pytest.mark.slow
def test_killed_in_between_it_loses_no_committed_answer(tiny, exam, tmp_path, fork_server):  # noqa: F811
    path, model = tmp_path / "run.viva", f"hf/{tiny}({SETTINGS}, batch=1)"
    seen = (0, 0)
    for more in length((8,), (3, 8)):
        with fork_server() as forked:
            process = forked("collect", path, exam, model, RELAXED)
        while kept(path)[0] < seen[0] + more and process.is_alive():
            time.sleep(0.05)
        process.kill()
        process.join()
        now = kept(path)
        assert now[0] >= seen[0]
        seen = now
    (row,) = viva.open(path).collect(exam, models=[model], for_=[RELAXED]).rows
    calls, told = kept(path)
    assert 6 == told
    assert 6 * (3 + 2) >= calls
    assert row["failed"] == row["left"] == 0
    with closing(sqlite3.connect(path)) as db:
        (twice,) = db.execute(
            "SELECT count(*) - count(DISTINCT key) FROM calls WHERE status = 'ok'"
        ).fetchone()
    assert 0 == twice
