"""The screen for patient data: what it finds and leaves alone, how long it takes, what it never repeats."""

import csv
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.lengths import length

from vivavoce.core.records import Item
from vivavoce.privacy import Flagged, Suspect, preflight, redacted, suspects, warning
from vivavoce.privacy.patterns import CITED, RULES

LINES = [
    line.split(" | ", 2)
    for line in Path(__file__).with_name("privacy_cases.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
CASES = [(of, wanted, text.replace("\\n", "\n")) for of, wanted, text in LINES]
POSITIVE = [(wanted, text) for _, wanted, text in CASES if wanted != "-"]
NEGATIVE = [text for _, wanted, text in CASES if wanted == "-"]


def kinds(text: str) -> set[str]:
    return {s.kind for s in suspects(text)}


def item(name: str, question: str, **fields: Any) -> Item:
    return Item(benchmark="exam", item=name, format="short", question=question, **fields)


@each_case(("wanted", "text"), POSITIVE)
def test_patient_data_is_found(wanted: str, text: str) -> None:
    """What is marked as missed is missed: when a rule begins to find it, the mark must go."""
    kind, _, missed = wanted.partition(", ")
    assert bool(missed) == (kind not in kinds(text))


@each_case("text", NEGATIVE)
def test_what_stands_in_ordinary_exams_raises_no_alarm(text: str) -> None:
    assert () == suspects(text)


def test_the_figures_of_the_documentation_are_those_of_the_cases() -> None:
    """Found and all, then false alarms and all, by set."""
    counted = {}
    for of in "abc":
        found = [bool(suspects(t)) for name, w, t in CASES if name == of and w != "-"]
        alarms = [bool(suspects(t)) for name, w, t in CASES if name == of and w == "-"]
        counted[of] = (sum(found), len(found), sum(alarms), len(alarms))
    assert {"a": (161, 161, 0, 205), "b": (63, 64, 0, 79), "c": (38, 45, 0, 42)} == counted


def texts(shared: Path) -> Iterator[tuple[str, str]]:
    """All texts of the real exams, by exam."""

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                yield from strings(one)

    data = shared / "data"
    with (data / "dahl" / "questions.csv").open(encoding="utf-8", newline="") as file:
        yield from (("dahl", row["question"]) for row in csv.DictReader(file))
    for line in (data / "hivmedqa" / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        yield from (("hivmedqa", text) for text in strings(json.loads(line)))
    for path in sorted((data / "cliniqlink").glob("*.json")):
        whole = json.loads(path.read_text(encoding="utf-8"))
        yield from (("cliniqlink", text) for text in strings(whole))
    for line in next((data / "casimedicos").glob("en.dev_*")).read_text(encoding="utf-8").splitlines():
        yield from (("casimedicos", text) for text in strings(json.loads(line)))


def test_real_exams_raise_one_alarm_and_it_is_a_name(shared: Path) -> None:
    """DAHL asks about "the case of Doña Francisca"."""
    found: Counter[tuple[str, str]] = Counter()
    for k, (exam, text) in enumerate(texts(shared)):
        if exam == "dahl" or k % length(12, 1) == 0:
            found.update((exam, text[s.start : s.end]) for s in suspects(text))
    assert Counter({("dahl", "Francisca"): 1}) == found


def test_suspects_stand_in_order_and_do_not_overlap() -> None:
    text = "Mr John Smith, DOB 12/03/1961, MRN 00482913, john.smith@example.com, phone (555) 123-4567"
    found = suspects(text)
    assert ["name", "date", "record number", "e-mail address", "phone number"] == [s.kind for s in found]
    assert "John Smith" == text[found[0].start : found[0].end]
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_an_empty_text_holds_nothing() -> None:
    assert () == suspects("")


def test_a_suspect_stays_one_whatever_stands_around_it() -> None:
    text = "A 58-year-old woman has angina. "
    (alone,) = suspects("MRN: 00482913")
    (within,) = suspects(f"{text}MRN: 00482913. {text}")
    assert Suspect(alone.kind, alone.start + len(text), alone.end + len(text)) == within


@pytest.mark.parametrize(
    ("number", "valid"),
    [("943 476 5919", True), ("943 476 5918", False), ("401 023 2137", True), ("111 111 1111", False)],
)
def test_ten_digits_alone_are_an_nhs_number_only_with_its_check_digit(number: str, valid: bool) -> None:
    """943 476 5919: 9*10 + 4*9 + 3*8 + … + 1*2 = 299, 299 mod 11 = 2, and 11 - 2 = 9 is the last digit."""
    assert valid == ("record number" in kinds(f"seen: {number}"))


@pytest.mark.parametrize(("letter", "valid"), [("Z", True), ("A", False)])
def test_a_spanish_identity_number_ends_with_its_letter(letter: str, valid: bool) -> None:
    """12345678 mod 23 is 14, and Z is the letter of 14."""
    assert valid == bool(suspects(f"DNI {12345678}{letter}"))


def test_no_pattern_is_without_end() -> None:
    """What has a greatest length takes a bounded time at each place, so the whole is linear in the text."""
    from re import _parser  # type: ignore[attr-defined]  # the only way to ask a pattern how long it can be

    for pattern in [*(rule.pattern for rule in RULES), CITED]:
        _, longest = _parser.parse(pattern.pattern).getwidth()
        assert longest < 600, pattern.pattern[:80]


@each_case(
    "piece",
    ["Mr ", "Mr John ", "A. ", "a@", "a.", "1-", "12/03/", "0 ", "+1 ", "Name: ", "\n", " ", "(", "9",
     "Dr. Dr. ", "de la ", "Aa-", "1 Aa ", "https://a?", "10.1234/", "MRN:", "Patient: Aa "],
)  # fmt: skip
def test_a_hostile_text_eight_times_as_long_takes_about_eight_times_as_long(piece: str) -> None:
    """Quadratic time would take 64 times; 24 leaves room for a busy machine."""

    def cost(n: int) -> float:
        text = piece * (n // len(piece))
        start = time.process_time()
        suspects(text)
        return time.process_time() - start

    n = length(2_500, 5_000)
    small = max(0.002, min(cost(n) for _ in range(3)))
    assert any(cost(8 * n) < 24 * small for _ in range(3))


def test_preflight_names_items_and_kinds_and_never_the_text() -> None:
    items = [
        item("q1", "A 58-year-old woman has angina."),
        item("q2", "Mr John Smith has angina.", references=("Call 020 7946 0018: Tel: 020 7946 0018",)),
        item("q3", "What next?", options=("Ring Mrs Jones", "Wait"), answer=("Wait",)),
        item("q4", "What next?", context="DOB 12/03/1961"),
    ]
    found = preflight(items)
    assert [
        Flagged("q2", ("name", "phone number")),
        Flagged("q3", ("name",)),
        Flagged("q4", ("date",)),
    ] == found
    said = warning(found, len(items), "api.openai.com")
    assert said == (
        "3 items of 4 look as if they held patient data (name in 2, date in 1, phone number in 1): q2, q3, "
        "q4. Nothing was sent to api.openai.com. Look at them; if they may leave this machine, say "
        "--allow-phi."
    )
    assert not re.search("Smith|Jones|7946|1961", said + repr(found))


def test_an_item_whose_id_is_a_name_is_called_by_its_place() -> None:
    found = preflight([item("q1", "?"), item("Mr John Smith", "Mr John Smith has angina.")])
    assert [Flagged("no. 2", ("name",))] == found


def test_the_warning_names_five_items_at_most_and_drives_no_terminal() -> None:
    found = [Flagged(f"q{n}\x1b[2J", ("name",)) for n in range(8)]
    said = warning(found, 8, "host")
    assert "\x1b" not in said
    assert "q4\ufffd[2J and 3 more" in said
    assert "q5" not in said


def test_without_suspects_there_is_no_warning() -> None:
    assert "" == warning(preflight([item("q1", "What is HIV?")]), 1, "host")


def test_one_item_is_spoken_of_in_the_singular() -> None:
    said = warning([Flagged("q1", ("date",))], 120, "host")
    assert said.startswith("1 item of 120 looks as if it held patient data (date in 1): q1.")


def test_equal_texts_have_equal_marks_under_one_key_and_others_under_another() -> None:
    text = "Mr Smith has angina and was given aspirin."
    assert redacted(text) == redacted(text)
    assert redacted(text) != redacted(text + " ")
    assert redacted(text, b"one key") != redacted(text, b"another key")
    assert re.fullmatch(r"\[redacted: 42 characters, hmac [0-9a-f]{8}\]", redacted(text))


def test_a_mark_is_no_plain_hash() -> None:
    """Whoever has a list of likely answers could hash them all."""
    import hashlib

    text = "Tenofovir, lamivudine and dolutegravir."
    mark = redacted(text).split("hmac ")[1].rstrip("]")
    plain = [hashlib.new(name, text.encode()).hexdigest() for name in ("sha256", "sha1", "md5")]
    assert all(mark not in whole for whole in plain)


@pytest.mark.parametrize("text", ["", "B", "Yes", "No", "x" * 15])
def test_short_texts_have_neither_length_nor_mark(text: str) -> None:
    """A yes has three characters and a no two."""
    assert "[redacted: short]" == redacted(text)


def test_a_broken_text_can_be_redacted() -> None:
    assert "hmac" in redacted("half a pair \ud83d of surrogates")


@pytest.mark.parametrize(
    "text",
    [
        "\x00" * 10,
        "Mr \ud83d",
        "MRN: ²²²²",
        "² Oak Street",
        "1².0.0.1 and 192.168.²",
        "0 ² 1",
        "²² 555-123-4567",
    ],
)
def test_digits_that_are_no_numbers_break_nothing(text: str) -> None:
    """A raised ² is a digit to some and no number to int()."""
    assert all(s.start < s.end <= len(text) for s in suspects(text))


@pytest.mark.parametrize("text", ["SSN ٢١٩-٠٩-٩٩٩٩", "MRN: ١٢٣٤٥٦", "٩٤٣ ٤٧٦ ٥٩١٩"])
def test_numbers_in_other_digits_are_numbers(text: str) -> None:
    assert {"record number"} == kinds(text)


def test_of_sixty_made_up_notes_in_three_languages_fifty_three_are_found():
    """What is missed is named in the docs: `docs/how-to/privacy.md`."""
    lines = Path(__file__).with_name("made_up_notes.txt").read_text(encoding="utf-8").splitlines()
    notes = [line.split("\t") for line in lines]
    assert (60, {"en", "de", "es"}) == (len(notes), {language for language, _ in notes})
    assert 53 == sum(bool(suspects(text)) for _, text in notes)
