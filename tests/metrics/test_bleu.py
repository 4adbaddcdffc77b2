"""BLEU. Oracles: `BLEU(effective_order=True).sentence_score` of sacrebleu, `sentence_bleu` of NLTK."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from tests.lazy import lazy_module
from tests.lengths import length
from tests.metrics.texts import ANY

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.treebank import lower_words

bleu_score = lazy_module("nltk.translate.bleu_score")

ORACLES = {smooth: BLEU(effective_order=True, smooth_method=smooth) for smooth in ("exp", "none")}
CLINIQLINK = "bleu(smooth=method1, tokens=words)"


def bleu(references: tuple[str, ...], answer: str, spec: str = "bleu", criterion: str = "bleu") -> Value:
    item = Item(benchmark="b", item="q", format="longform", question="?", references=references)
    row = Row(item, Response(benchmark="b", item="q", candidate="c", text=answer), Reading("ok", answer))
    return registry.build("metric", spec).values([row], ScoringContext())[0][criterion]


def same(references: tuple[str, ...], answer: str, smooth: str = "exp") -> bool:
    """Value and statistics equal to sacrebleu's, to the last bit."""
    wanted = ORACLES[smooth].sentence_score(answer, list(references))
    got = bleu(references, answer, f"bleu(smooth={smooth})")
    counts = [*wanted.counts, *wanted.totals, wanted.sys_len, wanted.ref_len]
    return got.value == min(wanted.score / 100, 1.0) and list((got.parts or {}).values()) == counts


def nltks(references: tuple[str, ...], answer: str) -> float:
    words = [lower_words(reference) for reference in references]
    method1 = bleu_score.SmoothingFunction().method1
    return bleu_score.sentence_bleu(words, lower_words(answer), smoothing_function=method1)


TEXT = st.lists(
    st.sampled_from(
        ["a", "a", "b", "b", "HIV", "hiv", "2.5", "mg,", "x.", "(y)", "&amp;", "-\n", "<skipped>", "é"]
    )
).map(" ".join)
REFERENCES = st.lists(TEXT.filter(str.strip), min_size=1, max_size=3).map(tuple)


@pytest.mark.parametrize("smooth", ORACLES)
@settings(max_examples=length(25, 500), deadline=None)
@given(references=REFERENCES, answer=TEXT)
def test_equals_sacrebleu_on_texts_that_share_words(smooth, references, answer):
    assert same(references, answer, smooth)


@pytest.mark.parametrize("smooth", ORACLES)
@settings(max_examples=length(25, 1000), deadline=None)
@given(references=st.lists(ANY, min_size=1, max_size=3).map(tuple), answer=ANY)
def test_equals_sacrebleu_on_any_text(smooth, references, answer):
    assert same(references, answer, smooth)


@settings(max_examples=length(25, 1000), deadline=None)
@given(
    references=st.one_of(REFERENCES, st.lists(ANY, min_size=1, max_size=3).map(tuple)),
    answer=st.one_of(TEXT, ANY),
)
def test_method_1_on_treebank_words_equals_nltk(references, answer):
    assert nltks(references, answer) == bleu(references, answer, CLINIQLINK).value


def test_equals_both_on_real_answers(hivmedqa):
    """Every 17th of HIVMedQA's answers against its key; the benchmark does them all."""
    lines = (hivmedqa / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {row["id"]: row["gold"] for row in map(json.loads, lines)}
    answers = (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines()[::17]
    pairs = [((gold[row["question_id"]],), row["answer"]) for row in map(json.loads, answers)]
    assert all(same(*pair) for pair in pairs)
    assert [nltks(*pair) for pair in pairs] == [bleu(*pair, CLINIQLINK).value for pair in pairs]


def test_equals_cliniqlink_as_published(shared):
    """Golden: the reference's own run, but for two answers that repeat the question: it gives these 0."""
    cases = json.loads((shared / "data/cliniqlink/golden.json").read_text("utf-8"))["cases"]
    open_ended = [
        c["scores"] for c in cases if "bleu" in c["scores"] and not c["scores"].get("question_echo")
    ]
    assert 44 == len(open_ended)
    for case in open_ended:
        assert case["bleu"] == bleu((case["scored_expected"],), case["scored_predicted"], CLINIQLINK).value


def test_hand_worked_case():
    """Precisions 4/5, 2/4 and 1/3; of two runs of four none is there: exp makes it 1/4, method 1 0.1/2."""
    got = bleu(("the cat sat on the mat",), "the cat sat a mat")
    correct, total = [4, 2, 1, 0], [5, 4, 3, 2]
    assert [*correct, *total, 5, 6] == list(got.parts.values())
    precisions = (4 / 5, 2 / 4, 1 / 3, 1 / (2 * 2))
    assert pytest.approx(math.exp(1 - 6 / 5) * math.prod(precisions) ** 0.25) == got.value
    smoothed = math.exp(1 - 6 / 5) * math.prod((4 / 5, 2 / 4, 1 / 3, 0.1 / 2)) ** 0.25
    assert pytest.approx(smoothed) == bleu(("the cat sat on the mat",), "the cat sat a mat", CLINIQLINK).value
    assert 0.0 == bleu(("the cat sat on the mat",), "the cat sat a mat", "bleu(smooth=none)").value


@pytest.mark.parametrize("spec", ["bleu", CLINIQLINK])
def test_an_empty_answer_scores_zero_with_its_parts(spec):
    got = bleu(("stop warfarin",), "", spec)
    assert 0.0 == got.value
    assert {"length_answer": 0, "length_reference": 2}.items() <= got.parts.items()


@pytest.mark.parametrize("spec", ["bleu", CLINIQLINK])
def test_the_same_text_scores_one_and_no_more(spec):
    assert (
        1.0 == bleu(("Stop warfarin now, please, today.",), "Stop warfarin now, please, today.", spec).value
    )


def test_thirteen_a_minds_case_and_treebank_words_do_not():
    assert bleu(("Stop Warfarin today please",), "stop warfarin today please").value < 1.0
    assert 1.0 == bleu(("Stop Warfarin today please",), "stop warfarin today please", CLINIQLINK).value


def test_of_two_references_equally_near_in_length_the_shorter_counts():
    assert 2 == bleu(("a b c d", "a b"), "a b c").parts["length_reference"]


def test_the_order_of_references_changes_nothing():
    references = ("stop the drug", "halt the drug now", "the drug is to be stopped")
    assert bleu(references, "stop the drug now") == bleu(references[::-1], "stop the drug now")


def test_an_ngram_counts_as_often_as_in_the_reference_that_has_it_most():
    assert 2 == bleu(("a b a", "a c"), "a a a").parts["correct_1"]


def test_the_pooled_criterion_has_the_same_value_and_the_counts_to_pool():
    one, pooled = registry.build("metric", "bleu").criteria
    assert (("bleu", "mean"), ("corpus_bleu", "bleu")) == (
        (one.criterion, one.pool),
        (pooled.criterion, pooled.pool),
    )
    assert bleu(("a b c",), "a b") == bleu(("a b c",), "a b", criterion="corpus_bleu")


def test_the_summed_counts_are_those_of_sacrebleus_corpus():
    references, answers = ["a b c d e", "the drug is stopped", "x"], ["a b c e", "stop the drug", "y"]
    wanted = BLEU().corpus_score(answers, [references])
    parts = [bleu((r,), a, criterion="corpus_bleu").parts for r, a in zip(references, answers, strict=True)]
    summed = [sum(p[name] for p in parts) for name in parts[0]]
    assert [*wanted.counts, *wanted.totals, wanted.sys_len, wanted.ref_len] == summed
