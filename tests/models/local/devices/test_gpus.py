"""Which GPUs are named, which are there, and the sentences for what cannot be."""

import json

import pytest
from tests.cases import each_case
from tests.lazy import lazy_module
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce import cli
from vivavoce.core.errors import InputError
from vivavoce.models.candidates import CandidateConfig, on_gpus, parse_candidate
from vivavoce.models.gpus import parse_gpus
from vivavoce.models.local.devices import gpu_devices
from vivavoce.models.providers.hf import WAITING
from vivavoce.models.requests import Reply, Request

torch = lazy_module("torch")


@pytest.fixture
def gpus(monkeypatch):
    """Lets torch see so many fake GPUs; nothing runs on them."""

    def set_number(n: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: n > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: n)

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return set_number


@pytest.fixture
def exam(tmp_path):
    file = tmp_path / "exam.jsonl"
    file.write_text(json.dumps({"id": "q", "format": "short", "question": "What?", "answer": "that"}) + "\n")
    return f"jsonl(path={file})"


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [(None, ()), ("0", (0,)), ("0,1,2,3", (0, 1, 2, 3)), (" 3, 1 ", (3, 1)), ([1, 0], (1, 0)), ((2,), (2,))],
)
def test_numbers_keep_their_order(typed, numbers):
    assert numbers == parse_gpus(typed)


@each_case("typed", ["x", "", ",", "0,", "0;1", "-1", "1.0", "0 1", "²", "٣", "all", "1" * 9, [], [True]])
def test_what_is_no_list_of_numbers_is_one_sentence(typed):
    with pytest.raises(InputError, match=r"^--gpus .*: write the numbers of GPUs with commas .* 0,1,2,3\.$"):
        parse_gpus(typed)


@pytest.mark.parametrize(("typed", "number"), [("0,0", 0), ("0,1,01", 1), ([2, 2], 2)])
def test_a_gpu_that_is_named_twice_is_one_sentence(typed, number):
    with pytest.raises(InputError, match=rf"names GPU {number} twice: name each once\.$"):
        parse_gpus(typed)


def test_a_machine_without_a_gpu_is_one_sentence(gpus):
    gpus(0)
    with pytest.raises(InputError, match=r"^--gpus 0,1: torch sees no GPU on this machine: leave --gpus out"):
        gpu_devices((0, 1))


@pytest.mark.parametrize(("n", "which"), [(4, "the GPUs 0 to 3"), (1, "GPU 0 alone")])
def test_a_gpu_that_is_not_there_is_one_sentence(gpus, n, which):
    gpus(n)
    with pytest.raises(InputError, match=rf"^--gpus 0,9: there is no GPU 9: torch sees {which} here\.$"):
        gpu_devices((0, 9))


def test_each_process_sees_its_gpu_alone(gpus):
    gpus(4)
    assert [
        ("GPU 3", {"CUDA_VISIBLE_DEVICES": "3"}, "cuda"),
        ("GPU 0", {"CUDA_VISIBLE_DEVICES": "0"}, "cuda"),
    ] == [tuple(device) for device in gpu_devices((3, 0))]


def test_numbers_count_what_a_scheduler_lets_us_see(gpus, monkeypatch):
    gpus(2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "6, GPU-8932f937")
    assert ["6", "GPU-8932f937"] == [
        device.variables["CUDA_VISIBLE_DEVICES"] for device in gpu_devices((0, 1))
    ]


def test_of_several_candidates_the_local_ones_run_on_gpus():
    candidates = [parse_candidate(name, {}) for name in ("hf/a/b(batch=4)", "baseline/random")]
    local, baseline = on_gpus(candidates, (0, 1, 2))
    assert ((0, 1, 2), ()) == (local.gpus, baseline.gpus)
    assert "hf/a/b" == str(local.spec)
    assert 3 * WAITING == local.limits.concurrency


def sentence(*words: object) -> str:
    """What the command says of input that it refuses."""
    result = CliRunner(env={"COLUMNS": "400"}).invoke(cli.app, [str(word) for word in words])
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


def test_models_elsewhere_are_one_sentence(tmp_path, exam):
    words = ("collect", tmp_path / "r.viva", exam, "--gpus", "0,1", "--model", "baseline/random")
    expected = "--gpus 0,1: baseline/random is no local model (hf/…), and only those run on these GPUs: leave"
    assert f"{expected} --gpus out." == sentence(*words)
    assert not (tmp_path / "r.viva").exists()


def test_a_device_of_its_own_beside_gpus_is_one_sentence(tmp_path, exam):
    words = ("collect", tmp_path / "r.viva", exam, "--gpus", "0,1", "--model", "hf/a/b(device=cuda:1)")
    assert "--gpus 0,1: hf/a/b states device=cuda:1 itself: leave one of the two out." == sentence(*words)


@pytest.fixture
def collected(tmp_path, exam):
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam, models=["baseline/reference"])
    return run


def test_scores_that_ask_no_local_model_are_one_sentence(tmp_path, collected):
    before = collected.file.path.read_bytes()
    words = ("score", tmp_path / "r.viva", "token_f1", "judge(rubric=correctness, model=openai/gpt-4o)")
    assert sentence(*words, "--gpus", "0").startswith("--gpus 0: no metric here asks a local model (hf/…)")
    assert before == collected.file.path.read_bytes()


def test_workers_beside_gpus_are_one_sentence(tmp_path, collected):
    words = ("score", tmp_path / "r.viva", "judge(rubric=correctness, model=hf/a/b)", "--workers", 2)
    assert sentence(*words, "--gpus", "0").startswith("--gpus 0 and --workers 2 do not go together: score by")


@pytest.mark.parametrize(
    "metric",
    [
        "judge(rubric=correctness, model=hf/a/b(device=cpu))",
        "jury(of=[judge(rubric=correctness, model=openai/x), "
        "judge(rubric=correctness, model=hf/a/b(device=cpu))], rule=mean)",
    ],
)
def test_a_judge_with_a_device_of_its_own_is_one_sentence(tmp_path, collected, metric):
    assert "--gpus 0: hf/a/b states device=cpu itself: leave one of the two out." == sentence(
        "score", tmp_path / "r.viva", metric, "--gpus", "0"
    )


def test_a_plan_without_a_local_model_is_one_sentence(tmp_path, exam):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"run: {tmp_path / 'r.viva'}\nbenchmarks: ['{exam}']\n"
        "models: [baseline/random]\nmetrics: [token_f1]\n"
    )
    assert sentence("run", plan, "--gpus", "0").startswith(
        "--gpus 0: baseline/random is no local model (hf/…)"
    )


def test_a_judge_of_a_plan_with_a_device_of_its_own_is_refused_before_anybody_is_asked(tmp_path, exam):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"run: {tmp_path / 'r.viva'}\nbenchmarks: ['{exam}']\nmodels: [baseline/random]\n"
        "metrics: ['judge(rubric=correctness, model=hf/a/b(device=cpu))']\n"
    )
    expected = "--gpus 0: hf/a/b states device=cpu itself: leave one of the two out."
    assert expected == sentence("run", plan, "--gpus", "0")
    assert not (tmp_path / "r.viva").exists()


JUDGE = "judge(rubric=correctness, model=hf/a/b)"


@pytest.mark.parametrize(("n", "cause"), [(0, "torch sees no GPU on this"), (2, "there is no GPU 9: torch")])
def test_a_judge_s_gpu_that_is_not_there_is_one_sentence_before_anything_is_scored(
    tmp_path, collected, gpus, connected, n, cause
):
    gpus(n)
    connected.clear()
    before = collected.file.path.read_bytes()
    assert sentence("score", tmp_path / "r.viva", "token_f1", JUDGE, "--gpus", "9").startswith(
        f"--gpus 9: {cause}"
    )
    assert ([], before) == (connected, collected.file.path.read_bytes())


def test_without_torch_the_extra_is_named(tmp_path, collected, monkeypatch):
    monkeypatch.setattr("vivavoce.core.extras._is_installed", lambda package: package != "torch")
    result = CliRunner().invoke(cli.app, ["score", str(tmp_path / "r.viva"), JUDGE, "--gpus", "0,1"])
    assert '--gpus 0,1 needs torch: pip install "vivavoce[hf]".' == str(result.exception)


def test_a_dry_run_of_a_judge_may_name_gpus_of_another_machine(tmp_path, collected, gpus):
    gpus(0)
    words = ("score", str(tmp_path / "r.viva"), JUDGE, "--gpus", "9", "--dry-run")
    assert 0 == CliRunner().invoke(cli.app, words).exit_code


def test_a_plan_s_gpu_that_is_not_there_is_one_sentence_before_anybody_is_asked(tmp_path, exam, connected):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"run: {tmp_path / 'r.viva'}\nbenchmarks: ['{exam}']\n"
        f"models: [baseline/random]\nmetrics: ['{JUDGE}']\n"
    )
    assert sentence("run", plan, "--gpus", "9").startswith("--gpus 9: there is no GPU 9")
    assert [] == connected
    assert not (tmp_path / "r.viva").exists()
    assert 0 == CliRunner().invoke(cli.app, ["run", str(plan), "--gpus", "9", "--dry-run"]).exit_code


class FakeLocal:
    """A local model that notes the GPUs it was to run on, and answers as a judge does."""

    place, endpoint, branching = "", "hf on fake", True
    connected: list[tuple[str, tuple[int, ...]]]

    def __init__(self, candidate: CandidateConfig) -> None:
        self.name = str(candidate.spec)
        self.connected.append((self.name, candidate.gpus))

    async def generate(self, request: Request) -> Reply:
        length = len(request.messages[-1].content)  # a reply that only repeats an answer is no judge's own
        return Reply(text=f'{{"reasoning": "of {length} characters", "score": 1}}')

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def connected(monkeypatch, gpus):
    """The models that were connected, each with its GPUs, of which there are three."""
    gpus(3)
    FakeLocal.connected = []
    monkeypatch.setattr(CandidateConfig, "connect", lambda candidate: FakeLocal(candidate))
    return FakeLocal.connected


def test_judges_run_on_the_gpus(connected, collected):
    connected.clear()
    collected.score("judge(rubric=correctness, model=hf/a/b)", gpus=[2, 0])
    assert [("hf/a/b", (2, 0))] == connected


def test_candidates_and_judges_of_a_plan_run_on_the_gpus_and_others_do_not(tmp_path, exam, connected):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"run: {tmp_path / 'r.viva'}\nbenchmarks: ['{exam}']\nmodels: [hf/a/b, baseline/random]\n"
        "metrics: [token_f1, 'judge(rubric=correctness, model=hf/c/d)']\n"
    )
    result = CliRunner().invoke(cli.app, ["run", str(plan), "--gpus", "0,1"])
    assert 0 == result.exit_code, result.output
    assert [("hf/a/b", (0, 1)), ("baseline/random", ()), ("hf/c/d", (0, 1))] == connected


@pytest.mark.parametrize("metric", ["token_f1", "judge(rubric=correctness, model=openai/gpt-4o)"])
def test_gpus_of_a_plan_go_to_its_candidates_alone_where_no_judge_is_local(tmp_path, exam, connected, metric):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"run: {tmp_path / 'r.viva'}\nbenchmarks: ['{exam}']\nmodels: [hf/a/b]\nmetrics: ['{metric}']\n"
    )
    result = CliRunner().invoke(cli.app, ["run", str(plan), "--gpus", "0"])
    assert 0 == result.exit_code, result.output
    assert ("hf/a/b", (0,)) == connected[0]
    assert all(() == gpus for _, gpus in connected[1:])
