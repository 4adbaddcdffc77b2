"""Packets for a panel: the same items and answers for every rater, blinded, each in an order of its own.

Raters see what arrived and could be read, beside the reference answer, and nothing says which is which. A
packet is an HTML page that works offline, or a CSV sheet for those who prefer a spreadsheet.
"""

import base64
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from vivavoce import formats
from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.core.records import Item, ItemKey
from vivavoce.core.spreadsheets import FORMULA
from vivavoce.core.text import label, one_line, printable, spoken
from vivavoce.people.blinding_key import (
    REFERENCE,
    BlindedAnswer,
    BlindingKey,
    PanelItem,
    panel_identity,
    put_key,
)
from vivavoce.store import read
from vivavoce.store.read import candidate_labels, match_candidate
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_provenance

CRITERION = "Which answer would you rather a colleague acted on? Rank them from best to worst."
MOST_ANSWERS = 26  # one letter each; nobody ranks more
_RATER = re.compile(r"[^\W_](?:[\w .-]{0,58}[\w.-])?")


class PacketsWritten(NamedTuple):
    """The packets that were written, with counts.

    `n_left` are eligible questions that were not drawn; `n_too_few` had fewer than two
    different answers to show. `n_silent` and `n_lost` count answers that are not shown, `n_alike` those shown
    together with another's. `naming` are answers that name a candidate, which no order can blind.
    `registered` are benchmarks whose terms restrict who may read them.
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


def write_packets(
    run: RunFile,
    raters: Sequence[str],
    to: Path,
    *,
    items: "set[ItemKey] | None" = None,
    candidates: Sequence[str] = (),
    n: int = 30,
    seed: int = 1,
    criterion: str | None = None,
) -> PacketsWritten:
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
    choice = _choose(run, items, candidates, n, seed)
    panel, files = _write(run, to, names, seed, asks, choice.questions)
    answers = [answer for q in choice.questions for answer in q.answers]
    return PacketsWritten(
        panel=panel,
        raters=tuple(names),
        files=files,
        n_questions=len(choice.questions),
        n_answers=len(answers),
        n_left=choice.n_ready - len(choice.questions),
        n_too_few=choice.n_possible - choice.n_ready,
        n_silent=sum(len(q.silent) for q in choice.questions),
        n_lost=sum(len(q.lost) for q in choice.questions),
        n_alike=sum(len(answer.candidates) - 1 for answer in answers),
        n_without_reference=sum(not q.reference for q in choice.questions),
        naming=_naming(choice.questions, choice.candidates),
        registered=choice.registered,
    )


class _Choice(NamedTuple):
    """The candidates and items of a panel, and how many items were eligible."""

    candidates: tuple[str, ...]
    questions: tuple[PanelItem, ...]
    n_ready: int
    n_possible: int
    registered: tuple[str, ...]


def _choose(
    run: RunFile, items: "set[ItemKey] | None", candidates: Sequence[str], n: int, seed: int
) -> _Choice:
    labels = candidate_labels(run)
    named = [match_candidate(name, labels) for name in candidates]
    with run.reading() as db:
        all_items = [item for item in read.items_by_id(db).values() if item.origin is None]
        responses = read.responses(db).filter(probe="")
        roles = {c.candidate: c.role for c in read.candidates(db)}
        registered = {b.benchmark for b in read.benchmarks(db) if b.card.access == "credentialed"}
    if roles.get(REFERENCE, "ceiling") != "ceiling":
        raise InputError(
            f"a candidate of this run is called {REFERENCE!r}, which is what a panel calls the reference "
            "answer: import its answers under another name."
        )
    named = named or [name for name, role in roles.items() if role == "candidate"]
    chosen = tuple(sorted(name for name in named if name != REFERENCE))
    possible = _panel_items(_askable(all_items, items), responses, chosen)
    ready = [item for item in possible if len(item.answers) > 1]
    if not ready:
        raise SelectionError(
            f"no question here has two different answers to show (of {', '.join(chosen)}): a panel "
            "ranks what arrived and can be read."
        )
    sample = sorted(ready, key=lambda item: _order_of(seed, *item.place))[:n]
    panel_items = tuple(sorted(sample, key=lambda item: item.place))
    if crowded := [item for item in panel_items if len(item.answers) > MOST_ANSWERS]:
        raise SelectionError(
            f"{crowded[0].name} has {len(crowded[0].answers)} answers: name at most {MOST_ANSWERS - 1} "
            "--candidates, and better five or six."
        )
    terms = tuple(sorted(registered & {item.benchmark for item in panel_items}))
    return _Choice(chosen, panel_items, len(ready), len(possible), terms)


def _askable(items: Sequence[Item], chosen: "set[ItemKey] | None") -> list[Item]:
    """The chosen items, by default the open ones: a closed item has one right option and nothing to rank."""
    if chosen is None:
        return [item for item in items if not (item.answer or item.options)]
    return [item for item in items if (item.benchmark, item.item, item.variant) in chosen]


def _write(
    run: RunFile, to: Path, raters: Sequence[str], seed: int, criterion: str, questions: tuple[PanelItem, ...]
) -> tuple[str, tuple[Path, ...]]:
    """Store the key, then write the packets. Returns the id of the panel and the files."""
    with run.writing() as db:
        panel, secret = panel_identity(db, seed, criterion, questions)
        key = BlindingKey(panel, seed, criterion, secret, questions, {})
        key = key._replace(packets={who: key.packet(who) for who in raters})
        files = {
            to / f"{who}.{kind}": write(key, who)
            for who in raters
            for kind, write in (("html", html_packet), ("csv", csv_packet))
        }
        _refuse(to, files)
        put_key(db, key)
        settings = {"panel": panel, "raters": list(raters), "n": len(questions), "seed": seed,
                    "criterion": criterion}  # fmt: skip
        put_provenance(db, "panel make", settings, changed=0)  # no answer and no mark: findings stay fresh
    _store(to, files)
    return panel, tuple(files)


def _raters(raters: Sequence[str]) -> list[str]:
    names = [" ".join(name.split()) for name in raters]
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


def _order_of(seed: int, *ids: str) -> str:
    """A place in an order that follows from the seed and the ids, whatever else the run holds."""
    text = "\n".join((str(seed), "questions", *ids))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _panel_items(
    items: Sequence[Item], responses: pl.DataFrame, candidates: Sequence[str]
) -> list[PanelItem]:
    """The items with their answers, as far as anything was answered."""
    shown_to_raters = (pl.col("edit") == "") & pl.col("candidate").is_in(candidates)
    by_item: dict[ItemKey, list[Mapping[str, object]]] = {}
    for row in responses.filter(shown_to_raters).sort("candidate", "repeat").iter_rows(named=True):
        by_item.setdefault((row["benchmark"], row["item"], row["variant"]), []).append(row)
    names = Counter(item.name for item in items)
    return [
        _panel_item(item, item.name if names[item.name] == 1 else _full_name(item), rows)
        for item in items
        if (rows := by_item.get((item.benchmark, item.item, item.variant)))
    ]


def _full_name(item: Item) -> str:
    return (
        f"{item.benchmark} {item.item} [{item.variant}]" if item.variant else f"{item.benchmark} {item.item}"
    )


def _panel_item(item: Item, name: str, rows: Sequence[Mapping[str, object]]) -> PanelItem:
    """The item with what was answered, equal texts together; `rows` are by candidate and repeat."""
    first = _first_arrived(rows)
    answers = _Answers({}, {})
    silent: dict[str, str] = {}
    lost = []
    for who, row in first.items():
        if row["status"] == "failed":
            lost.append(who)
            continue
        text = str(row["text"])
        status = formats.read_response(item, text).status if row["status"] == "ok" else "unanswered"
        if status == "ok":
            answers.add(who, spoken(text).text)
        else:
            silent[who] = "unreadable" if status == "unreadable" else "unanswered"
    key = formats.labelled_key(item)
    if key.strip():
        answers.add(REFERENCE, key)
    return PanelItem(
        name=_cleaned(name),
        benchmark=item.benchmark,
        item=item.item,
        variant=item.variant,
        hash=item.hash,
        prompt=_cleaned(formats.ask(item)),
        answers=answers.blinded(),
        repeats={who: int(str(row["repeat"])) for who, row in first.items()},
        silent=silent,
        lost=tuple(lost),
        reference=bool(key.strip()),
    )


def _first_arrived(rows: Sequence[Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """The first repeat of each candidate that arrived, else its first: what was lost is our doing."""
    first: dict[str, Mapping[str, object]] = {}
    for row in rows:
        who = str(row["candidate"])
        if who not in first or (first[who]["status"] == "failed" and row["status"] != "failed"):
            first[who] = row
    return first


class _Answers(NamedTuple):
    """Different texts and who gave each; texts that differ in blanks alone are one."""

    texts: dict[str, str]
    candidates: dict[str, list[str]]

    def add(self, candidate: str, text: str) -> None:
        cleaned = _cleaned(text)
        flat = " ".join(cleaned.split())
        self.texts.setdefault(flat, cleaned)
        self.candidates.setdefault(flat, []).append(candidate)

    def blinded(self) -> tuple[BlindedAnswer, ...]:
        return tuple(
            BlindedAnswer(self.texts[flat], tuple(sorted(who)))
            for flat, who in sorted(self.candidates.items())
        )


def _cleaned(text: str) -> str:
    """A text as a page shows it: uniform line ends, no terminal or bidirectional control characters."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _naming(questions: Sequence[PanelItem], candidates: Sequence[str]) -> tuple[str, ...]:
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


FILLED = ("rank", "clearly_wrong", "tag", "remark")
"""The columns that a rater fills."""
COLUMNS = ("panel", "rater", "item", "seal", "question", "label", "answer", *FILLED)
_FORMULA = re.compile(FORMULA)


def csv_packet(key: BlindingKey, rater: str) -> bytes:
    """The packet of a rater as CSV: a row per answer. UTF-8 with a BOM, so that spreadsheets detect it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\r\n")
    for line in (*_instructions(key, rater), "", COLUMNS):
        rows.writerow([line] if isinstance(line, str) else line)
    for entry in key.packets[rater]:
        for n, answer in enumerate(entry.answers):
            prompt = entry.item.prompt if n == 0 else ""
            texts = (key.panel, rater, entry.item.name, entry.seal, prompt, label(n), answer.text)
            rows.writerow([*map(_defused, texts), *("" for _ in FILLED)])
    return text.getvalue().encode("utf-8-sig", "replace")


def _instructions(key: BlindingKey, rater: str) -> Iterator[str]:
    yield f"Panel {key.panel}: the packet of {rater}. Not for clinical use."
    yield _defused(key.criterion)
    yield (
        "rank: a number for every answer to a question, 1 the best; the same number is a tie. clearly_wrong: "
        "x where an answer is clearly wrong; it ranks last and needs no number. tag: good, okay or bad. "
        "remark: what you like, once for a question."
    )
    yield "Change no other column, and save as CSV (UTF-8)."


def _defused(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet could run it."""
    return f"'{text}" if _FORMULA.match(text) else text


PAGE = Path(__file__).with_name("page")


def html_packet(key: BlindingKey, rater: str) -> bytes:
    """The packet of a rater as a page. Texts are escaped; scripts and styles run by their hashes only."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,  # candidates' answers are hostile text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["label"] = label
    style, script = (
        (PAGE / name).read_text(encoding="utf-8").replace("\r\n", "\n")
        for name in ("packet.css", "packet.js")
    )
    text = environment.get_template("packet.html").render(
        panel=key.panel,
        criterion=key.criterion,
        rater=rater,
        questions=[(entry.item, entry.answers, entry.seal) for entry in key.packets[rater]],
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; script-src {_csp_hash(script)}; style-src {_csp_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
    )
    return text.lstrip().encode("utf-8", "replace")


def _csp_hash(text: str) -> str:
    """What a content security policy calls this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
