"""Packets for a panel: the same questions and answers for every rater, blinded, each in an order of its own.

What raters see is what arrived and could be read, beside the reference answer; nothing says which is which.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vivavoce import formats
from vivavoce.errors import InputError, SelectionError, StoreError
from vivavoce.people.keys import REFERENCE, Key, Question, Shown, identified, put_key
from vivavoce.people.pages import page
from vivavoce.people.references import reference
from vivavoce.people.sheets import sheet
from vivavoce.records import Item
from vivavoce.selection import ItemKey, candidate_of, candidates_of
from vivavoce.store import RunFile, read
from vivavoce.store.write import put_provenance
from vivavoce.text import one_line, printable, spoken

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CRITERION", "Made", "make"]

CRITERION = "Which answer would you rather a colleague acted on? Rank them from best to worst."
MOST_ANSWERS = 26  # one letter each; nobody ranks more
_RATER = re.compile(r"[^\W_](?:[\w .-]{0,58}[\w.-])?")


class Made(NamedTuple):
    """What was written.

    `n_left` are questions that were drawn from, and could have been asked too; `n_too_few` had fewer than two
    different answers to show. `n_silent` and `n_lost` count answers that are not shown, `n_alike` those shown
    together with another's. `naming` are answers that name a candidate, which no order can blind.
    `registered` are benchmarks of which their terms say who may read them.
    """

    panel: str
    raters: tuple[str, ...]
    files: tuple[Path, ...]
    n_questions: int
    n_answers: int
    n_left: int
    n_too_few: int
    n_silent: int
    n_lost: int
    n_alike: int
    n_without_reference: int
    naming: tuple[str, ...]
    registered: tuple[str, ...]


def make(
    run: RunFile,
    raters: Sequence[str],
    to: Path,
    *,
    items: "set[ItemKey] | None" = None,
    candidates: Sequence[str] = (),
    n: int = 30,
    seed: int = 1,
    criterion: str | None = None,
) -> Made:
    """Write a packet for each rater, a page and a sheet, to the folder `to`; the key stays in the run.

    `n` questions are drawn by `seed` and their ids, all alike in chance, from those with two different
    answers or more to show. `candidates` are by default all but floors and ceilings; of each the first
    repeat that arrived is taken. `criterion` is what raters are asked. The same run, settings and rater
    give the same packet, byte for byte. Raises `InputError` for names that cannot be files',
    `SelectionError` where nothing can be asked, `StoreError` where something else lies at a packet's path.
    """
    names = _raters(raters)
    if n < 1:
        raise InputError(f"a panel of {n} questions asks nothing: --n takes 1 or more.")
    asks = " ".join((CRITERION if criterion is None else criterion).split())
    if not asks:
        raise InputError("the criterion is empty: say in a sentence by what the answers are to be ranked.")
    found = _choose(run, items, candidates, n, seed)
    panel, files = _write(run, to, names, seed, asks, found.questions)
    answers = [shown for q in found.questions for shown in q.answers]
    return Made(
        panel=panel,
        raters=tuple(names),
        files=files,
        n_questions=len(found.questions),
        n_answers=len(answers),
        n_left=found.n_ready - len(found.questions),
        n_too_few=found.n_possible - found.n_ready,
        n_silent=sum(len(q.silent) for q in found.questions),
        n_lost=sum(len(q.lost) for q in found.questions),
        n_alike=sum(len(shown.candidates) - 1 for shown in answers),
        n_without_reference=sum(not q.reference for q in found.questions),
        naming=_naming(found.questions, found.candidates),
        registered=found.registered,
    )


class _Choice(NamedTuple):
    """Whose answers are shown to which questions, of how many that could be asked."""

    candidates: tuple[str, ...]
    questions: tuple[Question, ...]
    n_ready: int
    n_possible: int
    registered: tuple[str, ...]


def _choose(
    run: RunFile, items: "set[ItemKey] | None", candidates: Sequence[str], n: int, seed: int
) -> _Choice:
    known = candidates_of(run)
    named = [candidate_of(name, known) for name in candidates]
    with run.reading() as db:
        stock = [i for i in read.stock(db).values() if i.origin is None]
        said = read.responses(db).filter(probe="")
        roles = {c.candidate: c.role for c in read.candidates(db)}
        registered = {b.benchmark for b in read.benchmarks(db) if b.card.access == "credentialed"}
    if roles.get(REFERENCE, "ceiling") != "ceiling":
        raise InputError(
            f"a candidate of this run is called {REFERENCE!r}, which is what a panel calls the reference "
            "answer: import its answers under another name."
        )
    named = named or [name for name, role in roles.items() if role == "candidate"]
    chosen = sorted(name for name in named if name != REFERENCE)
    # A closed question has one right option, and nothing to rank by: it is drawn only where it was chosen.
    open_ones = [i for i in stock if not (i.answer or i.options)]
    wanted = open_ones if items is None else [i for i in stock if (i.benchmark, i.item, i.variant) in items]
    possible = _questions(wanted, said, chosen)
    ready = [q for q in possible if len(q.answers) > 1]
    if not ready:
        raise SelectionError(
            f"no question here has two different answers to show (of {', '.join(chosen)}): a panel "
            "ranks what arrived and can be read."
        )
    drawn = sorted(ready, key=lambda q: _draw(seed, *q.place))[:n]
    questions = tuple(sorted(drawn, key=lambda q: q.place))
    if most := [q for q in questions if len(q.answers) > MOST_ANSWERS]:
        raise SelectionError(
            f"{most[0].name} has {len(most[0].answers)} answers: name at most {MOST_ANSWERS - 1} "
            "--candidates, and better five or six."
        )
    terms = tuple(sorted(registered & {q.benchmark for q in questions}))
    return _Choice(tuple(chosen), questions, len(ready), len(possible), terms)


def _write(
    run: RunFile, to: Path, raters: Sequence[str], seed: int, criterion: str, questions: tuple[Question, ...]
) -> tuple[str, tuple[Path, ...]]:
    """Keep the key, then write the packets: the id of the panel and the files."""
    with run.writing() as db:
        panel, secret = identified(db, seed, criterion, questions)
        key = Key(panel, seed, criterion, secret, questions, {})
        key = key._replace(packets={who: key.packet(who) for who in raters})
        files = {
            to / f"{who}.{kind}": write(key, who)
            for who in raters
            for kind, write in (("html", page), ("csv", sheet))
        }
        _refuse(to, files)
        put_key(db, key)
        settings = {"panel": panel, "raters": list(raters), "n": len(questions), "seed": seed,
                    "criterion": criterion}  # fmt: skip
        put_provenance(db, "panel make", settings, changed=0)  # no answer and no mark: findings stay fresh
    _store(to, files)
    return panel, tuple(files)


def _raters(given: Sequence[str]) -> list[str]:
    names = [" ".join(name.split()) for name in given]
    if not names:
        raise InputError("--raters names who will rate, such as --raters anna,ben,carla.")
    for name in names:
        if not _RATER.fullmatch(name):
            raise InputError(
                f"{one_line(printable(name), 40)!r} cannot be a rater's name: letters, digits, blanks, . _ "
                "and -, a letter or digit first, at most 60; it is the name of a file too."
            )
    folded = [name.casefold() for name in names]
    if twice := [name for name, key in zip(names, folded, strict=True) if folded.count(key) > 1]:
        raise InputError(f"--raters names {twice[0]!r} twice: each rater gets a packet of their own.")
    return names


def _draw(seed: int, *ids: str) -> str:
    return hashlib.sha256(
        "\n".join((str(seed), "questions", *ids)).encode("utf-8", "surrogatepass")
    ).hexdigest()


def _questions(items: Sequence[Item], said: "pl.DataFrame", candidates: Sequence[str]) -> list[Question]:
    """What could be asked of each item."""
    import polars as pl

    own = said.filter((pl.col("edit") == "") & pl.col("candidate").is_in(candidates))
    by_item: dict[ItemKey, list[Mapping[str, object]]] = {}
    for row in own.sort("candidate", "repeat").iter_rows(named=True):
        by_item.setdefault((row["benchmark"], row["item"], row["variant"]), []).append(row)
    names = Counter(item.name for item in items)
    return [
        _question(item, item.name if names[item.name] == 1 else _whole(item), rows)
        for item in items
        if (rows := by_item.get((item.benchmark, item.item, item.variant)))
    ]


def _whole(item: Item) -> str:
    return (
        f"{item.benchmark} {item.item} [{item.variant}]" if item.variant else f"{item.benchmark} {item.item}"
    )


def _question(item: Item, name: str, rows: Sequence[Mapping[str, object]]) -> Question:
    """The question with what was answered, equal texts together; `rows` are by candidate and repeat."""
    first: dict[str, Mapping[str, object]] = {}
    for row in rows:
        who = str(row["candidate"])
        if who not in first or first[who]["status"] == "failed":
            # What was lost is our doing: the next repeat stands in, where one arrived.
            first[who] = row if who not in first or row["status"] != "failed" else first[who]
    texts: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    silent: dict[str, str] = {}
    lost = []
    for who, row in first.items():
        if row["status"] == "failed":
            lost.append(who)
            continue
        reading = formats.read(item, str(row["text"])) if row["status"] == "ok" else None
        if reading is None or reading.status != "ok":
            silent[who] = (
                "unreadable" if reading is not None and reading.status == "unreadable" else "unanswered"
            )
            continue
        text = _cleaned(spoken(str(row["text"])).text)
        texts.setdefault(" ".join(text.split()), []).append(who)
        shown.setdefault(" ".join(text.split()), text)
    key = reference(item)
    if key.strip():
        text = _cleaned(key)
        texts.setdefault(" ".join(text.split()), []).append(REFERENCE)
        shown.setdefault(" ".join(text.split()), text)
    return Question(
        name=_cleaned(name),
        benchmark=item.benchmark,
        item=item.item,
        variant=item.variant,
        hash=item.hash,
        asked=_cleaned(formats.ask(item)),
        answers=tuple(Shown(shown[flat], tuple(sorted(who))) for flat, who in sorted(texts.items())),
        repeats={who: int(str(row["repeat"])) for who, row in first.items()},
        silent=silent,
        lost=tuple(lost),
        reference=bool(key.strip()),
    )


def _cleaned(text: str) -> str:
    """A text as a page shows it: line ends of one kind, nothing that drives a terminal or turns the line."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _naming(questions: Sequence[Question], candidates: Sequence[str]) -> tuple[str, ...]:
    """Questions with an answer in which a candidate's label stands."""
    labels = [name.casefold() for name in candidates if len(name) > 2]
    return tuple(
        q.name for q in questions if any(label in a.text.casefold() for a in q.answers for label in labels)
    )


def _refuse(to: Path, files: Mapping[Path, bytes]) -> None:
    """Raise `StoreError` where a packet would lie over something else, such as one that was filled in."""
    try:
        if to.exists() and not to.is_dir():
            raise StoreError(f"{to} is a file: give the packets a folder with --to.")
        for path, content in files.items():
            if path.exists() and (path.is_dir() or path.read_bytes() != content):
                raise StoreError(
                    f"{path} is there already and is not this packet; it may have been filled in. Give the "
                    "packets another folder with --to."
                )
    except OSError as error:
        raise StoreError(f"cannot look at {to}: {error.strerror or error}. Choose another --to.") from None


def _store(to: Path, files: Mapping[Path, bytes]) -> None:
    try:
        to.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            draft = path.with_name(f".{path.name}.part")
            draft.write_bytes(content)
            draft.replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write packets to {to}: {error.strerror or error}. The key is kept; the same command "
            "with another --to writes the same packets."
        ) from None
