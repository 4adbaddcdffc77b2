"""The GPUs that a user names: `--gpus 0,1,2,3` runs a local model in one process for each of them."""

import re
from collections.abc import Iterable, Sequence
from typing import NoReturn

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

Gpus = str | Sequence[int] | None
"""Numbers of GPUs as they are typed, `0,1`, or as a list; null for none named."""


def parse_gpus(gpus: Gpus) -> tuple[int, ...]:
    """The numbers of GPUs in their order; empty where none is named. Raises `InputError`."""
    if gpus is None:
        return ()
    words = map(str, gpus) if isinstance(gpus, list | tuple | range) else str(gpus).split(",")
    numbers = [word.strip() for word in words]
    if not numbers or not all(re.fullmatch(r"[0-9]{1,3}", word) for word in numbers):
        raise InputError(
            f"--gpus {one_line(str(gpus), 40)}: write the numbers of GPUs with commas between them, such as "
            "0,1,2,3."
        )
    parsed = tuple(map(int, numbers))
    if repeated := [number for number in parsed if parsed.count(number) > 1]:
        raise InputError(f"--gpus {gpus_text(parsed)} names GPU {repeated[0]} twice: name each once.")
    return parsed


def gpus_text(gpus: Iterable[int]) -> str:
    """The numbers as they are typed."""
    return ",".join(map(str, gpus))


def refuse_without_local(gpus: Sequence[int], names: Sequence[str]) -> NoReturn:
    """Raise `InputError`, since none of these models runs on GPUs of this machine."""
    subject = f"{names[0]} is no" if len(names) == 1 else f"none of {', '.join(names) or 'the models'} is a"
    raise InputError(
        f"--gpus {gpus_text(gpus)}: {subject} local model (hf/…), and only those run on these GPUs: leave "
        "--gpus out."
    )
