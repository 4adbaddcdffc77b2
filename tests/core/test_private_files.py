import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from vivavoce.core.private_files import (
    create_private,
    draft_of,
    private_folder,
    write_all_private,
    write_private,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request):
    earlier = os.umask(request.param)
    yield
    os.umask(earlier)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_new_file_is_its_owners_alone_under_any_umask(tmp_path, umask):
    assert create_private(tmp_path / "exam.viva")
    write_private(tmp_path / "report.html", "<p>")
    assert (0o600, 0o600) == (mode(tmp_path / "exam.viva"), mode(tmp_path / "report.html"))
    assert b"" == (tmp_path / "exam.viva").read_bytes()


def test_every_missing_folder_on_the_way_is_its_owners_alone(tmp_path, umask):
    private_folder(tmp_path / "a" / "b" / "c")
    assert [0o700] * 3 == [mode(tmp_path / way) for way in ("a", "a/b", "a/b/c")]


def test_what_is_there_keeps_its_mode_and_a_file_its_content(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    kept = tmp_path / "shared" / "kept.viva"
    kept.write_bytes(b"SQLite")
    kept.chmod(0o640)
    private_folder(tmp_path / "shared")
    assert not create_private(kept)
    assert (0o755, 0o640, b"SQLite") == (mode(tmp_path / "shared"), mode(kept), kept.read_bytes())
    write_private(kept, "new")
    assert (0o640, b"new") == (mode(kept), kept.read_bytes())


def test_a_link_to_a_file_stands_for_it_and_one_to_nothing_is_refused(tmp_path):
    (tmp_path / "real.viva").write_bytes(b"run")
    (tmp_path / "link.viva").symlink_to(tmp_path / "real.viva")
    create_private(tmp_path / "link.viva")
    (tmp_path / "dangling.viva").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileNotFoundError, match="leads to no file"):
        create_private(tmp_path / "dangling.viva")
    assert not (tmp_path / "elsewhere").exists()


def test_writing_replaces_a_link_and_spares_what_it_leads_to(tmp_path):
    """In a folder that others write to, a link could lead the report over any file of its owner."""
    (tmp_path / "profile").write_text("mine")
    (tmp_path / "report.html").symlink_to(tmp_path / "profile")
    write_private(tmp_path / "report.html", "page")
    assert "mine" == (tmp_path / "profile").read_text()
    assert ("page", 0o600) == ((tmp_path / "report.html").read_text(), mode(tmp_path / "report.html"))


def test_a_draft_that_another_laid_before_us_is_not_followed(tmp_path, monkeypatch):
    """The name of the draft cannot be foreseen; were it guessed, the file is not opened."""
    monkeypatch.setattr("vivavoce.core.private_files.secrets.token_hex", lambda n: "0000")
    (tmp_path / "profile").write_text("mine")
    draft_of(tmp_path / "report.html").symlink_to(tmp_path / "profile")
    with pytest.raises(FileExistsError):
        write_private(tmp_path / "report.html", "page")
    assert "mine" == (tmp_path / "profile").read_text()


def test_a_file_that_appears_after_the_look_keeps_its_mode(tmp_path, monkeypatch):
    """`create_private` does not look and then create: the system does both at once."""
    monkeypatch.setattr(Path, "exists", lambda path: False)
    (tmp_path / "exam.viva").write_bytes(b"theirs")
    (tmp_path / "exam.viva").chmod(0o644)
    create_private(tmp_path / "exam.viva")
    assert (0o644, b"theirs") == (mode(tmp_path / "exam.viva"), (tmp_path / "exam.viva").read_bytes())


def test_a_folder_or_a_pipe_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OSError, match="no file lies there"):
            write_private(tmp_path / name, "page")
    assert ["folder", "pipe"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_write_that_fails_leaves_the_earlier_file_and_no_draft(tmp_path, monkeypatch):
    write_private(tmp_path / "report.html", "earlier")
    monkeypatch.setattr(Path, "replace", lambda path, to: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_private(tmp_path / "report.html", "later")
    assert ["report.html"] == [path.name for path in tmp_path.iterdir()]
    assert "earlier" == (tmp_path / "report.html").read_text()


def test_a_lone_surrogate_is_written_as_a_question_mark(tmp_path):
    write_private(tmp_path / "report.html", "\ud800 é")
    assert "? é".encode() == (tmp_path / "report.html").read_bytes()


def test_a_file_in_the_way_of_a_folder_is_an_error_of_the_system(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        private_folder(tmp_path / "file" / "below")
    with pytest.raises(FileExistsError):
        private_folder(tmp_path / "file")


def test_a_system_without_modes_or_those_flags_writes_all_the_same(tmp_path):
    program = (
        "import os, pathlib\n"
        "del os.O_NOFOLLOW, os.O_CLOEXEC\n"
        "from vivavoce.core.private_files import create_private, write_private\n"
        f"create_private(pathlib.Path({str(tmp_path / 'a')!r}))\n"
        f"write_private(pathlib.Path({str(tmp_path / 'b')!r}), b'x\\n')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=dict(os.environ))
    assert (b"", b"x\n") == ((tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes())


def test_of_several_files_none_is_replaced_before_all_are_written(tmp_path):
    write_private(tmp_path / "a.json", "earlier")
    with pytest.raises(FileNotFoundError):
        write_all_private({tmp_path / "a.json": "later", tmp_path / "no folder" / "b.json": "later"})
    assert ["a.json"] == [path.name for path in tmp_path.iterdir()]
    assert "earlier" == (tmp_path / "a.json").read_text()
