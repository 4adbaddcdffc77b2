"""A folder becomes an index once per version, and gives the passages that a fact needs."""

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest
from tests.lengths import length
from tests.retrieval.pdfs import pdf

from vivavoce.core.errors import InputError, MetricError
from vivavoce.retrieval import index_cache
from vivavoce.retrieval.folder import open_folder
from vivavoce.retrieval.index import FLOOR, open_source

FILES = {
    "asthma.txt": "Salbutamol relieves the symptoms of asthma within minutes. It is inhaled.",
    "gout.md": "# Gout\n\nColchicine treats an acute attack of gout. Allopurinol prevents attacks.",
    "doses.jsonl": "\n".join(
        json.dumps({"title": "Ramipril", "text": f"The starting dose is {dose} mg once a day.", "id": dose})
        for dose in ("25", "2.5", "2,500")
    ),
    "page.html": "<title>Iron</title><p>Iron is absorbed better with <b>vita</b>min C than with tea.",
    "two.pdf": pdf("Anaphylaxis is treated with adrenaline.", "Adrenaline is given into the thigh muscle."),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The source of these files, to read."""
    path = tmp_path_factory.mktemp("library")
    for name, content in FILES.items():
        (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_source(path, cache=tmp_path_factory.mktemp("cache"))


def test_each_kind_gives_its_passage_with_file_page_and_offset(library):
    best = {
        query: library.search(query)[0] for query in ("salbutamol", "gout", "iron and tea", "thigh muscle")
    }
    assert [("asthma.txt", None), ("gout.md", None), ("page.html", None), ("two.pdf", 2)] == [
        (passage.file, passage.page) for passage in best.values()
    ]
    assert "Iron is absorbed better with vitamin C than with tea." == best["iron and tea"].text
    assert () == library.skipped


def test_every_passage_stands_in_its_document_word_for_word(folder):
    long = "\n\n".join(f"Paragraph {k}: " + "word and number 2.5 mg, then more. " * 20 for k in range(30))
    source = open_source(folder({**FILES, "long.txt": long, "lines.txt": long.replace("\n\n", "\r\n")}))
    passages = [p for q in ("word", "dose", "adrenaline", "gout", "iron") for p in source.search(q, 1000)]
    assert len(passages) > 30
    for passage in passages:
        text = source.document(passage.file).text(passage.page)
        assert passage.text == text[passage.offset : passage.offset + len(passage.text)]


@pytest.mark.parametrize("dose", ["2.5", "25", "2500", "2,500"])
def test_a_dose_finds_its_own_number_first(library, dose):
    passages = library.search(f"The starting dose of ramipril is {dose} mg")
    assert f" {dose.replace('2500', '2,500')} mg" in passages[0].text
    assert 3 == len([p for p in passages if p.file.startswith("doses.jsonl#")])


def test_rows_are_documents_of_their_own(library):
    assert ["doses.jsonl#1", "doses.jsonl#2", "doses.jsonl#3"] == [
        d.name for d in library.documents if d.name.startswith("doses")
    ]
    assert ("Ramipril", "2.5") == (
        library.document("doses.jsonl#2").title,
        library.document("doses.jsonl#2").url,
    )


@pytest.mark.parametrize(
    "text", ["", "   ", "…", "the of and it", "Warfarin thins blood", "Το φάρμακο", "膠囊"]
)
def test_a_text_without_a_shared_content_word_has_no_hit(library, text):
    assert () == library.search(text)


def test_one_common_word_among_strange_ones_is_no_hit(folder):
    source = open_source(folder({f"{k}.txt": f"Patients take drug{k} daily." for k in range(50)}))
    assert () == source.search("Patients with psoriatic arthritis tolerate methotrexate injections poorly")
    assert 0 < FLOOR < 0.5


def test_a_source_of_one_passage_is_found_by_some_of_its_words(folder):
    source = open_source(folder({"a.txt": "Metformin is stopped when the eGFR falls below 30 mL/min."}))
    assert source.search("Metformin should be discontinued if kidney function drops below an eGFR of 30.")
    assert () == source.search(
        "Doctors rarely prescribe metformin for psoriasis or severe eczema in children."
    )


def test_no_more_passages_than_wanted_come(library):
    assert [0, 0, 1, 2] == [len(library.search("mg dose", n)) for n in (-1, 0, 1, 2)]


def test_ties_are_in_the_order_of_names_and_a_text_that_stands_twice_comes_once(folder):
    texts = {f"{name}.txt": f"Zinc heals wounds, {name * 3}" for name in "cab"}
    source = open_source(folder({**texts, "z.txt": "Zinc heals wounds, aaa"}))
    passages = source.search("zinc")
    assert ["a.txt", "b.txt", "c.txt"] == [p.file for p in passages]
    assert 1 == len({p.score for p in passages})


def test_the_order_of_words_and_their_repeats_change_nothing(library):
    assert library.search("dose of 25 mg ramipril") == library.search("Ramipril 25 mg, RAMIPRIL: dose")


def test_two_processes_give_the_same_scores(folder, cache):
    path = folder(FILES)
    code = (
        "import sys; from vivavoce.retrieval.index import open_source\n"
        f"print(open_source({str(path)!r}, cache=sys.argv[1]).search('dose of 25 mg adrenaline attack gout'))"
    )
    prints = {
        subprocess.run(
            [sys.executable, "-c", code, str(cache / seed)],
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in length(("1",), ("1", "2"))
    }  # fmt: skip
    assert 1 == len(prints)
    assert f"{open_source(path).search('dose of 25 mg adrenaline attack gout')}\n" in prints


def test_the_index_is_built_once_per_version(folder):
    path = folder(FILES)
    sources = [open_source(path) for _ in range(3)]
    assert [1, 0, 0] == [source.builds for source in sources]
    assert 1 == len({source.search("gout attack") for source in sources})
    assert 1 == len({source.documents for source in sources})
    (path / "gout.md").write_text("Nothing here of that illness.")
    changed = open_source(path)
    assert (1, ()) == (changed.builds, changed.search("gout attack"))
    assert sources[0].version != changed.version
    assert 0 == open_source(path).builds


def test_the_same_folder_elsewhere_has_the_same_version_and_index(folder):
    first, second = open_source(folder(FILES)), open_source(folder(FILES, name="other"))
    assert (first.version, first.files) == (second.version, second.files)
    assert (["library", "other"], 0) == ([first.name, second.name], second.builds)


def test_a_renamed_file_makes_another_version(folder):
    path = folder(FILES)
    before = open_source(path).version
    (path / "gout.md").rename(path / "gout2.md")
    assert before != open_source(path).version


def test_what_is_not_read_makes_no_other_version(folder):
    path = folder(FILES)
    before = open_source(path).version
    folder({".DS_Store": "x", "a.docx": "x"})
    source = open_source(path)
    assert (before, 0) == (source.version, source.builds)
    assert [".DS_Store", "a.docx"] == [skipped.file for skipped in source.skipped]


def test_the_version_is_what_sha256sum_says(folder):
    source = open_source(folder({"b.txt": "two", "a.txt": "one"}))
    lines = "".join(f"{source.files[name]}  {name}\n" for name in ("a.txt", "b.txt"))
    sums = {name: subprocess.run(["sha256sum"], input=text, capture_output=True).stdout.split()[0].decode()
            for name, text in (("a.txt", b"one"), ("b.txt", b"two"), ("all", lines.encode()))}  # fmt: skip
    assert ({"a.txt": sums["a.txt"], "b.txt": sums["b.txt"]}, sums["all"][:16]) == (
        source.files,
        source.version,
    )


def test_the_cache_is_private_and_a_damaged_one_is_built_again(folder, cache):
    path = folder({name: text for name, text in FILES.items() if name.endswith(("txt", "md", "jsonl"))})
    wanted = open_source(path).search("gout")
    (index,) = (cache / "sources").iterdir()
    modes = {stat.S_IMODE(entry.stat().st_mode) for entry in (cache, index)}
    assert ({0o700}, {0o600}) == (modes, {stat.S_IMODE(f.stat().st_mode) for f in index.iterdir()})
    for file in sorted(index.iterdir()):
        content = file.read_bytes()
        for damage in (b"", content[: len(content) // 2], b"\x80" + content[1:]):
            file.write_bytes(damage)
            source = open_source(path)
            assert (1, wanted) == (source.builds, source.search("gout")), file.name
        file.unlink()
        assert 1 == open_source(path).builds
    assert 0 == open_source(path).builds
    assert [index] == list((cache / "sources").iterdir())


def test_nothing_is_pickled_and_nothing_lies_in_the_source(folder, cache):
    path = folder(FILES)
    before = sorted(path.iterdir())
    open_source(path)
    assert before == sorted(path.iterdir())
    assert {".npy", ".json", ".jsonl"} == {f.suffix for f in cache.rglob("*") if f.is_file()}
    for file in cache.rglob("*.npy"):
        assert np.load(file, allow_pickle=False).size


def test_a_sound_index_that_cannot_be_read_is_built_again(folder, cache):
    path = folder(FILES)
    index = index_cache.place(cache, open_folder(path).version)
    index_cache.store(index, lambda draft: (draft / "a.json").write_text("1"))
    assert [1, 0] == [open_source(path).builds for _ in range(2)]


def test_processes_that_build_at_once_leave_one_index(folder, cache):
    path = folder(FILES)
    code = (
        f"from vivavoce.retrieval.index import open_source; print(open_source({str(path)!r}).search('gout'))"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "XDG_CACHE_HOME": str(cache.parent)}
    index = index_cache.place(cache, open_folder(path).version)
    killed = index.parent / f".{index.name}.12345678.part"
    killed.mkdir(parents=True)
    os.utime(killed, (0, 0))
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(length(2, 4))
    ]
    assert 1 == len({process.communicate()[0] for process in running})
    assert {0} == {process.returncode for process in running}
    assert 0 == open_source(path).builds
    assert [index] == list(index.parent.iterdir())


def test_a_build_takes_neither_the_draft_nor_the_sound_index_of_another_away(tmp_path):
    index = tmp_path / "index"

    def slow(draft):
        (draft / "a.json").write_text("1")
        assert index_cache.store(index, lambda other: (other / "a.json").write_text("2"))
        assert draft.is_dir()

    assert index_cache.store(index, slow)
    assert ("2", [index]) == ((index / "a.json").read_text(), list(tmp_path.iterdir()))


def test_without_a_place_for_the_cache_the_index_is_built_each_time(folder, tmp_path):
    (tmp_path / "file").write_text("no folder")
    sources = [open_source(folder(FILES), cache=tmp_path / "file" / "x") for _ in range(2)]
    assert [1, 1] == [source.builds for source in sources]
    assert sources[0].search("gout")


def test_an_encoder_puts_the_passages_in_order(folder):
    """Of vectors that know one thing, whether the text holds one dose."""

    def encoder(texts):
        seen.extend(texts)
        return np.array([[1.0, 0.0] if "2,500" in text else [0.0, 1.0] for text in texts])

    seen = []
    source = open_source(folder(FILES), encoder=encoder)
    passages = source.search("dose, not 2,500 mg but 25 mg")
    assert ("doses.jsonl#3", 1.0) == (passages[0].file, passages[0].score)
    assert ["doses.jsonl#1", "doses.jsonl#2"] == [p.file for p in passages[1:]]  # ties: as BM25 has them
    assert 1 + 3 == len(seen)
    source.search("25 mg dose")
    assert 1 + 3 + 1 == len(seen)  # a passage passes once
    assert () == source.search("psoriasis")
    assert 5 == len(seen)  # and nothing where nothing is a candidate


def test_an_encoder_can_come_later_and_go_again(library):
    encoder = lambda texts: np.array([[1.0, 0.0] if "2,500" in text else [0.0, 1.0] for text in texts])  # noqa: E731
    ordered = library.ordered_by(encoder)
    query = "dose, not 2,500 mg but 25 mg"
    assert open_source(library.path, encoder=encoder).search(query) == ordered.search(query)
    assert library.search(query) == ordered.ordered_by(None).search(query) != ordered.search(query)


def test_an_encoder_with_too_few_vectors_is_refused(library):
    source = library.ordered_by(lambda texts: np.ones((1, 2)))
    with pytest.raises(MetricError, match="1 vectors for 4 texts"):
        source.search("dose")


def test_a_quote_is_found_word_for_word_whatever_the_blanks(folder):
    source = open_source(
        folder({**FILES, "b.txt": "Once\nColchicine   treats an\nacute attack. Colchicine treats an acute"})
    )
    places = source.find(" Colchicine treats\tan acute ")
    assert [("b.txt", 5), ("b.txt", 42), ("gout.md", 8)] == [(p.file, p.offset) for p in places]
    for place in places:
        assert place.text == source.document(place.file).text(place.page)[place.offset :][: len(place.text)]
    assert [("two.pdf", 2, 0)] == [p[:3] for p in source.find("Adrenaline is given into the")]
    assert () == source.find("colchicine treats") == source.find("") == source.find(" \n")


def test_an_unknown_document_or_page_is_refused(library):
    with pytest.raises(InputError, match=r"has no document 'none\.txt'"):
        library.document("none.txt")
    assert library.document("two.pdf").text(2)
    for name, page in (("two.pdf", None), ("two.pdf", 0), ("two.pdf", 3), ("gout.md", 1)):
        with pytest.raises(IndexError):
            library.document(name).text(page)


def test_other_scripts_are_searched_too(folder):
    texts = {
        "de.txt": "Müller empfiehlt bei Fieber über 39 °C Paracetamol.",
        "el.txt": "Η ασπιρίνη αραιώνει το αίμα.",
        "ja.txt": "アスピリンは血液を固まりにくくする。胃を荒らすことがある。",
        "ru.txt": "Аспирин разжижает кровь.",
        "zh.txt": "阿司匹林可以防止血栓形成。布洛芬用于止痛。",
    }
    source = open_source(folder(texts))
    queries = ("MULLER 39 °c", "ασπιρινη", "血液が固まる", "аспирин", "布洛芬 止痛")
    assert sorted(texts) == [source.search(query)[0].file for query in queries]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "holds no text to search: give"),
        ({"a.docx": "x"}, "a.docx: no kind that is read"),
        ({"a.txt": "the of and"}, "holds no text to search"),
        ({"a.txt": " \n", "b.txt": "...."}, "a.txt: no text in it; b.txt: no text in it"),
    ],
)
def test_a_source_without_a_text_is_one_sentence(folder, files, reason):
    with pytest.raises(InputError, match=reason) as error:
        open_source(folder(files))
    assert "\n" not in str(error.value)


def test_a_source_that_is_no_folder_is_one_sentence(folder, tmp_path):
    with pytest.raises(InputError, match="does not exist: give a folder"):
        open_source(tmp_path / "none")
    with pytest.raises(InputError, match="is a file: give a folder"):
        open_source(folder({"a.txt": "x"}) / "a.txt")
