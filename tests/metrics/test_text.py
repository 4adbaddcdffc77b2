"""What all text metrics share: the formats, the part of an answer that is scored, the work done once."""

from collections import Counter

from tests.cases import each_case

from vivavoce.core import registry
from vivavoce.core.records import Item, Located, Reading, Reasoned, Response, Row
from vivavoce.metrics import ScoringContext, bleu, treebank

SPECS = [
    *("token_f1", "rouge(n=1)", "rouge(n=2)", "rouge(n=L, stemmer=true)", "rouge(n=1+L)", "bleu"),
    *("bleu(smooth=method1, tokens=words)", "bleu(smooth=none)", "chrf", "chrf(words=2)", "meteor"),
]
REFERENCE = "Heparin does not cross the placenta."


def row(parsed: object, form: str = "longform") -> Row:
    item = Item(benchmark="b", item="q", format=form, question="?", references=(REFERENCE,))
    return Row(item, Response(benchmark="b", item="q", candidate="c", text="raw"), Reading("ok", parsed))


def values(spec: str, *rows: Row) -> list[dict]:
    return list(registry.build("metric", spec).values(rows, ScoringContext()))


@each_case("spec", SPECS)
def test_every_open_format_is_marked(spec):
    wanted = {"short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform"}
    assert wanted == set(registry.build("metric", spec).formats)


@each_case("spec", SPECS)
def test_of_a_chain_the_answer_is_marked_and_of_a_located_fault_the_explanation(spec):
    plain = values(spec, row("Heparin stays out."))
    assert plain == values(spec, row(Reasoned("Heparin stays out.", ("Warfarin crosses.",)), "multi_hop"))
    assert plain == values(spec, row(Located(3, "Heparin stays out."), "multi_hop_inverse"))


@each_case("spec", SPECS)
def test_a_step_named_without_an_explanation_scores_zero_with_parts(spec):
    for value in values(spec, row(Located(2, ""), "multi_hop_inverse"))[0].values():
        assert (0.0, "ok") == (value.value, value.status)
        assert value.parts


@each_case("spec", SPECS)
def test_an_answer_gets_the_same_mark_alone_and_among_others(spec):
    answers = [row(text) for text in ("Heparin", REFERENCE, "warfarin crosses it", "")]
    assert [values(spec, answer)[0] for answer in answers] == values(spec, *answers)


@each_case("spec", SPECS)
def test_marks_stay_in_their_range_and_the_same_text_is_best(spec):
    same, other, none = values(spec, row(REFERENCE), row("Heparin does cross the placenta."), row("zzz"))
    for name in same:
        assert 1.0 >= same[name].value > 0.99
        assert same[name].value > other[name].value > none[name].value >= 0.0


@each_case("spec", SPECS)
def test_a_negation_hardly_shows(spec):
    """The docstrings warn of it: an answer that says the opposite keeps over half of the score."""
    assert 0.5 < next(iter(values(spec, row("Heparin does cross the placenta."))[0].values())).value


def test_metrics_that_split_alike_split_each_answer_once(monkeypatch):
    done: Counter[str] = Counter()

    def counting(text: str) -> list[str]:
        done[text] += 1
        return treebank.lower_words(text)

    from vivavoce.metrics import meteor

    monkeypatch.setitem(meteor._WAYS, "words", counting)
    monkeypatch.setitem(bleu._WAYS, "words", counting)
    context, rows = (
        ScoringContext(),
        [row("Heparin stays out."), row("Warfarin crosses."), row("Heparin stays out.")],
    )
    for spec in ("meteor", "bleu(smooth=method1, tokens=words)", "meteor(alpha=0.5)", "bleu(tokens=words)"):
        registry.build("metric", spec).values(rows, context)
    assert {"Heparin stays out.": 1, "Warfarin crosses.": 1} == {
        t: n for t, n in done.items() if t != REFERENCE
    }
