"""Claims on the helpers of the tests: a table names all cases that fail, a copied run is the built one."""

from pathlib import Path

import pytest
from tests.cases import each_case
from tests.finished_runs import Store, finished_run
from tests.imports import reaches
from tests.temporary import hold_in_memory

CALLS: list[str] = []


def build(folder: Path, text: str) -> None:
    CALLS.append(text)
    if text == "refused":
        raise ValueError(folder.name)
    (folder / "run.viva").write_text(text)


def test_imports_are_found_in_functions_by_other_names_and_by_lazy_modules(tmp_path):
    code = (
        "import a.b, c as d  # e\n"
        "from f import (\n    g as h,  # i\n    j,\n)\n"
        "k, l = lazy_module('m.n'), lazy_module('o')\n"
        "def p():\n    from q.r import *\n    return 'import s'\n"
    )
    file = tmp_path / "test_a.py"
    file.write_text(code.replace("'", '"'))
    names = {"a.b": 1, "c": 1, "f.g": 1, "f.j": 1, "m.n": 1, "o": 1, "q.r.*": 1}
    strangers = dict.fromkeys(("a.b.c", "d", "e", "g", "h", "i", "s"), 0)
    assert names | strangers == {name: reaches(file, [name]) for name in names | strangers}


@pytest.fixture
def calls(tmp_path, monkeypatch) -> list[str]:
    """The texts that were built, in a store of this test's own."""
    (tmp_path / "store").mkdir()
    monkeypatch.setattr(Store, "folder", tmp_path / "store")
    monkeypatch.setattr(Store, "is_closed", False)
    CALLS.clear()
    return CALLS


def copy(folder: Path, text: str) -> str:
    folder.mkdir()
    finished_run(folder, build, text)
    return (folder / "run.viva").read_text()


def test_a_finished_run_is_built_once_for_each_content(tmp_path, calls):
    texts = ["a", "b", "a", "a"]
    assert texts == [copy(tmp_path / str(k), text) for k, text in enumerate(texts)]
    assert ["a", "b"] == calls


def test_while_a_test_may_patch_what_builds_runs_each_is_built(tmp_path, calls, monkeypatch):
    monkeypatch.setattr(Store, "is_closed", True)
    assert ["a", "a"] == [copy(tmp_path / str(k), "a") for k in range(2)]
    assert ["a", "a"] == calls


def test_a_change_of_a_copy_is_seen_in_no_other(tmp_path, calls):
    copy(tmp_path / "first", "a")
    (tmp_path / "first" / "run.viva").write_text("changed")
    assert "a" == copy(tmp_path / "second", "a")


def test_what_building_raises_names_the_folder_of_the_test_and_is_not_stored(tmp_path, calls):
    for name in ("first", "second"):
        with pytest.raises(ValueError, match=name):
            copy(tmp_path / name, "refused")
    assert [] == list(Store.folder.iterdir())


def test_a_function_with_hidden_content_is_refused(tmp_path, calls):
    with pytest.raises(TypeError, match="lambda"):
        finished_run(tmp_path, lambda folder: None)


def test_all_cases_of_a_table_run_and_those_that_fail_are_named():
    checked = []

    @each_case("n, expected", [(1, 1), (2, 3), (3, 3), (4, 5)])
    def check(n, expected):
        checked.append(n)
        assert expected == n

    with pytest.raises(pytest.fail.Exception) as failure:
        check()
    assert [1, 2, 3, 4] == checked
    assert ["2 of 4 cases fail", "n=2", "n=4"] == [
        line.split(",")[0] for line in str(failure.value).splitlines() if line.startswith(("2 of", "n="))
    ]


def test_a_long_list_of_failures_is_cut_and_counted():
    @each_case("n", range(30))
    def check(n):
        raise AssertionError

    with pytest.raises(pytest.fail.Exception, match=r"30 of 30 cases fail(.*\n)+and 10 more"):
        check()


def test_temporary_files_lie_in_memory_unless_somebody_chose_or_there_is_no_room(tmp_path):
    def chosen(room: int = 0, folder: Path = tmp_path, **variables: str) -> dict[str, str]:
        hold_in_memory(variables, folder, room)
        return variables

    assert {"TMPDIR": str(tmp_path)} == chosen()
    assert {"TMPDIR": "/mine"} == chosen(TMPDIR="/mine")
    assert {} == chosen(room=2**62)
    assert {} == chosen(folder=tmp_path / "nowhere")
