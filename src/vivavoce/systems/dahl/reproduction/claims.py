"""What the paper says, each with a verdict and the reason, beside the figure that can be recomputed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import scipy

from vivavoce import stats
from vivavoce.run.reproduce import ClaimVerdict
from vivavoce.run.reproduce import JudgedClaim as Claim
from vivavoce.systems.dahl.reproduction.question_file import QuestionFile
from vivavoce.systems.dahl.reproduction.size_trend import by_family

_DETECTION = 0.8
"""The power that a smallest detectable effect is stated for."""


def claims(
    file: QuestionFile,
    paper: Mapping[str, Any],
    systems: Sequence[Mapping[str, Any]],
    rows: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """A row for each claim: `what`, `published`, `recomputed`, `verdict`, `why`, `holds`."""
    return [
        claim.row
        for claim in (
            *_of_the_questions(file, paper, rows),
            _of_filters(rows["filters"]),
            *_of_sizes(systems, rows["size_trend"], paper),
            *_of_table_2(systems, paper),
            *_of_samples(rows["sample"], paper),
            *_of_people(rows["human_agreement"], paper["human"]),
            *_of_the_method(),
        )
    ]


def _of_the_questions(
    file: QuestionFile, paper: Mapping[str, Any], rows: Mapping[str, Any]
) -> Iterator[Claim]:
    n, names = len(file.rows), [name for name, row in rows["categories"].items() if row["n"]]
    n_listed = len(paper["listed"]) + 1
    counts = {"rows": n, "categories": len(names)}
    printed = {"rows": paper["questions"], "categories": n_listed}
    yield Claim(
        "the data set has 8,573 questions in 29 categories",
        printed,
        counts | {"items": file.n_items, "cases": file.n_cases},
        "fails" if counts != printed else "holds" if n == file.n_cases else "holds in part",
        f"{n - file.n_items} rows are no question, and the others are {file.n_cases:,} different texts",
    )
    unlisted = [name for name in names if name not in paper["listed"]]
    yield Claim(
        'the categories are 28 adopted ones and "Other"',
        n_listed,
        {"not listed": unlisted},
        "holds" if unlisted == ["other"] else "fails",
        f"beside those listed the file has {', '.join(unlisted) or 'none'}, and the prompt that wrote the "
        f"questions does not offer {' or '.join(paper['not_offered'])}",
    )


def _of_filters(decisions: Mapping[str, Any]) -> Claim:
    return Claim(
        "questions that need their paper are filtered out",
        None,
        {word: decisions[word] for word in ("keep", "review", "drop", "repair")},
        "fails" if decisions["drop"] else "holds",
        f"{decisions['drop']:,} rows break the rules that are named, finished by us where the paper gives "
        f"examples; A1 hits {decisions['rules']['A1']:,} rows, A3 {decisions['rules']['A3']:,}. That people "
        "looked at the exceptions cannot be checked",
    )


def _of_sizes(
    systems: Sequence[Mapping[str, Any]], trend: Mapping[str, Any], paper: Mapping[str, Any]
) -> Iterator[Claim]:
    family = trend["within"]
    yield Claim(
        "larger models hallucinate less",
        None,
        {
            "upward": family["upward"],
            "pairs": family["pairs"],
            "p": family["p"],
            "spearman": trend["spearman"],
        },
        "holds in part" if family["upward"] == family["pairs"] else "fails",
        f"inside {family['families']} families {family['upward']} of {family['pairs']} pairs of sizes go "
        f"upward (exact p {family['p']:.3f}); over {trend['n_systems']} systems of {trend['n_families']} "
        f"families Spearman's rho is {trend['spearman']:.2f} (permutation p {trend['p']:.2f}; "
        f"{trend['low']:.2f} to {trend['high']:.2f} without one family), which shows nothing across families",
    )
    yield _plateau(trend, paper)
    yield _gains(trend, paper)
    yield from _of_families(systems, trend)


def _plateau(trend: Mapping[str, Any], paper: Mapping[str, Any]) -> Claim:
    above_plateau = [pair for pair in trend["pairs"] if pair["small"] >= paper["plateau"]]
    significant = [pair for pair in above_plateau if pair["p_at_most"] < 0.05]
    return Claim(
        "beyond 7 to 8 billion parameters more of them bring no significant improvement",
        None,
        {f"{p['family']} {p['small']:g}B to {p['large']:g}B": p["p_at_most"] for p in above_plateau},
        "fails" if significant else "not shown",
        "no test is reported; "
        + "; ".join(
            f"{p['family']} gains {p['difference']:.4f}, p at most {p['p_at_most']:.3f} by the greatest "
            f"possible variance if all answers were scored, and under 0.05 if {p['answers_needed']:,} were"
            for p in above_plateau
        ),
    )


def _gains(trend: Mapping[str, Any], paper: Mapping[str, Any]) -> Claim:
    slow, fast = (
        [p["per_doubling"] for p in trend["pairs"] if (p["small"] >= paper["plateau"]) is late]
        for late in (True, False)
    )
    return Claim(
        "the gain by size is less pronounced between larger models",
        None,
        {"per doubling": {"from 7B on": slow, "below": fast}},
        "holds" if max(slow) < min(fast) else "fails",
        "per doubling of the size, each gain from 7B on is smaller than each below; scores nearer to "
        "1 have less to gain",
    )


def _of_families(systems: Sequence[Mapping[str, Any]], trend: Mapping[str, Any]) -> Iterator[Claim]:
    sized = by_family([system for system in systems if system["size"] is not None])
    qwen = sized["Qwen-2"]
    slopes = [(b["score"] - a["score"]) / (b["size"] - a["size"]) for a, b in pairwise(qwen)]
    yield Claim(
        "Qwen-2's score grows linearly with its size",
        None,
        {"per billion parameters": slopes},
        "fails" if max(slopes) > 2 * min(slopes) else "holds",
        f"a billion more parameters bring {slopes[0]:.4f} at the small end and {slopes[-1]:.4f} at the large "
        "one",
    )
    (gemma,) = (pair for pair in trend["pairs"] if pair["family"] == "Gemma-2")
    yield Claim(
        "Gemma-2 9B is significantly above 2B",
        None,
        {"p_at_most": gemma["p_at_most"]},
        "holds" if gemma["p_at_most"] < 0.05 else "not shown",
        f"no test is reported, but with {gemma['answers_needed']:,} answers scored even the greatest "
        "possible variance tells them apart",
    )


def _of_table_2(systems: Sequence[Mapping[str, Any]], paper: Mapping[str, Any]) -> Iterator[Claim]:
    best = max(systems, key=lambda system: system["score"])
    other_systems = [system for system in systems if system is not best]
    yield Claim(
        "gpt-4o outperforms all models",
        "gpt-4o",
        best["name"],
        "holds in part" if best["name"] == "gpt-4o" else "fails",
        f"it has the highest score, with answers of {best['length']:,} characters beside at most "
        f"{max(system['length'] for system in other_systems):,}: it was asked otherwise",
    )
    per_token = {system["name"]: system["length"] / paper["max_tokens"] for system in (best, *other_systems)}
    longest = max(per_token[system["name"]] for system in other_systems)
    yield Claim(
        "all models answered with one configuration, of at most 256 tokens",
        paper["max_tokens"],
        {"characters per token": per_token},
        "fails",
        f"gpt-4o's answers need {per_token['gpt-4o']:.1f} characters a token to fit, the others at most "
        f"{longest:.1f}; the released code sets no limit for it, and top_p 0.9 for the others",
    )
    yield from _of_the_order(other_systems, paper)


def _of_the_order(other_systems: Sequence[Mapping[str, Any]], paper: Mapping[str, Any]) -> Iterator[Claim]:
    best: dict[str, float] = {}
    for system in other_systems:
        best[system["family"]] = max(system["score"], best.get(system["family"], 0.0))
    order = sorted(best, key=lambda family: -best[family])
    for place, printed in (("Section 5.1", paper["order"]), ("the caption of Table 2", paper["caption"])):
        first = [(a, b) for a, b in zip(printed, order, strict=True) if a != b]
        yield Claim(
            f"the best of each open family, in the order of {place}",
            printed,
            order,
            "fails" if first else "holds",
            f"Table 2 has {first[0][1]} where {first[0][0]} is named" if first else "so it is in Table 2",
        )


def _of_samples(sample: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterator[Claim]:
    yield Claim(
        "a tenth of the questions represents all of them",
        paper["sample"]["share"],
        sample,
        "not shown",
        _precision(sample),
    )
    draws = paper["sample"]["draws"]
    yield Claim(
        "F and t tests of five draws find no difference, so the draws are equal",
        {"draws": draws, "tests": math.comb(draws, 2)},
        None,
        "not shown",
        "draws of one file have the same expectation by design, so there was nothing to find; a p above 0.05 "
        "shows no equality, the ten pairs of five draws are not independent, and an F test before it changes "
        "the error rate of a t test. The variance (1 - f) s²/n says how far a draw may lie; the spread s is "
        "not reported",
    )


def _precision(sample: Mapping[str, Any]) -> str:
    text = (
        f"a tenth is {sample['n']:,} questions; by the greatest possible variance the mean of all may lie "
        f"{sample['half_width_at_most']:.3f} from the sample's"
    )
    if sample["detectable_at_most"] is None:
        return f"{text}, and a test of two draws needs more"
    return (
        f"{text}, and two draws find a difference of {sample['detectable_at_most']:.3f} four times in five: "
        f"{sample['pairs_closer']} of {sample['pairs']} pairs of Table 2 are closer"
    )


def _of_people(agreement: Mapping[str, Any], human: Mapping[str, Any]) -> Iterator[Claim]:
    n, r, low, high = human["n"], agreement["r"], agreement["low"], agreement["high"]
    in_range = agreement["p_low"] <= float(human["p"]) <= agreement["p_high"]
    yield Claim(
        "Pearson's r with people is 0.5508 over 99 answers, p 3.4927e-09",
        float(human["p"]),
        agreement["p"],
        "holds" if in_range else "fails",
        f"t with {n - 2} degrees of freedom, within the rounding of r",
    )
    yield Claim(
        "a moderate to strong correlation makes the automatic score robust",
        r,
        {"low": low, "high": high, "r_squared": r**2},
        "not shown",
        f"by Fisher's z r lies between {low:.2f} and {high:.2f}, and {r**2:.0%} of the variance is shared; a "
        "correlation says nothing of level, so a checker that is too kind to all has r 1; agreement between "
        "the two people is not reported, nor whose answers the 99 were",
    )
    mde = agreement["detectable_sd"]
    yield Claim(
        "the splitter is reliable: a t test of its units against people's has p above 0.05",
        0.05,
        {"detectable_sd": mde},
        "not shown",
        f"a paired t test of {n} answers misses a difference under {mde:.2f} standard deviations one time "
        "in five or more; no difference found is no equivalence, for which a margin is needed; equal numbers "
        "of units are not equal units",
    )


def human_agreement(human: Mapping[str, Any]) -> dict[str, Any]:
    """Fisher's interval of the printed r, and its p, with what the rounding of r leaves open.

    `detectable_sd`: the mean difference, in its standard deviations, that a paired t test of as many answers
    finds four times in five.
    """
    n, r = human["n"], float(human["r"])
    half_unit = 0.5 * 10.0 ** -len(human["r"].partition(".")[2])
    interval = stats.fisher_interval(r, n)
    return {
        "n": n,
        "r": r,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "p": pearson_p(r, n),
        "p_low": pearson_p(r + half_unit, n),
        "p_high": pearson_p(r - half_unit, n),
        "published_p": float(human["p"]),
        "detectable_sd": stats.mde(1 / math.sqrt(n), df=n - 1, power=_DETECTION),
    }


def pearson_p(r: float, n: int) -> float:
    """Two-sided p of Pearson's r over `n` points: t = r sqrt((n - 2) / (1 - r²)) on n - 2 df."""
    t = abs(r) * math.sqrt((n - 2) / (1 - r**2))
    return float(2 * scipy.special.stdtr(n - 2, -t))


def _of_the_method() -> Iterator[Claim]:
    prefix = "read in the released code, at commit 4647475: "
    rows: tuple[tuple[str, ClaimVerdict, str], ...] = (
        (
            "a temperature of 0.2 to 0.3 is the best balance",
            "cannot be checked",
            "scores are drawn in a figure and not released; each is of a tenth of the questions, without an "
            "interval, and ten temperatures of four models were looked at before two were named",
        ),
        (
            "temperature has no consistent trend",
            "cannot be checked",
            "the caption of the same figure says that scores fall slightly as it rises",
        ),
        (
            "the checker draws on online documents",
            "cannot be checked",
            prefix
            + "the model is an argument, and the one of its example was listed by its maker apart from "
            "those that search",
        ),
        (
            "prompts, repeated, incomplete and noncommittal sentences are removed by regular expression",
            "fails",
            prefix + "it cuts the instruction and the question out, wherever they stand, and removes nothing "
            "else",
        ),
        (
            "answers with other numbers of units and labels are left out",
            "fails",
            prefix + "the two numbers are always equal, because each unit gets a label; what is left out are "
            "answers with a unit that is neither true nor false, long ones more often, while an answer "
            "without units counts 0",
        ),
        (
            "the evaluation is released for others to use",
            "fails",
            prefix + "evaluate_with_pplai.py uses a name that it does not define, and stops at once",
        ),
        (
            "the score may stand in for people's preferences",
            "not shown",
            "no model was trained on it, and no preference was compared with it",
        ),
    )
    for claim, verdict, reason in rows:
        yield Claim(claim, None, None, verdict, reason)
