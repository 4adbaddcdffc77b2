"""The modules of a plugin's own folder: found by its import statements, whoever imported them before."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from vivavoce.core.file_hashes import file_hash
from vivavoce.core.local_modules import local_modules


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that Python looks into."""
    place = tmp_path / "plugins"
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    before = set(sys.modules)
    yield place
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, **sources: str) -> Path:
    """Write modules, `_in_` in a name after a folder; the first is returned."""
    files = []
    for name, source in sources.items():
        files.append(folder / f"{name.replace('_in_', '/')}.py")
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        files[-1].write_text(source)
    return files[0]


def names(file: Path, module: ModuleType | None = None) -> list[str]:
    found = local_modules(file, file.parent, module)
    assert found == {path: file_hash(Path(path)) for path in found}
    return [Path(path).relative_to(file.parent).as_posix() for path in found]


def test_a_file_without_imports_has_none(folder: Path) -> None:
    assert [] == names(write(folder, mine="", beside="x = 1"))


def test_what_is_imported_from_the_folder_counts_through_others_and_cycles(folder: Path) -> None:
    mine = write(
        folder, mine="import one_helper, mine", one_helper="from two_helper import x",
        two_helper="import one_helper, mine\nx = 1", beside="x = 1",
    )  # fmt: skip
    assert ["one_helper.py", "two_helper.py"] == names(mine)


def test_packages_count_with_what_they_import_relatively(folder: Path) -> None:
    sources = {
        "mine": "from kit.inner import tool\nimport kit.other.deep", "above": "",
        "kit_in_inner_in___init__": "", "kit_in_inner_in_tool": "from ..low import y",
        "kit_in_low_in___init__": "y = 1",
        "kit_in_other_in_deep": "from ... import above\nfrom .. import shared", "kit_in_shared": "",
        "kit_in_unused": "",
    }  # fmt: skip
    mine = write(folder, **sources)
    write(folder, kit_in___init__="from . import also", kit_in_also="")
    assert [
        "above.py", "kit/__init__.py", "kit/also.py", "kit/inner/__init__.py", "kit/inner/tool.py",
        "kit/low/__init__.py", "kit/other/deep.py", "kit/shared.py",
    ] == names(mine)  # fmt: skip


def test_imports_inside_functions_count_whether_or_not_they_ran(folder: Path) -> None:
    mine = write(folder, mine="def f():\n    import late\n    g = __import__('later')", late="", later="")
    assert ["late.py", "later.py"] == names(mine)
    importlib.import_module("late")
    assert ["late.py", "later.py"] == names(mine)


def test_a_folder_that_python_looks_into_only_later_counts_as_well(tmp_path: Path) -> None:
    mine = write(tmp_path, mine="def f():\n    import viva_late_helper", viva_late_helper="")
    assert ["viva_late_helper.py"] == names(mine)


def test_what_lies_elsewhere_does_not_count(folder: Path, tmp_path: Path) -> None:
    """The standard library, vivavoce and installed packages, also under a name in the folder."""
    mine = write(
        folder, mine="import sys, json, vivavoce, polars, lib.site", json="", polars="", sys="", vivavoce=""
    )
    installed = folder / "env" / "site-packages"
    write(installed, an_installed_one="")
    sys.path.append(str(installed))
    mine.write_text(mine.read_text() + "\nimport an_installed_one")
    try:
        assert [] == names(mine)
    finally:
        sys.path.remove(str(installed))
    away = write(tmp_path / "away", a_helper_elsewhere="")
    sys.path.append(str(away.parent))
    write(folder, a_helper_elsewhere="")  # found first
    mine.write_text("import a_helper_elsewhere")
    assert ["a_helper_elsewhere.py"] == names(mine)
    sys.path.remove(str(away.parent))


def test_a_module_of_that_name_that_was_loaded_from_elsewhere_is_what_is_imported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write(tmp_path / "other", common="")
    loaded = ModuleType("common")
    loaded.__file__ = str(other)
    monkeypatch.setitem(sys.modules, "common", loaded)
    assert [] == names(write(folder, mine="import common", common=""))


def test_a_module_that_was_loaded_by_its_path_counts(folder: Path) -> None:
    mine = write(folder, mine="", by_path="import below", below="")
    module, helper = ModuleType("mine"), ModuleType("by_path")
    helper.__file__ = str(folder / "by_path.py")
    helper.back, module.helper = module, helper  # type: ignore[attr-defined]
    assert ["below.py", "by_path.py"] == names(mine, module)


def test_a_link_counts_by_its_name_in_the_folder(folder: Path, tmp_path: Path) -> None:
    real = write(tmp_path / "real", anything="import beside_the_link")
    (folder / "linked.py").symlink_to(real)
    mine = write(folder, mine="import linked, looped", beside_the_link="")
    os.symlink(folder / "looped.py", folder / "looped.py")
    assert ["beside_the_link.py", "linked.py"] == names(mine)


@pytest.mark.parametrize(
    "content", [b"def broken(:", b"\xff\xfe\x00", b"x = '\\d'", b"(" * 5_000, b"# coding: none\n", b""]
)
def test_a_module_that_is_no_python_counts_by_its_bytes(folder: Path, content: bytes) -> None:
    mine = write(folder, mine="def f():\n    import odd")
    (folder / "odd.py").write_bytes(content)
    assert ["odd.py"] == names(mine)


@pytest.mark.parametrize(
    "source",
    [
        "from . import *", "from .. import x", "from .....far import x", "import gone.away", "import a.b.c",
        "import importlib\nimportlib.import_module('')\nimportlib.import_module('.x')",
        "__import__('a\\0b')\n__import__('../x')\n__import__(name)\n__import__()\nf.import_module(1)",
    ],
)  # fmt: skip
def test_imports_that_lead_nowhere_are_none(folder: Path, source: str) -> None:
    assert [] == names(write(folder, mine=source))


def test_a_pipe_in_place_of_a_module_is_not_read(folder: Path) -> None:
    mine = write(folder, mine="from kit.deep import x", kit_in_deep="from . import y")
    os.mkfifo(folder / "kit" / "__init__.py")
    assert ["kit/deep.py"] == names(mine)


def test_a_module_that_is_gone_is_none(folder: Path) -> None:
    mine = write(folder, mine="import vanished", vanished="")
    importlib.import_module("vanished")
    (folder / "vanished.py").unlink()
    assert [] == names(mine)
