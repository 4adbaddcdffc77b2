"""Calls of a process that lost its lease: what they took is stored, and no reply of another is put aside."""

from pathlib import Path

import pytest

from vivavoce.store.calls import CallRecord, put_calls, stored_reply
from vivavoce.store.runfile import RunFile

CALL = CallRecord(
    "key", "fake/j", "fake", 1, "generate", "judge", "ok", 1, 0.5, 11, 3, 14.0, None, '{"text": "first"}'
)
LATE = CALL._replace(reply='{"text": "late"}')


@pytest.fixture
def run(tmp_path: Path) -> RunFile:
    run = RunFile(tmp_path / "run.viva")
    with run.writing():
        pass
    return run


def stored(run: RunFile, *batches: tuple[CallRecord, bool]) -> tuple[str | None, list[tuple[str, float]]]:
    """The reply that counts, and the status and cost of each call."""
    with run.connected() as db:
        for call, late in batches:
            put_calls(db, [call], late=late)
        rows = db.execute("SELECT status, cost FROM calls ORDER BY call_id").fetchall()
        return stored_reply(db, "judge", "key", "fake/j", 1), rows


def test_a_late_reply_is_stored_where_there_is_none(run: RunFile) -> None:
    assert (LATE.reply, [("ok", 14.0)]) == stored(run, (LATE, True))


def test_a_late_reply_goes_before_none_that_is_stored_and_its_cost_counts(run: RunFile) -> None:
    assert (CALL.reply, [("ok", 14.0)] * 2) == stored(run, (CALL, False), (LATE, True))


def test_a_late_reply_gives_way_to_that_of_the_lease_s_holder(run: RunFile) -> None:
    assert (CALL.reply, [("ok", 14.0)] * 2) == stored(run, (LATE, True), (CALL, False))


@pytest.mark.parametrize("others", [{"key": "k2"}, {"model": "fake/k"}, {"repeat": 2}, {"purpose": "build"}])
def test_another_call_keeps_nobody_from_storing(run: RunFile, others: dict[str, object]) -> None:
    assert (LATE.reply, [("ok", 14.0)] * 2) == stored(run, (CALL._replace(**others), False), (LATE, True))


def test_a_late_reply_goes_before_one_that_cannot_be_used(run: RunFile) -> None:
    failed = CALL._replace(status="failed", error="no number")
    assert (LATE.reply, [("failed", 14.0), ("ok", 14.0)]) == stored(run, (failed, False), (LATE, True))


def test_a_late_reply_that_cannot_be_used_is_stored_as_such(run: RunFile) -> None:
    failed = LATE._replace(status="failed", error="no number")
    assert (CALL.reply, [("ok", 14.0), ("failed", 14.0)]) == stored(run, (CALL, False), (failed, True))
    with run.reading() as db:
        assert LATE.reply == db.execute("SELECT reply FROM calls ORDER BY call_id DESC").fetchone()[0]
