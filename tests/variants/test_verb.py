"""The verb: what it stores, refuses, checks and counts."""

import json
import re
from dataclasses import replace

import pytest
from tests.studies.making import borrowed

from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.models.engine.client import ModelClient
from vivavoce.run.vary.vary import store_benchmark, vary
from vivavoce.store import read
from vivavoce.store.generated import made_items
from vivavoce.store.merge import merge
from vivavoce.store.runfile import RunFile

TWINS = "bias(type=[recency, authority], seed=1)"


@pytest.fixture
def some(question):
    return [
        question(
            f"q{k}", f"He takes {k} mg. What is it?", meta={"planted": f"wrong {k}"}, references=("right",)
        )
        for k in range(3)
    ]


def stock(run):
    with run.reading() as db:
        return {(i.item, i.variant): i for i in read.items_by_id(db).values()}


def test_what_is_made_is_in_the_run_with_its_origin(some, holding, nobody):
    run = holding(some)
    found = vary(run, [TWINS], desk=nobody)
    assert [("bias:recency", 3, 6), ("bias:authority", 3, 6)] == [
        (r["what"], r["made"], r["rows"]) for r in found.rows
    ]
    made = made_items(run, "exam")
    assert 12 == len(made)
    assert {"bias(seed=1, type=recency)", "bias(seed=1, type=authority)"} == {i.origin for i in made}
    assert {i.item: i.group for i in some} == {i.item: i.group for i in made}
    assert [] == made_items(run, "another")
    assert [] == made_items(RunFile(run.path.with_name("none.viva")), "exam")
    with run.reading() as db:
        (step,) = (s for s in read.provenance(db) if s["verb"] == "vary")
    assert (12, ["bias(seed=1, type=[recency, authority])"]) == (step["changed"], step["variations"])


def test_a_second_run_makes_nothing(some, holding, nobody):
    run = holding(some)
    vary(run, [TWINS], desk=nobody)
    before = stock(run)
    found = vary(run, [TWINS], desk=nobody)
    assert ([0, 0], [3, 3]) == ([r["made"] for r in found.rows], [r["there"] for r in found.rows])
    assert before == stock(run)
    assert "0 rows were made; 6 were there already." == found.text


def test_one_type_alone_is_what_it_is_among_others(some, holding, nobody):
    together, alone = holding(some), holding(some, "alone.viva")
    vary(together, [TWINS], desk=nobody)
    for kind in ("authority", "recency"):
        vary(alone, [f"bias(type={kind}, seed=1)"], desk=nobody)
    assert stock(together) == stock(alone)


def test_another_seed_is_refused_and_nothing_is_stored(some, holding, nobody):
    run = holding(some)
    vary(run, ["bias(type=recency, seed=1)"], desk=nobody)
    before = stock(run)
    with pytest.raises(
        InputError, match=r"from bias\(seed=1, type=recency\), not from bias\(seed=2, type=recency\)"
    ):
        vary(run, ["bias(type=[authority, recency], seed=2)"], desk=nobody)
    assert before == stock(run)
    with pytest.raises(InputError, match="one question has one such twin"):
        vary(holding(some, "other.viva"), ["bias(type=recency)", "bias(type=recency, seed=9)"], desk=nobody)


def test_the_seed_is_for_variations_that_state_none(some, holding, nobody):
    run = holding(some)
    vary(run, ["bias(type=recency)", "bias(type=authority, seed=7)"], seed=3, desk=nobody)
    assert {"bias(seed=3, type=recency)", "bias(seed=7, type=authority)"} == {
        i.origin for i in made_items(run, "exam")
    }


def test_a_dry_run_stores_nothing(some, holding):
    run = holding(some)
    before = run.path.read_bytes()
    found = vary(run, [TWINS])
    assert "12 rows could be made without asking a model. Nothing was stored." == found.text
    assert before == run.path.read_bytes()


def test_a_dry_run_needs_no_run(tmp_path):
    run = RunFile(tmp_path / "none.viva")
    found = vary(run, ["bias(type=recency)"], items="sample")
    assert 30 < found.rows[0]["made"]
    assert not run.exists


def test_an_exam_is_brought_once(tmp_path, nobody):
    run = RunFile(tmp_path / "run.viva")
    store_benchmark(run, "sample")
    before = stock(run)
    store_benchmark(run, "sample")
    assert 96 == len(before) == len(stock(run))
    found = vary(run, ["bias(type=recency)"], items="sample", desk=nobody)
    assert 4 == found.rows[0]["reasons"]["the exam has its own twins"]


def test_only_chosen_items_are_varied(some, holding, tmp_path, nobody, question):
    run = holding(some)
    store_benchmark(run, "sample")
    vary(run, ["bias(type=recency)"], items="sample", desk=nobody)
    assert [] == made_items(run, "exam")
    assert made_items(run, "sample")


def test_a_changed_question_gets_new_twins_and_the_old_ones_are_nobodys(some, holding, nobody):
    run = holding(some)
    vary(run, [TWINS], desk=nobody)
    changed = [replace(some[0], question="He takes 9 mg. What is it?"), *some[1:]]
    holding(changed, new_version=True)
    assert 8 == len(made_items(run, "exam"))
    found = vary(run, [TWINS], desk=nobody)
    assert [(1, 2), (1, 2)] == [(r["made"], r["there"]) for r in found.rows]
    made = made_items(run, "exam")
    assert 12 == len(made)
    assert {"He takes 9 mg."} == {i.question[:14] for i in made if i.item == "q0"}


def test_nothing_named_is_refused(some, holding, nobody):
    with pytest.raises(InputError, match="name a variation"):
        vary(holding(some), [], desk=nobody)


def test_a_run_without_questions_to_vary_says_so(tmp_path, nobody):
    run = RunFile(tmp_path / "run.viva")
    with run.writing():
        pass
    with pytest.raises(InputError, match="holds none of the items to vary"):
        vary(run, [TWINS], desk=nobody)


# A model that checks.


def verdict(prompt, arrival):
    after = re.search(r"<after>\n(.*)\n</after>", prompt, re.DOTALL)[1]
    if "1 mg" in after:
        return json.dumps({"reason": "another dose", "same": False})
    return "who knows" if "2 mg" in after else json.dumps({"reason": "as before", "same": True})


def test_what_the_model_objects_to_is_dropped_with_its_twin(some, holding, model):
    run, server = holding(some), model(verdict)
    found = vary(run, ["bias(type=recency)"], check="vllm/m", desk=ModelClient(run))
    (row,) = found.rows
    assert (1, 2, 2) == (row["made"], row["dropped"], row["rows"])
    assert {
        "the model that checked says that the right answer changed": 1,
        "the check brought no verdict": 1,
    } == row["reasons"]
    assert {"q0"} == {i.item for i in made_items(run, "exam")}
    assert {"vllm/m"} == {i.meta["checked_by"] for i in made_items(run, "exam")}
    assert 6 == len(server.received)


def test_what_the_model_objects_to_can_be_kept_and_marked(some, holding, model):
    run, _ = holding(some), model(verdict)
    found = vary(run, ["bias(type=recency)"], check="vllm/m", mark=True, desk=ModelClient(run))
    assert (3, 2) == (found.rows[0]["made"], found.rows[0]["marked"])
    there = stock(run)
    assert "bias:recency: another dose" in there["q1", "neutral:recency"].meta["check"]
    assert "no verdict" in there["q2", "bias:recency"].meta["check"]
    assert "check" not in there["q0", "bias:recency"].meta


def test_a_checked_age_needs_no_further_look(question, holding, model):
    run = holding([question("q", "A 58-year-old woman has a cough. What is it?")])
    server = model(verdict)
    vary(run, ["demographic(kind=[age, sex])"], check="vllm/m", desk=ModelClient(run))
    assert 3 == len(server.received)  # the twin of her own sex is the question itself
    assert not any("check" in i.meta for i in made_items(run, "exam"))


def test_a_dry_run_counts_the_checks(some, holding):
    assert 6 == vary(holding(some), ["bias(type=recency)"], check="vllm/m").rows[0]["requests"]


# A model that writes wrong answers.


def test_a_wrong_answer_is_written_where_none_is_known(question, holding, model):
    items = [question(f"q{k}", f"What is {k}?", references=(f"key {k}",)) for k in range(3)]
    replies = {"0": '{"answer": "Lupus."}', "1": '{"answer": "Key 1"}', "2": "no idea"}
    run = holding(items)
    server = model(lambda prompt, n: replies[re.search(r"What is (\d)", prompt)[1]])
    found = vary(run, ["bias(type=[recency, authority], planted=vllm/m)"], desk=ModelClient(run))
    assert [(1, 2), (1, 2)] == [(r["made"], r["skipped"]) for r in found.rows]
    unread, keyed = sorted(found.rows[0]["reasons"])
    assert unread.startswith("no wrong answer was written: ")
    assert "no JSON object" in unread
    assert "the wrong answer that was written holds the keyed one, or is held by it" == keyed
    twin = stock(run)["q0", "bias:recency"]
    assert ("Lupus.", "bias(planted=vllm/m, seed=0, type=recency)") == (twin.meta["planted"], twin.origin)
    assert '"Lupus"' in twin.question
    again = vary(run, ["bias(type=recency, planted=vllm/m)"], desk=ModelClient(run))
    assert (0, 1) == (again.rows[0]["made"], again.rows[0]["there"])
    assert 4 == len(server.received)  # only the reply that could not be read is asked for again


# A variation of one's own.

PLUGIN = """
from dataclasses import replace
from vivavoce import Outcome, Variation, variation

@variation("shout")
class Shout(Variation):
    loud: bool = False
    spoil: str = ""

    def makes(self, stock, client):
        for item in stock.bases:
            fields = {"references": ("another",)} if self.spoil == "key" else {}
            name = "" if self.spoil == "name" else "shout"
            twin = replace(item, variant=name, question=item.question.upper(), **fields)
            yield Outcome("shout", item.name, (twin,))
"""


def test_a_plugins_variation_is_one_like_ours(some, holding, nobody, tmp_path):
    file = tmp_path / "shout.py"
    file.write_text(PLUGIN)
    run = holding(some)
    with borrowed():
        registry.load_plugin(file)
        found = vary(run, ["shout(loud=true)"], desk=nobody)
        assert 3 == found.rows[0]["made"]
        twin = stock(run)["q1", "shout"]
        assert ("HE TAKES 1 MG. WHAT IS IT?", "shout(loud=true)", some[1].hash) == (
            twin.question,
            twin.origin,
            twin.meta["base_hash"],
        )
        for spoil, what in (("key", "the references of"), ("name", "the variant of")):
            with pytest.raises(InputError, match=what):
                vary(run, [f"shout(spoil={spoil})"], desk=nobody)
    assert "shout" not in {entry.name for entry in registry.entries("variation")}


def test_a_run_with_new_twins_is_merged_into_one_whose_old_ones_are_nobodys(some, holding, nobody, tmp_path):
    run = holding(some)
    vary(run, [TWINS], desk=nobody)
    changed = [replace(some[0], question="He takes 9 mg. What is it?"), *some[1:]]
    holding(changed, new_version=True)
    copy = tmp_path / "copy.viva"
    run.copy(copy)
    vary(RunFile(copy), [TWINS], desk=nobody)
    assert 4 == merge(run, RunFile(copy)).items
    assert 12 == len(made_items(run, "exam"))
