"""Packets for a panel: the same items and answers for every rater, blinded, each in an order of its own.

Raters see what arrived and could be read, beside the reference answer, and nothing says which is which. A
packet is an HTML page that works offline, or a CSV sheet for those who prefer a spreadsheet.
"""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from vivavoce.core.errors import InputError, StoreError
from vivavoce.core.private_files import private_folder, write_all_private
from vivavoce.core.records import ItemKey
from vivavoce.core.text import one_line, printable
from vivavoce.people.choosing import Choice, choose, naming
from vivavoce.people.csv_sheet import csv_packet
from vivavoce.people.goal_draw import GoalDraw
from vivavoce.people.html_page import html_packet
from vivavoce.people.key import EVERYONE, Key
from vivavoce.people.recorded_draws import record_draw
from vivavoce.people.stored_keys import panel_identity, put_key, read_keys
from vivavoce.people.tasks import RankTask, RateTask, Task
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_provenance

_RATER = re.compile(r"[^\W_](?:[\w .-]{0,58}[\w.-])?")


class PacketsWritten(NamedTuple):
    """The packets that were written, with counts.

    `n_left` are eligible questions that were not drawn; `n_too_few` had too few different answers to show:
    two to rank, one to rate. `n_silent` and `n_lost` count answers that are not shown, `n_alike` those shown
    together with another's. `naming` are answers that name a candidate, which no order can blind.
    `registered` are benchmarks whose terms restrict who may read them. Where answers are rated, `metric` is
    that of the labels, and `n_cases` of `n_cases_possible` cases were drawn. Of `n_gone_questions`, and of
    `n_gone_answers` to further questions, the texts were forgotten.
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
    task: str = RankTask.name
    metric: str | None = None
    n_cases: int | None = None
    n_cases_possible: int | None = None
    n_gone_questions: int = 0
    n_gone_answers: int = 0


def write_packets(
    run: RunFile,
    raters: Sequence[str],
    to: Path,
    *,
    items: "set[ItemKey] | None" = None,
    candidates: Sequence[str] = (),
    n: int | None = None,
    seed: int = 1,
    criterion: str | None = None,
    task: Literal["rank", "rate"] = "rank",
    rubric: str | None = None,
    goal_draw: GoalDraw | None = None,
) -> PacketsWritten:
    """Write a packet for each rater, a page and a sheet, to the folder `to`; the key stays in the run.

    To `rank`, `n` questions (30) are drawn by `seed` and their ids, all alike in chance, from those with two
    different answers or more to show; `criterion` is what raters are asked. To `rate` by a `rubric`, whole
    cases of about `n` questions (60) are drawn from those with an answer to show, and the run keeps every
    case's chance; with a `goal_draw` they are drawn where a label tells most. `candidates` are by default all
    but floors and ceilings; of each the first repeat that arrived is taken. The same run, settings and rater
    give the same packet, byte for byte. Raises `InputError` for names that cannot be files', `SelectionError`
    where nothing can be asked, `StoreError` where something else lies at a packet's path.
    """
    names = rater_names(raters)
    chosen_task = _task(task, criterion, rubric)
    n = chosen_task.default_n if n is None else n
    if n < 1:
        raise InputError(f"a panel of {n} questions asks nothing: --n takes 1 or more.")
    choice = choose(run, chosen_task, items, candidates, n, seed, goal_draw)
    key, files = _write(run, to, names, seed, chosen_task, choice)
    return _summary(key, names, files, choice)


def _summary(key: Key, raters: Sequence[str], files: tuple[Path, ...], choice: Choice) -> PacketsWritten:
    questions = [q for q in choice.questions if q.answers]
    answers = [answer for q in questions for answer in q.answers]
    return PacketsWritten(
        panel=key.panel,
        raters=tuple(raters),
        files=files,
        n_questions=len(questions),
        n_answers=len(answers),
        n_left=choice.n_ready - len(questions),
        n_too_few=choice.n_possible - choice.n_ready,
        n_silent=sum(len(q.silent) for q in choice.questions),
        n_lost=sum(len(q.lost) for q in choice.questions),
        n_alike=sum(len(answer.candidates) - 1 for answer in answers),
        n_without_reference=sum(key.task.rates_reference and not q.reference for q in questions),
        naming=naming(questions, choice.candidates),
        registered=choice.registered,
        task=key.task.name,
        metric=key.metric if key.draw else None,
        n_cases=key.draw and key.draw.n,
        n_cases_possible=key.draw and key.draw.of,
        n_gone_questions=choice.n_gone_items,
        n_gone_answers=choice.n_gone_answers,
    )


def _task(task: str, criterion: str | None, rubric: str | None) -> Task:
    """The task of these settings. Raises `InputError` for one that belongs to the other task."""
    if task == RankTask.name:
        if rubric is not None:
            raise InputError("--rubric goes with --task rate: answers are ranked by one --criterion.")
        return RankTask(criterion)
    if criterion is not None:
        raise InputError("--criterion goes with --task rank: answers are rated by the criteria of --rubric.")
    if rubric is None:
        raise InputError(
            "--task rate needs a --rubric, shipped or a .md file: `viva list rubrics` shows them."
        )
    return RateTask.with_rubric(rubric)


def _write(
    run: RunFile, folder: Path, raters: Sequence[str], seed: int, task: Task, choice: Choice
) -> tuple[Key, tuple[Path, ...]]:
    """Store the key, and the chance of what was drawn; then write the packets."""
    with run.writing() as db:
        key = new_key(db, task, choice, raters, seed)
        files = {
            folder / f"{rater}.{kind}": write(key, rater)
            for rater in raters
            for kind, write in (("html", html_packet), ("csv", csv_packet))
        }
        _refuse(folder, files)
        store_key(db, key, choice, "panel make")
    _store(folder, files)
    return key, tuple(files)


def new_key(db: sqlite3.Connection, task: Task, choice: Choice, raters: Sequence[str], seed: int) -> Key:
    """The key of a panel with a packet for each rater, not stored yet; without raters they share one."""
    panel, secret = panel_identity(db, seed, task, choice.questions)
    key = Key(panel, seed, task, secret, choice.questions, {}, choice.sample.draw)
    packets = {rater: key.packet(rater) for rater in raters}
    return key._replace(packets=packets, shared=() if raters else key.packet(EVERYONE))


def store_key(db: sqlite3.Connection, key: Key, choice: Choice, verb: str) -> None:
    """Store a new key, and the chance of what was drawn, in a transaction that the caller holds."""
    earlier = read_keys(db).values()
    key.task.check_earlier(old.task for old in earlier)
    record_draw(db, key, choice.sample.probabilities, earlier)
    put_key(db, key)
    n = sum(bool(question.answers) for question in choice.questions)
    settings = {"panel": key.panel, "raters": list(key.packets), "n": n, "seed": key.seed}
    # no answer and no mark: findings stay fresh
    put_provenance(db, verb, settings | key.task.settings, changed=0)


def rater_names(raters: Sequence[str]) -> list[str]:
    """The names of raters, checked: one each, fit for a file. Raises `InputError`."""
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
    if repeated := [name for name, key in zip(names, folded, strict=True) if folded.count(key) > 1]:
        raise InputError(f"--raters names {repeated[0]!r} twice: each rater gets a packet of their own.")
    return names


def _refuse(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Raise `StoreError` where a packet would lie over something else, such as one that was filled in."""
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file: give the packets a folder with --to.")
        for path, content in files.items():
            if path.exists() and (path.is_dir() or path.read_bytes() != content):
                raise StoreError(
                    f"{path} is there already and is not this packet; it may have been filled in. Give the "
                    "packets another folder with --to."
                )
    except OSError as error:
        raise StoreError(
            f"cannot look at {folder}: {error.strerror or error}. Choose another --to."
        ) from None


def _store(folder: Path, files: Mapping[Path, bytes]) -> None:
    try:
        private_folder(folder)
        write_all_private(files)
    except OSError as error:
        raise StoreError(
            f"cannot write packets to {folder}: {error.strerror or error}. The key is kept; the same command "
            "with another --to writes the same packets."
        ) from None
