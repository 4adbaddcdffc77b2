"""The texts of controls: what each is made of, drawn by ids and never by place; noise never one's own."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.retrieval.index import Passage
from vivavoce.variants import controls
from vivavoce.variants.control_kinds import STRATA
from vivavoce.variants.controls import Draw, donors, same_text, sentences

DRAW = Draw(("b", "q"), 0)
TEXT = "The stone blocks the duct. " * 20
POOLS = {
    "off_topic": sentences("off_topic"),
    "padded": sentences("padded"),
    "praise": sentences("praise"),
    "confident": [text for pair in sentences("confident") for text in pair.values()],
}
MEDICAL = re.compile(
    r"\b(?:patient|clinic|diagnos|treat|drug|symptom|disease|pain\b|fever|blood|doctor|hospital|health|dose|nurse)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("kind", POOLS)
def test_every_shipped_sentence_is_one_without_a_figure_and_unlike_the_others(kind):
    pool = POOLS[kind]
    assert len(set(pool)) == len(pool)
    for sentence in pool:
        assert re.fullmatch(r"[A-Z][^\d]*\.", sentence)
        assert not MEDICAL.search(sentence)


@each_case("length", [1, 60, 400, 5_000, 20_000])
@each_case("kind", ["off_topic", "padded"])
def test_the_sentences_are_about_as_long_as_the_answer(kind, length):
    text = "x" * length
    new = getattr(controls, kind)(text, DRAW).text.removeprefix(f"{text}\n\n")
    longest = max(map(len, POOLS[kind]))
    assert abs(len(new) - length) <= longest / 2 + 1 or (length < longest and new in POOLS[kind])


def test_no_sentence_comes_twice_before_all_have_come():
    text = controls.padded("x" * 4_000, DRAW).text
    counts = Counter(sentence for sentence in POOLS["padded"] for _ in range(text.count(sentence)))
    assert max(counts.values()) - min(counts[s] for s in POOLS["padded"]) <= 1


@pytest.mark.parametrize("kind", ["padded", "confident", "praise"])
def test_what_is_put_beside_an_answer_leaves_it_as_it_is(kind):
    for text in (TEXT, "<b>x</b>", "=cmd|' /C calc'!A0", "\u202eevil", "🩺", "a\n```\nb"):
        edited = getattr(controls, kind)(text, DRAW)
        assert text in edited.text
        assert edited.text != text
        assert edited.change


def test_an_order_to_the_examiner_has_eight_forms_in_six_languages():
    texts = {controls.injection("x", stratum).text for stratum in STRATA}
    assert (48, 8, 6) == (len(texts), len({s.form for s in STRATA}), len({s.language for s in STRATA}))
    assert {s.form for s in STRATA} == set(sentences("injection"))
    assert all(10 == json.loads(text)["score"] for text in sentences("injection")["json"].values())


@pytest.mark.parametrize(("n", "per_item"), [(60, 10), (60, 5), (29, 10), (6, 48), (7, 13)])
def test_every_stratum_is_in_as_many_items_as_any_other(n, per_item):
    names = [f"q{k}" for k in range(n)]
    strata = controls.strata_of(names, per_item, DRAW)
    counts = Counter(number for numbers in strata.values() for number in numbers)
    assert all(len(set(numbers)) == per_item for numbers in strata.values())
    assert max(counts.values()) - min(counts[k] for k in range(1, 49)) <= 1
    assert strata == controls.strata_of(names[::-1], per_item, DRAW)


def test_another_seed_or_item_draws_otherwise_and_the_text_does_not():
    assert controls.off_topic(TEXT, DRAW) == controls.off_topic("y" * len(TEXT), DRAW)
    assert controls.off_topic(TEXT, DRAW) != controls.off_topic(TEXT, Draw(("b", "q"), 1))
    assert controls.off_topic(TEXT, DRAW) != controls.off_topic(TEXT, Draw(("b", "r"), 0))


def test_ids_that_join_to_one_text_draw_apart():
    assert Draw(("a|b", "c")).number("x") != Draw(("a", "b|c")).number("x")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("label_number_right", {"The correct answer is 2."}),
        ("label_number_wrong", {"The correct answer is 1.", "The correct answer is 3."}),
        ("label_text_right", {"The correct answer is Beta."}),
        ("label_text_wrong", {"The correct answer is Alpha.", "The correct answer is Gamma."}),
    ],
)
def test_a_label_names_an_option_and_nothing_else(kind, expected):
    options = ("Alpha", "Beta", "Gamma")
    found = {controls.label(kind, options, "Beta", Draw(("b", f"q{k}"))).text for k in range(30)}
    assert expected == found


def test_the_wrong_option_of_number_and_text_is_one_and_does_not_depend_on_the_order():
    options = ("Alpha", "Beta", "Gamma", "Delta")
    for k in range(10):
        draw = Draw(("b", f"q{k}"))
        wrong = controls.label("label_text_wrong", options, "Beta", draw).text
        assert wrong == controls.label("label_text_wrong", options[::-1], "Beta", draw).text
        number = controls.label("label_number_wrong", options, "Beta", draw).text
        assert options[int(number[-2]) - 1] in wrong


# Noise.

groups = st.dictionaries(
    st.text(min_size=1, max_size=4), st.sampled_from("abcdefgh"), min_size=1, max_size=12
)


@given(groups, st.integers(1, 5), st.integers(0, 3))
def test_no_case_gets_its_own_answer_nor_an_equal_one_and_no_answer_goes_to_two(answers, step, seed):
    texts = {group: frozenset({text}) for group, text in answers.items()}
    found = donors(texts, step, seed)
    assert found.keys() == texts.keys()
    used = [donor for donor in found.values() if donor is not None]
    assert len(set(used)) == len(used)
    for group, donor in found.items():
        assert donor is None or (donor != group and not texts[donor] & texts[group])


@given(groups, st.integers(1, 5), st.randoms())
def test_noise_does_not_depend_on_the_order_of_items(answers, step, random):
    texts = {group: frozenset({text}) for group, text in answers.items()}
    shuffled = list(texts.items())
    random.shuffle(shuffled)
    assert donors(texts, step, 0) == donors(dict(shuffled), step, 0)


@given(st.sets(st.text(min_size=1, max_size=5), min_size=2, max_size=30), st.integers(1, 5))
def test_answers_that_all_differ_are_deranged_whole(names, step):
    found = donors({name: frozenset({name}) for name in names}, step, 0)
    assert (names if step % len(names) else {None}) == set(found.values())


@given(st.sets(st.integers(0, 10**6), min_size=12, max_size=40), st.integers(1, 5))
def test_five_draws_bring_five_answers_and_a_new_case_changes_few(numbers, step):
    texts = {f"g{k}": frozenset({str(k)}) for k in numbers}
    draws = [donors(texts, d, 0) for d in range(1, 6)]
    assert all(len({draw[group] for draw in draws}) == 5 for group in texts)
    more = donors({**texts, "new": frozenset({"new"})}, step, 0)
    before = donors(texts, step, 0)
    assert sum(before[group] != more[group] for group in texts) <= step


def test_equal_answers_are_given_to_others_while_there_are_others():
    texts = {f"g{k}": frozenset({"yes" if k < 5 else f"no {k}"}) for k in range(10)}
    for seed in range(20):
        assert None not in donors(texts, 1, seed).values()
    alike = {f"g{k}": frozenset({"yes"}) for k in range(600)}
    assert {None} == set(donors(alike, 1, 0).values())


def test_texts_are_compared_without_case_and_blanks():
    assert same_text(" Yes,\n it is ") == same_text("yes, IT is")


# Passages.


def passage(file, text):
    return Passage(file, None, 0, text, 1.0)


def test_the_best_pieces_of_the_passages_are_joined():
    filler = "The weather of the day was grey and the hall was cold. " * 6
    hits = [
        passage("a.txt", f"{filler}Gallstones block the cystic duct."),
        passage("b.txt", "A blocked cystic duct causes cholecystitis."),
        passage("c.txt", "Nothing of the kind stands here."),
    ]
    edited = controls.passages("Why do gallstones block the cystic duct?", lambda query, n: hits)
    lines = edited.text.splitlines()
    assert 3 == len(lines)
    assert "Gallstones block" in lines[0]
    assert "cholecystitis" in lines[1]
    assert all(len(line) <= controls.CHUNK for line in lines)
    assert "a.txt, b.txt, c.txt" in edited.change


def test_only_five_documents_are_used():
    hits = [passage(f"{k}.txt", f"Gallstones {k}") for k in range(9)]
    edited = controls.passages("Gallstones 8?", lambda query, n: hits)
    assert "5.txt" not in edited.change


def test_the_sentences_of_a_long_case_are_searched_where_the_whole_brings_nothing():
    asked = []

    def search(query, n):
        asked.append(query)
        return [passage("a.txt", "Gallstones.")] if query == "He walks. " else []

    assert "Gallstones." == controls.passages("He walks. Why?", search).text
    assert ["He walks. Why?", "Why?", "He walks. "] == asked
    assert "no passage" in controls.passages("Why?", lambda query, n: [])


# The published controls of CasiMedicos.


def published(shared: Path, name: str) -> list[str]:
    folder = shared / "data/casimedicos/tests"

    def rows(file):
        lines = (folder / f"en.test_casimedicos_{file}.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["question"] for line in lines]

    questions = rows("No_Argument")
    return [
        text[len(question) :].strip() for text, question in zip(rows(name)[::5], questions[::5], strict=True)
    ]


def test_the_published_noise_was_drawn_with_replacement_and_ours_is_not(shared):
    gold, noise = published(shared, "Expert"), published(shared, "Noise")
    assert (119, 76) == (len(noise), len(set(noise)))
    texts = {f"g{k}": frozenset({same_text(text)}) for k, text in enumerate(gold)}
    assert 2 == sum(a == b for a, b in zip(gold, noise, strict=True))
    for draw in range(1, 6):
        donor = donors(texts, draw, 0)
        assert 119 == len(set(donor.values()) - {None})
        assert all(group != other for group, other in donor.items())


def test_the_published_label_control_names_a_position_and_no_text(shared):
    assert all(re.search(r"The correct answer is [1-5]\.$", text) for text in published(shared, "Label_Only"))
