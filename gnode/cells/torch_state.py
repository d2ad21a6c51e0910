"""Reads the modules and state dicts of PyTorch by their interface, without importing it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gnode import errors
from gnode.cells._imported import numbers

__all__ = ["TorchState", "read_state"]

MODULES = ("RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell")
"""The modules of torch.nn that become cells."""
_FIRST = ("weight_hh_l0", "weight_hh")
"""The weights by which the state dict of such a module is known."""


class TorchState:
    """The named arrays of a module, or of a state dict, and the module if there is one.

    No example: `read_state` makes one.
    """

    def __init__(self, arrays: Mapping[str, Any], module: Any = None):
        self.arrays = arrays
        self.module = module

    def numbers(self, name: str) -> np.ndarray:
        """Returns one array by its name."""
        return numbers(name, self.arrays[name])

    def below(self, prefix: str) -> "TorchState":
        """Returns the part whose names begin with a prefix, such as "rnn"; all of it for an empty one."""
        prefix = prefix.removesuffix(".")
        if not prefix:
            return self
        arrays = {name.removeprefix(f"{prefix}."): self.arrays[name] for name in self.names_below(prefix)}
        if not arrays:
            raise errors.ArgumentError(
                f"prefix is {prefix!r}, but no weight's name begins so; there are {_listed(self.arrays)}."
            )
        return TorchState(arrays, None if self.module is None else self.module.get_submodule(prefix))

    def names_below(self, prefix: str) -> list[str]:
        """Returns the names that begin with a prefix and a point."""
        return [name for name in self.arrays if name.startswith(f"{prefix}.")]

    def recurrent(self, prefix: str | None) -> "TorchState":
        """Returns the part that is a recurrent module: the one at `prefix`, or all if that is one and nothing else.

        **Raises:** `ArgumentError` if there is no such part, several, or one beside other weights.
        """
        if prefix is None:
            places = [name.removesuffix(first) for name in self.arrays for first in _FIRST if _ends(name, first)]
            if len(places) > 1:
                tell = " or ".join(repr(place.removesuffix(".")) for place in places)
                raise errors.ArgumentError(f"source has {len(places)} recurrent modules; choose one: prefix={tell}.")
            prefix = places[0] if places else ""
            others = [name for name in self.arrays if not name.startswith(prefix)]
            if others:
                raise errors.ArgumentError(
                    f"source has {others[0]!r} beside the weights of a recurrent module; pass "
                    f"prefix={prefix.removesuffix('.')!r} to leave the rest out."
                )
        part = self.below(prefix)
        part.check_kind()
        return part

    def check_kind(self) -> None:
        """Raises an `ArgumentError` for what cannot become a cell."""
        if self.module is not None:
            bases = {base.__name__ for base in type(self.module).__mro__} | {getattr(self.module, "original_name", "")}
            if not bases & set(MODULES):
                raise errors.ArgumentError(
                    f"source is a {type(self.module).__name__}, but must be one of {', '.join(MODULES)} of torch.nn; if it "
                    f"computes what one of these does, pass its state_dict()."
                )
        if not any(name in self.arrays for name in _FIRST):
            raise errors.ArgumentError(
                f"source has no 'weight_hh_l0' or 'weight_hh', which RNN, GRU and LSTM of torch.nn have; it holds "
                f"{_listed(self.arrays)}."
            )
        if any(name.endswith("_reverse") for name in self.arrays):
            raise errors.ArgumentError(
                "source is bidirectional, but a cell goes through time forwards only; train one with bidirectional=False."
            )
        if any(name.startswith("weight_hr") for name in self.arrays):
            raise errors.ArgumentError(
                "source is an LSTM with proj_size, a projection of its state, which a cell has no place for; train one with "
                "proj_size=0."
            )


def read_state(source: Any) -> TorchState:
    """Reads a module, which has `state_dict()`, or a state dict, a mapping of names to tensors or arrays.

    **Raises:** `ArgumentError` for anything else.
    """
    is_module = hasattr(source, "state_dict") and callable(source.state_dict) and not isinstance(source, type)
    arrays = source.state_dict() if is_module else source
    if not isinstance(arrays, Mapping) or not all(isinstance(name, str) for name in arrays):
        raise errors.ArgumentError(
            f"source is {errors.shown(source)}, but must be a module of PyTorch or its state_dict()."
        )
    if not arrays:
        raise errors.ArgumentError("source holds no weights; pass a module of PyTorch or its state_dict().")
    return TorchState(arrays, source if is_module else None)


def refuse_module(name: str, source: Any) -> None:
    """Raises an `ArgumentError` for a module of PyTorch, which is callable, but no function f(h, x) that jax can trace."""
    if any(base.__module__.startswith("torch.") and base.__name__ == "Module" for base in type(source).__mro__):
        raise errors.ArgumentError(
            f"{name} is a PyTorch module ({type(source).__name__}); make a cell of a recurrent one by "
            f"gnode.cells.from_torch, a network of one that holds it by gnode.network.from_torch, or pass "
            f"gnode.analysis.outside(function)."
        )


def _ends(name: str, last: str) -> bool:
    return name == last or name.endswith(f".{last}")


def _listed(names: Iterable[str]) -> str:
    return errors.shortened(", ".join(map(repr, names)))
