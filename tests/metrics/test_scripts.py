"""A text outside what a metric supports is set aside with the reason; what is supported has its value."""

import pytest
from tests.cases import each_case

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.metrics import ScoringContext

CHINESE = "慢性阻塞性肺疾病急性加重"
REWORDED = "慢性阻塞性肺病急性加重期"
THAI = "ผู้ป่วยมีไข้สูง"
HINDI = "रोगी को मिर्गी है"


def row(answer: str, reference: str) -> Row:
    item = Item(benchmark="b", item="q", format="short", question="?", references=(reference,))
    return Row(item, Response(benchmark="b", item="q", candidate="c", text=answer), Reading("ok", answer))


def value(spec: str, answer: str, reference: str) -> float | str | None:
    """The value of the first criterion, or the reason why there is none."""
    metric, pair = registry.build("metric", spec), row(answer, reference)
    if reason := metric.not_applicable(pair.item):
        return reason
    return next(iter(metric.values([pair], ScoringContext())[0].values())).value


@each_case(
    ("spec", "reference", "advice"),
    [
        ("bleu", CHINESE, "take tokens=zh or tokens=char or tokens=ja-mecab"),
        ("bleu", THAI, "take tokens=char"),
        ("bleu(tokens=zh)", THAI, "take tokens=char"),
        ("bleu(tokens=words)", "これは薬です", "take tokens=char or tokens=ja-mecab"),
        ("meteor", CHINESE, "take tokens=clinical or tokens=pairs"),
        ("meteor(tokens=clinical)", THAI, "take tokens=pairs"),
        ("token_f1", THAI, "take tokens=pairs"),
        ("token_f1(tokens=squad)", CHINESE, "take tokens=clinical or tokens=pairs"),
        ("rouge(n=1)", HINDI, "take tokens=clinical"),
        ("rouge(n=1, tokens=clinical)", THAI, "take tokens=pairs"),
        ("medsynf1(extractor=chunk, lemma=none)", CHINESE, "entities are found in English texts"),
    ],
)
def test_what_a_metric_cannot_part_is_set_aside_with_the_way_that_can(spec, reference, advice):
    assert advice in str(value(spec, reference, reference))


@each_case(
    "spec",
    ["token_f1", "token_f1(tokens=pairs)", "rouge(n=1, tokens=clinical)", "rouge(n=2, tokens=pairs)",
     "rouge(n=L, tokens=clinical)", "bleu(tokens=zh)", "bleu(tokens=char)", "chrf", "exact"],
)  # fmt: skip
def test_equal_chinese_texts_have_all_and_reworded_ones_a_part(spec):
    assert 1.0 == pytest.approx(value(spec, CHINESE, CHINESE))
    reworded = value(spec, REWORDED, CHINESE)
    assert reworded == 0.0 if spec == "exact" else 0.3 < reworded < 1.0


def test_equal_chinese_texts_lose_in_meteor_what_it_takes_of_all_equal_texts():
    assert pytest.approx(1 - 0.5 / len(CHINESE) ** 3) == value("meteor(tokens=clinical)", CHINESE, CHINESE)


@each_case("spec", ["exact", "token_f1", "meteor", "rouge(n=1, tokens=clinical)"])
def test_a_hen_is_no_epilepsy_and_an_egg_no_fever(spec):
    assert 0.0 == value(spec, "मुर्गी", "मिर्गी")
    if spec == "exact":
        assert 0.0 == value(spec, "ไข่", "ไข้")


def test_one_reference_that_can_be_parted_is_enough():
    item = Item(benchmark="b", item="q", format="short", question="?", references=(CHINESE, "COPD"))
    assert registry.build("metric", "bleu").not_applicable(item) is None


def test_rouge_keeps_its_signature_and_another_way_is_another_measure():
    signature = registry.signature(registry.build("metric", "rouge(n=1)"))
    assert "rouge(n=1, stemmer=false)@3" == signature
    by_pairs = registry.signature(registry.build("metric", "rouge(n=1, tokens=pairs)"))
    assert "rouge(n=1, stemmer=false, tokens=pairs)@3" == by_pairs


def test_english_stems_go_with_english_words():
    with pytest.raises(registry.SpecError, match="the stems are English"):
        registry.build("metric", "rouge(n=1, stemmer=true, tokens=pairs)")


def test_japanese_words_need_a_library_that_is_named(monkeypatch):
    monkeypatch.setattr("vivavoce.metrics.bleu.find_spec", lambda name: None)
    with pytest.raises(registry.SpecError, match=r"pip install .sacrebleu\[ja\]"):
        registry.build("metric", "bleu(tokens=ja-mecab)")
