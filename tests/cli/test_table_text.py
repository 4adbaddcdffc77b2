"""Tables fit the terminal, and lose no figure, no header and no name that another is told apart by."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.studies.making import marked, twins

from vivavoce.benchmarks.sample import recorded
from vivavoce.cli.output import as_text
from vivavoce.cli.table_text import name_key, table_text
from vivavoce.core.short_names import short_names
from vivavoce.run.run import Run, open_run

Viva = Callable[..., Any]
LONG = (
    "openai/gpt-4o-2024-11-20(prompt=cot, temperature=0.7)-first",
    "openai/gpt-4o-2024-11-20(prompt=cot)-second",
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = open_run(tmp_path_factory.mktemp("tables") / "demo.viva")
    with recorded() as answers:
        run.import_answers(answers, benchmark="sample")
    run.score("accuracy", "rougeL", "token_f1")
    run.compare("A", "B", metric="accuracy")
    return run


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("names")
    return marked(folder, {LONG[0]: twins([1, 0.5] * 6), LONG[1]: twins([0.4, 0.1] * 6)})


def widest(text: str) -> int:
    """Of the lines of tables alone: sentences are broken by the terminal."""
    lines = text.splitlines()
    rules = [n for n, line in enumerate(lines) if re.fullmatch("[─ ]+", line)]
    tables = [line for n in rules for line in _table_around(lines, n)]
    assert tables
    return max(map(len, tables))


def _table_around(lines: list[str], rule: int) -> list[str]:
    end = next((n for n in range(rule, len(lines)) if not lines[n]), len(lines))
    return lines[rule - 1 : end]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "words",
    [
        ("score", "RUN", "accuracy", "token_f1"),
        ("compare", "RUN"),
        ("compare", "RUN", "A", "B", "--metric", "rougeL"),
        ("interim", "RUN"),
        ("status", "RUN", "--full"),
        ("status", "RUN", "--verify"),
        ("list", "metrics"),
        ("list", "formats"),
        ("list", "providers"),
        ("show", "rougeL"),
    ],
    ids=" ".join,
)
def test_the_tables_of_every_verb_fit(
    monkeypatch: pytest.MonkeyPatch, demo: Run, long_names: Run, words: tuple[str, ...], width: int
) -> None:
    from typer.testing import CliRunner

    from vivavoce import cli

    run = long_names if words == ("compare", "RUN") else demo
    runner = CliRunner(env={"COLUMNS": str(width)})
    typed = [str(run.file.path) if word == "RUN" else word for word in words]
    text = runner.invoke(cli.app, typed).output
    assert widest(text) <= width


def test_a_long_name_keeps_its_ends_and_both_names_of_a_pair_are_shown() -> None:
    rows = [(f"{LONG[0]} -\n{LONG[1]}", "1.000")]
    text = table_text(("pair", "difference"), rows, 40)
    table, _, key = text.partition("\n\n")
    first, second = (line for line in table.splitlines() if "openai" in line)
    assert first.split("  ")[0].startswith("openai/gpt-4")
    assert "…" in first
    assert "-first -" in first
    assert second.strip().endswith("-second")
    assert [f"{LONG[0]} -", LONG[1]] == key.splitlines()


def test_names_that_would_look_alike_bear_their_place_and_stand_whole_in_the_key() -> None:
    names = ["model-a-" + "x" * 20 + "1" + "y" * 20, "model-a-" + "x" * 20 + "2" + "y" * 20]
    table, _, key = table_text(("candidate", "n"), [(name, 1) for name in names], 30).partition("\n\n")
    short = [line.rpartition("  ")[0].strip() for line in table.splitlines()[2:]]
    assert ["(1)", "(2)"] == [name.split()[-1] for name in short]
    assert [f"{cut} = {name}" for cut, name in zip(short, names, strict=True)] == key.splitlines()


def test_a_name_is_cut_alike_in_every_part_of_a_table_and_stands_in_the_key_once() -> None:
    columns = ("candidate", *(f"column{n}" for n in range(6)))
    *parts, key = table_text(columns, [(LONG[0], *[10**9] * 6)], 44).split("\n\n")
    assert len(parts) > 1
    assert 1 == len({part.splitlines()[2].split("  ")[0] for part in parts})
    assert [LONG[0]] == key.splitlines()


def test_a_key_has_as_many_names_on_a_line_as_fit() -> None:
    names = [f"{k}-a-name-of-forty-two-places-in-all-{k}" for k in ("one", "two", "six", "ten")]
    short = short_names(names, 20)
    lines = name_key(names, short, 140)
    assert [4, 4] == [line.count("…") + line.count(" = ") for line in lines]
    assert [f"{short(names[0])} = {names[0]}  {short(names[1])} = {names[1]}"] == lines[:1]
    assert [1, 1, 1, 1] == [line.count(" = ") for line in name_key(names, short, 79)]
    assert names == name_key(names, short, 50)


def test_many_names_that_differ_in_one_part_are_one_list() -> None:
    names = [f"openai/gpt-{k}-2024-11-20(prompt=cot, temperature=0.7)" for k in (1, 10, 2, 12, 5, 7)]
    expected = "openai/gpt-{1, 10, 2, 12, 5, 7}-2024-11-20(prompt=cot, temperature=0.7)"
    assert [expected] == name_key(names, short_names(names, 30), 80)
    assert names[:5] == name_key(names[:5], short_names(names[:5], 30), 80), "five lines are no long key"
    unclear = [name.replace("gpt-1-", "gpt--") for name in names]
    assert unclear == name_key(unclear, short_names(unclear, 30), 80), "an empty part is not clear"
    unclear = [name.replace("gpt-2", "gpt-2,3") for name in names]
    assert unclear == name_key(unclear, short_names(unclear, 30), 80), "nor is a comma"


def test_names_that_a_number_tells_apart_keep_it_in_the_key() -> None:
    names = [f"model-a-{'x' * 30}{k}{'y' * 30}" for k in range(7)]
    lines = name_key(names, short_names(names, 30), 80)
    assert [f"({k})" for k in range(1, 8)] == [line.split(" = ")[0][-3:] for line in lines]


def test_names_in_wide_letters_fit_by_the_places_they_take() -> None:
    from rich.cells import cell_len

    text = table_text(("candidate", "n"), [("长" * 30, 1), ("🩺" * 30, 2)], 24)
    assert 24 >= max(map(cell_len, text.partition("\n\n")[0].splitlines()))


def test_a_wide_figure_is_never_cut() -> None:
    rows = [("a" * 50, 10**30, "-123456.789 to 123456.789", 0.5)]
    text = table_text(("candidate", "tokens", "interval", "share"), rows, 40)
    assert str(10**30) in text
    assert "-123456.789 to 123456.789" in text


def test_no_header_is_split_within_a_word() -> None:
    text = table_text(("candidate", "detectable (family)"), [("a", 0.1)], 20)
    assert {"detectable", "(family)"} <= set(text.split())


def test_a_column_that_is_empty_everywhere_drops_and_a_zero_is_not_empty() -> None:
    text = table_text(("candidate", "rater", "failed"), [("A", "", 0), ("B", None, 0)], 80)
    assert "rater" not in text
    assert "failed" in text


def test_a_table_without_rows_is_its_header() -> None:
    assert ["candidate", "n"] == table_text(("candidate", "n"), [], 80).splitlines()[0].split()


def test_what_does_not_fit_goes_on_below_beside_the_keys() -> None:
    columns = ("candidate", "metric", *(f"column{n}" for n in range(6)))
    text = table_text(columns, [("A", "exact", *[10**9] * 6)], 44, keys=2)
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    assert all(["candidate", "metric"] == block.split()[:2] for block in blocks)
    assert all(text.count(name) == 1 for name in columns[2:])


cells = st.one_of(
    st.none(), st.integers(), st.text(st.characters(), max_size=30), st.sampled_from(["长" * 20, "\x1b[2J"])
)


@given(st.lists(st.tuples(cells, cells, cells), max_size=4), st.integers(20, 100))
def test_any_cells_make_a_table_and_none_drives_the_terminal(rows: list[tuple[Any, ...]], width: int) -> None:
    text = table_text(("candidate", "what", "n"), rows, width)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_json_is_the_same_at_any_width(viva: Viva, demo: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for width in ("40", "200"):
        monkeypatch.setenv("COLUMNS", width)
        texts.add(viva("status", demo.file.path, "--json", code=1).stdout)
    assert 1 == len(texts)


def test_blanks_among_settings_are_written_out_and_lists_stay_on_their_line():
    assert 'stop "\\n\\n", files a, b' == as_text({"stop": ["\n\n"], "files": ["a", "b"], "none": None})
