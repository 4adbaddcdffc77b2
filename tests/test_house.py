"""Counts of the house hold to ceilings, and a ceiling may only fall.

`python tools/counts.py --pin` prints the ceilings at the counts of today.
"""

import ast
import gc
import json

import pytest
from tests.finished_runs import finished_run
from tests.tools.loading import tool

counts = tool("counts")

PARTICLES: dict[str, int] = {
    "cli": 3,
    "core": 1,
    "formats": 9,
    "logprobs": 1,
    "run": 3,
    "studies": 11,
    "testing": 3,
}
"""Names such as `found` by room; a room that is not here has none."""
FUNCTION_WORDS: dict[str, int] = {
    "benchmarks": 42,
    "cli": 50,
    "core": 34,
    "embeddings": 9,
    "evaluators": 11,
    "facts": 22,
    "formats": 11,
    "judging": 11,
    "language": 6,
    "logprobs": 17,
    "metrics": 37,
    "models": 52,
    "notebook": 6,
    "people": 8,
    "privacy": 10,
    "reading": 19,
    "report": 42,
    "retrieval": 6,
    "run": 303,
    "stats": 48,
    "store": 8,
    "studies": 226,
    "systems": 94,
    "testing": 6,
    "variants": 22,
}
"""Names such as `where` by room."""
IN_TESTS: dict[str, int] = {
    ".": 61,
    "benchmarks": 75,
    "building": 32,
    "cli": 108,
    "contrib": 12,
    "core": 70,
    "doors": 10,
    "embeddings": 16,
    "evaluators": 26,
    "facts": 22,
    "first_hour": 2,
    "formats": 19,
    "judging": 168,
    "language": 16,
    "logprobs": 214,
    "logs": 12,
    "metrics": 116,
    "models": 419,
    "notebook": 11,
    "people": 203,
    "privacy": 44,
    "reading": 12,
    "report": 189,
    "retrieval": 13,
    "run": 520,
    "soak": 106,
    "stats": 414,
    "store": 163,
    "studies": 1101,
    "systems": 377,
    "testing": 2,
    "variants": 180,
    "web": 41,
}
"""Names of both kinds by folder of tests; '.' are the files in no folder."""
LINES: dict[str, int] = {
    "__init__": 116,
    "__main__": 5,
    "_version": 3,
    "benchmarks": 5136,
    "cli": 6922,
    "contrib": 467,
    "core": 6904,
    "embeddings": 800,
    "evaluators": 744,
    "facts": 2708,
    "formats": 2123,
    "judging": 1626,
    "language": 2033,
    "logprobs": 1896,
    "metrics": 4511,
    "models": 10146,
    "notebook": 812,
    "people": 6006,
    "pipeline": 26,
    "privacy": 623,
    "reading": 8394,
    "report": 8880,
    "retrieval": 1692,
    "run": 33705,
    "stats": 12426,
    "store": 9787,
    "studies": 25337,
    "systems": 16056,
    "testing": 921,
    "variants": 2297,
    "web": 2023,
}
"""Lines by room. One rises only in a commit that adds a capability, and that commit says so."""
MODULES, COMPLEX = 1_076, 178
COMMENTED = ("reading", "formats", "studies", "stats")
"""Rooms of dense code, where reasons stand in comments: 1.5 % of the lines at least."""
SHOW = "python tools/counts.py --names ROOM shows where they are"


def write_counts(folder):
    """The counts of all modules and tests, which take seconds: once for all workers."""
    gc.disable()  # a syntax tree holds no circle, and a worker many objects to look through
    try:
        rooms = {name: room._asdict() for name, room in counts.rooms().items()}
        tests = {folder: sum(names) for folder, names in counts.names_in_tests().items()}
    finally:
        gc.enable()
    (folder / "counts.json").write_text(json.dumps([rooms, tests]))


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    finished_run(folder, write_counts)
    return json.loads((folder / "counts.json").read_text())


@pytest.fixture(scope="module")
def rooms(counted):
    return {name: counts.Room(**room) for name, room in counted[0].items()}


def test_particles_as_names_only_become_fewer(rooms):
    assert {} == {
        name: room.particles for name, room in rooms.items() if room.particles > PARTICLES.get(name, 0)
    }, SHOW


def test_function_words_as_names_only_become_fewer(rooms):
    assert {} == {
        name: room.function_words
        for name, room in rooms.items()
        if room.function_words > FUNCTION_WORDS.get(name, 0)
    }, SHOW


def test_all_ceilings_of_names_together_stay_under_the_promised_number():
    assert sum(PARTICLES.values()) <= 33
    assert sum(FUNCTION_WORDS.values()) <= 1_200


def test_names_in_tests_that_say_nothing_only_become_fewer(counted):
    names = counted[1]
    assert {} == {folder: n for folder, n in names.items() if n > IN_TESTS.get(folder, 0)}, SHOW


def test_no_module_function_or_class_bears_a_particle_as_its_name():
    bare = [
        f"{name}:{binding.line} {binding.name}"
        for name, path in counts.modules().items()
        for binding in counts.of_words(counts.file(path).empty, counts.PARTICLES)
        if binding.level == "module"
    ]
    assert [] == bare


def test_no_room_grows_unless_a_capability_is_added(rooms):
    assert {} == {name: room.lines for name, room in rooms.items() if room.lines > LINES.get(name, 0)}
    assert sum(room.modules for room in rooms.values()) <= MODULES


def test_complex_functions_only_become_fewer(rooms):
    assert sum(room.complex for room in rooms.values()) <= COMPLEX


def test_dense_rooms_give_their_reasons(rooms):
    assert [] == [name for name in COMMENTED if rooms[name].comments < 0.015 * rooms[name].lines]


def test_a_name_says_nothing_by_its_word_alone_wherever_it_is_bound():
    code = "found = 1\ndef _at(others): return [who for who in (before := others)]\nclass Where: of_x = 1"
    names = [*counts.bindings(ast.parse(code))]
    assert ["found"] == [b.name for b in counts.of_words(names, counts.PARTICLES)]
    words = counts.of_words(names, counts.FUNCTION_WORDS)
    assert ["_at", "before", "others", "who"] == sorted(binding.name for binding in words)


def test_a_hash_in_a_text_and_a_directive_are_no_comments():
    code = r"""
# a reason
x = "# no" + 'it\'s # no'  # a reason; "
y = r"\\" + f"{x:#x}"  # noqa: F401
z = (
    '''"
# no \''' # no
'''  # a 'reason'
)
"""
    assert 3 == counts.comment_lines(code)


def test_adjectives_and_numerals_are_names():
    assert frozenset() == counts.FUNCTION_WORDS & {"first", "last", "few", "same", "most", "least", "earlier"}
