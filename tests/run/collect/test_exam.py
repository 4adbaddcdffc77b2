"""One file for a whole examination: the same as the verbs, checked before anybody is asked."""

import json
import re

import polars as pl
import pytest

import vivavoce as viva_
from vivavoce.core.errors import InputError, ModelError, SelectionError, SpecError, VivaError

FILE = """
run: {run}
benchmarks: ["{exam}"]
models: [vllm/m, baseline/random, baseline/reference]
settings: {{repeats: 2, temperature: 0.5, sample: 50%}}
metrics: [exact, "rouge(n=1)"]
compare:
  - {{candidates: [vllm/m, baseline/reference], metric: exact, margin: 0.1}}
  - {{candidates: [vllm/m, baseline/random], metric: "rouge(n=1)", against: baseline/reference}}
studies: [ranking, consistency]
report: {{to: {report}, plots: {plots}}}
"""


@pytest.fixture
def file(tmp_path, exam):
    """`file(**changed)` writes the file above; a change of null takes a key out."""
    import yaml

    def made(text: str | None = None, **changed):
        stated = yaml.safe_load(
            FILE.format(
                run=tmp_path / "one.viva",
                exam=exam(20),
                report=tmp_path / "one.html",
                plots=tmp_path / "plots",
            )
        )
        path = tmp_path / "exam.yaml"
        path.write_text(
            text or yaml.safe_dump({k: v for k, v in (stated | changed).items() if v is not None})
        )
        return path

    return made


def test_probabilities_that_metrics_mark_are_asked_of_models_that_tell_them(file, monkeypatch, tmp_path):
    from tests.run.collect.likely import FakeLikely

    from vivavoce.models.candidates import CandidateConfig
    from vivavoce.models.providers.baseline import BaselineProvider

    def connect(self):
        name = str(self.spec)
        return (
            BaselineProvider(name=name, model=self.model)
            if name.startswith("baseline/")
            else FakeLikely(name)
        )

    monkeypatch.setattr(CandidateConfig, "connect", connect)
    path = file(metrics=["exact", "perplexity"], compare=None, studies=None, report=None)
    found = viva_.examine(path)
    assert ["collect", "collect", "score"] == [one.study for one in found]
    run = viva_.open(tmp_path / "one.viva")
    by = dict(run.responses.group_by("probe").agg(n=pl.col("candidate").n_unique()).iter_rows())
    assert {"": 3, "given(after=question)": 1} == by
    told = run.responses.filter(probe="given(after=question)")["candidate"].unique().item()
    assert "vllm/m(temperature=0.5)" == told


def undated(rows):
    """Rows without what differs by the clock, and by the name of the run."""
    return json.loads(re.sub(r'"(made_at|seconds)": ("[^"]*"|[\d.e-]+)', r'"\1": 0', json.dumps(rows)))


def contents(run):
    from vivavoce.store import read

    with run.file.reading() as db:
        kept = {study: read.findings(db, study) for study in ("compare", "ranking", "consistency", "collect")}
        provenance = read.provenance(db)
    tables = [
        t.sort(t.columns[:10]).drop("seconds", strict=False).rows()
        for t in (run.items, run.responses, run.scores)
    ]
    return tables, undated(kept), undated(provenance)


def test_a_file_equals_the_verbs_in_order(file, exam, endpoint, tmp_path, viva):
    server = endpoint()
    told = viva("run", file())
    path, label = tmp_path / "two.viva", "vllm/m(temperature=0.5)"
    models = [
        word for name in ("vllm/m", "baseline/random", "baseline/reference") for word in ("--model", name)
    ]
    viva("collect", path, exam(20), *models, "--repeats", 2, "--temperature", 0.5, "--sample", "50%")
    viva("score", path, "exact", "rouge(n=1)")
    viva("compare", path, label, "baseline/reference", "--metric", "exact", "--margin", 0.1)
    viva(
        "compare", path, label, "baseline/random", "--metric", "rouge(n=1)", "--against", "baseline/reference"
    )
    viva("study", path, "ranking", "consistency")
    viva("report", path, "--to", tmp_path / "two.html", "--plots", tmp_path / "plots2")
    assert contents(viva_.open(tmp_path / "one.viva")) == contents(viva_.open(path))
    assert {4} == set(server.seen.values())
    assert (tmp_path / "one.html").stat().st_size > 10_000
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == sorted(
        p.name for p in (tmp_path / "plots2").iterdir()
    )
    headings = [
        line
        for line in told.stdout.splitlines()
        if line in {"collect", "score", "compare", "ranking", "report"}
    ]
    assert ["collect", "score", "compare", "compare", "ranking", "report"] == headings


def test_the_same_file_again_asks_marks_and_tests_nothing_anew(file, endpoint, tmp_path):
    server = endpoint()
    first, again = viva_.examine(file()), viva_.examine(file())
    assert {2} == set(server.seen.values())
    assert 0 == again[0].rows[0]["answered"]
    assert first[1].rows == again[1].rows
    assert (1, 1) == (first[2].rows[0]["looks"], again[2].rows[0]["looks"])


def test_answers_that_are_left_end_it_before_any_result_is_seen(file, tmp_path, monkeypatch, viva):
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    limits = tmp_path / "providers.yaml"
    limits.write_text("vllm: {concurrency: 1, attempts: 1}")
    told = viva("run", file(providers=str(limits), settings={"repeats": 3}), "--json", code=1)
    steps = json.loads(told.stdout)["rows"]
    assert ["collect"] == [row["step"] for row in steps]
    assert steps[0]["left"] > 0
    assert 0 == viva_.open(tmp_path / "one.viva").scores.height


def test_a_dry_run_checks_everything_and_stores_nothing(file, endpoint, tmp_path, viva):
    server = endpoint()
    told = viva("run", file(), "--dry-run")
    assert "60 requests: 10 questions in 10 cases, 2 times each, 3 candidates." in told.stdout
    assert ({}, False, False) == (
        server.seen,
        (tmp_path / "one.viva").exists(),
        (tmp_path / "one.html").exists(),
    )


def test_several_benchmarks_are_asked_one_after_the_other_under_one_limit_of_cost(
    exam, endpoint, limits, tmp_path
):
    endpoint()
    second = exam(9, name="second", change=lambda k: {"question": f"And {k}?"})
    file = tmp_path / "exam.yaml"
    file.write_text(json.dumps({
        "run": str(tmp_path / "one.viva"),
        "benchmarks": [exam(3, name="first"), second],
        "models": ["vllm/m"],
        "providers": str(limits(concurrency=1, prices={"m": [1e6, 0]})),  # 11 a request
        "max_cost": 70,
    }))  # fmt: skip
    first, second = (finding.rows[0] for finding in viva_.examine(file))
    assert (3, 33.0, 3, 33.0, 6) == (
        first["answered"], first["cost"], second["answered"], second["cost"], second["left"],
    )  # fmt: skip


def test_replies_that_do_not_say_their_tokens_count_for_the_limit_of_the_whole_plan(
    exam, fake, limits, tmp_path
):
    server = fake({"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]})
    plan = {
        "run": str(tmp_path / "one.viva"),
        "benchmarks": [exam(3), exam(9, name="second", change=lambda k: {"question": f"And what {k}?"})],
        "models": ["vllm/m"],
        "providers": str(limits(base_url=server.base_url, concurrency=1, prices={"m": [1e6, 0]})),
        "max_cost": 60,
    }
    file = tmp_path / "exam.yaml"
    file.write_text(json.dumps(plan))
    first, second = (finding.rows[0] for finding in viva_.examine(file))
    assert (None, None) == (first["cost"], second["cost"])
    assert 0 < first["cost_estimate"] + second["cost_estimate"] <= 60
    assert second["left"] > 0


def test_judges_of_a_plan_keep_its_limit_of_cost_and_stay_offline(exam, endpoint, limits, tmp_path):
    server = endpoint()
    plan = {
        "run": str(tmp_path / "one.viva"),
        "benchmarks": [exam(3)],
        "models": ["vllm/m"],
        "providers": str(limits(concurrency=1, prices={"m": [1e6, 0]})),  # 11 a request
        "max_cost": 40,
        "offline": True,
    }
    file = tmp_path / "exam.yaml"
    file.write_text(json.dumps({**plan, "metrics": ["judge(rubric=correctness, model=vllm/m)"]}))
    with pytest.raises(ModelError, match=r"another request might pass --max-cost 7"):  # 40 less three answers
        viva_.examine(file)
    assert 3 == sum(server.seen.values())
    file.write_text(json.dumps({**plan, "metrics": ["judge(rubric=correctness, model=openai/m)"]}))
    with pytest.raises(VivaError, match=r"offline: 'api\.openai\.com' is not this machine"):
        viva_.examine(file)


def test_a_file_without_models_marks_a_run_that_is_there(file, endpoint, tmp_path):
    endpoint()
    viva_.examine(file())
    file = file(
        models=None, benchmarks=None, compare=None, studies="all", settings=None, metrics=["token_f1"]
    )
    found = [finding.study for finding in viva_.examine(file)]
    assert "score" == found[0]
    assert {"ranking", "correlation", "consistency"} < set(found)


@pytest.mark.parametrize(
    ("changed", "kind", "words"),
    [
        ({"metrix": []}, InputError, "no key 'metrix'. Did you mean 'metrics'?"),
        ({"settings": {"temprature": 1}}, InputError, "no key 'temprature'. Did you mean 'temperature'"),
        ({"settings": {"repeats": "five"}}, InputError, "repeats: a whole number is needed, not 'five'."),
        ({"settings": {"repeats": True}}, InputError, "settings, repeats: a whole number is needed"),
        ({"settings": {"repeats": 0}}, InputError, "--repeats 0: a whole number from 1 to 10,000 is needed."),
        ({"settings": {"preset": "paper"}}, InputError,
         "preset: paper-settings or published is needed, not 'paper'."),
        ({"run": None}, InputError, "the key run is missing"),
        ({"models": None}, InputError, "benchmarks stand there without models"),
        ({"models": ["opnai/gpt"]}, ModelError, "no provider 'opnai'. Did you mean 'openai'?"),
        ({"models": [3]}, InputError, "models 1: text is needed, not 3."),
        ({"metrics": "exact"}, InputError, "metrics: a list is needed, not 'exact'."),
        ({"metrics": ["exakt"], "compare": None}, SpecError, "metrics: no metric named 'exakt'"),
        ({"studies": ["rankin"]}, InputError, "studies: no study named 'rankin'. Did you mean 'ranking'?"),
        ({"studies": "some"}, InputError, "studies: a list or all is needed, not 'some'."),
        ({"compare": ["A"]}, InputError, "compare 1: a mapping is needed"),
        ({"compare": [{"candidates": ["vllm/n0", "vllm/m"], "metric": "exact"}]}, SelectionError,
         "compare 1: no candidate named 'vllm/n0' in this run. Did you mean"),
        ({"compare": [{"candidates": ["vllm/m", "baseline/random"], "metric": "meteor"}]}, InputError,
         "compare 1: nothing is scored by 'meteor' here. Known: exact, rouge."),
        ({"compare": [{"metric": "exact", "population": "all"}]}, InputError,
         "compare 1, population: sample or fixed is needed, not 'all'."),
        ({"report": {"to": 7}}, InputError, "report, to: text is needed, not 7."),
        ({"report": {"at": "x"}}, InputError, "report: no key 'at'"),
        ({"report": {"to": "nowhere/x.html"}}, InputError, "report, to: no folder nowhere to put the report"),
        ({"overall": {"weights": {1: 2}}}, InputError, "overall, weights: a name is text, not 1."),
        ({"overall": {"weights": {True: 2}}}, InputError, "overall, weights: a name is text, not True."),
        ({"overall": {"weights": {"mcq": "much"}}}, InputError, "mcq: a number is needed, not 'much'."),
        ({"max_cost": "x" * 5_000}, InputError, "… (5,000 characters)"),
        ({"run": True}, InputError, "run: text is needed, not True. YAML reads yes, no, on and off as"),
        ({"max_cost": "1e3"}, InputError, "max_cost: a number is needed, not '1e3'. YAML reads a power of"),
        ({"settings": {"repeats": 2.5}}, InputError, "settings, repeats: a whole number is needed, not 2.5."),
        ({"models": [" "]}, InputError, "models 1: text is needed, not ' '."),
        ({"metrics": [{"rouge": 1}]}, InputError, "metrics 1: text is needed, not {'rouge': 1}. Put quotes"),
        ({"settings": ["repeats"]}, InputError, "settings: a mapping is needed, not ['repeats']."),
        ({"compare": [{"candidates": "A", "metric": "exact"}]}, InputError,
         "compare 1, candidates: a list is needed, not 'A'."),
        ({"compare": [{}, {"margn": 1}]}, InputError, "compare 2: no key 'margn'. Did you mean 'margin'?"),
        ({"primary": 3}, InputError, "primary: text is needed, not 3."),
        ({"primary": "exakt"}, InputError, "primary: nothing is scored by 'exakt' here. Did you"),
        ({"primary": "overall(by=topic)"}, SelectionError, "primary: overall, by: format or category"),
        ({"overall": []}, InputError, "overall: a mapping is needed, not []."),
        ({"overall": {"wieghts": "micro"}}, InputError, "overall: no key 'wieghts'. Did you mean 'weights'?"),
        ({"overall": {"by": "topic"}}, InputError, "overall, by: format or category is needed, not 'topic'."),
        ({"overall": {"weights": "all"}}, InputError,
         "overall, weights: macro or micro or a mapping is needed, not 'all'."),
        ({"overall": {"weights": {"short": "2"}}}, InputError, "overall, weights, short: a "),
        ({"overall": {"weights": {"short": True}}}, InputError, "overall, weights, short: a "),
        ({"overall": {"weights": {"short": -2}}}, SelectionError, "overall, weights: 'short' needs a number"),
        ({"overall": {"weights": {"short": 0}}}, SelectionError, "overall, weights: 'short' needs a number"),
        ({"overall": {"groups": {"x": []}}}, SelectionError, "overall, groups: 'x' holds no format"),
        ({"overall": {"groups": {"x": ["mcq"], "y": ["mcq"]}}}, SelectionError, "'mcq' is in 'x' and in 'y'"),
        ({"overall": {"groups": {True: ["mcq"]}}}, InputError, "name is text, not True. YAML reads yes"),
        ({"overall": {"metrics": ["exact"]}}, InputError, "overall, metrics: a mapping is needed"),
        ({"offline": "no"}, InputError, "offline: true or false is needed, not 'no'."),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_and_key_before_anybody_is_asked(
    file, endpoint, tmp_path, changed, kind, words
):
    server = endpoint()
    with pytest.raises(kind) as told:
        viva_.examine(file(**changed))
    assert str(told.value).startswith(str(tmp_path / "exam.yaml"))
    assert words in str(told.value)
    assert ({}, False) == (server.seen, (tmp_path / "one.viva").exists())


def test_what_a_plan_says_of_primary_and_overall_stays_with_the_run(file, endpoint, tmp_path):
    endpoint()
    overall = {"groups": {"all": ["short"]}, "metrics": {"short": "exact"}, "weights": {"all": 3}}
    plan = file(overall=overall, compare=[{"candidates": ["vllm/m", "baseline/reference"]}], studies=None)
    compared = viva_.examine(plan)[2].rows[0]
    assert ("overall", "overall") == (compared["metric"], compared["criterion"])
    run = viva_.open(tmp_path / "one.viva")
    assert "compared by overall (stated in the plan)." in str(
        run.compare("vllm/m(temperature=0.5)", "baseline/random")
    )
    assert "groups=[all:short], metrics=[short:exact], weights=[all:3.0]" in compared["signature"]
    viva_.examine(file(primary="rouge:f1", compare=None, studies=None, report=None))
    assert "rouge(n=1)" == run.compare("vllm/m(temperature=0.5)", "baseline/random").rows[0]["metric"]


def test_what_is_null_in_a_plan_is_not_stated(file):
    from vivavoce.run.plan.plan_file import read_plan

    plan = read_plan(
        file(text="run: a.viva\nmetrics:\nsettings: {repeats: null}\noverall: {by: null}\nreport: ~")
    )
    assert ((), {"allow": ()}, "overall(by=format, weights=macro)", None) == (
        plan.metrics, plan.settings, str(plan.overall), plan.report
    )  # fmt: skip


def test_the_schema_for_editors_knows_every_key_and_refuses_what_the_check_refuses(viva):
    import jsonschema

    schema = json.loads(viva("run", "--schema").stdout)
    assert {"run", "primary", "overall", "settings", "max_cost"} < schema["properties"].keys()
    check = jsonschema.Draft202012Validator(schema)
    good = {"run": "a.viva", "settings": {"repeats": 2}, "overall": {"weights": {"short": 2}}, "report": True}
    assert [] == list(check.iter_errors(good))
    for bad in (
        {"runn": "a"},
        {"settings": {"repeats": "two"}},
        {"overall": {"by": "x"}},
        {"metrics": "exact"},
    ):
        assert list(check.iter_errors({"run": "a.viva", **bad}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run: [", "line 1: no valid YAML"),
        ("run: a.viva\nrun: b.viva", "line 2: run stands there twice."),
        ("run: a.viva\nsettings:\n  seed: 1\n  seed: 2", "line 4: seed stands there twice."),
        ("- run", "a mapping of names to settings is needed, not list."),
        ("", "the key run is missing"),
    ],
)
def test_what_is_no_exam_is_refused(file, text, words):
    with pytest.raises(VivaError, match=re.escape(words)):
        viva_.examine(file(text=text or "# nothing"))
