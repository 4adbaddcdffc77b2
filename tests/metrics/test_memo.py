"""Results by word: each is computed once, and there is a limit to how many are kept."""

from vivavoce.metrics.memo import Memo


def test_a_word_is_computed_once_however_often_it_is_looked_up():
    asked: list[str] = []
    memo = Memo(lambda word: asked.append(word) or word.upper())
    assert ["A", "B", "A", "A"] == list(map(memo.__getitem__, ["a", "b", "a", "a"]))
    assert ["a", "b"] == asked


def test_no_more_than_the_limit_is_kept(monkeypatch):
    monkeypatch.setattr(Memo, "MOST", 3)
    memo = Memo(len)
    assert [1, 2, 3, 4] == [memo[word] for word in ("a", "aa", "aaa", "aaaa")]
    assert {"aaaa": 4} == memo
    assert 3 == memo["aaa"]
