"""`gnode.export_network`: from a network or a run to a folder of files."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors, files
from gnode.arguments import checked
from gnode.export._files import WEIGHTS, Words, file_of
from gnode.export._functions import Functions, checked_dt, functions_of
from gnode.network import AbstractNetwork, Network
from gnode.os_errors import as_path
from gnode.programs import words_of
from gnode.provenance import version
from gnode.train import Run, load
from gnode.wording import plural

TARGETS: dict[str, str] = {
    "numpy": "network.py and weights.npz, for numpy alone",
    "jax": "network.py and weights.npz, for jax alone: compiled and differentiated as you like",
    "torch": "network.py with a torch.nn.Module and weights.npz, for PyTorch alone",
    "onnx": "rollout.onnx, step.onnx and initial.onnx, for ONNX Runtime and others (float32)",
}
"""What a network can be exported to, and the files of each."""
DTYPES = ("float32", "float64")
LONGEST_NAME = 60
"""Of a run, in the head of a file."""


@dataclasses.dataclass(frozen=True)
class Exported:
    """What was written: the folder, its files, and how to use them.

    No example: see `export_network`.
    """

    folder: Path
    files: tuple[str, ...]
    usage: str

    def __repr__(self) -> str:
        return f"Exported({str(self.folder)!r}: {', '.join(self.files)})"


@checked
def export_network(
    source: Any, to: str, out: str | Path, *, dt: float | None = None, dtype: str = "float32", trust: bool = False
) -> Exported:
    """Writes a trained network as files that compute it without gnode: one step, and a whole rollout.

    The numbers are those of `Network.run` up to rounding. The noise of a stochastic cell is left out.

    **Arguments:**

    - `source`: a `Run` or its folder, or a `Network`.
    - `to`: a name from `TARGETS`: "numpy", "jax", "torch" or "onnx".
    - `out`: the folder to write, which must not be there yet.
    - `dt`: the length of a bin in seconds where a rollout is told no other; that of the run's task by default.
    - `dtype`: "float32" or "float64".
    - `trust`: as in `gnode.load`, for folders.

    **Returns:** an `Exported`.

    **Raises:** `ArgumentError` if the network cannot be exported, with the reason; `StoreError` if the folder is there.

    >>> import tempfile, gnode
    >>> net = gnode.build("gnode", 2, 1, state=3, widths=(4,), key=0)
    >>> export_network(net, "numpy", tempfile.mkdtemp() + "/new", dt=0.1).files
    ('network.py', 'weights.npz')
    """
    errors.one_of("to", to, TARGETS)
    errors.one_of("dtype", dtype, DTYPES)
    folder = _new_place(out)
    if to == "onnx":
        _check_onnx(dtype)
    net, name, own_dt = _network(source, trust)
    if dt is None and own_dt is None:
        raise errors.ArgumentError("dt is None, but a network alone does not say how long its bins are; pass dt.")
    functions = functions_of(net, checked_dt("dt", own_dt if dt is None else dt), np.dtype(dtype))
    words = _words(net, functions, to, name, dtype)
    if to == "onnx":
        from gnode.export._onnx import models_of  # which imports onnx

        made = {f"{which}.onnx": model for which, model in models_of(functions, words).items()}
    else:
        text, arrays = file_of(to, words, functions, dtype)
        made = {"network.py": text, WEIGHTS: arrays}
    _write(folder, made)
    return Exported(folder, tuple(made), _usage(to, functions, net))


def _new_place(out: str | Path) -> Path:
    """Returns the folder to write, if it is not there yet."""
    folder = as_path("out", out)
    if os.path.lexists(folder):
        raise errors.StoreError(f"{folder} is already there; choose a new folder as out.")
    return folder


def _network(source: Any, trust: bool) -> tuple[Network, str, float | None]:
    """Returns a network, what it is called, and the length of its bins."""
    if isinstance(source, AbstractNetwork):
        return source, "", None  # pyright: ignore[reportReturnType]: `functions_of` refuses other networks in a sentence
    if isinstance(source, Run):
        run, name = source, "" if source.folder is None else source.folder.resolve().name
    elif isinstance(source, str | Path):
        run = load(as_path("source", source), trust=trust)
        name = as_path("source", source).resolve().name
    else:
        raise errors.ArgumentError(
            f"source is {errors.shown(source)}, but must be a run, the folder of a run, or a network."
        )
    return run.net, name, run.dt  # pyright: ignore[reportReturnType]


def _words(net: Network, functions: Functions, to: str, name: str, dtype: str) -> Words:
    """The head of a file. Names of folders and docstrings of users' cells must not end the text of which they are part."""
    label, equation = words_of(net.cell)
    sizes = f"h: {plural(net.cell.state_size, 'state')}, x: {plural(net.inputs, 'input')}, "
    sizes += f"y: {plural(net.outputs, 'output')}"
    solver = net.solver
    method = (
        f"bins of dt = {functions.dt:g} s by {solver.method}"
        if not functions.has_fixed_dt
        else (f"bins of {functions.dt:g} s and no others, by {solver.method}")
    )
    method += f" in {plural(solver.substeps, 'step')}" if solver.substeps > 1 else ""
    command = f"gnode export {name} --to {to}" if name else f'gnode.export_network(net, "{to}", ...)'
    command += f" --dtype {dtype}" if name and dtype != DTYPES[0] else ""
    notes = ("Its noise is left out.",) if net.cell.has("diffusion") else ()
    if solver.interpolation != "hold":
        notes += ("Between samples the input is a straight line to the next one.",)
    return Words(
        title=_safe(f"{label}: {equation}", 300),
        sizes=sizes,
        method=method,
        notes=notes,
        made_by=f"Made by: {_safe(command, 120)}   (gnode {version('gnode')}, {dtype})",
    )


def _safe(text: str, length: int) -> str:
    plain = errors.in_one_line(text).replace("\\", "/").replace('"""', "'''").rstrip('"')
    return plain if len(plain) <= length else plain[: length - 3] + "..."


def _write(folder: Path, made: dict[str, Any]) -> None:
    with files.new_folder(folder) as temporary:
        for name, value in made.items():
            if isinstance(value, str):
                files.write_text(temporary / name, value)
            elif isinstance(value, bytes):
                with files.write_by(temporary / name) as place:
                    place.write_bytes(value)
            else:
                files.write_arrays(temporary / name, value)


def _check_onnx(dtype: str) -> None:
    if dtype != "float32":
        raise errors.ArgumentError(f"dtype is {dtype!r}, but ONNX models are written in 'float32'.")
    from importlib.util import find_spec

    if find_spec("onnx") is None:
        raise errors.ArgumentError("to is 'onnx', which needs the package onnx; install it: pip install 'gnode[onnx]'.")


def _usage(to: str, functions: Functions, net: Network) -> str:
    if to == "onnx":
        return (
            'session = onnxruntime.InferenceSession("rollout.onnx"); states, outputs = session.run(None, '
            '{"x": xs, "h0": h0}), with xs (batch, time, inputs) and h0 of initial.onnx'
        )
    if to == "torch":
        return "from network import Network; states, outputs = Network()(xs), with xs (..., time, inputs)"
    return "import network; states, outputs = network.rollout(xs), with xs (..., time, inputs)"
