"""What an encoder reads of a task: joined in one way, and the option is never cut."""

import pytest
from tests.embeddings.tiny_bert import LONGEST, tiny_bert, tiny_roberta

from vivavoce.core.errors import InputError
from vivavoce.evaluators.inputs import InputReader, padded, texts_of
from vivavoce.evaluators.proxy_task import ProxyInput


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_bert(tmp_path_factory.mktemp("tokeniser") / "bert"))


def _text(tokenizer, ids) -> str:
    return tokenizer.decode(ids)


def test_question_argument_and_option_stand_in_one_text(tokenizer):
    (text, _) = texts_of(ProxyInput("no fever", ("iron", "aspirin"), "not anaemia"), "options")
    read = InputReader(tokenizer, LONGEST).tokens(text)
    assert "[CLS] no fever not anaemia [SEP] iron [SEP]" == _text(tokenizer, read.ids)
    assert 0 == read.n_cut


def test_classes_are_read_without_an_option(tokenizer):
    (text,) = texts_of(ProxyInput("no fever", ("supported", "refuted"), "cough"), "classes")
    assert "[CLS] no fever cough [SEP]" == _text(tokenizer, InputReader(tokenizer, LONGEST).tokens(text).ids)


def test_a_tokeniser_of_bytes_keeps_the_words_apart(tmp_path):
    from transformers import AutoTokenizer

    roberta = AutoTokenizer.from_pretrained(tiny_roberta(tmp_path / "roberta"))
    (text, _) = texts_of(ProxyInput("d", ("d", "iron"), "iron"), "options")
    assert "<s>d iron</s>d</s>" == _text(roberta, InputReader(roberta, LONGEST).tokens(text).ids)


def test_the_option_is_never_cut_the_argument_is_and_its_tokens_are_counted(tokenizer):
    option = "aspirin 50 mg daily for fever and cough"
    task = ProxyInput("was the patient", (option, "iron"), "iron " * 600)
    long, short = (InputReader(tokenizer, LONGEST).tokens(text) for text in texts_of(task, "options"))
    room = LONGEST - 3 - 8
    assert f"[CLS] was the patient {'iron ' * (room - 3)}[SEP] {option} [SEP]" == _text(tokenizer, long.ids)
    assert 603 - room == long.n_cut == short.n_cut
    assert long.ids[: room + 2] == short.ids[: room + 2], "an option is read after another argument"


def test_a_question_that_is_too_long_keeps_its_end(tokenizer):
    (text, _) = texts_of(ProxyInput("cough " * 600 + "iron", ("the", "no"), "fever"), "options")
    read = InputReader(tokenizer, LONGEST).tokens(text)
    assert f"[CLS] {'cough ' * 19}iron [SEP] the [SEP]" == _text(tokenizer, read.ids)
    assert 602 - 20 == read.n_cut


def test_an_option_without_room_for_its_question_is_named(tokenizer):
    (text, _) = texts_of(ProxyInput("fever", ("iron " * LONGEST, "no"), "x"), "options")
    with pytest.raises(InputError, match=r"reads 24 tokens, options are never cut.*'iron iron"):
        InputReader(tokenizer, LONGEST).tokens(text)


def test_turned_options_are_the_same_texts():
    task = ProxyInput("q", ("a", "b", "c"), "x")
    turned = task._replace(options=("c", "a", "b"))
    assert set(texts_of(task, "options")) == set(texts_of(turned, "options"))


def test_rows_are_filled_at_their_ends():
    assert ([[5, 6, 7], [8, 9, 9]], [[1, 1, 1], [1, 0, 0]]) == padded([(5, 6, 7), (8,)], 9)
