"""BLEU beside `sacrebleu.sentence_bleu` called in a loop, as it is usually done: ratio of CPU times with its
spread, and share identical.

sacrebleu keeps the words of texts it has met; both sides start without. Usage: python bench/bleu.py [rounds]
"""

import sys

import sacrebleu
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from rouge import compared, pairs, rows_of
from vivavoce.core import registry
from vivavoce.metrics import ScoringContext, bleu


def forget() -> None:
    bleu._RUNS.clear()
    for tokenizer in (Tokenizer13a, TokenizerRegexp):
        tokenizer.__call__.cache_clear()


def main(rounds: int = 5) -> None:
    what, texts = pairs()
    rows = rows_of(texts)

    def ours():
        forget()
        return [v["bleu"].value for v in registry.build("metric", "bleu").values(rows, ScoringContext())]

    def theirs():
        forget()
        return [min(sacrebleu.sentence_bleu(a, [r]).score / 100, 1.0) for r, a in texts]

    def one_object():
        forget()
        scorer = BLEU(effective_order=True)
        return [min(scorer.sentence_score(a, [r]).score / 100, 1.0) for r, a in texts]

    print(f"bleu on {len(texts)} of {what}, {rounds} rounds")
    print(f"  sacrebleu.sentence_bleu / vivavoce, CPU time: {compared(ours, theirs, rounds)}")
    print(f"  one sacrebleu object / vivavoce, CPU time: {compared(ours, one_object, rounds)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
