"""Figure 3: the error with which networks fit one trajectory of an Ornstein-Uhlenbeck process (section "Measuring
Practical Expressivity").

Shows: (A) fits of a gnODE with N = H = 316 at several model tau; (B) its training MSE by tau; (C) gnODE at tau = 1 s
by N, a line per H; (D) all networks by tau, N = 316, H = 1000; (E, F) all networks by N at tau = 1 s and 30 s, H =
1000. Bars: seeds.

Command: gnode reproduce run fig3 --scale paper
Cost at paper scale (N and H up to 316 and 1000, 5 tau, 9 settings, then the best of them with 5 seeds, 2000 epochs):
five sweeps, one to two hours on one H200; reduced (N up to 100, H up to 316, 2 settings, 3 seeds, 1000 epochs): about
15 minutes; smoke: a minute and a half on two cores.

Published: curves without numbers. Errors are lower the nearer tau is to tau_OU = 1 s; more hidden units are more
expressive; a small hidden layer hurts at large N; gnODE is the most expressive at low N; the gap widens with tau.
"""

from collections.abc import Mapping
from typing import Any

from gnode.expressivity import Expressivity
from gnode.plots import expressivity as pictures
from gnode.reproduce import noise, noise_claims, noise_figures
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence

MODELS = [*noise.RNNS, *noise.NODES]


def plans(scale: str) -> list[SweepPlan]:
    return [noise.rnns(scale), *(noise.nodes(scale, hidden) for hidden in noise.HIDDEN[scale])]


def analyse(trained: Trained) -> Outcome:
    found, scale = noise.measured(trained), trained.scale
    wide, middle = noise.widest(scale), noise.middling(scale)
    largest, smallest = noise.STATES[scale][-1], noise.STATES[scale][0]
    wide_ones = found.select(hidden=wide)
    numbers = [noise.number(p) for p in found.select(model="gnode", state=largest, hidden=middle).points]
    numbers += [noise.number(p) for p in wide_ones.select(tau=[1.0, 30.0], state=smallest).points]
    details = {"points": found.rows()}
    return Outcome(
        numbers=numbers,
        claims=judge(Evidence.fresh(numbers, details)),
        figures={"a": fits(trained, found, largest, middle)} | draw(details),
        details=details,
    )


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    points = details[noise_figures.MADE_OF]
    *_, middle, wide = noise_claims.values(points, "hidden")
    largest = noise_claims.values(points, "state")[-1]
    at_wide = [point for point in points if point["hidden"] in (0, wide)]
    own = {"gnode": noise_figures.curve(points, "tau", model="gnode", state=largest, hidden=middle)}
    widths = noise_figures.by_value(points, "hidden", "H = {}", "state", model="gnode", tau=1.0)
    panels = [
        noise_figures.panel(f"N = {largest}, H = {middle}", own, "tau"),
        noise_figures.panel("gnODE, τ = 1 s", widths, "state"),
        noise_figures.panel(f"N = {largest}", noise_figures.by_model(at_wide, "tau", state=largest), "tau"),
        noise_figures.panel("τ = 1 s", noise_figures.by_model(at_wide, "state", tau=1.0), "state"),
        noise_figures.panel("τ = 30 s", noise_figures.by_model(at_wide, "state", tau=30.0), "state"),
    ]
    return {"b": noise_figures.figure(panels, "BCDEF")}


def judge(found: Evidence) -> list[Claim]:
    points = found.detail("points")
    widths = [hidden for hidden in noise_claims.values(points, "hidden") if hidden]
    smallest, largest = (noise_claims.values(points, "state")[place] for place in (0, -1))
    return [
        noise_claims.nearer_is_lower(
            found,
            "The gnODE's errors are generally lower the nearer tau is to tau_OU.",
            "gnode",
            state=largest,
            hidden=widths[-2],
        ),
        noise_claims.wider_is_better(
            found, "More hidden units are generally more expressive (gnODE, tau = 1 s).", "gnode", tau=1.0
        ),
        noise_claims.narrow_hurts(
            found,
            f"At large N (here {largest}) a small hidden layer hurts expressivity (gnODE, tau = 1 s).",
            "gnode",
            state=largest,
            tau=1.0,
        ),
        *(
            noise_claims.beats_the_others(
                found,
                f"At low N (here {smallest}) and tau = {tau:g} s the gnODE is generally more expressive than the others.",
                "gnode",
                widths[-1],
                state=smallest,
                tau=tau,
            )
            for tau in (1.0, 30.0)
        ),
        noise_claims.gap_widens(
            found, "The gap between complex and simple networks generally widens with tau.", widths[-1]
        ),
    ]


def fits(trained: Trained, found: Expressivity, state: int, hidden: int) -> Any:
    """Draws the first channel of the trajectory and the best network's output at each tau."""
    sweep = trained[noise.nodes_name(hidden)]
    outputs: dict[str, Any] = {}
    target: Any = None
    for point in found.select(model="gnode", state=state, hidden=hidden).points:
        run = sweep.load(min(zip(point.errors, point.members))[1])
        trial = run.task.train
        outputs[rf"$\tau$ = {point.tau:g} s"] = run.net.run(trial.inputs, dt=trial.dt).outputs[0]
        target = trial.targets[0]
    return pictures.fitted_noise(target, outputs, dt=1.0)


CAPTIONS = {
    "a": "The first channel of the trajectory in grey, and the best gnODE's output at each time constant.",
    "b": "Panels B to F: training error (B) of a gnODE by time constant, (C) of gnODEs by N at several widths, "
    "(D) of all networks by time constant, (E, F) of all networks by N; where it is not said, widths are the largest."
    + noise_figures.SPREAD,
}


ARTEFACT = Artefact(
    name="fig3",
    kind="figure",
    title="Practical expressivity: fitting an Ornstein-Uhlenbeck trajectory",
    place="Figure 3 (figure-0 in the source)",
    scales={"smoke": "1.5 min on two cores", "reduced": "15 min on one H200", "paper": "1 to 2 h on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    draw=draw,
    captions=CAPTIONS,
    needs_networks=("a",),
)
