"""`--preset published` asks the closed sets as published, and a local model scores their options."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.benchmarks.health.closed_layouts import (
    careqa_row,
    medmcqa_row,
    medqa_hub_row,
    mmlu_row,
    prescription_row,
    pubmedqa_entry,
    write_csv,
    write_json,
    write_json_lines,
    write_parquet,
)
from tests.lengths import length
from tests.models.local.tiny import tiny  # noqa: F401

import vivavoce as viva
from vivavoce.benchmarks import load
from vivavoce.core.text import label
from vivavoce.formats import read_response
from vivavoce.run.collect.plan import plan_collect

HUB = "data/{}-00000-of-00001.parquet"
SPECIALTIES = [f" Specialty {k:02}" for k in range(40)]


@pytest.fixture
def suite(tmp_path: Path) -> dict[str, str]:
    """The spec of each closed set by name; of the transcriptions, of 40 specialties, one is very long."""
    data = tmp_path / "data"
    write_parquet(data / "medmcqa" / HUB.format("validation"), [medmcqa_row(base=0)])
    write_json_lines(data / "medqa/test.json", [medqa_hub_row()])
    write_json(data / "pubmedqa/ori_pqal.json", {"11": pubmedqa_entry()})
    write_json(data / "pubmedqa/test_ground_truth.json", {"11": "no"})
    write_parquet(data / "mmlu/college_medicine/test-00000-of-00001.parquet", [mmlu_row()])
    write_json(data / "careqa/CareQA_en.json", [careqa_row()])
    write_json(data / "careqa/CareQA_es.json", [careqa_row(question="¿Qué antídoto…?")])
    write_csv(
        data / "abstracts/medical_tc_labels.csv",
        [["condition_label", "condition_name"], [1, "neoplasms"], [2, "digestive system diseases"]],
    )
    write_csv(
        data / "abstracts/medical_tc_test.csv", [["condition_label", "medical_abstract"], [2, "An ulcer."]]
    )
    header = ["", "description", "medical_specialty", "sample_name", "transcription", "keywords"]
    reports = [
        [k, "", name, "", f"Report {k}. " + "A stone. " * (40 if k else 1000), ""]
        for k, name in enumerate(SPECIALTIES)
    ]
    write_csv(data / "transcriptions/mtsamples.csv", [header, *reports])
    write_parquet(data / "prescription" / HUB.format("train"), [prescription_row(k) for k in range(4)])
    return {
        "medmcqa": f"medmcqa(data={data}/medmcqa)",
        "medqa": f"medqa(data={data}/medqa)",
        "pubmedqa": f"pubmedqa(data={data}/pubmedqa)",
        "mmlu": f"mmlu(data={data}/mmlu, subject=college_medicine)",
        "careqa": f"careqa(data={data}/careqa)",
        "careqa_es": f"careqa(data={data}/careqa, language=es)",
        "prescription": f"prescription(data={data}/prescription)",
        "prescription_hard": f"prescription(data={data}/prescription, level=hard)",
        "medical_abstracts": f"medical_abstracts(data={data}/abstracts)",
        "medical_transcriptions": f"medical_transcriptions(data={data}/transcriptions)",
    }


PUBLISHED = {
    "medmcqa": "Question: Which vitamin prevents scurvy? (1)\nChoices:\nA. Vitamin A\nB. Vitamin C\n"
    "C. Vitamin D\nD. Vitamin K\nAnswer:",
    "medqa": "Question: Patient 1 takes warfarin and bleeds. Which drug reverses it?\nA. Protamine\n"
    "B. Naloxone\nC. Vitamin K\nD. Flumazenil\nAnswer:",
    "pubmedqa": "Abstract: Made up: 40 wards drew lots.\nThe rates were 3.1 and 3.0.\n"
    "Question: Does a poster on hand hygiene lower the rate of infections?\nAnswer:",
    "mmlu": 'A multiple choice question on college medicine, with its answer.\n\nWhich bone of the arm, "the '
    'upper", is the longest? (1)\nA. Radius\nB. Ulna, the\nC. Humerus\nD. Scaphoid\nAnswer:',
    "careqa_es": "Question: ¿Qué antídoto…?\nChoices:\nA. Naloxone.\nB. Atropine.\nC. Acetylcysteine.\n"
    "D. Flumazenil.\nAnswer:",
    "medical_abstracts": "Which group of conditions is this medical text about?\nText: An ulcer.\nChoices:\n"
    "A. neoplasms\nB. digestive system diseases\nAnswer:",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_preset_asks_in_the_published_layout(suite: dict[str, str], name: str) -> None:
    plan = plan_collect(suite[name], ["hf/model"], preset="published")
    (candidate,) = plan.candidates
    (message,) = plan.requests.messages(plan.items[0], candidate.settings)
    assert ("user", PUBLISHED[name]) == (message.role, message.content)
    sampling = candidate.sampling
    assert (0, 256, ("\n\n",)) == (sampling.temperature, sampling.max_tokens, sampling.stop)
    assert False is candidate.options["chat_template"]


def test_forty_options_have_letters_behind_z(suite: dict[str, str]) -> None:
    plan = plan_collect(suite["medical_transcriptions"], ["hf/model"], preset="published")
    (message,) = plan.requests.messages(plan.items[0], plan.candidates[0].settings)
    assert message.content.endswith("\nAM. Specialty 38\nAN. Specialty 39\nAnswer:")


@pytest.mark.parametrize("reply", ["{label}", "{label}. {text}", "{text}", "Answer: ({label})", "**{text}**"])
def test_each_of_forty_options_is_read(suite: dict[str, str], reply: str) -> None:
    item = load(suite["medical_transcriptions"]).items[0]
    for k, text in enumerate(item.options):
        assert text == read_response(item, reply.format(label=label(k), text=text)).parsed


def test_a_local_model_scores_the_options_of_every_closed_set(
    tiny: Path,  # noqa: F811
    suite: dict[str, str],
    tmp_path: Path,
) -> None:
    run = viva.open(tmp_path / "run.viva")
    metrics = ["options", "options(of=text)"]
    model = f"hf/{tiny}(context={length(1024, 2048)}, truncate=left)"
    # Of forty items of forty options the gate asks three: the very long one is among them.
    forty: dict[str, Any] = length({"sample": 3, "draw": 11}, {})
    for name, spec in suite.items():
        collected = run.collect(
            spec, models=[model], preset="published", for_=metrics,
            **(forty if name == "medical_transcriptions" else {}),
        )  # fmt: skip
        assert ("2 questions were cut to fit" in str(collected)) == (name == "medical_transcriptions")
    run.score(*metrics)
    scores = run.scores.filter(pl.col("criterion") == "accuracy")
    assert {"ok"} == set(scores["status"])
    assert {0.0, 1.0} >= set(scores["value"])
    assert set(suite) == set(scores["benchmark"])
    assert length(3, 40) == scores.filter(metric="options", benchmark="medical_transcriptions").height
