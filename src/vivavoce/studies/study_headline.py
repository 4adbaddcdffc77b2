"""What studies say in one line: a study's own headline or first line; of several, which have a result."""

import re
from collections.abc import Mapping

from vivavoce.core.records import Finding
from vivavoce.core.text import one_line
from vivavoce.studies.text import and_so

LONGEST, MOST_STUDIES = 200, 8


def study_headline(finding: Finding) -> str:
    """The finding's headline, else the first line of its text, at most 200 characters without a semicolon."""
    if finding.headline or not finding.text:
        return finding.headline
    # Sentences of studies list figures behind semicolons.
    return one_line(finding.text.lstrip().split("\n", 1)[0].replace(";", ","), LONGEST)


def studies_headline(findings: Mapping[str, Finding]) -> str:
    """Which studies have a result, and which have too little data; of one study what it says."""
    if len(findings) == 1:
        (finding,) = findings.values()
        return study_headline(finding)
    conclusive = [name for name, finding in findings.items() if is_conclusive(finding)]
    inconclusive = [name for name in findings if name not in conclusive]
    has = f"{'has' if len(conclusive) == 1 else 'have'} a result"
    sentences = [f"{_names(conclusive)} {has}." if conclusive else "No study has a result."]
    if inconclusive:
        sentences.append(f"Too little data: {_names(inconclusive)}.")
    return one_line(" ".join(sentences), LONGEST)


def is_conclusive(finding: Finding) -> bool:
    """Whether a row has its figure, so no `reason` against it. A bias may be shown without another figure."""
    return any(not row.get("reason") or row.get("verdict_code") == "worse" for row in finding.rows)


def _names(specs: list[str]) -> str:
    """The names of studies without their settings; many are counted."""
    names = list(dict.fromkeys(re.split("[(:]", spec, maxsplit=1)[0] for spec in specs))
    return and_so(names) if len(names) <= MOST_STUDIES else f"{len(names)} studies"
