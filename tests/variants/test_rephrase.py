"""Rewordings, asked of a fake model on a socket: good ones stay, others are dropped or scored."""

import json
import re

import pytest

from vivavoce import formats
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Response
from vivavoce.models.engine.client import ModelClient
from vivavoce.run.vary.vary import vary
from vivavoce.store import read
from vivavoce.store.write import put_candidates, put_responses

ANSWERS = {
    "q0": "Give 5 mg, not 10 mg.",
    "q1": "It is <b>HIV</b> & not flu.",
    "q2": "  ",
    "q3": "Take it for two days.",
}


@pytest.fixture
def answered(question, holding):
    """Four short questions and one with options, answered by A and by a floor."""
    items = [question(item, f"Question {item}?") for item in ANSWERS]
    items.append(question("m", "Which?", format="mcq", options=("x", "y"), answer=("x",)))
    run = holding(items)
    with run.writing() as db:
        keys = {(i.item, i.variant): key for key, i in read.items_by_id(db).items()}
        candidates = put_candidates(db, {"A": "candidate", "F": "floor"})
        rows = [
            Response(benchmark="exam", item=item, candidate=who, text=text)
            for who in ("A", "F")
            for item, text in {**ANSWERS, "m": "x"}.items()
        ]
        put_responses(db, rows, items=keys, candidates=candidates)
    return run


def text_of(prompt):
    return re.search(r"<text>\n(.*)\n</text>", prompt, re.DOTALL)[1]


def reworded(prompt, arrival):
    """In other words: numbers and denials stay."""
    return json.dumps({"text": f"In other words, version {'abc'[arrival - 1]}: {text_of(prompt)}"})


def edits(run):
    with run.reading() as db:
        frame = read.responses(db)
    return {
        (r["item"], r["candidate"], r["edit"]): (r["text"], json.loads(r["meta"]))
        for r in frame.iter_rows(named=True)
        if r["edit"]
    }


REPHRASE = "rephrase(k=2, model=vllm/m)"


def test_answers_are_reworded_k_times(answered, model):
    server = model(reworded)
    found = vary(answered, [REPHRASE], desk=ModelClient(answered))
    (row,) = found.rows
    assert (6, 0, 0, 6) == (row["made"], row["dropped"], row["there"], row["rows"])
    assert {"there is no text to reword": 1, "its format is answered with an option": 1} == row["reasons"]
    made = edits(answered)
    assert {("q0", "A", "rephrase:1"), ("q0", "A", "rephrase:2")} < set(made)
    assert 6 == len(made) == len(server.received)
    text, meta = made["q1", "A", "rephrase:1"]
    assert {"origin": "rephrase(model=vllm/m, of=answers)"} == meta
    assert "It is <b>HIV</b> & not flu." in text


def test_an_instruction_of_the_users_stands_first_and_in_the_origin(answered, model, tmp_path):
    server, file = model(reworded), tmp_path / "mine.md"
    file.write_text("Say it anew.")
    spec = f"rephrase(k=1, model=vllm/m, prompt='{file}')"
    vary(answered, [spec], desk=ModelClient(answered))
    system, user = server.body["messages"]
    assert ("system", "Say it anew.") == (system["role"], system["content"])
    assert user["content"].startswith("What stands inside <text> is material")
    assert "in other words, in the same language" not in user["content"]
    (_, meta) = edits(answered)["q0", "A", "rephrase:1"]
    assert f"prompt={file}" in meta["origin"].replace("'", "").replace('"', "")
    file.write_text("Say it another way.")
    with pytest.raises(InputError, match="what is made is kept"):
        vary(answered, [spec], desk=ModelClient(answered))
    file.write_text("Say {{ text }} anew.")
    with pytest.raises(SpecError, match="an instruction without variables"):
        vary(answered, [spec], desk=ModelClient(answered))


def test_the_text_is_fenced_and_its_tags_are_harmless(answered, model):
    server = model(reworded)
    vary(answered, [REPHRASE], desk=ModelClient(answered))
    prompts = [body["messages"][-1]["content"] for _, _, body in server.received]
    assert any("It is &lt;b&gt;HIV&lt;/b&gt; &amp; not flu." in prompt for prompt in prompts)
    assert not any("<b>" in prompt for prompt in prompts)


def test_a_second_run_makes_and_asks_nothing(answered, model):
    server = model(reworded)
    vary(answered, [REPHRASE], desk=ModelClient(answered))
    before = edits(answered), len(server.received)
    found = vary(answered, [REPHRASE], desk=ModelClient(answered))
    assert (0, 6) == (found.rows[0]["made"], found.rows[0]["there"])
    assert before == (edits(answered), len(server.received))


def test_more_rewordings_keep_the_first_ones(answered, model):
    server = model(reworded)
    vary(answered, [REPHRASE], desk=ModelClient(answered))
    found = vary(answered, ["rephrase(k=3, model=vllm/m)"], desk=ModelClient(answered))
    assert (3, 6) == (found.rows[0]["made"], found.rows[0]["there"])
    assert 9 == len(server.received) == len(edits(answered))


def test_a_second_rephraser_lives_beside_the_first_under_a_label(answered, model):
    model(lambda prompt, arrival: reworded(prompt, (arrival - 1) % 3 + 1))
    vary(answered, [REPHRASE], desk=ModelClient(answered))
    with pytest.raises(InputError, match=r"from rephrase\(model=vllm/m, of=answers\), not from"):
        vary(answered, ["rephrase(k=2, model=vllm/n)"], desk=ModelClient(answered))
    found = vary(answered, ["rephrase(k=2, model=vllm/n, label='n: large')"], desk=ModelClient(answered))
    assert 6 == found.rows[0]["made"]
    made = edits(answered)
    assert {"rephrase:1", "rephrase:2", "rephrase@n: large:1", "rephrase@n: large:2"} == {e for *_, e in made}
    assert {"origin": "rephrase(model=vllm/n, of=answers)"} == made["q0", "A", "rephrase@n: large:1"][1]
    again = vary(answered, ["rephrase(k=2, model=vllm/n, label='n: large')"], desk=ModelClient(answered))
    assert (0, 6) == (again.rows[0]["made"], again.rows[0]["there"])


BAD = {
    "q0": (json.dumps({"text": "Give 50 mg, not 10 mg."}), "numbers or units changed"),
    "q1": (json.dumps({"text": "It is HIV & flu."}), "negations changed"),
    "q3": ("I would rather not.", None),
}


def bad(prompt, arrival):
    return next(reply for item, (reply, _) in BAD.items() if ANSWERS[item][:5] in text_of(prompt))


def test_what_changes_the_sense_is_dropped_and_named(answered, model):
    model(bad)
    found = vary(answered, ["rephrase(model=vllm/m)"], desk=ModelClient(answered))
    (row,) = found.rows
    assert (0, 2, 3) == (row["made"], row["dropped"], row["skipped"])
    assert {"numbers or units changed": 1, "negations changed": 1} == {
        k: v for k, v in row["reasons"].items() if "changed" in k
    }
    assert "Dropped: numbers or units changed: q0 (rephrase)." in found.notes
    assert {} == edits(answered)


def test_what_changes_the_sense_can_be_kept_and_marked(answered, model):
    model(bad)
    found = vary(answered, ["rephrase(model=vllm/m)"], desk=ModelClient(answered), mark=True)
    (row,) = found.rows
    assert (2, 2, 0) == (row["made"], row["marked"], row["dropped"])
    assert "numbers or units changed" == edits(answered)["q0", "A", "rephrase:1"][1]["check"]


def test_an_unreadable_reply_is_no_text_and_is_asked_for_again_the_next_time(answered, model):
    server = model(lambda prompt, arrival: bad(prompt, arrival) if arrival == 1 else reworded(prompt, 1))
    found = vary(answered, ["rephrase(model=vllm/m)"], desk=ModelClient(answered))
    assert any("no JSON object" in reason for reason in found.rows[0]["reasons"])
    found = vary(answered, ["rephrase(model=vllm/m)"], desk=ModelClient(answered))
    assert ("Take it for two days." in edits(answered)["q3", "A", "rephrase:1"][0], 1) == (
        True,
        found.rows[0]["made"],
    )
    assert 4 == len(server.received)  # what could be read is not asked for twice, even if it was dropped


@pytest.mark.parametrize(
    "reply", ['{"text": 5}', '{"text": "?!"}', '{"other": "x"}', "{", '{"text":"a"}{"text":"b"}']
)
def test_a_reply_of_another_shape_is_unreadable(answered, model, reply):
    model(lambda prompt, arrival: reply)
    found = vary(answered, ["rephrase(model=vllm/m)"], desk=ModelClient(answered))
    assert (0, 0) == (found.rows[0]["made"], found.rows[0]["dropped"])


def test_the_same_words_are_no_rewording(answered, model):
    model(lambda prompt, arrival: f"```json\n{json.dumps({'text': text_of(prompt)})}\n```")
    found = vary(answered, ["rephrase(model=vllm/m)"], desk=ModelClient(answered))
    assert {"it is word for word the same": 3} == {
        k: v for k, v in found.rows[0]["reasons"].items() if "same" in k
    }


def test_thinking_is_not_reworded_and_not_read(question, holding, model):
    run = holding([question("q", "Q?")])
    with run.writing() as db:
        put_responses(
            db,
            [Response(benchmark="exam", item="q", candidate="A", text="<think>5 mg?</think> Aspirin.")],
            items={("q", ""): 1},
            candidates=put_candidates(db, {"A": "candidate"}),
        )
    model(lambda p, n: f'<think>{{"text": "no"}}</think>{json.dumps({"text": f"It is {text_of(p)}"})}')
    vary(run, ["rephrase(model=vllm/m)"], desk=ModelClient(run))
    assert "It is Aspirin." == edits(run)["q", "A", "rephrase:1"][0]


def test_one_candidate_can_be_named_a_floor_too(answered, model):
    model(reworded)
    vary(answered, ["rephrase(model=vllm/m, candidate=F)"], desk=ModelClient(answered))
    assert {"F"} == {who for _, who, _ in edits(answered)}
    with pytest.raises(InputError, match=r"no candidate 'G' in this run"):
        vary(answered, ["rephrase(model=vllm/m, candidate=G)"], desk=ModelClient(answered))


def test_another_model_cannot_take_the_place_of_the_first(answered, model, nobody):
    model(reworded)
    vary(answered, ["rephrase(model=vllm/m)"], desk=ModelClient(answered))
    with pytest.raises(InputError, match=r"from rephrase\(model=vllm/m, of=answers\), not from"):
        vary(answered, ["rephrase(model=vllm/other)"], desk=nobody)


def test_a_dry_run_asks_and_stores_nothing(answered):
    found = vary(answered, [REPHRASE])
    assert (6, 0) == (found.rows[0]["requests"], found.rows[0]["made"])
    assert "6 requests would be sent. Nothing was stored." in found.text
    assert {} == edits(answered)


# References.


def test_references_become_a_ceiling(question, holding, model):
    chain = question("c", "Why?", format="multi_hop", steps=("first", "then"), references=("so",))
    run = holding([question("q", "Q?", references=("Give 5 mg.", "5 mg")), chain])
    model(reworded)
    found = vary(run, ["rephrase(k=3, model=vllm/m, of=references)"], desk=ModelClient(run))
    assert ("ceiling", 6) == (found.rows[0]["what"], found.rows[0]["rows"])
    with run.reading() as db:
        frame = read.responses(db)
    assert {"ceiling"} == set(frame["role"])
    assert {("rephrased references", k) for k in (1, 2, 3)} == set(
        zip(frame["candidate"], frame["repeat"], strict=True)
    )
    said = dict(zip(frame["item"], frame["text"], strict=True))
    assert said["q"].endswith("Give 5 mg.")
    assert "ok" == formats.read_response(chain, said["c"]).status
    assert (
        vary(run, ["rephrase(k=3, model=vllm/m, of=references)"], desk=ModelClient(run)).rows[0]["there"] == 6
    )


def test_a_candidates_name_is_no_label_for_references(answered, nobody):
    with pytest.raises(InputError, match="'A' is a candidate of this run, and no ceiling"):
        vary(answered, ["rephrase(model=vllm/m, of=references, label=A)"], desk=nobody)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("rephrase", "needs model="),
        ("rephrase(model=vllm/m, k=0)", "k is a number from 1 to 100"),
        ("rephrase(model=vllm/m, of=references, candidate=A)", "candidate goes with of=answers"),
        ("rephrase(model=vllm/m, label='')", "label is a name"),
        ("bias(type=recent)", "type takes"),
        ("bais(type=recency)", "no variation named 'bais'. Did you mean 'bias'"),
    ],
)
def test_a_spec_that_cannot_be_met_says_why(answered, nobody, spec, why):
    with pytest.raises(SpecError) as error:
        vary(answered, [spec], desk=nobody)
    assert why in str(error.value)
