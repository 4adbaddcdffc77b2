"""Providers: how models are reached. A provider is one registered class, and `--model NAME/MODEL` names it.

A simple provider is a `Provider` with `generate`, and `loglikelihood` where it has log-probabilities. It is
made once for each candidate. A provider that keeps connections or weights overrides `connect` and returns a
`Model` of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, dataclass_transform
from urllib.parse import urlsplit

from vivavoce.core.records import Role
from vivavoce.models.endpoints import EndpointConfig, Price
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import FatalError, Model, Reply, Request


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Provider:
    """A candidate's model at one provider. Subclass it, and register the class with `@provider("NAME")`.

    Register under a name without a slash. `--model NAME/MODEL(region=eu)` then makes `model='MODEL'` and
    `options={'region': 'eu'}`. The class variables are the provider's card: state those that differ.
    """

    price: ClassVar[Price | Mapping[str, Price] | None] = None
    """Cost of a million tokens, (input, output), or that by model; null where it is unknown."""
    limits: ClassVar[Limits] = Limits(concurrency=32)
    """Requests in flight at once, requests and tokens per minute, attempts for one request."""
    host: ClassVar[str | None] = None
    """Host that receives the text; '' where nothing leaves this process. Null counts as a remote host."""
    returns_logprobs: ClassVar[bool] = False
    """Whether `loglikelihood` works, so that metrics of log-likelihoods can be asked for."""
    branching: ClassVar[bool] = False
    """Whether a request may hold `branches`, several targets at once."""
    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {}
    """Settings of its own that a spec may hold beside those of every candidate, with the types each takes."""
    required: ClassVar[tuple[str, ...]] = ()
    """Settings that a spec must hold."""
    running: ClassVar[tuple[str, ...]] = ()
    """Settings that change how a model runs and results by rounding alone: no part of a candidate's name."""
    takes_gpus: ClassVar[bool] = False
    """Whether it runs on GPUs of this machine that `--gpus` names: `options["gpus"]` holds their numbers."""
    takes_model: ClassVar[bool] = True
    """Whether a spec names a model, `NAME/MODEL`; otherwise it is `NAME(setting=…)`."""
    takes_shared_settings: ClassVar[bool] = True
    """Whether settings for all candidates, such as `--temperature`, go to this provider's too."""
    configured: ClassVar[Literal["never", "optional", "required"]] = "optional"
    """Whether an entry of a providers file may, must or cannot say `kind: NAME`."""

    name: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    config: EndpointConfig | None = None

    @classmethod
    def check(cls, model: str, options: Mapping[str, Any]) -> None:
        """Raise a `VivaError` if this model or a required setting cannot be used. Sends nothing."""

    @classmethod
    def check_gpus(cls, gpus: Sequence[int]) -> None:
        """Raise `InputError` for a GPU that is not there, where it `takes_gpus`."""

    @classmethod
    def normalised(cls, model: str) -> str:
        """One spelling for a model that has several."""
        return model

    @classmethod
    def label(cls, model: str) -> str:
        """How a candidate's name shows the model: without the folders that a model lies in here."""
        return model

    @classmethod
    def role_of(cls, model: str) -> Role:
        """The part this model plays: a candidate, or a floor or ceiling to compare with."""
        return "candidate"

    @classmethod
    def price_of(cls, model: str) -> Price | None:
        """Cost of a million tokens of this model, (input, output); null where it is unknown."""
        return cls.price.get(model) if isinstance(cls.price, Mapping) else cls.price

    @property
    def endpoint(self) -> str:
        """What is shared with other models, and therefore limited together."""
        if self.config and self.config.base_url:
            return self.config.base_url
        return self.host or self.name.partition("/")[0]

    @property
    def place(self) -> str:
        """The host that receives the text, '' where nothing leaves this process."""
        if self.config and self.config.base_url:
            return urlsplit(self.config.base_url).hostname or self.endpoint
        # Where the class says nothing, its name stands for a remote host, so that checks of privacy apply.
        return self.endpoint if self.host is None else self.host

    def connect(self) -> Model:
        """The model, ready to be asked; called inside an event loop. Sends nothing."""
        return self

    async def generate(self, request: Request) -> Reply:
        """One attempt at a response. Raises `RetryableError`, `RejectedError` or `FatalError`."""
        raise NotImplementedError(f"the provider {type(self).__name__} has no generate()")

    async def loglikelihood(self, request: Request) -> Reply:
        """One attempt at the log-likelihood of `request.target`."""
        raise FatalError(
            f"{self.name}: this provider gives no probability of a given text; leave it out where "
            "probabilities are asked."
        )

    async def close(self) -> None:
        """Close connections."""
