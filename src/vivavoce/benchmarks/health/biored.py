"""BioRED (Luo et al. 2022): relations between entities of biomedical abstracts, as choice or extraction.

Read from `Test.BioC.JSON` of BIORED.zip. Relations name identifiers, not spans: an entity goes by all names
that the abstract has for one of its identifiers.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.benchmarks import item_or_exclusion
from vivavoce.benchmarks.health.source_files import DECODING, SourceFolder, find_file
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.text import is_blank
from vivavoce.formats.relation import relation_key
from vivavoce.reading.relations import same_name

TYPES = (
    *("Association", "Bind", "Comparison", "Conversion", "Cotreatment", "Drug_Interaction"),
    *("Negative_Correlation", "Positive_Correlation"),
)
CHOICE = 'How is "{head}" ({head_kind}) related to "{tail}" ({tail_kind}) in this text?'
_FAULTS = (
    "relations have no direction: score extraction by relation_f1(direction=false)",
    "types are uneven: Association and the two correlations are nearly all of them, so put label_f1 "
    "beside accuracy",
    "the question of task=mcq names each entity by its first mention, in our words: the published "
    "sampling of about 1,000 questions (BioRedMQA) is not known, so all relations are asked",
)
EXTRACTION = (
    "Which relations between genes, diseases, chemicals, variants, species and cell lines are in this text?"
)


class _Relation(NamedTuple):
    """A relation of a document, its entities by identifier."""

    number: str
    type: str
    head: str
    tail: str
    novel: bool

    @property
    def pair(self) -> frozenset[str]:
        """Its entities: relations have no direction."""
        return frozenset((self.head, self.tail))


class _Entity(NamedTuple):
    """What the text calls an entity, in the order of first mention, and of which kind it is."""

    names: tuple[str, ...]
    kind: str


@benchmark("biored")
class BioRED(SourceFolder):
    """Relations in abstracts: `task=mcq` asks for the type of one, `task=relations` for all of a text.

    In a run the latter is the benchmark biored_relations, so that both can stand there; an abstract is one
    case in both.
    """

    task: Literal["mcq", "relations"] = "mcq"
    split: Literal["train", "dev", "test"] = "test"

    @property
    def card(self) -> Card:
        """The card of the task; the settings of the published figures are those of the choice."""
        choice = self.task == "mcq"
        return Card(
            name=self._name,
            description="Relations between genes, diseases, chemicals and variants in PubMed abstracts",
            source="https://ftp.ncbi.nlm.nih.gov/pub/lu/BioRED/",
            revision_note="BIORED.zip bears no version; the hash of the file stands in the signature",
            licence="not stated beside the files; the abstracts are PubMed's",
            citation="Luo et al. 2022, Briefings in Bioinformatics 23(5), bbac282",
            faults=_FAULTS,
            published={**DECODING, "prompt": "suite_choices"} if choice else {},
            released="2022-04",
            primary="accuracy" if choice else "micro_f1",
            groups_of=None if choice else "biored",
        )

    download = Download(by_hand="Take BIORED.zip from there, and unpack Test.BioC.JSON into the folder.")

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the split."""
        name = f"{self.split.capitalize()}.BioC.JSON"
        return (find_file("biored", self.data, name, f"BioRED/{name}", f"BIORED/{name}"),)

    def items(self) -> Iterator[Item | Exclusion]:
        """An item for each relation, or for each abstract; one group for each abstract.

        Left out and counted: relations of an unknown type, or whose entity is not in the text; pairs of which
        two types are keyed, which are no single choice; abstracts without a relation.
        """
        (path,) = self.files
        ids: set[str] = set()
        for row in self._rows(path):
            if isinstance(row, Item) and row.item in ids:
                yield Exclusion(path.name, row.item, "an earlier row bears the same id")
                continue
            ids |= {row.item} if isinstance(row, Item) else set()
            yield row

    def _rows(self, path: Path) -> Iterator[Item | Exclusion]:
        for number, document in enumerate(_documents(path), 1):
            try:
                yield from self._items_of(document, path.name)
            except RowError as error:
                yield Exclusion(path.name, number, error.reason)

    @property
    def _name(self) -> str:
        return "biored" if self.task == "mcq" else "biored_relations"

    def _items_of(self, document: Mapping[str, Any], file: str) -> Iterator[Item | Exclusion]:
        pmid = _text(document, "id")
        passages = _list(document, "passages")
        text = "\n".join(_text(passage, "text") for passage in passages if passage.get("text"))
        if is_blank(text):
            raise _fault("it has no text")
        entities = _entities(passages)
        usable: list[_Relation] = []
        for relation in [_relation(fields) for fields in _list(document, "relations")]:
            reason = _why_not(relation, entities)
            if reason:
                yield Exclusion(file, f"{pmid}-{relation.number}", reason)
            else:
                usable.append(relation)
        make_items = self._choices if self.task == "mcq" else self._extraction
        for row, item in make_items(pmid, text, usable, entities):
            yield item if isinstance(item, Exclusion) else item_or_exclusion(item, file=file, row=row)

    def _choices(
        self, pmid: str, text: str, relations: Sequence[_Relation], entities: Mapping[str, _Entity]
    ) -> Iterator[tuple[str, Item | Exclusion]]:
        """A question for each pair of entities that has one type."""
        types: dict[frozenset[str], list[str]] = {}
        for relation in relations:
            types.setdefault(relation.pair, []).append(relation.type)
        (file,) = self.files
        for k, relation in enumerate(relations):
            row, head, tail = f"{pmid}-{relation.number}", entities[relation.head], entities[relation.tail]
            reason = ""
            if len(set(types[relation.pair])) > 1:
                reason = "the pair has two types"
            elif any(relation.pair == earlier.pair for earlier in relations[:k]):
                reason = "it repeats an earlier relation"
            elif same_name(head.names[0]) == same_name(tail.names[0]):
                reason = "both entities bear one name"
            if reason:
                yield row, Exclusion(file.name, row, reason)
                continue
            question = CHOICE.format(
                head=head.names[0], head_kind=head.kind, tail=tail.names[0], tail_kind=tail.kind
            )
            yield (
                row,
                Item(
                    benchmark=self._name,
                    item=row,
                    group=pmid,
                    category=" and ".join(sorted((head.kind, tail.kind))),
                    format="mcq",
                    question=question,
                    context=text,
                    options=TYPES,
                    answer=(relation.type,),
                    meta={"novel": relation.novel},
                ),
            )

    def _extraction(
        self, pmid: str, text: str, relations: Sequence[_Relation], entities: Mapping[str, _Entity]
    ) -> Iterator[tuple[str, Item | Exclusion]]:
        """One question for the abstract, keyed by all of its relations."""
        keys = [
            relation_key(entities[r.head].names, r.type, entities[r.tail].names, r.novel) for r in relations
        ]
        yield (
            pmid,
            Item(
                benchmark=self._name,
                item=pmid,
                group=pmid,
                format="relation",
                question=EXTRACTION,
                context=text,
                options=TYPES,
                answer=tuple(dict.fromkeys(keys)),
            ),
        )


def _documents(path: Path) -> list[Mapping[str, Any]]:
    content = read_json_file(path)
    documents = content.get("documents") if isinstance(content, dict) else None
    if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
        raise InputError(f"biored: {path} is no BioC JSON: an object with a list of documents is needed.")
    return documents


def _entities(passages: Sequence[Mapping[str, Any]]) -> dict[str, _Entity]:
    """By identifier what the text calls each entity: mentions of it alone before those of several."""
    mentions = [m for passage in passages for a in _list(passage, "annotations") for m in _mentions(a)]
    names: dict[str, dict[str, str]] = {}
    kinds: dict[str, str] = {}
    for mention in sorted(mentions, key=lambda mention: mention.n_identifiers):
        names.setdefault(mention.identifier, {}).setdefault(same_name(mention.name), mention.name)
        kinds.setdefault(mention.identifier, mention.kind)
    return {name: _Entity(tuple(forms.values()), kinds[name]) for name, forms in names.items()}


class _Mention(NamedTuple):
    """A name in the text, of one of the identifiers that stand joined in its annotation."""

    n_identifiers: int
    identifier: str
    name: str
    kind: str


def _mentions(annotation: Mapping[str, Any]) -> Iterator[_Mention]:
    infons, name = _infons(annotation), " ".join(str(annotation.get("text") or "").split())
    joined = str(infons.get("identifier") or "").strip()
    parts = [part.strip() for part in joined.replace(";", ",").split(",")]
    identifiers = [part for part in dict.fromkeys((joined, *parts)) if part not in ("", "-")]
    for identifier in identifiers if same_name(name) else ():
        yield _Mention(len(identifiers), identifier, name, str(infons.get("type") or "entity"))


def _relation(relation: Mapping[str, Any]) -> _Relation:
    infons = _infons(relation)
    fields = [infons.get(name) for name in ("type", "entity1", "entity2", "novel")]
    if not all(isinstance(field, str) for field in fields):
        raise _fault("a relation lacks its type, an entity or novel")
    kind, head, tail, novel = map(str, fields)
    return _Relation(str(relation.get("id")), kind, head.strip(), tail.strip(), novel == "Novel")


def _why_not(relation: _Relation, entities: Mapping[str, _Entity]) -> str:
    """Why a relation cannot be asked for; empty if it can."""
    if relation.type not in TYPES:
        return "its type is none of the eight"
    if relation.head not in entities or relation.tail not in entities:
        return "an entity of it is not in the text"
    return ""


def _infons(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    infons = fields.get("infons")
    return infons if isinstance(infons, dict) else {}


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or is_blank(value):
        raise _fault(f"it has no {name}")
    return value


def _list(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise _fault(f"its {name} are no list of objects")
    return value


def _fault(reason: str) -> RowError:
    return RowError(f"biored: {reason}.", reason)
