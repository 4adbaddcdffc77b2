"""The variables of the report's template, and the same as rows for `--json`."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any

import polars as pl

from vivavoce._version import __version__
from vivavoce.core.measure_names import metric_names
from vivavoce.privacy.redaction import redactor, without_words_of_users
from vivavoce.report.charts.correlation import metric_scatter
from vivavoce.report.charts.distributions import distributions_of
from vivavoce.report.checklist import GUIDELINES, filled
from vivavoce.report.data import ReportData, Rows, quartiles, scored_responses
from vivavoce.report.details import detail_rows, details
from vivavoce.report.explorer import explorer
from vivavoce.report.fact_boards import fact_board_rows, fact_boards
from vivavoce.report.limitations import contamination, limitations
from vivavoce.report.methods import methods
from vivavoce.report.sections.answer import answers
from vivavoce.report.sections.comparisons import latest_comparisons, matrices, with_figures
from vivavoce.report.sections.findings import ranks_of, sections
from vivavoce.report.sections.leaderboard import Leaderboard, boards, leads
from vivavoce.report.sections.profiles import profiles
from vivavoce.report.sections.raters import compliance, coverage, examiners
from vivavoce.studies.text import count


def page_context(data: ReportData) -> dict[str, Any]:
    """The template's variables; the rows of `--json` are made of the same."""
    visible = _redacted(data) if data.redact else data
    answered, plain = visible.without_logprobs, data.without_logprobs
    leaderboards = boards(
        data.estimates,
        data.measures,
        ranks_of(data.studies.get("ranking", ()), data.provenance, selection=data.selection),
        data.stamps,
        data.saturated,
    )
    identical = sorted(data.identical)
    comparisons = latest_comparisons(data.comparisons, data.provenance)
    by_category = profiles(data.scores, data.measures, data.studies.get("gaps", ()))
    return {
        **details(data, visible, leaderboards, by_category),
        "primary": data.primary,
        "primary_pairs": data.primary_pairs,
        "name": data.name,
        "version": __version__,
        "made_at": data.provenance[-1]["made_at"][:10] if data.provenance else None,
        "selection": data.selection,
        "totals": _totals(data),
        "n_logprob_items": data.n_logprob_items,
        "answers": answers(data, leaderboards),
        "leads": leads(leaderboards),
        "boards": leaderboards,
        "coverage": coverage(visible),
        "comparisons": with_figures(comparisons, data.measures, data.stamps),
        "matrix": matrices(comparisons),
        "profiles": by_category,
        **_of_single_responses(data),
        "sections": sections(
            _visible_studies(data),
            data.measures,
            data.provenance,
            selection=data.selection,
            answers=visible.answers,
        ),
        "examiners": examiners(visible.scores, data.without_overall.measures, data.stamps, data.saturated),
        "metric_names": metric_names(data.measures),
        "file_scores": data.file_scores,
        "compliance": compliance(plain.scores, plain.measures),
        "identical": identical,
        "explorer": explorer(
            answered.items, answered.responses, answered.scores, answered.measures, answered.answers
        ),
        "facts": fact_boards(data),
        "methods": methods(data.without_overall),
        "checklists": {guideline.name: filled(data, guideline) for guideline in GUIDELINES},
        "cards": data.benchmarks,
        "exclusions": [
            {"benchmark": e.benchmark, "spec": e.spec, **e.facts, "text": e.text} for e in data.exclusions
        ],
        "case_counts": data.case_counts(data.items),
        "contamination": contamination(data),
        "dates": _dates(data),
        "provenance": [
            _step(without_words_of_users(step) if data.redact else step) for step in data.provenance
        ],
        "endpoints": _endpoints(data),
        "limitations": limitations(data, leaderboards, identical, len(comparisons)),
    }


def _of_single_responses(data: ReportData) -> dict[str, Any]:
    """Charts and quartiles of the scores of responses; `scored` says what they are of, without rows."""
    by_response = scored_responses(data.scores, data.measures, data.probes)
    return {
        "distributions": distributions_of(by_response),
        "scored": [part._replace(answers=part.answers.clear()) for part in by_response],
        "quartiles": quartiles(by_response),
        "against": metric_scatter(by_response),
    }


def _redacted(data: ReportData) -> ReportData:
    """The tables with marks in place of texts, for what the page shows; figures rest on the texts."""
    hide = redactor()
    items, responses, scores = (hide(table) for table in (data.items, data.responses, data.scores))

    def answers(*columns: str, **options: Any) -> pl.DataFrame:
        return hide(data.answers(*columns, **options))

    return data._replace(items=items, responses=responses, scores=scores, answers=answers)


def _visible_studies(data: ReportData) -> Mapping[str, Rows]:
    """The findings of studies; with redaction the rows about facts without the texts of candidates."""
    if not data.redact or "facts" not in data.studies:
        return data.studies
    findings = [
        {**finding, "rows": [{**row, "text": None} for row in finding["rows"]]}
        for finding in data.studies["facts"]
    ]
    return {**data.studies, "facts": findings}


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of the provenance, with what left the machine in words."""
    if not step.get("sent"):
        return dict(step)
    sent = [
        f"{use['endpoint']}: {count(use['requests'], 'request')}, {count(use['characters'], 'character')}"
        for use in step["sent"]
    ]
    return {**step, "sent": "; ".join(sent)}


def _endpoints(data: ReportData) -> list[dict[str, Any]]:
    """Where requests went: how many and how many characters of text, over all collects of the run."""
    totals: dict[str, list[int]] = {}
    for step in data.provenance:
        for use in step.get("sent") or ():
            total = totals.setdefault(use["endpoint"], [0, 0])
            total[0] += use["requests"]
            total[1] += use["characters"]
    return [{"endpoint": e, "requests": n, "characters": size} for e, (n, size) in sorted(totals.items())]


def _totals(data: ReportData) -> list[tuple[str, int]]:
    responses, items = data.responses, data.roster.items
    failed, blank = responses.select((pl.col("status") == "failed").sum(), pl.col("blank").sum()).row(0)
    counts = data.case_counts(items).values()
    return [
        ("candidates", data.roster.candidates["candidate"].n_unique()),
        ("questions", items.n_unique(["benchmark", "item", "variant"]) if items.height else 0),
        ("repeated questions", sum(counted.repeated for counted in counts)),
        ("near repeats", sum(counted.near_repeated or 0 for counted in counts)),
        ("independent cases", items["group"].n_unique()),
        ("answers", responses.height),
        ("blank", blank),
        ("never arrived", failed),
    ]


_EVENTS = {
    "collect": "models were asked",
    "import": "answers came in",
    "import questions": "questions came in",
    "import scores": "scores given elsewhere came in",
    "score": "answers were scored",
    "estimated cost": "a cost was estimated, as replies stated no tokens",
    "merge": "another run was brought in",
    "forget": "texts were overwritten on request",
    "retire": "measures were retired, or counted again",
    "shard": "one part of the items was worked on",
    "whole": "joined parts were scored together",
    "plugin metric": "a metric of a plugin scored for the first time",
}


def _dates(data: ReportData) -> list[dict[str, Any]]:
    """First and last day (UTC) on which each thing was done to the run, in the order of their beginning."""
    times: dict[str, list[str]] = {}
    for step in data.provenance:
        verb = str(step["verb"])
        times.setdefault(_EVENTS.get(verb, verb), []).append(step["made_at"][:10])
    for finding in data.comparisons:
        times.setdefault("candidates were compared", []).append(
            finding.get("first_at", finding["made_at"])[:10]
        )
    for study, findings in data.studies.items():
        times.setdefault(f"the study of {study} was made", []).extend(f["made_at"][:10] for f in findings)
    dates = [{"what": event, "first": min(t), "last": max(t), "n": len(t)} for event, t in times.items() if t]
    return sorted(dates, key=lambda row: row["first"])


Row = dict[str, Any]
_FIGURES = {"figure", "figures"}


def json_rows(context: Mapping[str, Any]) -> list[Row]:
    """The page as rows under their `section`, for `viva report --json`; a chart is its title.

    A figure that is not there is null, and its row then has a `reason` where one is known. NaN and infinite
    values become null too, and `reason` names the field.
    """
    parts = (_standing_rows, detail_rows, _chart_rows, _study_rows, _account_rows)
    return [_plain(section, row) for part in parts for section, row in part(context)]


def _standing_rows(v: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    """The run, who leads, the leaderboards, what is missing and the comparisons."""
    totals = {label.replace(" ", "_"): n for label, n in v["totals"]}
    yield (
        "run",
        {
            "name": v["name"],
            "version": v["version"],
            "items": v["selection"],
            **totals,
            "questions_told": v["n_logprob_items"],
        },
    )
    yield from (("first", answer.row) for answer in v["answers"])
    for lead in v["leads"]:
        reason = None if lead["words"] else "no candidate has an estimate"
        yield "answer", {**lead, "reason": reason}
    for board in v["boards"]:
        yield from (("leaderboard", row) for row in _board_rows(board))
    yield from _each(v, "coverage", "compliance", "file_scores")
    for row in v["comparisons"]:
        yield "comparison", dict(row)


def _board_rows(board: Leaderboard) -> Iterator[Row]:
    low, high = board.range
    shared = {
        "direction": board.direction,
        "if_unanswered": board.if_unanswered,
        "range_low": low,
        "range_high": high,
        "stamp": board.stamp,
        "saturated": board.saturated,
    }
    places, stale = (board.ranks.places, board.ranks.stale) if board.ranks else ({}, None)
    for row in board.rows:
        yield {**row, **shared, "rank": places.get(row["candidate"]), "rank_stale": stale}


def _chart_rows(v: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    """Profiles, quartiles, and the titles of the charts."""
    for profile in v["profiles"]:
        shared = _but(profile, "rows", "parts")
        for row in profile["rows"]:
            yield "profile", {**shared, **row}
    yield from _each(v, "quartiles")
    for name in ("matrix", "distributions", "against"):
        for figure in v[name]:
            yield "chart", {"of": name, "title": figure.title, "reason": figure.sentence}


def _study_rows(v: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    """The sentences and rows of each study, and the raters."""
    for section in v["sections"]:
        shared = {k: section[k] for k in ("study", "made_at", "items", "elsewhere", "stale")}
        with_charts = [group["sentence"] for group in section["groups"] if group["sentence"]]
        for line in (*section["sentences"], *section["further"], *with_charts):
            yield "sentence", {**shared, "text": line}
        for row in section["rows"]:
            yield "study", {**shared, **row}
    for row in v["examiners"]:
        yield "examiner", dict(row)


def _account_rows(v: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    """Answers on the page, methods, checklist, benchmarks, provenance and limitations."""
    explorer = v["explorer"]._asdict()
    yield "answers", {k: n for k, n in explorer.items() if k.startswith("n_")}
    yield from chain.from_iterable(map(fact_board_rows, v["facts"]))
    yield from (("methods", {"text": paragraph}) for paragraph in v["methods"])
    for row in chain.from_iterable(v["checklists"].values()):
        # `section` is the name of the part of the JSON: the checklist's own is called `part`.
        yield "checklist", {"item": row["item"], "part": row["section"], **_but(row, "item", "section")}
    for b in v["cards"]:
        counted = v["case_counts"].get(b.benchmark)
        facts = {"spec": b.spec, "signature": b.signature, **(counted.facts if counted else {})}
        yield "card", {"benchmark": b.benchmark, **facts, **asdict(b.card)}
    yield from _each(v, "exclusions", "contamination", "dates", "provenance")
    yield from (("endpoint", dict(row)) for row in v["endpoints"])
    yield from (("identical repeats", {"candidate": name}) for name in v["identical"])
    yield from (("limitation", {"text": line}) for line in v["limitations"])


def _but(row: Row, *names: str) -> Row:
    """The row without these fields."""
    return {name: value for name, value in row.items() if name not in names}


def _each(v: Mapping[str, Any], *names: str) -> Iterator[tuple[str, Row]]:
    """The rows of these variables, under the variable's name."""
    for name in names:
        for row in v[name]:
            yield name, dict(row)


def _plain(section: str, row: Row) -> Row:
    """The row as JSON can hold it."""
    not_finite: list[str] = []
    fields = {k: _value(x, k, not_finite) for k, x in row.items() if k not in _FIGURES}
    if not_finite:
        reasons = (fields.get("reason"), f"no number: {', '.join(not_finite)}")
        fields["reason"] = "; ".join(filter(None, reasons))
    return {"section": section, **fields}


def _value(value: Any, name: str, not_finite: list[str]) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        not_finite.append(name)
        return None
    if isinstance(value, Mapping):
        return {str(k): _value(x, f"{name}.{k}", not_finite) for k, x in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_value(x, name, not_finite) for x in value]
    return value
