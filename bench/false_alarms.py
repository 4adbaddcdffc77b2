"""False alarms by sentence: how often studies name somebody where nobody differs, and find what is planted.

    python bench/false_alarms.py --draws 1000 --json bench/false_alarms.json
    python bench/false_alarms.py --only gaps --draws 200

Every sentence of a study that names somebody by inference says which null it is held to
(`vivavoce.studies.naming`). A module `bench/nulls_SUBJECT.py` exports `NULLS`: data sets in which nobody
differs, and the same with an effect planted. The study runs on them as `viva study` runs it on a table of
scores, and a draw is a hit if its text, headline or notes hold the sentence. `plain` is the power of the
method that one would write down first, at the same level and on the same data.
"""

import argparse
import importlib
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vivavoce.core import registry
from vivavoce.core.records import Finding
from vivavoce.studies.naming import NamingSentence, sentences_in
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study

BENCH = Path(__file__).parent
STORED = BENCH / "false_alarms.json"
WANTED = 5.0
"""Percent of draws in which somebody may be named where nobody differs."""

Rng = np.random.Generator
Maker = Callable[[Rng, bool], ScoreTable]
"""A table of scores; with True an effect is planted in it."""


@dataclass(frozen=True)
class Null:
    """A study and data sets in which nobody differs, by name; `plain` is the plain method on such a table.

    `share` of the draws asked for are made: less than 1 for a dear one. `planted` are the codes that the
    planted effect calls for, all by default. `named` says for a code whether a finding names somebody, where
    the sentence comes in any case. `specs` are the study with other settings, by cell.
    """

    study: str
    cells: Mapping[str, Maker]
    plain: Callable[[ScoreTable], bool] | None = None
    share: float = 1.0
    planted: frozenset[str] = frozenset()
    named: Mapping[str, Callable[[Finding], bool]] = field(default_factory=dict)
    specs: Mapping[str, str] = field(default_factory=dict)


class Rate(NamedTuple):
    """One sentence in one cell: hits of draws where nothing is there, and where an effect is planted.

    `n_power` is 0 where this sentence has no effect planted. `plain` and `plain_hits` are what the plain
    method finds, and finds where nothing is there; null without one.
    """

    study: str
    code: str
    null: str
    cell: str
    hits: int
    draws: int
    found: int = 0
    n_power: int = 0
    plain: int | None = None
    plain_hits: int | None = None

    @property
    def percent(self) -> float:
        """How often somebody is named where nobody differs."""
        return 100 * self.hits / self.draws

    @property
    def error(self) -> float:
        """Monte-Carlo standard error in points at the rate wanted, or at the rate where that is more."""
        p = max((self.hits + 0.5) / (self.draws + 1), WANTED / 100)
        return 100 * float(np.sqrt(p * (1 - p) / self.draws))


def nulls() -> dict[str, Null]:
    """The nulls of all modules `nulls_SUBJECT.py` beside this one, by name; those of verbs have none."""
    every: dict[str, Null] = {}
    for path in sorted(BENCH.glob("nulls_*.py")):
        for name, null in getattr(importlib.import_module(path.stem), "NULLS", {}).items():
            if name in every:
                raise ValueError(f"two modules have a null {name!r}; the second is {path.name}")
            every[name] = null
    return every


def studies() -> dict[str, type[Study]]:
    """The classes of all studies that ship, by name."""
    return registry.members("study")


def declared() -> list[tuple[str, NamingSentence]]:
    """Every declared sentence with the name of its study."""
    return [(name, sentence) for name, cls in studies().items() for sentence in cls.sentences]


def held_to(null: str) -> list[NamingSentence]:
    """The sentences that name this null."""
    return [sentence for _, sentence in declared() if sentence.null == null]


def named_in(finding: Finding, sentence: NamingSentence) -> bool:
    """Whether the finding says this sentence, in its text, headline or notes."""
    texts = (finding.text, finding.headline, *finding.notes)
    return any(sentence.matches(part) for text in texts for part in sentences_in(text))


def rates(name: str, null: Null, cell: str, draws: int, n_power: int | None = None) -> list[Rate]:
    """The rates of the sentences held to a null, in one cell; `n_power` of the draws have an effect."""
    made, sentences = null.cells[cell], held_to(name)
    study = registry.build("study", null.specs.get(cell, null.study))
    draws = max(1, round(draws * null.share))
    n_power = max(1, draws // 5) if n_power is None else n_power
    hits: dict[tuple[str, bool], int] = {}
    plain = {True: 0, False: 0}
    for planted, n in ((False, draws), (True, n_power)):
        rng = np.random.default_rng(zlib.crc32(f"{name}/{cell}/{planted}".encode()))
        for _ in range(n):
            table = made(rng, planted)
            finding = study.findings(table)
            for sentence in sentences:
                key = sentence.code, planted
                named = null.named.get(sentence.code, partial(named_in, sentence=sentence))
                hits[key] = hits.get(key, 0) + named(finding)
            if null.plain:
                plain[planted] += null.plain(table)
    called = {s.code for s in sentences if not null.planted or s.code in null.planted}
    return [
        Rate(
            study=null.study.partition("(")[0],
            code=s.code,
            null=name,
            cell=cell,
            hits=hits.get((s.code, False), 0),
            draws=draws,
            found=hits.get((s.code, True), 0) if s.code in called else 0,
            n_power=n_power if s.code in called else 0,
            plain=plain[True] if null.plain and s.code in called and n_power else None,
            plain_hits=plain[False] if null.plain and s.code in called else None,
        )
        for s in sentences
    ]


def measured(draws: int, only: Iterable[str] = (), *, n_power: int | None = None) -> Iterator[Rate]:
    """The rates of all nulls, or of those whose name begins with one of these."""
    chosen = tuple(only)
    for name, null in nulls().items():
        if not chosen or name.startswith(chosen):
            for cell in null.cells:
                yield from rates(name, null, cell, draws, n_power)


COLUMNS = (
    *("study", "sentence", "data", "family", "correction", "draws"),
    *("named wrongly", "finds", "plain method"),
)


def table(every: Sequence[Rate]) -> str:
    """The rates as a table in Markdown, with what each sentence is corrected over."""
    by_code = {sentence.code: sentence for _, sentence in declared()}
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|---|--:|--:|--:|--:|"]
    for rate in sorted(every, key=lambda r: (r.study, r.code, r.null, r.cell)):
        sentence = by_code[rate.code]
        finds = f"{100 * rate.found / rate.n_power:.0f} %" if rate.n_power else ""
        plain = ""
        if rate.plain is not None and rate.plain_hits is not None:
            plain = f"{100 * rate.plain_hits / rate.draws:.1f} %, {100 * rate.plain / rate.n_power:.0f} %"
        cells = (
            rate.study,
            f"`{rate.code}`",
            rate.cell,
            sentence.family,
            sentence.correction,
            f"{rate.draws:,}",
            f"{rate.percent:.1f} ± {rate.error:.1f} %",
            finds,
            plain,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def losses(every: Iterable[Rate]) -> list[Rate]:
    """The rates whose sentence finds what is planted over 10 points less often than the plain method."""
    return [
        rate for rate in every if rate.plain is not None and 10 * (rate.plain - rate.found) > rate.n_power
    ]


def stored(path: Path = STORED) -> list[Rate]:
    """The rates of a file that `--json` wrote."""
    return [Rate(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def replaced(old: Sequence[Rate], new: Sequence[Rate]) -> list[Rate]:
    """The old rates, those of nulls that were measured again replaced."""
    again = {rate.null for rate in new}
    kept = [rate for rate in old if rate.null not in again]
    return sorted([*kept, *new], key=lambda r: (r.study, r.code, r.null, r.cell))


def as_json(every: Sequence[Rate]) -> str:
    """A line for each rate."""
    rows: list[dict[str, Any]] = [rate._asdict() for rate in every]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=1_000, help="data sets per cell; a fifth for power")
    parser.add_argument("--only", action="append", default=[], help="nulls that begin so; repeatable")
    parser.add_argument("--json", type=Path, help="write the rates here; those of other nulls in it stay")
    options = parser.parse_args()
    every: list[Rate] = []
    for name, null in nulls().items():
        if options.only and not name.startswith(tuple(options.only)):
            continue
        for cell in null.cells:
            start = time.perf_counter()
            every += rates(name, null, cell, options.draws)
            print(f"{name}, {cell}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    print(table(every))
    for rate in losses(every):
        found, plain = 100 * rate.found / rate.n_power, 100 * (rate.plain or 0) / rate.n_power
        print(f"{rate.code}, {rate.cell}: finds {found:.0f} %, the plain method {plain:.0f} %")
    if options.json:
        old = stored(options.json) if options.json.exists() else []
        options.json.write_text(as_json(replaced(old, every)), encoding="utf-8")


if __name__ == "__main__":
    main()
