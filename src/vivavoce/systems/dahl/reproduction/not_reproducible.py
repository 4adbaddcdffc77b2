"""What no figure of the DAHL paper can be recomputed from, because it is not released."""

from collections.abc import Mapping, Sequence
from typing import Any


def not_reproducible(systems: Sequence[Mapping[str, Any]], human: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What cannot be recomputed: `what`, the `published` figures, and `why` not."""
    rows = (
        (
            "Table 2: DAHL scores and lengths",
            {system["name"]: system["score"] for system in systems},
            "no answer, unit or verdict of any model is released",
        ),
        (
            "answers that were dropped",
            None,
            "neither the number nor the answers are reported, so no score has a known n",
        ),
        (
            "scores by category (Figure 6)",
            None,
            "drawn without numbers, and nothing in the released code makes them",
        ),
        (
            "scores by temperature (Figure 5)",
            None,
            "drawn without numbers; answers, samples and code are not released",
        ),
        (
            "F and t tests of five samples",
            None,
            "neither the samples, nor the scores, nor a p value is printed",
        ),
        (
            "agreement with people",
            {"pearson": float(human["r"]), "n": human["n"]},
            "the 99 answers, both people's units and labels, and the automatic scores are not released",
        ),
        ("units of the splitter against people's", None, "counts and p value are not printed"),
        (
            "the checker",
            None,
            "the model of the released example was withdrawn in 2024, and its replies are not kept",
        ),
        (
            "the released evaluation",
            None,
            "evaluate_with_pplai.py stops at an undefined name, and needs a version of its client below 1.0",
        ),
        (
            "the sample result of the repository",
            0.6742857142857142,
            'it is called a "sample model", in an earlier commit dolly-v2-3b, whose score in Table 2 is '
            "0.8250; no answers come with it",
        ),
        (
            "the questions",
            None,
            "the 2,519 papers, what GPT-4 wrote of them, and what people removed are not released",
        ),
    )
    return [{"what": claim, "published": published, "why": reason} for claim, published, reason in rows]
