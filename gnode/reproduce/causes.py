"""Why a claim does not hold here: what stored measurements establish, and nothing else.

A cause is shown if the claim that establishes it holds in the results of the same folder, or if the numbers of the claim
itself show it. Every other claim that does not hold is followed by "not known".
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gnode.reproduce.verdicts import HOLDS, of_stored

UNKNOWN = "not known"


class Cause(NamedTuple):
    """Why a claim of an artefact has its verdict; `shown_by` names the artefact and the claim that have to hold for that."""

    artefact: str
    claim: str
    why: str
    shown_by: tuple[str, str] | None = None


TRAINED_BETTER = "Its training: with the gnode protocol (continuous-attractor) most seeds meet all items."
CLIPPED = "With clipping the nODE comes below 0.01 with 5 of 5 seeds, N = 12 and 18."
FITTED = "With clipping the gnODE comes below 1e-06 with 5 of 5 seeds."
CAUSES = (
    Cause(
        "fig1",
        "At N = 6 all others stay at 0.025 or above.",
        "The GRU alone comes lower: our training finds a better network than the published one.",
    ),
    *(
        Cause(
            artefact,
            f"The gnODE of the {task} task has a continuous attractor: all items of Appendix C hold.",
            why,
            (
                "continuous-attractor",
                f"With most seeds the {task} is a continuous attractor: all items of Appendix C hold.",
            ),
        )
        for artefact, task, why in (
            ("fig2", "square", TRAINED_BETTER),
            ("fig2", "rectangle", TRAINED_BETTER),
            ("fig2", "annulus", TRAINED_BETTER),
            ("ring", "ring", TRAINED_BETTER),
        )
    ),
    Cause(
        "square",
        "nODE with N = 2 stays above 0.02.",
        "Our nODE is at the bound: its mean is lower than 0.02, by less than two standard errors.",
    ),
    Cause(
        "fixed-3bit",
        "At N = 6 mGRU, GRU and gnODE come below 0.01, RNN and nODE do not.",
        "The gated networks do; so do RNN and nODE with two of three seeds: our training finds better networks.",
    ),
    Cause(
        "fixed-3bit",
        "At N = 12 and 18 all come below 0.01.",
        "Only the nODE at N = 12 does not, and training without clipping is why: with it all seeds do.",
        ("gnode-protocol", CLIPPED),
    ),
    Cause(
        "ou-networks",
        "The gnODE is consistently more expressive than the GRU: at every tau and N.",
        "It loses at tau = 1 s and N = 316 alone, where seeds of the gnODE end badly without clipping; with it all of them "
        "fit to within what can be ranked.",
        ("gnode-protocol", FITTED),
    ),
    Cause(
        "pca-l2",
        "With l2 no network comes below 0.01.",
        "GRU and gnODE do: one seed and two learning rates of ours are enough for lower errors than the published ones.",
    ),
    Cause(
        "jacobian-spectra",
        "Without gating LEM is nearer to criticality than mGRU and gnODE (|abscissa| of the flow).",
        "It is nearer than the gnODE; the difference from the mGRU is smaller than the spread over three draws.",
    ),
    Cause(
        "ou-width",
        "At tau = 1 s and N = 100 the RNN beats the nODE.",
        "The paper's largest N is 316; this scale ends at N = 100, where two standard errors do not tell them apart.",
    ),
    Cause(
        "table-tau",
        "At tau = 0.621 s the gnODE is the best.",
        "It is better than the others, and the nODE with as many hidden units does as well within the spread over seeds.",
    ),
)


def why(artefact: str, claim: str, found: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """Returns why a claim has its verdict.

    **Arguments:** the artefact's name; the claim; `found`, the results of a folder by artefact.
    """
    for cause in CAUSES:
        if (cause.artefact, cause.claim) == (artefact, claim) and _is_shown(cause.shown_by, found):
            return cause.why
    return UNKNOWN


def _is_shown(by: tuple[str, str] | None, found: Mapping[str, Iterable[Mapping[str, Any]]]) -> bool:
    if by is None:
        return True
    name, text = by
    return any(
        claim["claim"] == text and of_stored(claim) == HOLDS
        for content in found.get(name, [])
        for claim in content["checks"]
    )
