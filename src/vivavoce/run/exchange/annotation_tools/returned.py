"""What comes back from an annotation tool and is no judgement: cancelled, drafts, tasks of somebody else."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.people.storing.store_annotations import AnnotatedFile, Annotation
from vivavoce.people.tool_tasks import is_task_id


class Returned(NamedTuple):
    """The places that were left out so far, by reason."""

    left_out: dict[str, list[str]]

    def leave(self, reason: str, where: str) -> None:
        """Note a place that is left out."""
        self.left_out.setdefault(reason, []).append(where)

    def check_task(self, identity: object, where: str) -> None:
        """Raise `InputError` for a task without an id of ours, in a file that has such."""
        if not is_task_id(identity):
            raise _mixed(where, "no task that `viva export` wrote, and others in this file are")


def refuse_task(identity: object, where: str) -> None:
    """Raise `InputError` for a task with an id of ours, in a file whose first task has none."""
    if is_task_id(identity):
        raise _mixed(where, "a task that `viva export` wrote, and others in this file are none")


def _mixed(place: str, what: str) -> InputError:
    return InputError(f"{place} is {what}: export them from projects of their own. Nothing was stored.")


def objects(value: Any, where: str, what: str) -> list[Mapping[str, Any]]:
    """The objects of a list, none where it is null. Raises `InputError` for what is no such list."""
    entries = [] if value is None else value
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{where}: {what} are no list of objects: export the file again.")
    return entries


def entered_text(value: Any, where: str, field: str) -> str:
    """What was entered as text. Raises `InputError` for what no form gives."""
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        return str(value)
    raise InputError(f"{where}: {field} is {type(value).__name__}, and no form gives that: export it again.")


def annotated_file(
    path: Path, annotations: Sequence[Annotation], returned: Returned, notes: Sequence[str] = ()
) -> AnnotatedFile:
    """The file as it was read to its end."""
    left_out = {reason: tuple(places) for reason, places in returned.left_out.items()}
    return AnnotatedFile(path, tuple(annotations), left_out, tuple(notes))
