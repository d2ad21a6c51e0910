"""A run as plain values, so that a pickled estimator does not depend on how the classes of gnode or jax are written."""

import dataclasses
from typing import Any

from gnode.train import Run
from gnode.train.serialisation import describe, from_arrays, rebuild, to_arrays, unknown_class

__all__ = ["plain", "restored"]

_LEFT_OUT = ("net", "_task", "_trusted")


def plain(run: Run) -> dict[str, Any] | Run:
    """Returns the structure, the weights and the other facts of a run, without the trials that it was trained on.

    A network with a class of the user's own, which only that code can build again, stays an object.
    """
    network = describe(run.net)
    if unknown_class(network) is not None:
        return dataclasses.replace(run, _task=None)
    facts = {field.name: getattr(run, field.name) for field in dataclasses.fields(run)}
    kept = {name: value for name, value in facts.items() if name not in _LEFT_OUT}
    return {"network": network, "weights": to_arrays(run.net), "facts": kept}


def restored(stored: dict[str, Any] | Run) -> Run:
    """Returns the run that `plain` described."""
    if isinstance(stored, Run):
        return stored
    source = "the pickled estimator"
    net = from_arrays(rebuild(stored["network"], source), stored["weights"], source)
    return Run(net=net, **stored["facts"])
