"""What is asked of a model about the options of a question, and what is kept of its replies."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from tests.logprobs.choosing import DRUGS, by_content, by_place, fake, mcq, said, shown, statement, told

from vivavoce.core.prompts import load
from vivavoce.core.records import Item
from vivavoce.logprobs.options import Choices, options_in
from vivavoce.logprobs.requests import expand, merge
from vivavoce.models.requests import Likelihood, Message, Reply, Request

WORTH = dict(zip(DRUGS, (-3.0, -1.0, -2.0, -4.0), strict=True))


def asked(probe: Choices, item: Item, **settings: object) -> list[Request]:
    assert () == probe.sample(item, said(**settings))
    return list(probe.score(item, said(**settings), ()))


def targets(request: Request) -> tuple[str, ...]:
    assert request.branches is not None
    return request.branches.targets


@pytest.mark.parametrize(
    ("probe", "name"),
    [
        (Choices(), "choices(of=letter)"),
        (Choices(of="text", rotate=True), "choices(of=text, rotate=true)"),
        (Choices(unconditional=True, rotate=True), "choices(of=letter, rotate=true, unconditional=true)"),
    ],
)
def test_its_name_holds_what_changes_the_question(probe: Choices, name: str) -> None:
    assert name == probe.name


def test_one_request_asks_all_letters_after_the_conversation_of_the_candidate() -> None:
    (request,) = asked(Choices(), mcq(), system="Be brief.")
    assert said(system="Be brief.")(mcq()) == request.messages
    assert ("loglikelihood", ("A", "B", "C", "D")) == (request.kind, targets(request))


def test_full_texts_are_asked_as_they_stand_in_the_item() -> None:
    (request,) = asked(Choices(of="text"), mcq())
    assert DRUGS == targets(request)


@pytest.mark.parametrize("of", ["letter", "text"])
def test_a_statement_is_asked_for_true_and_false(of: str) -> None:
    (request,) = asked(Choices(of=of), statement())  # type: ignore[arg-type]
    assert ("True", "False") == targets(request)


def test_a_statement_has_one_order_to_be_asked_in() -> None:
    assert 1 == len(asked(Choices(rotate=True), statement()))


def test_in_the_rotations_each_option_stands_once_in_every_place() -> None:
    seen = [shown(r.messages[-1].content) for r in asked(Choices(rotate=True), mcq())]
    assert dict(zip("ABCD", DRUGS, strict=True)) == seen[0]
    assert dict(zip("ABCD", (*DRUGS[1:], DRUGS[0]), strict=True)) == seen[1]
    for letter in "ABCD":
        assert set(DRUGS) == {options[letter] for options in seen}


def test_orders_that_a_prompt_does_not_show_are_one_request_of_texts(tmp_path: Path) -> None:
    file = tmp_path / "bare.md"
    file.write_text("{{ question }}", encoding="utf-8")
    assert 1 == len({r.key for r in asked(Choices(of="text", rotate=True), mcq(), prompt=str(file))})
    assert 4 == len({r.key for r in asked(Choices(of="text", rotate=True), mcq())})


def test_without_a_question_the_same_texts_are_asked_after_nothing_once_for_all_items() -> None:
    probe = Choices(unconditional=True)
    first, second = (asked(probe, mcq(name=name))[-2:] for name in ("q1", "q2"))
    assert [(" A", " B", " C", " D"), ("A", "B", "C", "D")] == [targets(request) for request in first]
    assert {()} == {request.messages for request in first}
    assert [request.key for request in first] == [request.key for request in second]


def test_options_are_kept_by_their_published_number_wherever_they_stood() -> None:
    kept = told(Choices(rotate=True), mcq(), fake(by_content(WORTH)))
    assert [0, 1, 2, 3] == [shift for shift, _ in options_in(kept)]
    for shift, puts in options_in(kept):
        assert [WORTH[d] for d in DRUGS] == [put.logprob for put in puts]
        assert ["ABCD"[(k - shift) % 4] for k in range(4)] == [put.text for put in puts]


def test_rotated_texts_are_kept_by_their_published_number_too() -> None:
    kept = told(Choices(of="text", rotate=True), mcq(), fake(by_content(WORTH), len))
    for _, puts in options_in(kept):
        assert [(d, WORTH[d], len(d)) for d in DRUGS] == [put[:3] for put in puts]


def test_what_a_text_is_worth_alone_stands_beside_it() -> None:
    alone = {" A": -1.0, " B": -2.0, " C": -3.0, " D": -4.0}
    kept = told(Choices(unconditional=True), mcq(), fake(by_place({**alone, **dict.fromkeys("ABCD", -9.0)})))
    ((_, puts),) = options_in(kept)
    assert [-1.0, -2.0, -3.0, -4.0] == [put.alone for put in puts]


@pytest.mark.parametrize(("spaced", "alone"), [(True, -1.0), (None, -1.0), (False, -9.0)])
def test_alone_a_text_is_put_as_it_stood_after_the_question(spaced: bool | None, alone: float) -> None:
    tell = by_place({**{f" {x}": -1.0 for x in "ABCD"}, **dict.fromkeys("ABCD", -9.0)})
    kept = told(
        Choices(unconditional=True), mcq(), lambda request: replace(fake(tell)(request), spaced=spaced)
    )
    ((_, puts),) = options_in(kept)
    assert [alone] * 4 == [put.alone for put in puts]


def test_single_requests_of_an_endpoint_tell_the_same_as_branches() -> None:
    probe, item = Choices(rotate=True, unconditional=True), mcq()
    worth = by_content({**WORTH, **{f"{blank}{letter}": -5.0 for letter in "ABCD" for blank in (" ", "")}})
    model = fake(worth)

    def single(request: Request) -> Reply:
        before = "".join(m.content for m in request.messages)
        return Reply(
            text=None, likelihoods=(Likelihood(worth(before, request.target or ""), 1),), tokeniser="fake"
        )

    def endpoint(request: Request) -> Reply:
        return merge([single(one) for one in expand(request)])

    assert told(probe, item, model) == told(probe, item, endpoint)
    assert (6, 24) == tuple(probe.most_calls(item, said(), branching) for branching in (True, False))


@pytest.mark.parametrize("wrong", [-math.inf, math.nan])
def test_what_is_not_finite_is_kept_as_null(wrong: float) -> None:
    kept = told(Choices(), mcq(), fake(by_place({"A": -1.0, "B": wrong, "C": -2.0, "D": -3.0})))
    ((_, puts),) = options_in(kept)
    assert [-1.0, None, -2.0, -3.0] == [put.logprob for put in puts]


@pytest.mark.parametrize("n", [0, 3, 5])
def test_of_too_few_or_too_many_likelihoods_none_is_taken(n: int) -> None:
    reply = Reply(text=None, likelihoods=(Likelihood(-1.0, 1),) * n)
    whole = Reply(text=None, likelihoods=(Likelihood(-1.0, 1),) * 4)
    ((_, puts),) = options_in(Choices(unconditional=True).to_record(mcq(), (), [reply, whole]))
    assert [(None, 0, -1.0)] * 4 == [put[1:] for put in puts]
    ((_, puts),) = options_in(Choices(unconditional=True).to_record(mcq(), (), [whole, reply]))
    assert [(-1.0, 1, None)] * 4 == [put[1:] for put in puts]


def test_the_tokeniser_and_the_longest_cut_are_kept() -> None:
    told_of = tuple(Likelihood(-1.0, 1) for _ in DRUGS)
    cuts = (0, 7, 2, 0)
    replies = [Reply(text=None, likelihoods=told_of, truncated=cut, tokeniser="t") for cut in cuts]
    kept = Choices(rotate=True).to_record(mcq(), (), replies)
    assert ("t", 7) == (kept["tokeniser"], kept["truncated"])


def test_a_shipped_cue_ends_where_the_letter_begins() -> None:
    (request,) = asked(Choices(), mcq(), prompt="cue")
    options = "A. Aspirin\nB. Heparin\nC. Warfarin\nD. Alteplase"
    assert (Message("user", f"Question: Which drug in pregnancy?\n{options}\nAnswer:"),) == request.messages
    assert "Statement: Heparin is safe.\nTrue or False?\nAnswer:" == load("cue_true_false").fill(
        question=statement().question
    )
