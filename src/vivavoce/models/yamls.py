"""Small YAML files of settings: a mapping in which no key stands twice, or one clear sentence."""

from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import VivaError


class _Document(NamedTuple):
    """A parsed file, and the first key that stands twice in a mapping, with its line."""

    value: Any
    repeated: tuple[int, str] | None


def read_mapping(file: Path, what: str, error: type[VivaError]) -> dict[str, Any]:
    """The file's mapping, empty for an empty file; `what` names its content in the sentence of an `error`."""
    import yaml  # slow to import, and most commands read no YAML

    try:
        stat = file.stat()
        document = _parse(file, stat.st_mtime_ns, stat.st_size)
    except OSError as fault:
        raise error(f"cannot read the {what} of {file}: {fault.strerror}.") from None
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise error(f"{file}{where}: no valid YAML ({getattr(fault, 'problem', None) or fault}).") from None
    except (ValueError, RecursionError) as fault:  # not UTF-8, an impossible date, lists without end
        raise error(f"cannot read the {what} of {file}: {fault}.") from None
    if document.value is None:
        return {}
    if not isinstance(document.value, dict):
        raise error(
            f"{file}: {what} are a mapping of names to settings, not {type(document.value).__name__}."
        )
    if document.repeated:
        line, key = document.repeated
        raise error(f"{file}, line {line}: {key} stands there twice.")
    return {str(name): deepcopy(value) for name, value in document.value.items()}


@lru_cache(maxsize=32)
def _parse(file: Path, mtime_ns: int, size: int) -> _Document:
    """The document in a file; the time and size are there so that a file that changes is read again."""
    import yaml

    text = file.read_text(encoding="utf-8-sig")
    try:
        return _load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return _load(text, yaml.SafeLoader)  # for its message: libyaml words faults differently


def _load(text: str, loader_class: Any) -> _Document:
    loader = loader_class(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return _Document(None, None)
        # Before construction, which writes the keys of a merge (<<) into the node.
        repeated = _repeated_key(node)
        return _Document(loader.construct_document(node), repeated)
    finally:
        loader.dispose()


def _repeated_key(node: Any) -> tuple[int, str] | None:
    """The first key that stands twice, with its line: YAML would keep the last and say nothing."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return None
    keys = set()
    for key, value in node.value:
        if key.value in keys:
            return key.start_mark.line + 1, key.value
        keys.add(key.value)
        if repeated := _repeated_key(value):
            return repeated
    return None
