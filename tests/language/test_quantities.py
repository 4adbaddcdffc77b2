"""Quantities as tokens: one spelling for one amount, and never one for two."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.language.quantities import UNITS, quantity_tokens
from vivavoce.language.words import clinical_tokens
from vivavoce.metrics.token_f1 import f1


@each_case(
    "spellings",
    [
        ("1 g", "1000 mg", "1,000 mg", "1,000mg", "1.0 g", "1 gram", "1000 Milligrams", "1 000 mg"),
        ("0.5 mg", ".5 mg", "500 mcg", "500 µg", "500 μg", "500 ug", "500 micrograms", "0·5 mg"),
        ("1 L", "1000 mL", "10 dl", "1 litre", "1 liter", "1000 cc"),
        ("1 h", "60 min", "3600 s", "1 hour", "1-hour"),
        ("2 weeks", "14 days", "336 h", "14-day"),
        ("2 years", "24 months", "2-year"),
        ("5-10 mg", "5–10 mg", "5 - 10 mg", "5 to 10 mg", "5 mg to 10 mg", "5 mg-10 mg", "0.005-0.01 g"),
        ("120/80 mmHg", "120 / 80 mm Hg"),
        ("5 mg/325 mg", "5/325 mg"),
        ("10 mg/kg/day", "10 mg per kg per day", "10 mg/kg/d", "10 mg / kg / 24 h", "10 mg/day/kg"),
        ("5 mmol/L", "5 mmol per litre", "5000 µmol/l", "5 µmol/mL"),
        ("5 mg/mL", "50 mg/10 mL", "5 g/L", "500 mg/dL", "500 mg per 100 ml"),
        ("150 x 10^9/L", "150 × 10⁹/L", "150x10^9/L", "150,000/µL", "150000 per mm³"),
        ("200 cells/µL", "200 cells/mm³", "200 cells/mm3", "200 cells per cubic millimetre"),
        ("<50 %", "< 50%", "<50 percent"),
        ("60 mL/min/1.73 m2", "60 ml/min/1.73m²"),
        ("38.5 °C", "38.5 degrees Celsius"),
        ("-2 °C", "−2°C"),
    ],
)  # fmt: skip
def test_one_amount_is_one_token_however_it_is_written(spellings):
    tokens = {quantity_tokens(text) for text in spellings}
    assert 1 == len(tokens), {text: quantity_tokens(text) for text in spellings}
    assert 1 == len(tokens.pop())


@each_case(
    ("one", "other"),
    [
        ("10 mg", "100 mg"),
        ("5 mg", "5 g"),
        ("2.5 mg", "25 mg"),
        ("2,5 mg", "2.5 mg"),  # as everywhere, a comma is no decimal point
        ("2,5 mg", "5 mg"),
        ("2,5 mg", "2,5 g"),
        ("0,500 mg", "500 mg"),
        ("<50 mg", "50 mg"),
        ("<50 mg", ">50 mg"),
        ("-2 °C", "2 °C"),
        ("5-10 mg", "10 mg"),
        ("5-10 mg", "10-5 mg"),  # a dose that is reduced
        ("120/80 mmHg", "140/80 mmHg"),
        ("5 mg/325 mg", "10 mg/650 mg"),  # two drugs, no quotient
        ("10 mg/dL", "10 mmol/L"),
        ("18 mg/dL", "1 mmol/L"),  # right for glucose alone
        ("10 IU", "10 mg"),
        ("10 IU", "10 units"),  # of what, nobody says
        ("10 mEq", "10 mmol"),  # right for single charges alone
        ("3 MIU", "3,000,000 IU"),
        ("1 month", "30 days"),
        ("1 year", "365 days"),
        ("38 °C", "100.4 °F"),
        ("5 mg", "5 mg/kg"),
        ("5 mg/kg", "5 mg/m2"),
        ("60 mL/min", "60 mL/min/1.73 m2"),
        ("200 cells/µL", "200 copies/µL"),
        ("5 %", "5"),
        ("1 000 mg", "2 000 mg"),
        ("1 000 mg", "0 mg"),
        ("10", "10 mg"),
    ],
)
def test_two_amounts_share_no_token(one, other):
    assert not set(quantity_tokens(one)) & set(quantity_tokens(other))


@each_case(
    "text",
    [
        "take it 3 times daily", "type 2 diabetes", "stage 3", "vitamin B12", "HbA1c", "omega-3", "IL-6",
        "5 L-dopa tablets", "in 2024", "1. Heparin 2. Warfarin", "Age 65\nD-dimer", "1 in 10", "10^400 mg",
        "1:1000", "mg 5", "24/7", "", "no number here, 5",
    ],
)  # fmt: skip
def test_a_number_without_a_unit_stays_a_word_as_before(text):
    assert clinical_tokens(text) == quantity_tokens(text)


@each_case(
    ("text", "wanted"),
    [
        ("75 mg - 5 days", 2),
        ("5 mg/kg, then 10 mg/kg", 3),
        ("twice 500 mg for 7 days", 4),
        ("2 500 mg tablets", 3),  # two tablets, not 2,500 mg
        ("from 5 mg to 7 days", 4),
        ("5 mg per os", 3),
        ("5 g/0 ml", 2),
        ("1/2/3/4/5/6/7/8/9/10 mg", 9),  # no unit is shared so widely: eight numbers at most
    ],
)
def test_what_is_not_one_quantity_is_several_tokens(text, wanted):
    assert wanted == len(quantity_tokens(text))


DECIMAL = {n: unit for n, unit in UNITS.items() if unit.dimension in {"mass", "volume", "amount", "length"}}


@st.composite
def amounts(draw):
    """The same amount in two units of a dimension, as plain decimals."""
    first = draw(st.sampled_from(sorted(DECIMAL)))
    same = [n for n in sorted(DECIMAL) if DECIMAL[n].dimension == DECIMAL[first].dimension]
    second = draw(st.sampled_from(same))
    number = Fraction(draw(st.integers(1, 9999)), 10 ** draw(st.integers(0, 3)))
    converted = number * DECIMAL[first].factor / DECIMAL[second].factor
    return f"{plain(number)} {first}", f"{plain(converted)} {second}"


def plain(number: Fraction) -> str:
    """A decimal fraction in digits, without rounding."""
    # A thousandth of a femtogram is 10^-21 kg.
    digits = f"{number.numerator * 10**24 // number.denominator:025d}"
    return f"{digits[:-24]}.{digits[-24:]}".rstrip("0").rstrip(".")


@given(amounts(), st.sampled_from(["give {} daily", "{}", "between meals, <{} of it", "{} or 5 mg/kg"]))
def test_a_conversion_changes_no_score(pair, sentence):
    one, other = (quantity_tokens(sentence.format(amount)) for amount in pair)
    if all(len(part) <= 15 for amount in pair for part in amount.split()[0].split(".")):
        assert one == other
        reference = quantity_tokens("give 5 mg/kg or 10 mg daily")
        assert f1(reference, one) == f1(reference, other)
        assert f1(one, reference).value == pytest.approx(f1(reference, one).value)


@given(st.text(alphabet="0123456789.,-/ <>^xmgklh%µ° \n+", max_size=40))
def test_any_text_gives_tokens_and_the_same_ones_again(text):
    assert quantity_tokens(text) == quantity_tokens(text)
    assert bool(quantity_tokens(text)) == bool(clinical_tokens(text)) or "%" in text or "/" in text


@pytest.mark.parametrize("unit", ["1,", "1 mg/", "5-", "5 mg to ", "5 x 10 ", "1.1", "1\u00a0111", "1/"])
def test_the_work_grows_with_the_length_of_the_text(unit, monkeypatch):
    """A count of numbers read, not of seconds: twice the text, twice the work."""
    from vivavoce.language import quantities

    def read(n: int) -> int:
        done = 0
        number = quantities._Pieces.number

        def counting(pieces, k):
            nonlocal done
            done += 1
            return number(pieces, k)

        monkeypatch.setattr(quantities._Pieces, "number", counting)
        quantity_tokens(unit * n)
        monkeypatch.setattr(quantities._Pieces, "number", number)
        return done

    assert read(400) <= 2.1 * read(200)
