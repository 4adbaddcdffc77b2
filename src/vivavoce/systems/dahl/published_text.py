"""What the released code of DAHL does to a response and to a checker's reply; seemdog/DAHL at 4647475."""

from vivavoce.facts.fact import KnowledgeWord


def replace_prompt(response: str, instruction: str, question: str) -> str:
    """`response` without the instruction and the question, inside sentences too (to_atomic_units.py)."""
    return response.replace(instruction, "").replace(question, "").strip()


def substring_verdict(text: str) -> KnowledgeWord:
    """The verdict by substrings (evaluate_with_pplai.py): "untrue" and "not true" are `true`."""
    lower = text.lower()
    if ("true" in lower) == ("false" in lower):
        return "bad"
    return "true" if "true" in lower else "false"
