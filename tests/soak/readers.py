"""Every reader of what others wrote, each with good files to make worse; in this process, for speed."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.logs.written_logs import WRITTEN
from tests.people.raters import ballot, by_word, examined, filled
from tests.soak.inputs import (
    ANSWERS,
    BODIES,
    ITEMS,
    MARKS,
    PLAN,
    PROMPT,
    PROVIDERS,
    REPLIES,
    SPECS,
    TEXTS,
    WORDS,
    lines,
    parquet,
    prepared,
    rows_of,
    run_items,
    sheet,
)
from tests.soak.mutations import pick, worse, worse_text
from tests.soak.run_files import VERBS, run_cases
from tests.systems.cliniqlink.conftest import KINDS, ROWS, SOURCE, dump
from tests.systems.cliniqlink.conftest import exam as challenge

from vivavoce.core.errors import VivaError
from vivavoce.run.run import Run, open_run
from vivavoce.store.run_counts import response_count

Case = tuple[str, Callable[[], object]]
"""What was changed, and the call that reads it."""
GOOD = "nothing changed"
"""The first case of files: who refuses it refuses everything, and shows nothing."""


@dataclass
class Reader:
    """A way in. `cases` yields one after the other without end; `run` is a file that a refusal leaves alone.

    `refusals` are the errors by which it says no; `after` is done now and then with what was read.
    """

    name: str
    cases: Callable[[Random], Iterator[Case]]
    run: Path | None = None
    refusals: tuple[type[BaseException], ...] = (VivaError,)
    after: Callable[[Random], object] | None = None


def in_files(
    folder: Path, files: Mapping[str, bytes], read: Callable[[Path], object]
) -> Callable[[Random], Iterator[Case]]:
    """Cases in which one of these files is worse than it was; the others are good."""
    folder.mkdir(exist_ok=True)

    def cases(rng: Random) -> Iterator[Case]:
        for name, raw in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(raw)
        yield GOOD, lambda: read(folder)
        while True:
            name = pick(list(files), rng)
            kind = ".rubric.md" if name.endswith(".rubric.md") else Path(name).suffix
            what, raw = worse(files[name], kind, rng)
            (folder / name).write_bytes(raw)
            yield f"{name}: {what}", lambda: read(folder)
            (folder / name).write_bytes(files[name])

    return cases


def in_text(texts: list[str], read: Callable[[str, Random], object]) -> Callable[[Random], Iterator[Case]]:
    """Cases in which one of these texts is worse than it was."""

    def cases(rng: Random) -> Iterator[Case]:
        while True:
            text = worse_text(pick(texts, rng), rng)
            yield repr(text[:300]), lambda: read(text, rng)  # noqa: B023

    return cases


def file_readers(base: Path) -> list[Reader]:
    """Items, answers and scores, in each kind of file."""
    readers = []
    exam = f"jsonl(path='{base / 'exam.jsonl'}')"
    (base / "exam.jsonl").write_bytes(lines(ITEMS))
    for kind, made in ((".jsonl", lines), (".csv", sheet), (".parquet", parquet)):
        run = prepared(base / f"answers{kind}")
        new = [row | {"repeat": row["repeat"] + 5} for row in ANSWERS]
        readers.append(Reader(
            f"answers{kind}",
            in_files(base / f"answers-in{kind}", {f"new{kind}": made(new)},
                     lambda at, run=run, kind=kind: run.import_answers(at / f"new{kind}", benchmark=exam)),
            run.file.path, after=used(run),
        ))  # fmt: skip
        run = prepared(base / f"scores{kind}")
        readers.append(Reader(
            f"scores{kind}",
            in_files(base / f"scores-in{kind}", {f"marks{kind}": made(MARKS)},
                     lambda at, run=run, kind=kind: run.import_scores(
                         at / f"marks{kind}", measure="people(study=soak)", range={"harm": (0, 5)},
                         map={"probability": "probability"} if kind == ".csv" else {},
                     )),
            run.file.path, after=used(run),
        ))  # fmt: skip
        if kind != ".parquet":
            place, name = base / f"exam-in{kind}", f"exam{kind}"
            spec = f"{kind.strip('.')}(path='{place / name}')"
            readers.append(Reader(
                name, in_files(place, {name: made(ITEMS)}, lambda at, spec=spec: use(spec)),
                after=sat(place, spec),
            ))  # fmt: skip
    return readers


def log_readers(base: Path, data: Path) -> list[Reader]:
    """The logs of every tool, as the tools wrote them and as they document them."""
    logs = {f"{name} as documented": {file: text.encode() for file, text in files.items()}
            for name, files in WRITTEN.items()}  # fmt: skip
    for folder in sorted(path for path in (data / "peers").rglob("*") if path.is_dir()):
        files = {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}
        if files and folder.name not in ("exam", "lm_eval"):  # exams and tasks
            logs[f"{folder.parent.name} {folder.name}"] = files
    readers = []
    for name, files in logs.items():
        run = prepared(base / name)
        readers.append(
            Reader(name, in_files(base / f"{name} in", files, partial(logged, run)), run.file.path)
        )
    return readers


def logged(run: Run, folder: Path) -> None:
    """Logs into the run: what became of their rows adds up to the rows, and to what is stored."""
    n_responses = n_stored(run)
    logs = run.import_logs(folder).logs
    for log in logs:
        rows, *parts = log.row_counts.values()
        assert rows == sum(parts), f"{rows} rows, and {log.row_counts}"
        assert log.responses == log.new + log.unchanged + log.replaced
    assert n_responses + sum(log.new for log in logs) == n_stored(run)


def n_stored(run: Run) -> int:
    with run.file.reading() as db:
        return response_count(db)


def used(run: Run) -> Callable[[Random], object]:
    """One of the verbs that read the run in which the input is now."""
    return lambda rng: pick(VERBS, rng)(run, run.file.path.parent)


def sat(at: Path, spec: str) -> Callable[[Random], object]:
    """The benchmark answered by its own key, scored, and looked at by one of the verbs."""

    def sit(rng: Random) -> None:
        for path in at.glob("sat.viva*"):
            path.unlink()
        run = open_run(at / "sat.viva")
        run.collect(spec, models=["baseline/reference", "baseline/random"])
        run.score("accuracy")
        if rng.random() < 0.3:
            used(run)(rng)

    return sit


def use(spec: str) -> None:
    """A benchmark that loads can be asked, too."""
    from vivavoce.benchmarks import load
    from vivavoce.formats import ask, key

    for item in load(spec).items:
        ask(item)
        key(item)


def system_readers(base: Path, data: Path) -> list[Reader]:
    """Challenge and result folders of ClinIQLink, sheets of HIVMedQA, and the tables that both take."""
    from vivavoce.systems.cliniqlink.reproduction import golden
    from vivavoce.systems.cliniqlink.semantic.layers import read_rarity
    from vivavoce.systems.cliniqlink.semantic.rules import CORRECTED
    from vivavoce.systems.hivmedqa.entities.entity_files import read_lists
    from vivavoce.systems.hivmedqa.entities.synonyms import read_dictionary

    spec, folder = challenge(base / "challenge"), base / "challenge"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    results = base / "results"
    for stem, rows in ROWS.items():
        said = ["said"] * len(rows)
        inputs = [row | {"source": SOURCE} for row in rows]
        dump(results / f"{KINDS[stem]}.json", {"inputs": inputs, "responses": said, "prompts": said})
    run = prepared(base / "challenged")
    marks = (data / "hivmedqa" / "judge_scores.csv").read_bytes().splitlines(keepends=True)[:40]
    asked = rows_of(data / "hivmedqa" / "questions.jsonl", 12)
    told = rows_of(data / "hivmedqa" / "responses.jsonl", 40)
    (base / "hiv").mkdir()
    (base / "hiv" / "questions.jsonl").write_bytes(lines(rows_of(data / "hivmedqa" / "questions.jsonl", 92)))
    (base / "hiv" / "responses.jsonl").write_bytes(lines(told))
    hiv = open_run(base / "hiv" / "run.viva")
    places = {"candidate": "model", "item": "question_id", "repeat": "iteration"}
    hivmedqa = f"hivmedqa(data='{base / 'hiv'}')"

    def answers(at: Path) -> object:
        return hiv.import_answers(at / "responses.jsonl", benchmark=hivmedqa, map=places | {"text": "answer"})

    def scores(at: Path) -> object:
        return hiv.import_scores(
            at / "judge_scores.csv", measure="judge(rubric=medgpt, model=m)", map=places,
            criteria=("harm", "reasoning"), where={"supervised": "True"}, status="parse_status",
            range={"*": (0, 5)},
        )  # fmt: skip

    answers(base / "hiv")
    table = json.loads((data / "cliniqlink" / "idf_sample.json").read_bytes())
    table["idf_table"] = dict(list(table["idf_table"].items())[:20])
    cases = json.loads((data / "cliniqlink" / "golden.json").read_bytes())
    cases["cases"] = cases["cases"][:5]
    entities = [{"item": "c1q00", "reference": 1, "entities": ["hiv", "test"]},
                {"item": "c1q00", "candidate": "m", "repeat": 1, "entities": '["hiv"]'}]  # fmt: skip
    return [
        Reader("ClinIQLink challenge", in_files(base / "challenge-in", files,
                                                lambda at: use(f"cliniqlink(data='{at}')")),
               after=sat(base / "challenge-in", f"cliniqlink(data='{base / 'challenge-in'}')")),
        Reader(
            "ClinIQLink results",
            in_files(base / "results-in", {path.name: path.read_bytes() for path in results.iterdir()},
                     lambda at: run.import_answers(at, benchmark=spec, set={"candidate": "m"})),
            run.file.path,
        ),
        Reader("HIVMedQA questions", in_files(base / "hiv-q", {"questions.jsonl": lines(asked)},
                                              lambda at: use(f"hivmedqa(data='{at}')"))),
        Reader("HIVMedQA answers", in_files(base / "hiv-a", {"responses.jsonl": lines(told)}, answers),
               hiv.file.path),
        Reader("HIVMedQA scores", in_files(base / "hiv-s", {"judge_scores.csv": b"".join(marks)}, scores),
               hiv.file.path),
        Reader("tables of systems", in_files(
            base / "tables",
            {"idf.json": json.dumps(table).encode(), "golden.json": json.dumps(cases).encode(),
             "synonyms.json": b'{"3tc": ["Lamivudine", "Epivir"], "abuse": ["Misuse"]}',
             "snomed.txt": b"conceptId\tactive\ttypeId\tterm\n1\t1\t2\tHeart attack\n1\t1\t2\tInfarct\n",
             "entities.jsonl": lines(entities)},
            lambda at: [read_rarity(at / "idf.json", CORRECTED), golden.cases(at / "golden.json"),
                        golden.words(at / "idf.json"), read_dictionary(at / "synonyms.json"),
                        read_dictionary(at / "snomed.txt"), read_lists(at / "entities.jsonl")],
        )),
    ]  # fmt: skip


def settings_readers(base: Path) -> list[Reader]:
    """Rubrics, prompts, files of providers, plans, recorded answers of a model, lists of metrics."""
    from vivavoce.core import registry
    from vivavoce.core.specs import parse_many
    from vivavoce.judging import loading
    from vivavoce.models.providers.systems import ReplayModel
    from vivavoce.run.plan.plan_file import examine

    run = prepared(base / "asked")
    exam = f"jsonl(path='{base / 'asked' / 'exam.jsonl'}')"
    rubrics = Path(loading.__file__).parent / "rubrics"
    replay = [{"prompt": "2+2?", "text": "4"}, {"prompt": "3+3?", "text": "6"}]

    def planned(at: Path) -> object:
        return run.collect(exam, models=["mine/m", "vllm/m"], providers=at / "providers.yaml", dry_run=True)

    def prompted(at: Path) -> object:
        return run.collect(exam, models=["baseline/echo"], prompt=at / "prompt.md", dry_run=True)

    def of_rubric(at: Path) -> None:
        for file in at.glob("*.md"):
            rubric = loading.load(str(file))
            for item in run_items(run):
                if rubric.applies_to(item) and rubric.kind in ("mark", "points"):
                    rubric.requests(item, "An answer.")

    def listed(at: Path) -> None:
        for spec in parse_many([f"@{at / 'metrics.txt'}"]):
            registry.build("metric", spec)

    return [
        Reader("rubric", in_files(
            base / "rubrics", {f"{path.stem}.rubric.md": path.read_bytes() for path in rubrics.glob("*.md")},
            of_rubric,
        )),
        Reader("prompt", in_files(base / "prompts", {"prompt.md": PROMPT}, prompted), run.file.path),
        Reader("providers file", in_files(base / "providers", {"providers.yaml": PROVIDERS}, planned),
               run.file.path),
        Reader("plan file", in_files(base / "plans", {"plan.yaml": PLAN},
                                     lambda at: examine(at / "plan.yaml", dry_run=True))),
        Reader("replay file", in_files(base / "replays", {"replay.jsonl": lines(replay)},
                                       lambda at: ReplayModel("replay", at / "replay.jsonl"))),
        Reader("list of metrics", in_files(
            base / "lists", {"metrics.txt": b"# ours\naccuracy\nrouge(n=1)\nchrf(words=2)\n"}, listed,
        ), run.file.path),
    ]  # fmt: skip


def packet_readers(base: Path) -> list[Reader]:
    """What raters send back: sheets, and ballots of the page, of both tasks."""
    run = examined(base / "panel", 4)
    opinion = by_word("key", "five", "some", "spoonful")
    readers = []
    for task, more in (("rank", {}), ("rate", {"task": "rate", "rubric": "correctness"})):
        out = base / f"packets-{task}"
        run.make_panel(["anna", "ben"], out, **more)
        if task == "rank":
            opinions: Any = opinion
        else:
            opinions = lambda item, answer: {"correct": 1}  # noqa: E731
        done = filled(out / "anna.csv", opinions)
        page = ballot(out / "ben.csv", opinions, out / "ben.json")
        readers.append(Reader(
            f"packets of raters who {task}",
            in_files(base / f"returned-{task}",
                     {"anna.csv": done.read_bytes(), "ben.json": page.read_bytes()},
                     lambda at: run.read_panel(at / "anna.csv", at / "ben.json")),
            run.file.path,
        ))  # fmt: skip
    return readers


def spec_reader(base: Path) -> Reader:
    """Texts of the command line: specs of every kind, ranges, vetoes, samples, names."""
    from vivavoce.core import registry, specs
    from vivavoce.models.candidates import parse_candidate
    from vivavoce.models.endpoints import load_endpoints

    run = prepared(base / "specs")
    exam = f"jsonl(path='{base / 'specs' / 'exam.jsonl'}')"
    kinds, endpoints = ("metric", "study", "variation", "benchmark"), load_endpoints()

    def read(text: str, rng: Random) -> object:
        match rng.randrange(8):
            case 0:
                return specs.parse(text)
            case 1:
                return registry.build(pick(kinds, rng), text)
            case 2:
                return parse_candidate(text, endpoints)
            case 3:
                return run.estimates(text)
            case 4:
                return run.collect(exam, models=[text], dry_run=True)
            case 5:
                return run.compare("Able", text, metric="accuracy")
            case 6:
                return run.collect(exam, models=["baseline/echo"], sample=text, dry_run=True)
            case _:
                return run.estimates("accuracy", veto=[text])

    return Reader("specs and words of the command line", in_text([*SPECS, *WORDS], read), run.file.path)


def reply_readers(run: Run) -> list[Reader]:
    """Judges' and other models' replies, candidates' answers, and the bodies that endpoints send."""
    from vivavoce.core.prompts import Unreadable
    from vivavoce.formats import FORMATS, read_response
    from vivavoce.judging import loading
    from vivavoce.models.endpoints import EndpointConfig
    from vivavoce.models.http_client import _parsed
    from vivavoce.models.providers.anthropic import AnthropicMessages
    from vivavoce.models.providers.openai import OpenAIChat, OpenAICompletions
    from vivavoce.models.requests import FatalError, Message, RejectedError, Request, RetryableError, Sampling
    from vivavoce.reading.confidence import stated_confidence
    from vivavoce.variants.llm import about_twin, for_rephrasing, read_verdict, text_reader

    items = run_items(run)
    twins, rewording = about_twin(*items[:2]), for_rephrasing(items[0].question)
    asks = []
    for name in loading.shipped():
        rubric = loading.load(name)
        for item in items:
            if rubric.applies_to(item):
                several = rubric.kind in ("pairwise", "listwise")
                asks += [(rubric, ask) for ask in (
                    [rubric.comparison(item, ["One.", "Two."])] if several else rubric.requests(item, "One.")
                )]  # fmt: skip

    def judged(text: str, rng: Random) -> object:
        match rng.randrange(6):
            case 0:
                return read_verdict(text, twins)
            case 1:
                return text_reader(rewording, "text")(text)
            case _:
                rubric, ask = pick(asks, rng)
                return rubric.read_reply(text, ask)

    def answered(text: str, rng: Random) -> object:
        item = pick(items, rng)
        reading = read_response(item, text)
        assert (reading.status == "ok") == (reading.parsed is not None)
        assert item.format in FORMATS
        return stated_confidence(text)

    config = EndpointConfig(name="fake", base_url="http://127.0.0.1:9/v1")
    models = (OpenAIChat, OpenAICompletions, AnthropicMessages)

    def replied(rng: Random) -> Iterator[Case]:
        while True:
            what, raw = worse(json.dumps(pick(BODIES, rng)).encode(), ".json", rng)
            way = pick(("generate", "loglikelihood"), rng)
            target = " four" if way == "loglikelihood" else None
            request = Request(messages=(Message("user", "2+2?"),), kind=way, target=target,
                              sampling=Sampling(logprobs=rng.random() < 0.5))  # fmt: skip
            yield f"{what}: {raw[:300]!r}", lambda: send(pick(models, rng), raw, way, request)  # noqa: B023

    def send(model: Any, raw: bytes, way: str, request: Request) -> object:
        one = model("fake/m", "m", config)

        async def post(path: str, payload: Any) -> Any:
            return one.client._reply("http://127.0.0.1:9/v1", 200, raw, None)

        one.client.post = post
        return asyncio.run(getattr(one, way)(request))

    assert _parsed(b"{}") == {}
    refusals = (RetryableError, RejectedError, FatalError)
    return [
        Reader("replies of judges", in_text(REPLIES, judged), refusals=(Unreadable,)),
        Reader("answers of candidates", in_text([*TEXTS.values(), *REPLIES], answered), refusals=()),
        Reader("replies of endpoints", replied, refusals=refusals),
    ]


def dumped(path: Path) -> list[str]:
    """All that a run holds, as SQL."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return list(db.iterdump())
    finally:
        db.close()


GROUPS: dict[str, tuple[int, Callable[[Path, Path], list[Reader]]]] = {
    "tables": (20, lambda base, data: file_readers(base)),
    "logs": (15, log_readers),
    "systems": (13, system_readers),
    "settings": (13, lambda base, data: settings_readers(base)),
    "packets": (6, lambda base, data: packet_readers(base)),
    "words": (6, lambda base, data: [spec_reader(base)]),
    "replies": (22, lambda base, data: reply_readers(prepared(base / "items"))),
    "run files": (5, lambda base, data: [Reader("run files", run_cases(base))]),
}
"""Percent of all inputs, and a maker of readers from a folder to work in and that of the real data."""
