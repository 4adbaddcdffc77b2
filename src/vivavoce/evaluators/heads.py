"""Heads over an encoder, as a torch module: a number for each text, or one for each class.

The published evaluator reads the encoder's pooler, then dropout and a linear layer, and takes the softmax
over the options of an item (Ranking over Scoring, COLING 2025, section 4). Here the states of the last layer
are pooled by `mean`, over the text without filling, or by `cls`, the first token's, since many encoders come
without a trained pooler.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch  # whoever imports this module needs torch anyway

from vivavoce.evaluators.inputs import Kind

Pooling = Literal["mean", "cls"]


class Head(torch.nn.Module):
    """Dropout and a linear layer over the pooled states; `n_classes` is 0 for a head of options."""

    def __init__(
        self, hidden_size: int, *, n_classes: int = 0, pooling: Pooling = "mean", dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.n_classes, self.pooling = n_classes, pooling
        self.dropout = torch.nn.Dropout(dropout)
        self.linear = torch.nn.Linear(hidden_size, n_classes or 1)

    @property
    def kind(self) -> Kind:
        """Whether it gives a number to each option, or to each class."""
        return "classes" if self.n_classes else "options"

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The logits of states (texts, tokens, hidden): of shape (texts,), or (texts, classes)."""
        if self.pooling == "cls":
            pooled = states[:, 0]
        else:
            weight = mask.unsqueeze(-1).to(states.dtype)
            pooled = (states * weight).sum(1) / weight.sum(1).clamp(min=1)
        logits: torch.Tensor = self.linear(self.dropout(pooled))
        return logits if self.n_classes else logits.squeeze(-1)


class EvaluatorModel(torch.nn.Module):
    """An encoder of transformers and a head. Of a model with a decoder the encoder alone is read."""

    def __init__(self, encoder: Any, head: Head) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The logits of texts: of shape (texts,) for options, (texts, classes) for classes."""
        reads = self.encoder.get_encoder() if self.encoder.config.is_encoder_decoder else self.encoder
        states = reads(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return self.head(states, attention_mask)  # type: ignore[no-any-return]


def choice_loss(logits: torch.Tensor, n_options: Sequence[int], labels: torch.Tensor) -> torch.Tensor:
    """The mean cross-entropy of items, by the softmax over the options of each.

    `logits` of all options, item after item; `n_options` of each item; `labels` count within the item.
    """
    items = torch.split(logits, list(n_options))
    rows = torch.nn.utils.rnn.pad_sequence(list(items), batch_first=True, padding_value=float("-inf"))
    return torch.nn.functional.cross_entropy(rows.float(), labels)
