"""A model with marks of thinking of its own: as a candidate and as a judge."""

import json

import pytest

import vivavoce as viva
from vivavoce.core.errors import SpecError

OPTIONS = ["Aspirin", "Heparin", "Warfarin"]
MODEL = "vllm/m(reasoning_marks=['«', '»'])"


def choice(k):
    return {"format": "mcq", "options": OPTIONS, "answer": "Heparin"}


def says(text):
    return {"model": "m", "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 3}}  # fmt: skip


@pytest.fixture
def server(fake, monkeypatch):
    def start(*texts):
        started = fake(*map(says, texts))
        monkeypatch.setenv("VLLM_BASE_URL", started.base_url)
        return started

    return start


def test_a_candidate_is_read_behind_its_own_thinking(exam, server, tmp_path):
    server("«The answer is A? No.»B")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1, change=choice), models=[MODEL])
    row = run.responses.row(0, named=True)
    assert ("«The answer is A? No.»B", "B", "complete") == (row["text"], row["final"], row["ending"])
    assert ["«", "»"] == json.loads(row["meta"])["reasoning_marks"]
    run.score("accuracy")
    assert [1.0] == run.scores["value"].to_list()


def test_marks_that_are_no_pair_are_refused_before_anything_is_asked(exam, server, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    with pytest.raises(SpecError, match="reasoning_marks takes the opening and the closing mark"):
        run.collect(exam(1, change=choice), models=["vllm/m(reasoning_marks=[a])"])
