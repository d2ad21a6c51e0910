"""Models of ONNX: the first state, one bin, and a whole rollout by the operator Scan."""

from typing import Any

import numpy as np
import onnx  # type: ignore[import-not-found]
from onnx import TensorProto, helper  # type: ignore[import-not-found]

from gnode.export._files import Words
from gnode.export._functions import Functions
from gnode.export._onnx_nodes import Nodes, Tensor
from gnode.programs import Shape
from gnode.provenance import version

OPSET, IR_VERSION = 18, 8
"""Of 2022, so that readers of models that are some years old know them."""


def models_of(functions: Functions, words: Words) -> dict[str, bytes]:
    """Returns the models by name, as their files hold them."""
    head = "\n".join([words.title, f"{words.sizes}; {words.method}.", *words.notes, words.made_by])
    made = {"rollout": _rollout(functions), "step": _step(functions), "initial": _initial(functions)}
    if not functions.has_fixed_dt:
        made["rollout-bins"] = _rollout(functions, takes_dt=True)
    return {name: _model(graph, head).SerializeToString() for name, graph in made.items()}


def _model(graph: onnx.GraphProto, head: str) -> onnx.ModelProto:
    model = helper.make_model(
        graph,
        producer_name="gnode",
        producer_version=version("gnode"),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        doc_string=head,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def _value(name: str, *shape: Any) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def _initial(functions: Functions) -> onnx.GraphProto:
    stored: dict[str, onnx.TensorProto] = {}
    nodes = Nodes(functions.arrays, stored, "v")
    (size,) = functions.initial.shape
    found = nodes.graph(functions.initial, {"x": Tensor("x", _inputs(functions), True)})
    nodes.nodes.append(helper.make_node("Identity", [found.name], ["h0"]))
    x = _value("x", "batch", *_inputs(functions))
    return helper.make_graph(nodes.nodes, "initial", [x], [_value("h0", "batch", size)], list(stored.values()))


def _inputs(functions: Functions) -> Shape:
    return functions.shapes["x"]


def _bin(functions: Functions, stored: dict[str, onnx.TensorProto], prefix: str, dt: str | None) -> Nodes:
    """The nodes of one bin, from `h`, `x` and what else a bin needs to `h_next` and `y`, by names with a prefix."""
    nodes = Nodes(functions.arrays, stored, f"{prefix}v")
    given = {
        name: Tensor(f"{prefix}{name}" if name != "dt" else str(dt), functions.shapes[name], True)
        for name in functions.inputs["step"]
    }
    moved = nodes.graph(functions.step, given)
    output = nodes.graph(functions.readout, {"h": moved, "x": given["x"]})
    for found, name in ((moved, "h_next"), (output, "y")):
        nodes.nodes.append(helper.make_node("Identity", [found.name], [f"{prefix}{name}"]))
    return nodes


def _step(functions: Functions) -> onnx.GraphProto:
    stored: dict[str, onnx.TensorProto] = {}
    first = Nodes(functions.arrays, stored, "dt_")
    names = functions.inputs["step"]
    dt = _all_bins(first, functions, "h", 1) if "dt" in names else None
    nodes = _bin(functions, stored, "", dt)
    values = [_value(name, "batch", *functions.shapes[name]) for name in names if name != "dt"]
    outputs = [_value("h_next", "batch", *functions.step.shape), _value("y", "batch", *functions.readout.shape)]
    return helper.make_graph([*first.nodes, *nodes.nodes], "step", values, outputs, list(stored.values()))


def _all_bins(nodes: Nodes, functions: Functions, like: str, axes: int) -> str:
    """The same length for every bin; `like` has as many axes in front."""
    wanted = nodes.add("Shape", [like], start=0, end=axes)
    return nodes.add("Expand", [nodes.number(functions.dt), wanted])


def _rollout(functions: Functions, takes_dt: bool = False) -> onnx.GraphProto:
    stored: dict[str, onnx.TensorProto] = {}
    nodes = Nodes(functions.arrays, stored, "v")
    names = functions.inputs["step"]
    x = _inputs(functions)
    values = [_value("x", "batch", "time", *x), _value("h0", "batch", *functions.step.shape)]
    along = {"x": "x"}
    if takes_dt:
        values.append(_value("dt", "batch", "time"))
    if "dt" in names:
        along["dt"] = "dt" if takes_dt else _all_bins(nodes, functions, "x", 2)
    for name in {"before", "after"} & set(names):
        along[name] = _neighbours(nodes, name, along.get("dt"))
    body = _bin(functions, stored, "bin_", "bin_dt")
    outputs = [("h_next", functions.step.shape), ("h_kept", functions.step.shape), ("y", functions.readout.shape)]
    body.nodes.append(helper.make_node("Identity", ["bin_h_next"], ["bin_h_kept"]))
    inner = helper.make_graph(
        body.nodes,
        "bin",
        [_value(f"bin_{name}", "batch", *functions.shapes[name]) for name in ("h", *along)],
        [_value(f"bin_{name}", "batch", *shape) for name, shape in outputs],
    )
    scan = helper.make_node(
        "Scan",
        ["h0", *along.values()],
        ["last", "states", "outputs"],
        body=inner,
        num_scan_inputs=len(along),
        scan_input_axes=[1] * len(along),
        scan_output_axes=[1, 1],
    )
    ends = [_value("states", "batch", "time", *functions.step.shape)]
    ends += [_value("outputs", "batch", "time", *functions.readout.shape)]
    return helper.make_graph([*nodes.nodes, scan], "rollout", values, ends, list(stored.values()))


def _neighbours(nodes: Nodes, name: str, dt: str | None) -> str:
    """The samples before or after those of each bin, as `_files` has them."""

    def cut(of: str, start: int, limit: int) -> str:
        return nodes.add("Slice", [of, *(nodes.whole_numbers(one) for one in (start, limit, 1))])

    most = np.iinfo(np.int64).max
    parts = [cut("x", 0, 1), cut("x", 0, -1)] if name == "before" else [cut("x", 1, most), cut("x", -1, most)]
    found = nodes.add("Concat", parts, axis=1)
    if dt is None:
        return found
    lasts = nodes.add("Greater", [dt, nodes.number(0)])
    if name == "after":
        following = nodes.add("Concat", [cut(dt, 1, most), cut(dt, -1, most)], axis=1)
        lasts = nodes.add("And", [lasts, nodes.add("Greater", [following, nodes.number(0)])])
    return nodes.add("Where", [nodes.add("Unsqueeze", [lasts, nodes.whole_numbers(2)]), found, "x"])
