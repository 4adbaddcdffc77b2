import re
import time
from pathlib import Path

import pytest

from vivavoce.core.errors import InputError, ModelError
from vivavoce.core.yaml_files import read_document, read_mapping
from vivavoce.judging.loading import load
from vivavoce.models.cards import cards
from vivavoce.models.endpoints import load_endpoints
from vivavoce.run.plan.plan_file import read_plan

LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
REFUSED = {
    "aliases": (LAUGHS, "line 2: write it out, aliases are not used here."),
    "a merge": ("a: 1\n<<: {b: 2}\n", "line 2: write it out, merges (<<) are not used here."),
    "a tag": ("a: !!python/object:os.system x\n", "line 1: take the tag tag:yaml.org,2002:python/object"),
    "a harmless tag": ("a: 1\nb: !!set {x}\n", "line 2: take the tag tag:yaml.org,2002:set out"),
    "a tag of its own": ("a: !x 1\n", "line 1: take the tag !x out"),
    "levels": ("a:\n" + "[" * 51, "line 2: more than 50 levels of lists and mappings."),
    "levels without end": ("a: " + "[" * 100_000, "line 1: "),
    "levels of mappings": ("{a: " * 100_000, "line 1: more than 50 levels"),
    "levels of blocks": ("- " * 100_000, "line 1: more than 50 levels"),
    "a key twice": ("a: 1\nb:\n- {c: 1, c: 2}\n", "line 3: c stands there twice."),
    "a number as key twice": ("a: {1: x,\n  1.0: y}\n", "line 2: 1.0 stands there twice."),
    "a list as key": ("a: 1\n? [b]\n: 2\n", "line 2: a key is a word or a number, not a list or a mapping."),
    "infinity": ("a: 1\nb: .inf\n", "line 2: .inf is no number that can be used"),
    "no number": ("a: .NaN\n", "line 1: .NaN is no number that can be used"),
    "a number without end": ("a: 1.0e+999\n", "line 1: 1.0e+999 is no number that can be used"),
    "digits": ("a: " + "9" * 100_000, "line 1: a number of more than 40 digits"),
    "digits of minutes": ("a: 1" + ":59" * 100_000, "line 1: a number of more than 40 digits"),
    "64 bits": ("a: 9223372036854775808", "line 1: 9223372036854775808 has no room in 64 bits."),
    "a date that is none": ("a: 1\nb: 2024-13-41\n", "line 2: no valid YAML (month must be in 1..12)."),
    "half a character": ('a: "\\ud800"\n', "line 1: "),
    "a control character": ("a: \x00\n", "no valid YAML"),
    "no YAML": ("a: [", "line 1: no valid YAML"),
    "two documents": ("a: 1\n---\nb: 2\n", "line 2: no valid YAML"),
    "too much": ("a: " + "x" * 1_000_000, "it has more than 1,000,000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_settings_need_not_hold_is_refused_in_one_sentence(tmp_path, text, sentence):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(sentence)) as refused:
        read_mapping(file, "settings", InputError)
    assert str(refused.value).startswith(str(file))
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


READERS = {
    "providers": (load_endpoints, "{}", ModelError),
    "cards": (cards, "{}", ModelError),
    "a plan": (read_plan, "{}", InputError),
    "a rubric": (lambda file: load(str(file)), "---\n{}\n---\n{{{{ answer }}}}\n", InputError),
}


@pytest.mark.parametrize(("reader", "frame", "error"), READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "what", ["aliases", "a tag", "levels without end", "digits", "infinity", "a key twice"]
)
def test_every_file_of_settings_is_held_to_it(tmp_path, reader, frame, error, what):
    text, _ = REFUSED[what]
    file = tmp_path / "mine.md"
    file.write_text(frame.format(text))
    with pytest.raises(error, match=re.escape(f"{file}, line ")):
        reader(file)


def test_a_few_lines_do_not_grow_to_gigabytes(tmp_path):
    """Nine levels of ten aliases are a billion texts in 500 bytes."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    file = tmp_path / "mine.yaml"
    file.write_text("\n".join(lines))
    started = time.process_time()
    with pytest.raises(InputError, match="aliases"):
        read_mapping(file, "settings", InputError)
    assert time.process_time() - started < 5


def test_plain_settings_are_read_as_ever(tmp_path):
    file = tmp_path / "mine.yaml"
    text = "\ufeffa: {b: [1, 2.5, true, null, '1e999', 2024-07-01]}\n7: -9223372036854775808\n"
    file.write_text(text)
    values = read_mapping(file, "settings", InputError)
    assert [1, 2.5, True, None, "1e999"] == values["a"]["b"][:5]
    assert -(2**63) == values["7"]
    file.write_text("# nothing\n")
    assert {} == read_mapping(file, "settings", InputError)


def test_a_document_knows_the_line_of_every_entry(tmp_path):
    document = read_document("a:\n- b: 1\n  c: 2\n- 3\n", tmp_path / "x", InputError)
    assert {("a",): 1, ("a", 0): 2, ("a", 0, "b"): 2, ("a", 0, "c"): 3, ("a", 1): 4} == document.lines


def test_fifty_levels_are_read(tmp_path):
    value, levels = read_document("[" * 50 + "]" * 50, tmp_path / "x", InputError).value, 1
    while value:
        (value,), levels = value, levels + 1
    assert 50 == levels


def test_a_device_without_end_is_no_settings():
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        read_mapping(Path("/dev/zero"), "settings", InputError)
