"""Merging with a run that still holds what this one has forgotten: the words do not come back."""

from collections.abc import Iterator
from contextlib import contextmanager

from vivavoce.run.exchange.export_folder import draft_folder
from vivavoce.run.forget import overwrite
from vivavoce.store.forgotten_merge import forget_again, forgotten_rows, refuse_held, texts_held
from vivavoce.store.runfile import RunFile
from vivavoce.studies.text import count


@contextmanager
def without_forgotten(target: RunFile, source: RunFile) -> Iterator[tuple[RunFile, str]]:
    """The run to merge in place of `source`, and a sentence on what it leaves out, '' for nothing.

    It is a copy of `source` that has forgotten what `target` has, for the time of the block. Raises
    `InputError` where `source` has forgotten what `target` still holds.
    """
    n_texts = 0
    if target.exists and source.exists:
        with target.reading() as db, source.reading() as source_db:
            rows = forgotten_rows(db)
            refuse_held(db, source_db, target, source)
            n_texts = texts_held(source_db, rows)
    if not n_texts:
        yield source, ""
        return
    with draft_folder(target.path.with_name(f"{target.path.name}.merge")) as draft:
        copy = RunFile(draft / "source.viva")
        source.copy(copy.path)
        with copy.writing() as db:
            forget_again(db, rows, lambda db, drop: overwrite(db, keep_hashes=False, drop_scores=drop))
        of_it = f"{source.path} still holds {count(n_texts, 'text')} of it"
        yield copy, f"What was forgotten here stays so: {of_it}."
