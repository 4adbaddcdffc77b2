"""Every way gives the probabilities of one plain sequence per branch, on several families of models."""

import math
import random

import pytest
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.models.local.families import CAUSAL, VOCABULARY, WINDOW, family

from vivavoce.models.local.packing import Limits
from vivavoce.models.local.scoring import Branch, NotFinite, Tree, score
from vivavoce.models.local.way_choice import ways_for
from vivavoce.models.requests import Likelihood

torch = lazy_module("torch")
pytestmark = pytest.mark.usefixtures("one_thread")

WAYS = ("packed", "branched", "naive")
SPLIT = Limits(joined=0, longest=12, shared=1)
"""One pack a trunk, many packs a long trunk, and the prompt on its own: every step of the packed way."""
EXTRA = {
    "qwen2": ("Qwen2", {"use_sliding_window": True, "max_window_layers": 1}),
    "gemma3": ("Gemma3Text", {"layer_types": ["sliding_attention", "full_attention"]}),
}


def made(name, seed=0):
    """A model of the families, or one of those that they have not."""
    if name not in EXTRA:
        return family(name, seed)
    import transformers

    kind, settings = EXTRA[name]
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "initializer_range": 0.2,
        "sliding_window": WINDOW,
    }
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=VOCABULARY, pad_token_id=0, **shape, **settings
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return transformers.AutoModelForCausalLM.from_config(config).float().eval()


def drawn(seed):
    """A function that gives so many random tokens."""
    draw = random.Random(seed)
    return lambda count: tuple(draw.randrange(3, VOCABULARY) for _ in range(count))


def forest(seed=0):
    """Two completions of one prompt, the options of a second prompt, and what is easily got wrong."""
    ids = drawn(seed)
    prompt, other = ids(30), ids(9)
    first, second = ids(40), ids(33)
    start = ids(4)
    options = [Branch(0, start + ids(count)) for count in (0, 1, 3, 3)]
    return [
        Tree(prompt, first, tuple(Branch(cut, ids(size)) for cut in (0, 7, 20, 40) for size in (1, 5, 9))),
        Tree(prompt, second, (Branch(33, ids(6)), Branch(7, ids(4)), Branch(7, second[7:12]))),
        Tree(other, (), (*options, options[1], Branch(0, ids(1)), Branch(0, ids(1)))),
        Tree(prompt[:1], first[:5], (Branch(5, ids(3)), Branch(0, ids(3)))),
    ]


def plainly(model, tree, branch):
    """One forward pass over one sequence, all logits: no mask, no cache, no padding."""
    before = [*tree.prompt, *tree.trunk[: branch.cut]]
    with torch.no_grad():
        logits = model(torch.tensor([[*before, *branch.ids]])).logits[0].double()
    logprobs = logits.log_softmax(-1)[len(before) - 1 : -1]
    run = 0
    while run < len(branch.ids) and int(logprobs[run].argmax()) == branch.ids[run]:
        run += 1
    own = logprobs.gather(1, torch.tensor([branch.ids]).T)
    return Likelihood(float(own.sum()), len(branch.ids), run)


def same(told, expected, near=1e-5):
    assert [len(row) for row in expected] == [len(row) for row in told]
    for mine, right in zip((x for r in told for x in r), (x for r in expected for x in r), strict=True):
        assert right.logprob == pytest.approx(mine.logprob, rel=near)
        assert right[1:] == mine[1:]


@each_case("way", WAYS)
@each_case("name", [*CAUSAL, *EXTRA])
def test_every_way_equals_one_plain_sequence_a_branch(name, way):
    model, trees = made(name), forest()
    plain = [[plainly(model, tree, branch) for branch in tree.branches] for tree in trees]
    same(score(model, trees, way), plain)
    same(score(model, trees, way, limits=SPLIT), plain)


@pytest.mark.parametrize("name", ["mistral", "gemma2", "gemma3", "qwen2"])
def test_the_windows_of_these_models_shut_something_out(name):
    # else the test above would pass without any window
    ids = drawn(1)
    tree = Tree(ids(4), ids(3 * WINDOW), (Branch(3 * WINDOW, ids(3)),))
    ((windowed,),) = score(made(name), [tree], "naive")
    wide = made(name)
    wide.config.sliding_window = 500
    ((all_seen,),) = score(wide, [tree], "naive")
    assert abs(windowed.logprob - all_seen.logprob) > 1e-3


@pytest.mark.parametrize("way", WAYS)
def test_what_no_window_reaches_through_all_layers_changes_nothing(way):
    ids = drawn(1)
    text, target = ids(3 * WINDOW), ids(3)
    trees = [Tree(begin, text, (Branch(3 * WINDOW, target),)) for begin in (ids(4), ids(4))]
    (one,), (two,) = score(family("mistral"), trees, way)
    assert one.logprob == pytest.approx(two.logprob, rel=1e-6)


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_it_does_not_matter_how_attention_is_computed(implementation):
    model = family("mistral", attn_implementation=implementation)
    assert implementation == model.config._attn_implementation
    trees = forest(2)
    plain = [[plainly(model, tree, branch) for branch in tree.branches] for tree in trees]
    for way in WAYS:
        same(score(model, trees, way), plain)


@pytest.mark.parametrize("way", WAYS)
def test_batch_and_order_change_nothing(way):
    model, trees = family("llama"), forest(3)
    told = score(model, trees, way)
    for batch in (1, 2, 3, 64):
        same(score(model, trees, way, batch=batch), told)
    same(score(model, trees[::-1], way)[::-1], told)
    for tree, row in zip(trees, told, strict=True):
        same(score(model, [tree], way), [row])
        turned = tree._replace(branches=tree.branches[::-1])
        same(score(model, [turned], way), [row[::-1]])


@pytest.mark.parametrize("way", WAYS)
def test_an_odd_tree_equals_its_plain_sequences(way):
    model, ids = family("gpt2"), drawn(4)
    prompt, trunk, target = ids(6), ids(8), ids(4)
    odd = [
        Tree(prompt, (), (Branch(0, target),)),
        Tree(prompt, trunk, (Branch(0, target),)),
        Tree(prompt, trunk, (Branch(8, target),)),
        Tree(prompt, trunk, (Branch(8, target[:1]), Branch(3, target[:1]))),
        Tree(prompt, trunk, (Branch(3, target), Branch(3, target), Branch(3, target[:2]))),
        Tree(prompt, trunk, (Branch(2, trunk[2:6]),)),
    ]
    for trees in ([tree] for tree in odd):
        same(score(model, trees, way), [[plainly(model, t, b) for b in t.branches] for t in trees])
    assert [[]] == score(model, [Tree(prompt, trunk, ())], way)
    assert [] == score(model, [], way)
    assert [[Likelihood(0.0, 0, 0)]] == score(model, [Tree(prompt, trunk, (Branch(1, ()),))], way)


@pytest.mark.parametrize("way", WAYS)
def test_the_probabilities_of_all_next_tokens_sum_to_one(way):
    tree = Tree((5, 6, 7), (8, 9), tuple(Branch(1, (token,)) for token in range(VOCABULARY)))
    (told,) = score(family("qwen3"), [tree], way)
    assert math.fsum(math.exp(one.logprob) for one in told) == pytest.approx(1, abs=1e-5)
    assert 1 == sum(one.verbatim or 0 for one in told)


@pytest.mark.parametrize("way", WAYS)
def test_of_equally_likely_tokens_the_lowest_is_what_the_model_says(way):
    model = family("llama")
    with torch.no_grad():
        model.get_output_embeddings().weight.zero_()
    trees = [Tree((3,), (), (Branch(0, (0, 0, 4, 0)), Branch(0, (4, 0)), Branch(0, (0, 0))))]
    (told,) = score(model, trees, way)
    assert [2, 0, 2] == [one.verbatim for one in told]
    assert told[0].logprob == pytest.approx(-4 * math.log(VOCABULARY))


@each_case("way", WAYS)
@each_case("bad", [math.nan, math.inf, -math.inf])
def test_a_logit_that_is_no_number_is_named(way, bad):
    model = family("llama")
    with torch.no_grad():
        model.model.embed_tokens.weight[77] = math.nan if math.isnan(bad) else 0.0
    if math.isinf(bad):
        # token 77's own logit is infinite wherever it is asked
        model.get_output_embeddings().register_forward_hook(
            lambda module, given, out: out.index_fill(-1, torch.tensor([77]), bad)
        )
    target = (4, 5, 77, 6) if math.isnan(bad) else (4, 5, 6, 77)
    trees = [Tree((3, 9), (), (Branch(0, (4, 5)),)), Tree((3,), (8, 9), (Branch(0, (5,)), Branch(2, target)))]
    with pytest.raises(NotFinite, match="NaN or an infinite") as caught:
        score(model, trees, way)
    error = caught.value
    # +inf takes all probability at every place, so that the first target's first token has none already
    expected = (0, 0, 1) if bad == math.inf else (1, 1, 4)
    assert expected == (error.tree, error.branch, error.position)


def test_a_token_that_cannot_be_hurts_only_who_asks_for_it():
    model = family("llama")
    tree = Tree((3,), (), (Branch(0, (4, 5)),))
    before = score(model, [tree], "naive")
    model.get_output_embeddings().register_forward_hook(
        lambda module, given, out: out.index_fill(-1, torch.tensor([77]), -math.inf)
    )
    ((after,),) = score(model, [tree], "naive")
    assert before[0][0].logprob < after.logprob < 0


@pytest.mark.parametrize("way", WAYS)
def test_a_prompt_without_tokens_or_a_cut_outside_is_refused(way):
    with pytest.raises(ValueError, match="one token at least"):
        score(family("llama"), [Tree((), (), (Branch(0, (4,)),))], way)
    for cut in (-1, 3):
        with pytest.raises(ValueError, match="outside its trunk of 2 tokens"):
            score(family("llama"), [Tree((3,), (4, 5), (Branch(cut, (4,)),))], way)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_on_the_model_and_dropout_is_off(way):
    model = family("gpt2", resid_pdrop=0.5).train()
    trees = forest(5)
    same(score(model, trees, way), score(model, trees, way), near=0)
    assert not model.get_output_embeddings()._forward_pre_hooks


@pytest.mark.parametrize("way", WAYS)
def test_an_encoder_reads_the_prompt_and_the_decoder_tells_the_branches(way):
    model, ids = family("t5"), drawn(6)
    trees = [
        Tree(ids(11), ids(6), tuple(Branch(cut, ids(size)) for cut in (0, 2, 6) for size in (1, 4))),
        Tree(ids(4), (), (Branch(0, ids(3)), Branch(0, ()))),
    ]

    def alone(tree, branch):
        said = [0, *tree.trunk[: branch.cut], *branch.ids]
        if not branch.ids:
            return Likelihood(0.0, 0, 0)
        with torch.no_grad():
            logits = model(torch.tensor([tree.prompt]), decoder_input_ids=torch.tensor([said[:-1]])).logits[0]
        logprobs = logits.double().log_softmax(-1)[branch.cut :]
        chosen = logprobs.argmax(-1).tolist()
        run = next(
            (n for n, pair in enumerate(zip(chosen, branch.ids, strict=True)) if pair[0] != pair[1]), None
        )
        total = float(logprobs.gather(1, torch.tensor([branch.ids]).T).sum())
        return Likelihood(total, len(branch.ids), len(branch.ids) if run is None else run)

    same(score(model, trees, way, batch=2), [[alone(t, b) for b in t.branches] for t in trees])


@pytest.mark.parametrize("name", [*CAUSAL, *EXTRA])
def test_both_ways_of_sharing_are_right_on_models_that_take_masks(name):
    assert (("packed", "branched"), "") == ways_for(made(name))


def tiny(kind, **settings):
    import transformers

    config = getattr(transformers, f"{kind}Config")(vocab_size=VOCABULARY, **settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return transformers.AutoModelForCausalLM.from_config(config).float().eval()


@pytest.mark.parametrize(
    ("model", "way", "why"),
    [
        pytest.param(
            lambda: tiny("Mpt", d_model=32, n_layers=2, n_heads=4, initializer_range=0.2),
            "branched",
            "not packed: a probe is off by",
            id="alibi",
        ),
        pytest.param(
            lambda: tiny(
                "GPTNeo",
                hidden_size=32,
                num_layers=2,
                num_heads=4,
                attention_types=[[["global", "local"], 1]],
                window_size=WINDOW,
                initializer_range=0.2,
            ),
            "branched",
            "not packed: it has layers of the kind local",
            id="windows by place",
        ),
        pytest.param(lambda: family("t5"), "naive", "it has an encoder", id="encoder"),
    ],
)
def test_a_model_that_packs_do_not_fit_is_found_out(model, way, why):
    model = model()
    right = ways_for(model)
    assert (way,) == right.ways
    assert right.why.startswith(why)
    assert right is ways_for(model)
    if way != "naive":
        trees = forest(7)
        plain = [[plainly(model, tree, branch) for branch in tree.branches] for tree in trees]
        same(score(model, trees, way), plain)


def test_a_model_with_neither_masks_nor_a_cache_is_asked_naively():
    model = family("llama")
    forward = model.forward

    def of_ids_alone(input_ids, attention_mask, use_cache=None):
        return forward(input_ids=input_ids, attention_mask=attention_mask, use_cache=False)

    model.forward = of_ids_alone
    right = ways_for(model)
    assert ("naive",) == right.ways
    assert "not packed: TypeError" in right.why
    assert "not branched: TypeError" in right.why


def test_a_model_that_hears_a_mask_wrongly_is_found_out():
    model = family("llama")
    forward = model.forward

    def deaf(position_ids=None, attention_mask=None, **rest):
        return forward(position_ids=position_ids, **rest)  # causal by place, as attention without masks is

    model.forward = deaf
    assert ("branched",) == ways_for(model).ways


def test_the_way_of_a_model_without_numbers_is_naive():
    model = family("llama")
    with torch.no_grad():
        model.lm_head.weight.fill_(math.nan)
    assert (("naive",), "it gave NaN or an infinite number when it was tried") == ways_for(model)


def test_half_precision_agrees_to_its_own_precision():
    model = family("llama").bfloat16()
    assert ("packed", "branched") == ways_for(model).ways
    trees = forest(8)
    exact = score(family("llama"), trees, "naive")
    for way in WAYS:
        for row, right in zip(score(model, trees, way), exact, strict=True):
            assert [x.logprob for x in right] == pytest.approx([x.logprob for x in row], rel=0.03)
