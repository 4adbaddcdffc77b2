"""The golden state: every `--json` of a set of commands, one file each, to compare two versions byte by byte.

    python tools/golden_state.py write FOLDER [--shared ../shared]
    python tools/golden_state.py compare BEFORE AFTER

`write` runs README's commands, the demo, a collection from baselines, both reproductions and HIVMedQA's
compare,
study and score in an empty folder, and writes what each printed to FOLDER. Seconds, dates and versions are
left out: they tell two runs of one version apart. `compare` lists the files that differ, with the first
difference.
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

csv.field_size_limit(1 << 30)  # a response may be long
ROOT = Path(__file__).resolve().parents[1]
DEMO_EXAM = "jsonl(path=examples/demo/exam.jsonl)"
BRIEF = "rouge(n=1)"
UNSTABLE = {"seconds", "created", "at", "made", "made_at", "vivavoce", "wall_s", "started", "ended"}
"""Keys whose values differ between two runs of one version."""

SAMPLE_METRICS = [
    *("accuracy", "list_f1", "exact", "token_f1", "rouge(n=L)", "bleu", "chrf", "meteor", "step_accuracy"),
    *("planted", "conflict"),
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
        "baseline_diff": ["diff", "ward.viva", "token_f1", "rouge(n=L)"],
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
        "show_providers": ["show", "providers"],
        "list_variations": ["list", "variations"],
        "show_rouge": ["show", "rouge"],
        "show_medsynf1": ["show", "medsynf1"],
        "show_cliniqlink": ["show", "cliniqlink"],
        "show_hivmedqa": ["show", "hivmedqa"],
        "show_medgpt": ["show", "medgpt"],
    }
    return steps


TABLES = ("exam.viva", "demo/demo.viva", "ward.viva", "hiv.viva")


def write(folder: Path, shared: Path) -> None:
    """Run the commands and write what each printed."""
    folder.mkdir(parents=True, exist_ok=True)
    viva = Path(sys.executable).with_name("viva")
    place = Path(tempfile.gettempdir()) / "golden-state"  # paths stand in what is printed: always one place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    try:
        (place / "examples").symlink_to(ROOT / "examples")
        for name, words in commands(shared).items():
            done = subprocess.run(
                [str(viva), *words, "--json"], cwd=place, capture_output=True, text=True, env=dict(os.environ)
            )
            text = json.dumps(stable(loads(done.stdout)), indent=1, ensure_ascii=False, sort_keys=True)
            (folder / f"{name}.json").write_text(f"{done.returncode}\n{text}\n", encoding="utf-8")
            print(
                f"{done.returncode} {name}",
                done.stderr.strip()[-150:] if done.returncode > 1 else "",
                flush=True,
            )
        for run in TABLES:
            to = place / f"{run.replace('/', '_')}.tables"
            subprocess.run([str(viva), "export", run, str(to), "--to", "csv", "--quiet"], cwd=place)
            for table in sorted(to.glob("*.csv")):
                with table.open(encoding="utf-8-sig", newline="") as stream:
                    rows = [
                        {k: v for k, v in row.items() if k not in UNSTABLE} for row in csv.DictReader(stream)
                    ]
                text = "\n".join(sorted(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows))
                (folder / f"table_{to.stem}_{table.stem}.txt").write_text(text + "\n", encoding="utf-8")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def loads(text: str) -> Any:
    """What a command printed, as JSON, or as it is where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def stable(value: Any) -> Any:
    """The value without what differs between two runs of one version."""
    if isinstance(value, dict):
        return {key: stable(v) for key, v in value.items() if key not in UNSTABLE}
    if isinstance(value, list):
        return [stable(v) for v in value]
    if isinstance(value, str):
        value = value.replace(str(Path(sys.prefix)), "…").replace(str(ROOT), "…")
        return re.sub(r"\b\d+ s;|\d{4}-\d\d-\d\d[T ]?[\d:.]*Z?|in \d+(\.\d+)? s\b", "…", value)
    return value


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
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write")
    writing.add_argument("folder", type=Path)
    writing.add_argument(
        "--shared", type=Path, default=Path(os.environ.get("VIVA_SHARED", ROOT.parent / "shared"))
    )
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.verb == "write":
        write(options.folder, options.shared.resolve())
    else:
        sys.exit(1 if compare(options.before, options.after) else 0)


if __name__ == "__main__":
    main()
