"""A BERT small enough to be made in a test: random weights, a vocabulary of words and letters."""

from pathlib import Path

WORDS = "the patient was given iron for anaemia and not aspirin 5 50 mg daily fever no cough ##s ##ed ##ing"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LONGEST = 24
"""Word pieces that the model takes."""


def tiny_bert(folder: Path, *, seed: int = 0, layers: int = 3, pad: bool = True, **config) -> Path:
    """A folder with a random BERT and its tokeniser; `pad=False` leaves the padding token out."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789.,;!?"]
    vocabulary = [*SPECIAL, *WORDS.split(), *letters, *(f"##{letter}" for letter in letters)]
    folder.mkdir(parents=True, exist_ok=True)
    ids = {piece: k for k, piece in enumerate(vocabulary)}
    tokeniser = BertTokenizerFast(vocab=ids, model_max_length=LONGEST)
    if not pad:
        tokeniser.pad_token = None
    tokeniser.save_pretrained(folder)
    torch.manual_seed(seed)
    shape = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "initializer_range": 0.5}
    model = BertModel(
        BertConfig(
            vocab_size=len(vocabulary), num_hidden_layers=layers, max_position_embeddings=LONGEST,
            **{**shape, **config},
        )
    )  # fmt: skip
    model.save_pretrained(folder)
    return folder


def tiny_roberta(folder: Path) -> Path:
    """A random RoBERTa, whose tokeniser works on bytes and whose places begin after the padding's."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("i", "r"), ("o", "n"), ("ir", "on"), ("Ġ", "iron"), ("Ġ", "d")]
    pieces = [*special, *letters, *("".join(pair) for pair in merges)]
    tokeniser = RobertaTokenizerFast(
        vocab={piece: k for k, piece in enumerate(pieces)}, merges=merges, model_max_length=LONGEST
    )
    tokeniser.save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=LONGEST + 2, initializer_range=0.5, pad_token_id=1,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(folder)
    return folder


def break_weights(folder: Path, change) -> None:
    """Rewrite the weights of a folder: `change` gets and changes their dict."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
