"""What the paper says, each with a verdict and the reason, beside what its own scores give."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vivavoce.run.reproduce import ClaimVerdict, JudgedClaim
from vivavoce.systems.ranking.reproduction.mean_scores import cells
from vivavoce.systems.ranking.reproduction.published_scores import PublishedScores

_EVALUATOR = {"baseline": "the baseline", "expert": "the expert-trained", "llm": "the LLM-trained"}


def claims(scores: PublishedScores, rows: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each claim: `what`, `published`, `recomputed`, `verdict`, `why`, `holds`."""
    return [
        claim.row
        for claim in (
            *_of_the_tables(scores, rows),
            *_of_people(scores, rows),
            *_of_levels(scores),
            *_of_mmcqa_controls(scores, rows),
            *_of_other_controls(scores),
            *_of_robustness(scores),
            *_of_the_method(scores, rows),
        )
    ]


def _of_the_tables(scores: PublishedScores, rows: Mapping[str, Any]) -> Iterator[JudgedClaim]:
    printed = [cell for _, cell in cells(rows["means"]) if cell["published"] is not None]
    n_wrong = len(rows["deviations"]["means"])
    yield JudgedClaim(
        "Tables 2 to 4: each printed mean is that of the runs below it",
        len(printed),
        len(printed) - n_wrong,
        "fails" if n_wrong else "holds",
        "to 0.01, for runs of two digits",
    )
    yield from _of_table1(rows["table1"])
    yield _of_footnote6(scores, rows)


def _of_table1(table1: Sequence[Mapping[str, Any]]) -> Iterator[JudgedClaim]:
    for figure, name in (("average", "dataset averages of the primary arguments"), ("best", "best system")):
        printed = [cell for cell in table1 if cell["figure"] == figure]
        wrong = "; ".join(
            f"{_cell(c)}: {c['recomputed']:.2f}, not {c['published']:.2f}: {c['why']}"
            for c in printed
            if c["follows"] is False
        )
        yield JudgedClaim(
            f"Table 1: {name}",
            {_cell(c): c["published"] for c in printed},
            {_cell(c): c["recomputed"] for c in printed},
            "fails" if wrong else "holds",
            wrong or "all cells follow from Tables 2 to 4",
        )


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['task']}, {row['evaluator']}"


def _of_footnote6(scores: PublishedScores, rows: Mapping[str, Any]) -> JudgedClaim:
    named = scores.paper["footnote6"]
    best = {task: {e: scores.best(task, e) for e in scores.evaluators} for task in scores.tasks}
    return JudgedClaim(
        "footnote 6: the best source of each evaluator",
        named,
        best,
        "holds" if named == best else "fails",
        "by the rank of the mean over runs; by the mean of run ranks the baseline's best on MMCQA would be "
        f"{_first_by_runs(rows)}, so the figures rank means",
    )


def _first_by_runs(rows: Mapping[str, Any]) -> str:
    ranked = rows["ranks"]["mmcqa"]["baseline"]["primaries"]
    return str(min(ranked, key=lambda source: ranked[source]["mean_run_rank"]))


def _of_people(scores: PublishedScores, rows: Mapping[str, Any]) -> Iterator[JudgedClaim]:
    first = {
        evaluator: {task: _first_model(scores, task, evaluator) for task in scores.tasks}
        for evaluator in scores.evaluators
    }
    people = scores.paper["people_first"]
    agreeing = {
        e: [task for task in of_task if of_task[task] == people[task]] for e, of_task in first.items()
    }
    yield from _of_orders(scores, agreeing["llm"])
    n_first = 1 + sum(of_task["mmcqa"] == people["mmcqa"] for of_task in first.values())
    yield JudgedClaim(
        "on MMCQA GPT-4o is first in 3 of 4 rankings without gold",
        3,
        n_first,
        "holds" if n_first == 3 else "fails",
        f"{n_first - 1} of 3 evaluators, and people by the text",
    )
    yield from _of_nearness(agreeing, _p_values(rows, "baseline"))


def _of_orders(scores: PublishedScores, agreeing: Sequence[str]) -> Iterator[JudgedClaim]:
    unread = "the rest of people's order is only drawn, and no rank is released"
    for task, words in (
        ("mmcqa", "on MMCQA, without gold, the LLM-trained evaluator ranks the models as people do"),
        ("misinformation", "on misinformation the LLM-trained evaluator perfectly matches people"),
        ("nli", "on NLI it is similar, with Llama 3 first"),
    ):
        agrees = task in agreeing
        yield JudgedClaim(
            words,
            {"first": scores.paper["people_first"][task]},
            scores.order(task, "llm", scores.primaries),
            "holds in part" if agrees else "fails",
            f"the model that people rank first is{'' if agrees else ' not'} first; {unread}"
            + ("" if task != "nli" else "; people's own ranks do not differ there (Friedman's p 0.561)"),
        )


def _of_nearness(agreeing: Mapping[str, Sequence[str]], p_values: str) -> Iterator[JudgedClaim]:
    counts = {evaluator: len(tasks) for evaluator, tasks in agreeing.items()}
    grows = counts["baseline"] < counts["expert"] < counts["llm"]
    shared = ", ".join(agreeing["baseline"]) or "none"
    yield JudgedClaim(
        "the expert-trained evaluator is nearer to people than the baseline, and the LLM-trained nearest",
        None,
        counts,
        "not shown" if grows else "fails",
        f"people's first model is first on {counts['baseline']}, {counts['expert']} and {counts['llm']} of 3 "
        "tasks: three tasks, one place each, and no measure of agreement is reported",
    )
    yield JudgedClaim(
        "the baseline's rankings do not align with people's",
        None,
        {"first as people's": agreeing["baseline"]},
        "holds in part" if 0 < counts["baseline"] < 3 else "fails" if counts["baseline"] else "holds",
        f"people's first model is first on: {shared}. Friedman's p over its runs: {p_values}",
    )


def _first_model(scores: PublishedScores, task: str, evaluator: str) -> str:
    """The first of the three models; of several on one place all."""
    place = scores.order(task, evaluator, scores.primaries[1:])[0]
    return place if isinstance(place, str) else " = ".join(place)


def _p_values(rows: Mapping[str, Any], evaluator: str) -> str:
    return ", ".join(_p(of_task[evaluator]["p"]) for of_task in rows["friedman"].values())


def _p(p: float | None) -> str:
    return "none" if p is None else f"{p:.2g}"


def _of_levels(scores: PublishedScores) -> Iterator[JudgedClaim]:
    averages = {task: {e: _average(scores, task, e) for e in scores.evaluators} for task in scores.tasks}
    highest = {e for of_task in averages.values() for e in of_task if of_task[e] == max(of_task.values())}
    yield JudgedClaim(
        "the expert-trained evaluator has the highest scores, and the LLM-trained lower ones",
        None,
        averages,
        "holds" if highest == {"expert"} else "fails",
        "means of the primaries by task; that of NLI is not the one printed",
    )
    longest = scores.paper["longest"]
    places = {
        task: 1 + _flat(scores.order(task, "llm", scores.primaries)).index(longest[task])
        for task in scores.tasks
    }
    yield JudgedClaim(
        "on MMCQA and NLI the LLM-trained evaluator has no bias to length",
        None,
        {"place of the longest source": places},
        "not shown" if min(places["mmcqa"], places["nli"]) > 1 else "fails",
        "the longest source is not the first, which one source a task cannot show; lengths are not printed",
    )


def _average(scores: PublishedScores, task: str, evaluator: str) -> float:
    return sum(scores.mean(task, evaluator, s) for s in scores.primaries) / len(scores.primaries)


def _flat(order: list[str | list[str]]) -> list[str]:
    return [name for place in order for name in ([place] if isinstance(place, str) else place)]


def _of_mmcqa_controls(scores: PublishedScores, rows: Mapping[str, Any]) -> Iterator[JudgedClaim]:
    misled = {e: len(scores.misled("mmcqa", e)) for e in ("expert", "llm")}
    yield JudgedClaim(
        "on MMCQA the expert- and the LLM-trained evaluator rank arguments before all controls",
        None,
        {"pairs with the control ahead": misled},
        "fails" if any(misled.values()) else "holds",
        "but the label control is blind: it names an option by a position that the evaluator does not see "
        "(released code), and 16 of its 119 texts still hold gold text",
    )
    yield _of_baseline(scores, rows)
    yield from _of_rotations(scores, rows["score_grid"]["mmcqa"])


def _of_baseline(scores: PublishedScores, rows: Mapping[str, Any]) -> JudgedClaim:
    pairs = scores.misled("mmcqa", "baseline")
    above_all = [c for c in scores.paper["controls"]["mmcqa"] if _n_below(pairs, c) == len(scores.primaries)]
    above_any = sorted({control for control, _ in pairs}, key=scores.sources("mmcqa").index)
    n_claimed = scores.paper["misled_baseline"]
    p = rows["friedman"]["mmcqa"]["baseline"]["all"]["p"]
    return JudgedClaim(
        "on MMCQA the baseline is misled by 3 of 4 controls",
        n_claimed,
        {"above every argument": above_all, "above some argument": above_any},
        "holds" if len(above_all) == n_claimed else "fails",
        f"{len(above_all)} stand above every argument, {len(above_any)} above some; over its runs the eight "
        f"sources have Friedman's p {_p(p)}",
    )


def _of_rotations(scores: PublishedScores, grid: Mapping[str, Any]) -> Iterator[JudgedClaim]:
    label = grid["by_source"]["label_only"]
    yield JudgedClaim(
        "on MMCQA the label control shows that evaluators penalise an answer without an argument",
        None,
        {e: scores.mean("mmcqa", e, "label_only") - scores.mean("mmcqa", e, "no_argument")
         for e in scores.evaluators},
        "not shown",
        'its text is "The correct answer is N." with the number of a place, while options are read one at a '
        "time and without a number (released code): it tells nothing of the answer, and scores as no "
        f"argument does. Only its scores change with the rotation: {label['n'] - label['multiples']} of "
        f"{label['n']} are no k/{grid['items']}",
    )  # fmt: skip
    sources = [row for source, row in grid["by_source"].items() if source != "label_only"]
    n_others, n_multiples = sum(row["n"] for row in sources), sum(row["multiples"] for row in sources)
    yield JudgedClaim(
        "five rotations of each item reduce label bias",
        5,
        {"scores": n_others, f"k/{grid['items']}": n_multiples},
        "not shown",
        f"{n_multiples} of {n_others} scores of the other sources are k/{grid['items']}: the five rotations "
        f"of an item are answered alike, because no number of an option is read, so n is {grid['items']} and "
        f"not {5 * grid['items']}; the interval of a score reaches up to {grid['half_width']:.1f} points "
        "either way",
    )


def _n_below(pairs: list[tuple[str, str]], control: str) -> int:
    return sum(name == control for name, _ in pairs)


def _of_other_controls(scores: PublishedScores) -> Iterator[JudgedClaim]:
    misled = {e: scores.misled("misinformation", e) for e in scores.evaluators}
    named = "; ".join(
        f"{_EVALUATOR[e]} evaluator has {control} above {primary}"
        for e, pairs in misled.items()
        for control, primary in pairs
    )
    yield JudgedClaim(
        "on misinformation all evaluators rank arguments first and controls last",
        None,
        {e: [list(pair) for pair in pairs] for e, pairs in misled.items()},
        "fails" if named else "holds",
        f"{named or 'no control is above an argument'}. The third class is left out of the test, not "
        "of the evaluators: a score near 0 says that they predict it; the confusion is not reported",
    )
    yield from _of_nli_controls(scores)
    for task in scores.tasks:
        yield _strongest(scores, task)


def _of_nli_controls(scores: PublishedScores) -> Iterator[JudgedClaim]:
    of_nli = {e: len(scores.misled("nli", e)) for e in scores.evaluators}
    yield JudgedClaim(
        "on NLI all evaluators are misled by controls",
        None,
        {"pairs with the control ahead": of_nli},
        "holds" if all(of_nli.values()) else "fails",
        f"of 12 pairs of a control and an argument: {', '.join(f'{e} {n}' for e, n in of_nli.items())}",
    )
    first = {e: _flat(scores.order("nli", e, scores.sources("nli")))[0] for e in scores.evaluators}
    fewest = of_nli["llm"] < min(of_nli["baseline"], of_nli["expert"])
    clean = [e for e, source in first.items() if source in scores.primaries]
    yield JudgedClaim(
        "on NLI the LLM-trained evaluator is the most resilient to controls",
        None,
        {"pairs with the control ahead": of_nli, "first": first},
        "fails" if not fewest else "holds" if clean in ([], ["llm"]) else "holds in part",
        f"it has {of_nli['llm']} of 12 pairs wrong, the others {of_nli['expert']} and {of_nli['baseline']}; "
        f"an argument is first for: {', '.join(clean) or 'none'}",
    )


def _strongest(scores: PublishedScores, task: str) -> JudgedClaim:
    named, controls = scores.paper["strongest"][task], scores.paper["controls"][task]
    of_each = {e: max(controls, key=lambda c: scores.mean(task, e, c)) for e in scores.evaluators}
    averages = {c: sum(scores.mean(task, e, c) for e in scores.evaluators) / 3 for c in controls}
    n_right = list(of_each.values()).count(named)
    on_average = max(averages, key=lambda c: averages[c]) == named
    verdict: ClaimVerdict = "holds" if n_right == 3 else "holds in part" if on_average or n_right else "fails"
    return JudgedClaim(
        f"on {task} the control that misleads most is {named}",
        named,
        {**of_each, "mean of three": averages},
        verdict,
        f"it is the highest control of {n_right} of 3 evaluators, and {'' if on_average else 'not '}by the "
        "mean of the three",
    )


def _of_robustness(scores: PublishedScores) -> Iterator[JudgedClaim]:
    misled = {e: sum(len(scores.misled(t, e)) for t in scores.tasks) for e in scores.evaluators}
    n_pairs = sum(len(scores.primaries) * len(c) for c in scores.paper["controls"].values())
    yield JudgedClaim(
        "the proposed evaluators are robust to controls; the LLM-trained one filters out what is no argument",
        None,
        {"pairs with the control ahead": misled, "pairs": n_pairs},
        "fails" if misled["llm"] else "holds",
        f"the LLM-trained evaluator has a control ahead in {misled['llm']} of {n_pairs} pairs",
    )
    gap = misled["expert"] - misled["llm"]
    yield JudgedClaim(
        "the baseline and the expert-trained evaluator are frequently misled, the LLM-trained is not",
        None,
        misled,
        "fails" if gap <= 1 else "holds in part",
        f"the expert-trained evaluator has {misled['expert']} of {n_pairs} pairs wrong and the LLM-trained "
        f"{misled['llm']}, on the same items; the baseline {misled['baseline']}",
    )
    yield _of_alpha(scores)


def _of_alpha(scores: PublishedScores) -> JudgedClaim:
    alpha = scores.paper["alpha"]
    by_task = {task: len(scores.misled(task, "llm")) for task in scores.tasks}
    lowest = min(alpha, key=lambda task: alpha[task])
    return JudgedClaim(
        "where people agree more, the LLM-trained evaluator discards controls better",
        alpha,
        by_task,
        "not shown" if by_task[lowest] > max(n for t, n in by_task.items() if t != lowest) else "fails",
        f"{lowest}, of the lowest alpha, has {by_task[lowest]} pairs wrong, the other two tasks "
        f"{' and '.join(str(n) for t, n in by_task.items() if t != lowest)}: three tasks, and an alpha "
        "without an interval, which other examples moved from 0.61 to 0.73",
    )


def _of_the_method(scores: PublishedScores, rows: Mapping[str, Any]) -> Iterator[JudgedClaim]:
    grid = rows["score_grid"]["nli"]
    n_other = grid["n"] - grid["multiples"]
    yield JudgedClaim(
        "Table 4 is a micro F-score of 229 items",
        None,
        {"scores": grid["n"], "no k/229": n_other},
        "fails" if n_other else "holds",
        f"with one label an item micro F is accuracy, and each score k/229: {n_other} of {grid['n']} are "
        "not; macro or weighted F would fit",
    )
    tests = {t: {e: rows["friedman"][t][e]["p"] for e in scores.evaluators} for t in scores.tasks}
    yield JudgedClaim(
        "Friedman's test assesses whether ranks of the evaluators differ significantly",
        None,
        tests,
        "not shown",
        "no p of an evaluator is printed, nor what a block is; over training runs these come out, and "
        "runs on one set of items say nothing of other items",
    )
    yield JudgedClaim(
        "people's ranks differ but on NLI (Friedman's p 0.561)",
        scores.paper["people_friedman_p"],
        None,
        "cannot be checked",
        "people's ranks are not released; no difference found is no proof that there is none",
    )
    yield JudgedClaim(
        "five examples ranked by two experts tell whether a task is suitable",
        None,
        None,
        "not shown",
        "three tasks, one alpha each without an interval, and no threshold; one of them changed after its "
        "instances were changed",
    )
    yield JudgedClaim(
        "people rank gold arguments lower than the evaluators do",
        None,
        {t: {e: _place(scores, t, e) for e in scores.evaluators} for t in scores.tasks},
        "cannot be checked",
        "the evaluators' places of gold are here; people's are only drawn",
    )


def _place(scores: PublishedScores, task: str, evaluator: str) -> int:
    order = scores.order(task, evaluator, scores.primaries)
    return 1 + next(k for k, place in enumerate(order) if place == "gold" or "gold" in place)
