"""The loss of a choice among options, and what a head reads."""

import math

import pytest


def test_the_loss_is_the_cross_entropy_inside_each_item():
    import torch

    from vivavoce.evaluators.heads import choice_loss

    logits = torch.tensor([1.0, 2.0, 0.0, 0.0, 0.0])
    losses = [math.log(math.e + math.e**2) - 2, math.log(3)]
    assert sum(losses) / 2 == pytest.approx(float(choice_loss(logits, [2, 3], torch.tensor([1, 2]))))


def test_filling_is_not_pooled():
    import torch

    from vivavoce.evaluators.heads import Head

    head = Head(2).eval()
    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [99.0, 99.0]]])
    logits = head(states, torch.tensor([[1, 1, 0]]))
    expected = head.linear(torch.tensor([[2.0, 3.0]]))[:, 0]
    assert expected.tolist() == pytest.approx(logits.tolist())
    assert (1,) == tuple(logits.shape)
    assert (1, 3) == tuple(Head(2, n_classes=3)(states, torch.tensor([[1, 1, 0]])).shape)
