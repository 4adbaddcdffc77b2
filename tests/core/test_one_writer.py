"""New files are written in one place, under the name of a draft: no half a file has its own name."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import vivavoce
from vivavoce.core.private_files import clear_abandoned, draft_of, whole_file, whole_files, write_private
from vivavoce.core.processes import has_ended

SOURCE = Path(vivavoce.__file__).parent
WRITER = "core/private_files.py"
NO_NEW_FILES = {
    "cli/stdout.py": "the device that takes everything",
    "retrieval/epub.py": "pages in the temporary folder of a process",
    "retrieval/reader_process.py": "the standard output of a process",
    "store/strange_files.py": "a copy in a temporary folder, to look at",
    "store/writer_lock.py": "a lock beside a run",
    "run/fetch/transfer.py": "a download that goes on where it was",
    "evaluators/checkpoint.py": "weights in a draft of `whole_files`",
    "retrieval/index.py": "an index in a draft of its cache",
    "web/annotate/rating.py": "what a rater saves in a run",
}
MODES = {"w", "wb", "x", "xb", "a", "ab", "r+b", "w+b"}
WRITING = {"write_text", "write_bytes", "copyfile", "copy2", "copytree", "save_pretrained", "save"}


def writes(tree: ast.AST) -> list[int]:
    """The lines that open a path for writing, or copy to one."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        modes = [
            n.value for n in (*node.args, *(k.value for k in node.keywords)) if isinstance(n, ast.Constant)
        ]
        opens = name in ("open", "fdopen") and any(
            m in ("w", "wb", "x", "xb", "a", "ab", "r+b") for m in modes
        )
        receiver = getattr(getattr(function, "value", None), "id", "")
        # `archive.open` writes a member of what is open already
        if (opens and receiver != "archive") or (name in WRITING and isinstance(function, ast.Attribute)):
            lines.append(node.lineno)
    return lines


def test_no_other_module_opens_a_file_for_writing() -> None:
    by_module = {
        path.relative_to(SOURCE).as_posix(): writes(ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert by_module.pop(WRITER), "it is seen where files are written"
    assert {} == {name: lines for name, lines in by_module.items() if lines and name not in NO_NEW_FILES}
    assert [] == [name for name in NO_NEW_FILES if not by_module[name]]


def test_a_run_is_copied_in_one_place() -> None:
    holding = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        if '"VACUUM INTO' in path.read_text(encoding="utf-8")
    ]
    assert ["store/runfile.py"] == holding


def test_a_whole_file_has_its_name_at_the_end_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "exam.viva"
    with whole_file(path) as draft:
        draft.write_bytes(b"a run")
        assert not path.exists()
    assert (b"a run", [path]) == (path.read_bytes(), list(tmp_path.iterdir()))
    with pytest.raises(FileExistsError), whole_file(path) as draft:
        draft.write_bytes(b"another")
    with pytest.raises(IsADirectoryError), whole_file(tmp_path / "broken.viva") as draft:
        tmp_path.write_bytes(draft.write_bytes(b"half").to_bytes())
    assert (b"a run", [path]) == (path.read_bytes(), list(tmp_path.iterdir()))


def test_on_a_disk_without_hard_links_a_file_is_renamed_and_replaces_nothing(tmp_path, monkeypatch) -> None:
    def link(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    with whole_file(tmp_path / "exam.viva") as draft:
        draft.write_bytes(b"a run")
    with pytest.raises(FileExistsError), whole_file(tmp_path / "exam.viva") as draft:
        draft.write_bytes(b"another")
    assert b"a run" == (tmp_path / "exam.viva").read_bytes()
    assert ["exam.viva"] == os.listdir(tmp_path)


def test_files_of_a_library_have_their_names_when_all_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "run-1"
    with whole_files(folder) as draft:
        for name in ("weights", "head"):
            (draft / name).write_bytes(b"first")
    (folder / "head").chmod(0o640)
    with pytest.raises(IsADirectoryError), whole_files(folder) as draft:
        draft.write_bytes((draft / "weights").write_bytes(b"half").to_bytes())
    assert {"weights", "head"} == {path.name for path in folder.iterdir()}
    with whole_files(folder) as draft:
        (draft / "head").write_bytes(b"second")
        (draft / "templates").mkdir()
        (draft / "templates" / "head").write_bytes(b"third")
        assert b"first" == (folder / "head").read_bytes()
    assert b"firstsecond" == (folder / "weights").read_bytes() + (folder / "head").read_bytes()
    assert b"third" == (folder / "templates" / "head").read_bytes()
    if os.name == "posix":
        assert [0o640, 0o600] == [(folder / name).stat().st_mode & 0o777 for name in ("head", "weights")]


KILLED = """
import os, signal, sys
from pathlib import Path
from vivavoce.core.private_files import draft_of
file, folder = (draft_of(Path(sys.argv[1]) / name) for name in ("exam.viva", "tables"))
file.write_text("half")
file.with_name(file.name + "-journal").write_text("half")
(folder / "export").mkdir(parents=True)
(folder / "export" / "scores.csv").write_text("half")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say which process has ended")
@pytest.mark.parametrize("makes_another", [True, False])
def test_the_drafts_of_a_killed_process_go_and_those_of_a_living_one_stay(tmp_path, makes_another) -> None:
    process = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert -signal.SIGKILL == process.returncode
    living = draft_of(tmp_path.parent / "mine")
    foreign = f".theirs.{'0' * 8}-{2**22}-{'0' * 8}.part"
    for name in (living.name, foreign):
        (tmp_path / name).write_text("a draft at work")
    assert 5 == len(list(tmp_path.iterdir()))
    if makes_another:
        write_private(tmp_path / "a.txt", "")
        (tmp_path / "a.txt").unlink()
    else:
        clear_abandoned(tmp_path)
    assert sorted((living.name, foreign)) == sorted(path.name for path in tmp_path.iterdir())
    assert has_ended(2**22), "it is left alone as another machine's"
