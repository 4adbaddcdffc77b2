"""What vivavoce is made of: floors above known holes, licences, the bill of materials, and the wheel."""

import fnmatch
import json
import re
import subprocess
import sys
import tarfile
import threading
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from tests.tools.loading import tool

HOLES = {
    "aiohttp": ("3.14.3", "CVE-2026-69244"),
    "jinja2": ("3.1.6", "CVE-2025-27516"),
    "pyyaml": ("5.4", "CVE-2020-14343"),
    "numpy": ("1.22.2", "CVE-2021-41495"),
    "scipy": ("1.10.0", "CVE-2023-25399"),
    "torch": ("2.13.0", "CVE-2025-3000"),
    "transformers": ("5.10.0", "CVE-2026-9856"),
    "pymdown-extensions": ("11.0.1", "CVE-2026-67422"),
    "pytest": ("9.0.3", "CVE-2025-71176"),
}
"""The first version without the newest hole that was known when this was written, and that hole."""


@pytest.fixture(scope="module")
def table(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(table: Mapping[str, Any]) -> list[Requirement]:
    groups = (table["dependencies"], *table["optional-dependencies"].values())
    return [Requirement(text) for group in groups for text in group]


def at_run_time(table: Mapping[str, Any]) -> list[str]:
    """What the core and the extras of users ask for."""
    extras = table["optional-dependencies"]
    groups = (table["dependencies"], *(extras[name] for name in extras if name not in ("dev", "docs")))
    return [text for group in groups for text in group if not text.startswith("vivavoce[")]


def process(root: Path, name: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """A tool, run as `make lint` runs it."""
    return subprocess.run(
        [sys.executable, str(root / "tools" / f"{name}.py"), *words],
        capture_output=True, text=True, timeout=120, env={"HOME": str(root)},
    )  # fmt: skip


@pytest.fixture
def licences(tmp_path: Path, monkeypatch: Any, capsys: Any) -> Callable[[], tuple[int, str]]:
    """A call of `tools/dependencies.py`, for which `tmp_path` comes first: its exit code and its text."""
    monkeypatch.syspath_prepend(tmp_path)

    def call() -> tuple[int, str]:
        code = tool("dependencies").main()
        return code, capsys.readouterr().out

    return call


@pytest.mark.parametrize("name", HOLES)
def test_no_floor_lets_a_version_with_a_known_hole_in(table: dict[str, Any], name: str) -> None:
    sound, hole = HOLES[name]
    asked = [entry for entry in requirements(table) if entry.name == name]
    assert asked, name
    major, minor, micro = (*Version(sound).release, 0)[:3]
    older = ["0", "1.0", f"{sound}rc1", *(f"{major}.{n}" for n in range(minor)),
             *(f"{major}.{minor}.{n}" for n in range(micro))]  # fmt: skip
    for one in asked:
        assert not any(one.specifier.contains(version, prereleases=True) for version in older), hole


def test_every_requirement_at_run_time_has_a_floor(table: dict[str, Any]) -> None:
    asked = at_run_time(table)
    assert [] == [text for text in asked if ">=" not in text]


def test_what_is_installed_with_vivavoce_is_under_licences_of_the_list(root: Path) -> None:
    done = process(root, "dependencies")
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    assert re.match(r"\d+ packages, licences: Apache-2.0; ", done.stdout)


def package(folder: Path, name: str, *metadata: str, needs: str = "") -> None:
    """A package as installed: its metadata, which is all that is looked at."""
    info = folder / f"{name}-99.0.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 99.0", *metadata]
    lines += [f"Requires-Dist: {needs}"] if needs else []
    (info / "METADATA").write_text("\n".join(lines) + "\n\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("metadata", "terms"),
    [
        (["License-Expression: GPL-3.0-only"], "GPL-3.0-only"),
        (["License-Expression: MIT AND AGPL-3.0-or-later"], "AGPL-3.0-or-later"),
        (["Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)"], "GPLv3"),
        (["License: MIT", "Classifier: License :: Other/Proprietary License"], "Proprietary"),
        (["License: free for research"], "free for research"),
        (["Summary: says nothing"], "no licence that is known"),
    ],
)
def test_a_licence_that_is_not_on_the_list_fails_with_the_way_to_it(
    licences: Any, tmp_path: Path, metadata: list[str], terms: str
) -> None:
    package(tmp_path, "typer", "License-Expression: MIT", needs="deep>=1")
    package(tmp_path, "deep", *metadata)
    code, text = licences()
    assert 1 == code
    (line,) = text.splitlines()
    assert line.startswith("vivavoce needs typer needs deep, whose metadata say ")
    assert terms in line


@pytest.mark.parametrize("terms", ["MIT OR GPL-3.0-only", "(GPL-2.0-only OR ISC) AND 0BSD"])
def test_a_package_that_leaves_a_choice_is_taken_by_the_one_on_the_list(
    licences: Any, tmp_path: Path, terms: str
) -> None:
    package(tmp_path, "typer", f"License-Expression: {terms}")
    assert 0 == licences()[0]


def test_an_extra_that_nobody_asks_for_is_not_looked_at(licences: Any, tmp_path: Path) -> None:
    package(tmp_path, "typer", "License-Expression: MIT", needs='deep; extra == "all"')
    package(tmp_path, "deep", "License-Expression: GPL-3.0-only")
    assert 0 == licences()[0]


def test_a_package_that_is_missing_is_named(licences: Any, tmp_path: Path) -> None:
    package(tmp_path, "typer", "License-Expression: MIT", needs="surely-not-installed")
    code, text = licences()
    assert 1 == code
    assert "typer needs surely-not-installed, which is not installed" in text


Known = Mapping[tuple[str, str], str | None]
"""Package and version, and the version that closes its hole, or null where none does."""


@contextmanager
def advisories(known: Known) -> Iterator[str]:
    """A service on this machine that answers in the form of OSV."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = (asked["package"]["name"], asked["version"])
            events = [{"introduced": "0"}] + ([{"fixed": known[key]}] if known.get(key) else [])
            hole = {
                "id": "PYSEC-1", "modified": "2026-01-01T00:00:00Z", "published": "2026-01-01T00:00:00Z",
                "details": "a hole", "summary": "a hole",
                "affected": [
                    {"package": asked["package"], "ranges": [{"type": "ECOSYSTEM", "events": events}]}
                ],
            }  # fmt: skip
            body = json.dumps({"vulns": [hole]} if key in known else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
    finally:
        server.shutdown()
        server.server_close()


CANARY = {("jinja2", "3.1.5"): "3.1.6"}


def test_a_hole_in_a_floor_or_in_what_is_installed_fails(root: Path) -> None:
    """The one audit by pip-audit itself: what it says is what `audit` below answers."""
    from importlib.metadata import version

    known = CANARY | {("aiohttp", "3.14.3"): "3.14.4", ("rich", version("rich")): "99.0"}
    with advisories(known) as url:
        done = process(root, "audit", "-s", "osv", "--osv-url", url)
    assert (1, "") == (done.returncode, done.stderr)
    assert "a floor in pyproject.toml: aiohttp 3.14.3: PYSEC-1, fixed in 3.14.4." in done.stdout
    assert f"installed: rich {version('rich')}: PYSEC-1, fixed in 99.0." in done.stdout


@pytest.fixture
def audit(monkeypatch: Any, capsys: Any) -> Callable[[Known], tuple[int, str]]:
    """A call of `tools/audit.py`, where pip-audit knows these holes: its exit code and its text."""
    module = tool("audit")

    def call(known: Known) -> tuple[int, str]:
        def report(pins: Iterable[str], options: Sequence[str]) -> list[dict[str, Any]]:
            packages = [tuple(pin.split("==")) for pin in dict.fromkeys(pins)]
            fixes = {key: [version] if version else [] for key, version in known.items()}
            holes = {key: [{"id": "PYSEC-1", "fix_versions": versions}] for key, versions in fixes.items()}
            return [
                {"name": name, "version": version, "vulns": holes.get((name, version), [])}
                for name, version in packages
            ]

        monkeypatch.setattr(module, "report", report)
        code = module.main([])
        return code, capsys.readouterr().out

    return call


def test_a_hole_that_no_version_closes_is_said_and_does_not_fail(audit: Any) -> None:
    code, text = audit(CANARY | {("jinja2", "3.1.6"): None})
    assert 0 == code, text
    assert "jinja2 3.1.6: PYSEC-1, no version has it fixed." in text


def test_an_audit_without_findings_says_what_was_audited(audit: Any, table: dict[str, Any]) -> None:
    code, text = audit(CANARY)
    assert 0 == code, text
    assert re.search(r"^installed: \d+ packages audited$", text, re.MULTILINE)
    n = len({Requirement(line).name for line in at_run_time(table)})
    assert f"\na floor in pyproject.toml: {n} packages audited\n" in f"\n{text}"


def test_who_knows_no_hole_at_all_has_not_been_asked(audit: Any) -> None:
    assert (0, "Not audited: nobody answered who knows the hole in jinja2==3.1.5.\n") == audit({})


def test_where_nobody_answers_the_audit_says_so_in_one_line(root: Path) -> None:
    done = process(root, "audit", "-s", "osv", "--osv-url", "http://127.0.0.1:9/v1/query")
    assert (0, 1) == (done.returncode, len(done.stdout.splitlines())), done.stderr


@pytest.fixture(scope="module")
def bill(root: Path) -> dict[str, Any]:
    return json.loads((root / "vivavoce.cdx.json").read_text(encoding="utf-8"))


def test_the_bill_of_materials_is_that_of_this_project(bill: dict[str, Any], table: dict[str, Any]) -> None:
    """Versions and parts are those of `pyproject.toml`; licences are those installed when it was made."""
    from vivavoce import __version__

    asked = at_run_time(table)
    said = {
        part["name"] + prop["value"]
        for part in bill["components"]
        for prop in part.get("properties", ())
        if prop["name"] == "vivavoce:requires"
    }
    needed = {canonicalize_name((r := Requirement(text)).name) + str(r.specifier) for text in asked}
    assert needed == said, "make sbom"
    assert __version__ == bill["metadata"]["component"]["version"], "make sbom"
    assert ["WordNet"] == [part["name"] for part in bill["components"] if part["type"] == "data"]
    assert all(part["licenses"][0].get("expression", "WordNet") for part in bill["components"])
    assert not {"timestamp", "serialNumber"} & (bill.keys() | bill["metadata"].keys())


def test_every_shipped_file_of_data_has_a_line_in_the_notice(root: Path) -> None:
    notice = (root / "NOTICE").read_text(encoding="utf-8")
    patterns = re.findall(r"vivavoce/[\w./*]*\w", notice)
    data = [
        str(file.relative_to(root / "src"))
        for file in (root / "src").rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyi", ".pyc", ".html", ".css", ".js", ".typed")
    ]
    assert len(data) > 40
    assert [] == [name for name in data if not any(fnmatch.fnmatch(name, one) for one in patterns)]
    for one in patterns:
        assert one == "vivavoce.cdx.json" or any((root / "src").glob(one)), one


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(root)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert 0 == done.returncode, done.stdout + done.stderr
    return folder


def test_the_wheel_carries_a_valid_bill_of_materials_and_the_notices(
    root: Path, built: Path, bill: dict[str, Any]
) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (inside,) = (name for name in names if name.endswith(".dist-info/sboms/vivavoce.cdx.json"))
        text = archive.read(inside).decode()
        for licence in ("LICENSE", "NOTICE", "src/vivavoce/metrics/wordnet/LICENSE"):
            (name,) = (name for name in names if name.endswith(f".dist-info/licenses/{licence}"))
            assert (root / licence).read_bytes() == archive.read(name)
        source = {str(file.relative_to(root / "src")) for file in (root / "src").rglob("*")
                  if file.is_file() and "__pycache__" not in file.parts}  # fmt: skip
        assert source == {name for name in names if ".dist-info/" not in name}
    assert bill == json.loads(text)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_the_source_archive_is_whole(root: Path, built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    for name in ("LICENSE", "NOTICE", "SECURITY.md", "CHANGELOG.md", "Makefile", "vivavoce.cdx.json",
                 "mkdocs.yml", "pyproject.toml", "tools/sbom.py", "docs/security.md"):  # fmt: skip
        assert name in names
    tests = {str(file.relative_to(root)) for file in (root / "tests").rglob("*.py")}
    assert tests <= names
