"""Any text and any options give a reading; what is an option's own text or label reads as that option."""

import unicodedata

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.lengths import length

from vivavoce.core.records import Item, Reading
from vivavoce.core.text import is_blank, label
from vivavoce.formats import FORMATS, read_response
from vivavoce.language.tokens import Doc

PIECES = st.sampled_from(
    [
        "A",
        "B",
        "(C)",
        "D.",
        "I",
        "Answer:",
        "answer is",
        "not",
        "or",
        "and",
        "Aspirin",
        "heparin",
        "True",
        "False",
        "F",
        "2.5 mg",
        "25",
        "<think>",
        "</think>",
        "\\boxed{",
        "}",
        "\n",
        "\n\n",
        ",",
        ";",
        ":",
        "-",
        "**",
        "?",
        ".",
        "{",
        '{"answer": ',
        '"B"',
        "[",
        "]",
        "wait",
        "rather than",
        "is wrong",
        "I cannot answer",
        "答案",
        "的",
        "–",
        "³",
        "µ",
        "<",
        "≥",
        "+",
        "/",
        "'s",
        "\u0301",
        "e\u0301",
        "\u200b",
        "&amp;",
        "<answer>",
        "</answer>",
        "```",
        "٣",
        "Step",
        "Step 3",
        "step: 2",
        "the third",
        "last",
        "Explanation:",
        "Reasoning:",
        "Final Answer:",
        "**Incorrect Reasoning Step:**",
        "is right",
        "第",
        "步",
        "{'step': ",
        "- ",
        "1.",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=80), st.lists(PIECES, max_size=14).map(" ".join), st.lists(PIECES).map("".join)
)
WORDS = st.sampled_from(
    [
        "Aspirin",
        "cells",
        "B",
        "vitamin",
        "acute",
        "renal",
        "failure",
        "2.5",
        "25",
        "mg",
        "≥50",
        "10³",
        "and",
        "type",
        "T",
        "Café",
        "(IgA)",
        "C-reactive",
        "+",
        "of",
        "low,",
        "Graves'",
        "5%",
        "1,000",
        "α",
        "é",
        "not",
        "or",
        "None",
    ]
)
OPTIONS = st.lists(
    st.one_of(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.text(max_size=12)),
    max_size=30,
    unique=True,  # an exam with the same option twice is refused when it is loaded
)

STEPS = 12


def item(kind: str, options: list[str] | tuple[str, ...] = ()) -> Item:
    steps = ("so",) * STEPS if kind == "multi_hop_inverse" else ()
    return Item(benchmark="b", item="i", format=kind, question="q", options=tuple(options), steps=steps)


def sound(reading: Reading, kind: str, options: list[str]) -> bool:
    if (reading.status == "ok") == (reading.parsed is None):
        return False
    if reading.status != "ok":
        return bool(reading.reason)
    if kind == "mcq":
        return reading.parsed in options
    if kind == "list":
        return set(reading.parsed) <= set(options) and len(set(reading.parsed)) == len(reading.parsed)
    if kind == "multi_hop_inverse":
        return reading.parsed.step in (None, *range(1, STEPS + 1)) and isinstance(reading.text, str)
    if kind == "multi_hop":
        return not is_blank(reading.parsed.answer) and not any(is_blank(s) for s in reading.parsed.steps)
    if kind == "relation":
        return all(r.head and r.type and r.tail for r in reading.parsed) and all(map(str, reading.stray))
    return isinstance(reading.parsed, bool if kind == "true_false" else str)


@settings(max_examples=length(25, 400), deadline=None)
@given(TEXTS, OPTIONS)
@example("\\boxed{", ["A"])
@example("{" * 3000, ["A", "B"])
@example("[" * 100_000 + "]", ["A", "B"])
@example("\ud800", ["A", "B"])
@example("{'step': " + "(" * 5000 + "}", [])
@example("Step " + "9" * 5000, [])
def test_any_text_gives_a_sound_reading(text: str, options: list[str]) -> None:
    for kind in FORMATS:
        assert sound(read_response(item(kind, options), text), kind, options), kind


def distinct(options: list[str]) -> list[str]:
    """The options that are not blank and differ by more than case, accents and punctuation."""
    kept: dict[tuple[str, ...], str] = {}
    for text in options:
        key = tuple(Doc(text).forms)
        if key and not is_blank(text) and text == unicodedata.normalize("NFC", text).strip():
            kept.setdefault(key, text)
    return list(kept.values())


@settings(max_examples=length(25, 300), deadline=None)
@given(OPTIONS, st.data())
def test_an_options_own_text_reads_as_the_option(options: list[str], data: st.DataObject) -> None:
    assume(len(options) >= 1 and not any("think" in o.lower() for o in options))
    k = data.draw(st.integers(0, len(options) - 1))
    if is_blank(options[k]):
        return
    text = options[k]
    first = next(o for o in options if " ".join(o.split()) == " ".join(text.split()))
    assert Reading("ok", first) == read_response(item("mcq", options), text)
    assert Reading("ok", (first,)) == read_response(item("list", options), text)


@settings(max_examples=length(25, 200), deadline=None)
@given(st.integers(2, 60), st.data())
def test_a_label_reads_as_its_option_in_every_form(n: int, data: st.DataObject) -> None:
    options = [f"Remedy number {k}" for k in range(n)]
    k = data.draw(st.integers(0, n - 1))
    name = label(k)
    for form in (
        "X",
        "(X)",
        "X.",
        "X)",
        "**X**",
        "Answer: X",
        "The answer is X.",
        "The answer is (X)",
        "Option X",
        "\\boxed{X}",
        '{"answer": "X"}',
        "X. " + options[k],
        "X: " + options[k],
        "<answer>X</answer>",
    ):
        text = form.replace("X", name)
        assert Reading("ok", options[k]) == read_response(item("mcq", options), text), text
        assert Reading("ok", (options[k],)) == read_response(item("list", options), text), text


@settings(max_examples=length(25, 200), deadline=None)
@given(st.sets(st.integers(0, 7), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_a_list_reads_the_same_however_it_is_written(picks: set[int], shuffle: object) -> None:
    options = [
        "Fever",
        "New murmur",
        "Roth spots",
        "Nausea and vomiting",
        "Rash, itching",
        "B cells",
        "2.5 mg",
        "IgA",
    ]
    order = sorted(picks)
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    texts, labels = [options[k] for k in order], [label(k) for k in order]
    want = Reading("ok", tuple(texts))
    both = [f"{a}. {t}" for a, t in zip(labels, texts, strict=True)]
    for entries in (texts, labels, both):
        for joint in (", ", "; ", "\n", "\n- "):
            lead = "- " if joint == "\n- " else ""
            assert want == read_response(item("list", options), lead + joint.join(entries)), (entries, joint)
            assert want == read_response(
                item("list", options), "The correct options are:\n" + lead + joint.join(entries)
            )


def test_labels_go_on_after_z() -> None:
    assert ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"] == [label(k) for k in (0, 25, 26, 51, 52, 701, 702)]


def test_long_answers_cost_work_in_proportion() -> None:
    """Patterns that would cost their square if a part of the reader looked back or ahead without limit."""
    options, size = ("Aspirin", "Heparin", "Warfarin", "Alteplase"), length(4_000, 100_000)
    for pattern in (
        "Answer: A\n",
        "aspirin, ",
        "so B. ",
        "not A or ",
        "\\boxed{",
        "<  ",
        "I cannot ",
        "a: b ",
        "(B",
        "but ",
        "step 2 is wrong.\n",
        "step 2, ",
        "Step: 3\n",
        "Explanation: ",
        "the error is in step 3. wait. ",
        "the answer is x. ",
        "Therefore, the answer is: x. ",
        "Step 1: ",
        "1. a\n",
        "\n",
        "** ",
        "not step 2 or ",
        "the wrong ",
    ):
        text = (pattern * (size // len(pattern)))[:size]
        for kind in FORMATS:
            assert read_response(item(kind, options), text).status in {"ok", "unanswered", "unreadable"}
