"""METEOR. Oracle: `meteor_score` of NLTK 3.10.4 over WordNet 3.0, frozen by tools/meteor.py and live."""

import importlib.util
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.absent import absent
from tests.cases import each_case
from tests.lengths import length
from tests.metrics.texts import ANY

from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.metrics import meteor as meteor_module

FROZEN = [
    json.loads(line) for line in (Path(__file__).parent / "meteor.jsonl").read_text("utf-8").splitlines()
]


def meteor(references: tuple[str, ...], answer: str, spec: str = "meteor") -> Value:
    item = Item(benchmark="b", item="q", format="longform", question="?", references=references)
    row = Row(item, Response(benchmark="b", item="q", candidate="c", text=answer), Reading("ok", answer))
    return registry.build("metric", spec).values([row], ScoringContext())[0]["meteor"]


@pytest.fixture(scope="module")
def nltks(root, tmp_path_factory):
    """NLTK's METEOR of a reference and an answer."""
    spec = importlib.util.spec_from_file_location("tool_meteor", root / "tools" / "meteor.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    folder = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))
    if not (folder / "data.noun").is_file():
        absent(f"no WordNet in {folder}: install wordnet-base, or set WNSEARCHDIR")
    wordnet = tool.reader(folder, tmp_path_factory.mktemp("wordnet"))
    return lambda reference, answer: tool.score(reference, answer, wordnet)


@each_case("case", FROZEN)
def test_equals_nltk_as_frozen(case):
    assert case["meteor"] == meteor((case["reference"],), case["answer"]).value


def test_the_frozen_values_are_what_the_tool_gives(nltks):
    assert [case["meteor"] for case in FROZEN] == [
        nltks(case["reference"], case["answer"]) for case in FROZEN
    ]


def test_equals_nltk_on_real_answers(nltks, hivmedqa):
    """Some of HIVMedQA's answers against its key; the benchmark does them all."""
    lines = (hivmedqa / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {row["id"]: row["gold"] for row in map(json.loads, lines)}
    answers = (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines()[:: length(116, 29)]
    pairs = [(gold[row["question_id"]], row["answer"]) for row in map(json.loads, answers)]
    assert [nltks(*pair) for pair in pairs] == [
        meteor((reference,), answer).value for reference, answer in pairs
    ]


@settings(max_examples=length(25, 1000), deadline=None)
@given(reference=ANY, answer=ANY)
def test_equals_nltk_on_any_text(nltks, reference, answer):
    assert nltks(reference, answer) == meteor((reference,), answer).value


def test_equals_cliniqlink_as_published(shared):
    """Golden: the reference's own run, but for two answers that repeat the question: it gives these 0."""
    cases = json.loads((shared / "data/cliniqlink/golden.json").read_text("utf-8"))["cases"]
    open_ended = [
        c["scores"] for c in cases if "meteor" in c["scores"] and not c["scores"].get("question_echo")
    ]
    assert 44 == len(open_ended)
    for case in open_ended:
        assert case["meteor"] == meteor((case["scored_expected"],), case["scored_predicted"]).value


def test_hand_worked_case():
    """A synonym, a stem, a stem: 3 of 3 and of 4 words in one run, so P 1, R 3/4, penalty 0.5 / 27."""
    got = meteor(("halt taking drugs now",), "stop takes drug")
    assert {"matches": 3, "chunks": 1, "precision": 1.0, "recall": 3 / 4} == got.parts
    assert pytest.approx((1 - 0.5 / 27) * (3 / 4) / (0.9 + 0.1 * 3 / 4)) == got.value


def test_broken_order_costs_up_to_half():
    """Three words in three runs: penalty 0.5; in one run 0.5 / 27."""
    assert pytest.approx(0.5) == meteor(("fever cough rash",), "rash cough fever").value
    assert pytest.approx(1 - 0.5 / 27) == meteor(("fever cough rash",), "fever cough rash").value


def test_the_settings_weigh_recall_and_order():
    """alpha=0 is precision, alpha=1 recall; without gamma order is free."""
    reference, answer = ("fever cough rash pain",), "rash fever"
    assert 1.0 == meteor(reference, answer, "meteor(alpha=0, gamma=0)").value
    assert 0.5 == meteor(reference, answer, "meteor(alpha=1, gamma=0)").value
    assert 0.5 * 0.5 == meteor(reference, answer, "meteor(alpha=1, beta=0)").value


@pytest.mark.parametrize("spec", ["meteor(alpha=1.5)", "meteor(beta=-1)", "meteor(gamma=2)"])
def test_settings_that_make_no_sense_are_refused(spec):
    with pytest.raises(SpecError, match="must lie from 0 to 1"):
        registry.build("metric", spec)


@pytest.mark.parametrize("answer", ["", "...", "warfarin"])
def test_nothing_in_common_scores_zero_with_parts(answer):
    wanted = Value(0.0, {"matches": 0, "chunks": 0, "precision": 0.0, "recall": 0.0})
    assert wanted == meteor(("aspirin",), answer)


def test_of_several_references_the_best_counts_whatever_the_order():
    references = ("start aspirin", "stop warfarin now", "stop warfarin")
    assert meteor(("stop warfarin",), "stop warfarin") == meteor(references, "stop warfarin")
    assert meteor(references, "stop warfarin") == meteor(references[::-1], "stop warfarin")


def test_of_equal_words_the_latest_free_one_is_taken():
    """NLTK's way: `cough` meets the only cough, `fever` before it the last fever, so the order is broken."""
    assert 2 == meteor(("fever cough fever",), "fever cough").parts["chunks"]
    assert 1 == meteor(("fever cough",), "fever cough").parts["chunks"]


@given(st.lists(st.sampled_from(["Fever", "coughs", "10", "mg", "no"]), min_size=1))
def test_case_and_white_space_do_not_count(words):
    reference = ("fever and cough, no 10 mg",)
    assert meteor(reference, " ".join(words)) == meteor(reference, "\n ".join(words).upper())


def test_answers_to_one_reference_do_not_change_each_other():
    """What one answer taught about the reference's synonyms is right for the next."""
    item = Item(
        benchmark="b", item="q", format="longform", question="?", references=("the doctor stopped it",)
    )
    answers = ["a physician halts it", "it was halted by the physician", "a physician halts it"]
    rows = [
        Row(item, Response(benchmark="b", item="q", candidate="c", text=text), Reading("ok", text))
        for text in answers
    ]
    together = registry.build("metric", "meteor").values(rows, ScoringContext())
    assert [meteor(item.references, text) for text in answers] == [value["meteor"] for value in together]


def test_words_that_no_stage_can_match_are_looked_up_once_for_a_reference(monkeypatch):
    asked = []
    monkeypatch.setattr(
        meteor_module, "synonyms", lambda word: asked.append(word) or frozenset({"doctor"} & {word})
    )
    reference = meteor_module._Reference(meteor_module.lower_words, "the doctor stopped it")
    for answer in (["unheard", "words"], ["words", "unheard", "doctor"]):
        meteor_module._aligned(answer, reference)
    assert ["unheard", "word"] == asked
