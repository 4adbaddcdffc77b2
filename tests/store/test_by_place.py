"""Items and answers by place: the same as of the whole run, and few rows are read for them."""

from tests.people.raters import examined

from vivavoce.people.panels import PanelSettings, open_panel
from vivavoce.people.storing.judgements import store_judgement
from vivavoce.people.tasks import ReviewTask
from vivavoce.store import read
from vivavoce.store.by_place import items_at, responses_at


def test_what_stands_at_a_place_is_what_the_whole_run_says(tmp_path):
    run = examined(tmp_path, 5)
    with run.file.reading() as db:
        items = {(i.benchmark, i.item, i.variant): (key, i) for key, i in read.items_by_id(db).items()}
        answers = {key[:5]: stored for key, stored in read.stored_responses(db).items()}
        assert items == items_at(db, items)
        assert answers == responses_at(db, items)
        (place, *_) = items
        assert {place: items[place]} == items_at(db, [place, ("exam", "no such item", "")])
        assert {key: stored for key, stored in answers.items() if key[:3] == place} == responses_at(
            db, [place]
        )
        assert ({}, {}) == (items_at(db, []), responses_at(db, []))


def steps_of_a_save(folder, n: int) -> int:
    """Steps of SQLite's machine, in thousands, while one judgement of a run of n questions is stored."""
    run = examined(folder, n)
    panel = open_panel(run.file, PanelSettings(ReviewTask(), n=3, repeats=0), ["anna"])
    first, second, _ = panel.key.packets["anna"]
    entries = {"A": {"correct": "yes"}}
    store_judgement(run.file, panel.key, "anna", first.question.name, entries)
    thousands = [0]
    opened = run.file.writing

    def counted(**settings):
        manager = opened(**settings)

        class Counted:
            def __enter__(self):
                db = manager.__enter__()
                db.set_progress_handler(lambda: thousands.__setitem__(0, thousands[0] + 1), 1_000)
                return db

            def __exit__(self, *error):
                return manager.__exit__(*error)

        return Counted()

    run.file.writing = counted
    store_judgement(run.file, panel.key, "anna", second.question.name, entries)
    return thousands[0]


def test_a_save_does_not_read_the_whole_run(tmp_path):
    # The hashes of 1,200 items are read, a few steps each; all 3,600 answers with their joins took far more.
    assert steps_of_a_save(tmp_path, 1_200) < 100
