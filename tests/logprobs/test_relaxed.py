"""The probe of Relaxed Perplexity: what is drawn, what is kept, where targets are put, and what is stored."""

import json
import math
from dataclasses import replace

import pytest
from tests.logprobs.relaxed_model import FakeLetters, said

from vivavoce.core.records import Item
from vivavoce.logprobs import requests as probes
from vivavoce.logprobs.relaxed_requests import Relaxed
from vivavoce.logprobs.requests import reply_from_json, reply_to_json
from vivavoce.models.requests import Generation, Likelihood, Reply

ITEM = Item(benchmark="b", item="q1", format="longform", question="?", must=("ab", "cad"), nice=("d",))
MODEL = FakeLetters(1)


def answers(*texts: str) -> list[Reply]:
    return [Reply(text=text, generations=(MODEL.drawn(text),)) for text in texts]


def worth(*tokens: float, closing: float | None = 0.0, ended: bool = True) -> Reply:
    """An answer of one letter again and again, whose log-probabilities are these."""
    text = "a" * len(tokens)
    drawn = MODEL.drawn(text)._replace(logprobs=tokens, closing=closing, ended=ended)
    return Reply(text=text, generations=(drawn,))


def kept_of(opened: list[Reply], keep: int, **settings) -> list[int]:
    """Which samples are kept, the likeliest first."""
    told, _ = run(Relaxed(n=4, samples=len(opened), keep=keep, **settings), ITEM, opened)
    return [one["sample"] for one in told["kept"]]


def run(probe: Relaxed, item: Item, opened: list[Reply], branching: bool = True) -> tuple[dict, int]:
    """What is stored in the end, and how many requests the second round took."""
    replies, calls = [], 0
    for request in probe.score(item, said, opened):
        parts = [MODEL.likely(one) for one in probes.to_model_requests(request, branching)]
        calls += len(parts)
        replies.append(parts[0] if branching else probes.merge(parts))
    return dict(probe.to_record(item, opened, replies)), calls


def cuts_asked(probe: Relaxed, *texts: str) -> list[tuple[str, tuple[int, ...]]]:
    requests = probe.score(ITEM, said, answers(*texts))
    return [(r.branches.trunk.text, r.branches.cuts) for r in requests]


def test_every_sample_is_a_request_with_a_seed_of_its_own():
    requests = Relaxed(n=24, samples=10).sample(ITEM, said)
    assert 10 == len({r.sampling.seed for r in requests}) == len({r.key for r in requests})
    drawn = {(r.kind, r.sampling.temperature, r.sampling.top_p, r.sampling.max_tokens) for r in requests}
    assert {("generate", 1.0, 0.9, 24)} == drawn
    assert all(r.sampling.logprobs and r.messages == said(ITEM) for r in requests)


def test_seeds_follow_the_item_and_the_seed_that_was_given():
    seeds = [r.sampling.seed for r in Relaxed(n=8).sample(ITEM, said)]
    assert seeds == [r.sampling.seed for r in Relaxed(n=8).sample(replace(ITEM, question="!"), said)]
    others = (
        Relaxed(n=8).sample(replace(ITEM, item="q2", group="q2"), said),
        Relaxed(n=8, seed=1).sample(ITEM, said),
    )
    assert all(not {r.sampling.seed for r in requests} & set(seeds) for requests in others)
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_beam_search_is_one_request_that_gives_all_samples():
    (request,) = Relaxed(n=24, samples=7, draw="beam").sample(ITEM, said)
    assert (7, 24, None, None, True) == (
        request.sampling.beams,
        request.sampling.max_tokens,
        request.sampling.temperature,
        request.sampling.seed,
        request.sampling.logprobs,
    )
    found = tuple(MODEL.drawn(text) for text in ("abcd", "ab", "abca"))
    probe = Relaxed(n=4, stride=4, samples=3, keep=2, draw="beam")
    told, _ = run(probe, ITEM, [Reply(text="abcd", generations=found)])
    assert [None, None, None] == [sample["seed"] for sample in told["samples"]]
    assert ["abcd", "ab", "abca"] == [sample["text"] for sample in told["samples"]]


def test_the_name_tells_apart_whatever_changes_the_asking():
    changes = [
        {"stride": 16},
        {"samples": 11},
        {"keep": 4},
        {"top_p": 0.8},
        {"temperature": 0.5},
        {"draw": "beam"},
        {"seed": 1},
        {"keep_by": "per_token"},
    ]
    names = {replace(Relaxed(n=8), **change).name for change in changes}
    assert len(changes) == len(names - {Relaxed(n=8).name, Relaxed(n=16).name})
    assert "relaxed(draw=beam, keep=5, keep_by=total, n=8, samples=10, stride=8)" in names


def test_a_beam_search_is_the_same_whatever_the_seed_it_does_not_have():
    assert Relaxed(n=8, draw="beam", seed=3, top_p=0.5).name == Relaxed(n=8, draw="beam").name


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"stride": 0},
        {"keep": 0},
        {"keep": 11},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"temperature": 0.0},
    ],
)
def test_a_setting_that_means_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Relaxed(**{"n": 8, **wrong})


def test_targets_stand_after_every_stride_up_to_the_end_of_the_answer():
    assert [("abcdab", (0, 2, 4, 6))] == cuts_asked(Relaxed(n=8, stride=2, samples=1, keep=1), "abcdab")
    assert [("abcda", (0, 2, 4))] == cuts_asked(Relaxed(n=8, stride=2, samples=1, keep=1), "abcda")


def test_a_beginning_that_answers_share_is_asked_once():
    probe = Relaxed(n=4, stride=2, samples=3, keep=3)
    reply_to_json = cuts_asked(probe, "abcd", "abda", "cdab")
    asked = [trunk[:cut] for trunk, cuts in reply_to_json for cut in cuts]
    assert sorted(["", "ab", "abcd", "abda", "cd", "cdab"]) == sorted(asked)


def test_an_answer_that_another_begins_with_needs_no_asking():
    probe = Relaxed(n=4, stride=2, samples=2, keep=2, keep_by="per_token")
    opened = [worth(-1.0, -1.0, -1.0, -1.0), worth(-2.0, -2.0)]
    assert 1 == len(probe.score(ITEM, said, opened))
    told, _ = run(probe, ITEM, opened)
    assert [[0, 0, 0], [0, 0, None]] == [reply_to_json["alike"] for reply_to_json in told["kept"]]
    first, second = (reply_to_json["logprobs"] for reply_to_json in told["kept"])
    assert [*first[:2], None] == second
    assert [0.0, -4.0, None] == told["kept"][1]["prefix"]


def test_an_empty_answer_is_asked_right_after_the_question_only():
    assert [("", (0,))] == cuts_asked(Relaxed(n=8, stride=2, samples=1, keep=1), "")
    told, _ = run(Relaxed(n=4, stride=2, samples=1, keep=1), ITEM, answers(""))
    (reply_to_json,) = told["kept"]
    assert ([0, None, None], [0.0, None, None]) == (reply_to_json["alike"], reply_to_json["prefix"])


def test_the_likeliest_are_kept_by_the_whole_answer_or_by_the_token():
    opened = [worth(-1.0, -1.0, -1.0), worth(-2.0), worth(-1.5, -1.0)]
    assert [1, 2] == kept_of(opened, 2, keep_by="total")
    assert [0, 2] == kept_of(opened, 2, keep_by="per_token")


def test_the_kept_are_the_likeliest_with_their_ends():
    """By how likely the model makes each answer of up to four letters, as a product of probabilities."""
    for seed in range(20):
        probe, model = Relaxed(n=4, stride=2, samples=10, keep=3, seed=seed), FakeLetters(seed)
        opened = [model.answer(request) for request in probe.sample(ITEM, said)]
        chances = {}
        for text in (reply.text for reply in opened):
            steps = [*text, "."][:4]
            chances[text] = math.prod(model.probability(c, text[:i]) for i, c in enumerate(steps))
        wanted = sorted(chances, key=lambda text: -chances[text])[:3]
        told, _ = run(probe, ITEM, opened)
        assert wanted == [told["samples"][one["sample"]]["text"] for one in told["kept"]]


def test_the_token_that_closes_an_answer_counts_in_its_total_and_in_its_mean():
    opened = [
        worth(-1.0, closing=-5.0),
        worth(-2.0, -2.0, closing=-0.5),
        worth(-1.5, -1.5, -1.5, closing=-1.0),
    ]
    assert [1, 2, 0] == kept_of(opened, 3, keep_by="total")  # -4.5, -5.5, -6
    assert [2, 1, 0] == kept_of(opened, 3, keep_by="per_token")  # -1.375, -1.5, -3


def test_an_answer_that_did_not_end_has_nothing_more_to_count():
    cut = worth(-1.0, -1.0, -1.0, -1.0, closing=None, ended=False)
    assert [0, 1] == kept_of([cut, worth(-4.0, closing=-0.5)], 2)
    assert [1, 0] == kept_of([cut, worth(-3.0, closing=-0.5)], 2)


def test_an_empty_answer_ranks_by_its_end_alone():
    opened = [worth(closing=-3.0), worth(-1.0, closing=-1.0), worth(-2.0, -2.0, closing=-2.0)]
    assert [1, 0, 2] == kept_of(opened, 3, keep_by="total")
    assert [1, 2, 0] == kept_of(opened, 3, keep_by="per_token")


def test_where_one_end_is_not_told_none_counts():
    opened = [worth(-1.0, closing=-9.0), worth(-2.0, -0.5, closing=None), worth(-3.0, -1.0, -1.0)]
    assert [0, 1, 2] == kept_of(opened, 3)
    assert [1, 2, 0] == kept_of([opened[0], worth(-2.0, -0.5), opened[2]], 3)


def test_without_ends_an_empty_answer_comes_last_by_the_token_and_first_by_the_total():
    opened = [worth(closing=None), worth(-9.0, closing=None)]
    assert [0] == kept_of(opened, 1, keep_by="total")
    assert [1] == kept_of(opened, 1, keep_by="per_token")


def test_the_samples_are_stored_with_their_ends():
    opened = [worth(-1.0, closing=-0.25), worth(-1.0, -1.0, closing=None)]
    told, _ = run(Relaxed(n=4, samples=2, keep=1), ITEM, opened)
    assert [-0.25, None] == [sample["closing"] for sample in told["samples"]]


def test_of_equally_likely_answers_the_one_drawn_first_is_kept():
    first, second = MODEL.drawn("ab"), MODEL.drawn("cd")
    alike = {"logprobs": (-1.0, -1.0), "closing": -1.0}
    opened = [Reply(text=d.text, generations=(d._replace(**alike),)) for d in (second, first)]
    told, _ = run(Relaxed(n=4, samples=2, keep=1), ITEM, opened)
    assert 0 == told["kept"][0]["sample"]


def test_equal_answers_are_one_that_was_drawn_several_times():
    told, _ = run(Relaxed(n=4, samples=4, keep=3), ITEM, answers("ab", "cd", "ab", "ab"))
    assert {"ab": (0, 3), "cd": (1, 1)} == {
        told["samples"][reply_to_json["sample"]]["text"]: (reply_to_json["sample"], reply_to_json["times"])
        for reply_to_json in told["kept"]
    }


def test_an_endpoint_that_takes_one_target_at_a_time_tells_the_same():
    probe = Relaxed(n=6, stride=2, samples=4, keep=3)
    opened = [MODEL.answer(request) for request in probe.sample(ITEM, said)]
    (whole, _), (single, calls) = run(probe, ITEM, opened), run(probe, ITEM, opened, branching=False)
    assert whole["kept"] == single["kept"]
    assert calls > 3


@pytest.mark.parametrize("branching", [True, False])
def test_the_number_of_calls_is_reached_by_answers_that_share_nothing_and_never_passed(branching):
    probe = Relaxed(n=4, stride=2, samples=3, keep=2)
    for texts, most in {("abcd", "bcda", "cdab"): True, ("abcd", "abda", "ab"): False}.items():
        _, calls = run(probe, ITEM, answers(*texts), branching)
        bound = probe.most_calls(ITEM, said, branching)
        assert (3 + calls == bound) if most else (3 + calls <= bound)
    assert (3 + 2 if branching else 3 + (1 + 2 * 2) * 3) == probe.most_calls(ITEM, said, branching)


def test_without_statements_the_references_are_the_targets_and_blank_ones_are_none():
    item = Item(benchmark="b", item="q", format="longform", question="?", references=("ab", " ", "cd"))
    told, _ = run(Relaxed(n=4, samples=1, keep=1), item, answers("ab"))
    assert [("reference", "ab", 2), ("reference", "cd", 2)] == [tuple(t.values()) for t in told["targets"]]
    told, _ = run(Relaxed(n=4, samples=1, keep=1), ITEM, answers("ab"))
    assert ["must", "must", "nice"] == [target["kind"] for target in told["targets"]]


def test_an_item_without_targets_is_asked_nothing_more():
    item = Item(benchmark="b", item="q", format="longform", question="?")
    assert [] == Relaxed(n=4).score(item, said, answers("ab"))


def tokens_told(pieces: str, counts: tuple[int, ...]) -> int:
    """How many tokens a target is said to have, which has so many after 0, 1, 2, … letters of an answer."""
    probe = Relaxed(n=max(1, len(pieces)), stride=1, samples=1, keep=1)
    drawn = Generation(pieces, tuple(range(len(pieces))), tuple(pieces), (-1.0,) * len(pieces), False)
    reply = Reply(text=None, likelihoods=tuple(Likelihood(-1.0, tokens) for tokens in counts))
    item = replace(ITEM, must=("ab",), nice=())
    return probe.to_record(item, [Reply(text=pieces, generations=(drawn,))], [reply])["targets"][0]["tokens"]


@pytest.mark.parametrize("blanks", range(6))
def test_a_target_has_the_tokens_that_follow_a_blank_of_its_own_however_often_it_has_others(blanks):
    """After whitespace it has five, after a letter four; one more cut after whitespace changes nothing."""
    assert 4 == tokens_told("ab" + " " * blanks, (5, 4, 4) + (5,) * blanks)
    assert 4 == tokens_told("a" + "\n" * blanks, (5, 4) + (5,) * blanks)


def test_where_every_cut_follows_whitespace_a_target_has_the_tokens_it_has_after_the_question():
    assert 5 == tokens_told("", (5,))
    assert 5 == tokens_told("  ", (5, 4, 4))


def test_of_counts_that_an_endpoint_joins_over_the_border_the_commonest_is_taken_of_two_the_smaller():
    assert 3 == tokens_told("abc", (9, 3, 2, 3))
    assert 2 == tokens_told("ab", (9, 3, 2))


def test_what_is_stored_is_json_and_names_tokeniser_and_truncation():
    opened = [replace(MODEL.answer(request), truncated=3) for request in Relaxed(n=6).sample(ITEM, said)]
    told, _ = run(Relaxed(n=6), ITEM, opened)
    assert told == json.loads(json.dumps(told, allow_nan=False))
    assert ("letters", 3) == (told["tokeniser"], told["truncated"])
    assert [r.sampling.seed for r in Relaxed(n=6).sample(ITEM, said)] == [s["seed"] for s in told["samples"]]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="ab"),
        Reply(text="ab", generations=(MODEL.drawn("ab")._replace(ids=(), pieces=(), logprobs=()),)),
        Reply(text="ab", generations=(MODEL.drawn("ab")._replace(logprobs=(-1.0,)),)),
    ],
)
def test_an_answer_without_its_tokens_is_refused_by_its_number(reply):
    with pytest.raises(ValueError, match=r"sample 2 came without its tokens"):
        Relaxed(n=4, samples=2, keep=1).score(ITEM, said, [*answers("ab"), reply])


def test_a_probability_that_is_no_number_is_refused_with_target_and_place():
    probe, item = Relaxed(n=4, stride=2, samples=1, keep=1), replace(ITEM, must=("ab",), nice=("d",))
    likelihoods = [Likelihood(-1.0, 1)] * 6
    likelihoods[3] = Likelihood(float("nan"), 1)
    with pytest.raises(ValueError, match=r"the model gives .d. the log-probability nan .* after 2 "):
        probe.to_record(item, answers("abcd"), [Reply(text=None, likelihoods=tuple(likelihoods))])


def test_too_few_likelihoods_are_refused():
    probe = Relaxed(n=4, stride=2, samples=1, keep=1)
    short = Reply(text=None, likelihoods=(Likelihood(-1.0, 1),))
    with pytest.raises(ValueError, match="1 likelihoods came for 3 targets after 3 cuts"):
        probe.to_record(ITEM, answers("abcd"), [short])
    with pytest.raises(ValueError, match="0 likelihoods came"):
        probe.to_record(ITEM, answers("abcd"), [])


def test_the_papers_setting_has_33_places_and_171_calls_at_most_over_an_endpoint():
    one = replace(ITEM, must=("ab",), nice=())
    probe = Relaxed(n=256)
    assert (33, 0, 256) == (len(probe.cuts), probe.cuts[0], probe.cuts[-1])
    assert (15, 10 + 1 + 5 * 32) == (probe.most_calls(one, said, True), probe.most_calls(one, said, False))


def test_a_reply_is_kept_with_its_end_and_read_where_it_was_kept_without():
    reply = worth(-1.0, closing=-0.25)
    assert reply == reply_from_json(reply_to_json(reply))
    old = json.loads(reply_to_json(reply))
    del old["drawn"][0]["closing"]
    (drawn,) = reply_from_json(json.dumps(old)).generations
    assert reply.generations[0]._replace(closing=None) == drawn
