"""A comparison as text: its headline, in a terminal a plot of the differences, the table and the notes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.cli.forest_plot import PlotRow
from vivavoce.cli.output import (
    LESS,
    figure,
    groups_of,
    interval,
    name_room,
    p_value,
    print_plot,
    print_table,
    table_width,
)
from vivavoce.cli.stdout import echo, own_stdout, spelled, terminal_height
from vivavoce.cli.table_text import name_key
from vivavoce.core.measure_names import measure_name
from vivavoce.core.short_names import Name, cell_width, short_names

if TYPE_CHECKING:
    from vivavoce.core.records import Finding

Row = Mapping[str, Any]
Columns = dict[str, list[Any]]
LOG_WORDS = "on the log scale"


def print_comparison(finding: "Finding", *, full: bool) -> None:
    """The headline and the tables; with `full` every column, and a paragraph for each pair."""
    from vivavoce.studies.comparing.pairs import shown_rows

    rows = shown_rows(finding.rows)
    has_paragraphs = full or len(rows) < 2
    notes = [*filter(None, map(_answered, rows)), str(finding)] if has_paragraphs else list(finding.notes)
    parts = [_Pairs.from_rows(list(part)) for _, part in groupby(rows, key=_place)]
    if not full:
        notes = [_with_short_names(note, parts) for note in notes]
    if finding.headline:
        echo(finding.headline, end="\n\n")
    n_below = _n_lines([finding.headline, *notes])
    for part in parts if full else _fitting(parts, n_below):
        _print_pairs(part, full=full, n_below=n_below)
    for note in notes:
        echo(note)


KEY_OF_FULL, LINES_AROUND = "Names are cut: --full writes them out.", 2
"""What stands for a key, and the lines below the headline and of the prompt."""


def _fitting(parts: "Sequence[_Pairs]", n_below: int) -> "Sequence[_Pairs]":
    """The pairs, in a terminal without keys that would drive the answer off the screen."""
    n_lines = n_below + sum(part.n_lines for part in parts) + LINES_AROUND
    if n_lines <= terminal_height() or not own_stdout().isatty():
        return parts
    return [part._replace(key=[KEY_OF_FULL]) if part.key else part for part in parts]


def _n_lines(texts: Iterable[str]) -> int:
    """How many lines of the terminal these texts take."""
    lines = [line for text in texts for line in text.splitlines()]
    return sum(1 + max(cell_width(line) - 1, 0) // table_width() for line in lines)


class _Pairs(NamedTuple):
    """The pairs by one measure, with a short name for each candidate and what the cut ones stand for."""

    rows: Sequence[Row]
    short: Name
    key: Sequence[str]

    @classmethod
    def from_rows(cls, rows: Sequence[Row]) -> "_Pairs":
        """The pairs of these rows, with names that fit into their table."""
        names = [spelled(row[side]) for row in rows for side in "ab"]
        short = short_names(names, name_room(_columns(rows, full=False), 1 if _is_of_one(rows) else 2))
        return cls(rows, short, name_key(names, short, table_width()))

    @property
    def n_lines(self) -> int:
        """How many lines the table and the key take, with the blank ones below them."""
        title = _n_lines([_title(self.rows, self.short)])
        return title + len(self.rows) + 3 + _n_lines(self.key) + bool(self.key)


def _with_short_names(text: str, parts: Sequence[_Pairs]) -> str:
    """A note with the names of candidates as the tables have them, so that each keeps to its lines."""
    names = {
        row[side]: part.short(spelled(row[side])) for part in parts for row in part.rows for side in "ab"
    }
    for name in sorted(names, key=len, reverse=True):  # one may be the beginning of another
        text = text.replace(name, names[name])
    return text


def _place(row: Row) -> tuple[Any, ...]:
    """What a table is of: a measure on a benchmark."""
    return tuple(row[name] for name in ("benchmark", "metric", "criterion", "rater", "scale"))


def _print_pairs(part: _Pairs, *, full: bool, n_below: int) -> None:
    """The plot and the table of pairs by one measure, and the names that were cut."""
    rows, short, key = part
    sides = "b" if _is_of_one(rows) else "ab"
    title = _title(rows, short)
    plot = [_plot_row(row, sides, short) for row in rows]
    has_plot = print_plot(title, plot, zero=True, n_below=n_below + part.n_lines)
    cells: Columns = {
        name: [short(spelled(row[side])) for row in rows]
        for side, name in (("a", "candidate"), ("b", "against"))
        if side in sides
    }
    cells |= _columns(rows, full=full)
    heading = None if has_plot else title
    print_table(list(cells), list(zip(*cells.values(), strict=True)), heading, keys=len(sides))
    if key:
        echo("\n".join(key), end="\n\n")


def _is_of_one(rows: Sequence[Row]) -> bool:
    """Whether these are several pairs of one candidate, which the title names."""
    return len(rows) > 1 and len({row["a"] for row in rows}) == 1


def _title(rows: Sequence[Row], short: Name) -> str:
    """The measure, the candidate that all pairs share, and the questions and cases if they are the same."""
    from vivavoce.studies.scale import LOG, phrase_of
    from vivavoce.studies.text import cases, count

    first = rows[0]
    title = measure_name(first["metric"], first["criterion"], first["rater"] or "")
    title += f" on {first['benchmark']}"
    if scale := LOG_WORDS if first["scale"] == LOG else phrase_of(first["scale"]):
        title += f", {scale}"
    if _is_of_one(rows):
        title = f"{short(spelled(first['a']))} compared with the others by {title}"
    if len({(row["n_items"], row["n_groups"], row["effective_cases"]) for row in rows}) == 1:
        title += (
            f", {count(first['n_items'], 'question')}, {cases(first['n_groups'], first['effective_cases'])}"
        )
    return title


def _columns(rows: Sequence[Row], *, full: bool) -> Columns:
    """The columns behind the names, without empty ones and without counts that the title gives."""
    cells: dict[str, Callable[[Row], Any]] = {
        "difference": lambda row: figure(row["difference"]),
        "95% interval": _interval,
        "verdict": _verdict,
    }
    if full or len({row["n_items"] for row in rows}) > 1:
        cells["questions"] = itemgetter("n_items")
    if full:
        p = f"p ({'all analyses' if rows[0]['analysis'] else 'Holm'}, family)"
        cells |= {
            "cases": groups_of,
            "interval, pair alone": lambda row: interval(row["low"], row["high"]),
            p: lambda row: p_value(row["p_adjusted"]),
            "q (Benjamini-Hochberg)": lambda row: p_value(row["q"]),
            "detectable (family)": lambda row: figure(row["mde_family"]),
        }
    columns = {name: [cell(row) for row in rows] for name, cell in cells.items()}
    return {name: column for name, column in columns.items() if any(column)}


def _interval(row: Row) -> str | None:
    """The interval of the verdict, or p without one."""
    from vivavoce.studies.comparing.headline import verdict_interval

    low, high, _ = verdict_interval(row)
    if low is None and high is None:
        return None if row["p_adjusted"] is None else f"no interval, p {p_value(row['p_adjusted'])}"
    return interval(low, high)


def _verdict(row: Row) -> str:
    """The verdict in a word or two, on the first candidate of a pair."""
    from vivavoce.studies.comparing.outcome_words import HIGHER, comparative, opposite

    code = str(row["verdict_code"] or "incomparable")
    is_first = row["favours"] != "b"
    if code in HIGHER:
        return "higher" if row["difference"] > 0 else "lower"
    if code.startswith("better"):
        word = comparative(row["verdict_code"], row["signature"])
        words = ("preferred", "not preferred") if row["judge_alone"] else (word, opposite(word))
        return words[0 if is_first else 1]
    return "not better" if code == "not_worse" and not is_first else code.replace("_", " ")


def _plot_row(row: Row, sides: str, short: Name) -> PlotRow:
    """A difference with its interval, under the names on these sides."""
    from vivavoce.studies.comparing.headline import verdict_interval

    label = LESS.join(short(spelled(row[side])) for side in sides)
    return PlotRow(label, row["difference"], *verdict_interval(row)[:2])


def _answered(row: Row) -> str | None:
    """The difference on what both answered, and why there is no interval; null where a pair has neither."""
    parts = []
    if row["n_answered"] is not None and row["n_answered"] != row["n_items"]:
        difference = "nothing to compare"
        if row["difference_answered"] is not None:
            ends = row["low_answered"], row["high_answered"]
            difference = f"{figure(row['difference_answered'])}"
            difference += "" if None in ends else f" ({interval(*ends)})"
        parts.append(f"on the {row['n_answered']} both answered: {difference}")
    if row["difference"] is not None and row["low"] is None:
        parts.append(f"no interval: {row['reason']}")
    rater = f" by {row['rater']}" if row["rater"] else ""
    return f"{row['a']} - {row['b']}, {row['criterion']}{rater}: {'; '.join(parts)}." if parts else None
