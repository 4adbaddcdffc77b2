"""The labels of a run's candidates, and the label that a part of a name stands for."""

from collections.abc import Sequence
from contextlib import suppress

from vivavoce.core.errors import SelectionError, SpecError, suggest
from vivavoce.core.specs import parse
from vivavoce.core.text import names_with
from vivavoce.store.read import candidates
from vivavoce.store.view import View


def candidate_labels(view: View) -> list[str]:
    """The candidates of a run in the order they came. Raises `SelectionError` if there is no response yet."""
    labels = [candidate.candidate for candidate in view.fetch(candidates)]
    if not labels:
        path = view.path
        raise SelectionError(
            f"{path} holds no answers yet: `viva import {path} answers.jsonl --benchmark SPEC` brings some."
        )
    return labels


def match_candidate(name: str, labels: Sequence[str]) -> str:
    """A candidate's label: as it stands, but for case, in a spec's short form, or by a part of one alone.

    Raises `SelectionError` for a name that fits none, or several.
    """
    if name in labels:
        return name
    matches = [label for label in labels if label.casefold() == name.casefold()]
    if not matches:
        with suppress(SpecError):  # a label need not be a spec
            matches = [label for label in labels if label == str(parse(name))]
    matches = matches or names_with(name, labels)
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(map(repr, matches))
        raise SelectionError(f"the candidate {name!r} may be any of {names}: write more of its name.")
    raise SelectionError(f"no candidate named {name!r} in this run.{suggest(name, list(labels))}")
