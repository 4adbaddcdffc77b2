"""`viva prompts from`: prompts are cut letter by letter out of any layout of a paper, or not at all."""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.lazy import lazy_module

from vivavoce.core.errors import InputError
from vivavoce.core.prompts import load
from vivavoce.facts.checkers import checker_of
from vivavoce.facts.splitters import splitter_of
from vivavoce.judging.loading import load as load_rubric
from vivavoce.systems.papers import cutting
from vivavoce.systems.papers.cutting import Paper, PrintedPrompt, papers, prompts_from
from vivavoce.systems.papers.fingerprint import Fingerprint, NotCut, Search, fingerprint_of

reportlab_canvas = lazy_module("reportlab.pdfgen.canvas")

PAPERS = {
    "dahl": "003_254854b96035bc31.txt",
    "hivmedqa": "004_df23655e67dc063a.txt",
    "ranking": "002_d7a70eef16c71c89.txt",
    "bsc": "000_0b62d0e387c16fe7.txt",
    "cliniqlink": "001_af935c6a0c6f6131.txt",
}
PROMPT = (
    "Weigh every statement of the registrar and sort it by certainty, from 0 to 5 (0 is none).\n"
    "- 0-1: one in 20,000 is right. Leave out whatever no colleague would say.\n\nREPORT:\n{clinic report}\n"
    "Sorted statements, one in each line, without a comment:"
)
TITLE = "Sorting what registrars say"
REWRITTEN = PROMPT.replace("{clinic report}", "{{ answer }}")
FILLER = [f"Sentence {k} of the paper has nothing to do with any prompt of it." for k in range(60)]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Fingerprint:
    """A system whose paper prints one prompt, besides those that ship."""
    mark = fingerprint_of(PROMPT, {"clinicreport": "answer"})
    printed = PrintedPrompt("sort", "Figure 3", "nothing", mark)
    catalogue = {"sorting": Paper("sorting", TITLE, [printed]), **papers()}
    monkeypatch.setattr(cutting, "papers", lambda: catalogue)
    return mark


def wrapped(text: str, width: int) -> list[str]:
    """Lines of a width, words parted by hyphens wherever a line ends in one."""
    lines, line = [], ""
    for word in text.split():
        room = width - len(line) - 2
        if len(line) + len(word) + 1 <= width:
            line = f"{line} {word}".strip()
        elif word.isalpha() and len(word) > 6 and room >= 3:
            k = min(room, len(word) - 3)
            lines.append(f"{line} {word[:k]}-")
            line = word[k:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def paper(prompt: str) -> str:
    return "\n".join([TITLE, *FILLER, prompt, "Figure 3: how statements were sorted", *FILLER])


def columns(text: str, *, gap: str = "      ") -> str:
    """Two columns of 30 lines a page beside each other, as `pdftotext -layout` writes them."""
    lines = wrapped(text, 44)
    pages = []
    for k in range(0, len(lines), 60):
        first, second = lines[k : k + 30], lines[k + 30 : k + 60]
        second += [""] * (len(first) - len(second))
        rows = zip(first, second, strict=True)
        pages.append("\n".join(f"{a:44}{gap}{b}".rstrip() for a, b in rows))
    return "\f".join(pages)


LAYOUTS: dict[str, Callable[[str], str]] = {
    "one line": lambda text: " ".join(text.split()),
    "narrow, hyphens": lambda text: "\n".join(wrapped(text, 38)),
    "lines of Windows": lambda text: text.replace("\n", "\r\n"),
    "two columns": columns,
    "ligatures": lambda text: text.replace("ti", "t\u00adi").replace("fi", "\ufb01"),
    "Markdown": lambda text: text.replace("REPORT:", "## **REPORT:**"),
    "page numbers": lambda text: text.replace("REPORT:", "\n\n 17 \n\nREPORT:"),
    "header on a page": lambda text: text.replace("REPORT:", "\fProc. of Sorting\nREPORT:"),
    "footer on a page": lambda text: text.replace("REPORT:", "Proc. of Sorting\n\fREPORT:"),
}


@each_case("layout", LAYOUTS)
def test_a_prompt_is_the_same_out_of_every_layout(made_up: None, tmp_path: Path, layout: str) -> None:
    file, folder = tmp_path / "paper.txt", tmp_path / layout
    file.write_bytes(LAYOUTS[layout](paper(PROMPT)).encode())
    (row,) = prompts_from(file, "sorting", folder).rows
    text = (folder / "sort.md").read_text().strip()
    assert ("cut", "") == (row["state"], row["note"])
    assert REWRITTEN == text


SIGNS = "a number is written otherwise, or a sign is another"
BRACES = "it has braces that are none of its placeholders"
SPOILED = {
    "a word is another": (lambda p: p.replace("registrar", "nurse"), "its letters are others"),
    "a line of another text between": (lambda p: p.replace("REPORT", "Table 2\nREPORT"), "its letters are"),
    "it breaks off": (lambda p: p[:190], "its letters are others"),
    "words run together": (lambda p: p.replace(" ", ""), "its words are parted or run together"),
    "the placeholder lost its braces": (lambda p: re.sub("[{}]", "", p), "'clinicreport' is not there"),
    "its last sign is missing": (lambda p: p[:-1], "does not end with ':'"),
    "all in capitals": (str.upper, "holds no prompt of sorting"),
    "it is missing": (lambda p: "", f"give the whole paper, '{TITLE}'"),
    "numbers get a sign": (lambda p: p.replace("0 to 5", "-0 to -5"), SIGNS),
    "a digit goes to another number": (lambda p: p.replace("5 (0 is", "50 ( is"), SIGNS),
    "thousands are decimals": (lambda p: p.replace("20,000", "2.0000"), SIGNS),
    "a number in two": (lambda p: p.replace("20,000", "20, 000"), SIGNS),
    "a range is a number": (lambda p: p.replace("0-1:", "01:"), SIGNS),
    "a bullet is a minus": (lambda p: p.replace("- 0-1:", "-0-1:"), SIGNS),
    "a raised digit": (lambda p: p.replace("20,000", "20,00\u2070"), SIGNS),
    "an exclamation": (lambda p: p.replace("Leave out", "Leave out!!!"), SIGNS),
    "accents of their own": (lambda p: p.replace("Leave", "Leave\u0300\u0301"), SIGNS),
    "a rule between": (lambda p: p.replace("Leave out", "Leave\n---\nout"), SIGNS),
    "signs that nobody sees": (lambda p: p.replace("Leave", "Lea\u200bve"), SIGNS),
    "a word is a variable": (lambda p: p.replace("colleague", "{colleague}"), BRACES),
    "a word is one of our variables": (lambda p: p.replace("colleague", "{{colleague}}"), BRACES),
    "one brace more": (lambda p: p.replace("colleague", "{colleague"), BRACES),
    "the placeholder in two braces": (lambda p: p.replace("{clinic report}", "{{clinic report}}"), BRACES),
}


@each_case("case", SPOILED)
def test_no_prompt_is_cut_wrongly_in_silence(made_up: None, tmp_path: Path, case: str) -> None:
    spoil, sentence = SPOILED[case]
    (tmp_path / "paper.txt").write_text(paper(spoil(PROMPT)))
    with pytest.raises(InputError) as refused:
        prompts_from(tmp_path / "paper.txt", "sorting", tmp_path / "out")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_placeholder_stands_as_often_as_it_is_printed() -> None:
    mark = fingerprint_of(PROMPT, {"clinicreport": "answer"})
    twice = PROMPT.replace("colleague", "colleague {clinic report}")
    with pytest.raises(NotCut, match="'clinicreport' stands in braces 2 times, not 1"):
        Search(twice, [mark]).cut(mark, unverified=True)
    repeated = fingerprint_of(twice, {"clinicreport": "answer"})
    assert 2 == Search(twice, [repeated]).cut(repeated).text.count("{{ answer }}")


def test_where_a_spoiled_prompt_begins_is_said(made_up: None, tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text(paper(PROMPT.replace("certainty", "date")))
    with pytest.raises(InputError, match=r"Figure 3 \(line 62\): it begins here"):
        prompts_from(tmp_path / "paper.txt", "sorting", tmp_path / "out")


def test_what_differs_in_a_letter_is_cut_on_demand_and_marked(made_up: None, tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text(paper(PROMPT.replace("certainty", "date")))
    finding = prompts_from(tmp_path / "paper.txt", "sorting", tmp_path, unverified=True)
    assert ["unverified"] == [row["state"] for row in finding.rows]
    assert "compare it with the paper before you use it" in finding.text
    assert "unverified" == json.loads((tmp_path / "sorting.json").read_text())["prompts"][0]["state"]


def test_a_prompt_of_other_words_is_not_replaced(made_up: None, tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text(paper(PROMPT))
    prompts_from(tmp_path / "paper.txt", "sorting", tmp_path)
    prompts_from(tmp_path / "paper.txt", "sorting", tmp_path)
    (tmp_path / "sort.md").write_text("my own")
    with pytest.raises(InputError, match=r"sort\.md is there with other words"):
        prompts_from(tmp_path / "paper.txt", "sorting", tmp_path)


def test_a_file_of_the_users_is_not_replaced_by_the_record(made_up: None, tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text(paper(PROMPT))
    for content in ('{"mine": 1}', "no JSON", "[1]"):
        (tmp_path / "sorting.json").write_text(content)
        with pytest.raises(InputError, match=r"sorting\.json is there and is no record of prompts"):
            prompts_from(tmp_path / "paper.txt", "sorting", tmp_path)
        assert content == (tmp_path / "sorting.json").read_text()


def test_what_is_no_file_or_folder_is_refused_by_its_path(made_up: None, tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text(paper(PROMPT))
    (tmp_path / "out" / "sort.md").mkdir(parents=True)
    with pytest.raises(InputError, match=r"out/sort\.md is a folder"):
        prompts_from(tmp_path / "paper.txt", "sorting", tmp_path / "out")
    with pytest.raises(InputError, match=r"paper\.txt is a file: give a folder with --to"):
        prompts_from(tmp_path / "paper.txt", "sorting", tmp_path / "paper.txt")
    with pytest.raises(InputError, match="out is a folder: give the paper as a PDF or as its text"):
        prompts_from(tmp_path / "out", "sorting", tmp_path / "out")


def test_a_text_that_is_no_paper_is_refused_at_once(made_up: None, tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("\f" * 300_000)
    with pytest.raises(InputError, match=r"long\.txt has more than 2,000 pages"):
        prompts_from(file, "sorting", tmp_path / "out")
    file.write_text("word " * 1_000_001)
    with pytest.raises(InputError, match=r"long\.txt has more than 5,000,000 bytes"):
        prompts_from(file, "sorting", tmp_path / "out")
    file.write_text(paper(PROMPT) + "\f" * 1_999)
    assert ["cut"] == [row["state"] for row in prompts_from(file, "sorting", tmp_path / "out").rows]


def test_a_pdf_of_two_columns_is_read_by_its_pages(made_up: None, tmp_path: Path) -> None:
    canvas = reportlab_canvas.Canvas(buffer := BytesIO(), invariant=1)
    lines = wrapped(paper(PROMPT), 44)
    for k in range(0, len(lines), 80):
        for column in (0, 1):
            for n, line in enumerate(lines[k + 40 * column : k + 40 * column + 40]):
                canvas.drawString(50 + 270 * column, 740 - 14 * n, line)
        canvas.showPage()
    canvas.save()
    (tmp_path / "paper.pdf").write_bytes(buffer.getvalue())
    (row,) = prompts_from(tmp_path / "paper.pdf", "sorting", tmp_path).rows
    number = next(k for k, line in enumerate(lines) if "Weigh" in line)
    assert ("cut", number // 80 + 1) == (row["state"], row["page"])
    assert REWRITTEN == (tmp_path / "sort.md").read_text().strip()


@pytest.fixture(scope="module")
def cut(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Any]]:
    """The prompts of the four papers that print some, each in a folder."""
    folder = tmp_path_factory.mktemp("prompts")
    return {
        system: (folder / system, prompts_from(shared / "papers" / file, system, folder / system))
        for system, file in PAPERS.items()
        if system != "cliniqlink"
    }


def test_the_papers_give_their_prompts_with_hash_and_place(cut: dict[str, tuple[Path, Any]]) -> None:
    states = {system: [row["state"] for row in finding.rows] for system, (_, finding) in cut.items()}
    assert {
        "dahl": ["cut"] * 4, "hivmedqa": ["cut", "cut", "not cut"], "bsc": ["cut"],
        "ranking": [*["cut"] * 4, "not cut"],
    } == states  # fmt: skip
    for system, (folder, _) in cut.items():
        record = json.loads((folder / f"{system}.json").read_text())
        for entry in record["prompts"]:
            if entry["file"]:
                assert sha256((folder / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
                assert entry["line"] > 1
        assert {0o600} == {file.stat().st_mode & 0o777 for file in folder.iterdir()}
    lines = [row["line"] for row in cut["dahl"][1].rows]
    assert sorted(lines) == lines


def test_settings_take_what_was_cut(cut: dict[str, tuple[Path, Any]]) -> None:
    dahl, hivmedqa, ranking = (cut[name][0] for name in ("dahl", "hivmedqa", "ranking"))
    assert ("question",) == load(str(dahl / "dahl_answer.md")).variables
    splitter_of(f"model(name=openai/gpt-4o, prompt='{dahl / 'dahl_split.md'}')")
    checker = checker_of(f"openai/gpt-4o(prompt='{dahl / 'dahl_check.md'}')")
    checker.prepare(passages=False)
    rubric = load_rubric(str(hivmedqa / "medgpt_paper.md"))
    assert load_rubric("medgpt").columns == rubric.columns
    options = [f"option_{k}" for k in range(1, 6)]
    assert ("question", *options) == load(str(ranking / "casimedicos.md")).variables
    assert () == load(str(ranking / "system_casimedicos.md")).variables


@each_case("system", ["dahl", "hivmedqa", "bsc", "ranking"])
def test_another_systems_paper_is_refused_by_its_name(shared: Path, tmp_path: Path, system: str) -> None:
    author = "ranking" if system == "dahl" else "dahl"
    with pytest.raises(
        InputError, match=f"is the paper of {author}, not of {system}: give --system {author}"
    ):
        prompts_from(shared / "papers" / PAPERS[author], system, tmp_path / "out")


def test_a_paper_without_prompts_says_so(shared: Path, viva: Any, tmp_path: Path) -> None:
    words = ["prompts", "from", shared / "papers" / PAPERS["cliniqlink"], "--to", tmp_path / "out"]
    with pytest.raises(InputError, match="prints no prompt; the organisers' stand in their repository"):
        viva(*words, "--system", "cliniqlink")
    with pytest.raises(InputError, match="--system dhal: name one of"):
        viva(*words, "--system", "dhal")


def test_the_command_shows_places_and_fails_where_a_prompt_is_missing(
    shared: Path, viva: Any, tmp_path: Path
) -> None:
    text = (shared / "papers" / PAPERS["dahl"]).read_text(encoding="utf-8")
    part = tmp_path / "part.txt"
    part.write_text(text[: text.index("Figure 9: ")], encoding="utf-8")
    output = viva("prompts", "from", part, "--system", "dahl", "--to", tmp_path / "out", code=1).output
    assert "dahl_answer" in output
    assert "3 of 4 printed prompts" in output
    assert "Not cut: dahl_check (Figure 10): it is not in this text." in output


def test_no_word_of_a_paper_is_shipped() -> None:
    for work in papers().values():
        for prompt in work.prompts:
            mark = prompt.fingerprint
            assert mark is None or all(
                re.fullmatch("[0-9a-f]{12}", d) for d in (mark.begin, mark.end, mark.digest, mark.signs)
            )
