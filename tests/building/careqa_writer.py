"""How the fake model answers CareQA's prompts: from the questions that the tests' paper has."""

from tests.building.fake_writer import Reply, part
from tests.building.papers import ENGLISH

PIECES = {1: "dolor torácico", 2: "levotiroxina", 3: "diabetes", 5: "niño", 6: "escorbuto", 9: "electrolito"}
ENGLISH_PIECES = dict(
    zip(
        (1, 2, 3, 5, 6, 9),
        ("chest pain", "levothyroxine", "diabetes", "child", "scurvy", "electrolyte"),
        strict=True,
    )
)
OPEN = {
    1: "A 54-year-old patient has chest pain and ST elevation in V1 to V4. What is the diagnosis?",
    2: "Which hormone is measured to adjust the dose of levothyroxine in hypothyroidism?",
    5: "What is the ratio of compressions to ventilations for a child with two rescuers?",
    6: "Which vitamin is lacking in scurvy?",
    9: "Which electrolyte rises in advanced renal failure?",
}


def translate(prompt: str) -> Reply | None:
    if not prompt.startswith("Translate a question"):
        return None
    question = part(prompt, "question")
    (number,) = [n for n, piece in PIECES.items() if piece in question]
    text, options = ENGLISH[number]
    return {"question": text, "options": options}


def word(prompt: str) -> Reply | None:
    if not prompt.startswith(("A question of a medical examination has options", "You write open questions")):
        return None
    question = part(prompt, "question")
    (number,) = [n for n, piece in ENGLISH_PIECES.items() if piece in question.split("\n")[0]]
    if number not in OPEN:
        return {"possible": False, "question": "", "reason": "it asks for a wrong option"}
    return {"possible": True, "question": OPEN[number], "reason": "clear"}


def choose(prompt: str) -> Reply | None:
    return {"choice": "1", "reason": "clear"} if prompt.startswith("Wordings of one open question") else None


def only(prompt: str) -> Reply | None:
    if not prompt.startswith("An open question of a medical examination"):
        return None
    several = "electrolyte" in prompt  # phosphate rises too
    return {"another": "Phosphate" if several else "", "only": not several}


RULES = (translate, word, choose, only)
