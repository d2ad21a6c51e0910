"""The entry of a cell in the registry: where its factory is, what it accepts, how it is named; also for users' own cells."""

import dataclasses
import inspect
from pkgutil import resolve_name
from typing import Any

from gnode import errors, own_code
from gnode.arguments import checked, checked_class
from gnode.cells._options import OPTIONS, OWN_OPTIONS
from gnode.options import option_like


@checked_class
@dataclasses.dataclass(frozen=True)
class CellEntry:
    """The registry entry of a cell. Calling it draws a cell: `entry(inputs, state, key=0, **options)`.

    **Arguments:**

    - `factory`: the location of the function that draws the cell, as "module:name"; it is imported on first use.
    - `cell_class`: the location of the cell's class, likewise.
    - `label`: the name of the cell in figures and tables.
    - `colour`: its colour in figures.
    - `options`: the names in `OPTIONS` that the factory accepts.
    - `summary`: one line for `gnode list`.

    >>> from gnode.cells import CELLS
    >>> CELLS["gru"](2, 3, key=0).units
    3
    """

    factory: str
    cell_class: str
    label: str
    colour: str
    options: tuple[str, ...]
    summary: str

    def __post_init__(self):
        object.__setattr__(self, "options", tuple(map(str, self.options)))
        for name in ("factory", "cell_class", "label", "colour", "summary"):
            text = getattr(self, name)
            if not text.isprintable() or len(text) > 300:
                raise errors.ArgumentError(f"{name} is {errors.shown(text)}, but must be a short text in one line.")

    @checked
    def __call__(self, inputs: int, state: int, **options: Any) -> Any:
        """Draws a cell at random."""
        return _imported("factory", self.factory)(inputs, state, **options)

    def load_type(self) -> type:
        """Imports the cell's class."""
        return _imported("cell_class", self.cell_class)


def _imported(what: str, place: str) -> Any:
    """Imports "module:name", or a user's own "FILE.py:NAME"."""
    if own_code.is_own(place):
        return own_code.resolve(place)
    try:
        return resolve_name(place)
    except (ImportError, AttributeError, ValueError) as problem:
        raise errors.ArgumentError(
            f"{what} is {errors.shown(place)}, which cannot be imported as 'module:name' ({errors.shortened(str(problem))})."
        ) from problem


@dataclasses.dataclass(frozen=True)
class OwnCell(CellEntry):
    """The entry of a user's own cell: a class or function that is called with inputs, state, key and its options."""

    def __call__(self, inputs: int, state: int, **options: Any) -> Any:
        from gnode.cells._base import Cell  # imports jax

        given = {name: value for name, value in options.items() if name in (*self.options, "key")}
        try:
            made = self._drawn(inputs, state, given)
        except (errors.GnodeError, KeyboardInterrupt):
            raise
        except Exception as problem:  # whatever a user's code raises
            raise errors.ArgumentError(
                f"model {self.label} fails for {inputs} inputs and a state of {state} ({type(problem).__name__}: "
                f"{errors.shortened(str(problem))})."
            ) from problem
        if not isinstance(made, Cell):
            raise errors.ArgumentError(
                f"model {self.label} gives a {type(made).__name__}, but must give a gnode.cells.Cell."
            )
        if made.inputs != inputs:
            raise errors.ArgumentError(f"model {self.label} has inputs={made.inputs}, but was asked for {inputs}.")
        return made

    def _drawn(self, inputs: int, state: int, given: dict[str, Any]) -> Any:
        return _imported("model", self.factory)(inputs, state, **given)


def own_entry(place: str) -> OwnCell:
    """Makes the entry of a user's own cell from the arguments that it takes."""
    made = own_code.resolve(place)
    arguments = list(own_code.signature(place, made).parameters.values())
    by_name = {one.name: one for one in arguments if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
    positional = [one.name for one in arguments if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2 or "key" not in by_name:
        raise errors.ArgumentError(
            f"model {errors.shown(place)} takes ({', '.join(by_name)}), but must take (inputs, state, *, key) and its "
            f"options: the numbers of inputs and units, and a key of jax."
        )
    own = [name for name in by_name if name not in (*positional[:2], "key")]
    for name in own:
        if name not in OPTIONS:
            default = by_name[name].default
            example = None if default is inspect.Parameter.empty else default
            OWN_OPTIONS[name] = option_like("network", example, f"Argument of {own_code.own_name(place)}.")
    summary = (inspect.getdoc(made) or "").split("\n")[0][:300]
    return OwnCell(
        place, place, own_code.own_name(place), "#332288", tuple(own), summary if summary.isprintable() else ""
    )
