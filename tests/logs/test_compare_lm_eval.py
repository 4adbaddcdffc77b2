"""Two logs of lm-eval compared: the numbers of the page, by the formula of lm-eval and by ours."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
import scipy.stats

import vivavoce as viva

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "compare-lm-eval.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs that the page writes, and the run of them."""
    folder = tmp_path_factory.mktemp("page")
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(block, str(PAGE), "exec"), {})
    viva.open(folder / "drugs.viva").import_logs(folder / "out")
    return folder


def marks(folder: Path, model: str) -> dict[str, float]:
    """lm-eval's scores of a model by item, as they came into the run."""
    scores = viva.open(folder / "drugs.viva").scores
    rows = scores.filter((scores["candidate"] == model) & (scores["metric"] == "lm_eval.acc"))
    return dict(rows.select("item", "value").iter_rows())


def row_of(pair: str) -> list[str]:
    """The cells of the page's row about a pair."""
    (line,) = re.findall(rf"^\| {pair} \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


@pytest.mark.parametrize("model", ["tuned", "other"])
def test_the_pages_numbers_are_those_of_both_tests(folder: Path, model: str) -> None:
    from lm_eval.api.metrics import mean, mean_stderr

    a, b = marks(folder, model), marks(folder, "base")
    assert 400 == len(a) == len(a.keys() & b.keys())
    values = [(list(marks.values())) for marks in (a, b)]
    # lm-eval's scripts/model_comparator.py: the difference over the root of both squared errors.
    z = (mean(values[0]) - mean(values[1])) / math.hypot(*map(mean_stderr, values))
    p = 2 * scipy.stats.norm.sf(abs(z))
    differences = [a[item] - b[item] for item in a]
    paired = scipy.stats.ttest_1samp(differences, 0)
    (row,) = viva.open(folder / "drugs.viva").compare(model, "base", metric="lm_eval.acc").rows
    assert row["p"] == pytest.approx(paired.pvalue, rel=0.05)
    low, high = paired.confidence_interval()
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.001)
    assert (differences.count(1), differences.count(-1)) == (row["wins"], row["losses"])
    assert [
        f"{row['difference']:.3f}",
        f"z {z:.2f}, p {p:.3f}",
        f"p {row['p']:.3f}, interval {row['low']:.3f} to {row['high']:.3f}",
        f"{row['wins']}, {row['losses']}",
    ] == row_of(f"{model} - base")


def test_the_tests_disagree_in_both_directions(folder: Path) -> None:
    """Pairing finds what the unpaired test misses, and does not find what it claims."""
    run = viva.open(folder / "drugs.viva")
    codes: dict[str, Any] = {
        model: run.compare(model, "base", metric="lm_eval.acc").rows[0]["verdict_code"]
        for model in ("tuned", "other")
    }
    assert {"tuned": "better", "other": "cannot_tell"} == codes
    unpaired = {model: float(row_of(f"{model} - base")[1].rpartition(" ")[2]) for model in codes}
    assert unpaired["other"] < 0.05 < unpaired["tuned"]
