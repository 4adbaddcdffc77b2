"""`viva train`: evaluators that solve a task with the help of an argument, trained on a benchmark's split.

The folder has `training.json`, and for each mixture of arguments `lexical.json` and the runs `run-1` …
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.extras import require_extras
from vivavoce.core.net import offline as offline_mode
from vivavoce.core.numbers import printed
from vivavoce.core.private_files import private_folder, write_private
from vivavoce.core.records import Finding
from vivavoce.core.specs import parse
from vivavoce.evaluators.checkpoint import ABOUT, LEXICAL, read_about
from vivavoce.evaluators.lexical import Lexical
from vivavoce.evaluators.proxy_task import Evaluator
from vivavoce.evaluators.trained import About
from vivavoce.models.engine.usage import Progress
from vivavoce.run.train.mixtures import Arguments, Mixture, draw_mixtures
from vivavoce.run.train.recipe import Recipe
from vivavoce.run.train.training_data import TrainingData, listed, load_training_data
from vivavoce.run.train.training_file import TrainingFile
from vivavoce.store.runfile import RunFile

if TYPE_CHECKING:
    from vivavoce.run.train.encoded_rows import EncodedMixture, EncoderFiles
    from vivavoce.run.train.fitting import Machine

ONLY_LEXICAL = "lexical"
_PACKAGES = ("torch", "transformers", "accelerate")
_NOT_NOTED = ("state", "path", "evaluator")
"""Columns of a run that `training.json` does not hold."""
_NOTHING: Mapping[str, None] = dict.fromkeys(
    ("run", "seed", "steps", "steps_per_epoch", "texts", "tokens", "cut", "epochs", "best_epoch", "device")
)


def train(
    benchmark: str,
    *,
    arguments: Arguments,
    to: str | Path,
    encoder: str = "auto",
    run: str | Path | None = None,
    mixtures: int | None = None,
    runs: int = 3,
    recipe: str = "corrected",
    seed: int = 0,
    device: str | None = None,
    dtype: str = "auto",
    dry_run: bool = False,
    offline: bool = False,
    progress: Progress | None = None,
) -> Finding:
    """Train evaluators on a benchmark's training split, `runs` of each mixture of arguments, into `to`.

    `arguments`: `none`, those of experts, or mixtures in which each item has the argument of one source;
    published mixtures are taken as drawn, and with `run` the candidates of that run are sources. `encoder` is
    a folder or a hub id; `auto` is MiniLM, `lexical` trains no encoder. Every mixture also gets the lexical
    evaluator. The seed of a run comes from `seed`, its mixture and its number. A killed training goes on from
    its last epoch; a run that is whole is not trained again. `dtype` is what the passes compute in; the
    weights are float32. `dry_run` writes nothing and loads no weights.

    A row is a run, or the lexical evaluator of a mixture (`run` null): its `state` (`trained`, `kept`, in a
    dry run `to train` or `to resume`); `texts` and `tokens` of an epoch, `cut` texts among them; `steps` in
    all, in a dry run at most; `dev_accuracy` of the epoch that is kept, beside `dev_lexical` and `dev_guess`,
    the share that guessing gets right.

    Raises `InputError` for a benchmark without training items, for arguments they lack, for a folder with
    another training, and where the machine cannot train; `ExtraError` without the extra `evaluators`.
    """
    if arguments not in ("none", "expert", "mixture"):
        raise InputError(f"--arguments takes none, expert or mixture, not {arguments!r}.")
    if runs < 1:
        raise InputError(f"--runs {runs}: write a number from 1.")
    with offline_mode(offline):
        chosen: Recipe = registry.build("recipe", recipe)
        data = load_training_data(benchmark, None if run is None else RunFile(Path(run)))
        of_training = draw_mixtures(data, arguments, chosen, number=mixtures, seed=seed)
        folder = Path(to)
        training = _Training(data, chosen, folder, seed, _encoder_of(encoder, chosen, device, dtype))
        file = TrainingFile(folder, training.settings(arguments, run))
        for mixture in of_training:
            file.check_data(mixture.name, mixture.data_hash)
        rows = [
            row
            for mixture in of_training
            for row in training.of_mixture(mixture, runs, file, dry_run, progress)
        ]
    return Finding(
        study="train",
        rows=tuple(rows),
        text=_text(data, of_training, rows, folder, dry_run),
        notes=tuple(_notes(data, of_training, rows, chosen, training.about)),
    )


@dataclass(frozen=True, slots=True)
class _Encoder:
    """The encoder's files and the machine that trains it; null for the lexical evaluator alone."""

    files: "EncoderFiles"
    machine: "Machine"
    fingerprint: str | None


def _encoder_of(encoder: str, recipe: Recipe, device: str | None, dtype: str) -> _Encoder | None:
    """Raises `InputError` for a dtype that the device cannot train in."""
    if encoder == ONLY_LEXICAL:
        return None
    require_extras(dict.fromkeys(_PACKAGES, "evaluators"), "viva train with an encoder")
    from vivavoce.models.local import loading
    from vivavoce.run.train.encoded_rows import find_encoder
    from vivavoce.run.train.fitting import Machine

    settings = loading.resolve_settings("viva train", {"device": device, "dtype": dtype})
    if settings.dtype == "float16" and not settings.device.startswith("cuda"):
        raise InputError(
            f"--dtype float16 trains on a GPU only, and the device is {settings.device}: leave it out, or "
            "take bfloat16."
        )
    if settings.device.startswith("cuda:") and settings.device != "cuda:0":
        raise InputError(
            f"--device {settings.device}: training takes the first GPU that it sees; write --device cuda, "
            f"and CUDA_VISIBLE_DEVICES={settings.device.partition(':')[2]} before the command."
        )
    files = find_encoder(encoder, recipe)
    return _Encoder(files, Machine(settings.device, settings.dtype), loading.fingerprint(files.at))


@dataclass(frozen=True, slots=True)
class _Training:
    """One call: what is trained, how, and where to."""

    data: TrainingData
    recipe: Recipe
    folder: Path
    seed: int
    encoder: _Encoder | None

    @property
    def about(self) -> str:
        """What it may be used for, in one sentence without its arguments."""
        return f"for {self.data.benchmark} only"

    def settings(self, arguments: str, run: str | Path | None) -> dict[str, Any]:
        """What another training in the same folder must share."""
        encoder = self.encoder
        return {
            "benchmark": self.data.benchmark,
            "signature": self.data.signature,
            "arguments": arguments,
            "encoder": encoder.files.name if encoder else ONLY_LEXICAL,
            "encoder_files": encoder.fingerprint if encoder else None,
            "recipe": str(registry.full_spec(self.recipe)),
            "seed": self.seed,
            "dtype": encoder.machine.dtype if encoder else None,
            "candidates_of": run is not None,
        }

    def of_mixture(
        self, mixture: Mixture, runs: int, file: TrainingFile, dry_run: bool, progress: Progress | None
    ) -> list[dict[str, Any]]:
        """The rows of a mixture: its lexical evaluator, then its runs. `training.json` grows with them."""
        folder = self.folder / mixture.name
        encoded = self._encoded(mixture)
        lexical = Lexical.fit(
            [row.task for row in mixture.train], [row.label for row in mixture.train], name=mixture.name
        )
        common = {
            "mixture": mixture.name,
            "data_hash": mixture.data_hash,
            "n_train": len(mixture.train),
            "n_dev": len(mixture.dev),
            "dev_lexical": _accuracy(lexical, mixture),
            "dev_guess": fmean(1 / len(row.task.options) for row in mixture.dev),
        }
        rows = [
            self._row(
                common, _NOTHING, "lexical", _state((folder / LEXICAL).is_file(), dry_run), folder / LEXICAL
            )
        ]
        rows[0]["dev_accuracy"] = common["dev_lexical"]
        if not dry_run:
            self._write_lexical(mixture, lexical, common, file)
        if self.encoder is None or encoded is None:
            return rows
        for number in range(1, runs + 1):
            row = self._run(mixture, encoded, self.encoder, common, number, dry_run, progress)
            rows.append(row)
            if not dry_run:
                _note_run(file.mixtures[mixture.name]["runs"], number, row, {*common, *_NOT_NOTED})
                self._write(file)
        return rows

    def _write_lexical(
        self, mixture: Mixture, lexical: Lexical, common: Mapping[str, Any], file: TrainingFile
    ) -> None:
        """Write the lexical evaluator of a mixture, and what `training.json` says of the mixture."""
        earlier = file.mixtures.get(mixture.name, {"runs": {}})["runs"]
        file.mixtures[mixture.name] = {
            **common,
            "sources": mixture.counts,
            "n_without": mixture.n_without,
            "sentence": self.sentence(mixture),
            "runs": earlier,
        }
        self._write(file)
        private_folder(self.folder / mixture.name)
        write_private(self.folder / mixture.name / LEXICAL, lexical.to_json())

    def sentence(self, mixture: Mixture) -> str:
        """What the evaluators of a mixture were trained on, and for which task only."""
        sources = ", ".join(f"{source} ({n})" for source, n in mixture.counts.items())
        arguments = "without arguments" if mixture.name == "none" else f"with arguments of {sources}"
        return (
            f"Trained on {len(mixture.train):,} rows of {self.data.benchmark} {arguments}, {self.about}. "
            "Not for clinical use."
        )

    def _write(self, file: TrainingFile) -> None:
        versions = {name: _version(name) for name in ("vivavoce", *_PACKAGES)} if self.encoder else {}
        file.write(
            f"Trained on {self.data.benchmark}, {self.about}. Not for clinical use.",
            {
                "n_blank": self.data.n_blank,
                "leaks": self.data.leaks,
                "dev_leaks": self.data.dev_leaks,
                "versions": versions,
            },
        )

    def _encoded(self, mixture: Mixture) -> "EncodedMixture | None":
        if self.encoder is None:
            return None
        from vivavoce.run.train.encoded_rows import encode

        return encode(mixture, self.encoder.files, self.data.classes, self.recipe)

    def _run(
        self,
        mixture: Mixture,
        encoded: "EncodedMixture",
        encoder: _Encoder,
        common: Mapping[str, Any],
        number: int,
        dry_run: bool,
        progress: Progress | None,
    ) -> dict[str, Any]:
        """The row of a run, which is trained if it is not whole."""
        from vivavoce.run.train import fitting

        folder = self.folder / mixture.name / f"run-{number}"
        about = About(
            kind="classes" if self.data.classes else "options",
            benchmark=parse(self.data.benchmark).name,
            mixture=mixture.name,
            longest=encoder.files.longest,
            classes=self.data.classes,
            pooling=self.recipe.pooling,
            seed=run_seed(self.seed, mixture.name, number),
            n_cut=encoded.n_cut,
        )
        steps = self.recipe.steps_per_epoch(len(mixture.train))
        counts = {
            **{
                "run": number,
                "seed": about.seed,
                "steps": steps * self.recipe.epochs,
                "steps_per_epoch": steps,
            },
            **{"texts": encoded.texts, "tokens": encoded.tokens, "cut": encoded.n_cut},
        }
        is_whole = (folder / ABOUT).is_file()
        if not is_whole and dry_run:
            state = "to resume" if fitting.has_checkpoint(folder) else "to train"
            return self._row(common, counts, encoder.files.name, state, folder)
        if is_whole:
            curve = read_about(folder).dev_curve
            if not dry_run:
                fitting.remove_checkpoints(folder)
            reached = _reached(curve, curve.index(max(curve)) + 1, steps * len(curve))
            return {**self._row(common, counts, encoder.files.name, "kept", folder), **reached}

        def moved(done: int, total: int) -> None:
            if progress:
                progress(f"{mixture.name} run {number}", done, total)

        fitted = fitting.fit(folder, encoded, encoder.files, self.recipe, about, encoder.machine, moved)
        row = self._row(common, counts, encoder.files.name, "trained", folder)
        reached = _reached(fitted.dev_curve, fitted.best_epoch, fitted.steps)
        return {**row, **reached, "device": encoder.machine.device}

    def _row(
        self, common: Mapping[str, Any], counts: Mapping[str, Any], evaluator: str, state: str, path: Path
    ) -> dict[str, Any]:
        return {
            **{**common, "evaluator": evaluator, "state": state, **_NOTHING, "dev_accuracy": None, **counts},
            "path": str(path),
        }


def run_seed(seed: int, mixture: str, run: int) -> int:
    """The seed of a run, from 0 to below 2**31: it rests on these three alone."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{mixture}|run-{run}".encode()).digest()[:4]) >> 1


def _reached(curve: Sequence[float], best_epoch: int, steps: int) -> dict[str, Any]:
    """What a finished run says of itself."""
    return {
        "epochs": len(curve),
        "best_epoch": best_epoch,
        "dev_accuracy": curve[best_epoch - 1],
        "dev_curve": list(curve),
        "steps": steps,
    }


def _state(is_kept: bool, dry_run: bool) -> str:
    if is_kept:
        return "kept"
    return "to train" if dry_run else "trained"


def _note_run(runs: dict[str, Any], number: int, row: Mapping[str, Any], without: Collection[str]) -> None:
    """Add a run to those of a mixture; what was noted when it was trained stays."""
    summary = {name: value for name, value in row.items() if name not in without}
    runs[str(number)] = summary if row["device"] else {**summary, **runs.get(str(number), {})}


def _accuracy(evaluator: Evaluator, mixture: Mixture) -> float:
    """The share of the development rows that it gets right, ties shared."""
    predictions = evaluator.predict([row.task for row in mixture.dev])
    return fmean(p.right(row.label) for p, row in zip(predictions, mixture.dev, strict=True))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _planned(runs: Sequence[Mapping[str, Any]]) -> str:
    """The work of the runs that are still to be trained."""
    new = [row for row in runs if row["state"].startswith("to ")]
    n_tokens = sum(row["tokens"] * row["steps"] // row["steps_per_epoch"] for row in new)
    n_steps = sum(row["steps"] for row in new)
    return f"{len(new)} runs to train: {n_steps:,} steps and {n_tokens:,} tokens at most"


def _text(
    data: TrainingData,
    mixtures: Sequence[Mixture],
    rows: Sequence[Mapping[str, Any]],
    folder: Path,
    dry: bool,
) -> str:
    """How many runs there are, and what they reached beside the lexical evaluator and guessing."""
    what = f"{data.benchmark}: {len(mixtures)} mixture{'' if len(mixtures) == 1 else 's'} of arguments"
    runs = [row for row in rows if row["run"] is not None]
    if dry:
        return f"{what}, {_planned(runs)}, fewer where training stops early. Nothing was written."
    of_mixtures = [row for row in rows if row["run"] is None]
    lexical = fmean(row["dev_lexical"] for row in of_mixtures)
    guess = fmean(row["dev_guess"] for row in of_mixtures)
    return (
        f"{what} in {folder}: {_reached_text(runs)}the lexical evaluator {printed(lexical, '.1%')}, guessing "
        f"{printed(guess, '.1%')}."
    )


def _reached_text(runs: Sequence[Mapping[str, Any]]) -> str:
    if not runs:
        return ""
    scores = [row["dev_accuracy"] for row in runs]
    return (
        f"{len(runs)} runs with dev accuracy {printed(min(scores), '.1%')} to {printed(max(scores), '.1%')}, "
    )


def _notes(
    data: TrainingData,
    mixtures: Sequence[Mixture],
    rows: Sequence[Mapping[str, Any]],
    recipe: Recipe,
    about: str,
) -> Sequence[str]:
    """What was left out, what leaks, what was cut, and what the evaluators are for."""
    notes = [
        f"Trained {about}: on another task such an evaluator says nothing. Not for clinical use.",
        *_data_notes(data, max(mixture.n_without for mixture in mixtures)),
    ]
    if n_cut := max((row["cut"] or 0 for row in rows), default=0):
        lost = "their end, options too" if recipe.cut == "end" else "the end of the argument, and no option"
        notes.append(f"{n_cut:,} texts of a mixture are longer than the encoder reads and lose {lost}.")
    if any(row["run"] is not None for row in rows) and not recipe.can_stop_early:
        notes.append(
            f"Early stopping cannot fire: it waits for {recipe.patience} epochs without a better one, and "
            f"there are {recipe.epochs}."
        )
    return notes


def _data_notes(data: TrainingData, n_without: int) -> Iterator[str]:
    if n_without:
        yield (
            f"{n_without:,} of {len(data.examples):,} items have no argument of that kind and were left out."
        )
    if data.n_blank:
        yield f"{data.n_blank:,} blank arguments count as none."
    if data.leaks:
        yield (
            f"{len(data.leaks)} asked items repeat a training item, so scores on them are too high: "
            f"{listed(data.leaks)}."
        )
    if data.dev_leaks:
        yield (
            f"{len(data.dev_leaks)} development items are in training too, so dev accuracy is too high: "
            f"{listed(data.dev_leaks)}."
        )
