"""From the demo's answers over a fake rephraser to the rows, the figure and the sentence of resilience."""

import json
import re
from pathlib import Path

from vivavoce.models.engine.client import ModelClient
from vivavoce.run.run import open_run
from vivavoce.run.vary.vary import vary

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"


def test_two_rephrasers_of_the_demos_answers_have_rows_a_figure_and_a_sentence(tmp_path, model):
    """One repeats the answer with a word before it, the other with more: token F1 falls by both."""

    def reworded(prompt, arrival):
        text = re.search(r"<text>\n(.*)\n</text>", prompt, re.DOTALL)[1]
        return json.dumps({"text": f"{'truly ' * (1 + (arrival - 1) % 4)}{text}"})

    model(reworded)
    run = open_run(tmp_path / "demo.viva")
    run.import_answers(DEMO / "answers.jsonl", benchmark=f"jsonl(path='{DEMO / 'exam.jsonl'}')")
    for spec in ("rephrase(k=2, model=vllm/m)", "rephrase(k=2, model=vllm/n, label=second)"):
        vary(run.file, [spec], desk=ModelClient(run.file))
    before = run.score("token_f1").rows
    finding = run.study("resilience")["resilience"]
    whole = {r["edits"]: r for r in finding.rows if not r["candidate"] and not r["edit"]}
    assert {"rephrase": "vllm/m", "rephrase@second": "vllm/n"} == {
        k: r["rephraser"] for k, r in whole.items()
    }
    assert all(r["s2_rephrase"] > 0 and r["mean_shift"] < 0 for r in whole.values())
    assert "by vllm/m of" in finding.text
    assert "by vllm/n of" in finding.text
    assert any(svg.startswith("<svg") for svg in finding.plot().svgs)
    assert before == run.score("token_f1").rows, "no estimate reads the wordings"
