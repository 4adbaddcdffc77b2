"""How many files this process may have open: each worker costs some, and systems allow 1,024 at first."""

import os

from vivavoce.core.errors import InputError

_OWN = 64
"""Files that this process opens besides: the run, the sources, the standard streams."""


def allow_open_files(n_more: int) -> None:
    """Let this process open so many files more, by raising its limit as far as the system lets it.

    Raises `InputError` where that is not enough. Windows has no such limit.
    """
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _OWN + n_more
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise InputError(
            f"so many workers need {needed:,} open files, and this process may open {hard:,} at most: state "
            "fewer with --workers, or raise the limit (`ulimit -n`)."
        )
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (OSError, ValueError) as error:
        raise InputError(
            f"so many workers need {needed:,} open files, and the limit is {soft:,} ({error}): state fewer "
            "with --workers."
        ) from None
