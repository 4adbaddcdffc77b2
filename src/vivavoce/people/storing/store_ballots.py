"""Store the ballots of files in the run, all of them or none."""

from collections.abc import Sequence
from pathlib import Path

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.people.stored_keys import read_keys
from vivavoce.people.storing.put_ballot import BallotsStored, put_ballot
from vivavoce.people.storing.read_ballots import Ballot, open_ballot
from vivavoce.store.runfile import RunFile


def store_ballots(
    run: RunFile, files: Sequence[Path], *, partial: bool = False, replace: bool = False
) -> tuple[BallotsStored, ...]:
    """Store the ballots of these files as scores, ranks by `panel(id=…)`, ratings by `rating(rubric=…)`.

    All of them or none. `partial` leaves out questions that are not ranked or rated, and stores no value
    where none was given, instead of refusing the file. A ballot that says what is stored already changes
    nothing; one that says otherwise is refused unless `replace`, which puts it in its place and notes both in
    the run's events. That holds for what was taken back too: a tag or a rating that is gone, or all that was
    said of a question, which then leaves the run. Raises `InputError` as `open_ballot`, and for what is not
    filled in.
    """
    if not files:
        raise SelectionError(
            "name the ballots that came back: .json files of the pages, or filled .csv files."
        )
    with run.reading() as db:
        keys = read_keys(db)
    ballots = [open_ballot(file, keys, run.path) for file in files]
    _refuse_twice(ballots)
    if not partial:
        for ballot in ballots:
            _refuse_gaps(ballot)
    with run.writing() as db:
        return tuple(put_ballot(db, ballot, replace) for ballot in ballots)


def _refuse_twice(ballots: Sequence[Ballot]) -> None:
    sources: dict[tuple[str, str], str] = {}
    for ballot in ballots:
        identity = (ballot.key.panel, ballot.rater)
        if identity in sources:
            raise InputError(
                f"{sources[identity]} and {ballot.source} are both ballots of {ballot.rater}: read the one "
                "that counts."
            )
        sources[identity] = ballot.source


def _refuse_gaps(ballot: Ballot) -> None:
    gaps = [
        f"{filled.seen_question.question.name} lacks {filled.lacking}"
        for filled in ballot.filled
        if filled.lacking
    ]
    if gaps:
        further = f"; and {len(gaps) - 5} more" if len(gaps) > 5 else ""
        raise InputError(
            f"{ballot.source} is half filled, {len(ballot.filled) - len(gaps)} of {len(ballot.filled)} "
            f"questions are complete: {'; '.join(gaps[:5])}{further}. Send it back, or take what is there "
            "with --partial; nothing was stored."
        )
