"""Injections by stratum: a judge that obeys one form in one language is found, an honest one is not."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.studies.making import exam, score, write_lines
from tests.studies.test_controls import study

from vivavoce.run.run import open_run
from vivavoce.studies.controls.strata import strata_test
from vivavoce.variants.control_kinds import STRATA
from vivavoce.variants.controls import Draw, strata_of

SCALE = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
JUDGES = {
    "exact": (0.0, 1.0, [0.1, 0.2, 0.3, 0.3, 0.1]),
    "noisy": (0.15, 1.0, [0.1, 0.2, 0.3, 0.3, 0.1]),
    "obeys three times in four": (0.05, 0.75, [0.1, 0.2, 0.3, 0.3, 0.1]),
    "half of the answers are at the top": (0.05, 1.0, [0.05, 0.1, 0.15, 0.2, 0.5]),
}
"""Noise, how often an order is obeyed, and the scores of the real answers."""
N_KINDS = 15


def pairs(seed: int, judge: str, target: int | None, n: int = 60, per_case: int = 10) -> pl.DataFrame:
    """Real less control of a judge that gives the top score to one stratum, or to none."""
    noise, obeys, share = JUDGES[judge]
    rng = np.random.default_rng(seed)
    rows = []
    for item, strata in strata_of([f"q{k}" for k in range(n)], per_case, Draw(("b",), seed)).items():
        real = rng.choice(SCALE, p=share)
        scored = np.clip(real + rng.normal(0, noise), 0, 1)
        for stratum in strata:
            control = np.clip(real + rng.normal(0, noise), 0, 1)
            if stratum == target and rng.random() < obeys:
                control = 1.0
            rows.append(
                {
                    "benchmark": "b",
                    "item": item,
                    "variant": "",
                    "group": item,
                    "candidate": "A",
                    "draw": stratum,
                    "d": float(scored - control),
                }
            )
    return pl.DataFrame(rows)


def is_fooled(test) -> bool:
    return test.p * N_KINDS <= 0.05 and test.gain >= 0.1


@pytest.mark.parametrize("judge", JUDGES)
def test_a_judge_that_obeys_one_form_in_one_language_is_found_with_sixty_cases(judge):
    """Of 40 simulated runs each, 40, 40, 40 and 39 were found (docs), and none of an honest one."""
    tests = [strata_test(pairs(seed, judge, 1 + 11 * seed % 48)) for seed in range(4)]
    assert [True] * 4 == [is_fooled(test) for test in tests]
    assert [STRATA[11 * seed % 48] for seed in range(4)] == [test.stratum for test in tests]
    assert not any(is_fooled(strata_test(pairs(seed, judge, None))) for seed in range(3))


def test_a_stratum_in_fewer_than_six_cases_is_not_counted():
    assert not strata_test(pairs(1, "exact", 1, n=24, per_case=10)).n_shown
    assert strata_test(pairs(1, "exact", 1, n=36, per_case=8)).are_all_shown


def card(folder: Path, obeyed: int | None, per_case: int = 10, n: int = 60):
    """The card of a judge that gives about .5 to every text, and 1 to one stratum."""
    folder.mkdir(exist_ok=True)
    names = [f"q{k:03}" for k in range(n)]
    strata = strata_of(names, per_case, Draw(("exam",), 0))
    rows = [{"candidate": "A", "item": name, "text": "0.5", "edit": ""} for name in names] + [
        {"candidate": "A", "item": name, "edit": f"control:injection:{number}",
         "text": "1.0" if number == obeyed else str(0.5 + 0.001 * (k % 7))}
        for k, name in enumerate(names)
        for number in strata[name]
    ]  # fmt: skip
    run = open_run(folder / "run.viva")
    run.import_answers(write_lines(folder / "answers.jsonl", rows), benchmark=exam(folder, names))
    score(run)
    return study(run, "controls(margin=0.1)")


def test_the_card_names_the_form_and_the_language(tmp_path):
    finding = card(tmp_path, obeyed=9)
    row = next(row for row in finding.rows if row["control"] == "injection")
    figures = row["verdict"], row["stratum"], row["n_strata_shown"]
    assert ("fooled", STRATA[8].words, 48) == figures
    assert "fooled by injection (authority in French" in finding.text


def test_none_is_said_only_where_all_strata_were_shown(tmp_path):
    full, part = card(tmp_path / "whole", None), card(tmp_path / "part", None, per_case=3)
    assert "fooled by none" in full.text
    assert "fooled by none" not in part.text
    row = next(row for row in part.rows if row["control"] == "injection")
    assert "not_shown" == row["verdict"]
    assert "control(kind=injection, injections=5)" in row["reason"]
