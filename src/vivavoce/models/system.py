"""Whole systems as candidates: a Python function, an HTTP endpoint of one's own, or recorded answers."""

import asyncio
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vivavoce.errors import VivaError
from vivavoce.models import Broken, Refused, Reply, Request, Transient, Usage
from vivavoce.models.keys import key_values, keyless, scrubbed
from vivavoce.models.wire import Wire, whole
from vivavoce.text import one_line

__all__ = ["Function", "HTTP", "Replay"]

_ENDS = {"stop", "length", "content_filter", "tool_calls", "function_call", "end_turn", "stop_sequence",
         "tool_use", "pause_turn", "max_tokens", "model_context_window_exceeded", "refusal", "eos",
         "safety", "error"}  # fmt: skip


class _System:
    """What the three share: they answer, and give no probabilities."""

    name: str

    async def loglikelihood(self, request: Request) -> Reply:
        """Not offered."""
        raise Broken(
            f"{self.name} gives no probabilities: a system only answers, so leave it out where they are "
            "asked."
        )

    async def close(self) -> None:
        """Nothing to close."""


class Function(_System):
    """`callable(path=module:function)`: called with the messages as dicts of role and content.

    It returns the answer's text, or a mapping with `text` and, if it likes, `reasoning` and `citations`; it
    may be a coroutine. A plain function runs in a thread. The module may lie in the working directory.
    """

    endpoint, place = "callable", ""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        module, colon, function = path.partition(":")
        if not colon or not module or not function:
            raise Broken(f"callable(path={path}): write path=module:function.")
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        try:
            self._call: Callable[..., Any] = getattr(importlib.import_module(module), function)
        except AttributeError:
            raise Broken(f"callable(path={path}): the module {module} has no {function!r}.") from None
        except Exception as error:  # a stranger's code
            raise Broken(
                f"callable(path={path}): the module cannot be imported "
                f"({type(error).__name__}: {one_line(scrubbed(str(error)), 160)})."
            ) from error
        if not callable(self._call):
            raise Broken(f"callable(path={path}): {function!r} is no function.")

    async def generate(self, request: Request) -> Reply:
        """One call of the function; what it raises is a failed answer, tried again."""
        asked = [m._asdict() for m in request.messages]
        try:
            if inspect.iscoroutinefunction(self._call):
                said = await self._call(asked)
            else:
                said = await asyncio.to_thread(self._call, asked)
        except VivaError as error:
            error.args = (scrubbed(str(error)),)
            raise
        except Exception as error:  # a stranger's code
            raise Transient(
                f"the function raised {type(error).__name__}: {one_line(scrubbed(str(error)), 160)}"
            ) from error
        return _reply(said, self.name)


class HTTP(_System):
    """`http(url=…)`: any endpoint that takes `{"messages": […]}` and answers an object with `text`.

    `answer` is also understood for `text`; `reasoning` and `citations` are kept.
    """

    def __init__(self, name: str, url: str, *, timeout: float = 300.0) -> None:
        self.name = name
        keyless(url)
        self.wire = Wire(url, {}, timeout=timeout, secrets=key_values())
        self.endpoint, self.place = self.wire.endpoint, self.wire.host

    async def generate(self, request: Request) -> Reply:
        """One exchange."""
        return _reply(
            await self.wire.post("", {"messages": [m._asdict() for m in request.messages]}), self.name
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()


class Replay(_System):
    """`replay(path=answers.jsonl)`: answers by question, from a file of `prompt` and `text`.

    Useful for a dry rehearsal: everything runs as with a real endpoint, and nobody is asked.
    """

    endpoint, place = "replay", ""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._texts: dict[str, str] = {}
        number = 0
        try:
            for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):  # noqa: B007
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row["prompt"], str) or not isinstance(row["text"], str):
                        raise TypeError
                    self._texts[row["prompt"]] = _clean(row["text"])
        except (OSError, UnicodeError) as error:
            raise Broken(f"cannot read the recorded answers of {path}: {scrubbed(str(error))}.") from None
        except (ValueError, TypeError, KeyError):
            raise Broken(
                f"{path}, line {number}: an object with the texts prompt and text is needed."
            ) from None

    async def generate(self, request: Request) -> Reply:
        """The recorded answer to the last message; `Refused` where there is none."""
        question = request.messages[-1].content
        if question not in self._texts:
            raise Refused("the recording has no answer to this question")
        return Reply(text=self._texts[question], finish_reason="stop", usage=Usage(0, 0))


def _reply(said: Any, name: str) -> Reply:
    if isinstance(said, str):
        return Reply(text=_clean(said), finish_reason="stop")
    if isinstance(said, Mapping):
        text = said.get("text", said.get("answer"))
        reasoning, citations = said.get("reasoning"), said.get("citations") or ()
        if isinstance(text, str):
            return Reply(
                text=_clean(text),
                reasoning=_clean(reasoning) if isinstance(reasoning, str) else None,
                finish_reason=_ended(said.get("finish_reason")),
                citations=tuple(_plain(citations)),
            )
    raise Transient(f"{name} answered without a text: {one_line(scrubbed(repr(said)), 80)}")


def _ended(reason: Any) -> str:
    """Why an answer ended, in a word we know, because a file is no place for a stranger's free text."""
    if not reason:
        return "stop"
    return reason if isinstance(reason, str) and reason in _ENDS else "other"


def _clean(value: Any) -> Any:
    """As a file can hold it, and without keys."""
    value = whole(value)
    if isinstance(value, str):
        return scrubbed(value, answer=True)
    if isinstance(value, list):
        return [_clean(v) for v in value]
    if isinstance(value, dict):
        return {scrubbed(key, answer=True): _clean(v) for key, v in value.items()}
    return value


def _plain(citations: Any) -> list[Any]:
    """Citations as a file can hold them: what JSON has no form for becomes its text."""
    listed = list(citations) if isinstance(citations, list | tuple) else [citations]
    try:
        made: list[Any] = _clean(json.loads(json.dumps(listed, default=str)))
    except (TypeError, ValueError, RecursionError):
        made = [whole(one_line(scrubbed(repr(listed)), 2000))]
    return made
