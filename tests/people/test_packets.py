"""Packets: the same for the same seed, blind, harmless, and never over something else."""

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.people.raters import drawn, examined, lines
from tests.studies.making import made, score

from vivavoce import formats
from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.core.spreadsheets import FORMULA
from vivavoce.people.packets import write_packets
from vivavoce.people.question import plain
from vivavoce.people.stored_keys import read_keys
from vivavoce.run.run import Run
from vivavoce.store import read

HOSTILE = (
    "</div></section><script>pwned = 1</script><img src=x onerror='pwned = 2'> \"so\" \u202ereversed\u202c, "
    "a;b\nsecond line \u2028 end"
)
FORMULAS = ('=HYPERLINK("http://example.org")', "+1+1", "-2", "@SUM(A1)", "\t=1", "'=1", "＝1")


def orders(run: Run) -> dict[str, list[tuple[str, list[tuple[str, ...]]]]]:
    """By rater the questions in their order, with the candidates behind the labels."""
    with run.file.reading() as db:
        (key,) = read_keys(db).values()
    return {
        who: [(one.question.name, [shown.candidates for shown in one.answers]) for one in seen]
        for who, seen in key.packets.items()
    }


def test_the_same_run_and_seed_give_the_same_packets_byte_for_byte(tmp_path: Path) -> None:
    run = examined(tmp_path)
    for name in ("one", "other"):
        write_packets(run.file, ["anna", "ben"], tmp_path / name / "out", n=5)
    files = sorted(path.name for path in (tmp_path / "one" / "out").iterdir())
    assert ["anna.csv", "anna.html", "ben.csv", "ben.html"] == files
    for name in files:
        one, other = ((tmp_path / which / "out" / name).read_bytes() for which in ("one", "other"))
        assert one == other


def test_who_knows_all_answers_still_cannot_tell_the_order(tmp_path: Path) -> None:
    """Whoever makes the same panel from a run of the same content gets another id and other orders."""
    one, other = examined(tmp_path / "one", 20), examined(tmp_path / "other", 20)
    ids = {write_packets(run.file, ["anna"], run.file.path.parent / "out").panel for run in (one, other)}
    assert 2 == len(ids)
    assert dict(orders(one)["anna"]) != dict(orders(other)["anna"])
    secrets = set()
    for run in (one, other):
        with run.file.reading() as db:
            (key,) = read_keys(db).values()
        secrets.add(key.secret)
        assert key.secret not in (run.file.path.parent / "out" / "anna.csv").read_text(encoding="utf-8-sig")
    assert 2 == len(secrets)


def test_a_panel_keeps_its_id_in_a_run_that_another_was_merged_into(tmp_path: Path) -> None:
    run = examined(tmp_path, 3)
    first = write_packets(run.file, ["anna"], tmp_path / "out")
    target = drawn(examined(tmp_path / "target", 3))
    with run.file.reading() as db:
        bodies = db.execute("SELECT kind, body FROM events ORDER BY event_id").fetchall()
    with target.file.writing() as db:
        db.executemany("INSERT INTO events (kind, body) VALUES (?, ?)", bodies)
    assert first.panel == write_packets(target.file, ["ben"], tmp_path / "out").panel


CHAIN = {
    "question": "What next?",
    "references": ["give insulin"],
    "steps": ["Step 1: glucose  is high", "Step 2: ketones are, too", "so it is ketoacidosis"],
}
LABEL = re.compile(r"^(?:[A-Z][A-Za-z ]*:|\d+\.)", re.MULTILINE)


@pytest.mark.parametrize(
    ("of", "more"),
    [("multi_hop", {}), ("multi_hop_inverse", {"step": 2, "references": ["they are not"]})],
)
def test_the_reference_bears_the_labels_of_the_prompt(
    tmp_path: Path, of: str, more: dict[str, object]
) -> None:
    said = "Final Answer: x\nReasoning:\n1. y" if of == "multi_hop" else "Step: 1\nExplanation: x"
    items = [{"item": "q", "format": of, **CHAIN, **more}]
    run = made(tmp_path, {"A": {"q": said}, "B": {"q": said.replace("x", "z")}}, items=items)
    write_packets(run.file, ["anna"], tmp_path / "out")
    with run.file.reading() as db:
        (item,) = read.items_by_id(db).values()
    shown = [row["answer"] for row in lines(tmp_path / "out" / "anna.csv")]
    (key,) = (text for text in shown if "insulin" in text or "they are not" in text)
    # the chain that an inverse question shows, and the third step of our key, are not in the template
    asked = [one for one in LABEL.findall(formats.ask(item)) if not one.startswith("Step ")]
    if of == "multi_hop":
        assert key == (
            "Final Answer: give insulin\nReasoning:\n1. glucose is high\n2. ketones are, too\n"
            "3. so it is ketoacidosis"
        )
        assert [*asked, "3."] == LABEL.findall(key)
    else:
        assert asked == LABEL.findall(key)


def test_another_seed_draws_others_in_another_order(tmp_path: Path) -> None:
    found = []
    for seed in (1, 2):
        run = drawn(examined(tmp_path / str(seed), 40))
        write_packets(run.file, ["anna"], tmp_path / str(seed) / "out", n=10, seed=seed)
        found.append(orders(run)["anna"])
    first, second = ([name for name, _ in one] for one in found)
    assert set(first) != set(second)
    assert dict(found[0]) != dict(found[1])


def test_every_rater_and_question_has_an_order_of_its_own(tmp_path: Path) -> None:
    run = examined(tmp_path, 20)
    write_packets(run.file, ["anna", "ben"], tmp_path / "out")
    found = orders(run)
    assert [name for name, _ in found["anna"]] != [name for name, _ in found["ben"]]
    assert dict(found["anna"]) != dict(found["ben"])
    assert 4 < len({tuple(answers) for _, answers in found["anna"]})


def test_orders_follow_from_ids_and_not_from_the_order_of_the_file(tmp_path: Path) -> None:
    names = [f"q{k}" for k in range(6)]
    one = made(tmp_path / "one", {who: {q: f"{who[0]} of {q}" for q in names} for who in ("Able", "Best")})
    other = made(
        tmp_path / "other",
        {who: {q: f"{who[0]} of {q}" for q in reversed(names)} for who in ("Best", "Able")},
    )
    for run in (one, other):
        write_packets(drawn(run).file, ["anna"], run.file.path.parent / "out")
    assert orders(one) == orders(other)


def test_no_packet_says_who_answered_nor_what_a_metric_said(tmp_path: Path) -> None:
    run = examined(tmp_path)
    score(run, "token_f1")
    value = next(row for row in run.scores["value"] if 0 < row < 1)
    write_packets(run.file, ["anna"], tmp_path / "out")
    for path in (tmp_path / "out").iterdir():
        text = path.read_text(encoding="utf-8-sig")
        assert not re.search("Able|Fair|Poor|reference|token_f1", text), path
        assert f"{value:.3f}"[:4] not in text
        assert "Not for clinical use" in text


def test_an_answer_that_names_a_candidate_is_told(tmp_path: Path) -> None:
    run = made(tmp_path, {"Model Able": {"q": "I, model able, say so"}, "Best": {"q": "else"}})
    assert ("q",) == write_packets(run.file, ["anna"], tmp_path / "out").naming


class Elements(HTMLParser):
    """How often each element stands in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found[tag] = self.found.get(tag, 0) + 1


def test_hostile_answers_are_text_in_the_page(tmp_path: Path) -> None:
    kind, cruel = (
        made(tmp_path / n, {"A": {"q": text}, "B": {"q": "kind"}}) for n, text in (("a", "x"), ("b", HOSTILE))
    )
    pages = []
    for run in (kind, cruel):
        out = run.file.path.parent / "out"
        write_packets(run.file, ["anna"], out)
        pages.append((out / "anna.html").read_text(encoding="utf-8"))
    assert Elements(pages[0]).found == Elements(pages[1]).found
    assert "\u202e" not in pages[1]
    assert "default-src 'none'" in html.unescape(pages[1])
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", pages[1])


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_sheet_is_a_formula_and_all_come_back(tmp_path: Path, text: str) -> None:
    run = made(tmp_path, {"A": {"q": f"{text} now"}, "B": {"q": HOSTILE}})
    write_packets(run.file, ["anna"], tmp_path / "out")
    rows = lines(tmp_path / "out" / "anna.csv")
    for row in rows:
        for cell in row.values():
            assert not re.match(FORMULA, cell) or cell.startswith("'"), cell
    assert plain(text.strip() + " now") in [plain(row["answer"]) for row in rows]


def test_equal_answers_are_shown_once_and_silent_ones_not(tmp_path: Path) -> None:
    run = made(
        tmp_path,
        {"A": {"q": "five  mg"}, "B": {"q": "five mg"}, "C": {"q": ""}, "D": {"q": "<think>x</think>ten mg"}},
    )
    done = write_packets(run.file, ["anna"], tmp_path / "out")
    assert {"five mg", "ten mg", "the key of q"} == {
        plain(r["answer"]) for r in lines(tmp_path / "out" / "anna.csv")
    }
    assert (1, 1, 3) == (done.n_alike, done.n_silent, done.n_answers)


def test_a_lost_answer_gives_way_to_the_next_repeat(tmp_path: Path) -> None:
    run = made(
        tmp_path, {"A": {"q": [None, "second"]}, "B": {"q": [None, None]}, "C": {"q": ["first", "other"]}}
    )
    done = write_packets(run.file, ["anna"], tmp_path / "out")
    shown = {plain(r["answer"]) for r in lines(tmp_path / "out" / "anna.csv")}
    assert ({"second", "first", "the key of q"}, 1) == (shown, done.n_lost)


def test_the_key_holds_no_texts(tmp_path: Path) -> None:
    """A run that is exported with some of its items takes no others' texts along."""
    run = examined(tmp_path)
    write_packets(run.file, ["anna"], tmp_path / "out")
    with run.file.reading() as db:
        ((body,),) = db.execute("SELECT body FROM events WHERE kind = 'panel made'").fetchall()
    assert "Able" in body
    assert not re.search("milligrams|spoonful|What of|the key of", body)


def test_a_further_rater_joins_the_same_panel(tmp_path: Path) -> None:
    run = examined(tmp_path)
    first = write_packets(run.file, ["anna"], tmp_path / "out")
    second = write_packets(run.file, ["ben"], tmp_path / "out")
    assert first.panel == second.panel
    assert {"anna", "ben"} == set(orders(run))


def test_making_it_again_changes_nothing(tmp_path: Path) -> None:
    run = examined(tmp_path)
    write_packets(run.file, ["anna"], tmp_path / "out")
    before = orders(run)
    write_packets(run.file, ["anna"], tmp_path / "out")
    assert before == orders(run)
    with run.file.reading() as db:
        kinds = [kind for (kind,) in db.execute("SELECT kind FROM events ORDER BY event_id")]
    assert ["panel secret drawn", "panel made"] == kinds


def test_a_filled_packet_is_never_written_over(tmp_path: Path) -> None:
    run = examined(tmp_path)
    write_packets(run.file, ["anna"], tmp_path / "out")
    path = tmp_path / "out" / "anna.csv"
    path.write_text(path.read_text(encoding="utf-8-sig") + "mine", encoding="utf-8")
    with pytest.raises(StoreError, match="may have been filled in"):
        write_packets(run.file, ["anna", "ben"], tmp_path / "out")
    assert path.read_text(encoding="utf-8").endswith("mine")
    assert not (tmp_path / "out" / "ben.csv").exists()
    assert {"anna"} == set(orders(run))


@pytest.mark.parametrize(
    ("raters", "said"),
    [
        (["../anna"], "cannot be a rater's name"),
        ([""], "cannot be a rater's name"),
        (["=1+1"], "cannot be a rater's name"),
        (["anna", "Anna"], "twice"),
        ([], "--raters names who will rate"),
    ],
)
def test_a_name_that_is_no_file_is_refused(tmp_path: Path, raters: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        write_packets(examined(tmp_path).file, raters, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_panel_of_nothing_is_refused(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q": ""}, "B": {"q": ""}})
    with pytest.raises(SelectionError, match="no question here has two different answers"):
        write_packets(run.file, ["anna"], tmp_path / "out")
    with pytest.raises(InputError, match="--n takes 1 or more"):
        write_packets(run.file, ["anna"], tmp_path / "out", n=0)


def test_a_candidate_called_reference_is_refused(tmp_path: Path) -> None:
    run = made(tmp_path, {"reference": {"q": "x"}, "B": {"q": "y"}})
    with pytest.raises(InputError, match="which is what a panel calls the reference"):
        write_packets(run.file, ["anna"], tmp_path / "out")


def test_chosen_candidates_are_shown_and_no_others(tmp_path: Path) -> None:
    run = examined(tmp_path)
    write_packets(run.file, ["anna"], tmp_path / "out", candidates=["able", "Poor"])
    shown = " ".join(r["answer"] for r in lines(tmp_path / "out" / "anna.csv"))
    assert [True, False, True] == [word in shown for word in ("five", "some", "spoonful")]


def test_packets_make_no_finding_out_of_date(tmp_path: Path) -> None:
    """They bring neither answers nor scores."""
    run = examined(tmp_path)
    run.score("exact")
    run.study("consistency")
    run.make_panel(["anna"], tmp_path / "packets")
    studied = [r for r in run.report_rows() if r["section"] in ("study", "sentence")]
    assert studied
    assert not any(r["stale"] for r in studied)
