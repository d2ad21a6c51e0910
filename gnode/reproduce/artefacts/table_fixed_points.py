"""Table of fixed-point stability: medians and quartiles of the spectral abscissa, N = 100 and N = 6 (Appendix F.5).

Shows: for each network's best of 27 settings the median and the quartiles of the spectral abscissa over the fixed
points found.

Command: gnode reproduce run table-fixed-points --scale paper
Cost at paper scale: two sweeps of fig1 (50 minutes on one H200, nothing if they are trained) and a few minutes for
the fixed points; smoke: about a minute on two cores.

Published, median [quartiles], N = 100: RNN 2.587 [-1.969, 6.360], mGRU -0.472 [-0.473, -0.470], GRU -0.033 [-0.474,
0.070], nODE 4.988 [-1.627, 9.453], gnODE 0.842 [-0.461, 1.698]; N = 6: RNN 2.750 [-0.768, 4.703], mGRU 0.004 [0.002,
0.009], GRU 0.005 [0.001, 0.023], nODE 2.626 [-2.030, 13.151], gnODE 0.002 [0.002, 0.003].
"""

from collections.abc import Mapping
from functools import partial

from gnode.reproduce import flip_flop, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, Trained
from gnode.reproduce.evidence import Decided, Evidence

PUBLISHED = {
    100: {
        "rnn": (2.587, -1.969, 6.360),
        "mgru": (-0.472, -0.473, -0.470),
        "gru": (-0.033, -0.474, 0.070),
        "node": (4.988, -1.627, 9.453),
        "gnode": (0.842, -0.461, 1.698),
    },
    6: {
        "rnn": (2.750, -0.768, 4.703),
        "mgru": (0.004, 0.002, 0.009),
        "gru": (0.005, 0.001, 0.023),
        "node": (2.626, -2.030, 13.151),
        "gnode": (0.002, 0.002, 0.003),
    },
}
WHICH = ("median", "lower quartile", "upper quartile")


def analyse(trained: Trained) -> Outcome:
    numbers, details = [], {}
    for size, published in PUBLISHED.items():
        sweep = trained[f"variable-n{size}"]
        found = flip_flop.abscissas(sweep, trained)
        for model, one in found.items():
            values = flip_flop.quartiles(one.abscissa) or [None] * 3
            for which, ours, theirs in zip(WHICH, values, published[model]):
                name = _name(model, which, sweep.members[0]["state"])
                numbers.append(Number(name, ours, f"{theirs:.3f}"))
        details[f"points, N = {size}"] = {model: len(one) for model, one in found.items()}
    return Outcome(numbers, judge(Evidence.fresh(numbers)), details=details)


def _name(model: str, which: str, size: int) -> str:
    return f"{flip_flop.name_of(model)}, N = {size}: {which} (1/s)"


def tables(details: Mapping[str, Mapping[str, int]]) -> dict[str, list[list[str]]]:
    """How many of the starts led to a point that is kept: the rest are no points, or outside the paper's box."""
    counts = {size: details[f"points, N = {size}"] for size in PUBLISHED}
    rows = [[flip_flop.name_of(model), *(str(own[model]) for own in counts.values())] for model in PUBLISHED[100]]
    return {"Starts that led to a point": [["network", *(f"N = {size}" for size in counts)], *rows]}


def judge(found: Evidence) -> list[Claim]:
    def quartiles(size: int) -> Decided:
        each, shown = [], {}
        for which in WHICH[1:]:
            values = {flip_flop.name_of(m): found.group(_name(m, which, size)).mean for m in PUBLISHED[size]}
            each.append(flip_flop.nearer_to_zero(values))
            shown |= {f"{name}, {which}": value for name, value in values.items()}
        return verdicts.all_of(each), shown

    return [
        found.decide(
            f"At N = {size} both quartiles of the gated networks' abscissas are nearer to 0 than the others'.",
            partial(quartiles, size),
        )
        for size in PUBLISHED
    ]


ARTEFACT = Artefact(
    name="table-fixed-points",
    kind="table",
    title="Medians and quartiles of the spectral abscissa at fixed points",
    place="Appendix F.5, fp-table",
    scales={"smoke": "1 min on two cores", "paper": "50 min on one H200"},
    plans=lambda scale: [flip_flop.variable(100, scale), flip_flop.variable(6, scale)],
    analyse=analyse,
    judge=judge,
    tables=tables,
)
