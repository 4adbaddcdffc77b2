"""What to do about a failed call, by its cause as the run stores it."""

import re

_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"refuses the key",
        "Set the environment variable of its key again, or ask the provider for access to this model.",
    ),
    (r"no such model or path", "Check the model's name, and base_url in the --providers file."),
    (r"sends us elsewhere", "Put the address that the endpoint redirects to into base_url."),
    (r"no credit left", "Add credit to the account, then rerun the command."),
    (
        r"no safe connection",
        "Install the authority that signed its certificate, or use http:// for a server on this machine.",
    ),
    (r"no host .* can be found|cannot be found any more", "Check base_url and the network."),
    (
        r"answered in place of",
        "If it is the same model, list its name under accept in a --providers file.",
    ),
    (r"cannot be reached|the proxy did not connect", "Start the server, or check base_url and the network."),
    (r"longer than the model's context", "Leave such questions out, or ask a model with a longer context."),
    (r"without a text", "Ask for answers in words, or ask a model that writes them."),
    (r"content filter", "The provider withholds it; ask another one if the text may go there."),
    (
        r"no answer within|no reply came in time|--timeout-total",
        "Lower concurrency, or raise timeout in a --providers file and --timeout-total.",
    ),
    (
        r"is malformed|no JSON object|answer is empty|has no (?:message|choices|text|content)|no echo|"
        r"gives no (?:likelihood|probabilit)|echoes no",
        "Check that base_url and kind in the --providers file fit this server.",
    ),
    (
        r"HTTP (?:424|429|498|503|529)|[Rr]ate.?limit|overload",
        "Lower concurrency, or set requests_per_minute in a --providers file.",
    ),
    (
        r"HTTP 5\d\d|HTTP 40[89]|HTTP 425|connection broke|ended the reply by|inside HTTP 200",
        "Rerun the command; if it fails again, the trouble is the endpoint's.",
    ),
    (r"HTTP \d\d\d", "Change what the endpoint complains of: a setting, or the question itself."),
    (r"raised \w+:", "Mend the function or plugin, then rerun the command."),
)
_OTHERWISE = "Rerun the command: what failed is asked again."
_PATTERNS = tuple((re.compile(pattern), sentence) for pattern, sentence in _ADVICE)


def advice(cause: str) -> str:
    """One sentence on what to do about a call that failed for this cause."""
    return next((sentence for pattern, sentence in _PATTERNS if pattern.search(cause)), _OTHERWISE)
