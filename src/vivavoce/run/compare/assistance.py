"""People with and without help, as two candidates: as `viva annotate RUN answer --assist` drew them."""

import polars as pl

from vivavoce.core.errors import SelectionError
from vivavoce.store.person_answers import helped_answers
from vivavoce.store.view import View
from vivavoce.studies.comparing.outcome_words import ALONE, WITH
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, ScoreTable


def helped_people(view: View) -> list[str]:
    """The persons who answered some questions with help and others without, in the order of names."""
    helps: dict[str, set[bool]] = {}
    for _, _, _, person, _, helper in helped_answers(view.db):
        helps.setdefault(person, set()).add(helper is not None)
    people = sorted(person for person, kinds in helps.items() if len(kinds) == 2)
    if not people:
        raise SelectionError(
            "nobody answered here with help and without: `viva annotate RUN answer --raters NAMES --assist "
            "CANDIDATE` asks people, and `viva score` scores what they answer."
        )
    return people


def by_help(view: View, table: ScoreTable) -> tuple[list[str], ScoreTable]:
    """The scores of people under the help they had: `people with CANDIDATE` and `people alone`.

    A question that several people answered alike, with help or without, has them as its repeats.
    """
    schema = {**dict.fromkeys(RESPONSE[:-1], pl.String), "repeat": pl.Int64, "helper": pl.String}
    helps = pl.DataFrame(list(helped_answers(view.db)), schema, orient="row")
    rows = table.scores.join(helps, on=RESPONSE, how="inner", maintain_order="left")
    rows = rows.with_columns(
        person=pl.struct("candidate", "repeat"),
        candidate=pl.when(pl.col("helper").is_null())
        .then(pl.lit(ALONE))
        .otherwise(pl.format(f"{WITH}{{}}", "helper")),
    )
    of_item = ["measure_id", *ITEM_KEY, "candidate"]
    repeat = pl.col("person").rank("dense").over(of_item).cast(table.scores["repeat"].dtype)
    rows = rows.with_columns(repeat=repeat).select(table.scores.columns)
    names = [*sorted(set(rows["candidate"]) - {ALONE}), ALONE]
    return names, table._replace(scores=rows)
