"""The files of a benchmark that `viva fetch` brings: where they lie, and what is asked of who uses them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The files of a benchmark that `viva fetch` brings, and where they lie.

    `files` are paths in `hub`, a repository of data sets such as `owner/name`, in which * and ? stand for
    what differs; or paths below `url`, an https address that ends in a slash and holds `{revision}` where the
    commit belongs. They get the same paths in the folder. `revision` is a commit hash; without one the user
    names a revision. `sha256` holds the hashes that the publisher states. `terms` are what the publisher asks
    of whoever uses the files. `by_hand` says what a person does: instead, where no address is given, or
    after.

    Raises `ValueError` for a declaration that no file could be fetched by.
    """

    hub: str = ""
    url: str = ""
    files: tuple[str, ...] = ()
    revision: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)
    terms: str = ""
    by_hand: str = ""

    def __post_init__(self) -> None:
        if self.hub and self.url:
            raise ValueError("a download has a repository of the hub or a url, not both")
        if bool(self.address) != bool(self.files) or not (self.address or self.by_hand):
            raise ValueError("a download needs an address and files, or by_hand")
        self._check_hashes()
        if self.url:
            self._check_url()

    def _check_hashes(self) -> None:
        if self.revision and not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            raise ValueError(f"{self.revision!r} is no commit hash of 40 digits: branches and tags move")
        if not all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in self.sha256.values()):
            raise ValueError("sha256 holds no hash of 64 digits")

    def _check_url(self) -> None:
        if not re.fullmatch(r"https://[^/@\s]+/(?:[^\s]*/)?", self.url):
            raise ValueError(f"{self.url!r} is no https address that ends in a slash")
        if any(re.search(r"[*?\[]", name) for name in self.files):
            raise ValueError("files below a url are named whole: only a repository can be searched")

    @property
    def address(self) -> str:
        """Where the files lie: the repository, or the url."""
        return self.hub or self.url
