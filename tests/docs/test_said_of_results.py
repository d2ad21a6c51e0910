"""What the concepts say of results, in words, is what the stored results say; so a result that changes changes the words."""

import json
import re

import pytest
from in_pages import ROOT

CRITICAL, GATES, EXPRESSIVITY, ATTRACTORS = (
    f"docs/concepts/{name}.md"
    for name in ("critical-initialisation", "gates-and-marginality", "expressivity", "continuous-attractors")
)
SAID = [
    (
        CRITICAL,
        "Spoken words, at reduced scale: the networks that were *not* critical do better",
        "table-critical-speech",
        "Critical initialisation improves",
        "does not hold",
    ),
    (
        CRITICAL,
        "Letters: at reduced scale the networks that were *not* critical do better",
        "table-critical-reduced",
        "On letters",
        "does not hold",
    ),
    (
        CRITICAL,
        "The walker, at the paper's scale: the critical ones do better",
        "table-critical",
        "On Walker2D",
        "does not hold",
    ),
    (GATES, "*Pinching* is seen in every random gated network", "jacobian-spectra", "Gating pinches", "holds"),
    (GATES, "at both sizes that the paper looks at", "table-fixed-points", "At N =", "holds"),
    (
        GATES,
        "gates vary much between seeds",
        "gate-and-residual",
        "Each component of the gate is about 0.1",
        "does not hold",
    ),
    (GATES, "so in most of our networks", "gate-and-residual", "On the attractor", "holds"),
    (GATES, ", on every task", "true-attractors", "Better training closes the gates", "holds"),
    (GATES, "fail on tasks that the gnODE learns", "square", "RNN, mGRU and GRU with N = 2 stay above", "holds"),
    (GATES, "fail on tasks that the gnODE learns", "square", "The gnODE with N = 2 comes below", "holds"),
    (
        ATTRACTORS,
        "the strict definition holds in few of them",
        "true-attractors",
        "It meets all conditions",
        "does not hold",
    ),
    (EXPRESSIVITY, "the gnODE is the most expressive*", "fig3", "At low N (here 10) and tau = 1 s", "holds"),
    (EXPRESSIVITY, "*Large GRUs memorise best*", "ou-networks", "The gnODE is consistently more", "does not hold"),
    (
        EXPRESSIVITY,
        "costs more in simple fields than in complicated ones",
        "fig3",
        "The gap between complex and simple",
        "holds",
    ),
    (EXPRESSIVITY, "Errors are generally lower the nearer", "ou-tau", "Errors of the", "holds"),
    (EXPRESSIVITY, "*Wider hidden layers help", "fig3", "More hidden units are generally more expressive", "holds"),
    (EXPRESSIVITY, "a second one hardly does", "ou-depth", "A second hidden layer does not", "holds"),
]
"""A page, words of it, the result that they speak of, the beginning of its claims, and their verdict."""


@pytest.mark.parametrize(("page", "words", "artefact", "claim", "verdict"), SAID)
def test_a_verdict_in_words_is_the_stored_one(page, words, artefact, claim, verdict):
    assert words in re.sub(r"\s+", " ", (ROOT / page).read_text()), "the page says it no more: change this table too"
    stored = json.loads((ROOT / "docs" / "results" / "reproduce" / f"{artefact}.json").read_text())
    found = [check for check in stored["checks"] if check["claim"].startswith(claim)]
    assert found
    for check in found:
        assert check.get("verdict", "holds" if check.get("holds") else "does not hold") == verdict, check["claim"]
