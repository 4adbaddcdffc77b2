"""What candidates are sent, and systems, rules and recordings that sit the exam."""

import json

import pytest
from aiohttp import web
from tests.small_suite import small_suite

import vivavoce as viva
from vivavoce.core.errors import InputError, ModelError, SpecError
from vivavoce.core.records import Item
from vivavoce.run.collect.plan import OLD_PRESET, RequestBuilder, plan_collect
from vivavoce.store import read

GOOD = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


@pytest.fixture
def sent(exam, fake, monkeypatch, tmp_path):
    """`sent(n, **settings)` collects n questions and returns the conversations that the endpoint got."""
    server = fake(GOOD)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)

    def collect(spec, run="run.viva", **settings):
        run = viva.open(tmp_path / run)
        run.collect(spec, models=["vllm/m"], **settings)
        return {body["messages"][-1]["content"]: body for _, _, body in server.received}

    return collect


def test_shots_are_other_items_with_their_keys(exam, sent):
    for question, body in sent(exam(6), shots=3).items():
        *examples, last = [(m["role"], m["content"]) for m in body["messages"]]
        assert ("user", question) == last
        assert ["user", "assistant"] * 3 == [role for role, _ in examples]
        asked = [text.split("?")[0] for role, text in examples if role == "user"]
        assert 3 == len(set(asked))
        assert question.split("?")[0] not in asked
        keys = [text for role, text in examples if role == "assistant"]
        assert [f"answer {text.split()[1]}" for text in asked] == keys


def test_shots_never_come_from_the_group_of_the_item(exam, sent):
    spec = exam(8, change=lambda k: {"group": str(k % 2)})
    for question, body in sent(spec, shots=4).items():
        own = int(question.split()[1].rstrip("?")) % 2
        shown = [int(m["content"].split()[1].rstrip("?")) % 2 for m in body["messages"][:-1:2]]
        assert [1 - own] * 4 == shown


def test_shots_are_the_same_for_an_item_whatever_is_asked_beside_it(exam, sent):
    some = dict(sent(exam(12), shots=2, sample=4))
    whole = sent(exam(12, name="exam"), run="other.viva", shots=2)
    assert (4, 12) == (len(some), len(whole))
    assert some == {question: whole[question] for question in some}


def test_too_few_examples_are_refused_before_anything_is_sent(exam, sent):
    with pytest.raises(
        InputError, match=r"item 'q0': 3 examples are asked for, and only 2 other short items"
    ):
        sent(exam(3), shots=3)


WARD = """
from vivavoce import Benchmark, Card, Item, benchmark

def item(n, kind, key):
    question = f"{kind} question {n}?"
    texts = {"question": question, "references": (key,)}
    return Item(benchmark="ward", item=str(n), category=kind, format="short", **texts)

@benchmark("ward")
class Ward(Benchmark):
    card = Card(name="ward", description="d", source="s", revision="1", licence="own", citation="none")

    def items(self):
        return [item(n, "heart" if n % 2 else "lung", "never shown") for n in range(8)]

    def examples(self):
        repeat = item(90, "heart", "repeat")
        return [
            *(item(n, "heart", f"heart key {n}") for n in (0, 50, 51)),
            item(60, "lung", "lung key"),
            Item(**{**{f: getattr(repeat, f) for f in repeat.__slots__}, "question": "HEART question 1"}),
        ]
"""


def test_shots_come_from_the_development_split_of_the_category_and_never_repeat_the_question(sent, tmp_path):
    plugin = tmp_path / "ward.py"
    plugin.write_text(WARD, encoding="utf-8")
    viva.open(tmp_path / "run.viva", plugins=[plugin])
    bodies = sent("ward", shots=3)
    keys = {
        question.split("?")[0]: {m["content"] for m in body["messages"] if m["role"] == "assistant"}
        for question, body in bodies.items()
    }
    split = {"heart key 0", "heart key 50", "heart key 51", "lung key", "repeat"}
    assert 8 == len(keys)
    assert all(3 == len(shown) and shown <= split for shown in keys.values())
    # the repeat of question 1 stands in the split: its key would give the answer away
    assert {"heart key 0", "heart key 50", "heart key 51"} == keys["heart question 1"]
    # one example of lung is too few for three: the whole split serves
    assert {"lung key", "heart key 50"} <= set().union(*(keys[f"lung question {n}"] for n in (0, 2, 4, 6)))
    assert all("lung key" not in shown for question, shown in keys.items() if "heart" in question)


def test_a_prompt_file_and_a_system_message_are_sent(exam, sent, tmp_path):
    prompt = tmp_path / "mine.md"
    prompt.write_text("Think first.\n\n{{ question }}\n{{ options }}")
    change = {"format": "mcq", "options": ["yes", "no"], "answer": "no"}
    bodies = sent(exam(1, change=lambda k: change), prompt=prompt, system="Be brief.", top_p=0.5)
    (body,) = bodies.values()
    assert [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Think first.\n\nQuestion 0?\nA. yes\nB. no"},
    ] == body["messages"]
    assert 0.5 == body["top_p"]


def test_a_system_message_may_be_a_file(exam, sent, tmp_path):
    (tmp_path / "system.md").write_text("Be very brief.\n")
    (body,) = sent(exam(1), system=str(tmp_path / "system.md")).values()
    assert {"role": "system", "content": "Be very brief."} == body["messages"][0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{ question }} {{ drug }}", "needs a value for: drug"),
        ("Answer.", r"never says \{\{ question \}\}"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_refused_before_anything_is_sent(exam, sent, tmp_path, text, why):
    prompt = tmp_path / "mine.md"
    prompt.write_text(text)
    with pytest.raises(InputError, match=why):
        sent(exam(2), prompt=prompt)
    assert not (tmp_path / "run.viva").exists()


def test_a_prompt_may_place_context_and_category_itself(exam, sent, tmp_path):
    """Otherwise the context stands before the question."""
    prompt = tmp_path / "mine.md"

    spec = exam(1, change=lambda k: {"context": "An abstract.", "category": "liver_disease"})
    prompt.write_text("{{ question }}")
    assert {"An abstract.\n\nQuestion 0?"} == sent(spec, prompt=prompt).keys()
    prompt.write_text("On {{ category }}: {{ question }}\nText: {{ context }}")
    assert "On liver disease: Question 0?\nText: An abstract." in sent(spec, run="two.viva", prompt=prompt)


def test_a_seed_differs_by_question_and_repeat_and_is_the_same_again(exam, fake, monkeypatch, tmp_path):
    server, seeds = fake(GOOD), []
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    for k in range(2):
        server.received.clear()
        viva.open(tmp_path / f"run{k}.viva").collect(exam(3), models=["vllm/m"], repeats=2, seed=7)
        seeds.append({body["seed"] for _, _, body in server.received})
    assert seeds[0] == seeds[1]
    assert 6 == len(seeds[0])


def test_a_prompt_that_has_changed_is_not_mixed_with_the_old(exam, fake, monkeypatch, tmp_path):
    server, prompt = fake(GOOD), tmp_path / "mine.md"
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    prompt.write_text("{{ question }}")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(2), models=["vllm/m"], prompt=prompt)
    run.collect(exam(2), models=["vllm/m"], prompt=prompt, repeats=2)
    prompt.write_text("Think. {{ question }}")
    for dry_run in (True, False):
        with pytest.raises(InputError, match=r"was asked item 'q[01]' in other words before: a prompt file"):
            run.collect(exam(2), models=["vllm/m"], prompt=prompt, repeats=3, dry_run=dry_run)
    assert 4 == run.responses.height == len(server.received)


# Published settings.


def test_hivmedqa_is_asked_as_it_was_published(hivmedqa, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    asked = {"models": ["vllm/m"], "preset": "published", "dry_run": True}
    (row,) = run.collect(f"hivmedqa(data={hivmedqa}, subset=paper)", **asked).rows
    assert "vllm/m(max_tokens=1024, system=system_hivmedqa)" == row["candidate"]
    assert 63 * 5 == row["calls"]


def test_what_is_said_goes_before_what_was_published(hivmedqa, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    asked = {"models": ["vllm/m"], "preset": "published", "dry_run": True, "max_tokens": 9, "repeats": 1}
    (row,) = run.collect(f"hivmedqa(data={hivmedqa})", **asked).rows
    assert ("vllm/m(max_tokens=9, system=system_hivmedqa)", 92) == (row["candidate"], row["calls"])


def test_cliniqlink_is_asked_as_it_was_published(shared, fake, monkeypatch, tmp_path):
    server = fake(GOOD)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    spec = f"cliniqlink(data={shared / 'data' / 'cliniqlink'}, files=[TF])"
    viva.open(tmp_path / "run.viva").collect(spec, models=["vllm/m"], preset="published")
    body = server.body
    assert (0, 2048) == (body["temperature"], body["max_tokens"])
    assert ["system", "user"] == [m["role"] for m in body["messages"]]
    assert "form that is asked for" in body["messages"][0]["content"]


def test_a_candidate_is_one_across_benchmarks_that_were_published_with_prompts_of_their_own(tmp_path):
    small_suite.medtext(tmp_path)
    small_suite.mts_dialog(tmp_path)
    run = viva.open(tmp_path / "run.viva")
    label = "vllm/m(chat_template=false, max_tokens=256, preset=published, temperature=0)"
    for name in ("medtext", "mts_dialog"):
        spec = f"{name}(data={tmp_path})"
        asked = {"preset": "published", "dry_run": True}
        (row,) = run.collect(spec, models=["vllm/m"], **asked).rows
        assert label == row["candidate"]
        plan = plan_collect(spec, ["vllm/m"], preset="published")
        (message,) = plan.requests.messages(plan.items[0], plan.candidates[0].settings)
        assert message.content.startswith("Instructions: ")
        assert ("\n\n",) == plan.candidates[0].sampling.stop
    (row,) = run.collect(spec, models=["vllm/m(stop=[END])"], **asked, prompt="suite_medtext").rows
    assert row["candidate"] == (
        "vllm/m(chat_template=false, max_tokens=256, prompt=suite_medtext, stop=[END], temperature=0)"
    )


def test_a_benchmark_without_published_settings_has_no_preset(exam, tmp_path):
    with pytest.raises(SpecError, match="names no published settings, so there is no --preset published"):
        viva.open(tmp_path / "run.viva").collect(exam(1), models=["vllm/m"], preset="published")


def test_the_older_name_of_the_preset_is_the_same_candidate_and_is_noted(shared, fake, monkeypatch, tmp_path):
    """A run begun under either name of the preset goes on under it, and no answer is asked for twice."""
    server = fake(GOOD)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    small_suite.medtext(tmp_path)
    spec, n = f"medtext(data={tmp_path})", 0
    for first, second in (("published", "paper-settings"), ("paper-settings", "published")):
        run, n_before = viva.open(tmp_path / f"{first}.viva"), n
        run.collect(spec, models=["vllm/m"], preset=first)
        n = len(server.received)
        run.collect(spec, models=["vllm/m"], preset=second)
        assert n == len(server.received) == n_before + run.responses.height
        (name,) = run.responses["candidate"].unique()
        assert f"preset={first}" in name
        with run.file.reading() as db:
            notes = [record.get("note", "") for record in read.verb_records(db, "collect", "a collect")]
        assert [first == "published", second == "published"] == [OLD_PRESET == note for note in notes]


def test_one_option_of_a_prompt_is_named_by_its_number(tmp_path):
    prompt = tmp_path / "mine.md"
    prompt.write_text("{{ question }} <a>{{ option_1 }}</a> <e>{{ option_5 }}</e>")
    item = Item(
        benchmark="b", item="i", format="mcq", question="Why?", options=("This", "That"), answer=("A",)
    )
    (message,) = RequestBuilder([item]).messages(item, {"prompt": str(prompt)})
    assert "Why? <a>This</a> <e></e>" == message.content


# Baselines.


def test_the_key_scores_one_and_chance_scores_chance(exam, tmp_path):
    """500 questions with four options: 0.25, five standard errors of 0.02 each way."""
    options = ["one", "two", "three and more", "four"]
    spec = exam(500, change=lambda k: {"format": "mcq", "options": options, "answer": options[k % 4]})
    run = viva.open(tmp_path / "run.viva")
    rules = ("reference", "random", "longest-option", "echo")
    run.collect(spec, models=[f"baseline/{rule}" for rule in rules])
    rows = {row["candidate"].partition("/")[2]: row for row in run.score("accuracy").rows}
    assert 1.0 == rows["reference"]["estimate"]
    assert 0.15 < rows["random"]["estimate"] < 0.35
    assert 0.25 == rows["longest-option"]["estimate"]
    assert {"reference": "ceiling", "random": "floor", "longest-option": "floor", "echo": "floor"} == {
        rule: rows[rule]["role"] for rule in rules
    }


def test_a_baseline_takes_no_settings_that_are_for_models(exam, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1), models=["baseline/echo"], temperature=1, system="Be brief.")
    assert ["baseline/echo"] == run.responses["candidate"].to_list()
    assert run.responses["text"].item().startswith("Question 0?")


# Systems and recordings.


def test_a_recording_answers_and_what_it_lacks_has_failed(exam, tmp_path):
    file = tmp_path / "recorded.jsonl"
    question = "Question 1?\n\nAnswer in a phrase or at most two sentences."
    file.write_text(json.dumps({"prompt": question, "text": "it is 1"}))
    run = viva.open(tmp_path / "run.viva")
    (row,) = run.collect(exam(2), models=[f"replay(path={file})"]).rows
    assert (1, 1) == (row["answered"], row["failed"])
    assert [
        ("q0", "failed", None, "the recording has no answer to this question"),
        ("q1", "ok", "it is 1", None),
    ] == run.responses.select("item", "status", "text", "error").rows()


def test_a_function_sits_the_exam_and_its_citations_are_kept(exam, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mysystem.py").write_text(
        "def answer(messages):\n"
        "    return {'text': 'as in ' + messages[-1]['content'].split('?')[0],\n"
        "            'reasoning': 'looked up', 'citations': [{'title': 'A paper', 'page': 3}, 'B']}\n"
    )
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(2), models=["callable(path=mysystem:answer)"])
    told = run.responses.row(1, named=True)
    assert ("as in Question 1", "looked up") == (told["text"], told["reasoning"])
    assert {"citations": [{"title": "A paper", "page": 3}, "B"]} == json.loads(told["meta"])


def test_an_endpoint_of_one_s_own_sits_the_exam(exam, fake, tmp_path):
    server = fake({"answer": "four", "citations": ["C"]})
    run = viva.open(tmp_path / "run.viva")
    name = f"http(url={server.base_url}/ask)"
    run.collect(exam(2), models=[name], system="Be brief.")
    assert ["four"] * 2 == run.responses["text"].to_list()
    assert [f"http(system='Be brief.', url={server.base_url}/ask)"] == run.responses[
        "candidate"
    ].unique().to_list()
    assert {"citations": ["C"]} == json.loads(run.responses["meta"][0])
    assert ["system", "user"] == [m["role"] for m in server.body["messages"]]


def test_an_answer_that_was_withheld_is_filtered_and_not_asked_again(exam, fake, monkeypatch, tmp_path):
    said = {"error": {"message": "content_filter: withheld"}}
    server = fake(lambda request: _error(said))
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    run = viva.open(tmp_path / "run.viva")
    for answered in (1, 0):
        (row,) = run.collect(exam(1), models=["vllm/m"]).rows
        assert (answered, 0) == (row["answered"], row["failed"])
    assert [("filtered", None)] == run.responses.select("status", "text").rows()


async def _error(said):
    return web.json_response(said, status=400)


def test_a_function_that_is_not_there_stores_nothing(exam, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    with pytest.raises(ModelError, match=r"callable\(path=nowhere_at_all:f\): the module cannot be imported"):
        run.collect(exam(1), models=["callable(path=nowhere_at_all:f)"])
    assert not run.file.exists
