"""What is known of a language stands in one file, and a command that asks for nothing reads none."""

import subprocess
import sys
from dataclasses import fields

import pytest

from vivavoce.language.languages import DATA, WORDS_ALONE, codes, language

FULL_SUPPORT = "ar ca de en es fr hi it ja ko nl pl pt ru tr zh"


def test_each_file_is_a_language_and_english_comes_first():
    assert "en" == codes()[0]
    assert {path.stem for path in DATA.iterdir()} == {*codes(), WORDS_ALONE}
    assert [] == [code for code in FULL_SUPPORT.split() if code not in codes()]


def test_a_list_is_of_words_without_doubles_or_blanks_at_their_ends():
    faults = []
    for code in (*codes(), WORDS_ALONE):
        values = language(code)
        assert all((values.name, values.scripts)), code
        for field in fields(values):
            entries = getattr(values, field.name)
            if isinstance(entries, tuple) and any(entry != entry.strip() or not entry for entry in entries):
                faults.append((code, field.name))
    assert [] == faults


def test_a_code_without_a_file_is_refused():
    for code in ("xx", "../data/en", ""):
        with pytest.raises(KeyError):
            language(code)


def test_no_file_is_read_before_a_language_is_asked_for():
    script = (
        "import sys, builtins, io\nopened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "import vivavoce.reading.clauses, vivavoce.metrics.rouge, vivavoce.language.languages as languages\n"
        "print([path for path in opened if path.endswith('en.json')])\n"
        "languages.language('en')\nprint([path for path in opened if '/language/data/' in path])"
    )
    lines = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert ["[]", f"['{DATA / 'en.json'}']"] == lines
