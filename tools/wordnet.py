"""Make the table of synonyms in src/vivavoce/metrics/wordnet from WordNet 3.0's own files.

Debian's package `wordnet-base` (1:3.0-37) has them in /usr/share/wordnet:

    apt-get install wordnet-base && python tools/wordnet.py

The table keeps what METEOR asks of WordNet: for each part of speech the words and terms that stand in it,
each with the single lower-case words of all its synsets, and the irregular forms. The licence is the head of
WordNet's own files. The same files give the same bytes.
"""

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path("/usr/share/wordnet")
TARGET = Path(__file__).resolve().parents[1] / "src" / "vivavoce" / "metrics" / "wordnet"
POS = ("noun", "verb", "adj", "adv")


def lines(file: Path) -> Iterator[str]:
    """The lines of a database file without its head, the licence."""
    with file.open(encoding="ascii") as stream:
        yield from (line for line in stream if not line.startswith("  "))


def licence(source: Path) -> str:
    """The licence that stands at the head of every file, without its line numbers."""
    with (source / "data.noun").open(encoding="ascii") as stream:
        head = [line for line in stream if line.startswith("  ")]
    return "".join(re.sub(r"^ +\d+ ?", "", line).rstrip() + "\n" for line in head)


def members(source: Path, pos: str) -> dict[str, list[str]]:
    """For each synset's offset the words in it that are single and in lower case.

    No other can be met: METEOR lower-cases its words first, and its synonym stage leaves out terms of several
    words.
    """
    found = {}
    for line in lines(source / f"data.{pos}"):
        offset, _, _, n_words, *rest = line.split()
        words = [re.sub(r"\(.*\)$", "", word) for word in rest[: 2 * int(n_words, 16) : 2]]
        found[offset] = [word for word in words if "_" not in word and word == word.lower()]
    return found


def entries(source: Path, pos: str) -> dict[str, str]:
    """For each word or term of the part of speech its synonyms, "" if it is its own only one.

    What has none of the kind wanted is left out: nothing would be found by it.
    """
    synsets, found = members(source, pos), {}
    for line in lines(source / f"index.{pos}"):
        word, _, n_synsets, *rest = line.split()
        synonyms = {w for offset in rest[-int(n_synsets) :] for w in synsets[offset]}
        if synonyms:
            found[word] = "" if synonyms == {word} else " ".join(sorted(synonyms))
    return found


def exceptions(source: Path, pos: str, known: dict[str, str]) -> dict[str, str]:
    """For each irregular form its base forms. One without any still counts: no suffix rule applies to it."""
    found = {}
    for line in lines(source / f"{pos}.exc"):
        form, *bases = line.split()
        found[form] = " ".join(base for base in bases if base in known)
    return found


def table(source: Path) -> str:
    """Eight blocks, each sorted: the entries and the irregular forms of each part of speech in turn."""
    blocks = []
    for pos in POS:
        known = entries(source, pos)
        for block in (known, exceptions(source, pos, known)):
            blocks.append("\n".join(f"{word}\t{said}" for word, said in sorted(block.items())))
    return "\n\n".join(blocks) + "\n"


def main(source: Path = SOURCE, target: Path = TARGET) -> None:
    """Write the table and the licence."""
    (target / "LICENSE").write_text(licence(source), encoding="ascii")
    # without a time, so that the bytes depend on the content alone
    (target / "synonyms.txt.gz").write_bytes(gzip.compress(table(source).encode("ascii"), 9, mtime=0))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
