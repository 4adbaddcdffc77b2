"""The index of names equals what loading everything registers, and one name costs one import."""

import subprocess
import sys
from pathlib import Path

from tests.tools.loading import tool

import vivavoce
from vivavoce.core.index import public_names

index = tool("index")


def output(script: str, *words: str) -> str:
    """What a script prints in a process of its own, where nothing is loaded yet."""
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout.strip()


def test_the_index_is_what_loading_everything_registers():
    differing = [
        str(file) for file, text in index.indexes().items() if text != file.read_text(encoding="utf-8")
    ]
    assert [] == differing, "python tools/index.py writes them"


def test_no_name_of_the_index_needs_the_walk_over_all_modules():
    script = (
        "from vivavoce.core import index, registry\nfrom vivavoce.core.specs import Spec\n"
        "registry.entries = lambda kind: []\n"
        "for kind, names in index.member_modules().items():\n"
        "    for name in names:\n"
        "        registry.find(kind, registry.in_full(kind, Spec(name, {})).name)\n"
    )
    assert "" == output(script)


def test_each_public_name_stands_where_the_index_says():
    assert sorted(["__version__", *public_names()]) == vivavoce.__all__
    assert [] == [name for name in public_names() if getattr(vivavoce, name, None) is None]


def test_one_name_costs_the_import_of_its_module_and_what_that_needs():
    script = (
        "import sys\nfrom vivavoce.core import registry\nregistry.build('metric', 'rougeL')\n"
        "ours = [name for name in sys.modules if name.startswith('vivavoce.metrics.')]\n"
        "print(sorted(ours), 'vivavoce.systems' in sys.modules)"
    )
    expected = ["vivavoce.metrics.rouge", "vivavoce.metrics.tokens"]
    assert f"{expected} False" == output(script)


def test_a_plugin_may_not_take_a_name_whose_module_is_not_loaded_yet(tmp_path: Path):
    file = tmp_path / "own.py"
    file.write_text(
        "from vivavoce import Metric, metric\n\n\n@metric('accuracy')\nclass Own(Metric):\n"
        "    criteria = formats = ()\n\n    def values(self, rows, context):\n        return []\n",
        encoding="utf-8",
    )
    script = (
        "import sys\nfrom vivavoce.core import registry\ntry:\n    registry.load_plugin(sys.argv[1])\n"
        "except registry.SpecError as error:\n    print(error)"
    )
    expected = f"the metric 'accuracy' of plugin {file} is there already, from vivavoce."
    assert expected == output(script, str(file))


def test_what_a_plugin_is_the_first_to_import_is_still_the_packages(tmp_path: Path):
    file = tmp_path / "own.py"
    file.write_text("import vivavoce.metrics.rouge\n", encoding="utf-8")
    script = (
        "import sys\nfrom vivavoce.core import registry\nregistry.load_plugin(sys.argv[1])\n"
        "print(registry.find('metric', 'rouge').origin)"
    )
    assert "vivavoce" == output(script, str(file))
