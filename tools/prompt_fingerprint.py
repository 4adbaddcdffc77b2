"""The fingerprint of a prompt, for a system's published_prompts.yaml: no word of it goes there.

    python tools/prompt_fingerprint.py PROMPT.txt [PLACEHOLDER=VARIABLE ...]

The file holds the prompt alone, with the line ends that are wanted; a placeholder is what stands in braces.
"""

import sys
from pathlib import Path

import yaml

from vivavoce.systems.papers.fingerprint import fingerprint_of, letters_of


def main(file: str, *placeholders: str) -> None:
    """Print the fingerprint as an entry of YAML."""
    pairs = (text.split("=") for text in placeholders)
    variables = {letters_of(name).text.casefold(): variable for name, variable in pairs}
    mark = fingerprint_of(Path(file).read_text(encoding="utf-8").strip(), variables)
    entry = {name: value for name, value in mark._asdict().items() if value}
    print(yaml.safe_dump(entry, sort_keys=False, default_flow_style=None, width=110), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
