"""The words of the prose are in a dictionary, or in the list of our own; and their spelling is British."""

import functools
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from check.page import Page

WORDS = Path(__file__).parents[1] / "words.txt"
WORD = re.compile(r"[A-Za-z][A-Za-z'’]*[A-Za-z]")

AMERICAN = re.compile(
    r"(?:(?:un|mis|dis)?(?:behavior|color|neighbor|favor|honor|labor)\w*|center\w*|fiber\w*|gr[a]y\w*|modeling|modeled"
    r"|labeled|labeling|\w{3,}(?:iz|yz)(?:e|es|ed|ing|er|ers|ation|ations)|catalog|analog|defense|fulfill)"
)
WITH_Z = ("size", "seize", "prize", "horizon", "citizen", "capsize", "bronze", "gauze", "maize", "baize", "wizen")
"""Words that have a z in Britain too."""

BRITISH = (
    (r"([iy])s(e|es|ed|ing|er|ers|ation|ations|able)$", r"\1z\2"),
    (r"our", "or"),
    (r"centre", "center"),
    (r"(mod|lab)ell", r"\1el"),
)
"""What makes an American word of a British one: the dictionary knows these words by their American spelling."""


def unknown(pages: list[Page]) -> list[str]:
    """Returns a line for every word that no dictionary has, and for every American one, with the pages where it stands."""
    places: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        if not page.name.startswith(("source/", "genindex", "py-modindex", "search", "live/")):
            for word in words(" ".join(page.prose)):
                places[word].add(page.name)
    return [
        f"{', '.join(sorted(where)[:3])}: {word!r} {problem}"
        for word, where in sorted(places.items())
        for problem in [problem_with(word)]
        if problem
    ]


def words(text: str) -> set[str]:
    """Returns the words of a text; names of programs, symbols and what has digits or capitals inside are none.

    >>> sorted(words("The network's flow, x_t = W h_2 and JAX's vmap2, holds"))
    ['and', 'flow', 'holds', 'network', 'the']
    """
    text = re.sub(r"\S*[\d_/\\@=<>{}^]\S*|\S+\.\w+\S*", " ", text)
    plain = {re.sub(r"['’](?:s|t|ll|re|ve|d)?$", "", word) for word in WORD.findall(text)}
    return {word.lower() for word in plain if len(word) > 2 and word.isalpha() and word[1:].islower()}


def problem_with(word: str) -> str | None:
    """Returns what is wrong with a word in small letters, or None."""
    if word in _own():
        return None
    if AMERICAN.fullmatch(word) and not any(part in word for part in WITH_Z):
        return "is American"
    return None if any(one in _dictionary() for one in (word, _americanised(word))) else "is in no dictionary"


def _americanised(word: str) -> str:
    for british, american in BRITISH:
        word = re.sub(british, american, word)
    return word


@functools.cache
def _own() -> frozenset[str]:
    lines = WORDS.read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip().lower() for line in lines if line.strip() and not line.startswith("#"))


@functools.cache
def _dictionary() -> Any:
    from spellchecker import SpellChecker  # of the extra `docs`

    return SpellChecker(language="en")
