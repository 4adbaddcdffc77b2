"""What findings kept in a run bring to its report: sentences, charts and tables, nothing computed anew."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from vivavoce import specs
from vivavoce.errors import VivaError
from vivavoce.records import Measure
from vivavoce.report import overalls, plots
from vivavoce.report.boards import Board, Rows, by_board, names_of
from vivavoce.report.drawing import Figure, figure
from vivavoce.report.wording import number
from vivavoce.studies import STUDIES
from vivavoce.studies.stamps import Stamped, stamp_of, weakest

__all__ = ["Ranks", "drawn", "overtaken", "ranks_of", "sections"]

MOST_ROWS = 200
SHOWN, OPEN = 12, 6
"""So many sentences stand open; of more, only the first, and the others are folded."""
ABOUT = {
    "overall": "The leaderboard over seven formats: the unweighted mean of their columns, with its interval "
    "by case across formats, and the ranks that paired tests leave open; who is tied with others was not "
    "told apart from them. Beside it how answers fail before they are wrong.",
    "ranking": "Which places the candidates may hold, on questions that all have marks on (the leaderboard's "
    "means are on each one's own): by mean with the ranks that paired tests leave open, "
    "and beside it by mean rank, which asks how often a candidate is ahead and not by how much.",
    "correlation": "Whether measures order the candidates alike.",
    "consistency": "How much of the spread of marks is the question, the candidate on the question, the "
    "repeat and the examiner.",
    "agreement": "Whether the same answer gets the same mark again.",
    "gaps": "Whether a candidate's profile differs between categories; only where it was shown to differ may "
    "its categories be read.",
    "examiners": "What a run can tell of each judge and rater: whether it marks alike again and as others "
    "do, what it favours, and how it stands against people. A judge's stamp follows from that last alone.",
    "rubrics": "Which version of a rubric agrees best with people, on cases that had no part in choosing it.",
    "panel": "What people ranked best without knowing whose it was: mean ranks and the places that paired "
    "tests leave open, the reference answer among them, how far raters agree, and which measures agree "
    "with them.",
    "contamination": "Signs that a candidate has read the exam: second halves gone on with, the published "
    "order of options, the canary, dates. No sign is no clean bill.",
    "positions": "Which place among the options a candidate picks, whatever stands there: going by the "
    "content each place has the same share.",
    "size": "What more parameters bring within a family, and what training for medicine brings.",
}


class Ranks(NamedTuple):
    """The ranks left open to each candidate of a board, and whether marks have come since."""

    places: Mapping[str, str]
    stale: bool


def overtaken(finding: Mapping[str, Any], provenance: Rows, *, metric: str | None = None) -> bool:
    """True if answers came, or were marked (by this metric, if one is given), after the finding."""
    changes = [p for p in provenance if p["changed"]]
    return any(
        p["made_at"] > finding["made_at"] and (metric is None or p.get("metric", metric) == metric)
        for p in changes
    )


def ranks_of(findings: Rows, provenance: Rows, *, selection: str | None) -> dict[Board, Ranks]:
    """Ranks by board, of the newest ranking made on just these items."""
    own = [f for f in findings if _same(f["settings"].get("items"), selection)]
    made = {}
    for board, rows in by_board(own[-1]["rows"] if own else ()).items():
        found = {row["candidate"]: plots.places(row) for row in rows if row["rank"] is not None}
        if found and len(rows) == len({row["candidate"] for row in rows}):  # else two boards share the name
            made[board] = Ranks(found, overtaken(own[-1], provenance, metric=board.metric))
    return made


def _same(one: str | None, other: str | None) -> bool:
    """True if two selections are the same spec, however they are written."""
    if one is None or other is None:
        return one is other
    try:
        return str(specs.parse(one)) == str(specs.parse(other))
    except VivaError:
        return one == other


def sections(
    studies: Mapping[str, Rows],
    measures: Mapping[int, Measure],
    provenance: Rows,
    *,
    selection: str | None,
) -> list[dict[str, Any]]:
    """A section for each study that was made: the newest on these items, or else the newest of all."""
    made = []
    order = [*(name for name in ABOUT if name in STUDIES), *(name for name in STUDIES if name not in ABOUT)]
    for study in order:
        findings = studies.get(study, ())
        if not findings:
            continue
        own = [f for f in findings if _same(f["settings"].get("items"), selection)]
        finding = (own or findings)[-1]
        text = finding["settings"].get("text")
        said = text.splitlines() if text else []
        rows = _labelled(finding["rows"], measures)
        groups = _groups(_DRAWN[study](rows) if study in _DRAWN else ())
        if study == "ranking" and len(groups) == len(said) > 1:  # each sentence stands with its charts
            groups = [{**group, "said": line} for group, line in zip(groups, said, strict=True)]
            said = []
        made.append(
            {
                "study": study,
                "about": ABOUT.get(study, ""),
                "made_at": finding["made_at"][:10],
                "items": finding["settings"].get("items"),
                "elsewhere": not own,
                "stale": overtaken(finding, provenance),
                "said": said if len(said) <= SHOWN else said[:OPEN],
                "further": said[OPEN:] if len(said) > SHOWN else [],
                "text_kept": text is not None,
                "groups": groups,
                "figures": [figure for group in groups for figure in group["figures"]],
                "table": _table(overalls.leaderboard(rows) if study == "overall" else finding["rows"]),
            }
        )
    return made


def _groups(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """Figures under the title they share."""
    return [
        {"title": title, "said": None, "figures": list(part)}
        for title, part in groupby(figures, key=lambda f: f.title)
    ]


def _labelled(rows: Rows, measures: Mapping[int, Measure]) -> list[dict[str, Any]]:
    """The rows with the short name of their measure, where they are about one."""
    names = names_of(measures)
    made = []
    for row in rows:
        named = {}
        if "metric" in row and "criterion" in row:
            key = (row["metric"], row["criterion"], row.get("rater") or "")
            named = {"measure": names.get(key, f"{row['metric']}: {row['criterion']}")}
        made.append({**row, **named})
    return made


def _benchmarks(rows: Rows) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    by: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by.setdefault(row["benchmark"], []).append(row)
    yield from by.items()


def _ranking(rows: Rows) -> Iterator[Figure]:
    for (benchmark, *_), own in by_board(rows).items():
        title = f"{own[0]['measure']} on {benchmark}"
        yield figure(title, plots.rank_ranges(own), "ranks", title)
        if own[0]["critical_difference"] is not None:
            mean_ranks = plots.critical_difference(own)
            yield figure(title, mean_ranks, "mean-ranks", title)


def _correlation(rows: Rows) -> Iterator[Figure]:
    for benchmark, own in _benchmarks(rows):
        yield figure(f"Measures on {benchmark}", plots.correlation_map(own), "correlation", benchmark)


def _consistency(rows: Rows) -> Iterator[Figure]:
    for benchmark, own in _benchmarks(rows):
        together = [row for row in own if row["candidate"] == ""]
        shown = together if len(together) > 1 else own
        yield figure(f"All candidates on {benchmark}", plots.variance_bars(shown), "variance", benchmark)
        same = [row for row in own if row["identical"] and row["s2_pass"]]
        if len(same) > 1:
            title = f"Candidates whose repeats are the same text, on {benchmark}"
            yield figure(title, plots.variance_bars(same), "variance-same-text", benchmark)


def _agreement(rows: Rows) -> Iterator[Figure]:
    for benchmark, own in _benchmarks([r for r in rows if r["coefficient"] == "alpha_ordinal"]):
        yield figure(f"Krippendorff's alpha on {benchmark}", plots.forest(own), "agreement", benchmark)


def _gaps(rows: Rows) -> Iterator[Figure]:
    for (benchmark, *_), own in by_board(r for r in rows if r["differs"]).items():
        title = f"{own[0]['measure']} by category on {benchmark}"
        yield figure(title, plots.forest(own), "categories", title)


def _positions(rows: Rows) -> Iterator[Figure]:
    for (benchmark, *_), own in by_board(r for r in rows if r["figure"] == "share").items():
        title = f"{own[0]['metric']} by place on {benchmark}"
        shown = [{**r, "category": f"place {r['position']} of {r['options']}"} for r in own]
        yield figure(title, plots.forest(shown), "places", title)


_DRAWN = {
    "overall": overalls.drawn,
    "ranking": _ranking,
    "correlation": _correlation,
    "consistency": _consistency,
    "agreement": _agreement,
    "gaps": _gaps,
    "positions": _positions,
}


def drawn(
    comparisons: Rows, measures: Mapping[int, Measure], stamps: Mapping[Stamped, str]
) -> list[dict[str, Any]]:
    """The comparisons with their `stamp`, the first of each call on several on one scale with its `figure`.

    A comparison bears no signature: of several versions of its metric, and of a jury's judges, the weakest
    stamp stands.
    """
    criteria = {(m.metric, m.criterion.criterion): m.criterion for m in measures.values()}

    def scale(row: Mapping[str, Any]) -> tuple[Any, ...]:
        c = criteria.get((row["metric"], row["criterion"]))
        return (row["call"], row["benchmark"], row["metric"], row.get("scale"), c and (c.low, c.high))

    made = []
    for _, part in groupby(comparisons, key=scale):
        own = list(part)
        shown = None
        if sum(row["difference"] is not None for row in own) > 1:
            title = f"{own[0]['metric']} on {own[0]['benchmark']}"
            shown = figure(f"Differences in {title}", plots.forest(own), "differences", title)
        for n, row in enumerate(own):
            key = (row["metric"], row["criterion"], row.get("rater") or "")
            marked = [
                m
                for m in measures.values()
                if (m.metric, m.criterion.criterion, m.rater) == key
                or (key[2] == "jury" and m.metric in key[0] and m.criterion.criterion == key[1])
            ]
            stamp = weakest(stamp_of(stamps, row["benchmark"], m) for m in marked)
            made.append({**row, "figure": shown if n == 0 else None, "stamp": stamp})
    return made


def _table(rows: Rows) -> dict[str, Any]:
    """The rows as texts, columns without any entry left out; of correlations only those over candidates."""
    shown = [row for row in rows if row.get("level", "system") == "system"][:MOST_ROWS]
    columns = [c for c in (shown[0] if shown else {}) if any(row[c] is not None for row in shown)]
    numeric = {c for c in columns if all(isinstance(row[c], int | float | None) for row in shown)}
    return {
        "columns": [(c.replace("_", " "), c in numeric) for c in columns],
        "rows": [[(_cell(row[c]), c in numeric) for c in columns] for row in shown],
        "n_left_out": len(rows) - len(shown),
    }


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value, ".3f" if abs(value) >= 0.001 or value == 0 else ".1e")
    return str(value)
