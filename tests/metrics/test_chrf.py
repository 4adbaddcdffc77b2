"""chrF. Oracle: sacrebleu's `CHRF`, whose score is ours times 100 to the last bit."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF
from tests.lengths import length
from tests.metrics.texts import ANY

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.metrics import chrf as chrf_module

ORACLES = {words: CHRF(word_order=words) for words in (0, 2)}


def chrf(references: tuple[str, ...], answer: str, words: int = 0, criterion: str = "chrf") -> Value:
    item = Item(benchmark="b", item="q", format="longform", question="?", references=references)
    row = Row(item, Response(benchmark="b", item="q", candidate="c", text=answer), Reading("ok", answer))
    return registry.build("metric", f"chrf(words={words})").values([row], ScoringContext())[0][criterion]


def same(references: tuple[str, ...], answer: str, words: int) -> bool:
    wanted = ORACLES[words].sentence_score(answer, list(references)).score
    return min(wanted, 100.0) == 100 * chrf(references, answer, words).value


TEXT = st.lists(
    st.sampled_from(["a", "ab", "HIV", "hiv", "2.5", "mg,", "(y)", "...", "é", "日本", "\n"])
).map(" ".join)
REFERENCES = st.lists(TEXT.filter(str.strip), min_size=1, max_size=3).map(tuple)


@pytest.mark.parametrize("words", ORACLES)
@settings(max_examples=length(25, 500), deadline=None)
@given(references=REFERENCES, answer=TEXT)
def test_equals_sacrebleu_on_texts_that_share_runs(words, references, answer):
    assert same(references, answer, words)


@pytest.mark.parametrize("words", ORACLES)
@settings(max_examples=length(25, 1000), deadline=None)
@given(references=st.lists(ANY, min_size=1, max_size=3).map(tuple), answer=ANY)
def test_equals_sacrebleu_on_any_text(words, references, answer):
    assert same(references, answer, words)


@pytest.mark.parametrize("words", ORACLES)
def test_equals_sacrebleu_on_real_answers(words, hivmedqa):
    """Every 29th of HIVMedQA's answers against its key."""
    lines = (hivmedqa / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {row["id"]: row["gold"] for row in map(json.loads, lines)}
    answers = (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines()[::29]
    rows = [json.loads(line) for line in answers]
    assert all(same((gold[row["question_id"]],), row["answer"], words) for row in rows)


def test_hand_worked_case():
    """abc against abd: 2 of 3 letters, 1 of 2 pairs, no triple; P = R = F = (2/3 + 1/2 + 0) / 3."""
    got = chrf(("abd",), "abc")
    assert pytest.approx((2 / 3 + 1 / 2) / 3) == got.value
    wanted = {
        "hyp_1": 3,
        "ref_1": 3,
        "match_1": 2,
        "hyp_2": 2,
        "ref_2": 2,
        "match_2": 1,
        "match_3": 0,
        "hyp_4": 0,
    }
    assert wanted.items() <= got.parts.items()


def test_recall_weighs_four_times_precision():
    """One order each: a against aa has P 1, R 1/2, F2 = 5 x 1/2 / (4 + 1/2); aa against a has P 1/2, R 1."""
    assert pytest.approx(2.5 / 4.5) == chrf(("aa",), "a").value
    assert pytest.approx(2.5 / 3) == chrf(("a",), "aa").value


@pytest.mark.parametrize("words", ORACLES)
def test_an_empty_answer_scores_zero_with_its_parts(words):
    got = chrf(("stop warfarin",), "", words)
    assert 0.0 == got.value
    assert 3 * (6 + words) == len(got.parts)
    assert {"hyp_1": 0, "ref_1": 12, "match_1": 0}.items() <= got.parts.items()


@pytest.mark.parametrize("words", ORACLES)
def test_the_same_text_scores_one(words):
    assert 1.0 == chrf(("Stop warfarin.",), "Stop warfarin.", words).value


def test_of_references_with_equal_f_the_first_gives_the_parts():
    assert 2 == chrf(("xx", "yyy"), "ab").parts["ref_1"]
    assert 3 == chrf(("yyy", "xx"), "ab").parts["ref_1"]


def test_blanks_and_the_order_of_other_references_change_nothing():
    assert chrf(("stop warfarin",), "stop it") == chrf(("stopwarfarin",), "s top\nit")
    references = ("stop warfarin", "halt heparin", "go on")
    assert chrf(references, "stop heparin").value == chrf(references[::-1], "stop heparin").value


@pytest.mark.parametrize("words", ORACLES)
def test_the_summed_counts_give_sacrebleus_corpus_score(words):
    references, answers = ["a b c d e", "the drug is stopped", "x"], ["a b c e", "stop the drug.", "y"]
    wanted = CHRF(word_order=words).corpus_score(answers, [references]).score
    rows = [chrf((r,), a, words, "corpus_chrf").parts for r, a in zip(references, answers, strict=True)]
    summed = {name: sum(parts[name] for parts in rows) for name in rows[0]}
    orders = [i for i in range(1, 7 + words) if summed[f"hyp_{i}"] and summed[f"ref_{i}"]]
    precision = sum(summed[f"match_{i}"] / summed[f"hyp_{i}"] for i in orders) / len(orders)
    recall = sum(summed[f"match_{i}"] / summed[f"ref_{i}"] for i in orders) / len(orders)
    assert pytest.approx(wanted / 100) == 5 * precision * recall / (4 * precision + recall)


def test_the_pooled_criterion_says_so():
    one, pooled = registry.build("metric", "chrf").criteria
    assert ("chrf", "mean", "corpus_chrf", "chrf") == (one.criterion, one.pool, pooled.criterion, pooled.pool)


def test_a_batch_in_parts_has_the_values_and_parts_of_each_answer_alone(monkeypatch):
    """Answers share references, have other numbers of them, and are compared 40 characters at a time."""
    monkeypatch.setattr(chrf_module, "_MOST", 40)
    many = [("stop warfarin", "halt it"), ("stop warfarin",), ("日本 👩🏽‍⚕️",), (" ",)]
    cases = [
        (references, answer)
        for references in many
        for answer in ("stop it.", "", "👩🏽‍⚕️ 日本", "stop warfarin")
    ]
    rows = [
        Row(
            Item(benchmark="b", item=str(k), format="longform", question="?", references=references),
            Response(benchmark="b", item=str(k), candidate="c", text=answer),
            Reading("ok", answer),
        )
        for k, (references, answer) in enumerate(cases)
    ]
    together = registry.build("metric", "chrf(words=2)").values(rows, ScoringContext())
    assert [chrf(*case, words=2) for case in cases] == [value["chrf"] for value in together]
    assert [] == registry.build("metric", "chrf").values([], ScoringContext())
