"""METEOR beside NLTK's `meteor_score` on the same answers, from text to value: ratio of CPU times with its
spread, and share identical.

Needs WordNet's files as tools/meteor.py does (Debian's wordnet-base). Both sides start cold in every round,
but for NLTK's WordNet, which is read before; our table is read inside. Usage: python bench/meteor.py [rounds]
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score

from rouge import compared, pairs, rows_of
from vivavoce.core import registry
from vivavoce.metrics import ScoringContext


def golden():
    """The module tools/meteor.py."""
    path = Path(__file__).resolve().parents[1] / "tools" / "meteor.py"
    spec = importlib.util.spec_from_file_location("golden_meteor", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(rounds: int = 3) -> None:
    nltks = golden()
    if not (nltks.FOLDER / "data.noun").is_file():
        print(f"meteor: no WordNet in {nltks.FOLDER}, so there is nothing to compare with")
        return
    what, texts = pairs()
    rows = rows_of(texts)
    with tempfile.TemporaryDirectory() as place:
        wordnet = nltks.reader(nltks.FOLDER, Path(place))

        def ours():
            return [
                v["meteor"].value for v in registry.build("metric", "meteor").values(rows, ScoringContext())
            ]

        def theirs():
            stemmer = PorterStemmer()
            known = {reference: nltks.words(reference) for reference, _ in texts}
            return [
                meteor_score([known[reference]], nltks.words(answer), stemmer=stemmer, wordnet=wordnet)
                for reference, answer in texts
            ]

        print(f"meteor on {len(texts)} of {what}, {rounds} rounds")
        print(f"  nltk / vivavoce, CPU time: {compared(ours, theirs, rounds)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
