"""What the rows of the study of arguments say, in sentences."""

from collections.abc import Iterator, Sequence

from vivavoce import stats
from vivavoce.studies.bounded import figure_text, interval_text
from vivavoce.studies.text import and_so, count
from vivavoce.systems.ranking.study.gate import gate_sentence
from vivavoce.systems.ranking.study.ranks import ARGUMENTS, EVERYTHING
from vivavoce.systems.ranking.study.rows import DROP, DROP_NEAR, KEEP, ArgumentsRow
from vivavoce.systems.ranking.study.source_scores import family_label

BESIDE = ("probability", "lexical_right", "lexical_probability")
"""Criteria of an evaluator that stand in the rows alone, beside `right`."""
LEFT_OUT = {DROP: "repeat a training question", DROP_NEAR: "repeat one or begin like one"}


def sentences(rows: Sequence[ArgumentsRow]) -> Iterator[str]:
    """Gates first, then each family's order and what it rests on, then leaks."""
    yield from (gate_sentence(row) for row in rows if row.part == "gate")
    of_families = _by_family(rows)
    right = {(benchmark, metric) for benchmark, metric, criterion, _ in of_families if criterion == "right"}
    for (benchmark, metric, criterion, _), family in of_families.items():
        if criterion not in BESIDE or (benchmark, metric) not in right:
            yield from _family(f"{family_label(metric, criterion)} on {benchmark}", family)
    yield from (_across(row) for row in rows if row.figure == "score_against_agreement")
    yield from _leaks(rows)


def _by_family(rows: Sequence[ArgumentsRow]) -> dict[tuple[str, str, str, str], list[ArgumentsRow]]:
    families: dict[tuple[str, str, str, str], list[ArgumentsRow]] = {}
    for row in rows:
        if row.metric and row.figure != "answer_leak":
            families.setdefault((row.benchmark, row.metric, row.criterion, row.rater), []).append(row)
    return families


def _across(row: ArgumentsRow) -> str:
    """Whether evaluators that score higher on the task agree more with a panel."""
    subject = f"{row.against} on {row.benchmark}: score on the task against agreement with the panel"
    if row.value is None:
        return f"{subject}: {row.reason}."
    return f"{subject}, over {count(row.n or 0, 'evaluator')}: tau-b {row.value:.2f}."


def _pick(
    rows: Sequence[ArgumentsRow], part: str, figure: str, among: str, leaked: str = KEEP
) -> list[ArgumentsRow]:
    return [
        row for row in rows if (row.part, row.figure, row.among, row.leaked) == (part, figure, among, leaked)
    ]


def _family(place: str, rows: Sequence[ArgumentsRow]) -> Iterator[str]:
    for among, ahead in ((ARGUMENTS, place), (EVERYTHING, f"{place}, with floors")):
        order = _pick(rows, "order", "order", among)
        friedman = _pick(rows, "order", "friedman", among)
        if not order:
            yield from (f"{ahead}: {row.reason}." for row in friedman)
            continue
        yield f"{ahead} ({_basis(order[0])}): {_means(rows, among)}. {_tests(rows, among, friedman[0])}"
    yield from (f"{place}: {line}" for line in _further_lines(rows))


def _basis(row: ArgumentsRow) -> str:
    cases = count(row.n_groups or 0, "case")
    run, rater = ("run", "mixture") if "weights=" in row.metric else ("pass", "rater")
    n_runs, n_raters = row.n_runs or 1, row.n_raters or 1
    runs = f"{n_runs} {run}{'es' if run == 'pass' else 's'}"
    raters = f", {runs} of {count(n_raters, rater)}" if n_runs > 1 else ""
    return f"{count(row.n_items or 0, 'question')} in {cases}{raters}"


def _means(rows: Sequence[ArgumentsRow], among: str) -> str:
    ranks = {row.candidate: row for row in _pick(rows, "ranks", "rank_of_mean", among)}
    means = sorted(
        _pick(rows, "ranks", "mean", among),
        key=lambda row: (ranks[row.candidate].value or 0.0, row.candidate or ""),
    )
    text = []
    for row in means:
        rank = ranks[row.candidate]
        role = "" if row.role == "candidate" else f" ({row.role})"
        places = ""
        if rank.low is not None and rank.high is not None:
            places = f", rank {rank.low:.0f}" + (f"-{rank.high:.0f}" if rank.high > rank.low else "")
        text.append(f"{row.candidate}{role} {figure_text(row, '.3f')}{places}")
    return "; ".join(text)


def _tests(rows: Sequence[ArgumentsRow], among: str, friedman: ArgumentsRow) -> str:
    distance = _pick(rows, "order", "critical_difference", among)
    if friedman.value is None or friedman.p is None or not distance:
        return f"No test of the order: {friedman.reason}."
    depends = [r.candidate or "" for r in _pick(rows, "ranks", "rank_of_mean", among) if r.depends_on_failed]
    failed = (
        f" The ranks of {and_so(depends)} depend on scores that failed: score them again." if depends else ""
    )
    return (
        f"Friedman's test over cases{_trained(friedman)}: F {friedman.value:.1f}, p {friedman.p:.2g} by "
        f"permutation within cases; mean ranks over cases further apart than {distance[0].value:.2f} differ "
        f"(Nemenyi).{failed}"
        f"{_scope(friedman)}"
    )


def _trained(row: ArgumentsRow) -> str:
    """What Friedman's test holds for: it knows cases alone."""
    return ", for these trainings" if "weights=" in row.metric else ""


def _scope(row: ArgumentsRow) -> str:
    """What ranks of a trained evaluator hold for, where runs or mixtures are too few to be drawn."""
    n_runs, n_mixtures = row.n_runs or 1, row.n_raters or 1
    if "weights=" not in row.metric or n_mixtures >= stats.LEAST_RUNS:
        return ""
    if n_runs < stats.LEAST_RUNS:
        return f" With {count(n_runs, 'run')}, ranks hold for these trainings only."
    return f" Ranks hold for {'these mixtures' if n_mixtures > 1 else 'this mixture'} only."


def _further_lines(rows: Sequence[ArgumentsRow]) -> Iterator[str]:
    """The other ranks, leaked items, the spread over training, words alone, panels, length, classes."""
    yield from _other_winners(rows)
    for leaked, words in LEFT_OUT.items():
        yield from _without_leaks(rows, leaked, words)
    yield from _spread(rows)
    taus = {part: [r for r in rows if (r.part, r.figure) == (part, "tau")] for part in ("lexical", "panel")}
    yield from (_words_alone(row, rows) for row in taus["lexical"])
    yield from (
        f"{row.against}: {_tau(row, 'agrees with')}{_by_item(rows, row.against)}." for row in taus["panel"]
    )
    length = _figure(rows, "length", "within")
    if length and length.value is not None:
        yield (
            "inside questions the rank correlation of an argument's length with its score is "
            f"{figure_text(length)}."
        )
    yield from _confusion(rows)


def _words_alone(row: ArgumentsRow, rows: Sequence[ArgumentsRow]) -> str:
    r = _figure(rows, "lexical", "pearson")
    r_text = f", r {figure_text(r)}" if r and r.value is not None else ""
    return f"words alone ({row.against}): {_tau(row, 'give an order with')}{r_text}."


def _figure(
    rows: Sequence[ArgumentsRow], part: str, figure: str, panel: str | None = None
) -> ArgumentsRow | None:
    """The first row of a figure, about `against` where one is named."""
    fitting = (r for r in rows if (r.part, r.figure) == (part, figure) and panel in (None, r.against))
    return next(fitting, None)


def _by_item(rows: Sequence[ArgumentsRow], panel: str | None) -> str:
    """How a family agrees with a panel inside questions."""
    within_items, first = (_figure(rows, "panel", figure, panel) for figure in ("within", "top1"))
    text = ""
    if within_items and within_items.value is not None:
        text = f"; inside questions {figure_text(within_items)}"
    if first and first.value is not None:
        text += f"; its best is the panel's in {first.value:.0%} of questions{interval_text(first)}"
    return text


def _tau(row: ArgumentsRow, words: str) -> str:
    if row.value is None:
        return str(row.reason)
    p = "" if row.p is None else f", p {row.p:.2g}"
    return f"{words} tau-b {row.value:.2f} over {count(row.n or 0, 'source')}{p}"


def _other_winners(rows: Sequence[ArgumentsRow]) -> Iterator[str]:
    first = {}
    for figure in ("rank_of_mean", "mean_run_rank", "mean_instance_rank"):
        ranks = {row.candidate or "": row.value or 0.0 for row in _pick(rows, "ranks", figure, ARGUMENTS)}
        if ranks:
            best = min(ranks.values())
            first[figure] = and_so(sorted(name for name, rank in ranks.items() if rank <= best + 1e-9))
    if len(set(first.values())) > 1:
        winners = {
            "rank_of_mean": "mean",
            "mean_run_rank": "mean rank over runs",
            "mean_instance_rank": "mean rank over questions",
        }
        yield "first by " + "; by ".join(f"{winners[figure]} {name}" for figure, name in first.items()) + "."


def _without_leaks(rows: Sequence[ArgumentsRow], leaked: str, words: str) -> Iterator[str]:
    for among, scope in ((EVERYTHING, ", floors included"), (ARGUMENTS, "")):
        all_items, clean_items = (_pick(rows, "order", "order", among, choice) for choice in (KEEP, leaked))
        if all_items and clean_items:
            n = (all_items[0].n_items or 0) - (clean_items[0].n_items or 0)
            comparison = (
                "the same order" if all_items[0].text == clean_items[0].text else str(clean_items[0].text)
            )
            yield f"without the {count(n, 'question')} that {words}{scope}: {comparison}."
            return


def _spread(rows: Sequence[ArgumentsRow]) -> Iterator[str]:
    figures = {
        name: [r.value for r in rows if r.part == "spread" and r.figure == name and r.value is not None]
        for name in ("between_mixtures", "between_runs")
    }
    texts = [
        f"{name.replace('_', ' ')} {min(values):.3f}" + (f" to {max(values):.3f}" if len(values) > 1 else "")
        for name, values in figures.items()
        if values
    ]
    if texts:
        yield f"standard deviation of a source's mean {', '.join(texts)}."


def _confusion(rows: Sequence[ArgumentsRow]) -> Iterator[str]:
    """For each source that is no floor, the class that is predicted wrongly most often."""
    for row in _worst_classes(rows):
        wrong = {label: n for label, n in (row.answers or {}).items() if label != row.text}
        label = max(sorted(wrong), key=lambda name: wrong[name])
        yield (
            f"with arguments of {row.candidate}, {row.text!r} is taken for {label!r} in {wrong[label]:,} of "
            f"{count(row.n or 0, 'prediction')}."
        )


def _worst_classes(rows: Sequence[ArgumentsRow]) -> Iterator[ArgumentsRow]:
    by_source: dict[str, list[ArgumentsRow]] = {}
    for row in rows:
        if row.part == "confusion" and row.role != "floor" and (row.value or 0.0) < 1:
            by_source.setdefault(row.candidate or "", []).append(row)
    for of_source in by_source.values():
        yield min(of_source, key=lambda row: (row.value or 0.0, row.text or ""))


def _leaks(rows: Sequence[ArgumentsRow]) -> Iterator[str]:
    items: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.part == "leaks" and row.figure == "item":
            items[row.benchmark, row.text or ""] = items.get((row.benchmark, row.text or ""), 0) + 1
    for (benchmark, text), n in items.items():
        yield f"{benchmark}: {count(n, 'question')} scored {text!r}."
    for row in rows:
        if row.figure == "answer_leak" and row.value:
            place = f"{row.benchmark}: arguments of {row.candidate}"
            yield f"{place} leak it: {row.criterion.replace('_', ' ')} in {row.value:.0%} ({row.metric})."
