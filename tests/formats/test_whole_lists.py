"""Lists of verdicts, one for each option, "T, F, T"; and what a later sentence takes out of a list."""

from tests.cases import each_case
from tests.formats.test_reading import of

SIGNS = ("Fever", "New murmur", "Splinter hemorrhages", "Pruritus", "Roth spots")


def letters(text: str) -> str | None:
    """The labels of the options that are read; null where the answer cannot be read."""
    reading = of("list", text, SIGNS)
    if reading.status != "ok":
        return None
    assert () == reading.stray
    return "".join("ABCDE"[SIGNS.index(name)] for name in reading.parsed)


@each_case(
    ("text", "parsed"),
    [
        ("T, T, F, F, T", "ABE"),
        ("yes no yes no yes", "ACE"),
        ("True\nFalse\nTrue\nFalse\nFalse", "AC"),
        ("A yes B yes C no D no E yes", "ABE"),
        ("1. True 2. True 3. False 4. False 5. True", "ABE"),
        ("A: T; B: F", "A"),
        ("A. T, B. T, C. F, D. F, E. F", "AB"),
        ("E yes, A no, C yes", "CE"),
        ("F F F F F", None),
        ("T T F", None),
        ("T T F F T T", None),
        ("A yes A no", None),
        ("9. True 2. True", None),
    ],
)
def test_verdicts_count_where_each_option_has_one(text: str, parsed: str | None) -> None:
    reading = letters(text)
    assert parsed == (reading if reading is None else "".join(sorted(reading)))


@each_case(
    ("text", "parsed"),
    [
        ("A, C, E. Actually, E is wrong.", "AC"),
        ("A, C, E. On reflection, E is not a sign.", "AC"),
        ("A, C, E. Wait, E is not one. So A, C.", "AC"),
        ("A, C, E. No, not E.", "AC"),
        ("A, C, E. E is wrong.", None),
        ("A, C, E. B is wrong.", "ACE"),
        ("A, C, E. B and D are incorrect.", "ACE"),
        ("Select A and E; skip B.", "AE"),
    ],
)
def test_what_a_list_takes_back_is_not_in_it(text: str, parsed: str | None) -> None:
    assert parsed == letters(text)


def test_options_that_are_verdicts_are_listed() -> None:
    assert {"Yes", "No"} == set(of("list", "Yes, no", ("Yes", "No")).parsed)
