"""The kinds of controls, and the edits they are stored under."""

from vivavoce.variants.control_kinds import KINDS, control_edit, control_kind


def test_an_edit_tells_its_kind_whatever_the_draw():
    for name in KINDS:
        assert name == control_kind(control_edit(name)) == control_kind(control_edit(name, 3))
    assert control_kind("rephrase:1") is None
