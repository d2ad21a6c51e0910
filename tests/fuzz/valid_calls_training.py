"""Valid calls of the public functions of train, sweeps, analysis, plots, explorer, report, reproduce and baselines.

From these `calls.py` derives wrong ones. Each is quick: networks of two to four units, one epoch. Of what functions return
and nobody makes by hand, the methods that take arguments are called.
"""

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gnode import analysis, baselines, build, explorer, plots, report, reproduce, sweeps, tasks, train
from gnode.network import Network
from gnode.plots import _style

Call = tuple[Callable[..., Any], dict[str, Any]]

_style.STYLE |= {"savefig.dpi": 20, "pdf.fonttype": 3, "pdf.compression": 0}  # figures are drawn, but coarsely

SMALL: dict[str, Any] = {"trials": 4, "validation": 2, "bins": 3, "widths": (4,), "epochs": 1}


@functools.cache
def task() -> tasks.Task:
    return tasks.flip_flop("square", trials=4, validation=2, bins=5)


@functools.cache
def classes() -> tasks.Task:
    inputs, targets = np.linspace(0, 1, 80).reshape(10, 4, 2), np.arange(10) % 2
    return tasks.arrays(inputs, targets, 0.1, validation=0.4, test=0.2)


@functools.cache
def forecast() -> tasks.Task:
    values = np.linspace(0, 1, 48).reshape(4, 6, 2)
    return tasks.arrays(values, values, 0.1)


@functools.cache
def net() -> Network:
    return build("gnode", 2, 2, state=3, widths=(4,), key=0)


@functools.cache
def run() -> train.Run:
    return train.fit(net(), task(), epochs=1)


@functools.cache
def states() -> np.ndarray:
    return np.asarray(run().states, dtype=np.float64)


@functools.cache
def points() -> analysis.FixedPoints:
    return analysis.fixed_points(net(), states()[0], dt=0.01)


@functools.cache
def field() -> analysis.FlowField:
    return analysis.flow_field(net(), around=states(), resolution=5)


@functools.cache
def slow() -> np.ndarray:
    return np.stack([np.linspace(-1, 1, 30), np.zeros(30)], axis=1)


@functools.cache
def found() -> analysis.Findings:
    return analysis.study(net(), states(), dt=0.01, starts=5)


def halved(h: Any, x: Any) -> Any:
    return 0.5 * h


def leak(h: Any, x: Any) -> Any:
    """The vector field of a leaky unit."""
    return -h


def fresh(name: str = "new") -> str:
    """The name of a folder that is not there."""
    shutil.rmtree(name, ignore_errors=True)
    return name


def stored_run() -> str:
    if not Path("run").exists():
        train.fit(net(), task(), epochs=1, out="run")
    return "run"


def stored_sweep() -> str:
    if not Path("sweep").exists():
        sweeps.sweep("flipflop-square", "sweep", workers=1, lr=[1e-3, 1e-2], **SMALL)
    return "sweep"


def stored_baseline() -> str:
    if not Path("baseline").exists():
        baselines.train_neural_cde(classes(), "baseline", epochs=1, state=2, widths=(3,))
    return "baseline"


def grid() -> sweeps.Grid:
    return sweeps.Grid.over("flipflop-square", lr=[1e-3, 1e-2], **SMALL)


def _train() -> dict[str, Callable[[], Call]]:
    return {
        "fit": lambda: (train.fit, {"net": net(), "task": task(), "key": 0, "progress": False, "epochs": 1}),
        "fit into a folder": lambda: (
            train.fit,
            {
                "net": net(),
                "task": task(),
                "out": fresh(),
                "checkpoint_seconds": 1.0,
                "extra_config": {"a": 1},
                "epochs": 1,
            },
        ),
        "fit with settings": lambda: (
            train.fit,
            {
                "net": net(),
                "task": task(),
                "lr": 1e-3,
                "batch_size": 2,
                "schedule": ((3, 1),),
                "clip": 1.0,
                "epochs": 1,
            },
        ),
        "fit with callbacks": lambda: (
            train.fit,
            {"net": net(), "task": task(), "callbacks": [train.Callback(), print], "epochs": 1, "metrics": ("r2",)},
        ),
        "Settings": lambda: (train.Settings, {"epochs": 2, "schedule": ((3, 1), (5, 1)), "patience": 3}),
        "Settings.stage_bins": lambda: (train.Settings().stage_bins, {"epoch": 0, "bins": 5}),
        "growing": lambda: (train.growing, {"bins": 10, "step": 2, "epochs": 3, "last": 4}),
        "resume": lambda: (train.resume, {"folder": stored_run(), "like": net(), "task": task()}),
        "load": lambda: (train.load, {"folder": stored_run(), "like": net(), "task": task()}),
        "evaluate": lambda: (train.evaluate, {"net": net(), "task": task(), "trials": task().train}),
        "Run.evaluate": lambda: (run().evaluate, {"trials": task().train}),
        "Run.evaluation": lambda: (run().evaluation, {"trials": task().train}),
        "error_by_horizon": lambda: (
            train.error_by_horizon,
            {"net": net(), "trials": forecast().train, "warm_up": 3},
        ),
        "forecast": lambda: (train.forecast, {"net": net(), "trials": forecast().train, "warm_up": 3}),
        "Run.forecast": lambda: (
            run().forecast,
            {"trials": forecast().train, "warm_up": 3},
        ),
        "RunSpec": lambda: (train.RunSpec, {"task": "flipflop-square", "settings": {"lr": 1e-3}}),
        "RunSpec.of": lambda: (train.RunSpec.of, {"task": "flipflop-square", "given": SMALL, "drop_unused": False}),
        "RunSpec.part": lambda: (train.RunSpec.of("flipflop-square", SMALL).part, {"part": "fit"}),
        "RunSpec.realise": lambda: (train.RunSpec.of("flipflop-square", SMALL).realise, {"task": task()}),
        "train_spec": lambda: (
            train.train_spec,
            {"spec": train.RunSpec.of("flipflop-square", SMALL), "out": None, "runs": fresh()},
        ),
        "train_or_resume": lambda: (
            train.train_or_resume,
            {"spec": train.RunSpec.of("flipflop-square", SMALL), "out": fresh()},
        ),
    }


def _sweeps() -> dict[str, Callable[[], Call]]:
    def prepared() -> dict[str, Any]:
        return {"task": "flipflop-square", "out": fresh(), "prepare": True, "search": (), "search_with": {}} | SMALL

    return {
        "sweep": lambda: (sweeps.sweep, prepared() | {"lr": [1e-3, 1e-2]}),
        "sweep of numbers": lambda: (sweeps.sweep, prepared() | {"seed": [0, 1], "weight_decay": 0.1, "clip": 1.0}),
        "sweep of networks": lambda: (
            sweeps.sweep,
            prepared() | {"model": ["gnode"], "state": [2, 3], "tau": 0.1, "initial": "zeros", "method": "euler"},
        ),
        "sweep with a search": lambda: (
            sweeps.sweep,
            prepared() | {"lr": [1e-3, 1e-2], "seed": [0, 1], "search": ("lr",), "search_with": {"batch_size": 2}},
        ),
        "sweep_or_resume": lambda: (sweeps.sweep_or_resume, prepared() | {"lr": [1e-3, 1e-2]}),
        "resume_sweep": lambda: (
            sweeps.resume_sweep,
            {"folder": stored_sweep(), "engine": "threads", "workers": 1, "part": sweeps.Part(1, 1)},
        ),
        "sweep_cost": lambda: (sweeps.sweep_cost, {"grid": grid(), "engine": "threads", "workers": 1}),
        "Grid": lambda: (
            sweeps.Grid,
            {"task": "flipflop-square", "axes": {"lr": (1e-3, 1e-2)}, "search": ("lr",), "tried": {}},
        ),
        "Grid.over": lambda: (
            sweeps.Grid.over,
            {"task": "flipflop-square", "search": (), "search_with": None, "lr": [1e-3], "seed": range(2)} | SMALL,
        ),
        "Part": lambda: (sweeps.Part, {"number": 1, "of": 2}),
        "Part.read": lambda: (sweeps.Part.read, {"text": "1/2"}),
        "Part.members": lambda: (sweeps.Part(1, 2).members, {"grid": grid(), "together": [[0, 1]]}),
        "Sweep": lambda: (sweeps.Sweep, {"folder": stored_sweep()}),
        "open_sweep": lambda: (sweeps.open_sweep, {"folder": stored_sweep()}),
        "Sweep.todo": lambda: (sweeps.Sweep(stored_sweep()).todo, {"part": sweeps.Part(1, 2)}),
        "Sweep.members_of": lambda: (sweeps.Sweep(stored_sweep()).members_of, {"part": sweeps.Part(1, 2)}),
        "Sweep.number": lambda: (sweeps.Sweep(stored_sweep()).number, {"part": sweeps.Part(1, 2)}),
        "Sweep.result": lambda: (sweeps.Sweep(stored_sweep()).result, {"index": 0}),
        "Sweep.load": lambda: (sweeps.Sweep(stored_sweep()).load, {"index": 0}),
        "Sweep.member_folder": lambda: (sweeps.Sweep(stored_sweep()).member_folder, {"index": 0}),
        "Sweep.best": lambda: (sweeps.Sweep(stored_sweep()).best, {"by": "lr"}),
        "Sweep.markdown": lambda: (sweeps.Sweep(stored_sweep()).markdown, {"by": "lr"}),
        "member_damage": lambda: (sweeps.member_damage, {"folder": f"{stored_sweep()}/members/0000"}),
        "set_aside_damaged": lambda: (
            sweeps.set_aside_damaged,
            {"sweep": Path(stored_sweep()), "indices": [0], "warn": False},
        ),
        "is_sweep": lambda: (sweeps.is_sweep, {"folder": stored_sweep()}),
    }


def _systems() -> dict[str, Callable[[], Call]]:
    def of() -> analysis.System:
        return analysis.system(net(), dt=0.01)

    h = np.zeros(3, np.float32)
    return {
        "system": lambda: (analysis.system, {"source": net(), "x": [0.0, 0.0], "dt": 0.01, "method": "euler"}),
        "outside": lambda: (
            analysis.outside,
            {"function": halved, "state": 2, "is_map": True, "inputs": 1, "jacobian": None, "dt": 0.1},
        ),
        "system of a function": lambda: (analysis.system, {"source": leak, "state": 2, "x": None}),
        "System.flow": lambda: (of().flow, {"h": h}),
        "System.drift": lambda: (of().drift, {"h": h}),
        "System.gate": lambda: (of().gate, {"h": h}),
        "System.step": lambda: (of().step, {"h": h, "x": np.zeros(2, np.float32)}),
        "fixed_points": lambda: (
            analysis.fixed_points,
            {"source": net(), "starts": states()[0], "dt": 0.01, "tolerance": 1e-9, "key": 0, "visited": states()},
        ),
        "fixed_points of a function": lambda: (analysis.fixed_points, {"source": leak, "starts": [[1.0, 2.0]]}),
        "box_starts": lambda: (analysis.box_starts, {"low": [-1.0, -1.0], "high": [1.0, 1.0], "count": 3, "key": 0}),
        "SearchSettings": lambda: (analysis.SearchSettings, {"equation": "flow", "tolerance": 1e-6}),
        "FixedPoints.select": lambda: (points().select, {"status": "equilibrium", "kind": "stable"}),
        "FixedPoints.sample": lambda: (points().sample, {"count": 2}),
        "stability": lambda: (
            analysis.stability,
            {"source": net(), "states": states()[0], "dt": 0.01, "method": "rk4"},
        ),
        "stability of a function": lambda: (analysis.stability, {"source": leak, "states": [[1.0, 2.0]], "dt": 0.1}),
        "lyapunov": lambda: (
            analysis.lyapunov,
            {
                "source": net(),
                "start": states()[0, 0],
                "dt": 0.01,
                "steps": 10,
                "transient": 1,
                "xs": task().train.inputs[0],
            },
        ),
        "lyapunov of a function": lambda: (
            analysis.lyapunov,
            {"source": leak, "start": [1.0, 2.0], "dt": 0.1, "steps": 10, "transient": 0, "exponents": 1},
        ),
        "slow_states": lambda: (
            analysis.slow_states,
            {"source": net(), "states": states()[0], "dt": 0.01, "settle": 0.1},
        ),
        "attractor": lambda: (analysis.attractor, {"source": leak, "points": slow(), "dt": 0.1, "horizon": 1.0}),
        "memory_lifetime": lambda: (
            analysis.memory_lifetime,
            {"source": net(), "states": states()[0], "dt": 0.01, "horizon": 0.1},
        ),
    }


def _analysis() -> dict[str, Callable[[], Call]]:
    limits = ((-1.0, 1.0), (-1.0, 1.0))
    return {
        "flow_field": lambda: (
            analysis.flow_field,
            {"source": net(), "limits": limits, "resolution": 3, "plane": analysis.state_plane(3)},
        ),
        "flow_field of a function": lambda: (
            analysis.flow_field,
            {"source": leak, "state": 2, "around": [[0.0, 1.0], [1.0, 0.0]], "resolution": 3},
        ),
        "state_plane": lambda: (analysis.state_plane, {"size": 3, "first": 0, "second": 1, "origin": [0.0, 0.0, 1.0]}),
        "output_plane": lambda: (analysis.output_plane, {"net": net(), "first": 0, "second": 1}),
        "pca_plane": lambda: (analysis.pca_plane, {"states": states(), "first": 0, "second": 1}),
        "points_plane": lambda: (analysis.points_plane, {"points": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]}),
        "Plane.lift": lambda: (analysis.state_plane(3).lift, {"coordinates": [0.0, 1.0]}),
        "Plane.project": lambda: (analysis.state_plane(3).project, {"states": states()}),
        "pca": lambda: (analysis.pca, {"states": states()}),
        "PCA.project": lambda: (analysis.pca(states()).project, {"states": states(), "count": 2}),
        "PCA.needed": lambda: (analysis.pca(states()).needed, {"share": 0.9}),
        "manifold": lambda: (analysis.manifold, {"points": slow()}),
        "shape": lambda: (analysis.shape, {"outputs": slow(), "dimension": 1}),
        "hold_pulses": lambda: (
            analysis.hold_pulses,
            {"net": net(), "values": [[1.0, 2.0]], "dt": 0.01, "pulse_bins": 1, "lead_bins": 1, "wait_bins": 2},
        ),
        "error_by_amplitude": lambda: (
            analysis.error_by_amplitude,
            {"net": net(), "dt": 0.01, "ranges": [(0.5, 1.0)], "count": 2, "key": 0, "wait_bins": 2},
        ),
        "trial_error": lambda: (
            analysis.trial_error,
            {
                "net": net(),
                "inputs": task().train.inputs,
                "targets": task().train.targets,
                "dt": 0.01,
                "span": (0.0, 1.0),
            },
        ),
        "AmplitudeError": lambda: (
            analysis.AmplitudeError,
            {"low": 0.0, "high": 1.0, "mean_square": 0.1, "upper_quartile": 0.2, "count": 3},
        ),
        "steady_spectrum": lambda: (
            analysis.steady_spectrum,
            {"model": "mgru", "state": 4, "sigma_w": 0.5, "duration": 3.0, "dt": 1.0},
        ),
        "SteadySpectrum.pinching": lambda: (
            analysis.steady_spectrum("mgru", 4, sigma_w=0.5, duration=3.0).pinching,
            {"within": 0.1},
        ),
        "study": lambda: (
            analysis.study,
            {"net": net(), "states": states(), "dt": 0.01, "x": [0.5, 0.0], "inputs": task().train.inputs, "starts": 2},
        ),
    }


def _plots() -> dict[str, Callable[[], Call]]:
    rows = [{"model": "gnode", "best_loss": 0.1}, {"model": "gru", "best_loss": 0.2}]
    series = np.arange(6.0).reshape(1, 3, 2)
    return {
        "class_counts": lambda: (plots.class_counts, {"counts": {"a": [1, 2], "b": [3, 4]}, "parts": ["x", "y"]}),
        "example_series": lambda: (
            plots.example_series,
            {"observed": series, "filled": series, "dt": 0.1, "titles": ["a"]},
        ),
        "confusion_matrix": lambda: (plots.confusion_matrix, {"confusion": [[3, 1], [0, 2]], "names": ["a", "b"]}),
        "class_ends": lambda: (
            plots.class_ends,
            {
                "ends": [[0.0, 1.0], [2.0, 0.5]],
                "labels": [0, 1],
                "names": ["a", "b"],
                "fixed_points": found().fixed_points,
            },
        ),
        "forecast (figure)": lambda: (
            plots.forecast,
            {"found": train.forecast(net(), forecast().train, warm_up=3), "trial": 0, "names": ["a", "b"]},
        ),
        "horizon_errors": lambda: (plots.horizon_errors, {"network": {"gnode": np.ones(3)}, "last_value": np.ones(3)}),
        "save": lambda: (
            plots.save,
            {"figure": plots.loss_curves({"a": np.ones(2)}), "path": f"{fresh('figures')}/a", "formats": ("svg",)},
        ),
        "best_curves": lambda: (plots.best_curves, {"curves": {"gnode": np.ones(3)}}),
        "seeds": lambda: (plots.seeds, {"panels": {"error": {"a": [0.1, 0.2], "b": [0.3]}}}),
        "strip": lambda: (plots.strip, {"rows": rows, "by": "model", "threshold": 0.1}),
        "example_trial": lambda: (
            plots.example_trial,
            {
                "inputs": np.ones((3, 1)),
                "outputs": np.ones((3, 2)),
                "targets": np.ones((3, 2)),
                "time": [1.0, 2.0, 3.0],
            },
        ),
        "loss_curves": lambda: (
            plots.loss_curves,
            {"curves": {"a": np.ones(3)}, "colours": ["black"], "ylabel": "Loss"},
        ),
        "validation_trial": lambda: (plots.validation_trial, {"run": run()}),
        "save_run": lambda: (plots.save_run, {"run": run(), "folder": fresh("figures")}),
        "plots.flow_field": lambda: (
            plots.flow_field,
            {"source": field(), "fixed_points": points(), "trajectories": states(), "pulse": states()[:1]},
        ),
        "plots.flow_field of a network": lambda: (
            plots.flow_field,
            {"source": net(), "trajectories": states(), "resolution": 3, "nullclines": True},
        ),
    }


def _reports() -> dict[str, Callable[[], Call]]:
    figure = functools.partial(plots.loss_curves, {"a": np.ones(2)})
    return {
        "Section": lambda: (report.Section, {"title": "A", "paragraphs": ["B"], "header": ["C"], "rows": [[1]]}),
        "write_page": lambda: (
            report.write_page,
            {"path": f"{fresh('page')}/a.html", "title": "A", "introduction": "B", "parts": [report.Section("C")]}
            | {"verdict": "D", "picture": (figure(), "E")},
        ),
        "runs_in": lambda: (report.runs_in, {"folder": stored_run()}),
        "sections": lambda: (report.sections, {"found": found(), "figures": {"flow": figure()}}),
        "summary_row": lambda: (report.summary_row, {"name": "a", "found": found()}),
        "write_comparison": lambda: (report.write_comparison, {"findings": {"a": found()}, "out": fresh("comparison")}),
        "write_report": lambda: (
            report.write_report,
            {"run": run(), "out": fresh("report"), "name": "a", "starts": 2, "x": [1, 0]},
        ),
    }


def _reproduce() -> dict[str, Callable[[], Call]]:
    numbers = [reproduce.Number("a", 1.0)]
    return {
        "SweepPlan": lambda: (
            reproduce.SweepPlan,
            {"name": "a", "task": "flipflop-square", "settings": {"lr": [0.1]}, "search": ("lr",), "search_with": {}},
        ),
        "Number": lambda: (reproduce.Number, {"name": "a", "ours": 1.0, "published": "1", "std": 0.1, "seeds": 3}),
        "Claim": lambda: (reproduce.Claim, {"claim": "A.", "verdict": "holds", "measured": {"a": 1.0}, "note": ""}),
        "Outcome": lambda: (reproduce.Outcome, {"numbers": numbers, "claims": [], "figures": {}, "details": {}}),
        "Trained": lambda: (reproduce.Trained, {"scale": "smoke", "sweeps": {"a": sweeps.Sweep(stored_sweep())}}),
        "Artefact": lambda: (
            reproduce.Artefact,
            {
                "name": "a",
                "kind": "claim",
                "title": "A",
                "place": "nowhere",
                "scales": {"smoke": "no time"},
                "analyse": lambda trained: reproduce.Outcome(),
                "data": (),
                "may_be_partial": False,
            },
        ),
        "Request": lambda: (
            reproduce.Request,
            {"name": "fig2", "scale": "smoke", "only": (), "seeds": 1, "kernel": "loop"},
        ),
        "find_artefact": lambda: (reproduce.find_artefact, {"name": "capacity"}),
        "results_page": lambda: (reproduce.results_page, {"folder": fresh("results")}),
        "artefact_pages": lambda: (reproduce.artefact_pages, {"folder": fresh("results")}),
        "prepare_artefact": lambda: (
            reproduce.prepare_artefact,
            {"request": reproduce.Request("annulus-generalisation"), "out": fresh("results"), "sweeps": None},
        ),
        "run_artefact": lambda: (
            reproduce.run_artefact,
            {"request": reproduce.Request("capacity"), "out": fresh("results"), "sweeps": None, "engine": "threads"},
        ),
    }


def _baselines() -> dict[str, Callable[[], Call]]:
    def cde() -> Network:
        return baselines.neural_cde(2, 2, state=2, widths=(3,), key=0)

    def compiled(task: tasks.Task) -> tasks.Task:
        stored_baseline()
        return task

    return {
        "neural_cde": lambda: (baselines.neural_cde, {"inputs": 2, "outputs": 2, "state": 2, "widths": (3,), "key": 0}),
        "solver_errors": lambda: (baselines.solver_errors, {"net": cde(), "trials": classes().train}),
        "train_neural_cde": lambda: (
            functools.partial(baselines.train_neural_cde, state=2, widths=(3,)),  # other sizes compile for long
            {"task": compiled(classes()), "out": fresh("cde"), "progress": False, "epochs": 1},
        ),
        "resume_neural_cde": lambda: (
            baselines.resume_neural_cde,
            {"out": stored_baseline(), "progress": False, "task": classes()},
        ),
    }


def _explorer() -> dict[str, Callable[[], Call]]:
    return {
        "explore": lambda: (
            explorer.explore,
            {"source": net(), "x": [0.0, 0.0], "dt": 0.1, "states": np.zeros((2, 3)), "starts": 2, "seed": 0},
        ),
        "explore a function": lambda: (explorer.explore, {"source": leak, "state": 2, "starts": 2, "name": "leak"}),
        "Film": lambda: (train.Film, {"epochs": [0, 1]}),
    }


RETURNED = "functions return it, and nobody makes it by hand"
DATA = "its data set is not on every machine; train_neural_cde is what it calls"
NOT_CALLED = {
    **dict.fromkeys(
        ["Evaluation", "Forecast", "HorizonError", "Run", "SweepCost", "Attractor", "Check", "Gating"], RETURNED
    ),
    **dict.fromkeys(["FixedPoints", "FlowField", "Plane", "LyapunovExponents", "Manifold", "Shape", "PCA"], RETURNED),
    **dict.fromkeys(["MemoryLifetime", "SteadySpectrum", "Stability", "Findings", "System", "Baseline"], RETURNED),
    **dict.fromkeys(["characters_baseline", "walker2d_baseline"], DATA),
    "Moment": "training makes it, and hands it to callbacks",
    "Callback": "it takes no arguments",
    "LrSchedule": "it is read from a text, which Settings checks",
    **dict.fromkeys(
        ["TensorBoard", "WeightsAndBiases", "MLflow"], "it needs an extra; see tests/train/test_loggers.py"
    ),
    "all_artefacts": "it takes no arguments",
    "shipped_names": "it takes no arguments",
    "Portrait": RETURNED,
    "flow_gallery": "it draws what an artefact made; its docstring calls it",
}
"""The public functions and classes without a call here, each with the reason."""

VALID: dict[str, Callable[[], Call]] = (
    _train() | _sweeps() | _systems() | _analysis() | _plots() | _explorer() | _reports() | _reproduce() | _baselines()
)
SLOW = {
    "explore",
    "explore a function",
    "study",
    "write_report",
    "run_artefact",
    "solver_errors",
    "train_neural_cde",
    "resume_neural_cde",
}
"""Calls that take a second or more even with a good cache of compiled programs."""
