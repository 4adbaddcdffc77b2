"""The name under which a model replied: whether it is the requested one, and how it is shown."""

import re
from collections.abc import Mapping, Sequence

from vivavoce.core.text import one_line, printable
from vivavoce.models.cards import normal_label, without_quantisation
from vivavoce.models.requests import RetryableError

_VERSION = re.compile(r"[-@:_]?(?:latest|v?\d{3,8}|20\d\d-\d\d-\d\d)(?:[-:]v\d+(?::\d)?)?")
_VARIANT = re.compile(r"(?:[-:]latest|:free|:nitro|:floor|:online|:exacto)$")
_FOLDERS = re.compile(r"[\\/]")
_FILE = re.compile(r"(?P<stem>.+?)(?:-\d{5}-of-\d{5})?\.gguf", re.IGNORECASE | re.DOTALL)
_PLACE = re.compile(r"[\\/~]|\.\.?[\\/]|[A-Za-z]:[\\/]")
_PATH_OF_FILE = re.compile(
    r"(?:[A-Za-z]:)?[\\/](?:[^\\/'\"\n<>|:]{0,200}[\\/]){1,40}([^\\/'\"\s]{1,200}\.(?:gguf|safetensors|bin)\b)",
    re.IGNORECASE,
)


def same_model(requested: str, replied: str) -> bool:
    """True if `replied` is `requested`, or a dated or numbered version of it; another size or purpose is not.

    Folders before the name (`openai/gpt-4o`) and case do not matter. A server that names its file, such as
    `/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf`, has the model of that name; how it is quantised matters only
    where the requested name says it.
    """
    requested, replied = (_last_part(name).lower() for name in (requested, replied))
    base = _VARIANT.sub("", requested)
    if replied in (requested, base):
        return True
    if file := _FILE.fullmatch(replied):
        return _is_of_file(requested, file["stem"])
    return (
        replied.startswith(base)
        and replied[len(base)] in "-@:_"
        and bool(_VERSION.fullmatch(replied[len(base) :]))
    )


def _is_of_file(requested: str, stem: str) -> bool:
    """Whether a name means the model in a file: with its quantisation as the file's name, else without."""
    own_file = _FILE.fullmatch(requested)
    name = normal_label((own_file["stem"] if own_file else requested).replace(":", "-"))
    plain, file = name.replace("-gguf", ""), normal_label(stem).replace("-gguf", "")
    return plain in (file, without_quantisation(file))


def check_same_model(
    requested: str, replied: str, accept: Mapping[str, Sequence[str]], entry: str | None = None
) -> None:
    """Raise `RetryableError` where another model than the requested one replied.

    `accept` lists the names that a model may answer under, by `entry`, its name there; "*" is any name.
    """
    aliases = (*accept.get(entry or requested, ()), *accept.get("*", ()))
    if "*" not in aliases and not any(same_model(name, replied) for name in (requested, *aliases)):
        raise RetryableError(
            f"{one_line(printable(shown_model(replied)), 80)!r} answered in place of {requested!r}; if that "
            "is the same, list it under accept in a --providers file",
            lasting=True,
        )


def shown_model(replied: str) -> str:
    """The name without the folders of the server's machine; of a repository (`org/model`) it is unchanged."""
    if _PLACE.match(replied) or (_FOLDERS.search(replied) and _FILE.fullmatch(replied)):
        return _last_part(replied) or replied
    return replied


def without_folders(text: str) -> str:
    """A text with files of weights named without the folders they lie in."""
    return _PATH_OF_FILE.sub(r"\1", text)


def _last_part(name: str) -> str:
    return _FOLDERS.split(name.rstrip("\\/"))[-1]
