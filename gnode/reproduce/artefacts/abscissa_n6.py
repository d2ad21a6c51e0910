"""Spectral abscissas at the fixed points of networks with N = 6 (Appendix F.5, figure-s4).

Shows: for the best of 27 settings of each network on the variable-amplitude 3-bit task, the spectral abscissa at
every fixed point found from 10,000 visited states; bars are medians.

Command: gnode reproduce run abscissa-n6 --scale paper
Cost at paper scale: fig1's first sweep (10 minutes on one H200, nothing if it is trained) and 2 minutes; smoke:
30 s.

Published (Appendix F.5, table of medians, N = 6): RNN 2.750, mGRU 0.004, GRU 0.005, nODE 2.626, gnODE 0.002.
"""

from typing import Any

from gnode.reproduce import flip_flop
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, Trained
from gnode.reproduce.evidence import Evidence

PUBLISHED = {"rnn": "2.750", "mgru": "0.004", "gru": "0.005", "node": "2.626", "gnode": "0.002"}


def analyse(trained: Trained) -> Outcome:
    found = flip_flop.abscissas(trained["variable-n6"], trained)
    medians = {model: flip_flop.quartiles(one.abscissa) for model, one in found.items()}
    numbers = [
        Number(f"{flip_flop.name_of(model)}: median abscissa (1/s)", values[0] if values else None, PUBLISHED[model])
        for model, values in medians.items()
    ]
    details: dict[str, Any] = {m: {"points": len(one), "median and quartiles": medians[m]} for m, one in found.items()}
    details["median abscissas"] = flip_flop.median_abscissas(found)
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), {"a": flip_flop.abscissa_figure(found)}, details)


def judge(found: Evidence) -> list[Claim]:
    return [flip_flop.median_claim(found, "At N = 6 the gated networks' median abscissas are nearer to 0.")]


CAPTIONS = {
    "a": "Spectral abscissas of the best networks with N = 6. A point is a fixed point, placed across its strip at "
    "random; of many only some hundreds are drawn. Black bars are medians of all. Above the grey line a point is "
    "unstable. On this scale those of the gated networks are a line at 0; the medians are among the numbers. Figure "
    "1E, with N = 100, has another scale.",
}


ARTEFACT = Artefact(
    name="abscissa-n6",
    kind="figure",
    title="Stability of fixed points, N = 6",
    place="Appendix F.5, figure-s4",
    scales={"smoke": "30 s on two cores", "paper": "12 min on one H200"},
    plans=lambda scale: [flip_flop.variable(6, scale)],
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
