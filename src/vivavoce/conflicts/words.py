"""Words by which two statements are aligned: stems of what is left without the words that any text has."""

from functools import lru_cache
from pathlib import Path

__all__ = ["COMMON", "stem"]

COMMON = frozenset(Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8").split())
"""Function words, and predicates that say whether something is done, found or so, whatever it is."""

_SPELT = (("ae", "e"), ("oe", "e"), ("our", "or"), ("sulph", "sulf"), ("yse", "yze"), ("ise", "ize"))
_ENDS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ically", "ical", "ies", "ied", "ed", "es", "al", "ly",
    "ic", "s", "e", "y",
)  # fmt: skip
_SAME = {
    "epinephrine": "adrenaline", "acetaminophen": "paracetamol", "albuterol": "salbutamol", "rifampin":
    "rifampicin", "kidney": "renal", "hepatic": "liver", "cardiac": "heart", "pulmonary": "lung",
    "glucose": "sugar", "dtg": "dolutegravir", "inh": "isoniazid", "antiretroviral": "art", "kids":
    "child", "children": "child", "tumor": "tumour", "neoplasm": "tumour", "newborns": "birth",
    "newborn": "birth", "women": "woman", "men": "man", "hypertension": "pressure", "platelets":
    "platelet", "pulse": "heart", "feet": "foot", "teeth": "tooth",
}  # fmt: skip


@lru_cache(maxsize=65536)
def stem(form: str) -> str:
    """A form cut to what its inflections share: at most seven letters, spelling as in American English.

    Too short for a dictionary and enough for an alignment: "placental" and "placenta" are one.
    """
    form = _SAME.get(form, form)
    for british, american in _SPELT:
        form = form.replace(british, american)
    for end in _ENDS:
        if form.endswith(end) and len(form) - len(end) >= 4 and not form.endswith("ss"):
            form = form[: -len(end)]
            break
    return form[:7]
