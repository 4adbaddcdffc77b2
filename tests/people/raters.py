"""Raters who fill in packets by rule: a packet's CSV or its texts in, a ballot out."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.finished_runs import finished_run
from tests.studies.making import made

from vivavoce.people.packets import PacketsWritten, write_packets
from vivavoce.people.question import plain
from vivavoce.people.stored_keys import SECRET_EVENT
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.run.run import Run, open_run
from vivavoce.store.write import put_event

Opinion = Callable[[str, str], Mapping[str, Any]]
"""From a question's name and an answer's text to rank, clearly_wrong, tag."""


def examined(folder: Path, n: int = 12, *, silent: Sequence[str] = (), **more: Any) -> Run:
    """A run of `n` questions that Able, Fair and Poor answered, each in words of their own."""
    names = [f"q{k:02}" for k in range(n)]
    answers: dict[str, dict[str, Any]] = {
        who: {name: "" if f"{who} {name}" in silent else f"{word} for {name}" for name in names}
        for who, word in (("Able", "five milligrams"), ("Fair", "some milligrams"), ("Poor", "a spoonful"))
    }
    return made(folder, answers | more.pop("answers", {}), **more)


def with_packets(
    folder: Path,
    n: int,
    raters: Sequence[str],
    *,
    answers: Mapping[str, Mapping[str, Any]] = {},
    **settings: Any,
) -> Run:
    """`examined`, with packets for these raters in the folder `out`; equal runs are made once, and copied."""
    finished_run(folder, _write_packets, n, raters, answers, settings)
    return open_run(folder / "run.viva")


def _write_packets(
    folder: Path,
    n: int,
    raters: Sequence[str],
    answers: Mapping[str, Mapping[str, Any]],
    settings: Mapping[str, Any],
) -> None:
    write_packets(examined(folder, n, answers=answers).file, raters, folder / "out", **settings)


def drawn(run: Run, secret: str = "5" * 64) -> Run:
    """The run with a secret that other runs may have too, so that their packets can be held together."""
    with run.file.writing() as db:
        put_event(db, SECRET_EVENT, {"secret": secret})
    return run


def lines(path: Path) -> list[dict[str, str]]:
    """The rows of a packet's sheet."""
    text = path.read_text(encoding="utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    start = next(k for k, row in enumerate(rows) if row[0] == "panel")
    return [dict(zip(rows[start], row, strict=True)) for row in rows[start + 1 :]]


def write(path: Path, rows: Sequence[Mapping[str, str]], *, delimiter: str = ",") -> Path:
    """Rows as a sheet again."""
    text = io.StringIO()
    sheet = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    sheet.writeheader()
    sheet.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8-sig", newline="")
    return path


def filled(path: Path, opinion: Opinion, to: Path | None = None) -> Path:
    """The sheet as the rater fills it in."""
    rows = lines(path)
    for row in rows:
        row |= {k: str(v) for k, v in opinion(plain(row["item"]), plain(row["answer"])).items()}
    for item in {row["item"] for row in rows}:
        _close_gaps([row for row in rows if row["item"] == item])
    return write(to or path, rows)


def _close_gaps(shown: Sequence[dict[str, str]]) -> None:
    """Ranks among all candidates become ranks among those on the ballot, where some are not shown."""
    ranks = [row["rank"] for row in shown if row.get("rank", "").isdecimal()]
    if max(map(int, ranks), default=0) > len(shown):
        places = {rank: str(1 + sum(int(other) < int(rank) for other in ranks)) for rank in ranks}
        for row in shown:
            row["rank"] = places.get(row["rank"], row["rank"])


def by_word(*words: str) -> Opinion:
    """Answers are ranked by the first of these words that stands in them; the others come last."""

    def opinion(item: str, answer: str) -> dict[str, Any]:
        rank = next((n for n, word in enumerate(words, 1) if word in answer), len(words) + 1)
        return {"rank": rank, "tag": ("good", "okay", "bad")[min(rank - 1, 2)]}

    return opinion


def rated(run: Run, folder: Path, opinions: Mapping[str, Opinion], **settings: Any) -> PacketsWritten:
    """A panel made, filled in and read."""
    done = write_packets(run.file, list(opinions), folder, **settings)
    store_ballots(run.file, [filled(folder / f"{who}.csv", opinion) for who, opinion in opinions.items()])
    return done


def ballot(sheet: Path, opinion: Opinion, to: Path) -> Path:
    """What the page would save, made from the rater's sheet."""
    items: dict[str, dict[str, Any]] = {}
    for row in lines(sheet):
        said = dict(opinion(row["item"], plain(row["answer"])))
        if "rank" in row:
            said = {"rank": None, "clearly_wrong": False, "tag": None} | said
        one = items.setdefault(
            row["item"],
            {
                "item": row["item"],
                "seal": row["seal"],
                "question": row["question"],
                **({} if "rank" in row else {"reference": row["reference"]}),
                "answers": [],
                "remark": "",
            },
        )
        one["answers"].append({"label": row["label"], "answer": row["answer"], **said})
    body = {
        "schema": "viva.panel.ballot/1" if "rank" in row else "viva.panel.ratings/1",
        "panel": row["panel"],
        "rater": row["rater"],
        "items": list(items.values()),
    }
    to.write_text(json.dumps(body), encoding="utf-8")
    return to
