"""What `exact` and `token_f1` compare of a short answer: the answer itself, in plain characters."""

import json
from pathlib import Path

from tests.cases import each_case

from vivavoce.core.records import Item, Response, Row
from vivavoce.core.registry import build
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext


def exact(reference: str, text: str, metric: str = "exact", criterion: str = "accuracy") -> float | None:
    item = Item(benchmark="b", item="i", format="short", question="q", references=(reference,))
    response = Response(benchmark="b", item="i", candidate="c", text=text)
    row = Row(item, response, read_response(item, text))
    built = build("metric", metric)
    return built.values([row], ScoringContext())[0][criterion].value


@each_case(
    ("reference", "text"),
    [
        ("5 mg", "５ｍｇ"),
        ("37 °C", "37℃"),
        ("50 %", "50％"),
        ("metformin", "met\u00adformin"),
        ("metformin", "met\u200bformin"),
        ("75 %", "\\boxed{75\\%}"),
        ("75 %", "The share is small.\n\n\\boxed{75\\%}"),
        ("0.3 mg", "$0.3\\,\\text{mg}$"),
        ("0.3 mg", "\\(0.3~\\mathrm{mg}\\)"),
        ("heparin", '{"answer": "heparin"}'),
        ("heparin", '```json\n{"answer": "heparin"}\n```'),
        ("heparin", "Answer: heparin"),
        ("heparin", "It acts at once.\n\n**Final answer:** Heparin"),
        ("heparin", "<answer>heparin</answer>"),
        ("heparin", "<b>heparin</b>"),
        ("heparin", "**Heparin**"),
        ("Heparina", "Respuesta: heparina"),
        ("Heparin", "Antwort: Heparin"),
        ("肝素", "答案：肝素"),
        ("10^3", "10<sup>3</sup>"),
        ("x ≥ 5", "$x \\geq 5$"),
        ("38.5 °C", "$38.5^{\\circ}\\text{C}$"),
    ],
)
def test_what_marks_an_answer_is_no_part_of_it(reference: str, text: str) -> None:
    assert 1.0 == exact(reference, text)
    assert 1.0 == exact(reference, text, "token_f1", "f1")


@each_case(
    ("reference", "text"),
    [
        ("75 %", "\\boxed{7.5\\%}"),
        ("heparin", '{"answer": "warfarin", "note": "heparin"}'),
        ("heparin", "Answer: not heparin"),
        ("heparin", "heparin\n\nAnswer: warfarin"),
        ("0.9 % sodium chloride", "9 % sodium chloride"),
        ("heparin", "Explanation: heparin"),
        ("10^3", "103"),
        ("5 mg", "５０ｍｇ"),
    ],
)
def test_another_answer_stays_another(reference: str, text: str) -> None:
    assert 0.0 == exact(reference, text)


def test_the_published_recipe_takes_the_text_as_it_stands() -> None:
    value = exact("heparin", "Answer: heparin", "token_f1(tokens=squad)", "f1")
    assert value is not None
    assert 0.66 < value < 0.67


def test_marks_and_widths_of_the_field(shared: Path) -> None:
    path = shared / "data" / "field" / "exact_marks.jsonl"
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert {} == {
        row["id"]: value
        for row in rows
        if (value := exact(row["reference"], row["text"])) != float(row["want_exact"])
    }
