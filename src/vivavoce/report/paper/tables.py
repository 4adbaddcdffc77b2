"""The tables that a paper needs, from the rows that verbs and studies give."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from vivavoce._version import __version__
from vivavoce.core.measure_names import measure_name
from vivavoce.core.numbers import printed
from vivavoce.core.text import causes_said, count
from vivavoce.studies.bounded import ends_text
from vivavoce.studies.comparing.outcome_words import side_of
from vivavoce.studies.scale import LOG
from vivavoce.studies.text import HEADLINES

Rows = Sequence[Mapping[str, Any]]
MOST_MEASURES = 4
"""Measures that stand side by side; of more each has a row for each candidate."""
NOT_KNOWN = "–"


class Column(NamedTuple):
    """The head of a column; numbers are set to the right, words to the left."""

    head: str
    holds: Literal["words", "numbers"] = "numbers"


class PaperTable(NamedTuple):
    """A table as it is printed: all cells are text, a dash where a figure is not known.

    `notes` stand below it: what the figures are, how intervals were made, and by which version.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def estimates_table(rows: Rows) -> PaperTable:
    """Candidates with their means: a column for each measure, or a row for each where there are many.

    `rows` are those of `Run.estimates`; rows of groups, and views beside the mean, are left out.
    """
    rows = [row for row in rows if row["view"] in HEADLINES]
    names = list(dict.fromkeys(map(_measure, rows)))
    exams = list(dict.fromkeys(row["benchmark"] for row in rows))
    notes = [
        "Mean with its 95 % confidence interval, clustered by case.",
        *_judge_notes(rows),
        *_scale_notes(rows),
    ]
    if len(names) > MOST_MEASURES or len(exams) > 1:
        return _table("Estimates", *_row_each(rows, exams), notes)
    return _table("Estimates", *_side_by_side(rows, names), [*notes, *_size_notes(rows)])


def _row_each(rows: Rows, exams: Sequence[str]) -> tuple[list[Column], list[tuple[str, ...]]]:
    """A row for each candidate by each measure."""
    words = [Column("Measure", "words"), Column("Model", "words")]
    numbers = [Column("Questions (cases)"), Column("Coverage"), Column("Mean (95 % CI)")]
    cells = [
        (*_exam_cell(exams, row), _measure(row), _candidate(row), _size(row), _percent(row["coverage"]))
        for row in rows
    ]
    figures = [(_figure(row["estimate"], row["low"], row["high"]),) for row in rows]
    return [*_exam_columns(exams), *words, *numbers], [a + b for a, b in zip(cells, figures, strict=True)]


def _side_by_side(rows: Rows, names: Sequence[str]) -> tuple[list[Column], list[tuple[str, ...]]]:
    """A row for each candidate, with a column for each measure."""
    by_candidate: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_candidate.setdefault(_candidate(row), {})[_measure(row)] = row
    lines = [
        (name, *(_of_measure(measures.get(measure)) for measure in names))
        for name, measures in by_candidate.items()
    ]
    return [Column("Model", "words"), *(Column(f"{name} (95 % CI)") for name in names)], lines


def comparisons_table(rows: Rows, notes: Sequence[str] = ()) -> PaperTable:
    """Pairs with their differences, intervals of the family and corrected p; `rows` are of `Run.compare`."""
    exams = list(dict.fromkeys(row["benchmark"] for row in rows))
    columns = (
        *_exam_columns(exams),
        Column("A", "words"),
        Column("B", "words"),
        Column("Measure", "words"),
        Column("Questions (cases)"),
        Column("A − B (95 % CI)"),
        Column("p"),
        Column("Verdict", "words"),
    )
    cells = [
        (
            *_exam_cell(exams, row),
            row["a"],
            row["b"],
            _measure(row),
            _size(row),
            _figure(row["difference"], row["low_family"], row["high_family"]),
            _p(row["p_adjusted"]),
            _verdict(row),
        )
        for row in rows
    ]
    size = max((row["family"] for row in rows), default=0)
    of_family = f"; {count(size, 'comparison')} in one family: p by Holm, intervals by Bonferroni"
    meaning = f"A − B: difference of the means on common questions{of_family if size > 1 else ''}."
    return _table("Comparisons", columns, cells, [meaning, *_judge_notes(rows), *_scale_notes(rows), *notes])


def agreement_table(rows: Rows) -> PaperTable:
    """Coefficients of agreement by contrast; `rows` are those of the study `agreement`."""
    columns = (
        Column("Measure", "words"),
        Column("Between", "words"),
        Column("Coefficient", "words"),
        Column("Units"),
        Column("Raters"),
        Column("Value (95 % CI)"),
    )
    cells = [
        (
            _measure(row),
            " of ".join(filter(None, (row["contrast"], row["candidate"]))),
            row["coefficient"],
            f"{row['n_units']:,}",
            f"{row['n_raters']:,}",
            _figure(row["value"], row["low"], row["high"]),
        )
        for row in rows
    ]
    reasons = dict.fromkeys(
        f"{_measure(row)}, {row['coefficient']}: {row['reason']}." for row in rows if row["value"] is None
    )
    return _table("Agreement", columns, cells, [*reasons])


FLOW = {
    "never_asked": "Never asked",
    "unscored": "Not scored yet",
    "unanswered": "Unanswered",
    "unreadable": "Unreadable",
    "failed": "Failed",
    "set_aside": "Set aside",
    "ok": "Scored",
}
"""What becomes of an answer that is expected, each exactly one of these, by its count in a status."""


def flow_table(rows: Rows) -> PaperTable:
    """What became of the answers that were expected, as CHART and TRIPOD-LLM ask; `rows` are of a status."""
    rows = [_unscored(row) for row in rows if row["about"] == "marks"]
    exams = list(dict.fromkeys(row["benchmark"] for row in rows))
    columns = (
        *_exam_columns(exams),
        Column("Measure", "words"),
        Column("Model", "words"),
        Column("Expected"),
        *map(Column, FLOW.values()),
        Column("Of these lost"),
    )
    counted = sorted(rows, key=lambda row: (row["benchmark"], _measure(row)))
    cells = [
        (
            *_exam_cell(exams, row),
            _measure(row) or NOT_KNOWN,
            row["candidate"],
            *(f"{row[name]:,}" for name in ("expected", *FLOW, "lost")),
        )
        for row in counted
    ]
    causes: dict[str, dict[str, None]] = {}
    for row in counted:
        if row["causes"]:
            words = f"{row['candidate']}: {causes_said(row['causes'])}"
            causes.setdefault(words, {})[_measure(row)] = None
    reasons = [f"{words} (by {', '.join(names)})." for words, names in causes.items()]
    meaning = (
        "The columns from Never asked to Scored add up to Expected. Unanswered: blank, or a refusal. Lost: "
        "asked for, and no answer came, whatever the measure made of it."
    )
    return _table("Flow of answers", columns, cells, [meaning, *reasons])


def _unscored(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row of a candidate that no measure has scored yet, whose `ok` counts answers that are one."""
    return row if row["metric"] else {**row, "ok": 0, "unscored": row["ok"]}


def _table(
    title: str, columns: Iterable[Column], rows: Iterable[tuple[str, ...]], notes: Iterable[str]
) -> PaperTable:
    """The table, with the version that made it as its last note."""
    return PaperTable(title, tuple(columns), tuple(rows), (*notes, f"Made by vivavoce {__version__}."))


def _measure(row: Mapping[str, Any]) -> str:
    return measure_name(row["metric"], row["criterion"] or "", row["rater"] or "")


def _candidate(row: Mapping[str, Any]) -> str:
    """The name of a candidate; one that is a floor or a ceiling says so."""
    return row["candidate"] if row["role"] == "candidate" else f"{row['candidate']} ({row['role']})"


def _exam_columns(exams: Sequence[str]) -> tuple[Column, ...]:
    return (Column("Benchmark", "words"),) if len(exams) > 1 else ()


def _exam_cell(exams: Sequence[str], row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["benchmark"],) if len(exams) > 1 else ()


def _size(row: Mapping[str, Any]) -> str:
    return NOT_KNOWN if row["n_items"] is None else f"{row['n_items']:,} ({row['n_groups']:,})"


def _percent(share: float | None) -> str:
    return NOT_KNOWN if share is None else printed(100 * share, ".1f") + " %"


def _figure(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval, in as many decimals as its size asks for; a dash where it is not known."""
    if value is None:
        return NOT_KNOWN
    form = ".3f" if abs(value) < 10 else ".1f"
    return printed(value, form) + ends_text(low, high, form)


def _of_measure(row: Mapping[str, Any] | None) -> str:
    return NOT_KNOWN if row is None else _figure(row["estimate"], row["low"], row["high"])


def _p(value: float | None) -> str:
    if value is None:
        return NOT_KNOWN
    return "<0.001" if value < 0.001 else printed(value, ".3f")


def _verdict(row: Mapping[str, Any]) -> str:
    """The verdict in a few words, with the name of whom it favours, or whose figure is higher."""
    side = side_of(row)
    favoured = row[side] if side else None
    words = str(row["verdict_code"] or NOT_KNOWN).replace("_", " ")
    return f"{favoured} {words}" if favoured else words


def _judge_notes(rows: Rows) -> Iterator[str]:
    """That figures are a model's alone, by the measures of which it is true."""
    names = dict.fromkeys(_measure(row) for row in rows if row["judge_alone"])
    if names:
        yield f"By a judge alone, without people's labels: {', '.join(names)}."


def _scale_notes(rows: Rows) -> Iterator[str]:
    """On whose scale figures are, where a row says it."""
    by_scale: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["scale"]:
            by_scale.setdefault(row["scale"], {})[_measure(row)] = None
    for scale, names in by_scale.items():
        if scale == LOG:
            yield f"Natural logarithms of ratios: {', '.join(names)}."
        else:
            yield f"On the scale of {scale}: {', '.join(names)}."


def _span(numbers: Sequence[int]) -> str:
    """The least and the greatest number, once where they are one; a dash for none."""
    if not numbers:
        return NOT_KNOWN
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _size_notes(rows: Rows) -> Iterator[str]:
    """How many questions each measure rests on, and which share of the expected answers is scored."""
    key: Callable[[Mapping[str, Any]], str] = _measure
    for name, group in groupby(sorted(rows, key=key), key):
        of_measure = list(group)
        sizes = [
            _span([row[column] for row in of_measure if row[column] is not None])
            for column in ("n_items", "n_groups")
        ]
        n = f"{sizes[0]} questions ({sizes[1]} cases)"
        least = min((row["coverage"] for row in of_measure if row["coverage"] is not None), default=None)
        yield f"{name}: {n}, coverage at least {_percent(least)}."
