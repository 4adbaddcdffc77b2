"""What is registered of a kind is imported by the index, and the rest of its room is not."""

import json
import subprocess
import sys

from vivavoce.core import registry

SCRIPT = """
import json, sys
from vivavoce.run.exchange.log_readers import reader_entries
names = [entry.name for entry in reader_entries()]
print(json.dumps([names, sorted(sys.modules)]))
"""


def test_readers_of_logs_are_found_without_the_rest_of_their_room() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    ).stdout
    names, modules = json.loads(printed)
    assert names == [entry.name for entry in registry.entries("log_reader")], "the index has them all"
    assert "vivavoce.run.exchange.exports" not in modules
    assert "vivavoce.run.people.annotate" not in modules
