"""Words are compared in one spelling, and no number loses its point."""

from tests.cases import each_case

from vivavoce.retrieval.terms import terms


@each_case(
    ("text", "expected"),
    [
        ("2.5 mg, 25 mg and 2,500 mg", ["2.5", "mg", "25", "mg", "2500", "mg"]),
        ("2.50mg", ["2.5", "mg"]),
        ("10 mg", ["10", "mg"]),
        ("eGFR <30 or ≥ 90", ["egfr", "30", "90"]),
        ("5–10 mg/kg/day", ["5", "10", "mg", "kg", "day"]),
        ("140/90 mmHg", ["140", "90", "mmhg"]),
        ("Patients' tablets, Crohn’s", ["patient", "tablet", "crohn"]),
        ("injuries doses viruses pus", ["injury", "dose", "viruse", "pus"]),
        ("loss diagnosis", ["loss", "diagnosis"]),
        ("long-acting beta-blockers", ["long", "acting", "beta", "blocker"]),
        ("hyper-\ntension", ["hypertension"]),
        ("anaemia haemorrhages immunisation", ["anemia", "hemorrhage", "immunization"]),
        ("CD4+ and vitamin A", ["cd4+", "vitamin", "a"]),
        ("The of and it is not", []),
        ("Müller ﬁbrosis µg", ["muller", "fibrosis", "μg"]),
        ("布洛芬用", ["布洛", "洛芬", "芬用"]),
        ("痛 COVID-19感染", ["痛", "covid", "19", "感染"]),
        ("", []),
    ],
)  # fmt: skip
def test_the_terms_of_a_text(text, expected):
    assert expected == terms(text)


def test_a_plural_meets_its_singular():
    assert terms("capsule allergy dose") == terms("capsules allergies doses")
