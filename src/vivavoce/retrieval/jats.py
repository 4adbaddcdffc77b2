"""Articles of PubMed Central in JATS XML: title and sections, without references, entities or network."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from vivavoce.core.text import is_blank, one_line
from vivavoce.retrieval.documents import MOST_CHARACTERS, Document, Unusable
from vivavoce.retrieval.extraction import plain

_DROPPED = frozenset(
    [*("ref-list", "xref", "table-wrap", "fig", "graphic", "disp-formula", "ack", "fn-group", "back"),
     *("supplementary-material", "inline-formula", "media", "fn")]
)  # fmt: skip
_RETRACTED = ("retraction", "retracted-article", "expression-of-concern", "withdrawal")
RETRACTED = "it is retracted, or a notice of retraction"
"""The reason why an article is not read."""


def jats_document(path: Path, name: str) -> tuple[Document, str]:
    """The sections of an article as pages, each under its title; '' as nothing is wrong with parts of it.

    Sections are those of the first level, the abstract first; what they cite, tables and figures are left
    out. Raises `Unusable` for a file that is no article, is retracted, or tries to read other files.
    """
    root = _root(path)
    if _is_retracted(root):
        raise Unusable(RETRACTED)
    title = _flat(root.find(".//front//article-title"))
    sections = [*_abstracts(root), *_sections(root.find("body"))]
    texts = tuple(text for text in sections if not is_blank(text))
    if not texts:
        raise Unusable("no abstract and no section in it: is it an article in JATS?")
    if sum(map(len, texts)) > MOST_CHARACTERS:
        raise Unusable(f"its text has more than {MOST_CHARACTERS:,} characters")
    return Document(name, texts, paged=True, title=one_line(title, 300)), ""


def _root(path: Path) -> Any:
    etree = import_module("lxml.etree")
    raw = path.read_bytes()
    if b"<!ENTITY" in raw:  # a bomb, or a way to other files: articles of PubMed Central declare none
        raise Unusable("it declares entities, which no article needs: it is not read")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(raw, parser)
    except (etree.LxmlError, ValueError) as error:
        raise Unusable(f"it cannot be read as XML ({one_line(str(error), 100)})") from None
    for element in root.iter():
        if isinstance(element.tag, str) and element.tag.startswith("{"):
            element.tag = element.tag.rpartition("}")[2]
    article = root if root.tag == "article" else root.find(".//article")
    if article is None:
        raise Unusable("no article in it: is it JATS?")
    return article


def _is_retracted(article: Any) -> bool:
    if article.get("article-type", "") in _RETRACTED:
        return True
    related = article.findall(".//front//related-article")
    if any(part.get("related-article-type", "") in _RETRACTED for part in related):
        return True
    title = _flat(article.find(".//front//article-title")).casefold()
    return title.startswith(("retracted", "retraction", "withdrawn"))


def _abstracts(article: Any) -> Iterator[str]:
    for abstract in article.findall(".//front//abstract"):
        if not abstract.get("abstract-type"):  # others are for readers in a hurry: graphical, teaser
            yield _headed("Abstract", "\n\n".join(_paragraphs(abstract)))


def _sections(body: Any) -> Iterator[str]:
    if body is None:
        return
    loose = [part for part in body if part.tag == "p"]
    if loose:
        yield "\n\n".join(filter(None, map(_flat, loose)))
    for section in body.findall("sec"):
        yield _headed(_flat(section.find("title")), "\n\n".join(_paragraphs(section)))


def _headed(title: str, text: str) -> str:
    return f"{title}\n\n{text}" if title and text else text


def _paragraphs(section: Any) -> Iterator[str]:
    """The paragraphs in their order, also of the sections inside; a list is the paragraphs of its entries."""
    for part in section.iter("p"):
        if not any(above.tag in _DROPPED for above in part.iterancestors()) and (text := _flat(part)):
            yield text


def _flat(element: Any) -> str:
    """The text of an element on one line, without what is dropped inside it."""
    return "" if element is None else " ".join(plain("".join(_strings(element))).split())


def _strings(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _DROPPED and child.tag != "p":
            yield from _strings(child)
        yield child.tail or ""
