"""What is killed: each verb that writes, on a run of its own, and what must hold of it afterwards."""

import hashlib
import json
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.soak import victims
from tests.soak.tally import Tally

from vivavoce.core.errors import VivaError
from vivavoce.run.run import open_run

OPENS = "A run opens after a kill, and `viva status --verify` finds nothing wrong"
STAYS = "What was stored before a kill is stored after it"
RESUMES = "The same command, run again, ends in the same tables as if nothing had been killed"
PATIENCE = 120
"""Seconds after which a verb hangs."""
WHOLE = "No report, export, packet or copy stands half-written under its name"


@dataclass
class Scene:
    """A verb and what it works on.

    `prepare` writes what lies there before into a folder, and `words` is the command, run in that folder.
    `made` are the files and folders that the command makes or replaces; `once`: it refuses to replace them,
    and so to run again after it has ended.
    """

    name: str
    words: Sequence[str]
    prepare: Callable[[Path], None]
    made: tuple[str, ...] = ()
    once: bool = False
    run: str = "run.viva"


@dataclass
class Whole:
    """What the verb leaves when nobody kills it: its tables and files, its time, and its steps."""

    tables: dict[str, list[str]]
    files: dict[str, str]
    seconds: float
    steps: list[str] = field(default_factory=list)


def items(n: int) -> list[dict[str, Any]]:
    return [
        {"id": f"q{k}", "question": f"Question {k}?", "format": "short", "answer": f"worth {k % 3 / 2:g}"}
        for k in range(n)
    ]


def answers(n: int, who: Sequence[str] = ("Able", "Poor")) -> list[dict[str, Any]]:
    return [
        {"item": f"q{k}", "candidate": name, "text": f"worth {(k + len(name)) % 3 / 2:g} of {k}"}
        for k in range(n)
        for name in who
    ]


def marks(n: int) -> list[dict[str, Any]]:
    return [row | {"criterion": "harm", "value": k % 5} for k, row in enumerate(answers(n))]


def tables(path: Path) -> dict[str, list[str]]:
    """What a run holds, without the times at which it was made and what it took to make."""
    apart = {"seconds", "cost", "meta"}
    held: dict[str, list[str]] = {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as db:
        db.row_factory = sqlite3.Row
        for name in ("item_rows", "response_rows", "score_rows", "measures", "benchmarks", "candidates"):
            try:
                rows = db.execute(f"SELECT * FROM {name}").fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):  # not made yet
                    raise
                rows = []
            held[name] = sorted(
                json.dumps({k: v for k, v in dict(row).items() if k not in apart and not k.endswith("_id")})
                for row in rows
            )
    return held


def broken(path: Path) -> str | None:
    """What is wrong with a run, by `viva status --verify`; null if nothing is."""
    if not path.exists():
        return None
    try:
        wrong = [sentence for check in open_run(path).verify() for sentence in check.first]
    except (VivaError, sqlite3.Error) as error:
        return f"{type(error).__name__}: {error}"
    return "; ".join(wrong) or None


def files(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """The files of these names, and in the folders of these names, with a digest of what lasts in them."""
    found: dict[str, str] = {}
    for name in names:
        place = folder / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place] * place.exists():
            if path.is_file():
                found[str(path.relative_to(folder))] = digest(path)
    return found


def digest(path: Path) -> str:
    """The form of a file rather than its text, where times stand in it: how it begins and ends."""
    raw = path.read_bytes()
    match path.suffix:
        case ".viva":
            return broken(path) or hashlib.sha256(json.dumps(tables(path)).encode()).hexdigest()
        case ".html":
            whole = b"<!doctype" in raw[:200] and raw.rstrip().endswith(b"</html>")
        case ".parquet":
            whole = raw[:4] == raw[-4:] == b"PAR1"
        case _:
            whole = raw.endswith(b"\n")
    return "whole" if whole else f"half of it: {raw[-40:]!r}"


@dataclass
class Victims:
    """Kills the verb of a scene, again and again, in a folder of its own, and counts what holds."""

    scene: Scene
    base: Path
    rng: Random
    tally: Tally

    def __post_init__(self) -> None:
        self.prepared, self.work = self.base / "prepared", self.base / "work"
        self.prepared.mkdir(parents=True)
        self.scene.prepare(self.prepared)
        self.context = victims.context()
        self.stand()
        self.earlier = self.files()
        self.whole = self.unkilled()

    @property
    def run(self) -> Path:
        return self.work / self.scene.run

    def files(self) -> dict[str, str]:
        return files(self.work, self.scene.made)

    def stand(self) -> None:
        """Lay the scene: the folder as it was prepared."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.prepared, self.work)

    def unkilled(self) -> Whole:
        steps = self.base / "steps.txt"
        began = time.monotonic()
        code = self.start(steps=steps)
        seconds = time.monotonic() - began
        assert code == 0, self.output
        return Whole(tables(self.run), self.files(), seconds, steps.read_text().splitlines())

    @property
    def output(self) -> str:
        return (self.base / "output.txt").read_text(errors="replace")[-600:]

    def start(
        self, *, steps: Path | None = None, fatal: tuple[str, int] | None = None, after: float | None = None
    ) -> int | None:
        """The verb's exit code, null if it hangs; it is killed `after` so many seconds, or at a step."""
        process = victims.process_of(
            self.context, words=self.scene.words, folder=self.work, output=self.base / "output.txt",
            steps=steps, fatal=fatal,
        )  # fmt: skip
        process.start()
        if after is not None:
            process.join(after)
            process.kill()
        process.join(PATIENCE)
        if (code := process.exitcode) is None:
            process.kill()
            process.join()
        process.close()
        return code

    def kill(self) -> bool:
        """Start the verb and kill it; true if that came before its end."""
        if self.rng.random() < 0.5:
            return self.start(after=self.rng.uniform(0, self.whole.seconds)) == -signal.SIGKILL
        kind = self.rng.choice(sorted(set(self.whole.steps)))
        number = self.rng.randint(1, self.whole.steps.count(kind))
        return self.start(fatal=(kind, number)) == -signal.SIGKILL

    def live(self, most: int) -> int:
        """Kill the verb up to so many times on one run, and let it end; how many kills came in time."""
        self.stand()
        kills = 0
        for _ in range(min(most, self.rng.choice((1, 2, 3)))):
            before = tables(self.run) if self.run.exists() else {}
            if not self.kill():
                break
            kills += 1
            self.check(before)
        self.finish()
        return kills

    def check(self, before: dict[str, list[str]]) -> None:
        fault = broken(self.run)
        self.count(OPENS, fault)
        if fault is None:
            after = tables(self.run) if self.run.exists() else {}
            lost = [row for name, rows in before.items() for row in set(rows) - set(after.get(name, ()))]
            self.count(STAYS, f"{len(lost)} rows are gone, such as {lost[0]}" if lost else None)
        if self.scene.made:
            found = self.files()
            fault = None if found in ({}, self.earlier, self.whole.files) else f"{found}"
            self.count(WHOLE, fault)

    def finish(self) -> None:
        ended = self.scene.once and self.files() == self.whole.files
        code, fault = self.start(), None
        if code != (2 if ended else 0):
            fault = f"it ends with {code}: {self.output}"
        elif (found := tables(self.run)) != self.whole.tables:
            other = [f"{name}: {set(found[name]) ^ set(rows)}" for name, rows in self.whole.tables.items()]
            fault = f"other tables: {'; '.join(other)[:600]}"
        elif self.files() != self.whole.files:
            fault = f"other files: {self.files()}"
        self.count(RESUMES, fault)

    def count(self, promise: str, fault: str | None) -> None:
        self.tally.count(promise, fault and f"{self.scene.name}: {fault}")
