"""Principal components of networks with N = 100, with and without l2 regularisation (Appendix F.3, figure-s11).

Shows: variance explained by principal components of the best networks (A) without and (C) with l2 regularisation on
the variable-amplitude 3-bit task; (B) validation MSE of the 108 settings (27 x 4 coefficients) with it.

Command: gnode reproduce pca-l2 --scale paper
Cost at paper scale: fig1's second sweep and 1620 more networks of 600 epochs, about 40 minutes on one H200
(--seeds 1: 25 minutes); reduced (2 settings, one seed): some hours on two cores; smoke: about a minute and a
half.

Published: without regularisation more than 10 components for 0.9 of the variance, for every network that solves the
task; with it the RNN stays above 0.04, no network comes below 0.01, GRU and gnODE come below 0.02, and those need
more than 7.
"""

from gnode import analysis, plots
from gnode.experiments import choice, flip_flop
from gnode.experiments.artefact import Artefact, Check, Number, Outcome, SweepPlan, Trained
from gnode.plots.analysis import explained_variance
from gnode.train import Sweep

COEFFICIENTS = [1e-5, 1e-4, 1e-3, 1e-2]
SUCCESS, SUCCESS_L2 = 0.016, 0.02
"""Below which validation MSE the paper counts a network as trained, without and with regularisation."""
SHARE = 0.9


def plans(scale: str) -> list[SweepPlan]:
    return [flip_flop.variable(100, scale), flip_flop.variable(100, scale, penalties=COEFFICIENTS)]


def components(sweep: Sweep) -> tuple[dict[str, analysis.PCA], dict[str, float]]:
    """Principal components of each model's best network, and its validation loss."""
    runs = {model: sweep.load(choice.best_of_all(sweep, model=model)) for model in flip_flop.MODELS}
    return {m: analysis.pca(run.states) for m, run in runs.items()}, {m: run.best_loss for m, run in runs.items()}


def more_than(claim: str, count: int, found: dict[str, analysis.PCA], loss: dict[str, float], bound: float) -> Check:
    """Whether all networks with a loss below `bound` need more than `count` components."""
    needed = {flip_flop.name_of(m): found[m].needed(SHARE) for m in found if loss[m] < bound}
    return Check(claim, all(value > count for value in needed.values()) if needed else None, dict(needed))


def analyse(trained: Trained) -> Outcome:
    plain, regular = trained["variable-n100"], trained["variable-n100-l2"]
    found, loss = components(plain)
    found_l2, loss_l2 = components(regular)
    named = {flip_flop.name_of(model): one for model, one in found.items()}
    named_l2 = {flip_flop.name_of(model): one for model, one in found_l2.items()}
    lowest = {flip_flop.name_of(model): value for model, value in loss_l2.items()}
    numbers = [
        Number(f"{name}: components for 0.9 of the variance", one.needed(SHARE), "> 10 if solved")
        for name, one in named.items()
    ]
    numbers += [
        Number(f"{name}, with l2: components for 0.9 of the variance", one.needed(SHARE), "> 7 if below 0.02")
        for name, one in named_l2.items()
    ]
    published = {"rnn": "> 0.04", "mgru": ">= 0.01", "gru": "0.01 to 0.02", "gnode": "0.01 to 0.02"}
    numbers += flip_flop.losses(regular, flip_flop.MODELS, published)
    return Outcome(
        numbers=numbers,
        checks=[
            more_than("Networks that solve the task need more than 10 components.", 10, found, loss, SUCCESS),
            Check("With l2 the RNN stays above 0.04.", lowest["RNN"] > 0.04, {"RNN": lowest["RNN"]}),
            Check("With l2 no network comes below 0.01.", min(loss_l2.values()) >= 0.01, lowest),
            Check(
                "With l2 GRU and gnODE come below 0.02.",
                max(loss_l2["gru"], loss_l2["gnode"]) < SUCCESS_L2,
                {"GRU": lowest["GRU"], "gnODE": lowest["gnODE"]},
            ),
            more_than("With l2 trained networks need more than 7 components.", 7, found_l2, loss_l2, SUCCESS_L2),
        ],
        figures={
            "a": explained_variance(named, SHARE),
            "b": plots.strip(regular.rows(), threshold=SUCCESS_L2),
            "c": explained_variance(named_l2, SHARE),
        },
    )


ARTEFACT = Artefact(
    name="pca-l2",
    kind="figure",
    title="Principal components of networks with N = 100, without and with l2 regularisation",
    place="Appendix F.3, figure-s11",
    scales={"smoke": "1.5 min on two cores", "reduced": "some hours on two cores", "paper": "40 min on one H200"},
    plans=plans,
    analyse=analyse,
)
