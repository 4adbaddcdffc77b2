r"""Specs: names that run.

    spec  = name [ "(" key "=" value { "," key "=" value } ")" ] | short
    value = bare | 'quoted, with \' and \\ inside' | [list] | spec
    bare  = letters, digits and _ . / : @ + ~ -
    short = name ":" key "=" plain { "," key "=" plain }
    plain = any characters but , = ( ) [ ] and quotes

Bare words are `true`, `false`, `null`, a JSON number, or else text; `name()` is a spec, `name` is text.
The short form is for a shell, which takes it without quotes: `rouge:n=L,stemmer=true` is the spec
`rouge(n=L, stemmer=true)`. A colon begins settings only where `key=` follows it, so that names such as
`ollama/llama3:8b`, `control:noise` and `vllm/host:8000` stay names; the last such colon counts. Lists, specs
within specs, numbers that are meant as text, and texts with any of the characters above need the long form.
The short form is read at the top level alone, and is never written.
`str(spec)` is canonical: keys sorted, one space after each comma, quotes only where they are needed; and
`parse(str(spec)) == spec` for every spec. Keys to services never stand in a spec.
"""

import json
import math
import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

from vivavoce.core.errors import SelectionError, SpecError

Setting: TypeAlias = "str | int | float | bool | tuple[Setting, ...] | Spec | None"

_BARE = re.compile(r"[A-Za-z0-9_./:@+~-]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_SECRET_NAME = re.compile(r"api[_-]?key|secret|password|passwd|authorization", re.IGNORECASE)
# Prefixes that providers give their keys; a path such as data/sk-learn-v2.jsonl is none.
_SECRET_SHAPE = re.compile(
    r"(?<![\w/.-])(?:(?:sk-|gh[opsu]_|hf_|xox[bp]-)(?=[\w-]*\d)|AKIA|AIza)[\w-]{16,}|Bearer\s+\S"
)
_SHORT = re.compile(r"([A-Za-z0-9_./:@+~-]+):([A-Za-z_][A-Za-z0-9_]*=.*)", re.DOTALL)
_PLAIN_SETTING = re.compile(r"\s*([^\s,=()\[\]'\"]+)\s*=\s*([^\s,=()\[\]'\"][^,=()\[\]'\"]*)")
_MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Spec:
    """A name and its settings by keyword: text, numbers, booleans, null, tuples of these, and specs.

    Specs of one name and the same settings, in any order, are equal; `1`, `1.0` and `true` are three values.
    """

    name: str
    settings: "Mapping[str, Setting]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _BARE.fullmatch(self.name):
            raise SpecError(f"{self.name!r} is no name for a spec: use letters, digits and _./:@+~-")
        for key in self.settings:
            if not _BARE.fullmatch(key):
                raise SpecError(f"{key!r} is no name for a setting: use letters, digits and _./:@+~-")
            _refuse_secret(key, self.settings[key])
        object.__setattr__(self, "settings", dict(sorted(self.settings.items())))

    def __str__(self) -> str:
        return f"{self.name}({_inside(self)})" if self.settings else self.name

    def __eq__(self, other: object) -> bool:
        # By text, because Python takes 1, 1.0 and True for equal and a spec does not.
        return isinstance(other, Spec) and show(self) == show(other)

    def __hash__(self) -> int:
        return hash(show(self))


def _inside(spec: Spec) -> str:
    return ", ".join(f"{key}={show(value)}" for key, value in spec.settings.items())


def show(value: "Setting") -> str:
    """A setting as it stands in a canonical spec."""
    match value:
        case Spec():
            return f"{value.name}({_inside(value)})"  # brackets even when empty: `name` alone is text
        case tuple() | list():
            return f"[{', '.join(show(v) for v in value)}]"
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                raise SpecError(f"a spec cannot hold the number {value}.")
            return json.dumps(value)
        case str():
            plain = _BARE.fullmatch(value) and value not in _WORDS and not _NUMBER.fullmatch(value)
            quoted = value.replace("\\", "\\\\").replace("'", "\\'")
            return value if plain else f"'{quoted}'"
    raise SpecError(f"a spec cannot hold {value!r}.")


class _Reader:
    """One pass over the text of a spec."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def fail(self, expected: str) -> SpecError:
        remainder = self.text[self.at : self.at + 12]
        actual = (f", not {remainder!r}" if self.in_message else "") if remainder else ", not the end"
        return SpecError(
            f"cannot read the spec{self.in_message}: at position {self.at + 1} it needs {expected}{actual}."
        )

    @property
    def in_message(self) -> str:
        """The text for a message; nothing where a setting in it bears the name of a secret."""
        return "" if _SECRET_NAME.search(self.text) else f" {self.text!r}"

    def peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def take(self, mark: str) -> bool:
        is_next = self.peek() == mark
        self.at += is_next
        return is_next

    def word(self, expected: str) -> str:
        self.peek()
        match = _BARE.match(self.text, self.at)
        if not match:
            raise self.fail(expected)
        self.at = match.end()
        return match[0]

    def spec(self, depth: int = 0) -> Spec:
        name = self.word("a name")
        return Spec(name, self.settings(depth)) if self.take("(") else Spec(name)

    def settings(self, depth: int) -> "dict[str, Setting]":
        settings: dict[str, Setting] = {}
        if self.take(")"):
            return settings
        while True:
            start = self.at
            key = self.word("key=value")
            if not self.take("="):
                self.at = start
                raise self.fail("key=value (settings go by keyword only)")
            if key in settings:
                raise SpecError(f"the spec{self.in_message} sets {key!r} twice.")
            settings[key] = self.value(depth + 1)
            if self.take(")"):
                return settings
            if not self.take(","):
                raise self.fail("a comma or a closing bracket")

    def value(self, depth: int) -> "Setting":
        if depth > _MAX_DEPTH:
            raise SpecError(f"a spec cannot be nested more than {_MAX_DEPTH} deep.")
        if self.take("["):
            return self.list(depth)
        if self.peek() == "'":
            return self.quoted()
        word = self.word("a value")
        if self.take("("):
            return Spec(word, self.settings(depth))
        return setting_of(word)

    def list(self, depth: int) -> "tuple[Setting, ...]":
        values: list[Setting] = []
        if self.take("]"):
            return ()
        while True:
            values.append(self.value(depth + 1))
            if self.take("]"):
                return tuple(values)
            if not self.take(","):
                raise self.fail("a comma or a closing square bracket")

    def quoted(self) -> str:
        out: list[str] = []
        start, self.at = self.at, self.at + 1
        while self.at < len(self.text):
            mark = self.text[self.at]
            if mark == "'":
                self.at += 1
                return "".join(out)
            if mark == "\\" and self.text[self.at + 1 : self.at + 2] in ("'", "\\"):
                self.at += 1  # only these two are escaped: C:\data stays what it is
                mark = self.text[self.at]
            out.append(mark)
            self.at += 1
        self.at = start
        raise self.fail("a closing quote")


def setting_of(word: str) -> Setting:
    """What an unquoted word means: true, false, null, a number, or else itself."""
    if word in _WORDS:
        return _WORDS[word]
    return _number(word) if _NUMBER.fullmatch(word) else word


def _number(word: str) -> int | float:
    try:
        number = json.loads(word)
    except ValueError:  # Python refuses integers of more than 4,300 digits
        number = math.inf
    if isinstance(number, float) and not math.isfinite(number):
        raise SpecError(f"the number {word[:20]} in a spec is too large; quote it if it is meant as text.")
    return number  # type: ignore[no-any-return]


def _refuse_secret(key: str, value: "Setting") -> None:
    if _SECRET_NAME.search(key) or any(_SECRET_SHAPE.search(text) for text in _texts(value)):
        raise SpecError(
            f"the setting {key!r} looks like a secret: keys come from the environment, never from a spec."
        )


def _texts(value: "Setting") -> Iterator[str]:
    """The texts in a setting, those in its lists included; a spec in it has looked at its own."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _texts(part)


def parse(text: str) -> Spec:
    """The spec that `text` writes.

    Raises `SpecError` with the position and what was expected there; a secret is refused and not shown.
    """
    if _SECRET_SHAPE.search(text):
        raise SpecError(
            "this spec holds what looks like a key: keys come from the environment, never a spec."
        )
    reader = _Reader(text)
    if short := _SHORT.fullmatch(text.strip()):
        return Spec(short[1], _short_settings(short[1], short[2], reader.in_message))
    spec = reader.spec()
    if reader.peek():
        raise reader.fail("the end")
    return spec


def _short_settings(name: str, text: str, in_message: str) -> dict[str, Setting]:
    """The settings of a spec in its short form; `in_message` is the text as an error may show it."""
    settings: dict[str, Setting] = {}
    for part in text.split(","):
        setting = _PLAIN_SETTING.fullmatch(part)
        if setting is None:
            raise SpecError(
                f"cannot read the spec{in_message}: after the colon stand key=value, divided by commas. A "
                "list, a spec, or a text with one of , = ( ) [ ] or a quote in it needs the long form in "
                f'quotes, "{name}(key=value)".'
            )
        if setting[1] in settings:
            raise SpecError(f"the spec{in_message} sets {setting[1]!r} twice.")
        settings[setting[1]] = setting_of(setting[2].rstrip())
    return settings


def parse_many(texts: Iterable[str]) -> list[Spec]:
    """Specs from the command line: each a spec, or `@file` with one spec a line (`#` starts a comment line).

    Raises one `SpecError` that collects every mistake.
    """
    specs: list[Spec] = []
    wrong: list[str] = []
    for text in texts:
        lines = [text]
        if text.startswith("@"):
            try:
                lines = Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
            except (OSError, ValueError) as error:  # ValueError: not UTF-8, or no possible path
                wrong.append(f"cannot read the spec file {text[1:]!r} ({error}).")
                continue
            lines = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
            if not lines:
                wrong.append(f"the spec file {text[1:]!r} holds no spec.")
        for line in lines:
            try:
                specs.append(parse(line))
            except SpecError as error:
                wrong.append(str(error))
    if wrong:
        raise SpecError("\n".join(wrong))
    return specs


def short_form(spec: Spec) -> str | None:
    """The spec as a shell takes it without quotes; null where it needs the long form."""
    settings = ",".join(f"{k}={v if isinstance(v, str) else show(v)}" for k, v in spec.settings.items())
    text = f"{spec.name}:{settings}" if settings else spec.name
    try:
        return text if parse(text) == spec else None
    except SpecError:
        return None


UNSIGNED_DEFAULT: Mapping[str, bool] = {"unsigned_default": True}
"""Metadata of a setting's field that came later and whose default changes nothing: no signature names it."""


class Signed(NamedTuple):
    """A signature taken apart: the whole spec, and what follows its `@`."""

    spec: Spec
    version: str

    @property
    def recorded(self) -> bool:
        """True if the marks were given elsewhere: with `viva import --scores`, or by people in a packet."""
        return self.version.partition("#")[0] == RECORDED


RECORDED = "recorded"


@lru_cache(1024)
def signed(signature: str) -> Signed:
    """The parts of a signature: `rouge(n=1)@1` is the spec rouge(n=1) in version 1."""
    position = signature.rindex(")@") + 1
    return Signed(parse(signature[:position]), signature[position + 1 :])


def matches(partial: Spec, full: Spec) -> bool:
    """True if `whole` has the name of `partial` and every setting that `partial` states."""
    return partial.name == full.name and all(
        key in full.settings and show(full.settings[key]) == show(value)
        for key, value in partial.settings.items()
    )


def select(text: str, names: Iterable[str], wholes: Mapping[str, Spec]) -> list[str]:
    """The names that `text` selects: the one it spells exactly, else all that it matches as a partial spec.

    `wholes` gives for each canonical name the spec with its defaults filled in. An empty list means no match.
    """
    unique_names = list(dict.fromkeys(names))
    if text in unique_names:
        return [text]
    partial = parse(text)
    if str(partial) in unique_names:
        return [str(partial)]
    return [name for name in unique_names if matches(partial, wholes[name])]


def type_in_words(hint: Any) -> str:
    """A type in words a user knows."""
    if get_origin(hint) is Literal:
        return "|".join(str(a) for a in get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(type_in_words(a) for a in get_args(hint))
    if get_origin(hint) is tuple:
        return f"[{type_in_words(get_args(hint)[0])}, …]"
    words = {Spec: "a spec", str: "text", int: "a whole number", float: "a number", bool: "true|false"}
    words[Path] = "a path"
    return words.get(hint, "null" if hint is types.NoneType else getattr(hint, "__name__", str(hint)))


def typed_setting(spec: Spec, key: str, value: Setting, hint: Any) -> Any:
    """`value` as the type `hint` wants it. Raises `SpecError` where it does not fit."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        for choice in args:
            try:
                return typed_setting(spec, key, value, choice)
            except SpecError:
                continue
    elif origin is Literal:
        for choice in args:
            if type(choice) is type(value) and choice == value:
                return choice
    elif origin is tuple and isinstance(value, tuple):
        return tuple(typed_setting(spec, key, v, args[0]) for v in value)
    elif hint is Path and isinstance(value, str):
        return Path(value)
    elif hint is float and type(value) in (int, float):
        return float(value)  # type: ignore[arg-type]
    elif hint is Any or (isinstance(hint, type) and type(value) is hint):
        return value
    raise SpecError(f"{spec.name}({key}={show(value)}): {key} takes {type_in_words(hint)}.")


def require_separate(kind: str, names: Sequence[object]) -> None:
    """Raise `SelectionError` for a list, or what is no text: `run.score("a", "b")` takes them singly."""
    if isinstance(names, str):
        raise SelectionError(f"{kind} are given as a list of texts, such as [{names!r}].")
    for name in names:
        if not isinstance(name, str | Spec):
            raise SelectionError(
                f"{kind} are given one by one, as texts, not as {type(name).__name__}: {name!r}."
            )
