"""How grave an error in a fact would be: kinds by words, weights by a table."""

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.growth import STEEPEST, growth
from tests.reading.hostile import Hostile

from vivavoce.facts.severity import severity, weights

BY_KIND = {
    "allergy": [
        "Amoxicillin is unsuitable for a patient with a penicillin allergy.",
        "The patient is allergic to sulfonamides.",
        "Anaphylaxis to the vaccine is rare.",
        "Give 500 mg of amoxicillin unless there is an allergy.",
    ],
    "contraindication": [
        "Metformin is contraindicated in severe renal failure.",
        "ACE inhibitors should not be given in pregnancy.",
        "Aspirin should be avoided in children.",
        "Do not combine nitrates with sildenafil.",
        "Clarithromycin interacts with simvastatin.",
        "Grapefruit juice interacts with some statins.",
        "A drug interaction raises the level of digoxin.",
        "Isotretinoin is teratogenic.",
        "Live vaccines are not recommended during pregnancy.",
        "Co-administration with rifampicin lowers its level.",
    ],
    "dose": [
        "The usual dose is small.",
        "Adults take 500 mg.",
        "Ibuprofen is given at 10 mg/kg.",
        "Take two tablets.",
        "It is taken twice daily.",
        "Metoprolol is given every 12 hours.",
        "Prednisone b.i.d. is enough.",
        "Infuse 30 ml of saline.",
        "0.5 g per day is enough.",
        "An overdose causes hepatic necrosis.",
        "Levothyroxine is started at 25 µg.",
        "Insulin glargine 10 units is injected.",
        "Adults take 1,000 mg orally.",
    ],
    "route": [
        "Vancomycin is given intravenously.",
        "Ceftriaxone may be given IV.",
        "Vitamin B12 is taken orally.",
        "Oral rehydration is enough.",
        "Adrenaline is given by intramuscular injection.",
        "Salbutamol is nebulised.",
        "Inhaled corticosteroids are used.",
        "The cream is applied topically.",
    ],
    "treatment": [
        "Appendicitis is treated by surgery.",
        "Metformin lowers hepatic glucose production in the liver and metformin reduces appetite.",
        "Radiotherapy follows.",
        "First-line therapy is cognitive behavioural therapy.",
    ],
    "diagnosis": [
        "Appendicitis presents with pain in the right lower quadrant.",
        "Fever is a symptom of malaria.",
        "The disease is characterised by ataxia.",
        "Cough is a side effect of lisinopril.",
        "A biopsy confirms it.",
    ],
    "other": [
        "The most common location for CL to occur is the neck.",
        "The heart has four chambers.",
        "The incidence of cystic lymphangioma is 1 in 20,000 live births.",
        "HbA1c was above 7%.",
        "Fasting glucose is 126 mg/dL or more.",
        "The GFR was 25 mL/min.",
        "Haemoglobin was 7 g/dL.",
        "The oral cavity is lined by squamous epithelium.",
        "Oral cancer is common.",
        "Rectal cancer is common in the elderly.",
        "Subcutaneous emphysema is air under the skin.",
        "Type IV collagen is part of the basement membrane.",
        "Cranial nerve IV moves the eye.",
        "Stage IV means metastasis.",
        "Allergic rhinitis is common.",
        "The spike protein interacts with ACE2.",
        "Dosulepin is a tricyclic.",
        "Of 2000 patients 12 died.",
        "May is a name.",
        "",
    ],
    "date": [
        "Penicillin was discovered in 1928.",
        "The drug was approved in the 1990s.",
        "The trial began in March 2011.",
        "Records between 1985 and 2014 were reviewed.",
        "Its prevention began in the eighteenth century.",
        "Penicillin was found in London in 1928.",
    ],
    "place": [
        "The disease is endemic in sub-Saharan Africa.",
        "The study took place in Japan.",
        "He worked at Saint Mary Hospital.",
        "Births at a single hospital were reviewed.",
    ],
}  # fmt: skip


@each_case(("kind", "text"), [(kind, text) for kind, texts in BY_KIND.items() for text in texts])
def test_a_fact_is_of_the_gravest_kind_that_its_words_show(kind, text):
    assert kind == severity(text).kind


def test_the_table_runs_from_grave_to_light():
    table = list(weights().values())
    assert sorted(table, reverse=True) == table
    assert set(BY_KIND) == set(weights())


def test_dose_route_contraindication_and_allergy_outweigh_date_and_place():
    table = weights()
    grave = [table[kind] for kind in ("dose", "route", "contraindication", "allergy")]
    assert min(grave) > table["other"] > max(table["date"], table["place"])


def test_a_fact_without_any_known_word_weighs_one():
    assert 1 == severity("Xyzzy.").weight


def test_signs_and_case_change_no_kind():
    assert severity("TAKE 5 µg").kind == severity("take 5 μg").kind == "dose"
    assert "contraindication" == severity("Aspirin should\nnot be   given.").kind


@given(st.text(), st.text())
def test_more_text_never_makes_a_fact_lighter_than_its_gravest_sentence(before, after):
    grave = severity("Adults take 500 mg.")
    assert severity(f"{before} ; Adults take 500 mg. {after}").weight >= grave.weight


@each_case("unit", ["a ", "interacts with ", "give ", "5 ", "in ", "warfarin ", "drug drug drug x "])
def test_time_grows_with_length_and_no_faster(unit):
    assert growth(severity, Hostile(unit).text) <= STEEPEST
