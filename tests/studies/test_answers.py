"""What is worked out of texts where they are read, so that they need not stand in memory."""

import polars as pl
import pytest

from vivavoce.core.text import is_blank, looks_like_thinking
from vivavoce.studies import answers as module
from vivavoce.studies.answers import BLANK, LIKE_THINKING, N_WORDS, TEXT_HASH

TEXTS = ("", " ", "a", "é", "٣", "—", None, "日本", "\u0335", "x1", "…!", "\n", "ß" * 1_000, "-" * 1_000)


def frame(*texts: str | None) -> pl.DataFrame:
    names = ("text", "final")
    return pl.DataFrame(dict.fromkeys(names, texts), schema=dict.fromkeys(names, pl.String))


def test_blank_texts_are_those_without_letter_and_digit_in_any_script() -> None:
    expected = [None if text is None else is_blank(text) for text in TEXTS]
    assert expected == frame(*TEXTS).select(BLANK.alias("blank"))["blank"].to_list()


@pytest.mark.parametrize("texts", [(), (None,), ("a",), ("?",)])
def test_one_kind_of_texts_alone_gives_the_same_type(texts: tuple[str | None, ...]) -> None:
    blank = frame(*texts).select(BLANK.alias("blank"))["blank"]
    assert pl.Boolean == blank.dtype
    assert [None if text is None else is_blank(text) for text in texts] == blank.to_list()


def test_python_looks_at_no_text_with_a_plain_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million calls take longer than reading the texts."""
    looked_at: list[str] = []
    real = is_blank

    def counting(text: str) -> bool:
        looked_at.append(text)
        return real(text)

    monkeypatch.setattr(module, "is_blank", counting)
    blank = module._blank()
    assert [False, True, None, False] == frame("rest", "?", None, "é").select(b=blank)["b"].to_list()
    assert ["?", "é"] == looked_at


def test_a_frame_looks_for_thinking_as_a_text_is_looked_at() -> None:
    aloud = "The pulse is low. Wait, it is high. " * 30
    texts = [aloud, aloud[:900], "\n Thinking:\nB", " Thought…", "a <|end|> b", "<unused7>",
             "assistantcommentary", "Waiting is fine. " * 90,
             "hmm. Hmmm, wait: " * 80, "B", "", None]  # fmt: skip
    rows = frame(*texts).with_columns(meta=pl.lit("{}")).select(like=LIKE_THINKING)
    assert [text is not None and looks_like_thinking(text) for text in texts] == rows["like"].to_list()
    assert [True, False] == rows["like"].to_list()[:2]


def test_what_never_arrived_has_neither_words_nor_a_hash() -> None:
    rows = frame(None, "", "two words", "two words").select(n=N_WORDS, h=TEXT_HASH)
    assert [None, 0, 2, 2] == rows["n"].to_list()
    assert (1, True) == (rows["h"].null_count(), rows["h"][2] == rows["h"][3])
    assert rows["h"][1] != rows["h"][2]
