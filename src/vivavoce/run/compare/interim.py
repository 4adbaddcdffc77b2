"""Interim analyses of a run: the plans that comparisons are tested again under, and the list of all tests."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.tables.stored_findings import checked_findings
from vivavoce.store import read
from vivavoce.store.comparisons import comparison_tests, put_comparison
from vivavoce.store.interim_analyses import PlanKey, RecordedAnalysis, put_interim_analysis
from vivavoce.store.view import View
from vivavoce.studies.comparing.repeated_tests import PairKey, Plan, comparison_digest
from vivavoce.studies.text import count, listed

LEAST_ANALYSES = 2
Recorded = Mapping[PlanKey, Sequence[RecordedAnalysis]]


class PlanTerms(NamedTuple):
    """What a comparison says of its plans: the data of each pair, whose items, and how many analyses."""

    digests: Mapping[PairKey, str]
    population: str
    items: str | None
    analyses: int | None = None

    @classmethod
    def of(
        cls, digests: Mapping[PairKey, str], labels: str | None, population: str, items: str | None,
        analyses: int | None,
    ) -> "PlanTerms":  # fmt: skip
        """The terms where labels correct the pairs: new labels are new data too. `labels` is their digest."""
        data = {pair: digest if labels is None else f"{digest} {labels}" for pair, digest in digests.items()}
        return cls(data, population, items, analyses)

    def keys(self) -> dict[PairKey, PlanKey]:
        """What the plan of each pair is found by."""
        return {pair: PlanKey(*pair, self.population, self.items) for pair in self.digests}


def plan_digest(terms: PlanTerms) -> str:
    """One digest of the plans of a comparison, whatever its data are."""
    return comparison_digest({pair: repr(key) for pair, key in terms.keys().items()}, {})


def check_analyses(sequential: bool, analyses: int | None) -> None:
    """Raise `SelectionError` for a number of analyses without a plan, or one that no plan can have."""
    if analyses is None:
        return
    if not sequential:
        raise SelectionError(
            "--analyses says how many interim analyses a plan has, and needs --sequential beside it."
        )
    if not LEAST_ANALYSES <= analyses <= stats.MOST_ANALYSES:
        raise SelectionError(
            f"a plan has {LEAST_ANALYSES} to {stats.MOST_ANALYSES} interim analyses, not {analyses}; without "
            "--analyses it has any number."
        )


def plans_of(recorded: Recorded, terms: PlanTerms) -> dict[PairKey, Plan]:
    """The plan of each pair before its next analysis; on data that it had before, before that one.

    Raises `SelectionError` where a plan has another number of analyses, or none left.
    """
    plans = {}
    for pair, key in terms.keys().items():
        past = recorded.get(key, ())
        analyses = past[0].analyses if past else terms.analyses
        if terms.analyses not in (None, analyses):
            raise SelectionError(_changed(pair, analyses))
        digests = [analysis.digest for analysis in past]
        # Unchanged data are the same analysis, and spend nothing.
        n = digests.index(terms.digests[pair]) if terms.digests[pair] in digests else len(past)
        if analyses is not None and n >= analyses:
            raise SelectionError(
                f"all {analyses} interim analyses of {_named(pair)} were made and have spent their alpha: no "
                "further test is covered by the plan. Compare without --sequential, outside the plan."
            )
        earlier = tuple(
            stats.InterimAnalysis(number, analysis.information, analysis.cases)
            for number, analysis in enumerate(past[:n], 1)
        )
        plans[pair] = Plan(analyses, earlier, max((analysis.family for analysis in past), default=1))
    return plans


def _named(pair: PairKey) -> str:
    return f"{pair.a} and {pair.b} by {pair.metric} ({pair.criterion})"


def _changed(pair: PairKey, analyses: int | None) -> str:
    if analyses is None:
        return (
            f"the plan of {_named(pair)} was begun without a number of interim analyses, and stays so: leave "
            "--analyses out."
        )
    return (
        f"the plan of {_named(pair)} was begun with {analyses} interim analyses, and stays so: leave "
        f"--analyses out, or say {analyses}."
    )


def new_analyses(
    rows: Sequence[Mapping[str, Any]], recorded: Recorded, terms: PlanTerms
) -> list[RecordedAnalysis]:
    """The analyses in these rows of a comparison that are not recorded yet."""
    keys = terms.keys()
    new = []
    for row in rows:
        pair = PairKey.named(row)
        if row["analysis"] is None or terms.digests[pair] in {a.digest for a in recorded.get(keys[pair], ())}:
            continue
        cases = row["n_groups"] if row["effective_cases"] is None else row["effective_cases"]
        new.append(
            RecordedAnalysis(
                *(keys[pair], row["analyses"], terms.digests[pair], row["information"]),
                cases=float(cases),
                family=row["family"],
            )
        )
    return new


def notes_outside(recorded: Recorded, terms: PlanTerms) -> tuple[str, ...]:
    """What a comparison without a plan says of the plans that are open for the same pairs."""
    open_plans = [
        _named(pair)
        for pair, key in terms.keys().items()
        if (past := recorded.get(key)) and (past[0].analyses is None or len(past) < past[0].analyses)
    ]
    words = (
        f"A plan of interim analyses is open for {listed(open_plans)}: this comparison is outside it, and "
        "its verdict is not covered. With --sequential it would be."
    )
    return (words,) if open_plans else ()


def store_analyses(
    view: View,
    settings: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    new: Sequence[RecordedAnalysis],
) -> None:
    """Store a comparison with its interim analyses, all or nothing.

    Raises `StoreError` where the run cannot be written: alpha that is not recorded would be spent again.
    """
    with view.writing() as db:
        put_comparison(db, "compare", settings, rows)
        for analysis in new:
            put_interim_analysis(db, analysis)


def interim(view: View) -> Finding:
    """The tests of a run in their order, a row per pair and criterion.

    What was compared, when, on how much, and what came of it; under a plan (`plan` is not null) the number
    of the `analysis` of how many `analyses`, and how much of alpha .05 was spent by then and is left. `test`
    is the number of the test that the comparison is; null where no pair could be compared.
    """
    findings = checked_findings(read.findings(view.db, "compare"), "compare")
    names = comparison_tests(findings)
    rows = []
    # Stored again with another result, as after an upgrade, a comparison is still one.
    for digest, finding in _by_digest(findings).items():
        name = finding["settings"].get("test") or digest
        test = names.index(name) + 1 if name in names else None
        rows += [_row(finding, row, test) for row in finding["rows"]]
    tests, planned = len(names), sum(row["plan"] is not None for row in rows)
    text = f"{count(tests, 'test')} on this run" if tests else "nothing was compared on this run yet"
    under = f"; {count(planned, 'row')} under a plan" if planned else ""
    return Finding(study="interim", rows=tuple(rows), text=f"{text}{under}.")


def _by_digest(findings: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The first of the comparisons with each digest, or with none as in run files of earlier versions."""
    first: dict[str, Mapping[str, Any]] = {}
    for k, finding in enumerate(findings):
        first.setdefault(finding["settings"].get("digest") or f"comparison {k}", finding)
    return first


COLUMNS = (
    *("benchmark", "a", "b", "metric", "criterion", "rater", "n_items", "n_groups", "effective_cases"),
    *("difference", "low", "high", "p", "p_adjusted", "family", "margin", "population", "verdict_code"),
    *("verdict", "favours", "judge_alone", "analysis", "analyses", "alpha_spent", "critical"),
)
SPENDING, SEQUENCE = "O'Brien-Fleming spending", "confidence sequence"


def _row(finding: Mapping[str, Any], row: Mapping[str, Any], test: int | None) -> dict[str, Any]:
    # Run files of earlier versions lack the columns of plans.
    columns = {name: row.get(name) for name in COLUMNS}
    spent = columns["alpha_spent"]
    plan = None
    if columns["analysis"] is not None:
        plan = SEQUENCE if columns["analyses"] is None else SPENDING
    return {
        "made_at": finding["made_at"],
        "test": test,
        **columns,
        "alpha_left": None if spent is None else max(0.0, stats.ALPHA - spent),
        "plan": plan,
        "items": finding["settings"].get("items"),
    }
