"""Lists of entities that were made elsewhere, one for each reference and each answer, read from a file.

The layout is that of `metrics/annotation_files.py`; `entities` is a list of texts, in a .csv a JSON array. An
empty list says that there is no entity; what has no row has no list.
"""

from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.file_cache import cached_by_file
from vivavoce.core.json_text import read_json
from vivavoce.core.tables import Line
from vivavoce.metrics.annotation_files import Annotations, read_annotations
from vivavoce.systems.hivmedqa.entities.lemmas import fold


@cached_by_file
def read_lists(path: Path) -> Annotations[tuple[str, ...]]:
    """The lists in a file: entities in lower case, each once, in the order of the file.

    Raises `InputError` naming a line that cannot be used or is there twice.
    """
    return read_annotations(path, _entities)


def _entities(line: Line) -> tuple[str, ...]:
    entities: Any = line.row["entities"]
    if isinstance(entities, str):
        try:
            entities = read_json(entities)
        except ValueError:
            raise InputError(f"{line.where}: entities must be a JSON array, not {entities[:60]!r}.") from None
    if not isinstance(entities, list) or not all(isinstance(e, str) and fold(e) for e in entities):
        raise InputError(f"{line.where}: entities must be a list of texts that are not blank.")
    return tuple(dict.fromkeys(entity.lower() for entity in entities))
