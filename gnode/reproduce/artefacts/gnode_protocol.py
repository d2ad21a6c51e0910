"""Beyond the paper: what clipping the gradient changes where training without it is a lottery over seeds.

Shows: (A) the nODE on the fixed-amplitude three-bit task, N = 12 and 18, and (B) the fit of noise by a gnODE with N = 316
and H = 1000 at tau = 1 s, each with the gradient's norm clipped (at 1 and 0.1) and without, all else equal, in float32 on a
CPU; and the GRU's fit of noise with clipping.

Command: gnode reproduce run gnode-protocol --scale paper
Cost at paper scale: 35 networks, half an hour on two idle cores; reduced (the nODE with N = 12 alone): half of that; smoke:
a minute on two cores. `gnode reproduce restore gnode-protocol` brings back the trained networks.

Published: fixed three-bit task, N = 12 and 18: all networks below 0.01; noise: the gnODE reaches the lowest errors, without
numbers.
"""

from gnode.reproduce import protocols
from gnode.reproduce.artefact import Artefact, Outcome, SweepPlan, Trained
from gnode.reproduce.selection import trained_members


def plans(scale: str) -> list[SweepPlan]:
    return [
        protocols.fixed_3bit(scale, ["node"]),
        protocols.noise_fit(scale),
        protocols.fixed_3bit(scale, ["node"], clipped=False),
        protocols.noise_fit(scale, "gru"),
        protocols.noise_fit(scale, clipped=False),
    ]


def analyse(trained: Trained) -> Outcome:
    return Outcome()


def keeps(trained: Trained) -> dict[str, list[int]]:
    """All members: the networks are small, but for the fits of noise, of which the best is kept."""
    best = {}
    for name, sweep in trained.sweeps.items():
        members = trained_members(sweep)
        best[name] = members if "fixed" in name else [min(members, key=lambda i: sweep.result(i)["best_loss"])]
    return best


ARTEFACT = Artefact(
    name="gnode-protocol",
    kind="extension",
    title="What clipping the gradient changes",
    place="beyond the paper",
    scales={"smoke": "1 min on two cores", "reduced": "15 min on two cores", "paper": "30 min on two cores"},
    plans=plans,
    analyse=analyse,
    may_be_partial=True,
    keeps=keeps,
)
