"""The verb behind `viva build`: a recipe, its options, and a client that asks, or counts in a dry run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_origin, get_type_hints

from vivavoce.core import registry
from vivavoce.core.errors import InputError, SelectionError, VivaError, suggest
from vivavoce.core.records import Finding
from vivavoce.core.specs import Setting, Spec
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.engine.client import CallResult, ModelClient, Parser, SecondRequest, T
from vivavoce.models.engine.counting_client import CountingClient
from vivavoce.models.engine.egress import Privacy, guard
from vivavoce.models.requests import Request
from vivavoce.run.building.run_steps import build
from vivavoce.run.building.step import BuildRecipe, WholeRecipe
from vivavoce.run.building.stored_exam import exam_name
from vivavoce.run.client import AskOptions, open_client, run_guard
from vivavoce.store.build_steps import build_steps
from vivavoce.store.call_log import has_calls
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view


def recipe_of(name: str, options: Mapping[str, Any]) -> BuildRecipe:
    """The recipe with these options, each a value, or the words of one.

    Raises `SpecError` for a recipe that is not there and for a value that does not fit, `SelectionError` for
    an option that it does not have, or lacks.
    """
    entry = registry.find("build_recipe", name)
    fields = {field.rstrip("_"): field for field in registry.settings(entry)}
    hints = get_type_hints(entry.cls)
    values: dict[str, Setting] = {}
    for option, value in options.items():
        word = option.rstrip("_")
        if word not in fields:
            typed = word.replace("_", "-")
            raise SelectionError(f"viva build … {name} has no option --{typed}.{suggest(word, list(fields))}")
        values[fields[word]] = _fitting(hints[fields[word]], value)
    needed = [field for field in fields.values() if field not in {*values, *registry.defaults(entry)}]
    if needed:
        typed = " and ".join(f"--{field.rstrip('_').replace('_', '-')}" for field in needed)
        raise SelectionError(f"viva build … {name} needs {typed}: `viva build --help` has an example.")
    recipe: BuildRecipe = registry.build("build_recipe", Spec(name, values))
    return recipe


def _fitting(hint: Any, value: Any) -> Setting:
    """The words of an option as its field wants them; one word is no list, and a number may come as text."""
    several = value if isinstance(value, tuple | list) else (value,)
    words = tuple(str(word) if isinstance(word, Path) else word for word in several)
    if get_origin(hint) is tuple or len(words) != 1:
        return words
    return _number(hint, words[0])


def _number(hint: Any, word: Setting) -> Setting:
    """The word as the number that the field takes; as it is where it takes none, or is none."""
    if isinstance(word, str):
        for kind in (int, float):
            if kind in (hint, *get_args(hint)):
                with suppress(ValueError):
                    return kind(word)
    return word


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def build_exam(
    run: RunFile,
    recipe: str,
    options: Mapping[str, Setting],
    ask: AskOptions,
    *,
    name: str | None = None,
    until: str | None = None,
    seed: int = 0,
    dry_run: bool = False,
) -> Finding:
    """Run a recipe on a run, as `Run.build` says. Raises `InputError` for a name that names no exam.

    Also for a limit that is none, before anything is stored.
    """
    ask = ask.checked()
    benchmark = _exam_name(run, name)
    chosen = recipe_of(recipe, options)
    run_recipe = chosen.run_on if isinstance(chosen, WholeRecipe) else partial(build, recipe=chosen)
    work = partial(run_recipe, name=recipe, benchmark=benchmark, until=until, seed=seed)
    with _file_for(run, dry_run=dry_run) as file:
        if dry_run:
            endpoints = None if ask.providers is None else load_endpoints(Path(ask.providers))
            return work(file, client=CountingClient(file, endpoints, ask.max_cost))
        privacy = Privacy(ask.offline, ask.allow_phi, tuple(ask.allow))
        check = with_view(file, run_guard, set(), ask)
        with open_client(file, check, ask, partial(BuildClient, privacy=privacy)) as client:
            return work(file, client=client)


def _exam_name(run: RunFile, name: str | None) -> str:
    """The name of the exam: that of the one under construction, else as stated, else the file's.

    Raises `InputError` for a name that names no exam, and for another one than the exam has.
    """
    if name is not None and not _NAME.fullmatch(name):
        raise InputError(f"--name {name}: write letters, digits, dots, dashes and underlines only.")
    earlier = exam_name(run)
    if earlier is not None:
        if name not in (None, earlier):
            raise InputError(
                f"--name {name}: the exam in {run.path} is {earlier}; build another in another run."
            )
        return earlier
    return name or re.sub(r"[^A-Za-z0-9_.-]+", "-", run.path.stem).strip("-.") or "exam"


@contextmanager
def _file_for(run: RunFile, *, dry_run: bool) -> Iterator[RunFile]:
    """The run. A dry run, and a build that fails at once, leave no file where there was none."""
    if run.exists:
        yield run
        return
    if dry_run:
        with TemporaryDirectory() as folder:
            file = RunFile(Path(folder) / run.path.name)
            with file.writing():
                pass
            yield file
        return
    with run.writing():
        pass
    try:
        yield run
    except VivaError:
        with run.reading() as db:
            is_empty = not build_steps(db) and not has_calls(db)
        if is_empty:
            for end in ("", "-wal", "-shm"):
                run.path.with_name(run.path.name + end).unlink(missing_ok=True)
        raise


class BuildClient(ModelClient):
    """A client that reads every request for patient data before it leaves: no table has the sources."""

    def __init__(self, run: RunFile, *, privacy: Privacy, check: object = None, **settings: Any) -> None:
        super().__init__(run, **settings)
        self._privacy = privacy

    def ask(
        self,
        model: str | Spec,
        requests: Sequence[Request],
        parse: Parser[T] | Sequence[Parser[T]],
        *,
        purpose: str,
        repeat: int = 1,
        again: SecondRequest | None = None,
    ) -> list[CallResult[T]]:
        """As `ModelClient.ask`. Raises `EgressError` where a text may not leave this machine."""
        texts = [message.content for request in requests for message in request.messages]
        self._checked.clear()
        self._check = guard(
            self._privacy, items=(), texts=lambda: texts, credentialed=(), what="one of the texts"
        )
        return super().ask(model, requests, parse, purpose=purpose, repeat=repeat, again=again)
