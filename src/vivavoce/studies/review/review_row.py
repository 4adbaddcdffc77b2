"""The row of the study of reviews."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow:
    """Reviews of one benchmark in one `task`, `about` a category, a format, all, one further question of the
    task, or one rater; null where nothing can be said.

    `n` items were reviewed, `n_three` of them by three raters or more. `one_of_three`, `two_of_three` and
    `three_of_three` are the shares of these that at least one, two and three raters call correct; with m > 3
    raters the chance that of three drawn among them. `all_agree` is the share on which three
    say the same, 3/3 plus none, which is published as "interrater"; where no item has three raters, the share
    of the `n_two` items with two on which both do. Each has an interval of 95 % by case, null below 10 cases.
    `alpha` is Krippendorff's (nominal) of `correct`, with its jackknife interval `low` to `high` by case,
    null below 10 cases and where nobody differs. `relevance` is the mean of the items' means, 1 to 5.

    `held_out` items have an open dispute in the task. Of the others `gold` is the share that is correct: as
    adjudicated, else as most raters say; `n_tied` items that were judged without a majority have
    none.

    `n_high` items are highly relevant, as all who say so give them 5, and `n_low` less; `n_high_two` and
    `n_low_two` of them have two reviewers or more, of whatever they said, and `twice` is the share of all
    items that do (ClinIQLink 2025, table 1). `n_comments` and `n_disputes` count raters who wrote a comment
    or an edit of an item, and who disputed one, settled or not. A row about a `question` has the ladder of
    what that question asks.

    Of a rater, `correct` is the share of their `n` items that they call correct, and `kinder` how much more
    often than the mean of the others on the same items. Of `n_again` items that they judged a second time
    they changed the share `changed`; `drift` is how much more often they said correct then. `…_low` to
    `…_high` are their 95 % intervals for a rater alone; `…_low_family` to `…_high_family` hold for all raters
    of the call together (Bonferroni), and `…_p` is by Holm over them: who is named has .05 at most.
    `profession`, `years` of experience, `paid` and `author` (of items of the run) are what the rater says of
    themselves.
    """

    about: Literal["category", "format", "all", "question", "rater"]
    benchmark: str
    task: str = "review"
    category: str | None = None
    format: str | None = None
    question: str | None = None
    rater: str | None = None
    n: int = 0
    n_groups: int = 0
    n_raters: int = 0
    n_three: int = 0
    one_of_three: float | None = None
    one_low: float | None = None
    one_high: float | None = None
    two_of_three: float | None = None
    two_low: float | None = None
    two_high: float | None = None
    three_of_three: float | None = None
    three_low: float | None = None
    three_high: float | None = None
    n_two: int = 0
    all_agree: float | None = None
    agree_low: float | None = None
    agree_high: float | None = None
    alpha: float | None = None
    low: float | None = None
    high: float | None = None
    relevance: float | None = None
    relevance_low: float | None = None
    relevance_high: float | None = None
    n_high: int = 0
    n_low: int = 0
    n_high_two: int = 0
    n_low_two: int = 0
    twice: float | None = None
    n_comments: int = 0
    n_disputes: int = 0
    held_out: int = 0
    n_gold: int = 0
    gold: float | None = None
    n_tied: int = 0
    correct: float | None = None
    kinder: float | None = None
    kinder_low: float | None = None
    kinder_high: float | None = None
    kinder_low_family: float | None = None
    kinder_high_family: float | None = None
    kinder_p: float | None = None
    n_again: int = 0
    changed: float | None = None
    drift: float | None = None
    drift_low: float | None = None
    drift_high: float | None = None
    drift_low_family: float | None = None
    drift_high_family: float | None = None
    drift_p: float | None = None
    profession: str | None = None
    years: float | None = None
    paid: bool | None = None
    author: bool | None = None
    reason: str | None = None
