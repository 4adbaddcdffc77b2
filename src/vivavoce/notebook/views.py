"""All views of records: importing this module registers them (`vivavoce.core.display`)."""

from vivavoce.notebook import drawings, finding_view, interactive, record_views

__all__ = ["drawings", "finding_view", "interactive", "record_views"]
