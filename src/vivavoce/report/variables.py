"""What stands in a report, as plain rows: the template only lays them out."""

from collections.abc import Mapping
from typing import Any

from vivavoce._version import __version__
from vivavoce.interchange.redaction import redactor
from vivavoce.report.against import against
from vivavoce.report.boards import Board, board_of
from vivavoce.report.caveats import contamination, limitations
from vivavoce.report.checklist import ABOUT, checklist
from vivavoce.report.contents import Contents
from vivavoce.report.distributions import distributions
from vivavoce.report.examiners import examiners
from vivavoce.report.explorer import explorer
from vivavoce.report.matrix import matrices
from vivavoce.report.methods import methods
from vivavoce.report.profiles import profiles
from vivavoce.report.singles import parts, quartiles
from vivavoce.report.standing import boards, coverage, leads
from vivavoce.report.studied import drawn, overtaken, ranks_of, sections
from vivavoce.specs import signed
from vivavoce.studies import identical_repeats
from vivavoce.studies.words import count
from vivavoce.text import is_blank

__all__ = ["rows"]


def rows(contents: Contents) -> dict[str, Any]:
    """The template's variables; its machine-readable twin is made of the same."""
    c = contents
    shown = _redacted(c) if c.redact else c
    standing = boards(
        c.estimates,
        c.measures,
        ranks_of(c.studies.get("ranking", ()), c.provenance, selection=c.selection),
        c.stamps,
        c.saturated,
    )
    identical = sorted(identical_repeats(c.responses))
    comparisons = _comparisons(c)
    singles = parts(c.scores, c.measures, c.probes)
    words = shown.of_words
    return {
        "name": c.name,
        "version": __version__,
        "made_at": c.provenance[-1]["made_at"][:10] if c.provenance else None,
        "selection": c.selection,
        "totals": _totals(c),
        "n_told": c.n_told,
        "leads": leads(standing),
        "boards": standing,
        "coverage": coverage(shown.responses, shown.scores, c.measures, c.only, c.probes),
        "comparisons": drawn(comparisons, c.measures, c.stamps),
        "matrix": matrices(comparisons),
        "profiles": profiles(c.scores, c.measures, c.studies.get("gaps", ())),
        "distributions": distributions(c.scores, c.measures, c.probes),
        "quartiles": quartiles(singles),
        "against": against(singles),
        "sections": _studies(c),
        "examiners": examiners(shown.scores, c.measures, c.stamps, c.saturated),
        "compliance": _compliance(c.of_words),
        "identical": identical,
        "explorer": explorer(words.items, words.responses, words.scores, words.measures),
        "methods": methods(c),
        "checklist": checklist(c),
        "checklist_about": ABOUT,
        "cards": c.benchmarks,
        "contamination": contamination(c),
        "dates": _dates(c),
        "provenance": [_step(step) for step in c.provenance],
        "endpoints": _endpoints(c),
        "limitations": limitations(c, standing, identical, len(comparisons)),
    }


def _redacted(c: Contents) -> Contents:
    """The tables with marks in place of texts, for what the page shows of them; figures rest on the texts."""
    hidden = redactor()
    items, responses, scores = (hidden(table) for table in (c.items, c.responses, c.scores))
    return c._replace(items=items, responses=responses, scores=scores)


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of the provenance, with what left the machine in words."""
    sent = step.get("sent")
    if not sent:
        return dict(step)
    return {**step, "sent": "; ".join(
        f"{one['endpoint']}: {count(one['requests'], 'request')}, {count(one['characters'], 'character')}"
        for one in sent
    )}  # fmt: skip


def _endpoints(c: Contents) -> list[dict[str, Any]]:
    """Where requests went, with how many and how many characters of text, over all collects of the run."""
    totals: dict[str, list[int]] = {}
    for one in (one for step in c.provenance for one in step.get("sent") or ()):
        total = totals.setdefault(one["endpoint"], [0, 0])
        total[0] += one["requests"]
        total[1] += one["characters"]
    return [{"endpoint": e, "requests": n, "characters": size} for e, (n, size) in sorted(totals.items())]


def _totals(c: Contents) -> list[tuple[str, int]]:
    r, asked = c.responses, c.examined
    return [
        ("candidates", asked["candidate"].n_unique()),
        ("questions", asked.select("benchmark", "item", "variant").n_unique() if asked.height else 0),
        ("independent cases", asked.select("benchmark", "group").n_unique() if asked.height else 0),
        ("answers", r.height),
        ("blank", sum(is_blank(text) for text in r["text"].drop_nulls())),
        ("never arrived", r.filter(r["status"] == "failed").height),
    ]


def _comparisons(c: Contents) -> list[Mapping[str, Any]]:
    """The last word on each pair, metric and criterion that was ever compared, in the order of asking.

    `stale` says that answers came, or were marked by this metric, after it.
    """
    latest: dict[tuple[Board, frozenset[str]], Mapping[str, Any]] = {}
    for call, finding in enumerate(c.comparisons):
        for row in finding["rows"]:
            pair = board_of(row), frozenset((row["a"], row["b"]))
            latest.pop(pair, None)
            latest[pair] = row | {
                "call": call,
                "made_at": finding["made_at"][:10],
                "items": finding["settings"].get("items"),
                "stale": overtaken(finding, c.provenance, metric=row["metric"]),
            }
    return list(latest.values())


def _studies(c: Contents) -> list[dict[str, Any]]:
    """The studies' sections, each with all `rows` of its finding."""
    made = sections(c.studies, c.measures, c.provenance, selection=c.selection)
    for section in made:
        own = [f for f in c.studies[section["study"]] if f["settings"].get("items") == section["items"]]
        section["rows"] = own[-1]["rows"]
    return made


def _compliance(c: Contents) -> list[dict[str, Any]]:
    """By candidate and format: answers that were read, could not be read, or were not given.

    Marks that were recorded elsewhere do not count: whoever gave them read the answers their own way.
    """
    import polars as pl

    here = [key for key, m in c.measures.items() if not signed(m.signature).recorded]
    # The reading of an answer is the same for every metric that is run here: one row per answer is enough.
    answers = c.scores.filter(
        pl.col("measure_id").is_in(here)
        & (pl.col("edit") == "")
        & pl.col("status").is_in(["ok", "unanswered", "unreadable"])
    ).unique(["benchmark", "item", "variant", "candidate", "repeat"], keep="first", maintain_order=True)
    counted = answers.group_by("candidate", "format").agg(
        *((pl.col("status") == s).sum().alias(s) for s in ("ok", "unanswered", "unreadable"))
    )
    return [
        row
        | {"readable": row["ok"] / (row["ok"] + row["unreadable"]) if row["ok"] + row["unreadable"] else None}
        for row in counted.sort("format", "candidate").iter_rows(named=True)
    ]


_DONE = {
    "collect": "models were asked",
    "import": "answers came in",
    "import scores": "marks given elsewhere came in",
    "score": "answers were marked",
    "merge": "another run was brought in",
}


def _dates(c: Contents) -> list[dict[str, Any]]:
    """First and last day (UTC) on which each thing was done to the run, in the order of their beginning."""
    times: dict[str, list[str]] = {}
    for step in c.provenance:
        times.setdefault(_DONE.get(step["verb"], step["verb"]), []).append(step["made_at"][:10])
    for finding in c.comparisons:
        times.setdefault("candidates were compared", []).append(finding["made_at"][:10])
    for study, findings in c.studies.items():
        times.setdefault(f"the study of {study} was made", []).extend(f["made_at"][:10] for f in findings)
    found = [{"what": what, "first": min(t), "last": max(t), "n": len(t)} for what, t in times.items() if t]
    return sorted(found, key=lambda row: row["first"])
