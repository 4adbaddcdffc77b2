"""Three checks of an answer (enough cases, a validated judge, nothing missing), and what would settle it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from vivavoce.core.measure_names import metric_name
from vivavoce.core.specs import signed
from vivavoce.core.text import one_line
from vivavoce.report.sections.standing import Row, Standing
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.common_items import order_basis
from vivavoce.studies.comparing.headline import Unit
from vivavoce.studies.comparing.verdicts import BETTER, detectable_sentence
from vivavoce.studies.score_table import MISSING
from vivavoce.studies.text import cases, count, missing_words
from vivavoce.studies.validation_status import NOT_SHOWN, UNVALIDATED, weakest_status

_SILENT = {"worst": "counted as worst", "set_aside": "set aside", "correct": "counted as right"}
State = Literal["yes", "no", "open", "none"]
LABELS = "`viva panel RUN make --task rate` draws questions at random for people to score."


class Check(NamedTuple):
    """A question of every first answer, a short phrase, and the part of the page with the detail."""

    question: str
    state: State
    phrase: str
    where: str


def checks(standing: Standing) -> tuple[Check, Check, Check]:
    """Whether there are enough cases, whether a judge was validated, and whether anything is missing."""
    return (
        Check("Enough cases?", *_with_near_repeats(standing, *_enough_cases(standing))),
        Check("Judge validated?", *_judge(standing), "examiners"),
        Check("Anything missing?", *_missing(standing), "coverage"),
    )


def _with_near_repeats(s: Standing, state: State, phrase: str, part: str) -> tuple[State, str, str]:
    """The check, which is open where questions that look alike count as cases of their own."""
    if not s.alike:
        return state, phrase, part
    return "open" if state == "yes" else state, f"{s.alike}. {phrase}", "limitations"


def _enough_cases(standing: Standing) -> tuple[State, str, str]:
    pair = standing.open_pair
    if pair is not None:
        return *_enough_for(pair, standing.unit), "comparisons"
    rows = standing.results
    if not rows:
        return "no", "No: nothing has a score", "coverage"
    fewest = min(row["effective_cases"] or row["n_groups"] for row in rows)
    if min(row["n_groups"] for row in rows) < LEAST_DIFFERENT:
        return "no", f"No: {_effective(fewest)}", "limitations"
    number = cases(rows[0]["n_groups"], rows[0]["effective_cases"])
    if len(standing.candidates) == 1:
        return "none", f"{number}: the interval says how sure", "leaderboard"
    return "open", f"{number}; not compared yet", "leaderboard"


def _enough_for(pair: Row, unit: Unit) -> tuple[State, str]:
    """Whether the cases of a pair were enough for a verdict."""
    match pair["verdict_code"]:
        case "too_few":
            return "no", f"No: only {count(pair['n_different'], 'case')} that differ"
        case "better" | "better_by_margin" | "equivalent":
            return "yes", "Yes: the verdict holds with these"
        case "not_worse":
            return "open", "Enough to rule out worse, not to show better"
        case "depends":
            return "open", "Open: it depends on missing scores"
        case "cannot_tell" if (pair["n_needed"] or 0) > pair["n_items"]:
            return "no", f"No: about {count(pair['n_needed'], 'question')} for {unit.margin(pair['margin'])}"
        case "cannot_tell" if amount := unit.detectable(pair["mde_family"]):
            return "no", f"No: enough to find {amount}, not less"
    return "no", "No: no verdict yet"


def _effective(n: float) -> str:
    return f"{n:.3g} effective {'case' if n == 1 else 'cases'}, fewer than {LEAST_DIFFERENT}"


def _judge(standing: Standing) -> tuple[State, str]:
    stamp = weakest_status(row["stamp"] for row in standing.rows)
    if stamp is None:
        return _no_judge(standing)
    corrected = [row for row in standing.results if row["estimate_kind"] == "prediction_powered"]
    if corrected:
        return _corrected(corrected, len(standing.results))
    if stamp == UNVALIDATED:
        return "no", "No: not checked against people"
    if stamp == NOT_SHOWN:
        return "no", "Checked, but agreement was not shown"
    return "yes", f"Yes, {stamp.partition(' (')[0]}"


def _corrected(rows: Sequence[Row], n: int) -> tuple[State, str]:
    """How many of `n` candidates people's scores correct, and of how many questions."""
    words = f"corrected by people's scores of {count(max(row['n_labelled'] for row in rows), 'question')}"
    if len(rows) == n:
        return "yes", words.capitalize()
    return "open", f"{len(rows)} of {n} candidates {words}, the others not"


def _no_judge(standing: Standing) -> tuple[State, str]:
    signature = standing.rows[0]["signature"]
    imported = bool(signature) and signed(signature).recorded
    match standing.primary.rater:
        case "":
            return "none", f"No judge: {'scores from elsewhere' if imported else 'a rule scored it'}"
        case _ if imported:
            return "none", "No judge: people scored it"
        case rater if rater.startswith("recorded("):
            return "none", "No judge: the verdicts were recorded in a file"
        case rater:
            return "no", f"No: no stamp says that {one_line(rater, 60)} scores as people do"


def _missing(standing: Standing) -> tuple[State, str]:
    rows = standing.candidates
    total = {
        state: sum(row[f"n_{state}"] for row in rows)
        for state in ("failed", "unscored", "never_asked", *MISSING, "responses")
    }
    silent = total["unanswered"] + total["unreadable"]
    of_silent = {_silent_words(total): silent} if silent else {}
    gaps = {words: total[state] for state, words in _GAPS.items()}
    shared = f"only {count(rows[0]['n_common'], 'question')} shared by all" if order_basis(rows, str) else ""
    if shared or any(gaps.values()):
        return "no", f"Yes: {', '.join(filter(None, [missing_words(gaps | of_silent, 'answer'), shared]))}"
    if silent:
        rule = _SILENT[standing.unit.criterion.if_unanswered]
        return "open", f"{missing_words(of_silent, 'answer')}: {rule}"
    if total["set_aside"]:
        return "open", f"{count(total['set_aside'], 'answer')} set aside by the criterion"
    return "yes", f"Nothing: all {count(total['responses'], 'answer')} scored"


def _silent_words(total: Mapping[str, int]) -> str:
    """How the answers without content came, of the ways that occur."""
    words = ("blank or refused", "unreadable", "blank, refused or unreadable")
    occurs = bool(total["unanswered"]), bool(total["unreadable"])
    return words[2 if all(occurs) else occurs.index(True)]


_GAPS = {"never_asked": "never asked", "failed": "failed", "unscored": "not scored yet"}
"""What the candidates' figures do not rest on."""


def settling(standing: Standing) -> Iterator[str]:
    """What would settle the question, from the comparison's own figures: none is guessed."""
    if len(standing.candidates) > 1 and standing.results:
        pair = standing.open_pair
        if pair is None or standing.absent:
            yield f"A comparison: `{standing.command}`"
        if pair is not None:
            yield from _of_pair(standing, pair)
    elif not standing.results:
        yield f"Score the failed answers again: `viva score {standing.run}`"


def _of_pair(standing: Standing, pair: Row) -> Iterator[str]:
    if pair["stale"]:
        yield f"Answers or scores have come since this comparison: `{standing.command}`"
    if pair["judge_alone"]:
        yield f"People's scores: a judge alone may be kinder to one candidate. {LABELS}"
    match pair["verdict_code"]:
        case "too_few":
            yield _more_cases(pair)
        case "depends" if pair["n_unlabelled"]:
            n = count(pair["n_unlabelled"], "drawn case")
            yield f"People's scores of the {n} without a label: `viva panel {standing.run} read FILES`"
        case "depends":
            yield f"Score the failed answers again: `viva score {standing.run}`"
        case "incomparable":
            name = metric_name(standing.primary.metric)
            yield f"Scores of both by one version of {name} on the same questions."
        case "cannot_tell" | "not_worse":
            yield from _needed(standing, pair)
        case _ if not pair["judge_alone"]:
            yield from _stands(standing, pair)


def _more_cases(pair: Row) -> str:
    if pair["n_labelled"]:
        return f"More than the {count(pair['n_labelled'], 'question')} that people scored. {LABELS}"
    return (
        f"At least {LEAST_DIFFERENT} cases that differ; here "
        f"{pair['n_different']} of {cases(pair['n_groups'], pair['effective_cases'])} differ."
    )


def _stands(standing: Standing, pair: Row) -> Iterator[str]:
    """What is left of a settled question: whether the difference matters, and what could be detected."""
    if not pair["stale"]:
        open_margin = pair["verdict_code"] in BETTER and pair["margin"] is None
        matters = " Set `--margin` to the smallest difference that matters to you." if open_margin else ""
        yield f"The verdict stands on these questions.{matters}"
    # A found difference below it would contradict the sentence: it is found less often, not never.
    is_above = abs(pair["difference"] or 0.0) >= (pair["mde_family"] or 0.0)
    if is_above and (amount := standing.unit.detectable(pair["mde_family"])):
        yield f"Smallest difference this benchmark can detect: {amount} (80% power)."


def _needed(standing: Standing, pair: Row) -> Iterator[str]:
    """How many questions it takes, for which a margin must be set, and what could have been found."""
    unit = standing.unit
    if pair["n_needed"]:
        yield (
            f"To tell {unit.margin(pair['margin'])} apart takes about {count(pair['n_needed'], 'question')}; "
            f"there are {pair['n_items']:,}."
        )
    elif pair["margin"] is None:
        yield (
            "How many questions it takes depends on the smallest difference that matters: state it with "
            "`viva compare … --margin M`."
        )
    if pair["mde_family"] is not None:
        yield detectable_sentence(unit.detectable(pair["mde_family"]))
