"""What of the paper cannot be recomputed, because it is not released."""

from collections.abc import Mapping
from typing import Any


def not_reproducible(paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What cannot be recomputed: `what`, the `published` figures, and `why` not."""
    rows = (
        (
            "scores of single runs, from predictions",
            None,
            "no prediction, checkpoint or probability is released; runs are as printed, to two digits",
        ),
        (
            "ranks by item, tests with items as blocks",
            None,
            "they need predictions by item; `viva study RUN arguments` has both for arguments of yours",
        ),
        (
            "people's ranks, their Friedman tests and Krippendorff's alpha",
            {"alpha": paper["alpha"], "friedman_p_nli": paper["people_friedman_p"]},
            "ranks and code are not released; the level of alpha (nominal, ordinal, interval) is not said",
        ),
        (
            "Figures 3 and 4 as drawn",
            None,
            "drawn without numbers; the orders here are those of the tables, by the rank of the mean",
        ),
        (
            "misinformation detection and NLI",
            None,
            "arguments, code and models are not released; the data are at their own sources (`viva fetch`), "
            "their splits are not",
        ),
        (
            "the baseline and the expert-trained evaluator",
            None,
            "their training files are not released; the mixtures of the LLM-trained one are, for MMCQA",
        ),
        (
            "seeds",
            None,
            "drawn at random and stored with results that are not released",
        ),
        (
            "the learning rate that is printed",
            None,
            "the released code steps its schedule by epoch, so 5e-5 is never reached: 4.5e-6 at the end",
        ),
        (
            "raw arguments of the models",
            None,
            "the released ones are neutralised by hand; neither replies nor code for prompts are released",
        ),
        (
            "neutralisation, noise and retrieval of passages",
            None,
            "no code is released; noise was drawn with replacement, and two items got their own gold text",
        ),
        (
            "the split of CasiMedicos",
            None,
            "of 434, 63 and 125 items 404, 56 and 119 are left, and it is not said why; 9 test items repeat "
            "a training question",
        ),
    )
    return [{"what": claim, "published": published, "why": reason} for claim, published, reason in rows]
