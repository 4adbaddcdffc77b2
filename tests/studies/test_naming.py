"""No name without a null: sentences that name somebody are declared, and held to data of equals."""

import re

import pytest
from scipy.stats import binom
from tests.lengths import LONG
from tests.studies.naming import FIGURES, declared_of, undeclared_in
from tests.tools.loading import bench_module

from vivavoce.core import registry
from vivavoce.core.records import Finding
from vivavoce.studies.naming import NamingSentence, sentences_in, undeclared
from vivavoce.studies.study import Study

SHOWN = NamingSentence(
    code="study.shown",
    templates=("{candidate} fails on {category} ({figure}).",),
    names=("candidate", "category"),
    family="all candidates",
    correction="Holm",
    null="study",
)
LEAST_DRAWS = 50
"""Of a stored rate: of fewer its Monte-Carlo error is over 3 points."""


@pytest.fixture(scope="module")
def bench():
    """`bench/false_alarms.py`."""
    with bench_module("false_alarms") as module:
        yield module


def test_a_sentence_is_written_from_its_template_and_known_by_it():
    sentence = SHOWN.text(candidate="model (v1.2)", category="renal {acute}", figure="0 of 6")
    assert "model (v1.2) fails on renal {acute} (0 of 6)." == sentence
    assert SHOWN.matches(sentence)
    assert not SHOWN.matches(f"{sentence} Truly")
    assert not SHOWN.matches("model (v1.2) does not fail on renal (0 of 6).")
    with pytest.raises(KeyError, match="category"):
        SHOWN.text(candidate="A", figure="1")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"counts": "a count"}, "a sentence that infers has a family"),
        ({"null": ""}, "a sentence that infers has a family"),
        ({"family": ""}, "a sentence that infers has a family"),
        ({"names": ()}, "what they name"),
        ({"templates": ()}, "what they name"),
        ({"templates": ("{candidate}: {figure}.",)}, "fewer than 2 words outside its slots"),
    ],
)
def test_a_declaration_that_says_too_little_is_refused(change, reason):
    fields = {name: getattr(SHOWN, name) for name in ("code", "templates", "names", "family", "correction")}
    with pytest.raises(ValueError, match=reason):
        NamingSentence(**fields | {"null": "study"} | change)


def test_sentences_end_at_lines_and_full_stops_and_not_inside_numbers():
    assert ["A has 0.5.", "B has gpt-4.1", "None."] == sentences_in("A has 0.5. B has gpt-4.1\n None.")


def test_a_name_is_a_word_of_its_own_whatever_it_holds():
    texts = ["Model-a+ is worst of (x|y). Nobody fails. Model-a+b is best."]
    assert ["Model-a+ is worst of (x|y)."] == list(undeclared(texts, ["Model-a+", "."], [SHOWN]))
    assert [] == list(undeclared(texts, [], [SHOWN]))


def test_an_undeclared_sentence_is_found_in_text_headline_and_notes():
    rows = ({"candidate": "able", "metric": "token_f1", "criterion": "f1", "rater": ""},)
    declared = "There is too little to tell whether any candidate's profile differs between categories."
    finding = Finding(
        study="gaps",
        rows=rows,
        text=f"{declared} able is weak.",
        headline="Beware of able.",
        notes=("token_f1!",),
    )
    assert ["able is weak.", "Beware of able.", "token_f1!"] == undeclared_in(finding)


def test_every_sentence_has_a_code_of_its_study_and_each_its_own():
    studies = registry.members("study")
    codes = [s.code for name in studies for s in declared_of(name)]
    assert sorted(set(codes)) == sorted(codes)
    assert [] == [
        s.code
        for name, cls in studies.items()
        if cls.__module__.startswith("vivavoce.")
        for s in cls.sentences
        if s.code.partition(".")[0] != name
    ]
    of_figures = set(re.findall(r'"code": "(\w+)\.', FIGURES.read_text(encoding="utf-8")))
    assert set() == of_figures - set(studies)


def test_every_null_that_a_sentence_names_exists_and_every_null_has_a_sentence(bench):
    named = {sentence.null for _, sentence in bench.declared() if sentence.null}
    assert named == set(bench.nulls())
    studies = {name: cls for name, cls in bench.studies().items() if issubclass(cls, Study)}
    for name, null in bench.nulls().items():
        codes = {sentence.code for sentence in bench.held_to(name)}
        assert {null.study.partition("(")[0]} == {code.partition(".")[0] for code in codes}
        assert null.study.partition("(")[0] in studies
        assert set(null.named) | null.planted <= codes


def test_the_stored_rates_are_those_of_the_registry_and_stand_in_the_docs(bench, root):
    rates = bench.stored()
    expected = {
        (sentence.null, cell, sentence.code)
        for _, sentence in bench.declared()
        if sentence.null
        for cell in bench.nulls()[sentence.null].cells
    }
    assert expected == {(rate.null, rate.cell, rate.code) for rate in rates}
    docs = (root / "docs" / "statistics.md").read_text(encoding="utf-8")
    table = docs.partition("<!-- false alarms -->\n")[2]
    assert bench.table(rates) == table.partition("\n<!-- end of false alarms -->")[0].strip()


def test_every_stored_rate_has_its_draws_as_the_bench_wrote_them(bench):
    rates = bench.stored()
    assert bench.as_json(bench.replaced(rates, [])) == bench.STORED.read_text(encoding="utf-8")
    assert {} == {(rate.null, rate.cell): rate.draws for rate in rates if rate.draws < LEAST_DRAWS}
    assert [] == [r for r in rates if not 0 <= r.hits <= r.draws or not 0 <= r.found <= r.n_power]


def test_a_loss_of_power_over_10_points_has_a_reason_in_the_docs(bench, root):
    docs = (root / "docs" / "statistics.md").read_text(encoding="utf-8")
    reasons = docs.partition("<!-- end of false alarms -->")[2]
    assert [] == sorted({r.code for r in bench.losses(bench.stored()) if f"`{r.code}`" not in reasons})


def cells(bench):
    """In the gate the first cell of each null, else all."""
    last = None if LONG else 1
    return [(name, null, cell) for name, null in bench.nulls().items() for cell in list(null.cells)[:last]]


@pytest.mark.slow
def test_nobody_is_named_where_nobody_differs(bench):
    """Not more often than 5 % in a thousandth of a percent of seeds; the table in the docs has the rates."""
    for name, null, cell in cells(bench):
        for rate in bench.rates(name, null, cell, 400 if LONG else 10, n_power=0):
            assert binom.sf(rate.hits - 1, rate.draws, 0.05) >= 1e-4, rate
