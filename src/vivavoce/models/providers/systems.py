"""Whole systems as candidates: a Python function, your own HTTP endpoint, or recorded responses."""

import asyncio
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from vivavoce.core import registry
from vivavoce.core.endings import meaning_of
from vivavoce.core.errors import VivaError
from vivavoce.core.json_text import read_json
from vivavoce.core.text import one_line
from vivavoce.models.charges import charged
from vivavoce.models.content import citations_of, finish_reason
from vivavoce.models.endpoints import key_values, refuse_key_in_url, scrubbed
from vivavoce.models.http_client import HTTPClient, without_surrogates
from vivavoce.models.providers import Provider
from vivavoce.models.requests import FatalError, Model, RejectedError, Reply, Request, RetryableError, Usage


class SystemModel:
    """A system, which returns responses and no probabilities."""

    name: str

    async def loglikelihood(self, request: Request) -> Reply:
        """Not offered."""
        raise FatalError(
            f"{self.name} gives no probabilities: a system only answers, so leave it out where they are "
            "asked."
        )

    async def close(self) -> None:
        """Nothing to close."""


class FunctionModel(SystemModel):
    """`callable(path=module:function)`: called with the messages as dicts of role and content.

    It returns the response's text, or a mapping with `text` and optionally `reasoning` and `citations`; it
    may be a coroutine. A plain function runs in a thread. The module may lie in the working directory.
    """

    endpoint, place = "callable", ""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        module, colon, function = path.partition(":")
        if not colon or not module or not function:
            raise FatalError(f"callable(path={path}): write path=module:function.")
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        try:
            self._call: Callable[..., Any] = getattr(importlib.import_module(module), function)
        except AttributeError:
            raise FatalError(f"callable(path={path}): the module {module} has no {function!r}.") from None
        except (Exception, SystemExit) as error:  # third-party code
            raise FatalError(
                f"callable(path={path}): the module cannot be imported "
                f"({type(error).__name__}: {one_line(scrubbed(str(error)), 160)})."
            ) from error
        if not callable(self._call):
            raise FatalError(f"callable(path={path}): {function!r} is no function.")

    async def generate(self, request: Request) -> Reply:
        """One call of the function; an exception counts as a failed attempt and is retried."""
        messages = [m._asdict() for m in request.messages]
        try:
            if inspect.iscoroutinefunction(self._call):
                result = await self._call(messages)
            else:
                result = await asyncio.to_thread(self._call, messages)
        except VivaError as error:
            error.args = (scrubbed(str(error)),)
            raise
        except (Exception, SystemExit) as error:  # third-party code
            raise RetryableError(
                f"the function raised {type(error).__name__}: {one_line(scrubbed(str(error)), 160)}"
            ) from error
        return _reply(result, self.name)


class HTTPSystem(SystemModel):
    """`http(url=…)`: any endpoint that takes `{"messages": […]}` and returns an object with `text`.

    `answer` also counts as `text`; `reasoning` and `citations` are kept.
    """

    def __init__(self, name: str, url: str, *, timeout: float = 300.0) -> None:
        self.name = name
        refuse_key_in_url(url)
        self.client = HTTPClient(url, {}, timeout=timeout, secrets=key_values())
        self.endpoint, self.place = self.client.endpoint, self.client.host

    async def generate(self, request: Request) -> Reply:
        """One exchange."""
        return _reply(
            await self.client.post("", {"messages": [m._asdict() for m in request.messages]}), self.name
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()


class ReplayModel(SystemModel):
    """`replay(path=answers.jsonl)`: responses by question, from a file of `prompt` and `text`.

    Useful for a rehearsal: everything runs as with a real endpoint, and no model is asked.
    """

    endpoint, place = "replay", ""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._texts: dict[str, str] = {}
        number = 0
        try:
            for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):  # noqa: B007
                if line.strip():
                    row = read_json(line)
                    if not isinstance(row["prompt"], str) or not isinstance(row["text"], str):
                        raise TypeError
                    self._texts[row["prompt"]] = _clean(row["text"])
        except (OSError, UnicodeError) as error:
            raise FatalError(f"cannot read the recorded answers of {path}: {scrubbed(str(error))}.") from None
        except (ValueError, TypeError, KeyError):
            raise FatalError(
                f"{path}, line {number}: an object with the texts prompt and text is needed."
            ) from None

    async def generate(self, request: Request) -> Reply:
        """The recorded response to the last message; `RejectedError` where there is none."""
        question = request.messages[-1].content
        if question not in self._texts:
            raise RejectedError("the recording has no answer to this question", of_question=True)
        return Reply(text=self._texts[question], finish_reason="stop", usage=Usage(0, 0))


def _reply(result: Any, name: str) -> Reply:
    with charged():
        return _read_reply(result, name)


def _read_reply(result: Any, name: str) -> Reply:
    if isinstance(result, str):
        return Reply(text=_clean(result), finish_reason="stop")
    if isinstance(result, Mapping):
        text = result.get("text", result.get("answer"))
        reasoning, citations = result.get("reasoning"), result.get("citations") or ()
        finish_reason(result)  # raises where the system says that it failed
        if isinstance(text, str):
            return Reply(
                text=_clean(text),
                reasoning=_clean(reasoning) if isinstance(reasoning, str) else None,
                finish_reason=_finish_reason(result.get("finish_reason")),
                citations=citations_of(_jsonable(citations)),
            )
    raise RetryableError(f"{name} answered without a text: {one_line(scrubbed(repr(result)), 80)}")


def _finish_reason(reason: Any) -> str:
    """Why a response ended, in a word we know, because free text from an endpoint must not be stored."""
    if not reason:
        return "stop"
    return (meaning_of(reason) if isinstance(reason, str) else None) or "other"


def _clean(value: Any) -> Any:
    """As a file can hold it, and without keys."""
    value = without_surrogates(value)
    if isinstance(value, str):
        return scrubbed(value, response=True)
    if isinstance(value, list):
        return [_clean(v) for v in value]
    if isinstance(value, dict):
        return {scrubbed(key, response=True): _clean(v) for key, v in value.items()}
    return value


def _jsonable(citations: Any) -> list[Any]:
    """Citations as a file can hold them: what JSON has no form for becomes its text."""
    listed = list(citations) if isinstance(citations, list | tuple) else [citations]
    try:
        cleaned: list[Any] = _clean(json.loads(json.dumps(listed, default=str)))
    except (TypeError, ValueError, RecursionError):
        cleaned = [without_surrogates(one_line(scrubbed(repr(listed)), 2000))]
    return cleaned


class SystemProvider(Provider):
    """A whole system, `NAME(setting=…)`: its setting says what it is."""

    configured: ClassVar[Literal["never", "optional", "required"]] = "never"
    takes_model: ClassVar[bool] = False


@registry.provider("callable")
class CallableProvider(SystemProvider):
    """A Python function: `callable(path=module:function)`."""

    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {"path": (str,)}
    required = ("path",)

    def connect(self) -> Model:
        """The function, imported."""
        return FunctionModel(self.name, str(self.options["path"]))


@registry.provider("http")
class HTTPSystemProvider(SystemProvider):
    """An HTTP endpoint of your own: `http(url=…)`."""

    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {"url": (str,)}
    required = ("url",)

    @classmethod
    def check(cls, model: str, options: Mapping[str, Any]) -> None:
        """Refuse a URL that holds a key."""
        refuse_key_in_url(str(options["url"]))

    def connect(self) -> Model:
        """A client of the URL."""
        return HTTPSystem(self.name, str(self.options["url"]))


@registry.provider("replay")
class ReplayProvider(SystemProvider):
    """Recorded responses: `replay(path=answers.jsonl)`."""

    price = (0.0, 0.0)
    host = ""
    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {"path": (str, int)}
    required = ("path",)

    def connect(self) -> Model:
        """The recording, read."""
        return ReplayModel(self.name, Path(str(self.options["path"])))
