"""F1-RadGraph (Jain et al. 2021, Delbrouck et al. 2022): findings that report and reference have in common.

An annotation is a graph as RadGraph writes it: entities, each with `tokens`, `label` and `relations`, pairs
of a type and another entity's number. A text becomes a set, and F1 is that of two sets:

    simple    (tokens, label) of each entity
    partial   the same, and whether the entity begins a relation
    complete  (tokens, label) of an entity without a relation; (tokens, label, type, tokens of the other) of
              each relation, both tokens in lower case

as in `radgraph.rewards` of the package 0.1.18, where tokens are in lower case in relations alone. A text
without an entity has F1 0.
"""

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.file_cache import cached_by_file
from vivavoce.core.json_text import read_json
from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line, printable
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.annotation_files import Annotations, read_annotations

Graph = Mapping[str, Mapping[str, Any]]
"""The entities of a text by their numbers."""


@metric("radgraph", version=2)
class RadGraph(Metric):
    """F1 of RadGraph's entities and relations, of answer and reference, 0 to 1; the best reference counts.

    `annotations`: a file (.jsonl) with a row for each answer (`item`, `candidate`, `repeat` if not 1) and
    each reference (`item`, `reference`, its number if not 1), with `entities` as RadGraph writes them.
    Without it the package radgraph extracts, where it is installed, by `model`, which it fetches. `level`:
    entities alone (simple), with whether they begin a relation (partial, as most papers report), or with
    their relations (complete). What has no annotation fails, and never counts 0.
    """

    annotations: Path | None = None
    level: Literal["simple", "partial", "complete"] = "partial"
    model: Literal["radgraph", "radgraph-xl", "modern-radgraph-xl", "echograph"] = "radgraph-xl"

    criteria = (Criterion(criterion="f1"),)
    formats = ("short", "short_inverse", "longform")
    needs = ("references",)

    def not_applicable(self, item: Item) -> str | None:
        """The reason where the file has nothing of any reference of the item."""
        if self.annotations is None or self._graphs_of_references(read_graphs(self.annotations), item):
            return None
        return f"{self.annotations.name} has no row for a reference of the item"

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """F1, with `tp`, `fp` and `fn` in `parts`; failed where the answer has no annotation.

        Raises `InputError` for a file that cannot be used, `MetricError` without the package.
        """
        if self.annotations is None:
            return [{"f1": value} for value in self._extracted(rows)]
        stored = read_graphs(self.annotations)
        return [{"f1": self._stored(stored, row)} for row in rows]

    def _stored(self, stored: Annotations[Graph], row: Row) -> Value:
        graph, references = (
            stored.answer(row.item, row.response),
            self._graphs_of_references(stored, row.item),
        )
        assert self.annotations is not None
        if graph is None:
            note = f"{self.annotations.name} has no row for this answer"
            return Value(None, note=note, status="failed")
        if not references:
            return Value(None, note=self.not_applicable(row.item), status="set_aside")
        return self._best(graph, references)

    def _graphs_of_references(self, stored: Annotations[Graph], item: Item) -> list[Graph]:
        graphs = (stored.reference(item, number) for number in range(1, len(item.references) + 1))
        return [graph for graph in graphs if graph is not None]

    def _extracted(self, rows: Sequence[Row]) -> list[Value]:
        """The values by the package's own annotations; each distinct text is annotated once."""
        texts = dict.fromkeys(text for row in rows for text in (row.reading.text, *row.item.references))
        graphs = dict(zip(texts, extract(list(texts), self.model), strict=True))
        return [
            self._best(graphs[row.reading.text], [graphs[text] for text in row.item.references])
            for row in rows
        ]

    def _best(self, graph: Graph, references: Sequence[Graph]) -> Value:
        values = (f1_of(graph, reference, self.level) for reference in references)
        return max(values, key=lambda value: value.value or 0.0)


def f1_of(response: Graph, reference: Graph, level: str) -> Value:
    """F1 of the sets of two annotations, with the counts of what they share and lack; 0 if a set is empty."""
    a, b = facts(response, level), facts(reference, level)
    both = len(a & b)
    precision, recall = (both / len(side) if side else 0.0 for side in (a, b))
    value = 2 * precision * recall / (precision + recall) if both else 0.0
    return Value(value, {"tp": both, "fp": len(a) - both, "fn": len(b) - both})


def facts(graph: Graph, level: str) -> frozenset[tuple[Any, ...]]:
    """The set that stands for an annotation at this level."""
    if level == "simple":
        return frozenset((e["tokens"], e["label"]) for e in graph.values())
    if level == "partial":
        return frozenset((e["tokens"], e["label"], bool(e["relations"])) for e in graph.values())
    alone = {(e["tokens"], e["label"]) for e in graph.values() if not e["relations"]}
    related = {
        (e["tokens"].lower(), e["label"], kind, graph[target]["tokens"].lower())
        for e in graph.values()
        for kind, target in e["relations"]
    }
    return frozenset(alone | related)


@cached_by_file
def read_graphs(path: Path) -> Annotations[Graph]:
    """The annotations in a file. Raises `InputError` naming a line that cannot be used or is there twice."""
    return read_annotations(path, _graph)


def _graph(line: Line) -> Graph:
    entities: Any = line.row["entities"]
    if isinstance(entities, str):  # a column of a .csv
        try:
            entities = read_json(entities)
        except ValueError:
            raise InputError(
                f"{line.where}: entities must be a JSON object, not {entities[:60]!r}."
            ) from None
    problem = _problem(entities)
    if problem:
        raise InputError(f"{line.where}: {problem}; entities are written as RadGraph writes them.")
    return {number: _entity(entity) for number, entity in entities.items()}


def _problem(entities: Any) -> str | None:
    """What keeps entities from being a graph; null if nothing."""
    if not isinstance(entities, Mapping):
        return f"entities must be an object of entities by number, not {one_line(repr(entities), 40)}"
    problems = (_problem_of(number, entity, entities) for number, entity in entities.items())
    return next(filter(None, problems), None)


def _problem_of(number: str, entity: Any, entities: Mapping[str, Any]) -> str | None:
    """What is wrong with an entity; null if nothing."""
    fields = entity if isinstance(entity, Mapping) else {}
    if not all(isinstance(fields.get(name), str) for name in ("tokens", "label")):
        return f"entity {number!r} needs the texts tokens and label"
    relations = fields.get("relations")
    if not isinstance(relations, list) or not all(map(_is_relation, relations)):
        return f"entity {number!r} needs relations, a list of pairs of a type and a number"
    lost = next((str(target) for _, target in relations if str(target) not in entities), None)
    return lost and f"entity {number!r} relates to {lost!r}, which is no entity of the text"


def _is_relation(pair: Any) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)


def _entity(entity: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is compared of an entity."""
    relations = [(kind, str(target)) for kind, target in entity["relations"]]
    return {"tokens": entity["tokens"], "label": entity["label"], "relations": relations}


def extract(texts: Sequence[str], model: str) -> list[Graph]:
    """The annotations of texts, by the package radgraph. Raises `MetricError` where it cannot be used."""
    annotated = _extractor(model)(list(texts)) if texts else {}
    graphs: list[Graph] = []
    for k in range(len(texts)):
        entities = annotated[str(k)]["entities"]
        if problem := _problem(entities):
            raise MetricError(f"the package radgraph gives what is no annotation: {problem}.")
        graphs.append({number: _entity(entity) for number, entity in entities.items()})
    return graphs


@cache
def _extractor(model: str) -> Any:
    """The package's model, once in a process. It prints to stdout, where only results of ours belong."""
    try:
        extractor = import_module("radgraph").RadGraph
    except ImportError as error:
        raise MetricError(
            "radgraph needs annotations=FILE (.jsonl with item, candidate or reference, and entities), or "
            f"the package radgraph, which cannot be imported ({error}): pip install radgraph."
        ) from None
    try:
        with redirect_stdout(io.StringIO()):
            return extractor(model_type=model)
    except Exception as error:  # a package of others, which fetches its weights
        reason = one_line(printable(str(error)), 160)
        raise MetricError(
            f"the package radgraph cannot load {model} ({type(error).__name__}: {reason}): let it fetch its "
            "weights once, or give annotations=FILE."
        ) from error
