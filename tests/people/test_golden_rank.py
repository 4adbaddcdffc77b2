"""The packets of ranks stay what they were: a rater who joins later gets what the others got."""

import hashlib
from pathlib import Path

from tests.people.raters import drawn, examined
from tests.people.test_packets import HOSTILE

from vivavoce.people.packets import write_packets

GOLDEN = {
    "anna.csv": "c3ef7183c18e081c6a163c90e8e204d8d67830d083286ddb8875e5aa380d02a2",
    "anna.html": "94f7b62e619b8da9f932b468c16801b71b479cc2e633cbbc5ecb3e8efc2d9cbd",
    "ben.csv": "4bb65b5dd8c9cde7a380f5c5ec896dcfacf9cd2db731c7f85500f69c575dfb93",
    "ben.html": "26d908123d27b477fb49b38ada096cf80ad354050d2e24ec3adfb71ce2d3e33a",
}
"""SHA-256 of packets that were written before there was a task to choose."""
KEY = "5c6100e476d24c6389ea08e5c266d6af5769be85b33c5a5b593beb5586fe83d5"


def test_a_packet_of_ranks_is_byte_for_byte_what_earlier_versions_wrote(tmp_path: Path) -> None:
    answers = {"Hostile": {"q01": HOSTILE, "q02": "=1+1"}}
    run = drawn(examined(tmp_path, 6, silent=["Poor q03"], answers=answers))
    done = write_packets(run.file, ["anna", "ben"], tmp_path / "out", n=4)
    assert "p2843bb90b" == done.panel
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert GOLDEN == {name: hashlib.sha256(content).hexdigest() for name, content in written.items()}


def test_the_key_in_the_run_is_byte_for_byte_what_earlier_versions_stored(tmp_path: Path) -> None:
    run = drawn(examined(tmp_path, 6, silent=["Poor q03"]))
    write_packets(run.file, ["anna", "ben"], tmp_path / "out", n=4)
    with run.file.reading() as db:
        [(body,)] = db.execute("SELECT body FROM events WHERE kind = 'panel made'")
    assert KEY == hashlib.sha256(body.encode()).hexdigest()
