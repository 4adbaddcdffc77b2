"""The documents: every code block runs, every name has its card, the site builds without a warning."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest import mock

import pytest
import yaml
from tests.cases import each_case
from tests.demo_folder import demo_folder
from tests.lazy import lazy_module
from tests.scripts import run_script
from tests.tools.loading import tool

from vivavoce import stats
from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.metrics import ScoringContext
from vivavoce.run.run import open_run

mkdocs_build, mkdocs_config = lazy_module("mkdocs.commands.build"), lazy_module("mkdocs.config")
mike_driver, mike_build = lazy_module("mike.driver"), lazy_module("mike.mkdocs_utils")
lunr_builder, lunr_trimmer = lazy_module("lunr.builder"), lazy_module("lunr.trimmer")

PAGES = sorted(
    str(page.relative_to(Path(__file__).parents[1]))
    for page in (Path(__file__).parents[1] / "docs").rglob("*.md")
    if re.search(r"^```(sh|python)$", page.read_text(encoding="utf-8"), re.MULTILINE)
)
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CHALLENGE, SUITE = "docs/how-to/challenge.md", "docs/how-to/healthcare-suite.md"
"""Pages whose folders other tests read."""
START = "docs/index.md"
"""The page with the blocks of the README, which tests/test_examples.py runs as a newcomer does."""
FAILED_ROWS = ["||", "test", "$?", "=", "1"]


@pytest.mark.parametrize("page", [page for page in PAGES if page not in (CHALLENGE, SUITE, START)])
def test_the_code_blocks_of_a_page_run_in_their_order(page, root, tmp_path, viva):
    run_page(page, root, tmp_path, viva)


@pytest.fixture(scope="module")
def challenge(root, tmp_path_factory, viva):
    """The folder in which the blocks of the challenge's page were run, in their order."""
    folder = tmp_path_factory.mktemp("challenge")
    run_page(CHALLENGE, root, folder, viva)
    return folder


@pytest.fixture(scope="module")
def suite(root, tmp_path_factory, viva):
    """The folder in which the blocks of the page on the whole suite were run, in their order."""
    folder = tmp_path_factory.mktemp("suite")
    run_page(SUITE, root, folder, viva)
    return folder


def test_the_start_page_has_the_blocks_of_the_readme(root):
    readme, start = (
        BLOCK.findall((root / page).read_text(encoding="utf-8")) for page in ("README.md", START)
    )
    assert 2 == len(start)
    assert start == readme[:2]


def run_page(page, root, folder, viva):
    """In a shell, or in this process where a block has nothing but Python or commands of `viva`."""
    (folder / "examples").symlink_to(root / "examples")
    try:
        run_blocks(page, root, folder, viva)
    finally:  # another page may write a module of the same name
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


def run_blocks(page, root, folder, viva):
    names = {"__name__": "__main__"}  # a block may go on with what an earlier one made
    for language, block in BLOCK.findall((root / page).read_text(encoding="utf-8")):
        commands = commands_of_viva(block) if language == "sh" else None
        with (
            chdir(folder),
            mock.patch.dict(os.environ, XDG_CACHE_HOME=str(folder / "user cache")),
            mock.patch.object(sys, "path", [*sys.path]),
            warnings.catch_warnings(action="ignore", category=ResourceWarning),
        ):
            if language == "python":
                exec(compile(block, page, "exec"), names)
            elif commands is None:
                done = run_script(block, folder)
                assert 0 == done.returncode, f"{block}\n{done.stderr}"
            for words, code in commands or ():
                if words == DEMO:
                    (folder / "a demo").mkdir()
                    demo, _ = demo_folder(folder / "a demo")
                    shutil.copytree(demo / "viva-demo", folder / "demo")
                else:
                    viva(*words, code=code)


DEMO = ["demo", "--to", "demo", "--quiet"]
"""The command has tests of its own, and leaves the same in each page."""


def commands_of_viva(block):
    """The words of each line and its exit code, if all lines are simple commands of `viva`; else null."""
    commands = []
    for line in filter(None, block.replace("\\\n", " ").splitlines()):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # a quotation that goes on in the next line
            return None
        may_fail = words[-len(FAILED_ROWS) :] == FAILED_ROWS
        words = words[: -len(FAILED_ROWS)] if may_fail else words
        if words[:1] != ["viva"] or any(re.search(r"^[();<>|&]+$|[$*]", word) for word in words):
            return None
        commands.append((words[1:], int(may_fail)))
    return commands


@each_case("page", PAGES)
def test_no_command_of_a_page_gives_baselines_alone_an_option_that_they_do_not_take(page, root):
    for _, block in BLOCK.findall((root / page).read_text(encoding="utf-8")):
        for command in re.findall(r"viva collect .*", block.replace("\\\n", " ")):
            models = re.findall(r"--model ['\"]?(\S+)", command)
            options = re.findall(r"--(?:seed|temperature|top-p|max-tokens|system|prompt|shots)\b", command)
            assert not options or not all(model.startswith("baseline/") for model in models), command


def test_the_teams_of_the_challenge_page_give_other_answers(challenge):
    files = (challenge / "submissions" / f"team-{n}" / "run.viva" for n in (1, 2))
    teams = [open_run(file).responses for file in files]
    texts = [dict(zip(team["item"], team["text"], strict=True)) for team in teams]
    assert texts[0].keys() == texts[1].keys()
    assert texts[0] != texts[1]


def test_the_whole_suite_runs_by_one_plan(root, suite, viva, monkeypatch):
    """Every data set of the suite stands in the plan, whose second run asks nothing and says the same.

    The second run leaves out the report and all studies but one: what they read is as it was.
    """
    monkeypatch.chdir(suite)
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")  # where nobody answers
    plan = yaml.safe_load((root / "examples" / "suite.yml").read_text(encoding="utf-8"))
    overall, *_ = plan["studies"]
    again = {key: plan[key] for key in plan if key != "report"} | {"studies": [overall]}
    Path("again.yml").write_text(yaml.safe_dump(again), encoding="utf-8")
    rows = json.loads(viva("run", "again.yml", "--json", "--quiet").stdout)["rows"]
    health = [e.name for e in registry.entries("benchmark") if ".health." in e.cls.__module__]
    names = {spec.partition("(")[0] for spec in plan["benchmarks"]}
    assert {*health, "careqa", "careqa_open"} == names
    collected = [row for row in rows if row["step"] == "collect"]
    assert (0, 0) == (sum(row["failed"] for row in collected), sum(row["left"] for row in collected))
    formats = {row["format"] for row in rows if row["step"] == "overall" and row["estimate"]}
    assert {"medmcqa", "medqa", "mmlu"} == formats
    label = "(chat_template=false, max_tokens=256, preset=paper-settings, temperature=0)"
    scored = {row["candidate"] for row in rows if row["step"] == "score"}
    assert {f"vllm/long-winded{label}", f"vllm/short-spoken{label}", "baseline/reference"} == scored
    assert (suite / "suite.html").stat().st_size > 10_000


def test_every_metric_has_a_card(root):
    cards = re.findall(
        r"^## (\w+)$", (root / "docs" / "metrics.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(e.name for e in registry.entries("metric") if e.origin == "vivavoce") == sorted(cards)


def test_every_card_says_when_the_metric_misleads(root):
    text = (root / "docs" / "metrics.md").read_text(encoding="utf-8")
    for card in text.split("\n## ")[1:]:
        assert "**When it misleads.**" in card, card.splitlines()[0]
        assert "<!-- card: " in card, card.splitlines()[0]


def test_the_probes_score_what_the_cards_say(root):
    text = (root / "docs" / "metrics.md").read_text(encoding="utf-8")
    probes = re.findall(r"^\| (reversed|dose|paraphrase) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    told = re.findall(r"^\| `(.+?)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert (3, 5) == (len(probes), len(told))
    for spec, *values in told:
        metric = registry.build("metric", spec)
        for (_, reference, answer), value in zip(probes, values, strict=True):
            item = Item(benchmark="b", item="i", format="short", question="?", references=(reference,))
            row = Row(item, Response(benchmark="b", item="i", candidate="c"), Reading("ok", answer))
            (marks,) = metric.values([row], ScoringContext())
            assert value == f"{marks[metric.criteria[0].criterion].value:.2f}", spec


def test_the_command_reference_is_what_the_help_says():
    """When a help text has changed: python tools/command_reference.py."""
    with mock.patch.object(sys, "argv", ["command_reference.py", "--check"]):
        tool("command_reference").main()


def names_in(path: Path, heading: str) -> set[str]:
    """The names in the first column of the table whose first heading this is, without their settings."""
    table = re.search(rf"^\| {heading} \|.*\n\|[-:| ]+\n((?:\|.*\n)+)", path.read_text("utf-8"), re.MULTILINE)
    assert table, f"{path} has no table of {heading}"
    first_cells = [line.split(" | ")[0] for line in table[1].splitlines()]
    return {re.split(r"[(/]", name)[0] for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}


def registered(kind):
    return {entry.name for entry in registry.entries(kind) if entry.origin == "vivavoce"}


@pytest.mark.parametrize(
    ("page", "heading", "kind"),
    [
        ("README.md", "benchmark", "benchmark"),
        ("README.md", "format", "format"),
        ("README.md", "study", "study"),
        ("docs/formats.md", "format", "format"),
        ("docs/how-to/studies.md", "study", "study"),
    ],
)
def test_a_table_of_members_has_every_registered_name_and_no_other(root, page, heading, kind):
    assert registered(kind) == names_in(root / page, heading)


def test_the_table_of_models_has_every_provider(root):
    from vivavoce.run.catalogue import listing

    providers = {row["name"] for row in listing("providers")}
    assert providers <= names_in(root / "docs" / "how-to" / "collect.md", "a model is named")


def test_every_study_is_in_the_guide(root):
    text = (root / "docs" / "how-to" / "studies.md").read_text(encoding="utf-8")
    assert set(registry.members("study")) == set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


@contextmanager
def of_mkdocs(folder, **environment):
    """The folder and the environment of mkdocs, which runs in this process: its start takes long."""
    with (
        mock.patch.dict(os.environ, environment, NO_MKDOCS_2_WARNING="1"),
        warnings.catch_warnings(action="ignore"),
        chdir(folder),
    ):
        yield


LINES_OF_SIGNATURES = "mkdocstrings_handlers.python._internal.rendering._get_formatter"
"""What breaks long signatures into lines, in a process of ruff for each of them."""


def one_line():
    return lambda code, _: code


def build_site(settings):
    """What `mkdocs build` does."""
    settings.plugins.on_startup(command="build", dirty=False)
    mkdocs_build.build(settings)
    settings.plugins.on_shutdown()


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    """The site, built with every warning an error, as by `make docs`, from the demo of other tests."""
    folder, (demo, _) = tmp_path_factory.mktemp("site"), demo_folder(tmp_path_factory.mktemp("demo"))

    def copy_demo(folder):
        shutil.copytree(demo / "viva-demo", folder, dirs_exist_ok=True)

    with of_mkdocs(root):
        settings = mkdocs_config.load_config("mkdocs.yml", site_dir=str(folder), strict=True)
        (hooks,) = settings.hooks.values()
        with mock.patch.object(hooks, "make_demo", copy_demo), mock.patch(LINES_OF_SIGNATURES, one_line):
            build_site(settings)
    return folder


def test_the_site_builds_without_a_warning(site):
    page = (site / "metrics" / "index.html").read_text(encoding="utf-8")
    assert "rouge(n=L" in page
    assert "<!-- card" not in page
    assert "viva collect" in (site / "reference" / "cli" / "index.html").read_text(encoding="utf-8")


def test_the_reference_of_statistics_holds_every_public_name(site):
    page = (site / "reference" / "stats" / "index.html").read_text(encoding="utf-8")
    names = (f'id="vivavoce.stats.{module}.{name}"' for name, module in stats._MODULES.items())
    assert [] == [name for name in names if name not in page]


@pytest.fixture(scope="module")
def search(site):
    """The site's own index behind the search box: every word must stand there, the last may go on."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    builder = lunr_builder.Builder()
    builder.pipeline.add(lunr_trimmer.trimmer)
    builder.search_pipeline.add(lunr_trimmer.trimmer)
    builder.ref("location")
    for field, setting in index["config"]["fields"].items():
        builder.field(field, setting["boost"])
    for section in index["docs"]:
        builder.add({**section, "tags": " ".join(section.get("tags", []))})
    built = builder.build()
    return lambda words: [
        hit["ref"] for hit in built.search(" ".join(f"+{w}*" for w in words.lower().split()))
    ]


SEARCHES = {
    "pandas": "how-to/own-exam/",
    "Excel": "how-to/own-exam/",
    "resume": "how-to/collect/",
    "API key": "how-to/collect/",
    "cost": "how-to/collect/",
    "sycophancy": "how-to/bias/",
    "BERTScore": "metrics/",
    "Inspect": "how-to/inspect/",
    "Bedrock identity": "how-to/inspect/",
    "epochs": "coming-from/",
    "power": "how-to/compare/",
    "sample size": "how-to/compare/",
    "LLM as a judge": "how-to/judges/",
    "PubMedQA": "how-to/pubmedqa/",
    "leakage": "how-to/contamination/",
    "refusal": "how-to/missing/",
}
"""What people type, in their words, and the page that answers it."""


@pytest.mark.parametrize("words", SEARCHES)
def test_a_search_in_peoples_own_words_begins_with_the_page_that_answers_it(search, words):
    hits = search(words)
    assert hits, words
    assert SEARCHES[words] == hits[0].partition("#")[0], hits[:5]


def test_the_documentation_of_each_version_stays_when_the_next_is_published(root, tmp_path):
    """A site is a folder for each version, one of them called latest, on a branch for publishing.

    Of one page, with the settings of the whole: that the whole builds is a test of its own.
    """
    for name in ("tools", "src", "Makefile", "pyproject.toml"):
        (tmp_path / name).symlink_to(root / name)
    settings = f"INHERIT: {root / 'mkdocs.yml'}\nnav:\n  - Start: index.md\n"
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    page = tmp_path / "docs" / "index.md"
    page.parent.mkdir()

    people = [f"GIT_{role}_{field}" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")]
    author = dict.fromkeys(people, "a@a.example")

    def run(*words):
        done = subprocess.run(
            words, cwd=tmp_path, env={**os.environ, **author}, capture_output=True, text=True, timeout=300
        )
        assert 0 == done.returncode, done.stdout + done.stderr
        return done.stdout

    def build(file, version, **_):
        with mock.patch.dict(os.environ, {mike_build.docs_version_var: version}):
            build_site(mkdocs_config.load_config(file))

    run("git", "init", "--quiet", "--initial-branch", "main")
    run("git", "commit", "--quiet", "--allow-empty", "--message", "a project")
    (version,) = re.findall(r"mike deploy --update-aliases (\S+) latest", run("make", "-n", "publish"))
    for name in ("0.1", version):
        page.write_text(f"# What {name} does\n", encoding="utf-8")
        with (
            of_mkdocs(tmp_path, **author),
            mock.patch.object(sys, "argv", ["mike", "deploy", "--update-aliases", name, "latest"]),
            mock.patch("mike.mkdocs_utils.build", build),
        ):
            mike_driver.main()
    files = run("git", "ls-tree", "-r", "--name-only", "gh-pages").split()
    assert {"0.1/index.html", f"{version}/index.html", "latest", "versions.json"} <= set(files)
    for name in ("0.1", version):
        assert f"What {name} does" in run("git", "show", f"gh-pages:{name}/index.html")
    versions = json.loads(run("git", "show", "gh-pages:versions.json"))
    assert {"0.1": [], version: ["latest"]} == {entry["version"]: entry["aliases"] for entry in versions}


def test_the_site_asks_nothing_of_other_hosts(root, tmp_path):
    configuration = (root / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in configuration
    for page in (root / "docs").rglob("*.md"):
        assert not re.search(r"!\[[^]]*\]\(https?:", page.read_text(encoding="utf-8")), page


def test_the_means_on_recorded_answers_are_those_of_the_tool(root, shared):
    """When they have moved for a reason: python tools/probes.py."""
    spec = importlib.util.spec_from_file_location("probes", root / "tools" / "probes.py")
    probes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(probes)
    text = " ".join((root / "docs" / "metrics.md").read_text(encoding="utf-8").split())
    said = probes.answers(shared / "data" / "hivmedqa")
    assert f"on {len(said)} recorded answers of HIVMedQA" in text
    told = re.findall(r"(\d\.\d\d) and (\d\.\d\d) for `(.+?)`", text)
    assert list(probes.METRICS) == [metric for *_, metric in told]
    for own, other, metric in told:
        assert (own, other) == tuple(f"{mean:.2f}" for mean in probes.means(metric, said)), metric


def test_the_readmes_picture_shows_the_first_screen_as_it_is(tmp_path, capsys):
    """When the first screen has changed: python tools/picture.py."""
    demo, _ = demo_folder(tmp_path)
    picture = tool("picture")
    with (
        mock.patch.object(picture, "demo_report", return_value=demo / "viva-demo" / "demo.html"),
        mock.patch.object(sys, "argv", ["picture.py", "--check"]),
    ):
        assert 0 == picture.main(), capsys.readouterr().err
