"""What several test modules share: the real data, found through VIVA_SHARED, and the command line."""

import asyncio
import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, sync_playwright
from tests.absent import absent
from tests.finished_runs import Store
from tests.lazy import COLLECTED_MODULES
from tests.lengths import LONG
from tests.long_forms import has_long_form
from tests.order import place
from tests.soak.tally import Collected, tally
from tests.temporary import hold_in_memory

__all__ = ["tally"]

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = shutil.which(os.environ.get("VIVA_CHROMIUM", "chromium"))

# The machine is shared: neither a slow moment nor what was drawn at random this time is a fault of a change.
_ON_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", _ON_ANY_MACHINE, max_examples=25, derandomize=True)
settings.register_profile("long", _ON_ANY_MACHINE, max_examples=200)
settings.load_profile("long" if LONG else "gate")

hold_in_memory(os.environ)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def _chromium() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """The one Chromium of this worker, and the event loop that drives it, at rest."""
    if CHROMIUM is None:
        absent("no chromium: install Debian's, or name one in VIVA_CHROMIUM")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield started, loop
        asyncio._set_running_loop(loop)
        started.close()


@pytest.fixture(scope="module")
def browser(_chromium: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """Chromium: skips where it is absent, fails where it is required.

    Playwright leaves its event loop marked as the running one, under which tests of other modules could start
    none: the mark is set for the modules that ask for the browser alone.
    """
    started, loop = _chromium
    asyncio._set_running_loop(loop)
    yield started
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def fork_server() -> Iterator[Callable[[], AbstractContextManager[Callable[..., Any]]]]:
    """`with fork_server():` processes of ours that start inside are forks of one that has imported torch."""
    from tests.forked import end_server, forked_processes

    yield forked_processes
    end_server()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data: skips where it is absent, fails where it is required."""
    path = Path(os.environ.get("VIVA_SHARED", ROOT.parent / "shared")).resolve()
    if not (path / "data").is_dir():
        absent(f"no real data at {path}; set VIVA_SHARED to the folder that holds data/")
    return path


@pytest.fixture(scope="session")
def hivmedqa(shared: Path) -> Path:
    """The folder of HIVMedQA's questions, answers and judge scores."""
    return shared / "data" / "hivmedqa"


@pytest.fixture(autouse=True)
def _own_registry_and_runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test registers is forgotten after it, whichever test runs next in the process.

    A test that may patch what builds a run builds its own. One fixture for both: every test pays for each.
    """
    from tests.studies.making import borrowed

    Store.is_closed = "monkeypatch" in request.fixturenames
    with borrowed():
        yield


@pytest.fixture(autouse=True, scope="session")
def _finished_runs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """All workers of this run of the tests share a folder of finished runs."""
    base = tmp_path_factory.getbasetemp()
    Store.folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished-runs"
    Store.folder.mkdir(exist_ok=True)


@pytest.fixture(scope="session")
def viva() -> Callable[..., Any]:
    """A call of the command line in this process; errors of ours are raised, see test_bad_input."""
    from typer.testing import CliRunner

    from vivavoce import cli

    runner = CliRunner(env={"COLUMNS": "200"})

    def call(*words: object, code: int = 0) -> Any:
        found = runner.invoke(cli.app, [str(word) for word in words])
        if found.exception and not isinstance(found.exception, SystemExit):
            raise found.exception
        assert code == found.exit_code, found.output
        return found

    return call


def pytest_configure(config: pytest.Config) -> None:
    """Let the soaks' table stand at the end of a long run."""
    config.pluginmanager.register(Collected(), "soak")


def pytest_collection() -> None:
    """Collect no garbage while tests are collected: what a collection of tests makes stays."""
    gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the long form, leave the files that have none; tests of one large library follow each other."""
    items.sort(key=lambda item: place(item.path))
    if LONG:
        gate = [item for item in items if not has_long_form(item.path)]
        config.hook.pytest_deselected(items=gate)
        items[:] = [item for item in items if has_long_form(item.path)]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let no collection of garbage walk the tests, millions of objects: statsmodels asks for many."""
    session.config.stash[COLLECTED_MODULES] = frozenset(sys.modules)
    gc.collect()
    gc.freeze()
    gc.set_threshold(7_000, 10, 10)  # ten times as seldom: what tests leave in circles is little
    gc.enable()
