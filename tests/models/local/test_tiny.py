"""The tiny model knows more than chance, its card says how it was made, and its seed makes it again."""

import json
import threading

import pytest
from tests.lazy import lazy_module
from tests.models.local.tiny import SHORT, SOURCE, corpus, made_once, tiny, tool  # noqa: F401

torch, transformers = lazy_module("torch"), lazy_module("transformers")
pytestmark = pytest.mark.usefixtures("one_thread")

QUICK = {"steps": 2, "batch": 2, "length": 32, "width": 24, "layers": 1, "heads": 2, "shared": 1, "held": 500}


@pytest.fixture(scope="module")
def bits(tiny) -> float:  # noqa: F811
    """Of the lines held out, in bits a byte, by the model as transformers load it."""
    train = tool()
    _, held = train.split(corpus(), train.Recipe.held)
    model, tokens = (
        transformers.AutoModelForCausalLM.from_pretrained(tiny),
        transformers.AutoTokenizer.from_pretrained(tiny),
    )
    return train.bits_per_byte(model.eval(), tokens, held, SHORT["length"])


@pytest.fixture
def few() -> list[str]:
    """Lines enough for a recipe of a second."""
    return corpus()[:200]


def test_it_beats_single_bytes_and_a_model_with_random_weights(tiny, bits):  # noqa: F811
    train = tool()
    learnt, held = train.split(corpus(), train.Recipe.held)
    # 4.37: as counted apart from the tool, with xz at 2.36 and the uniform distribution at 8
    single = train.single_bytes(learnt, held)
    assert 4.3 < single < 4.45
    random = train.untrained(train.recipe(corpus(), **SHORT)).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(tiny)
    chance = train.bits_per_byte(random, tokens, held, SHORT["length"])
    assert bits < chance - 0.5 < single - 0.5


def test_nothing_held_out_was_learnt():
    train = tool()
    learnt, held = train.split(corpus(), 20_000)
    assert 20_000 <= sum(len(line) + 1 for line in held) < 21_000
    assert sorted(corpus()) == sorted(learnt + held)
    assert train.split(corpus(), 20_000) == (learnt, held)


def test_each_token_is_scored_once_however_long_the_window(tiny):  # noqa: F811
    """A model whose next token does not depend on those before gives the same figure for every window."""
    train = tool()
    model, tokens = (
        transformers.AutoModelForCausalLM.from_pretrained(tiny).eval(),
        transformers.AutoTokenizer.from_pretrained(tiny),
    )
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    text = corpus()[:20]
    flat = train.bits_per_byte(model, tokens, text, 64)
    # all of the vocabulary alike: 10 bits for each token but BOS
    size = len(train.stream(tokens, text)) - len(text)
    assert pytest.approx(10 * size / sum(len(line) + 1 for line in text), rel=1e-6) == flat
    assert pytest.approx(flat, rel=1e-6) == train.bits_per_byte(model, tokens, text, 7)


def test_single_bytes_by_hand():
    # two bytes each, of "a\n": (1 + 1) / (2 + 256) for either
    assert pytest.approx(7.0112273) == tool().single_bytes(["a"], ["a"])


def test_its_card_says_the_recipe(tiny, bits):  # noqa: F811
    train = tool()
    card = (tiny / "README.md").read_text("utf-8")
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny)
    for said in (
        "no medical validity", "word salad", "Plumbing and regression tests only",
        "60 steps of 8 x 64 tokens", "seed 1", "body, phenomenon, state, substance",
        train.recipe(corpus()).corpus, train.digest(model), f"{model.num_parameters():,} parameters",
        f"{bits:.4f} bits a byte", "untrained 3.85, single bytes 4.37",
    ):  # fmt: skip
        assert said in card
    assert "Princeton University" in (tiny / "LICENSE").read_text()


def test_its_tokeniser_gives_texts_back_and_puts_one_bos_before_them(tiny):  # noqa: F811
    tokens = transformers.AutoTokenizer.from_pretrained(tiny)
    text = "Fièvre > 39 °C:\n  naïve\tβ-blocker — 5 µg"
    ids = tokens(text).input_ids
    assert text == tokens.decode(ids, skip_special_tokens=True)
    assert [0] == [i for i in ids if i in (tokens.bos_token_id, tokens.eos_token_id)]


def test_a_seed_makes_the_same_weights_again_and_another_one_others(few):
    train = tool()
    state = torch.random.get_rng_state()
    made = [train.train(few, train.recipe(few, seed=seed, **QUICK)) for seed in (1, 1, 2)]
    first, again, other = (train.digest(trained.model) for trained in made)
    assert first == again != other
    assert made[0].bits == made[1].bits != made[2].bits
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_folder_is_left_alone_by_the_same_recipe_and_refused_to_another(tmp_path, few):
    train, folder = tool(), tmp_path / "made"
    recipe = train.recipe(few, **QUICK)
    assert train.make(folder, few, recipe)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert not train.make(folder, few, recipe)
    assert before == (folder / "model.safetensors").stat().st_mtime_ns
    with pytest.raises(train.Exists, match="name another folder"):
        train.make(folder, few, train.recipe(few, **QUICK | {"seed": 2}))
    (tmp_path / "mine").mkdir()
    with pytest.raises(train.Exists, match="name another folder"):
        train.make(tmp_path / "mine", few, recipe)
    assert ["made", "mine"] == sorted(path.name for path in tmp_path.iterdir())


def test_of_two_that_want_it_at_once_one_trains(tmp_path, monkeypatch, few):
    train, trained = tool(), []
    real = train.train
    monkeypatch.setattr(train, "train", lambda *given: (trained.append(1), real(*given))[1])
    recipe = train.recipe(few, **QUICK)
    calls = [threading.Thread(target=made_once, args=(tmp_path / "one", few, recipe)) for _ in range(3)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert [1] == trained
    assert ["one"] == [path.name for path in tmp_path.iterdir()]


def test_a_lock_left_behind_does_not_hold_anybody_up(tmp_path, monkeypatch, few):
    monkeypatch.setattr("tests.models.local.tiny.PATIENCE", 0.0)
    (tmp_path / "one.lock").mkdir()
    recipe = tool().recipe(few, **QUICK)
    assert (made_once(tmp_path / "one", few, recipe) / "model.safetensors").is_file()
    assert not (tmp_path / "one.lock").exists()


def test_the_command_prints_the_card_and_writes_the_recipe(tmp_path, capsys):
    corpus()
    lines = (SOURCE / "data.noun").read_text("ascii").splitlines(keepends=True)
    named = [line for line in lines if line[9:11] in tool().TOPICS]
    (tmp_path / "data.noun").write_text("".join(lines[:29] + named[:400]), "ascii")
    call = [str(tmp_path / "it"), "--steps", "1", "--seed", "7", "--source"]
    tool().main([*call, str(tmp_path)])
    told = capsys.readouterr()
    assert (tmp_path / "it" / "README.md").read_text("utf-8").strip() == told.out.strip()
    assert "step 1 of 1: " in told.err
    assert {"steps": 1, "seed": 7}.items() <= json.loads((tmp_path / "it/recipe.json").read_text()).items()
    tool().main([*call, str(tmp_path)])
    assert "was there already" in capsys.readouterr().err
    for wrong in ("--steps=2", f"--source={tmp_path / 'nowhere'}"):
        with pytest.raises(SystemExit):
            tool().main([*call, str(tmp_path), wrong])
        assert {"--steps=2": "name another folder"}.get(wrong, "apt-get install") in capsys.readouterr().err
