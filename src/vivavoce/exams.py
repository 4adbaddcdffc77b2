"""A whole examination in one YAML file: whom to ask what, how to mark it, and what to find out.

    run: exam.viva
    benchmarks: [sample]
    models: [openai/gpt-4o, baseline/random]
    settings: {repeats: 5, temperature: 0.7}
    metrics: [accuracy]
    compare:
      - {candidates: [openai/gpt-4o, baseline/random], metric: accuracy, margin: 0.05}
    studies: [ranking]
    report: {to: exam.html}

It equals the verbs in this order: collect for each benchmark (also the probabilities that metrics mark, of
models hf/… and vllm/…), score, each comparison, study, report. Paths
are taken from the working directory, as everywhere. A comparison may call a model as `models` does, without
the settings that are for all.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce import specs
from vivavoce.errors import InputError, VivaError, suggest
from vivavoce.records import Finding
from vivavoce.run import Run, open_run

__all__ = ["Exam", "examine", "read_exam"]

Watch = Callable[[str], AbstractContextManager[Any]]

_ALL = "all"
_SETTINGS: Mapping[str, tuple[type, ...]] = {
    "repeats": (int,),
    "temperature": (int, float),
    "top_p": (int, float),
    "max_tokens": (int,),
    "seed": (int,),
    "system": (str,),
    "prompt": (str,),
    "shots": (int,),
    "chat_template": (bool,),
    "preset": (str,),
    "sample": (str, int),
}
_PRIVACY: Mapping[str, tuple[type, ...]] = {
    "providers": (str,),
    "offline": (bool,),
    "allow": (list,),
    "allow_phi": (bool,),
}
_COMPARE: Mapping[str, tuple[type, ...]] = {
    "candidates": (list,),
    "metric": (str,),
    "margin": (int, float),
    "against": (str,),
    "population": (str,),
    "items": (str,),
}
_REPORT: Mapping[str, tuple[type, ...]] = {"to": (str,), "plots": (str,), "items": (str,)}
_KEYS: Mapping[str, tuple[type, ...]] = {
    "run": (str,),
    "plugins": (list,),
    "benchmarks": (list,),
    "models": (list,),
    "settings": (dict,),
    **_PRIVACY,
    "max_cost": (int, float),
    "metrics": (list,),
    "compare": (list,),
    "studies": (list, str),
    "report": (dict, bool),
}
_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list",
          dict: "a mapping"}  # fmt: skip


class Exam(NamedTuple):
    """An examination as its file states it, checked as far as the file alone allows."""

    file: Path
    run: Path
    plugins: tuple[str, ...]
    benchmarks: tuple[str, ...]
    models: tuple[str, ...]
    asking: Mapping[str, Any]
    max_cost: float | None
    metrics: tuple[str, ...]
    compare: tuple[Mapping[str, Any], ...]
    studies: tuple[str, ...] | None
    report: Mapping[str, Any] | None


def read_exam(file: str | Path) -> Exam:
    """What an exam's file states. Raises `InputError` naming file and key for what cannot be meant."""
    from vivavoce.models.yamls import read_mapping

    file = Path(file)
    stated = _checked(str(file), read_mapping(file, "exam", InputError), _KEYS)
    if "run" not in stated:
        raise InputError(f"{file}: the key run is missing; it names the run file, such as run: exam.viva.")
    for one, other in (("benchmarks", "models"), ("models", "benchmarks")):
        if stated.get(one) and not stated.get(other):
            raise InputError(f"{file}: {one} stand there without {other}: somebody is to be asked something.")
    settings = _checked(f"{file}, settings", stated.get("settings", {}), _SETTINGS)
    if settings.get("preset", "published") != "published":
        raise InputError(f"{file}, settings, preset: {settings['preset']!r}; there is only published.")
    comparisons = []
    for number, one in enumerate(stated.get("compare", []), 1):
        where = f"{file}, compare {number}"
        if not isinstance(one, dict):
            raise InputError(
                f"{where}: a mapping is needed, such as {{candidates: [A, B], metric: accuracy}}."
            )
        comparison = _checked(where, one, _COMPARE)
        if "metric" not in comparison:
            raise InputError(f"{where}: the key metric is missing.")
        comparison["candidates"] = _texts(f"{where}, candidates", comparison.get("candidates", []))
        if comparison.get("population", "sample") not in ("sample", "fixed"):
            raise InputError(f"{where}, population: sample or fixed, not {comparison['population']!r}.")
        comparisons.append(comparison)
    report, studies = stated.get("report", False), stated.get("studies", [])
    if isinstance(studies, str) and studies != _ALL:
        raise InputError(f"{file}, studies: a list of studies, or all; not {studies!r}.")
    if isinstance(report, dict) and report.get("to") and not Path(report["to"]).parent.is_dir():
        raise InputError(f"{file}, report, to: no folder {Path(report['to']).parent} to put the report in.")
    return Exam(
        file=file,
        run=Path(stated["run"]),
        plugins=_texts(f"{file}, plugins", stated.get("plugins", [])),
        benchmarks=_texts(f"{file}, benchmarks", stated.get("benchmarks", [])),
        models=_texts(f"{file}, models", stated.get("models", [])),
        asking={
            **settings,
            **{key: stated[key] for key in _PRIVACY if key in stated},
            "allow": _texts(f"{file}, allow", stated.get("allow", [])),
        },
        max_cost=stated.get("max_cost"),
        metrics=_texts(f"{file}, metrics", stated.get("metrics", [])),
        compare=tuple(comparisons),
        studies=None if not studies else () if studies == _ALL else _texts(f"{file}, studies", studies),
        report=_checked(f"{file}, report", report, _REPORT) if isinstance(report, dict) else
        ({} if report else None),
    )  # fmt: skip


def examine(
    file: str | Path,
    *,
    dry_run: bool = False,
    tell: Callable[[Finding], None] | None = None,
    watch: Watch | None = None,
) -> tuple[Finding, ...]:
    """Do what an exam's file states, and return what each verb found, in order.

    Everything is checked before anybody is asked. The same call again goes on where it stopped: what is
    answered and marked stays, comparisons and studies are made again, and each comparison is a look. If
    answers are left to ask (Ctrl-C, a model that was given up, `max_cost`, which is for the whole exam), it
    ends there, so that no result is seen before the answers are in; answers that failed do not stop it.
    `tell` hears each finding as it comes, `watch` gives for a verb the context whose value hears progress.
    `dry_run` asks nobody, stores nothing and returns the plans. Raises a `VivaError` that names file and key.
    """
    exam = read_exam(file)
    run = open_run(exam.run, plugins=exam.plugins)
    labels = _labels(exam, run)
    _check(exam, run, labels)
    found = []
    for finding in _steps(exam, run, labels, dry_run, watch or (lambda verb: nullcontext())):
        found.append(finding)
        if tell:
            tell(finding)
    return tuple(found)


def _steps(exam: Exam, run: Run, labels: Mapping[str, str], dry_run: bool, watch: Watch) -> Iterator[Finding]:
    money = exam.max_cost
    for benchmark in exam.benchmarks:
        for asked in _asked(exam, benchmark):
            with watch("collect") as hear:
                finding = run.collect(benchmark, **asked, dry_run=dry_run, max_cost=money, progress=hear)
            yield finding
            if dry_run:
                continue
            (row,) = finding.rows
            if row["left"] or row["interrupted"]:
                return
            money = None if money is None else max(0.0, money - (row["cost"] or 0.0))
    if dry_run:
        return
    if exam.metrics:
        with watch("score") as hear:
            finding = run.score(*exam.metrics, progress=hear)
        yield finding
    for one in exam.compare:
        candidates = [labels.get(name, name) for name in one["candidates"]]
        against = one.get("against")
        rest = {key: one[key] for key in ("metric", "margin", "population", "items") if key in one}
        yield run.compare(*candidates, against=labels.get(against, against) if against else None, **rest)
    if exam.studies is not None:
        yield from run.study(*exam.studies).values()
    if exam.report is not None:
        row = run.report_rows(**exam.report)[0]
        yield Finding(study="report", rows=(row,), text=str(row["path"]))


def _asked(exam: Exam, benchmark: str) -> Iterator[Mapping[str, Any]]:
    """What each collect of a benchmark asks: answers in words; then, of models that may tell probabilities,
    those that the metrics of the file mark.
    """
    from vivavoce.benchmarks import load
    from vivavoce.catalogue import metrics_of
    from vivavoce.metrics import bound_to, marks, probe_of
    from vivavoce.models.named import TELLING

    yield {**exam.asking, "models": exam.models}
    items = load(benchmark).items
    wanted = [m for m in metrics_of(exam.metrics) if probe_of(m)] if exam.metrics else []
    own = [str(m) for m in wanted if any(marks(bound_to(m, items), item) for item in items)]
    telling = [name for name in exam.models if name.startswith(TELLING)]
    if own and telling:
        once = {key: value for key, value in exam.asking.items() if key != "repeats"}
        yield {**once, "models": telling, "for_": own}


def _labels(exam: Exam, run: Run) -> dict[str, str]:
    """The label that each model of the file answers under: with the settings that are for all."""
    from vivavoce.collect import order

    asked = {key: value for key, value in exam.asking.items() if key in _SETTINGS}
    providers = exam.asking.get("providers")
    labels: dict[str, str] = {}
    for benchmark in exam.benchmarks:
        with _at(str(exam.file)):
            sample = asked.get("sample")
            made = order(
                benchmark, exam.models,
                **asked | {
                    "sample": None if sample is None else str(sample),
                    "providers": Path(providers) if providers else None,
                },
            )  # fmt: skip
        labels |= dict(zip(dict.fromkeys(exam.models), (str(c.spec) for c in made.candidates), strict=True))
    return labels


def _check(exam: Exam, run: Run, labels: Mapping[str, str]) -> None:
    """Raise for what would fail only after everybody has been asked."""
    from vivavoce import catalogue
    from vivavoce.selection import candidate_of
    from vivavoce.store import read
    from vivavoce.studies import STUDIES

    measures, known = [], [*labels, *labels.values()]
    if run.file.exists:
        with run.file.reading() as db:
            measures = [keyed.measure for keyed in read.measures(db)]
            known += [c.candidate for c in read.candidates(db)]
    with _at(f"{exam.file}, metrics"):
        made = catalogue.metrics_of(exam.metrics, measures) if exam.metrics else []
    names = {specs.parse(str(metric)).name for metric in made} | {
        specs.parse(m.metric).name for m in measures
    }
    for number, one in enumerate(exam.compare, 1):
        with _at(f"{exam.file}, compare {number}"):
            for name in (*one["candidates"], *filter(None, [one.get("against")])):
                candidate_of(name, list(dict.fromkeys(known)))
            metric = specs.parse(one["metric"].partition("@")[0]).name
            if metric not in names:
                raise InputError(f"nothing is marked by {metric!r} here.{suggest(metric, sorted(names))}")
    for name in exam.studies or ():
        if name not in STUDIES:
            raise InputError(f"{exam.file}, studies: no study named {name!r}.{suggest(name, list(STUDIES))}")


@contextmanager
def _at(where: str) -> Iterator[None]:
    try:
        yield
    except VivaError as error:
        raise type(error)(f"{where}: {error}") from error


def _checked(where: str, stated: Any, keys: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """The mapping without what is null; each key known, each value of its kind."""
    made = {}
    for key, value in stated.items():
        if key not in keys:
            raise InputError(f"{where}: no key {key!r}.{suggest(str(key), list(keys))}")
        if value is None:
            continue
        if not isinstance(value, keys[key]) or (isinstance(value, bool) and bool not in keys[key]):
            kinds = " or ".join(_WORDS[kind] for kind in keys[key])
            raise InputError(f"{where}, {key}: {kinds} is needed, not {value!r}.")
        made[key] = value
    return made


def _texts(where: str, listed: Any) -> tuple[str, ...]:
    for one in listed:
        if not isinstance(one, str) or not one.strip():
            raise InputError(f"{where}: {one!r} is no text: put quotes around a spec with brackets.")
    return tuple(listed)
