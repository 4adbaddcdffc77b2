"""Drawing: a row is as if it were alone, and what is kept is the whole distribution's log-probability."""

import math
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace

import pytest
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.models.local.families import NAMES, VOCABULARY, family, tokeniser

from vivavoce.models.local.generation import Row, draw, search, with_text
from vivavoce.models.local.loading import reset_generation_config
from vivavoce.models.local.tokens import Tokens
from vivavoce.models.requests import Generation, RejectedError

torch = lazy_module("torch")
pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = ("What is the first treatment?", "Insulin", "The patient should be given antibiotics and fluids")
NO_END = frozenset[int]()


@cache
def spells() -> Tokens:
    return Tokens(tokeniser(bos=False), templated=False, encodes=False)


def questions():
    return [spells().ids(text) for text in TEXTS]


def made(name: str):
    """A model of the family as it is after loading, without an end of its own."""
    model = family(name)
    reset_generation_config(model, None)
    return model


def forced(model, question, ids) -> list[float]:
    """The naive way: the whole text at once, and of each token of the answer the log-probability."""
    with torch.inference_mode():
        if model.config.is_encoder_decoder:
            start = [model.config.decoder_start_token_id, *ids[:-1]]
            logits = model(
                input_ids=torch.tensor([question]), decoder_input_ids=torch.tensor([start])
            ).logits[0]
        else:
            logits = model(torch.tensor([[*question, *ids]])).logits[0, len(question) - 1 : -1]
    return torch.log_softmax(logits, -1)[range(len(ids)), list(ids)].tolist()


@dataclass
class FakeModel:
    """Says of every place what its logits are, and runs the loop that transformers would."""

    logits: list[list[float]]
    config: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(is_encoder_decoder=False))
    device: str = "cpu"

    def generate(self, *, input_ids, attention_mask, generation_config, logits_processor, stopping_criteria):
        done = torch.zeros(len(input_ids), dtype=torch.bool)
        for _ in range(generation_config.max_new_tokens):
            scores = logits_processor(input_ids, torch.tensor(self.logits)[: len(input_ids)])
            input_ids = torch.cat([input_ids, scores.argmax(-1)[:, None]], 1)
            done |= stopping_criteria(input_ids, scores)
            if done.all():
                return


@pytest.mark.parametrize("name", NAMES)
def test_the_likeliest_tokens_are_those_of_transformers_own_greedy_search(name):
    model = made(name)
    rows = [Row(question, 12) for question in questions()]
    for question, drawn in zip(questions(), draw(model, rows, NO_END, spells()), strict=True):
        asked = torch.tensor([question])
        told = model.generate(
            asked,
            attention_mask=torch.ones_like(asked),
            max_new_tokens=12,
            do_sample=False,
            eos_token_id=None,
        )
        assert tuple(told[0, -12:].tolist()) == drawn.ids


@each_case("name", NAMES)
@each_case("temperature", [0.0, 0.7])
def test_log_probabilities_are_those_of_the_whole_distribution(name, temperature):
    model = made(name)
    rows = [Row(question, 10, temperature, 0.8, seed) for seed, question in enumerate(questions())]
    for question, drawn in zip(questions(), draw(model, rows, NO_END, spells()), strict=True):
        assert forced(model, question, drawn.ids) == pytest.approx(drawn.logprobs, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_does_not_depend_on_those_beside_it_nor_on_their_order(name):
    model = made(name)
    rows = [
        Row(questions()[0], 12, 0.9, 0.95, 1),
        Row(questions()[1], 3, 0.0),
        Row(questions()[2], 9, 1.5, 1.0, 1),
        Row(questions()[1], 12, 0.9, 0.5, 1),
    ]
    alone = [draw(model, [row], frozenset({2}), spells())[0] for row in rows]
    together = draw(model, rows, frozenset({2}), spells())
    backwards = draw(model, rows[::-1], frozenset({2}), spells())[::-1]
    for one, other, third in zip(alone, together, backwards, strict=True):
        assert one.ids == other.ids == third.ids
        assert one.logprobs == pytest.approx(other.logprobs, rel=1e-5, abs=1e-6)
        assert one.logprobs == pytest.approx(third.logprobs, rel=1e-5, abs=1e-6)
        assert one.ended == other.ended


def test_a_seed_draws_the_same_again_and_another_something_else():
    model = made("llama")
    rows = [Row(questions()[0], 12, 1.0, 1.0, seed) for seed in (1, 1, 2)]
    one, again, other = (drawn.ids for drawn in draw(model, rows, NO_END, spells()))
    assert one == again != other


def test_more_tokens_go_on_from_the_same_draw():
    model = made("llama")
    short, long = draw(
        model, [Row(questions()[0], 4, 1.0, 1.0, 1), Row(questions()[0], 9, 1.0, 1.0, 1)], NO_END, spells()
    )
    assert short.ids == long.ids[:4]


@pytest.mark.parametrize(
    ("temperature", "top_p", "shares"),
    [
        (1.0, 1.0, [0.5, 0.3, 0.2]),
        # 0.25, 0.09 and 0.04 of 0.38
        (0.5, 1.0, [0.65789, 0.23684, 0.10526]),
        # 0.5 alone is not 0.7 yet, with the second it is
        (1.0, 0.7, [0.625, 0.375, 0.0]),
        (1.0, 0.5, [1.0, 0.0, 0.0]),
        # after the temperature the first has 0.658 alone
        (0.5, 0.6, [1.0, 0.0, 0.0]),
    ],
)
def test_tokens_come_as_often_as_temperature_and_top_p_say(temperature, top_p, shares):
    count = 4000
    model = FakeModel([[math.log(p) for p in (0.5, 0.3, 0.2)]] * count)
    rows = [Row((5,), 1, temperature, top_p, seed) for seed in range(count)]
    drawn = [one.ids[0] for one in draw(model, rows, NO_END, spells())]
    for token, share in enumerate(shares):
        # four standard errors; nothing at all where the share is 0 or 1
        assert drawn.count(token) / count == pytest.approx(
            share, abs=4 * math.sqrt(share * (1 - share) / count) + 1e-5
        )


def test_of_equally_likely_tokens_the_first_is_taken():
    (drawn,) = draw(FakeModel([[0.0, 3.0, 3.0, 3.0]]), [Row((5,), 3)], NO_END, spells())
    assert (1, 1, 1) == drawn.ids


def test_what_closes_an_answer_is_no_part_of_it():
    closed, open_ = draw(
        FakeModel([[9.0, 0, 0], [0.0, 9, 0]]), [Row((5,), 4)] * 2, frozenset({0, 7}), spells()
    )
    assert Generation("", (), (), (), True) == closed._replace(closing=None)
    assert -math.log1p(2 * math.exp(-9)) == pytest.approx(closed.closing, rel=1e-3)
    assert (1, 1, 1, 1) == open_.ids
    assert not open_.ended
    assert open_.closing is None


@each_case("name", NAMES)
@each_case("temperature", [0.0, 0.7])
def test_what_closes_an_answer_is_told_as_likely_as_the_whole_distribution_has_it(name, temperature):
    model, row = made(name), Row(questions()[0], 12, temperature, 0.8, 5)
    (free,) = draw(model, [row], NO_END, spells())
    end = free.ids[-1]
    (closed,) = draw(model, [row], frozenset({end}), spells())
    assert free.ids[: free.ids.index(end)] == closed.ids
    right = forced(model, questions()[0], (*closed.ids, end))
    assert right == pytest.approx((*closed.logprobs, closed.closing), rel=1e-5, abs=1e-6)


def test_tokens_without_any_chance_do_no_harm():
    (drawn,) = draw(FakeModel([[-math.inf, 0.0, 0.0]]), [Row((5,), 2, 1.0, 1.0, 3)], NO_END, spells())
    assert (math.log(0.5),) * 2 == pytest.approx(drawn.logprobs)
    assert 0 not in drawn.ids


@pytest.mark.parametrize("bad", [[math.nan, 0.0], [math.inf, 0.0], [-math.inf, -math.inf]])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_no_numbers_are_refused_for_their_row_alone(bad, temperature):
    broken, well = draw(FakeModel([bad, [0.0, 9.0]]), [Row((5,), 2, temperature)] * 2, NO_END, spells())
    assert isinstance(broken, RejectedError)
    assert "for token 1 of the answer are no numbers" in str(broken)
    assert (1, 1) == well.ids


def test_a_draw_ends_where_it_is_halted():
    calls = iter([False, False, True, True, True])
    (drawn,) = draw(FakeModel([[0.0, 9.0]]), [Row((5,), 50)], NO_END, spells(), halted=lambda: next(calls))
    assert 3 == len(drawn.ids)


@pytest.mark.parametrize("name", ["llama", "gemma2", "t5"])
def test_beams_come_likeliest_first_with_their_own_log_probabilities(name):
    model = made(name)
    found = search(model, questions(), 4, 6, frozenset({2}), spells())
    for question, beams in zip(questions(), found, strict=True):
        assert 4 == len({(beam.ids, beam.ended) for beam in beams})
        whole = []
        for beam in beams:
            ids = (*beam.ids, 2) if beam.ended else beam.ids
            right = forced(model, question, ids)
            told = (*beam.logprobs, beam.closing) if beam.ended else beam.logprobs
            assert right == pytest.approx(told, rel=1e-5, abs=1e-6)
            assert beam.ended is (beam.closing is not None)
            whole.append(sum(right))
        assert sorted(whole, reverse=True) == pytest.approx(whole)


def test_a_beam_search_does_not_depend_on_what_is_searched_beside_it():
    model = made("gpt2")
    together = search(model, questions(), 3, 6, NO_END, spells())
    alone = [search(model, [question], 3, 6, NO_END, spells())[0] for question in questions()]
    assert [[beam.ids for beam in beams] for beams in alone] == [
        [beam.ids for beam in beams] for beams in together
    ]


def test_a_wide_beam_search_finds_the_likeliest_of_all():
    model = made("llama")
    question = (5, 6, 7)
    with torch.inference_mode():
        first = torch.log_softmax(model(torch.tensor([question])).logits[0, -1], -1)
        rows = torch.tensor([[*question, token] for token in range(VOCABULARY)])
        second = torch.log_softmax(model(rows).logits[:, -1], -1)
    both = first[:, None] + second
    best = divmod(int(both.argmax()), VOCABULARY)
    (beams,) = search(model, [question], 64, 2, NO_END, spells())
    assert best == beams[0].ids
    assert both.flatten().topk(5).values.tolist() == pytest.approx(
        [sum(b.logprobs) for b in beams[:5]], rel=1e-5
    )


def drawn_as(text: str) -> Generation:
    ids = spells().ids(text)
    return Generation("", ids, (), tuple(-float(k) for k in range(len(ids))), False)


def test_a_stop_text_cuts_before_it_also_across_tokens():
    drawn = drawn_as("The answer is fever. Which question")._replace(ended=True, closing=-1.0)
    cut = with_text(drawn, ("er. Wh", "question"), spells(), pieces=True)
    assert "The answer is fev" == cut.text == "".join(cut.pieces)
    assert cut.ended
    assert cut.closing is None  # no token of the model's ended it there
    assert cut.ids == drawn.ids[: len(cut.ids)]
    assert cut.logprobs == drawn.logprobs[: len(cut.ids)]
    assert len(cut.pieces) == len(cut.ids) < len(drawn.ids)


def test_the_first_stop_text_in_the_answer_counts_not_the_first_in_the_list():
    assert "a" == with_text(drawn_as("a b c"), (" c", " b"), spells(), pieces=False).text


def test_without_a_stop_text_the_whole_answer_is_shown():
    drawn = with_text(drawn_as("a b c")._replace(ended=True, closing=-1.0), ("z", ""), spells(), pieces=True)
    assert ("a b c", True, -1.0) == (drawn.text, drawn.ended, drawn.closing)
    assert not with_text(drawn_as("a b c"), ("z", ""), spells(), pieces=True).ended
    assert "a b c" == "".join(drawn.pieces)


def test_an_answer_of_nothing_but_the_stop_text_is_empty():
    assert Generation("", (), (), (), True) == with_text(drawn_as("stop"), ("stop",), spells(), pieces=True)


def test_drawing_stops_at_the_stop_text():
    model, row = made("llama"), Row(questions()[0], 40, 1.0, 1.0, 4)
    (free,) = draw(model, [row], NO_END, spells())
    text = spells().decode(free.ids)
    stop = text[6:9]
    (stopped,) = draw(model, [row._replace(stop=(stop,))], NO_END, spells())
    assert stopped.ids == free.ids[: len(stopped.ids)]
    assert len(stopped.ids) < 40
    assert (True, None) == (stopped.ended, stopped.closing)
    assert text[: text.find(stop)] == with_text(stopped, (stop,), spells(), pieces=False).text
