"""Names to objects: settings and their types, plugins, entry points, canonical names and signatures."""

import hashlib
import importlib.metadata
import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any, Literal

import pytest

from vivavoce.benchmarks import Benchmark
from vivavoce.core import registry
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Criterion
from vivavoce.core.specs import Spec, parse
from vivavoce.metrics import Metric

PLUGIN = '''
"""A metric of one's own."""
from vivavoce import Criterion, Metric, Value, metric


@metric("{name}", version={version})
class Length(Metric):
    """How long an answer is."""

    unit: str = "characters"

    criteria = (Criterion(criterion="length", high=None),)
    formats = ("short", "longform")
    needs = ()

    def values(self, rows, context):
        return [{{"length": Value(float(len(row.reading.parsed)))}} for row in rows]
'''


@pytest.fixture(autouse=True)
def own_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is gone after it."""
    for kind in registry.DOORS:  # a room that is first loaded inside would be forgotten too
        registry.entries(kind)
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.setattr(registry, "_plugins", dict(registry._plugins))
    yield
    registry._load_entry_points.cache_clear()


class Marks(Metric):
    """What every metric has."""

    criteria = (Criterion(criterion="mark"),)
    formats = ("short",)
    needs = ()

    def values(self, rows: Any, context: Any) -> Any:
        return []


@pytest.fixture
def sample(own_names: None) -> type:
    @registry.metric("sample", version=3)
    class Sample(Marks):
        """A metric with a setting of every type."""

        n: int
        words: str = "all"
        factor: float = 1.0
        strict: bool = False
        kind: Literal[1, 2, "L"] = "L"
        limit: int | None = None
        labels: tuple[str, ...] = ()
        rubric: Path | None = None
        rubrics: tuple[Path, ...] = ()
        inner: Spec | None = None

    return Sample


def test_a_shorthand_builds_what_it_stands_for(sample: type) -> None:
    assert "rouge(n=L)" == str(registry.build("metric", "rougeL"))
    assert "rouge(n=1)" == str(registry.build("metric", "rouge1"))
    assert "rouge(n=2, stemmer=true)" == str(registry.build("metric", "rouge2:stemmer=true"))
    assert "rouge(n=L)" == str(registry.build("metric", "rougeL(n=L)"))
    assert parse("rouge(n=L)") == registry.in_full("metric", parse("rougeL"))
    assert parse("nothing(n=1)") == registry.in_full("metric", parse("nothing(n=1)"))


def test_a_shorthand_takes_no_other_value_of_what_it_states() -> None:
    with pytest.raises(SpecError, match=re.escape("rougeL(n=1): rougeL stands for rouge(n=L).")):
        registry.build("metric", "rougeL(n=1)")


def test_a_registered_name_goes_before_an_alias() -> None:
    @registry.metric("rougeL")
    class Own(Marks):
        """A plugin's metric that bears the name of a shorthand."""

    assert isinstance(registry.build("metric", "rougeL"), Own)
    assert "rougeL" == str(registry.build("metric", "rougeL"))


def test_a_plugin_gives_its_metric_a_shorthand() -> None:
    @registry.metric("dose", aliases={"dose_mg": {"unit": "mg"}})
    class Dose(Marks):
        """A metric with an alias."""

        unit: str = "g"

    assert "dose(unit=mg)" == str(registry.build("metric", "dose_mg"))


@pytest.mark.parametrize(
    "text",
    [
        "sample(n=1)",
        "sample(factor=2.5, n=1)",
        "sample(kind=1, n=1)",
        "sample(labels=[a, 'b c'], n=1)",
        "sample(limit=3, n=0)",
        "sample(n=1, rubric=a/b.md)",
        "sample(n=1, rubrics=[a.md, b.md])",
        "sample(inner=judge(n=1), n=1)",
        "sample(n=1, strict=true, words='1')",
        "token_f1",
        "token_f1(tokens=squad)",
        "rouge(n=L)",
        "rouge(n=2)",
    ],
)
def test_what_a_canonical_spec_builds_writes_that_spec(sample: type, text: str) -> None:
    assert text == str(registry.build("metric", text))
    assert parse(text) == registry.canonical(registry.build("metric", text))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("sample(n=1, factor=1)", "sample(n=1)"),
        ("sample(n=1, factor=2)", "sample(factor=2.0, n=1)"),
        ("sample(n=1, words=all, strict=false, limit=null)", "sample(n=1)"),
        ("token_f1(tokens=clinical)", "token_f1"),
        ("accuracy()", "accuracy"),
    ],
)
def test_defaults_are_left_out_of_the_canonical_name(sample: type, text: str, canonical: str) -> None:
    assert canonical == str(registry.build("metric", text))


def test_settings_come_in_their_types(sample: type) -> None:
    made = registry.build("metric", "sample(n=2, factor=3, labels=[a], rubric=x.md, kind=2, limit=null)")
    assert (2, 3.0, ("a",), Path("x.md"), 2) == (made.n, made.factor, made.labels, made.rubric, made.kind)
    assert float is type(made.factor)
    assert made.limit is None
    with pytest.raises(FrozenInstanceError):
        made.n = 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sample", "sample needs n=a whole number: write sample:n=…"),
        ("sample(n=1, word=a)", "sample has no setting 'word'. Did you mean 'words'?"),
        ("sample(n=1.0)", "sample(n=1.0): n takes a whole number."),
        ("sample(n=true)", "sample(n=true): n takes a whole number."),
        ("sample(n='1')", "sample(n='1'): n takes a whole number."),
        ("sample(n=1, strict=1)", "sample(strict=1): strict takes true|false."),
        ("sample(n=1, factor=x)", "sample(factor=x): factor takes a number."),
        ("sample(n=1, words=5)", "sample(words=5): words takes text."),
        ("sample(n=1, kind=3)", "sample(kind=3): kind takes 1|2|L."),
        ("sample(n=1, kind=true)", "sample(kind=true): kind takes 1|2|L."),
        ("sample(n=1, limit=a)", "sample(limit=a): limit takes a whole number or null."),
        ("sample(n=1, labels=a)", "sample(labels=a): labels takes [text, …]."),
        ("sample(n=1, labels=[a, 1])", "labels takes text."),
        ("sample(n=1, rubric=5)", "sample(rubric=5): rubric takes a path or null."),
        ("rouge", "rouge needs n=1|2|L|1+L: write rouge:n=…"),
        ("rouge(n=3)", "rouge(n=3): n takes 1|2|L|1+L."),
        ("rouge(m=1)", "rouge has no setting 'm'."),
        ("rogue(n=1)", "no metric named 'rogue'. Did you mean 'rouge'?"),
        ("hivmedqa", "no metric named 'hivmedqa'. Known: accuracy,"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(sample: type, text: str, words: str) -> None:
    with pytest.raises(SpecError) as error:
        registry.build("metric", text)
    assert words in str(error.value)


def test_the_rest_of_the_known_names_is_counted() -> None:
    from vivavoce.core.errors import suggest

    assert " Known: a0, a1, a2, a3, a4, a5, a6, a7, a8, b0, b1, b2 and 1 more." == suggest(
        "zzzz", [f"a{k}" for k in range(9)] + [f"b{k}" for k in range(4)]
    )
    assert "" == suggest("zzzz", [])


def test_a_class_that_refuses_its_settings_is_quoted(own_names: None) -> None:
    @registry.metric("picky")
    class Picky(Marks):
        n: int = 1

        def __post_init__(self) -> None:
            if self.n < 1:
                raise ValueError("n must be positive.")

    with pytest.raises(SpecError, match=r"^picky\(n=-1\): n must be positive\.$"):
        registry.build("metric", "picky(n=-1)")


def test_a_class_without_what_a_metric_offers_is_refused() -> None:
    with pytest.raises(SpecError, match="the metric 'bare' has no criteria, values: every metric needs that"):

        @registry.metric("bare")
        class Bare(Metric):
            formats = ()

    with pytest.raises(
        SpecError, match=r"the metric 'loose' does not derive from vivavoce\.Metric: write `class Loose"
    ):

        @registry.metric("loose")
        class Loose:
            criteria = formats = ()

    with pytest.raises(SpecError, match="the benchmark 'bare' has no card: every benchmark needs that"):

        @registry.benchmark("bare")
        class Empty(Benchmark):
            def items(self) -> list[object]:
                return []


def test_a_setting_of_an_unknown_type_names_the_plugin() -> None:
    @registry.metric("odd")
    class Odd(Marks):
        x: "Nowhere" = 1  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(SpecError, match=r"the metric 'odd' .* does not import: name 'Nowhere'"):
        registry.build("metric", "odd(x=1)")


def test_the_signature_has_every_default_the_version_and_brackets(sample: type) -> None:
    assert "accuracy()@3" == registry.signature(registry.build("metric", "accuracy")).split("#")[0]
    assert "token_f1(tokens=clinical)@4" == registry.signature(registry.build("metric", "token_f1"))
    assert (
        "sample(factor=1.0, inner=null, kind=L, labels=[], limit=null, n=1, rubric=null, rubrics=[], "
        "strict=false, words=all)@3"
    ) == registry.signature(registry.build("metric", "sample(n=1)"))


def test_the_signature_changes_with_the_file_it_names(tmp_path: Path, sample: type) -> None:
    rubric = tmp_path / "rubric.md"
    made = registry.build("metric", Spec("sample", {"n": 1, "rubric": str(rubric)}))
    assert registry.signature(made).endswith(")@3")
    rubric.write_text("Be kind.", encoding="utf-8")
    first = registry.signature(made)
    assert first.endswith("@3#" + hashlib.sha256(b"Be kind.").hexdigest()[:8])
    rubric.write_text("Be strict.", encoding="utf-8")
    assert first != registry.signature(made)
    rubric.write_text("Be kind.", encoding="utf-8")
    assert first == registry.signature(made)


def test_each_file_of_a_list_stands_in_the_signature(tmp_path: Path, sample: type) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    paths = tuple(str(tmp_path / name) for name in ("a.md", "b.md"))
    mark = registry.signature(registry.build("metric", Spec("sample", {"n": 1, "rubrics": paths})))
    hashes = [hashlib.sha256(name.encode()).hexdigest()[:8] for name in ("a.md", "b.md")]
    assert mark.endswith("@3#" + "#".join(hashes))


def test_a_folder_is_hashed_by_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1", encoding="utf-8")
    first = registry.file_hash(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert first != registry.file_hash(tmp_path)
    (tmp_path / "b").rename(tmp_path / "a")
    (tmp_path / "folder").mkdir()
    assert first == registry.file_hash(tmp_path)


def test_a_file_that_cannot_be_hashed_is_named(tmp_path: Path, sample: type) -> None:
    with pytest.raises(InputError, match=r"cannot read .*none"):
        registry.file_hash(tmp_path / "none")
    long = registry.build("metric", Spec("sample", {"n": 1, "rubric": "a" * 5000}))
    with pytest.raises(InputError, match="cannot read a"):
        registry.signature(long)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    file = tmp_path / "length.py"
    file.write_text(PLUGIN.format(name="length", version=1), encoding="utf-8")
    return file


def test_a_plugin_file_adds_its_names_and_leaves_its_hash(plugin: Path) -> None:
    registry.load_plugin(plugin)
    registry.load_plugin(str(plugin))  # twice is once
    assert f"plugin {plugin}" == registry.find("metric", "length").origin
    assert "length(unit=words)" == str(registry.build("metric", "length(unit=words)"))
    assert {str(plugin): hashlib.sha256(plugin.read_bytes()).hexdigest()[:8]} == registry.plugins()


def test_the_version_of_a_plugin_stands_in_its_signature(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(PLUGIN.format(name="length", version=7), encoding="utf-8")
    registry.load_plugin(file)
    assert "length(unit=characters)@7" == registry.signature(registry.build("metric", "length"))


@pytest.mark.parametrize("name", ["rouge", "length"])
def test_a_plugin_cannot_take_a_name_that_is_taken(tmp_path: Path, plugin: Path, name: str) -> None:
    registry.load_plugin(plugin)
    file = tmp_path / "second.py"
    file.write_text(PLUGIN.format(name=name, version=1), encoding="utf-8")
    with pytest.raises(SpecError, match=rf"the metric '{name}' of plugin .*second.py is there already, from"):
        registry.load_plugin(file)
    assert file not in map(Path, registry.plugins())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1/0", "ZeroDivisionError: division by zero"),
        ("import vivavoce_nowhere", "ModuleNotFoundError: No module named 'vivavoce_nowhere'"),
        ("def", "SyntaxError"),
        ("x = '\0'", "null bytes"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise KeyError", "cannot be loaded: KeyError"),
        ("raise ValueError('two\\nlines')", "cannot be loaded: ValueError: two lines"),
    ],
)
def test_a_plugin_that_breaks_is_named_with_its_error(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=r"the plugin '.*broken\.py' cannot be loaded: ") as error:
        registry.load_plugin(file)
    assert words in str(error.value)
    assert {} == registry.plugins()


def test_a_plugin_that_is_mended_can_be_loaded(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(PLUGIN.format(name="length", version=1) + "\n1/0\n", encoding="utf-8")
    with pytest.raises(SpecError, match="ZeroDivisionError"):
        registry.load_plugin(file)
    file.write_text(PLUGIN.format(name="length", version=2) + "\n# mended\n", encoding="utf-8")
    registry.load_plugin(file)
    assert 2 == registry.find("metric", "length").version


@pytest.mark.parametrize("path", ["none.py", ".", "a\0.py", "a" * 5000])
def test_a_plugin_that_is_not_there_is_named(path: str) -> None:
    with pytest.raises(SpecError, match="no plugin file at"):
        registry.load_plugin(path)


def test_a_plugin_that_is_no_python_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "metrics.txt"
    file.write_text("x = 1", encoding="utf-8")
    with pytest.raises(SpecError, match=r"is no Python file: its name must end in \.py\."):
        registry.load_plugin(file)


def offer(monkeypatch: pytest.MonkeyPatch, folder: Path, module: str, text: str) -> None:
    """As if a package with an entry point of ours, to that module, were installed."""
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    points = importlib.metadata.EntryPoints(
        [importlib.metadata.EntryPoint(name="lengths", value=module, group="vivavoce")]
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points.select(group=group))
    registry._load_entry_points.cache_clear()


def test_an_installed_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, tmp_path, "own_lengths", PLUGIN.format(name="installed", version=1))
    assert "entry point lengths (own_lengths)" == registry.find("metric", "installed").origin
    assert "installed" == str(registry.build("metric", "installed"))
    assert {} == registry.plugins()


@pytest.mark.parametrize(
    ("text", "words"), [("1/0", "ZeroDivisionError: division"), ("exit(3)", "SystemExit: 3")]
)
def test_an_installed_package_that_breaks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    offer(monkeypatch, tmp_path, "broken_lengths", text)
    with pytest.raises(SpecError, match=rf"the plugin lengths \(broken_lengths\) cannot be loaded: {words}"):
        registry.entries("metric")


def test_what_comes_with_the_package_is_found() -> None:
    assert {"csv", "hivmedqa", "jsonl"} <= {e.name for e in registry.entries("benchmark")}
    assert {"accuracy", "exact", "list_f1", "rouge", "token_f1"} <= {
        e.name for e in registry.entries("metric")
    }
    assert {"vivavoce"} == {e.origin for e in registry.entries("metric")}


def test_settings_and_defaults_are_told_in_words(sample: type) -> None:
    entry = registry.find("metric", "sample")
    told = registry.settings(entry)
    assert "a whole number" == told["n"]
    assert "1|2|L" == told["kind"]
    assert "[a path, …]" == told["rubrics"]
    assert "a path or null" == told["rubric"]
    stated = registry.defaults(entry)
    assert "n" not in stated
    assert "all" == stated["words"]
