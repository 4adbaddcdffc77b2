"""`viva fetch`: the files of a benchmark at one revision, plain in a folder, with a lock beside them.

Nothing is replaced that this verb did not write: a file that differs from its lock, or lies there without
one, is the user's.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from vivavoce.benchmarks import Benchmark
from vivavoce.core import registry, specs
from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import LOCK
from vivavoce.core.net import offline as offline_mode
from vivavoce.core.private_files import private_folder
from vivavoce.core.records import Download, Finding
from vivavoce.core.text import printable
from vivavoce.models.engine.usage import Progress
from vivavoce.run.fetch.folder_lock import only_fetch
from vivavoce.run.fetch.listing import Listing, Remote, listed
from vivavoce.run.fetch.lock_file import (
    Entry,
    Lock,
    LockedFile,
    blob_of,
    read_lock,
    sha256_of,
)
from vivavoce.run.fetch.transfer import bring_file

_PARTS = ".viva-fetch"


class Step(NamedTuple):
    """What happens to a file: `kept`, `to fetch` or `to replace`. `expected`: the hash it must have."""

    remote: Remote
    path: Path
    state: str
    expected: str = ""


def fetch(
    benchmark: str,
    to: str | Path,
    *,
    revision: str | None = None,
    update: bool = False,
    dry_run: bool = False,
    offline: bool = False,
    progress: Progress | None = None,
) -> Finding:
    """Bring the files of a benchmark into the folder `to`, which its `data=` then names.

    A branch or tag at `revision` becomes the commit that it names now. The commit, the hash and the size of
    each file, licence and terms stand in `viva.lock` in the folder; a later call fetches that commit, checks
    what is there and brings what is missing, also after a cut. `update` takes the files of another revision
    and replaces those that are as the lock says. `dry_run` writes nothing. A row is a file: its `state` is
    `kept`, `fetched` or `replaced`, in a dry run also `to fetch` or `to replace`; `bytes` and `sha256` are
    null where nobody has told them yet.

    Raises `InputError` for a benchmark without files to fetch or a credentialed one, for a file that is not
    what its lock or its publisher says, for one that is not ours to replace, and while another fetch is at
    work in the folder; `EgressError` offline; `ExtraError` without the extra `hub`, where the files lie on
    the hub.
    """
    folder = Path(to)
    name, built = _built(benchmark, folder)
    download, card = _fetchable(name, built), built.card
    if download.hub:  # it reads when it is imported whether it is offline, and then would not ask localhost
        with suppress(ImportError):
            import_module("huggingface_hub.constants")
    with offline_mode(offline), nullcontext() if dry_run else only_fetch(folder):
        lock = read_lock(folder)
        listing = _listing(name, download, revision, lock, update)
        steps = [_step(remote, folder, lock.entries.get(name), update) for remote in listing.files]
        if not dry_run:
            requested = revision or download.revision or listing.commit
            entry = Entry(
                *(listing.source, requested, listing.commit, card.licence, download.terms),
                *(f"{datetime.now(UTC):%Y-%m-%d}", download.files),
                files=tuple(LockedFile(step.remote.file, step.remote.url) for step in steps),
            )
            steps = list(_brought(steps, entry, listing, _Folder(lock, name), progress))
    rows = tuple(_row(step, listing) for step in steps)
    text = _text(name, listing, rows)
    return Finding(study="fetch", rows=rows, text=text, notes=tuple(_notes(built, download, folder)))


def _built(benchmark: str, folder: Path) -> tuple[str, Benchmark]:
    """The benchmark with the folder as its `data`, and its spec without that: the name in the lock."""
    spec = registry.in_full("benchmark", specs.parse(benchmark))
    settings = {key: value for key, value in spec.settings.items() if key != "data"}
    with_data = dict(settings)
    if "data" in registry.settings(registry.find("benchmark", spec.name)):
        with_data["data"] = str(folder)
    built: Benchmark = registry.build("benchmark", specs.Spec(spec.name, with_data))
    return str(specs.Spec(spec.name, settings)), built


def _fetchable(name: str, benchmark: Benchmark) -> Download:
    """What the benchmark declares. Raises `InputError` with what a person does instead."""
    card, download = benchmark.card, benchmark.download
    by_hand = f" {_sentence(download.by_hand)}" if download and download.by_hand else ""
    if card.access == "credentialed":
        raise InputError(
            f"{name} is credentialed: viva never fetches it. Its source: {_sentence(card.source)}{by_hand}"
        )
    if download is None or not download.address:
        how = by_hand or " Where they lie on your disk, name the folder with data=DIR."
        raise InputError(
            f"{name} declares no files that can be fetched. Its source: {_sentence(card.source)}{how}"
        )
    return download


def _sentence(text: str) -> str:
    """The text with a full stop, and with a capital where it does not begin with an address."""
    is_address = any(mark in text.partition(" ")[0].rstrip(",.") for mark in "./")
    return f"{text[:1] if is_address else text[:1].upper()}{text[1:].rstrip('.')}."


def _listing(name: str, download: Download, revision: str | None, lock: Lock, update: bool) -> Listing:
    """The files to have: those of the lock where all are there, else what the publisher names."""
    entry = lock.entries.get(name)
    if entry is None or update:
        return listed(download, revision, name)
    folder = lock.path.parent
    if revision and revision not in (entry.revision, entry.requested):
        raise InputError(
            f"{folder} holds {name} at {entry.revision or 'no revision'}: say --update to replace it by "
            f"{revision}."
        )
    if _has_all(folder, entry, download):
        files = tuple(Remote(f.file, f.url, f.bytes, f.sha256 or "") for f in entry.files)
        return Listing(entry.source, entry.revision, files)
    return listed(download, entry.revision, name)


def _has_all(folder: Path, entry: Entry, download: Download) -> bool:
    """Whether every file that the declaration names was fetched and lies there; nobody need be asked."""
    complete = entry.is_complete and entry.patterns == download.files
    return complete and all(_place(folder, file.file).exists() for file in entry.files)


def _place(folder: Path, file: str) -> Path:
    """Where a file goes. Raises `InputError` for a name that leads out of the folder, or to our own files."""
    parts = PurePosixPath(file).parts
    plain = file and not re.search(r'[\x00-\x1f\x7f\\\\:*?"<>|]', file) and "/".join(parts) == file
    if not plain or {"..", "/", "~"} & set(parts) or parts[0] in (LOCK, _PARTS):
        raise InputError(f"the source names a file {printable(file)!r}, which has no place in {folder}.")
    path = folder.joinpath(*parts)
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path.parent} is a link that leads out of {folder}: nothing was fetched.")
    return path


def _step(remote: Remote, folder: Path, entry: Entry | None, update: bool) -> Step:
    """What is to be done for a file. Raises `InputError` where another file lies that is not ours."""
    path = _place(folder, remote.file)
    locked = entry.hashes.get(remote.file, "") if entry else ""
    expected = remote.sha256 if update else locked or remote.sha256
    if not os.path.lexists(path):
        return Step(remote, path, "to fetch", expected)
    digest = _digest(path)
    if digest == (expected or (_is_blob(path, remote) and digest)):
        return Step(remote, path, "kept", digest)
    if digest in _replaceable(entry, update):
        return Step(remote, path, "to replace", expected)
    raise _not_ours(path, digest, locked)


def _not_ours(path: Path, digest: str, locked: str) -> InputError:
    """The error for a file that this call must not replace."""
    if locked:
        return InputError(
            f"{path} differs from its lock: it has the SHA-256 {digest}, and {LOCK} says {locked}. Nothing "
            "was written; move it away, and fetch again."
        )
    return InputError(
        f"{path} is there already, and was not fetched for this: move it away, or give another "
        "folder with --to."
    )


def _digest(path: Path) -> str:
    """The hash of what lies there; words where it is a link or a folder."""
    return sha256_of(path) if path.is_file() and not path.is_symlink() else "no plain file"


def _replaceable(entry: Entry | None, update: bool) -> set[str]:
    """The hashes of files that earlier calls brought, and this one may replace."""
    return {*entry.replaceable, *(entry.hashes.values() if update else ())} if entry else set()


def _is_blob(path: Path, remote: Remote) -> bool:
    """Whether the file is the one that git knows by the hash that the hub lists."""
    return bool(remote.blob) and path.is_file() and blob_of(path) == remote.blob


class _Folder(NamedTuple):
    """The lock of the folder that files are fetched into, and the name of the benchmark in it."""

    lock: Lock
    name: str

    @property
    def path(self) -> Path:
        return self.lock.path.parent

    @property
    def entry(self) -> Entry | None:
        """What was fetched for the benchmark before."""
        return self.lock.entries.get(self.name)

    def record(self, entry: Entry) -> None:
        """Write the lock with this entry; once it is complete, nothing of an earlier one is replaced."""
        self.lock.entries[self.name] = replace(entry, replaceable=()) if entry.is_complete else entry
        self.lock.write()


def _brought(
    steps: Sequence[Step], entry: Entry, listing: Listing, folder: _Folder, progress: Progress | None
) -> Iterator[Step]:
    """Each step when it is done; the lock grows with it, so that a later call knows what came."""
    before = folder.entry
    if before and _is_same(before, entry) and all(step.state == "kept" for step in steps):
        yield from steps
        return
    if before:
        entry = replace(entry, replaceable=(*before.replaceable, *before.hashes.values()))
    try:
        private_folder(folder.path / _PARTS)
        for number, step in enumerate(steps):
            hosts: set[str] = set()
            if step.state != "kept":
                step, hosts = _fetched(step, listing, folder.path, progress)
            locked = replace(entry.files[number], bytes=step.path.stat().st_size, sha256=step.expected)
            files = (*entry.files[:number], locked, *entry.files[number + 1 :])
            entry = replace(entry, files=files, hosts=tuple(sorted({*entry.hosts, *hosts})))
            folder.record(entry)
            yield step
    except OSError as error:
        raise InputError(f"cannot write to {folder.path}: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):  # what a cut left there is gone on with
            (folder.path / _PARTS).rmdir()


def _is_same(before: Entry, entry: Entry) -> bool:
    """Whether the lock says already what a call would write that fetches nothing."""
    return before.is_complete and (before.revision, before.patterns) == (entry.revision, entry.patterns)


def _fetched(step: Step, listing: Listing, folder: Path, progress: Progress | None) -> tuple[Step, set[str]]:
    """The step with its file in place, and the hosts that were reached."""
    remote = step.remote
    part = folder / _PARTS / f"{sha256(remote.url.encode()).hexdigest()[:16]}.part"
    hosts = bring_file(
        remote.url,
        part,
        fixed=bool(listing.commit),
        size=remote.bytes,
        token=listing.token,
        moved=lambda done, total: progress(remote.file, done, total) if progress else None,
    )
    digest = sha256_of(part)
    _check(step, part, digest)
    state = "fetched" if step.state == "to fetch" else "replaced"
    if state == "replaced" and digest == sha256_of(step.path):
        state = "kept"
    private_folder(step.path.parent)
    part.replace(step.path)
    return step._replace(state=state, expected=digest), hosts


def _check(step: Step, part: Path, digest: str) -> None:
    """Raise `InputError` where what came is not what the lock or the publisher says; the part is removed."""
    remote, expected = step.remote, step.expected
    if expected:
        intact, says = digest == expected, expected
    else:
        intact, says = not remote.blob or _is_blob(part, remote), f"{remote.blob} by git"
    if not intact:
        part.unlink()
        raise InputError(
            f"{remote.file} has changed, or came damaged: what came has the SHA-256 {digest}, and its lock "
            f"or publisher says {says}. Nothing was replaced; --update takes what is published now."
        )


def _row(step: Step, listing: Listing) -> dict[str, Any]:
    """What a step did or would do. A file that is not here yet has the size its publisher states."""
    remote, present = step.remote, not step.state.startswith("to ")
    return {
        "file": remote.file,
        "state": step.state,
        "bytes": step.path.stat().st_size if present else remote.bytes,
        "sha256": step.expected or None,
        "path": str(step.path),
        "url": remote.url,
        **{"source": listing.source, "revision": listing.commit},
    }


def _text(name: str, listing: Listing, rows: Sequence[Mapping[str, Any]]) -> str:
    """How many files, what was done with them, and the revision."""
    states = Counter(row["state"] for row in rows)
    sizes = [row["bytes"] for row in rows]
    size = "" if None in sizes else f", {sum(sizes):,} bytes"
    done = ", ".join(f"{n} {state}" for state, n in states.items())
    at = f"revision {listing.commit}" if listing.commit else "an address without revisions"
    return f"{name}: {len(rows)} file{'' if len(rows) == 1 else 's'}{size} ({done}), {listing.source}, {at}."


def _notes(benchmark: Benchmark, download: Download, folder: Path) -> Iterator[str]:
    """Licence, terms, what is left to do, and where it goes on."""
    yield f"Licence: {_sentence(benchmark.card.licence)}"
    if download.terms:
        yield f"Terms: {_sentence(download.terms)}"
    if download.by_hand:
        yield _sentence(download.by_hand)
    yield f'viva show "{benchmark}" reads them; {folder / LOCK} has their hashes.'
