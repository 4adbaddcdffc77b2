"""Replies of endpoints of the shared data, by name."""

import json
from pathlib import Path
from typing import Any


def case_of(shared: Path, name: str) -> dict[str, Any]:
    cases = json.loads((shared / "data/field/endpoints.json").read_text(encoding="utf-8"))["cases"]
    (case,) = [case for case in cases if case["id"] == name]
    return case


def chat_body(reply: dict[str, Any]) -> dict[str, Any]:
    """A case's reply as a chat completion: what is not stated is that of an answer that ended."""
    fields = dict(reply)
    usage, reason = fields.pop("usage", None), fields.pop("finish_reason", "stop")
    choice = {"message": {"role": "assistant", **fields}, "finish_reason": reason}
    return {"choices": [choice], **({"usage": usage} if usage else {})}
