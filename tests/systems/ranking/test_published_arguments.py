"""The published arguments of CasiMedicos before the lexical evaluator: what words alone can tell."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import vivavoce as viva

ARGUMENTS = ("gpt4o", "gold", "openbiollm", "llama3")
CONTROLS = ("no_argument", "noise", "label_only", "ir_passages")


@pytest.fixture(scope="module")
def scores(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Right or wrong of all sources and of controls of their answers, by a trained lexical evaluator."""
    folder, data = tmp_path_factory.mktemp("arguments"), shared / "data" / "casimedicos"
    benchmark = f"casimedicos(data={data})"
    viva.train(benchmark, arguments="mixture", to=folder / "evaluators", encoder="lexical")
    run = viva.open(folder / "r.viva")
    run.import_answers(data / "tests", benchmark=benchmark)
    run.vary("control(kind=label)", "control(kind=none)", "control(kind=noise)")
    run.score(f"lexical(weights={folder}/evaluators/mixture-1/lexical.json)")
    leaks = {item for item, leak in run.items.select("item", "meta").iter_rows() if leak and '"leak"' in leak}
    assert 13 == len(leaks)
    rows = run.scores.filter(pl.col("criterion") == "right")
    return rows.with_columns(leaked=pl.col("item").is_in(leaks))


def means(scores: pl.DataFrame) -> Mapping[str, float]:
    rows = scores.filter((pl.col("edit") == "") & (pl.col("status") == "ok"))
    return dict(rows.group_by("candidate").agg(pl.col("value").mean()).iter_rows())


@pytest.mark.parametrize("dropped", [(), (True,)], ids=["all items", "without leaked items"])
def test_the_four_sources_stand_above_the_four_controls(scores: pl.DataFrame, dropped: tuple[bool, ...]):
    mean = means(scores.filter(~pl.col("leaked").is_in(dropped)))
    assert min(mean[name] for name in ARGUMENTS) > max(mean[name] for name in CONTROLS) + 0.2
    assert ARGUMENTS == tuple(sorted(ARGUMENTS, key=mean.__getitem__, reverse=True))


def test_the_text_of_an_option_decides_whatever_its_number_says(scores: pl.DataFrame):
    of_edit = dict(scores.group_by("edit").agg(pl.col("value").mean()).iter_rows())
    assert of_edit["control:label_text_right"] > 0.98
    assert 0 == of_edit["control:label_text_wrong"]
    # a number is a place, and no evaluator that scores one option at a time sees places
    blind = (of_edit[f"control:label_number_{side}"] for side in ("right", "wrong"))
    assert all(abs(value - of_edit["control:none"]) < 0.05 for value in blind)


def test_the_published_label_control_is_blind(scores: pl.DataFrame):
    mean = means(scores.filter(~pl.col("leaked")))
    assert abs(mean["label_only"] - mean["no_argument"]) < 0.07
