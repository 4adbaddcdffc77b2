"""A view of a run: when it ends, what it sees of its own writing, and that its checks are not left out."""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.conftest import Make

from vivavoce.core.errors import RunNotFound, StoreError
from vivavoce.run.run import open_run
from vivavoce.store import read
from vivavoce.store.view import View, view_of
from vivavoce.store.write import put_event

TRIGGER = "CREATE TRIGGER more AFTER INSERT ON events BEGIN DELETE FROM scores; END"


def n_events(db: sqlite3.Connection) -> int:
    return len(read.events(db, "note"))


def note_and_break(view: View, *, keep_state: bool) -> None:
    with view.writing(keep_state=keep_state) as db:
        put_event(db, "note", {})
        raise ZeroDivisionError


def test_a_view_of_no_run_makes_no_file(tmp_path: Path) -> None:
    run = open_run(tmp_path / "none.viva")
    with view_of(run.file) as view:
        assert not view.exists
        with pytest.raises(RunNotFound):
            view.db  # noqa: B018
    assert [] == list(tmp_path.iterdir())


def test_a_view_keeps_its_state_and_sees_what_is_written_when_it_is_renewed(make: Make) -> None:
    run = make()
    with view_of(run.file) as view:
        assert 0 == view.fetch(n_events)
        with run.file.writing() as db:
            put_event(db, "note", {})
        assert (0, 0) == (view.fetch(n_events), n_events(view.db))
        view.renew()
        assert (1, 1) == (view.fetch(n_events), n_events(view.db))


def test_what_a_view_writes_is_in_its_next_state(make: Make) -> None:
    with view_of(make().file) as view:
        assert 0 == view.fetch(n_events)
        with view.writing() as db:
            put_event(db, "note", {})
        assert 1 == view.fetch(n_events)


def test_a_view_that_keeps_its_state_sees_its_own_writing_when_it_is_renewed(make: Make) -> None:
    with view_of(make().file) as view:
        assert 0 == view.fetch(n_events)
        for _ in range(2):
            with view.writing(keep_state=True) as db:
                put_event(db, "note", {})
        assert (0, 0) == (view.fetch(n_events), n_events(view.db))
        view.renew()
        assert 2 == view.fetch(n_events)


def test_writing_that_breaks_is_taken_back_and_the_view_goes_on(make: Make) -> None:
    with view_of(make().file) as view:
        for keep_state in (False, True):
            with pytest.raises(ZeroDivisionError):
                note_and_break(view, keep_state=keep_state)
            assert 0 == n_events(view.db)


def test_nothing_is_written_through_what_a_view_reads_by(make: Make) -> None:
    with view_of(make().file) as view:
        with view.writing() as db:
            put_event(db, "note", {})
        with pytest.raises(StoreError, match=r"readonly|read-only"), view.run.explained():
            view.db.execute("DELETE FROM scores")


@pytest.mark.parametrize("keep_state", [False, True])
def test_a_copy_which_has_no_write_ahead_log_is_written_at_once(
    make: Make, tmp_path: Path, keep_state: bool
) -> None:
    """Who reads it keeps it from getting one: the view itself must not be waited for."""
    copy = open_run(make().copy(tmp_path / "copy.viva"))
    start = time.monotonic()
    with view_of(copy.file) as view:
        assert 0 == view.fetch(n_events)
        with view.writing(keep_state=keep_state) as db:
            put_event(db, "note", {})
        view.renew()
        assert 1 == view.fetch(n_events)
    assert 20 > time.monotonic() - start


@pytest.mark.parametrize("use", ["read", "write", "write and keep the state"])
def test_a_stranger_s_trigger_that_comes_while_a_view_is_open_is_refused(make: Make, use: str) -> None:
    run = make()
    with view_of(run.file) as view:
        with view.writing(keep_state=True) as db:  # both connections are open
            put_event(db, "note", {})
        assert 1 == n_events(view.db)
        view.renew()
        with closing(sqlite3.connect(run.file.path)) as stranger:
            stranger.execute(TRIGGER)
        with pytest.raises(StoreError, match="trigger 'more'"):
            used(view, use)
    with closing(sqlite3.connect(run.file.path)) as db:
        assert (1,) == db.execute("SELECT count(*) FROM events WHERE kind = 'note'").fetchone()


def used(view: View, use: str) -> None:
    if use == "read":
        assert n_events(view.db) >= 0
    else:
        with view.writing(keep_state=use != "write") as db:
            put_event(db, "note", {})


def test_small_tables_are_checked_each_time_a_view_begins(make: Make) -> None:
    run = make()
    with view_of(run.file) as view:
        assert 0 == n_events(view.db)
        view.renew()
        with closing(sqlite3.connect(run.file.path)) as stranger:
            stranger.execute("UPDATE statuses SET status = 'well' WHERE status_id = 0")
            stranger.commit()
        with pytest.raises(StoreError, match="statuses"), run.file.explained():
            n_events(view.db)


def test_a_view_belongs_to_one_thread(make: Make) -> None:
    errors = []
    with view_of(make().file) as view:

        def look() -> None:
            try:
                n_events(view.db)
            except RuntimeError as error:
                errors.append(str(error))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert ["a view belongs to one thread: another opens its own."] == errors


def test_a_view_that_has_ended_shows_nothing(make: Make) -> None:
    with view_of(make().file) as view:
        assert 0 == n_events(view.db)
    with pytest.raises(RuntimeError, match="ended"):
        view.db  # noqa: B018
