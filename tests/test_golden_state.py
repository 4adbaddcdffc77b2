"""The short form of the golden state: what a fixed set of commands prints is what it printed before."""

import json

from tests.tools.loading import tool

golden = tool("golden_state")


def test_readmes_commands_and_a_collection_print_what_they_printed(viva, tmp_path, monkeypatch):
    """`make golden REV=COMMIT` shows what differs; for a reason: python tools/golden_state.py digests."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(golden.ROOT / "examples")
    work = golden.Tree(golden.ROOT, tmp_path)
    digests = {}
    for name, words in golden.short_commands().items():
        digests[name] = golden.digest(work.record(golden.Printed(0, viva(*words).stdout)))
    assert json.loads(golden.DIGESTS.read_text(encoding="utf-8")) == digests


def test_a_digest_reads_values_and_neither_times_nor_versions_nor_last_bits(tmp_path):
    work = golden.Tree(golden.ROOT, tmp_path)
    row = {"mean": 0.1 + 0.2, "text": f"3 s; vivavoce {work.version} in {tmp_path}/x.viva", "seconds": 5}
    same = {"mean": 0.3, "text": "4 s; vivavoce … in …/x.viva", "seconds": 6}
    digests = [golden.digest(work.stable(value)) for value in (row, same, same | {"mean": 0.31})]
    assert digests[0] == digests[1] != digests[2]
