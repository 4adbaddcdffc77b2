"""The question filters: written cases, the paper's examples, and the counts on the released file."""

import csv
import json
from collections import Counter

import pytest
from tests.cases import each_case

from vivavoce.systems.dahl.filters import RULES, decide

CASES = [f"F{number:02}" for number in range(1, 8)]
APPENDIX = {
    "What ethical considerations are addressed by the authors in relation to their research findings?": "A1",
    "What are the implications for practice suggested by the study?": "A1",
    "What tissue-specific patterns were observed in the usage of intronic PASs compared to PASs in "
    "exons?": "A2",
    "What challenges are associated with the protocol described in the study, and what solutions are "
    "suggested for troubleshooting?": "A2",
    "What method was used to assess the functional accuracy of the context-specific models?": "A3",
    "Explain the significance of functional validation in the context of this research and how it is "
    "achieved.": "B1",
    "Which MEM was found to be the most computationally efficient, and how might this impact its use in "
    "research?": "A3",
}
"""The examples of appendices A and B; the last is the paper's B2, which we name by the finer rule."""


@pytest.fixture(scope="module")
def cases(shared):
    lines = json.loads((shared / "data" / "dahl" / "preprocess_cases.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in lines["cases"] if case["kind"] == "question_filter"}


@pytest.fixture(scope="module")
def decisions(shared):
    path = shared / "data" / "dahl" / "questions.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [decide(row["question"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("name", CASES)
def test_a_written_case_is_decided_as_expected(cases, name):
    decision, rules = decide(cases[name]["input"]["question"])
    assert cases[name]["expected"] == {"decision": decision, "rules": list(rules)}


def test_no_written_case_is_left_out(cases):
    assert CASES == sorted(cases)


@pytest.mark.parametrize("question", APPENDIX)
def test_what_the_paper_filters_is_dropped(question):
    decision = decide(question)
    assert "drop" == decision.decision
    assert APPENDIX[question] in decision.rules


def test_the_released_file_breaks_the_rules_of_its_paper(decisions):
    """The counts of reference/ranking_dahl.md, B5."""
    assert {"keep": 7942, "review": 492, "drop": 138, "repair": 1} == Counter(d.decision for d in decisions)


def test_each_rule_hits_as_often_as_counted_by_hand(decisions):
    """A1 to B2 as in reference/ranking_dahl.md, B5; H1 to H3 are the rows that its B1 names."""
    hits = Counter(rule for decision in decisions for rule in decision.rules)
    assert {"A1": 84, "A2": 139, "A3": 50, "B1": 64, "B2": 413, "H1": 3, "H2": 3, "H3": 2} == hits


@each_case(
    ("question", "decision", "rules"),
    [
        ("", "drop", ("H2",)),
        (" \n", "drop", ("H2",)),
        ("Q3: What is iron?", "repair", ("H1",)),
        ("Q3: What did they do?", "review", ("B2", "H1")),
        ("What is reported according to experts?", "drop", ("A2", "B1")),
        ("What was not studied?", "review", ("B2",)),
        ("How is a study planned?", "keep", ()),
        ("What is the function of the trial-and-error method?", "drop", ("A1",)),
        ("¿Qué es el hierro?", "keep", ()),
        ("WHAT WERE THE\nFINDINGS?", "drop", ("A1", "B2")),
    ],
)
def test_a_decision_names_every_rule(question, decision, rules):
    assert (decision, rules) == decide(question)


def test_every_rule_says_what_it_finds():
    assert ["A1", "A2", "A3", "B1", "B2", "H1", "H2", "H3"] == list(RULES)
