"""What is read of a folder, what is not and why; and files of strangers that would rather not be read."""

import json
import os
import re
import socket
import subprocess
import threading
import time
import zlib
from contextlib import suppress
from functools import cache

import pytest
from tests.retrieval.pdfs import encrypted, objects, pdf

from vivavoce.core.errors import InputError
from vivavoce.retrieval import folder as folder_module
from vivavoce.retrieval import reader_process
from vivavoce.retrieval.documents import Unusable
from vivavoce.retrieval.index import open_source
from vivavoce.retrieval.reader_process import FileReader

SOUND = {"sound.txt": "A sound text of words."}


def stream(content: bytes, more: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), more, content)


CATALOGUE = b"<< /Type /Catalog /Pages 2 0 R >>"


def one_page(content: bytes, form: bytes = b"null", catalogue: bytes = CATALOGUE) -> bytes:
    """A PDF with one page and a form that it may show."""
    fonts = b"/Font << /F1 5 0 R >> /XObject << /X 6 0 R >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << %s >> >>" % fonts
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    return objects([catalogue, tree, page, content, font, form])


PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"


def bomb() -> bytes:
    """A stream that becomes 200 MB of blanks."""
    packer = zlib.compressobj()
    packed = [packer.compress(b" " * 1_000_000) for _ in range(200)]
    return stream(b"".join([*packed, packer.flush()]), b"/Filter /FlateDecode")


def reasons(source) -> dict[str, str]:
    return {skipped.file: skipped.reason for skipped in source.skipped}


@cache
def unusable() -> dict[str, tuple[bytes, str]]:
    """By name of a file that gives no text its content and a pattern of the reason."""
    return {
        "cut.pdf": (pdf("Words")[:200], "cannot be read as a PDF"),
        "no.pdf": (b"not a PDF at all", "cannot be read as a PDF"),
        "locked.pdf": (encrypted(pdf("Words"), "secret"), "encrypted: it opens with a password only"),
        "scan.pdf": (pdf("", ""), r"no text on any of its pages \(2\): a scan"),
        "loop.pdf": (
            objects([CATALOGUE, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"]),
            "cannot be read as a PDF",
        ),
        "bomb.pdf": (one_page(bomb()), "Limit reached"),
        "long.pdf": (
            objects([CATALOGUE, b"<< /Type /Pages /Kids [%s] /Count 6000 >>" % (b"3 0 R " * 6000), PAGE]),
            "it has 6,000 pages, and none over 5,000 is read",
        ),
        "deep.html": (b"<p>Words" + b"<div>" * 100_000 + b"Words", "nested too deeply"),
        "huge.html": (b"<p>" + b"word " * 4_000_000, "a text in it is too long"),
        "shown.html": (b"<title>T</title><script>'words'</script><p hidden>words", "no text that a reader"),
        "blank.html": (b"<!-- words -->", "no text that a reader"),
        "binary.txt": (b"words\0words", "no text: line 1: a NUL byte"),
        "greek.txt": ("ασπιρίνη\n".encode("iso8859-7"), "is not UTF-8"),
        "blank.txt": (b" \n\t\n", "no text in it"),
        "empty.txt": (b"", "it is empty"),
        "rows.jsonl": (b'["words"]\n{"title": "words"}\n', "no line is an object with a text; rows.jsonl#1:"),
        ".hidden.txt": (b"words", "hidden"),
        ".git/x.txt": (b"words", "hidden"),
        "letter.docx": (b"PK", r"no kind that is read \(txt, md, jsonl, html and pdf\)"),
        "line\nend.txt": (b"words", "its name holds control characters"),
        "turn\u202egpj.txt": (b"words", "its name holds control characters"),
    }  # fmt: skip


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """A source of one sound file and all that are not."""
    path = tmp_path_factory.mktemp("strange")
    for name, content in {**SOUND, **{name: content for name, (content, _) in unusable().items()}}.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_source(path, cache=path.with_name("strange cache"))


def test_a_file_that_gives_no_text_is_named_with_its_reason(strange):
    named = {".git/x.txt": ".git", "turn\u202egpj.txt": "turn\ufffdgpj.txt"}
    given = {name: reasons(strange).get(named.get(name, name), "") for name in unusable()}
    assert {} == {name: given[name] for name in given if not re.search(unusable()[name][1], given[name])}


def test_sound_files_beside_strange_ones_are_read(strange):
    assert ["sound.txt"] == [document.name for document in strange.documents]
    assert len(unusable()) == len(strange.skipped)
    assert all("\n" not in skipped.reason for skipped in strange.skipped)


def test_what_was_wrong_is_remembered_with_the_index(strange):
    again = open_source(strange.path, cache=strange.path.with_name("strange cache"))
    assert (0, strange.skipped) == (again.builds, again.skipped)


def test_a_source_of_strange_files_alone_is_one_sentence(folder):
    files = {name: content for name, (content, _) in unusable().items() if name.endswith(("txt", "jsonl"))}
    with pytest.raises(
        InputError, match=r"^the source .* holds no text to search \(.git: hidden; .*; and \d more"
    ) as error:
        open_source(folder(files))
    assert "\n" not in str(error.value)


def test_links_and_devices_are_not_followed(folder, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret words")
    path = folder(SOUND)
    (path / "link.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (path / "folder").symlink_to(tmp_path / "outside")
    (path / "around").symlink_to(path)
    (path / "broken.txt").symlink_to("nowhere")
    os.mkfifo(path / "pipe.txt")
    source = open_source(path)
    assert ["sound.txt"] == [document.name for document in source.documents]
    assert {"link.txt", "folder", "around", "broken.txt", "pipe.txt"} == reasons(source).keys()
    assert "no regular file" == reasons(source)["pipe.txt"]
    assert () == source.search("secret")


def test_a_file_that_is_too_large_is_not_even_hashed(folder, monkeypatch):
    monkeypatch.setattr(folder_module, "MOST_BYTES", 100)
    source = open_source(folder({**SOUND, "large.txt": "word " * 30}))
    assert {"large.txt": "it has 150 bytes, and none over 100 is read"} == reasons(source)
    assert ["sound.txt"] == list(source.files)


def test_a_folder_with_too_many_files_is_refused(folder, monkeypatch):
    monkeypatch.setattr(folder_module, "MOST_FILES", 3)
    with pytest.raises(InputError, match="more than 3 files"):
        open_source(folder({f"{k}.txt": "word" for k in range(4)}))


def test_a_file_that_changes_while_it_is_read_is_refused(folder, monkeypatch):
    path = folder(SOUND)

    def decoded(file):
        (path / "sound.txt").write_text("Another text, longer than before.")
        return "words"

    monkeypatch.setattr(folder_module, "decoded", decoded)
    with pytest.raises(InputError, match=r"sound.txt in the source .* changed while it was read"):
        open_source(path)


def test_broken_lines_of_rows_are_named_and_the_others_used(folder):
    rows = [
        '{"text": "Sound words"}',
        "broken",
        "",
        '{"text": 5}',
        '{"text": " "}',
        '{"text": "\\ud800"}',
        "[" * 200,
    ]
    source = open_source(folder({"rows.jsonl": "\n".join(rows) + "\n", "many.jsonl": rows[0] + "\nx" * 30}))
    assert ["many.jsonl#1", "rows.jsonl#1"] == [document.name for document in source.documents]
    mine = {name: reason for name, reason in reasons(source).items() if name.startswith("rows")}
    assert ["rows.jsonl#2", "rows.jsonl#4", "rows.jsonl#5", "rows.jsonl#6", "rows.jsonl#7"] == list(mine)
    assert 'no string under "text"' == mine["rows.jsonl#4"]
    assert "10 more lines could not be used" == reasons(source)["many.jsonl"]
    assert 21 == sum(name.startswith("many") for name in reasons(source))


def test_rows_of_other_collections_are_read_too(folder):
    row = {
        "id": "textbook_7",
        "title": None,
        "content": "Words of a book",
        "contents": "Title. Words of a book",
    }
    (document,) = open_source(folder({"rows.ndjson": json.dumps(row)})).documents
    assert (("Words of a book",), "", "textbook_7") == (document.texts, document.title, document.url)


def test_pages_without_text_are_named_and_the_others_keep_their_numbers(folder):
    source = open_source(folder({"a.pdf": pdf("First page", "", "Third page")}))
    assert {"a.pdf": "no text on 1 of its 3 pages (2)"} == reasons(source)
    assert 3 == source.search("third")[0].page


def test_a_pdf_without_a_password_opens_though_it_is_encrypted(folder):
    assert open_source(folder({"a.pdf": encrypted(pdf("Open words"), "")})).search("open")


def test_a_form_that_shows_itself_ends(folder):
    form = stream(b"BT /F1 9 Tf (Words) Tj ET /X Do /X Do",
                  b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> "
                  b"/Font << /F1 5 0 R >> >>")  # fmt: skip
    assert open_source(folder({"a.pdf": one_page(stream(b"/X Do"), form)})).search("words")


def test_a_file_that_takes_too_long_is_given_up_and_the_next_is_read(folder, monkeypatch):
    monkeypatch.setattr(reader_process, "SECONDS_PER_BYTE", 0)
    attributes = b" ".join(b"a%d=1" % k for k in range(100_000))
    path = folder({"slow.html": b"<p " + attributes + b">words", "next.html": b"<p>Words"})
    with FileReader(seconds=1) as reader:
        begin = time.monotonic()
        with pytest.raises(Unusable, match="takes longer than 1 second"):
            reader.document(path / "slow.html", "slow.html")
        assert time.monotonic() - begin < 20
        reader.seconds = 60  # what reads the next file starts first, and a busy machine takes its time
        assert "Words" == reader.document(path / "next.html", "next.html")[0].text()


def test_a_file_that_took_too_long_is_called_so_however_soon_its_reader_has_ended(folder, monkeypatch):
    """Its end is heard of before whoever ended it goes on."""
    kill = subprocess.Popen.kill
    monkeypatch.setattr(subprocess.Popen, "kill", lambda process: (kill(process), time.sleep(0.3)))
    monkeypatch.setattr(reader_process, "SECONDS_PER_BYTE", 0)
    path = folder({"a.html": "<p>Words"})
    with FileReader(seconds=0) as reader, pytest.raises(Unusable, match="takes longer than 0 seconds"):
        reader.document(path / "a.html", "a.html")


def test_a_file_that_is_read_as_its_time_ends_leaves_the_next_one_alone(folder, monkeypatch):
    """The reader is ended behind the last reply, which is there whole."""
    ends = []

    class Late(reader_process.Timer):
        def cancel(self):
            if not ends:
                self.function()
            ends.append(self)
            super().cancel()

    monkeypatch.setattr(reader_process, "Timer", Late)
    path = folder({"a.html": "<p>Words", "b.html": "<p>Others"})
    with FileReader() as reader:
        texts = [reader.document(path / name, name)[0].text() for name in ("a.html", "b.html")]
    assert ["Words", "Others"] == texts
    assert 2 == len(ends)


def test_a_file_that_ends_its_reader_is_named_and_the_next_is_read(folder):
    path = folder({"a.html": b"<p>Words"})
    with FileReader() as reader:
        reader.document(path / "a.html", "a.html")
        reader._process.kill()
        reader._process.wait()
        with pytest.raises(Unusable, match="ended the program that read it"):
            reader.document(path / "a.html", "a.html")
        assert "Words" == reader.document(path / "a.html", "a.html")[0].text()


def test_a_module_in_the_folder_we_are_in_is_not_run(folder, monkeypatch):
    path = folder({"a.html": "<p>Words", "json.py": "1/0", "lxml.py": "1/0"})
    monkeypatch.chdir(path)
    assert open_source(".").search("words")


def test_no_reason_holds_a_control_character(folder, monkeypatch):
    def document(self, path, name):
        raise Unusable("broken \x1b[31m at \udc80")

    monkeypatch.setattr(FileReader, "document", document)
    source = open_source(folder({**SOUND, "a.pdf": "x"}))
    assert {"a.pdf": "broken \ufffd[31m at \ufffd"} == reasons(source)
    assert source.skipped == open_source(source.path).skipped


def test_the_reader_gets_no_key(folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    process = reader_process._started()
    try:
        with open(f"/proc/{process.pid}/environ", "rb") as environment:
            assert b"secret" not in environment.read()
    finally:
        process.kill()
        process.communicate()


def test_no_document_reaches_a_network_or_a_file(folder, tmp_path):
    (tmp_path / "secret.txt").write_text("topsecret")
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"

        def listen():
            server.settimeout(2)
            with suppress(OSError):
                calls.append(server.accept())

        thread = threading.Thread(target=listen)
        thread.start()
        entities = (
            f'<!ENTITY a "ha"><!ENTITY b "{"&a;" * 1000}"><!ENTITY f SYSTEM "file://{tmp_path}/secret.txt">'
        )
        xhtml = (
            f'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "{url}" [{entities}<!ENTITY n SYSTEM "{url}">]>'
            f"<html><body><p>Words &b; &f; &n;</p></body></html>"
        )
        html = (
            f'<base href="{url}"><link rel=stylesheet href="{url}"><script src="{url}"></script>'
            f'<meta http-equiv=refresh content="0;url={url}"><iframe src="{url}"></iframe><p>Words'
        )
        action = b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /URI /URI (%s) >> >>" % url.encode()
        loading = one_page(stream(b"BT /F1 9 Tf (Words of a PDF) Tj ET"), catalogue=action)
        source = open_source(folder({"a.xhtml": xhtml, "b.html": html, "c.pdf": loading}))
        thread.join()
    assert [] == calls
    assert () == source.find("topsecret") == source.find("haha")
    assert {"a.xhtml", "b.html", "c.pdf"} == {passage.file for passage in source.search("words")}
