"""Shared by the flip-flop artefacts: their sweeps, the choice of networks, fixed points and flow fields."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gnode import analysis, files, plots
from gnode.analysis import Stability
from gnode.cells import CELLS, cell_label
from gnode.plots.analysis import abscissa_strips, colour_range
from gnode.plots.letters import lettered
from gnode.reproduce import selection, verdicts
from gnode.reproduce.artefact import Claim, Number, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence, means
from gnode.reproduce.verdicts import Group
from gnode.sweeps import Sweep
from gnode.train import Run

MODELS = ["rnn", "mgru", "gru", "node", "gnode"]
GATED, NOT_GATED = ("mgru", "gru", "gnode"), ("rnn", "node")
SETTINGS_27 = {"lr": [1e-4, 1e-3, 1e-2], "weight_decay": [1e-3, 1e-2, 1e-1], "batch_size": [10, 50, 100]}
"""The 27 settings of Appendix F, with each of which every network is trained."""

PAPER_SEEDS = [0, 1, 2]
REDUCED = {"lr": [1e-3, 1e-2], "weight_decay": 1e-2, "batch_size": 10, "seed": [0]}
"""The settings at reduced scale: the smallest batch size of the 27, and two learning rates."""

SMOKE = {"lr": [1e-2], "weight_decay": 1e-3, "batch_size": 20, "trials": 60, "validation": 30, "bins": 40}
SMOKE |= {"seed": [0, 1]}
SOLVED = 0.01
"""The validation MSE below which the paper calls a task solved."""

STARTS = {"smoke": 200, "paper": 10_000}
"""The number of initial states in the search for fixed points."""


def variable(
    state: int, scale: str, models: list[str] | None = None, penalties: list[float] | None = None
) -> SweepPlan:
    """Returns the sweep of the variable-amplitude three-bit task (Appendix F.2).

    **Arguments:**

    - `state`: N.
    - `scale`: one of `SCALES`.
    - `models`: the models that are trained; all five by default.
    - `penalties`: coefficients of l2 regularisation, each of which is combined with every setting.
    """
    name = f"variable-n{state}" + ("-l2" if penalties else "")
    names = MODELS if models is None else models
    extra: dict[str, Any] = {"penalty": penalties} if penalties else {}
    if scale == "smoke":
        small = {"model": names, "state": min(state, 12), "widths": (16, 16, 16), "epochs": 15}
        return SweepPlan(name, "flipflop-variable", SMOKE | small | {k: v[:2] for k, v in extra.items()})
    full = {"model": names, "state": state, "epochs": 600}
    if scale == "reduced":
        return SweepPlan(name, "flipflop-variable", REDUCED | full | extra)
    return SweepPlan(name, "flipflop-variable", SETTINGS_27 | full | {"seed": PAPER_SEEDS} | extra)


TWO_BIT: dict[str, dict[str, Any]] = {
    "fixed": {"bits": 2, "state": 2, "widths": (316, 316), "initial": "affine"},
    "square": {},
    "rectangle": {},
    "annulus": {},
    "ring-from-0": {"start": (0.0, 0.0)},
    "ring-from-2": {"start": (2.0, 0.0)},
}
"""The two-bit tasks of Appendix F.6, each with the settings that differ from the defaults of its task."""


def two_bit(task: str, scale: str, models: list[str] | None = None) -> SweepPlan:
    """Returns the sweep of a two-bit task of Appendix F.6 with N = 2."""
    name, own = f"two-bit-{task}", TWO_BIT[task] | {"model": models or ["gnode"]}
    of = f"flipflop-{task.split('-')[0]}"
    if scale == "smoke":
        return SweepPlan(name, of, SMOKE | own | {"state": 2, "widths": (24, 24), "epochs": 60})
    return SweepPlan(name, of, SETTINGS_27 | own | {"epochs": 200, "seed": PAPER_SEEDS})


def name_of(model: str) -> str:
    """Returns the name of a model as the paper writes it."""
    return cell_label(model)


def losses(sweep: Sweep, models: list[str], published: dict[str, str], **where: Any) -> list[Number]:
    """Returns a `Number` for each model: the lowest validation loss among the settings, averaged over seeds."""
    size = sweep.members[0]["state"] if "state" not in where else where["state"]
    return [
        selection.mean_over_seeds(
            f"{name_of(model)}, N = {size}: minimum validation MSE",
            selection.lowest_losses(sweep, model=model, **where),
            published.get(model),
        )
        for model in models
    ]


def losses_of(found: Evidence, models: Iterable[str], size: int) -> dict[str, Group]:
    """Returns the lowest validation losses of models, as `losses` stores them, by the models' names."""
    return found.groups({name_of(model): f"{name_of(model)}, N = {size}: minimum validation MSE" for model in models})


def bounded(found: Evidence, claim: str, size: int, wanted: Mapping[str, bool], bound: float = SOLVED) -> Claim:
    """Decides whether exactly the expected models come below a bound: `wanted` says of each whether it is expected to."""

    def rule() -> Decided:
        groups = losses_of(found, wanted, size)
        each = [
            (verdicts.below if should else verdicts.above)(groups[name_of(model)], bound)
            for model, should in wanted.items()
        ]
        return verdicts.all_of(each), means(groups) | {"bound": bound}

    return found.decide(claim, rule)


def best_curves(sweep: Sweep, **where: Any) -> Any:
    """Draws the validation loss of each model's best member by epoch."""
    names = dict.fromkeys(own["model"] for own in sweep.members)
    best = {model: sweep.load(selection.best_member(sweep, model=model, **where)) for model in names}
    return plots.best_curves({model: run.curves["validation"] for model, run in best.items()})


def abscissas(sweep: Sweep, trained: Trained, **where: Any) -> dict[str, Stability]:
    """Computes the spectral abscissa at every fixed point of each model's best member, by the method of Appendix F.4.

    The values are cached in the member's folder, since several artefacts use them.
    """
    starts = STARTS["smoke" if trained.is_smoke else "paper"]
    found = {}
    for model in dict.fromkeys(own["model"] for own in sweep.members):
        member = selection.best_member(sweep, model=model, **where)
        kept = sweep.member_folder(member) / f"abscissas-{starts}.npz"
        if not kept.exists():
            run = sweep.load(member)
            points = analysis.fixed_points(run.net, run.states, dt=run.dt, preset="paper", most_starts=starts, key=0)
            files.write_arrays(kept, {"abscissa": points.stability.abscissa})
        values = np.load(kept)["abscissa"]
        found[model] = Stability(values[:, None].astype(complex), None, 0.0, None)
    return found


def quartiles(values: np.ndarray) -> list[float]:
    """Returns the median, the lower and the upper quartile; an empty list if there are no values."""
    return [float(q) for q in np.quantile(values, [0.5, 0.25, 0.75])] if values.size else []


def nearer_to_zero(found: Mapping[str, float]) -> str:
    """Decides whether the value of every gated network is nearer to 0 than that of every other network.

    There is one network of each kind, and its values are over its fixed points, so there is no error over seeds.
    """
    size = {model: abs(value) for model, value in found.items()}
    gated, others = ([size[name_of(model)] for model in models] for models in (GATED, NOT_GATED))
    return verdicts.plainly(max(gated) < min(others))


def median_claim(found: Evidence, claim: str) -> Claim:
    """Decides whether the gated networks' median abscissas, the detail "median abscissas", are nearer to 0."""

    def rule() -> Decided:
        medians = found.detail("median abscissas", was=claim)
        return verdicts.OPEN if None in medians.values() else nearer_to_zero(medians), medians

    return found.decide(claim, rule)


def median_abscissas(found: Mapping[str, Stability]) -> dict[str, float | None]:
    """Returns each network's median abscissa by its name, None where no point was found."""
    return {name_of(model): (quartiles(one.abscissa) or [None])[0] for model, one in found.items()}


def trial_figure(run: Run, model: str) -> Any:
    """Draws a validation trial with the outputs in the colour of the network."""
    return plots.validation_trial(run, line=CELLS[model].colour)


def abscissa_figure(found: dict[str, Stability]) -> Any:
    """Draws the abscissas as strips in the models' colours (Figure 1E)."""
    named = {name_of(model): one for model, one in found.items()}
    return abscissa_strips(named, {name_of(m): CELLS[m].colour for m in found})


def slow_set(run: Run) -> analysis.Attractor | None:
    """Returns the slow set that a network's trials settle on, or None if too few states settle."""
    states = np.asarray(run.states, dtype=np.float64)
    settled = analysis.slow_states(run.net, states.reshape(-1, states.shape[-1])[::3], dt=run.dt)
    return analysis.attractor(run.net, settled, dt=run.dt) if len(settled) >= analysis.FEWEST_SLOW_STATES else None


def continuous_attractor(found: Evidence, task: str, name: str) -> Claim:
    """Decides whether the slow set of a task, a stored detail, is a continuous attractor by all items of Appendix C."""

    def rule() -> Decided:
        slow = found.detail(task)
        items = {f"item {check['item']}": check["holds"] for check in slow["definition"]}
        measured = {"largest |dh/dt| (1/s)": slow["largest_speed"]}
        eta = next(check["measured"]["largest"] for check in slow["definition"] if check["item"] == "3")
        return verdicts.plainly(slow["is_continuous_attractor"]), items | measured | {"largest |abscissa| (1/s)": eta}

    return found.decide(f"The gnODE of the {name} task has a continuous attractor: all items of Appendix C hold.", rule)


def equilibria(run: Run, trained: Trained) -> analysis.FixedPoints:
    """Finds the equilibria of a network."""
    most = 200 if trained.is_smoke else 2000
    return analysis.fixed_points(run.net, run.states, dt=run.dt, most_starts=most, key=0).select(status="equilibrium")


def flow_figures(runs: Mapping[str, Run], points: Mapping[str, analysis.FixedPoints]) -> dict[str, Any]:
    """Draws the flow fields of networks in output coordinates with some trials, by panel, on one scale of speed.

    **Arguments:** `runs`, the networks by panel; `points`, the equilibria of those panels that show them.
    """
    fields = {panel: analysis.flow_field(run.net, around=run.states[:10]) for panel, run in runs.items()}
    speeds = colour_range(list(fields.values()))
    return lettered(
        {
            panel: plots.flow_field(
                field, points.get(panel), trajectories=runs[panel].states[:10], nullclines=False, speeds=speeds
            )
            for panel, field in fields.items()
        }
    )


HOLE = 0.05
"""A region is slow if its median speed is at most this fraction of the speed around the attractor; gnode's own bound."""

REGIONS = {"inside": (0.0, 1.0), "on it": (1.0, 2.0), "around it": (2.5, 3.0)}
"""The regions of the disk and ring tasks, by the norm of the outputs."""


def speed_by_radius(run: Run) -> dict[str, float]:
    """Computes the median speed of the outputs, per second, in each of `REGIONS`."""
    field = analysis.flow_field(run.net, limits=((-3, 3), (-3, 3)), resolution=61)
    radius = np.hypot(*np.meshgrid(field.u, field.v))
    speed = np.linalg.norm(field.velocity, axis=-1)
    return {
        f"speed {name}": float(np.median(speed[(radius >= low) & (radius <= high)]))
        for name, (low, high) in REGIONS.items()
    }


def has_no_hole(speeds: dict[str, float]) -> bool:
    """Whether the flow inside radius 1 is slow compared with the flow around the attractor."""
    return speeds["speed inside"] <= HOLE * speeds["speed around it"]
