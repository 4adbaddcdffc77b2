"""Which files a benchmark's declaration names, at one revision: asked of the hub, or put together."""

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from vivavoce.core.errors import EgressError, InputError
from vivavoce.core.extras import import_extra
from vivavoce.core.net import permit
from vivavoce.core.records import Download
from vivavoce.core.text import one_line, printable
from vivavoce.run.fetch.transfer import LARGEST

MOST_FILES = 2_000
"""Files of one fetch at most; a benchmark has a handful."""
HUB = "https://huggingface.co"
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Remote(NamedTuple):
    """A file as its publisher holds it: hashes are empty and the size is null where it does not say.

    `blob` is the hash that git knows the file by.
    """

    file: str
    url: str
    bytes: int | None = None
    sha256: str = ""
    blob: str = ""


class Listing(NamedTuple):
    """The files at one commit; null for an address that has no revisions. `token` is for the hub's host."""

    source: str
    commit: str | None
    files: tuple[Remote, ...]
    token: str | None = None


def listed(download: Download, revision: str | None, benchmark: str) -> Listing:
    """The files that the declaration names at `revision`, by default the one that it pins.

    Raises `InputError` where no revision is known, or the files are not there; `ExtraError` without the extra
    `hub`.
    """
    revision = revision or download.revision
    if download.hub:
        if not revision:
            raise InputError(
                f"{benchmark} pins no revision, since none was checked: name one, such as --revision main. "
                "Its commit then stands in the lock, and later calls fetch that commit."
            )
        return _of_hub(download, revision, benchmark)
    if "{revision}" in download.url and not _COMMIT.fullmatch(revision):
        problem = f"{revision!r} is none" if revision else "none is pinned"
        raise InputError(
            f"{benchmark} is fetched at a commit, and {problem}: write its 40 digits at --revision."
        )
    base = download.url.replace("{revision}", revision)
    files = [Remote(name, base + quote(name), None, download.sha256.get(name, "")) for name in download.files]
    return Listing(base, revision or None, tuple(files))


def _of_hub(download: Download, revision: str, benchmark: str) -> Listing:
    hub = import_extra("huggingface_hub", extra="hub", user=f"fetching {benchmark}")
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUB
    permit(urlsplit(endpoint).hostname or endpoint)
    info = _dataset_info(hub, endpoint, download.hub, revision)
    commit = str(info.sha or "")
    if not _COMMIT.fullmatch(commit) or (_COMMIT.fullmatch(revision) and commit != revision):
        raise InputError(f"{endpoint} names {commit!r} as the commit of {revision!r}: nothing was fetched.")
    siblings = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    names = _fitting(download, sorted(siblings), commit)
    page = f"{endpoint}/datasets/{download.hub}"
    base = f"{page}/resolve/{commit}"
    files = tuple(Remote(name, f"{base}/{quote(name)}", *_facts(siblings[name], download)) for name in names)
    _check_sizes(files, page)
    return Listing(page, commit, files, hub.get_token())


def _check_sizes(files: Sequence[Remote], page: str) -> None:
    """Raise `InputError` for more, or larger, files than a benchmark may have."""
    largest = max(file.bytes or 0 for file in files)
    if len(files) > MOST_FILES or largest > LARGEST:
        raise InputError(
            f"{page} names {len(files):,} files, the largest of {largest:,} bytes: more than the "
            f"{MOST_FILES:,} files, or the {LARGEST:,} bytes of one, that a benchmark may have."
        )


def _dataset_info(hub: Any, endpoint: str, repository: str, revision: str) -> Any:
    """What the hub says of a repository. Raises `InputError` with a sentence."""
    from huggingface_hub import errors

    page = f"{endpoint}/datasets/{repository}"
    try:
        return hub.HfApi(endpoint=endpoint).dataset_info(repository, revision=revision, files_metadata=True)
    except EgressError:
        raise
    except errors.RevisionNotFoundError:
        raise InputError(f"{page} has no revision {revision!r}: name a branch, a tag or a commit.") from None
    except errors.OfflineModeIsEnabled:
        raise InputError("HF_HUB_OFFLINE is set: unset it and start again to ask the hub.") from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status in (401, 403) or isinstance(error, errors.GatedRepoError):
            raise InputError(
                f"{page} refuses us (HTTP {status}): it is gated, private, or not there. Accept its terms on "
                "that page, and set HF_TOKEN to a token of the account that did."
            ) from None
        raise InputError(f"{page} cannot be listed (HTTP {status}): nothing was fetched.") from None
    except Exception as error:  # the libraries of the hub differ in what they raise for a network
        reason = one_line(printable(str(error)), 120)
        raise InputError(
            f"{endpoint} cannot be reached ({type(error).__name__}: {reason}): nothing was fetched."
        ) from None


def _fitting(download: Download, names: Sequence[str], commit: str) -> list[str]:
    """The names that the patterns fit. Raises `InputError` for a pattern without a file."""
    for pattern in download.files:
        if not any(fnmatchcase(name, pattern) for name in names):
            some = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
            raise InputError(
                f"{download.hub} at {commit[:12]} has no file {pattern!r}: it holds {printable(some)}. Name "
                "an earlier commit with --revision."
            )
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in download.files)]


def _facts(sibling: Any, download: Download) -> tuple[int | None, str, str]:
    """Size, SHA-256 and git's hash of a file, as far as the hub or the declaration tells."""
    stored = download.sha256.get(sibling.rfilename, "")
    if sibling.lfs:
        return sibling.lfs.size, stored or sibling.lfs.sha256, ""
    return sibling.size, stored, sibling.blob_id or ""
