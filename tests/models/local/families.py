"""Randomly initialised tiny models of several families, and tokenisers, made here: no hub is asked for any.

    model = family("gpt2")                         # float32, in eval mode; a seed has its weights
    tokens = tokeniser(bos=None, chat=True)
    folder = saved(tmp_path, "gemma2", chat=True)  # as AutoModelForCausalLM and AutoTokenizer load it

Weights are drawn wide, so that what a token may attend to shows in the probabilities.
"""

from functools import cache
from pathlib import Path
from typing import Any

from tests.lazy import lazy_module

torch, transformers = lazy_module("torch"), lazy_module("transformers")
tokenizers = lazy_module("tokenizers")

VOCABULARY = 400
"""Rows of every model's embedding; the tokeniser has at most as many."""

CONTEXT = 512
"""Positions of every model that counts them."""

WINDOW = 12
"""How far the layers with a sliding window see: less than the tests' texts are long."""

PAD, BOS, EOS = "<pad>", "<s>", "</s>"

CHAT = (
    "{% for message in messages %}{{ '[' + message['role'] + '] ' + message['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '[assistant]' }}{% endif %}"
)
"""Renders no special token, and nothing white before the answer."""

_IDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_ROTARY: dict[str, Any] = {
    **_IDS,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": CONTEXT,
    "initializer_range": 0.2,
}
_FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    # name: configuration, model, what it is given
    "llama": ("LlamaConfig", "LlamaForCausalLM", _ROTARY),
    "gpt2": (
        "GPT2Config",
        "GPT2LMHeadModel",
        {
            **_IDS,
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 4,
            "n_positions": CONTEXT,
            "initializer_range": 0.2,
        },
    ),
    # not qwen2: of its folders AutoTokenizer (transformers 5) takes the words alone and splits as Qwen2 did
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", _ROTARY),
    "mistral": ("MistralConfig", "MistralForCausalLM", {**_ROTARY, "sliding_window": WINDOW}),
    "gemma2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        {
            **_ROTARY,
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": WINDOW,
            "query_pre_attn_scalar": 8,
            "attn_logit_softcapping": 5.0,
            "final_logit_softcapping": 10.0,
        },
    ),
    "t5": (
        "T5Config",
        "T5ForConditionalGeneration",
        {
            **_IDS,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 64,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
            "relative_attention_num_buckets": 8,
            "initializer_factor": 2.0,
        },
    ),
}

NAMES = tuple(_FAMILIES)
"""Rotary and grouped heads, absolute positions, normed heads, sliding window, window and full layers in turn
with capped logits; the last has an encoder.
"""

CAUSAL = tuple(name for name in NAMES if name != "t5")


def family(name: str, seed: int = 0, **settings: Any) -> Any:
    """A model of the family with random weights that follow from the seed; `settings` configure it.

    The generator that others draw from is left as it was.
    """
    configuration, kind, given = _FAMILIES[name]
    config = getattr(transformers, configuration)(vocab_size=VOCABULARY, **{**given, **settings})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return getattr(transformers, kind)(config).float().eval()


SENTENCES = (
    "What is the first treatment of a patient with a fever, a cough and pain in the chest?",
    "The patient should be given antibiotics, fluids and oxygen, and the blood pressure should be measured.",
    "A woman of 54 years has had high blood pressure and diabetes for ten years; her kidneys are failing.",
    "Insulin lowers the sugar in the blood. Metformin is the first medicine for diabetes of the second type.",
    "The answer is the heart, the liver, the kidneys or the lungs. Which of the following is correct?",
    "A fever above 39 °C for more than 3 days, with a stiff neck and a rash, needs a doctor at once.",
)


@cache
def _trained() -> str:
    tokens = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokens.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = tokenizers.decoders.ByteLevel()
    tokens.train_from_iterator(
        SENTENCES,
        tokenizers.trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=[PAD, BOS, EOS],
            initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    return tokens.to_str()


def tokeniser(
    folder: Path | None = None,
    *,
    bos: bool | None = True,
    eos: bool = False,
    chat: bool = False,
    lower: bool = False,
) -> Any:
    """A byte-level BPE tokeniser trained on `SENTENCES`, written to `folder` if one is given.

    `bos`: its BOS is added to every text (true), is there but not added (false), or there is none (null, as
    in GPT-2, where EOS stands for it). `eos` adds the end to every text, as T5 does. `chat` gives it a chat
    template. `lower` makes it lose what is upper case, so that it does not give a text back.
    """
    tokens = tokenizers.Tokenizer.from_str(_trained())
    if bos or eos:
        form = ([BOS] if bos else []) + ["$A"] + ([EOS] if eos else [])
        tokens.post_processor = tokenizers.processors.TemplateProcessing(
            single=" ".join(form), special_tokens=[(BOS, 1), (EOS, 2)]
        )
    if lower:
        tokens.normalizer = tokenizers.normalizers.Lowercase()
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokens,
        pad_token=PAD,
        bos_token=None if bos is None else BOS,
        eos_token=EOS,
        clean_up_tokenization_spaces=False,
        model_max_length=CONTEXT,
    )
    if chat:
        made.chat_template = CHAT
    if folder:
        made.save_pretrained(folder)
    return made


def saved(
    tmp_path: Path,
    name: str,
    seed: int = 0,
    *,
    bos: bool | None = True,
    chat: bool = False,
    lower: bool = False,
    **settings: Any,
) -> Path:
    """The family's model and a tokeniser as a folder under `tmp_path`, named after family and seed."""
    folder = tmp_path / f"{name}-{seed}"
    family(name, seed, **settings).save_pretrained(folder)
    if name == "t5":
        tokeniser(folder, bos=None, eos=True, chat=chat, lower=lower)
    else:
        tokeniser(folder, bos=bos, chat=chat, lower=lower)
    return folder
