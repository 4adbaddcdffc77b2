"""The golden state: every `--json` of a set of commands, one file each, to compare two versions byte by byte.

    make golden REV=HEAD~3                             # the working tree against this commit
    python tools/golden_state.py write FOLDER          # README's commands, the demo, both reproductions
    python tools/golden_state.py compare BEFORE AFTER  # the files that differ, with the first difference
    python tools/golden_state.py digests               # the short form, for tests/test_golden_state.py

`write` runs the commands in an empty folder; those that need the shared data are left out where it is absent.
Seconds, dates and versions are left out: they differ between two runs of one version.
"""

import argparse
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

csv.field_size_limit(1 << 30)  # a response may be long
ROOT = Path(__file__).resolve().parents[1]
DEMO_EXAM = "jsonl(path=examples/demo/exam.jsonl)"
BRIEF = "rouge(n=1)"
DIGESTS = ROOT / "tests" / "golden_digests.json"
UNSTABLE = {"seconds", "created", "at", "made", "made_at", "vivavoce", "wall_s", "started", "ended"}
"""Keys whose values differ between two runs of one version."""

SAMPLE_METRICS = [
    *("accuracy", "list_f1", "exact", "token_f1", "rouge(n=L)", "bleu", "chrf", "meteor", "step_accuracy"),
    "planted",
]
STUDIES = [
    *("agreement", "bias", "consistency", "contamination", "correlation", "examiners", "gaps", "overall"),
    *("panel", "positions", "ranking", "rubrics", "size"),
]


def commands(shared: Path) -> dict[str, list[str]]:
    """The commands in their order, by the name of the file that keeps what they print."""
    hiv, clin = shared / "data" / "hivmedqa", shared / "data" / "cliniqlink"
    hivmedqa = f"hivmedqa(data='{hiv}')"
    careful, hasty = "Model A (made up)", "Model B (made up)"
    steps: dict[str, list[str]] = {
        "readme_import": ["import", "exam.viva", "examples/demo/answers.jsonl", "--benchmark", DEMO_EXAM],
        "readme_score": ["score", "exam.viva", "accuracy", "list_f1", "exact"],
        "readme_compare": ["compare", "exam.viva", careful, hasty, "--metric", "accuracy"],
        "readme_status": ["status", "exam.viva"],
        "readme_study": ["study", "exam.viva"],
        "readme_report": ["report", "exam.viva"],
        "demo": ["demo", "--to", "demo"],
        "demo_score": ["score", "demo/demo.viva", *SAMPLE_METRICS],
        "demo_views": [
            *("score", "demo/demo.viva", "token_f1", "bleu", "--worst-at", "3", "--tail", "0.1"),
            *("--veto", "token_f1 < 0.2"),
        ],
        "demo_compare": [
            "compare",
            "demo/demo.viva",
            "Model A (made up)",
            "Model B (made up)",
            "Model C (made up)",
            "--metric",
            "accuracy",
            "--margin",
            "0.05",
        ],
        "demo_compare_bleu": [
            "compare",
            "demo/demo.viva",
            "Model A (made up)",
            "Model C (made up)",
            "--metric",
            "bleu",
            "--population",
            "fixed",
        ],
        "demo_study": ["study", "demo/demo.viva"],
        **{f"demo_study_{name}": ["study", "demo/demo.viva", name] for name in STUDIES},
        "demo_diff": ["diff", "demo/demo.viva", "token_f1", "rouge(n=L)"],
        "demo_status": ["status", "demo/demo.viva"],
        "demo_report": ["report", "demo/demo.viva", "--to", "demo/again.html"],
        "baseline_collect": [
            "collect",
            "ward.viva",
            "sample",
            "--model",
            "baseline/random",
            "--model",
            "baseline/reference",
            "--offline",
        ],
        "baseline_score": ["score", "ward.viva", *SAMPLE_METRICS],
        "baseline_compare": [
            "compare",
            "ward.viva",
            "baseline/random",
            "baseline/reference",
            "--metric",
            "accuracy",
        ],
        "baseline_study": ["study", "ward.viva"],
        "baseline_status": ["status", "ward.viva"],
        "vary_bias": ["vary", "ward.viva", "bias(type=recency, seed=1)", "--items", "sample"],
        "hiv_import": [
            "import",
            "hiv.viva",
            str(hiv / "responses.jsonl"),
            "--benchmark",
            hivmedqa,
            *("--map", "item=question_id", "--map", "repeat=iteration", "--map", "text=answer"),
            *("--map", "candidate=model", "--role", "Rephrased Gold Answers=ceiling"),
        ],
        "hiv_score": ["score", "hiv.viva", BRIEF, "rouge(n=L)", "token_f1"],
        "hiv_judged": [
            "import",
            "hiv.viva",
            str(hiv / "judge_scores.csv"),
            "--scores",
            "--measure",
            "judge(model=gemini-2.5-pro, rubric=medgpt)",
            "--map",
            "item=question_id",
            "--map",
            "repeat=iteration",
            "--map",
            "candidate=model",
        ],
        "hiv_compare": ["compare", "hiv.viva", "Gemini 2.5 Pro", "Llama 3.1-8B-Instruct", "--metric", BRIEF],
        "hiv_compare_paper": [
            "compare",
            "hiv.viva",
            "Gemini 2.5 Pro",
            "Claude 3.5 Sonnet",
            "--metric",
            BRIEF,
            "--margin",
            "0.05",
            "--items",
            f"hivmedqa(data='{hiv}', subset=paper)",
        ],
        "hiv_study": ["study", "hiv.viva"],
        **{f"hiv_study_{name}": ["study", "hiv.viva", name] for name in STUDIES},
        "hiv_status": ["status", "hiv.viva"],
        "hiv_report": ["report", "hiv.viva"],
        "reproduce_hivmedqa": ["reproduce", "hivmedqa", "--data", str(hiv)],
        "reproduce_cliniqlink": ["reproduce", "cliniqlink", "--data", str(clin)],
        "clin_questions": ["challenge", "questions", f"cliniqlink(data='{clin}')", "--to", "kit"],
        "list_metrics": ["list", "metrics"],
        "list_benchmarks": ["list", "benchmarks"],
        "list_formats": ["list", "formats"],
        "list_rubrics": ["list", "rubrics"],
        "list_variations": ["list", "variations"],
        "show_rouge": ["show", "rouge"],
        "show_medsynf1": ["show", "medsynf1"],
        "show_cliniqlink": ["show", "cliniqlink"],
        "show_hivmedqa": ["show", "hivmedqa"],
        "show_medgpt": ["show", "medgpt"],
    }
    return steps


TABLES = ("exam.viva", "demo/demo.viva", "ward.viva", "hiv.viva")


SHORT = ("readme_", "baseline_", "vary_")
"""How the names of the short form's commands begin: they need no data, and eight seconds."""


class Printed(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    error: str = ""


class Tree(NamedTuple):
    """A working tree whose commands are run, and the empty folder in which they run."""

    root: Path
    folder: Path

    def run(self, *words: str) -> Printed:
        """Run `viva` of this tree, whichever one is installed."""
        done = subprocess.run(
            [sys.executable, "-m", "vivavoce", *words],
            cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(self.root / "src")},
        )  # fmt: skip
        return Printed(done.returncode, done.stdout, done.stderr)

    def record(self, printed: Printed) -> Any:
        """What is compared of a command: its exit code and what it printed, or else its error."""
        return self.stable([printed.code, loads(printed.out) or printed.error])

    def stable(self, value: Any) -> Any:
        """The value without what differs between two runs of one version, or between two places."""
        if isinstance(value, dict):
            return {key: self.stable(v) for key, v in value.items() if key not in UNSTABLE}
        if isinstance(value, list):
            return [self.stable(v) for v in value]
        if isinstance(value, str):
            for text in (self.folder, Path(sys.prefix), self.root, self.version):
                value = value.replace(str(text), "…")
            return re.sub(r"\b\d+ s;|\d{4}-\d\d-\d\d[T ]?[\d:.]*Z?|in \d+(\.\d+)? s\b", "…", value)
        return value

    @property
    def version(self) -> str:
        """The version of this tree."""
        text = (self.root / "src" / "vivavoce" / "_version.py").read_text(encoding="utf-8")
        return text.split('__version__ = "')[1].split('"')[0]


@contextmanager
def tree(root: Path = ROOT) -> Iterator[Tree]:
    """A tree with an empty folder to run its commands in."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(root / "examples")
        yield Tree(root, Path(folder))


def write(folder: Path, shared: Path, root: Path = ROOT) -> None:
    """Run the commands and write what each printed."""
    folder.mkdir(parents=True, exist_ok=True)
    has_data = (shared / "data").is_dir()
    if not has_data:
        print(f"no data at {shared}: the commands that need it are left out")
    with tree(root) as work:
        for name, words in commands(shared).items():
            if not has_data and name.startswith(("hiv", "clin", "reproduce")):
                continue
            printed = work.run(*words, "--json")
            text = json.dumps(work.record(printed), indent=1, ensure_ascii=False, sort_keys=True)
            (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
            print(
                f"{printed.code} {name}", printed.error.strip()[-150:] if printed.code > 1 else "", flush=True
            )
        for run in TABLES:
            tables = work.folder / f"{run.replace('/', '_')}.tables"
            work.run("export", run, str(tables), "--to", "csv", "--quiet")
            for table in sorted(tables.glob("*.csv")):
                lines = "\n".join(sorted(table_lines(table)))
                name = f"table_{tables.stem}_{table.stem}.txt"
                (folder / name).write_text(lines + "\n", encoding="utf-8")


def table_lines(table: Path) -> Iterator[str]:
    """The rows of an exported table, without what differs between two runs of one version."""
    with table.open(encoding="utf-8-sig", newline="") as stream:
        for row in csv.DictReader(stream):
            stable = {key: value for key, value in row.items() if key not in UNSTABLE}
            yield json.dumps(stable, ensure_ascii=False, sort_keys=True)


def loads(text: str) -> Any:
    """What a command printed, as JSON, or as it is where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def short_commands() -> dict[str, list[str]]:
    """The commands of the short form, by name."""
    chosen = commands(Path("shared"))
    return {name: [*words, "--json"] for name, words in chosen.items() if name.startswith(SHORT)}


def digest(record: Any) -> str:
    """A digest of what a command printed, its numbers to nine digits: the last bits are the machine's."""
    text = json.dumps(_rounded(record), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return f"{value:.9g}" if isinstance(value, float) else value


def write_digests() -> None:
    """Write the digests that the gate holds the short form to."""
    with tree() as work:
        digests = {name: digest(work.record(work.run(*words))) for name, words in short_commands().items()}
    DIGESTS.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")


def against(revision: str, shared: Path) -> int:
    """Compare what the working tree prints with what a commit printed; the number of files that differ."""
    with tempfile.TemporaryDirectory() as folder:
        before, after, root = (Path(folder) / name for name in ("before", "after", "tree"))
        git = ("git", "-C", str(ROOT), "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", str(root), revision], check=True)
        try:
            write(before, shared, root)
        finally:
            subprocess.run([*git, "remove", "--force", str(root)], check=True)
        write(after, shared)
        return compare(before, after)


def compare(before: Path, after: Path) -> int:
    """Print each file that differs, with its first difference; the number of them."""
    names = sorted({p.name for p in before.iterdir()} | {p.name for p in after.iterdir()})
    different = 0
    for name in names:
        one, two = before / name, after / name
        if not (one.exists() and two.exists()):
            different += 1
            print(f"{name}: only {'before' if one.exists() else 'after'}")
        elif one.read_bytes() != two.read_bytes():
            different += 1
            old, new = (p.read_text(encoding="utf-8").splitlines() for p in (one, two))
            n = next(
                (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
            )
            first = " | ".join(lines[n][:160] if n < len(lines) else "(end)" for lines in (old, new))
            print(f"{name}: line {n + 1}: {first}")
    print(f"{len(names) - different} of {len(names)} files are equal")
    return different


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--shared", type=Path, default=Path(os.environ.get("VIVA_SHARED", ROOT.parent / "shared"))
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("write").add_argument("folder", type=Path)
    verbs.add_parser("against").add_argument("revision")
    verbs.add_parser("digests")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    shared = options.shared.resolve()
    if options.verb == "write":
        write(options.folder, shared)
    elif options.verb == "digests":
        write_digests()
    elif options.verb == "against":
        sys.exit(1 if against(options.revision, shared) else 0)
    else:
        sys.exit(1 if compare(options.before, options.after) else 0)


if __name__ == "__main__":
    main()
