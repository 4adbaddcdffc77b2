"""Rubrics as files: those that are shipped, and every fault of one's own named by its line."""

import hashlib
import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cases import each_case

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.records import Item
from vivavoce.judging.loading import load, shipped
from vivavoce.judging.rubric import Rubric

NAMES = (
    *("correctness", "healthbench", "healthbench_professional", "listwise", "medgpt", "medgpt_free"),
    *("pairwise", "prometheus", "prometheus2"),
)
CONTESTS = ("listwise", "pairwise")


def first(rubric: Rubric, item: Item):  # type: ignore[no-untyped-def]
    if rubric.kind in CONTESTS:
        return rubric.comparison(item, ["one", "two"])
    return rubric.requests(item, "one")[0]


def test_nine_rubrics_are_shipped() -> None:
    assert NAMES == shipped()


@each_case("name", NAMES)
def test_a_shipped_rubric_says_whose_it_is_and_what_it_is_not(name: str) -> None:
    rubric = load(name)
    version, _ = WORDING[name]
    assert (name, version, f"{name}.md") == (rubric.name, rubric.version, rubric.path.name)
    assert rubric.source
    assert rubric.note.startswith("Not for clinical use.")


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_prompt_is_whole(name: str, item: Item) -> None:
    rubric = load(name)
    ask = first(rubric, item)
    sent = "\n".join(m.content for m in ask.messages)
    assert "{{" not in sent
    assert "}}" not in sent
    for criterion in rubric.criteria:
        for value, text in criterion.levels.items():
            level = f"{value:g}: {text}" if rubric.delimiters == "tags" else f"Score {value:g}: {text}"
            assert 1 == sent.count(f"\n{level}\n")
    assert ("<reference>\n" in sent or "###Reference" in sent) == rubric.reference
    assert "When is CD4 &lt;200 an alarm?" in html.escape(html.unescape(sent))
    assert "p1" not in sent


@pytest.mark.parametrize("name", ["medgpt", "medgpt_free", "prometheus", "prometheus2", "correctness"])
def test_every_level_has_its_anchor(name: str) -> None:
    for criterion in load(name).criteria:
        if criterion.of is None:
            low, high = criterion.criterion.low, criterion.criterion.high
            steps = criterion.steps or tuple(range(int(low or 0), int(high or 0) + 1))
            assert steps == tuple(sorted(criterion.levels))


@pytest.mark.parametrize("name", ["medgpt", "medgpt_free"])
def test_medgpt_has_the_five_published_criteria(name: str) -> None:
    told = {c.criterion: (c.low, c.high, c.direction, c.if_unanswered) for c in load(name).columns}
    silence = {"demographic_bias": "set_aside", "harm": "set_aside"}
    names = ("comprehension", "reasoning", "knowledge_recall", "demographic_bias", "harm")
    assert {n: (0.0, 5.0, "higher", silence.get(n, "worst")) for n in names} == told


def test_the_twins_differ_in_the_reference_alone() -> None:
    with_it, without = load("medgpt"), load("medgpt_free")
    assert with_it.criteria == without.criteria
    assert (True, False) == (with_it.reference, without.reference)
    assert with_it.user.replace("{{ reference }}\n\n", "") == without.user


def test_question_reference_and_answer_come_in_this_order(item: Item) -> None:
    told = load("medgpt").requests(item, "It is.")[0].messages[1].content
    assert ["question", "reference", "answer"] == re.findall(r"^<(\w+)>$", told, re.MULTILINE)


def test_prometheus_also_marks_from_0_to_1() -> None:
    rating, unit = load("prometheus").columns
    assert ("rating", 1, 5) == (rating.criterion, rating.low, rating.high)
    assert ("rating_unit", 0, 1) == (unit.criterion, unit.low, unit.high)
    assert "rating" == load("prometheus").criteria[1].of


def test_ranks_have_no_mean_but_the_share_that_stands_behind_has() -> None:
    rank, ahead = load("listwise").columns
    assert ("rank", 1, None, "lower", "rank") == (
        rank.criterion,
        rank.low,
        rank.high,
        rank.direction,
        rank.pool,
    )
    assert ("ahead", 0, 1, "higher", "mean") == (
        ahead.criterion,
        ahead.low,
        ahead.high,
        ahead.direction,
        ahead.pool,
    )


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("prometheus")])
def test_a_schema_is_strict_and_asks_for_the_reason_first(name: str, item: Item) -> None:
    schema = first(load(name), item).schema
    assert schema is not None
    assert False is schema["additionalProperties"]
    assert schema["required"] == list(schema["properties"])
    assert "reason" == schema["required"][0]
    assert not re.search("minimum|maximum|pattern", str(schema))


def test_a_schema_names_what_may_be_said(item: Item) -> None:
    properties = load("correctness").requests(item, "x")[0].schema["properties"]  # type: ignore[index]
    assert [0, 0.5, 1] == properties["correct"]["enum"]
    assert ["A", "B", "tie"] == load("pairwise").comparison(item, ["x", "y"]).schema["properties"]["winner"][
        "enum"
    ]
    harm = load("medgpt").requests(item, "x")[0].schema["properties"]["harm"]  # type: ignore[index]
    assert harm["description"].endswith("A number from 0 to 5.")


def test_a_tag_has_no_schema(item: Item) -> None:
    (ask,) = load("prometheus").requests(item, "x")
    assert ask.schema is None
    assert "[RESULT]" in ask.messages[0].content


def test_each_point_is_a_question_of_its_own_without_its_weight(item: Item) -> None:
    asks = load("healthbench").requests(item, "It is.")
    assert ["p1", "p2"] == [ask.unit for ask in asks]
    for ask, own, other in zip(asks, ("limit", "prophylaxis"), ("prophylaxis", "limit"), strict=True):
        sent = ask.messages[1].content
        assert own in sent
        assert other not in sent
        assert "-3" not in sent


def test_answers_are_shown_in_their_order_under_letters(item: Item) -> None:
    ask = load("listwise").comparison(item, ["first", "second", "third"])
    assert ("A", "B", "C") == ask.labels
    shown = re.findall(r'<answer label="(\w)">\n(\w+)\n</answer>', ask.messages[1].content)
    assert [("A", "first"), ("B", "second"), ("C", "third")] == shown


def test_each_criterion_may_have_a_call_of_its_own(written: Callable[..., Rubric], item: Item) -> None:
    two = "    scale: [0, 5]\n  - name: tone\n    ask: Is it kind?\n    scale: [1, 3]\n"
    rubric = written(("    scale: [0, 5]\n", two), ("kind: mark\n", "kind: mark\ncall: each\n"))
    harm, tone = rubric.requests(item, "x")
    assert (("harm",), ("tone",)) == (harm.criteria, tone.criteria)
    assert "kind?" not in harm.messages[0].content
    assert ["reason", "tone"] == tone.schema["required"]
    assert {"tone": 2} == rubric.read_reply("2", tone)


def test_a_derived_mark_is_rescaled(written: Callable[..., Rubric], item: Item) -> None:
    also = "    scale: [0, 5]\n    smallest_difference: 1\n    also: {name: percent, scale: [0, 100]}\n"
    rubric = written(("    scale: [0, 5]\n", also))
    (ask,) = rubric.requests(item, "x")
    assert ("harm",) == ask.criteria
    assert {"harm": 4, "percent": 80} == rubric.read_reply("4", ask)
    assert 20 == rubric.columns[1].smallest_difference


@pytest.mark.parametrize(
    ("reasoning", "told"), [("strip", "Yes."), ("keep", "&lt;think&gt;No?&lt;/think&gt;Yes.")]
)
def test_a_declared_rule_says_what_of_reasoning_is_shown(
    reasoning: str, told: str, written: Callable[..., Rubric], item: Item
) -> None:
    rubric = written(("kind: mark\n", f"kind: mark\nreasoning: {reasoning}\n"))
    (ask,) = rubric.requests(item, "<think>No?</think>Yes.")
    assert f"<answer>\n{told}\n</answer>" in ask.messages[0].content


def test_options_context_and_several_references_are_shown() -> None:
    closed = Item(
        benchmark="b", item="i", format="list", question="Which?", options=("x", "y", "z"), answer=("x", "z"),
        context="A note.",
    )  # fmt: skip
    told = load("correctness").requests(closed, "x")[0].messages[1].content
    assert "<question>\nA note.\n\nWhich?\n\nA. x\nB. y\nC. z\n</question>" in told
    assert "<reference>\nx, z\n</reference>" in told
    several = Item(benchmark="b", item="i", format="short", question="?", references=("r", "s"))
    told = load("correctness").requests(several, "x")[0].messages[1].content
    assert "<reference>\nr\n</reference>\n<reference>\ns\n</reference>" in told


@pytest.mark.parametrize("blank", ["", " \n", "̶", "<think>a thought</think>"])
def test_a_blank_answer_never_reaches_a_judge(blank: str, item: Item) -> None:
    with pytest.raises(MetricError, match="a blank answer is not for a judge"):
        load("medgpt").requests(item, blank)
    with pytest.raises(MetricError, match="a blank answer is not for a judge"):
        load("pairwise").comparison(item, ["fine", blank])


def test_an_item_without_what_is_shown_is_not_marked(item: Item) -> None:
    bare = Item(benchmark="b", item="i", format="short", question="?")
    marked = {name: load(name).applies_to(bare) for name in NAMES}
    assert {"listwise", "medgpt_free", "pairwise"} == {name for name, yes in marked.items() if yes}
    assert all(load(name).applies_to(item) for name in NAMES)
    with pytest.raises(MetricError, match="item 'i' has no reference for 'medgpt'"):
        load("medgpt").requests(bare, "x")
    with pytest.raises(MetricError, match="item 'i' has no rubric points for 'healthbench'"):
        load("healthbench").requests(bare, "x")


def test_marking_and_comparing_are_not_confused(item: Item) -> None:
    with pytest.raises(MetricError, match="scores single answers"):
        load("medgpt").comparison(item, ["x", "y"])
    with pytest.raises(MetricError, match="compares answers"):
        load("pairwise").requests(item, "x")
    with pytest.raises(MetricError, match="compares two answers, not 3"):
        load("pairwise").comparison(item, ["x", "y", "z"])
    with pytest.raises(MetricError, match="compares two answers or more, not 1"):
        load("listwise").comparison(item, ["x"])


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no rubric 'medgtp'.*Did you mean 'medgpt'"):
        load("medgtp")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([("version: 2", "version: two")], "line 3: version: is a whole number"),
        ([("version: 2\n", "")], "mine.md: version: is a whole number"),
        ([("source: our own", "source:")], "line 4: source: needs a text"),
        ([("kind: mark", "kind: marks")], "line 5: kind: is 'marks', not one of mark, pairwise, listwise"),
        ([("reference: false", "reference: maybe")], "line 6: reference: is true or false"),
        ([("reference: false", "reference: true")], "mine.md: the prompt lacks {{ reference }}"),
        ([("{{ question }}", "{{ reference }}")], "line 6: the prompt shows {{ reference }}, but"),
        ([("{{ answer }}", "")], "the prompt lacks {{ answer }}"),
        ([("{{ criteria }}\n", ""), ("{{ form }}", "")], "the prompt lacks {{ criteria }}, {{ form }}"),
        ([("{{ question }}", "{{ qestion }}")], "unknown variable {{ qestion }}. Did you mean 'question'?"),
        ([("{{ question }}", "{{ the question }}")], "a variable of the prompt is not written as {{ name }}"),
        ([("source: our own", "source: our own\nversion: 3")], "line 5: version stands there twice"),
        ([("source: our own", "source: our own\ndirection: lower")], "line 5: direction is no setting here"),
        ([("source: our own", "source: our own\nkidn: 1")], "kidn is no setting here. Did you mean 'kind'?"),
        ([("source: our own", "source: [our own")], "no valid YAML"),
        ([("---\nname", "name")], "a rubric begins with its settings between two lines of ---"),
        ([("]\n---", "]\n")], "a rubric begins with its settings between two lines of ---"),
        ([("  - name: harm", "  - name: Harm 2")], "line 8: a criterion's name is of the letters"),
        ([("    ask: Is it safe?\n", "")], "line 8: ask: needs a text"),
        ([("[0, 5]", "[5, 0]")], "line 10: scale: is [low, high] with low below high"),
        ([("[0, 5]", "[0, .nan]")], "line 10: .nan is no number"),
        ([("[0, 5]", "[false, true]")], "line 10: scale:"),
        ([("[0, 5]", "[0, null]")], "line 10: scale:"),
        ([("[0, 5]", "[0, 5]\n    step: 2")], "line 11: steps of 2 do not lead from 0 to 5"),
        ([("[0, 5]", "[0, 5]\n    step: 0")], "line 11: step: is a number above 0"),
        ([("[0, 5]", "[0, 5]\n    levels: {6: x}")], "line 11: the level 6 is outside the scale"),
        ([("[0, 5]", "[0, 5]\n    levels: {low: x}")], "line 11: the level 'low' is outside the scale"),
        ([("[0, 5]", "[0, 5]\n    levels:\n      1: x\n      2:")], "line 13: the level 2 needs a text"),
        ([("[0, 5]", "[0, 5]\n    levels:\n      1: x\n      1: y")], "line 13: 1 stands there twice"),
        ([("[0, 5]", "[0, 5]\n    levels:\n      1: x\n      1.0: y")], "line 13: 1.0 stands there twice"),
        ([("[0, 5]", "[0, 5]\n    step: 1\n    levels: {0.5: x}")], "line 12: the level 0.5 is no step"),
        ([("[0, 5]", "[0, 5]\n    direction: up")], "line 11: direction: is 'up', not one of higher, lower"),
        ([("[0, 5]", "[0, 5]\n    if_unanswered: zero")], "line 11: if_unanswered: is 'zero'"),
        ([("[0, 5]", "[0, 5]\n    also: {name: harm, scale: [0, 1]}")], "the name 'harm' is taken"),
        ([("[0, 5]", "[0, 5]\n  - {name: harm, ask: x, scale: [0, 1]}")], "line 11: the name 'harm' is"),
        ([("[0, 5]", "[0, 5]\n  - {name: a, key: Harm, ask: x, scale: [0, 1]}")], "the name 'harm' is taken"),
        ([("name: harm", "name: reason")], "the name 'reason' is taken"),
        ([("name: harm", "name: harm\n    key: '?'")], "line 9: a key has letters or digits"),
        ([("[0, 5]", "[0, 5]\n  - tone")], "line 11: here stands a mapping of names to values"),
        ([("kind: mark", "kind: pairwise")], "line 8: a rubric of kind pairwise has scale: [0, 1]"),
        ([("kind: mark", "kind: listwise")], "line 8: ranks have scale: [1, null]"),
        ([("kind: mark", "kind: points\ncall: joint"), ("[0, 5]", "[0, 1]")], "points are scored one by one"),
        (
            [("kind: mark", "result: tag"), ("[0, 5]", "[0, 1]\n  - {name: a, ask: x, scale: [0, 1]}")],
            "line 5: a tag holds one score",
        ),
        ([("{{ question }}", "Hello.\n## user\n{{ question }}")], "text stands before the first of the"),
        ([("{{ question }}", "## system\n{{ question }}")], "one section ## user and at most one ## system"),
        ([("source: our own", "source: &a our own\nnote: [*a]")], "line 5: write it out, aliases"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_line(
    changes: list[tuple[str, str]], why: str, written: Callable[..., Rubric]
) -> None:
    with pytest.raises(InputError) as told:
        written(*changes)
    assert why in str(told.value)
    assert "mine.md" in str(told.value)
    assert "\n" not in str(told.value).replace("\n  in", "")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"---\nname: caf\xe9\n---\n")
    for name in ("latin.md", "none.md"):
        with pytest.raises(InputError, match=rf"the rubric .*{name} cannot be read"):
            load(str(tmp_path / name))


@pytest.mark.parametrize("settings", ["- a", "a", "", "a: &a [*a]", "a: &a {b: 1}\nc: *a", "a: 2020-99-99"])
def test_settings_of_another_shape_are_refused(settings: str, tmp_path: Path) -> None:
    (tmp_path / "odd.md").write_text(f"---\n{settings}\n---\n{{{{ answer }}}}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"odd\.md"):
        load(str(tmp_path / "odd.md"))


def test_a_file_with_a_byte_order_mark_and_crlf_is_read(tmp_path: Path) -> None:
    from tests.judging.rubrics.conftest import MARK

    (tmp_path / "mine.md").write_bytes(b"\xef\xbb\xbf" + MARK.replace("\n", "\r\n").encode())
    assert "mine" == load(str(tmp_path / "mine.md")).name


def test_sections_become_messages(written: Callable[..., Rubric], item: Item) -> None:
    rubric = written(("{{ question }}", "## system\nYou mark.\n{{ criteria }}\n## user\n{{ question }}"))
    system, user = rubric.requests(item, "x")[0].messages
    assert ("system", "user") == (system.role, user.role)
    assert system.content.startswith("You mark.\n### harm (0 to 5)\nIs it safe?\n\nWhat stands inside <")


# A changed prompt is another examiner: raise the version of what changed, and note the digest.
WORDING = {
    "correctness": (1, "9e1b4f34b602"),
    "healthbench": (2, "e997713f8754"),
    "healthbench_professional": (1, "e997713f8754"),
    "listwise": (1, "97943a4e0e22"),
    "medgpt": (1, "14ac56d2eda2"),
    "medgpt_free": (1, "5d5b2dd46e21"),
    "pairwise": (1, "c337f0f086af"),
    "prometheus": (1, "a5425e8d5f5e"),
    "prometheus2": (1, "2990da9a4c95"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_prompt_has_a_new_version(name: str, item: Item) -> None:
    rubric = load(name)
    ask = first(rubric, item)
    again = rubric.again(ask, "hm", "empty reply")
    sent = json.dumps([ask.messages, ask.schema, again], ensure_ascii=False)
    assert WORDING[name] == (rubric.version, hashlib.sha256(sent.encode()).hexdigest()[:12])


def test_equal_questions_are_equal_requests(item: Item) -> None:
    assert load("medgpt").requests(item, "x") == load("medgpt").requests(item, "x")
