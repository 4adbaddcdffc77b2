"""What a gate leaves for a pull request: sentences on stderr, a summary in Markdown, JUnit XML.

Names of candidates, metrics and files are a stranger's text. Neither file lets one act as markup.
"""

import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from vivavoce._version import __version__
from vivavoce.cli.output import counted, figure
from vivavoce.core.errors import StoreError
from vivavoce.core.markdown import code_span, markdown
from vivavoce.core.measure_names import measure_name
from vivavoce.core.text import printable, xml_text
from vivavoce.core.text_files import write_text

if TYPE_CHECKING:
    from vivavoce.studies.comparing.gate import CheckRow, Gate

SUITE = "viva compare: gate"
"""Stands at the start of both files, so that an earlier one may be replaced."""


def is_gate(*options: object) -> bool:
    """Whether any option of a gate was given."""
    return any(option not in (None, []) for option in options)


def check_gate_files(summary: Path | None, junit: Path | None) -> None:
    """Raise `StoreError` for a path that cannot be written, or that holds anything but such a file."""
    if summary is not None and summary == junit:
        raise StoreError(f"--summary and --junit are both {summary}: give each a path of its own.")
    for path, option in ((summary, "--summary"), (junit, "--junit")):
        if path is not None:
            _check_path(path, option)


def _check_path(path: Path, option: str) -> None:
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder: give a file's path with {option}.")
        if not path.parent.is_dir():
            raise StoreError(f"{path.parent} is no folder: make it, or give another path with {option}.")
        if not path.exists() or (path.is_file() and (not path.stat().st_size or _is_ours(path))):
            return
    except OSError as error:
        raise StoreError(f"cannot write to {path}: {error.strerror or error}. Give another path.") from None
    raise StoreError(f"{path} is there already and holds something else: give another path with {option}.")


def _is_ours(path: Path) -> bool:
    with path.open("rb") as stream:
        return SUITE.encode() in stream.read(500)


def write_gate_files(
    gate: "Gate", run: Path, summary: Path | None, junit: Path | None, *, seconds: float
) -> None:
    """Write what was asked for; `seconds` is how long the comparison took."""
    if summary:
        write_text(summary, summary_text(gate, run.name), "the summary", "--summary")
    if junit:
        write_text(junit, junit_text(gate, run.name, datetime.now(UTC), seconds), "the JUnit file", "--junit")


def print_gate(gate: "Gate") -> None:
    """The reasons of a gate on stderr: why it is closed, or what it passes over."""
    from vivavoce.studies.comparing.gate import sentence_of

    for check in gate.checks:
        if check.reason:
            how = "closed" if gate.closed else "open, but"
            sentence = " ".join(sentence_of(check).splitlines())  # a name may hold a line of its own
            print(printable(f"viva: the gate is {how}: {sentence}"), file=sys.stderr)


# Markdown


def summary_text(gate: "Gate", run: str) -> str:
    """The summary in Markdown: the decision, the checks, why, what is missing, and what was measured."""
    n_closed = sum(check.closes for check in gate.checks)
    lines = [
        f"<!-- {SUITE} -->",
        f"## The gate is {'closed' if gate.closed else 'open'}",
        "",
        f"{counted(len(gate.checks), 'check')} on {markdown(run)}, {n_closed} closed.",
        "",
        "| candidate | against | by | condition | against - candidate | could be worse by | gate |",
        "|---|---|---|---|--:|--:|---|",
        *map(_table_row, gate.checks),
        *_section("Why it is closed", gate.reasons),
        *_section("What it passes over", (check.reason or "" for check in gate.checks if not check.closes)),
        *_section("What was found", (check.verdict or "" for check in gate.checks if not check.reason)),
        *_section("What it rests on", [*gate.finding.notes, f"vivavoce {__version__}"]),
        *(f"- {code_span(signature)}" for signature in _signatures(gate)),
    ]
    return "\n".join(lines) + "\n"


def _signatures(gate: "Gate") -> list[str]:
    """The signatures of the scores that a gate rests on."""
    return list(dict.fromkeys(check.signature for check in gate.checks if check.signature))


def _table_row(check: "CheckRow") -> str:
    measure = measure_name(check.metric, check.criterion, check.rater)
    by = ", ".join(filter(None, (measure, check.benchmark)))
    cells = (
        *(check.candidate, check.reference or "", by, check.condition),
        *(figure(check.difference) or "", figure(check.loss) or ""),
        _decision(check),
    )
    return f"| {' | '.join(map(markdown, cells))} |"


def _decision(check: "CheckRow") -> str:
    return f"closed: {check.outcome}" if check.closes else "open"


def _section(title: str, sentences: Iterable[str]) -> list[str]:
    """A heading and a list; nothing for no sentences."""
    bullets = [f"- {markdown(sentence)}" for sentence in dict.fromkeys(filter(None, sentences))]
    return ["", f"### {title}", "", *bullets] if bullets else []


# JUnit


def junit_text(gate: "Gate", run: str, made_at: datetime, seconds: float) -> str:
    """A test case for each check, with a failure where it closes the gate."""
    from vivavoce.studies.comparing.gate import sentence_of

    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        id="0",
        package="vivavoce",
        name=SUITE,
        timestamp=made_at.strftime("%Y-%m-%dT%H:%M:%S"),
        hostname="localhost",
        tests=str(len(gate.checks)),
        failures=str(sum(check.closes for check in gate.checks)),
        errors="0",
        skipped="0",
        time=f"{seconds:.3f}",
    )
    properties = ElementTree.SubElement(suite, "properties")
    signatures = (("signature", signature) for signature in _signatures(gate))
    for name, value in [("run", run), ("vivavoce", __version__), *signatures]:
        ElementTree.SubElement(properties, "property", name=name, value=xml_text(value))
    remarks = []
    for check in gate.checks:
        # The checks of one comparison are not timed one by one: the suite's time is that of all.
        case = ElementTree.SubElement(
            suite, "testcase", classname=xml_text(_class_of(check)), name=xml_text(_case_of(check)), time="0"
        )
        if check.closes:
            failure = ElementTree.SubElement(
                case, "failure", type=check.outcome, message=xml_text(sentence_of(check))
            )
            failure.text = xml_text(_failure_text(check))
        else:
            remarks.append(check.reason or check.verdict or "")
    ElementTree.SubElement(suite, "system-out").text = xml_text("\n".join(filter(None, remarks)))
    ElementTree.SubElement(suite, "system-err")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _failure_text(check: "CheckRow") -> str:
    """Why a check closes the gate, line by line; most reasons end in the verdict, which is not said twice."""
    verdict = None if (check.verdict or "") in (check.reason or "") else check.verdict
    return "\n".join(filter(None, (check.reason, check.opens, verdict)))


def _class_of(check: "CheckRow") -> str:
    return ", ".join(
        dict.fromkeys(filter(None, (check.benchmark, check.metric, check.criterion, check.rater)))
    )


def _case_of(check: "CheckRow") -> str:
    return f"{check.candidate}: {check.condition}"
