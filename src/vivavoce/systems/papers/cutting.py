"""`viva prompts from`: a paper's prompts and rubrics into a folder, each with its hash and its place."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, StoreError, suggest
from vivavoce.core.json_text import read_json_file
from vivavoce.core.private_files import private_folder, write_all_private
from vivavoce.core.records import Finding
from vivavoce.core.registry import plugin_folders
from vivavoce.core.yaml_files import read_mapping
from vivavoce.systems.papers.fingerprint import Cut, Fingerprint, NotCut, Search, letters_of
from vivavoce.systems.papers.paper_text import PaperText, Place, read_paper

FILE = "published_prompts.yaml"
"""What a system knows of its paper."""
_SLOT = "{{ published }}"
_TITLE_WITHIN = 4_000
"""Letters at the beginning of a paper among which its title stands, before other papers are cited."""


_UNVERIFIED = "its letters differ from those known: compare it with the paper before you use it"
_NOTES = {
    (True, True): "",
    (True, False): "its letters are those known, but a word or two are parted otherwise",
}
"""What is said of a cut, by whether its letters and its words are those known."""


class PrintedPrompt(NamedTuple):
    """A prompt that a paper prints: its name, where it is printed, what takes it, and what it is known by.

    `frame` is the file of a rubric that the words are put into. `reason` says why one cannot be cut.
    """

    name: str
    printed: str
    use: str
    fingerprint: Fingerprint | None
    frame: Path | None = None
    reason: str = ""


class Paper(NamedTuple):
    """The paper of a system. `reason` says why it has no prompt."""

    system: str
    title: str
    prompts: Sequence[PrintedPrompt]
    reason: str = ""


class _Result(NamedTuple):
    prompt: PrintedPrompt
    cut: Cut | None
    place: Place | None
    reason: str


def papers() -> dict[str, Paper]:
    """The papers of the systems that ship, by system."""
    files = [folder / FILE for folder in plugin_folders()]
    return {paper.system: paper for paper in map(_paper, filter(Path.is_file, files))}


def _paper(file: Path) -> Paper:
    content = read_mapping(file, "prompts", InputError)
    prompts = [_prompt(file, name, dict(entry)) for name, entry in (content.get("prompts") or {}).items()]
    return Paper(content["system"], content["title"], prompts, content.get("reason", ""))


def _prompt(file: Path, name: str, entry: dict[str, Any]) -> PrintedPrompt:
    printed, use = entry.pop("printed"), entry.pop("use", "")
    frame, reason = entry.pop("frame", None), entry.pop("reason", "")
    fingerprint = None if reason else Fingerprint(**entry)
    return PrintedPrompt(name, printed, use, fingerprint, file.with_name(frame) if frame else None, reason)


def prompts_from(path: Path, system: str, folder: Path, *, unverified: bool = False) -> Finding:
    """Cut the prompts of a system's paper out of a user's copy of it, and write them to a folder.

    A row for each prompt that the paper prints: `state` is `cut`, `unverified` or `not cut`, with the reason.
    Raises `InputError` for an unknown system, a paper without prompts, another paper, and where nothing can
    be cut; nothing is written then.
    """
    catalogue = papers()
    if system not in catalogue:
        names = list(catalogue)
        raise InputError(f"--system {system}: name one of {', '.join(names)}.{suggest(system, names)}")
    paper = catalogue[system]
    results = _look(path, paper, catalogue, unverified=unverified)
    if not any(result.cut for result in results):
        raise InputError(_refusal(path, paper, results))
    rows = [_row(result) for result in results]
    _write(folder, path, system, rows)
    columns = [{name: value for name, value in row.items() if name != "text"} for row in rows]
    return Finding(study="prompts", rows=tuple(columns), text=_summary(rows, folder / f"{system}.json"))


def _refusal(path: Path, paper: Paper, results: Sequence[_Result]) -> str:
    """Why no prompt can be cut: the paper has none, none is in the text, or each reason with its places."""
    if paper.reason:
        return f"{path}: {paper.reason}."
    places: dict[str, list[str]] = {}
    for result in results:
        if result.place:
            places.setdefault(result.reason, []).append(f"{result.prompt.printed} ({result.place})")
    if not places:
        return f"{path} holds no prompt of {paper.system}: give the whole paper, {paper.title!r}."
    faults = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in places.items())
    return f"{path}: no prompt of {paper.system} can be cut. {faults}."


def _look(path: Path, paper: Paper, catalogue: Mapping[str, Paper], *, unverified: bool) -> list[_Result]:
    """Each prompt in the first order of the text that holds it letter by letter, else as it fits at all."""
    marks = [prompt.fingerprint for prompt in paper.prompts if prompt.fingerprint]
    results: list[_Result] = []
    searches: list[tuple[PaperText, Search]] = []
    for text in _checked(read_paper(path), path, paper, catalogue):
        searches.append((text, Search(text.text, marks)))
        tried = [_try(searches[-1][1], text, prompt, unverified=False) for prompt in paper.prompts]
        results = [_best(pair) for pair in zip(results, tried, strict=True)] if results else tried
        if all(map(_is_settled, results)):
            break
    return [_unverified(searches, result) for result in results] if unverified else results


def _is_settled(result: _Result) -> bool:
    """Whether a prompt is cut, or cannot be."""
    return bool(result.cut) or result.prompt.fingerprint is None


def _unverified(searches: Sequence[tuple[PaperText, Search]], result: _Result) -> _Result:
    """The prompt as it is cut, else as it fits at all."""
    if result.cut:
        return result
    tried = (_try(search, text, result.prompt, unverified=True) for text, search in searches)
    return _best([*tried, result])


def _best(results: Iterable[_Result]) -> _Result:
    """The first that is cut, else the first that has a place, else the first."""
    best: _Result | None = None
    for result in results:
        if result.cut:
            return result
        if best is None or (best.place is None and result.place):
            best = result
    assert best is not None, "every paper has a text"
    return best


def _checked(
    texts: Iterator[PaperText], path: Path, paper: Paper, catalogue: Mapping[str, Paper]
) -> Iterator[PaperText]:
    """The texts, unless the first bears the title of another system's paper. Raises `InputError`."""
    for number, text in enumerate(texts):
        if number == 0 and (author := _author(text.text, catalogue)) not in (None, paper.system):
            raise InputError(
                f"{path} is the paper of {author}, not of {paper.system}: give --system {author}."
            )
        yield text


def _author(text: str, catalogue: Mapping[str, Paper]) -> str | None:
    """The system whose paper's title stands at the beginning of the text."""
    head = letters_of(text[: 2 * _TITLE_WITHIN]).text[:_TITLE_WITHIN].casefold()
    titles = {name: letters_of(work.title).text.casefold() for name, work in catalogue.items()}
    return min(
        (name for name in titles if titles[name] in head), key=lambda n: head.index(titles[n]), default=None
    )


def _try(search: Search, text: PaperText, prompt: PrintedPrompt, *, unverified: bool) -> _Result:
    if prompt.fingerprint is None:
        return _Result(prompt, None, None, prompt.reason)
    try:
        cut = search.cut(prompt.fingerprint, unverified=unverified)
    except NotCut as error:
        offset = search.beginning(prompt.fingerprint)
        return _Result(prompt, None, None if offset is None else text.place(offset), str(error))
    return _Result(prompt, cut, text.place(cut.start), "")


def _row(result: _Result) -> dict[str, Any]:
    prompt, cut, place = result.prompt, result.cut, result.place or Place(None, None)
    text = "" if cut is None else _framed(prompt, cut.text)
    return {
        "prompt": prompt.name,
        "printed": prompt.printed,
        "state": "not cut" if cut is None else "cut" if cut.verified else "unverified",
        "page": place.page,
        "line": place.line,
        "file": f"{prompt.name}.md" if cut else None,
        "sha256": sha256(text.encode()).hexdigest() if cut else None,
        "use": prompt.use,
        "note": result.reason if cut is None else _NOTES.get((cut.verified, cut.spaced), _UNVERIFIED),
        "expected": prompt.fingerprint is not None,
        "text": text,
    }


def _framed(prompt: PrintedPrompt, text: str) -> str:
    if prompt.frame is None:
        return f"{text}\n"
    return prompt.frame.read_text(encoding="utf-8").replace(_SLOT, text)


def _write(folder: Path, path: Path, system: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The cut prompts and their record. Raises `InputError` where something else lies there."""
    texts = {folder / row["file"]: row["text"] for row in rows if row["file"]}
    record_file = folder / f"{system}.json"
    _refuse_what_is_there(folder, texts, record_file)
    record = {
        "system": system,
        "paper": {"file": path.name, "sha256": sha256(path.read_bytes()).hexdigest()},
        "prompts": [
            {name: row[name] for name in ("prompt", "file", "printed", "page", "line", "sha256", "state")}
            for row in rows
        ],
    }
    try:
        private_folder(folder)
        write_all_private({**texts, record_file: json.dumps(record, indent=1) + "\n"})
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror or error}. Give another --to.") from None


def _refuse_what_is_there(folder: Path, texts: Mapping[Path, str], record_file: Path) -> None:
    """Raise `InputError` for a file in place of the folder, and for what would be written over."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: give a folder with --to.")
    for file in (*texts, record_file):
        if file.is_dir():
            raise InputError(f"{file} is a folder: give another folder with --to.")
    if record_file.exists() and not _is_record(record_file):
        raise InputError(
            f"{record_file} is there and is no record of prompts: give another folder with --to."
        )
    for file, text in texts.items():
        if file.exists() and file.read_bytes() != text.encode():
            raise InputError(f"{file} is there with other words: give another folder with --to.")


def _is_record(file: Path) -> bool:
    try:
        content = read_json_file(file)
    except InputError:
        return False
    return isinstance(content, dict) and set(content) == {"system", "paper", "prompts"}


def _summary(rows: Sequence[Mapping[str, Any]], record: Path) -> str:
    cut = [row for row in rows if row["file"]]
    missing = [row for row in rows if not row["file"]]
    text = (
        f"{len(cut)} of {len(rows)} printed prompts in {record.parent}, with their places in {record.name}."
    )
    if missing:
        names = "; ".join(f"{row['prompt']} ({row['printed']}): {row['note']}" for row in missing)
        text = f"{text}\nNot cut: {names}."
    noted = [f"{row['prompt']}: {row['note']}" for row in cut if row["note"]]
    return "\n".join([text, *(f"{line}." for line in noted)])
