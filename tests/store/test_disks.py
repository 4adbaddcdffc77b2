"""Disks: a network disk is refused for writing, and full, read-only and failing disks are told apart."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from tests.store.readonly import unreadable
from tests.store.strangers import folder_bytes
from tests.store.test_runfile import older

import vivavoce as viva
from vivavoce.core.errors import StoreError
from vivavoce.run.run import Run
from vivavoce.store import disks
from vivavoce.store.disks import NETWORK_DISKS, network_disk
from vivavoce.store.read import events
from vivavoce.store.runfile import RunFile
from vivavoce.store.schema import MIGRATIONS
from vivavoce.store.sqlite_errors import Unwritable
from vivavoce.store.view import View, view_of
from vivavoce.store.write import put_event

Make = Callable[..., Run]
Mount = Callable[..., None]


@pytest.fixture
def mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mount:
    """`mount((point, type), …)` makes these the mounted disks."""
    table = tmp_path.parent / f"{tmp_path.name}.mountinfo"

    def mounted(*mounts: tuple[Path, str]) -> None:
        lines = [
            f"{36 + k} 35 98:{k} / {str(point).replace(' ', chr(92) + '040')} rw shared:1 - {kind} a b\n"
            for k, (point, kind) in enumerate([(Path("/"), "ext4"), *mounts])
        ]
        table.write_text("".join(lines), encoding="utf-8")
        monkeypatch.setattr(disks, "MOUNT_TABLE", table)
        disks._mounts.cache_clear()

    return mounted


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "lustre", "fuse.sshfs"])
def test_a_run_on_a_network_disk_is_read_and_never_written(
    make: Make, mount: Mount, tmp_path: Path, kind: str
) -> None:
    path = make().file.path
    before = folder_bytes(tmp_path)
    mount((tmp_path, kind))
    run = viva.open(path)
    assert 6 == len(run.responses)
    words = (
        rf"exam\.viva lies on a network disk \({kind}\), where locks do not hold between machines: copy it to"
    )
    for write in (
        lambda: run.score("token_f1"),
        lambda: make("exam.viva", "C"),
        RunFile(path).writing().__enter__,
        RunFile(path).connected().__enter__,
    ):
        with pytest.raises(StoreError, match=words):
            write()
    with pytest.raises(StoreError, match=r"new\.viva lies on a network disk"):
        make("new.viva")
    after = folder_bytes(tmp_path)
    assert {n: b for n, b in before.items() if "answers" not in n} == {
        n: b for n, b in after.items() if "answers" not in n
    }


def test_the_way_out_of_a_network_disk_is_a_copy(
    make: Make, mount: Mount, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, local = make().file.path, tmp_path_factory.mktemp("local")
    mount((tmp_path, "nfs4"))
    copy = viva.open(viva.open(path).copy(local / "exam.viva"))
    copy.score("token_f1")
    other = viva.open(local / "other.viva")
    other.merge(path)
    assert (4, 6) == (len(copy.scores), len(other.responses))
    back = viva.open(copy.copy(tmp_path / "back.viva"))
    assert 4 == len(back.scores)


def test_an_older_run_on_a_network_disk_is_read_from_a_copy_brought_up_to_date(
    mount: Mount, tmp_path: Path
) -> None:
    older(tmp_path / "old.viva", 1)
    before = folder_bytes(tmp_path)
    mount((tmp_path, "nfs"))
    assert ["a"] == viva.open(tmp_path / "old.viva").responses["text"].to_list()
    assert before == folder_bytes(tmp_path)
    mount()
    assert ["a"] == viva.open(tmp_path / "old.viva").responses["text"].to_list()
    with closing(sqlite3.connect(tmp_path / "old.viva")) as db:
        assert len(MIGRATIONS) == db.execute("PRAGMA user_version").fetchone()[0]


def test_a_run_that_is_being_written_on_a_network_disk_is_not_read_past_its_wal(
    make: Make, mount: Mount, tmp_path: Path
) -> None:
    path = make().file.path
    with RunFile(path).connected() as db:
        db.execute("INSERT INTO candidates (candidate, role) VALUES ('Z', 'candidate')")
        mount((tmp_path, "cifs"))
        with pytest.raises(
            StoreError, match=r"lies on a network disk \(cifs\), and by the -wal file beside it"
        ):
            viva.open(path)


def test_the_longest_mount_point_decides_and_the_last_of_equal_ones(mount: Mount, tmp_path: Path) -> None:
    inner = tmp_path / "with a space"
    inner.mkdir()
    mount((tmp_path, "nfs4"), (inner, "ext4"))
    assert (None, "nfs4") == (network_disk(inner / "x.viva"), network_disk(tmp_path / "x.viva"))
    mount((tmp_path, "ext4"), (inner, "cifs"))
    assert ("cifs", None) == (network_disk(inner / "x.viva"), network_disk(tmp_path / "x.viva"))
    mount((tmp_path, "nfs"), (tmp_path, "xfs"))
    assert network_disk(tmp_path / "x.viva") is None
    mount((tmp_path / "wit", "nfs"))
    assert network_disk(inner / "x.viva") is None
    link = tmp_path / "link"
    link.symlink_to(inner)
    mount((inner, "smb3"))
    assert "smb3" == network_disk(link / "none" / "x.viva")


@pytest.mark.parametrize(
    "kind", ["ext4", "overlay", "9p", "virtiofs", "fuse.mergerfs", "fuseblk", "tmpfs", "btrfs"]
)
def test_disks_that_containers_and_virtual_machines_show_are_written(
    make: Make, mount: Mount, tmp_path: Path, kind: str
) -> None:
    assert kind not in NETWORK_DISKS
    mount((tmp_path, kind))
    assert 6 == len(make().responses)


@pytest.mark.parametrize("table", [b"", b"\xff\xfe nonsense\n - \n", b"1 2 3:4 / /\n", None])
def test_where_the_mount_table_says_nothing_every_disk_is_local(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: bytes | None
) -> None:
    path = tmp_path / "mountinfo"
    if table is not None:
        path.write_bytes(table)
    monkeypatch.setattr(disks, "MOUNT_TABLE", path)
    disks._mounts.cache_clear()
    assert 6 == len(make().responses)


# Errors of SQLite, told apart by their codes


def failing(name: str, words: str = "disk I/O error") -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(words)
    error.sqlite_errorcode, error.sqlite_errorname = getattr(sqlite3, name), name
    return error


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SQLITE_FULL", "the disk is full: nothing of this step was written"),
        ("SQLITE_READONLY", "the file or its folder is read-only"),
        ("SQLITE_CANTOPEN", "the file or its folder is read-only"),
        ("SQLITE_IOERR_READ", r"the disk failed under .* \(SQLITE_IOERR_READ\).*check this disk"),
        ("SQLITE_IOERR_WRITE", r"the disk failed under .* \(SQLITE_IOERR_WRITE\)"),
        ("SQLITE_IOERR_FSYNC", r"the disk failed under .* \(SQLITE_IOERR_FSYNC\)"),
        ("SQLITE_PROTOCOL", r"does not lock files as SQLite needs \(SQLITE_PROTOCOL\), as network disks do"),
        ("SQLITE_IOERR_LOCK", r"does not lock files .*copy the run to a local disk"),
        ("SQLITE_IOERR_SHMMAP", r"does not lock files .*copy the run to a local disk"),
        ("SQLITE_BUSY_RECOVERY", "was kept locked by another process"),
        ("SQLITE_IOERR_CORRUPTFS", r"it is damaged\. Restore a copy, or give another path"),
        ("SQLITE_CORRUPT_INDEX", r"it is damaged\. Restore a copy, or give another path"),
        ("SQLITE_NOTADB", "it is another kind of file, or it is damaged"),
        ("SQLITE_TOOBIG", r"no value of more than 1 GB can stand in"),
    ],
)  # fmt: skip
def test_errors_of_the_disk_are_told_apart(tmp_path: Path, name: str, words: str) -> None:
    run = RunFile(tmp_path / "exam.viva")
    with pytest.raises(StoreError, match=words), run.explained():
        raise failing(name)


def test_a_run_without_the_right_to_read_it_is_not_called_read_only(tmp_path: Path) -> None:
    path = tmp_path / "exam.viva"
    with RunFile(path).writing():
        pass
    printed = unreadable(
        path,
        """
        import sys
        from pathlib import Path
        import vivavoce as viva
        from vivavoce.run.shards.progress import snapshot
        path = Path(sys.argv[1])
        try:
            viva.open(path).responses
        except viva.VivaError as error:
            print(error)
        print(snapshot(path.parent)[0].error)
        """,
    ).splitlines()
    sentence = f"cannot read {path}: its permissions do not allow it. Ask its owner for the right to read it"
    assert [f"{sentence}, or for a copy."] * 2 == printed
    assert [path] == list(tmp_path.iterdir())


def test_a_quota_or_a_limit_on_files_counts_as_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one code for a write that failed; the disk is asked for a megabyte to know why."""
    monkeypatch.setattr("vivavoce.store.sqlite_errors._is_full", lambda path: True)
    with pytest.raises(Unwritable, match="the disk is full"), RunFile(tmp_path / "x.viva").explained():
        raise failing("SQLITE_IOERR_WRITE")
    with pytest.raises(StoreError, match="the disk failed"), RunFile(tmp_path / "x.viva").explained():
        raise failing("SQLITE_IOERR_READ")
    assert [] == list(tmp_path.iterdir())


def test_a_fault_of_our_own_statements_is_not_explained_away(tmp_path: Path) -> None:
    for error in (
        sqlite3.IntegrityError("CHECK constraint failed"),
        sqlite3.ProgrammingError("closed"),
        KeyError(1),
    ):
        with pytest.raises(type(error)), RunFile(tmp_path / "x.viva").explained():
            raise error


# Modes


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_run_is_its_owner_s_alone_and_so_is_what_lies_beside_it(make: Make, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = make().file.path
        with RunFile(path).connected() as db:
            db.execute("INSERT INTO candidates (candidate, role) VALUES ('Z', 'candidate')")
            assert {"exam.viva": 0o600, "exam.viva-wal": 0o600, "exam.viva-shm": 0o600} == {
                file.name: mode(file) for file in tmp_path.glob("exam.viva*") if "answers" not in file.name
            }
    finally:
        os.umask(before)


def test_a_run_that_is_there_keeps_its_mode(make: Make) -> None:
    path = make().file.path
    path.chmod(0o664)
    make("exam.viva", "C")
    with RunFile(path).connected() as db:
        db.execute("INSERT INTO candidates (candidate, role) VALUES ('Z', 'candidate')")
        assert {0o664} == {mode(file) for file in (path, path.with_name("exam.viva-wal"))}


def test_no_run_is_made_where_a_link_leads_to_nothing(make: Make, tmp_path: Path) -> None:
    (tmp_path / "exam.viva").symlink_to(tmp_path / "elsewhere.viva")
    with pytest.raises(StoreError, match=r"cannot make .*exam\.viva: it is a link that leads to no file"):
        make()
    assert not (tmp_path / "elsewhere.viva").exists()


def n_notes(db: sqlite3.Connection) -> int:
    return len(events(db, "note"))


def note(view: View, *, keep_state: bool) -> None:
    with view.writing(keep_state=keep_state) as db:
        put_event(db, "note", {})


@pytest.mark.parametrize("written", [False, True])
def test_a_view_on_a_network_disk_is_renewed_and_written_as_any_other(
    make: Make, tmp_path: Path, mount: Mount, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """What others wrote is seen in a new state; where the run may not be written, that is said as always."""
    run = make()
    mount((tmp_path, "nfs4"))
    first, second = (RunFile(run.file.path, network_disk=network) for network in (written, True))
    with view_of(first) as view:
        assert 0 == view.fetch(n_notes)
        with second.writing() as db:
            put_event(db, "note", {})
        assert 0 == n_notes(view.db)
        view.renew()
        assert 1 == n_notes(view.db)
        for keep_state in (False, True):
            with nullcontext() if written else pytest.raises(StoreError, match="lies on a network disk"):
                note(view, keep_state=keep_state)
        view.renew()
        assert (3 if written else 1) == n_notes(view.db)
