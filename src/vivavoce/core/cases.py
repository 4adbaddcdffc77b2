"""Cases: which items are one question to statistics, by their declared group or by what they say.

Two items with the same content (question, options and context, whatever case, spaces and punctuation they are
written with) belong to one case, whatever their ids; a declared group joins further and never splits.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from vivavoce.core.group_levels import GroupLevel, level_text, level_with_enough
from vivavoce.core.item_content import Content, content_of, exhibit_of
from vivavoce.core.records import Item, ItemKey
from vivavoce.core.repeats import Hashes, hashes_of, repeats
from vivavoce.core.text import count, one_line

NearDuplicates = Literal["count", "join"]
"""What becomes of questions that are nearly the same: they are counted, or they are one case."""


class Place(NamedTuple):
    """Where an item stands, and what decides on its case; `content` is null where it has no say.

    `groups_of` is the benchmark whose groups its group is one of, where that is another one. `user_table`:
    the item is of a table or exam file of a user, and a group that it declares is one in all of these.
    `outer_groups` are the groups that its group lies in, outermost first.
    """

    benchmark: str
    item: str
    variant: str
    group: str
    content: Content | None
    groups_of: str | None = None
    user_table: bool = False
    outer_groups: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        """The benchmark that the declared groups belong to."""
        return self.groups_of or self.benchmark

    def groups_at(self, level: int) -> tuple[str, ...]:
        """The declared groups down to a level, 0 the outermost; where '' is, down to the next inner one."""
        groups = (*self.outer_groups, self.group)
        return groups[: next((n for n in range(level, len(groups)) if groups[n]), len(groups)) + 1]

    def has_group_at(self, level: int, levels: int) -> bool:
        """Whether it declares a group at a level, of as many as its benchmark has."""
        return len(self.outer_groups) + 1 == levels and (*self.outer_groups, self.group)[level] != ""

    def in_tables(self, level: int) -> Hashable:
        """The group as one of all own tables; null where none is declared, so that it is the item's id."""
        groups = self.groups_at(level)
        return (None, groups) if self.user_table and groups[-1] != self.item else None


class Cases(NamedTuple):
    """The cases of items: in their order the label of each item's case, and the repeated questions.

    `repeated` holds, for each question that several items ask, the positions of these items: one for each
    item, the first of its variants that asks it. `alike` holds the same of questions that are the same
    or nearly, null where those were not searched for; `joined` says whether near repeats are one case.
    `levels` has the level that makes the cases, by benchmark, where groups have several.
    """

    places: tuple[Place, ...]
    labels: tuple[str, ...]
    repeated: tuple[tuple[int, ...], ...]
    alike: tuple[tuple[int, ...], ...] | None = None
    joined: bool = False
    levels: Mapping[str, GroupLevel] = {}

    def level_facts(self, benchmark: str) -> dict[str, Any]:
        """The level that makes the cases of a benchmark, as columns of a row; none where it is one."""
        level = self.levels.get(benchmark)
        return level.facts if level else {}


class CaseCount(NamedTuple):
    """How many cases the items of a benchmark are.

    `questions` counts items and variants, `repeated` the items that repeat an earlier one of the benchmark,
    `shared` the cases that have questions in another benchmark as well, `further` those that no benchmark
    before it has: these sum up to the cases of all. `near_repeated` items more repeat an earlier one nearly,
    null if not looked for; they are of its case if `near_joined`. Where groups have several levels, cases are
    those of `group_level`; where the next outer level has too few, these are `n_outer` of `outer_level`.
    """

    benchmark: str
    questions: int
    repeated: int
    cases: int
    shared: int
    further: int
    near_repeated: int | None = None
    near_joined: bool = False
    group_level: str | None = None
    outer_level: str | None = None
    n_outer: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The counts of one benchmark, as columns of a row."""
        return {name: getattr(self, name) for name in CASE_FACTS}

    @property
    def text(self) -> str:
        """The sentences on repeated questions and on levels of groups; '' where there are none."""
        return repeats_text(**self.facts)

    @property
    def summary(self) -> str:
        """The benchmark with its cases, and what joins them, in one line."""
        line = f"{self.benchmark}: {count(self.questions, 'question')} in {count(self.cases, 'case')}"
        if self.repeated:
            line += (
                f"; {self.repeated:,} of them {_repeat(self.repeated)} another one, and the same question is "
            )
            line += "one case"
        if self.shared:
            line += f"; {count(self.shared, 'case')} also in another benchmark"
        return " ".join(filter(None, (f"{line}.", level_text(**self.facts), near_repeats_text(**self.facts))))


CASE_FACTS = (
    *("questions", "repeated", "cases", "near_repeated", "near_joined"),
    *("group_level", "outer_level", "n_outer"),
)
"""The counts of a benchmark that every verb shows."""


def repeats_text(
    *,
    questions: int,
    repeated: int,
    cases: int,
    near_repeated: int | None = None,
    near_joined: bool = False,
    **levels: Any,
) -> str:
    """The sentences on questions that repeat another one, or nearly, and on levels of groups; else ''."""
    near_text = near_repeats_text(questions, repeated, near_repeated, near_joined=near_joined)
    near_text = f"{near_text} {level_text(**levels)}".strip()
    if not repeated:
        return near_text
    # Repeats alone leave one case each; where fewer are left, declared groups join further.
    of_near = (near_repeated or 0) if near_joined else 0
    declared = " with the groups that are declared" if cases < questions - repeated - of_near else ""
    sentence = (
        f"{repeated:,} of {questions:,} questions {_repeat(repeated)} another one; the same question is one "
        f"case, which leaves {count(cases, 'case')}{declared}."
    )
    return f"{sentence} {near_text}".rstrip()


def near_repeats_text(
    questions: int, repeated: int, near_repeated: int | None, *, near_joined: bool, **_: object
) -> str:
    """The sentence on questions that nearly repeat another one; '' where there are none."""
    if not near_repeated:
        return ""
    phrase = look_alike(questions, repeated, near_repeated)
    of_what = (
        f"{near_repeated:,} nearly {_repeat(near_repeated)} another one, with equal numbers and negations"
    )
    if near_joined:
        return f"{phrase}: {of_what}, and near repeats are one case here."
    return f"{phrase}: {of_what}. Each counts as a case; --near-duplicates join makes near repeats one case."


def near_repeats_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """For each benchmark with near repeats how many there are, or that none were searched for."""
    for row in rows:
        if row["about"] == "questions":
            text = near_repeats_text(**{name: row[name] for name in CASE_FACTS})
            if row["near_repeated"] is None:
                text = "not known, a run of this size is not searched for them."
            if text:
                yield f"Near repeats in {one_line(row['benchmark'], 40)}: {text}"


def look_alike(questions: int, repeated: int, near_repeated: int) -> str:
    """How many different questions there seem to be: "60 questions look like 15"."""
    return f"{count(questions, 'question')} look like {questions - repeated - near_repeated:,}"


def _repeat(n: int) -> str:
    return "repeats" if n == 1 else "repeat"


def join_cases(
    places: Iterable[Place],
    near_pairs: Iterable[tuple[int, int]] | None = None,
    *,
    join_near: bool = False,
    level_names: Mapping[str, Sequence[str]] = {},
) -> Cases:
    """Join items into cases: those of one declared group of a benchmark, and those of the same content.

    Joins are transitive and cross benchmarks; a group does so where a benchmark declares whose groups it has,
    and from one of a user's own tables to another. Where groups have levels, the groups are those of the
    outermost level by which the benchmark has `LEAST_CASES` cases, else of the innermost; `level_names` names
    the levels by benchmark. An inner group is the same only within the same outer ones.
    A case bears the first label of its declared groups, by benchmark and name; where two cases of different
    benchmarks would share a label, every label begins with its benchmark. Items with exhibits are the same if
    these are the same too, or if some item asks their question without one: a template ("Which step is
    wrong?") joins nothing. Variants of one item are no repeats of each other. Time is linear in the items.
    `near_pairs` are positions of questions that are nearly the same, null if not searched for; they are
    one case with `join_near` alone.
    """
    places = tuple(places)
    same = _same_content(places)
    pairs = tuple(near_pairs or ())
    joining = pairs if join_near else ()
    chosen = _levels(places, same, joining, level_names)
    level_of = {home: level.level for home, level in chosen.items()}
    roots = _roots(places, same, joining, level_of)
    names = _labels(places, roots, level_of)
    labels = tuple(names[root] for root in roots)
    alike = None if near_pairs is None else tuple(_alike(places, same, pairs))
    levels = {place.benchmark: chosen[place.home] for place in places if place.home in chosen}
    return Cases(places, labels, tuple(_repeated(places, same)), alike, join_near, levels)


def _levels(
    places: Sequence[Place],
    same: Sequence[Hashable],
    near_pairs: Sequence[tuple[int, int]],
    names: Mapping[str, Sequence[str]],
) -> dict[str, GroupLevel]:
    """By benchmark with groups of several levels the one that makes its cases."""
    depths: dict[str, int] = {}
    for place in places:
        if place.outer_groups:
            depths[place.home] = max(depths.get(place.home, 0), len(place.outer_groups) + 1)
    chosen: dict[str, GroupLevel] = {}
    for home, depth in sorted(depths.items()):

        def count_at(level: int, home: str = home, depth: int = depth) -> tuple[int, int]:
            """The cases and the groups of the benchmark at a level, benchmarks before it at their own."""
            level_of = {name: earlier.level for name, earlier in chosen.items()} | {home: level}
            roots = zip(places, _roots(places, same, near_pairs, level_of), strict=True)
            # An item without a label at this level is a case, and no further exam.
            of_level = [x for x in roots if x[0].home == home and x[0].has_group_at(level, depth)]
            return len({root for _, root in of_level}), len({place.groups_at(level) for place, _ in of_level})

        named = names.get(home, ())
        chosen[home] = level_with_enough(count_at, named if len(named) == depth else [None] * depth)
    return chosen


def _labels(
    places: Sequence[Place], roots: Sequence[Hashable], level_of: Mapping[str, int]
) -> dict[Hashable, str]:
    """The label of each case: its first groups, with their benchmark where two cases would share a label."""
    first: dict[Hashable, tuple[str, tuple[str, ...]]] = {}
    for place, root in zip(places, roots, strict=True):
        name = place.benchmark, place.groups_at(level_of.get(place.home, 0))
        first[root] = min(first.get(root, name), name)
    label_by: tuple[Callable[[str, tuple[str, ...]], str], ...] = (
        lambda _, groups: " / ".join(groups),
        lambda benchmark, groups: f"{benchmark}: {' / '.join(groups)}",
        lambda benchmark, groups: json.dumps([benchmark, *groups]),  # a label may hold what divides them
    )
    for label in label_by:
        labels = {root: label(*name) for root, name in first.items()}
        if len(set(labels.values())) == len(labels):
            break
    return labels


def _same_content(places: Sequence[Place]) -> list[Hashable]:
    """By item what is equal for items of the same content; null for an item without a say."""
    contents = [place.content for place in places]
    plain = {content.text for content in contents if content and not content.exhibit}
    return [content.text if content and content.text in plain else content for content in contents]


def _roots(
    places: Sequence[Place],
    same: Sequence[Hashable],
    near_pairs: Iterable[tuple[int, int]],
    level_of: Mapping[str, int],
) -> list[Hashable]:
    """By item the node that stands for all that are joined with it, by group, content or nearly.

    Groups are those of the level of their benchmark, the outermost where it has none.
    """
    parents: dict[Hashable, Hashable] = {}
    levels = [level_of.get(place.home, 0) for place in places]
    nodes = [(place.home, place.groups_at(level)) for place, level in zip(places, levels, strict=True)]
    for place, node, level, content in zip(places, nodes, levels, same, strict=True):
        group = _root(parents, node)
        for joined in (place.in_tables(level), content):
            if joined is not None and (root := _root(parents, joined)) != group:
                parents[root] = group
    for pair in near_pairs:
        first, second = (_root(parents, nodes[position]) for position in pair)
        parents[second] = first
    return [_root(parents, node) for node in nodes]


def _root(parents: dict[Hashable, Hashable], node: Hashable) -> Hashable:
    """The node that stands for all that are joined with this one; the path to it is halved on the way."""
    while (parent := parents.setdefault(node, node)) != node:
        parents[node] = node = parents[parent]
    return node


def _alike(
    places: Sequence[Place], same: Sequence[Hashable], near_pairs: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, ...]]:
    """For each question that several items ask in the same words or nearly, the positions of these items."""
    nodes = [position if content is None else content for position, content in enumerate(same)]
    parents: dict[Hashable, Hashable] = {}
    for first, second in near_pairs:
        parents[_root(parents, nodes[second])] = _root(parents, nodes[first])
    return _repeated(places, [_root(parents, node) for node in nodes])


def _repeated(places: Sequence[Place], same: Sequence[Hashable]) -> Iterator[tuple[int, ...]]:
    """For each content that several items have, the positions of these items."""
    members: dict[Hashable, dict[tuple[str, str], int]] = {}
    times = Counter(same)
    for position, (place, content) in enumerate(zip(places, same, strict=True)):
        if content is not None and times[content] > 1:
            members.setdefault(content, {}).setdefault((place.benchmark, place.item), position)
    return (tuple(positions.values()) for positions in members.values() if len(positions) > 1)


def count_cases(joined: Cases, chosen: Collection[ItemKey] | None = None) -> list[CaseCount]:
    """The cases by benchmark, of chosen items (benchmark, base id, variant) or of all."""
    counted = [n for n, place in enumerate(joined.places) if chosen is None or place[:3] in chosen]
    labels: dict[str, list[str]] = {}
    for n in counted:
        labels.setdefault(joined.places[n].benchmark, []).append(joined.labels[n])
    repeated = _count_repeated(joined.places, joined.repeated, frozenset(counted))
    n_near = _count_near(joined, frozenset(counted))
    homes = Counter(label for of_benchmark in labels.values() for label in set(of_benchmark))
    further = _first_benchmarks(labels)
    return [
        CaseCount(
            *(benchmark, len(of_benchmark), repeated[benchmark], len(set(of_benchmark))),
            shared=sum(homes[label] > 1 for label in set(of_benchmark)),
            further=further[benchmark],
            near_repeated=None if n_near is None else n_near[benchmark],
            near_joined=joined.joined,
            **joined.level_facts(benchmark),
        )
        for benchmark, of_benchmark in labels.items()
    ]


def _first_benchmarks(labels: dict[str, list[str]]) -> Counter[str]:
    """By benchmark the cases that none before it has."""
    first = {label: benchmark for benchmark in reversed(labels) for label in labels[benchmark]}
    return Counter(first.values())


def _count_repeated(
    places: Sequence[Place], repeated: Iterable[Sequence[int]], counted: Collection[int]
) -> Counter[str]:
    """By benchmark the items among the counted positions that repeat an earlier one of the benchmark."""
    total: Counter[str] = Counter()
    for positions in repeated:
        members = Counter(places[n].benchmark for n in positions if n in counted)
        total.update({benchmark: n - 1 for benchmark, n in members.items()})
    return total


def _count_near(joined: Cases, counted: Collection[int]) -> Counter[str] | None:
    """By benchmark the items that nearly repeat an earlier one, without those that repeat one wholly."""
    if joined.alike is None:
        return None
    total = _count_repeated(joined.places, joined.alike, counted)
    total.subtract(_count_repeated(joined.places, joined.repeated, counted))
    return total


def cases_of(items: Iterable[Item]) -> Cases:
    """The cases of items. What was made of an item in a run follows it and says nothing of its own."""
    return join_cases(map(place_of, items))


def count_items(
    items: Sequence[Item],
    near_pairs: Collection[tuple[int, int]] | None = None,
    texts: Hashes | None = None,
    *,
    join_near: bool = False,
    level_names: Sequence[str] = (),
) -> CaseCount:
    """The cases of the items of one benchmark, at least one; the options are as in `join_cases`.

    An item is a case by itself if no other has its group or its text, or nearly. Only the others are held and
    joined. `texts` are hashes of what each item says, where they are known.
    """
    (benchmark,) = {item.benchmark for item in items}
    if any(item.outer_groups for item in items):  # an item may be alone in its group, and not in an outer one
        names = {benchmark: level_names}
        (counted,) = count_cases(
            join_cases(map(place_of, items), near_pairs, join_near=join_near, level_names=names)
        )
        return counted
    places = _not_alone(items, frozenset(chain.from_iterable(near_pairs or ())), texts)
    number = {position: n for n, position in enumerate(places)}
    pairs = None if near_pairs is None else [(number[first], number[second]) for first, second in near_pairs]
    joined = join_cases(places.values(), pairs, join_near=join_near)
    n_near = None if near_pairs is None else 0
    alone = CaseCount(benchmark, 0, 0, 0, shared=0, further=0, near_repeated=n_near, near_joined=join_near)
    counted = next(iter(count_cases(joined)), alone)
    cases = counted.cases + len(items) - len(places)
    return counted._replace(questions=len(items), cases=cases, further=cases)


def _not_alone(items: Sequence[Item], alike: Collection[int], texts: Hashes | None) -> dict[int, Place]:
    """By position the places of items whose group or text another one has, and of those that are alike."""
    groups = hashes_of(item.group for item in items)
    texts = texts or hashes_of(getattr(_content(item), "text", None) for item in items)
    shared_groups, shared_texts = repeats(groups), repeats(texts)
    worded = {n for n, text in enumerate(texts) if text in shared_texts} | {*alike}
    return {
        n: place_of(item) if n in worded else _place(item, None)
        for n, (item, group) in enumerate(zip(items, groups, strict=True))
        if group in shared_groups or n in worded
    }


def place_of(item: Item) -> Place:
    """Where an item stands, with its content."""
    return _place(item, _content(item))


def _place(item: Item, content: Content | None) -> Place:
    return Place(item.benchmark, item.item, item.variant, item.group, content, outer_groups=item.outer_groups)


def _content(item: Item) -> Content | None:
    """What an item says; null for a later turn, since two that are worded alike ask for different things."""
    if item.origin is not None or item.follows is not None:
        return None
    exhibit = exhibit_of(item.false_answer, item.steps, item.step)
    return content_of(item.question, item.options, item.context, exhibit=exhibit, meta=item.meta)
