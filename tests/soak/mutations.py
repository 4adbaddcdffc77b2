"""Files made worse: any bytes, and what JSON, CSV, YAML and Parquet can say that nobody meant; by a seed."""

import copy
import csv
import io
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

HUGE = "9" * 400
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, -1e-320, 2**31, 2**63, -(2**64), 10**400),
    *(float("nan"), float("inf"), float("-inf")),
    *("", " ", "\u00a0", "\n", "null", "NaN", "1e999", "0x1F", "-", "1,5", "١٢", HUGE, "true"),
    *("\x00", "\x1b[31mred\x1b[0m", "\u202eabc", "\ufeff", "a\u0301" * 50, "é" * 300, "\ud800"),
    *("<script>alert(1)</script>", "=1+1", "../../etc/passwd", "{{ question }}", "{0.__class__}", "%s%n"),
    *("<think>", "ok", "failed", "candidate", "*", "[", "{", "'", '"', ",", ";", "a:b", "a(b=c)"),
    *([], {}, [[]], [None], ["a", "a"], [1, "a", None], {"": ""}, {"a": {"b": [1]}}, [[[[["deep"]]]]]),
    "x" * 100_000,
)
TOKENS = (
    *(b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3\x28", b"\xf4\x90\x80\x80"),
    *(b"\\ud800", b"\\u0000", b'"', b"'", b",", b";", b"\t", b"\r", b"\n", b"\r\n", b"\x0b", b"\x1c"),
    *("\u2028".encode(), "\u202e".encode(), b"\x85", b"{", b"}", b"[", b"]", b"(", b")", b":", b": ", b"- "),
    *(b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"null", b"true", b"1_000", b"0o7", b".inf"),
    *(
        b"&a [*a]",
        b"*a",
        b"<<: *a",
        b"!!python/object/apply:os.system [id]",
        b"!!binary x",
        b"? ",
        b"#",
        b"|",
    ),
    *(b"2026-13-45", b"12:60:60", b"---\n", b"...\n", b"@", b"`", b"{{ x }}", b"{% x %}", b"</script>"),
    *(b"[" * 2_000, b"{" * 2_000, b'{"a":' * 2_000, b"(" * 500, b"x" * 50_000, HUGE.encode(), b" " * 20_000),
)

Mutation = Callable[[bytes, Random], bytes]


def place(raw: bytes, rng: Random) -> int:
    return rng.randrange(len(raw) + 1)


def span(raw: bytes, rng: Random) -> tuple[int, int]:
    """A stretch of the file, short more often than long."""
    start = place(raw, rng)
    return start, min(len(raw), start + int(rng.paretovariate(0.8)))


def flip(raw: bytes, rng: Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(raw: bytes, rng: Random) -> bytes:
    start, end = span(raw, rng)
    return raw[:start] + rng.randbytes(end - start) + raw[end:]


def truncate(raw: bytes, rng: Random) -> bytes:
    return raw[: place(raw, rng)]


def cut(raw: bytes, rng: Random) -> bytes:
    start, end = span(raw, rng)
    return raw[:start] + raw[end:]


def repeat(raw: bytes, rng: Random) -> bytes:
    start, end = span(raw, rng)
    return raw[:end] + raw[start:end] * rng.choice((1, 2, 50)) + raw[end:]


def insert(raw: bytes, rng: Random) -> bytes:
    for _ in range(rng.choice((1, 1, 3))):
        at = place(raw, rng)
        raw = raw[:at] + rng.choice(TOKENS) + raw[at:]
    return raw


def swap_lines(raw: bytes, rng: Random) -> bytes:
    lines = raw.splitlines(keepends=True)
    if len(lines) > 1:
        a, b = rng.sample(range(len(lines)), 2)
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def repeat_line(raw: bytes, rng: Random) -> bytes:
    lines = raw.splitlines(keepends=True) or [b""]
    at = rng.randrange(len(lines))
    return b"".join([*lines[:at], lines[at], *lines[at:]])


def swap_words(raw: bytes, rng: Random) -> bytes:
    words = raw.split(b" ")
    a, b = rng.randrange(len(words)), rng.randrange(len(words))
    words[a], words[b] = words[b], words[a]
    return b" ".join(words)


def change_number(raw: bytes, rng: Random) -> bytes:
    places = [k for k, byte in enumerate(raw) if 48 <= byte <= 57]
    if not places:
        return insert(raw, rng)
    at = rng.choice(places)
    new = rng.choice((b"-", b"0", b"99999999999999999999", b"1e400", b".", b"NaN", HUGE.encode()))
    return raw[:at] + new + raw[at + 1 :]


def encode(raw: bytes, rng: Random) -> bytes:
    """Another encoding, another end of lines, a mark at the beginning, a packed file."""
    import gzip

    text = raw.decode("utf-8", "replace")
    kinds: tuple[Callable[[], bytes], ...] = (
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-16-le"),
        lambda: text.encode("utf-32"),
        lambda: text.encode("latin-1", "replace"),
        lambda: b"\xef\xbb\xbf" * rng.choice((1, 2)) + raw,
        lambda: raw.replace(b"\n", b"\r\n"),
        lambda: raw.replace(b"\n", b"\r"),
        lambda: raw.replace(b"\n", b" "),
        lambda: raw.replace(b" ", "\u00a0".encode()),
        lambda: gzip.compress(raw, 1, mtime=0),
        lambda: raw + b"\x00" * 100,
        lambda: b"",
        lambda: b"\n \n",
    )
    return rng.choice(kinds)()


BYTES: tuple[Mutation, ...] = (
    *(flip, overwrite, truncate, cut, repeat, insert, insert, swap_lines, repeat_line, swap_words),
    *(change_number, encode),
)


def worse_value(tree: Any, rng: Random) -> Any:
    """The tree with something in it changed: a value, a key, an entry too many or too few, or depth."""
    tree = copy.deepcopy(tree)
    nodes = [node for node in walk(tree) if node]
    if not nodes or rng.random() < 0.05:
        return rng.choice((rng.choice(VALUES), [tree], {"a": tree}, [tree, tree], deep(rng)))
    node = rng.choice(nodes)
    key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
    match rng.randrange(9):
        case 0:
            del node[key]
        case 1:
            node[key] = [node[key]]
        case 2:
            node[key] = {str(key): node[key]}
        case 3:
            other = rng.choice(nodes)
            node[key] = copy.deepcopy(rng.choice(list(other.values() if isinstance(other, dict) else other)))
        case 4 if isinstance(node, dict):
            node[str(rng.choice(VALUES))] = node.pop(key)
        case 4:
            node.append(copy.deepcopy(node[key]))
        case 5:
            node[key] = deep(rng)
        case _:
            node[key] = copy.deepcopy(rng.choice(VALUES))
    return tree


def walk(tree: Any) -> list[Any]:
    """Every list and object of a tree, itself first."""
    if not isinstance(tree, list | dict):
        return []
    values = list(tree.values()) if isinstance(tree, dict) else tree
    return [tree, *(node for value in values for node in walk(value))]


def deep(rng: Random) -> Any:
    tree: Any = rng.choice(VALUES)
    for _ in range(rng.choice((3, 60, 300))):
        tree = [tree] if rng.random() < 0.5 else {"a": tree}
    return tree


def dumped(tree: Any, rng: Random) -> str:
    """The tree as JSON; now and then one of its keys twice."""
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5)
    if isinstance(tree, dict) and tree and rng.random() < 0.05:
        again = json.dumps({str(rng.choice(list(tree))): rng.choice(VALUES)})
        text = f"{text[:-1]}, {again[1:]}"
    return text


def json_file(raw: bytes, rng: Random) -> bytes:
    return dumped(worse_value(json.loads(raw), rng), rng).encode("utf-8", "surrogatepass")


def json_lines(raw: bytes, rng: Random) -> bytes:
    if raw.startswith(b"["):  # some tools write one list into a file of that name
        return json_file(raw, rng)
    lines = raw.decode().splitlines()
    at = rng.randrange(len(lines))
    for where in range(len(lines)) if rng.random() < 0.1 else (at,):  # a column rather than a cell
        lines[where] = dumped(worse_value(json.loads(lines[where]), rng), rng)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def yaml_file(raw: bytes, rng: Random) -> bytes:
    """YAML reads JSON, and every hostile value of JSON with it."""
    import yaml

    return dumped(worse_value(yaml.safe_load(raw), rng), rng).encode("utf-8", "surrogatepass")


def front_matter(raw: bytes, rng: Random) -> bytes:
    """Settings between two lines of --- made worse; the text after them stays."""
    _, settings, body = raw.split(b"---\n", 2)
    return b"---\n" + yaml_file(settings, rng) + b"\n---\n" + body


def csv_file(raw: bytes, rng: Random) -> bytes:
    """A cell, a column or a row of a table that is not as it was."""
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    at, column = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
    cell = str(rng.choice(VALUES))
    match rng.randrange(8):
        case 0:
            rows = [[*row[:column], *row[column + 1 :]] for row in rows]
        case 1:
            rows = [[*row, row[column]] for row in rows]
        case 2:
            rows[at] = rows[at][:column]
        case 3:
            rows[at].append(cell)
        case 4:
            rows[1:] = [[*row[:column], cell, *row[column + 1 :]] for row in rows[1:]]
        case 5:
            rows.insert(at, rng.choice(rows))
        case _:
            rows[at][column] = cell
    text = io.StringIO()
    quoting = rng.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL))
    csv.writer(text, delimiter=rng.choice(",,,,,;\t|"), quoting=quoting).writerows(rows)
    return text.getvalue().encode("utf-8", "surrogatepass")


def parquet_file(raw: bytes, rng: Random) -> bytes:
    """A column of another type than was meant."""
    import polars as pl

    frame = pl.read_parquet(io.BytesIO(raw))
    name = rng.choice(frame.columns)
    n = frame.height
    columns: tuple[pl.Series, ...] = (
        pl.Series(name, [None] * n),
        pl.Series(name, list(range(n))),
        pl.Series(name, [rng.random() for _ in range(n)]),
        pl.Series(name, [float("nan")] * n),
        pl.Series(name, [2**64 - 1] * n, dtype=pl.UInt64),
        pl.Series(name, [True] * n),
        pl.Series(name, [["a", None]] * n),
        pl.Series(name, [{"a": 1}] * n),
        pl.Series(name, [b"\xff\x00"] * n),
        pl.Series(name, [0] * n).cast(pl.Datetime),
        pl.Series(name, [0] * n).cast(pl.Date),
        pl.Series(name, [0] * n).cast(pl.Duration),
        pl.Series(name, [0] * n).cast(pl.Time),
        pl.Series(name, ["1.50"] * n).cast(pl.Decimal(10, 2)),
        pl.Series(name, ["a"] * n).cast(pl.Categorical),
        pl.Series(name, [str(rng.choice(VALUES)).replace("\ud800", "?")] * n),
    )
    frame = frame.with_columns(rng.choice(columns))
    if rng.random() < 0.2:
        frame = frame.drop(rng.choice(frame.columns))
    stream = io.BytesIO()
    frame.head(rng.choice((0, 1, n, n, n, n))).write_parquet(stream)
    return stream.getvalue()


SHAPED: dict[str, Mutation] = {
    ".json": json_file,
    ".jsonl": json_lines,
    ".csv": csv_file,
    ".yaml": yaml_file,
    ".parquet": parquet_file,
    ".rubric.md": front_matter,
}


def worse(raw: bytes, kind: str, rng: Random) -> tuple[str, bytes]:
    """A file of this kind made worse, once or a few times, and by what."""
    shaped = SHAPED.get(kind)
    if shaped and rng.random() < 0.55:
        return shaped.__name__, shaped(raw, rng)
    chosen = rng.choices(BYTES, k=rng.choice((1, 1, 1, 2, 4)))
    for mutation in chosen:
        raw = mutation(raw, rng)[: 1 << 21]
    return " ".join(mutation.__name__ for mutation in chosen), raw


def worse_text(text: str, rng: Random) -> str:
    """A text made worse, as a candidate, a judge or a shell may write it: any characters."""
    raw = text.encode("utf-8", "surrogatepass")
    for mutation in rng.choices(BYTES, k=rng.choice((1, 1, 2, 4))):
        raw = mutation(raw, rng)[: 1 << 18]
    return raw.decode("utf-8", rng.choice(("replace", "surrogateescape")))


def pick(sequence: Sequence[Any], rng: Random) -> Any:
    return sequence[rng.randrange(len(sequence))]
