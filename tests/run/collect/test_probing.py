"""Probabilities: asked once, kept call by call, one response for each item, and never taken for words."""

import json
from dataclasses import replace

import pytest
from tests.run.collect.likely import FakeLikely, FakeLocal, nats

import vivavoce as viva
from vivavoce.core.errors import InputError, MetricError, SpecError
from vivavoce.logprobs.requests import expand, merge, reply_from_json, reply_to_json
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.requests import Reply, Usage

RELAXED = "relaxed_perplexity(n=8, stride=1, samples=4, keep=2)"


@pytest.fixture
def model(monkeypatch):
    """`model(...)` puts a fake model in the place of whatever is named from then on."""

    def made(kind=FakeLikely, name="vllm/m", **options):
        fake = kind(name, **options)

        def connect(self):
            fake.name = str(self.spec)
            return fake

        monkeypatch.setattr(CandidateConfig, "connect", connect)
        return fake

    return made


def told(run, probe):
    rows = run.responses.filter(probe=probe).sort("item")
    return [json.loads(record) for record in rows["logprobs"]]


def test_each_item_has_one_response_that_holds_what_was_told(exam, tmp_path, model):
    run, fake = viva.open(tmp_path / "run.viva"), model()
    done = run.collect(exam(3), models=["vllm/m"], for_=["perplexity"])
    assert (3, 0, 0) == tuple(done.rows[0][n] for n in ("answered", "failed", "left"))
    assert 3 == len(fake.asked)
    rows = run.responses
    assert [("given(after=question)", "", "ok")] * 3 == rows.select("probe", "edit", "status").rows()
    assert [None] * 3 == rows["text"].to_list()  # it is nobody's words
    question = fake.asked[0].messages[0].content
    assert nats(question, "answer 0") == told(run, "given(after=question)")[0]["references"][0]["logprob"]


def test_a_second_collect_asks_nobody(exam, tmp_path, model):
    run, spec = viva.open(tmp_path / "run.viva"), exam(3)
    model()
    run.collect(spec, models=["vllm/m"], for_=["perplexity"])
    again = model()
    done = run.collect(spec, models=["vllm/m"], for_=["perplexity"])
    assert [] == again.asked
    assert "nobody was asked" in done.text


def test_metrics_that_need_the_same_share_it(exam, tmp_path, model):
    run, fake = viva.open(tmp_path / "run.viva"), model()
    spec = exam(2, change=lambda k: {"format": "mcq", "options": ["a", "b"], "answer": "a"})
    run.collect(spec, models=["vllm/m"], for_=["options", "options(norm=token)"])
    assert 2 == len(fake.asked)


def test_one_by_one_an_endpoint_tells_the_same_as_all_at_once(exam, tmp_path, model):
    spec, found, calls = exam(3), [], []
    for branching in (True, False):
        run, fake = viva.open(tmp_path / f"{branching}.viva"), model(branching=branching)
        run.collect(spec, models=["vllm/m"], for_=[RELAXED, "perplexity"])
        run.score(RELAXED, "perplexity")
        found.append(run.scores.sort("item", "metric", "criterion")["value"].to_list())
        calls.append(len(fake.asked))
    assert found[0] == found[1]
    assert found[0]
    assert calls[0] < calls[1]


def test_what_came_before_a_fall_is_not_asked_again(exam, tmp_path, model, monkeypatch):
    from vivavoce.store.calls import Ledger

    run, spec = viva.open(tmp_path / "run.viva"), exam(4)
    fake, keep, stored = model(), Ledger.keep, set()

    def falls(self, call):
        if len(stored) == 9 and call.key not in stored:
            raise RuntimeError("the process falls")
        keep(self, call)
        stored.add(call.key)

    monkeypatch.setattr(Ledger, "keep", falls)
    with pytest.raises(RuntimeError):
        run.collect(spec, models=["vllm/m"], for_=[RELAXED])
    monkeypatch.setattr(Ledger, "keep", keep)
    first = {request.key for request in fake.asked[:9]}
    after = model()
    run.collect(spec, models=["vllm/m"], for_=[RELAXED])
    assert not first & {request.key for request in after.asked}
    assert 4 == len(told(run, run.responses["probe"][0]))


def test_a_call_that_cannot_be_stored_puts_no_record_of_a_part_into_the_run(
    exam, tmp_path, model, monkeypatch
):
    """The others of its batch are stored one by one: what they bring is counted once."""
    from vivavoce.store.calls import Ledger

    options = ["a", "b", "c", "d", "e"]
    spec = exam(40, change=lambda k: {"format": "mcq", "options": options, "answer": "a"})
    whole, run = viva.open(tmp_path / "whole.viva"), viva.open(tmp_path / "run.viva")
    model(branching=False)
    done = whole.collect(spec, models=["vllm/m"], for_=["options"])
    keep, kept, refused = Ledger.keep, [], set()

    def falls(self, call):
        kept.append(call.key)
        if len(kept) == 70:  # in the midst of a batch
            refused.add(call.key)
        if call.key in refused:
            raise OverflowError("too large a number")
        keep(self, call)

    model(branching=False)
    monkeypatch.setattr(Ledger, "keep", falls)
    with pytest.raises(OverflowError):
        run.collect(spec, models=["vllm/m"], for_=["options"])
    monkeypatch.setattr(Ledger, "keep", keep)
    expected = dict(whole.responses.select("item", "logprobs").rows())
    stored = dict(run.responses.filter(status="ok").select("item", "logprobs").rows())
    assert stored
    assert {item: expected[item] for item in stored} == stored
    last = run.collect(spec, models=["vllm/m"], for_=["options"])
    assert done.rows[0]["answered"] == last.rows[0]["answered"] + len(stored)
    assert expected == dict(run.responses.select("item", "logprobs").rows())


def test_a_refused_call_fails_its_item_alone_and_is_tried_again(exam, tmp_path, model):
    run, spec = viva.open(tmp_path / "run.viva"), exam(3)
    model(poor=lambda request: "Question 1?" in request.messages[0].content)
    done = run.collect(spec, models=["vllm/m"], for_=["perplexity"])
    assert (2, 1) == (done.rows[0]["answered"], done.rows[0]["failed"])
    failed = run.responses.filter(status="failed")
    assert [("q1", "too long for the fake model")] == failed.select("item", "error").rows()
    run.score("perplexity")
    assert {"q1"} == set(run.scores.filter(status="failed")["item"])
    healthy = model()
    run.collect(spec, models=["vllm/m"], for_=["perplexity"])
    assert 1 == len(healthy.asked)
    run.score("perplexity")
    assert {"ok"} == set(run.scores["status"])


def test_where_no_answer_could_be_drawn_the_item_fails_with_the_cause(exam, tmp_path, model):
    run = viva.open(tmp_path / "run.viva")
    model(poor=lambda r: r.kind == "generate" and "Question 0?" in r.messages[0].content)
    run.collect(exam(2), models=["vllm/m"], for_=[RELAXED])
    assert {("q0", "failed"), ("q1", "ok")} == set(run.responses.select("item", "status").rows())
    assert "too long for the fake model" == run.responses.filter(item="q0")["error"].item()


def test_probabilities_are_no_answers_in_words(exam, tmp_path, model, endpoint):
    run, spec = viva.open(tmp_path / "run.viva"), exam(4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CandidateConfig, "connect", lambda self: FakeLikely("vllm/m"))
        run.collect(spec, models=["vllm/m"], for_=["perplexity"])
    endpoint()
    assert 4 == run.collect(spec, models=["vllm/m"]).rows[0]["answered"]
    run.score("exact", "perplexity")
    by = {metric: part.height for (metric,), part in run.scores.group_by("metric")}
    assert {"exact": 4, "perplexity": 12} == by
    assert {""} == set(run.scores["edit"])
    assert 4 == run.status().rows[0]["responses"]
    assert run.report(tmp_path / "report.html").exists()


def test_the_same_name_asked_in_other_words_is_refused(exam, tmp_path, model):
    run, spec, prompt = viva.open(tmp_path / "run.viva"), exam(2), tmp_path / "own.md"
    prompt.write_text("{{ question }}\nAnswer:")
    model()
    run.collect(spec, models=["vllm/m"], for_=["perplexity"], prompt=prompt)
    prompt.write_text("{{ question }}\nReply:")
    with pytest.raises(InputError, match="in other words before"):
        run.collect(spec, models=["vllm/m"], for_=["perplexity"], prompt=prompt)


def test_models_of_this_process_are_let_go_one_after_the_other(exam, tmp_path, monkeypatch):
    made: dict[str, FakeLocal] = {}
    monkeypatch.setattr(
        CandidateConfig, "connect", lambda self: made.setdefault(str(self.spec), FakeLocal(str(self.spec)))
    )
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(2), models=["vllm/a", "vllm/b"], for_=[RELAXED])
    assert [1, 1] == [fake.released for fake in made.values()]
    assert {"vllm/a": 2, "vllm/b": 2} == dict(run.responses["candidate"].value_counts().iter_rows())


def test_a_dry_run_counts_calls_and_asks_nobody(exam, tmp_path, model):
    run, fake = viva.open(tmp_path / "run.viva"), model(branching=False)
    spec = exam(3)
    (row,) = run.collect(spec, models=["vllm/m"], for_=["perplexity", RELAXED], dry_run=True).rows
    assert [] == fake.asked
    assert not run.file.exists
    run.collect(spec, models=["vllm/m"], for_=["perplexity", RELAXED])
    assert len(fake.asked) <= row["calls"]


def test_scoring_without_the_probabilities_names_the_command(exam, tmp_path, endpoint):
    endpoint()
    run, spec = viva.open(tmp_path / "run.viva"), exam(2)
    run.collect(spec, models=["vllm/m"])
    with pytest.raises(
        MetricError, match=r"viva collect \S+ '?jsonl\(path=\S+\)'? --model vllm/m --for perplexity"
    ):
        run.score("perplexity")


@pytest.mark.parametrize(
    ("for_", "repeats", "words"),
    [
        ("exact", None, "scores answers in words"),
        ("perplexity", 2, "asked once"),
        ("options", None, "none of these 2 items can be scored so"),
    ],
)
def test_what_has_no_probabilities_is_refused(exam, tmp_path, for_, repeats, words):
    with pytest.raises(SpecError, match=words):
        viva.open(tmp_path / "run.viva").collect(exam(2), models=["vllm/m"], for_=[for_], repeats=repeats)


def test_replies_come_back_as_they_were_kept(model):
    import asyncio

    from vivavoce.models.requests import Continuations, Request, Sampling

    fake = FakeLikely("vllm/m")
    drawn = asyncio.run(fake.generate(Request(messages=(), sampling=Sampling(seed=3)))).generations[0]
    request = Request(messages=(), branches=Continuations(("a", "b"), drawn, (0, 2)), kind="loglikelihood")
    whole = asyncio.run(fake.loglikelihood(request))
    again = reply_from_json(reply_to_json(whole))
    assert (whole.likelihoods, whole.tokeniser, whole.model) == (
        again.likelihoods,
        again.tokeniser,
        again.model,
    )
    parts = [asyncio.run(fake.loglikelihood(one)) for one in expand(request)]
    assert whole.likelihoods == merge(parts).likelihoods
    assert ["", "", " w30 w31", " w30 w31"] == [one.begun for one in expand(request)]


def test_runs_with_probabilities_merge(exam, tmp_path, model):
    model()
    spec = exam(2)
    runs = [viva.open(tmp_path / name) for name in ("a.viva", "b.viva")]
    runs[0].collect(spec, models=["vllm/m"], for_=["perplexity"])
    runs[1].collect(spec, models=["vllm/m"], for_=["perplexity(given=nothing)"])
    runs[0].merge(runs[1].file.path)
    assert {"given(after=question)", "given(after=nothing)"} == set(runs[0].responses["probe"])
    assert 4 == runs[0].responses.height


@pytest.mark.parametrize(("other", "left"), [("fake", 4), ("another", 2), (None, 2)])
def test_what_is_counted_in_tokens_compares_only_candidates_of_one_tokeniser(
    exam, tmp_path, monkeypatch, other, left
):
    made = {"vllm/a": FakeLikely("vllm/a"), "vllm/b": FakeLikely("vllm/b", tokeniser=other)}
    monkeypatch.setattr(CandidateConfig, "connect", lambda self: made[str(self.spec)])
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(12), models=[*made], for_=[RELAXED])
    run.score(RELAXED)
    found = run.compare(*made, metric=RELAXED)
    assert left == len(found.rows)
    assert (left == 2) == any("counted in tokens" in note for note in found.notes)
    ranked = run.study("ranking")["ranking"]
    assert (left == 2) == any("counted in tokens" in note for note in ranked.notes)


def test_what_an_endpoint_does_not_tell_fails_the_question_and_the_command(
    exam, tmp_path, model, monkeypatch
):
    async def mute(self, request):
        return Reply(text="without tokens", usage=Usage(1, 1))

    monkeypatch.setattr(FakeLikely, "generate", mute)
    run, spec = viva.open(tmp_path / "run.viva"), exam(3)
    model()
    done = run.collect(spec, models=["vllm/m"], for_=[RELAXED])
    assert (0, 3) == (done.rows[0]["answered"], done.rows[0]["failed"])
    assert "3 failed: 3 x the tokens of the answer were asked for, and none were told" in done.text
    monkeypatch.undo()
    model()
    assert 3 == run.collect(spec, models=["vllm/m"], for_=[RELAXED]).rows[0]["answered"]


@pytest.mark.parametrize("error", [KeyError("no such thing"), SystemExit("no such thing")])
def test_a_probe_that_breaks_on_an_item_is_named_and_the_others_go_on(
    exam, tmp_path, model, monkeypatch, error
):
    from vivavoce.logprobs.perplexity import ReferenceLikelihood

    whole = ReferenceLikelihood.to_record

    def told(self, item, opened, followed):
        if item.item == "q1":
            raise error
        return whole(self, item, opened, followed)

    monkeypatch.setattr(ReferenceLikelihood, "to_record", told)
    run = viva.open(tmp_path / "run.viva")
    model()
    done = run.collect(exam(3), models=["vllm/m"], for_=["perplexity"])
    assert (2, 1) == (done.rows[0]["answered"], done.rows[0]["failed"])
    assert (
        f"given(after=question) broke: {type(error).__name__}: {error}"
        == run.responses.filter(item="q1")["error"].item()
    )


def test_of_exams_and_candidates_that_were_not_asked_the_command_is_said(exam, tmp_path, model):
    run, one, other = viva.open(tmp_path / "run.viva"), exam(3), exam(2, name="other")
    model()
    run.collect(one, models=["vllm/a", "vllm/b"], for_=["perplexity(given=nothing)"])
    model()
    run.collect(one, models=["vllm/a"], for_=["perplexity"])
    run.collect(other, models=["vllm/a"], for_=["perplexity(given=nothing)"])
    notes = "\n".join(run.score("perplexity").notes)
    assert "--model vllm/b --for perplexity" in notes
    assert "other.jsonl" in notes
    with pytest.raises(MetricError, match="holds none of this kind"):
        run.score("perplexity", items=other)


def test_metrics_are_given_as_a_list(exam, tmp_path):
    from vivavoce.core.errors import SelectionError

    with pytest.raises(
        SelectionError, match=r"metrics are given as a list of texts, such as \['perplexity'\]"
    ):
        viva.open(tmp_path / "run.viva").collect(exam(2), models=["vllm/m"], for_="perplexity")


def test_how_a_model_runs_is_no_part_of_its_name_and_a_folder_has_one():
    from vivavoce.models.candidates import parse_candidate

    one = parse_candidate("hf/models/./small/(batch=4, way=naive, truncate=left)", {})
    assert "hf/models/small(truncate=left)" == str(one.spec)
    assert {"batch": 4, "way": "naive", "truncate": "left"} == one.options


def test_of_several_metrics_one_that_marks_nothing_is_left_out_and_named(exam, tmp_path, model):
    run = viva.open(tmp_path / "run.viva")
    model()
    done = run.collect(exam(2), models=["vllm/m"], for_=["options", "perplexity"])
    assert 2 == done.rows[0]["answered"]
    assert "options scores none of these 2 questions" in done.text


def test_questions_that_were_cut_are_counted(exam, tmp_path, model, monkeypatch):
    told = FakeLikely.loglikelihood

    async def cut(self, request):
        return replace(
            await told(self, request), truncated=5 * ("Question 0?" in request.messages[0].content)
        )

    monkeypatch.setattr(FakeLikely, "loglikelihood", cut)
    run = viva.open(tmp_path / "run.viva")
    model()
    done = run.collect(exam(3), models=["vllm/m"], for_=["perplexity"])
    assert "1 question was cut to fit the model's context" in done.text
    assert "1 answer to the questions was cut" not in done.text
    note = "vllm/m: of 1 question the beginning was left out to fit the model's context"
    assert any(note in line for line in run.score("perplexity").notes)


def test_a_call_that_several_items_share_is_on_the_bill_once(exam, tmp_path, model):
    run, spec = viva.open(tmp_path / "run.viva"), "options(norm=unconditional)"
    model()
    closed = exam(6, change=lambda k: {"format": "mcq", "options": ["a", "b"], "answer": "a"})
    run.collect(closed, models=["vllm/m"], for_=[spec])
    calls = [row for row in run.status().rows if row["about"] == "calls"]
    assert [6 + 2] == [row["calls"] for row in calls]
