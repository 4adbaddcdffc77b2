"""CPU seconds of the tests by folder, child processes included, as a plugin of pytest.

    make test ARGS="-p tools.test_cpu --test-cpu cpu.jsonl"  # a line per test
    python tools/test_cpu.py cpu.jsonl                       # a table by folder of tests, as Markdown
    python tools/test_cpu.py cpu.jsonl --most 30             # the most expensive tests

A child process counts when the test has waited for it. Collection and imports of a worker belong to no test.
"""

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest


def _cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the file that gets the figures."""
    parser.addoption("--test-cpu", metavar="FILE", help="append the CPU seconds of each test to FILE")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count one test with its fixtures."""
    start = _cpu_s()
    yield
    if file := item.config.getoption("--test-cpu"):
        line = json.dumps({"test": item.nodeid, "cpu_s": round(_cpu_s() - start, 4)})
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(line + "\n")


def _folder(test: str) -> str:
    parts = test.split("::")[0].split("/")
    return parts[1] if len(parts) > 2 else "tests/*.py"


def table(lines: list[dict[str, float]]) -> str:
    """Tests and CPU seconds by folder of tests, the most expensive first."""
    cpu_s: dict[str, float] = defaultdict(float)
    n: Counter[str] = Counter()
    for line in lines:
        cpu_s[_folder(str(line["test"]))] += line["cpu_s"]
        n[_folder(str(line["test"]))] += 1
    rows = [f"| {name} | {n[name]:,} | {cpu_s[name]:,.0f} |" for name in sorted(n, key=lambda f: -cpu_s[f])]
    total = f"| all | {sum(n.values()):,} | {sum(cpu_s.values()):,.0f} |"
    return "\n".join(["| tests | cases | CPU s |", "|---|--:|--:|", *rows, total])


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--most", type=int, metavar="N", help="list the N most expensive tests instead")
    options = parser.parse_args()
    lines = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    if options.most:
        for line in sorted(lines, key=lambda row: -row["cpu_s"])[: options.most]:
            print(f"{line['cpu_s']:8.2f}  {line['test']}")
    else:
        print(table(lines))


if __name__ == "__main__":
    main()
