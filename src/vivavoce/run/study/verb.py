"""Run studies on the scores of a run, and store their findings."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from vivavoce.core import registry, specs
from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.group_levels import scope_of_all
from vivavoce.core.records import Finding
from vivavoce.core.text import one_line
from vivavoce.run.study.study_tables import StudyTables
from vivavoce.run.tables.load import StudyFinding, store_findings
from vivavoce.run.tables.stored_findings import settings_of
from vivavoce.run.tables.writers import writer_notes
from vivavoce.store.cases import scope_notes, scopes
from vivavoce.store.view import View
from vivavoce.studies.study import Study, why_empty
from vivavoce.studies.study_headline import LONGEST, is_conclusive, study_headline
from vivavoce.studies.text import and_so

OPTIONS = {
    "cards": "models' cards (--cards)",
    "labels": "labels (--labels)",
    "margin": "a margin (--margin)",
    "ratings": "ratings (--ratings)",
    "threshold": "a threshold (--threshold)",
}
"""Options of studies that the command line has as well, as sentences name them."""


def run_studies(
    view: View, names: Sequence[str | specs.Spec], items: str | None, options: Mapping[str, Any]
) -> dict[str, Finding]:
    """The findings of these studies by name, stored in the run; without a name, of all that apply."""
    studies = named_studies(names, options)
    tables = StudyTables(view, items)
    # Every table before the first study: what a user got wrong is raised before anything is stored.
    scores = {name: tables.of(study, named=bool(names)) for name, study in studies.items()}
    shared = {"items": items, "labels": options["labels"], "margin": options["margin"]}
    findings: dict[str, StudyFinding] = {}
    warnings = writer_notes(view)
    try:
        for name, study in studies.items():
            if not names and not study.applies_to(scores[name]):
                continue
            finding = study.findings(scores[name])
            if not (finding.rows or str(finding)):
                finding = replace(finding, text=why_empty(scores[name]))
            if names or finding.rows or not study.special:
                notes, headline = (*finding.notes, *warnings), study_headline(finding)
                finding = _with_scope(view, replace(finding, notes=notes, headline=headline))
                settings = {**shared, **settings_of(study), "text": str(finding)}
                findings[name] = StudyFinding(finding.study, settings, finding)
    finally:  # what came before a study that fails is stored, and all studies read the same state
        stored = store_findings(view, list(findings.values()))
    return dict(zip(findings, stored, strict=True))


def _with_scope(view: View, finding: Finding) -> Finding:
    """The finding with a note for which groups alone it holds; a headline that says something ends so."""
    narrow = view.fetch(scopes)
    named = {str(row["benchmark"]) for row in finding.rows if "benchmark" in row} or {*narrow}
    scope, headline = scope_of_all(map(narrow.get, named)), finding.headline
    if scope and is_conclusive(finding):
        headline = f"{one_line(headline, LONGEST - len(scope) - 1)} {scope}"
    return replace(finding, headline=headline, notes=(*finding.notes, *view.fetch(scope_notes)))


def study_name(text: str) -> str:
    """The registered name in the spec of a study. Raises `SelectionError` for a name that is not there."""
    name = specs.parse(text).name if "(" in text or "=" in text else text
    if registry.member("study", name) is None:
        raise SelectionError(f"no study named {name!r}.{suggest(name, list(registry.members('study')))}")
    return name


def named_studies(names: Sequence[str | specs.Spec], options: Mapping[str, Any]) -> dict[str, Study]:
    """The studies that these specs name, by spec; without any spec all studies.

    Each takes those of the options that it has a field for, unless its spec states another value. Raises
    `SelectionError` for an option that none of the named studies takes.
    """
    texts = [str(name) for name in names]
    classes = {text: registry.member("study", study_name(text)) for text in texts}
    for option, value in options.items():
        if value is not None and classes and not any(_takes(cls, option) for cls in classes.values()):
            takers = [name for name, cls in registry.members("study").items() if _takes(cls, option)]
            of_takers = (
                f"for the study of {and_so(takers)} alone" if takers else "for none of the studies here"
            )
            raise SelectionError(f"{OPTIONS[option]} are {of_takers}.")
    studies = {}
    for text in texts or registry.members("study"):
        spec = specs.parse(text)
        study: Study = registry.build("study", spec)
        free = {key: value for key, value in options.items() if key not in spec.settings}
        values: dict[str, Any] = {
            key: value for key, value in free.items() if value is not None and _takes(type(study), key)
        }
        studies[text] = replace(study, **values)  # type: ignore[type-var]  # registered: a dataclass
    return studies


def _takes(study: type, option: str) -> bool:
    return option in {field.name for field in fields(study)}
