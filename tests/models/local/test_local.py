"""A model in this process from the outside: requests in, replies out."""

import asyncio
import gc
import re
import shutil
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lazy import lazy_module
from tests.models.local.families import CONTEXT, saved
from tests.models.one_by_one import each

import vivavoce.models.local as local_models
from vivavoce.core.errors import InputError
from vivavoce.models.engine.calls import Call, Queue
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.local import Local, connect, loading, way_choice
from vivavoce.models.local.pass_cost import PassCost
from vivavoce.models.local.scoring import rolling, score
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import (
    Continuations,
    FatalError,
    Message,
    RejectedError,
    Reply,
    Request,
    Sampling,
)

torch = lazy_module("torch")
pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = (
    "What is the first treatment of a patient with a fever?",
    "Insulin",
    "The patient should be given antibiotics, fluids and oxygen.",
    "Which of the following is correct?",
    "A woman of 54 years",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder for each family, made when it is first asked for."""
    made: dict[tuple[object, ...], Path] = {}

    def folder(name: str, **settings) -> Path:
        key = (name, *sorted(settings.items()))
        if key not in made:
            made[key] = saved(tmp_path_factory.mktemp("models"), name, **settings)
        return made[key]

    return folder


def local(folder: Path, **settings) -> Local:
    return connect("hf/some", str(folder), {"device": "cpu", **settings})


def replies(model: Local, requests: Sequence[Request]) -> list:
    """The outcome of each; they all wait together."""

    async def asking() -> list:
        calls = [model.generate if r.kind == "generate" else model.loglikelihood for r in requests]
        try:
            return await asyncio.gather(
                *(call(request) for call, request in zip(calls, requests, strict=True)),
                return_exceptions=True,
            )
        finally:
            await model.close()

    return asyncio.run(asking())


def told(model: Local, request: Request) -> Reply:
    (found,) = replies(model, [request])
    if isinstance(found, Exception):
        raise found
    return found


def question(text: str, **sampling) -> Request:
    return Request(messages=(Message("user", text),), sampling=Sampling(**{"max_tokens": 8, **sampling}))


def likelihood(text: str, target: str = "the fever", **more) -> Request:
    asked = (Message("user", text),) if text else ()
    return Request(messages=asked, kind="loglikelihood", target=target, **more)


@pytest.mark.parametrize("name", ["gpt2", "gemma2", "t5"])
def test_batch_size_padding_and_order_change_nothing(name, folders):
    requests = [question(text, logprobs=True) for text in TEXTS]
    requests += [question(text, temperature=0.9, top_p=0.9, seed=4, logprobs=True) for text in TEXTS]
    requests += [likelihood(text) for text in TEXTS]
    requests += [question(text, beams=2) for text in TEXTS[:2]]
    right = replies(local(folders(name), batch=1), requests)
    together = replies(local(folders(name), batch=16), requests)
    backwards = replies(local(folders(name), batch=3), requests[::-1])[::-1]
    for found in (together, backwards):
        for one, other in zip(right, found, strict=True):
            assert one.text == other.text
            assert [d.ids for d in one.generations] == [d.ids for d in other.generations]
            for a, b in zip(one.generations, other.generations, strict=True):
                assert sum(a.logprobs) == pytest.approx(sum(b.logprobs), rel=1e-5)
                assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)  # of logits in the tens
            assert [n.tokens for n in one.likelihoods] == [n.tokens for n in other.likelihoods]
            numbers = [n.logprob for n in one.likelihoods]
            assert numbers == pytest.approx([n.logprob for n in other.likelihoods], rel=1e-5)


def test_a_seed_draws_the_same_again_and_without_one_each_draw_is_fresh(folders):
    model = local(folders("llama"))
    seeded = [question(TEXTS[0], temperature=1.0, seed=seed, max_tokens=20) for seed in (1, 1, 2)]
    fresh = [question(TEXTS[0], temperature=1.0, max_tokens=20)] * 2
    one, again, other, first, second = (reply.text for reply in replies(model, [*seeded, *fresh]))
    assert one == again != other
    assert first != second


def test_an_answer_says_how_it_came_about(folders):
    reply = told(local(folders("gpt2"), batch=2), question(TEXTS[0], logprobs=True, max_tokens=3))
    assert ("length", 3, 0) == (reply.finish_reason, reply.usage.output, reply.truncated)
    (drawn,) = reply.generations
    assert reply.text == drawn.text == "".join(drawn.pieces)
    assert reply.logprobs == drawn.logprobs
    assert 3 == len(drawn.ids)
    assert 16 == len(reply.tokeniser)


def test_what_was_not_asked_for_is_not_told(folders):
    reply = told(local(folders("gpt2")), question(TEXTS[0]))
    assert ((), None) == (reply.generations, reply.logprobs)


def test_a_stop_text_ends_the_answer_before_it(folders):
    model = local(folders("gemma2"))
    whole = told(model, question(TEXTS[0], max_tokens=30, temperature=1.0, seed=5)).text
    stop = whole[4:7]
    reply = told(model, question(TEXTS[0], max_tokens=30, temperature=1.0, seed=5, stop=(stop,)))
    assert whole[: whole.find(stop)] == reply.text
    assert "stop" == reply.finish_reason


def test_beams_are_as_many_as_asked_and_the_likeliest_is_the_answer(folders):
    three, one = replies(local(folders("llama")), [question(TEXTS[0], beams=3), question(TEXTS[0], beams=1)])
    assert 3 == len(three.generations)
    assert three.text == three.generations[0].text
    assert 1 == len(one.generations)
    assert sum(three.generations[0].logprobs) >= sum(one.generations[0].logprobs) - 1e-6


def test_a_schema_is_refused(folders):
    with pytest.raises(RejectedError, match="takes no schema"):
        told(local(folders("gpt2")), question(TEXTS[0], schema={"type": "object"}))


def test_a_likelihood_is_the_product_of_its_tokens_one_at_a_time(folders):
    model = local(folders("llama"))
    reply = told(model, likelihood(TEXTS[0]))
    loaded, _ = model._model()
    ids = [*model.tokens.question((Message("user", TEXTS[0]),)).ids, *model.tokens.ids(" the fever")]
    start, total = len(model.tokens.question((Message("user", TEXTS[0]),)).ids), 0.0
    for place in range(start, len(ids)):
        with torch.inference_mode():
            logits = loaded(torch.tensor([ids[:place]])).logits[0, -1]
        total += float(torch.log_softmax(logits, -1)[ids[place]])
    (found,) = reply.likelihoods
    assert total == pytest.approx(found.logprob, rel=1e-5)
    assert len(ids) - start == found.tokens
    assert (len(ids), 0) == reply.usage


@pytest.mark.parametrize("name", ["gpt2", "mistral", "t5"])
def test_branches_are_as_if_each_were_asked_alone(name, folders):
    model = local(folders(name))
    trunk = told(model, question(TEXTS[0], logprobs=True, temperature=1.0, seed=9)).generations[0]
    asked = Continuations(("yes", "the blood pressure"), trunk, (0, 4))
    request = Request(messages=(Message("user", TEXTS[0]),), kind="loglikelihood", branches=asked)
    together = told(model, request).likelihoods
    alone = [
        replace(request, branches=Continuations((target,), trunk, (cut,)))
        for cut in asked.cuts
        for target in asked.targets
    ]
    one_by_one = [reply.likelihoods[0] for reply in replies(model, alone)]
    assert [n.tokens for n in one_by_one] == [n.tokens for n in together]
    assert [n.logprob for n in one_by_one] == pytest.approx([n.logprob for n in together], rel=1e-5)


@pytest.mark.parametrize("way", ["packed", "branched", "naive"])
def test_every_way_gives_the_same_numbers(way, folders):
    requests = [likelihood(text, branches=Continuations(("a fever", "no"))) for text in TEXTS]
    right = replies(local(folders("qwen3"), way="naive"), requests)
    found = replies(local(folders("qwen3"), way=way), requests)
    for one, other in zip(right, found, strict=True):
        numbers = [n.logprob for n in one.likelihoods]
        assert numbers == pytest.approx([n.logprob for n in other.likelihoods], rel=1e-5)


def test_what_is_recorded_of_a_model_does_not_depend_on_the_way_that_was_cheaper(folders, monkeypatch):
    monkeypatch.setattr(way_choice, "MEASURE_AFTER", 1)
    requests = [likelihood(text, branches=Continuations(("a fever", "no"))) for text in TEXTS]
    ways = []

    def noted(model, trees, way, *, batch):
        ways.append(way)
        return score(model, trees, way, batch=batch)

    monkeypatch.setattr(local_models, "score", noted)
    runs = []
    for cost in (PassCost(1.0, 0.0, 0.0), PassCost(0.0, 0.0, 1.0)):
        monkeypatch.setattr(way_choice, "measure_pass_cost", lambda model, clock, cost=cost: cost)
        model = local(folders("qwen3"))
        runs.append((replies(model, requests), model.facts, ways.pop()))
        ways.clear()
    (found, facts, packed), (other, again, branched) = runs
    assert ("packed", "branched") == (packed, branched)
    assert ("packed or branched", "") == (facts["way"], facts["why"])
    assert facts == again
    for one, two in zip(found, other, strict=True):
        numbers = [n.logprob for n in two.likelihoods]
        assert numbers == pytest.approx([n.logprob for n in one.likelihoods], rel=1e-5)
        assert one.usage == two.usage


def test_a_question_that_is_too_long_is_refused_with_the_numbers(folders):
    model = local(folders("gpt2"), context=20)
    size = len(model.tokens.question((Message("user", TEXTS[0]),)).ids)
    with pytest.raises(
        RejectedError, match=f"{size} tokens of question and 8 of what follows .* context of 20"
    ):
        told(model, question(TEXTS[0]))
    more = len(model.tokens.ids(" the fever"))
    with pytest.raises(
        RejectedError, match=f"{size} tokens of question and {more} of what follows .* of {size}"
    ):
        told(local(folders("gpt2"), context=size), likelihood(TEXTS[0]))
    assert told(local(folders("gpt2"), context=size + more), likelihood(TEXTS[0])).truncated == 0


def test_a_declared_truncation_is_counted(folders):
    model = local(folders("gpt2"), context=20, truncate="left")
    made = model.tokens.question((Message("user", TEXTS[0]),)).ids
    reply = told(model, question(TEXTS[0], logprobs=True))
    assert (len(made) + 8 - 20, 12) == (reply.truncated, reply.usage.input)
    loaded, _ = model._model()
    kept = torch.tensor([[made[0], *made[len(made) - 11 :]]])
    own = loaded.generate(kept, attention_mask=torch.ones_like(kept), max_new_tokens=8, do_sample=False)
    assert tuple(own[0, 12:].tolist()) == reply.generations[0].ids
    more = len(model.tokens.ids(" the fever"))
    assert (
        more
        == told(local(folders("gpt2"), context=len(made), truncate="left"), likelihood(TEXTS[0])).truncated
    )


def test_an_answer_whose_length_is_not_said_takes_the_room_there_is(folders):
    asked = replace(question(TEXTS[1]), sampling=Sampling())
    model = local(folders("gpt2", seed=3), context=20)
    size = len(model.tokens.question((Message("user", TEXTS[1]),)).ids)
    reply = told(model, asked)
    assert ("length", 20 - size) == (reply.finish_reason, reply.usage.output)


def test_a_question_cut_short_leaves_half_the_context_to_the_answer(folders):
    model = local(folders("gpt2"), context=10, truncate="left")
    reply = told(model, replace(question(TEXTS[0]), sampling=Sampling()))
    assert (5, 5) == reply.usage
    assert len(model.tokens.question((Message("user", TEXTS[0]),)).ids) - 5 == reply.truncated


def test_a_long_text_alone_is_read_by_a_window_and_a_long_target_is_refused(folders):
    model = local(folders("gpt2"), context=16, stride=4)
    text = " ".join(TEXTS)
    reply = told(model, likelihood("", text))
    loaded, _ = model._model()
    ids = model.tokens.ids(text)
    assert rolling(loaded, ids, 1, context=16, stride=4) == reply.likelihoods[0]
    assert len(ids) == reply.likelihoods[0].tokens
    with pytest.raises(RejectedError, match="do not fit the model's context of 16"):
        told(model, likelihood("What", text))


def test_a_text_alone_that_fits_follows_one_token(folders):
    model = local(folders("gpt2"))
    reply = told(model, likelihood("", TEXTS[0]))
    assert (len(model.tokens.ids(TEXTS[0])) + 1, 0) == reply.usage


def test_logits_that_are_no_numbers_are_refused_with_token_and_target(folders):
    model = local(folders("llama"), way="naive")
    loaded, _ = model._model()
    bad = model.tokens.ids(" fever")[0]
    with torch.no_grad():
        loaded.get_input_embeddings().weight[bad] = float("nan")
    found = replies_kept(model, [likelihood(TEXTS[1], "a fever now"), likelihood(TEXTS[1], "a rash")])
    assert isinstance(found[0], RejectedError)
    # which token is the first depends on whether attention multiplies what it masks by 0, and NaN stays NaN
    assert re.search(r"the model's logits are no numbers, at token \d of 'a fever now'", str(found[0]))
    assert isinstance(found[1], Reply)


def replies_kept(model: Local, requests: Sequence[Request]) -> list:
    """As `replies`, with the weights that are loaded."""

    async def asking() -> list:
        return await asyncio.gather(*map(model.loglikelihood, requests), return_exceptions=True)

    return asyncio.run(asking())


def test_a_tokeniser_that_changes_texts_serves_for_answers_only(folders):
    model = local(folders("gpt2", lower=True))
    answer, number = replies(model, [question("What"), likelihood("What")])
    assert isinstance(answer, Reply)
    assert isinstance(number, FatalError)
    assert "'Blood pressure' returns as 'blood pressure'" in str(number)


def test_chat_is_on_where_there_is_a_template_and_can_be_left_out(folders):
    folder = folders("llama", chat=True)
    asked = (Message("user", "What"),)
    assert "[user] What\n[assistant]" == local(folder).tokens.question(asked).before
    assert "What" == local(folder, chat_template=False).tokens.question(asked).before
    assert "What" == local(folders("llama")).tokens.question(asked).before


def test_a_conversation_goes_through_the_template_turn_by_turn(folders):
    talk = (Message("user", "It hurts"), Message("assistant", "Where"), Message("user", "Here"))
    before = local(folders("llama", chat=True)).tokens.question(talk).before
    assert "[user] It hurts\n[assistant] Where\n[user] Here\n[assistant]" == before


def test_weights_are_loaded_once_and_only_when_the_model_is_asked(folders, monkeypatch):
    from vivavoce.models import local as room

    times = []
    monkeypatch.setattr(room, "weights", lambda *a, **k: (times.append(1), loading.weights(*a, **k))[1])
    model = local(folders("gpt2"))
    assert [] == times
    replies(model, [question(text) for text in TEXTS])
    assert [1] == times


def test_weights_that_cannot_be_loaded_are_tried_once(folders, monkeypatch):
    from vivavoce.models import local as room

    times = []

    def broken(*args, **given):
        times.append(1)
        raise FatalError("no such weights.")

    monkeypatch.setattr(room, "weights", broken)
    found = replies(local(folders("gpt2"), batch=1), [question(text) for text in TEXTS])
    assert all(isinstance(one, FatalError) for one in found)
    assert [1] == times


def test_what_is_released_is_freed_and_can_be_asked_again(folders):
    model = local(folders("gpt2"))
    first = told(model, question(TEXTS[0]))
    held = weakref.ref(model._model()[0])
    replies(model, [question(text, temperature=1.0, seed=k) for k, text in enumerate(TEXTS)])
    model.release()
    assert held() is None
    assert first == told(model, question(TEXTS[0]))


def test_a_gpu_that_has_failed_can_be_released(folders, monkeypatch):
    from vivavoce.models import local as room

    def failed():
        raise RuntimeError("CUDA error: device-side assert triggered")

    model = local(folders("gpt2"))
    told(model, question(TEXTS[0]))
    monkeypatch.setattr(room, "free_memory", failed)
    model.release()
    assert model._loaded is None


def test_a_model_that_lacks_weights_is_not_held_in_memory(folders, tmp_path, monkeypatch):
    import transformers
    from safetensors.torch import load_file, save_file

    lame = tmp_path / "lame"
    shutil.copytree(folders("gpt2"), lame)
    kept = {k: v for k, v in load_file(lame / "model.safetensors").items() if "h.1." not in k}
    save_file(kept, lame / "model.safetensors", metadata={"format": "pt"})
    read, held = transformers.AutoModelForCausalLM.from_pretrained, []

    def loaded(*args, **given):
        made, told = read(*args, **given)
        held.append(weakref.ref(made))
        return made, told

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", loaded)
    model = local(lame)
    for _ in range(2):
        with pytest.raises(FatalError, match="its files lack weights"):
            told(model, question(TEXTS[0]))
    gc.collect()
    assert [None] == [one() for one in held]


def test_out_of_memory_halves_the_batch_and_every_answer_comes(folders, monkeypatch):
    from vivavoce.models import local as room

    sizes = []

    def small(model, rows, *args, **given):
        sizes.append(len(rows))
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return draw(model, rows, *args, **given)

    draw = room.draw
    right = replies(local(folders("gpt2")), [question(text) for text in TEXTS])
    monkeypatch.setattr(room, "draw", small)
    found = replies(local(folders("gpt2")), [question(text) for text in TEXTS])
    assert [r.text for r in right] == [r.text for r in found]
    assert max(sizes) > 2
    assert len(TEXTS) <= sum(size for size in sizes if size <= 2)


def test_the_engine_asks_it_as_it_asks_any_model(folders):
    model = local(folders("llama", chat=True))
    requests = [question(text) for text in TEXTS] + [likelihood(text) for text in TEXTS]
    kept = {}
    jobs = (Call(request, 1, number) for number, request in enumerate(requests))
    tally = ask(
        [Queue(model, jobs, Limits(concurrency=8, attempts=1), (0.0, 0.0))],
        each(lambda asked, job, answer: kept.update({job.tag: answer})),
    )
    assert (len(requests), 0, 0.0) == (tally.answered, tally.failed, tally.cost)
    assert set(range(len(requests))) == set(kept)
    assert tally.traffic.requests == {}


def test_the_tests_model_has_the_context_they_take_it_to_have(folders):
    assert CONTEXT == local(folders("gpt2")).context


def test_other_weights_in_the_same_folder_are_refused(folders, tmp_path):
    import vivavoce as viva

    exam = tmp_path / "exam.jsonl"
    exam.write_text('{"id": "q", "format": "short", "question": "What is a fever?", "answer": "warmth"}\n')
    here = tmp_path / "model"
    shutil.copytree(saved(tmp_path / "one", "llama", seed=1), here)
    run = viva.open(tmp_path / "run.viva")
    run.collect(f"jsonl(path={exam})", models=[f"hf/{here}"], for_=["perplexity"])
    shutil.rmtree(here)
    shutil.copytree(saved(tmp_path / "two", "llama", seed=2), here)
    with pytest.raises(InputError, match="is another model now than the one that answered here"):
        run.collect(f"jsonl(path={exam})", models=[f"hf/{here}"], for_=["perplexity(given=nothing)"])


@pytest.mark.parametrize(("question", "blank"), [("Which?", True), ("Which?\n", False), ("Which? ", False)])
def test_whether_a_blank_was_put_before_what_follows_the_question_is_told(folders, question, blank):
    asked = Request(
        messages=(Message("user", question),), kind="loglikelihood", branches=Continuations(("A",))
    )
    assert blank is asyncio.run(local(folders("llama")).loglikelihood(asked)).spaced
