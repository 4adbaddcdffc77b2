"""Tables, boxes, fences and tags around an answer: what is left of them, and what they say."""

import pytest

from vivavoce.core.records import Item, Located, Reasoned
from vivavoce.formats import read_response
from vivavoce.reading.markup import (
    confirmed_rows,
    labelled_lines,
    ticked_entries,
    unboxed,
    unfenced,
    untabled,
)

SIGNS = ("Ascending weakness", "Hyperreflexia", "Areflexia")
RULE = "\n|---|---|\n"
TWO_COLUMNS = "|---|---|---|\n"


def listed(text: str) -> tuple[object, tuple[str, ...]]:
    reading = read_response(Item(benchmark="b", item="i", format="list", question="q", options=SIGNS), text)
    return reading.parsed, reading.stray


def located(text: str) -> object:
    item = Item(
        benchmark="b", item="i", format="multi_hop_inverse", question="q", steps=tuple("abcde"), step=1
    )
    reading = read_response(item, text)
    return reading.parsed if reading.status == "ok" else reading.status


def test_the_head_of_a_table_is_no_entry_of_a_list() -> None:
    rows = "| Ascending weakness | Yes |\n| Hyperreflexia | No |\n| Areflexia | Yes |"
    want = (("Ascending weakness", "Areflexia"), ())
    for head in ("| Finding | Supports GBS? |", "Finding | Supports GBS?", "| **Sign** | **Present** |"):
        assert want == listed(f"{head}{RULE}{rows}"), head
    assert want == listed(f"| Finding | Why |{RULE}| Ascending weakness | typical |\n| Areflexia | typical |")
    assert want == listed("| Finding |\n|---|\n| Ascending weakness |\n| Areflexia |")


def test_a_table_with_a_column_of_reasons_is_read_by_its_verdicts() -> None:
    text = (
        "| Finding | Supports GBS? | Why |\n|:---|:---:|---:|\n| A. Ascending weakness | ✅ | typical |\n"
        "| B. Hyperreflexia | ❌ | upper motor neurone |\n| C. Areflexia | ✅ | lower motor neurone |"
    )
    assert (("Ascending weakness", "Areflexia"), ()) == listed(text)


def test_a_row_that_is_no_option_is_stray_without_its_verdict() -> None:
    rows = "| Fever | Yes |\n| Areflexia | Yes |\n| Rash | No |"
    assert (("Areflexia",), ("Fever",)) == listed(f"| Finding | Supports GBS? |{RULE}{rows}")


def test_a_yes_under_a_rejecting_head_speaks_against_its_row() -> None:
    rows = "| Ascending weakness | No |\n| Hyperreflexia | Yes |"
    for head in ("Incorrect?", "Excluded", "Wrong"):
        assert (("Ascending weakness",), ()) == listed(f"| Finding | {head} |{RULE}{rows}"), head


def test_two_columns_that_judge_choose_nothing() -> None:
    rows = "| Areflexia | Yes | No |"
    kept: list[str] = []
    untabled(f"| Sign | GBS | MS |\n{TWO_COLUMNS}{rows}", lambda t: kept.extend(confirmed_rows(t)) or kept)
    assert ["Areflexia | Yes | No"] == kept


@pytest.mark.parametrize(
    "text",
    [
        f"| Step | Explanation |{RULE}| 3 | It lowers potassium. |",
        f"| Incorrect Reasoning Step | Explanation |{RULE}| Step 3 | It lowers potassium. |",
        f"| Field | Value |{RULE}| Step | **3** |\n| Explanation | It lowers potassium. |",
        f"| Step | 3 |{RULE}| Explanation | It lowers potassium. |",
        f"Here it is:\n\nStep | Explanation{RULE}3 | It lowers potassium.",
    ],
)
def test_a_step_in_a_table_is_read_with_its_explanation(text: str) -> None:
    assert Located(3, "It lowers potassium.") == located(text)


def test_a_table_of_the_whole_chain_gives_the_step_that_is_called_wrong() -> None:
    for no, yes in (("Incorrect", "Correct"), ("❌", "✅"), ("No", "Yes")):
        rows = f"| 1 | {yes} | x |\n| 2 | {no} | it lowers potassium |\n| 3 | {yes} | y |"
        parsed = located(f"| Step | Correct? | Comment |\n{TWO_COLUMNS}{rows}")
        assert isinstance(parsed, Located), no
        assert 2 == parsed.step, no
        assert "it lowers potassium" in parsed.explanation
    assert "unreadable" == located(f"| Step | Explanation |{RULE}| 3 | a |\n| 4 | b |")


def test_only_lines_above_a_rule_are_a_table() -> None:
    for text in ("|x| > 2 | y", "a | b\nc | d", "---\n***", "", "|\n|", "a\n|---|"):
        assert text == untabled(text, labelled_lines), text


def test_a_box_is_a_final_answer_and_loses_its_latex() -> None:
    for text in (
        r"\boxed{Addison disease}",
        r"$$\boxed{\text{Addison disease}}$$",
        r"\[\boxed{\textbf{\text{Addison disease}}}\]",
        r"The final answer is: $\boxed{Addison disease}$.",
        r"**Final Answer:** \fbox{Addison disease}",
    ):
        assert "Final answer: Addison disease" == unboxed(text).strip(), text
        item = Item(benchmark="b", item="i", format="multi_hop", question="q")
        assert Reasoned("Addison disease", ()) == read_response(item, text).parsed, text
    assert r"\boxed{open" == unboxed(r"\boxed{open")


def test_a_fence_goes_only_where_it_stands_around_everything() -> None:
    assert "Explanation: x" == unfenced("```text\nExplanation: x\n```")
    for text in ("see\n```\nx\n```", "```\nx\n```\n```\ny\n```", "`x`", ""):
        assert text == unfenced(text), text


def test_ticks_and_crosses_lead_entries() -> None:
    assert "✓ Fever\n✓ Rash" == ticked_entries("- ✅ Fever\n- [x] Rash").replace("\n\n", "\n")
    assert "no marks" == ticked_entries("no marks")
