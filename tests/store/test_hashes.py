"""Hashes of items and responses: what was changed outside vivavoce is found when it is scored."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from tests.cases import each_case

from vivavoce.core.errors import StoreError
from vivavoce.core.records import Response
from vivavoce.run.run import Run
from vivavoce.store.hashes import hashed_responses, response_hash

Make = Callable[..., Run]


def tamper(run: Run, *statements: str) -> None:
    """Change the file as any SQLite client can."""
    with closing(sqlite3.connect(run.file.path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def wrong(run: Run) -> list[str]:
    with run.file.reading() as db:
        return [row.name for row in hashed_responses(db) if row.hash != row.stored]


ANSWER = Response(benchmark="exam", item="q1", candidate="A", text="rest", meta={"model": "m"})


def test_the_hash_of_a_response_is_that_of_the_written_rule() -> None:
    """Worked out apart from the code: each field behind its length, null as '-', then SHA-256."""
    fields = "4:hash4:exam2:q10:1:A1:10:0:2:ok4:rest----"
    assert hashlib.sha256(fields.encode()).hexdigest()[:16] == response_hash("hash", ANSWER)


@each_case(
    "change",
    [{"item": "q2"}, {"variant": "v"}, {"candidate": "B"}, {"repeat": 2}, {"edit": "short"}, {"text": "Rest"},
     {"text": ""}, {"text": None, "status": "failed"}, {"reasoning": "so"}, {"reasoning": ""},
     {"finish_reason": "length"}, {"text": None, "logprobs": "{}"}, {"probe": "given"},
     {"benchmark": "other"}, {"meta": {"confidence": 0.5}}, {"meta": {"confidence": "0.5"}}],
)  # fmt: skip
def test_another_response_has_another_hash(change: dict[str, object]) -> None:
    fields = {name: getattr(ANSWER, name) for name in Response.__dataclass_fields__}
    assert response_hash("h", ANSWER) != response_hash("h", Response(**fields | change))
    assert response_hash("h", ANSWER) != response_hash("g", ANSWER)


@pytest.mark.parametrize(
    "change", [{"tokens": 3}, {"seconds": 1.5}, {"cost": 0.1}, {"error": "e"}, {"meta": {"model": "n"}}]
)
def test_what_is_no_content_leaves_the_hash(change: dict[str, object]) -> None:
    fields = {name: getattr(ANSWER, name) for name in Response.__dataclass_fields__}
    assert response_hash("h", ANSWER) == response_hash("h", Response(**fields | change))


def test_two_fields_cannot_share_their_characters() -> None:
    one = Response(benchmark="b", item="q", candidate="A", text="a-", reasoning="b")
    other = Response(benchmark="b", item="q", candidate="A", text="a", reasoning="-b")
    assert response_hash("h", one) != response_hash("h", other)


def test_every_response_that_is_stored_has_its_hash(make: Make) -> None:
    run = make()
    assert [] == wrong(run)
    with run.file.reading() as db:
        assert 6 == len({row.stored for row in hashed_responses(db)})


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("UPDATE responses SET text = 'Ibuprofen' WHERE response_id = 1", "A to q1 (repeat 1)"),
        ("UPDATE responses SET text = text || ' ' WHERE response_id = 2", "A to q1 [neutral] (repeat 1)"),
        ("UPDATE responses SET reasoning = 'so' WHERE response_id = 3", "A to q2 (repeat 1)"),
        ("UPDATE responses SET hash = NULL WHERE response_id = 4", "B to q1 (repeat 1)"),
        ("UPDATE responses SET hash = (SELECT hash FROM responses WHERE response_id = 1) "
         "WHERE response_id = 5", "B to q1 [neutral] (repeat 1)"),
        ("UPDATE responses SET repeat = 2 WHERE response_id = 6", "B to q2 (repeat 2)"),
        ("UPDATE candidates SET candidate = 'Z' WHERE candidate = 'A'", "Z to q1 (repeat 1)"),
        ("""UPDATE responses SET meta = '{"confidence": 0.9}' WHERE response_id = 1""", "A to q1 (repeat 1)"),
        ("UPDATE responses SET meta = '{broken' WHERE response_id = 1", "A to q1 (repeat 1)"),
        ("UPDATE responses SET finish_reason = 'length' WHERE response_id = 1", "A to q1 (repeat 1)"),
    ],
)  # fmt: skip
def test_a_response_changed_by_another_program_is_not_scored(make: Make, statement: str, name: str) -> None:
    run = make()
    tamper(run, statement)
    words = r"exam\.viva: the answer of .*changed outside vivavoce.*`viva status .*exam\.viva --verify`.*copy"
    with pytest.raises(StoreError, match=words) as error:
        run.score("token_f1", "accuracy")
    assert f"the answer of {name} " in str(error.value)
    assert 1 <= len(wrong(run))
