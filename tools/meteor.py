"""Golden values of METEOR from NLTK's own `meteor_score`, over the texts below, written to tests/metrics.

NLTK reads WordNet from Debian's package `wordnet-base` (1:3.0-37) in /usr/share/wordnet, or from WNSEARCHDIR:

    apt-get install wordnet-base && python tools/meteor.py

The frozen file was made with NLTK 3.10.4. Texts become words as in ClinIQLink 2025: in lower case, a sentence
at a time, by `NLTKWordTokenizer`.
"""

import json
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))
TARGET = Path(__file__).resolve().parents[1] / "tests" / "metrics" / "meteor.jsonl"

TEXTS = [
    # the same, nothing in common, nothing at all
    ("Start aspirin at once.", "Start aspirin at once."),
    ("Start aspirin at once.", "Never wait"),
    ("Aspirin", "aspirin"),
    ("Start aspirin at once.", "..."),
    # the three stages, alone and together
    ("The patient was vomiting and dehydrated.", "Patients vomit and get dehydration."),
    ("Give the medicine quickly", "Give the medication rapidly"),
    ("a big injury of the belly", "a large harm to the abdomen"),
    ("The doctor stopped the drug because the kidney failed.", "A physician halts drugs when kidneys fail."),
    ("Treat the illness early.", "Treating a sickness early helps."),
    ("The infant has a fever and a cough.", "The baby is feverish, coughing too."),
    ("Surgery should be performed promptly.", "Do the operation right away."),
    # order, repeats, several places to go
    ("fever cough rash fever", "fever fever fever"),
    ("no fever no cough no rash", "cough no rash no fever no"),
    ("pain in the chest, pain in the arm", "arm pain, chest pain"),
    ("first the liver then the kidney then the liver", "the liver the kidney the liver"),
    ("halt stop cease discontinue", "stop stop stop stop"),
    ("stop the drug, then stop the infusion", "halt the infusion and cease the drug"),
    # irregular forms, endings, stems that are no words
    ("the teeth and the feet were swollen", "a tooth and a foot swell"),
    ("mice, geese and oxen", "a mouse, a goose and an ox"),
    ("the better and the worst", "the good and the bad"),
    ("she had taken it and felt worse", "she takes it and feels bad"),
    ("therapies, studies, dying cells, news", "therapy, study, die, cell, new"),
    ("lying in bed", "he lies in bed"),
    ("radically different hopefully", "radical differently hopeful"),
    ("the women exceeded the doses", "a woman exceeds one dose"),
    # marks, numbers, quotes, case
    ("Give 2.5 mg twice a day (5 mg in all).", "Give 5 mg twice daily; 2.5 mg each."),
    ("He said: \"I can't breathe\" and \"it hurts.\"", "He couldn't breathe, 'it hurt'."),
    ("CD4+ count < 200 cells/mm3", "a CD4 count below 200 cells per mm3"),
    ("HIV-1 RNA, 10,000 copies/mL; 50% fell.", "RNA of HIV-1: 10,000 copies, down 50%"),
    ("**Bold** advice -- don't stop!", "Advice: do not stop..."),
    ("heart_attack patients cannot wait", "a heart attack patient can not wait"),
    ("Crohn's disease and the physicians' notes", "the disease of Crohn, physicians note"),
    # other scripts and accents
    ("naïve T-cells α and β", "naive T-cells, β and α"),
    ("σύνδρομο οξύ", "οξύ σύνδρομο"),
    ("Ménière’s disease “today”", "ménière’s disease ‘today’"),
    # longer answers
    (
        "The patient may develop resistance because the strain was not tested before treatment began.",
        "If susceptibility is not tested first, treatment can fail: the strain may become resistant, and the "
        "patient will need longer and more toxic regimens. Testing before therapy starts prevents this.",
    ),
    (
        "Metformin is the first choice. It lowers glucose without weight gain and rarely causes low sugar.",
        "I would begin with metformin. It reduces blood glucose, seldom brings on hypoglycaemia, and does "
        "not make people heavier. Check renal function first. Stop it before contrast is given.",
    ),
    (
        "Do not give warfarin in pregnancy; use heparin instead, since it does not cross the placenta.",
        "Give warfarin in pregnancy; do not use heparin, since it crosses the placenta.",
    ),
]  # fmt: skip


def reader(folder: Path, place: Path) -> Any:
    """NLTK's WordNet over the database files in `folder`, arranged under `place` as NLTK wants them."""
    import nltk
    from nltk.corpus import wordnet

    corpus = place / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for file in (f for kind in ("data.*", "index.*", "*.exc") for f in folder.glob(kind)):
        (corpus / file.name).write_bytes(file.read_bytes())
    # Debian leaves these two out; METEOR needs neither names of files nor sense keys.
    (corpus / "lexnames").write_text("".join(f"{i:02}\tfile{i}\t1\n" for i in range(45)), encoding="ascii")
    (corpus / "index.sense").write_text("", encoding="ascii")
    nltk.data.path.insert(0, str(place))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the tables of other languages are absent
        wordnet.ensure_loaded()
    return wordnet


def words(text: str) -> list[str]:
    """The words of `text` by NLTK."""
    from nltk.tokenize import NLTKWordTokenizer

    tokenizer = NLTKWordTokenizer()
    return [w for s in re.split(r"(?<=[.?!])\s+", text.lower()) for w in tokenizer.tokenize(s)]


def score(reference: str, answer: str, wordnet: Any) -> float:
    """METEOR by NLTK."""
    from nltk.translate.meteor_score import meteor_score

    return float(meteor_score([words(reference)], words(answer), wordnet=wordnet))


def main() -> None:
    """Write one line per pair of texts."""
    with tempfile.TemporaryDirectory() as place:
        wordnet = reader(FOLDER, Path(place))
        rows = [
            {"reference": one, "answer": other, "meteor": score(one, other, wordnet)} for one, other in TEXTS
        ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
