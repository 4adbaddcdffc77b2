"""An item, and rubrics written to a file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from vivavoce.core.records import Item, Unit
from vivavoce.judging.loading import load
from vivavoce.judging.rubric import Rubric

MARK = """---
name: mine
version: 2
source: our own
kind: mark
reference: false
criteria:
  - name: harm
    ask: Is it safe?
    scale: [0, 5]
---
{{ question }}
{{ answer }}
{{ criteria }}
{{ form }}
"""


@pytest.fixture
def item() -> Item:
    """An item with everything that a rubric may show."""
    return Item(
        benchmark="b",
        item="i1",
        format="longform",
        question="When is CD4 <200 an alarm?",
        references=("When it is < 200 & falls.",),
        rubric=(
            Unit(unit="p1", text="Names the limit.", weight=5.0),
            Unit(unit="p2", text="Leaves out prophylaxis.", weight=-3.0),
        ),
    )


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Rubric]:
    """A rubric of the text above after some replacements, each of which must hit."""

    def write(*changes: tuple[str, str], text: str = MARK) -> Rubric:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "mine.md").write_text(text, encoding="utf-8")
        return load(str(tmp_path / "mine.md"))

    return write
