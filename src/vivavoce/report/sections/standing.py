"""How candidates stand on one criterion of one benchmark: their rows, the leader, and its tested pairs."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

from vivavoce.core.cases import look_alike
from vivavoce.core.short_names import short_names
from vivavoce.report.data import Board, ReportData, Rows, board_of
from vivavoce.report.sections.comparisons import latest_comparisons
from vivavoce.report.sections.findings import Ranks
from vivavoce.report.sections.leaderboard import Leaderboard
from vivavoce.store.comparisons import current_findings, headline_findings
from vivavoce.studies.comparing.contradictions import contradictions
from vivavoce.studies.comparing.headline import Unit, row_criterion
from vivavoce.studies.comparing.verdicts import BETTER
from vivavoce.studies.primary import Primary
from vivavoce.studies.text import HEADLINES

LONGEST_NAMES = 100
SETTLED = (*BETTER, "equivalent")
Row = Mapping[str, Any]


class Standing(NamedTuple):
    """The candidates on one criterion of a benchmark, the best first; floor and ceiling stand last.

    `pairs` are the latest comparisons on these items. `ranks` are those of a stored ranking. `alike` says how
    many different questions there seem to be, where near repeats count as cases; else it is ''.
    """

    run: str
    primary: Primary
    rows: Rows
    unit: Unit
    pairs: Rows
    ranks: Ranks | None
    contradictions: tuple[str, ...] = ()
    alike: str = ""

    @property
    def candidates(self) -> list[Row]:
        """The rows of candidates, without floor and ceiling."""
        return [row for row in self.rows if row["role"] == "candidate"]

    @property
    def results(self) -> list[Row]:
        """The candidates with an estimate."""
        return [row for row in self.candidates if row["estimate"] is not None]

    @property
    def leader(self) -> str | None:
        """The candidate with the best estimate."""
        return self.results[0]["candidate"] if self.results else None

    @property
    def pairs_of_candidates(self) -> list[Row]:
        """The pairs of candidates alone."""
        names = {row["candidate"] for row in self.candidates}
        return [row for row in self.pairs if {row["a"], row["b"]} <= names]

    @property
    def leader_pairs(self) -> list[Row]:
        """The pairs of the leader and the other candidates, the next best first."""
        order = {row["candidate"]: place for place, row in enumerate(self.candidates)}
        pairs = {}
        for row in self.pairs_of_candidates:
            if self.leader in (row["a"], row["b"]):
                pairs[row["b"] if row["a"] == self.leader else row["a"]] = row
        return [pairs[opponent] for opponent in sorted(pairs, key=order.__getitem__)]

    @property
    def absent(self) -> list[str]:
        """The other candidates with a result that were not compared with the leader."""
        compared = {name for row in self.leader_pairs for name in (row["a"], row["b"])}
        return [row["candidate"] for row in self.results if row["candidate"] not in {*compared, self.leader}]

    @property
    def open_pair(self) -> Row | None:
        """The first pair of the leader that is not settled, else its first pair."""
        pairs = self.leader_pairs
        return next((row for row in pairs if row["verdict_code"] not in SETTLED), pairs[0] if pairs else None)

    @property
    def command(self) -> str:
        """The command that compares the leader with the others on this criterion; long names are letters."""
        names = [quote(row["candidate"]) for row in self.candidates]
        names_text, leader = " ".join(names), f"--against {quote(self.leader or 'A')}"
        words, short = (names_text, "A B") if len(names) == 2 else (leader, "--against A")
        ending = f"--metric {quote(self.primary.metric)}"
        return f"viva compare {quote(self.run)} {words if len(words) <= LONGEST_NAMES else short} {ending}"

    def name(self, candidate: str) -> str:
        """The candidate's name, a long one cut in its middle and still its own."""
        return short_names([row["candidate"] for row in self.rows])(candidate)


def standings(data: ReportData, boards: Sequence[Leaderboard]) -> list[Standing]:
    """How candidates stand on the primary criterion, then on each other benchmark by the same one.

    Where no criterion is primary, or another benchmark lacks it, the first board of quality serves.
    """
    by_benchmark: dict[str, list[Leaderboard]] = {}
    for board in boards:
        if board.is_quality and board.view in HEADLINES:
            by_benchmark.setdefault(board.benchmark, []).append(board)
    primary, rows = data.primary, data.primary_rows
    if primary is None or not rows:
        if not by_benchmark:
            return []
        board = next(iter(by_benchmark.values()))[0]
        primary, rows = _of_board(board, "the first measure of this run"), board.rows
    by_benchmark.pop(primary.benchmark, None)
    alike = (_alike(primary, part) for part in by_benchmark.values())
    elsewhere = [_standing(data, _of_board(b, "on another benchmark"), b.rows, boards) for b in alike]
    return [_standing(data, primary, rows, boards), *elsewhere]


def _alike(primary: Primary, boards: Sequence[Leaderboard]) -> Leaderboard:
    """The board of the primary metric, criterion and rater among these, or else the first."""
    return next((b for b in boards if board_of(b.rows[0])[1:] == primary[1:4]), boards[0])


def _of_board(board: Leaderboard, reason: str) -> Primary:
    place = board_of(board.rows[0])
    return Primary(*place, " · ".join(dict.fromkeys((board.metric, board.criterion))), reason)


def _standing(data: ReportData, primary: Primary, rows: Rows, boards: Sequence[Leaderboard]) -> Standing:
    place = Board(*primary[:4])
    signature = rows[0]["signature"]
    ranks = [b.ranks for b in boards if b.rows[0]["signature"] == signature and board_of(b.rows[0]) == place]
    is_primary = data.primary is not None and place == Board(*data.primary[:4])
    family = data.family if is_primary else None
    findings = headline_findings(data.comparisons, family, data.selection)
    return Standing(
        run=data.name,
        primary=primary,
        rows=sorted(rows, key=lambda row: row["role"] != "candidate"),  # stable: the order by estimate stays
        unit=Unit(row_criterion(rows[0], data.measures.values())),
        pairs=[row for row in latest_comparisons(findings, data.provenance) if board_of(row) == place],
        ranks=next(iter(ranks), None),
        contradictions=_contradictions(data, findings) if family else (),
        alike=_look_alike(data, primary.benchmark),
    )


def _look_alike(data: ReportData, benchmark: str) -> str:
    counted = data.case_counts(data.items).get(benchmark)
    if counted is None or counted.near_joined or not counted.near_repeated:
        return ""
    return look_alike(counted.questions, counted.repeated, counted.near_repeated)


def _contradictions(data: ReportData, family: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The line on an additional comparison of the same data that says otherwise than the family."""
    additional = current_findings(data.comparisons, data.selection, data.provenance, of_family=False)
    return tuple(contradictions(family[-1]["rows"], additional)) if family else ()
