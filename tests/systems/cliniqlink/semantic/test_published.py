"""The published harness on raw cases: its own scores, value by value, and what it does at the edges."""

import pytest
from tests.systems.cliniqlink.semantic.making import KEPT, FakeEncoder, golden, minilm

from vivavoce.core.errors import InputError
from vivavoce.systems.cliniqlink.semantic import published
from vivavoce.systems.cliniqlink.semantic.layers import side
from vivavoce.systems.cliniqlink.semantic.published import label_f1, normalise, score_list
from vivavoce.systems.cliniqlink.semantic.rules import PUBLISHED, STOP_WORDS

_PRONOUNS = ("i", "you", "he", "she", "it", "we", "they")
CLOSED = ("true_false", "multiple_choice", "list")


def marks(case, shared, **told):
    given = {"idf": golden(shared)["idf_table"], "embed": KEPT} | told
    return published.score_case(case["qtype"], case["item"], case["answer"], **given)


def misses(case, found):
    """The values that are in the golden case too and differ by more than its tolerance."""
    tolerance = 1e-9 if case["qtype"] in CLOSED else 1e-4
    return [
        (case["id"], name, value, case["scores"][name])
        for name, value in found.items()
        if case["scores"].get(name) is not None
        and value != pytest.approx(float(case["scores"][name]), abs=tolerance)
    ]


def test_every_golden_value_comes_out(shared):
    cases = golden(shared)["cases"]
    found = {case["id"]: marks(case, shared) for case in cases}
    assert 94 == len(found)
    assert all(published.HEADLINES[case["qtype"]] in found[case["id"]] for case in cases)
    assert [] == [miss for case in cases for miss in misses(case, found[case["id"]])]


def test_lists_are_read_entry_by_entry_as_published(shared):
    for case in (c for c in golden(shared)["cases"] if c["qtype"] == "list"):
        item, scores = case["item"], case["scores"]
        found = score_list(item["options"], item["answer"], published.without_thoughts(case["answer"]))
        assert (scores["expected"], scores["pred_set"]) == (list(found.gold), sorted(found.picked))
        assert scores["match_type"] == found.form
        whole = scores["aggregate_of_this_single_item"]["list_overall_macro_avg_f1_score"]
        assert pytest.approx(whole, abs=1e-9) == label_f1([found])


def test_texts_are_cut_into_the_published_terms(shared):
    for scores in (c["scores"] for c in golden(shared)["cases"] if c["qtype"] not in CLOSED):
        for which in ("expected", "predicted"):
            found = side(scores[f"scored_{which}"], PUBLISHED, minilm().tokens)
            assert scores[f"content_{which}"] == found.content
            assert scores[f"tokens_{which}"] == list(found.terms)


def test_our_stop_words_are_those_of_the_golden_cases(shared):
    assert set(golden(shared)["stopwords"]) == STOP_WORDS


def test_an_older_list_of_stop_words_changes_one_golden_case(shared):
    """NLTK's list had 179 words until 2024: without the pronouns' contractions, but for six of them."""
    pronouns = {word for word in STOP_WORDS if word.split("'")[0] in _PRONOUNS}
    kept = ["you're", "you've", "you'll", "you'd", "she's", "it's"]
    older = STOP_WORDS - {word for word in pronouns if "'" in word and word not in kept}
    assert 179 == len(older)
    cases = [c for c in golden(shared)["cases"] if c["qtype"] not in CLOSED]
    assert ["mh_10"] == [c["id"] for c in cases if misses(c, marks(c, shared, stop_words=older))]


def short(gold, said, question="?", **told):
    item = {"question": question, "answer": gold}
    return published.score_case("short", item, said, idf={}, embed=FakeEncoder(), **told)


def test_a_score_by_hand():
    """Terms red, dose against red, pill: P = R = F1 = 1/2; cosine 1/2; paragraph (0.5 - 0.3) / 0.7."""
    found = short("The red dose", "the red pill")
    assert pytest.approx(0.5) == found["token_layer"]
    assert pytest.approx(0.5) == found["sentence_layer"]
    assert pytest.approx(0.2 / 0.7) == found["paragraph_layer"]
    raw = 0.4 * 0.5 + 0.4 * 0.5 + 0.2 * 0.2 / 0.7
    assert pytest.approx(raw) == found["raw"]
    assert pytest.approx(raw - 0.25) == found["semantic_match_score"]


def test_a_rare_term_that_the_table_lacks_weighs_least():
    """Precision (1 * 1 + 3 * 0) / 4, recall the same."""
    item = {"question": "?", "answer": "common rare"}
    weights = {"rare": 3.0, "odd": 3.0}
    found = published.score_case("short", item, "common odd", idf=weights, embed=FakeEncoder())
    assert pytest.approx(1 / 4) == found["token_layer"]


def test_equal_texts_have_1_and_a_period_costs_a_quarter():
    assert 1.0 == short("Red dose.", "  red DOSE. ")["semantic_match_score"]
    assert 0.75 > short("Red dose.", "red dose")["semantic_match_score"] > 0.5


def test_an_empty_answer_and_an_echo_have_0():
    assert 0.0 == short("Red dose", "")["semantic_match_score"]
    assert 0.0 == short("Red dose", "Red dose?", question="Red dose?")["semantic_match_score"]


def test_no_answer_that_differs_reaches_the_snap():
    assert 0.0 == short("a b c d", "a b c d e")["snapped"]


@pytest.mark.parametrize(
    ("distance", "worth"), [(0, 1.0), (1, 0.7), (2, 0.3), (3, 0.15), (4, 0.075), (5000, 0.0)]
)
def test_a_step_further_off_is_worth_less(distance, worth):
    assert pytest.approx(worth) == published.step_factor(1, 1 + distance, missing=1.0)


def test_a_step_that_is_not_named_costs_nothing():
    gold = ["- Step 3 is wrong.", "- Explanation: It is the other vessel."]
    for said, worth in (("Step 1\nExplanation: ", 0.3), ("Explanation: ", 1.0)):
        item = {"question": "?", "incorrect_reasoning_step": gold}
        answer = f"{said}It is the other vessel."
        found = published.score_case("multi_hop_inverse", item, answer, idf={}, embed=FakeEncoder())
        assert worth == found["semantic_match_score"]


def test_the_line_of_the_step_is_taken_for_the_explanation_if_it_has_that_word():
    gold = ["- Step 2: its explanation is circular.", "- Explanation: Iron is lost."]
    found = published.read_pair("multi_hop_inverse", {"incorrect_reasoning_step": gold}, "Step 2")
    assert (2, "its explanation is circular.") == (found.gold_step, found.gold)


def test_closed_thoughts_are_cut_and_open_ones_stay():
    assert "True" == published.without_thoughts("<think>No.</think> True ")
    assert "<think>No. True" == published.without_thoughts("<think>No. True")
    assert "a</think> b" == published.without_thoughts("a</think><think>x<think>y</THINK> b")


def test_numbers_lose_their_points_and_comparators():
    assert normalise("2.5 mg") == normalise("25 mg")
    assert normalise("<50") == normalise(">50")
    assert "b48" == normalise("B‑48")  # a hyphen that does not break is dropped, not blanked


@pytest.mark.parametrize(
    ("answer", "f1", "form", "malformed"),
    [
        ("Alpha, beta and gamma", 1.0, "full", False),  # commas in an option
        ("B: Alpha", 2 / 3, "mixed", False),  # the text wins over a wrong letter
        ("A, B, A", 1.0, "full", False),
        ("Alpha, Omega", 0.0, "full", True),  # one stray loses the question
        ("Alpha\n\nbecause", 2 / 3, "full", False),
        ("", 0.0, "none", False),
    ],
)
def test_lists_by_hand(answer, f1, form, malformed):
    found = score_list(["Alpha", "beta and gamma", "Delta"], ["Alpha", "beta and gamma"], answer)
    assert (pytest.approx(f1), form, malformed) == (found.f1, found.form, found.malformed)


def test_the_list_column_is_a_mean_over_labels_not_questions():
    """Two questions share the label A: A has tp 1, fn 1 (F1 2/3), B has tp 1 (1), C has fp 1 (0)."""
    options = ["A1", "B1", "C1"]
    answers = [score_list(options, ["A1"], "A1"), score_list(options, ["A1", "B1"], "B1, C1")]
    assert pytest.approx((2 / 3 + 1 + 0) / 3) == label_f1(answers)
    assert pytest.approx(3 / 4) == sum(one.f1 for one in answers) / 2
    assert label_f1(answers) == label_f1(reversed(answers))
    assert 0.0 == label_f1([])


def test_text_made_to_stall_is_read_in_time():
    """Each would take minutes with a pattern that looks ahead from every place."""
    assert "</think>" == published.without_thoughts("</think>" + "<think>" * 50_000)[:8]
    gold = {"incorrect_reasoning_step": ["- Step 1 is wrong.", "- Explanation: x"]}
    assert published.read_pair("multi_hop_inverse", gold, "step" + " " * 50_000).response_step is None
    assert published.read_pair("multi_hop_inverse", gold, "step " + "9" * 5_000).response_step > 10**9
    assert score_list(["A, B", "C"], ["C"], "C. " + " " * 50_000 + ", x" * 20_000).malformed


def test_what_is_no_published_case_is_an_error():
    with pytest.raises(InputError, match="correct_answer"):
        published.score_case("multiple_choice", {"options": ["A"]}, "A", idf={}, embed=FakeEncoder())
    with pytest.raises(InputError, match="longform"):
        published.score_case("longform", {"answer": "A"}, "A", idf={}, embed=FakeEncoder())
