"""The portal over one panel of a run."""

from pathlib import Path

from vivavoce.people.panels import Panel
from vivavoce.store.runfile import RunFile
from vivavoce.web.access.access import Access
from vivavoce.web.access.exposure import Exposure
from vivavoce.web.access.sign_in import PAGES as SIGN_IN_PAGES
from vivavoce.web.access.sign_in import sign_in_routes
from vivavoce.web.annotate.desk import Desk
from vivavoce.web.annotate.organiser import organiser_routes
from vivavoce.web.annotate.rating import rating_routes
from vivavoce.web.guard import Guard
from vivavoce.web.shell import create_app

PAGES = Path(__file__).parent / "page"


def annotate_app(run: RunFile, panel: Panel, access: Access | None = None) -> Guard:
    """The pages of a panel's raters and of its organiser, for people with a link (`store.sign_in_links`)."""
    access = access or Access(run, Exposure())
    return create_app(
        [*sign_in_routes(), *rating_routes(), *organiser_routes()],
        folders=[PAGES, SIGN_IN_PAGES],
        names=access.exposure.names,
        values={"panel_name": panel.key.panel},
        state={"access": access, "desk": Desk(run, panel), "hidden_path": run.path},
    )
