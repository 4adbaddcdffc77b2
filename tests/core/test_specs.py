"""The grammar of specs: what can be written, what is canonical, and what is refused with which words."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.core.errors import SpecError
from vivavoce.core.specs import Setting, Spec, _Reader, matches, parse, parse_many, select, show, signed

BARE = "abcXYZ019_./:@+~-"
SECRETS = ("key", "secret", "passw", "authoriz", "sk-", "gh", "hf_", "xox", "AKIA", "AIza", "Bearer")


def harmless(text: str) -> bool:
    return not any(word.lower() in text.lower() for word in SECRETS)


names = st.text(BARE, min_size=1, max_size=8).filter(harmless)
texts = st.text(st.characters(), max_size=20).filter(harmless)  # quotes, newlines, lone surrogates and all
words = st.sampled_from(
    ["true", "false", "null", "1", "-0", "1e5", "01", "C:\\data\\", "it's", "\\'", "\n", ""]
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
    words,
    names,
)


def specs_of(values: st.SearchStrategy[Setting]) -> st.SearchStrategy[Spec]:
    return st.builds(Spec, names, st.dictionaries(names, values, max_size=4))


values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4).map(tuple) | specs_of(inner), max_leaves=12
)
specs = specs_of(values)


@given(specs)
def test_every_spec_is_read_back_from_its_text(spec: Spec) -> None:
    assert spec == parse(str(spec))
    assert str(spec) == str(parse(str(spec)))


@given(specs)
def test_a_spec_is_equal_whatever_the_order_of_its_settings(spec: Spec) -> None:
    turned = Spec(spec.name, dict(reversed(spec.settings.items())))
    assert spec == turned
    assert hash(spec) == hash(turned)
    assert str(spec) == str(turned)


@given(st.text(st.characters(), max_size=40) | st.text("ab(=,)'[]\\ 1.e-\n", max_size=30))
@example("a(x=\ud800)")
@example("a(x=1" + "0" * 5000 + ")")
@example("a(x=" * 500)
@example("a(x=" + "[" * 5000)
def test_no_text_raises_anything_but_a_spec_error(text: str) -> None:
    try:
        spec = parse(text)
    except SpecError:
        return
    assert spec == parse(str(spec))


@given(specs, st.data())
def test_a_spec_with_a_letter_lost_is_read_or_refused(spec: Spec, data: st.DataObject) -> None:
    whole = str(spec)
    at = data.draw(st.integers(0, len(whole) - 1))
    with suppress(SpecError):
        parse(whole[:at] + whole[at + 1 :])


@each_case(
    ("text", "canonical"),
    [
        ("rouge( n = L ,stemmer=true )", "rouge(n=L, stemmer=true)"),
        ("rouge(stemmer=true,n=L)", "rouge(n=L, stemmer=true)"),
        ("accuracy()", "accuracy"),
        ("accuracy", "accuracy"),
        ("a(x=[])", "a(x=[])"),
        ("a(x=b())", "a(x=b())"),
        ("a(x='b')", "a(x=b)"),
        ("a(x='1')", "a(x='1')"),
        ("a(x='true')", "a(x='true')"),
        ("a(x='')", "a(x='')"),
        ("a(x=1.50)", "a(x=1.5)"),
        ("a(x=1e3)", "a(x=1000.0)"),
        ("a(x=-0)", "a(x=0)"),
        ("a(x=01)", "a(x=01)"),
        ("a(x=1.)", "a(x=1.)"),
        ("a(model=openai/gpt-4o)", "a(model=openai/gpt-4o)"),
        ("jsonl(columns=[id:qid, text:answer])", "jsonl(columns=[id:qid, text:answer])"),
        (r"a(x='it\'s')", r"a(x='it\'s')"),
        (r"a(x='C:\data\exam.jsonl')", r"a(x='C:\\data\\exam.jsonl')"),
        ("a(x='one\ntwo')", "a(x='one\ntwo')"),
    ],
)
def test_the_canonical_form_of(text: str, canonical: str) -> None:
    assert canonical == str(parse(text))


@each_case(
    ("text", "value"),
    [
        ("1", 1),
        ("1.0", 1.0),
        ("true", True),
        ("false", False),
        ("null", None),
        ("'null'", "null"),
        ("True", "True"),
        ("1-2", "1-2"),
        ("1_000", "1_000"),
        ("+1", "+1"),
        (".5", ".5"),
        ("[1, [two, '3']]", (1, ("two", "3"))),
        ("name", "name"),
        ("name()", Spec("name")),
        (r"'C:\data\new'", r"C:\data\new"),
        (r"'\\server\share'", r"\server\share"),
        (r"'\n'", r"\n"),
        ("' a  b '", " a  b "),
    ],
)
def test_a_value_is_read_as(text: str, value: Setting) -> None:
    read = parse(f"a(x={text})").settings["x"]
    assert value == read
    assert type(value) is type(read)


def test_a_long_text_of_digits_is_quoted_or_refused() -> None:
    assert "9" * 5000 == parse(f"a(x='{'9' * 5000}')").settings["x"]
    with pytest.raises(SpecError, match="the number 99999999999999999999 in a spec is too large; quote it"):
        parse(f"a(x={'9' * 5000})")


@pytest.mark.parametrize(
    "path", [r"C:\data\exam.jsonl", r"\\server\share\a b", "C:\\data\\", "/tmp/a,b (c)='d'"]
)
def test_any_path_survives_its_spec(path: str) -> None:
    assert path == parse(str(Spec("jsonl", {"path": path}))).settings["path"]


def test_one_and_one_point_zero_and_true_are_three_values() -> None:
    made = {Spec("a", {"x": 1}), Spec("a", {"x": 1.0}), Spec("a", {"x": True})}
    assert 3 == len(made)
    assert Spec("a", {"x": 1}) != Spec("a", {"x": True})
    assert Spec("a", {"x": (1,)}) != Spec("a", {"x": (1.0,)})
    assert Spec("a", {"x": "1"}) != Spec("a", {"x": 1})
    assert Spec("a", {"x": "b"}) != Spec("a", {"x": Spec("b")})


def test_zero_and_minus_zero_are_told_apart_as_floats() -> None:
    assert "a(x=-0.0)" == str(parse("a(x=-0.0)"))
    assert Spec("a", {"x": 0.0}) != Spec("a", {"x": -0.0})


def test_a_spec_is_no_text() -> None:
    assert Spec("a") != "a"


@each_case(
    ("text", "words"),
    [
        ("", "at position 1 it needs a name, not the end."),
        ("   ", "at position 4 it needs a name, not the end."),
        ("(n=1)", "at position 1 it needs a name, not '(n=1)'."),
        ("rouge(n=1", "at position 10 it needs a comma or a closing bracket, not the end."),
        ("rouge(n=1 m=2)", "at position 11 it needs a comma or a closing bracket, not 'm=2)'."),
        ("rouge(1)", "at position 7 it needs key=value (settings go by keyword only), not '1)'."),
        ("rouge(n)", "at position 7 it needs key=value (settings go by keyword only), not 'n)'."),
        ("rouge(n=1,)", "at position 11 it needs key=value, not ')'."),
        ("rouge(n=)", "at position 9 it needs a value, not ')'."),
        ('rouge(n="L")', "at position 9 it needs a value, not '\"L\")'."),
        ("rouge(n=1))", "at position 11 it needs the end, not ')'."),
        ("rouge n", "at position 7 it needs the end, not 'n'."),
        ("a(x='b)", 'at position 5 it needs a closing quote, not "\'b)".'),
        ("a(x=[1, 2)", "at position 10 it needs a comma or a closing square bracket, not ')'."),
        ("a(x=1,x=2)", "the spec 'a(x=1,x=2)' sets 'x' twice."),
        ("a(x=1e999)", "the number 1e999 in a spec is too large; quote it if it is meant as text."),
        ("a(x=" + "[" * 60, "a spec cannot be nested more than 50 deep."),
        ("a(x=" * 60, "a spec cannot be nested more than 50 deep."),
    ],
)
def test_a_slip_is_named_with_its_place(text: str, words: str) -> None:
    with pytest.raises(SpecError) as error:
        parse(text)
    assert words in str(error.value)


# The short form, which a shell takes without quotes

plain = st.text(st.characters(exclude_characters=",=()[]'\"", exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text == text.strip() and harmless(text)
)
keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(harmless)


@each_case(
    ("text", "canonical"),
    [
        ("rouge:n=L", "rouge(n=L)"),
        ("rouge:stemmer=true,n=L", "rouge(n=L, stemmer=true)"),
        (" rouge:n=1, stemmer=false ", "rouge(n=1, stemmer=false)"),
        ("rouge:n=1+L", "rouge(n=1+L)"),
        ("jsonl:path=exam.jsonl", "jsonl(path=exam.jsonl)"),
        (r"jsonl:path=C:\data\new exam.jsonl", r"jsonl(path='C:\\data\\new exam.jsonl')"),
        (r"jsonl:path=\\server\share\a.csv", r"jsonl(path='\\\\server\\share\\a.csv')"),
        ("jsonl:path=Prüfung.jsonl", "jsonl(path='Prüfung.jsonl')"),
        ("http:url=https://host:8000/v1", "http(url=https://host:8000/v1)"),
        ("ollama/llama3:8b:temperature=0.2", "ollama/llama3:8b(temperature=0.2)"),
        ("vllm/host:8000:seed=1,top_p=0.5", "vllm/host:8000(seed=1, top_p=0.5)"),
        ("judge:rubric=medgpt,model=ollama/llama3:8b", "judge(model=ollama/llama3:8b, rubric=medgpt)"),
        ("a:x=null,y=01,z=1e3", "a(x=null, y=01, z=1000.0)"),
    ],
)
def test_the_short_form_is_the_same_spec(text: str, canonical: str) -> None:
    assert canonical == str(parse(text))
    assert parse(canonical) == parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "ollama/llama3:8b",
        "vllm/host:8000",
        "control:noise",
        "metric:criterion",
        "bias:recency",
        "a:",
        "a:b:c",
    ],
)
def test_a_colon_without_a_setting_behind_it_belongs_to_the_name(text: str) -> None:
    assert Spec(text) == parse(text)


@given(specs | names.map(Spec))
@example(Spec("http", {"url": "https://host/v1?a=b"}))
@example(Spec("a:b", {"c": "d:e=f"}))
def test_whatever_was_a_spec_before_the_short_form_still_is_the_same(spec: Spec) -> None:
    """A bare word with `=` right after it was no spec: the short form takes nothing from the long one."""
    long_form = str(spec)
    assert spec == parse(long_form) == _Reader(long_form).spec()


@given(st.text(BARE + "(=,)'[] ", max_size=30))
def test_a_text_that_the_long_form_reads_means_what_it_meant(text: str) -> None:
    reader = _Reader(text)
    try:
        spec = reader.spec()
    except SpecError:
        return
    if not reader.peek() and harmless(text):
        assert spec == parse(text)


@given(names, st.dictionaries(keys, plain, min_size=1, max_size=4))
def test_any_plain_settings_stand_in_the_short_form(name: str, settings: dict[str, str]) -> None:
    spec = parse(f"{name}:" + ",".join(f"{key}={value}" for key, value in settings.items()))
    assert name == spec.name
    assert settings.keys() == spec.settings.keys()
    for key, value in settings.items():
        assert not isinstance(spec.settings[key], str) or value == spec.settings[key]
    assert spec == parse(str(spec))


@each_case(
    "text",
    [
        "bias:type=[recency]",
        "bias:type=recency,authority",
        "jury:of=judge()",
        "a:x=",
        "a:x=1,",
        "a:x=1,,y=2",
        "a:x=1,=2",
        "a:x='b'",
        "judge:model=vllm/x:temperature=0",
        "rouge:n=L stemmer=true",
    ],
)
def test_what_the_short_form_cannot_say_names_the_long_one(text: str) -> None:
    with pytest.raises(SpecError) as error:
        parse(text)
    assert "needs the long form in quotes" in str(error.value)
    assert f'"{text.partition(":")[0]}(key=value)"' in str(error.value)


def test_the_short_form_stands_in_no_other_spec() -> None:
    with pytest.raises(SpecError, match="a comma or a closing"):
        parse("jury(of=[judge:rubric=medgpt])")


@pytest.mark.parametrize(
    "text", ["judge:api_key=hunter2", "judge:api_key=hunter2,", "judge:model=sk-hunter2hunter2hunter2"]
)
def test_a_secret_in_the_short_form_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(SpecError) as error:
        parse(text)
    assert "hunter2" not in str(error.value)


def test_a_setting_twice_in_the_short_form_is_an_error() -> None:
    with pytest.raises(SpecError, match="sets 'n' twice"):
        parse("rouge:n=1,n=L")


def test_fifty_levels_are_deep_enough() -> None:
    text = "a(x=" + "[" * 49 + "]" * 49 + ")"
    assert text == str(parse(text))


@each_case(
    "text",
    [
        "judge(api_key=hunter2)",
        "judge(API-KEY=hunter2)",
        "judge(openai_api_key=hunter2)",
        "judge(password=hunter2)",
        "judge(client_secret=hunter2)",
        "judge(authorization=hunter2)",
        "judge(api_key=hunter2",
        "judge(api_key=hunter2 x=3)",
        "judge(api_key=hunter2, api_key=hunter2)",
        "judge(of=[other(secret=hunter2)])",
        "judge(of=other(password=[hunter2]), )",
        "judge(model=sk-hunter2hunter2hunter2)",
        "judge(x=[a, [sk-proj-hunter2hunter2hunter2]])",
        "judge(x='Authorization: Bearer hunter2')",
        "judge(x=hf_hunter2hunter2hunter2)",
        "judge(x=ghp_hunter2hunter2hunter2)",
        "sk-hunter2hunter2hunter2",
    ],
)
def test_a_secret_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(SpecError) as error:
        parse(text)
    assert "hunter2" not in str(error.value)


def test_the_refusal_of_a_secret_says_where_keys_come_from() -> None:
    words = "'api_key' looks like a secret: keys come from the environment, never from a spec"
    with pytest.raises(SpecError, match=words):
        parse("judge(api_key=a)")
    with pytest.raises(SpecError, match="holds what looks like a key: keys come from the environment"):
        parse("judge(model=sk-0123456789abcdef0123)")


def test_a_secret_is_refused_in_a_spec_made_in_python() -> None:
    with pytest.raises(SpecError, match="looks like a secret"):
        Spec("judge", {"model": (("sk-0123456789abcdef0123",),)})


@pytest.mark.parametrize(
    "text",
    [
        "a(key=b)",
        "a(token=b)",
        "a(tokens=squad)",
        "jsonl(path=data/sk-learn-v2.jsonl)",
        "a(keys=[b, c])",
        "a(x=sk-short)",
    ],
)
def test_plain_words_are_no_secrets(text: str) -> None:
    assert text == str(parse(text))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", {"a": 1}, Path("a"), object()])
def test_a_spec_holds_no_other_values(value: object) -> None:
    with pytest.raises(SpecError, match="a spec cannot hold"):
        show(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "a b", "a(", "é", "a\n"])
def test_a_name_is_letters_digits_and_signs(name: str) -> None:
    with pytest.raises(SpecError, match="is no name for a spec: use letters, digits and"):
        Spec(name)
    with pytest.raises(SpecError, match="is no name for a setting: use letters, digits and"):
        Spec("a", {name: 1})


def test_a_file_holds_one_spec_a_line(tmp_path: Path) -> None:
    file = tmp_path / "metrics.txt"
    file.write_bytes(b"\xef\xbb\xbfrouge(n=1)\r\n\r\n  # a comment\r\n  token_f1  \r\n")
    made = parse_many(["accuracy", f"@{file}"])
    assert ["accuracy", "rouge(n=1)", "token_f1"] == [str(s) for s in made]


def test_all_mistakes_of_a_list_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "metrics.txt"
    file.write_text("rouge(n=1)\nrouge(n=\n", encoding="utf-8")
    with pytest.raises(SpecError) as error:
        parse_many(["a(", f"@{file}", "b)", f"@{tmp_path / 'none'}"])
    told = str(error.value).splitlines()
    assert 4 == len(told)
    assert "cannot read the spec 'a('" in told[0]
    assert "cannot read the spec 'rouge(n='" in told[1]
    assert "cannot read the spec 'b)'" in told[2]
    assert "cannot read the spec file" in told[3]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"# nothing\n\n", "holds no spec"),
        (b"", "holds no spec"),
        (b"rouge(n=\xff)\n", "cannot read the spec file"),
    ],
)
def test_a_spec_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "metrics.txt"
    file.write_bytes(content)
    with pytest.raises(SpecError, match=words) as error:
        parse_many([f"@{file}"])
    assert "metrics.txt" in str(error.value)


@pytest.mark.parametrize("text", ["@", "@.", "@a\0b"])
def test_what_is_no_spec_file_is_named(text: str) -> None:
    with pytest.raises(SpecError, match="cannot read the spec file"):
        parse_many([text])


def test_a_partial_spec_matches_by_the_settings_it_states() -> None:
    whole = parse("rouge(n=L, stemmer=true)")
    assert matches(parse("rouge"), whole)
    assert matches(parse("rouge(n=L)"), whole)
    assert not matches(parse("rouge(n=1)"), whole)
    assert not matches(parse("rouge(n=L, beta=1)"), whole)
    assert not matches(parse("token_f1"), whole)
    assert not matches(parse("rouge(stemmer='true')"), whole)


def test_a_full_name_selects_exactly_and_a_part_selects_all_that_fit() -> None:
    wholes = {
        "rouge(n=1)": parse("rouge(n=1, stemmer=false)"),
        "rouge(n=1, stemmer=true)": parse("rouge(n=1, stemmer=true)"),
        "token_f1": parse("token_f1(tokens=clinical)"),
        "token_f1(tokens=squad)": parse("token_f1(tokens=squad)"),
    }
    names = [*wholes, "token_f1"]
    assert ["rouge(n=1)"] == select("rouge(n=1)", names, wholes)
    assert ["rouge(n=1)"] == select("rouge( n=1 )", names, wholes)
    assert ["rouge(n=1)", "rouge(n=1, stemmer=true)"] == select("rouge", names, wholes)
    assert ["token_f1"] == select("token_f1()", names, wholes)
    assert ["token_f1"] == select("token_f1(tokens=clinical)", names, wholes)
    assert ["token_f1(tokens=squad)"] == select("token_f1(tokens=squad)", names, wholes)
    assert [] == select("rouge(n=2)", names, wholes)
    with pytest.raises(SpecError):
        select("rouge(", names, wholes)


@pytest.mark.parametrize(
    ("signature", "spec", "version", "recorded"),
    [
        ("accuracy()@1", "accuracy", "1", False),
        ("rouge(n=L)@2#ab12cd34", "rouge(n=L)", "2#ab12cd34", False),
        ("judge(model=a@b, rubric='x)@y')@recorded", "judge(model=a@b, rubric='x)@y')", "recorded", True),
    ],
)
def test_a_signature_is_a_spec_and_its_version(
    signature: str, spec: str, version: str, recorded: bool
) -> None:
    found = signed(signature)
    assert (parse(spec), version, recorded) == (found.spec, found.version, found.recorded)
