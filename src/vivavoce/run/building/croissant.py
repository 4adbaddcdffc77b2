"""Croissant metadata of a frozen exam (ML Commons, Croissant 1.0): what its files are, and their fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.core.records import Card
from vivavoce.core.tables import LISTS

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that Croissant 1.0 prescribes, term by term."""
_MEANINGS = {
    "item": "the id of the question",
    "variant": "how the question was varied; empty for the question itself",
    "group": "questions of one group are about one source, and are resampled together",
    "category": "the category",
    "format": "the format of the question",
    "question": "the question",
    "options": "the options",
    "answer": "the key: the text of each right option, or True or False",
    "references": "reference answers",
    "must": "statements that an answer must make",
    "nice": "statements that it would be good to make",
    "steps": "a chain of reasoning",
    "step": "the number of the wrong step",
    "false_answer": "a wrong answer that is shown",
    "context": "what is shown with the question",
    "source": "document and place that the question is from",
    "written_by": "the models that wrote or translated the question",
}


def croissant(
    card: Card, files: Mapping[str, tuple[str, str, int]], columns: Sequence[str]
) -> dict[str, Any]:
    """The metadata as JSON-LD: `files` are media type, SHA-256 and bytes by name, the first the exam's."""
    exam = next(iter(files))
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.name,
        "description": f"{card.description} Not for clinical use.",
        "license": card.licence,
        "citeAs": card.citation,
        "version": "1.0.0",
        "rai:dataCollection": f"Made with viva build from {card.source}.",
        "rai:dataLimitations": "Written or translated by models: "
        + (", ".join(card.writers) or "none")
        + ".",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "contentSize": f"{size} B",
                "encodingFormat": media,
                "sha256": digest,
            }
            for name, (media, digest, size) in files.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "items",
                "name": "items",
                "description": "One record a question.",
                "key": {"@id": "items/item"},
                "field": [_field(exam, column) for column in columns],
            }
        ],
    }


def _field(exam: str, column: str) -> dict[str, Any]:
    repeated = {"repeated": True} if column in (*LISTS, "written_by") else {}
    return {
        "@type": "cr:Field",
        "@id": f"items/{column}",
        "name": column,
        "description": _MEANINGS.get(column, column),
        "dataType": "sc:Integer" if column == "step" else "sc:Text",
        **repeated,
        "source": {"fileObject": {"@id": exam}, "extract": {"column": column}},
    }
