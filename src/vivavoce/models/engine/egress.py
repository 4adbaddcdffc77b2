"""What may be sent to which host: registered items where their terms allow it, and no patient data."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, get_args

from vivavoce.core.errors import EgressError
from vivavoce.core.net import is_local, is_offline, permit
from vivavoce.core.records import Item
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.requests import Model
from vivavoce.privacy import preflight, suspects, warning
from vivavoce.privacy.patterns import Kind


class Privacy(NamedTuple):
    """What may leave this machine: nothing (`offline`), items that look like patient data (`allow_phi`), and
    to which hosts those of a credentialed benchmark (`allow`).
    """

    offline: bool = False
    allow_phi: bool = False
    allow: tuple[str, ...] = ()


def destination(who: CandidateConfig, model: Model) -> str | None:
    """The host away from this machine that would see what is sent; a function may send it anywhere."""
    if who.spec.name == "callable":
        return "callable"
    return model.place if model.place and not is_local(model.place) else None


def refuse_strangers(spec: str, places: Sequence[str], allow: Sequence[str]) -> None:
    """Raise `EgressError` if items of a credentialed benchmark would go to a host that was not named."""
    allowed = {host.strip().lower() for host in allow}
    stray = [host for host in places if host.lower() not in allowed]
    if stray:
        raise EgressError(
            f"{spec} is credentialed: its items go only to endpoints that you name. If the "
            f"terms you signed permit it, say --allow {stray[0]}. Nothing was sent."
        )


def refuse_text(what: str, texts: Iterable[str], place: str) -> None:
    """Raise `EgressError` if one of these texts looks like patient data."""
    kinds_found = {s.kind for text in texts for s in suspects(text)}
    if kinds_found:
        kinds = ", ".join(kind for kind in get_args(Kind) if kind in kinds_found)
        raise EgressError(
            f"{what} looks as if it held patient data ({kinds}). Nothing was sent to {place}. Look at it; if "
            "it may leave this machine, say --allow-phi."
        )


def refuse_patients(items: Sequence[Item], places: Sequence[str]) -> None:
    """Raise `EgressError` if some items look like patient data."""
    flagged = preflight(items)
    if flagged:
        raise EgressError(warning(flagged, len(items), ", ".join(places)))


def guard(
    privacy: Privacy,
    *,
    items: Sequence[Item],
    texts: Callable[[], Iterable[str]],
    credentialed: Sequence[str],
    what: str = "one of the answers",
) -> Callable[[CandidateConfig, Model], None]:
    """The check before a model's first request: may these items and `texts` go to its host?

    `credentialed` are the specs of benchmarks among them whose terms restrict who may see them. The texts are
    read once, when the first remote model is asked; `what` names one of them.
    """
    screen = place_guard(privacy, items=items, texts=texts, credentialed=credentialed, what=what)

    def check(who: CandidateConfig, model: Model) -> None:
        if model.place:
            permit(model.place)
        if place := destination(who, model):
            screen(place, not is_offline())

    return check


def place_guard(
    privacy: Privacy,
    *,
    items: Sequence[Item],
    texts: Callable[[], Iterable[str]],
    credentialed: Sequence[str],
    what: str = "one of the answers",
) -> Callable[[str, bool], None]:
    """The check of a host away from this machine: may it see these items and `texts`?

    It looks for patient data where it is told to, and where those may not leave, until none were found.
    """
    screened = False

    def check(place: str, patients: bool) -> None:
        nonlocal screened
        for spec in credentialed:
            refuse_strangers(spec, [place], privacy.allow)
        if patients and not (privacy.allow_phi or screened):
            refuse_patients(items, [place])
            refuse_text(what, texts(), place)
            screened = True

    return check


def worker_guard(
    privacy: Privacy,
    *,
    items: Sequence[Item],
    texts: Callable[[], Iterable[str]],
    credentialed: Sequence[str],
) -> Callable[[str], None]:
    """The check of a host away from this machine whose workers would compute; offline it has to be named."""
    screen = place_guard(privacy, items=items, texts=texts, credentialed=credentialed)
    allowed = {host.strip().lower() for host in privacy.allow}

    def check(place: str) -> None:
        if (privacy.offline or is_offline()) and place.lower() not in allowed:
            raise EgressError(
                f"offline: workers at {place!r} are not on this machine, so nothing was sent. Say --allow "
                f"{place} if they may see the answers, or use workers of this machine."
            )
        screen(place, True)

    return check
