"""Why a claim does not hold here: what stored measurements establish, and nothing else.

A cause is shown if the claim that establishes it holds in the results of the same folder, or if the numbers of the claim
itself show it. Every other claim that does not hold is followed by "not known".
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gnode.reproduce.verdicts import FAILS, HOLDS, of_stored

UNKNOWN = "not known"


class Cause(NamedTuple):
    """Why a claim of an artefact has its verdict.

    `shown_by` names the artefact and the claim that establish it, by having the `verdict`.
    """

    artefact: str
    claim: str
    why: str
    shown_by: tuple[str, str] | None = None
    verdict: str = HOLDS


TRAINED_BETTER = "Its training: with the gnode protocol (continuous-attractor) most seeds meet all items."
CLIPPED = "With clipping the nODE comes below 0.01 with 5 of 5 seeds, N = 12 and 18."
FITTED = "With clipping the gnODE comes below 1e-06 with 5 of 5 seeds."
TENFOLD = "New trials in every update lower the median validation error at least tenfold ({}, {} updates)."
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
    *(
        Cause(
            artefact,
            f"The gnODE of the {task} task has a continuous attractor: all items of Appendix C hold.",
            "Nor do networks that are trained far better (continuous-attractor): their set is connected and slow, but its "
            "fastest states exceed the bounds on speed and abscissa.",
            (
                "continuous-attractor",
                f"With most seeds the {task} is a continuous attractor: all items of Appendix C hold.",
            ),
            FAILS,
        )
        for artefact, task in (("fig2", "square"), ("fig2", "rectangle"), ("ring", "ring"))
    ),
    *(
        Cause(
            "table1",
            f"At tau = 0.006 s the nODE stays at chance level on speech at N = {size}.",
            "It comes above chance and stays far below the gated networks.",
        )
        for size in (32, 100)
    ),
    Cause(
        "table1",
        "Walker2D errors generally fall as N grows, for all networks but the gnODE.",
        "From N = 32 to 100 they do for the gated networks, to 316 for the mGRU alone. The nODE is best at N = 32, where it "
        "is far better than the published one.",
    ),
    Cause(
        "table-critical",
        "On Walker2D it is not: the error is higher than without.",
        "The published errors with and without it are those of Table 1 for N = 100 and N = 32. At equal N, here, both nODE "
        "and gnODE are better with it at all three N (table1).",
    ),
    Cause(
        "gate-and-residual",
        "Each component of the gate is about 0.1 (0.03 to 0.3).",
        "Gates range from 0.014 to 0.54 here, and better training closes them further (true-attractors), so how far they "
        "close is a matter of training.",
        (
            "true-attractors",
            "Better training closes the gates: on the slow set the median gate is below 0.03 in every task (the paper: "
            "about 0.1).",
        ),
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
        "It is nearer than the gnODE. Its mean is farther than the mGRU's, by less than the spread over three draws.",
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
    *(
        Cause(
            "fresh-trials",
            TENFOLD.format(task, "30,000"),
            "By less. With 100,000 updates they do.",
            (
                "fresh-trials",
                TENFOLD.format(task, "100,000"),
            ),
        )
        for task in ("square", "variable")
    ),
    *(
        Cause(
            "fresh-trials",
            f"They at least double the median memory time (square, {updates} updates).",
            "They lengthen it by less.",
        )
        for updates in ("30,000", "100,000")
    ),
    Cause(
        "true-attractors",
        "At least half of the gnODE's memories last 10 s, in every task (median over seeds).",
        "They do on the square, the annulus and the ring, and nearly so on the rectangle; on the three-bit tasks they last "
        "6 to 8 s.",
    ),
    Cause(
        "true-attractors",
        "It meets all conditions of Appendix C, to gnode's tolerances, with at least 4 of 5 seeds, in every task.",
        "On the annulus alone. Elsewhere the fastest states of the set exceed the tolerances; with N = 6 most sets are not "
        "of the task's dimension either.",
    ),
    Cause(
        "true-attractors",
        "On new trials, too, the gnODE's mean error is at most the target of the task, in every task.",
        "On the square, the annulus, the ring and the bits of fixed amplitude it is. Targets were set by the lowest "
        "validation error of a prototype's training, which is lower than the error on new trials.",
    ),
    *(
        Cause(
            "continuous-attractor",
            f"With most seeds the {task} is a continuous attractor: all items of Appendix C hold.",
            "The set is connected and slow, but its fastest states exceed the bounds on speed and abscissa.",
        )
        for task in ("square", "rectangle", "ring")
    ),
    Cause(
        "walker2d-protocol",
        "The gnODE's mean test MSE is at most 0.55 at N = 316.",
        "The chosen setting has the largest rate and the smallest decay of those tried for this N, so the search was too "
        "narrow to say that no setting reaches it.",
    ),
    Cause(
        "letters-protocol",
        "That is above the published 0.987 by more than two standard errors (50% dropped).",
        "It is above it, by less than two standard errors.",
    ),
    *(
        Cause(
            "relatives",
            f"Gating is beneficial for {pair}.",
            "On what was trained so far, the three-bit task at N = 3 (nODE and gnODE also at N = 6), the difference is "
            "smaller than the spread over three seeds of a short training.",
        )
        for pair in (
            "neural ODEs (gnODE against nODE)",
            "neural CDEs (gated NCDE against NCDE)",
            "neural SDEs (gated NSDE against NSDE)",
            "Legendre memories (gated LMU against LMU)",
            "diagonal state spaces (gated S4D against S4D)",
            "linear recurrent units (gated LRU against LRU)",
        )
    ),
    *(
        Cause(
            "relatives",
            f"The {name} is better than the nODE.",
            "Its error is about seven times the nODE's, with every seed (the three-bit task at N = 3, which is all that was "
            "trained so far).",
        )
        for name in ("HBNODE", "GHBNODE")
    ),
    Cause(
        "gnode-protocol",
        "With clipping the gnODE fits noise better than the GRU (N = 316, tau = 1 s).",
        "Both fit it to within what can be ranked.",
    ),
)


def why(artefact: str, claim: str, found: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """Returns why a claim has its verdict.

    **Arguments:** the artefact's name; the claim; `found`, the results of a folder by artefact.
    """
    for cause in CAUSES:
        if (cause.artefact, cause.claim) == (artefact, claim) and _is_shown(cause, found):
            return cause.why
    return UNKNOWN


def _is_shown(cause: Cause, found: Mapping[str, Iterable[Mapping[str, Any]]]) -> bool:
    if cause.shown_by is None:
        return True
    name, text = cause.shown_by
    return any(
        claim["claim"] == text and of_stored(claim) == cause.verdict
        for content in found.get(name, [])
        for claim in content["checks"]
    )
