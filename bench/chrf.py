"""chrF and chrF++ beside one sacrebleu `CHRF` object on the same answers: ratio of CPU times with its spread,
and share identical.

Usage: python bench/chrf.py [rounds]
"""

import sys

from sacrebleu.metrics import CHRF

from rouge import compared, pairs, rows_of
from vivavoce.core import registry
from vivavoce.metrics import ScoringContext, chrf


def main(rounds: int = 5) -> None:
    what, texts = pairs()
    texts = texts[:: 1 + len(texts) // 2000]  # sacrebleu takes a millisecond for each
    rows = rows_of(texts)
    print(f"chrf on {len(texts)} of {what}, {rounds} rounds")
    for words in (0, 2):

        def ours(words=words):
            chrf._PARTS.clear()  # both sides start cold
            metric = registry.build("metric", f"chrf(words={words})")
            return [100 * v["chrf"].value for v in metric.values(rows, ScoringContext())]

        def theirs(words=words):
            scorer = CHRF(word_order=words)
            return [min(scorer.sentence_score(a, [r]).score, 100.0) for r, a in texts]

        print(f"  sacrebleu / vivavoce, CPU time, words={words}: {compared(ours, theirs, rounds)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
