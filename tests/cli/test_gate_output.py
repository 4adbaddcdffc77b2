"""The files of a gate: a summary for a pull request, and JUnit XML, whatever the candidates are called."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.cases import each_case
from tests.studies.judging import JUDGE
from tests.studies.making import marked, twins
from tests.studies.people import benchmark, people_run

from vivavoce.cli.exit_codes import MEANINGS, ExitCode
from vivavoce.cli.gate_output import junit_text, summary_text
from vivavoce.core.errors import StoreError
from vivavoce.core.markdown import markdown
from vivavoce.run.run import Run

Viva = Callable[..., Any]
OLD, AHEAD, BEHIND = twins([0.5, 0.7] * 6), twins([0.8, 0.9] * 6), twins([0.4] * 12)
HOSTILE = (
    '](http://evil) <img src=x onerror="a"> |`x`| @team #1 www.evil.org\n# big\n\x1b[31m\u202e$1$ </failure>'
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return marked(tmp_path, {"old": OLD, "new": AHEAD, "newer": BEHIND})


def gate(viva: Viva, run: Run, *words: object, code: int) -> Any:
    return viva("compare", run.file.path, *words, "--against", "old", "--metric", "told", code=code)


# Exit codes


def test_every_exit_code_has_a_meaning_and_the_reference_has_the_table(root: Path) -> None:
    assert list(ExitCode) == list(MEANINGS)
    page = (root / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert all(f"| {code:d} | {meaning} |" in page for code, meaning in MEANINGS.items())


def test_no_command_ends_by_a_number_of_its_own(root: Path) -> None:
    for module in (root / "src" / "vivavoce" / "cli").glob("*.py"):
        assert not re.search(r"\bExit\(\d|sys\.exit\(\d", module.read_text(encoding="utf-8")), module.name


def test_the_ends_of_a_gate(viva: Viva, run: Run) -> None:
    gate(viva, run, "new", "--require", "better", code=ExitCode.DONE)
    gate(viva, run, "newer", "--require", "better", code=ExitCode.GATE_CLOSED)
    assert 3 == ExitCode.GATE_CLOSED


# Reasons


def test_a_closed_gate_says_why_and_what_would_open_it(viva: Viva, run: Run) -> None:
    words = ("--require", "not-worse", "--margin", "0.01", "--quiet")
    same = gate(viva, run, "newer", *words, code=3)
    assert "" == same.stdout
    assert "viva: the gate is closed: newer (told, worth) is worse: old is better" in same.stderr


def test_critical_responses_close_it_on_the_command_line(viva: Viva, run: Run) -> None:
    gate(viva, run, "new", "--max-critical", 0, "--veto", "told < 0.3", code=0)
    closed = gate(viva, run, "new", "--max-critical", 5, "--veto", "told >= 0.9", code=3)
    assert "new has 6 critical answers of 12 (told >= 0.9), and 5 may be." in closed.stderr


def test_json_on_stdout_is_that_of_compare(viva: Viva, run: Run) -> None:
    closed = gate(viva, run, "newer", "--require", "better", "--json", code=3)
    assert "viva.compare/1" == json.loads(closed.stdout)["schema"]


# The summary


def test_the_summary_says_the_decision_first(viva: Viva, run: Run, tmp_path: Path) -> None:
    to = tmp_path / "summary.md"
    gate(viva, run, "newer", "new", "--require", "better", "--summary", to, code=3)
    lines = to.read_text(encoding="utf-8").splitlines()
    assert "## The gate is closed" == lines[1]
    assert "2 checks on run.viva, 1 closed." in lines
    assert any(line.startswith("| newer | old | told: worth, exam | better than old |") for line in lines)
    assert "- newer (told, worth) is worse: old is better" in "\n".join(lines)
    assert "### What it rests on" in lines
    assert any("This is the 1st test" in line for line in lines)
    (measure,) = run.measures
    assert f"- ` {measure.signature} `" in lines


def test_an_open_gate_leaves_its_files_too(viva: Viva, run: Run, tmp_path: Path) -> None:
    md, xml = tmp_path / "summary.md", tmp_path / "gate.xml"
    gate(viva, run, "new", "--require", "better", "--summary", md, "--junit", xml, code=0)
    assert "## The gate is open" in md.read_text(encoding="utf-8")
    assert "Why it is closed" not in md.read_text(encoding="utf-8")
    assert "0" == ElementTree.parse(xml).getroot()[0].get("failures")


def test_a_hostile_name_is_no_markup_in_the_summary(tmp_path: Path) -> None:
    name = " ".join(HOSTILE.splitlines())
    run = marked(tmp_path, {"old": OLD, name: BEHIND})
    gate = run.gate(name, against="old", metric="told", require="better")
    checks = tuple(replace(check, candidate=HOSTILE) for check in gate.checks)  # as a stranger's run may
    text = summary_text(gate._replace(checks=checks), "a|b.viva")
    assert not re.search(r"<(?!!-- viva compare: gate -->)", text)
    assert "](" not in text.replace("\\]", "")
    assert "\x1b" not in text
    assert "\u202e" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    # The same number of cells in each row: a name cannot end one.
    assert {8} == {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert not re.search(r"@team|#1|# big", text)
    assert "http://" not in text
    assert 0 == sum(line.startswith("# big") for line in text.splitlines())


@each_case(
    ("text", "escaped"),
    [
        ("plain, 0.5 (a)", "plain, 0.5 (a)"),
        ("a|b", "a\\|b"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("**x**", "\\*\\*x\\*\\*"),
        ("- a\n\n# b", "\u2060- a #\u2060 b"),
        ("1. a", "\u20601. a"),
        ("-0.25", "-0.25"),
        ("0.25", "0.25"),
        ("---", "\u2060---"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_text_in_markdown_means_its_characters(text: str, escaped: str) -> None:
    assert escaped == markdown(text)


# JUnit


SCHEMA = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
 <xs:element name="testsuites"><xs:complexType><xs:sequence>
  <xs:element ref="testsuite" minOccurs="0" maxOccurs="unbounded"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="testsuite"><xs:complexType><xs:sequence>
   <xs:element name="properties"><xs:complexType><xs:sequence>
    <xs:element name="property" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
     <xs:attribute name="name" type="xs:token" use="required"/>
     <xs:attribute name="value" type="xs:string" use="required"/>
    </xs:complexType></xs:element>
   </xs:sequence></xs:complexType></xs:element>
   <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:choice minOccurs="0">
     <xs:element name="skipped"/>
     <xs:element name="error"/>
     <xs:element name="failure"><xs:complexType><xs:simpleContent><xs:extension base="xs:string">
      <xs:attribute name="message" type="xs:string"/>
      <xs:attribute name="type" type="xs:string" use="required"/>
     </xs:extension></xs:simpleContent></xs:complexType></xs:element>
    </xs:choice>
    <xs:attribute name="name" type="xs:token" use="required"/>
    <xs:attribute name="classname" type="xs:token" use="required"/>
    <xs:attribute name="time" type="xs:decimal" use="required"/>
   </xs:complexType></xs:element>
   <xs:element name="system-out" type="xs:string"/>
   <xs:element name="system-err" type="xs:string"/>
  </xs:sequence>
  <xs:attribute name="name" type="xs:token" use="required"/>
  <xs:attribute name="timestamp" type="xs:dateTime" use="required"/>
  <xs:attribute name="hostname" type="xs:token" use="required"/>
  <xs:attribute name="tests" type="xs:int" use="required"/>
  <xs:attribute name="failures" type="xs:int" use="required"/>
  <xs:attribute name="errors" type="xs:int" use="required"/>
  <xs:attribute name="skipped" type="xs:int"/>
  <xs:attribute name="time" type="xs:decimal" use="required"/>
  <xs:attribute name="package" type="xs:token" use="required"/>
  <xs:attribute name="id" type="xs:int" use="required"/>
 </xs:complexType></xs:element>
</xs:schema>
"""
"""What the schema of Ant's JUnit report task asks of a file, which the readers of CI services accept."""


def valid(text: str) -> Any:
    """The tree of a file that the schema accepts."""
    from lxml import etree

    tree = etree.fromstring(text.encode())
    etree.XMLSchema(etree.fromstring(SCHEMA.strip().encode())).assertValid(tree)
    return tree


def test_junit_has_a_case_for_each_check_and_a_failure_for_each_that_closes(run: Run) -> None:
    terms: dict[str, Any] = {"require": "better", "max_critical": 1, "veto": ["told < 0.45"]}
    found = run.gate("new", "newer", against="old", metric="told", **terms)
    suite = valid(junit_text(found, "run.viva", datetime(2026, 1, 2, tzinfo=UTC), 1.25))[0]
    assert ("4", "2", "2026-01-02T00:00:00", "1.250") == tuple(
        suite.get(name) for name in ("tests", "failures", "timestamp", "time")
    )
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    assert ["new: better than old", "newer: better than old"] == list(cases)[:2]
    failure = cases["newer: better than old"].find("failure")
    assert failure.get("message").startswith("newer (told, worth) is worse: old is better")
    assert "worse" == failure.get("type")
    assert cases["new: better than old"].find("failure") is None
    assert "critical" == cases["newer: at most 1 critical answer"].find("failure").get("type")


def test_junit_is_well_formed_whatever_a_candidate_is_called(tmp_path: Path) -> None:
    name = HOSTILE + "\x00\x0b\ufffe]]>&"
    run = marked(tmp_path, {"old": OLD, "new": BEHIND})
    found = run.gate("new", against="old", metric="told", require="better")
    checks = tuple(
        type(c)(**{f: getattr(c, f) for f in c.__slots__} | {"candidate": name, "reason": f"{name} \ud800"})
        for c in found.checks
    )
    suite = valid(junit_text(found._replace(checks=checks), name, datetime(2026, 1, 2, tzinfo=UTC), 0.0))[0]
    assert 1 == len(suite.findall("testcase"))
    assert "</failure>" in suite.find("testcase").get("name")


# Paths


def test_an_earlier_file_of_a_gate_is_replaced_and_nothing_else(viva: Viva, run: Run, tmp_path: Path) -> None:
    md, xml, notes = (tmp_path / name for name in ("summary.md", "gate.xml", "notes.md"))
    md.write_text("", encoding="utf-8")  # as a runner leaves it
    for name in ("newer", "new"):
        code = 3 if name == "newer" else 0
        gate(viva, run, name, "--require", "better", "--summary", md, "--junit", xml, code=code)
    assert "is open" in md.read_text(encoding="utf-8")
    notes.write_text("mine", encoding="utf-8")
    for path, why in (
        (notes, "holds something else"),
        (run.file.path, "holds something else"),
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "a.md", "is no folder"),
    ):
        for option in ("--summary", "--junit"):
            with pytest.raises(StoreError, match=why):
                gate(viva, run, "new", "--require", "better", option, path, code=2)
    with pytest.raises(StoreError, match="give each a path of its own"):
        gate(viva, run, "new", "--require", "better", "--summary", md, "--junit", md, code=2)
    assert "mine" == notes.read_text(encoding="utf-8")
    assert 2 == run.compare("old", "new", metric="told").rows[0]["looks"], "what is refused is no test"


# The list of tests


def test_the_list_of_tests_names_what_a_judge_alone_prefers(viva: Viva, tmp_path: Path) -> None:
    run = people_run(tmp_path, benchmark(3, kinder=0.4), [])
    run.compare("A", "B", metric=JUDGE)
    shown = viva("interim", run.file.path).stdout
    assert "the judge prefers B" in " ".join(shown.split())
    assert "better" not in shown
    assert "spent" not in shown
