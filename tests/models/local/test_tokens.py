"""Text to tokens: what opens a text, what parts question and target, and what a tokeniser must give back."""

import pytest
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.models.local.families import BOS, CHAT, EOS, SENTENCES, tokeniser

from vivavoce.core.text import spoken
from vivavoce.models.local.tokens import Tokens, fitted
from vivavoce.models.requests import Continuations, Generation, Message, RejectedError, Request

torch, transformers = lazy_module("torch"), lazy_module("transformers")
tokenizers = lazy_module("tokenizers")
pytestmark = pytest.mark.usefixtures("one_thread")

ASKED = (Message("user", "What is"),)
BOS_ID, EOS_ID = 1, 2


def tokens(made=None, *, templated: bool = False, encodes: bool = False, **settings) -> Tokens:
    return Tokens(made or tokeniser(**settings), templated=templated, encodes=encodes)


def blank_first():
    """A tokeniser that puts a blank before whatever opens a text and drops it when it decodes, as
    SentencePiece does.
    """
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="first")
    made.decoder = tokenizers.decoders.Metaspace(prepend_scheme="first")
    texts = [*SENTENCES, "0123456789 µg/mL °C\n Blood first\nsecond"]
    made.train_from_iterator(
        texts,
        tokenizers.trainers.BpeTrainer(
            vocab_size=300, special_tokens=["<unk>", BOS, EOS], show_progress=False
        ),
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", bos_token=BOS, eos_token=EOS
    )


def test_plain_text_gets_the_tokenisers_own_bos_once():
    assert BOS_ID == tokens().question(ASKED).ids[0]
    assert 1 == tokens().question(ASKED).ids.count(BOS_ID)


def test_plain_text_gets_no_bos_that_its_tokeniser_does_not_add():
    assert BOS_ID not in tokens(bos=False).question(ASKED).ids


def test_turns_are_joined_by_blank_lines_without_a_template():
    made = tokens(bos=False)
    asked = (Message("system", "A"), Message("user", "B"))
    assert made.question(asked).ids == made.ids("A\n\nB")


@pytest.mark.parametrize(("bos", "first"), [(True, BOS_ID), (False, BOS_ID), (None, EOS_ID)])
def test_nothing_is_one_token_bos_or_else_eos(bos, first):
    assert (first,) == tokens(bos=bos).question(()).ids


def test_a_template_that_writes_bos_gets_no_other():
    made = tokeniser(chat=True)
    made.chat_template = "{{ bos_token }}" + CHAT
    ids = tokens(made, templated=True).question(ASKED).ids
    assert BOS_ID == ids[0]
    assert 1 == ids.count(BOS_ID)


def test_a_template_decides_alone_on_its_special_tokens():
    ids = tokens(chat=True, templated=True).question(ASKED).ids
    assert BOS_ID not in ids
    assert ids == tuple(tokeniser(chat=True).apply_chat_template(
        [m._asdict() for m in ASKED], add_generation_prompt=True, return_dict=False
    ))  # fmt: skip


@pytest.mark.parametrize(
    "refusal",
    [
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}",
        "{# silently #}",
    ],
)
def test_a_system_message_opens_the_first_turn_where_the_template_takes_none(refusal):
    made = tokeniser(chat=True)
    made.chat_template = refusal + (
        "{% for m in messages %}{% if m['role'] != 'system' %}[{{ m['role'] }}] {{ m['content'] }}\n"
        "{% endif %}{% endfor %}[assistant]"
    )
    asked = (Message("system", "Be brief."), *ASKED)
    ids = tokens(made, templated=True).question(asked).ids
    assert "[user] Be brief.\n\nWhat is\n[assistant]" == made.decode(ids)


def test_a_conversation_that_the_template_does_not_take_is_refused():
    made = tokeniser(chat=True)
    made.chat_template = "{{ raise_exception('turns must alternate') }}"
    with pytest.raises(RejectedError, match=r"does not take this conversation .turns must alternate"):
        tokens(made, templated=True).question(ASKED)


def test_a_special_token_that_somebody_wrote_is_only_text():
    made = tokens()
    ids = made.question((Message("user", f"end {EOS} here"),)).ids
    assert EOS_ID not in ids
    assert EOS_ID not in made.ids(EOS)
    assert EOS == made.decode(made.ids(EOS))


def branch(made: Tokens, target: str, *, messages=ASKED, **more) -> tuple[int, ...]:
    tree = made.tree(Request(messages=messages, kind="loglikelihood", target=target, **more))
    return tree.branches[0].ids


@each_case(
    ("asked", "begun", "target", "encoded"),
    [
        ("What is", "", "fever", " fever"),
        ("What is ", "", "fever", "fever"),
        ("What is\n", "", "fever", "fever"),
        ("What is", "", " fever", " fever"),
        ("What is", "", "\nfever", "\nfever"),
        ("What is", "the", "fever", " fever"),
        ("What is", "the ", "fever", "fever"),
        ("What is ", "the", "fever", " fever"),
    ],
)
def test_a_blank_parts_a_target_from_what_stands_before_it(asked, begun, target, encoded):
    made = tokens()
    assert made.ids(encoded) == branch(made, target, messages=(Message("user", asked),), begun=begun)


def test_no_blank_stands_before_a_text_alone():
    made = tokens()
    assert made.ids("fever") == branch(made, "fever", messages=())


def test_what_was_begun_is_the_trunk():
    made = tokens()
    tree = made.tree(Request(messages=ASKED, kind="loglikelihood", target="fever", begun=" a high"))
    assert made.ids(" a high") == tree.trunk
    assert len(tree.trunk) == tree.branches[0].cut


def test_branches_come_by_cuts_and_have_the_trunks_own_ids():
    made = tokens()
    # not as the tokeniser would have them: letter by letter, and a blank as the last
    ids = tuple(token for letter in "a fe " for token in made.ids(letter))
    trunk = Generation("a fe ", ids, (), (), False)
    asked = Continuations(("yes", "no"), trunk, (0, 2, 4, 5))
    tree = made.tree(Request(messages=ASKED, kind="loglikelihood", branches=asked))
    assert ids == tree.trunk
    with_blank, without = [made.ids(" yes"), made.ids(" no")], [made.ids("yes"), made.ids("no")]
    assert [0, 0, 2, 2, 4, 4, 5, 5] == [b.cut for b in tree.branches]
    # the second token is a blank, and so is the last
    assert [*with_blank, *without, *with_blank, *without] == [b.ids for b in tree.branches]


def test_a_trunk_is_kept_as_far_as_it_is_cut():
    made = tokens()
    asked = Continuations(("yes",), Generation("", (5, 6, 7, 8), (), (), False), (0, 2))
    assert (5, 6) == made.tree(Request(messages=ASKED, kind="loglikelihood", branches=asked)).trunk


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (Continuations(("yes",), Generation("a", (5,), (), (), False), (3,)), "a cut after 3 tokens of 1"),
        (Continuations(("",)), "the target is empty"),
    ],
)
def test_branches_that_cannot_be_are_refused(asked, why):
    with pytest.raises(RejectedError, match=why):
        tokens().tree(Request(messages=ASKED, kind="loglikelihood", branches=asked))


def test_an_encoder_reads_the_question_with_its_end_and_the_answer_begins_without_a_blank():
    made = tokens(bos=None, eos=True, encodes=True)
    ids = made.question(ASKED).ids
    assert EOS_ID == ids[-1]
    assert 1 == ids.count(EOS_ID)
    assert made.ids("fever") == branch(made, "fever")
    assert made.ids(" fever") == branch(made, "fever", begun="the")
    assert (EOS_ID,) == made.question(()).ids


def test_half_a_character_is_refused():
    with pytest.raises(RejectedError, match="half a character"):
        tokens().question((Message("user", "a \ud83d b"),))


def test_a_blank_of_the_tokenisers_own_making_is_not_in_a_target():
    made = tokens(blank_first())
    whole = made._made.encode("high fever", add_special_tokens=False)
    high = made._made.encode("high", add_special_tokens=False)
    assert tuple(whole[len(high) :]) == made.ids(" fever")
    assert "fever" == made.decode(made.ids("fever"))
    assert " fever" == made.decode(made.ids(" fever"))
    assert made.ids("fever") != made.ids(" fever")
    assert made.fault is None


def test_a_text_with_a_part_that_has_no_token_is_refused():
    with pytest.raises(RejectedError, match="no token for a part of 'a £'"):
        tokens(blank_first()).ids("a £")


def test_a_tokeniser_that_lowers_case_has_a_fault_that_says_so():
    fault = tokens(lower=True).fault
    assert "the tokeniser does not give a text back: 'Blood pressure' returns as 'blood pressure'" == fault


def test_pieces_add_up_to_the_text_and_a_split_character_goes_to_its_last_token():
    made = tokens()
    ids = made.ids("39 °C é日 ok")
    pieces = made.pieces(ids)
    assert len(ids) == len(pieces)
    assert "39 °C é日 ok" == "".join(pieces)
    assert not any("\ufffd" in piece for piece in pieces)
    assert () == made.pieces(())


def test_half_a_character_at_the_end_is_shown_as_such():
    made = tokens()
    ids = made.ids("日")[:-1]
    assert made.decode(ids) == "".join(made.pieces(ids)) != ""


def test_tokenisers_are_told_apart_by_what_they_are_and_not_by_how_they_were_used():
    used = tokeniser()
    used(["a", "b c d"], padding=True, truncation=True, max_length=2)
    assert tokens().mark == tokens(used).mark
    assert tokens().mark != tokens(lower=True).mark
    assert 16 == len(tokens().mark)


def test_what_fits_is_left_as_it_is():
    assert ((1, 2, 3), 0) == fitted((1, 2, 3), 2, 5, truncate_left=False, keep=0)
    assert ((1, 2, 3), 0) == fitted((1, 2, 3), 2, None, truncate_left=False, keep=0)


def test_what_is_too_long_is_refused_with_the_numbers():
    with pytest.raises(
        RejectedError, match=r"3 tokens of question and 3 of what follows do not fit .* context of 5"
    ):
        fitted((1, 2, 3), 3, 5, truncate_left=False, keep=0)


def test_the_beginning_is_left_out_and_counted_where_that_was_declared():
    assert ((4, 5), 3) == fitted((1, 2, 3, 4, 5), 3, 5, truncate_left=True, keep=0)
    assert ((1, 5), 3) == fitted((1, 2, 3, 4, 5), 3, 5, truncate_left=True, keep=1)


@pytest.mark.parametrize(("more", "keep"), [(5, 0), (6, 0), (4, 1)])
def test_a_question_is_never_left_out_whole(more, keep):
    with pytest.raises(RejectedError, match="however much is left out"):
        fitted((1, 2, 3), more, 5, truncate_left=True, keep=keep)


@pytest.mark.parametrize(
    ("marks", "text"),
    [
        (("[THINK]", "[/THINK]"), "[THINK]It may be A.[/THINK]B"),
        (
            ("<|start|>", "<|channel|>", "<|message|>", "<|end|>"),
            "<|channel|>analysis<|message|>It may be A.<|end|><|start|>assistant<|channel|>final<|message|>B",
        ),
    ],
)
def test_thinking_in_special_tokens_keeps_its_border(marks, text):
    """Magistral's and gpt-oss's marks are special tokens: without them thinking and answer are one text."""
    tokenizer = tokeniser()
    tokenizer.add_special_tokens({"additional_special_tokens": list(marks)})
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert set(tokenizer.convert_tokens_to_ids(list(marks))) <= set(ids)
    decoded = tokens(tokenizer).decode([BOS_ID, *ids, tokenizer.pad_token_id, EOS_ID])
    assert text == decoded == "".join(tokens(tokenizer).pieces(ids))
    assert ("B", True, True) == spoken(decoded)
