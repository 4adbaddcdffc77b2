"""The files of a frozen exam: the exam, cards, metadata, what was dropped, its history, checksums."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from typing import Any

import polars as pl

from vivavoce.benchmarks.frozen_card import CARD, card_json
from vivavoce.core.conversations import as_rows
from vivavoce.core.markdown import markdown
from vivavoce.core.records import Card, Item
from vivavoce.core.tables import LISTS
from vivavoce.run.building.parts import REVIEW, from_json, name_of
from vivavoce.store.build_steps import StoredStep, build_parts
from vivavoce.store.damage import decoding
from vivavoce.store.runfile import RunFile

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


EXAM = "exam.jsonl"
_COLUMNS = (
    *("item", "variant", "alias", "group", "category", "format", "question", "messages", "follows"),
    *(
        "options",
        "answer",
        "references",
        "must",
        "nice",
        "steps",
        "step",
        "false_answer",
        "rubric",
        "context",
        "source",
    ),
)
"""Columns of the exam's file, in their order; what stands in `meta` follows."""
_MEDIA = {EXAM: "application/jsonlines", "exam.parquet": "application/x-parquet"}
_EMPTY: tuple[Any, ...] = (None, "", [], {})

Changes = Mapping[str, Sequence[str]]
"""Names of items that were added, changed and withdrawn since the last freeze."""
_Contents = dict[str, str | bytes]


def frozen_files(
    run: RunFile, card: Card, items: Sequence[Item], steps: Sequence[StoredStep], changes: Changes
) -> _Contents:
    """The contents of the files by name. The same exam has the same bytes."""
    rows = [_row(item) for item in items]
    columns = _columns(rows)
    contents: _Contents = {
        EXAM: _lines([_filled(row, columns) for row in rows]),
        "exam.parquet": _parquet(rows, columns),
    }
    media = {name: (_MEDIA[name], _sha256(body), len(_bytes(body))) for name, body in contents.items()}
    digests = {name: digest for name, (_, digest, _) in media.items()}
    figures = {**_figures(items), "sha256": digests, "changes_since_last_freeze": dict(changes)}
    contents[CARD] = card_json(card, EXAM, figures)
    contents["README.md"] = _readme(card, figures)
    fields = [name for name in columns if name not in ("rubric", "messages")]
    contents["croissant.json"] = _json(croissant(card, media, fields))
    contents["dropped.jsonl"] = _lines(_dropped(run, steps))
    contents["steps.json"] = _json([_without_cost(step) for step in steps])
    contents["SHA256SUMS"] = "".join(f"{_sha256(body)}  {n}\n" for n, body in sorted(contents.items()))
    return contents


def _figures(items: Sequence[Item]) -> dict[str, Any]:
    formats = Counter(item.format for item in items)
    groups = {(*item.outer_groups, item.group) for item in items}
    return {"items": len(items), "formats": dict(sorted(formats.items())), "groups": len(groups)}


def _row(item: Item) -> dict[str, Any]:
    """An item as a row: its fields, and what stands in its `meta` but the reasons for a review."""
    values = {**asdict(item), "messages": as_rows(item.messages)}
    values["group"] = (*item.outer_groups, item.group) if item.outer_groups else item.group
    row = {name: list(v) if isinstance(v := values[name], tuple) else v for name in _COLUMNS}
    return row | {name: value for name, value in item.meta.items() if name not in (*_COLUMNS, REVIEW)}


def _filled(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The cells of a row that hold something, in the order of the columns."""
    return {name: row[name] for name in columns if row.get(name) not in _EMPTY}


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns that hold something, those of ours first."""
    fields = [name for name in _COLUMNS if any(row.get(name) not in _EMPTY for row in rows)]
    return fields + sorted({name for row in rows for name in row} - set(_COLUMNS))


def _parquet(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """The rows as a Parquet file: texts, lists as JSON, and the number of a step."""
    schema = {name: pl.Int64 if name == "step" else pl.String for name in columns}
    cells = [{name: _cell(name, row.get(name)) for name in columns} for row in rows]
    stream = BytesIO()
    pl.DataFrame(cells, schema=schema).write_parquet(stream)
    return stream.getvalue()


def _cell(name: str, value: Any) -> Any:
    if value is None or name == "step":
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _dropped(run: RunFile, steps: Sequence[StoredStep]) -> list[dict[str, Any]]:
    """What each step dropped: step, id, why, source and text."""
    rows = []
    with run.reading() as db:
        for step in steps:
            for body, fate, reason, detail in build_parts(db, step.key, "dropped", "failed"):
                with decoding("a part of a build"):
                    part = from_json(body)
                text = part.question if isinstance(part, Item) else part.text
                row = {"step": step.step, "name": name_of(part), "fate": fate, "reason": reason}
                rows.append({**row, "detail": detail, "source": part.source, "text": text})
    return rows


def _without_cost(step: StoredStep) -> dict[str, Any]:
    """The facts of a step but those that differ from time to time."""
    return {name: value for name, value in step.facts.items() if name not in ("cost", "requests")}


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _bytes(body: str | bytes) -> bytes:
    return body.encode("utf-8", "replace") if isinstance(body, str) else body


def _sha256(body: str | bytes) -> str:
    return hashlib.sha256(_bytes(body)).hexdigest()


def _readme(card: Card, figures: Mapping[str, Any]) -> str:
    writers = ", ".join(markdown(name) for name in card.writers) or "none"
    formats = ", ".join(f"{n:,} {name}" for name, n in figures["formats"].items())
    return (
        f"# {markdown(card.name)}\n\n{markdown(card.description)}\n\nNot for clinical use.\n\n"
        f"- Items: {figures['items']:,} in {figures['groups']:,} groups ({formats})\n"
        f"- Revision: {card.revision}\n- Source: {markdown(card.source)}\n"
        f"- Licence: {markdown(card.licence)}\n"
        f"- Models that wrote or translated items: {writers}. Their own scores on this exam say less.\n\n"
        f"`jsonl(path={EXAM})` reads it. `steps.json` says how it was made, `dropped.jsonl` what was left "
        "out and why, `sha256sum -c SHA256SUMS` whether the files are as they were.\n"
    )
