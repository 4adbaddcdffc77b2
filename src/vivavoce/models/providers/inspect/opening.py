"""A provider of Inspect, made ready: quietly, and without what Inspect would do around it."""

import io
import logging
import sys
import warnings
from contextlib import redirect_stdout
from typing import Any

from vivavoce.core.errors import VivaError
from vivavoce.core.extras import require_extras
from vivavoce.models.providers.inspect.faults import egress_error, plain_text
from vivavoce.models.requests import FatalError


def open_api(model: str, *, base_url: str | None, key: str | None, connections: int) -> Any:
    """Inspect's provider of a model `PROVIDER/MODEL`; `key` and `base_url` are its own where they are null.

    Raises `ExtraError` where Inspect is not installed, `FatalError` for what Inspect raises: an unknown
    provider, a package or a key that is missing.
    """
    require_extras({"inspect_ai": "inspect"}, f"inspect/{model}")
    try:
        api = _quiet_api(model, base_url, key, connections)
    except VivaError:
        raise
    except Exception as error:
        fault = egress_error(error) or FatalError(
            f"Inspect cannot reach {model}: {plain_text(error, None).rstrip('.')}."
        )
    else:
        _leave_retries_to_us(api)
        _refuse_redirects(api)
        _count_locally(api)
        return api
    raise fault  # out here, because Inspect's own error may hold the key


def _quiet_api(model: str, base_url: str | None, key: str | None, connections: int) -> Any:
    from inspect_ai.model import GenerateConfig, get_model

    logger, hook = logging.getLogger("inspect_ai"), sys.excepthook
    if not logger.handlers:  # a warning of Inspect's would otherwise go to stderr
        logger.addHandler(logging.NullHandler())
    # Clients of the providers warn so where a reply is not of the form that they know.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    try:
        with redirect_stdout(io.StringIO()):  # it greets with the names of its hooks
            config = GenerateConfig(max_connections=connections)
            return get_model(model, config=config, base_url=base_url, api_key=key, memoize=False).api
    finally:
        sys.excepthook = hook  # Inspect puts its own there


def _leave_retries_to_us(api: Any) -> None:
    """Switch off the retries of the provider's own client, so that an attempt is one request."""
    client: Any = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):  # the clients of OpenAI's and Anthropic's kind
        client.max_retries = 0
    outer: Any = getattr(api, "session", None)
    session: Any = getattr(outer, "_session", outer)
    if hasattr(session, "set_config_variable"):  # botocore's
        session.set_config_variable("max_attempts", 1)


def _refuse_redirects(api: Any) -> None:
    """Let no redirect carry the question to a host that was not named."""
    clients: tuple[Any, ...] = (
        getattr(getattr(api, "client", None), "_client", None),
        getattr(api, "http_client", None),
    )
    for client in clients:
        if isinstance(getattr(client, "follow_redirects", None), bool):  # httpx's
            client.follow_redirects = False


def _count_locally(api: Any) -> None:
    """Let texts be counted without tiktoken, which would download a vocabulary; nothing of it is reported."""

    async def count(text: str) -> int:
        return len(text)

    api.count_text_tokens = count


def base_url_of(api: Any) -> str:
    """The URL that a provider's client sends to; '' where it does not say."""
    client = getattr(api, "client", None)
    return str(getattr(client, "base_url", None) or getattr(api, "base_url", None) or "")
