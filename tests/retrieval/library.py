"""Thirty short documents of all kinds, made from `library.json`. Not for clinical use."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from tests.retrieval.pdfs import pdf

NOTES: dict[str, Any] = json.loads(Path(__file__).with_name("library.json").read_text(encoding="utf-8"))


class SampleFact(NamedTuple):
    """A fact, and the document that has the passage for it."""

    document: str
    text: str


FACTS = [SampleFact(*fact) for fact in NOTES["facts"]]
WITHOUT: list[str] = NOTES["facts_without_a_passage"]


def write_library(folder: Path) -> Path:
    """Write the documents, each as the kind that its name says, and the rows into one file."""
    folder.mkdir(exist_ok=True)
    rows = []
    for document in NOTES["documents"]:
        path, title, pages = folder / document["file"], document["title"], document["pages"]
        text = "\n\n".join(pages)
        match path.suffix:
            case ".pdf":
                path.write_bytes(pdf(f"{title}. {pages[0]}", *pages[1:]))
            case ".html":
                paragraphs = "".join(f"<p>{paragraph}</p>" for paragraph in text.split("\n\n"))
                head = f"<title>{title}</title><style>p {{color: red}}</style><script>var zinc = 1</script>"
                path.write_text(
                    f"<html><head>{head}</head><body>{paragraphs}</body></html>", encoding="utf-8"
                )
            case ".jsonl":
                rows.append(json.dumps({"title": title, "text": text}, ensure_ascii=False))
            case _:
                path.write_text(f"{title}\n\n{text}\n", encoding="utf-8")
    (folder / "reference.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return folder
