"""conflicts: what was changed is flagged with its kind, what is said in other words is not."""

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.lengths import length

import vivavoce.contrib.conflicts
from vivavoce.contrib.conflicts import KINDS, MOST, conflicts, parse


def kinds(reference: str, answer: str) -> list[str]:
    return [found.kind for found in conflicts(parse(reference), parse(answer))]


CHANGED = [
    ("number", "Give 5 mg of haloperidol.", "Give 50 mg of haloperidol."),
    ("number", "Give 5 mg of haloperidol.", "Haloperidol 0.5 mg."),
    ("number", "Treat for seven days.", "Treat for 14 days."),
    ("number", "The range is 3.5 to 5.0 mmol/L.", "The range is 2.5-3.0 mmol/L."),
    ("number", "Platelets under 10 x 10^9/L.", "Platelets under 100 x 10^9/L."),
    ("number", "Platelets under 10^9/L.", "Platelets under 10^6/L."),
    ("number", "It holds 10⁹ cells.", "It holds 10⁶ cells."),
    ("number", "Give 1/2 mg of haloperidol.", "Give 1/4 mg of haloperidol."),
    ("number", "The pressure is 120/80 mmHg.", "The pressure is 120/95 mmHg."),
    ("number", "The level is L4.", "The level is L2."),
    ("number", "It is a second-line drug for gout.", "It is a third-line drug for gout."),
    ("number", "The dose is 0.3 units, not 0.05 units.", "The dose is 0.05 units, not 0.3 units."),
    ("number", "Sensitivity is 95% and specificity 80%.", "Sensitivity is 80% and specificity 95%."),
    ("unit", "Give 5 mg of haloperidol.", "Give 5 g of haloperidol."),
    ("unit", "Potassium is 3.5 mmol/L.", "Potassium is 3.5 mg/dL."),
    ("unit", "Treat for 6 months.", "Treat for 6 weeks."),
    ("unit", "Fever is above 38 °C.", "Fever is above 38 °F."),
    ("unit", "Infuse 250 mL of saline.", "Infuse 250 L of saline."),
    ("unit", "Run it at 1 g/h.", "Run it at 1 g/min."),
    ("unit", "Give 400 micrograms of naloxone.", "Give 400 mg of naloxone."),
    ("unit", "Ferritin is 15 µg/L.", "Ferritin is 15 mg/L."),
    ("comparator", "Stop it if eGFR is below 30 mL/min.", "Stop it if eGFR is above 30 mL/min."),
    ("comparator", "HbA1c of 6.5% or more.", "HbA1c of 6.5% or less."),
    ("comparator", "Lactate > 2 mmol/L.", "Lactate < 2 mmol/L."),
    ("comparator", "Use at least 3 drugs.", "Use at most 3 drugs."),
    ("comparator", "Keep it ≥ 94%.", "Keep it ≤ 94%."),
    ("comparator", "Patients older than 65 years.", "Patients younger than 65 years."),
    ("comparator", "Do not exceed 4 g.", "Give at least 4 g."),
    ("comparator", "The maximum dose is 3 mg/kg.", "The minimum dose is 3 mg/kg."),
    ("negation", "Heparin does not cross the placenta.", "Heparin crosses the placenta."),
    ("negation", "Warfarin is contraindicated in pregnancy.", "Warfarin is safe in pregnancy."),
    ("negation", "No evidence of metastasis was found.", "Evidence of metastasis was found."),
    ("negation", "The drug is effective against MRSA.", "The drug is ineffective against MRSA."),
    ("negation", "Take rivaroxaban with food.", "Take rivaroxaban without food."),
    ("negation", "Avoid beta blockers in asthma.", "Beta blockers are recommended in asthma."),
    ("negation", "Neither fever nor rash was present.", "Fever and rash were present."),
    ("negation", "It is a selective blocker.", "It is a non-selective blocker."),
    ("negation", "Surgery is indicated in perforation.", "Surgery is not indicated in perforation."),
    ("laterality", "The tumour is in the left lobe.", "The tumour is in the right lobe."),
    ("laterality", "Ipsilateral weakness.", "Contralateral weakness."),
    ("laterality", "A fracture of the right radius.", "Bilateral fractures of the radius."),
    ("laterality", "Bilateral fractures of the radius.", "A fracture of the left radius."),
    ("laterality", "It is the medial meniscus.", "It is the lateral meniscus."),
    ("laterality", "The proximal radius is broken.", "The distal radius is broken."),
    ("laterality", "Pain in the upper quadrant.", "Pain in the lower quadrant."),
    ("laterality", "The anterior ligament is torn.", "The posterior ligament is torn."),
    ("direction", "Insulin lowers blood glucose.", "Insulin raises blood glucose."),
    ("direction", "It causes hypokalaemia.", "It causes hyperkalemia."),
    ("direction", "It causes bradycardia.", "It causes tachycardia."),
    ("direction", "It is a beta agonist.", "It is a beta antagonist."),
    ("direction", "It inhibits the enzyme.", "It activates the enzyme."),
    ("direction", "It shortens the QT interval.", "It prolongs the QT interval."),
    ("number", "Adrenaline 1:1000 IM.", "Adrenaline 1:10,000 IM."),
    ("direction", "Thrombocytopenia is seen.", "Thrombocytosis is seen."),
    ("direction", "It leads to acidosis.", "It leads to alkalosis."),
    ("direction", "Ketamine raises and propofol lowers it.", "Ketamine lowers and propofol raises it."),
    ("route", "Haloperidol 5 mg intramuscularly.", "Haloperidol 5 mg intravenously."),
    ("route", "Vancomycin by mouth.", "Vancomycin IV."),
    ("route", "Give it orally.", "Give it rectally."),
    ("route", "Salbutamol is inhaled.", "Salbutamol is given orally."),
    ("route", "Insulin is injected subcutaneously.", "Insulin is injected intramuscularly."),
    ("route", "Apply diclofenac topically.", "Take diclofenac by mouth."),
    ("route", "Nimodipine is given by mouth, never IV.", "Nimodipine is given IV."),
    ("route", "Give glucagon IM or SC.", "Give glucagon sublingually."),
    ("frequency", "Methotrexate once weekly.", "Methotrexate once daily."),
    ("frequency", "Amoxicillin three times daily.", "Amoxicillin bid."),
    ("frequency", "Ceftriaxone every 24 hours.", "Ceftriaxone every 12 hours."),
    ("frequency", "Enoxaparin q12h.", "Enoxaparin q24h."),
    ("frequency", "Azithromycin as a single dose.", "Azithromycin daily."),
    ("frequency", "Zoledronate once a year.", "Zoledronate once a month."),
    ("frequency", "Denosumab every 6 months.", "Denosumab every 6 weeks."),
    ("frequency", "Drops four times a day.", "Drops twice a day."),
]  # fmt: skip
SAME = [
    ("number", "Give 0.5 g.", "Give 500 mg."),
    ("number", "1,000 units", "1000 units"),
    ("number", "Treat for five days.", "Treat for 5 days."),
    ("number", "Fever is above 38 °C.", "Fever is above 100.4 °F."),
    ("number", "It lasts 2 weeks.", "It lasts 14 days."),
    ("number", "Step 3 is wrong: the dose is 5 mg.", "1. The dose is 5 mg.\n2. Check the ECG."),
    ("number", "The dose is 0.3 units, not 0.05 units.", "It is 0.3 units rather than 0.05 units."),
    ("number", "Platelets under 50,000 per microlitre.", "Platelets under 50 x 10^9/L."),
    ("number", "It holds 10⁹ cells.", "It holds 1 x 10^9 cells."),
    ("number", "Adrenaline 1 in 1000 IM.", "Adrenaline 1:1000 IM."),
    ("number", "Titre of 1:80.", "Titre of 1:160."),
    ("number", "Platelets of 150 x 10^9/L.", "Platelets of 150*10⁹/L."),
    ("number", "It weighs 10⁻⁶ g.", "It weighs 1 µg."),
    ("number", "Give 0.5 mg of haloperidol.", "Give 1/2 mg of haloperidol."),
    ("number", "Give 0.5 to 0.75 mg/day.", "Give 1/2 to 3/4 mg/day."),
    ("number", "The dose is 5 to 10 mg.", "The dose is 7.5 mg."),
    ("number", "Sensitivity is 95%.", "The sensitivity is 0.95."),
    ("unit", "0.9 ng/mL", "0.9 µg/L"),
    ("unit", "Potassium is 3.5 mmol/L.", "Potassium is 3.5 mEq/L."),
    ("unit", "CD4 of 200 cells/mm3", "CD4 of 200 cells/µL"),
    ("unit", "2 L of oxygen per minute", "oxygen at 2 litres/min"),
    ("unit", "15 mg per kg of body weight", "15 mg/kg"),
    ("unit", "4 g per day", "4 g in 24 hours"),
    ("unit", "Glucose above 11.1 mmol/L.", "Glucose above 200 mg/dL."),
    ("unit", "It lasts 6 months.", "It lasts half a year."),
    ("comparator", "CD4 < 200", "CD4 less than 200"),
    ("comparator", "less than 5 years", "under 5 years"),
    ("comparator", "at least 3 drugs", "3 or more drugs"),
    ("comparator", "Do not exceed 4 g.", "The maximum is 4 g."),
    ("comparator", "no more than 8 mmol/L", "up to 8 mmol/L"),
    ("comparator", "more than 1 g/day", "above 1 gram per day"),
    ("comparator", "at 5.5 mmol/L or lower", "unless above 5.5 mmol/L"),
    ("comparator", "≥ 65 years", "65 years and older"),
    ("negation", "Warfarin is not recommended in pregnancy.", "Warfarin should be avoided in pregnancy."),
    ("negation", "Warfarin is contraindicated in pregnancy.", "Do not give warfarin in pregnancy."),
    ("negation", "The drug is effective against MRSA.", "The drug is not ineffective against MRSA."),
    ("negation", "Heparin does not cross the placenta.", "Heparin is unable to cross the placenta."),
    ("negation", "Tests confirm gout.", "Gout is confirmed by tests, not by symptoms."),
    ("negation", "Metastasis was not found.", "The scan was negative for metastasis."),
    ("negation", "Start ART immediately.", "Do not delay ART: start at once."),
    ("negation", "ART is stopped.", "ART should not be continued."),
    ("negation", "Use ceftriaxone.", "Ceftriaxone, not ciprofloxacin, should be used."),
    ("laterality", "The left lobe is affected.", "The lobe on the left is affected."),
    ("laterality", "The left ventricle fills it.", "The left one, not the right ventricle, fills it."),
    ("laterality", "The right answer is gout.", "Gout is left untreated."),
    ("laterality", "Contralateral weakness.", "Weakness of the opposite side."),
    ("laterality", "Left MCA stroke: right weakness.", "Right weakness after a left MCA stroke."),
    ("laterality", "The left testis.", "The left testis; a right varicocele is rare."),
    ("laterality", "The tumour is on the left.", "Lung tumour."),
    ("laterality", "The distal radius.", "The radius, distally."),
    ("direction", "It causes hypokalaemia.", "It lowers serum potassium."),
    ("direction", "Insulin lowers blood glucose.", "Blood glucose is decreased by insulin."),
    ("direction", "It is a beta antagonist.", "It blocks beta receptors."),
    ("direction", "It slows the heart rate.", "It reduces the heart rate."),
    ("direction", "Hypercalcaemia shortens the QT.", "A short QT is seen in hypercalcemia."),
    ("direction", "It lowers glucose by raising uptake.", "It raises uptake, so glucose is lowered."),
    ("direction", "It causes bradycardia.", "It causes bradycardia, not tachycardia."),
    ("direction", "Not uncommon in adults.", "Common in adults."),
    ("route", "Give it intravenously.", "Give it IV."),
    ("route", "Give it by mouth.", "Give it orally."),
    ("route", "Give it subcutaneously.", "Inject it under the skin."),
    ("route", "Vancomycin orally.", "Oral vancomycin, not IV vancomycin."),
    ("route", "Stage IV lung cancer: surgery is an option by mouth.", "In stage IV surgery is an option."),
    ("route", "Give it IV.", "Give it i.v. for oral candidiasis."),
    ("route", "Give glucagon IM or SC.", "Give glucagon IM."),
    ("route", "Give it by injection.", "Give it intramuscularly."),
    ("frequency", "twice daily", "bid"),
    ("frequency", "twice daily", "every 12 hours"),
    ("frequency", "q6h", "four times a day"),
    ("frequency", "once weekly", "every 7 days"),
    ("frequency", "every 4 to 6 hours", "every 6 hours"),
    ("frequency", "every other day", "every 48 hours"),
    ("frequency", "once a year", "every 12 months"),
    ("frequency", "500 mg three times daily", "1.5 g per day in three divided doses of 500 mg"),
]  # fmt: skip


@each_case(("kind", "reference", "answer"), CHANGED)
def test_what_is_changed_is_flagged_with_its_kind(kind: str, reference: str, answer: str) -> None:
    assert kind in kinds(reference, answer)


@each_case(("kind", "reference", "answer"), SAME)
def test_the_same_in_other_words_is_not_flagged(kind: str, reference: str, answer: str) -> None:
    assert [] == kinds(reference, answer)


def test_every_kind_has_eight_cases_of_both() -> None:
    for kind in KINDS:
        assert min(sum(case[0] == kind for case in cases) for cases in (CHANGED, SAME)) >= 8, kind


@each_case("reference", sorted({reference for _, reference, _ in CHANGED}))
def test_a_text_is_never_in_conflict_with_itself(reference: str) -> None:
    assert [] == kinds(reference, reference)


@each_case(("kind", "reference", "answer"), CHANGED[::4])
def test_case_and_white_space_do_not_matter(kind: str, reference: str, answer: str) -> None:
    plain = kinds(reference, answer)
    assert plain == kinds(reference.upper(), answer.upper())
    assert plain == kinds(reference.lower(), f"  {answer.lower().replace(' ', '  ')}\n")


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("Give adrenaline IM.", "Give adrenaline 0.5 mg IM every 5 minutes into the left thigh."),
        ("Stop metformin.", "Stop metformin below an eGFR of 30 mL/min; it raises lactate."),
        ("Benign prostatic hyperplasia.", "BPH; PSA may be raised, and 50% of men over 60 years have it."),
    ],
)
def test_what_the_answer_adds_is_no_conflict(reference: str, answer: str) -> None:
    assert [] == kinds(reference, answer)


@each_case("text", ["", " ", "\n\n", "…", "5", "mg", "not", "?!", "/ / /", "中文", "\x00"])
def test_texts_that_say_nothing_are_in_no_conflict(text: str) -> None:
    assert [] == kinds("Give 5 mg IV twice daily, not 10 mg.", text)
    assert [] == kinds(text, "Give 5 mg IV twice daily, not 10 mg.")


def test_a_conflict_says_what_was_said_and_what_was_wanted_as_they_were_written() -> None:
    (found,) = conflicts(parse("Give  5 mg of Haloperidol."), parse("Haloperidol: up  to\t50 mg."))
    assert ("number", "up to 50 mg", "5 mg") == found[:3]


def test_kinds_come_in_their_order() -> None:
    found = kinds("Give 5 mg of morphine IV twice daily.", "Give 50 mg of morphine orally four times daily.")
    assert ["number", "route", "frequency"] == found


PIECES = """0 1 5 50 0.5 1,000 mg g kg / per day x 10 ^9 ⁹ % ° C not no without , . ; : - ( ) and but only
left right increase decrease hyper hypo kalaemia IV oral every q6h twice daily single dose < >
≤ than less more up to between unless which it is step 1. é 中 🙂 ½ − – \u0301 one half hundred
thousand maximum stage ii"""
WORDS = [*PIECES.split(), "\n", "\t"]


@given(
    st.lists(st.sampled_from(WORDS), max_size=40),
    st.lists(st.sampled_from(WORDS), max_size=40),
    st.booleans(),
)
def test_nothing_crashes_on_pieces_of_medicine(one: list[str], two: list[str], glued: bool) -> None:
    sign = "" if glued else " "
    assert {*kinds(sign.join(one), sign.join(two))} <= {*KINDS}


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_crashes_on_any_text(one: str, two: str) -> None:
    assert {*kinds(one, two)} <= {*KINDS}


@each_case(
    "piece",
    ["a", "1", "1 ", "1,", "5 mg ", "1 / ", "not ", "no more than ", "without ", "and is ", "a, b and it ",
     " ", "every 2 ", "maximum ", "limit a b ", "single ", "hyperx ", "hyper", "cyto", "10^9 x ", "000 ",
     "increased ", "type i ", "\n", "2 thousand ", "(", "5 mg twice daily IV, not 10 mg. "],
)  # fmt: skip
def test_a_hostile_answer_eight_times_as_long_takes_about_eight_times_as_long(piece: str) -> None:
    """Quadratic time would take 64 times; 24, once in three tries, leaves room for a busy machine."""
    reference = parse("Give 5 mg IV twice daily to the left of type 2; do not raise it in hypokalaemia.")
    long, least_s = length((16_000, 0.0005), (32_000, 0.002))

    def cost(n: int) -> float:
        text = piece * (n // len(piece))
        start = time.process_time()
        conflicts(reference, parse(text))
        return time.process_time() - start

    assert any(cost(long) < 24 * max(cost(long // 8), least_s) for _ in range(3))


@each_case(
    ("text", "figures"),
    [
        ("1/2 mg", [0.5]),
        ("2/1", [2, 1]),
        ("2/2", [2, 2]),
        ("1/2/20", [1, 2, 20]),
        ("3/12/9", [3, 12, 9]),
        ("12/1/2", [12, 1, 2]),
        ("120/80", [120, 80]),
        ("3/10", [3, 10]),
    ],
)
def test_a_fraction_is_one_figure_and_a_date_or_a_pair_is_none(text: str, figures: list[float]) -> None:
    assert figures == [found.low for found in parse(f"It is {text}").quantities]


def test_what_is_written_of_a_fraction_is_the_whole_of_it() -> None:
    (found,) = conflicts(parse("Give 1/2 mg of haloperidol."), parse("Give up to 3/4 mg of haloperidol."))
    assert ("number", "up to 3/4 mg", "1/2 mg") == found[:3]


@pytest.mark.parametrize(
    "phrases",
    [
        "Give {n} mg of drug{k}. ",
        "There are {n} beds in ward{k}. ",
        "Xyl{k} raises the left tone{n}. ",
        "Xyl{k} is not given with food or xyl{n}. ",
        "Take it without beer{k}. ",
    ],
)
def test_where_both_are_long_time_grows_with_the_answer_and_not_with_the_product(
    phrases: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time in calls, which no other load changes: four times the length takes four times as many, not 16."""
    most = length(40, MOST)
    monkeypatch.setattr(vivavoce.contrib.conflicts, "MOST", most)

    def calls(n: int) -> int:
        letters = [str(k).translate(str.maketrans("0123456789", "abcdefghij")) for k in range(n)]
        one, two = (
            parse("".join(phrases.format(n=k * step % 9973, k=letters[k]) for k in range(n)))
            for step in (1, 7)
        )
        count = 0

        def counted(frame: object, event: str, arg: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(counted)
        try:
            conflicts(one, two)
        finally:
            sys.setprofile(None)
        return count

    assert calls(4 * most) < 6 * calls(most)


def test_of_a_reference_the_first_of_each_kind_are_compared() -> None:
    words = [
        f"{a}{b}{c}ol"
        for a in "bcdfghlm"
        for b in "aeiou"
        for c in ("rt", "nd", "x", "ps", "m", "z", "k", "t")
    ]
    assert len(words) > MOST
    doses = [f"Give {k} mg of {word}. " for k, word in enumerate(words, 1000)]
    wanted = parse("".join(doses))
    assert [] == list(conflicts(wanted, wanted))
    assert ["number"] == [c.kind for c in conflicts(wanted, parse(f"Give 5 mg of {words[MOST - 1]}."))]
    assert [] == list(conflicts(wanted, parse(f"Give 5 mg of {words[MOST]}.")))
    assert (MOST, MOST) == (len(wanted.compared.quantities), len(wanted.compared.clauses))
    short = parse("Give 5 mg.")
    assert short.compared is short


def test_a_megabyte_is_read() -> None:
    size = length(100_000, 1_000_000)
    text = "Give 50 mg of haloperidol orally, not 5 mg. The left lung grew. " * (size // 64)
    assert len(text) > 0.98 * size
    assert "number" in kinds("Give 5 mg of haloperidol.", text)
