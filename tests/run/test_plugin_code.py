"""Which code of a plugin scored: its file and the modules of its folder that it imports, in provenance."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import borrowed, made

from vivavoce.core import registry
from vivavoce.core.errors import InputError, MetricError, SpecError, StoreError
from vivavoce.core.file_hashes import file_hash
from vivavoce.run.plugin_code import PluginCode, code_by_signature, programs
from vivavoce.run.run import Run, open_run
from vivavoce.run.workers.rebuilding import load_sources, sources

METRIC = """
import vivavoce as viva

@viva.metric("mine")
class Mine(viva.Metric):
    criteria = (viva.Criterion(criterion="x"),)
    formats = ("short",)

    def values(self, rows, context):
        return [{"x": viva.Value(VALUE)} for _ in rows]
"""
HERE = "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).parent))\n"
"""How a plugin's file makes Python look into its folder."""
EAGER = HERE + "from viva_numbers import worth\n" + METRIC.replace("VALUE", "worth()")
LAZY = HERE + METRIC.replace("        return", "        import viva_numbers\n        return").replace(
    "VALUE", "viva_numbers.worth()"
)
Score = Callable[..., str]


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    before, path = set(sys.modules), list(sys.path)
    with borrowed():
        yield
    forget(before)
    sys.path[:] = path


def forget(before: set[str]) -> None:
    for name in set(sys.modules) - before:
        if name.startswith(("viva_numbers", "viva_scale", "vivavoce_plugin_")):
            del sys.modules[name]


@pytest.fixture
def score(tmp_path: Path) -> Score:
    """Score a run as another process would, by a plugin's file and the modules beside it; the notes."""

    def call(run: Run, source: str, numbers: str | None = None, **options: Any) -> str:
        before, path = set(sys.modules), list(sys.path)
        plugin = tmp_path / "plugin.py"
        plugin.write_text(source)
        if numbers is not None:
            (tmp_path / "viva_numbers.py").write_text(numbers)
        with borrowed():
            try:
                finding = open_run(run.file.path, plugins=[plugin]).score("mine", **options)
            finally:
                forget(before)
                sys.path[:] = path
        return "\n".join(finding.notes)

    return call


def worth(value: float) -> str:
    return f"def worth():\n    return {value}\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path, {"A": {"q1": "x", "q2": "y"}})


def more(run: Run, candidate: str = "B") -> None:
    """Store answers that are still to be scored."""
    made(run.file.path.parent, {candidate: {"q1": "x", "q2": "y"}})


def codes(run: Run) -> list[PluginCode]:
    with run.file.reading() as db:
        return [code for of_metric in code_by_signature(db).values() for code in of_metric]


def test_a_plugin_without_modules_of_its_own_has_the_hash_of_its_file(
    run: Run, score: Score, tmp_path: Path
) -> None:
    score(run, METRIC.replace("VALUE", "1.0"))
    assert [PluginCode(file_hash(tmp_path / "plugin.py"), "")] == codes(run)


@pytest.mark.parametrize("plugin", [EAGER, LAZY], ids=["eager", "lazy"])
def test_a_module_that_changed_under_one_version_is_noticed(run: Run, score: Score, plugin: str) -> None:
    assert "changed" not in score(run, plugin, worth(1.0))
    more(run)
    notes = score(run, plugin, worth(0.5))
    assert "mine: a module that its plugin file imports has changed (hashes " in notes
    first, second = codes(run)
    assert (first.file, False) == (second.file, first.modules == second.modules)
    assert f"{first}, {second}" in notes


def test_the_same_modules_are_one_program_whichever_process_computes(run: Run, score: Score) -> None:
    """A module that is imported in a worker alone, or by another order of answers, changes no hash."""
    score(run, LAZY, worth(1.0), workers=2)
    more(run)
    assert "changed" not in score(run, LAZY, worth(1.0))
    assert 1 == len(codes(run))


def test_the_modules_that_others_import_count(run: Run, score: Score, tmp_path: Path) -> None:
    numbers = "from viva_scale import SCALE\ndef worth():\n    return SCALE\n"
    for candidate, value, changed in (("B", 1.0, False), ("C", 1.0, False), ("D", 0.5, True)):
        more(run, candidate)
        (tmp_path / "viva_scale.py").write_text(f"SCALE = {value}\n")
        assert changed == ("has changed" in score(run, EAGER, numbers))


def test_what_lies_beside_a_plugin_and_is_not_imported_does_not_count(run: Run, score: Score) -> None:
    score(run, METRIC.replace("VALUE", "1.0"), worth(1.0))
    more(run)
    assert "changed" not in score(run, METRIC.replace("VALUE", "1.0"), worth(2.0))
    assert 1 == len(codes(run))


def test_a_module_whose_loss_a_plugin_survives_was_part_of_it(run: Run, score: Score, tmp_path: Path) -> None:
    careful = EAGER.replace(
        "from viva_numbers import worth\n",
        "try:\n    from viva_numbers import worth\nexcept ImportError:\n    worth = lambda: 0.0\n",
    )
    score(run, careful, worth(1.0))
    (tmp_path / "viva_numbers.py").unlink()
    more(run)
    assert "a module that its plugin file imports has changed" in score(run, careful)


def test_a_run_of_before_raises_no_alarm(run: Run, score: Score) -> None:
    """Its provenance says the hash of the file alone, whatever that imported."""
    score(run, EAGER, worth(1.0))
    with run.file.writing() as db:
        db.execute("UPDATE provenance SET body = json_remove(body, '$.modules') WHERE verb = 'plugin metric'")
    (before,) = codes(run)
    assert before.modules is None
    more(run)
    assert "changed" not in score(run, EAGER)
    assert [before.file, before.file] == [code.file for code in codes(run)]
    more(run, "C")
    assert "a module that its plugin file imports has changed" in score(run, EAGER, worth(0.0))


def test_programs_that_differ() -> None:
    unknown, none, one, two = (PluginCode("f", modules) for modules in (None, "", "1", "2"))
    assert [one] == programs([unknown, one, unknown, one])
    assert [none] == programs([unknown, none])
    assert [unknown] == programs([unknown])
    assert [none, one] == programs([none, one])
    assert [one, two] == programs([one, unknown, two])
    assert 2 == len(programs([unknown, PluginCode("g", None)]))
    assert [] == programs([])


def test_shards_of_two_versions_of_a_module_are_not_joined(score: Score, tmp_path: Path) -> None:
    runs = []
    for number, value in ((1, 1.0), (2, 0.0)):
        runs.append(open_run(tmp_path / f"part-{number}.viva"))
        runs[-1].collect("sample", models=["baseline/echo"], shard=f"{number}/2")
        score(runs[-1], EAGER, worth(value), shard=f"{number}/2")
    target = open_run(tmp_path / "all.viva")
    with pytest.raises(
        InputError, match=r"by mine\(\)@1 are of several versions of what its plugin file imports \(with"
    ):
        target.merge(*(run.file.path for run in runs))
    assert not target.file.exists
    with runs[0].file.writing() as db:  # of a version before this one: what it imported is not known
        db.execute("UPDATE provenance SET body = json_remove(body, '$.modules') WHERE verb = 'plugin metric'")
    target.merge(*(run.file.path for run in runs))
    assert {"complete"} == {row.state for row in target.shards()}


def test_a_shard_of_unknown_modules_hides_no_two_others(score: Score, tmp_path: Path) -> None:
    runs = []
    for number in (1, 2, 3):
        runs.append(open_run(tmp_path / f"part-{number}.viva"))
        runs[-1].collect("sample", models=["baseline/echo"], shard=f"{number}/3")
        score(runs[-1], EAGER, worth(number / 4), shard=f"{number}/3")
    with runs[0].file.writing() as db:
        db.execute("UPDATE provenance SET body = json_remove(body, '$.modules') WHERE verb = 'plugin metric'")
    with pytest.raises(InputError, match=r"part-3.viva: scores by mine\(\)@1 are of several versions"):
        open_run(tmp_path / "all.viva").merge(*(run.file.path for run in runs))


def test_a_metric_that_stands_in_a_module_beside_the_plugin_is_of_that_module(
    run: Run, score: Score, tmp_path: Path
) -> None:
    thin = HERE + "import viva_numbers\n"
    score(run, thin, METRIC.replace("VALUE", "1.0"))
    assert [PluginCode(file_hash(tmp_path / "viva_numbers.py"), "")] == codes(run)
    more(run)
    assert "changed" not in score(run, thin + "# it scores nothing itself\n")
    more(run, "C")
    assert "its plugin file has changed" in score(run, thin, METRIC.replace("VALUE", "0.5"))


def test_a_worker_takes_no_other_module(run: Run, tmp_path: Path) -> None:
    plugin, numbers = tmp_path / "plugin.py", tmp_path / "viva_numbers.py"
    plugin.write_text(EAGER)
    numbers.write_text(worth(1.0))
    registry.load_plugin(plugin)
    sent = sources()
    load_sources(sent)
    numbers.write_text(worth(2.0))
    with pytest.raises(SpecError, match=r"the module .*viva_numbers\.py has the hash .* and had .* when it"):
        load_sources(sent)
    with pytest.raises(MetricError, match=r"the module .*viva_numbers\.py has the hash"):
        run.score("mine", workers=2)
    numbers.unlink()
    with pytest.raises(SpecError, match=r"a worker finds no module file .*viva_numbers\.py: put it there"):
        load_sources(sent)


@pytest.mark.parametrize("value", ["json_array(1)", "json_object('a', 1)"])
def test_what_a_run_says_of_modules_is_not_trusted(run: Run, score: Score, value: str) -> None:
    score(run, METRIC.replace("VALUE", "1.0"))
    with run.file.writing() as db:
        db.execute(
            f"UPDATE provenance SET body = json_set(body, '$.modules', {value}) WHERE verb = 'plugin metric'"
        )
    with pytest.raises(StoreError, match="the code of a plugin's metric"):
        codes(run)
