"""The variation: whose answers it edits, what it stores, what it leaves out and why."""

import json

import pytest

from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Response
from vivavoce.evaluators.proxy_task import NO_ARGUMENT
from vivavoce.run.vary.vary import vary
from vivavoce.store import read
from vivavoce.store.write import put_candidates, put_responses
from vivavoce.variants.control_kinds import KINDS

ANSWER = "The stone is the cause of it in 5 of them, says answer {} of {}. Give 10 mg of it."


@pytest.fixture
def answered(question, holding):
    """Seven arguments in six cases by A, the ceiling gold and a floor, and a question with options."""

    def made(order=1, name="run.viva", n=7):
        items = [
            question(
                f"q{k}", f"Why is it so in case {k}?", format="argument", group=f"g{k // 2 if k < 2 else k}",
                options=("Alpha", "Beta", "Gamma"), answer=("Beta",), references=(),
            )
            for k in range(n)
        ]  # fmt: skip
        items.append(question("m", "Which?", format="mcq", options=("x", "y"), answer=("x",)))
        items.append(question("s", "What?"))
        run = holding(items[::order], name)
        rows = [
            Response(benchmark="exam", item=i.item, candidate=who, text=ANSWER.format(i.item, who))
            for i in items[::order]
            for who in ("A", "gold", "F")
        ]
        rows = [r for r in rows if r.item not in ("m", "s")]
        rows += [
            Response(benchmark="exam", item="m", candidate="A", text="x"),
            Response(benchmark="exam", item="s", candidate="A", text="<think>hm</think>It is HIV."),
            Response(benchmark="exam", item="s", candidate="gold", text="  "),
        ]
        with run.writing() as db:
            keys = {(i.item, i.variant): key for key, i in read.items_by_id(db).items()}
            roles = {"A": "candidate", "gold": "ceiling", "F": "floor"}
            put_responses(db, rows, items=keys, candidates=put_candidates(db, roles))
        return run

    return made


def edits(run):
    with run.reading() as db:
        frame = read.responses(db)
    return {
        (r["item"], r["candidate"], r["edit"]): (r["text"], json.loads(r["meta"]))
        for r in frame.iter_rows(named=True)
        if r["edit"]
    }


def reasons(finding):
    return {row["what"].removeprefix("control:"): row["reasons"] for row in finding.rows}


def test_every_kind_that_can_be_made_is_made_of_candidates_and_ceilings(answered, nobody):
    run = answered()
    found = vary(run, ["control(kind=all)"], desk=nobody)
    made = edits(run)
    assert {"A", "gold"} == {candidate for _, candidate, _ in made}
    assert {row["what"].removeprefix("control:") for row in found.rows} == {"control", *KINDS}
    kinds = {edit for item, _, edit in made if item == "q0"}
    noise = {f"control:noise:{k}" for k in range(1, 6)}
    injections = {edit for edit in kinds if edit.startswith("control:injection:")}
    assert 10 == len(injections)
    singles = {f"control:{k}" for k in KINDS if k not in ("noise", "passages", "injection")}
    assert singles | noise | injections == kinds
    for text, meta in made.values():
        assert meta["change"]
        assert meta["origin"].startswith("control(kind=")
        assert "<think>" not in text
    assert made["q0", "gold", "control:none"][0] == NO_ARGUMENT
    assert made["q0", "gold", "control:empty"][0] == ""
    assert made["s", "A", "control:padded"][0].startswith("It is HIV.\n\n")


def test_what_cannot_be_made_has_a_reason(answered, nobody):
    found = reasons(vary(answered(), ["control(kind=all)"], desk=nobody))
    assert {"its format is answered with an option": 1, "it is unanswered": 1} == found["control"]
    assert found["label_text_right"]["its question has no options with one right among them"] == 1
    assert found["passages"]["it takes a folder of documents: give source=DIR"] == 15
    assert found["numbers"]["it has no number that the rules can change"] == 1
    assert found["noise"]["too few cases of this format were answered for the draw: 1"] == 5


def test_nothing_is_made_twice_and_another_seed_is_refused(answered, nobody):
    run = answered()
    vary(run, ["control(kind=all)"], desk=nobody)
    before = edits(run)
    again = vary(run, ["control(kind=all)"], desk=nobody)
    assert 0 == sum(row["rows"] for row in again.rows)
    assert before == edits(run)
    with pytest.raises(InputError, match=r"from control\(kind=\w+, seed=0\), not from control\(.*seed=1\)"):
        vary(run, ["control(kind=all, seed=1)"], desk=nobody)
    with pytest.raises(InputError, match=r"seed=0.*seed=1"):
        vary(run, ["control(kind=noise)"], seed=1, desk=nobody)
    assert before == edits(run)


def test_more_draws_keep_the_first_ones(answered, nobody):
    run, at_once = answered(), answered(name="other.viva")
    vary(run, ["control(kind=noise, draws=2)"], desk=nobody)
    vary(run, ["control(kind=noise, draws=4)"], desk=nobody)
    vary(at_once, ["control(kind=noise, draws=4)"], desk=nobody)
    assert edits(run) == edits(at_once)


def test_the_order_of_the_items_changes_nothing(answered, nobody):
    forwards, backwards = answered(), answered(-1, "backwards.viva")
    for run in (forwards, backwards):
        vary(run, ["control(kind=all, seed=3)"], desk=nobody)
    assert edits(forwards) == edits(backwards)


def test_one_kind_alone_is_what_it_is_among_all(answered, nobody):
    together, alone = answered(), answered(name="alone.viva")
    vary(together, ["control(kind=all)"], desk=nobody)
    for kind in KINDS:
        if kind != "passages":
            vary(alone, [f"control(kind={kind})"], desk=nobody)
    assert edits(together) == edits(alone)


def test_noise_is_the_same_candidates_answer_to_another_case(answered, nobody):
    run = answered()
    vary(run, ["control(kind=noise)"], desk=nobody)
    by_group = {f"q{k}": k // 2 if k < 2 else k for k in range(7)}
    for (item, candidate, _), (text, _) in edits(run).items():
        (donor,) = (other for other in by_group if text == ANSWER.format(other, candidate))
        assert by_group[item] != by_group[donor]


def test_a_new_item_changes_the_noise_of_one_neighbour(answered, nobody):
    run, larger = answered(), answered(name="larger.viva", n=8)
    for each in (run, larger):
        vary(each, ["control(kind=noise, draws=1)"], desk=nobody)
    before, after = edits(run), edits(larger)
    assert before.keys() < after.keys()
    assert sum(before[key][0] != after[key][0] for key in before) <= 2 * 2  # two items of it, two candidates


def test_label_makes_all_four(answered, nobody):
    run = answered()
    vary(run, ["control(kind=label, candidate=gold)"], desk=nobody)
    made = edits(run)
    assert {"gold"} == {candidate for _, candidate, _ in made}
    assert {kind for kind in KINDS if kind.startswith("label_")} == {edit[8:] for *_, edit in made}
    assert made["q3", "gold", "control:label_number_right"][0] == "The correct answer is 2."


def test_edits_of_edits_are_not_made(answered, nobody):
    run = answered()
    vary(run, ["control(kind=praise)"], desk=nobody)
    vary(run, ["control(kind=padded)"], desk=nobody)
    assert {"control:praise", "control:padded"} == {edit for *_, edit in edits(run)}


def test_a_dry_run_stores_nothing(answered):
    run = answered()
    found = vary(run, ["control(kind=all)"])
    assert 0 < sum(row["rows"] for row in found.rows)
    assert {} == edits(run)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("control(kind=pading)", "kind=pading is no control.*padded"),
        ("control(kind=passages)", "give source=DIR"),
        ("control(kind=noise, draws=0)", "draws is a number from 1 to 100"),
        ("control(kind=[])", "kind names no control"),
    ],
)
def test_settings_that_cannot_be_are_refused(answered, nobody, spec, message):
    with pytest.raises((SpecError, InputError), match=message):
        vary(answered(), [spec], desk=nobody)


@pytest.mark.parametrize(("who", "message"), [("F", "is a floor"), ("golds", "is not in this run.*gold")])
def test_a_floor_or_nobody_has_no_controls(answered, nobody, who, message):
    with pytest.raises(InputError, match=message):
        vary(answered(), [f"control(kind=all, candidate={who})"], desk=nobody)


def test_passages_come_from_a_folder_and_its_version_is_stored(answered, nobody, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "cases.txt").write_text(
        "It is so in case 3 because the stone blocks it. " * 3, encoding="utf-8"
    )
    run = answered()
    found = vary(run, [f"control(kind=passages, source={folder})"], desk=nobody)
    made = edits(run)
    text, meta = made["q3", "gold", "control:passages"]
    assert "the stone blocks it" in text
    assert "cases.txt" in meta["change"]
    assert "library@" in meta["origin"]
    assert str(tmp_path) not in meta["origin"]
    assert "the source holds no passage near its question" in reasons(found)["passages"]
    again = vary(run, [f"control(kind=passages, source={folder})"], desk=nobody)
    assert 0 == again.rows[0]["rows"]


HOSTILE = {
    "long": "The stone is the cause of 5 mg. " * 31_000,
    "rtl": "\u202e\u05d0\u05d1\u05d2 is the cause of 5 mg.",
    "html": "<script>alert(1)</script> is the cause of <b>5 mg</b>.",
    "emoji": "🩺1" * 50,
    "cmd": "=cmd|' /C calc'!A0 is it",
    "repeat": "the " * 100_000 + "9" * 100_000,
}


def test_hostile_texts_pass_unharmed(question, holding, nobody):
    items = [question(name, f"What is {name}?") for name in HOSTILE]
    run = holding(items)
    with run.writing() as db:
        keys = {(i.item, i.variant): key for key, i in read.items_by_id(db).items()}
        rows = [Response(benchmark="exam", item=n, candidate="A", text=t) for n, t in HOSTILE.items()]
        put_responses(db, rows, items=keys, candidates=put_candidates(db, {"A": "candidate"}))
    vary(run, ["control(kind=all, draws=1)"], desk=nobody)
    made = edits(run)
    assert made["html", "A", "control:praise"][0].startswith(HOSTILE["html"])
    noise = {made[name, "A", "control:noise:1"][0] for name in HOSTILE}
    assert noise == {text.strip() for text in HOSTILE.values()}
    assert ("emoji", "A", "control:negated") not in made
