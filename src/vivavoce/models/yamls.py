"""Small YAML files of settings: a mapping whose keys each stand there once, or one clear sentence."""

from pathlib import Path
from typing import Any

from vivavoce.errors import VivaError

__all__ = ["read_mapping"]


def read_mapping(file: Path, what: str, error: type[VivaError]) -> dict[str, Any]:
    """The file's mapping, empty for an empty file; `what` names its content in the sentence of an `error`."""
    import yaml

    try:
        text = file.read_text(encoding="utf-8-sig")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        stated = yaml.safe_load(text)
    except OSError as fault:
        raise error(f"cannot read the {what} of {file}: {fault.strerror}.") from None
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise error(f"{file}{where}: no valid YAML ({getattr(fault, 'problem', None) or fault}).") from None
    except (ValueError, RecursionError) as fault:  # no UTF-8, a date that is none, lists without end
        raise error(f"cannot read the {what} of {file}: {fault}.") from None
    if stated is None:
        return {}
    if not isinstance(stated, dict):
        raise error(f"{file}: {what} are a mapping of names to settings, not {type(stated).__name__}.")
    _refuse_twice(file, node, error)
    return {str(name): value for name, value in stated.items()}


def _refuse_twice(file: Path, node: Any, error: type[VivaError]) -> None:
    """YAML would keep the last of two and say nothing."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return
    seen = set()
    for key, value in node.value:
        if key.value in seen:
            raise error(f"{file}, line {key.start_mark.line + 1}: {key.value} stands there twice.")
        seen.add(key.value)
        _refuse_twice(file, value, error)
