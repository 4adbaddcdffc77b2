"""What a call of a probe keeps of its reply, and the reply as it was."""

import json
from typing import Any

from vivavoce.models import Drawn, Likelihood, Reply

__all__ = ["kept", "reply_of"]

_PLAIN = ("finish_reason", "model", "truncated", "tokeniser")


def kept(reply: Reply) -> str:
    """What a probe may need of a reply, as JSON: how it was drawn, in tokens, and the likelihoods."""
    told: dict[str, Any] = {name: value for name in _PLAIN if (value := getattr(reply, name))}
    if reply.spaced is not None:
        told["spaced"] = reply.spaced
    if reply.drawn:
        told["drawn"] = [one._asdict() for one in reply.drawn]
    if reply.likelihoods:
        told["likelihoods"] = reply.likelihoods
    return json.dumps(told, ensure_ascii=False)


def reply_of(text: str) -> Reply:
    """The reply of which `kept` made this."""
    told = json.loads(text)
    drawn = tuple(
        Drawn(**one | {name: tuple(one[name]) for name in ("ids", "pieces", "logprobs")})
        for one in told.get("drawn", ())
    )
    return Reply(
        text=drawn[0].text if drawn else "",
        drawn=drawn,
        likelihoods=tuple(Likelihood(*one) for one in told.get("likelihoods", ())),
        **{name: told[name] for name in (*_PLAIN, "spaced") if name in told},
    )
